"""The order of Numba's quicksort, by which `exactk.compat.ranx` ranks documents."""

from __future__ import annotations

import numpy as np
import pytest

from exactk import InputError, _core


def order_of(*rows: list[float]) -> list[list[int]]:
    """Return the order of each row."""
    lengths = np.array([len(row) for row in rows], np.int64)
    order = _core.quicksort_order(np.array([number for row in rows for number in row], np.float64), lengths)
    return [part.tolist() for part in np.split(order, np.cumsum(lengths)[:-1])]


def test_ties_are_left_as_numba_leaves_them() -> None:
    assert order_of([0.0] * 16) == [[14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15]]
    assert order_of([float(i * 7 % 5) for i in range(24)]) == [
        [0, 20, 15, 5, 10, 18, 13, 8, 23, 3, 6, 11, 16, 1, 21, 9, 4, 14, 19, 12, 17, 2, 22, 7]
    ]


def test_short_rows_keep_the_order_of_ties() -> None:
    assert order_of([2, 1, 2, 1, 1]) == [[1, 3, 4, 0, 2]]
    assert order_of([1, 0], [], [3, 3, 2]) == [[1, 0], [], [2, 0, 1]]
    assert order_of([]) == [[]]


def test_numbers_ascend_and_nan_is_last() -> None:
    random = np.random.default_rng(3)
    for distinct in (1, 2, 20, 100_000):
        for size in (15, 16, 17, 100, 3000):
            numbers = random.integers(distinct, size=size).astype(np.float64)
            numbers[size // 2] = np.nan
            (order,) = order_of([0.0], numbers.tolist())[1:]
            assert np.isnan(numbers[order[-1]])
            assert (np.diff(numbers[order[:-1]]) >= 0).all()
            assert sorted(order) == list(range(size))


@pytest.mark.parametrize("lengths", [[1], [3], [3, -1], [2**63 - 1, 2]])
def test_f02_lengths_are_those_of_the_numbers(lengths: list[int]) -> None:
    with pytest.raises(InputError, match="lengths"):
        _core.quicksort_order(np.array([1.0, 2.0]), np.array(lengths, np.int64))
