"""Calls of recmetrics: the functions that return numbers. Its plots are not replaced."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "recmetrics"
MODULE = "recmetrics"
# seaborn before 0.12 and pandas before 2 need them.
REQUIREMENTS = ("recmetrics==0.1.5", "numpy==1.26.4", "matplotlib==3.8.4")
TOLERANCE = 1e-12
IMPORTS = ("from recmetrics import mark, novelty", "from exactk.compat.recmetrics import mark, novelty")

_ITEMS: tuple[list[Any], ...] = (
    list(range(12)),
    [f"item {number}" for number in range(12)],
    [0, 1, 2.0, True, "a", "b", "1", 3, 4, 5.5, 6, 7],
)
_CUTOFFS = (1, 2, 3, 5, 10, 100)
_WRONG_CUTOFFS = (0, -1, -2, 1.5, None, "2")


def draw() -> list[dict[str, Any]]:
    """Return drawn calls, and faulty ones."""
    draw_from = random.Random(1)  # noqa: S311 - no secrets
    calls = [_relevance(draw_from) for _ in range(200)]
    calls += [_novelty(draw_from) for _ in range(60)]
    calls += [_coverage(draw_from) for _ in range(50)]
    calls += [_personalization(draw_from) for _ in range(60)]
    calls += [_similarity(draw_from) for _ in range(80)]
    calls += [_errors(draw_from) for _ in range(60)]
    return [*calls, *_faulty_lists(), *_faulty_catalogues(), *_faulty_features(), *_faulty_ratings()]


def _call(function: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    return {"function": function, "arguments": list(arguments), "options": options}


def _lists(draw_from: random.Random, users: int, items: list[Any], longest: int, *, repeats: bool) -> list[list[Any]]:
    lengths = [draw_from.randrange(longest + 1) for _ in range(users)]
    if repeats:
        return [draw_from.choices(items, k=length) for length in lengths]
    return [draw_from.sample(items, length) for length in lengths]


def _relevance(draw_from: random.Random) -> dict[str, Any]:
    function = draw_from.choice(["mark", "mark", "recommender_precision", "recommender_recall"])
    users, items = draw_from.choice([1, 2, 5]), draw_from.choice(_ITEMS)
    actual = _lists(draw_from, users, items, draw_from.choice([3, 8]), repeats=draw_from.random() < 0.25)
    predicted = _lists(draw_from, users, items, draw_from.choice([3, 12]), repeats=draw_from.random() < 0.4)
    if draw_from.random() < 0.6:  # precision and recall of an empty list are errors
        actual, predicted = ([row or items[:1] for row in rows] for rows in (actual, predicted))
    if draw_from.random() < 0.1:
        predicted = predicted[1:]
    form = draw_from.choice(["list", "list", "list", "tuple", "array"])
    arguments = [_as(form, predicted), _as(draw_from.choice([form, "list", "set"]), actual)]
    if function != "mark":
        return _call(function, *arguments)
    cutoff = {"k": draw_from.choice(_CUTOFFS if draw_from.random() < 0.8 else _WRONG_CUTOFFS)}
    return _call(function, *reversed(arguments), **(cutoff if draw_from.random() < 0.8 else {}))


def _as(form: str, rows: list[list[Any]]) -> Any:
    return rows if form == "list" else [{form: row} for row in rows]


def _novelty(draw_from: random.Random) -> dict[str, Any]:
    items = draw_from.choice(_ITEMS[:2])
    predicted = _lists(draw_from, draw_from.choice([1, 3, 6]), items, 6, repeats=draw_from.random() < 0.3)
    users = draw_from.choice([10, 50, 1000])
    counted = items if draw_from.random() < 0.8 else items[1:]
    counts = [[item, draw_from.choice([1, users, draw_from.randrange(1, users + 1)])] for item in counted]
    form = draw_from.choice(["dict", "dict", "counter", "series"])
    options = {"u": draw_from.choice([users, users, float(users)]), "n": draw_from.choice([1, 3, 6, 2.5])}
    return _call("novelty", _as(draw_from.choice(["list", "tuple", "array"]), predicted), {form: counts}, **options)


def _coverage(draw_from: random.Random) -> dict[str, Any]:
    items = draw_from.choice(_ITEMS)
    predicted = _lists(draw_from, draw_from.choice([1, 3, 6]), items, 6, repeats=draw_from.random() < 0.3)
    predicted = _as(draw_from.choice(["list", "tuple", "set", "array"]), predicted)
    catalog = draw_from.sample(items, draw_from.choice([3, 7, 12]))
    if draw_from.random() < 0.5:
        return _call("prediction_coverage", predicted, draw_from.choice([catalog, {"array": catalog}]))
    call = _call("catalog_coverage", predicted, catalog, draw_from.choice([0, 1, 2, 10]))
    return call | {"seed": draw_from.randrange(100)}


def _personalization(draw_from: random.Random) -> dict[str, Any]:
    items: list[Any] = list(draw_from.choice(_ITEMS))
    users, length = draw_from.choice([1, 2, 5, 9]), draw_from.choice([1, 2, 3, 7])
    predicted = [draw_from.sample(items, length) for _ in range(users)]
    kind = draw_from.random()
    if kind < 0.15:
        gaps = draw_from.choice([None, {"number": "nan"}])
        predicted = [[gaps, *row[1:]] if draw_from.random() < 0.5 else row for row in predicted]
    elif kind < 0.25:
        predicted = [[row[-1], *row[1:]] for row in predicted]
    elif kind < 0.35:
        predicted[0] = predicted[0][1:]
    return _call("personalization", draw_from.choice([predicted, {"array": predicted}, {"tuple": predicted}]))


def _similarity(draw_from: random.Random) -> dict[str, Any]:
    items = draw_from.choice(_ITEMS[:2])
    index = draw_from.sample(items, len(items))
    if draw_from.random() < 0.15:
        index[1] = index[0]
    features = {f"feature {number}": [_feature(draw_from) for _ in index] for number in range(draw_from.choice([1, 4]))}
    of_items = index if draw_from.random() < 0.9 else items
    predicted = _lists(draw_from, draw_from.choice([1, 3, 6]), of_items, 7, repeats=draw_from.random() < 0.3)
    if draw_from.random() < 0.9:
        predicted = [row if len(row) > 1 else of_items[:2] for row in predicted]
    kinds = draw_from.choice([{}, {}, {"feature 0": "float64"}, {"feature 0": "bool"}])
    return _call("intra_list_similarity", predicted, {"frame": {"columns": features, "index": index, "kinds": kinds}})


def _feature(draw_from: random.Random) -> Any:
    return draw_from.choice([0, 0, 1, 1, 2.5, -1.25, {"number": "nan"}])


def _errors(draw_from: random.Random) -> dict[str, Any]:
    rows = draw_from.choice([1, 2, 9])
    shape = draw_from.choice([(rows,), (rows,), (rows, 1), (rows, 3)])
    kinds = [draw_from.choice(["float64", "float64", "int64", "uint8", "bool"]) for _ in range(2)]
    sides: list[Any] = [_numbers(draw_from, shape, kind) for kind in kinds]
    forms = draw_from.choice(["list", "array", "series"])
    if forms == "array":
        sides = [{"array": side, "kind": kind} for side, kind in zip(sides, kinds, strict=True)]
    elif forms == "series" and len(shape) == 1:
        sides = [{"series": list(enumerate(side))} for side in sides]
    return _call(draw_from.choice(["mse", "rmse"]), *sides)


def _numbers(draw_from: random.Random, shape: tuple[int, ...], kind: str) -> list[Any]:
    if len(shape) > 1:
        return [_numbers(draw_from, shape[1:], kind) for _ in range(shape[0])]
    numbers = [draw_from.uniform(0, 5) if kind == "float64" else draw_from.randrange(6) for _ in range(shape[0])]
    return [bool(number % 2) for number in numbers] if kind == "bool" else numbers


def _faulty_lists() -> list[dict[str, Any]]:
    nan: Any = {"number": "nan"}
    pairs: list[tuple[Any, Any]] = [
        ([], []),
        ([[]], [[]]),
        ([[1, 2]], [[]]),
        ([[]], [[1, 2]]),
        ([1, 2], [[1], [2]]),
        ([[1], [2]], [1, 2]),
        (None, [[1]]),
        ([[1]], None),
        ([None], [[1]]),
        ([[1]], [None]),
        ([[[1], [2]]], [[[2], [3]]]),
        ([[[1], [2], [1]]], [[[1], [1], [2]]]),
        ([[nan, 1]], [[nan, 1]]),
        ([[None, 1]], [[1, None, None]]),
        (["abc"], ["cab"]),
        (["abc"], [["a", "ab", "c"]]),
        ([["a", "b"]], ["abcab"]),
        ([{"series": [[5, 1], [6, 2]]}], [[1, 2, 5]]),
        ([[1, 0, 7]], [{"series": [[0, 1], [1, 0], [2, 7]]}]),
        ({"series": [[5, [1, 2]], [6, [2]]]}, {"series": [[0, [1, 2]], [1, [2, 3]]]}),
        ({"dict": [["ann", [1]], ["bob", [2]]]}, {"dict": [["ann", [1]], ["bob", [2]]]}),
        ({"dict": [["ann", [1]]]}, [["a", "n", "x"]]),
        ([{"array": [[1, 2], [3, 4]]}], [[1, 2, 9]]),
        ([{"array": [3]}], [[1, 3]]),
        ([{"array": [0]}], [[1, 0]]),
        ([{"array": [1.0, 2.0]}], [[1, 2]]),
        ([[1, 2]], [{"array": [[1, 2], [3, 4]]}]),
        ([{"dict": [[1, 5], [2, 6]]}], [[1, 5]]),
        ([[1, 5]], [{"dict": [[1, 5], [2, 6]]}]),
        ([{"set": [1, 2]}], [{"set": [2, 3]}]),
        ([["2024", 1, "1"]], [[1, "1", 1.0]]),
        ([[1, 2], [3]], [[2, 1]]),
        ([[1, 2]], [[2, 1], [3]]),
    ]
    calls = [_call("mark", actual, predicted) for actual, predicted in pairs]
    calls += [_call("mark", actual, predicted, k=2) for actual, predicted in pairs]
    for function in ("recommender_precision", "recommender_recall"):
        calls += [_call(function, predicted, actual) for actual, predicted in pairs]
        calls.append(_call(function, [[1]], [[1]], k=2))
    calls += [_call("mark", [[1, 2]], [[2, 1]], cutoff=1), _call("mark", [[1, 2]]), _call("mark", [[1]], [[1, 2]], 1)]
    return calls


def _faulty_catalogues() -> list[dict[str, Any]]:
    nan: Any = {"number": "nan"}
    counts = {"dict": [[1, 3], [2, 5]]}
    of_novelty: list[tuple[Any, ...]] = [
        ([], counts, 10, 2), ([[]], counts, 10, 2), ([[1, 3]], counts, 10, 2), ([[1]], counts, 0, 1), ([[1]], counts, 10, 0),
        ([[], [1]], counts, 10, 0), ([[1]], counts, -10, 1), ([[1]], {"dict": [[1, 0]]}, 10, 1), ([[1]], counts, "10", 1),
        ([[3]], {"counter": [[1, 2]]}, 10, 1), ([[1]], {"dict": [[1, "3"]]}, 10, 1), ([1, 2], counts, 10, 1),
        ([[[1]]], counts, 10, 1), (None, counts, 10, 1), ([[1]], None, 10, 1), ([[1]], [4, 7], 10, 1), ([[1]], counts, None, 1),
        ([[1]], counts, 10, None), ([[1]], {"series": [[1, 3], [2, 4]]}, 0, 1), ([[1]], {"dict": [[1, nan]]}, 10, 1),
        ([[1, 2]], {"dict": [[1, None], [2, 2]]}, 10, 1), ([[1.0, True]], counts, 10, 1), (["12"], {"dict": [["1", 1], ["2", 2]]}, 9, 2),
        ({"array": [[1, 2], [2, 1]]}, counts, 10, 2), ({"series": [[7, [1]], [9, [2]]]}, counts, 10, 2), ([[1]], counts, 10),
        ([[1]], counts, 10, "2"), ([{"dict": [[1, 2]]}], counts, 10, 2),
    ]  # fmt: skip
    of_coverage: list[tuple[Any, ...]] = [
        ([], [1]), ([[]], [1]), ([[1]], []), ([[1, 2, 3]], [1]), ([1], [1]), (None, [1]), ([[1]], None), ([[[1]]], [1]),
        ([[nan, nan, 1]], [1, 2]), ([[1, 1.0, True]], [1, 2, 3]), (["abc", "bd"], "abcde"), ([[1]], {"set": [1, 2, 3]}),
        ([[1]], {"dict": [[1, 2], [2, 3], [3, 4]]}), ({"array": [[1, 2], [2, 3]]}, [1, 2, 3, 4, 5, 6, 7]), ([[1]], 5),
        ({"dict": [["ab", 1], ["bc", 2]]}, "abcdef"), ({"series": [[7, [1]], [9, [2]]]}, [1, 2, 3]), ("ab", "abc"),
    ]  # fmt: skip
    calls = [_call("novelty", *arguments) for arguments in of_novelty]
    calls += [_call("prediction_coverage", *arguments) for arguments in of_coverage]
    calls += [_call("catalog_coverage", *arguments, 3) | {"seed": 1} for arguments in of_coverage]
    cutoffs: tuple[Any, ...] = (-1, 1.5, None, "2", True)
    calls += [_call("catalog_coverage", [[1], [2]], [1, 2, 3], k) | {"seed": 1} for k in cutoffs]
    calls += [_call("catalog_coverage", [[1], [2]], [1, 2, 3])]
    rows: tuple[Any, ...] = (
        [], [[]], [[], []], [1, 2], [1, 1], ["ab", "cd"], [[1, 2], [2]], [[1, 1], [1, 2]], [[1, 2], ["1", "2"]], None, 5, "ab",
        [[1, 2], [1, 2]], [[1, 2], [3, 4]], [[[1], [2]], [[3], [4]]], [[1, "a"], ["1", "a"]], [[True, False], [1, 2]],
        [[nan, 1], [1, 2]], [[nan, nan], [1, 2]], [[None, None], [1, 2]], [[None, 1], [1, 2]], [[None, "a"], ["b", "a"]],
        [[None], [None]], [[None], [1]], [[1, 2.5], [2.5, 3]], [{"set": [1]}, {"set": [2]}], [{"set": [1, 2]}, {"set": [2, 3]}],
        {"set": [1, 2]}, {"dict": [[1, 2]]}, {"series": [[4, [1, 2]], [5, [2, 3]]]}, {"series": [[4, 1], [5, 2]]},
        {"frame": {"columns": {"a": [1, 2], "b": [3, 1]}, "index": [0, 1], "kinds": {}}},
        {"frame": {"columns": {"a": [1, 2], "b": ["x", "y"]}, "index": [0, 1], "kinds": {}}},
        [[1], [1], [1]], [[1, 2, 3]], [[1, 2, 3, 4]], [[1, 2, 3, 4, 5, 6, 7]], [["x"]], {"array": [[1, 2], [2, 3]], "kind": "float32"},
    )  # fmt: skip
    return calls + [_call("personalization", one) for one in rows] + [_call("personalization")]


def _faulty_features() -> list[dict[str, Any]]:
    one_hot = {"a": [1, 0, 1, 0], "b": [0, 1, 1, 0], "c": [1.0, 0.5, 0.0, 2.0]}

    def frame(columns: Any = None, index: Any = None, **kinds: str) -> dict[str, Any]:
        return {"frame": {"columns": columns or one_hot, "index": index or [1, 2, 3, 4], "kinds": kinds}}

    rows: tuple[Any, ...] = (
        [], [[]], [[1, 2], []], [[1]], [[1], [1, 2]], [[1, 9]], [["1", "2"]], [[1.0, 2.0]], [[1.5, 2]], [1, 2], None, 5, [None],
        [[1, 1]], [[1, 1, 2]], [[4, 1]], [{"array": [1, 2]}], [{"array": [1]}], [{"tuple": [1, 2]}], [{"series": [[0, 1], [1, 2]]}],
        {"array": [[1, 2], [2, 3]]}, {"series": [[0, [1, 2]], [1, [2, 3]]]}, {"series": [[5, [1, 2]], [6, [2, 3]]]}, [[1, None]],
        [[[1, 2]]], {"tuple": [[1, 2], [3, 4]]}, ["ab"], {"dict": [[0, [1, 2]], [1, [2, 3]]]}, {"dict": [["ann", [1, 2]]]},
        [[{"number": "nan"}, 1]],
    )  # fmt: skip
    calls = [_call("intra_list_similarity", one, frame()) for one in rows]
    features: tuple[Any, ...] = (
        frame({"a": ["x", "y", "z", "w"]}), frame({**one_hot, "d": ["x", "y", "z", "w"]}), frame(a="bool"), frame(a="object"),
        frame({"a": [0, 0, 0, 0]}), frame({"a": [1, {"number": "inf"}, 0, 0]}), frame({"a": [0, 1, {"number": "inf"}, 0]}),
        frame(index=["1", "2", "3", "4"]), frame(index=[1, 1, 2, 2]), frame(index=[1, 2, 1, 3]), frame(index=[1.0, 2.0, 3.0, 4.0]),
        frame({"a": [{"number": "nan"}, 1, 2, 3]}), frame({"a": [None, 1, 2, 3]}), frame({"a": [None, "x", "y", "z"]}),
        frame({"a": [True, False, True, True], "b": [1, 2, 3, 4]}), frame({"a": [True, False, True, True]}), frame(c="int8"),
        frame({"a": [1e200, 1e200, 1, 0]}), frame({"a": [1e-200, 1, 1, 0], "b": [1, 1e-200, 0, 0]}),
        None, {"dict": [[1, [1, 0]], [2, [0, 1]]]}, [[1, 0], [0, 1]], {"array": [[1, 0], [0, 1]]},
    )  # fmt: skip
    calls += [_call("intra_list_similarity", [[1, 2], [2, 1]], one) for one in features]
    pairs = frame({"a": [1, 1, 0], "b": [0, 1, 1]}, [{"tuple": [1, "x"]}, {"tuple": [2, "x"]}, {"tuple": [2, "y"]}])
    calls.append(_call("intra_list_similarity", [[{"tuple": [1, "x"]}, {"tuple": [2, "y"]}]], pairs))
    return calls


def _faulty_ratings() -> list[dict[str, Any]]:
    nan: Any = {"number": "nan"}
    pairs: tuple[tuple[Any, Any], ...] = (
        ([], []), ([1, 2], [1]), ([1], [[1]]), ([1, nan], [1, 2]), ([1, 2], [nan, 2]), ([1, {"number": "inf"}], [1, 2]), (None, [1]),
        ([1], None), (["a"], [1]), (["1", "2"], [1, 2]), ([None, 1], [1, 2]), ([[1, 2]], [[1, 2, 3]]), ([[[1]]], [[[1]]]), (1, 1),
        ({"array": [200, 1], "kind": "uint8"}, {"array": [1, 3], "kind": "uint8"}), ([True, False], [1, 0]), ({"set": [1]}, [1]),
        ({"array": [1, 2], "kind": "object"}, [1, 2]), ({"array": ["a", 2], "kind": "object"}, [1, 2]), ([1, [2]], [1, 2]),
        ({"series": [[3, 1.0], [4, 2.0]]}, {"series": [[9, 2.0], [8, 2.0]]}), ({"tuple": [1, 2]}, {"tuple": [2, 4]}), ([2**70], [1]),
        ({"frame": {"columns": {"a": [1, 2], "b": [3, 1]}, "index": [0, 1], "kinds": {}}}, [[1, 2], [3, 4]]), ("ab", "cd"),
        ([[1], [2]], [1, 2]), ([1, 2], [[1], [2]]), ({"array": [127, 1], "kind": "int8"}, {"array": [-100, 3], "kind": "int8"}),
        ({"dict": [[1, 2]]}, [1]), ([1e200], [-1e200]),
    )  # fmt: skip
    calls = [_call(function, *pair) for pair in pairs for function in ("mse", "rmse")]
    return [
        *calls,
        _call("mse", [1, 2]),
        _call("mse", [1, 2], yhat=[2, 2]),
        _call("rmse", [1, 2], [1, 2], squared=False),
    ]


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call, and return the type of its result beside it. What NumPy and pandas warn of about the library's code is left out."""
    random.seed(call.get("seed"))
    arguments = [_decoded(one) for one in call["arguments"]]
    options = {key: _decoded(one) for key, one in call["options"].items()}
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        value = getattr(module, call["function"])(*arguments, **options)
    return [type(value).__name__, value]


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    form, content = next(iter(value.items()))
    return _FORMS[form](_decoded(content) if form != "frame" else content, value.get("kind"))


