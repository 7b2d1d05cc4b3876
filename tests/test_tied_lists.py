"""Ties of scores in the lists that metrics read: whose items the order of ties decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import exactk
from refusals import refused

ENGINES = {"core": exactk.evaluate, "reference": exactk.reference.evaluate}
SET_METRICS = ["novelty", "arp", "coverage", "gini"]
RANK_METRICS = ["epc", "exposure"]


def evaluate(engine: str, scores: np.ndarray[Any, Any], metrics: list[str], **options: Any) -> exactk.Report:
    items = exactk.Items(scores.shape[1], train=[[0, 1, 2], [0, 1], [0]], item_groups={0: "a", 1: "b"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = [[user % scores.shape[1]] for user in range(len(scores))]
        return ENGINES[engine](truth, exactk.Scores(scores), metrics, items=items, **options)


def best(row: np.ndarray[Any, Any], k: int, *, highest_id: bool) -> list[int]:
    sign = -1 if highest_id else 1
    return sorted(range(len(row)), key=lambda item: (-row[item], sign * item))[:k]


@st.composite
def tied_scores(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    shape = draw(st.integers(1, 6)), draw(st.integers(3, 9))
    cells = draw(st.lists(st.integers(0, 4), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(cells, draw(st.sampled_from([np.float32, np.float64, np.int64]))).reshape(shape)


@given(tied_scores(), st.integers(1, 10), st.sampled_from(["lowest_id", "highest_id"]))
def test_users_whose_items_depend_on_the_order_are_counted(scores: np.ndarray[Any, Any], k: int, ties: str) -> None:
    orders = [[best(row, k, highest_id=highest) for highest in (False, True)] for row in scores]
    other_items = sum(set(one) != set(other) for one, other in orders)
    other_ranks = sum(one != other for one, other in orders)
    expected = {f"{metric}@{k}": other_items for metric in SET_METRICS} | {
        f"{metric}@{k}": other_ranks for metric in RANK_METRICS
    }
    for engine in ENGINES:
        report = evaluate(engine, scores, list(expected), convention={"ties": ties})
        assert report.counts["tie_dependent"] == expected


@given(tied_scores(), st.integers(1, 10), st.sampled_from(["novelty", "coverage", "epc", "exposure"]))
def test_ties_are_refused_down_to_the_cutoff(scores: np.ndarray[Any, Any], k: int, metric: str) -> None:
    tied = [user for user, row in enumerate(scores) if best(row, k, highest_id=False) != best(row, k, highest_id=True)]
    for engine in ENGINES:
        if not tied:
            evaluate(engine, scores, [f"{metric}@{k}(ties=raise)"])
            continue
        with refused("predictions: tie in a list", "no tie in a list that a metric reads") as error:
            evaluate(engine, scores, [f"{metric}@{k}(ties=raise)"])
        assert (error.value.fault.row, error.value.fault.count) == (tied[0], len(tied))


def test_a_warning_names_another_order() -> None:
    scores = exactk.Scores(np.ones((3, 4)))
    with pytest.warns(exactk.EvaluationWarning, match="may change novelty@2 for 3 of 3 users .*ties='highest_id'"):
        exactk.evaluate([[0], [1], [2]], scores, ["novelty@2"], items=[[0, 1], [0, 3]])
    with pytest.warns(
        exactk.EvaluationWarning, match=r"may change coverage@2\(ties=highest_id\) for 3 of 3 users .*ties='lowest_id'"
    ):
        exactk.evaluate([[0], [1], [2]], scores, ["coverage@2(ties=highest_id)"], items=[[0, 1], [0, 3], [2]])


def test_lists_and_whole_rankings_do_not_depend_on_ties() -> None:
    scores = np.ones((2, 3))
    assert evaluate("core", scores, ["novelty", "coverage"]).counts["tie_dependent"] == {"novelty": 0, "coverage": 0}
    report = exactk.evaluate([[0], [1]], [[0, 1], [1, 0]], ["novelty@1"], items=[[0, 1]])
    assert "tie_dependent" not in report.counts
