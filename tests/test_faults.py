"""What bad input gets. The number in a test's name is its row in the project's table of faults.

Each error names the argument, says what was expected and what came, how often, and where first.
"""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import exactk
from exactk import _core
from exactk._inputs.model.rows import Rows
from strategies import examples

TRUTH = [[1, 4], [21]]
PREDICTIONS = [[4, 2, 1], [3, 21]]


def error_of(call: Any, kind: type[exactk.ExactkError] = exactk.InputError) -> exactk.ExactkError:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return caught.value


def location_of(error: exactk.ExactkError) -> tuple[Any, ...]:
    return (error.argument, error.row, error.position, error.count)


def evaluate_default(
    truth: Any = None, predictions: Any = None, metrics: Any = "precision@2", **options: Any
) -> exactk.Report:
    given = TRUTH if truth is None else truth, PREDICTIONS if predictions is None else predictions
    return exactk.evaluate(*given, metrics, **options)


INDPTRS = {
    "not from 0": ([1, 2, 3], 0), "decreasing": ([0, 3, 2, 3], 2), "too short": ([0, 1, 2], 2),
    "too long": ([0, 2, 5], 2), "negative": ([0, -1, 3], 1), "empty": ([], None),
}  # fmt: skip


@pytest.mark.parametrize("indptr", INDPTRS)
@pytest.mark.parametrize("build", ["truth", "predictions", "exclude"])
def test_f01_bad_indptr(indptr: str, build: str) -> None:
    offsets, position = INDPTRS[indptr]
    items = np.arange(3)
    calls = {
        "truth": lambda: exactk.Truth(offsets, items),
        "predictions": lambda: evaluate_default(predictions=exactk.Rankings(offsets, items)),
        "exclude": lambda: exactk.Exclusions(offsets, items),
    }
    error = error_of(calls[build])
    assert location_of(error) == (build, None, position, 1)
    assert "indptr" in str(error)


