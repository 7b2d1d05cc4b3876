"""Candidates of lists and sparse scores: the same report as if the lists had held no other items."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import sparse

import exactk
from refusals import refusal
from strategies import examples

METRICS = ["ndcg@2", "recall@[1,3]", "mrr", "map", "bpref", "num_recommended", "auc"]
USERS, ITEMS = range(6), range(9)

Truth = dict[int, dict[int, float]]
Scores = dict[int, dict[int, float]]
Allowed = dict[int, list[int]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Truth, Scores, Allowed | list[int]]:
    """Draw a truth, the scores of some users, and candidates of all users or of each."""
    some_items = st.lists(st.sampled_from(ITEMS), unique=True, max_size=6)
    users = draw(st.lists(st.sampled_from(USERS), unique=True, min_size=1))
    truth = {user: dict.fromkeys(draw(some_items), 1.0) for user in draw(st.permutations(USERS))}
    grades = st.sampled_from([0.0, 1.0, 2.0])
    truth = {user: {item: draw(grades) for item in items} for user, items in truth.items()}
    scores = {user: {item: draw(st.integers(0, 4)) / 4 for item in draw(some_items)} for user in users}
    if draw(st.booleans()):
        return truth, scores, draw(some_items.filter(len))  # an empty list is one without rows
    return truth, scores, {user: draw(some_items) for user in draw(st.permutations(USERS))}


def allowed_of(candidates: Allowed | list[int], user: int) -> set[int]:
    return set(candidates if isinstance(candidates, list) else candidates[user])


def filtered(scores: Scores, candidates: Allowed | list[int]) -> Scores:
    return {
        user: {item: score for item, score in row.items() if item in allowed_of(candidates, user)}
        for user, row in scores.items()
    }


def ranked(scores: Scores) -> dict[int, list[int]]:
    """Return the items best first, ties by id."""
    return {user: sorted(row, key=lambda item: (-row[item], item)) for user, row in scores.items()}


def as_text(keyed: dict[int, Any]) -> dict[str, Any]:
    """Return users and items as strings."""

    def of_items(row: Any) -> Any:
        return {f"i{item}": value for item, value in row.items()} if isinstance(row, dict) else [f"i{x}" for x in row]

    return {f"u{user}": of_items(row) for user, row in keyed.items()}


def frame(scores: Scores) -> pd.DataFrame:
    """Return one row per user and item; users without items are lost."""
    rows = [(user, item, score) for user, row in scores.items() for item, score in row.items()]
    return pd.DataFrame(rows, columns=["user", "item", "score"]).astype({"user": int, "item": int, "score": float})


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@settings(max_examples=examples(150))
@given(case=cases())
@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
def test_the_report_is_that_of_lists_without_the_others(
    engine: Any, case: tuple[Truth, Scores, Allowed | list[int]]
) -> None:
    truth, scores, candidates = case
    kept = filtered(scores, candidates)
    text_candidates = [f"i{x}" for x in candidates] if isinstance(candidates, list) else as_text(candidates)
    forms: list[tuple[Any, Any, Any, Any]] = [
        (truth, scores, candidates, kept),
        (truth, ranked(scores), candidates, ranked(kept)),
        (as_text(truth), as_text(scores), text_candidates, as_text(kept)),
        (as_text(truth), as_text(ranked(scores)), text_candidates, as_text(ranked(kept))),
    ]
    for one_truth, predictions, allowed, expected in forms:
        metrics = METRICS if isinstance(next(iter(predictions.values())), dict) else METRICS[:-1]
        report = engine.evaluate(one_truth, predictions, metrics, candidates=allowed, per_user=True)
        assert report == engine.evaluate(one_truth, expected, metrics, per_user=True)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@settings(max_examples=examples(100))
@given(case=cases(), parts=st.integers(1, 4), threads=st.integers(1, 2))
def test_frames_batches_and_blocks(case: tuple[Truth, Scores, Allowed | list[int]], parts: int, threads: int) -> None:
    truth, scores, candidates = case
    scores = {user: row for user, row in scores.items() if row}
    assume(scores)
    rows = frame(scores)
    options: dict[str, Any] = {"candidates": candidates, "per_user": True, "num_threads": threads}
    report = exactk.evaluate(truth, rows, METRICS, **options)
    assert report == exactk.evaluate(truth, filtered(scores, candidates), METRICS, per_user=True)
    pieces = np.array_split(np.arange(len(rows)), parts)
    batches = exactk.Batches(lambda: (rows.iloc[piece] for piece in pieces))
    of_batches = exactk.evaluate(truth, batches, METRICS, **options)
    assert (of_batches.state, dict(of_batches.counts)) == (report.state, dict(report.counts))
    blocks = iter([({user: truth[user]}, {user: scores[user]} if user in scores else {}) for user in truth])
    assert exactk.evaluate(None, blocks, METRICS, **options).state == report.state


LISTS = [[3, 1, 7], [2, 9], [], [5, 4, 3, 2]]
TRUTH = [[7], [9, 2], [1], [2]]
KEPT: dict[str, tuple[Any, list[list[int]]]] = {
    "all": ([7, 9, 2, 100], [[7], [2, 9], [], [2]]),
    "by row": ([[1, 3], [9], [8], []], [[3, 1], [9], [], []]),
}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("kind", KEPT)
def test_rows_without_keys(kind: str) -> None:
    candidates, kept = KEPT[kind]
    expected = exactk.evaluate(TRUTH, kept, METRICS[:-1], per_user=True)
    padded = np.array([[*row, *[-1] * (4 - len(row))] for row in LISTS], np.int32)
    indptr, items = np.cumsum([0, *map(len, LISTS)]), np.concatenate(LISTS).astype(np.uint64)
    for predictions in (LISTS, padded, exactk.Rankings(indptr, items)):
        assert exactk.evaluate(TRUTH, predictions, METRICS[:-1], candidates=candidates, per_user=True) == expected
    blocks = iter([(TRUTH[:1], LISTS[:1]), (TRUTH[1:], LISTS[1:])])
    assert exactk.evaluate(None, blocks, METRICS[:-1], candidates=candidates, per_user=True) == expected
    scores = -np.arange(len(items)) / 2
    matrix = sparse.csr_array((scores, items.astype(np.int64), indptr), shape=(4, 10))
    of_scores = [np.isin(row, keep) for row, keep in zip(LISTS, kept, strict=True)]
    mask = np.concatenate(of_scores)
    kept_indptr = np.cumsum([0, *map(np.sum, of_scores)])
    expected = exactk.evaluate(TRUTH, exactk.SparseScores(kept_indptr, items[mask], scores[mask]), METRICS)
    for one in (matrix, exactk.SparseScores(indptr, items, scores)):
        assert dict(exactk.evaluate(TRUTH, one, METRICS, candidates=candidates)) == dict(expected)
    for topk in (exactk.topk, exactk.reference.topk):
        best = topk(exactk.SparseScores(indptr, items, scores), 2, candidates=candidates)
        assert best.items.tolist() == [[*row, -1, -1][:2] for row in kept]


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(("rank_gaps", "rank"), [("keep", 4), ("close", 2)])
def test_ranks_with_gaps(rank_gaps: str, rank: int) -> None:
    """Item 5 moves up by the one item before it that is no candidate."""
    lists = exactk.Rankings([0, 4], [3, 8, 5, 6], ranks=[1, 2, 5, 9])
    convention = {"rank_gaps": rank_gaps}
    report = exactk.evaluate([[5]], lists, "mrr", candidates=[3, 5], convention=convention)
    assert report["mrr"] == 1 / rank
    assert exactk.evaluate([[6]], lists, "mrr", candidates=[6], convention={"rank_gaps": "keep"})["mrr"] == 1 / 6


def test_systems_are_restricted_alike() -> None:
    systems: dict[str, Any] = {"list": [[1, 2]], "scores": [{1: 0.5, 2: 0.25}], "dense": np.array([[0.0, 0.5, 0.25]])}
    comparison = exactk.compare([[2]], systems, "mrr", candidates=[0, 2])
    assert comparison["mrr"] == {"list": 1.0, "scores": 1.0, "dense": 1.0}


@pytest.mark.parametrize(
    ("truth", "predictions", "candidates", "message"),
    [
        ([[1]], [[3, 9, 1, 1]], [1, 9], "predictions: expected each item once "),
        ([[1], [1]], [[1], [-4, 1]], [1], "predictions: expected item ids in [0, 2^63), found -4 at row 1, position 0"),
        ([[1], [2]], [[1], [2]], [[1]], "candidates: expected one entry per user (2), found 1"),
        ([[1]], [[1]], {"a": [1]}, "candidates: expected items for all users or one entry per row, as users have no"),
        ({"a": ["x"]}, {"a": ["x"]}, [["x"]], "candidates: expected user keys, as in the predictions, found rows without"),
        ({"a": ["x"]}, {"a": ["x"]}, {1: ["x"]}, "candidates: expected users of type str, as in the predictions, found"),
        ({"a": ["x"]}, {"a": ["x"]}, [1], "candidates: expected items of type str, as in the predictions, found int;"),
        ({1: [1]}, {1: [1]}, {1: ["x"]}, "candidates: expected items of type int, as in the predictions, found str;"),
        (
            {"a": ["x"], "b": ["y"], "c": ["x"]}, {"a": ["x"], "b": ["y"]}, {"a": ["x"]},
            "candidates: expected candidates of every user with predictions, found none at row 1 (user 'b')",
        ),
        (
            {1: [4]}, pd.DataFrame({"user": [1, 1, 1], "item": [5, 6, 4], "score": [2.0, 1.0, np.nan]}), [4, 6],
            "predictions: expected scores without NaN, found NaN at row 2 of the frame; convention={'nan': 'last'} ranks",
        ),
    ],
    ids=lambda value: value.split(",")[0] if isinstance(value, str) else "",
)  # fmt: skip
def test_errors_name_the_original_positions(truth: Any, predictions: Any, candidates: Any, message: str) -> None:
    error = refusal(lambda module: module.evaluate(truth, predictions, "mrr", candidates=candidates))
    assert str(error).startswith(message)


def test_a_fault_of_an_item_that_is_no_candidate_is_none() -> None:
    scores = exactk.SparseScores([0, 3], [5, 6, 7], [0.5, np.nan, 0.25])
    assert exactk.topk(scores, 2, candidates=[5, 7]).items.tolist() == [[5, 7]]
    with pytest.raises(exactk.InputError, match="found NaN at row 0, position 1"):
        exactk.topk(scores, 2, candidates=[6, 7])


def test_candidates_that_match_nothing_are_warned_of() -> None:
    text = r"^no item of candidates \(such as 8\) is in the predictions \(such as 1\): check that both use the same item ids$"
    with pytest.warns(exactk.EvaluationWarning, match=text):
        assert exactk.evaluate([[1], [2]], [[1], [2]], "mrr", candidates=[8])["mrr"] == 0
    with pytest.warns(exactk.EvaluationWarning, match="system 'b': no item of candidates"):
        exactk.compare([[1]], {"a": [[8, 1]], "b": [[1]]}, "mrr", candidates=[8])


KEYED = {"ann": [1], "bob": [2], "eve": []}


def in_blocks(candidates: Any) -> exactk.Report:
    blocks = (({key: row}, {key: row}) for key, row in KEYED.items())
    return exactk.evaluate(None, blocks, "mrr", candidates=candidates)


def in_batches(order: list[tuple[str, int]], candidates: Any) -> exactk.Report:
    rows = [{"user": user, "item": item, "rank": rank} for rank, (user, item) in enumerate(order)]
    batches = exactk.Batches(lambda: (pd.DataFrame([row]) for row in rows))
    return exactk.evaluate(KEYED, batches, "mrr", candidates=candidates)


def in_updates(candidates: Any) -> exactk.Report:
    evaluators = [exactk.Evaluator("mrr") for _ in KEYED]
    for evaluator, (key, row) in zip(evaluators, KEYED.items(), strict=True):
        evaluator.update({key: row}, {key: row}, candidates=candidates)
        if evaluator is not evaluators[0]:
            evaluators[0].merge(pickle.loads(pickle.dumps(evaluator)))  # noqa: S301 - our own
    return evaluators[0].compute()


@pytest.mark.parametrize("evaluate", [
    in_blocks, partial(in_batches, [("ann", 1), ("ann", 3), ("bob", 2)]),
    partial(in_batches, [("ann", 1), ("bob", 2), ("ann", 3)]), in_updates,
], ids=["blocks", "batches", "batches of rows in any order", "updates"])  # fmt: skip
def test_users_who_come_some_at_a_time_are_warned_of_likewise(evaluate: Any) -> None:
    with pytest.warns(exactk.EvaluationWarning, match="^no item of candidates"):
        assert evaluate([8])["mrr"] == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert evaluate([2])["mrr"] == 0.5
    assert not any("no item of candidates" in str(one.message) for one in caught)
