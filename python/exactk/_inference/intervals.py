"""The t intervals of differences and of relative differences, the intervals of means, and bounds of means whose range is known.

Bounds are those of values on the unit scale, (x - low) / (high - low) of their range; they stay in it and never have no
width.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from exactk._inference.estimates import is_rounding
from exactk._inference.geometric_means import difference_interval
from exactk._inference.significance import (
    LEAST_P,
    UNDEFINED_INTERVAL,
    HalfWidth,
    Interval,
    contrast_interval,
    expm1,
    level_of,
    quotient,
    root,
    root_of_quotient,
    standard_errors,
    t_quantile,
)
from exactk._runtime import optional

if TYPE_CHECKING:
    from typing import Self

    from exactk._inference.estimates import Estimate

Method = Literal["t", "beta", "beta and t"]

_FEW_AWAY = 5
_MANY_AWAY = 20
"""Users away from a bound of the range: up to these the Beta distribution has the bounds, from those on Student's t."""

_NEGLIGIBLE = 1e-100
"""A mean that has no lower bound but the end of the range: its square would not be a normal double."""

_MANY_DIFFERING = 20
"""Users that differ from which on a margin is tested by Student's t alone."""


class Sample(NamedTuple):
    """What is known of the values of units: users, or clusters of users.

    The variance is sum(((x - mean) w)^2) / sum(w^2) for units of weight w, and the size Kish's: sum(w)^2 / sum(w^2).
    """

    mean: float
    variance: float
    size: float
    units: int

    def standard_error(self) -> float:
        """Return the standard error of the mean."""
        return math.sqrt(self.variance / self.size * self.units / (self.units - 1))


def mean_bounds(sample: Sample, confidence: float) -> tuple[float, float, Method]:
    """Return the two-sided bounds of the mean, and which distribution has given them.

    For 0/1 values they are those of Clopper and Pearson while hits or misses are few, and of Student's t where both are
    many; between, they pass from one to the other without a jump.
    """
    level = (1 - confidence) / 2
    mean, variance, size, _ = sample
    low, high = one_sided_bounds(sample, level)
    away = size * variance / max(mean, 1 - mean) ** 2
    share = _smooth_step((away - _FEW_AWAY) / (_MANY_AWAY - _FEW_AWAY)) if size > 1 else 0.0
    if share == 0:
        return low, high, "beta"
    width = optional.scipy_special().stdtrit(size - 1, 1 - level) * sample.standard_error()
    low = share * max(0.0, mean - width) + (1 - share) * low
    high = share * min(1.0, mean + width) + (1 - share) * high
    return float(low), float(high), "t" if share == 1 else "beta and t"


def one_sided_bounds(sample: Sample, level: float) -> tuple[float, float]:
    """Return a lower and an upper bound of the mean, each of which fails with the probability ``level``.

    They are quantiles of the Beta distribution with the mean and variance of the sample and one more unit at the end of
    the range, and at least as far away as the rule of three has them: units unlike all of the sample may be as many as
    would not have been seen with that probability.
    """
    mean, _, size, _ = sample
    special = optional.scipy_special()
    low, high = 0.0, 1.0
    # min and max return the first of two if the second is NaN, as SciPy's is for a billion values that are nearly equal.
    if mean > _NEGLIGIBLE:
        low = min(mean * level ** (1 / size), special.betaincinv(*_shape(sample, 0), level))
    if mean < 1:
        above = mean - (1 - mean) * math.expm1(math.log(level) / size)
        high = max(above, special.betaincinv(*_shape(sample, 1), 1 - level))
    return float(low), float(high)


def p_mean_above(sample: Sample, least: float, by_t: float, differing: float) -> float:
    """Return the p-value of the claim that the mean is above ``least``, of which few ``differing`` units can tell little.

    It is that of Student's t, ``by_t``, raised towards the level at which the lower bound reaches ``least``, the more the
    fewer units differ.
    """
    raised = (1 - _smooth_step(differing / _MANY_DIFFERING)) * max(0.0, _p_by_bound(sample, least) - by_t)
    return max(by_t + raised, LEAST_P)


