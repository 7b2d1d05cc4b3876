"""Tests against a margin: whether a system is worse, or better, than its baseline by more than a given difference.

Student's t is not enough where few units differ: it takes units unlike those of the sample for impossible, so that six
users for whom nothing differs would show any margin. Where the range of the values is known, its p-value is raised towards
the level at which a lower bound of the mean contrast is 0, whatever the values of users who were not seen.
"""

from __future__ import annotations

import math
import operator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from exactk._inference.geometric_means import contrast_at_difference, gap_at_difference
from exactk._inference.intervals import Sample, p_mean_above
from exactk._inference.significance import LEAST_P, expm1, holm, level_of, quotient, root, t_quantile, t_statistic
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inference.estimates import Contrast, Estimate

_Key = TypeVar("_Key")

_MOST_UNITS = 1 << 40
_ROUNDING_BITS = 40  # of the slope of a line, and of its inverse


class Margin(NamedTuple):
    """A difference, or a share of the baseline's value."""

    size: float
    is_relative: bool

    def __neg__(self) -> Margin:
        return Margin(-self.size, self.is_relative)

    def __str__(self) -> str:
        return f"{100 * self.size:g}%" if self.is_relative else f"{self.size:g}"

    def difference(self, baseline_value: float) -> float:
        """Return the margin as a difference."""
        return self.size * baseline_value if self.is_relative else self.size


def p_above(estimate: Estimate, margin: Margin) -> float:
    """Return the one-sided p-value of the claim that the difference is above the margin, which may be negative.

    A relative margin r is tested by the contrast a - (1 + r) b: no ratio, whose distribution would be an approximation,
    is needed.
    """
    return _p_beyond(estimate, margin, 1)


def p_below(estimate: Estimate, margin: Margin) -> float:
    """Return the one-sided p-value of the claim that the difference is below the margin."""
    return _p_beyond(estimate, margin, -1)


def p_within(estimate: Estimate, margin: Margin) -> float:
    """Return the p-value of the claim that the difference is between -margin and margin (TOST, two one-sided tests)."""
    sides = p_above(estimate, -margin), p_below(estimate, margin)
    return math.nan if any(map(math.isnan, sides)) else max(sides)


def contrast_at(estimate: Estimate, margin: Margin) -> Contrast:
    """Return the difference less the margin, as it is tested, with its variance."""
    if not estimate.is_logarithmic:
        if margin.is_relative:
            return estimate.contrast(1 + Fraction(margin.size))
        contrast = estimate.contrast()
        return contrast._replace(difference=contrast.difference - Fraction(margin.size))
    if not margin.is_relative:
        return contrast_at_difference(estimate, margin.size)
    contrast = estimate.contrast()
    return contrast._replace(difference=contrast.difference - Fraction(math.log1p(margin.size)))


def _p_beyond(estimate: Estimate, margin: Margin, side: int) -> float:
    """Return the p-value of the claim that the difference is above (side 1) or below (side -1) the margin."""
    contrast = contrast_at(estimate, margin)
    by_t = p_by_t(estimate, contrast, side)
    if not margin.size:
        return by_t
    if not estimate.has_range:
        return by_t if estimate.differing else 1.0
    return _bounded_p(estimate, contrast, margin, side, by_t)


def p_by_t(estimate: Estimate, contrast: Contrast, side: int) -> float:
    """Return the p-value of the t test that a contrast is above (side 1) or below (side -1) 0."""
    if contrast.degrees_of_freedom <= 0:
        return math.nan
    stdtr = optional.scipy_special().stdtr
    if contrast.variance:
        return max(float(stdtr(float(contrast.degrees_of_freedom), -side * t_statistic(contrast))), LEAST_P)
    if side * contrast.difference <= 0:
        return 1.0
    p = math.ldexp(1.0, -estimate.sign_flips)  # every unit has this contrast: only one of 2^n sign flips is as extreme
    variance = estimate.contrast().variance
    if estimate.is_logarithmic and variance:
        # The logarithms of all units are on a line, of which no point has a difference as large as the margin. The largest
        # is where the gap is minus the logarithm of the line's slope, and p is no larger than it is there.
        _, covariance, baseline_variance, _ = estimate.covariances
        has_slope = (
            covariance << _ROUNDING_BITS > baseline_variance and baseline_variance << _ROUNDING_BITS > covariance
        )
        gap = math.log(baseline_variance) - math.log(covariance) if has_slope else math.inf
        distance = abs(gap - float(estimate.contrast().difference)) / root(variance)
        p = min(p, float(stdtr(float(estimate.degrees_of_freedom), -distance)))
    return max(p, LEAST_P)


