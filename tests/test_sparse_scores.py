"""SparseScores: items with scores, against the reference, as scores, and as the lists that they rank."""

from __future__ import annotations

import math
import pickle
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from core_rules import core_rules
from exactk import _core
from exactk._inputs.registry import as_candidate_items, classify
from refusals import assert_refused_alike, fault_of, is_of_reference
from strategies import (
    IDS,
    SCORE_DTYPES,
    TIES,
    Evaluation,
    columns,
    examples,
    in_pairs,
    score_evaluations,
    score_matrices,
    scores,
    sparse_scores,
    spell,
    truths,
)
from test_concurrency import outcomes_beside_a_writer
from test_faults import error_of, location_of
from test_laws import run_if_legal
from test_reference import assert_same
from test_scores import EVERY_METRIC, SCORES, has_same_values, sort_by_numpy, with_rules

Array = np.ndarray[Any, Any]

# Ranked 7 4 9, and 3 21.
SPARSE = exactk.SparseScores([0, 3, 5], [9, 4, 7, 21, 3], [0.1, 0.5, 0.9, 0.2, 0.7])
TRUTH = [[4, 50], [3]]


# --- against the reference


def best_or_error(topk: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return topk(*arguments, **options)
    except exactk.InputError as error:
        return error


@settings(max_examples=examples(900))
@given(st.data())
@pytest.mark.filterwarnings("ignore:no item of exclude")
def test_topk_equals_reference(data: st.DataObject) -> None:
    users = data.draw(st.integers(0, 6))
    predictions: Any = data.draw(st.one_of(scores(users), sparse_scores(users)))
    matrix = predictions.values if isinstance(predictions, exactk.Scores) else None
    options: dict[str, Any] = {
        "ties": data.draw(st.sampled_from(TIES)),
        "nan": data.draw(st.sampled_from(["raise", "last", "last"])),
        "candidates": None if matrix is None else data.draw(st.one_of(st.none(), columns(*matrix.shape))),
    }
    k = data.draw(st.one_of(st.integers(1, 8), st.integers(1, 50)))
    exclude = data.draw(st.one_of(st.none(), st.lists(st.lists(IDS, max_size=20), min_size=users, max_size=users)))
    expected, best = (
        best_or_error(topk, predictions, k, exclude, **options) for topk in (exactk.reference.topk, exactk.topk)
    )
    if isinstance(expected, exactk.InputError) or isinstance(best, exactk.InputError):
        assert_refused_alike(best, expected)
        return
    assert best.items.tolist() == expected.items.tolist()
    assert best.items.dtype == np.int64
    assert best.scores.dtype == (predictions.scores if matrix is None else matrix).dtype
    np.testing.assert_array_equal(best.scores, expected.scores)


# --- laws


@settings(max_examples=examples(150))
@given(st.data())
def test_sparse_scores_of_all_columns_are_the_scores(data: st.DataObject) -> None:
    """In both ways, and bit for bit: except for the number of candidates, the reports are the same."""
    evaluation = data.draw(score_evaluations(min_users=1))
    evaluation.options.pop("base_predictions", None)  # candidates leave out of these lists what is in no column
    matrix, min_score = evaluation.predictions.values, evaluation.predictions.min_score
    users, items = matrix.shape
    indptr, ids = np.arange(users + 1) * items, np.tile(np.arange(items), users)
    all_columns = exactk.SparseScores(indptr, ids, matrix.ravel(), min_score)
    expected = run_if_legal(evaluation, per_user=True)
    for other in (
        run_if_legal(Evaluation(evaluation.truth, all_columns, evaluation.metrics, evaluation.options), per_user=True),
        run_if_legal(evaluation, per_user=True, candidates=np.arange(items)),
        run_if_legal(evaluation, per_user=True, candidates=[range(items)] * users),
    ):
        assert has_same_values(other, expected)
        counts = dict(other.counts)
        sizes = counts.pop("candidates")
        assert counts == expected.counts
        assert sizes["max"] <= items


@settings(max_examples=examples(150))
@given(st.data())
def test_sparse_scores_are_the_lists_that_they_rank(data: st.DataObject) -> None:
    users = data.draw(st.integers(1, 5))
    predictions = data.draw(sparse_scores(users, nan=False))
    ties = data.draw(st.sampled_from(TIES))
    lists: list[Any] = []
    for user in range(users):
        begin, end = predictions.indptr[user : user + 2]
        ids, row = predictions.items[begin:end], predictions.scores[begin:end]
        # The item of a column of NumPy's sort is a position here, once the row is in the order of the tie rule.
        order = {"lowest_id": ids, "highest_id": ids.max(initial=0) - ids, "input_order": np.zeros(len(ids))}[ties]
        by_tie = np.argsort(order, kind="stable")
        best = sort_by_numpy(row[by_tie], (), predictions.min_score, "lowest_id")
        lists.append(ids[by_tie][best] if predictions.has(user) else None)
    repeats = data.draw(st.sampled_from(["raise", "first", "count", "collapse"]))
    exclude = data.draw(st.lists(st.lists(IDS, max_size=4), min_size=users, max_size=users))
    options = {"convention": with_rules(ties=ties, duplicate_items=repeats), "exclude": exclude, "per_user": True}
    truth = data.draw(truths(users))
    of_sparse_scores = run_if_legal(Evaluation(truth, predictions, EVERY_METRIC, options))
    of_lists = run_if_legal(Evaluation(truth, lists, EVERY_METRIC, options))
    assert has_same_values(of_sparse_scores, of_lists)


@settings(max_examples=examples(150))
@given(st.data())
@pytest.mark.filterwarnings("ignore:no item of exclude")
def test_a_restriction_excludes_all_the_others(data: st.DataObject) -> None:
    users = data.draw(st.integers(1, 5))
    matrix = data.draw(score_matrices(users, nan=False))
    items = matrix.shape[1]
    candidates = [data.draw(st.sets(st.integers(0, items - 1))) if items else set() for _ in range(users)]
    exclude = data.draw(st.lists(st.sets(IDS, max_size=4), min_size=users, max_size=users))
    others = [set(range(items)) - row | also for row, also in zip(candidates, exclude, strict=True)]
    truth: Any = data.draw(truths(users))
    ties: Any = data.draw(st.sampled_from(TIES))
    options = {"convention": with_rules(ties=ties), "per_user": True}
    predictions = exactk.Scores(matrix)
    evaluation = Evaluation(truth, predictions, EVERY_METRIC, options)
    one = run_if_legal(evaluation, candidates=candidates, exclude=exclude)
    assert has_same_values(one, run_if_legal(evaluation, exclude=others))
    best = exactk.topk(predictions, 3, exclude, candidates=candidates, ties=ties)
    assert best.items.tolist() == exactk.topk(predictions, 3, others, ties=ties).items.tolist()


@settings(max_examples=examples(100))
@given(st.data())
def test_the_best_k_as_rankings_give_the_same_values_at_k(data: st.DataObject) -> None:
    users, k = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 12))
    predictions = data.draw(sparse_scores(users, nan=False, repeats=False))
    metrics = [
        spell(name, k)
        for name in exactk.metrics
        if name not in {"r_precision", "bpref", "auc", "gauc", "label_ranking_loss"}
    ]
    truth = data.draw(truths(users))
    of_sparse_scores = run_if_legal(Evaluation(truth, predictions, metrics, {"per_user": True}))
    best = exactk.topk(predictions, k)
    of_ids = run_if_legal(Evaluation(truth, best.items, metrics, {"per_user": True}))
    if predictions.present is None:
        assert has_same_values(of_sparse_scores, of_ids)
    assert of_sparse_scores.per_user[metrics[0]].tobytes() == of_ids.per_user[metrics[0]].tobytes()


