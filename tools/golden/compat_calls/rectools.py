"""Calls of the metrics of RecTools."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "rectools"
MODULE = "rectools.metrics"
REQUIREMENTS = ("rectools==0.19.0",)
TOLERANCE = 1e-12
IMPORTS = ("from rectools.metrics import calc_metrics, NDCG", "from exactk.compat.rectools import calc_metrics, NDCG")

_FRAMES = {
    "reco": ("user_id", "item_id", "rank"),
    "interactions": ("user_id", "item_id"),
    "prev": ("user_id", "item_id"),
}
_CONFIGS = ([1.5, 1], [0.0, 3], [-0.5, 7])
_OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "Precision": ({}, {"r_precision": True}),
    "Recall": ({},),
    "F1Beta": ({}, {"beta": 2.0}, {"beta": 0.0}),
    "HitRate": ({},),
    "Accuracy": ({},),
    "MCC": ({},),
    "MAP": ({}, {"divide_by_k": True}),
    "NDCG": ({}, {"log_base": 3}, {"divide_by_achievable": True}),
    "MRR": ({},),
    "PartialAUC": ({}, {"insufficient_handling": "exclude"}, {"insufficient_handling": "raise"}),
    "PAP": ({}, {"insufficient_handling": "exclude"}, {"insufficient_handling": "raise"}),
    "MeanInvUserFreq": ({},),
    "AvgRecPopularity": ({}, {"normalize": True}),
    "IntraListDiversity": ({"distance": "dense"}, {"distance": "sparse"}),
    "Serendipity": ({},),
    "CatalogCoverage": ({}, {"normalize": True}),
    "SufficientReco": ({}, {"deep": True}),
    "UnrepeatedReco": ({}, {"deep": True}),
    "CoveredUsers": ({},),
    "Intersection": ({}, {"ref_k": 3}),
}
_DEBIASED = ("Precision", "Recall", "F1Beta", "HitRate", "Accuracy", "MCC", "MAP", "NDCG", "MRR", "PartialAUC", "PAP")
_ARGUMENTS = {
    **dict.fromkeys(_DEBIASED, ("reco", "interactions")),
    **dict.fromkeys(("Accuracy", "MCC"), ("reco", "interactions", "catalog")),
    **dict.fromkeys(("MeanInvUserFreq", "AvgRecPopularity"), ("reco", "prev")),
    **dict.fromkeys(("IntraListDiversity", "SufficientReco", "UnrepeatedReco"), ("reco",)),
    "Serendipity": ("reco", "interactions", "prev", "catalog"),
    "CatalogCoverage": ("reco", "catalog"),
    "CoveredUsers": ("reco", "interactions"),
    "Intersection": ("reco", "ref"),
}
_PLAIN: dict[str, Any] = {
    "reco": [[1, 7, 1], [1, 8, 2], [2, 8, 1], [2, 9, 2], [4, 7, 1]],
    "interactions": [[1, 8], [2, 8], [2, 9], [3, 7]],
    "prev": [[1, 7], [2, 7], [2, 9]],
    "catalog": [7, 8, 9, 10],
    "ref": [[1, 8, 1], [2, 7, 1]],
    "features": [[7, 0, 1], [8, 1, 1], [9, 0, 0], [10, 1, 0]],
}
_FAULTS: tuple[dict[str, Any], ...] = (
    {"drop": ["reco", "rank"]},
    {"drop": ["reco", "user_id"]},
    {"drop": ["interactions", "item_id"]},
    {"drop": ["prev", "user_id"]},
    {"none": "interactions"},
    {"none": "reco"},
    {"float_ranks": True},
    {"shift": 1},
    {"text": True},
    {"interactions": []},
    {"prev": []},
    {"k": 0},
    {"k": 100},
)


def draw() -> list[dict[str, Any]]:
    """Return drawn calls of each metric and of calc_metrics, and faulty ones."""
    generator = random.Random(1)  # noqa: S311 - no secrets
    calls = []
    for _ in range(4):
        for name, choices in _OPTIONS.items():
            for options in choices:
                call = {
                    **_tables(generator, repeats=name not in {"PartialAUC", "PAP"}),
                    "k": generator.choice([1, 2, 3, 5, 12]),
                }
                config = (
                    {"debias": generator.choice(_CONFIGS)} if name in _DEBIASED and generator.random() < 0.3 else {}
                )
                calls.append({**call, "metric": name, "options": options, **config})
    for number in range(60):
        names = generator.sample(list(_OPTIONS), 5)
        if number % 2:
            names = [name for name in names if name != "Intersection"]
        metrics = [[name, generator.choice(_OPTIONS[name]), generator.choice([1, 2, 3, 6])] for name in names]
        repeats = not {"PartialAUC", "PAP"} & set(names)
        calls.append({**_tables(generator, repeats=repeats), "metrics": metrics})
    return calls + _faulty() + _others()


def _tables(generator: random.Random, *, repeats: bool) -> dict[str, Any]:
    users, items = generator.choice([2, 4, 9]), generator.choice([5, 12])
    reco = []
    for user in generator.sample(range(users), generator.randrange(1, users + 1)):
        chosen = generator.sample(range(items), generator.randrange(1, items))
        ranks = sorted(generator.sample(range(1, len(chosen) + 3), len(chosen)))
        if generator.random() < 0.6:
            ranks = list(range(1, len(chosen) + 1))
        reco += [[user, item, rank] for item, rank in zip(chosen, ranks, strict=True)]
    if generator.random() < 0.3:
        generator.shuffle(reco)
    if repeats and generator.random() < 0.25:
        reco += generator.sample(reco, 1)
    interactions = [
        [generator.randrange(users), generator.randrange(items + 2)] for _ in range(generator.randrange(1, 4 * users))
    ]
    if generator.random() < 0.6:
        interactions = [list(pair) for pair in dict.fromkeys(map(tuple, interactions))]
    previous = [
        [generator.randrange(users), generator.randrange(items)] for _ in range(generator.randrange(1, 5 * users))
    ]
    features = [[item, *(generator.randrange(2) for _ in range(3))] for item in range(items)]
    ref = [row for row in reco if generator.random() < 0.6] or reco[:1]
    return {
        "reco": reco,
        "interactions": interactions,
        "prev": previous,
        "catalog": list(range(items + 2)),
        "ref": ref,
        "features": features[: len(features) - (generator.random() < 0.1)],
        **({"text": True} if generator.random() < 0.2 else {}),
    }


def _faulty() -> list[dict[str, Any]]:
    calls = []
    for name in (
        "Recall",
        "Accuracy",
        "MAP",
        "NDCG",
        "MRR",
        "MeanInvUserFreq",
        "Serendipity",
        "SufficientReco",
        "UnrepeatedReco",
        "CoveredUsers",
    ):
        options = _OPTIONS[name][0]
        calls += [{**_PLAIN, "k": 2, "metric": name, "options": options, **fault} for fault in _FAULTS]
    needed = (
        "Recall",
        "NDCG",
        "PAP",
        "MeanInvUserFreq",
        "CatalogCoverage",
        "AvgRecPopularity",
        "Serendipity",
        "Intersection",
        "CoveredUsers",
        "Accuracy",
    )
    for name in needed:
        for argument in ("interactions", "prev", "catalog", "ref"):
            calls.append({**_PLAIN, "metrics": [[name, _OPTIONS[name][0], 2]], "none": argument})
    return calls


def _others() -> list[dict[str, Any]]:
    tables = _tables(random.Random(5), repeats=False)  # noqa: S311 - no secrets
    rows = [[user, item] for user in range(12) for item in range(6) if item < 2 or (user + item) % 5 == 0]
    calls: list[dict[str, Any]] = [{"interactions": rows, "debias_interactions": config} for config in _CONFIGS]
    calls += [{"interactions": [], "debias_interactions": _CONFIGS[0]}]
    calls += [
        {"pairs": pairs, "features": tables["features"]}
        for pairs in ([[0, 1], [1, 2]], [[0], [1, 2]], [[0, 99], [1, 1]], ["ab", "cd"], [[0]], [3, 4])
    ]
    calls += [
        {"shown": [name, options]}
        for name, choices in _OPTIONS.items()
        if name != "IntraListDiversity"
        for options in choices
    ]
    return [
        *calls,
        {"shown": ["PAP", {"insufficient_handling": "other"}]},
        {**_PLAIN, "metrics": [["other", {}, 1], ["Recall", {}, 1]]},
    ]


class _Features:
    """What a calculator reads of rectools.dataset.SparseFeatures."""

    def __init__(self, rows: list[list[Any]]) -> None:
        from scipy.sparse import csr_matrix

        self.values = csr_matrix([row[1:] for row in rows], dtype=float)


class _Ids:
    """What a calculator reads of rectools.dataset.IdMap."""

    def __init__(self, items: list[Any]) -> None:
        import numpy as np

        self.external_ids = np.array(items)

    def convert_to_internal(self, items: Any) -> Any:
        position = {item: row for row, item in enumerate(self.external_ids.tolist())}
        return [position[item] for item in items]


def _calculator(module: Any, kind: str, rows: list[list[Any]]) -> Any:
    from pandas import DataFrame

    if kind == "sparse":
        return module.SparsePairwiseHammingDistanceCalculator(_Features(rows), _Ids([row[0] for row in rows]))
    frame = DataFrame(rows).set_index(0)
    return module.PairwiseHammingDistanceCalculator(frame)


def _metric(module: Any, name: str, options: dict[str, Any], k: int, call: dict[str, Any]) -> Any:
    options = dict(options)
    if "distance" in options:
        calculator = _calculator(module, options.pop("distance"), _features(call))
        return module.IntraListDiversity(k=k, distance_calculator=calculator)
    if "debias" in call:
        options["debias_config"] = module.DebiasConfig(*call["debias"])
    return getattr(module, name)(k=k, **options) if name != "other" else object()


def _features(call: dict[str, Any]) -> list[list[Any]]:
    return [[f"i{row[0]}" if call.get("text") else row[0], *row[1:]] for row in call["features"]]


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    """Return the frames and the catalogue of a call."""
    from pandas import DataFrame

    arguments: dict[str, Any] = {"catalog": call["catalog"]}
    for name in ("reco", "interactions", "prev", "ref"):
        columns = list(_FRAMES["reco" if name == "ref" else name])
        frame = DataFrame(call[name], columns=columns).astype(dict.fromkeys(columns, "int64"))
        if call.get("text"):
            frame["user_id"], frame["item_id"] = (
                [f"{mark}{key}" for key in frame[column]] for mark, column in (("u", "user_id"), ("i", "item_id"))
            )
        if "rank" in columns:
            frame["rank"] = frame["rank"] + call.get("shift", 0)
            if call.get("float_ranks"):
                frame["rank"] = frame["rank"].astype(float)
        if call.get("drop", [""])[0] == name:
            frame = frame.drop(columns=call["drop"][1])
        arguments[name] = frame
    if "none" in call:
        arguments[call["none"]] = None
    return arguments


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call, without the warnings that pandas gives RecTools about its own future."""
    warnings.simplefilter("ignore", FutureWarning)
    if "shown" in call:
        name, options = call["shown"]
        metric = getattr(module, name)(3, **options)
        return [
            repr(metric),
            metric == getattr(module, name)(3, **options),
            metric == getattr(module, name)(4, **options),
        ]
    if "pairs" in call:
        return _calculator(module, "dense", call["features"])[tuple(call["pairs"])]
    if "debias_interactions" in call:
        from pandas import DataFrame

        frame = DataFrame(call["interactions"], columns=["user_id", "item_id"])
        return module.debias_interactions(frame, module.DebiasConfig(*call["debias_interactions"])).to_numpy().tolist()
    arguments = _arguments(call)
    if "metrics" in call:
        metrics = {
            f"{name}_{k}_{number}": _metric(module, name, options, k, call)
            for number, (name, options, k) in enumerate(call["metrics"])
        }
        ref = None if arguments["ref"] is None else {"other": arguments["ref"], "same": arguments["reco"]}
        if call.get("text") and ref is not None:
            del ref["same"]  # RecTools fails: it makes integers of users
        return module.calc_metrics(
            metrics, arguments["reco"], arguments["interactions"], arguments["prev"], arguments["catalog"], ref
        )
    metric = _metric(module, call["metric"], call["options"], call["k"], call)
    needed = [arguments[name] for name in _ARGUMENTS[call["metric"]]]
    value = metric.calc(*needed)
    if call["metric"] == "CatalogCoverage":
        return value
    users = metric.calc_per_user(*needed)
    keys = [str(key) for key in users.index]
    return [float(value), keys, users.tolist(), users.dtype.kind, users.name]


