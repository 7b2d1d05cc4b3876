r"""The difference A - B of two geometric means, which are tested on logarithms.

The logarithms :math:`a, b` are estimated with the covariances V. That :math:`A - B = D > 0` is the curve
:math:`\alpha = \ln(e^\beta + D)` of true logarithms. The t test of D is that of the point of the curve which the
estimates reject least: there the slope is :math:`g = e^{\beta - \alpha}`, and

.. math:: t = \frac{(a - \alpha) - g (b - \beta)}{\sqrt{V_a - 2 g V_{ab} + g^2 V_b}}.

D = 0 is the line :math:`\alpha = \beta`, of which this is the t test of the logarithms. D < 0 is the difference B - A. The
interval has all D that are not rejected: the values of :math:`e^\alpha - e^\beta` in the ellipse of logarithms that are
within a quantile of t standard errors, as in intervals of profile likelihood [1]_.

A simultaneous interval has the half width q S of a - b, where :math:`S^2` is the mean square of a - b under sign flips: that of
no difference, which is larger than its variance where the systems differ much. The ellipse is then that of q standard errors
and of covariances in which :math:`(S^2 - V_{a - b}) / 2` is added to both variances, which makes the variance of a - b
:math:`S^2`. So it has its width also where a - b does not vary, and b keeps its own. If :math:`S^2 < V_{a - b}`, nothing is
added, and the ellipse is that of :math:`q S / \sqrt{V_{a - b}}` standard errors.

References
----------
.. [1] Venzon and Moolgavkar, "A method for computing profile-likelihood-based confidence intervals", 1988.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from exactk._inference.significance import Interval, contrast_interval, exp, expm1, standard_errors
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._inference.estimates import Contrast, Estimate
    from exactk._inference.significance import HalfWidth

_PARTS = 32  # in each of which a root is sought
_ROUNDING = 1e-12  # of 1 - g
_ROUNDING_OF_SUMS = Fraction(1, 2**98)  # of the variances, whose products are rounded to 106 bits
_LEAST_GAP, _LARGEST_GAP = sys.float_info.min, 1024.0


def difference(logarithm: float, baseline: float, gap: float | None = None) -> float:
    """Return e^a - e^b of two logarithms; the gap is a - b, where more digits of it are known."""
    gap = logarithm - baseline if gap is None else gap
    return -_difference(logarithm, -gap) if gap < 0 else _difference(baseline, gap)


def _difference(baseline: float, gap: float) -> float:
    """Return e^(b + gap) - e^b, which may be infinite; the gap is 0 or more."""
    growth = expm1(gap)
    return exp(baseline) * growth if growth < math.inf else exp(baseline + gap)


def shown_difference(estimate: Estimate) -> float:
    """Return the difference of the geometric means, whose sign is that of the tested difference of logarithms."""
    return difference(float(estimate.value), float(estimate.baseline_value), float(estimate.contrast().difference))


def difference_interval(estimate: Estimate, confidence: float, half_width: HalfWidth | None = None) -> Interval:
    """Return the interval of the difference: it contains 0 if and only if that of the difference of logarithms does.

    A half width takes the place of t * SE of the logarithms.
    """
    of_logarithms = contrast_interval(estimate, confidence, half_width)
    if not all(map(math.isfinite, of_logarithms)):
        return of_logarithms
    low, high = (
        _bound(estimate, gap, side, confidence, half_width) for gap, side in zip(of_logarithms, (-1, 1), strict=True)
    )
    return Interval(low, high)


def _bound(
    estimate: Estimate, bound_of_gap: float, side: int, confidence: float, half_width: HalfWidth | None
) -> float:
    """Return the upper bound (side 1) or the lower one (side -1), which has the sign of that of the gap a - b.

    With the contrast c = a - g b at the bound, it is e^(b' + y) - e^b', where y = -ln g and

        y = a - b + side * q * Cov(c, a - b) / s,   b' = b + side * q * Cov(c, b) / s,   s^2 = Var(c).
    """
    if bound_of_gap < 0:
        return -_bound(estimate.mirrored, -bound_of_gap, -side, confidence, half_width)
    if bound_of_gap == 0:
        return 0.0
    logarithms = _Logarithms.of(estimate, _added_variance(estimate, half_width))
    quantile_at = _quantiles(estimate, logarithms, confidence, half_width)

    def excess(gap: float) -> float:
        tangent = logarithms.tangent(gap)
        shift = side * quantile_at(gap) / tangent.error * tangent.of_gap if tangent.error else 0.0
        return gap - logarithms.gap - shift

    last = logarithms.gap + abs(bound_of_gap - logarithms.gap)
    while excess(last) < 0:
        last *= 2
    if last == math.inf:
        return math.inf
    bounds = [
        _difference(logarithms.baseline + logarithms.shift_of_baseline(gap, side * quantile_at(gap)), gap)
        for gap in _roots(excess, 0.0, last)
    ]
    return max(bounds) if side > 0 else min(bounds)


def _added_variance(estimate: Estimate, half_width: HalfWidth | None) -> Fraction:
    """Return by how much the square of a half width is larger than the variance of the difference of logarithms."""
    return Fraction(0) if half_width is None else max(Fraction(0), half_width.square - estimate.contrast().variance)


class _Tangent(NamedTuple):
    """How a contrast c = a - g b varies."""

    error: float  # its standard error
    of_gap: float  # its covariance with a - b
    of_baseline: float  # its covariance with b


class _Logarithms(NamedTuple):
    """Two logarithms a and b, of which the gap is a - b = slope * b + rest, with a rest that b does not correlate with.

    The variance of a contrast is then a sum of squares, which keeps its digits where the systems are nearly equal.
    """

    gap: float
    baseline: float  # b
    variance: float  # of the gap
    baseline_variance: float
    slope: float
    rest_variance: float

    @classmethod
    def of(cls, estimate: Estimate, added: Fraction = Fraction(0)) -> _Logarithms:
        """Return those of the estimate; a variance is added to that of the gap, half of it to that of each logarithm."""
        contrast, (_, covariance, baseline_variance, divisor) = estimate.contrast(), estimate.covariances
        variance = contrast.variance + added
        of_baseline = Fraction(baseline_variance, divisor) + estimate.baseline_runs.variance + added / 2
        shared, slope, rest = Fraction(covariance, divisor), Fraction(0), variance
        # A huge quantile, as of few weighted users, would show the rounding of what does not vary.
        rounding = max(variance, estimate.value**2, estimate.baseline_value**2) * _ROUNDING_OF_SUMS
        if of_baseline <= rounding:
            of_baseline = Fraction(0)
        elif variance - of_baseline + 2 * shared <= rounding:  # the variance of the other logarithm
            shared, of_baseline = Fraction(0), variance
        if variance and of_baseline:
            slope = shared / of_baseline - 1
            rest = variance - slope**2 * of_baseline
            if rest <= rounding:
                rest = Fraction(0)
        numbers = contrast.difference, estimate.baseline_value, variance, of_baseline, slope, rest
        return cls(*map(float, numbers))

    def tangent(self, gap: float) -> _Tangent:
        """Return how the contrast with g = e^-gap varies: the rest plus slope + 1 - g times b."""
        factor = self.slope - math.expm1(-gap)
        of_baseline = factor * self.baseline_variance
        error = math.sqrt(self.rest_variance + factor * of_baseline)
        return _Tangent(error, self.rest_variance + self.slope * of_baseline, of_baseline)

    def shift_of_baseline(self, gap: float, errors: float) -> float:
        """Return b' - b at the bound that is so many standard errors of the contrast away and has the gap y.

        It is in proportion to Cov(c, b). Where this depends on the last digits of the gap, it follows from the rest's shift.
        """
        error, _, of_baseline = self.tangent(gap)
        steepness = abs(errors * self.slope) * self.baseline_variance * self.rest_variance * math.exp(-gap)
        is_rounding = error <= _ROUNDING * abs(self.slope) * math.sqrt(self.baseline_variance)
        if error and steepness <= error**3 and not is_rounding:
            return errors / error * of_baseline
        shift_of_rest = errors / error * self.rest_variance if error else 0.0
        return (gap - self.gap - shift_of_rest) / self.slope if self.slope else 0.0


def _quantiles(
    estimate: Estimate, logarithms: _Logarithms, confidence: float, half_width: HalfWidth | None
) -> Callable[[float], float]:
    """Return the quantile by the gap, on which the degrees of freedom depend if training runs add variance."""
    if half_width is not None and _added_variance(estimate, half_width):
        return lambda _: half_width.factor
    if half_width is not None or not estimate.has_runs:
        constant = standard_errors(estimate, confidence, half_width)
        return lambda _: constant
    stdtrit, probability = optional.scipy_special().stdtrit, (1 + confidence) / 2
    of_users = float(estimate.degrees_of_freedom)
    runs, baseline_runs = estimate.runs, estimate.baseline_runs
    of_runs, of_baseline_runs = float(runs.variance), float(baseline_runs.variance)

    def quantile_at(gap: float) -> float:
        total, square = logarithms.tangent(gap).error ** 2, math.exp(-2 * gap)
        parts = (
            (max(0.0, total - of_runs - square * of_baseline_runs), of_users),
            (of_runs, runs.degrees_of_freedom),
            (square * of_baseline_runs, baseline_runs.degrees_of_freedom),
        )
        divisor = sum(part**2 / df for part, df in parts if part)
        return float(stdtrit(total**2 / divisor if divisor else of_users, probability))

    return quantile_at


def contrast_at_difference(estimate: Estimate, hypothesis: float) -> Contrast:
    """Return the contrast whose t test is that of A - B = D: it is above 0 where the estimated difference is above D."""
    if hypothesis < 0:
        contrast = contrast_at_difference(estimate.mirrored, -hypothesis)
        return contrast._replace(difference=-contrast.difference)
    contrast = estimate.contrast()
    if hypothesis == 0:
        return contrast
    logarithms = _Logarithms.of(estimate)
    if not contrast.variance and not (logarithms.gap > 0 and logarithms.baseline_variance):
        # The gap is certain, and no baseline's value makes it the difference D; or all is certain.
        return contrast._replace(difference=contrast.difference - Fraction(gap_at_difference(estimate, hypothesis)))
    gap = _nearest_gap(logarithms, hypothesis)
    distance = Fraction(_distance(logarithms, hypothesis, gap))
    return estimate.contrast(Fraction(math.exp(-gap)))._replace(difference=distance)


def gap_at_difference(estimate: Estimate, hypothesis: float) -> float:
    """Return the difference of logarithms that a difference is, where the lower value is the one of the sample."""
    if hypothesis < 0:
        return -_gap_at(float(estimate.value), -hypothesis)
    return _gap_at(float(estimate.baseline_value), hypothesis)


def _baseline_error(logarithms: _Logarithms, hypothesis: float, gap: float) -> float:
    """Return by how much b is below that of the point of the curve: e^(b + error) (e^gap - 1) = D."""
    return math.log(hypothesis) - gap - math.log(-math.expm1(-gap)) - logarithms.baseline


def _distance(logarithms: _Logarithms, hypothesis: float, gap: float) -> float:
    """Return the contrast of the estimates less that of the point of the curve: least where the point has b itself."""
    return logarithms.gap - gap + math.expm1(-gap) * _baseline_error(logarithms, hypothesis, gap)


def _nearest_gap(logarithms: _Logarithms, hypothesis: float) -> float:
    """Return the gap of the point of the curve that the estimates reject least."""

    def excess(gap: float) -> float:
        """Return 0 at points from which the estimates are as far as they are correlated with the contrast."""
        tangent = logarithms.tangent(gap)
        error = _baseline_error(logarithms, hypothesis, gap)
        return (gap - logarithms.gap) * tangent.of_baseline - error * tangent.of_gap

    def excess_below(gap: float) -> float:
        """Return the excess where the tangent is above the estimates, which has one root: the curve bends away."""
        if _distance(logarithms, hypothesis, gap) < 0:
            return excess(gap)
        return -_baseline_error(logarithms, hypothesis, gap)

    of_baseline = _gap_at(logarithms.baseline, hypothesis)
    if logarithms.gap <= of_baseline:
        return _bisected(excess_below, *_bracket(excess_below, of_baseline))

    def statistic(gap: float) -> float:
        error = logarithms.tangent(gap).error
        return abs(_distance(logarithms, hypothesis, gap)) / error if error else math.inf

    # The curve bends around estimates above it: several points may be near.
    gap = _bisected(excess, *_bracket(excess, of_baseline))
    reach = min(statistic(gap) * math.sqrt(logarithms.variance), _LARGEST_GAP)
    others = _roots(excess, max(_LEAST_GAP, logarithms.gap - reach), logarithms.gap + reach)
    return min([gap, *others], key=statistic)


def _gap_at(baseline: float, hypothesis: float) -> float:
    """Return ln(1 + D / e^b)."""
    logarithm = math.log(hypothesis) - baseline
    return math.log1p(math.exp(logarithm)) if logarithm < 0 else logarithm + math.log1p(math.exp(-logarithm))


def _bracket(function: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return gaps around a root: the function is negative at the first, and not at the second."""
    low = high = min(max(start, _LEAST_GAP), _LARGEST_GAP)
    while function(low) >= 0 and low > _LEAST_GAP:
        low, high = low / 2, low
    while function(high) < 0 and high < _LARGEST_GAP:
        low, high = high, 2 * high
    return low, high


def _roots(function: Callable[[float], float], first: float, last: float) -> list[float]:
    """Return where the function turns from negative to positive, once at most in each of some parts."""
    cuts = [first + (last - first) * number / _PARTS for number in range(_PARTS)] + [last]
    are_negative = [function(cut) < 0 for cut in cuts]
    return [
        _bisected(function, *part)
        for part, (before, after) in zip(pairwise(cuts), pairwise(are_negative), strict=True)
        if before and not after
    ]


def _bisected(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where the function turns from negative at low to positive at high, to the last digit."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return high
