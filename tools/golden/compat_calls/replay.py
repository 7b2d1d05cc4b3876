"""Calls of RePlay's metrics."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "replay-rec"
MODULE = "replay.metrics"
REQUIREMENTS = ("replay-rec==0.22.0",)
TOLERANCE = 1e-12
IMPORTS = (
    "from replay.metrics import NDCG, OfflineMetrics",
    "from exactk.compat.replay import NDCG, OfflineMetrics",
)

_OF_TRUTH = ("Precision", "Recall", "MAP", "NDCG", "MRR", "HitRate", "RocAuc")
_OF_TRAIN = ("Coverage", "Novelty", "Surprisal")
_METRICS = (*_OF_TRUTH, *_OF_TRAIN, "Unexpectedness", "CategoricalDiversity")
_MODES = ("Mean", "Median", "ConfidenceInterval", "PerUser")
_KINDS = ("pandas", "polars", "dict")
_COLUMNS = ("query_id", "item_id", "rating", "category_id")
_PLAIN: dict[str, Any] = {
    "recs": [[1, 7, 0.5, 0], [1, 8, 0.25, 1], [2, 8, 0.75, 1], [2, 9, 0.5, 2], [4, 7, 1.0, 0]],
    "truth": [[1, 8], [2, 8], [2, 9], [3, 7]],
    "train": [[1, 7], [2, 7], [2, 9], [4, 8]],
    "base": [[1, 8, 0.5, 1], [2, 7, 0.5, 0]],
}
_FAULTS: tuple[dict[str, Any], ...] = (
    {"ks": "3"},
    {"ks": 2.5},
    {"ks": ["3"]},
    {"ks": []},
    {"other": "dict"},
    {"other": "pandas"},
    {"drop": ["truth", "query_id"]},
    {"drop": ["recs", "query_id"]},
    {"drop": ["recs", "rating"]},
    {"truth": []},
    {"recs": []},
)
_REPEATED: dict[str, Any] = {
    "recs": [[1, 8, 0.5, 0], [1, 8, 0.25, 0], [1, 7, 0.125, 1], [2, 8, 0.5, 2], [2, 9, 0.5, 1], [2, 9, 0.25, 0]],
    "truth": [[1, 8], [1, 8], [1, 5], [2, 9]],
    "train": [[1, 8], [1, 8], [2, 7], [2, 9]],
    "base": [[1, 7, 0.5, 1], [1, 8, 0.5, 1], [1, 8, 0.25, 1], [2, 8, 0.5, 0]],
}
_OFFLINE: tuple[dict[str, Any], ...] = (
    {"metrics": []},
    {"without": ["train"], "metrics": [["Recall", 2, "Mean"]]},
    {"without": ["train"], "metrics": [["Novelty", 2, "Mean"]]},
    {"without": ["train"], "metrics": [["Coverage", 2, "Mean"]]},
    {"without": ["train"], "metrics": [["Surprisal", 2, "Mean"]]},
    {"without": ["base"], "metrics": [["Unexpectedness", 2, "Mean"]]},
    {"base_is_bare": True, "metrics": [["Unexpectedness", [1, 2], "PerUser"], ["Coverage", 1, "Mean"]]},
    {"other": "dict", "metrics": [["Recall", 2, "Mean"]]},
    {"drop": ["truth", "query_id"], "metrics": [["Recall", 2, "Mean"]]},
    {"drop": ["base", "query_id"], "metrics": [["Recall", 2, "Mean"]]},
    {"drop": ["train", "item_id"], "metrics": [["Recall", 2, "Mean"]]},
    {"drop": ["truth", "item_id"], "metrics": [["MRR", 2, "Mean"]]},
    {"columns": ["u", "i", "r", "c"], "metrics": [["MAP", 2, "PerUser"], ["Novelty", 2, "Median"]]},
)
_EDGES: tuple[dict[str, Any], ...] = (
    {"ks": [2, 2]},
    {"nan": True},
    {"nan": True, "mode": "PerUser"},
    {"columns": ["u", "i", "r", "c"]},
    {"drop": ["recs", "item_id"]},
    {"truth": [[1, 8]], "train": [[1, 7], [1, 8]], "mode": "ConfidenceInterval"},
    {"truth": [[1, 8]], "train": [[1, 7], [1, 8]], "mode": "Median"},
)


def draw() -> list[dict[str, Any]]:
    """Return drawn calls of each metric and of OfflineMetrics, and faulty ones."""
    generator = random.Random(1)  # noqa: S311 - no secrets
    calls = []
    for kind in _KINDS:
        for metric in _METRICS:
            for mode in _MODES if metric != "Coverage" else ("Mean", "Mean"):
                ks = generator.choice([1, 3, [1, 2, 5], [10, 2], 50])
                calls += [{**_tables(generator, metric, kind), "kind": kind, "metric": metric, "mode": mode, "ks": ks}]
    for number in range(102):
        kind = _KINDS[number % 3]
        metrics = [
            [metric, generator.choice([2, [1, 4]]), generator.choice(_MODES) if metric != "Coverage" else "Mean"]
            for metric in generator.sample(_METRICS if kind != "dict" else _METRICS[:-1], 4)
        ]
        calls += [{**_tables(generator, "Coverage", kind), "kind": kind, "metrics": metrics}]
    for metric in ("Recall", "Novelty"):
        calls += [
            {**_PLAIN, "kind": kind, "metric": metric, "mode": "Mean", "ks": 2, **fault}
            for kind in _KINDS
            for fault in _FAULTS
        ]
    for kind in _KINDS:
        calls += [{**_PLAIN, "kind": kind, **call} for call in _OFFLINE]
        calls += [
            {**_PLAIN, "kind": kind, "metric": metric, "mode": "Mean", "ks": [1, 2], **call}
            for metric in ("NDCG", "Surprisal", "CategoricalDiversity")
            for call in _EDGES
        ]
        calls += [
            {**_REPEATED, "kind": kind, "metric": metric, "mode": mode, "ks": [1, 2, 3]}
            for metric in _METRICS
            for mode in ("Mean", "PerUser")
        ]
        calls += [{**_PLAIN, "kind": kind, "experiment": [["Recall", [1, 2], "Mean"], ["MRR", 2, "Median"]]}]
    return calls


def _tables(generator: random.Random, metric: str, kind: str) -> dict[str, Any]:
    users, items = generator.choice([2, 4, 9]), generator.choice([5, 12])
    has_ties = metric not in {"Coverage", "CategoricalDiversity"}
    recs: dict[str, list[list[Any]]] = {}
    for name in ("recs", "base"):
        rows = []
        for user in generator.sample(range(users), generator.randrange(1, users + 1)):
            chosen = generator.sample(range(items), generator.randrange(1, items))
            scores = generator.sample(range(1000), len(chosen))
            if has_ties and generator.random() < 0.3:
                scores = [score % 3 for score in scores]
            rows += [[user, item, score / 8, item % 3] for item, score in zip(chosen, scores, strict=True)]
        if has_ties and kind != "dict" and generator.random() < 0.15:
            rows += generator.sample(rows, 1)
        recs[name] = rows
    pairs = {
        name: [
            [generator.randrange(users), generator.randrange(items + 2)]
            for _ in range(generator.randrange(1, 4 * users))
        ]
        for name in ("truth", "train")
    }
    if generator.random() < 0.6:
        pairs = {name: [list(pair) for pair in dict.fromkeys(map(tuple, rows))] for name, rows in pairs.items()}
    return {**recs, **pairs, **({"text": True} if generator.random() < 0.2 else {})}


def _container(call: dict[str, Any], name: str, kind: str) -> Any:
    """Return rows as a frame, or as a dict of lists."""
    columns, rows = list(call.get("columns", _COLUMNS)[: 4 if name in {"recs", "base"} else 2]), call[name]
    if call.get("nan") and name == "recs":
        rows = [[*rows[0][:2], float("nan"), rows[0][3]], *rows[1:]]
    if call.get("text"):
        rows = [[f"u{row[0]}", f"i{row[1]:02}", *row[2:]] for row in rows]
    if kind == "dict":
        lists: dict[Any, list[Any]] = {}
        is_category = call.get("metric") == "CategoricalDiversity"
        for user, item, *others in rows:
            lists.setdefault(user, []).append((others[1] if is_category else item, others[0]) if others else item)
        return lists
    data = {column: [row[position] for row in rows] for position, column in enumerate(columns)}
    if call.get("drop", [""])[0] == name:
        del data[call["drop"][1]]
    if kind == "pandas":
        from pandas import DataFrame

        return DataFrame(data)
    from polars import DataFrame as PolarsFrame

    return PolarsFrame(data)


def _metric(module: Any, name: str, ks: Any, mode: str, columns: tuple[str, ...] = _COLUMNS) -> Any:
    names = (columns[0], columns[3 if name == "CategoricalDiversity" else 1], columns[2])
    if name == "Coverage":
        return module.Coverage(ks, *names)
    descriptor = module.ConfidenceInterval(0.9) if mode == "ConfidenceInterval" else getattr(module, mode)()
    return getattr(module, name)(ks, *names, mode=descriptor)


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call; Polars has users in an arbitrary order."""
    kind, columns = call["kind"], call.get("columns", _COLUMNS)
    recs, truth = _container(call, "recs", kind), _container(call, "truth", call.get("other", kind))
    if "experiment" in call:
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, as columns of numbers get strings
        experiment = module.Experiment([_metric(module, *one) for one in call["experiment"]], truth)
        for name in ("recs", "base"):
            experiment.add_result(name, _container(call, name, kind))
        return [experiment.results.to_dict("index"), experiment.compare("recs").to_dict("index")]
    if "metrics" in call:
        metrics = [_metric(module, *one) for one in call["metrics"]]
        train, base = (
            None if name in call.get("without", ()) else _container(call, name, kind) for name in ("train", "base")
        )
        others = base if base is None or call.get("base_is_bare") else {"other": base}
        return _sorted(module.OfflineMetrics(metrics, *columns)(recs, truth, train, others))
    metric = _metric(module, call["metric"], call["ks"], call["mode"], columns)
    if call["metric"] == "CategoricalDiversity":
        return _sorted(metric(recs))
    name = "truth" if call["metric"] in _OF_TRUTH else "train" if call["metric"] in _OF_TRAIN else "base"
    return _sorted(metric(recs, _container(call, name, call.get("other", kind))))


