"""rFrom exact moments to the values of two systems, and the variances of what is estimated."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Moments(NamedTuple):
    """The sums of some columns, and of their products, over units: users, or clusters of users.

    They are integers, each to be multiplied by 2 to the power of minus its scale, so that addition is exact and the
    sums of disjoint sets of units are those of their union.
    """

    units: int
    sums: tuple[int, ...]  # by column
    sums_scale: int
    products: tuple[int, ...]  # by pair of columns, as combinations_with_replacement orders them
    products_scale: int

    def plus(self, other: Moments) -> Moments:
        """Return the moments over both sets of units."""
        return Moments(
            self.units + other.units,
            *_add(self.sums, self.sums_scale, other.sums, other.sums_scale),
            *_add(self.products, self.products_scale, other.products, other.products_scale),
        )

    def sum(self, column: int) -> Fraction:
        """Return the sum of a column."""
        return Fraction(self.sums[column], 1 << self.sums_scale)

    def product_of_contrasts(self, one: Sequence[int], other: Sequence[int]) -> int:
        """Return the sum over units of the product of two linear combinations of the columns, scaled as products."""
        return sum(
            product * (one[i] * other[j] + (one[j] * other[i] if i != j else 0))
            for (i, j), product in zip(pairs_of_columns(len(self.sums)), self.products, strict=True)
        )

    def are_possible(self) -> bool:
        """Return whether some numbers have these moments: the matrix of products, with a column of ones, is semidefinite."""
        size = len(self.sums) + 1
        matrix = [[Fraction(0)] * size for _ in range(size)]
        matrix[0][0] = Fraction(self.units)
        for i in range(1, size):
            matrix[0][i] = matrix[i][0] = self.sum(i - 1)
        pairs = combinations_with_replacement(range(1, size), 2)
        for (i, j), product in zip(pairs, self.products, strict=True):
            matrix[i][j] = matrix[j][i] = Fraction(product, 1 << self.products_scale)
        return _is_semidefinite(matrix)


@cache
def pairs_of_columns(columns: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns in the order of the products."""
    return tuple(combinations_with_replacement(range(columns), 2))


def _is_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Return whether a symmetric matrix has no negative pivot, by exact elimination."""
    for k, pivot_row in enumerate(matrix):
        pivot = pivot_row[k]
        rest = range(k + 1, len(matrix))
        if pivot < 0 or (pivot == 0 and any(pivot_row[j] for j in rest)):
            return False
        if pivot == 0:
            continue
        for i in rest:
            factor = pivot_row[i] / pivot
            for j in rest:
                matrix[i][j] -= factor * pivot_row[j]
    return True


def _add(
    integers: tuple[int, ...], scale: int, others: tuple[int, ...], other_scale: int
) -> tuple[tuple[int, ...], int]:
    """Return the sums of scaled integers, and their scale."""
    finest = max(scale, other_scale)
    return tuple(
        (one << (finest - scale)) + (other << (finest - other_scale))
        for one, other in zip(integers, others, strict=True)
    ), finest


_ROUNDING_BITS = 40  # of the values that are compared, far fewer than those of doubles

Ratio: TypeAlias = tuple[int, int]
"""The columns of a numerator and of its denominator."""

Gradient: TypeAlias = tuple[Fraction, tuple[Fraction, ...]]
"""A function's value, and its derivatives by its arguments."""


def is_rounding(variance: Fraction, mean: Fraction) -> bool:
    """Return whether numbers vary by no more than rounding."""
    return variance <= Fraction(1, 1 << 2 * _ROUNDING_BITS) * mean**2


class RunVariance(NamedTuple):
    """How the mean value of the training runs of a system varies."""

    variance: Fraction  # the sample variance of the runs' values, divided by their number
    degrees_of_freedom: int

    @classmethod
    def of_values(cls, values: Sequence[float]) -> RunVariance:
        """Return the variance of the mean of the runs' values; 0 if they differ by rounding alone."""
        numbers = [Fraction(value) for value in values]
        mean = Fraction(sum(numbers), len(numbers))
        variance = Fraction(sum((number - mean) ** 2 for number in numbers), len(numbers) - 1)
        return cls(Fraction(0) if is_rounding(variance, mean) else variance / len(numbers), len(numbers) - 1)


