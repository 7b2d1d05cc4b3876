"""The numbers that sign flips and resamples sum: those of each unit in two systems, as integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

T = TypeVar("T", bound=np.generic)

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
    is_logarithmic: bool  # values are logarithms of those that are shown
    most_differing: int  # users whose numbers differ, at most; not used where the difference is no sum
    is_unit: bool  # numerators are in [0, 1]
    standard_size: float  # what differences are divided by, to compare those of several pairs; NaN unless needed

    @cached_property
    def is_linear(self) -> bool:
        """Whether a difference of values is one of sums, divided by a sum that no sign changes."""
        return len(self.system) == 1 and not self.has_denominators

    @cached_property
    def has_denominators(self) -> bool:
        """Whether the systems have different denominators."""
        both = zip(self.system, self.baseline, strict=True)
        return any(one.denominators is not other.denominators for one, other in both)


class Units:
    """The users to sum over, and what decides their random numbers: users of one key are one unit.

    Arrays of a number per user are worked on some users at a time, so that a million of them take little memory.
    """

    def __init__(self, keys: NDArray[np.uint64], users: Integers, *, are_clusters: bool) -> None:
        self.keys = keys  # of every user
        self.users = users  # the positions of those to sum over
        self.are_clusters = are_clusters  # whether several users may have one key
        self._largest: dict[int, tuple[Floats, float]] = {}
        self._totals: dict[tuple[int, int], tuple[Floats, int]] = {}

    def largest(self, numbers: Floats) -> float:
        """Return the largest magnitude of these users' numbers."""
        if id(numbers) not in self._largest:  # the array is kept, so that no other one has its id
            largest = (np.nanmax(np.abs(numbers[some]), initial=0.0) for some in in_portions(self.users))
            self._largest[id(numbers)] = numbers, float(max(largest, default=0.0))
        return self._largest[id(numbers)][1]

    def total(self, numbers: Floats, scale: int) -> int:
        """Return the sum of the integers of all users."""
        key = id(numbers), scale
        if key not in self._totals:
            total = sum(int(_rounded(numbers[some], scale).sum()) for some in in_portions(self.users))
            self._totals[key] = numbers, total
        return self._totals[key][1]

    def differing(self, columns: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Integers:
        """Return the users whose numbers differ in some of the pairs of columns: the others change no difference."""
        tree = _spanning_pairs(len(columns), pairs)

        def of_some(users: Integers) -> Integers:
            differ = np.zeros(len(users), np.bool_)
            for one, other in tree:
                differ |= columns[one][users] != columns[other][users]
                if differ.all():
                    return users
            return users[differ]

        return np.concatenate([self.users[:0], *map(of_some, in_portions(self.users))])

    @cached_property
    def first(self) -> UnitNumbers:
        """The first units, whose numbers are kept: a few usually tell whether a pair is worth looking at all."""
        return self._units(0, _FEW)

    def portions(self) -> Iterator[UnitNumbers]:
        """Yield the units some at a time, the first few first."""
        yield self.first
        for begin in range(_FEW, self._count, _PORTION):
            yield self._units(begin, begin + _PORTION)

    def sums(self, numbers: Integers) -> Integers:
        """Return the sum over the users of each unit."""
        return np.add.reduceat(numbers[self._order], self._begins) if self.are_clusters and len(numbers) else numbers

    @property
    def _count(self) -> int:
        return len(self._begins) if self.are_clusters else len(self.users)

    @cached_property
    def _order(self) -> Integers:
        """The positions among the users, those of one cluster side by side."""
        return np.argsort(self.keys[self.users], kind="stable")

    @cached_property
    def _begins(self) -> Integers:
        """Where clusters begin in that order."""
        keys = self.keys[self.users][self._order]
        return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])

    def _units(self, begin: int, end: int) -> UnitNumbers:
        if not self.are_clusters:
            return UnitNumbers(self.users[begin:end], None)
        begins = self._begins[begin:end]
        last = self._begins[end] if end < len(self._begins) else len(self.users)
        users = self.users[self._order[begins[0] : last]] if len(begins) else self.users[:0]
        return UnitNumbers(users, begins - begins[:1])


