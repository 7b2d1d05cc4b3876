"""From what is kept of users to sign flips and resamples of the pairs of a comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._inference.bootstrap import (
    FEWEST_UNITS,
    BootstrapIntervals,
    BootstrapOptions,
    bootstrap_intervals,
    resample_count,
)
from exactk._inference.sign_flips import FlipOptions, FlipTest, flip_tests
from exactk._inference.significance import HalfWidth, root
from exactk._inference.unit_numbers import Execution, FOfMeans, OneRatio, PairNumbers, Ratio, Units, logarithms
from exactk._report.paired_sums import Resampled, precision_share, square_of_size
from exactk._report.user_table import is_unit, rows_of_values
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option, plural
from exactk._runtime.progress import Progress
from exactk._runtime.threads import requested_isa, resolve_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inference.unit_numbers import Average, Floats
    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.difference import Compared
    from exactk._report.paired_sums import Pair
    from exactk._report.sums import Label
    from exactk._report.user_table import UserTable
    from exactk._runtime.progress import ProgressCallback

_SMALL = 2.0**-20  # of numbers that are below 1
_NEGLIGIBLE = 2.0**-300  # relative to others, so that sums of both are those of the others


class _Mask(NamedTuple):
    """The users of a pair."""

    number: int  # 0 for everyone
    users: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KeptUsers:
    """What is kept of the users of all systems, in one order."""

    values: Sequence[Value]
    tables: Mapping[str, UserTable]
    keys: NDArray[np.uint64]  # the hash of each user's key, or of that of the cluster
    are_clusters: bool


@dataclass(eq=False)
class KeptNumbers:
    """The numbers of users, as arrays that are made once: equal columns are one array."""

    kept: KeptUsers
    _columns: dict[tuple[str, int, bool], Floats] = field(default_factory=dict)
    _multiples: dict[tuple[int, int, bool], Floats] = field(default_factory=dict)
    _weighted: dict[int, Floats] = field(default_factory=dict)
    _masked: dict[tuple[int, int], Floats] = field(default_factory=dict)
    _masks: dict[bytes, _Mask] = field(default_factory=dict)
    _missing_users: dict[tuple[str, int], NDArray[np.bool_] | None] = field(default_factory=dict)
    _denominators: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rows = dict(
            zip((value.name for value in self.kept.values), rows_of_values(self.kept.values), strict=True)
        )
        self._weights = next(iter(self.kept.tables.values())).weights
        self._size = len(self.kept.keys)
        self._everyone = _Mask(0, np.ones(self._size, np.bool_))

    def units(self, label: Label | None) -> Units:
        """Return all users, or those of a group."""
        table = next(iter(self.kept.tables.values()))
        is_in = np.ones(self._size, np.bool_)
        if label is not None and table.groups is not None:
            is_in &= table.groups == table.labels.index(label)
        if self._weights is not None:
            is_in &= self._weights > 0
        users = np.flatnonzero(is_in).astype(np.int64)
        return Units(self.kept.keys, users, are_clusters=self.kept.are_clusters)

    def of_pair(self, compared: Compared, square: Fraction | None, units: Units) -> tuple[PairNumbers, int]:
        """Return the numbers of a row, given the square of the size of its difference, if that is needed.

        They stand for values that are 2 to the power of the exponent beside them as large.
        """
        value, sums = compared.value, compared.sums
        (system, baseline), exponent = self._ratios(value, compared.pair, units)
        average: Average = (
            FOfMeans(float(precision_share(value))) if value.rules["average"] == "of_means" else OneRatio()
        )
        pair = PairNumbers(
            system,
            baseline,
            average,
            sums.users,
            value.rules["average"] == "geometric",
            sums.greater + sums.less,
            self._is_unit(value),
            math.nan if square is None else root(square / Fraction(4) ** exponent),
        )
        return pair, exponent

    def _is_unit(self, value: Value) -> bool:
        """Return whether all users' numbers are in [0, 1], and summed as such, however small they are."""
        return is_unit(value) and self._weights is None and value.rules["average"] != "geometric"

    def _ratios(self, value: Value, pair: Pair, units: Units) -> tuple[list[tuple[Ratio, ...]], int]:
        """Return the ratios of both systems, of the users whom both have, and the exponent of their unit."""
        average, rows = value.rules["average"], self._rows[value.name]
        mask = self._mask_of_pair(pair, value)

        def in_unit(rows: Sequence[int]) -> tuple[list[list[Floats]], int]:
            columns = [
                self._column(system, row, is_geometric=average == "geometric") for system in pair for row in rows
            ]
            # Logarithms other than 0 are not small, and a multiple of one is that of another value.
            is_kept = self._is_unit(value) or average == "geometric"
            multiples, exponent = (columns, 0) if is_kept else self._in_unit(columns, units)
            numbers = [self._with_mask(self._with_weights(one), mask) for one in multiples]
            return [numbers[: len(rows)], numbers[len(rows) :]], exponent

        if average == "micro":
            numerators, exponent = in_unit(rows[:1])
            denominators, exponent_of_denominators = in_unit(rows[1:])
            of_system, of_baseline = denominators
            if all(np.array_equal(*both, equal_nan=True) for both in zip(of_system, of_baseline, strict=True)):
                denominators = [of_system, of_system]  # one array, as no sign changes a sum of it
            both = zip(numerators, denominators, strict=True)
            return [(Ratio(*one, *other),) for one, other in both], exponent - exponent_of_denominators
        numerators, exponent = in_unit(rows)
        return [tuple(Ratio(one, self._weights_of(mask)) for one in of_system) for of_system in numerators], exponent

    def _column(self, system: str, row: int, *, is_geometric: bool) -> Floats:
        """Return the numbers of a system's users."""
        key = system, row, is_geometric
        if key not in self._columns:
            column = np.ascontiguousarray(self.kept.tables[system].rows[row])
            self._columns[key] = logarithms(column) if is_geometric else column
        return self._columns[key]

    def _in_unit(self, columns: Sequence[Floats], units: Units) -> tuple[list[Floats], int]:
        """Return the columns of a pair as they are, or if all are small, divided by a power of 2, and its exponent.

        Numbers near the smallest doubles could not be multiplied by a double to become large integers.
        """
        sizes = [units.largest(column) for column in columns]
        largest = max(sizes)
        exponent = math.frexp(largest)[1] if largest < _SMALL else 0
        is_negligible = [0 < size < _NEGLIGIBLE * largest for size in sizes]
        both = zip(columns, is_negligible, strict=True)
        return [self._multiple(*one, exponent) for one in both], exponent

    def _multiple(self, column: Floats, is_negligible: bool, exponent: int) -> Floats:  # noqa: FBT001 - of a pair of lists
        """Return a column divided by a power of 2; 0 if it is negligible beside the other columns of its pair."""
        if not (exponent or is_negligible):
            return column
        key = id(column), exponent, is_negligible  # of an array that is kept
        if key not in self._multiples:
            self._multiples[key] = np.zeros(self._size) if is_negligible else np.ldexp(column, -exponent)
        return self._multiples[key]

    def _with_weights(self, column: Floats) -> Floats:
        """Return the numbers times the weights."""
        if self._weights is None:
            return column
        if id(column) not in self._weighted:  # of an array that is kept
            self._weighted[id(column)] = column * self._weights
        return self._weighted[id(column)]

    def _mask_of_pair(self, pair: Pair, value: Value) -> _Mask:
        """Return which users both systems have."""
        missing = [
            one for system in pair for row in self._rows[value.name] if (one := self._missing(system, row)) is not None
        ]
        if not missing:
            return self._everyone
        mask = ~np.logical_or.reduce(missing)
        return self._masks.setdefault(np.packbits(mask).tobytes(), _Mask(len(self._masks) + 1, mask))

    def _missing(self, system: str, row: int) -> NDArray[np.bool_] | None:
        """Return the users without a number; None if there are none."""
        if (system, row) not in self._missing_users:
            missing = np.isnan(self.kept.tables[system].rows[row])
            self._missing_users[system, row] = missing if missing.any() else None
        return self._missing_users[system, row]

    def _with_mask(self, numbers: Floats, mask: _Mask) -> Floats:
        """Return the numbers with NaN for the users whom the pair lacks."""
        if mask.number == 0:
            return numbers
        key = id(numbers), mask.number  # of an array that is kept
        if key not in self._masked:
            is_same = np.array_equal(np.isnan(numbers), ~mask.users)
            self._masked[key] = numbers if is_same else np.where(mask.users, numbers, math.nan)
        return self._masked[key]

    def _weights_of(self, mask: _Mask) -> Floats:
        """Return the weights of the users whom the pair has, 1 without weights, and 0 of others."""
        if mask.number not in self._denominators:
            weights = np.ones(self._size) if self._weights is None else self._weights
            self._denominators[mask.number] = weights if mask.number == 0 else np.where(mask.users, weights, 0.0)
        return self._denominators[mask.number]


