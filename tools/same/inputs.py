"""Cases of what users give: every container, rankings of scores, judged lists, and wrong values of every argument."""

from __future__ import annotations

import math
from functools import partial
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from same.data import KEYED, KEYED_PREDICTIONS, KEYS, UNKEYED, UNKEYED_PREDICTIONS, draw
from same.evaluations import METRICS, Cases, attempt, call, evaluate, seeded
from same.names import find

TRUTHS, PREDICTIONS = {**UNKEYED, **KEYED}, {**UNKEYED_PREDICTIONS, **KEYED_PREDICTIONS}


def containers() -> Cases:
    """Yield every container of truths with every one of predictions, also where they do not match, and conversions."""
    for truth, predictions in product(TRUTHS, PREDICTIONS):
        if (truth in KEYED) == (predictions in KEYED_PREDICTIONS):
            is_first = truth in {predictions, "mapping", "list"}
            kinds = [kind for kind in KEYS if kind != "row"] if truth in KEYED else ["row"]
            for kind, role in product(
                kinds if is_first else kinds[1:2] or kinds, ("score", "rank") if is_first else ("score",)
            ):
                yield f"{truth}/{predictions}/{kind} {role}", partial(_contained, truth, predictions, kind, role)
    for truth, predictions in (
        ("mapping", "dense"),
        ("pandas", "list"),
        ("list", "mapping"),
        ("csr", "polars"),
        ("series", "csr"),
    ):
        yield f"{truth}/{predictions}/mixed", partial(_contained, truth, predictions, "row", "score")
    for function, name in product(("truth", "predictions", "rankings", "exclusions"), {**TRUTHS, **PREDICTIONS}):
        for role in ("grade", "score", "rank"):
            yield f"as_{function}/{name} {role}", partial(_converted, function, name, role)


def _contained(truth: str, predictions: str, kind: str, role: str) -> object:
    data = draw(31, kind, 8)
    rows = {user: {item: data.scores[user][item] for item in items} for user, items in data.lists.items()}
    exclude: Any = data.exclude if kind != "row" else list(data.exclude.values())
    given = PREDICTIONS[predictions](rows, role)
    return evaluate(TRUTHS[truth](data.truth, "grade"), given, METRICS, exclude=exclude, per_user=True)


def _converted(function: str, name: str, role: str) -> object:
    data = draw(41, "str" if name in KEYED_PREDICTIONS else "row", 5)
    return call(f"exactk.as_{function}", {**TRUTHS, **PREDICTIONS}[name](data.truth, role))


def rankings() -> Cases:
    """Yield the best items of scores, neighbours, judged lists, agreements, ratings and matching conventions."""
    for name, ties in product(PREDICTIONS, ("lowest_id", "highest_id", "input_order", "raise", "random")):
        yield f"topk/{name}/{ties}", partial(_topk, name, ties)
    for function, number in product((_neighbors, _judge, _agreement, _from_ratings, _matching), range(70)):
        yield f"{function.__name__[1:]}/{number}", partial(function, number)


def _topk(name: str, ties: str) -> object:
    is_keyed = name in KEYED_PREDICTIONS
    data = draw(61, "str" if is_keyed else "row", 6)
    exclude: Any = data.exclude if is_keyed else list(data.exclude.values())
    top = call("exactk.topk", PREDICTIONS[name](data.scores, "score"), 4, exclude, ties=ties, num_threads=2)
    return [top, attempt(evaluate, data.truth, top, METRICS)]