SIZES = [1, 7, 255, 256, 257, 700, 2**16 + 3]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_best_are_those_that_numpy_sorts_first(size: int, ties: Any) -> None:
    """Long rows of unsorted ids far apart, with few scores and with many."""
    rng = np.random.default_rng(size)
    ids = rng.permutation(size) * (2**62 // size)
    exclude: list[Any] = [ids[::7], []]
    row = np.stack([rng.integers(0, 3, size), rng.integers(0, 10**6, size)]).astype(np.float32)
    predictions = exactk.SparseScores([0, size, 2 * size], np.tile(ids, 2), row.ravel())
    by_tie = {"lowest_id": np.argsort(ids), "highest_id": np.argsort(-ids), "input_order": np.arange(size)}[ties]
    expected = [ids[by_tie][sort_by_numpy(scores[by_tie], (), None, "lowest_id")] for scores in row]
    expected[0] = expected[0][~np.isin(expected[0], exclude[0])]
    for k in (1, 10, size):
        ids_of_best = exactk.topk(predictions, k, exclude, ties=ties).items
        padded = [(ranked[:k].tolist() + [-1] * k)[:k] for ranked in expected]
        assert ids_of_best.tolist() == padded
    truth = [rng.choice(ids, min(size, 100), replace=False), ids[:20]]
    metrics = ["ndcg@[1,10,100]", "average_precision", "reciprocal_rank"]
    options: dict[str, Any] = {"convention": with_rules(ties=ties), "per_user": True, "exclude": exclude}
    both = (run_if_legal(Evaluation(truth, source, metrics, options)) for source in (predictions, expected))
    assert has_same_values(*both)


# --- examples worked by hand


def test_an_example() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item .* is not among the candidates"):
        report = exactk.evaluate(TRUTH, SPARSE, ["mrr", "recall", "P@1", "num_recommended"], per_user=True)
    assert report.per_user["mrr"].tolist() == [1 / 2, 1]
    assert report.per_user["recall"].tolist() == [1 / 2, 1]
    assert report.per_user["P@1"].tolist() == [0, 1]
    assert report.per_user["num_recommended"].tolist() == [3, 2]
    assert report.counts["relevant_not_rankable"] == 1


def test_ties_are_broken_by_ids_or_by_the_order_of_the_input() -> None:
    predictions = exactk.SparseScores([0, 4], [8, 2, 9, 5], [1, 1, 1, 2])
    expected = {"lowest_id": [5, 2, 8, 9], "highest_id": [5, 9, 8, 2], "input_order": [5, 8, 2, 9]}
    ties: Any
    for ties, ids in expected.items():
        for topk in (exactk.topk, exactk.reference.topk):
            assert topk(predictions, 4, ties=ties).items.tolist() == [ids]
        assert list(exactk.evaluate([ids[1:2]], predictions, f"mrr(ties={ties})").values()) == [0.5]
    constant = np.zeros((1, 4))
    assert exactk.topk(constant, 2, ties="input_order").items.tolist() == [[0, 1]]
    assert exactk.topk(constant, 2, ties="input_order", candidates=[3, 1, 2]).items.tolist() == [[1, 2]]


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8"])
def test_ids_at_the_edges(dtype: str) -> None:
    last = min(np.iinfo(dtype).max, 2**63 - 1)
    ids = np.array(sorted({last, last - 1, min(last, 2**31), 0, 2**31 - 1}, reverse=True), dtype)
    predictions = exactk.SparseScores([0, len(ids)], ids, 10 * np.arange(len(ids)))
    assert predictions.items.dtype == dtype
    assert exactk.topk(predictions, 9).items[0, : len(ids)].tolist() == ids[::-1].tolist()
    for rank, item in enumerate(ids[::-1].tolist(), start=1):
        assert exactk.evaluate([[item]], predictions, "mrr")["mrr"] == 1 / rank


@pytest.mark.parametrize("dtype", SCORE_DTYPES)
def test_f05_every_type_of_score(dtype: str) -> None:
    array = np.array([3, 1, 2, 2, 5, 4], dtype)
    predictions = exactk.SparseScores([0, 3, 6], [7, 8, 9, 3, 2, 1], array)
    best = exactk.topk(predictions, 2)
    assert best.items.tolist() == [[7, 9], [2, 1]]
    assert best.scores.dtype == array.dtype
    assert best.scores.tolist() == [[3, 2], [5, 4]]
    padding = exactk.topk(predictions, 4, [[], [1]]).scores[1, 2:]
    assert np.isnan(padding).all() if dtype[0] == "f" else padding.tolist() == [0, 0]


# --- how many candidates there were


def test_candidates_are_counted_without_the_excluded_and_before_the_least_score() -> None:
    predictions = exactk.SparseScores(
        [0, 4, 6, 6, 6], [1, 2, 3, 4, 5, 6], np.arange(6.0), 3.5, [True, True, True, False]
    )
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        report = evaluator([[4], [5], [], [4]], predictions, "num_recommended", exclude=[[1, 9], [], [1], [1]])
        assert report.counts["candidates"] == {"min": 0, "mean": 5 / 3, "max": 3}
        assert "0 to 3 candidates per user (mean 1.6667)" in repr(report)
        assert exactk.Report.from_json(report.to_json()) == report
        assert report.to_dict()["counts"]["candidates"] == {"min": 0, "mean": 5 / 3, "max": 3}
        restricted_report = evaluator([[1], [2]], SCORES, "P@1", candidates=[1, 2, 2], exclude=[[0, 2], [1]])
        assert restricted_report.counts["candidates"] == {"min": 1, "mean": 1, "max": 1}
        assert "1 candidate per user" in repr(restricted_report)
        assert "candidates" not in evaluator([[1], [0]], SCORES, "P@1").counts
        assert "candidates" not in evaluator([[1]], [[1]], "P@1").counts


@pytest.mark.filterwarnings("ignore:no list has an item")
def test_of_nobody_there_are_no_candidates_to_count() -> None:
    nobody = exactk.SparseScores([0, 0], [], [], present=[False])
    report = exactk.evaluate([[1]], nobody, "P@1")  # no warning: nobody said what may be ranked
    assert all(math.isnan(number) for number in report.counts["candidates"].values())
    assert report.to_dict()["counts"]["candidates"] == {"min": None, "mean": None, "max": None}
    assert exactk.Report.from_json(report.to_json()) == report
    assert "candidates" not in repr(report)


def test_counts_of_candidates_merge() -> None:
    whole = exactk.SparseScores([0, 3, 4, 4, 9], np.arange(9), np.arange(9), present=[True, True, False, True])
    parts = [
        exactk.SparseScores(whole.indptr[i : i + 2] - whole.indptr[i], whole.items[begin:end], whole.scores[begin:end],
                          present=whole.present[i : i + 1])  # type: ignore[index]
        for i, (begin, end) in enumerate(zip(whole.indptr, whole.indptr[1:], strict=False))
    ]  # fmt: skip
    expected = exactk.evaluate([[1], [3], [], [8]], whole, EVERY_METRIC)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)  # one part has nobody
        rows = zip([[1], [3], [], [8]], parts, strict=True)
        reports = [exactk.evaluate([row], part, EVERY_METRIC) for row, part in rows]
    for order in ([0, 1, 2, 3], [2, 3, 1, 0], [3, 2, 0, 1]):
        merged = exactk.merge([reports[i] for i in order])
        assert merged == expected
        assert merged.counts["candidates"] == {"min": 1, "mean": 3, "max": 5}
        assert exactk.State.from_bytes(merged.state.to_bytes()) == expected.state
    # Beside lists, which count none.
    both = exactk.merge([reports[0], exactk.evaluate([[1]], [[1]], EVERY_METRIC)])
    assert both.counts["candidates"] == {"min": 3, "mean": 3, "max": 3}


