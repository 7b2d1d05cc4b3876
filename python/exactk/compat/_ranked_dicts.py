"""Dicts of dicts from queries to documents with numbers, in the order in which ranx keeps them.

Queries are in ascending order, and their documents in descending order of their numbers. Ties keep their order in rows
of up to 15 documents. In longer rows, they are in the order of the quicksort of Numba, which ranx sorts with: it is not
stable, but a function of the numbers alone.
"""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Sized

    from numpy.typing import NDArray

Number = TypeVar("Number", int, float)

_SHORT = 15  # ranges with at most as many numbers are sorted by insertion


def offsets_of(rows: Iterable[Sized]) -> NDArray[np.int64]:
    """Return the offsets of rows one after another."""
    return np.array([0, *accumulate(map(len, rows))], np.int64)


def flat_values(rows: Iterable[Mapping[Any, float]], count: int) -> NDArray[np.float64]:
    """Return the numbers of all rows."""
    return np.fromiter(chain.from_iterable(row.values() for row in rows), np.float64, count)


def in_order(entries: Mapping[Any, dict[Any, Number]]) -> dict[Any, dict[Any, Number]]:
    """Return the queries in ascending order, and their documents in descending order of their numbers."""
    queries = sorted(entries)
    rows = [entries[query] for query in queries]
    indptr = offsets_of(rows)
    order = falling_order(flat_values(rows, indptr[-1]), indptr)
    if order is None:
        return {query: dict(row) for query, row in zip(queries, rows, strict=True)}
    return {
        query: _permuted(row, order[begin:end])
        for query, row, begin, end in zip(queries, rows, indptr, indptr[1:], strict=False)
    }


def _permuted(row: dict[Any, Number], order: NDArray[np.int64]) -> dict[Any, Number]:
    pairs = list(row.items())
    return dict(map(pairs.__getitem__, order.tolist()))


def falling_order(numbers: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the order of each row's numbers, as positions in the row; None if rows are in this order already."""
    opposite: NDArray[np.float64] = -numbers
    return _rising_order(opposite, indptr)


def reversed_rising_order(numbers: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the reverse of the ascending order of each row's numbers, as positions in all rows: that of plain dicts."""
    order, lengths = _rising_order(numbers, indptr), np.diff(indptr)
    starts = np.repeat(indptr[:-1], lengths)
    positions = np.arange(len(numbers)) - starts
    reverse = np.repeat(lengths, lengths) - 1 - positions
    reversed_order: NDArray[np.int64] = (positions if order is None else order)[reverse + starts] + starts
    return reversed_order


def _rising_order(numbers: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the order of each row, NaN last; None if all rows are in this order already."""
    lengths = np.diff(indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    is_within = rows[1:] == rows[:-1]
    is_nan = np.isnan(numbers)
    falls = (numbers[1:] < numbers[:-1]) | (is_nan[:-1] & ~is_nan[1:])
    is_sorted = not (falls & is_within).any()
    order = np.arange(len(numbers)) if is_sorted else np.lexsort((numbers, rows))
    ranked, ranked_nan = numbers[order], is_nan[order]
    is_tied = ((ranked[1:] == ranked[:-1]) | (ranked_nan[1:] & ranked_nan[:-1])) & is_within
    tied_rows = np.unique(rows[1:][is_tied])
    tied_rows = tied_rows[lengths[tied_rows] > _SHORT]
    if is_sorted and not len(tied_rows):
        return None
    ranks = np.concatenate([[0], np.cumsum(~is_tied)])  # the same of ties
    order -= np.repeat(indptr[:-1], lengths)
    for row in tied_rows.tolist():
        within = slice(indptr[row], indptr[row + 1])
        rank_of = np.empty(lengths[row], np.int64)
        rank_of[order[within]] = ranks[within]
        order[within] = quicksort_order(rank_of.tolist())
    return order


def quicksort_order(numbers: Sequence[int]) -> list[int]:
    """Return the positions of the numbers in ascending order, with ties as Numba's argsort leaves them."""
    order = list(range(len(numbers)))
    ranges = [(0, len(order) - 1)]
    while ranges:
        low, high = ranges.pop()
        while high - low >= _SHORT:
            pivot = _partition(numbers, order, low, high)
            if high - pivot > pivot - low:
                ranges.append((pivot + 1, high))
                high = pivot - 1
            else:
                ranges.append((low, pivot - 1))
                low = pivot + 1
        order[low : high + 1] = sorted(order[low : high + 1], key=numbers.__getitem__)
    return order


def _partition(numbers: Sequence[int], order: list[int], low: int, high: int) -> int:
    """Put smaller numbers before the median of the first, middle and last one, larger ones after it, and return its position."""
    middle = (low + high) >> 1
    for one, other in ((low, middle), (middle, high), (low, middle)):
        if numbers[order[other]] < numbers[order[one]]:
            order[one], order[other] = order[other], order[one]
    pivot = numbers[order[middle]]
    order[high], order[middle] = order[middle], order[high]
    left, right = low, high - 1
    while True:
        while left < high and numbers[order[left]] < pivot:
            left += 1
        while right >= low and pivot < numbers[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
        left, right = left + 1, right - 1
    order[left], order[high] = order[high], order[left]
    return left