def _sorted(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {str(user): value[user] for user in sorted(value)} if isinstance(value, dict) else value
        for name, value in found.items()
    }


def _lists(kind: str, names: tuple[str, ...], users: int, digits: int = 17) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        import numpy as np

        generator = np.random.default_rng(1)
        recs = [
            [user, int(item), round(float(score), digits), 0]
            for user in range(users)
            for item, score in zip(generator.choice(2000, 20, replace=False), generator.random(20), strict=True)
        ]
        pairs = [[int(user), int(item)] for user, item in generator.integers(0, (users, 2000), (15 * users, 2))]
        call = {"recs": recs, "truth": pairs, "train": pairs[::-1]}
        tables = [_container(call, name, kind) for name in ("recs", "truth", "train")]
        metrics = [getattr(module, name)([5, 10]) for name in names]
        return lambda: module.OfflineMetrics(metrics)(*tables)

    return prepare


TYPICAL = {
    "5,000 users x 20 items, pandas, six metrics of hits": _lists("pandas", _OF_TRUTH[:6], 5000),
    "5,000 users x 20 items, pandas, NDCG": _lists("pandas", ("NDCG",), 5000),
    "5,000 users x 20 items, Polars, six metrics of hits": _lists("polars", _OF_TRUTH[:6], 5000),
    "5,000 users x 20 items, dicts, six metrics of hits": _lists("dict", _OF_TRUTH[:6], 5000),
    "5,000 users x 20 items, pandas, ratings of one decimal, NDCG": _lists("pandas", ("NDCG",), 5000, digits=1),
    "5,000 users x 20 items, Polars, ratings of one decimal, NDCG": _lists("polars", ("NDCG",), 5000, digits=1),
    "5,000 users x 20 items, pandas, coverage, novelty, surprisal": _lists("pandas", _OF_TRAIN, 5000),
    "1 user x 20 items, pandas, NDCG": _lists("pandas", ("NDCG",), 1),
    "1 user x 20 items, Polars, NDCG": _lists("polars", ("NDCG",), 1),
    "1 user x 20 items, dicts, NDCG": _lists("dict", ("NDCG",), 1),
}