# --- faults


def test_f01_arrays_of_other_sizes() -> None:
    for size in (0, 4, 6):
        error = error_of(lambda size=size: exactk.SparseScores([0, 5], np.arange(5), np.zeros(size)))
        assert error.argument == "predictions.scores"
    assert error_of(lambda: exactk.SparseScores([], [1], [1])).argument == "predictions"


@settings(max_examples=examples(300))
@given(sparse_scores(4, nan=False), st.data())
def test_f01_one_offset_is_anything(predictions: exactk.SparseScores, data: st.DataObject) -> None:
    indptr = predictions.indptr.copy()
    indptr[data.draw(st.integers(0, 4))] = data.draw(st.one_of(st.integers(-2, 40), st.integers(-(2**63), 2**63 - 1)))
    other = exactk.SparseScores(
        indptr, predictions.items, predictions.scores, predictions.min_score, predictions.present
    )
    assert_same(Evaluation([[1], [2], [3], [4]], other, ["recall@2", "mrr"]))


@pytest.mark.parametrize("item", [-1, -(2**63)])
def test_f03_ids_that_are_none(item: int) -> None:
    predictions = exactk.SparseScores([0, 2, 5], [4, 7, 1, item, item], np.arange(5))
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        assert location_of(error_of(lambda call=evaluator: call(TRUTH, predictions, "mrr"))) == ("predictions", 1, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (([0.0, 1.0], [1], [1.0]), "predictions.indptr"),
        (([0, 1], [1.0], [1.0]), "predictions.items"),
        (([0, 1], [1], [True]), "predictions.scores"),
        (([0, 1], [1], ["1"]), "predictions.scores"),
        (([0, 1], [1], np.zeros(1, np.longdouble)), "predictions.scores"),
        (([0, 1], [1], np.ma.masked_array([1.0])), "predictions.scores"),
        (([0, 1], [1], [[1.0]]), "predictions.scores"),
        (([0, 1], [1], None), "predictions.scores"),
        (([0, 1], [1], [1.0], "0"), "min_score"),
        (([0, 1], [1], [1.0], None, [1]), "predictions.present"),
    ],
)
def test_f04_f07_arrays_that_are_no_sparse_scores(arguments: tuple[Any, ...], argument: str) -> None:
    assert error_of(lambda: exactk.SparseScores(*arguments), exactk.InputTypeError).argument == argument


def test_f06_layouts_are_read_where_they_lie() -> None:
    items, array = np.array([9, 4, 7, 21, 3], np.uint32), np.zeros(15, np.float32)[::3]
    array[:] = SPARSE.scores
    for view in (array, array[::-1][::-1], array.astype(">f4"), array.astype(np.float32)):
        predictions = exactk.SparseScores([0, 3, 5], items, view)
        assert np.shares_memory(predictions.items, items)
        assert np.shares_memory(predictions.scores, view) == (view.dtype == np.float32)
        of_view, expected = (Evaluation(TRUTH, one, EVERY_METRIC) for one in (predictions, SPARSE))
        assert run_if_legal(of_view) == run_if_legal(expected)
    one = np.broadcast_to(np.float64(1), 5)
    assert exactk.topk(exactk.SparseScores([0, 3, 5], items, one), 2).items.tolist() == [[4, 7], [3, 21]]


def test_f08_nan_is_refused_with_its_position() -> None:
    scores = np.array([0.5, 0.1, math.nan, 0.3, math.nan])
    predictions = exactk.SparseScores([0, 1, 5], [4, 7, 1, 3, 2], scores)
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        error = error_of(lambda call=evaluator: call(TRUTH, predictions, "P@1", exclude=[[], [1, 2]]))
        assert location_of(error) == ("predictions", 1, 1, 2)
    for topk in (exactk.topk, exactk.reference.topk):
        assert location_of(error_of(lambda ranked=topk: ranked(predictions, 1))) == ("scores", 1, 1, 2)
        assert topk(predictions, 4, nan="last").items.tolist() == [[4, -1, -1, -1], [3, 7, 1, 2]]
        assert topk(predictions, 4, nan="last", ties="highest_id").items.tolist()[1] == [3, 7, 2, 1]


