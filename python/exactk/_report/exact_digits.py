"""Columns of exact integers as arrays of digits, which NumPy adds without making Python's integers.

A digit counts a power of 2^32. Digits have room for what they exceed their base by: it is carried when they are read.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BITS = 32
_MASK = (1 << _BITS) - 1

MOST_ADDITIONS = 2**29
"""Of trimmed digits, which are below 2^33 in magnitude, that int64 has room for, with a bit to spare."""


_MOST_DIVISOR = 2**31 - 1  # of which a remainder, with one more digit, fits 63 bits
_MOST_SCALE = 900  # with which no quotient is below the normal doubles


class DigitRange(NamedTuple):
    """Which digits a column has."""

    lowest: int  # the exponent of the first one's power
    size: int

    @property
    def end(self) -> int:
        """The exponent after the last one's."""
        return self.lowest + self.size

    def union(self, other: DigitRange) -> DigitRange:
        """Return a range of the digits of both."""
        if not (self.size and other.size):
            return self if self.size else other
        lowest = min(self.lowest, other.lowest)
        return DigitRange(lowest, max(self.end, other.end) - lowest)


class DigitColumn(NamedTuple):
    """One integer per row."""

    lowest: int  # the exponent of the first digit's power
    digits: NDArray[np.int64]  # rows x digits, least significant first

    @classmethod
    def of_integers(cls, integers: Sequence[int]) -> DigitColumn:
        """Return the column of some integers."""
        bits = reduce(or_, integers, 0)
        lowest = max(0, (bits & -bits).bit_length() - 1) // _BITS
        size = max(map(int.bit_length, integers), default=0) // _BITS + 1 - lowest
        data = b"".join([(one >> _BITS * lowest).to_bytes(4 * size, "little", signed=True) for one in integers])
        digits = np.frombuffer(data, np.dtype("<u4")).reshape(-1, size).astype(np.int64)
        digits[:, -1] = digits[:, -1].astype(np.uint32).view(np.int32)
        return cls(lowest, digits)

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> DigitColumn:
        """Return the column of some counts below 2^63."""
        return cls(0, np.stack([counts & _MASK, counts >> _BITS], axis=1))

    def trimmed(self, block: int) -> DigitColumn:
        """Return the column without zeros and signs at both ends, in blocks of so many digits, of any carried digits.

        Equal integers have equal digits then: below 2^32, except for the last digit, which also has the sign.
        """
        rows, width = self.digits.shape
        bits = _bits_by_column(self.digits)
        if not bits.any():
            return DigitColumn(0, np.zeros((rows, 0), np.int64))
        signs = self.digits[:, -1:] >> 63 if bits[-1] < 0 else np.zeros((1, 1), np.int64)
        differences = _bits_by_column(self.digits ^ (signs & _MASK)) if signs.any() else bits.copy()
        differences[-1] = np.any(self.digits[:, -1:] != signs)
        used, significant = np.flatnonzero(bits), np.flatnonzero(differences)
        begin = (self.lowest + int(used[0])) // block * block - self.lowest
        end = self.lowest + (int(significant[-1]) + 1 if len(significant) else 1)
        end = max(-(-end // block) * block - self.lowest, begin + 1)
        digits = np.empty((rows, end - begin), np.int64)
        digits[:] = signs & _MASK
        digits[:, : max(0, -begin)] = 0
        copied = slice(max(0, begin), min(end, width))
        digits[:, copied.start - begin : copied.stop - begin] = self.digits[:, copied] & _MASK
        digits[:, -1:] += signs << _BITS
        return DigitColumn(self.lowest + begin, digits)

    def carried(self) -> DigitColumn:
        """Return the same integers with digits below 2^32, and the sign as the last digit."""
        rows, width = self.digits.shape
        digits = np.zeros((rows, width + 2), np.int64)
        digits[:, :width] = self.digits
        for column in range(width + 1):
            digits[:, column + 1] += digits[:, column] >> _BITS
            digits[:, column] &= _MASK
        return DigitColumn(self.lowest, digits)

    def over(self, divisors: NDArray[np.int64], scale: int) -> NDArray[np.float64] | None:
        """Return each integer over its divisor and over 2^scale, rounded once; a divisor of 0 counts as 1.

        Digits are trimmed. None if an integer is negative, or a number could be too small for that way to round it.
        """
        rows, width = self.digits.shape
        if not rows or not width:
            return np.zeros(rows)
        if self.digits.min() < 0 or divisors.max() > _MOST_DIVISOR or scale - _BITS * self.lowest > _MOST_SCALE:
            return None
        # Long division. Three digits more, as the first digit of a quotient may be the first after the point.
        quotients, remainders = np.zeros((rows, width + 4), np.uint64), np.zeros(rows, np.uint64)
        divisors = np.where(divisors > 0, divisors, 1).astype(np.uint64)
        for position in range(width + 3):
            remainders <<= np.uint64(_BITS)
            if position < width:
                remainders |= self.digits[:, width - 1 - position].astype(np.uint64)
            quotients[:, position] = remainders // divisors
            remainders -= quotients[:, position] * divisors
        quotients[:, -1] = remainders > 0
        is_positive = quotients.any(axis=1)
        first = np.argmax(quotients > 0, axis=1)
        high, middle, low = (quotients[np.arange(rows), np.minimum(first + i, width + 3)] for i in range(3))
        bits = np.frexp(high.astype(np.float64))[1]
        has_rest = (np.arange(width + 4) > first[:, None] + 2) & (quotients > 0)
        numbers = _rounded((high, middle, low), bits, has_rest.any(axis=1))
        exponents = bits - 63 + _BITS * (width - 1 - first + self.lowest) - scale
        return np.where(is_positive, np.ldexp(numbers, exponents), 0.0)

    def integers(self) -> list[int]:
        """Return the integers, of trimmed digits."""
        rows, width = self.digits.shape
        if width <= 1 and not self.lowest:
            return self.digits[:, 0].tolist() if width else [0] * rows
        words = np.empty((rows, width + 1), np.dtype("<u4"))
        words[:, :width] = self.digits & _MASK
        words[:, width] = (self.digits[:, -1] >> _BITS) & _MASK
        data, size, shift = words.tobytes(), 4 * (width + 1), _BITS * self.lowest
        read = int.from_bytes
        integers = [read(data[begin : begin + size], "little", signed=True) for begin in range(0, len(data), size)]
        return [one << shift for one in integers] if shift else integers


def _bits_by_column(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bits that are set in any row, for each column of digits."""
    combined: NDArray[np.int64]
    if len(digits) < _MANY_ROWS:
        combined = np.bitwise_or.reduce(digits, axis=0)
    else:  # NumPy is slow with many short rows
        combined = np.array([np.bitwise_or.reduce(column) for column in digits.T], np.int64)
    return combined


_MANY_ROWS = 1000


def _rounded(
    digits: Sequence[NDArray[np.uint64]], bits: NDArray[np.int32], has_rest: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the 63 bits from the first one of three digits on, as doubles that are rounded once.

    `bits` is how many the first digit has, `has_rest` whether anything but zeros follows the last one. The lowest of the
    63 bits, which a double has no room for, stands for all bits that are left out.
    """
    high, middle, low = digits
    shift = (_BITS - bits).astype(np.uint64)
    words = ((high << np.uint64(_BITS) | middle) << shift) | (low >> (np.uint64(_BITS) - shift))
    left_out = (words & np.uint64(1)) | (((low << shift) & np.uint64(_MASK)) > 0) | has_rest
    return ((words >> np.uint64(1)) | left_out.astype(np.uint64)).astype(np.int64).astype(np.float64)