def _p_by_bound(sample: Sample, least: float) -> float:
    """Return the level at which the lower bound of the mean is ``least``."""
    mean, _, size, _ = sample
    if mean <= least:
        return 1.0
    if least <= 0:  # the least possible value
        return 0.0
    by_beta = optional.scipy_special().betainc(*_shape(sample, 0), least)
    return max(float(by_beta), math.pow(least / mean, size), LEAST_P)


def _shape(sample: Sample, end: int) -> tuple[float, float]:
    """Return the parameters of the Beta distribution of the sample and one more unit at an end of the range, 0 or 1."""
    mean, variance, size, _ = sample
    middle = (size * mean + end) / (size + 1)
    spread = size * variance / (size + 1) + size * ((end - mean) / (size + 1)) ** 2
    total = max((size + 2) * middle * (1 - middle) / spread - 1, 1.0)  # below 1 only with extreme weights
    return middle * total, (1 - middle) * total


def _smooth_step(share: float) -> float:
    """Return 0 up to 0 and 1 from 1 on, and between them 3 u^2 - 2 u^3, whose slope is 0 at both ends."""
    share = min(1.0, max(0.0, share))
    return share * share * (3 - 2 * share)


def t_interval(estimate: Estimate, confidence: float, half_width: HalfWidth | None = None) -> Interval:
    """Return the interval of the difference: all differences that the t test does not reject.

    A half width takes the place of t * SE. Where neither has any, it is `_interval_without_variance`.
    """
    if lacks_width(estimate, half_width):
        gap = _interval_without_variance(estimate, confidence)
        return _interval_of_certain_gap(estimate, confidence, gap) if estimate.is_logarithmic else gap
    interval = difference_interval if estimate.is_logarithmic else contrast_interval
    return interval(estimate, confidence, half_width)


def lacks_width(estimate: Estimate, half_width: HalfWidth | None = None) -> bool:
    """Return whether the difference has no variance, as all units differ by the same amount, and no half width."""
    return not (estimate.contrast().variance or (half_width is not None and half_width.value))


def share_unlike(estimate: Estimate, level: float) -> float:
    """Return the largest share of units unlike all in the sample, of which a sample has none with the probability of the level."""
    return -math.expm1(math.log(level) / estimate.size)


def _interval_without_variance(estimate: Estimate, confidence: float) -> Interval:
    """Return the interval of the tested difference d where a share of units is unlike those seen, which all have d.

    In these units it may be anything from -R to R, the width of the values' range; NaN where that is not known.
    """
    if not estimate.has_range:
        return UNDEFINED_INTERVAL
    share, difference = share_unlike(estimate, level_of(confidence) / 2), float(estimate.contrast().difference)
    return Interval(
        difference - (difference + estimate.width) * share, difference + (estimate.width - difference) * share
    )


def _interval_of_certain_gap(estimate: Estimate, confidence: float, gap: Interval) -> Interval:
    """Return the interval of the difference of geometric means that the interval of the logarithms' gap amounts to.

    The baseline's value has the error that it has in any other sample; differences are within the range.
    """
    if estimate.degrees_of_freedom <= 0 or math.isnan(gap.low):
        return UNDEFINED_INTERVAL
    difference = float(estimate.contrast().difference)
    quantile = t_quantile((1 + confidence) / 2, estimate.degrees_of_freedom) or 1.0  # 0 at a confidence of 0
    half_widths = [HalfWidth(quantile, Fraction((bound - difference) / quantile) ** 2) for bound in gap]
    low, high = (difference_interval(estimate, confidence, half_width) for half_width in half_widths)
    most = math.exp(estimate.range[1]) - math.exp(estimate.range[0])
    return Interval(max(-most, low.low), min(most, high.high))


