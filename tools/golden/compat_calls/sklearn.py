"""Calls of the ranking metrics of scikit-learn."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "scikit-learn"
MODULE = "sklearn.metrics"
REQUIREMENTS = ("scikit-learn==1.9.1", "numpy==2.4.6", "pandas==2.3.3")
TOLERANCE = 1e-12
IMPORTS = ("from sklearn.metrics import ndcg_score", "from exactk.compat.sklearn import ndcg_score")

_GAINS = ("ndcg_score", "dcg_score")
_RANKINGS = ("label_ranking_average_precision_score", "label_ranking_loss", "coverage_error")
_SHAPES = ((1, 2), (1, 7), (3, 4), (4, 40), (2, 130), (6, 12))
_KINDS = ("float64", "float64", "float64", "float32", "int64", "int8")
_GRADES: tuple[tuple[float, ...], ...] = ((0, 1), (0, 1, 2, 3), (0, 0.5, 1, 2.25), (0,), (1,), (0, 0, 0, 0, 0, 1))
_LABELS: tuple[tuple[float, ...], ...] = (
    (0, 1),
    (0, 0, 0, 0, 1),
    (0,),
    (1,),
    (-1, 1),
    (0, 1, 1, 1),
    (0, 2),
    (0.0, 1.0),
)
_MATRIX = [[0.5, 0.25, 1.0], [0.75, 0.125, 0.5]]
_FAULTY_ARRAYS: tuple[Any, ...] = (
    *(None, 3, "text", [], [[]], [[], []], [1, 0], [0.5, 0.25], [[1, 0, 1]], [[1, 0], [0, 1]], [[1, 0, 1], [0, 1]]),
    *([[1], [0]], [[1], [2]], [[0.5], [1.5]], [[1, 0, 1, 0], [0, 1, 0, 1]], [[[1, 0, 1]], [[0, 1, 0]]], {"a": 1}),
    *([["a", "b", "c"], ["a", "b", "d"]], [[1, 0, None], [0, 1, 0]], [[1, 0, "nan"], [0, 1, 0]]),
    *([[1, 0, "inf"], [0, 1, 0]], [[True, False, True], [False, True, False]], [[0, 0, 0], [0, 0, 0]]),
    *([[-1, 0, 1], [0, 1, 0]], [[0.5, 0, 1], [0, 1, 0]], [[2, 0, 2], [0, 2, 0]], [[1, 1, 1], [1, 1, 1]]),
    *([[0.5, 0, 0.5], [0, 0.5, 0]], [[1, 2, 3], [4, 5, 6]], [[1, 0, 1], [0, 1, 0], [0, 0, 1]]),
)
_FAULTY_WEIGHTS: tuple[Any, ...] = (
    3,
    "text",
    [1],
    [1, 2, 3],
    [0, 0],
    [1, -1],
    [-1, 3],
    [[1], [2]],
    [1, "nan"],
    [1, "a"],
    [],
)
_FAULTY_OPTIONS: tuple[dict[str, Any], ...] = (
    *({"k": k} for k in (0, -1, 1.5, "1", True, False, 3, 100)),
    *({"ignore_ties": flag} for flag in (0, 1, None, "yes")),
    *({"log_base": base} for base in (0, -1, 1, 0.5, 10, 2.5, "2", None)),
    *({"normalize": flag} for flag in (0, None, False)),
    {"unknown": 1},
)
_CLASSES: tuple[dict[str, Any], ...] = (
    {"y_true": [0, 1, 2, 2]},
    {"y_true": [0, 1, 1, 0]},
    {"y_true": [0, 1, 1, 0], "labels": [0, 1, 2]},
    {"y_true": [0, 0, 0, 0], "labels": [0, 1, 2]},
    {"y_true": [0, 1, 3, 3]},
    {"y_true": [0, 1, 3, 3], "labels": [0, 1, 2]},
    {"y_true": [0, 1, 2, 2], "labels": [0, 1, 1]},
    {"y_true": [0, 1, 2, 2], "labels": [1, 0, 2]},
    {"y_true": [0, 1, 2, 2], "labels": [0, 1]},
    {"y_true": [0, 1, 2, 2], "labels": [0, 1, 2, 3]},
    {"y_true": [0, 1, 2, 2], "labels": 3},
    {"y_true": [0, 1, 2, 2], "labels": [[0], [1], [2]]},
    {"y_true": [0, 1, 2, 2], "labels": ["a", "b", "c"]},
    {"y_true": ["a", "b", "c", "c"]},
    {"y_true": ["a", "b", "c", "c"], "labels": ["a", "b", "c"]},
    {"y_true": ["a", "b", "a", "b"], "labels": ["a", "b", "c"]},
    {"y_true": ["a", "b", "a", "b"]},
    {"y_true": ["a", "b", "c", 3]},
    {"y_true": [0.0, 1.0, 2.0, 2.0]},
    {"y_true": [0.5, 1.0, 2.0, 2.0]},
    {"y_true": [0, 1, "nan", 2]},
    {"y_true": [0, 1, None, 2]},
    {"y_true": [[0], [1], [2], [2]]},
    {"y_true": [[0, 1], [1, 2], [2, 0], [2, 0]]},
    {"y_true": [0, 1, 2]},
    {"y_true": []},
    {"y_true": None},
    {"y_true": [True, False, True, False]},
    {"y_true": [0, 1, 2, 2], "y_score": [0.5, 0.25, 0.125, 0.75]},
    {"y_true": [0, 1, 1, 0], "y_score": [0.5, 0.25, 0.125, 0.75]},
    {"y_true": [0, 1, 1, 0], "y_score": [-1.5, 0.25, 0.125, 0.75]},
    {"y_true": [0, 1, 1, 0], "y_score": [[0.5], [0.25], [0.125], [0.75]]},
    {"y_true": [0, 1, 1, 0], "y_score": [[0.5, 0.5]] * 4},
    {"y_true": [0, 0, 0, 0], "y_score": [0.5, 0.25, 0.125, 0.75]},
    {"y_true": [0, 0, 0, 0], "y_score": [0.5, 0.25, 0.125, 0.75], "labels": [0, 1]},
    {"y_true": [1, 1, 1, 1], "y_score": [0.5, 0.25, 0.125, 0.75], "labels": [0, 1]},
    {"y_true": [-1, 1, 1, -1], "y_score": [0.5, 0.25, 0.125, 0.75]},
    {"y_true": [0, 1, 2, 2], "y_score": [[0.5, 0.25, "nan"]] * 4},
    {"y_true": [0, 1, 2, 2], "y_score": None},
)


def draw() -> list[dict[str, Any]]:
    """Return drawn calls of each function, and faulty ones."""
    generator = random.Random(1)  # noqa: S311 - no secrets
    calls = [_of_gains(generator) for _ in range(200)]
    calls += [_of_labels(generator) for _ in range(200)]
    calls += [_of_classes(generator) for _ in range(60)]
    for function in (*_GAINS, *_RANKINGS):
        labels = [[1, 0, 1], [0, 1, 0]]
        plain: dict[str, Any] = {"function": function, "y_true": labels, "y_score": _MATRIX}
        calls += [{**plain, "y_true": array} for array in _FAULTY_ARRAYS]
        calls += [{**plain, "y_score": array} for array in _FAULTY_ARRAYS]
        calls += [{**plain, "options": {"sample_weight": weights}} for weights in _FAULTY_WEIGHTS]
        calls += [{**plain, "options": options} for options in _FAULTY_OPTIONS]
        calls += [
            {**plain, "form": form} for form in ("frame", "csr", "coo", "matrix", "complex", "object", "uint8", "bool")
        ]
        calls += [
            {**plain, "form": "csr", "y_true": array} for array in ([[2, 0, 1], [0, 1, 0]], [[0, 0, 0]] * 2, [[1], [0]])
        ]
    for classes in _CLASSES:
        options = {name: classes[name] for name in ("labels",) if name in classes}
        scores = classes.get("y_score", [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]])
        call = {"function": "top_k_accuracy_score", "y_true": classes["y_true"], "y_score": scores}
        calls += [{**call, "options": {**options, "k": k}} for k in (1, 2)]
    plain = {"function": "top_k_accuracy_score", "y_true": [0, 2, 1], "y_score": [[0.5, 0.25, 0.125]] * 3}
    calls += [{**plain, "options": options} for options in _FAULTY_OPTIONS]
    calls += [{**plain, "options": {"sample_weight": weights}} for weights in _FAULTY_WEIGHTS]
    calls += [{**plain, "form": form} for form in ("frame", "csr", "matrix", "complex", "object")]
    return calls


def _scores(draw_from: random.Random, rows: int, columns: int, kind: str, *, ties: bool) -> list[list[float]]:
    if kind.startswith("int"):
        return [[draw_from.randrange(-100, 100) for _ in range(columns)] for _ in range(rows)]
    if ties:
        return [[draw_from.randrange(5) / 4 for _ in range(columns)] for _ in range(rows)]
    return [draw_from.sample([number / 256 for number in range(-columns, columns)], columns) for _ in range(rows)]


def _of_gains(draw_from: random.Random) -> dict[str, Any]:
    rows, columns = draw_from.choice(_SHAPES)
    grades, kind, ties = draw_from.choice(_GRADES), draw_from.choice(_KINDS), draw_from.random() < 0.5
    options: dict[str, Any] = {}
    function = draw_from.choice(_GAINS)
    if not ties and kind.startswith("float") and draw_from.random() < 0.5:
        options["ignore_ties"] = True
    if draw_from.random() < 0.6:
        options["k"] = draw_from.choice([1, 2, 3, 5, 10, 200])
    if draw_from.random() < 0.3:
        options["sample_weight"] = [draw_from.randrange(4) + 0.5 for _ in range(rows)]
    if function == "dcg_score" and draw_from.random() < 0.3:
        options["log_base"] = draw_from.choice([2, 10, 2.5])
    return {
        "function": function,
        "y_true": [[draw_from.choice(grades) for _ in range(columns)] for _ in range(rows)],
        "y_score": _scores(draw_from, rows, columns, kind, ties=ties),
        "options": options,
        "kind": kind,
    }


def _of_labels(draw_from: random.Random) -> dict[str, Any]:
    rows, columns = draw_from.choice((*_SHAPES, (3, 250)))
    labels, kind = draw_from.choice(_LABELS), draw_from.choice(_KINDS)
    function = draw_from.choice(_RANKINGS)
    call: dict[str, Any] = {
        "function": function,
        "y_true": [[draw_from.choice(labels) for _ in range(columns)] for _ in range(rows)],
        "y_score": _scores(draw_from, rows, columns, kind, ties=draw_from.random() < 0.5),
        "kind": kind,
    }
    if draw_from.random() < 0.3:
        call["options"] = {"sample_weight": [draw_from.randrange(4) + 0.5 for _ in range(rows)]}
    if function != "coverage_error" and draw_from.random() < 0.4:
        call["form"] = draw_from.choice(["csr", "coo"])
    return call


def _of_classes(draw_from: random.Random) -> dict[str, Any]:
    rows, classes = draw_from.choice([3, 10, 40]), draw_from.choice([3, 5, 20])
    options: dict[str, Any] = {"labels": list(range(classes)), "k": draw_from.randrange(1, classes + 1)}
    if draw_from.random() < 0.3:
        options["sample_weight"] = [draw_from.randrange(4) + 0.5 for _ in range(rows)]
    if draw_from.random() < 0.3:
        options["normalize"] = False
    kind = draw_from.choice(_KINDS)
    scores = _scores(draw_from, rows, classes, kind, ties=draw_from.random() < 0.6)
    actual = [draw_from.randrange(classes) for _ in range(rows)]
    return {"function": "top_k_accuracy_score", "y_true": actual, "y_score": scores, "options": options, "kind": kind}


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call; texts of numbers that JSON lacks become those, and arrays the types that it asks for."""
    y_true, y_score = _numbers(call["y_true"]), _numbers(call["y_score"])
    options = {name: _numbers(value) for name, value in call.get("options", {}).items()}
    if "kind" in call:
        y_score = np.array(y_score, call["kind"])
    return getattr(module, call["function"])(*_formed(call.get("form"), y_true, y_score), **options)


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    return float(value) if value in ("nan", "inf") else value


