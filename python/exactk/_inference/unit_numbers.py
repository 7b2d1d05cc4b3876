"""The numbers that sign flips and resamples sum: those of each unit in two systems, as integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

_FRACTION_BITS = 40
_FREE_BITS = 20  # for so many bits of users, numbers below 2^40 add up to less than 2^60


class Ratio(NamedTuple):
    """A numerator and a denominator of each user."""

    numerators: Floats
    denominators: Floats


class Average(Protocol):
    """A function of ratios of sums."""

    def value(self, ratios: Sequence[Floats]) -> Floats:
        """Return the values of many ratios."""

    def gradient(self, ratios: Sequence[float]) -> tuple[float, ...]:
        """Return the derivative by each ratio."""


class OneRatio:
    """The ratio itself: a mean, or the quotient of two sums."""

    def value(self, ratios: Sequence[Floats]) -> Floats:
        """Return the only ratio."""
        (ratio,) = ratios
        return ratio

    def gradient(self, _ratios: Sequence[float]) -> tuple[float, ...]:
        """Return 1."""
        return (1.0,)


@dataclass(frozen=True)
class FOfMeans:
    """P R / ((1 - a) P + a R) of the mean precision P and the mean recall R; a is the share."""

    share: float

    def value(self, ratios: Sequence[Floats]) -> Floats:
        """Return F, which is 0 where the divisor is."""
        precision, recall = ratios
        divisor = (1 - self.share) * precision + self.share * recall
        return np.where(divisor == 0, 0.0, precision * recall / np.where(divisor == 0, 1.0, divisor))

    def gradient(self, ratios: Sequence[float]) -> tuple[float, ...]:
        """Return the derivatives by P and by R."""
        precision, recall = ratios
        divisor = (1 - self.share) * precision + self.share * recall
        if divisor == 0:
            return 0.0, 0.0
        return self.share * recall**2 / divisor**2, (1 - self.share) * precision**2 / divisor**2


@dataclass(frozen=True)
class PairNumbers:
    """The numbers of one value in a pair of systems.

    Users whom the pair lacks have NaN, or 0. If the denominators of two ratios are one array, they are the same.
    """

    system: tuple[Ratio, ...]
    baseline: tuple[Ratio, ...]
    average: Average
    users: int  # of both systems
    most_differing: int  # users whose numbers differ, at most; not used where the difference is no sum
    is_unit: bool  # numerators are in [0, 1]
    standard_size: float  # what differences are divided by, to compare those of several pairs

    @cached_property
    def is_linear(self) -> bool:
        """Whether a difference of values is one of sums, divided by a sum that no sign changes."""
        return len(self.system) == 1 and not self.has_denominators

    @cached_property
    def has_denominators(self) -> bool:
        """Whether the systems have different denominators."""
        both = zip(self.system, self.baseline, strict=True)
        return any(one.denominators is not other.denominators for one, other in both)


@dataclass(frozen=True, eq=False)
class Units:
    """The users to sum over, and what decides their random numbers: users of one key are one unit."""

    keys: NDArray[np.uint64]  # of every user
    users: Integers  # the positions of those to sum over
    are_clusters: bool  # whether several users may have one key
    _largest: dict[int, tuple[Floats, float]] = field(default_factory=dict)
    _totals: dict[tuple[int, int], tuple[Floats, int]] = field(default_factory=dict)

    def first(self, count: int) -> Self:
        """Return the first of the users."""
        return replace(self, users=self.users[:count], _largest={}, _totals={})

    def largest(self, numbers: Floats) -> float:
        """Return the largest magnitude of these users' numbers."""
        if id(numbers) not in self._largest:  # the array is kept, so that no other one has its id
            self._largest[id(numbers)] = numbers, float(np.nanmax(np.abs(numbers[self.users]), initial=0.0))
        return self._largest[id(numbers)][1]

    def total(self, numbers: Floats, scale: int) -> int:
        """Return the sum of the integers of all users."""
        key = id(numbers), scale
        if key not in self._totals:
            self._totals[key] = numbers, int(self._rounded(numbers, scale).sum())
        return self._totals[key][1]

    def differing(self, columns: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Integers:
        """Return the users whose numbers differ in some of the pairs of columns: the others change no difference."""
        root = list(range(len(columns)))  # of each column, another to which pairs connect it

        def find(column: int) -> int:
            while root[column] != column:
                column = root[column]
            return column

        differ = np.zeros(len(self.users), np.bool_)
        for one, other in pairs:
            if find(one) != find(other):  # else equal numbers in other pairs imply those of this pair
                root[find(one)] = find(other)
                differ |= columns[one][self.users] != columns[other][self.users]
        return self.users[differ]

    def integers(self, numbers: Floats, scale: int) -> Integers:
        """Return the sum of each unit's numbers times 2^scale, each rounded half to even; NaN counts as 0."""
        return self.sums(self._rounded(numbers, scale))

    def sums(self, integers: Integers) -> Integers:
        """Return the sum over the users of each unit."""
        if not self.are_clusters:
            return integers
        count, codes = self._codes
        sums = np.zeros(count, np.int64)
        np.add.at(sums, codes, integers)
        return sums

    def _rounded(self, numbers: Floats, scale: int) -> Integers:
        rounded = np.rint(numbers[self.users] * math.ldexp(1.0, scale))
        return np.nan_to_num(rounded, copy=False, nan=0.0).astype(np.int64)

    @cached_property
    def _codes(self) -> tuple[int, Integers]:
        keys, codes = np.unique(self.keys[self.users], return_inverse=True)
        return len(keys), codes.astype(np.int64)


def scale_of(largest: float, users: int, *, spare_bits: int = 0) -> int:
    """Return the power of 2 by which numbers up to the largest are multiplied: 40 bits each, or 60 in all."""
    fraction, exponent = math.frexp(largest or 1.0)
    exponent -= fraction == 0.5
    return _FRACTION_BITS - exponent - max(0, users.bit_length() + spare_bits - _FREE_BITS)


class Execution(NamedTuple):
    """How to compute, and whom to tell how many flips or resamples are finished."""

    num_threads: int
    isa: str
    report_finished: Callable[[int], object]


@dataclass(frozen=True)
class Draws:
    """Which sign flips or resamples to sum: some of those of a seed, from the first, a multiple of 1,024."""

    seed: int
    first: int
    count: int


class Columns:
    """The distinct columns that are to be summed, each with its scale."""

    def __init__(self) -> None:
        self._indices: dict[tuple[int, int], int] = {}
        self.numbers: list[Floats] = []
        self.scales: list[int] = []

    def add(self, numbers: Floats, scale: int) -> int:
        """Return the index of a column."""
        index = self._indices.setdefault((id(numbers), scale), len(self.numbers))
        if index == len(self.numbers):
            self.numbers.append(numbers)
            self.scales.append(scale)
        return index

    def sign_flip_sums(
        self, keys: NDArray[np.uint64], users: Integers, draws: Draws, execution: Execution
    ) -> tuple[Integers, Integers]:
        """Return the sum of each column, and its signed sum in each flip."""
        return _core.sign_flip_sums(
            self.numbers, self.scales, keys, users, draws.seed, draws.first, draws.count, *execution
        )

    def resample_sums(
        self, keys: NDArray[np.uint64], users: Integers, draws: Draws, execution: Execution
    ) -> tuple[Integers, Integers]:
        """Return the sum of each column, and its sum in each resample."""
        return _core.resample_sums(
            self.numbers, self.scales, keys, users, draws.seed, draws.first, draws.count, *execution
        )


def logarithms(numbers: Floats) -> Floats:
    """Return what each user's value adds to the logarithm of a geometric mean."""
    return _core.geometric_terms(np.ascontiguousarray(numbers))