def relative_interval(estimate: Estimate, confidence: float, half_width: HalfWidth | None = None) -> Interval:
    """Return the interval of value / baseline - 1: the factors whose contrast the t test does not reject (Fieller).

    NaN where the baseline is not above 0, or does not differ from 0 by the same test, as the factors are then unbounded. The half width of
    the difference in standard errors takes the place of the quantile of the t distribution.
    """
    if lacks_width(estimate, half_width):
        return _relative_interval_without_variance(estimate, confidence)
    if estimate.is_logarithmic:
        low, high = contrast_interval(estimate, confidence, half_width)
        return Interval(expm1(low), expm1(high))
    if estimate.degrees_of_freedom <= 0 or estimate.baseline_value <= 0:
        return UNDEFINED_INTERVAL
    if estimate.has_runs:
        return _relative_interval_with_runs(estimate, confidence)
    return _fieller_interval(estimate, confidence, half_width)


def _fieller_interval(estimate: Estimate, confidence: float, half_width: HalfWidth | None) -> Interval:
    """Return the relative interval where the variances are those of users alone."""
    quantile = standard_errors(estimate, confidence, half_width)
    if math.isinf(quantile):
        return UNDEFINED_INTERVAL
    # (a - f b)^2 = q^2 (V_a - 2 f V_ab + f^2 V_b) is quadratic in the factor f, whose coefficients are integers after
    # multiplication by all divisors.
    (value, divisor), (baseline, baseline_divisor) = (
        one.as_integer_ratio() for one in (estimate.value, estimate.baseline_value)
    )
    value, baseline, divisor = value * baseline_divisor, baseline * divisor, divisor * baseline_divisor
    variance, covariance, baseline_variance, divisor_of_variances = estimate.covariances
    numerator, denominator = quantile.as_integer_ratio()
    of_values, of_variances = divisor_of_variances * denominator**2, numerator**2 * divisor**2
    quadratic = baseline**2 * of_values - baseline_variance * of_variances
    linear = value * baseline * of_values - covariance * of_variances
    constant = value**2 * of_values - variance * of_variances
    if quadratic <= 0:
        return UNDEFINED_INTERVAL
    width = root_of_quotient(max(0, linear**2 - quadratic * constant), quadratic**2)
    middle = quotient(linear - quadratic, quadratic)
    return Interval(middle - width, middle + width) if math.isfinite(middle) else UNDEFINED_INTERVAL


def _relative_interval_without_variance(estimate: Estimate, confidence: float) -> Interval:
    """Return the relative interval where the units that may be unlike all others are at the ends of the range."""
    if estimate.is_logarithmic or not estimate.has_range:
        return Interval(*map(expm1, _interval_without_variance(estimate, confidence)))
    share, (least, most) = share_unlike(estimate, level_of(confidence) / 2), estimate.range
    value, baseline = ((1 - share) * float(one) for one in (estimate.value, estimate.baseline_value))
    lowest, highest = baseline + share * least, baseline + share * most
    if baseline <= 0 or lowest <= 0:
        return UNDEFINED_INTERVAL
    return Interval((value + share * least) / highest - 1, (value + share * most) / lowest - 1)


_MOST_DOUBLINGS = 100
_FACTOR_TOLERANCE = 1e-14
_LARGEST_RATIO = 1e100  # whose square is a double, also that of many times as much