def test_f08_nan_of_a_matrix_counts_in_the_candidates_alone() -> None:
    matrix = np.array([[0.5, math.nan, 0.2], [math.nan, 1.0, math.nan]])
    for topk, evaluator in ((exactk.topk, exactk.evaluate), (exactk.reference.topk, exactk.reference.evaluate)):
        assert topk(matrix, 2, candidates=[[2, 0], [1]]).items.tolist() == [[0, 2], [1, -1]]
        error = error_of(lambda ranked=topk: ranked(matrix, 2, candidates=[[2, 0], [2, 1]]))
        assert location_of(error) == ("scores", 1, 2, 1)  # the column
        error = error_of(lambda call=evaluator: call([[0], [1]], matrix, "mrr", candidates=[1, 2]))
        assert location_of(error) == ("predictions", 0, 1, 2)


def test_f10_repeated_items() -> None:
    """The whole row counts, not only what is ranked high; the better position counts."""
    predictions = exactk.SparseScores([0, 1, 6], [5, 9, 7, 8, 7, 7], [1, 5, 1, 2, 4, 3])  # ranked 9 7 7 8 7
    truth = [[5], [7]]
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        error = error_of(lambda call=evaluator: call(truth, predictions, "P@1", exclude=[[], [7]]))
        assert location_of(error) == ("predictions", 1, 3, 2)
        assert fault_of(error) == "predictions: repeated item"
        assert is_of_reference(error) or "item 7 again" in str(error)
        for repeats, hits in (("first", [1, 1]), ("count", [2, 3])):
            convention = with_rules(duplicate_items=repeats)
            metrics = ["num_hits@3", "num_hits", "num_recommended", "mrr"]
            report = evaluator(truth, predictions, metrics, per_user=True, convention=convention)
            assert [report.per_user[name][1] for name in ("num_hits@3", "num_hits")] == hits
            assert report.per_user["num_recommended"].tolist() == [1, 5]
            assert report.per_user["mrr"].tolist() == [1, 0.5]
            assert report.counts["duplicates"] == 2
    for topk in (exactk.topk, exactk.reference.topk):
        assert location_of(error_of(lambda ranked=topk: ranked(predictions, 1))) == ("scores", 1, 3, 2)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_f10_the_first_is_first_for_any_number_of_threads(threads: int) -> None:
    items = np.tile(np.arange(40), 20_000)
    items[[4_100 * 40 + 9, 4_100 * 40 + 3, 19_999 * 40 + 1]] = [0, 0, 0]
    predictions = exactk.SparseScores(np.arange(20_001) * 40, items, np.zeros(len(items)))
    error = error_of(lambda: exactk.evaluate([[1]] * 20_000, predictions, "P@5", num_threads=threads))
    assert location_of(error) == ("predictions", 4_100, 3, 3)
    assert location_of(error_of(lambda: exactk.topk(predictions, 5, num_threads=threads))) == ("scores", 4_100, 3, 3)


