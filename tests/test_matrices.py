"""A matrix beside scores of the same shape: floats are grades, bools flags, and integers are never guessed at."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import exactk
from refusals import is_of_reference, refused
from test_containers import ForeignArray

GRADES = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
SCORES = np.array([[0.1, 0.9, 0.5], [0.3, 0.2, 0.6]])
LISTS = [{0: 1.0, 1: 0.0, 2: 2.0}, {0: 0.0, 1: 3.0, 2: 1.0}]  # the same grades by item
METRICS = ["ndcg", "ndcg@2", "recall@1", "bpref", "num_rel"]
SAME_SHAPE: dict[str, Any] = {  # in which scores may come
    "floats": SCORES,
    "float32": SCORES.astype("f4"),
    "another library": ForeignArray(SCORES),
    "Scores": exactk.Scores(SCORES),
    "Scores of integers": exactk.Scores((SCORES * 10).astype(int)),
    "Embeddings": exactk.Embeddings(np.eye(2), SCORES.T.copy()),
    "SciPy": scipy.sparse.csr_array(SCORES),
}


def values_of(truth: Any, predictions: Any = SCORES, **options: Any) -> dict[str, float]:
    report = exactk.evaluate(truth, predictions, METRICS, **options)
    assert isinstance(report, exactk.Report)
    return dict(report)


@pytest.mark.parametrize("scores", SAME_SHAPE)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8"])
def test_f63_floats_beside_scores_are_grades(scores: str, dtype: str) -> None:
    predictions = SAME_SHAPE[scores]
    expected = values_of(LISTS, predictions)
    assert values_of(GRADES.astype(dtype), predictions) == expected
    assert values_of(ForeignArray(GRADES), predictions) == expected
    assert values_of(np.asfortranarray(GRADES), predictions) == expected
    blocks = ((GRADES[user : user + 1], SCORES[user : user + 1]) for user in range(2))
    assert values_of(None, blocks) == values_of(LISTS)
    comparison = exactk.compare(GRADES, {"one": predictions, "other": [[0, 1], [2]]}, METRICS)
    assert dict(comparison.reports["one"]) == expected


@pytest.mark.parametrize("scores", SAME_SHAPE)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
def test_f63_integers_of_the_shape_of_scores_are_refused(scores: str, dtype: str) -> None:
    predictions, matrix = SAME_SHAPE[scores], GRADES.astype(dtype)
    for truth, beside in [
        (matrix, predictions),
        (matrix.tolist(), predictions),
        (ForeignArray(matrix), predictions),
        (None, iter([(matrix, predictions)])),
        (np.array([[0, 1, 2], [2, 1, 0]]), predictions),  # ids, by their values
    ]:
        with pytest.raises(exactk.InputError, match="truth: expected grades or ids, found a matrix of the scores'"):
            exactk.evaluate(truth, beside, "ndcg")
    with pytest.raises(exactk.InputError, match="truth: expected grades or ids, found a matrix of the scores'"):
        exactk.compare(matrix, {"one": [[0], [1]], "other": predictions}, "ndcg")


def test_f63_the_hints_can_be_pasted() -> None:
    matrix = np.array([[1, 0, 2], [0, 2, 1]])
    with pytest.raises(exactk.InputError) as caught:
        values_of(matrix)
    as_grades, as_ids = str(caught.value).partition("; ")[2].split(", truth=")
    names = {"exactk": exactk, "truth": matrix, "np": np}
    code = as_grades.removeprefix("truth=").removesuffix(" if they are grades")
    assert values_of(eval(code, names)) == values_of(exactk.Truth.from_dense(matrix))  # noqa: S307
    assert values_of(eval(as_ids.removesuffix(" if they are ids"), names)) == values_of([{0, 1, 2}] * 2)  # noqa: S307
    flags = np.array([[1, 0, 0], [0, 1, 0]])
    calls: tuple[Any, ...] = ((exactk.evaluate, [[1], [2]], SCORES, "mrr"), (exactk.topk, SCORES, 3))
    for argument in ("exclude", "candidates"):
        for call, *arguments in calls:
            with pytest.raises(exactk.InputError, match=f"{argument}: expected ids or flags, found") as caught:
                call(*arguments, **{argument: flags})
        code = str(caught.value).partition(f"; {argument}=")[2].partition(" if they are flags")[0]
        best = exactk.topk(SCORES, 3, **{argument: eval(code, {"np": np, argument: flags})})  # noqa: S307
        assert best.items.tolist() == exactk.topk(SCORES, 3, **{argument: [[0], [1]]}).items.tolist()  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f63_what_is_excluded_beside_blocks() -> None:
    flags = np.array([[1, 0, 0], [0, 1, 0]])
    for argument in ("exclude", "candidates"):
        blocks = (([{0: 1.0}], SCORES[user : user + 1]) for user in range(2))
        with pytest.raises(exactk.InputError, match=f"{argument}: expected ids or flags"):
            values_of(None, blocks, **{argument: flags})
        blocks = (([{2: 1.0}], SCORES[user : user + 1]) for user in range(2))
        assert values_of(None, blocks, **{argument: flags[:, :2]})


def test_f63_other_shapes_are_ids() -> None:
    padded = np.array([[0, 2], [1, -1]])
    assert values_of(padded) == values_of([{0, 2}, {1}])
    with pytest.raises(exactk.InputError, match=r"truth: expected one grade per score, of shape \(2, 3\), found"):
        values_of(GRADES[:, :2])
    with pytest.raises(exactk.InputTypeError, match=r"truth: expected integer ids, found float64; truth=exactk\.Truth"):
        values_of(GRADES, [[0, 1, 2], [2, 1, 0]])
    truth = exactk.Truth.from_dense(GRADES)
    assert values_of(truth, [[0, 1, 2], [2, 1, 0]]) == values_of(LISTS, [[0, 1, 2], [2, 1, 0]])
    with pytest.raises(exactk.InputError, match="truth: expected grades or ids"):  # and no word of float ids
        values_of(GRADES.tolist())


def test_f63_flags_are_as_before() -> None:
    assert values_of(GRADES > 0) == values_of([{0, 2}, {1, 2}])
    assert values_of(exactk.Truth.from_dense(GRADES > 0)) == values_of([{0, 2}, {1, 2}])


def test_from_dense() -> None:
    truth = exactk.Truth.from_dense([[3, 0, math.nan], [math.nan, math.nan, math.nan]])
    assert (len(truth), truth.row(0).tolist(), truth.row(1).tolist()) == (2, [0, 1], [])
    assert truth.grades is not None
    assert truth.grades.tolist() == [3.0, 0.0]
    for dtype in ("u1", "i2", "i8", "u8", "f2", "f4", "f8"):
        grades = exactk.Truth.from_dense(GRADES.astype(dtype))
        assert grades.grades is not None
        assert grades.grades.tolist() == GRADES.ravel().tolist()
    assert len(exactk.Truth.from_dense(np.zeros((0, 3)))) == 0
    assert len(exactk.Truth.from_dense(np.zeros((3, 0)))) == 3
    matrix = GRADES.copy()
    frozen = exactk.Truth.from_dense(matrix)
    matrix[:] = 0
    assert values_of(frozen) == values_of(LISTS)
    wrong: list[tuple[Any, str]] = [
        ([[0.0, 1.0], [math.inf, 2.0]], "finite grades, or NaN, found inf at row 1, position 0"),
        ([[0, 2**53 + 1]], r"integers from -2\^53 to 2\^53, found 9007199254740993 at row 0, position 1"),
        ([0.0, 1.0], r"a two-dimensional array, found shape \(2,\)"),
        ([True, False], r"a two-dimensional array, found shape \(2,\)"),
        ([["a", "b"]], "integers or floats of at most 64 bits"),
        (np.ma.masked_array(GRADES, GRADES > 2), "a plain NumPy array"),
        ({"ann": [1]}, "a NumPy array, found dict"),
        (None, "a NumPy array, found NoneType"),
    ]
    for grades, message in wrong:
        with pytest.raises(exactk.ExactkError, match=f"truth: expected {message}"):
            exactk.Truth.from_dense(grades)


@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
@pytest.mark.parametrize("layout", ["one system", "systems", "blocks", "blocks of systems"])
def test_a_repeated_item_that_may_be_no_id(engine: Any, layout: str) -> None:
    def values(truth: Any, predictions: Any) -> dict[str, float]:
        if layout == "one system":
            return dict(engine.evaluate(truth, predictions, "recall@2"))
        if layout == "blocks":
            return dict(engine.evaluate(None, iter([(truth, predictions)]), "recall@2"))
        systems = {"a": predictions}
        blocks = (None, iter([(truth, systems)])) if layout == "blocks of systems" else (truth, systems)
        return dict(engine.compare(*blocks, "recall@2").reports["a"])

    lists, flags = [[2, 1], [0, 1]], np.array([[0, 1, 1], [1, 0, 0]])
    again = r"found item {} again at row 0, position 2.*"
    with refused("truth: repeated item", again.format(1) + r"truth=truth.astype\(bool\) if"):
        values(flags, lists)
    assert values(flags.astype(bool), lists) == {"recall@2": 1}
    padded, scores = np.array([[2, 0, 0], [3, 1, 0]]), np.array([[5, 7, 5], [1, 4, 2]])
    matrices: list[tuple[Any, Any, int, str]] = [
        ([[2], [1]], padded, 0, " if 0 is padding"),
        ([[2], [1]], padded.astype(np.uint8), 0, " if 0 is padding"),
        ([[1], [2]], scores, 5, " if these are scores of all items"),
    ]
    for truth, matrix, item, reason in matrices:
        with refused("predictions: repeated item", again.format(item) + reason) as e:
            values(truth, matrix)
        if is_of_reference(e.value):
            continue
        line = str(e.value).partition("; predictions=")[2].partition(reason)[0]
        assert values(truth, eval(line, {"np": np, "exactk": exactk, "predictions": matrix})) == {"recall@2": 1}  # noqa: S307
    for truth, predictions in (([[0, 1, 1]], [[1]]), (np.array([[2, 1, 1]]), [[1]]), ([[1]], np.array([[2, 1, 1]]))):
        with pytest.raises(exactk.InputError) as e:
            values(truth, predictions)
        assert "padding" not in str(e.value)
        assert "astype" not in str(e.value)


def test_from_padded() -> None:
    truth = exactk.Truth.from_padded(np.array([[4, 1, -1], [7, -1, -1]], np.int16))
    assert (truth.row(0).tolist(), truth.row(1).tolist(), truth.grades) == ([4, 1], [7], None)
    ids: Any
    for ids, message in [
        ([[1.0]], "integer ids"),
        ([1, 2], "a two-dimensional array"),
        ([[-1, 4]], ".*at row 0"),
        ([[4, -2]], ".*at row 0, position 1"),
    ]:
        with pytest.raises(exactk.ExactkError, match=f"truth: expected {message}"):
            exactk.Truth.from_padded(ids)
    with pytest.raises(exactk.InputError, match="row 0, position 1"):
        exactk.evaluate(exactk.Truth.from_padded([[4, 4]]), [[4]], "mrr")


VALUES = [[0.5, 0.25, 0.75], [0.125, 0.5, 0.25]]
ITEMS, USERS = ["film", "book", "song"], ["ann", "bob"]
KEYED: tuple[Any, Any] = {"ann": ["song"], "bob": ["film"]}, exactk.Scores(VALUES, users=USERS, items=ITEMS)
PIVOTED: dict[str, tuple[Any, Any, Any]] = {
    "without keys": (pd.DataFrame(VALUES), [[2], [0]], np.array(VALUES)),
    "items": (pd.DataFrame(VALUES, columns=ITEMS), [["song"], ["film"]], exactk.Scores(VALUES, items=ITEMS)),
    "users": (pd.DataFrame(VALUES, index=USERS), {"ann": [2], "bob": [0]}, exactk.Scores(VALUES, users=USERS)),
    "pivot table": (
        pd.DataFrame(VALUES, columns=pd.Index(ITEMS, name="item"), index=pd.Index(USERS, name="user")), *KEYED
    ),
    "pivot table of numbers": (
        pd.DataFrame(VALUES, index=pd.Index([7, 9], name="user"), columns=[30, 10, 20]), {7: [20], 9: [30]},
        exactk.Scores(VALUES, users=[7, 9], items=[30, 10, 20]),
    ),
    "nullable": (pd.DataFrame(VALUES, USERS, ITEMS).astype({"film": "Float64", "book": "float32"}), *KEYED),
}  # fmt: skip
"""A frame that can only be a matrix, its truth, and what says the same."""


@pytest.mark.parametrize("case", PIVOTED)
def test_pivoted_frames_are_scores(case: str) -> None:
    frame, truth, same = PIVOTED[case]
    report = exactk.evaluate(truth, frame, METRICS, per_user=True)
    assert report == exactk.evaluate(truth, same, METRICS, per_user=True)
    assert report == exactk.evaluate(truth, exactk.Scores(frame), METRICS, per_user=True)
    assert exactk.topk(frame, 2).to_pandas().equals(exactk.topk(same, 2).to_pandas())


METRICS = ["mrr", "ndcg@2", "recall@1"]
MATRIX_FRAMES: dict[str, tuple[Any, Any, Any]] = {
    "ids": (pd.DataFrame([[2, 0], [1, 2]]), [[2], [0]], np.array([[2, 0], [1, 2]])),
    "Polars": (pl.DataFrame(VALUES, orient="row"), [[2], [0]], np.array(VALUES)),
    "Polars, lazy": (pl.LazyFrame(VALUES, orient="row"), [[2], [0]], np.array(VALUES)),
    "integers": (
        pd.DataFrame([[2, 1, 3], [1, 3, 2]], USERS, ITEMS), KEYED[0],
        exactk.Scores([[2, 1, 3], [1, 3, 2]], users=USERS, items=ITEMS),
    ),
    "a column of users": (pd.DataFrame(VALUES, columns=ITEMS).assign(user_id=USERS), *KEYED),
    "Polars, a column of users": (
        pl.DataFrame(VALUES, ITEMS, orient="row").insert_column(1, pl.Series("user_id", USERS)), *KEYED
    ),
    "Polars, lazy, a column of users": (
        pl.DataFrame(VALUES, ITEMS, orient="row").insert_column(0, pl.Series("user_id", USERS)).lazy(), *KEYED
    ),
}  # fmt: skip
"""A frame that may be a matrix, its truth, and what says the same."""


@pytest.mark.parametrize("case", MATRIX_FRAMES)
def test_f66_a_frame_that_may_be_a_matrix_is_answered_with_what_to_write(case: str) -> None:
    frame, truth, same = MATRIX_FRAMES[case]
    message = r"^predictions: expected a column for the (user|item), .* reads "
    with pytest.raises(exactk.InputError, match=message) as caught:
        exactk.evaluate(truth, frame, "mrr")
    code = str(caught.value).partition("; predictions=")[2].partition(" reads ")[0]
    names = {"predictions": frame, "exactk": exactk}
    assert exactk.evaluate(truth, eval(code, names), "mrr") == exactk.evaluate(truth, same, "mrr")  # noqa: S307


@pytest.mark.parametrize("truth", [
    pd.DataFrame(VALUES, USERS, ITEMS), pd.DataFrame([[2, 1, 3], [1, 3, 2]], USERS, ITEMS),
    pd.DataFrame(VALUES, columns=ITEMS).assign(user=USERS),
    pl.DataFrame(VALUES, ITEMS, orient="row").insert_column(1, pl.Series("user", USERS)),
])  # fmt: skip
def test_a_pivoted_truth_is_answered_with_what_to_write(truth: Any) -> None:
    with pytest.raises(exactk.ExactkError, match=r"; truth=exactk\.Truth\.from_dense") as caught:
        exactk.evaluate(truth, {"ann": ["song"]}, "mrr")
    code = re.match(r".*; truth=(.*\)) (reads|if)", str(caught.value))
    assert code
    converted = eval(code[1], {"truth": truth, "exactk": exactk})  # noqa: S307 - the hint
    assert converted.users.tolist() == USERS
    assert exactk.evaluate(converted, {"bob": ["song"], "ann": ["song"]}, "mrr")["mrr"] == 1


@pytest.mark.parametrize("frame", [
    pd.DataFrame({"user": [1.0, 2.0], "item": [3.0, 4.0], "score": [0.5, 0.25]}),  # as a join leaves them
    pd.DataFrame({"item": [3.0, 4.0], "affinity": [0.5, 0.25]}, index=pd.Index(USERS, name="user")),
    pd.DataFrame({"affinity": [0.5]}, index=pd.MultiIndex.from_tuples([("ann", "song")], names=["who", "what"])),
    pd.DataFrame({"score": [0.5, 0.25]}, index=USERS),
], ids=["floats", "index", "levels", "score"])  # fmt: skip
def test_what_may_be_long_format_is_no_matrix(frame: Any) -> None:
    message = r"^predictions(\.user|\.item)?: expected (a column|a score|integer ids)"
    with pytest.raises(exactk.ExactkError, match=message):
        exactk.evaluate({"ann": ["song"]}, frame, "mrr")


def test_levels_of_columns_are_answered_with_what_to_write() -> None:
    long = pd.DataFrame({"user": ["ann", "bob"], "item": ["song", "film"], "value": [0.5, 0.25]})
    frame = long.pivot_table(index="user", columns="item", values=["value"])
    with pytest.raises(exactk.InputTypeError, match=r"values=values\['value'\] has one"):
        exactk.Scores(frame)
    items = exactk.Scores(frame["value"]).items
    assert items is not None
    assert items.tolist() == ["film", "song"]


def test_nan_in_a_pivoted_frame_is_as_the_convention_says() -> None:
    long = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["song", "film", "film"], "value": [0.5, 0.75, 0.25]})
    frame = long.pivot_table(index="user", columns="item", values="value")
    truth = {"bob": ["song"], "ann": ["song"]}
    with pytest.raises(exactk.InputError, match=r"NaN at row 1, position 1; .*\(user 'bob', item 'song'\)$"):
        exactk.evaluate(truth, frame, "mrr")
    assert exactk.evaluate(truth, frame, "mrr", convention={"nan": "last"})["mrr"] == 0.5


def test_f66_a_frame_without_keys_is_a_matrix_only_where_no_column_can_hold_them() -> None:
    for frame in (pd.DataFrame({"a": [1], "b": [0.5]}), pl.DataFrame({"a": ["x"], "b": [0.5]})):
        with pytest.raises(exactk.InputError, match=r"; name it, for example with user='(a|NAME)'$"):
            exactk.evaluate([[1]], frame, "mrr")
    for frame in (pd.DataFrame(), pd.DataFrame({0: ["x"], 1: ["y"]})):  # user=0 is no name of a column
        with pytest.raises(exactk.InputError, match=r"; predictions.columns = \['user', \.\.\.\] names them$"):
            exactk.evaluate([[1]], frame, "mrr")
    scored = pd.DataFrame({"user": ["ann"], "item": ["x"], "score": [0.5]}).set_index(["user", "item"])
    assert exactk.evaluate({"ann": ["x"]}, scored, "mrr")["mrr"] == 1
    wide = pd.DataFrame(np.ones((1, 100), int), columns=[f"column {number}" for number in range(100)])
    with pytest.raises(exactk.InputError, match="column 19 and 80 more; "):
        exactk.evaluate([[1]], wide, "mrr")
