"""What the metrics of torchmetrics compute, on arrays: torchmetrics need not be installed."""

from __future__ import annotations

import numpy as np

from exactk.compat import _scored_queries as queries, torchmetrics

RNG = np.random.default_rng(0)
INDEXES = RNG.integers(0, 5, 60)
SCORES = np.array(RNG.permutation(60) / 64, np.float32)
TARGET = RNG.integers(0, 2, 60)
SCORED = queries.ScoredQueries(INDEXES, SCORES, TARGET)


def lists_of_targets(depth: int | None = None) -> list[list[int]]:
    """Return the targets of each query by falling score, by a loop."""
    rows: list[list[int]] = []
    for query in range(5):
        documents = sorted(np.flatnonzero(query == INDEXES), key=lambda document: -SCORES[document])
        rows.append([int(TARGET[document]) for document in documents][:depth])
    return rows


def test_average_precisions_and_reciprocal_ranks() -> None:
    lists = SCORED.ranked(4)
    found = queries.average_precisions(lists, lists.target == 1), queries.reciprocal_ranks(lists, lists.target == 1)
    for row, targets in enumerate(lists_of_targets(4)):
        ranks = [rank for rank, target in enumerate(targets, start=1) if target]
        precisions = [hits / rank for hits, rank in enumerate(ranks, start=1)]
        assert np.isclose(found[0][row], np.mean(precisions) if ranks else 0)
        assert found[1][row] == (1 / ranks[0] if ranks else 0)


def test_hits_down_to_each_rank() -> None:
    found = queries.hits_by_rank(SCORED.ranked(), 6)
    for row, targets in enumerate(lists_of_targets(6)):
        assert found[row].tolist() == np.cumsum(targets + [0] * (6 - len(targets))).tolist()


def test_equal_scores_share_their_gains_and_count_half_in_the_area() -> None:
    scored = queries.ScoredQueries(np.zeros(3, np.int64), np.array([1, 0.5, 0.5], np.float32), np.array([0, 1, 0]))
    discounts = 1 / np.log2([2, 3, 4])
    assert np.allclose(queries.normalized_dcgs(scored.ranked()), (discounts[1] + discounts[2]) / 2)
    assert queries.areas(scored.ranked()).tolist() == [0.25]


def test_what_depends_on_the_order_of_equal_scores_is_told() -> None:
    indexes, scores = np.array([3, 3, 3, 1, 1]), np.array([1, 1, 0, 2, 1], np.float32)
    lists = queries.ScoredQueries(indexes, scores, np.array([0, 1, 1, 1, 0])).ranked()
    assert lists.depends_on_order(lists.target).tolist() == [False, True]
    assert lists.depends_on_cut(lists.target, np.array([1, 1])).tolist() == [False, True]
    assert lists.depends_on_cut(lists.target, np.array([1, 2])).tolist() == [False, False]


def test_scores_that_are_no_numbers_are_told() -> None:
    scored = queries.ScoredQueries(np.array([0, 1]), np.array([np.nan, 1], np.float32), np.ones(2))
    assert scored.has_nan.tolist() == [True, False]


def test_the_module_lists_its_classes_without_the_library() -> None:
    assert set(torchmetrics.CLASSES) < set(dir(torchmetrics))