def _neighbors(number: int) -> object:
    vectors = np.random.default_rng(number).integers(-3, 4, (7, 3)).astype(["f8", "f4", "f2"][number % 3])
    options: dict[str, Any] = {
        "similarity": ["cosine", "dot", "euclidean"][number // 3 % 3],
        "exclude_self": number % 2 == 0,
    }
    others = {
        "min_score": None if number % 5 else 0.5,
        "items": None if number % 4 else [f"item {i}" for i in range(7)],
    }
    return call("exactk.neighbors", vectors, 1 + number % 6, **options, **others)


def _judge(number: int) -> object:
    data = draw(number, ["str", "int", "bytes"][number % 3])
    choices: list[dict[str, Any]] = [
        {"convention": "trec_eval"},
        {"convention": {"users": "union"}},
        {"exclude": data.exclude},
    ]
    options = choices[number % 4] if number % 4 < 3 else {}
    arguments = (data.truth, data.lists if number % 2 else data.scores, 1 + number % 5)
    blocks = attempt(lambda: list(call("exactk.judge", *arguments, block_users=4, **options)))
    return [call("exactk.judge", *arguments, **options), blocks]


def _agreement(number: int) -> object:
    data, rng = draw(number, ["str", "int"][number % 2]), seeded("agreement", number)
    forms = rng.sample(["mapping", "pandas", "polars", "arrow", "series", "batches"], 2)
    rows = [KEYED_PREDICTIONS[form](one, "score") for form, one in zip(forms, (data.scores, data.other), strict=True)]
    choices: list[dict[str, Any]] = [
        {"weights": data.weights},
        {"groups": data.groups},
        {"convention": {"rbo_over": "truncated"}},
    ]
    options = choices[number % 4] if number % 4 < 3 else {}
    names = ["overlap@3", "rbo@[2,5]", "jaccard", "kendall_tau@4", "lip@3"]
    return call("exactk.agreement", *rows, names, per_user=number % 3 == 0, **options)


def _from_ratings(number: int) -> object:
    rng = seeded("ratings", number)
    size = rng.randrange(1, 40)
    users = [rng.choice("abcd") if number % 2 else rng.randrange(4) for _ in range(size)]
    actual = [rng.choice([1.0, 3.5, 4.0, 5.0, *[math.nan] * (number % 3 == 0)]) for _ in range(size)]
    predicted = [rng.choice([1.5, 3.5, 4.5]) for _ in range(size)]
    options = {} if number % 4 else {"threshold": 4.0, "predicted_threshold": 3.0}
    pair = call("exactk.from_ratings", users, [*range(size)], actual, predicted, **options)
    return [*pair, evaluate(*pair, ["precision@3", "recall@3"], convention="surprise", per_user=True)]


def _matching(number: int) -> object:
    data, names = draw(number), [*find("exactk.conventions")]
    published = evaluate(data.truth, data.lists, ["map@5", "ndcg@5"], convention=names[number % len(names)])
    digits = {name: f"{value:.{2 + number % 4}f}" for name, value in published.items()}
    return call("exactk.matching_conventions", data.truth, data.lists, digits)


WRONG: tuple[Any, ...] = (
    None, 3, 2.5, "no such thing", b"ab", [], {}, (), set(), [[]], [None], [[1, 1]], [[-1]], [[1.5]], [["a"], [1]], {"a": None},
    {"a": [1, "b"]}, {"a": {"b": "c"}}, {"user 0": {"item 01": math.nan}}, {"user 0": {"item 01": math.inf}}, {1: [2], "a": [3]},
    np.zeros((2, 2)), np.zeros(3), np.zeros((2, 2), np.int64), np.array([[math.nan]]), np.ma.masked_array([[1, 2]], [[True, False]]),
    np.zeros((1, 1, 1)), np.array([["a"]]), np.array([[True]]), np.array([[1, -1, 2]]), np.zeros((0, 3)), np.array([None]),
    pd.DataFrame(), pd.DataFrame({"user": ["a"]}), pd.DataFrame({"user": ["a", None], "item": [1, 2]}),
    pd.DataFrame({"user": ["a"], "item": [math.nan]}), pd.DataFrame({"user": ["a", "a"], "item": ["x", "x"], "score": [1.0, 2.0]}),
    pd.DataFrame({"user": ["a"], "item": ["x"], "score": ["high"]}), pd.DataFrame({"a": [1], "b": [2]}), pd.Series([1.0]),
    pd.DataFrame({"user": ["a", "b"], "item": [1, 2], "rank": [0, -1]}), pd.Series({"a": 1.0}), pl.DataFrame(), pa.table({}),
    pl.DataFrame({"user": ["a"], "item": [[1, None]]}), pa.table({"user": [1], "item": [2], "grade": [math.inf]}),
    pa.table({"user_id": [1, 1], "query_id": [1, 2], "item": [3, 4]}), range(3), iter([]), iter([([[1]], [[1]])]), object, len,
)  # fmt: skip
"""Values that are wrong in most arguments, or unusual."""
STRINGS = (
    "ndcg@0", "ndcg@-1", "ndgc", "ndcg@x", "ndcg@[1,", "ndcg@10(gain=log)", "ndcg(beta=2)", "fbeta@3", "fbeta@3(beta=-1)", "", "ndcg@10,",
    "ndcg@3,ndcg@3", "NDCG@3", "hit-rate@3", "list_auc", "auc@3", "rbp@3(p=1)", "ndcg @ 3", "ndcg@1e3", "map@3(ties=x)", "overlap@3",
    "err@3(max_grade=0)", "recall@3(weight=values)", "coverage", "ild@3", "unexpectedness@3", "novelty@3", "mrr@[]",
)  # fmt: skip
SETTINGS: tuple[Any, ...] = (
    "ranks", "Standard", {"ties": "random"}, {"tie": "raise"}, {"base": "x"}, {"ndcg.gane": "exp2"}, {"ndcg.gain": "x"}, {"min_grade": "x"},
    {"gain": "table"}, {"gain_table": (0, 1)}, {"gain": "table", "gain_table": (0, 1, 3, 7)}, {"decimals": -1}, {"empty_truth": "error"},
    {"missing_list": "error"}, {"gain": "exp2_shifted", "min_grade": 1},
)  # fmt: skip
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["as_truth", "as_predictions", "as_exclusions", "Items", "Scores", "merge", "compare_reports", "Batches"], ()),
    **dict.fromkeys(("Report.from_dict", "State.from_dict", "State.from_bytes", "Comparison.from_dict"), ()),
    "topk": (2,), "judge": ([[1]], 2), "neighbors": (2,), "Embeddings": (np.eye(2),), "agreement": ([[1]],), "choose": ("ndcg",), "read": ("truth",),
}  # fmt: skip


