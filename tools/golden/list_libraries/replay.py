"""RePlay: frames of train and of scored items; the first k by score, without ties."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from golden.list_cases import ListCase, ListKnobs, Lists

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs()
CATALOGUE = "train"
NO_BASE = " where a user has no second list"
DIFFERS = {
    "novelty": "It is the share of the items that the user did not have in train, whatever their popularity.",
    "unexpectedness" + NO_BASE: "A user without a second list has 0, as if the lists were equal.",
}
TOLERANCE = 1e-12

NAMES = {"coverage": "Coverage", "novelty": "Novelty", "surprisal": "Surprisal", "unexpectedness": "Unexpectedness"}
CALLS = {f"{metric}@k": f"{name}(k), of pandas frames" for metric, name in NAMES.items()}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate each metric for the mean and for the users."""
    from pandas import DataFrame
    from replay import metrics

    warnings.simplefilter("ignore")

    def frame(lists: Lists) -> Any:
        rows = [(user, item, -rank) for user, row in lists.items() for rank, item in enumerate(row)]
        return DataFrame(rows, columns=["query_id", "item_id", "rating"])

    train = DataFrame(case.train, columns=["query_id", "item_id"])
    of_base = NO_BASE if set(case.lists) - set(case.other) else ""
    outputs: dict[str, ListOutput] = {}
    for metric, name in NAMES.items():
        data = frame(case.other) if metric == "unexpectedness" else train
        means = getattr(metrics, name)(case.cutoffs)(frame(case.lists), data)
        users: dict[str, dict[int, float]] = {}
        if metric != "coverage":
            users = getattr(metrics, name)(case.cutoffs, mode=metrics.PerUser())(frame(case.lists), data)
        for k in case.cutoffs:
            by_user = users.get(f"{name}-PerUser@{k}")
            key = f"{metric}@{k}" + (of_base if metric == "unexpectedness" else "")
            outputs[key] = (
                float(means[f"{name}@{k}"]),
                by_user and {int(user): float(value) for user, value in by_user.items()},
            )
    return outputs
