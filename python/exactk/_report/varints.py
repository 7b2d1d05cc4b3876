"""Integers below 2^64 as bytes: seven bits per byte, the lowest first; the highest bit says that more bytes follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BYTES = 10
_LOW, _MORE = 0x7F, 0x80


def write_varints(integers: NDArray[np.int64] | NDArray[np.uint64]) -> bytes:
    """Return the integers as bytes; negative ones as they are modulo 2^64."""
    values = integers.astype(np.uint64)
    sizes = np.ones(len(values), np.int64)
    for size in range(1, _MOST_BYTES):
        sizes += values >= np.uint64(1 << 7 * size)
    ends = np.cumsum(sizes)
    packed = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    for index in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > index)
        bits = (values[longer] >> np.uint64(7 * index)).astype(np.uint8) & _LOW
        packed[ends[longer] - sizes[longer] + index] = bits | np.where(sizes[longer] > index + 1, _MORE, 0)
    return packed.tobytes()


def read_varints(packed: NDArray[np.uint8], count: int) -> tuple[NDArray[np.uint64], int]:
    """Return so many integers and the number of their bytes; raise ValueError if these are not the bytes of integers."""
    if count > len(packed):
        raise ValueError(f"{count} integers in {len(packed)} bytes")
    if count == 0:
        return np.empty(0, np.uint64), 0
    ends = np.flatnonzero(packed < _MORE)[:count] + 1
    if len(ends) < count:
        raise ValueError(f"{count} integers in bytes of {len(ends)}")
    begins = np.append(0, ends[:-1])
    sizes = ends - begins
    last = packed[ends - 1]
    if sizes.max() > _MOST_BYTES or (last[sizes == _MOST_BYTES] > 1).any() or (last[sizes > 1] == 0).any():
        raise ValueError("an integer of 2^64 or more, or in more bytes than it needs")
    values = np.zeros(count, np.uint64)
    for index in range(int(sizes.max())):
        longer = np.flatnonzero(sizes > index)
        bits = packed[begins[longer] + index] & _LOW
        values[longer] |= bits.astype(np.uint64) << np.uint64(7 * index)
    return values, int(ends[-1])
