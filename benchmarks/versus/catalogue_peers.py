"""The metrics of lists and of the catalogue by other libraries: each runs in its own environment.

Every library gets the data frames that it documents. They are built beforehand; what is timed leads from them to the values.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

K = 10
Values = dict[str, float]


def frames(arrays: Mapping[str, Any], names: tuple[str, str, str], make: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Return the lists with ranks, the truth and train, under these names of the user, the item and the rank."""
    lists = arrays["lists"]
    users, length = lists.shape
    user, item, rank = names

    def rows(name: str) -> dict[str, Any]:
        return {user: np.repeat(np.arange(users), arrays[name].shape[1]), item: arrays[name].ravel()}

    ranked = rows("lists") | {rank: np.tile(np.arange(1, length + 1), users)}
    return [make(columns) for columns in (ranked, rows("truth"), rows("train"))]


def rectools(arrays: Mapping[str, Any]) -> Callable[[], Values]:
    """RecTools: `calc_metrics`, which joins the frames once."""
    import pandas as pd
    from rectools import Columns
    from rectools.metrics import NDCG, AvgRecPopularity, CatalogCoverage, MeanInvUserFreq, calc_metrics

    lists, truth, train = frames(arrays, (Columns.User, Columns.Item, Columns.Rank), pd.DataFrame)
    metrics = {
        "ndcg": NDCG(k=K, divide_by_achievable=True),
        "coverage": CatalogCoverage(k=K, normalize=True),
        "novelty": MeanInvUserFreq(k=K),
        "arp": AvgRecPopularity(k=K),
    }
    catalogue = np.unique(train[Columns.Item])
    return lambda: calc_metrics(metrics, reco=lists, interactions=truth, prev_interactions=train, catalog=catalogue)


def replay(arrays: Mapping[str, Any]) -> Callable[[], Values]:
    """RePlay, of Polars frames."""
    import polars as pl
    from replay.metrics import NDCG, Coverage, OfflineMetrics, Surprisal

    lists, truth, train = frames(arrays, ("query_id", "item_id", "rank"), pl.DataFrame)
    scored = lists.with_columns(rating=-pl.col("rank").cast(pl.Float64)).drop("rank")
    metrics = OfflineMetrics([NDCG(K), Coverage(K), Surprisal(K)])

    def values() -> Values:
        found = metrics(scored, truth, train)
        return {name.lower(): found[f"{name}@{K}"] for name in ("NDCG", "Coverage", "Surprisal")}

    return values


def recommenders(arrays: Mapping[str, Any]) -> Callable[[], Values]:
    """recommenders: a function per metric, of pandas frames of the lists down to the cutoff."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as library

    lists, truth, train = frames(arrays, ("userID", "itemID", "rank"), pd.DataFrame)
    scored = lists.assign(prediction=-lists.pop("rank").astype(float))
    truth["rating"] = 1.0
    top = scored[scored["prediction"] >= -K][["userID", "itemID"]]

    def values() -> Values:
        return {
            "ndcg": library.ndcg_at_k(truth, scored, k=K),
            "coverage": library.catalog_coverage(train, top),
            "novelty": library.novelty(train, top),
            "entropy": library.distributional_coverage(train, top),
        }

    return values


def evidently(arrays: Mapping[str, Any]) -> Callable[[], Values]:
    """Evidently: a report of several metrics. Its NDCG knows the relevant items of the lists alone, and is left out."""
    import pandas as pd
    from evidently.legacy.metrics import NoveltyMetric, PopularityBias
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    lists, truth, train = frames(arrays, ("user", "item", "rank"), pd.DataFrame)
    current = lists.merge(truth.assign(target=1.0), how="left", on=["user", "item"])
    current = current.fillna({"target": 0.0}).rename(columns={"rank": "prediction"})
    mapping = ColumnMapping(
        user_id="user", item_id="item", prediction="prediction", target="target", recommendations_type="rank"
    )

    def values() -> Values:
        report = Report(metrics=[NoveltyMetric(k=K), PopularityBias(k=K)])
        report.run(
            reference_data=None,
            current_data=current,
            column_mapping=mapping,
            additional_data={"current_train_data": train},
        )
        novelty, bias = (metric["result"] for metric in report.as_dict()["metrics"])
        return {
            "novelty": novelty["current_value"],
            "arp": bias["current_apr"],
            "coverage": bias["current_coverage"],
            "gini": bias["current_gini"],
        }

    return values


PEERS: dict[str, Callable[[Mapping[str, Any]], Callable[[], Values]]] = {
    "rectools": rectools,
    "replay": replay,
    "recommenders": recommenders,
    "evidently": evidently,
}


def main(name: str, path: str) -> None:
    """Print the values of a library as a line of JSON; then, for each line read, the seconds of a call."""
    warnings.simplefilter("ignore")
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # whatever a library prints goes where it does no harm
        with np.load(path) as arrays:
            call = PEERS[name](dict(arrays))
        print(json.dumps({metric: float(value) for metric, value in call().items()}), file=answers, flush=True)
        for _ in sys.stdin:
            print(turn(call), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