def _relative_interval_with_runs(estimate: Estimate, confidence: float) -> Interval:
    """Return the relative interval where the degrees of freedom, hence the quantile, depend on the factor: by bisection."""
    scale = estimate.baseline_value
    ratio = quotient(estimate.value, scale)
    if abs(ratio) > _LARGEST_RATIO:
        return UNDEFINED_INTERVAL
    *moments, divisor = estimate.covariances
    variance, covariance, baseline_variance = (float(Fraction(one, divisor) / scale**2) for one in moments)
    of_runs, of_baseline_runs = (float(one.variance / scale**2) for one in (estimate.runs, estimate.baseline_runs))
    degrees = (
        float(estimate.degrees_of_freedom),
        estimate.runs.degrees_of_freedom,
        estimate.baseline_runs.degrees_of_freedom,
    )
    quantile_of, probability = optional.scipy_special().stdtrit, (1 + confidence) / 2

    def is_rejected(share: float, factor: float) -> bool:
        """Return whether the share of the value differs significantly from the factor times that of the baseline."""
        of_users = share**2 * variance - 2 * share * factor * covariance + factor**2 * baseline_variance
        parts = (max(0.0, of_users), share**2 * of_runs, factor**2 * of_baseline_runs)
        total = sum(parts)
        difference = share * ratio - factor
        if total == 0:
            return difference != 0
        unit = math.frexp(total)[1]  # without which squares would underflow
        whole, *scaled = (math.ldexp(part, -unit) for part in (total, *parts))
        df = whole**2 / sum(part**2 / df for part, df in zip(scaled, degrees, strict=True) if part)
        return bool(difference**2 > quantile_of(df, probability) ** 2 * total)

    def bound(step: float) -> float:
        """Return the bound on this side of the estimated factor."""
        accepted, rejected = ratio, ratio + step
        for _ in range(_MOST_DOUBLINGS):
            if is_rejected(1.0, rejected):
                break
            accepted, step = rejected, 2 * step
            rejected = ratio + step
        else:
            return math.nan
        while abs(rejected - accepted) > _FACTOR_TOLERANCE * max(1.0, abs(accepted)):
            middle = (accepted + rejected) / 2
            accepted, rejected = (accepted, middle) if is_rejected(1.0, middle) else (middle, rejected)
        return accepted - 1

    if not is_rejected(0.0, 1.0):  # no factor is too large
        return UNDEFINED_INTERVAL
    return Interval(bound(-1.0), bound(1.0))


MeanMethod: TypeAlias = Literal["t", "beta", "beta and t", "bound"]


class MeanInterval(Interval):
    """The bounds of the mean of a metric's values.

    Attributes
    ----------
    low, high : float
        The bounds, in the range of the values; infinite where nothing is known, and NaN where there is no interval.
    method : {"t", "beta", "beta and t", "bound"} or None
        The distribution they come from; ``"bound"`` if only one end of the range is known and the values are equal.
    limits : tuple of two floats
        The range of the values.
    """

    __module__ = "exactk.results"

    method: MeanMethod | None
    limits: tuple[float, float]

    def __new__(
        cls,
        low: float = math.nan,
        high: float = math.nan,
        method: MeanMethod | None = None,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> Self:
        """Return the bounds, by default none."""
        interval = super().__new__(cls, low, high)
        interval.method, interval.limits = method, limits
        return interval


def mean_interval(
    mean: Fraction,
    variance: Fraction,
    units: int,
    confidence: float,
    limits: tuple[float, float],
    size: float | None = None,
) -> MeanInterval:
    """Return the interval of a mean over units of values whose range is known as far as it is finite.

    The variance and the size are those of a `Sample`; the size is the number of units if they have equal weights, the
    default. Where both ends are finite, `mean_bounds` has the bounds. Otherwise they are those of Student's t within the range;
    for values that do not vary, there is only a bound towards an end that is finite.
    """
    low, high = limits
    size = units if size is None else size
    variance = max(Fraction(0), variance)
    if low < high and math.isfinite(low) and math.isfinite(high):
        origin, span = Fraction(low), Fraction(high) - Fraction(low)
        share = min(max(Fraction(0), (mean - origin) / span), Fraction(1))
        sample = Sample(float(share), float(variance / span**2), size, units)
        low_share, high_share, method = mean_bounds(sample, confidence)
        bounds = [float(origin + span * Fraction(bound)) for bound in (low_share, high_share)]
        return MeanInterval(bounds[0], bounds[1], method, limits)
    middle = float(mean)
    if size > 1 and not is_rounding(variance, mean):
        square = variance / Fraction(size) * Fraction(units, units - 1)
        half_width = t_quantile((1 + confidence) / 2, Fraction(size) - 1) * root(square)
        return MeanInterval(max(low, middle - half_width), min(high, middle + half_width), "t", limits)
    share_unseen = ((1 - confidence) / 2) ** (1 / size)
    if math.isfinite(low) and math.isinf(high):
        return MeanInterval(low + (middle - low) * share_unseen, math.inf, "bound", limits)
    if math.isfinite(high) and math.isinf(low):
        return MeanInterval(-math.inf, high - (high - middle) * share_unseen, "bound", limits)
    return MeanInterval(limits=limits)