@settings(max_examples=examples(300))
@given(
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    which=st.integers(0, 6),
    value=st.one_of(st.integers(-3, 40), st.sampled_from([-(2**63), 2**63 - 1, 2**62])),
)
def test_f01_any_changed_offset_is_refused_or_legal(lengths: list[int], which: int, value: int) -> None:
    """The extension itself is the boundary: called directly, it refuses just the offsets that are wrong."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.arange(indptr[-1])
    indptr[which % len(indptr)] = value
    legal = indptr[0] == 0 and indptr[-1] == len(items) and bool((np.diff(indptr) >= 0).all())
    lists = _core.Lists(items, indptr, None, None, "truth")
    if legal:
        lists.validate("truth", None)
    else:
        error_of(lambda: lists.validate("truth", None))


@pytest.mark.parametrize("rows", [1, 3])
def test_f01_rows_must_match(rows: int) -> None:
    assert location_of(error_of(lambda: evaluate_default(predictions=[[1]] * rows)))[0] == "predictions"
    assert location_of(error_of(lambda: evaluate_default(exclude=[[1]] * rows)))[0] == "exclude"


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"])
def test_f02_offsets_of_every_integer_dtype(dtype: str) -> None:
    truth = exactk.Truth(np.array([0, 2, 3], dtype), [1, 4, 21])
    lists = exactk.Rankings(np.array([0, 3, 5], dtype), [4, 2, 1, 3, 21])
    exclude = exactk.Exclusions(np.array([0, 1, 1], dtype), [2])
    assert evaluate_default(truth, lists, exclude=exclude) == evaluate_default(exclude=[[2], []])


@pytest.mark.parametrize("build", [exactk.Truth, exactk.Rankings, exactk.Exclusions])
def test_f02_offsets_that_int64_does_not_hold(build: Any) -> None:
    error = error_of(lambda: build(np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), [1]))
    assert error.position == 2
    assert str(2**63) in str(error)


def test_f02_offsets_that_wrapped_around_in_int32() -> None:
    wrapped = np.array([0, 2**31 - 1, 2**31 + 5]).astype(np.int32)
    assert location_of(error_of(lambda: exactk.Truth(wrapped, [1]))) == ("truth", None, 2, 1)


def test_f02_offsets_beyond_32_bits(tmp_path: Any) -> None:
    """Three lists in a file of 17 GB that is all hole; its length alone is shown, not as many ids."""
    indptr = np.array([0, 2**31 + 1, 2**32 + 2, 2**32 + 5])
    items = np.memmap(tmp_path / "items", np.int32, "w+", shape=(int(indptr[-1]),))
    items[:3], items[indptr[1] : indptr[1] + 2], items[-3:] = [1, 2, 3], [4, 5], [6, 7, 8]
    rows = Rows(indptr, items.view(np.ndarray), lengths=np.array([3, 2, 3]))
    lists = exactk.Rankings.from_rows(rows)
    assert [lists.row(user).tolist() for user in range(3)] == [[1, 2, 3], [4, 5], [6, 7, 8]]
    metrics = ["reciprocal_rank", "num_recommended"]
    report = exactk.evaluate([[2], [5], [8]], lists, metrics, per_user=True)
    assert report.per_user["reciprocal_rank"].tolist() == [1 / 2, 1 / 2, 1 / 3]
    assert report.per_user["num_recommended"].tolist() == [3, 2, 3]
    items[-1] = 6
    error = error_of(lambda: exactk.evaluate([[2], [5], [8]], lists, metrics))
    assert location_of(error) == ("predictions", 2, 2, 1)


def test_f02_broadcast_views() -> None:
    """One element or row in memory that pretends to be many."""
    endless = np.broadcast_to(np.int32(7), 3_000_000_000)
    error_of(lambda: _core.Lists(endless, np.array([0, len(endless)]), None, None, "x"), exactk.InputTypeError)
    error_of(lambda: _core.padded_lengths(endless.reshape(-1, 3), "x"), exactk.InputTypeError)
    same = np.broadcast_to(np.array([4, 2, 1]), (2, 3))
    assert evaluate_default(predictions=same) == evaluate_default(predictions=same.copy())


@pytest.mark.filterwarnings("ignore:no list has an item")
@settings(max_examples=examples(300))
@given(
    rows=st.lists(st.lists(st.integers(0, 9), unique=True, max_size=5), min_size=1, max_size=5),
    bad=st.sampled_from([-1, -2, -(2**31), -(2**63), 2**63, 2**64 - 1]),
    where=st.sets(st.integers(0, 24), max_size=4),
    argument=st.sampled_from(["truth", "predictions", "exclude"]),
)
def test_f03_ids_out_of_range_wherever_they_are(
    rows: list[list[int]], bad: int, where: set[int], argument: str
) -> None:
    """The error counts them all and names the first; without one there is none."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    items = np.array([item for row in rows for item in row], np.int64 if bad < 0 else np.uint64)
    offsets = sorted(offset for offset in where if offset < len(items))
    items[offsets] = bad
    build = {"truth": exactk.Truth, "predictions": exactk.Rankings, "exclude": exactk.Exclusions}[argument]
    arguments: dict[str, Any] = {"truth": [[99]] * len(rows), "predictions": [[99]] * len(rows)}

    def call() -> None:
        evaluate_default(**arguments | {argument: build(indptr, items)}, convention={"empty_truth": "zero"})

    if not offsets:
        call()
        return
    error = error_of(call)
    row = int(np.searchsorted(indptr, offsets[0], side="right")) - 1
    assert location_of(error) == (argument, row, offsets[0] - indptr[row], len(offsets))
    assert str(bad) in str(error)


@pytest.mark.parametrize("bad", [-1, -7, -(2**63), 2**63])
@pytest.mark.parametrize("argument", ["truth", "predictions", "exclude"])
def test_f03_ids_out_of_range_in_lists(bad: int, argument: str) -> None:
    error = error_of(lambda: evaluate_default(**{argument: [[1, 2], [3, bad]]}))
    assert location_of(error) == (argument, 1, 1, 1)
    assert str(bad) in str(error)


def test_f03_padding_only_at_the_end_of_a_row() -> None:
    padded = np.array([[4, 2, 1], [3, 21, -1]])
    assert evaluate_default(predictions=padded) == evaluate_default()
    error = error_of(lambda: evaluate_default(predictions=np.array([[4, -1, 1], [3, -1, 21]])))
    assert location_of(error) == ("predictions", 0, 1, 2)
    error = error_of(lambda: evaluate_default(predictions=np.array([[4, 2, 1], [3, -2, -1]])))
    assert location_of(error) == ("predictions", 1, 1, 1)


