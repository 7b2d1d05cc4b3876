"""Dicts of dicts from queries to documents with numbers, in the order in which ranx keeps them.

Queries are in ascending order, and their documents in descending order of their numbers. Ties keep their order in rows
of up to 15 documents. In longer rows, they are in the order of the quicksort of Numba, which ranx sorts with: it is not
stable, but a function of the numbers alone.
"""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sized

    from numpy.typing import NDArray

Number = TypeVar("Number", int, float)


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
    order = falling_order(flat_values(rows, indptr[-1]), np.diff(indptr)).tolist()
    return {
        query: _permuted(row, order[begin:end])
        for query, row, begin, end in zip(queries, rows, indptr, indptr[1:], strict=False)
    }


def _permuted(row: dict[Any, Number], order: list[int]) -> dict[Any, Number]:
    pairs = list(row.items())
    return dict(map(pairs.__getitem__, order))


def falling_order(numbers: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of each row's numbers, as positions in the row."""
    opposite: NDArray[np.float64] = -numbers
    return _core.quicksort_order(opposite, lengths)


def reversed_rising_order(numbers: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the reverse of the ascending order of each row's numbers, as positions in all rows: that of plain dicts."""
    lengths = np.diff(indptr)
    starts = np.repeat(indptr[:-1], lengths)
    reverse = starts + np.repeat(indptr[1:], lengths) - 1 - np.arange(len(numbers))
    reversed_order: NDArray[np.int64] = _core.quicksort_order(numbers, lengths)[reverse] + starts
    return reversed_order