def test_f15_missing_is_not_empty() -> None:
    predictions = exactk.SparseScores([0, 1, 1, 1], [4], [1.0], present=[True, True, False])
    metrics = ["recall", "recall(missing_list=skip)", "recall(empty_list=skip)"]
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item "):
        report = exactk.evaluate([[4], [4], [4]], predictions, metrics)
    assert list(report.values()) == [1 / 3, 1 / 2, 1 / 2]
    assert (report.counts["empty_predictions"], report.counts["missing_lists"]) == (1, 1)
    assert exactk.topk(predictions, 1).items.tolist() == [[4], [-1], [-1]]
    wrong = exactk.SparseScores([0, 1], [4], [1.0], present=[False])
    assert_same(Evaluation([[4]], wrong, ["recall"]))
    assert location_of(error_of(lambda: exactk.evaluate([[4]], wrong, "recall")))[:2] == ("predictions", 0)


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_f20_another_thread_writes_into_the_arrays(dtype: str) -> None:
    """Ids are read once into a copy, by which ties are broken, and never used as an index."""
    users, size, k = 100, 400, 20
    rng = np.random.default_rng(3)
    items = np.concatenate([rng.permutation(size) for _ in range(users)])
    array = rng.integers(0, 20, users * size).astype(dtype)
    predictions = exactk.SparseScores(np.arange(users + 1) * size, items, array)
    matrix = exactk.Scores(array.reshape(users, size))
    restriction = np.tile(np.arange(0, size, 2), users)
    lists = _core.Lists(restriction, np.arange(users + 1) * (size // 2), None, None, "candidates")
    restricted_scores = _core.Scores(matrix.values, None, lists, "predictions")
    truth = exactk.as_truth([range(user % 100) for user in range(users)])
    rules = core_rules(min_grade=0.5)
    values = [_core.PlannedValue("ndcg", 5, 0, rules)]

    def call() -> None:
        exactk.evaluate(truth, predictions, ["ndcg@10", "average_precision"], num_threads=2)
        assert exactk.topk(predictions, k, ties="highest_id", num_threads=2).items.shape == (users, k)
        _core.evaluate(
            truth=truth.core, predictions=restricted_scores, values=values, tally_rules=rules, per_user=True, threads=2
        )
        positions, _ = _core.topk(scores=restricted_scores, k=k, nan="last", threads=2)
        assert -1 <= positions.min() <= positions.max() < size

    assert outcomes_beside_a_writer([items, array, restriction], call) == {"result", "refused"}


def test_f21_the_core_itself_holds_what_it_reads() -> None:
    rng = np.random.default_rng(3)
    ids, array = rng.permutation(500_000), rng.random(500_000)
    indptr = np.arange(1001) * 500
    expected = exactk.topk(exactk.SparseScores(indptr, ids, array), 5).items
    sparse = _core.SparseScores(_core.Lists(ids.copy(), indptr, None, None, "x"), array.copy(), None, "x")
    candidate_lists = _core.Lists(np.array([0, 3]), np.array([0, 2]), None, None, "x")
    matrix = _core.Scores(array.reshape(1000, 500).copy(), None, candidate_lists, "x")
    del candidate_lists
    waste = [np.full(ids.shape, 3), np.full(array.shape, 3.0), np.full(2, 7)]  # over what was freed, if it was
    positions, _ = _core.topk(scores=sparse, k=5, threads=2)
    assert ids[positions].tolist() == expected.tolist()
    assert set(_core.topk(scores=matrix, k=2, threads=2)[0].ravel().tolist()) == {0, 3}
    assert len(waste) == 3


# --- the same bits


@pytest.fixture(scope="module")
def many_users() -> list[Evaluation]:
    """600 users with ties, grades, excluded items and weights: several blocks per thread.

    They have up to 90 scored items in any order, or a matrix, of which each has all columns, or those items.
    """
    rng = np.random.default_rng(11)
    users = 600
    sizes = rng.integers(0, 90, users)
    items = np.concatenate([rng.choice(150, size, replace=False) for size in sizes])
    truth = [
        {item: float(rng.integers(0, 4)) for item in rng.choice(159, rng.integers(0, 60), replace=False).tolist()}
        for _ in range(users)
    ]
    array = np.round(rng.standard_normal(len(items)), 1).astype(np.float32)
    predictions = exactk.SparseScores(np.concatenate([[0], np.cumsum(sizes)]), items, array)
    options = {
        "exclude": [rng.choice(150, rng.integers(0, 30), replace=False) for _ in range(users)],
        "weights": rng.random(users),
        "groups": rng.integers(0, 5, users),
        "per_user": True,
    }
    metrics = [*EVERY_METRIC, "ndcg@10(ties=highest_id)", "ndcg@10(ties=input_order)"]
    sparse = Evaluation(truth, predictions, metrics, options)
    matrix = np.round(rng.standard_normal((users, 150)), 1).astype(np.float32)
    candidates = [predictions.lists.row(user) for user in range(users)]
    return [
        sparse,
        replace(sparse, predictions=matrix),
        replace(sparse, predictions=matrix, options=options | {"candidates": candidates}),
    ]


def test_f22_number_of_threads(many_users: list[Evaluation]) -> None:
    for evaluation in many_users:
        one, *others = (run_if_legal(evaluation, num_threads=threads) for threads in (1, 2, 3, 7))
        assert all(other == one for other in others)
        candidates = evaluation.options.get("candidates")
        best = [exactk.topk(evaluation.predictions, 9, candidates=candidates, num_threads=n).items for n in (1, 2, 7)]
        assert len({ids.tobytes() for ids in best}) == 1


def first_users(evaluation: Evaluation, users: int) -> Evaluation:
    names = {"exclude", "weights", "groups", "candidates"} & {*evaluation.options}
    options = evaluation.options | {name: evaluation.options[name][:users] for name in names}
    predictions = users_between(evaluation.predictions, 0, users)
    return replace(evaluation, truth=evaluation.truth[:users], predictions=predictions, options=options)


def users_between(predictions: Any, begin: int, end: int) -> Any:
    if not isinstance(predictions, exactk.SparseScores):
        return predictions[begin:end]
    indptr = predictions.indptr[begin : end + 1]
    rows = slice(int(indptr[0]), int(indptr[-1]))
    return exactk.SparseScores(indptr - indptr[0], predictions.items[rows], predictions.scores[rows])


@pytest.mark.parametrize("dtype", SCORE_DTYPES)
def test_f31_instruction_set(many_users: list[Evaluation], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, dense, restricted = (first_users(evaluation, 150) for evaluation in many_users)
    scores = (sparse.predictions.scores * 10 + 60).astype(dtype)
    of_type = exactk.SparseScores(sparse.predictions.indptr, sparse.predictions.items, scores)
    matrix = exactk.Scores((dense.predictions * 10 + 60).astype(dtype))
    exclude = sparse.options["exclude"]

    def evaluate_all() -> tuple[Any, ...]:
        return (
            run_if_legal(replace(sparse, predictions=of_type)),
            run_if_legal(replace(dense, predictions=matrix)),
            run_if_legal(replace(restricted, predictions=matrix)),
            exactk.topk(of_type, 10, exclude, ties="highest_id").items.tobytes(),
            exactk.topk(matrix, 10, exclude).items.tobytes(),
            exactk.topk(matrix, 10, exclude, candidates=range(3, 90)).items.tobytes(),
        )

    widest = evaluate_all()
    for isa in _core.isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        assert evaluate_all() == widest


@pytest.mark.parametrize("size", [1, 100, 299, 4000])
def test_blocks_equal_the_whole(many_users: list[Evaluation], size: int) -> None:
    users = 8 if size == 1 else 600
    for evaluation in many_users:
        part = first_users(evaluation, users)
        borders = [(begin, min(begin + size, users)) for begin in range(0, users, size)]
        blocks = ((part.truth[begin:end], users_between(part.predictions, begin, end)) for begin, end in borders)
        assert run_if_legal(replace(part, truth=None, predictions=blocks)) == run_if_legal(part)


def test_blocks_share_the_candidates_of_all() -> None:
    blocks = (([[user]], SCORES[user : user + 1]) for user in range(2))
    report = exactk.evaluate(None, blocks, "mrr", candidates=[0, 1])
    assert report == exactk.evaluate([[0], [1]], SCORES, "mrr", candidates=[0, 1])
    error = error_of(lambda: exactk.evaluate(None, iter([([[0]], SCORES[:1])]), "mrr", candidates=[[0], [1]]))
    assert error.argument == "candidates"


@pytest.mark.parametrize("candidates", [[0, 1], []])
def test_no_blocks_are_nobody_whatever_the_candidates(candidates: list[int]) -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated"):
        assert exactk.evaluate(None, iter([]), "mrr", candidates=candidates).counts["users"] == 0


# --- candidates= and its containers

CANDIDATES_PER_USER: dict[str, Any] = {
    "lists": [[0, 2, 2], [4, 1]],
    "tuples and sets": [(2, 0), {1, 4}],
    "arrays": [np.array([2, 0], np.int8), np.array([4, 1], np.uint64)],
    "ranges": [range(0, 3, 2), range(4, 0, -3)],
    "padded": np.array([[2, 0, 2], [1, 4, -1]]),
    "multi-hot": np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 1]], np.bool_),
    "CSR": exactk.Exclusions([0, 3, 5], [2, 2, 0, 4, 1]),
    "truth": exactk.Truth([0, 2, 4], [2, 0, 4, 1]),
    "rankings": exactk.Rankings([0, 2, 4], [2, 0, 4, 1]),
    "sparse": scipy.sparse.coo_array((np.zeros(5), ([0, 0, 0, 1, 1], [2, 2, 0, 4, 1])), shape=(2, 5)),
}
CANDIDATES_FOR_ALL: dict[str, Any] = {
    "list": [4, 1, 1],
    "tuple": (1, 4),
    "set": {4, 1},
    "range": range(1, 5, 3),
    "array": np.array([4, 1, 4], np.int16),
    "uint64": np.array([4, 1], np.uint64),
    "NumPy integers": [np.int64(4), np.uint8(1)],
}