def _bounded_p(
    estimate: Estimate, contrast: Contrast, margin: Margin, side: int, by_t: float, ratio: float = 1.0
) -> float:
    """Return the p-value of the t test, raised where few units differ; the ratio is how often there are all units.

    The bound of an absolute margin of geometric means is that of the ratio which the margin is for these values.
    """
    factor, constant, difference = 1.0, -margin.size, quotient(contrast.difference, 1)
    if estimate.is_logarithmic:
        constant = -math.log1p(margin.size) if margin.is_relative else -gap_at_difference(estimate, margin.size)
        contrast = estimate.contrast()
        difference = float(contrast.difference) + constant
    elif margin.is_relative:
        factor, constant = 1 + margin.size, 0.0
    least, most = estimate.range
    low = min(side * (least - factor * most + constant), side * (most - factor * least + constant))
    width = (1 + factor) * (most - least)
    variance = quotient(contrast.users_variance, 1) * estimate.size * (estimate.units - 1) / estimate.units
    sample = Sample((side * difference - low) / width, variance / width**2, estimate.size * ratio, estimate.units)
    if not (contrast.variance or estimate.contrast().variance):
        by_t, ratio = 0.0, 0.0
    return p_mean_above(sample, -low / width, by_t, estimate.differing * ratio)


def units_to_show(estimate: Estimate, margin: Margin, confidence: float) -> float:
    """Return how many units show on which side of a margin the difference is, if it and the share of units that differ stay.

    Infinite if no number does, and NaN if the difference is the margin.
    """
    contrast = contrast_at(estimate, margin)
    if margin.size and not (estimate.has_range or estimate.differing):
        return math.inf
    by_t = units_to_decide(estimate, contrast, confidence)
    if not (margin.size and estimate.has_range and by_t <= _MOST_UNITS):
        return by_t
    side = 1 if contrast.difference > 0 else -1

    def is_shown(units: int) -> bool:
        return _bounded_p(estimate, contrast, margin, side, 0.0, units / estimate.units) <= level_of(confidence)

    fewer, enough = estimate.units, estimate.units + 1
    while not is_shown(enough) and enough < _MOST_UNITS:
        fewer, enough = enough, 2 * enough
    while enough - fewer > 1:
        middle = (fewer + enough) // 2
        fewer, enough = (fewer, middle) if is_shown(middle) else (middle, enough)
    return max(by_t if contrast.variance else 0.0, enough)


POWER = 0.8
"""The chance of finding a difference of the detectable size, as is usual."""

SMALL_GROUP = 10

_DIGITS = Context(prec=50)  # a sum of many fractions would have the digits of all of them


def detectable_difference(estimate: Estimate, confidence: float, power: float = POWER) -> float:
    """Return the smallest difference that is found with this chance: (t_{1 - alpha/2} + t_power) * SE."""
    contrast = estimate.contrast()
    df = contrast.degrees_of_freedom
    if df <= 0:
        return math.nan
    quantiles = t_quantile((1 + confidence) / 2, df) + t_quantile(power, df)
    width = quantiles * root(contrast.variance) if contrast.variance else 0.0
    return math.exp(estimate.baseline_value) * expm1(width) if estimate.is_logarithmic else width


def units_for(estimate: Estimate, difference: float, confidence: float, power: float = POWER) -> float:
    """Return how many users, or clusters, find a difference with this chance: ((z_{1 - alpha/2} + z_power) sd / d)^2.

    More users do not reduce the variance of training runs: the number is infinite if that alone hides the difference.
    """
    if estimate.is_logarithmic:
        difference = math.log1p(difference / math.exp(estimate.baseline_value))
    return _units(estimate, estimate.contrast(), difference, 1 - (1 - confidence) / 2, power)


def units_to_decide(estimate: Estimate, contrast: Contrast, confidence: float) -> float:
    """Return how many users, or clusters, find the contrast on its side of 0 in a one-sided test, if it stayed as it is.

    Without variance, only one of 2^n sign flips is as extreme. NaN if the contrast is 0.
    """
    difference = abs(float(contrast.difference))
    if not difference:
        return math.nan
    if not contrast.variance:
        return math.ceil(-math.log2(level_of(confidence)))
    return max(estimate.units + 1, _units(estimate, contrast, difference, confidence, POWER))


