"""Statistics, p-values and intervals of estimated differences, their levels, and p-values adjusted for a family; distributions are SciPy's."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._inference.estimates import Contrast, Estimate


def level_of(confidence: float) -> float:
    """Return 1 - confidence in decimal: 0.1 for 0.9, where a difference of doubles is below 0.1.

    A p-value of exactly the level is significant.
    """
    return float(1 - Fraction(repr(float(confidence))))


def ranks_within(level: float, draws: int) -> int:
    """Return the largest whole number that, divided by the draws and the observed one together, is at most the level."""
    rank = round(level * (draws + 1))
    return rank - (rank / (draws + 1) > level)


def fewest_draws(level: float) -> int:
    """Return how many draws give one rank within the level."""
    count = round(1 / level)
    return count - (1 / count <= level)


def round_draws(fewest: int) -> int:
    """Return a round number of draws, one less than 1, 2 or 5 times a power of 10, that is at least the fewest."""
    power: int = 10 ** (len(str(fewest)) - 1)
    return next(factor * power - 1 for factor in (1, 2, 5, 10) if factor * power > fewest)


Alternative: TypeAlias = Literal["two_sided", "greater", "less"]

LEAST_P = sys.float_info.min
"""The smallest p-value that is returned: 0 would be a claim that no finite sample supports."""


class Significance(NamedTuple):
    """The result of a test."""

    statistic: float
    p: float
    is_exact: bool  # the p-value is that of a distribution without approximation
    p_error: float = 0.0  # the standard error of a p-value from random numbers


def t_test(estimate: Estimate, alternative: Alternative) -> Significance:
    """Return the paired t test of a difference."""
    contrast = estimate.contrast()
    if contrast.degrees_of_freedom <= 0:
        return Significance(math.nan, math.nan, is_exact=False)
    if contrast.variance == 0:
        return _test_of_equal_differences(contrast.difference, estimate.sign_flips, alternative)
    statistic = t_statistic(contrast)
    return Significance(statistic, _p_of_t(statistic, contrast.degrees_of_freedom, alternative), is_exact=False)


def t_statistic(contrast: Contrast) -> float:
    """Return the quotient of a difference and its standard error."""
    return in_standard_deviations(contrast.difference, contrast.variance)


def in_standard_deviations(difference: Fraction, variance: Fraction, count: int = 1) -> float:
    """Return the quotient of a difference and the root of count times the variance; infinite if that is 0."""
    if not variance:
        return math.copysign(math.inf, difference)
    (numerator, denominator), (square, divisor) = difference.as_integer_ratio(), variance.as_integer_ratio()
    return math.copysign(root_of_quotient(numerator**2 * divisor, denominator**2 * square * count), difference)


def root(number: Fraction) -> float:
    """Return the square root, also of numbers beyond the range of a double; infinite if it is beyond that range itself."""
    return root_of_quotient(*number.as_integer_ratio())


def root_of_quotient(numerator: int, denominator: int) -> float:
    """Return the square root of a quotient, which need not be in lowest terms."""
    shift = (numerator.bit_length() - denominator.bit_length()) // 2
    quotient = (numerator << max(0, -2 * shift)) / (denominator << max(0, 2 * shift))
    try:
        return math.ldexp(math.sqrt(quotient), shift)
    except OverflowError:
        return math.inf


def quotient(numerator: int | Fraction, denominator: int | Fraction) -> float:
    """Return the quotient; infinite beyond the range of a double."""
    try:
        return float(numerator / denominator)
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf


def exp(logarithm: float) -> float:
    """Return e^x, which is infinite beyond the range of a double: intervals of logarithms of few users are wide."""
    return _or_infinite(math.exp, logarithm)


def expm1(logarithm: float) -> float:
    """Return e^x - 1, which may be infinite like `exp`."""
    return _or_infinite(math.expm1, logarithm)


def _or_infinite(function: Callable[[float], float], number: float) -> float:
    try:
        return function(number)
    except OverflowError:
        return math.inf


def _p_of_t(statistic: float, degrees_of_freedom: Fraction, alternative: Alternative) -> float:
    special = optional.scipy_special()
    df = float(degrees_of_freedom)
    if alternative == "two_sided":
        p = 2 * special.stdtr(df, -abs(statistic))
    else:
        p = special.stdtr(df, -statistic if alternative == "greater" else statistic)
    return min(1.0, max(float(p), LEAST_P))


def _test_of_equal_differences(difference: Fraction, signs: int, alternative: Alternative) -> Significance:
    """Return the test of differences that are all equal: of all 2^n sign flips, only one or two are as extreme."""
    if difference == 0:
        return Significance(0.0, 1.0, is_exact=True)
    one_sided = max(math.ldexp(1.0, -signs), LEAST_P)
    p = {"two_sided": min(1.0, 2 * one_sided), "greater": one_sided, "less": one_sided}[alternative]
    if alternative != "two_sided" and (difference > 0) != (alternative == "greater"):
        p = 1.0
    return Significance(math.copysign(math.inf, difference), p, is_exact=True)


def sign_test(wins: int, losses: int, alternative: Alternative) -> Significance:
    """Return the exact binomial test of wins among the users who differ; the statistic is the number of wins."""
    units = wins + losses
    if units == 0:
        return Significance(0.0, 1.0, is_exact=True)
    special = optional.scipy_special()
    # P(X >= k) for n fair coins is the regularized incomplete beta function I_1/2(k, n - k + 1).
    at_least = [1.0 if k == 0 else float(special.betainc(k, units - k + 1, 0.5)) for k in (wins, losses)]
    p = {"greater": at_least[0], "less": at_least[1], "two_sided": min(1.0, 2 * min(at_least))}[alternative]
    return Significance(float(wins), max(p, LEAST_P), is_exact=True)


class Interval(NamedTuple):
    """The bounds of a confidence interval."""

    low: float
    high: float


UNDEFINED_INTERVAL = Interval(math.nan, math.nan)


class HalfWidth(NamedTuple):
    """The half width of an interval that is not of t: a factor times the root of a square, which may be beyond doubles."""

    factor: float  # may be infinite
    square: Fraction

    def per_root(self, variance: Fraction) -> float:
        """Return the half width divided by the root of a variance."""
        if not self.square:
            return 0.0
        return self.factor * root(self.square / variance) if variance else math.inf

    @property
    def value(self) -> float:
        """The half width itself."""
        return self.factor * root(self.square) if self.square else 0.0


def t_quantile(probability: float, degrees_of_freedom: Fraction) -> float:
    """Return the quantile of Student's t distribution."""
    return _t_quantile(probability, float(degrees_of_freedom))


