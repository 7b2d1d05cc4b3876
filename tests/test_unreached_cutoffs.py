"""Cutoffs that no list reaches are reported once per call."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import exactk

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["recall@100", "P@100", "ndcg@2"]
MESSAGE = "no list is longer than 2, so the hits at 100 are those at 2; P@100 still divides by 100"
TRUTH = [[1], [0]]
FRAME = pd.DataFrame({"user": [0, 0, 1], "item": [1, 2, 0], "score": [2.0, 1.0, 1.0]})
KEYED_TRUTH = {0: [1], 1: [0]}


def messages(evaluate: Callable[[], object]) -> list[str]:
    """Return what is warned of cutoffs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate()
    assert all(issubclass(one.category, exactk.EvaluationWarning) for one in caught)
    return [str(one.message) for one in caught if "is longer than" in str(one.message)]


@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
@pytest.mark.parametrize(
    "predictions",
    [
        [[1, 2], [0]],
        np.array([[0.1, 0.2], [0.3, 0.4]]),
        exactk.Scores(np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.1]]), min_score=0.2),
        sp.csr_array(np.array([[0.1, 0.2, 0.0], [0.3, 0.0, 0.0]])),
        exactk.Embeddings(np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])),
    ],
    ids=["lists", "scores", "scores from a least one", "sparse scores", "embeddings"],
)
def test_f68_cutoffs_that_no_list_reaches(evaluate: Callable[..., exactk.Report], predictions: Any) -> None:
    def call() -> None:
        report = evaluate(TRUTH, predictions, METRICS)
        assert report.counts["longest_list"] == 2
        assert report["recall@100"] == evaluate(TRUTH, predictions, "recall@2")["recall@2"]

    assert messages(call) == [MESSAGE]


def test_f68_a_list_that_reaches_the_cutoff_is_enough() -> None:
    lists = [list(range(100)), [0]]
    assert not messages(lambda: exactk.evaluate(TRUTH, lists, METRICS))
    assert not messages(lambda: exactk.evaluate(TRUTH, [[1], [0]], ["recall", "mrr", "recall@1"]))


def test_f68_excluded_items_are_not_in_lists() -> None:
    lists = [list(range(100)), []]
    (message,) = messages(lambda: exactk.evaluate(TRUTH, lists, "recall@100", exclude=[[5], []]))
    assert message.startswith("no list is longer than 99, so the hits at 100 are those at 99")


def test_f68_lists_of_users_outside_the_truth_count_as_they_do_for_the_values() -> None:
    frame = pd.DataFrame({"user": ["b", "b", "b", "a"], "item": [1, 2, 3, 1], "rank": [1, 2, 3, 1]})
    assert exactk.evaluate({"a": [1]}, frame, "recall@3").counts["longest_list"] == 3


def test_f68_what_a_metric_divides_by_is_told_where_it_is_the_cutoff() -> None:
    (message,) = messages(lambda: exactk.evaluate([[1]], [[1, 2]], ["recall@5", "recall@[9,7,8]"]))
    assert message.endswith("the hits at 5, 7, 8 and 1 more are those at 2")
    over_list = {"precision_over": "list"}
    (message,) = messages(lambda: exactk.evaluate([[1]], [[1, 2]], "P@5", convention=over_list))
    assert message.endswith("so the hits at 5 are those at 2")


def test_f68_blocks_and_batches_say_it_once_of_the_longest_list_of_all() -> None:
    blocks = [([[1]], [[1, 2]]), ([[0]], [[0]])]
    assert messages(lambda: exactk.evaluate(None, iter(blocks), METRICS)) == [MESSAGE]
    long_block = ([[7]], [list(range(100))])
    assert not messages(lambda: exactk.evaluate(None, iter([*blocks, long_block]), METRICS))
    batches = exactk.Batches(lambda: (FRAME[i : i + 1] for i in range(3)))
    assert messages(lambda: exactk.evaluate(KEYED_TRUTH, batches, METRICS)) == [MESSAGE]


def test_f68_merged_states_say_the_same() -> None:
    parts = [exactk.evaluate(TRUTH[i : i + 1], [[[1, 2], [0]][i]], METRICS) for i in range(2)]
    assert messages(lambda: exactk.merge(parts)) == [MESSAGE]
    assert messages(lambda: exactk.merge([exactk.State.from_bytes(part.state.to_bytes()) for part in parts])) == [
        MESSAGE
    ]
    assert exactk.merge(parts) == exactk.evaluate(TRUTH, [[1, 2], [0]], METRICS)
    parts.append(exactk.evaluate([[7]], [list(range(100))], METRICS))
    assert not messages(lambda: exactk.merge(parts))


def test_f68_systems_are_named_where_they_differ() -> None:
    short, long = [[1, 2], [0]], [list(range(100)), []]
    assert messages(lambda: exactk.compare(TRUTH, {"a": short, "b": short}, METRICS)) == [f"all systems: {MESSAGE}"]
    assert messages(lambda: exactk.compare(TRUTH, {"a": short, "b": long}, METRICS)) == [f"system 'a': {MESSAGE}"]
