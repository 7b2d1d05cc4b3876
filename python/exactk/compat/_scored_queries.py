"""Scored documents of queries, as flat arrays, and values of each query: what the metrics of torchmetrics compute.

`Retrieved` also tells for which queries the order of equal scores would change a value.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk.compat._trec_queries import falling_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


class ScoredQueries:
    """The documents of the queries, by ascending index of the query, those of a query in the order given."""

    def __init__(self, indexes: Integers, scores: NDArray[np.float32], target: NDArray[Any]) -> None:
        if (indexes[1:] < indexes[:-1]).any():
            order = np.argsort(indexes, kind="stable")
            indexes, scores, target = indexes[order], scores[order], target[order]
        starts = np.flatnonzero(np.concatenate([[True], indexes[1:] != indexes[:-1]]))
        self.scores, self.target = scores, target
        self.offsets = np.append(starts, len(indexes))
        self.lengths = np.diff(self.offsets)

    @cached_property
    def has_nan(self) -> Flags:
        """Which queries have a score that is not a number."""
        flags: Flags = np.logical_or.reduceat(np.isnan(self.scores), self.offsets[:-1])
        return flags

    def sums(self, values: NDArray[Any]) -> Numbers:
        """Return the sum of each query."""
        return np.add.reduceat(values.astype(np.float64), self.offsets[:-1])

    def slices(self, is_asked: Flags) -> list[tuple[int, slice]]:
        """Return the queries that are asked for, and where their documents are."""
        return [(int(row), slice(*self.offsets[row : row + 2].tolist())) for row in np.flatnonzero(is_asked)]

    def ranked(self, depth: int | None = None) -> Retrieved:
        """Return the documents ordered by falling score within each query, down to a depth."""
        return Retrieved(self, depth)


class Retrieved:
    """The documents of queries by falling score, with equal scores next to each other."""

    def __init__(self, queries: ScoredQueries, depth: int | None) -> None:
        self.queries, self.depth = queries, depth
        self.rows = np.repeat(np.arange(len(queries.lengths)), queries.lengths)
        self.ranks = np.arange(len(self.rows)) - queries.offsets[self.rows]
        self.order = _order(self.rows, self.ranks, queries.scores)
        self.scores, self.target = queries.scores[self.order], queries.target[self.order]

    @cached_property
    def depths(self) -> Integers:
        """How many documents of each query count: at most as many as it has."""
        lengths = self.queries.lengths
        return lengths if self.depth is None else np.minimum(lengths, self.depth)

    def within(self, depths: Integers) -> Flags:
        """Return which documents are above a rank of their query."""
        flags: Flags = self.ranks < depths[self.rows]
        return flags

    @cached_property
    def starts_run(self) -> Flags:
        """Which documents have another score than the one before."""
        is_first = np.ones(len(self.rows), np.bool_)
        is_first[1:] = (self.scores[1:] != self.scores[:-1]) | (self.rows[1:] != self.rows[:-1])
        return is_first

    def is_mixed(self, target: NDArray[Any]) -> Flags:
        """Return which documents are in a run of equal scores whose targets, 0 or 1, differ."""
        starts = np.flatnonzero(self.starts_run)
        ones = np.add.reduceat(target.astype(np.int64), starts)
        lengths = np.diff(np.append(starts, len(target)))
        return np.repeat((ones > 0) & (ones < lengths), lengths)

    def depends_on_order(self, target: NDArray[Any]) -> Flags:
        """Return for which queries documents that count have equal scores and other targets."""
        return self.any(self.is_mixed(target) & self.within(self.depths))

    def depends_on_first(self, hits: Flags) -> Flags:
        """Return for which queries the first hit that counts has a score that documents without a hit have too."""
        is_first = hits & self.within(self.depths) & (self.hits_so_far(hits) == 1)
        return self.any(self.is_mixed(hits) & is_first)

    def depends_on_cut(self, target: NDArray[Any], depths: Integers) -> Flags:
        """Return for which queries a depth parts documents of equal scores and other targets."""
        is_cut = (depths > 0) & (depths < self.queries.lengths)
        after = np.where(is_cut, self.queries.offsets[:-1] + depths, 0)
        cuts: Flags = is_cut & ~self.starts_run[after] & self.is_mixed(target)[after]
        return cuts

    def any(self, flags: Flags) -> Flags:
        """Return for which queries a flag is set."""
        return np.logical_or.reduceat(flags, self.queries.offsets[:-1])

    def hits_so_far(self, hits: Flags) -> Integers:
        """Return the hits of each query down to each rank."""
        counts = np.cumsum(hits, dtype=np.int64)
        before = np.concatenate([[0], counts])[self.queries.offsets[:-1]]
        above: Integers = counts - before[self.rows]
        return above


def _order(rows: Integers, positions: Integers, scores: NDArray[np.float32]) -> Integers:
    """Return the order by row and falling score; equal scores stay in the order given."""
    keys = rows.astype(np.uint64) << np.uint64(32) | falling_bits(scores)
    if (keys[1:] >= keys[:-1]).all():
        return np.arange(len(rows))
    bits = int(positions.max()).bit_length()
    if int(rows[-1]).bit_length() + 32 + bits > 64:  # bits of a key
        return np.argsort(keys, kind="stable")
    keys = keys << np.uint64(bits) | positions.astype(np.uint64)
    keys.sort()  # faster than argsort
    starts = np.arange(len(rows)) - positions
    return starts + (keys & np.uint64((1 << bits) - 1)).astype(np.int64)


# The core has the values below, by the preset of torchmetrics. As documents are ranked here for the sake of their ties, it
# would take longer to give it them: up to twice as long with hits, and three times with scores.


def sum_above(lists: Retrieved, gains: NDArray[Any], depths: Integers) -> Numbers:
    """Return the sum of the gains above a rank."""
    return lists.queries.sums(np.where(lists.within(depths), gains, 0))


def average_precisions(lists: Retrieved, hits: Flags) -> Numbers:
    """Return the mean of the precisions at the hits; 0 without one."""
    hits = hits & lists.within(lists.depths)
    precisions = np.where(hits, lists.hits_so_far(hits) / (lists.ranks + 1), 0)
    return lists.queries.sums(precisions) / np.maximum(lists.queries.sums(hits), 1)


def reciprocal_ranks(lists: Retrieved, hits: Flags) -> Numbers:
    """Return 1 divided by the rank of the first hit; 0 without one."""
    hits = hits & lists.within(lists.depths)
    return np.maximum.reduceat(np.where(hits, 1 / (lists.ranks + 1), 0), lists.queries.offsets[:-1])


def normalized_dcgs(lists: Retrieved) -> Numbers:
    """Return DCG, whose equal scores share their gains, divided by the ideal one; 0 where that is 0."""
    gains = lists.target.astype(np.float64)
    discounts = np.where(lists.within(lists.depths), 1 / np.log2(lists.ranks + 2.0), 0)
    starts = np.flatnonzero(lists.starts_run)
    lengths = np.diff(np.append(starts, len(gains)))
    shared = np.repeat(np.add.reduceat(gains, starts) / lengths, lengths)
    best = _order(lists.rows, lists.ranks, lists.queries.target.astype(np.float32))
    ideal = lists.queries.sums(discounts * lists.queries.target[best])
    values = lists.queries.sums(discounts * shared)
    return np.divide(values, ideal, out=np.zeros_like(values), where=ideal != 0)


def areas(lists: Retrieved) -> Numbers:
    """Return the area under the ROC curve of the documents that count; 0 without hits or without others."""
    is_counted = lists.within(lists.depths)
    hits, others = is_counted & (lists.target == 1), is_counted & (lists.target == 0)
    starts = np.flatnonzero(lists.starts_run)
    lengths = np.diff(np.append(starts, len(hits)))
    in_run = np.repeat(np.add.reduceat(hits.astype(np.int64), starts), lengths)
    above = np.repeat((lists.hits_so_far(hits) - hits)[starts], lengths)
    pairs = lists.queries.sums(np.where(others, above + in_run / 2, 0))
    return pairs / np.maximum(lists.queries.sums(hits) * lists.queries.sums(others), 1)


def hits_by_rank(lists: Retrieved, depth: int) -> Numbers:
    """Return the hits of each query down to each rank: queries x ranks."""
    is_counted = lists.ranks < depth
    hits = np.zeros((len(lists.queries.lengths), depth))
    hits[lists.rows[is_counted], lists.ranks[is_counted]] = lists.target[is_counted]
    counts: Numbers = np.cumsum(hits, axis=1)
    return counts