_ONE_RUN = RunVariance(Fraction(0), 0)


class Contrast(NamedTuple):
    """The value of a system less a factor times that of its baseline."""

    difference: Fraction
    variance: Fraction  # squared standard error
    users_variance: Fraction  # the part of it that users cause; training runs cause the rest
    degrees_of_freedom: Fraction


class Covariances(NamedTuple):
    """How the values of a system and of its baseline vary over users: integers, to be divided by the divisor.

    They are no fractions, whose arithmetic would look for common divisors in each step.
    """

    variance: int  # squared standard error of the value
    covariance: int
    baseline_variance: int
    divisor: int


@dataclass(frozen=True)
class Estimate:
    """The values of a system and of its baseline, and how they vary."""

    value: Fraction
    baseline_value: Fraction
    covariances: Covariances
    units: int
    degrees_of_freedom: Fraction  # of users
    size: float  # of the sample, as Kish has it by what units weigh in a value; the smaller one of both systems
    is_logarithmic: bool  # the values are logarithms of those that are shown, as in geometric means
    range: tuple[float, float] = (-math.inf, math.inf)  # of a unit's values
    differing: int = 0  # units whose values differ
    runs: RunVariance = _ONE_RUN
    baseline_runs: RunVariance = _ONE_RUN

    @property
    def shown_baseline_value(self) -> float:
        """The baseline's value as it is shown."""
        return math.exp(self.baseline_value) if self.is_logarithmic else float(self.baseline_value)

    @property
    def mirrored(self) -> Estimate:
        """The estimate with the system and its baseline exchanged."""
        variance, covariance, baseline_variance, divisor = self.covariances
        return replace(
            self,
            value=self.baseline_value,
            baseline_value=self.value,
            covariances=Covariances(baseline_variance, covariance, variance, divisor),
            runs=self.baseline_runs,
            baseline_runs=self.runs,
        )

    @property
    def sign_flips(self) -> int:
        """The number of signs that sign flips of equal differences choose: the units, or their effective number."""
        return math.floor(self.degrees_of_freedom) + 1

    @property
    def width(self) -> float:
        """The width of the range: the most by which a unit may differ."""
        return self.range[1] - self.range[0]

    @property
    def has_range(self) -> bool:
        """Whether that is known."""
        return self.width < math.inf

    @property
    def has_runs(self) -> bool:
        """Whether training runs add to the variance."""
        return bool(self.runs.variance or self.baseline_runs.variance)

    def with_runs(self, runs: Sequence[float], baseline_runs: Sequence[float]) -> Estimate:
        """Return the estimate for means over the training runs that have these values; none where there is one run."""
        if not runs and not baseline_runs:
            return self
        system, baseline = (RunVariance.of_values(one) if one else _ONE_RUN for one in (runs, baseline_runs))
        return replace(self, runs=system, baseline_runs=baseline)

    def contrast(self, factor: Fraction | None = None) -> Contrast:
        """Return the value less the factor, or 1, times that of the baseline, and its variance.

        Values are rounded to doubles, so that 0.3 - 0.2 is not 0.1 - 0.0: a variance that comes from that alone is 0,
        and so is a difference without variance.
        """
        return self._difference if factor is None else self._contrast(factor)

    @cached_property
    def _difference(self) -> Contrast:
        return self._contrast(1)

    def _contrast(self, factor: Fraction | int) -> Contrast:
        difference = self.value - (self.baseline_value if factor == 1 else factor * self.baseline_value)
        (p, q), (of_system, covariance, of_baseline, divisor) = factor.as_integer_ratio(), self.covariances
        variance = of_system * q * q - 2 * covariance * p * q + of_baseline * p * p
        divisor *= q * q
        # Both sides of units * variance <= rounding^2 * mean square, times all divisors.
        mean_square, divisor_of_values = self._mean_square(p, q)
        mean_square = mean_square * divisor + self.units * (of_system * q * q + of_baseline * p * p) * divisor_of_values
        if self.units * variance * divisor_of_values << 2 * _ROUNDING_BITS <= mean_square:
            square = Fraction(mean_square, divisor_of_values * divisor << 2 * _ROUNDING_BITS)
            difference = Fraction(0) if difference**2 <= square else difference
            variance = 0
        users_variance = Fraction(variance, divisor)
        if not self.has_runs:
            return Contrast(difference, users_variance, users_variance, self.degrees_of_freedom)
        of_runs = [(self.runs, 1), (self.baseline_runs, factor**2)]
        parts = [(users_variance, self.degrees_of_freedom)]
        parts += [(square * runs.variance, Fraction(runs.degrees_of_freedom)) for runs, square in of_runs]
        total = sum((part for part, _ in parts), start=Fraction(0))
        return Contrast(difference, total, users_variance, _satterthwaite(total, parts))

    def _mean_square(self, p: int, q: int) -> tuple[int, int]:
        """Return the sum of the squares of the value and of p / q times that of the baseline, and what divides it."""
        (value, divisor), (baseline, other_divisor) = (
            one.as_integer_ratio() for one in (self.value, self.baseline_value)
        )
        return (value * other_divisor * q) ** 2 + (baseline * divisor * p) ** 2, (divisor * other_divisor * q) ** 2