@pytest.mark.parametrize(
    ("argument", "convert"),
    [("truth", exactk.as_truth), ("exclude", exactk.as_exclusions)],
)
def test_f04_matrices_of_float_ids(argument: str, convert: Any) -> None:
    """As predictions of an evaluation, they would be scores."""
    error = error_of(lambda: convert(np.array([[1.0, np.nan], [3.0, np.nan]])), exactk.InputTypeError)
    assert error.argument == argument
    assert "float64 with 2 NaN" in str(error)


@pytest.mark.parametrize("argument", ["truth", "predictions", "exclude"])
def test_f04_arrays_of_float_ids(argument: str) -> None:
    error = error_of(lambda: evaluate_default(**{argument: [np.array([1]), np.array([1.5])]}), exactk.InputTypeError)
    assert location_of(error)[:2] == (argument, 1)


ID_DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
OTHER_DTYPES = ["f2", "f4", "f8", "g", "c16", "S1", "U1", "O", "M8[s]", "m8[s]", "V1", "?"]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("truth_dtype", ID_DTYPES)
@pytest.mark.parametrize("list_dtype", ID_DTYPES)
def test_f05_every_integer_dtype_is_exact(truth_dtype: str, list_dtype: str, order: str) -> None:
    top = 120
    truth = exactk.Truth([0, 2], np.array([top, 3]).astype(order + truth_dtype))
    lists = exactk.Rankings(np.array([0, 2], order + "u4"), np.array([7, top]).astype(order + list_dtype))
    assert exactk.recall_at_k(truth, lists, 2) == 0.5


@pytest.mark.parametrize("dtype", OTHER_DTYPES)
@pytest.mark.parametrize("build", [exactk.Truth, exactk.Rankings, exactk.Exclusions])
def test_f05_every_other_dtype_is_refused(dtype: str, build: Any) -> None:
    if dtype in {"S1", "U1", "O"}:  # of keys
        assert build([0, 1], np.zeros(1, dtype)).items.tolist() == [0]
    else:
        error_of(lambda: build([0, 1], np.zeros(1, dtype)), exactk.InputTypeError)
    error_of(lambda: build(np.zeros(1, dtype), [1]), exactk.InputTypeError)


@pytest.mark.parametrize("dtype", OTHER_DTYPES[:-1])
def test_f05_grades_of_every_dtype(dtype: str) -> None:
    grades = np.ones(1, dtype)
    if dtype in {"f2", "f4", "f8"}:
        truth = exactk.Truth([0, 1], [1], grades)
        assert truth.grades is not None
        assert truth.grades.tolist() == [1.0]
    else:
        error_of(lambda: exactk.Truth([0, 1], [1], grades), exactk.InputTypeError)


def test_f05_large_integer_grades_lose_nothing() -> None:
    error = error_of(lambda: exactk.Truth([0, 2], [1, 2], np.array([1, 2**53 + 1])))
    assert error.position == 1


@settings(max_examples=examples(200))
@given(
    hnp.arrays(np.dtype("i4"), hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 50)),
    st.tuples(st.sampled_from([1, 2, -1]), st.sampled_from([1, 2, -1])),
    st.booleans(),
    st.sampled_from(["<", ">"]),
)
def test_f06_layouts(array: Any, steps: tuple[int, int], transposed: bool, order: str) -> None:
    """Strided, reversed, Fortran-ordered, byte-swapped and read-only arrays mean what their elements say."""
    view = array[:: steps[0], :: steps[1]]
    view = (view.T if transposed else view).astype(order + "i4")
    view.flags.writeable = False
    truth = [[1, 2, 3]] * len(view)
    options: dict[str, Any] = {"convention": {"duplicate_items": "first"}}
    expected = exactk.evaluate(truth, [row.tolist() for row in view], ["P@3", "ndcg"], **options)
    assert exactk.evaluate(truth, view, ["P@3", "ndcg"], **options) == expected


def test_f06_unaligned() -> None:
    raw = np.zeros(17, np.uint8)
    unaligned = raw[1:].view(np.int64)
    unaligned[:] = [4, 2]
    assert not unaligned.flags.aligned
    assert exactk.precision_at_k([[4]], exactk.Rankings([0, 2], unaligned), 1) == 1
    error_of(lambda: _core.Lists(unaligned, np.array([0, 2]), None, None, "x"), exactk.InputTypeError)