def _recommender(
    names: tuple[str, ...], users: int, *, is_ordered: bool = True
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        import numpy as np
        from pandas import DataFrame

        generator = np.random.default_rng(1)
        items = 2000
        reco = DataFrame(
            {
                "user_id": np.repeat(np.arange(users), 10),
                "item_id": np.concatenate([generator.choice(items, 10, replace=False) for _ in range(users)]),
                "rank": np.tile(np.arange(1, 11), users),
            }
        )
        if not is_ordered:
            reco = reco.sample(frac=1, random_state=1)
        pairs = {
            "user_id": generator.integers(0, users, 15 * users),
            "item_id": generator.integers(0, items, 15 * users),
        }
        interactions = DataFrame(pairs).drop_duplicates()
        previous = DataFrame({name: generator.permutation(column) for name, column in pairs.items()})
        features = DataFrame(generator.integers(0, 2, (items, 10)))
        calculator = module.PairwiseHammingDistanceCalculator(features)
        metrics = {
            name: module.IntraListDiversity(k=10, distance_calculator=calculator)
            if name == "IntraListDiversity"
            else getattr(module, name)(k=10)
            for name in names
        }
        return lambda: module.calc_metrics(metrics, reco, interactions, previous, range(items), {"same": reco})

    return prepare


_ACCURACY = ("Precision", "Recall", "MAP", "NDCG", "MRR", "HitRate")
_BEYOND = ("MeanInvUserFreq", "AvgRecPopularity", "Serendipity", "CatalogCoverage")

TYPICAL = {
    "10,000 users x 10 items, six metrics of hits": _recommender(_ACCURACY, 10_000),
    "10,000 users x 10 items, NDCG": _recommender(("NDCG",), 10_000),
    "10,000 users x 10 items, novelty, popularity, serendipity, coverage": _recommender(_BEYOND, 10_000),
    "10,000 users x 10 items, PAP": _recommender(("PAP",), 10_000),
    "1,000 users x 10 items, diversity": _recommender(("IntraListDiversity",), 1000),
    "10,000 users x 10 items in no order, six metrics of hits": _recommender(_ACCURACY, 10_000, is_ordered=False),
    "100 users x 10 items, six metrics of hits": _recommender(_ACCURACY, 100),
    "1 user x 10 items, NDCG": _recommender(("NDCG",), 1),
}