def _satterthwaite(total: Fraction, parts: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the degrees of freedom of a sum of variances: V^2 / sum (V_i^2 / df_i) [1]_.

    References
    ----------
    .. [1] Satterthwaite, "An approximate distribution of estimates of variance components", 1946.
    """
    (_, of_users), *of_runs = parts
    if of_users <= 0 or not any(part for part, _ in of_runs):
        return of_users
    return total**2 / sum(part**2 / df for part, df in parts if part)


def mean_of(ratios: Sequence[Fraction]) -> Gradient:
    """Return the only ratio: a mean (macro, geometric) or the ratio of two sums (micro)."""
    (ratio,) = ratios
    return ratio, (Fraction(1),)


def f_of_means(ratios: Sequence[Fraction], share: Fraction) -> Gradient:
    """Return P R / ((1 - a) P + a R), and its derivatives by the mean precision P and the mean recall R; a is the share."""
    precision, recall = ratios
    divisor = (1 - share) * precision + share * recall
    if divisor == 0:
        return Fraction(0), (Fraction(0), Fraction(0))
    return precision * recall / divisor, (
        share * recall**2 / divisor**2,
        (1 - share) * precision**2 / divisor**2,
    )


def estimate(
    moments: Moments,
    system: Sequence[Ratio],
    baseline: Sequence[Ratio],
    function: Callable[[Sequence[Fraction]], Gradient] = mean_of,
    *,
    weight: int | None = None,
    is_logarithmic: bool = False,
) -> Estimate | None:
    """Return the estimate of two systems' values; None if a denominator is 0.

    `weight` is the column of weights: with them, the number of units is n_eff = (sum w)^2 / sum w^2 (Kish), as it is of
    the denominators of units that weigh as much as they have users, or otherwise not the same.
    """
    values = [_value(moments, ratios, function) for ratios in (system, baseline)]
    if None in values or moments.units == 0:
        return None
    (value, influence), (baseline_value, baseline_influence) = [one for one in values if one is not None]
    return Estimate(
        value,
        baseline_value,
        _covariances(moments, influence, baseline_influence),
        moments.units,
        Fraction(moments.units - 1) if weight is None else _effective_units(moments, weight) - 1,
        float(_size(moments, {column for _, column in (*system, *baseline)})),
        is_logarithmic,
    )


def size_under_exchange(
    moments: Moments,
    system: Sequence[Ratio],
    baseline: Sequence[Ratio],
    function: Callable[[Sequence[Fraction]], Gradient] = mean_of,
) -> Fraction:
    """Return the mean square of the difference where the systems' numbers of each unit are exchanged at random.

    It is sum D^2 / (sum M)^2 for a mean, with the difference D of a unit's numerators. Other averages are taken as linear
    about the ratios of both systems together. Unlike the variance, it is the same however numbers are exchanged. 0 for
    differences that come from rounding alone.
    """
    both = list(zip(system, baseline, strict=True))
    numerators = [moments.sum(one[0]) + moments.sum(other[0]) for one, other in both]
    denominators = [moments.sum(one[1]) + moments.sum(other[1]) for one, other in both]
    ratios = [numerator / denominator for numerator, denominator in zip(numerators, denominators, strict=True)]
    value, derivatives = function(ratios)
    contrast = [Fraction(0)] * len(moments.sums)
    for pair, ratio, denominator, derivative in zip(both, ratios, denominators, derivatives, strict=True):
        for (of_numerator, of_denominator), turn in zip(pair, (2, -2), strict=True):
            contrast[of_numerator] += turn * derivative / denominator
            contrast[of_denominator] -= turn * derivative * ratio / denominator
    divisor = math.lcm(*(one.denominator for one in contrast))
    factors = [one.numerator * (divisor // one.denominator) for one in contrast]
    square = Fraction(moments.product_of_contrasts(factors, factors), divisor**2 << moments.products_scale)
    return square if (moments.units << 2 * _ROUNDING_BITS) * square > value**2 else Fraction(0)


class _Influence(NamedTuple):
    """What a unit adds to a value: a linear combination of the columns.

    The factors are integers, to be multiplied by 2 to the power of the scale of the sums and divided by the divisor.
    """

    factors: list[int]
    divisor: int


def _value(
    moments: Moments, ratios: Sequence[Ratio], function: Callable[[Sequence[Fraction]], Gradient]
) -> tuple[Fraction, _Influence] | None:
    """Return a system's value, and what each unit adds to it."""
    sums = moments.sums
    if not all(sums[denominator] for _, denominator in ratios):
        return None
    arguments = [Fraction(sums[numerator], sums[denominator]) for numerator, denominator in ratios]
    value, derivatives = function(arguments)
    # A unit with N and M adds (N - r M) * derivative / sum M.
    divisors = [
        argument.denominator * derivative.denominator * sums[denominator]
        for (_, denominator), argument, derivative in zip(ratios, arguments, derivatives, strict=True)
    ]
    divisor = math.lcm(*divisors)
    factors = [0] * len(sums)
    for (numerator, denominator), argument, derivative, own_divisor in zip(
        ratios, arguments, derivatives, divisors, strict=True
    ):
        factor = derivative.numerator * (divisor // own_divisor)
        factors[numerator] += factor * argument.denominator
        factors[denominator] -= factor * argument.numerator
    return value, _Influence(factors, divisor)


def _covariances(moments: Moments, one: _Influence, other: _Influence) -> Covariances:
    """Return sum z z' / (G (G - 1)) of the influences z, which are G times what a unit adds."""
    units = moments.units
    if units < 2:
        return Covariances(0, 0, 0, 1)
    divisor = math.lcm(one.divisor, other.divisor)
    of_one, of_other = (
        [factor * (divisor // influence.divisor) for factor in influence.factors] for influence in (one, other)
    )
    products = [
        (moments.product_of_contrasts(*both) * units) << 2 * moments.sums_scale
        for both in ((of_one, of_one), (of_one, of_other), (of_other, of_other))
    ]
    numbers = [*products, divisor**2 * (units - 1) << moments.products_scale]
    bits = reduce(operator.or_, numbers)
    zeros = (bits & -bits).bit_length() - 1  # of all numbers at their end
    return Covariances(*(number >> zeros for number in numbers))


def _size(moments: Moments, columns: set[int]) -> Fraction:
    """Return the smallest n_eff of some columns, which is from 1 to the number of units."""
    return max(Fraction(1), min(Fraction(moments.units), *(_effective_units(moments, column) for column in columns)))


def _effective_units(moments: Moments, weight: int) -> Fraction:
    """Return n_eff of a column of weights, whose sum is not 0."""
    square = moments.products[pairs_of_columns(len(moments.sums)).index((weight, weight))]
    return Fraction(moments.sums[weight] ** 2 << moments.products_scale, square << 2 * moments.sums_scale)