@pytest.mark.parametrize("name", CANDIDATES_PER_USER)
def test_candidates_of_each_user(name: str) -> None:
    expected = exactk.evaluate([[2], [4]], SCORES, EVERY_METRIC, candidates=CANDIDATES_PER_USER["lists"])
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        report = evaluator([[2], [4]], SCORES, EVERY_METRIC, candidates=CANDIDATES_PER_USER[name])
        assert dict(report) == dict(expected)
        assert report.counts["candidates"] == {"min": 2, "mean": 2, "max": 2}
    for topk in (exactk.topk, exactk.reference.topk):
        assert topk(SCORES, 3, candidates=CANDIDATES_PER_USER[name]).items.tolist() == [[2, 0, -1], [4, 1, -1]]


def test_candidates_that_ascend_are_held_once() -> None:
    columns = as_candidate_items(classify([[0, 2], [], [1, 2, 4], [0], []], "candidates"), {})
    assert columns is not None
    assert np.shares_memory(columns.items, columns.unsorted.items)
    for rows in ([[2, 0]], [[0, 0]], [[], [1], [4, 2], [2]]):
        assert (columns := as_candidate_items(classify(rows, "candidates"), {})) is not None
        assert [columns.row(user).tolist() for user in range(len(rows))] == [sorted(set(row)) for row in rows]


@pytest.mark.parametrize("name", CANDIDATES_FOR_ALL)
def test_candidates_of_all_users(name: str) -> None:
    for topk in (exactk.topk, exactk.reference.topk):
        assert topk(SCORES, 3, candidates=CANDIDATES_FOR_ALL[name]).items.tolist() == [[1, 4, -1], [4, 1, -1]]
    assert exactk.evaluate([[1], [4]], SCORES, "P@1", candidates=CANDIDATES_FOR_ALL[name])["P@1"] == 1
    assert exactk.precision_at_k([[1], [4]], SCORES, k=1, candidates=CANDIDATES_FOR_ALL[name]) == 1


def test_nothing_may_be_ranked() -> None:
    nothing = np.zeros(0, np.int64)
    with pytest.warns(exactk.EvaluationWarning, match="2 relevant items"):
        report = exactk.evaluate([[1], [4]], SCORES, "recall", candidates=nothing)
    assert (report["recall"], report.counts["empty_predictions"]) == (0, 2)
    assert exactk.topk(SCORES, 1, candidates=[[], []]).items.tolist() == [[-1], [-1]]
    assert exactk.topk(np.zeros((2, 0)), 1, candidates=nothing).items.tolist() == [[-1], [-1]]
    assert exactk.topk(np.zeros((0, 5)), 1, candidates=[]).items.shape == (0, 1)


@pytest.mark.parametrize(
    ("candidates", "row", "position", "count"),
    [
        ([[0, 1], [3, 7, 1, 7, 5]], 1, 1, 3),
        ([4, 9, 0], 0, 1, 1),
        (np.array([[0, 1], [2**40, -1]]), 1, 0, 1),
        (np.array([2**63 - 1], np.uint64), 0, 0, 1),
        ([[0, 1], [1, -1]], 1, 1, 1),
        (np.array([0, -1]), 0, 1, 1),
        ([[0, 2**63], [1]], 0, 1, 1),
        ([[0, 1], None], 1, None, 1),
        ([[0, 1]], None, None, 1),
        ([[0], [1], [2]], None, None, 1),
        ([], None, None, 1),
    ],
)
def test_f03_candidates_that_are_no_columns(candidates: Any, row: int, position: int, count: int) -> None:
    """The position is the one in what was given, whatever was sorted since."""
    for evaluator in (exactk.evaluate, exactk.reference.evaluate):
        error = error_of(lambda call=evaluator: call([[1], [4]], SCORES, "mrr", candidates=candidates))
        assert location_of(error) == ("candidates", row, position, count)
    error = error_of(lambda: exactk.topk(SCORES, 1, candidates=candidates))
    assert location_of(error) == ("candidates", row, position, count)


@pytest.mark.parametrize(
    "candidates",
    [1, 1.0, b"12", [1.0], [True], [1, [2]], [[1], 2], [[0.5], [1]], ["a"], {0: [1]}, np.array([0.5]),
     np.array([True, False]), np.array(1), np.zeros((1, 1, 1), int), exactk.Scores(SCORES), SPARSE, NotImplemented],
    ids=repr,
)  # fmt: skip
def test_f04_candidates_of_a_wrong_type(candidates: Any) -> None:
    error = error_of(lambda: exactk.evaluate([[1], [4]], SCORES, "mrr", candidates=candidates), exactk.InputTypeError)
    assert error.argument == "candidates"


# --- scipy.sparse

DENSE = np.array([[0, 0.5, 0, 0.9], [0.7, 0, 0, 0], [0, 0, 0, 0]])


FORMS = [f"{form}_{kind}" for form in ("csr", "csc", "coo") for kind in ("array", "matrix")]


def stored(form: str, values: Any, users: Any, items: Any, shape: tuple[int, int]) -> Any:
    """Store values as they come, none of them added up; rows or columns are in their order."""
    array, rows, columns = np.array(values), np.array(users), np.array(items)
    if form.startswith("coo"):
        return getattr(scipy.sparse, form)((array, (rows, columns)), shape=shape)
    lines, others, size = (rows, columns, shape[0]) if form.startswith("csr") else (columns, rows, shape[1])
    order = np.argsort(lines, kind="stable")
    indptr = np.cumsum([0, *np.bincount(lines.astype(np.int64), minlength=size)])
    return getattr(scipy.sparse, form)((array[order], others[order], indptr), shape=shape)


def explicit_zero(form: str) -> Any:
    """Store a zero at (0, 2), and the values of user 0 out of order."""
    return stored(form, [0.9, 0.0, 0.5, 0.7], [0, 0, 0, 1], [3, 2, 1, 0], (3, 4))


