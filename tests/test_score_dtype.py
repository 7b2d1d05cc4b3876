"""Scores that a convention narrows before they are ranked, as trec_eval and torchmetrics do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from strategies import Evaluation, examples, score_matrices, sparse_scores
from test_reference import report_or_error

NARROW = exactk.conventions["standard"].replace(score_dtype="float32")
NATIVE = exactk.conventions["standard"]
TRUTH = [[0, 3], [1], [2, 30]]
HUGE = float(np.finfo(np.float32).max)


def as_sparse_scores(values: Any, min_score: float | None = None) -> exactk.SparseScores:
    return exactk.SparseScores([0, len(values)], range(len(values)), values, min_score)


KINDS = [lambda values, least=None: exactk.Scores(values[None], least), as_sparse_scores]


@pytest.mark.parametrize("kind", KINDS, ids=["matrix", "sparse scores"])
@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
@pytest.mark.parametrize(
    ("values", "tied"),
    [
        (np.array([1.0, 1.0 + 1e-9]), True),
        (np.array([1.0, 1.0 + 1e-6]), False),
        (np.array([HUGE * 2, HUGE * 3]), True),  # both infinite
        (np.array([-HUGE * 3, -HUGE * 2]), True),
        (np.array([1e-60, 2e-60]), True),  # both 0
        (np.array([2**24, 2**24 + 1], np.int64), True),
        (np.array([2**24 - 1, 2**24], np.int64), False),
        (np.array([2**64 - 2, 2**64 - 1], np.uint64), True),
        (np.array([1.0, np.nextafter(np.float32(1), np.float32(2))], np.float32), False),
        (np.array([1.0, 1.0 + 2**-10], np.float16), False),
    ],
)
def test_scores_that_differ_by_less_are_tied(kind: Any, evaluate: Any, values: Any, tied: bool) -> None:
    """The second item scores more; of equal ones, the first has the lower id."""
    original = values.copy()
    metric = "precision@1(ties=expected)"
    assert evaluate([[1]], kind(values), metric, convention=NATIVE)[metric] == 1
    assert evaluate([[1]], kind(values), metric, convention=NARROW)[metric] == (0.5 if tied else 1)
    assert np.array_equal(values, original)


@pytest.mark.filterwarnings("ignore:no list has an item")
@pytest.mark.parametrize("kind", KINDS, ids=["matrix", "sparse scores"])
@pytest.mark.parametrize(
    ("least", "recommended"), [(0.7, 2), (0.7 + 1e-7, 1), (0.7 + 1e-12, 2), (1e300, 0), (-1e300, 3)]
)
def test_min_score_is_narrowed_too(kind: Any, least: float, recommended: int) -> None:
    """0.7 is less than itself as float32: an item that reaches the threshold stays."""
    values = np.array([0.5, 0.7, 0.9])
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        report = evaluate([[1]], kind(values, least), "num_recommended", convention=NARROW)
        assert report["num_recommended"] == recommended


def as_float32(array: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(np.float32)


def assert_same_outcome(wide: Any, narrow: Any, metrics: list[str], nan: Any) -> None:
    result, expected = (
        report_or_error(
            Evaluation(TRUTH, scores, metrics, {"convention": convention.replace(nan=nan)}), exactk.evaluate
        )
        for scores, convention in ((wide, NARROW), (narrow, NATIVE))
    )
    if isinstance(result, exactk.InputError) or isinstance(expected, exactk.InputError):
        assert str(result).partition("; ")[0] == str(expected).partition("; ")[0]  # the hints name the conventions
        return
    np.testing.assert_array_equal(result.table, expected.table)
    assert (result.counts, result.state.totals) == (expected.counts, expected.state.totals)


@settings(max_examples=examples(150))
@given(score_matrices(3), st.sampled_from(["raise", "last"]))
def test_any_matrix_is_ranked_as_if_it_were_narrow(matrix: Any, nan: Any) -> None:
    metrics = ["ndcg@3", "auc", "recall@5(ties=expected)"]
    assert_same_outcome(exactk.Scores(matrix), exactk.Scores(as_float32(matrix)), metrics, nan)


@settings(max_examples=examples(150))
@given(sparse_scores(3), st.sampled_from(["raise", "last"]))
def test_any_sparse_scores_are_ranked_as_if_they_were_narrow(drawn: exactk.SparseScores, nan: Any) -> None:
    least = None if drawn.min_score is None else float(as_float32(np.array(drawn.min_score)))
    other = exactk.SparseScores(drawn.indptr, drawn.items, as_float32(drawn.scores), least, drawn.present)
    assert_same_outcome(drawn, other, ["ndcg@3", "recall"], nan)


def test_blocks_and_systems_are_narrowed_too() -> None:
    scores = np.array([[1.0, 1.0 + 1e-9]])
    metric = "precision@1(ties=expected)"
    blocks = exactk.evaluate(None, iter([([[1]], scores)]), metric, convention=NARROW)
    systems = exactk.compare([[1]], {"one": scores, "other": [[1]]}, metric, convention=NARROW)
    assert (blocks[metric], systems[metric]) == (0.5, {"one": 0.5, "other": 1.0})


def test_it_stands_in_the_report() -> None:
    report = exactk.evaluate([[1]], np.array([[1.0, 1.0 + 1e-9]]), "precision@1(ties=expected)", convention=NARROW)
    assert report.convention.diff("standard") == {"score_dtype": ("float32", "native")}
    assert exactk.Report.from_json(report.to_json()).convention.score_dtype == "float32"
    native = exactk.evaluate([[1]], np.array([[1.0, 2.0]]), "precision@1(ties=expected)")
    with pytest.raises(exactk.StateMismatchError, match="score_dtype"):
        exactk.merge([report, native])


@pytest.mark.parametrize("topk", [exactk.topk, exactk.reference.topk], ids=["core", "reference"])
def test_the_best_items_are_those_of_rounded_scores(topk: Any) -> None:
    """Of equal scores, the lowest id is best."""
    close = np.array([0.5, 1.0, 1.0 + 1e-9])
    matrix, ids = np.stack([close, close[::-1]]), np.arange(3)
    embeddings = exactk.Embeddings(np.ones((2, 1)), close[:, None])
    sparse = exactk.SparseScores([0, 3, 6], [*ids, *ids[::-1]], [*close, *close])
    for scores, native in (
        (matrix, [[2], [0]]),
        (sparse, [[2], [0]]),
        ({"u": dict(zip("abc", close, strict=True))}, [["c"]]),
    ):
        narrow = topk(scores, 1, score_dtype="float32")
        assert narrow.scores.dtype == np.float32
        assert topk(scores, 1).items.tolist() == native
        assert narrow.items.tolist() == ([["b"]] if native == [["c"]] else [[1], [0]])
    assert topk(embeddings, 1, score_dtype="float32").items.tolist() == [[1], [1]]
    with pytest.raises(exactk.InputError, match="score_dtype: expected score_dtype to be one of 'native', 'float32'"):
        topk(matrix, 1, score_dtype="float16")