def _array(values: Any, kind: str | None) -> Any:
    import numpy as np

    return np.array(values, kind)


def _series(pairs: Any, _: None) -> Any:
    import pandas as pd

    return pd.Series([value for _, value in pairs], [key for key, _ in pairs])


def _frame(content: dict[str, Any], _: None) -> Any:
    import pandas as pd

    columns = {name: _decoded(column) for name, column in content["columns"].items()}
    frame = pd.DataFrame(columns, index=pd.Index(_decoded(content["index"])))
    for name, kind in content["kinds"].items():
        frame[name] = frame[name].fillna(0).astype(kind)
    return frame


_FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "number": lambda text, _: float(text),
    "tuple": lambda values, _: tuple(values),
    "set": lambda values, _: set(values),
    "dict": lambda pairs, _: dict(pairs),
    "counter": lambda pairs, _: Counter(dict(pairs)),
    "array": _array,
    "series": _series,
    "frame": _frame,
}


def _typical_lists(users: int, depth: int, of_user: int, items: int = 1682) -> tuple[list[list[int]], list[list[int]]]:
    draw_from = random.Random(1)  # noqa: S311 - no secrets
    actual = [draw_from.sample(range(1, items + 1), of_user) for _ in range(users)]
    predicted = [draw_from.sample(range(1, items + 1), depth) for _ in range(users)]
    return actual, predicted