@pytest.mark.parametrize("form", FORMS)
def test_stored_values_are_scores_zeros_too(form: str) -> None:
    sparse = explicit_zero(form)
    for topk in (exactk.topk, exactk.reference.topk):
        best = topk(sparse, 4)
        assert best.items.tolist() == [[3, 1, 2, -1], [0, -1, -1, -1], [-1, -1, -1, -1]]
        np.testing.assert_array_equal(best.scores[0], [0.9, 0.5, 0.0, math.nan])
    predictions = exactk.as_predictions(sparse)
    assert type(predictions) is exactk.SparseScores
    report = exactk.evaluate([[2], [0], []], sparse, ["mrr"], per_user=True)
    assert report.per_user["mrr"][:2].tolist() == [1 / 3, 1]
    assert report.counts["candidates"] == {"min": 0, "mean": 4 / 3, "max": 3}
    if "csr" in form:
        assert np.shares_memory(predictions.items, sparse.indices)
        assert np.shares_memory(predictions.scores, sparse.data)
        assert predictions.lists.row(0).tolist() == [3, 2, 1]  # as stored
    assert sparse.nnz == 4  # as before


@pytest.mark.parametrize("form", FORMS)
def test_f10_stored_values_of_one_column_are_not_added_up(form: str) -> None:
    sparse = stored(form, [1.0, 2.0, 4.0], [0, 0, 0], [3, 1, 3], (1, 4))
    error = error_of(lambda: exactk.evaluate([[3]], sparse, "mrr"))
    assert location_of(error) == ("predictions", 0, 2, 1)
    assert error_of(lambda: exactk.topk(sparse, 1)).argument == "scores"
    count = with_rules(duplicate_items="count")
    assert list(exactk.evaluate([[3]], sparse, ["num_hits", "num_recommended"], convention=count).values()) == [2, 3]
    assert sparse.nnz == 3


@pytest.mark.filterwarnings("ignore:exclude. stored zeros")
@pytest.mark.parametrize("form", FORMS)
def test_stored_values_are_excluded_zeros_too(form: str) -> None:
    sparse = explicit_zero(form)
    with pytest.warns(exactk.EvaluationWarning, match=r"exclude: stored zeros .*; exclude.eliminate_zeros\(\)"):
        seen = exactk.as_exclusions(sparse)
    assert seen is not None
    assert [sorted(seen.row(user).tolist()) for user in range(3)] == [[1, 2, 3], [0], []]
    with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
        report = exactk.evaluate([[2], [1], [5]], [[2, 7], [0, 1], [5]], ["P@1"], exclude=sparse)
    assert report["P@1"] == 2 / 3
    assert exactk.topk(DENSE, 1, sparse).items.tolist() == [[0], [1], [0]]
    best = exactk.topk(DENSE + 1, 4, candidates=sparse)
    assert best.items.tolist() == [[3, 1, 2, -1], [0, -1, -1, -1], [-1, -1, -1, -1]]


@settings(max_examples=examples(100))
@given(sparse_scores(4, nan=False), st.sampled_from(FORMS))
def test_sparse_forms_are_the_same(predictions: exactk.SparseScores, form: str) -> None:
    """Of ids that a column may have; the order of csc is its own."""
    items = predictions.items % 41
    users = np.repeat(np.arange(4), np.diff(predictions.indptr))
    array = predictions.scores if predictions.scores.dtype != np.float16 else predictions.scores.astype(np.float32)
    sparse = stored(form, array, users, items, (4, 41))
    rules = {"convention": with_rules(duplicate_items="count"), "per_user": True}
    truth = [[1, 5], [2], [3, 8], [4]]
    same = exactk.SparseScores(predictions.indptr, items, array)
    expected = run_if_legal(Evaluation(truth, same, EVERY_METRIC, rules))
    assert run_if_legal(Evaluation(truth, sparse, EVERY_METRIC, rules)) == expected


@pytest.mark.parametrize("argument", ["predictions", "exclude", "candidates", "scores"])
@pytest.mark.parametrize("form", ["lil_array", "dok_array", "bsr_matrix", "dia_array", "1-d"])
def test_f07_other_sparse_forms_are_refused(form: str, argument: str) -> None:
    sparse = scipy.sparse.coo_array(np.array([1.0, 2.0])) if form == "1-d" else getattr(scipy.sparse, form)(DENSE)
    if form == "1-d" and sparse.ndim == 2:
        pytest.skip("install SciPy 1.13 or newer, which has such arrays")
    if argument == "scores":
        error = error_of(lambda: exactk.topk(sparse, 1), exactk.InputTypeError)
    else:
        arguments: dict[str, Any] = {"predictions": DENSE, argument: sparse}
        error = error_of(lambda: exactk.evaluate([[1], [2], [3]], metrics="mrr", **arguments), exactk.InputTypeError)
    assert error.argument == argument


GRADE_METRICS = ["mrr", "judged@2", "ndcg", "ndcg(gain=exp2)", "dcg", "recall@2", "bpref", "P@2(min_grade=2)"]


def stored_truth(form: str, values: list[float], dtype: str = "f8") -> Any:
    """Return a matrix that stores these values for items 1 and 2 of user 0 and item 0 of user 1."""
    return stored(form, np.array(values).astype(dtype), [0, 0, 1], [1, 2, 0], (3, 4))


@pytest.mark.parametrize(
    ("form", "dtype", "values"),
    in_pairs(FORMS, ["i1", "u2", "i8", "u8", "f4", "f8"], [[0, 1, 1], [3, 1, 2], [1, 1, 1], [0, 0, 0], [5, 4, 0]]),
)
@pytest.mark.filterwarnings("ignore:no user was evaluated")
def test_f58_stored_values_of_a_truth_are_grades(form: str, dtype: str, values: list[float]) -> None:
    expected = exactk.evaluate([{1: values[0], 2: values[1]}, {0: values[2]}, {}], DENSE, GRADE_METRICS)
    report = exactk.evaluate(stored_truth(form, values, dtype), DENSE, GRADE_METRICS)
    assert report == expected
    assert "; grades: stored values, relevant: > 0 or >= 2; " in repr(report)


@pytest.mark.parametrize("form", FORMS)
def test_f58_stored_flags_are_no_grades(form: str) -> None:
    metrics = [metric for metric in GRADE_METRICS if "min_grade" not in metric]
    truth = stored_truth(form, [True, True, True], "?")
    assert exactk.evaluate(truth, DENSE, metrics) == exactk.evaluate([{1, 2}, {0}, []], DENSE, metrics)
    assert exactk.as_truth(truth).grades is None
    truth = stored_truth(form, [True, False, True], "?")
    assert exactk.evaluate(truth, DENSE, metrics) == exactk.evaluate([{1: 1, 2: 0}, {0: 1}, {}], DENSE, metrics)


