"""Similarity of the items of recommended lists, to each other and to the items that their users had."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from exactk.compat._pairs import Matches, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from exactk.compat._pairs import Integers

Floats = np.ndarray[Any, np.dtype[np.float64]]

_CELLS = 1 << 22  # of a block of counts, and of the pairs counted at once


class Similarity(Protocol):
    """The similarity of items, by their codes."""

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the similarity of each pair; 0 where there is none."""


class CooccurrenceSimilarity:
    """Rows of users who have both items, over the geometric mean of the rows of each."""

    def __init__(self, users: Integers, items: Integers, item_count: int) -> None:
        order = np.argsort(users, kind="stable")
        self._users, self._items = users[order], items[order]
        sizes = np.bincount(users)
        self._sizes, self._begins = sizes, np.cumsum(sizes) - sizes
        self._roots = np.sqrt(np.bincount(items, minlength=item_count))

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the similarity of each pair, by blocks of the items of the first column."""
        rows, row_codes = np.unique(one, return_inverse=True)
        columns, column_codes = np.unique(other, return_inverse=True)
        order = np.argsort(row_codes, kind="stable")
        block_rows = max(1, _CELLS // max(1, len(columns)))
        edges = np.searchsorted(row_codes[order], np.arange(0, len(rows) + block_rows, block_rows))
        counts = np.zeros(len(one))
        for begin, pairs in zip(range(0, len(rows), block_rows), pairwise(edges), strict=False):
            of_block = order[slice(*pairs)]
            table = self._count_block(rows[begin : begin + block_rows], columns)
            counts[of_block] = table[row_codes[of_block] - begin, column_codes[of_block]]
        roots = self._roots[one] * self._roots[other]
        similarities: Floats = np.divide(counts, roots, out=np.zeros(len(one)), where=roots > 0)
        return similarities

    def _count_block(self, rows: Integers, columns: Integers) -> Integers:
        """Return how often users have an item of the rows and one of the columns."""
        row_of, column_of = self._positions(rows), self._positions(columns)
        having = np.flatnonzero(row_of[self._items] >= 0)
        users = self._users[having]
        width = len(columns)
        table = np.zeros(len(rows) * width, np.int64)
        for chunk in chunks_of(self._sizes[users], _CELLS):
            sizes = self._sizes[users[chunk]]
            beside = column_of[self._items[ranges(self._begins[users[chunk]], sizes)]]
            cells = np.repeat(row_of[self._items[having[chunk]]], sizes) * width + beside
            table += np.bincount(cells[beside >= 0], minlength=len(table))
        return table.reshape(len(rows), width)

    def _positions(self, items: Integers) -> Integers:
        positions = np.full(len(self._roots), -1, np.int64)
        positions[items] = np.arange(len(items))
        return positions


class FeatureSimilarity:
    """The cosine of the vectors of two items."""

    def __init__(self, items: Integers, vectors: Sequence[NDArray[Any]], item_count: int) -> None:
        self._vectors = np.stack(vectors) if len(vectors) else np.zeros((0, 1))
        norms = np.sqrt(np.einsum("ij,ij->i", self._vectors, self._vectors, dtype=np.float64))
        if (norms == 0).any():
            message = "float division by zero"
            raise ZeroDivisionError(message)
        self._norms, self._row_of = norms, np.full(item_count, -1, np.int64)
        self._row_of[items] = np.arange(len(items))

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the cosine of each pair; 0 if an item has no vector, or one with NaN."""
        cosines = np.zeros(len(one))
        first, second = self._row_of[one], self._row_of[other]
        having = np.flatnonzero((first >= 0) & (second >= 0))
        step = max(1, _CELLS // self._vectors.shape[1])
        for begin in range(0, len(having), step):
            chunk = having[begin : begin + step]
            left, right = first[chunk], second[chunk]
            products = np.einsum("ij,ij->i", self._vectors[left], self._vectors[right], dtype=np.float64)
            cosines[chunk] = products / (self._norms[left] * self._norms[right])
        return np.nan_to_num(cosines, nan=0)


def chunks_of(sizes: Integers, most: int) -> Iterator[slice]:
    """Return slices of entries whose sizes sum to about so much."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    edges = np.unique([*np.searchsorted(ends, np.arange(0, total, most)), len(sizes)])
    return (slice(begin, end) for begin, end in pairwise(edges.tolist()))


def pairs_within(users: Integers, items: Integers) -> Matches:
    """Return the pairs of rows of one user that have different items, each once."""
    order = np.argsort(users, kind="stable")
    ends = np.cumsum(np.bincount(users))[users[order]]
    begins = np.arange(1, len(order) + 1)
    one, other = np.repeat(order, ends - begins), order[ranges(begins, ends - begins)]
    is_different = items[one] != items[other]
    return Matches(one[is_different], other[is_different])


def group_means(groups: Integers, values: Floats, count: int) -> Floats:
    """Return the mean of each group; NaN of an empty one."""
    sizes = np.bincount(groups, minlength=count)
    sums = np.bincount(groups, values, count)
    means: Floats = np.divide(sums, sizes, out=np.full(count, np.nan), where=sizes > 0)
    return means
