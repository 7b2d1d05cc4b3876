r"""From exact moments to the values of two systems, and the variances of what is estimated.

A value is a function :math:`g` of ratios :math:`r_i = \sum N_i / \sum M_i` of sums over units. A unit's influence on it is

.. math:: z = \sum_i \frac{\partial g}{\partial r_i} \cdot \frac{N_i - r_i M_i}{\bar M_i}, \qquad \bar M_i = \sum M_i / G

over G units, so that the influences sum to 0 and

.. math:: SE^2(\theta_A - \lambda \theta_B) = \frac{\sum (z_A - \lambda z_B)^2}{G (G - 1)}

For a mean of equal weights this is the variance of the paired t test. Where a value is a mean over k training runs, the
sample variance of the runs' values divided by k is added, and the degrees of freedom are those of Welch and Satterthwaite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._inference.moments import Moments

_ROUNDING = Fraction(1, 2**40)  # of the values that are compared, far above that of doubles

Ratio: TypeAlias = tuple[int, int]
"""The columns of a numerator and of its denominator."""

Gradient: TypeAlias = tuple[Fraction, tuple[Fraction, ...]]
"""A function's value, and its derivatives by its arguments."""


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
        is_rounding = variance <= _ROUNDING**2 * mean**2
        return cls(Fraction(0) if is_rounding else variance / len(numbers), len(numbers) - 1)


_ONE_RUN = RunVariance(Fraction(0), 0)


class Contrast(NamedTuple):
    """The value of a system less a factor times that of its baseline."""

    difference: Fraction
    variance: Fraction  # squared standard error
    users_variance: Fraction  # the part of it that users cause; training runs cause the rest
    degrees_of_freedom: Fraction


@dataclass(frozen=True)
class Estimate:
    """The values of a system and of its baseline, and how they vary."""

    value: Fraction
    baseline_value: Fraction
    variance: Fraction  # squared standard error of the value, over users
    baseline_variance: Fraction
    covariance: Fraction
    units: int
    degrees_of_freedom: Fraction  # of users
    is_logarithmic: bool  # the values are logarithms of those that are shown, as in geometric means
    runs: RunVariance = _ONE_RUN
    baseline_runs: RunVariance = _ONE_RUN

    @property
    def shown_baseline_value(self) -> float:
        """The baseline's value as it is shown."""
        return math.exp(self.baseline_value) if self.is_logarithmic else float(self.baseline_value)

    @property
    def sign_flips(self) -> int:
        """The number of signs that sign flips of equal differences choose: the units, or their effective number."""
        return math.floor(self.degrees_of_freedom) + 1

    @property
    def has_runs(self) -> bool:
        """Whether training runs add to the variance."""
        return bool(self.runs.variance or self.baseline_runs.variance)

    def with_runs(self, runs: Sequence[float], baseline_runs: Sequence[float]) -> Estimate:
        """Return the estimate for means over the training runs that have these values; none where there is one run."""
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
        difference = self.value - factor * self.baseline_value
        variance = self.variance - 2 * factor * self.covariance + factor**2 * self.baseline_variance
        of_system, of_baseline = self._mean_squares
        scale = _ROUNDING**2 * (of_system + factor**2 * of_baseline)
        if self.units * variance <= scale:
            variance = Fraction(0)
            difference = Fraction(0) if difference**2 <= scale else difference
        if not self.has_runs:
            return Contrast(difference, variance, variance, self.degrees_of_freedom)
        of_runs = [(self.runs, 1), (self.baseline_runs, factor**2)]
        parts = [(variance, self.degrees_of_freedom)]
        parts += [(square * runs.variance, Fraction(runs.degrees_of_freedom)) for runs, square in of_runs]
        total = sum((part for part, _ in parts), start=Fraction(0))
        return Contrast(difference, total, variance, _satterthwaite(total, parts))

    @cached_property
    def _mean_squares(self) -> tuple[Fraction, Fraction]:
        return (
            self.value**2 + self.units * self.variance,
            self.baseline_value**2 + self.units * self.baseline_variance,
        )


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

    `weight` is the column of weights: with them, the number of units is n_eff = (sum w)^2 / sum w^2 (Kish).
    """
    values = [_value_and_influence(moments, ratios, function) for ratios in (system, baseline)]
    if None in values or moments.units == 0:
        return None
    (value, influence), (baseline_value, baseline_influence) = [one for one in values if one is not None]
    divisor = moments.units * (moments.units - 1)

    def covariance(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        return moments.product_of_contrasts(one, other) / divisor if divisor else Fraction(0)

    return Estimate(
        value,
        baseline_value,
        covariance(influence, influence),
        covariance(baseline_influence, baseline_influence),
        covariance(influence, baseline_influence),
        moments.units,
        _effective_units(moments, weight) - 1,
        is_logarithmic,
    )


def _value_and_influence(
    moments: Moments, ratios: Sequence[Ratio], function: Callable[[Sequence[Fraction]], Gradient]
) -> tuple[Fraction, list[Fraction]] | None:
    """Return a system's value, and the factor of each column in a unit's influence on it."""
    denominators = [moments.sum(column) for _, column in ratios]
    if not all(denominators):
        return None
    arguments = [
        moments.sum(column) / denominator for (column, _), denominator in zip(ratios, denominators, strict=True)
    ]
    value, derivatives = function(arguments)
    influence = [Fraction(0)] * len(moments.sums)
    for (numerator, denominator), total, argument, derivative in zip(
        ratios, denominators, arguments, derivatives, strict=True
    ):
        factor = derivative * moments.units / total
        influence[numerator] += factor
        influence[denominator] -= factor * argument
    return value, influence


def _effective_units(moments: Moments, weight: int | None) -> Fraction:
    if weight is None:
        return Fraction(moments.units)
    contrast = [Fraction(column == weight) for column in range(len(moments.sums))]
    return moments.sum(weight) ** 2 / moments.product_of_contrasts(contrast, contrast)
