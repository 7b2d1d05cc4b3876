"""Evidently: a frame of scored rows, a frame of train with the features, a metric an object; the mean alone."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from golden.list_cases import FEATURES, ListCase, ListKnobs
from golden.list_record import asked

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs()
CATALOGUE = "train"
SHORT = " where a list is shorter than k"
DIFFERS = {
    "personalization"
    + SHORT: "It counts a list as k items, whatever its length: three disjoint lists of one item have 1.25 at k = 2.",
    "serendipity": "The similarities of all hits are added, not averaged, so that it has no lower bound.",
}
TOLERANCE = 1e-12

CALLS = {
    "novelty@k": "NoveltyMetric(k)",
    "arp@k": "PopularityBias(k), current_apr",
    "arp@k(arp_over=max)": "PopularityBias(k, normalize_arp=True), current_apr",
    "coverage@k": "PopularityBias(k), current_coverage",
    "gini@k": "PopularityBias(k), current_gini",
    "personalization@k": "PersonalizationMetric(k)",
    "ild@k(distance=cosine)": "DiversityMetric(k, features)",
    "serendipity@k": "SerendipityMetric(k, features)",
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by a report a metric."""
    import pandas as pd
    from evidently.legacy import metrics as library
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    warnings.simplefilter("ignore")
    names = [f"feature {number}" for number in range(FEATURES)]
    rows = [
        (user, item, float(-rank), float(item in case.truth.get(user, [])), *case.features[item])
        for user, row in case.lists.items()
        for rank, item in enumerate(row)
    ]
    current = pd.DataFrame(rows, columns=["user", "item", "prediction", "target", *names])
    of_train = [(user, item, *case.features[item]) for user, item in case.train]
    train = pd.DataFrame(of_train, columns=["user", "item", *names])
    mapping = ColumnMapping(
        user_id="user", item_id="item", prediction="prediction", target="target", recommendations_type="score"
    )

    def said(metric: Any, field: str) -> ListOutput:
        report = Report(metrics=[metric])
        report.run(
            reference_data=None,
            current_data=current,
            column_mapping=mapping,
            additional_data={"current_train_data": train},
        )
        return float(getattr(metric.get_result(), field)), None

    outputs: dict[str, ListOutput] = {}
    for k in case.cutoffs:
        short = SHORT if any(len(row) < k for row in case.lists.values()) else ""
        calls = {
            f"novelty@{k}": (library.NoveltyMetric(k=k), "current_value"),
            f"arp@{k}": (library.PopularityBias(k=k), "current_apr"),
            f"arp@{k}(arp_over=max)": (library.PopularityBias(k=k, normalize_arp=True), "current_apr"),
            f"coverage@{k}": (library.PopularityBias(k=k), "current_coverage"),
            f"gini@{k}": (library.PopularityBias(k=k), "current_gini"),
            f"personalization@{k}{short}": (library.PersonalizationMetric(k=k), "current_value"),
            f"ild@{k}(distance=cosine)": (library.DiversityMetric(k=k, item_features=names), "current_value"),
            f"serendipity@{k}": (library.SerendipityMetric(k=k, item_features=names), "current_value"),
        }
        outputs |= {key: asked(partial(said, *call)) for key, call in calls.items()}
    return outputs
