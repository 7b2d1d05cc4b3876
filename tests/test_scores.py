"""Scores: what they rank, against the reference, against NumPy's sort, and as the same lists written out."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._plan.metrics import metrics as metric_registry
from rankings import rankings_of
from refusals import fault_of, is_of_reference
from strategies import (
    IDS,
    LAYOUTS,
    SCORE_DTYPES,
    WITHOUT_ITEMS,
    Evaluation,
    examples,
    in_pairs,
    score_matrices,
    scores,
    spell,
    spellings,
    truths,
    with_layout,
)
from test_faults import error_of, location_of
from test_laws import run_if_legal
from test_reference import assert_same

Array = np.ndarray[Any, Any]

# But for those of pairs, in which ties of scores count half.
EVERY_METRIC = [
    text for name in WITHOUT_ITEMS if not metric_registry[name].pairwise for text in spellings(name, [1, 5, 10])
]
SCORES = np.array([[0.1, 0.9, 0.5, 0.9, 0.0], [0.7, 0.2, 0.3, 0.1, 0.7]])  # ranks 1 3 2 0 4, and 0 4 2 1 3
TRUTH = [[2, 3], [4]]


def with_rules(**changes: Any) -> exactk.Convention:
    return exactk.conventions["standard"].replace(**changes)


def evaluate_scores(predictions: Any = SCORES, metrics: Any = "reciprocal_rank", **options: Any) -> exactk.Report:
    report = exactk.evaluate(TRUTH, predictions, metrics, **options)
    assert isinstance(report, exactk.Report)
    return report


def sort_by_numpy(row: Array, excluded: Any, min_score: float | None, ties: Any) -> list[int]:
    """Return the items of a row, best first. NumPy compares scores of a type as they are."""
    distinct, height = np.unique(row, return_inverse=True)
    if distinct.dtype.kind == "f" and distinct.size and np.isnan(distinct[-1]):
        height[height == len(distinct) - 1] = -1
    ids = np.arange(len(row))
    order = np.lexsort((ids if ties == "lowest_id" else -ids, -height))
    mask = ~np.isin(order, np.array(list(excluded), np.int64))
    if min_score is not None:
        mask &= np.array([score >= min_score for score in row[order].tolist()], np.bool_)
    ranked: list[int] = order[mask].tolist()
    return ranked


def has_same_values(report: exactk.Report, other: exactk.Report) -> bool:
    """Return whether all values and sums are the same bits; the counts of a matrix and of lists differ."""
    assert report.metrics == other.metrics
    is_same = all(report.per_user[name].tobytes() == other.per_user[name].tobytes() for name in report.per_user)
    return is_same and report.state.totals == other.state.totals and report.state.groups == other.state.groups


# --- as lists written out


@settings(max_examples=examples(300))
@given(st.data())
def test_scores_are_the_lists_that_they_rank(data: st.DataObject) -> None:
    """The law that ties the two inputs together."""
    users = data.draw(st.integers(1, 5))
    matrix = data.draw(scores(users))
    ties = data.draw(st.sampled_from(["lowest_id", "highest_id"]))
    exclude = data.draw(st.lists(st.lists(IDS, max_size=4), min_size=users, max_size=users))
    lists = [
        sort_by_numpy(row, excluded, matrix.min_score, ties)
        for row, excluded in zip(matrix.values, exclude, strict=True)
    ]
    options = {"convention": with_rules(ties=ties, nan="last"), "exclude": exclude, "per_user": True}
    evaluation = Evaluation(data.draw(truths(users)), matrix, EVERY_METRIC, options)
    of_scores = run_if_legal(evaluation)
    of_lists = run_if_legal(Evaluation(evaluation.truth, lists, EVERY_METRIC, options))
    assert has_same_values(of_scores, of_lists)
    counts = dict(of_scores.counts)
    counts.pop("relevant_not_rankable")
    counts.pop("tie_dependent")
    assert counts.items() <= of_lists.counts.items()


def special_rows(items: int, rng: np.random.Generator) -> list[Array]:
    """Return rows on which ways of selecting the best differ most."""
    best_last = np.arange(items, dtype=np.float64)
    one_item, many_ties_at_the_top = best_last == items // 3, np.minimum(rng.permutation(best_last), items / 2)
    few_values = [rng.integers(0, values, items).astype(np.float64) for values in (1, 2, 9)]
    infinities, drawn = rng.choice([-np.inf, -0.0, 0.0, np.inf], items), rng.standard_normal(items)
    ordered = [best_last, best_last[::-1], rng.permutation(best_last)]
    return [*few_values, *ordered, many_ties_at_the_top, np.where(one_item, 1.0, -np.inf), infinities, drawn]


SIZES = [*range(10), 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 5000]


IN_PIECES = [(2**16, "f4", "lowest_id"), (2**16 + 1, "f8", "highest_id"), (2**17 + 300, "i4", "lowest_id")]
"""Rows so long that they are read in several pieces."""


@pytest.mark.parametrize(
    ("items", "dtype", "ties"),
    [*in_pairs(SIZES, ["f2", "f4", "f8", "i4", "u8"], ["lowest_id", "highest_id"]), *IN_PIECES],
)
def test_the_best_are_those_that_numpy_sorts_first(items: int, dtype: str, ties: Any) -> None:
    """With and without the best 200 items excluded."""
    rng = np.random.default_rng(items)
    rows = np.array(special_rows(items, rng))
    if np.dtype(dtype).kind == "f":
        matrix = rows.astype(dtype)
    else:
        matrix = np.array([np.unique(row, return_inverse=True)[1] for row in rows], dtype).reshape(rows.shape)
    whole = [sort_by_numpy(row, (), None, ties) for row in matrix]
    best = [row[:200] for row in whole]
    truth = [rng.permutation(items)[:size] for size in rng.integers(0, min(items, 90) + 1, len(rows))]
    metrics = ["ndcg@[1,10,100]", "average_precision", "reciprocal_rank", "average_precision@10", "bpref"]
    options: dict[str, Any] = {"convention": with_rules(ties=ties), "per_user": True}
    for exclude, lists in ((None, whole), (best, [row[200:] for row in whole])):
        for k in sorted({1, 10, 100, max(1, items), items + 3}):
            padded = [(row + [-1] * k)[:k] for row in lists]
            assert exactk.topk(matrix, k, exclude, ties=ties).items.tolist() == padded
        reports = [
            run_if_legal(Evaluation(truth, predictions, metrics, options | {"exclude": exclude}))
            for predictions in (exactk.Scores(matrix), lists)
        ]
        assert has_same_values(*reports)


@settings(max_examples=examples(200))
@given(st.data())
def test_the_best_k_as_rankings_give_the_same_values_at_k(data: st.DataObject) -> None:
    users, k = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 12))
    matrix = data.draw(score_matrices(users, nan=False))
    metrics = [
        spell(name, k)
        for name in exactk.metrics
        if name not in {"r_precision", "bpref", "auc", "gauc", "label_ranking_loss"}
    ]
    truth = data.draw(truths(users))
    both = exactk.Scores(matrix), exactk.topk(matrix, k).items
    assert has_same_values(*(run_if_legal(Evaluation(truth, one, metrics, {"per_user": True})) for one in both))


@settings(max_examples=examples(200))
@given(st.data())
def test_only_the_order_of_scores_counts(data: st.DataObject) -> None:
    """The ranks of the distinct scores, in order, rank as the scores do; so do their exponentials."""
    users = data.draw(st.integers(1, 5))
    matrix = data.draw(score_matrices(users, nan=False))
    heights = np.unique(matrix, return_inverse=True)[1].reshape(matrix.shape)
    truth = data.draw(truths(users))
    expected = run_if_legal(Evaluation(truth, exactk.Scores(matrix), EVERY_METRIC))
    for other in (heights, heights.astype(np.float32) - 3, np.exp2(heights), np.float16(-1) / (heights + 1)):
        assert run_if_legal(Evaluation(truth, exactk.Scores(other), EVERY_METRIC)) == expected


# --- examples worked by hand


def test_ties() -> None:
    constant = np.zeros((2, 5))
    metrics = ["reciprocal_rank", "reciprocal_rank(ties=highest_id)"]
    assert list(evaluate_scores(constant, metrics).values()) == [(1 / 3 + 1 / 5) / 2, (1 / 2 + 1) / 2]
    convention = with_rules(overrides={"recall": {"ties": "highest_id"}})
    values = evaluate_scores(constant, ["recall@1", "recall@1(ties=lowest_id)", "P@1"], convention=convention)
    assert list(values.values()) == [0.5, 0, 0]


def test_items_that_are_excluded_are_not_ranked() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item is in exclude"):
        report = evaluate_scores(exclude=[[1, 3, 99], [0, 2**63 - 1]], metrics=["mrr", "recall", "num_recommended"])
    assert list(report.values()) == [1.0, 0.75, 3.5]
    assert (report.counts["excluded_recommended"], report.counts["relevant_excluded"]) == (0, 1)
    assert report.counts["relevant_not_rankable"] == 0


@pytest.mark.filterwarnings("ignore:no list has an item")
@pytest.mark.parametrize(
    ("min_score", "lengths"),
    [(None, [5, 5]), (-math.inf, [5, 5]), (0, [5, 5]), (0.1, [4, 5]), (0.5, [3, 2]), (0.9, [2, 0]), (math.inf, [0, 0])],
)
def test_items_below_the_least_score_are_not_recommended(min_score: float | None, lengths: list[int]) -> None:
    report = evaluate_scores(exactk.Scores(SCORES, min_score), ["num_recommended", "recall"], per_user=True)
    assert report.per_user["num_recommended"].tolist() == lengths
    assert report.counts["empty_predictions"] == lengths.count(0)


def test_a_list_without_an_item_is_empty() -> None:
    metrics = ["recall", "recall(empty_list=skip)", "recall(empty_list=one)"]
    assert list(evaluate_scores(exactk.Scores(SCORES, 0.9), metrics).values()) == [0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("values", "min_score", "items"),
    [
        ([-0.0, 0.0], 0.0, [0, 1]),
        ([-0.0, 0.0], -0.0, [0, 1]),
        (np.array([0.1, 0.2], np.float32), 0.1, [1, 0]),  # the float32 next to 0.1 is above it
        (np.array([0.3, 0.7], np.float32), 0.7, []),  # and the one next to 0.7 below
        (np.array([0.5, 0.25], np.float16), 0.3, [0]),
        (np.array([2, 3, 4]), 2.5, [2, 1]),
        (np.array([2, 3], np.int8), 127.5, []),
        (np.array([2, 3], np.int8), -1e300, [1, 0]),
        (np.array([0, 255], np.uint8), -1, [1, 0]),
        (np.array([2**63 - 1, 2**53 + 1]), 2.0**53, [0, 1]),
        (np.array([2**63 - 1, 2**53 - 1]), 2.0**53, [0]),
        (np.array([2**63 - 1]), 2.0**63, []),
        (np.array([2**64 - 1, 2**63 - 1], np.uint64), 2.0**63, [0]),
        (np.array([-(2**63)]), -(2.0**63), [0]),
        (np.array([2, 3]), Fraction(5, 2), [1]),
        (np.array([2, 3]), np.float32(3), [1]),
    ],
)
def test_the_least_score_is_compared_exactly(values: Any, min_score: Any, items: list[int]) -> None:
    for topk in (exactk.topk, exactk.reference.topk):
        best = topk(exactk.Scores(np.array([values]), min_score), 3).items[0]
        assert best[best >= 0].tolist() == items


@pytest.mark.parametrize(
    ("row", "items"),
    [
        (np.array([2**53, 2**53 + 1, 2**53 + 2]), [2, 1, 0]),
        (np.array([2**63 - 2, 2**63 - 1, -(2**63)]), [1, 0, 2]),
        (np.array([2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1], np.uint64), [3, 2, 1, 0]),
        (np.array([-1, 1, -128, 127], np.int8), [3, 1, 0, 2]),
        (np.array([0, 6e-8, -6e-8, 65504], np.float16), [3, 1, 0, 2]),
        (np.array([1, 1 + 2**-10, 1 - 2**-11], np.float16), [1, 0, 2]),
        (np.array([1, 1 + 2**-23], np.float32), [1, 0]),
        (np.array([1, 1 + 2**-52, 1 - 2**-53]), [1, 0, 2]),
        (np.array([-0.0, 0.0, -5e-324, 5e-324]), [3, 0, 1, 2]),
        (np.array([-math.inf, math.inf, -1.7e308, 1.7e308]), [1, 3, 2, 0]),
    ],
)
def test_scores_are_compared_in_their_own_type(row: Array, items: list[int]) -> None:
    for topk in (exactk.topk, exactk.reference.topk):
        assert topk(exactk.Scores(row[None, :]), len(items)).items[0].tolist() == items
    report = exactk.evaluate([items[:1]], exactk.Scores(row[None, :]), "reciprocal_rank")
    assert report["reciprocal_rank"] == 1


def test_relevant_items_without_a_column_stay_as_misses() -> None:
    truth = [[2, 3, 5, 2**63 - 1], {4: 1.0, 7: 0.0, 8: 2.0}]
    with pytest.warns(exactk.EvaluationWarning, match="3 relevant items have no column") as caught:
        comparison = exactk.compare([truth[0], [4, 8]], {"a": SCORES, "b": SCORES}, ["recall@2"])
    assert len(caught) == 1
    assert comparison["recall@2"]["a"] == (1 / 4 + 1 / 2) / 2
    with pytest.warns(exactk.EvaluationWarning):
        graded = exactk.evaluate([{2: 1.0, 5: 0.0}, truth[1]], SCORES, "recall", exclude=[[], [8]])
    assert (graded.counts["relevant_not_rankable"], graded.counts["relevant_excluded"]) == (1, 1)
    lists = exactk.evaluate([[9]], [[9]], "recall")
    assert lists.counts["relevant_not_rankable"] == 0


def test_nobody_and_nothing_to_rank() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="3 relevant items have no column"):
        report = evaluate_scores(np.zeros((2, 0)), ["P@3", "num_recommended"], convention=with_rules(ties="highest_id"))
    assert list(report.values()) == [0, 0]
    assert report.counts["empty_predictions"] == 2
    with pytest.warns(exactk.EvaluationWarning, match="no user"):
        assert math.isnan(exactk.evaluate([], np.zeros((0, 5)), "P@3")["P@3"])
    best = exactk.topk(np.zeros((2, 0), np.float32), 2)
    assert best.items.tolist() == [[-1, -1], [-1, -1]]
    assert best.scores.dtype == np.float32
    assert exactk.topk(np.zeros((0, 5)), 2).items.shape == (0, 2)


# --- topk


def test_topk_pads_where_there_are_fewer() -> None:
    best = exactk.topk(exactk.Scores(SCORES, min_score=0.5), 4, exclude=[[3], []])
    assert best.items.tolist() == [[1, 2, -1, -1], [0, 4, -1, -1]]
    np.testing.assert_array_equal(best.scores, [[0.9, 0.5, math.nan, math.nan], [0.7, 0.7, math.nan, math.nan]])
    ids, of_integers = exactk.topk([[5, 7, 7]], 4, ties="highest_id")
    assert (ids.tolist(), of_integers.tolist()) == ([[2, 1, 0, -1]], [[7, 7, 5, 0]])


@pytest.mark.parametrize(
    ("arguments", "argument", "kind"),
    [
        ({"k": 0}, "k", exactk.InputError),
        ({"k": 2**31}, "k", exactk.InputError),
        ({"k": -(10**400)}, "k", exactk.InputError),
        ({"k": True}, "k", exactk.InputTypeError),
        ({"k": 2.0}, "k", exactk.InputTypeError),
        ({"k": None}, "k", exactk.InputTypeError),
        ({"ties": "first"}, "ties", exactk.InputError),
        ({"ties": None}, "ties", exactk.InputTypeError),
        ({"nan": "drop"}, "nan", exactk.InputError),
        ({"nan": 0.0}, "nan", exactk.InputTypeError),
        ({"num_threads": 0}, "num_threads", exactk.InputError),
        ({"num_threads": "2"}, "num_threads", exactk.InputTypeError),
        ({"exclude": [[1]]}, "exclude", exactk.InputError),
        ({"exclude": [[1], [-1]]}, "exclude", exactk.InputError),
        ({"exclude": SCORES}, "exclude", exactk.InputTypeError),
        ({"scores": SCORES[0]}, "scores", exactk.InputTypeError),
        ({"scores": exactk.Rankings([0, 1], [1])}, "scores", exactk.InputTypeError),
        ({"scores": None}, "scores", exactk.InputTypeError),
    ],
)
def test_topk_of_wrong_arguments(arguments: dict[str, Any], argument: str, kind: type[exactk.ExactkError]) -> None:
    for topk in (exactk.topk, exactk.reference.topk):
        call: Callable[[], Any] = lambda ranked=topk: ranked(**{"scores": SCORES, "k": 2} | arguments)  # type: ignore[misc]  # noqa: E731
        assert error_of(call, kind).argument == argument


# --- NaN

NAN = np.array([[0.5, 0.1, 0.2], [math.nan, 1.0, math.nan], [0.3, math.nan, 0.1]])
NAN_TRUTH = [[1], [0], [2]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        ("mrr", {}),
        ("num_relevant", {}),
        ("mrr", {"exclude": [[], [0, 2], [1]]}),
        (["mrr(nan=last)", "P@1"], {}),
        (["P@1", "mrr(nan=raise)"], {"convention": with_rules(nan="last")}),
        ("mrr", {"convention": with_rules(users="both", empty_truth="error")}),
    ],
)
def test_f08_nan_is_refused(dtype: str, layout: str, metrics: Any, options: dict[str, Any]) -> None:
    matrix = exactk.Scores(with_layout(NAN.astype(dtype), layout))
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        error = error_of(lambda call=evaluator: call(NAN_TRUTH, matrix, metrics, **options))
        assert location_of(error) == ("predictions", 1, 0, 3)
        assert fault_of(error) == "predictions: NaN"
        assert is_of_reference(error) or str(error).endswith(" ranks them last")


def test_f08_nan_of_a_user_without_truth_and_below_the_least_score_is_refused() -> None:
    matrix = exactk.Scores(NAN, min_score=0.25)
    assert location_of(error_of(lambda: exactk.evaluate([[1], None, []], matrix, "mrr"))) == ("predictions", 1, 0, 3)
    for topk in (exactk.topk, exactk.reference.topk):
        assert location_of(error_of(lambda ranked=topk: ranked(matrix, 1))) == ("scores", 1, 0, 3)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_f08_the_first_nan_is_first_for_any_number_of_threads(threads: int) -> None:
    matrix = np.zeros((20_000, 33), np.float32)
    matrix[[12_345, 4_100, 19_999, 4_100], [7, 32, 0, 3]] = math.nan
    error = error_of(lambda: exactk.evaluate([[1]] * 20_000, matrix, "P@5", num_threads=threads))
    assert location_of(error) == ("predictions", 4_100, 3, 4)
    assert location_of(error_of(lambda: exactk.topk(matrix, 5, num_threads=threads))) == ("scores", 4_100, 3, 4)


def test_f08_sizes_come_before_nan() -> None:
    error = error_of(lambda: exactk.evaluate([[1]] * 2, NAN, "mrr"))
    assert location_of(error) == ("predictions", None, None, 1)
    assert location_of(error_of(lambda: exactk.evaluate(NAN_TRUTH, NAN, "mrr", exclude=[[1]])))[0] == "exclude"
    assert location_of(error_of(lambda: exactk.evaluate([[1], [0, 0], [2]], NAN, "mrr"))) == ("predictions", 1, 0, 3)


def test_f08_nan_is_last_if_asked() -> None:
    row = np.array([[math.nan, -math.inf, math.nan, 0.0, math.inf]])
    assert exactk.topk(row, 6, nan="last").items.tolist() == [[4, 3, 1, 0, 2, -1]]
    assert exactk.topk(row, 6, nan="last", ties="highest_id").items.tolist() == [[4, 3, 1, 2, 0, -1]]
    assert exactk.topk(exactk.Scores(row, -math.inf), 6, nan="last").items.tolist() == [[4, 3, 1, -1, -1, -1]]
    negative = np.array([[-math.nan, 1.0, math.nan]])
    assert exactk.topk(negative, 3, nan="last").items.tolist() == [[1, 0, 2]]
    convention = with_rules(nan="last")
    values = exactk.evaluate([[0]], row, ["mrr", "mrr(ties=highest_id)"], convention=convention)
    assert list(values.values()) == [1 / 4, 1 / 5]


@settings(max_examples=examples(200))
@given(st.data())
def test_f08_items_of_score_nan_are_as_good_as_excluded(data: st.DataObject) -> None:
    """As long as none of them is relevant: all others rank before them."""
    users = data.draw(st.integers(1, 4))
    matrix = data.draw(score_matrices(users, nan=False)).astype(np.float64)
    flags = data.draw(st.lists(st.booleans(), min_size=matrix.size, max_size=matrix.size))
    holes = np.array(flags, np.bool_).reshape(matrix.shape)
    exclude = [np.flatnonzero(row).tolist() for row in holes]
    items = data.draw(st.lists(st.sets(IDS, max_size=6), min_size=users, max_size=users))
    truth = [sorted(row - set(excluded)) for row, excluded in zip(items, exclude, strict=True)]
    metrics = ["ndcg", "average_precision", "reciprocal_rank", "recall@3", "P@3", "rbp"]
    with_holes = np.where(holes, np.nan, matrix)
    last = run_if_legal(Evaluation(truth, with_holes, metrics, {"convention": with_rules(nan="last")}))
    without = run_if_legal(Evaluation(truth, matrix, metrics, {"exclude": exclude}))
    assert last.state.totals == without.state.totals


def test_f31_instruction_set_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXACTK_ISA", "mmx")
    assert error_of(lambda: exactk.topk(SCORES, 1)).argument == "EXACTK_ISA"


# --- containers


@pytest.mark.parametrize("dtype", SCORE_DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_f06_layouts_of_scores_are_read_where_they_lie(layout: str, dtype: str) -> None:
    plain = (SCORES * 10).astype(dtype)
    matrix = with_layout(plain, layout)
    matrix.flags.writeable = False
    predictions = exactk.Scores(matrix)
    assert predictions.values.__array_interface__["data"][0] == matrix.__array_interface__["data"][0]
    assert predictions.values.strides == matrix.strides
    assert evaluate_scores(predictions, EVERY_METRIC) == evaluate_scores(exactk.Scores(plain), EVERY_METRIC)
    assert exactk.topk(matrix, 4).items.tolist() == exactk.topk(plain, 4).items.tolist()


def test_f06_scores_that_cannot_be_read_where_they_lie_are_copied_exactly() -> None:
    expected = evaluate_scores(exactk.Scores(SCORES), EVERY_METRIC)
    assert evaluate_scores(SCORES.astype(">f8"), EVERY_METRIC) == expected
    unaligned = np.zeros(SCORES.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(SCORES.shape)
    unaligned[:] = SCORES
    assert not unaligned.flags.aligned
    assert evaluate_scores(unaligned, EVERY_METRIC) == expected
    packed = np.zeros(SCORES.shape, [("flag", "u1"), ("score", "f8")])
    packed["score"] = SCORES
    assert evaluate_scores(packed["score"], EVERY_METRIC) == expected


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1)])
def test_f06_one_element_that_pretends_to_be_many(shape: tuple[int, int]) -> None:
    matrix = np.broadcast_to(np.float32(1.5), shape)
    truth = [{0}] * shape[0]
    assert exactk.evaluate(truth, matrix, EVERY_METRIC) == exactk.evaluate(truth, matrix.copy(), EVERY_METRIC)
    rows = np.broadcast_to(SCORES[0], (3, 5))
    assert exactk.topk(rows, 2).items.tolist() == [[1, 3]] * 3


def test_f07_memory_maps_are_read_where_they_lie(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", SCORES)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    assert np.shares_memory(exactk.Scores(mapped).values, mapped)
    assert evaluate_scores(mapped, EVERY_METRIC) == evaluate_scores(SCORES, EVERY_METRIC)


def test_f02_scores_beyond_32_bits(tmp_path: Path) -> None:
    """Three users in a file of 26 GB that is all hole, of which the first and last items are ranked."""
    mapped = np.memmap(tmp_path / "scores", np.float32, "w+", shape=(3, 2**31 + 5))
    mapped[:, :2], mapped[:, -1] = [[1, 3], [2, 1], [3, 2]], [2, 3, 1]
    for view, expected in (
        (mapped[:, :2], [[1, 0], [0, 1], [0, 1]]),
        (mapped[::-1, 1::-1], [[1, 0], [1, 0], [0, 1]]),
        (mapped[:, :: 2**31 + 4], [[1, 0], [1, 0], [0, 1]]),
        (mapped.T[: 2**31 + 5 : 2**31 + 4].T, [[1, 0], [1, 0], [0, 1]]),
    ):
        assert exactk.topk(view, 2).items.tolist() == expected
        report = exactk.evaluate([row[:1] for row in expected], view, "P@1")
        assert report["P@1"] == 1


def test_f17_more_items_than_can_be_ranked_are_refused() -> None:
    assert error_of(lambda: exactk.Scores(np.broadcast_to(np.float32(1), (1, 2**32)))).argument == "values"


def test_kinds_of_predictions() -> None:
    ids = np.array([[4, 2], [3, -1]])
    kinds: dict[type, list[Any]] = {
        exactk.Rankings: [ids, ids.astype(np.uint8).clip(0, 9), [[4, 2], []], rankings_of(ids), []],
        exactk.Scores: [SCORES, SCORES.astype("f2"), SCORES.astype(">f4"), exactk.Scores(ids), np.zeros((0, 0))],
    }
    for kind, values in kinds.items():
        assert all(type(exactk.as_predictions(value)) is kind for value in values)


@pytest.mark.parametrize("argument", ["truth", "exclude"])
def test_f04_scores_are_no_truth_and_nothing_to_exclude(argument: str) -> None:
    arguments: dict[str, Any] = {"truth": TRUTH, "predictions": [[2, 3], [4]], argument: SCORES}
    assert error_of(lambda: exactk.evaluate(**arguments, metrics="mrr"), exactk.InputTypeError).argument == argument
    arguments |= {"predictions": SCORES, argument: exactk.Scores(SCORES)}
    assert error_of(lambda: exactk.evaluate(**arguments, metrics="mrr"), exactk.InputTypeError).argument == argument


def test_immutable_and_picklable() -> None:
    predictions = exactk.Scores(SCORES, min_score=0.25)
    assert (len(predictions), repr(predictions)) == (2, "<Scores of 2 users, 5 items (float64)>")
    with pytest.raises(AttributeError):
        predictions.min_score = 0.5  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        predictions.values[0, 0] = 1
    assert SCORES.flags.writeable
    again = pickle.loads(pickle.dumps(predictions))  # noqa: S301 - just written
    assert again.min_score == 0.25
    assert evaluate_scores(again, EVERY_METRIC) == evaluate_scores(predictions, EVERY_METRIC)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.asmatrix(SCORES)


NO_SCORES: dict[str, Any] = {
    **{f"dtype {name}": np.zeros((2, 5), name) for name in ("?", "g", "c8", "O", "S1", "U1", "M8[s]", "m8[s]", "V4")},
    "record": np.zeros((2, 5), [("a", "f4")]),
    "masked": np.ma.masked_array(SCORES),
    "matrix": MATRIX,
    "subclass": SCORES.view(type("Own", (np.ndarray,), {})),
    "1-d": SCORES[0],
    "3-d": SCORES[None],
    "number": 1.0,
    "str": "scores",
    "None": None,
    "mapping": {"a": SCORES},
}


@pytest.mark.parametrize("values", NO_SCORES)
def test_f05_f07_arrays_that_are_no_scores(values: str) -> None:
    assert error_of(lambda: exactk.Scores(NO_SCORES[values]), exactk.InputTypeError).argument == "values"


def test_lists_of_scores_must_be_rectangular() -> None:
    assert evaluate_scores(exactk.Scores(SCORES.tolist()), EVERY_METRIC) == evaluate_scores(SCORES, EVERY_METRIC)
    assert error_of(lambda: exactk.Scores([[0.5], [0.5, 0.25]])).argument == "values"


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        (exactk.InputError, [math.nan, 2**53 + 1, 10**400, Fraction(1, 3)]),  # which float64 does not hold
        (exactk.InputTypeError, [True, "0", 1j, np.zeros(1)]),
    ],
)
def test_least_scores_that_are_none(kind: type[exactk.ExactkError], least: list[Any]) -> None:
    for min_score in least:
        error = error_of(lambda given=min_score: exactk.Scores(SCORES, given), kind)
        assert error.argument == "min_score"


def test_another_number_of_users_is_refused() -> None:
    error = error_of(lambda: exactk.evaluate([[1]] * 3, SCORES, "mrr"))
    assert location_of(error) == ("predictions", None, None, 1)
    assert_same(Evaluation([[1]] * 3, SCORES, ["mrr"]))
    error = error_of(lambda: exactk.evaluate(None, iter([(TRUTH, SCORES[:1])]), "mrr"))
    assert error.argument == "predictions"