@pytest.mark.parametrize("form", FORMS)
def test_f58_stored_values_that_are_no_grades(form: str) -> None:
    wrong: list[tuple[list[float], str, str]] = [
        ([1.0, np.nan, 1.0], "f8", "truth: expected finite grades, found nan at row 0, position 1"),
        ([1.0, np.inf, 1.0], "f4", "truth: expected finite grades, found inf at row 0, position 1"),
        ([1, 2**53 + 1, 1], "i8", r"truth\.data: expected integers from .* found 9007199254740993 at position 1"),
        ([1, 1, 1], "c16", r"truth\.data: expected integers or floats of at most 64 bits, found complex128"),
    ]
    for values, dtype, message in wrong:
        with pytest.raises(exactk.ExactkError, match=message):
            exactk.evaluate(stored_truth(form, values, dtype), DENSE, "ndcg")
    negative = stored_truth(form, [2.0, -1.0, 1.0])
    lists = [{1: 2.0, 2: -1.0}, {0: 1.0}, {}]
    for metric in ("recall@2", "bpref"):
        assert exactk.evaluate(negative, DENSE, metric) == exactk.evaluate(lists, DENSE, metric)
    short = stored_truth("csr_array", [1.0, 2.0, 3.0])
    short.data = short.data[:2]
    with pytest.raises(exactk.ExactkError, match="truth"):
        exactk.evaluate(short, DENSE, "ndcg")


def test_f58_a_sparse_truth_beside_a_mapping_of_mappings() -> None:
    matrix = stored_truth("csr_array", [3, 0, 2])
    mapping = {0: {1: 3, 2: 0}, 1: {0: 2}, 2: {}}
    lists = [[2, 1, 0], [0, 1, 2], [1]]
    by_key = exactk.evaluate(mapping, dict(enumerate(lists)), GRADE_METRICS)
    assert dict(by_key) == dict(exactk.evaluate(matrix, lists, GRADE_METRICS))
    frame = pl.DataFrame({"user": [0, 0, 1], "item": [1, 2, 0], "grade": [3, 0, 2]})
    values = exactk.evaluate(frame, dict(enumerate(lists[:2])), GRADE_METRICS)
    assert dict(values) == dict(exactk.evaluate(matrix[:2], lists[:2], GRADE_METRICS))


def test_f07_values_of_sparse_matrices_that_are_no_scores() -> None:
    for dtype in (np.bool_, np.complex128):
        wrong = scipy.sparse.csr_array(DENSE.astype(dtype))
        error = error_of(lambda wrong=wrong: exactk.topk(wrong, 1), exactk.InputTypeError)
        assert error.argument == "scores.scores"


@pytest.mark.parametrize(
    ("form", "name", "array", "found"),
    [
        ("csr_array", "indptr", [0, 2, 1, 3], ""),
        ("csr_array", "indptr", [0, 2, 3, 9], ""),
        ("csr_array", "indptr", [0, 2, 3, -9], ""),
        ("csr_array", "indices", [0, 1], ""),
        ("csr_array", "indices", [0, 1, -7], ""),
        ("csc_array", "indptr", [0, 2, 1, 2, 3], ""),
        ("csc_array", "indptr", [0, 1, 2, 2, 9], ""),
        ("csc_array", "indices", [0, 1, 3], ""),
        ("csc_array", "indices", [0, 1, -1], ""),
        ("csc_array", "data", [1.0], ""),
        ("coo_array", "data", [1.0], ""),
        ("coo_matrix", "row", [0, 1, 3], ""),
        ("coo_matrix", "col", [0, 1, -3], ""),
        ("csr_array", "indptr", [], ", found 0"),
        ("csr_array", "indptr", [0, 3], ", found 2"),
        ("csc_array", "indptr", [], ", found 0"),
        ("csc_array", "indptr", [0, 1, 2, 3], ", found 4"),
        ("csc_array", "indptr", [0, 1, 2, 2, 2**40], f", found from 0 to {2**40}"),  # nothing of that size is made
        ("csc_array", "indptr", [0, 1, 2, 2, 2**62], f", found from 0 to {2**62}"),
    ],
)
def test_f01_broken_sparse_matrices(form: str, name: str, array: list[Any], found: str) -> None:
    matrix = getattr(scipy.sparse, form)(DENSE)
    setattr(matrix, name, np.array(array, float if name == "data" else np.int64))
    for argument in ("predictions", "exclude", "candidates"):
        arguments: dict[str, Any] = {"predictions": DENSE, argument: matrix}
        error = error_of(lambda given=arguments: exactk.evaluate([[1], [2], [3]], metrics="mrr", **given))
        assert str(error).startswith(argument)
        assert str(error).endswith(found)


@pytest.mark.parametrize(("form", "name"), [("csr_array", "indices"), ("coo_matrix", "col")])
def test_f03_a_column_beyond_the_sparse_matrix(form: str, name: str) -> None:
    matrix = getattr(scipy.sparse, form)(np.array([[1.0, 0, 2], [3, 0, 4]]))
    setattr(matrix, name, np.array([0, 2, 3, 9]))
    for argument in ("predictions", "exclude"):
        arguments: dict[str, Any] = {"predictions": np.zeros((2, 3)), argument: matrix}
        error = error_of(lambda given=arguments: exactk.evaluate([[1], [2]], metrics="mrr", **given))
        assert location_of(error) == (argument, 1, 0, 2)


def test_scipy_is_never_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "scipy.sparse")
    error = error_of(lambda: exactk.topk(scipy.sparse.csr_array(DENSE), 1), exactk.InputTypeError)
    assert error.argument == "scores"
    assert "scipy.sparse" not in sys.modules


# --- the class


def test_immutable_and_picklable() -> None:
    assert (len(SPARSE), repr(SPARSE)) == (2, "<SparseScores of 2 users, 5 items (int64), scores (float64)>")
    with pytest.raises(AttributeError):
        SPARSE.min_score = 0.5  # type: ignore[misc]
    for array in (SPARSE.scores, SPARSE.items, SPARSE.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    predictions = exactk.SparseScores(
        np.array([0, 2, 2], np.int32), np.array([7, 3], np.uint32), np.array([1, 2], np.float16), 0.5, [True, False]
    )
    again = pickle.loads(pickle.dumps(predictions))  # noqa: S301 - just written
    assert (again.min_score, again.has(0), again.has(1), again.items.dtype) == (0.5, True, False, np.uint32)
    assert again.scores.dtype == np.float16
    evaluation = Evaluation([[3], [3]], predictions, EVERY_METRIC)
    assert run_if_legal(Evaluation([[3], [3]], again, EVERY_METRIC)) == run_if_legal(evaluation)