ARGUMENTS = ("truth", "predictions", "exclude")
NO_CONTAINERS: dict[str, Any] = {
    "0-d": np.array(3),
    "3-d": np.zeros((1, 2, 2), int),
    "1-d": np.arange(3),
    "object": np.array([[1, 2], [3, 4]], object),
    "masked": np.ma.masked_array([[1, 2], [3, 4]]),
    "subclass": np.array([[1, 2], [3, 4]]).view(type("Own", (np.ndarray,), {})),
    "bytes": b"ids",
    "set": {1, 2},
    "tuple": ([1], [2]),
    "int": 3,
}


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("container", NO_CONTAINERS)
def test_f07_containers_that_are_none(container: str, argument: str) -> None:
    error = error_of(lambda: evaluate_default(**{argument: NO_CONTAINERS[container]}), exactk.InputTypeError)
    assert error.argument == argument


def test_f07_matrix_is_refused_and_memory_maps_are_not(tmp_path: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.asmatrix([[1, 2], [3, 4]])
    error_of(lambda: evaluate_default(predictions=matrix), exactk.InputTypeError)
    np.save(tmp_path / "lists.npy", np.array([[4, 2, 1], [3, 21, -1]]))
    assert evaluate_default(predictions=np.load(tmp_path / "lists.npy", mmap_mode="r")) == evaluate_default()


@pytest.mark.parametrize(
    ("row", "argument"),
    [("ab", "truth"), (b"ab", "predictions"), (3, "truth"), ({1, 2}, "predictions"), (4, "predictions")],
)
def test_f07_rows_that_are_none(row: Any, argument: str) -> None:
    error = error_of(lambda: evaluate_default(**{argument: [[1], row]}), exactk.InputTypeError)
    assert (error.argument, error.row) == (argument, 1)


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("bad", [True, "a", None, 1.5, np.float64(2)])
def test_f07_elements_that_are_none(bad: Any, argument: str) -> None:
    error = error_of(lambda: evaluate_default(**{argument: [[1], [2, bad]]}), exactk.InputTypeError)
    assert location_of(error) == (argument, 1, 1, 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_f09_grades_that_are_not_finite(bad: float) -> None:
    error = error_of(lambda: exactk.Truth([0, 1, 3], [1, 2, 3], [1, bad, bad]))
    assert location_of(error) == ("truth", 1, 0, 2)
    assert location_of(error_of(lambda: evaluate_default(truth=[{1: 1.0}, {2: 1.0, 3: bad}]))) == ("truth", 1, 1, 1)


def test_f09_one_grade_an_item() -> None:
    for grades in ([], [1.0], [1.0, 2.0, 3.0]):
        assert error_of(lambda given=grades: exactk.Truth([0, 2], [1, 2], given)).argument == "truth"


@pytest.mark.parametrize("grade", [2**53 + 1, 10**400])
def test_f09_grades_that_float64_does_not_hold(grade: int) -> None:
    assert location_of(error_of(lambda: exactk.as_truth([{1: 1.0}, {2: grade}]))) == ("truth", 1, 0, 1)


def test_f09_negative_grades() -> None:
    truth = [{1: 1.0, 4: -1.0}, {21: 2.0}]
    assert evaluate_default(truth, metrics=["P@2", "num_relevant"])["num_relevant"] == 1
    error = error_of(lambda: evaluate_default(truth, metrics=["P@2", "ndcg@2"]))
    assert location_of(error) == ("truth", 0, 1, 1)
    assert "ndcg" in str(error)


@pytest.mark.parametrize(
    ("gain", "grade", "legal"),
    [
        ("exp2", 256.0, True), ("exp2", 257.0, False), ("exp2", 2000.0, False),
        ("exp2_shifted,min_grade=-3", 252.0, True), ("exp2_shifted,min_grade=-3", 253.0, False),
        ("exp2_shifted,min_grade=1", 1e300, False), ("linear", 2.0**256, True), ("linear", 1e300, False),
        ("binary", 1e300, True), ("table,gain_table=[0,1,4]", 2.0, True), ("table,gain_table=[0,1,4]", 3.0, False),
        ("table,gain_table=[0,1,4]", 1.5, False),
    ],
)  # fmt: skip
def test_f09_gains_out_of_range(gain: str, grade: float, legal: bool) -> None:
    metric = f"ndcg@3(gain={gain})"
    truth = [{1: 1.0, 4: grade}, {21: 1.0}]
    if legal:
        value = evaluate_default(truth, metrics=[metric, "dcg@3"] if grade < 3 else metric)[metric]
        assert 0 < value <= 1
    else:
        assert location_of(error_of(lambda: evaluate_default(truth, metrics=metric))) == ("truth", 0, 1, 1)


def test_f10_duplicates_in_a_list() -> None:
    lists = [[4, 2, 4, 4], [3, 21, 3]]
    error = error_of(lambda: evaluate_default(predictions=lists, metrics="recall@4"))
    assert location_of(error) == ("predictions", 0, 2, 3)
    assert "item 4 again" in str(error)
    assert "duplicate_items" in str(error)
    first, counted = (
        evaluate_default(predictions=lists, metrics=["num_hits", "recall"], convention={"duplicate_items": policy})
        for policy in ("first", "count")
    )
    assert list(first.values()) == [1, 0.75]
    assert first.counts["duplicates"] == 3
    assert list(counted.values()) == [2, 1.25]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_f10_the_first_position_is_first_for_any_number_of_threads(threads: int) -> None:
    lists = np.tile(np.arange(20), (50_000, 1))
    lists[[41_000, 12_345, 49_999], 7] = 3
    error = error_of(lambda: exactk.evaluate([[1]] * 50_000, lists, "P@5", num_threads=threads))
    assert location_of(error) == ("predictions", 12_345, 7, 3)


def test_f11_duplicates_in_the_truth() -> None:
    truth = exactk.Truth([0, 3, 5], [1, 4, 4, 21, 21], [1.0, 1.0, 3.0, 2.0, 0.0])
    error = error_of(lambda: evaluate_default(truth))
    assert location_of(error) == ("truth", 0, 2, 2)
    metrics = ["num_relevant", "dcg@1(gain=linear)"]
    for policy, values in {"first": [1.5, 0.5], "max": [1.5, 1.5], "count": [2.5, 0.5]}.items():
        report = evaluate_default(truth, metrics=metrics, convention={"duplicate_truth": policy})
        assert list(report.values()) == values


def test_f13_grade_0_is_judged_and_not_relevant() -> None:
    truth = [{1: 1.0, 2: 0.0}]
    report = exactk.evaluate(truth, [[2, 1, 9]], ["num_relevant", "judged@3", "P@3", "bpref"])
    assert list(report.values()) == [1, 2 / 3, 1 / 3, 0]


def test_f14_empty_truth_as_an_error() -> None:
    truth, lists = [[1], [], [2], []], [[1]] * 4
    error = error_of(lambda: exactk.evaluate(truth, lists, "recall@1", convention={"empty_truth": "error"}))
    assert location_of(error) == ("truth", 1, None, 2)


def test_f15_missing_and_empty_lists() -> None:
    truth, lists = [[1], [1], [1]], [[1], [], None]
    report = exactk.evaluate(truth, lists, ["recall@1", "recall@1(missing_list=skip)", "recall@1(empty_list=one)"])
    assert list(report.values()) == [1 / 3, 0.5, 2 / 3]
    assert (report.counts["empty_predictions"], report.counts["missing_lists"]) == (1, 1)
    for field, row in (("empty_list", 1), ("missing_list", 2)):
        error = error_of(lambda name=field: exactk.evaluate(truth, lists, "P@1", convention={name: "error"}))
        assert location_of(error) == ("predictions", row, None, 1)


def test_f16_lists_of_users_without_truth() -> None:
    report = exactk.evaluate([[1], None], [[1], [2]], ["recall@1", "P@1(users=predictions,empty_truth=compute)"])
    assert list(report.values()) == [1.0, 0.5]
    assert report.counts["missing_truth"] == 1
    assert report.counts["empty_truth"] == 0


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "2147483648", "99999999999", "x", "", "[]", "[1,]", "True", "\uff11"])
def test_f17_cutoffs_that_are_none(k: str) -> None:
    assert error_of(lambda: evaluate_default(metrics=f"precision@{k}")).argument == "metrics"