class UnitNumbers:
    """The numbers of some units, as integers."""

    def __init__(self, users: Integers, begins: Integers | None) -> None:
        self._users = users
        self._begins = begins  # where the users of each cluster begin; None if each user is a unit
        self._integers: dict[tuple[int, int], tuple[Floats, Integers]] = {}

    def integers(self, numbers: Floats, scale: int) -> Integers:
        """Return the sum of each unit's numbers times 2^scale, each rounded half to even; NaN counts as 0."""
        key = id(numbers), scale
        if key not in self._integers:
            rounded = _rounded(numbers[self._users], scale)
            if self._begins is not None and len(self._begins):
                rounded = np.add.reduceat(rounded, self._begins)
            self._integers[key] = numbers, rounded
        return self._integers[key][1]


_FEW = 128
_PORTION = 1 << 16


def in_portions(array: NDArray[T]) -> Iterator[NDArray[T]]:
    """Yield the elements some at a time."""
    return (array[begin : begin + _PORTION] for begin in range(0, len(array), _PORTION))


def _rounded(numbers: Floats, scale: int) -> Integers:
    """Return the numbers times 2^scale, rounded half to even; NaN counts as 0."""
    rounded = np.rint(numbers * math.ldexp(1.0, scale))
    rounded[np.isnan(rounded)] = 0.0
    return rounded.astype(np.int64)


def _spanning_pairs(columns: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs that connect all columns that the pairs connect: if their numbers are equal, those of the others are."""
    root = list(range(columns))  # of each column, another to which pairs connect it

    def find(column: int) -> int:
        while root[column] != column:
            column = root[column]
        return column

    spanning = []
    for one, other in pairs:
        if find(one) != find(other):
            root[find(one)] = find(other)
            spanning.append((one, other))
    return spanning


def scale_of(largest: float, users: int, *, spare_bits: int = 0) -> int:
    """Return the power of 2 by which numbers up to the largest are multiplied: 40 bits each, or 60 in all."""
    fraction, exponent = math.frexp(largest or 1.0)
    exponent -= fraction == 0.5
    return _FRACTION_BITS - exponent - max(0, users.bit_length() + spare_bits - _FREE_BITS)


class Execution(NamedTuple):
    """How to compute, and whom to tell how many flips or resamples are finished."""

    num_threads: int
    isa: str
    report_finished: Callable[[int], object] | None = None  # with the number of those of the current call
    add_finished: Callable[[int], object] | None = None  # with the number of those of the call that has ended


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
        return self._sums(_core.sign_flip_sums, keys, users, draws, execution)

    def resample_sums(
        self, keys: NDArray[np.uint64], users: Integers, draws: Draws, execution: Execution
    ) -> tuple[Integers, Integers]:
        """Return the sum of each column, and its sum in each resample."""
        return self._sums(_core.resample_sums, keys, users, draws, execution)

    def _sums(
        self,
        resample: Callable[..., tuple[Integers, Integers]],
        keys: NDArray[np.uint64],
        users: Integers,
        draws: Draws,
        execution: Execution,
    ) -> tuple[Integers, Integers]:
        sums = resample(
            columns=self.numbers,
            scales=self.scales,
            keys=keys,
            units=users,
            seed=draws.seed,
            first=draws.first,
            count=draws.count,
            threads=execution.num_threads,
            isa=execution.isa,
            progress=execution.report_finished,
        )
        if execution.add_finished is not None:
            execution.add_finished(draws.count)
        return sums


def logarithms(numbers: Floats) -> Floats:
    """Return what each user's value adds to the logarithm of a geometric mean."""
    return _core.geometric_terms(np.ascontiguousarray(numbers))
