"""Permutation tests: the numbers of each unit are exchanged between the two systems, or not, at random.

If systems do not differ, each of the :math:`2^n` patterns of signs of the units' differences is as likely as what was
observed. A p-value is the share of the patterns whose difference is at least as large as the observed one: of all
patterns if at most 20 units differ, else of m random ones together with the observed one [1]_,
:math:`p = (b + 1) / (m + 1)`. The adjustment for a family compares with the largest difference of all pairs [2]_.

Sums are exact: numbers are integers, multiples of :math:`2^{-40}` of the largest. Each errs by at most half a unit, so
sums over k users who differ that are equal in truth are within 2k units; such sums count as equal.

The signed-rank test of Wilcoxon, on rounded differences, stands here too.

References
----------
.. [1] Phipson and Smyth, "Permutation p-values should never be zero", 2010.
.. [2] Westfall and Young, "Resampling-based multiple testing", 1993, algorithm 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._inference.significance import LEAST_P, Significance, ranks_within, sign_test
from exactk._inference.unit_numbers import Columns, Draws, scale_of
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inference.significance import Alternative
    from exactk._inference.unit_numbers import Execution, Floats, Integers, PairNumbers, Ratio, UnitNumbers, Units

_FRACTION_BITS = 40


def rounded_differences(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences as whole multiples of a unit: 2^-40 of the power of 2 above all values, or of 1.

    Values of metrics are few and discrete: 0.7 - 0.5 and 0.3 - 0.1 are one difference, but two doubles.
    """
    largest = max(1.0, *(float(np.abs(one).max(initial=0.0)) for one in (values, others)))
    rounded: NDArray[np.float64] = np.rint(np.ldexp(values - others, _FRACTION_BITS - math.ceil(math.log2(largest))))
    return rounded


def wilcoxon_test(
    values: NDArray[np.float64], others: NDArray[np.float64], alternative: Alternative
) -> tuple[Significance, float]:
    """Return the test and the rank-biserial correlation r = (W+ - W-) / (W+ + W-).

    Differences of 0 are left out. The p-value is that of the normal approximation with its correction for ties.
    """
    differences = rounded_differences(values, others)
    differences = differences[differences != 0]
    if not len(differences):
        return Significance(0.0, 1.0, is_exact=True), 0.0
    stats = optional.scipy_stats()
    result = stats.wilcoxon(differences, alternative=alternative.replace("_", "-"), method="approx")
    ranks = stats.rankdata(np.abs(differences))
    positive, every = float(ranks[differences > 0].sum()), float(ranks.sum())
    p = min(1.0, max(float(result.pvalue), LEAST_P))
    return Significance(float(result.statistic), p, is_exact=False), (2 * positive - every) / every


MOST_ENUMERATED = 20
"""Units that differ, of which all patterns of signs are tried."""

_SUMS_AT_A_TIME = 1 << 21
_BLOCK = 1024  # of flips, whose random numbers are drawn together
_RELATIVE_ROUNDING = 1e-9  # of differences that are no sums
_VALUE_ROUNDING = 2.0**-38


_TURNS = {"two_sided": np.abs, "greater": np.positive, "less": np.negative}
"""From differences to numbers that are larger the more extreme these are."""


class FlipTest(NamedTuple):
    """The result of a permutation test."""

    p: float
    p_error: float  # its standard error; 0 if it is exact
    is_exact: bool
    p_max_t: float = math.nan  # adjusted for the family, if asked
    bound: float = math.nan  # up to which |difference| / size is not extreme in the family, if asked


class FlipOptions(NamedTuple):
    """How permutation tests are made."""

    flips: int
    seed: int
    alternative: Alternative
    level: float
    has_max_t: bool


class _Sums(NamedTuple):
    """The signed sums over units of what two systems differ by, in each pattern of signs."""

    numerators: tuple[Integers, ...]
    denominators: tuple[Integers, ...]  # empty if they are the same in both systems


class _Scaled(NamedTuple):
    """The powers of 2 by which the numbers of a pair are multiplied, and the sums of both systems together."""

    numerators: tuple[int, ...]
    denominators: tuple[int, ...]
    numerator_sums: tuple[int, ...]  # empty where the difference is a sum
    denominator_sums: tuple[int, ...]

    @classmethod
    def of_pair(cls, pair: PairNumbers, units: Units) -> _Scaled:
        """Return the powers that the pair's own numbers need, whatever the others are."""
        both: list[tuple[Ratio, Ratio]] = list(zip(pair.system, pair.baseline, strict=True))

        def scale(one: Floats, other: Floats, *, is_unit: bool) -> int:
            largest = 1.0 if is_unit else max(units.largest(one), units.largest(other))
            return scale_of(largest, pair.users)

        def sums(part: str, scales: Sequence[int]) -> tuple[int, ...]:
            return tuple(
                units.total(getattr(one, part), scale) + units.total(getattr(other, part), scale)
                for (one, other), scale in zip(both, scales, strict=True)
            )

        numerators = tuple(scale(one.numerators, other.numerators, is_unit=pair.is_unit) for one, other in both)
        denominators = tuple(scale(one.denominators, other.denominators, is_unit=False) for one, other in both)
        return cls(
            numerators,
            denominators,
            () if pair.is_linear else sums("numerators", numerators),
            sums("denominators", denominators),
        )