@pytest.mark.parametrize(("k", "kind"), [(0, ValueError), (-1, ValueError), (2**31, ValueError), (True, TypeError)])
def test_f17_k_of_the_functions(k: int, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        exactk.precision_at_k(TRUTH, PREDICTIONS, k)


def test_f17_cutoffs_beyond_the_list_and_repeated() -> None:
    report = evaluate_default(metrics=["P@[5,2,5,2147483647]", "precision@2", "recall@2147483647"])
    assert report.metrics == ("precision@5", "precision@2", "precision@2147483647", "recall@2147483647")
    assert list(report.values()) == [(2 / 5 + 1 / 5) / 2, 0.5, 1.5 / 2147483647, 1.0]


@pytest.mark.parametrize(
    ("truth", "reason"),
    [([], "there are no users"), ([[]], "1 user without relevant items"), ([None], "the truth has no users")],
)
def test_f17_nobody_to_evaluate(truth: Any, reason: str) -> None:
    with pytest.warns(exactk.EvaluationWarning, match=rf"no user was evaluated for precision@2: NaN; {reason}$"):
        report = exactk.evaluate(truth, [[1]] * len(truth), "precision@2")
    assert math.isnan(report["precision@2"])
    assert report.counts["evaluated"]["precision@2"] == 0


@pytest.mark.filterwarnings("ignore:no list has an item")
def test_f17_lists_without_items() -> None:
    empty = np.zeros((2, 0), np.int32)
    assert evaluate_default(predictions=empty, metrics="P@3")["P@3"] == 0


@pytest.mark.parametrize(("kind", "argument", "values"), [
    (exactk.InputError, "weights", ([1.0, 5e-324], [1.0], [1.0, -1.0], [1.0, math.nan], [1.0, 1e300])),
    (exactk.InputError, "groups", ([1],)),
    (exactk.InputError, "num_threads", (0, 2000)),
    (exactk.InputError, "convention", ("trec",)),
    (exactk.InputTypeError, "weights", (["a", "b"],)),
    (exactk.InputTypeError, "groups", ([1.5, 2.5],)),
    (exactk.InputTypeError, "num_threads", (True, 2.0)),
    (exactk.InputTypeError, "per_user", (1,)),
    (exactk.InputTypeError, "convention", (3,)),
    (exactk.InputTypeError, "metrics", (3, [3])),
])  # fmt: skip
def test_options_of_wrong_value_or_type(kind: type[exactk.ExactkError], argument: str, values: tuple[Any, ...]) -> None:
    for value in values:
        error = error_of(lambda value=value: evaluate_default(**{argument: value}), kind)
        assert error.argument == argument


def test_relevant_items_that_are_excluded_stay_as_misses() -> None:
    with pytest.warns(exactk.EvaluationWarning, match=r"1 relevant item is in exclude"):
        report = evaluate_default(exclude=[[4, 2], [99]], metrics=["recall@3", "P@1"])
    assert list(report.values()) == [0.75, 0.5]
    assert (report.counts["relevant_excluded"], report.counts["excluded_recommended"]) == (1, 2)


def test_a_warning_comes_once_however_many_systems_it_holds_for() -> None:
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.compare(TRUTH, {"a": PREDICTIONS, "b": PREDICTIONS}, "P@1", exclude=[[4], []])
    assert len(caught) == 1


def test_errors_name_the_system_and_the_block() -> None:
    blocks = [(TRUTH, PREDICTIONS), (TRUTH, [[1], [2, -2]])]
    several = [(truth, {"a": [*TRUTH], "b": lists}) for truth, lists in blocks]
    error = error_of(lambda: exactk.compare(None, iter(several), "P@1"))
    assert " in system 'b', block 1 of the iterator, whose first user is number 2; convert the ids" in str(error)
    error = error_of(lambda: exactk.evaluate(None, iter(blocks), "P@1", weights=[1.0] * 3))
    assert "at least 4" in str(error)


def test_what_was_given_may_change_afterwards() -> None:
    present, indptr = np.array([True, True]), np.array([0, 1, 1])
    truth = exactk.Truth(indptr, [1], present=present)
    lists = exactk.Rankings(indptr, np.array([1]), present=present)
    present[1], indptr[1] = False, 0
    for rows in (truth, lists):
        assert rows.has(1)
        assert rows.row(0).tolist() == [1]


def test_min_grade_needs_grades() -> None:
    error = error_of(lambda: evaluate_default(convention={"min_grade": 3.5}))
    assert error.argument == "truth"
    graded = [{1: 4.0, 4: 3.0}, {21: 5.0}]
    assert dict(evaluate_default(graded, metrics="R@3(min_grade=3.5)")) == {"R@3(min_grade=3.5)": 1}


def test_errors_survive_pickling() -> None:
    error = error_of(lambda: evaluate_default(predictions=[[1], [2, 2]]))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - just written
    assert (str(again), location_of(again)) == (str(error), location_of(error))