class Calls(NamedTuple):
    """How to draw, when differences are asked for."""

    num_threads: int | None = None
    progress: bool | ProgressCallback = False


def resample(
    compared: Sequence[Compared], kept: KeptUsers, options: ComparisonOptions, calls: Calls
) -> list[Resampled | None]:
    """Return what random numbers say of rows of all users, or of one group; None of rows that have no p-value."""
    tested = [i for i, one in enumerate(compared) if one.estimate is not None and not one.reason]
    results: list[Resampled | None] = [None] * len(compared)
    if not tested:
        return results
    numbers = KeptNumbers(kept)
    units = numbers.units(compared[0].group)
    squares = [
        square_of_size(compared[i].value, compared[i].sums.moments) if options.adjust == "max_t" else None
        for i in tested
    ]
    pairs, exponents = zip(
        *(numbers.of_pair(compared[i], square, units) for i, square in zip(tested, squares, strict=True)), strict=True
    )
    execution = Execution(resolve_threads(calls.num_threads), requested_isa())
    tests: list[FlipTest | None] = [None] * len(pairs)
    intervals: list[BootstrapIntervals | None] = [None] * len(pairs)
    if options.test == "permutation":
        tests = _flip_tests(pairs, _families(compared, tested, options), units, options, calls, execution)
    if options.interval != "t":
        intervals = _intervals([compared[i] for i in tested], pairs, units, options, calls, execution)
    for i, square, exponent, test, interval in zip(tested, squares, exponents, tests, intervals, strict=True):
        half_width = None if test is None or square is None else HalfWidth(test.bound, square)
        results[i] = Resampled(test, None if interval is None else interval.times_power_of_2(exponent), half_width)
    return results