@dataclass(frozen=True)
class _Statistic:
    """The difference of a pair's values as a function of signed sums, and when it is as extreme as the observed one."""

    pair: PairNumbers
    scaled: _Scaled
    observed: _Sums  # one pattern, all signs +
    alternative: Alternative

    def differences(self, sums: _Sums) -> Floats:
        """Return the difference of the values; NaN where a denominator is 0."""
        if self.pair.is_linear:
            numerators: Floats = sums.numerators[0].astype(np.float64) * self._value_of_unit
            return numerators
        system, baseline = self._values(sums)
        difference: Floats = system - baseline
        return difference

    @cached_property
    def _value_of_unit(self) -> float:
        """What one unit of a sum adds to a difference of means."""
        scale = self.scaled.denominators[0] - self.scaled.numerators[0]
        return math.ldexp(1.0, scale) / (self.scaled.denominator_sums[0] // 2)

    def _values(self, sums: _Sums) -> tuple[Floats, Floats]:
        """Return the value of the system and that of the baseline."""
        denominators = sums.denominators or (np.zeros(1, np.int64),) * len(sums.numerators)
        ratios: list[list[Floats]] = [[], []]
        for numerator, denominator, *scaled in zip(sums.numerators, denominators, *self.scaled, strict=True):
            scale, denominator_scale, both, both_denominators = scaled
            for of_system, turn in zip(ratios, (1, -1), strict=True):
                dividend = np.ldexp(((both + turn * numerator) // 2).astype(np.float64), denominator_scale - scale)
                divisor = ((both_denominators + turn * denominator) // 2).astype(np.float64)
                of_system.append(dividend / np.where(divisor == 0, math.nan, divisor))
        system, baseline = map(self.pair.average.value, ratios)
        return system, baseline

    @cached_property
    def allowance(self) -> float:
        """By how much differences that are equal but for rounding may differ; of sums a number of units, an int."""
        if self.pair.is_linear:
            return 2 * self.pair.most_differing
        (difference,) = self.differences(self.observed)
        values = [abs(float(value[0])) for value in self._values(self.observed)]
        return _RELATIVE_ROUNDING * abs(float(difference)) + _VALUE_ROUNDING * sum(values)

    def count_extreme(self, sums: _Sums) -> int:
        """Return how many patterns have a difference that is at least as large as the observed one, but for rounding."""
        turn = _TURNS[self.alternative]
        if self.pair.is_linear:
            least = int(turn(self.observed.numerators[0])[0]) - self.allowance
            return int(np.count_nonzero(turn(sums.numerators[0]) >= least))
        differences = self.differences(sums)
        least_difference = turn(self.differences(self.observed))[0] - self.allowance
        return int(np.count_nonzero((turn(differences) >= least_difference) | np.isnan(differences)))

    def standardized(self, sums: _Sums) -> Floats:
        """Return the size of each difference, comparable between pairs: larger is more extreme."""
        turned: Floats = _TURNS[self.alternative](self._per_size(self.differences(sums)))
        return turned

    def standardized_sizes(self, sums: _Sums) -> Floats:
        """Return the size of each difference, whatever its side."""
        return np.abs(self._per_size(self.differences(sums)))

    def _per_size(self, differences: Floats) -> Floats:
        if self.pair.standard_size == 0:
            return np.zeros_like(differences)
        sizes = differences / self.pair.standard_size
        return sizes if self.pair.is_linear else np.nan_to_num(sizes, nan=math.inf)

    @property
    def standardized_allowance(self) -> float:
        """The allowance for rounding of standardized differences."""
        if self.pair.standard_size == 0:
            return 0.0
        unit = self._value_of_unit if self.pair.is_linear else 1.0
        return self.allowance * unit / self.pair.standard_size


def flip_tests(
    pairs: Sequence[PairNumbers],
    families: Sequence[Sequence[int]],
    units: Units,
    options: FlipOptions,
    execution: Execution,
) -> list[FlipTest]:
    """Return the test of each pair. Families are of positions of pairs."""
    scaled = [_Scaled.of_pair(pair, units) for pair in pairs]
    exact = [_exact_test(*both, units, options.alternative) for both in zip(pairs, scaled, strict=True)]
    random = [i for i, test in enumerate(exact) if test is None or options.has_max_t]
    flips = _RandomFlips([pairs[i] for i in random], [scaled[i] for i in random], units, options)
    position = {i: drawn for drawn, i in enumerate(random)}
    flips.run([[position[i] for i in family] for family in families] if options.has_max_t else [], execution)
    tests = [flips.test(position[i]) if test is None else test for i, test in enumerate(exact)]
    if not options.has_max_t:
        return tests
    adjusted = flips.adjusted([test.p for test in tests])
    for family, of_members in zip(families, adjusted, strict=True):
        for i, (p, bound) in zip(family, of_members, strict=True):
            tests[i] = tests[i]._replace(p_max_t=p, bound=bound)
    return tests


class _RandomFlips:
    """Random flips of all pairs: the same signs for every system and metric."""

    def __init__(
        self, pairs: Sequence[PairNumbers], scaled: Sequence[_Scaled], units: Units, options: FlipOptions
    ) -> None:
        self._pairs, self._scaled, self._units, self._options = pairs, scaled, units, options
        self._columns = Columns()
        self._indices = [
            (self._add(pair, scaled.numerators, "numerators"), self._add(pair, scaled.denominators, "denominators"))
            for pair, scaled in zip(pairs, self._scaled, strict=True)
        ]
        self._extreme = [0] * len(pairs)
        self._families: list[_Family] = []
        self._statistics: list[_Statistic] = []

    def _add(self, pair: PairNumbers, scales: Sequence[int], part: str) -> list[tuple[int, int]]:
        """Return the columns of the system and of the baseline, one pair for each ratio."""
        if part == "denominators" and not pair.has_denominators:
            return []
        both = zip(pair.system, pair.baseline, scales, strict=True)
        return [
            (self._columns.add(getattr(one, part), scale), self._columns.add(getattr(other, part), scale))
            for one, other, scale in both
        ]

    def run(self, families: Sequence[Sequence[int]], execution: Execution) -> None:
        """Draw all flips."""
        users = self._units.differing(
            self._columns.numbers, [both for parts in self._indices for part in parts for both in part]
        )
        at_a_time = max(1, _SUMS_AT_A_TIME // max(1, len(self._columns.numbers)) // _BLOCK) * _BLOCK
        for first in range(0, self._options.flips if self._pairs else 0, at_a_time):
            count = min(at_a_time, self._options.flips - first)
            draws = Draws(self._options.seed, first, count)
            totals, sums = self._columns.sign_flip_sums(self._units.keys, users, draws, execution)
            if not self._statistics:
                self._begin(totals[:, None], families)
            for i, statistic in enumerate(self._statistics):
                self._extreme[i] += statistic.count_extreme(self._signed(i, sums))
            for begin in range(0, count if families else 0, _BLOCK):
                flipped = [self._signed(i, sums[:, begin : begin + _BLOCK]) for i in range(len(self._pairs))]
                for family in self._families:
                    family.add(flipped)

    def _begin(self, totals: Integers, families: Sequence[Sequence[int]]) -> None:
        self._statistics = [
            _Statistic(pair, scaled, self._signed(i, totals), self._options.alternative)
            for i, (pair, scaled) in enumerate(zip(self._pairs, self._scaled, strict=True))
        ]
        self._families = [_Family(self._statistics, family) for family in families]

    def _signed(self, pair: int, sums: Integers) -> _Sums:
        numerators, denominators = (
            tuple(sums[system] - sums[baseline] for system, baseline in part) for part in self._indices[pair]
        )
        return _Sums(numerators, denominators)

    def test(self, pair: int) -> FlipTest:
        """Return the test of a pair."""
        flips = self._options.flips
        p = (self._extreme[pair] + 1) / (flips + 1)
        return FlipTest(p, math.sqrt(p * (1 - p) / flips), is_exact=False)

    def adjusted(self, p_values: Sequence[float]) -> list[list[tuple[float, float]]]:
        """Return the adjusted p-value of each member of each family, and the largest size that is not extreme."""
        return [family.adjusted(p_values, self._options) for family in self._families]


class _Family:
    """The pairs of a family in descending order of what was observed: step-down max-T."""

    def __init__(self, statistics: Sequence[_Statistic], members: Sequence[int]) -> None:
        self._statistics, self._members = statistics, members
        observed = {i: float(statistics[i].standardized(statistics[i].observed)[0]) for i in members}
        self._order = sorted(members, key=lambda i: -observed[i])
        self._thresholds = [observed[i] - statistics[i].standardized_allowance for i in self._order]
        self._extreme = [0] * len(members)
        self._largest: list[Floats] = []

    def add(self, flipped: Sequence[_Sums]) -> None:
        """Add flips: compare each pair with the largest of those that were observed to be no more extreme."""
        largest: Floats | float = -math.inf
        sizes: Floats | float = 0.0
        for rank in reversed(range(len(self._order))):
            statistic, sums = self._statistics[self._order[rank]], flipped[self._order[rank]]
            largest = np.maximum(largest, statistic.standardized(sums))
            sizes = np.maximum(sizes, statistic.standardized_sizes(sums))
            self._extreme[rank] += int(np.count_nonzero(largest >= self._thresholds[rank]))
        self._largest.append(np.atleast_1d(sizes))

    def adjusted(self, p_values: Sequence[float], options: FlipOptions) -> list[tuple[float, float]]:
        """Return the adjusted p-value of each member, and the largest size that is not extreme.

        An adjusted p-value is at least the p-value, which may be exact, and those of more extreme members.
        A size is extreme if the share of flips with a largest size that is no smaller, but for rounding, is within the
        level: if it is above the j-th largest of m sizes, where j of m + 1 is the level.
        """
        adjusted, least = {}, 0.0
        for i, extreme in zip(self._order, self._extreme, strict=True):
            of_family = (extreme + 1) / (options.flips + 1) if len(self._order) > 1 else 0.0
            adjusted[i] = least = max(least, of_family, p_values[i])
        sizes = np.sort(np.concatenate(self._largest))
        quantile = float(sizes[-ranks_within(options.level, options.flips)])
        return [(adjusted[i], quantile + self._statistics[i].standardized_allowance) for i in self._members]


def _exact_test(pair: PairNumbers, scaled: _Scaled, units: Units, alternative: Alternative) -> FlipTest | None:
    """Return the test by all patterns of signs; None if there are too many, and differences have several sizes."""
    differing = _DifferingUnits(pair.is_linear)
    for some in units.portions():
        differing.add(
            _differences(pair, "numerators", scaled.numerators, some),
            _differences(pair, "denominators", scaled.denominators, some) if pair.has_denominators else [],
        )
        if differing.are_many and not differing.have_one_size:
            return None
    if differing.are_many:
        p = sign_test(differing.greater, differing.count - differing.greater, alternative).p
        return FlipTest(p, 0.0, is_exact=True)
    sums = _Sums(*(tuple(map(_all_signed_sums, part)) for part in differing.numbers()))
    observed = _Sums(*(tuple(one[:1] for one in part) for part in sums))
    extreme = _Statistic(pair, scaled, observed, alternative).count_extreme(sums)
    return FlipTest(extreme / 2**differing.count, 0.0, is_exact=True)


class _DifferingUnits:
    """The units that differ by more than rounding, among those that were looked at."""

    def __init__(self, is_linear: bool) -> None:  # noqa: FBT001 - a property of the pair, not a switch
        self._is_linear = is_linear
        self.count = self.greater = 0
        self._sizes: list[int] = []  # the smallest and the largest of each portion
        self._numbers: list[tuple[list[Integers], list[Integers]]] = []

    def add(self, numerators: list[Integers], denominators: list[Integers]) -> None:
        """Look at units by their differences in each ratio."""
        sizes = np.abs(numerators[0])
        differs = sizes > 1
        for one in (*numerators[1:], *denominators):
            differs |= np.abs(one) > 1
        count = int(np.count_nonzero(differs))
        self.count += count
        if count and self._is_linear:
            sizes = sizes[differs]
            self._sizes += int(sizes.min()), int(sizes.max())
            self.greater += int(np.count_nonzero(numerators[0] > 1))
        if not self.are_many:
            self._numbers.append(([one[differs] for one in numerators], [one[differs] for one in denominators]))

    @property
    def are_many(self) -> bool:
        """Whether their signs have too many patterns to try."""
        return self.count > MOST_ENUMERATED

    @property
    def have_one_size(self) -> bool:
        """Whether all differences have the same size, but for rounding: then their number of each sign is all that counts."""
        return self._is_linear and max(self._sizes) - min(self._sizes) <= 2

    def numbers(self) -> tuple[list[Integers], list[Integers]]:
        """Return the differences of the numerators of each ratio, and of the denominators, if there are not many."""
        numerators, denominators = zip(*self._numbers, strict=True)
        return list(map(np.concatenate, zip(*numerators, strict=True))), list(
            map(np.concatenate, zip(*denominators, strict=True))
        )


def _all_signed_sums(numbers: Integers) -> Integers:
    """Return the sum of the numbers with each pattern of signs; the first has all signs +."""
    sums = np.zeros(1, np.int64)
    for number in numbers.tolist():
        sums = np.concatenate([sums + number, sums - number])
    return sums


def _differences(pair: PairNumbers, part: str, scales: Sequence[int], units: UnitNumbers) -> list[Integers]:
    """Return by what each unit differs, in each ratio."""
    return [
        units.integers(getattr(one, part), scale) - units.integers(getattr(other, part), scale)
        for one, other, scale in zip(pair.system, pair.baseline, scales, strict=True)
    ]