def _accuracy(users: int, depth: int, of_user: int) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        actual, predicted = _typical_lists(users, depth, of_user)
        by_list = (module.recommender_precision, module.recommender_recall)
        return lambda: [module.mark(actual, predicted, k=10), *(one(predicted, actual) for one in by_list)]

    return prepare


def _marks(module: Any) -> Callable[[], object]:
    actual, predicted = _typical_lists(943, 10, 27)
    return lambda: [module.mark(actual, predicted, k=k) for k in range(1, 11)]


def _lists_alone(name: str) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        _, predicted = _typical_lists(943, 10, 27)
        catalog, counts = list(range(1, 1683)), {item: 1 + item % 900 for item in range(1, 1683)}
        extra: tuple[Any, ...] = {
            "novelty": (counts, 943, 10), "prediction_coverage": (catalog,), "catalog_coverage": (catalog, 100)
        }.get(name, ())  # fmt: skip
        return lambda: getattr(module, name)(predicted, *extra)

    return prepare


def _genres(module: Any) -> Callable[[], object]:
    import numpy as np
    import pandas as pd

    _, predicted = _typical_lists(943, 10, 27)
    genres = np.random.default_rng(1).random((1682, 19)) < 0.1
    features = pd.DataFrame(genres.astype(np.int64), index=np.arange(1, 1683))
    return lambda: module.intra_list_similarity(predicted, features)


def _errors_of_ratings(module: Any) -> Callable[[], object]:
    import numpy as np

    generator = np.random.default_rng(1)
    actual, predicted = generator.integers(1, 6, 20_000), generator.random(20_000) * 5
    return lambda: [module.mse(actual, predicted), module.rmse(actual, predicted)]


TYPICAL = {
    "943 users x 10 items, mark, precision and recall": _accuracy(943, 10, 27),
    "6,040 users x 10 items, mark, precision and recall": _accuracy(6040, 10, 5),
    "1 user x 10 items, mark, precision and recall": _accuracy(1, 10, 27),
    "943 users x 10 items, mark at 1 to 10": _marks,
    "943 users x 10 items, novelty": _lists_alone("novelty"),
    "943 users x 10 items, prediction_coverage": _lists_alone("prediction_coverage"),
    "943 users x 10 items, catalog_coverage of 100": _lists_alone("catalog_coverage"),
    "943 users x 10 items, personalization": _lists_alone("personalization"),
    "943 users x 10 items, 19 genres, intra_list_similarity": _genres,
    "20,000 ratings, mse and rmse": _errors_of_ratings,
}