def _families(compared: Sequence[Compared], tested: Sequence[int], options: ComparisonOptions) -> list[list[int]]:
    """Return the families as positions among the tested rows."""
    families: dict[str, list[int]] = {}
    for position, i in enumerate(tested):
        families.setdefault(compared[i].value.name if options.family == "metric" else "", []).append(position)
    return list(families.values())


def _flip_tests(
    pairs: Sequence[PairNumbers],
    families: Sequence[Sequence[int]],
    units: Units,
    options: ComparisonOptions,
    calls: Calls,
    execution: Execution,
) -> list[FlipTest | None]:
    progress = Progress(calls.progress, "flips")
    how = FlipOptions(options.permutations, options.seed, options.alternative, options.level, options.adjust == "max_t")
    execution = execution._replace(report_finished=progress.report_finished, add_finished=progress.add_finished)
    with progress.track(options.permutations):
        return [*flip_tests(pairs, families, units, how, execution)]


def _intervals(
    compared: Sequence[Compared],
    pairs: Sequence[PairNumbers],
    units: Units,
    options: ComparisonOptions,
    calls: Calls,
    execution: Execution,
) -> list[BootstrapIntervals | None]:
    """Return the bootstrap intervals; None in groups of few users or clusters."""
    enough = [one.sums.moments.units >= FEWEST_UNITS for one in compared]
    for one, has_enough in zip(compared, enough, strict=True):
        if not has_enough and one.group is None:
            noun = "user" if one.sums.users == one.sums.moments.units else "cluster"
            expected = f"at least {FEWEST_UNITS} {noun}s for {options.interval!r}"
            found = plural(one.sums.moments.units, noun)
            raise input_error("interval", expected, found, hint=Option("interval", "t"))
    progress = Progress(calls.progress, "resamples")
    how = BootstrapOptions(
        "bca" if options.interval == "bca" else "percentile", options.resamples, options.seed, options.level
    )
    execution = execution._replace(report_finished=progress.report_finished, add_finished=progress.add_finished)
    some = [pair for pair, has_enough in zip(pairs, enough, strict=True) if has_enough]
    with progress.track(resample_count(some, options.resamples)):
        intervals = iter(bootstrap_intervals(some, units, how, execution))
    return [next(intervals) if has_enough else None for has_enough in enough]
