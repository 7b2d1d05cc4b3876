"""What a sample of this size can find, and how many users would find a given difference."""

from __future__ import annotations

import math
import operator
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, NamedTuple

from exactk._inference.levels import level_of
from exactk._inference.significance import LEAST_P, expm1, root, t_quantile
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from exactk._inference.estimates import Contrast, Estimate

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
    small: int  # groups of fewer than `SMALL_GROUP` units, of which many make p too small
    left_out: int  # groups without variance or with one unit, whose precision is unknown


def heterogeneity(contrasts: Sequence[Contrast | None]) -> Heterogeneity:
    r"""Return Welch's test of equal means [1]_ for the difference of each group, which tends to Cochran's Q in large groups.

    With :math:`w_g = 1 / SE_g^2`, the shares :math:`s_g = w_g / \sum w` and :math:`h = \sum (1 - s_g)^2 / \nu_g` over k groups,

    .. math:: W = \frac{\sum w_g (\Delta_g - \bar\Delta)^2 / (k - 1)}{1 + 2 h (k - 2) / (k^2 - 1)}

    is distributed as F with :math:`k - 1` and :math:`(k^2 - 1) / (3 h)` degrees of freedom. The groups are taken as
    independent, also where a cluster has users in several.

    References
    ----------
    .. [1] Welch, "On the comparison of several mean values: an alternative approach", 1951.
    """
    tested = [one for one in contrasts if one is not None and one.variance > 0 and one.degrees_of_freedom > 0]
    count, left_out = len(tested), len(contrasts) - len(tested)
    small = sum(one.degrees_of_freedom + 1 < SMALL_GROUP for one in tested)
    if count < 2:
        return Heterogeneity(math.nan, small, left_out)
    with localcontext(_DIGITS):
        weights = [1 / _decimal(one.variance) for one in tested]
        deltas, total = [_decimal(one.difference) for one in tested], sum(weights, Decimal(0))
        mean = sum(map(operator.mul, deltas, weights), Decimal(0)) / total
        q = float(sum(((d - mean) ** 2 * weight for d, weight in zip(deltas, weights, strict=True)), Decimal(0)))
        rests = [float(1 - weight / total) for weight in weights]
    h = math.fsum(rest**2 / float(one.degrees_of_freedom) for rest, one in zip(rests, tested, strict=True))
    statistic = q / (count - 1) / (1 + 2 * h * (count - 2) / (count**2 - 1))
    p = float(optional.scipy_special().fdtrc(count - 1, (count**2 - 1) / (3 * h), statistic))
    return Heterogeneity(max(p, LEAST_P), small, left_out)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