def wrong() -> Cases:
    """Yield wrong and unusual values of each argument, of each function."""
    data = draw(71)
    plain = {"truth": data.truth, "metrics": ["ndcg@3", "unexpectedness@2", "novelty@2"], "items": data.train}
    plain |= {"base_predictions": data.other}
    arguments, of_compare = (signature(find(f"exactk.{name}")).parameters for name in ("evaluate", "compare"))
    for number, argument in product(range(len(WRONG)), arguments):
        changed = {**plain, "predictions": data.scores, argument: WRONG[number]}
        yield f"evaluate {argument} {number}", partial(evaluate, **changed)
    for number, argument in product(range(0, len(WRONG), 3), [one for one in of_compare if one not in arguments]):
        changed = {**plain, "systems": data.systems, argument: WRONG[number]}
        yield f"compare {argument} {number}", partial(call, "exactk.compare", **changed)
    for number, (function, others) in product(range(len(WRONG)), FUNCTIONS.items()):
        yield f"{function} {number}", partial(call, f"exactk.{function}", WRONG[number], *others)
    for string in STRINGS:
        yield f"metric {string}", partial(evaluate, data.truth, data.scores, string)
    for setting in SETTINGS:
        yield f"convention {setting}", partial(evaluate, data.truth, data.scores, METRICS, convention=setting)
    for name in ("evalute", "NDCG", "_private", "metrics.ndgc"):
        yield f"name {name}", partial(find, f"exactk.{name}")
    for kind, argument in product(
        KEYS, ("predictions", "exclude", "candidates", "weights", "groups", "base_predictions")
    ):
        yield f"others {kind} {argument}", partial(_with_others, kind, argument)


def _with_others(kind: str, argument: str) -> object:
    """Evaluate with an argument of other users, or of keys of another kind."""
    data, others = draw(73, kind, 4), draw(74, "text" if kind == "str" else "str", 4)
    values = {**vars(others), "predictions": others.scores, "base_predictions": others.other}
    arguments = {"predictions": data.scores, argument: values[argument]}
    return evaluate(
        data.truth, metrics=[*METRICS, *["unexpectedness@2"] * (argument == "base_predictions")], **arguments
    )


KINDS = {"containers": containers, "rankings": rankings, "wrong": wrong}