def _formed(form: str | None, y_true: Any, y_score: Any) -> tuple[Any, Any]:
    """Return the arrays in another form."""
    if form is None:
        return y_true, y_score
    if form == "frame":
        return pd.DataFrame(y_true), pd.DataFrame(y_score)
    if form in {"csr", "coo"}:
        return getattr(scipy.sparse, f"{form}_matrix")(np.array(y_true)), y_score
    if form == "matrix":
        return np.asmatrix(y_true), y_score
    return y_true, np.array(y_score).astype(form)


def _scored(rows: int, columns: int, relevant: float, digits: int) -> tuple[Any, Any, Any]:
    """Return gains, which all labels have if `relevant` is 1, indicators, and scores."""
    generator = np.random.default_rng(1)
    scores = generator.random((rows, columns)).round(digits)
    gains = generator.integers(0, 4, (rows, columns)) * 1.0
    return gains, (generator.random((rows, columns)) < relevant).astype(np.int64), scores


def _timed(
    function: str, rows: int, columns: int, relevant: float = 1, digits: int = 17, **options: Any
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        gains, indicators, scores = _scored(rows, columns, relevant, digits)
        actual = (scores + 3 * indicators).argmax(axis=1) if function.startswith("top") else None
        truth = actual if actual is not None else gains if relevant == 1 else indicators
        return lambda: getattr(module, function)(truth, scores, **options)

    return prepare


_TIMED_SHAPES = ((20_000, 100), (2000, 1000), (200, 50_000))

TYPICAL = {
    **{
        f"{rows:,} x {columns:,}, ndcg_score{'' if k is None else f', k={k}'}{', ignore_ties=True' if ignored else ''}": _timed(
            "ndcg_score", rows, columns, k=k, ignore_ties=ignored
        )
        for rows, columns in _TIMED_SHAPES
        for k in (None, 10)
        for ignored in (False, True)
    },
    **{
        f"{rows:,} x {columns:,}, {function}, {share:.0%} relevant": _timed(function, rows, columns, share)
        for function in _RANKINGS
        for rows, columns, share in ((2000, 1000, 0.01), (200, 50_000, 0.5))
    },
    **{
        f"2,000 x 1,000, scores of two decimals, {function}{option}": _timed(
            function, 2000, 1000, relevant, digits=2, **({"k": 10} if option else {})
        )
        for function, relevant, option in (
            ("ndcg_score", 1, ""),
            ("ndcg_score", 1, ", k=10"),
            *((one, 0.01, "") for one in _RANKINGS),
        )
    },
    **{
        f"1 x 1,000, {function}": _timed(function, 1, 1000, relevant)
        for function, relevant in (("ndcg_score", 1), *((one, 0.01) for one in _RANKINGS))
    },
    "2,000 x 1,000, top_k_accuracy_score, k=5": _timed(
        "top_k_accuracy_score", 2000, 1000, 0.01, k=5, labels=range(1000)
    ),
}