def _units(estimate: Estimate, contrast: Contrast, difference: float, probability: float, power: float) -> float:
    special = optional.scipy_special()
    quantiles = float(special.ndtri(probability) + special.ndtri(power))
    errors = quantiles / difference  # a product of doubles may be infinite, where their power is an error
    of_runs = errors * errors * float(contrast.variance - contrast.users_variance) if estimate.has_runs else 0.0
    if of_runs >= 1:
        return math.inf
    root_of_users = errors * root(contrast.users_variance * estimate.units)
    users = root_of_users * root_of_users / (1 - of_runs)
    return max(2, math.ceil(users)) if users < math.inf else math.inf


class Heterogeneity(NamedTuple):
    """Whether a difference differs between groups, by Welch's test."""

    p: float  # NaN for fewer than two groups
    i_squared: float  # the share of Cochran's Q beyond its expectation, from 0 to 1; NaN for fewer than two groups
    small: int  # groups of fewer than `SMALL_GROUP` units, of which many make p too small
    left_out: int  # groups without variance or with one unit, whose precision is unknown
    shared: int = 0  # how many times units have users in another group too
    p_adjusted: float = math.nan  # for the family
    family: int = 0  # how many tests of the call have a p-value


def heterogeneity(contrasts: Sequence[Contrast | None]) -> Heterogeneity:
    r"""Return Welch's test of equal means [1]_ for the difference of each group, which tends to Cochran's Q in large groups.

    With :math:`w_g = 1 / SE_g^2`, the shares :math:`s_g = w_g / \sum w` and :math:`h = \sum (1 - s_g)^2 / \nu_g` over k groups,

    .. math:: W = \frac{\sum w_g (\Delta_g - \bar\Delta)^2 / (k - 1)}{1 + 2 h (k - 2) / (k^2 - 1)}

    is distributed as F with :math:`k - 1` and :math:`(k^2 - 1) / (3 h)` degrees of freedom. The groups are taken as
    independent, also where a cluster has users in several. With Cochran's :math:`Q = \sum w_g (\Delta_g - \bar\Delta)^2`,
    :math:`I^2 = \max(0, (Q - (k - 1)) / Q)` [2]_.

    References
    ----------
    .. [1] Welch, "On the comparison of several mean values: an alternative approach", 1951.
    .. [2] Higgins and Thompson, "Quantifying heterogeneity in a meta-analysis", 2002.
    """
    tested = [one for one in contrasts if one is not None and one.variance > 0 and one.degrees_of_freedom > 0]
    count, left_out = len(tested), len(contrasts) - len(tested)
    small = sum(one.degrees_of_freedom + 1 < SMALL_GROUP for one in tested)
    if count < 2:
        return Heterogeneity(math.nan, math.nan, small, left_out)
    with localcontext(_DIGITS):
        weights = [1 / _decimal(one.variance) for one in tested]
        deltas, total = [_decimal(one.difference) for one in tested], sum(weights, Decimal(0))
        mean = sum(map(operator.mul, deltas, weights), Decimal(0)) / total
        q = float(sum(((d - mean) ** 2 * weight for d, weight in zip(deltas, weights, strict=True)), Decimal(0)))
        rests = [float(1 - weight / total) for weight in weights]
    h = math.fsum(rest**2 / float(one.degrees_of_freedom) for rest, one in zip(rests, tested, strict=True))
    statistic = q / (count - 1) / (1 + 2 * h * (count - 2) / (count**2 - 1))
    p = float(optional.scipy_special().fdtrc(count - 1, (count**2 - 1) / (3 * h), statistic))
    i_squared = max(0.0, 1 - (count - 1) / q) if q else 0.0
    return Heterogeneity(max(p, LEAST_P), i_squared, small, left_out)


def adjusted_heterogeneity(tests: Mapping[_Key, Heterogeneity]) -> dict[_Key, Heterogeneity]:
    """Return the tests with p-values adjusted by Holm's method; those that are NaN stay so, and are not of the family."""
    family = {key: one.p for key, one in tests.items() if not math.isnan(one.p)}
    adjusted = dict(zip(family, holm(list(family.values())), strict=True))
    return {key: one._replace(p_adjusted=adjusted.get(key, math.nan), family=len(family)) for key, one in tests.items()}


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