@lru_cache(maxsize=256)  # most rows of a comparison have as many users as the last
def _t_quantile(probability: float, degrees_of_freedom: float) -> float:
    return float(optional.scipy_special().stdtrit(degrees_of_freedom, probability))


def contrast_interval(estimate: Estimate, confidence: float, half_width: HalfWidth | None = None) -> Interval:
    """Return the interval of the tested difference: estimate -+ t * SE. A half width takes the place of t * SE."""
    contrast = estimate.contrast()
    if contrast.degrees_of_freedom <= 0:
        return UNDEFINED_INTERVAL
    if half_width is None:
        half_width = HalfWidth(t_quantile((1 + confidence) / 2, contrast.degrees_of_freedom), contrast.variance)
    difference, width = float(contrast.difference), half_width.value
    return Interval(difference - width, difference + width)


def standard_errors(estimate: Estimate, confidence: float, half_width: HalfWidth | None) -> float:
    """Return by how many standard errors the interval of the difference extends: those of t also if both are 0."""
    variance = estimate.contrast().variance
    if half_width is None or not (half_width.square or variance):
        return t_quantile((1 + confidence) / 2, estimate.degrees_of_freedom)
    return half_width.per_root(variance)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that keep the chance of any false claim in the family [1]_.

    The i-th smallest of K is multiplied by K - i + 1, and is at least the adjusted one before it.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    size = len(p_values)
    return _by_rank(p_values, lambda p: list(accumulate((min(1.0, (size - i) * one) for i, one in enumerate(p)), max)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values that keep the expected share of false claims among the claims of the family [1]_.

    The i-th smallest of K is multiplied by K / i, and is at most the adjusted one after it.

    References
    ----------
    .. [1] Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
    """
    size = len(p_values)

    def adjusted(p: list[float]) -> list[float]:
        scaled = [min(1.0, size / i * one) for i, one in enumerate(p, start=1)]  # of the largest, p itself: no rounding
        return list(accumulate(reversed(scaled), min))[::-1]

    return _by_rank(p_values, adjusted)


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Return the p-values times their number."""
    return [min(1.0, len(p_values) * p) for p in p_values]


def unadjusted(p_values: Sequence[float]) -> list[float]:
    """Return the p-values."""
    return list(p_values)


ADJUSTMENTS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": unadjusted,
}


def adjust(p_values: Sequence[float], method: str) -> list[float]:
    """Return adjusted p-values; those that are NaN stay so, and are no members of the family."""
    numbers = [p for p in p_values if not math.isnan(p)]
    adjusted = iter(ADJUSTMENTS[method](numbers))
    return [p if math.isnan(p) else next(adjusted) for p in p_values]


class PValue(NamedTuple):
    """A p-value of a family, with its standard error if it comes from random flips, and when adjusted."""

    p: float
    p_error: float
    p_adjusted: float


def errors_of_adjusted(family: Sequence[PValue], method: str, flips: int) -> list[float]:
    """Return the standard error of each adjusted p-value of a family; 0 of those that are NaN.

    Max-T counts random flips, also where p is exact; of a single p-value there is nothing to adjust. Every other
    adjusted p-value is a multiple of one p-value: of those with the same adjusted p-value, the smallest by Holm's
    method and the largest by that of Benjamini and Hochberg. Its error is the same multiple.
    """
    numbers = [one for one in family if not math.isnan(one.p)]
    if method == "max_t" and len(numbers) > 1:
        return [
            0.0 if math.isnan(one.p) else math.sqrt(one.p_adjusted * (1 - one.p_adjusted) / flips) for one in family
        ]
    source: dict[float, PValue] = {}
    if method in {"holm", "benjamini_hochberg"}:
        turn = -1 if method == "holm" else 1
        source = {one.p_adjusted: one for one in sorted(numbers, key=lambda one: (turn * one.p, one.p_error))}

    def error(one: PValue) -> float:
        multiplied = source.get(one.p_adjusted, one) if one.p_adjusted < 1 else one  # many may be 1, each by its own p
        return multiplied.p_error * (one.p_adjusted / multiplied.p)

    return [0.0 if math.isnan(one.p) else error(one) for one in family]


def _by_rank(p_values: Sequence[float], adjusted: Callable[[list[float]], list[float]]) -> list[float]:
    """Adjust p-values in ascending order, and return them in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result = [0.0] * len(p_values)
    for index, p in zip(order, adjusted([p_values[index] for index in order]), strict=True):
        result[index] = p
    return result
