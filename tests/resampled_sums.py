"""The definition of sums over units that are resampled, in Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Sums = tuple[list[int], list[list[int]]]
    """The total of each column, and its sum in each resample."""


_WORD = 2**32 - 1
_SIGN_STREAM, _COUNT_STREAM = 0, 1
_THRESHOLDS = (24109, 48219, 60273, 64292, 65296, 65497, 65531, 65535)
"""Rounded, 2^16 P(X <= 0), …, 2^16 P(X <= 7) of a Poisson variable X with mean 1."""


def philox(counter: Sequence[int], seed: int) -> list[int]:
    """Return the four 32-bit words of Philox4x32-10 [1]_.

    References
    ----------
    .. [1] Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    words, keys = list(counter), [seed & _WORD, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ keys[0], second & _WORD, first >> 32 ^ words[3] ^ keys[1], first & _WORD]
        keys = [(keys[0] + 0x9E3779B9) & _WORD, (keys[1] + 0xBB67AE85) & _WORD]
    return words


def _random_bits(key: int, call: int, stream: int, seed: int) -> int:
    """Return 128 random bits, the first word lowest."""
    words = philox([key & _WORD, key >> 32, call, stream], seed)
    return sum(word << 32 * index for index, word in enumerate(words))


def signs(key: int, seed: int, first: int, count: int) -> Iterator[int]:
    """Yield the sign, 1 or -1, that the unit with the key has in each of the sign flips."""
    bits = 0
    for flip in range(first, first + count):
        if flip % 128 == 0 or flip == first:
            bits = _random_bits(key, flip // 128, _SIGN_STREAM, seed)
        yield 1 if bits >> flip % 128 & 1 else -1


def counts(key: int, seed: int, first: int, count: int) -> Iterator[int]:
    """Yield how often the unit with the key is drawn in each of the resamples: about Poisson with mean 1."""
    bits = 0
    for resample in range(first, first + count):
        if resample % 8 == 0 or resample == first:
            bits = _random_bits(key, resample // 8, _COUNT_STREAM, seed)
        word = bits >> 16 * (resample % 8) & 0xFFFF
        yield sum(word >= threshold for threshold in _THRESHOLDS)


def rounded(number: float, scale: int) -> int:
    """Return number x 2^scale as an integer, half to even; 0 for NaN."""
    return 0 if math.isnan(number) else round(Fraction(number) * Fraction(2) ** scale)


def sign_flip_sums(
    columns: Sequence[Sequence[float]],
    scales: Sequence[int],
    keys: Sequence[int],
    units: Sequence[int],
    seed: int,
    first: int,
    count: int,
) -> Sums:
    """Return the sum of each column's integers, and its sums in which each unit has a random sign.

    Parameters
    ----------
    columns : sequence of sequences of float
        One number per key; of each, `rounded` gives the integer.
    scales : sequence of int
        One per column.
    keys : sequence of int
        64 bits each, on which a unit's signs depend.
    units : sequence of int
        The positions to sum over.
    seed : int
        64 bits.
    first, count : int
        The number of the first sign flip, and how many.

    Returns
    -------
    tuple of list
        The total of each column, and a list per column of its sums.
    """
    return _sums(signs, columns, scales, keys, units, seed, first, count)


def resample_sums(
    columns: Sequence[Sequence[float]],
    scales: Sequence[int],
    keys: Sequence[int],
    units: Sequence[int],
    seed: int,
    first: int,
    count: int,
) -> Sums:
    """Return the sum of each column's integers, and its sums in which each unit counts as often as it is drawn.

    The arguments and the result are those of `sign_flip_sums`.
    """
    return _sums(counts, columns, scales, keys, units, seed, first, count)


def _sums(
    factors: Callable[[int, int, int, int], Iterator[int]],
    columns: Sequence[Sequence[float]],
    scales: Sequence[int],
    keys: Sequence[int],
    units: Sequence[int],
    seed: int,
    first: int,
    count: int,
) -> Sums:
    integers = [
        [rounded(float(column[unit]), scale) for unit in units] for column, scale in zip(columns, scales, strict=True)
    ]
    sums = [[0] * count for _ in columns]
    for index, unit in enumerate(units):
        unit_factors = list(factors(int(keys[unit]), seed, first, count))
        for column, column_sums in zip(integers, sums, strict=True):
            if number := column[index]:
                column_sums[:] = [
                    total + factor * number for total, factor in zip(column_sums, unit_factors, strict=True)
                ]
    return [sum(column) for column in integers], sums
