"""What a sample of this size can find, and how many users would find a given difference."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING

from exactk._inference.significance import LEAST_P, expm1, root, t_quantile
from exactk._runtime import optional

if TYPE_CHECKING:
    from fractions import Fraction

    from exactk._inference.estimates import Estimate

POWER = 0.8
"""The chance of finding a difference of the detectable size, as is usual."""

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


def units_for(
    estimate: Estimate, difference: float, confidence: float, power: float = POWER, *, sides: int = 2
) -> float:
    """Return how many users, or clusters, find a difference with this chance: ((z_{1 - alpha/2} + z_power) sd / d)^2.

    More users do not reduce the variance of training runs: the number is infinite if that alone hides the difference.
    """
    special = optional.scipy_special()
    contrast = estimate.contrast()
    quantiles = float(special.ndtri(1 - (1 - confidence) / sides) + special.ndtri(power))
    if estimate.is_logarithmic:
        difference = math.log1p(difference / math.exp(estimate.baseline_value))
    errors = quantiles / difference  # a product of doubles may be infinite, where their power is an error
    of_runs = errors * errors * float(contrast.variance - contrast.users_variance) if estimate.has_runs else 0.0
    if of_runs >= 1:
        return math.inf
    root_of_users = errors * root(contrast.users_variance * estimate.units)
    users = root_of_users * root_of_users / (1 - of_runs)
    return max(2, math.ceil(users)) if users < math.inf else math.inf


def heterogeneity(differences: list[Fraction], variances: list[Fraction]) -> float:
    """Return the p-value of Cochran's Q: whether a difference differs between groups; NaN for fewer than two groups.

    Groups without variance say nothing about their precision, and are left out.
    """
    pairs = [(d, v) for d, v in zip(differences, variances, strict=True) if v > 0]
    if len(pairs) < 2:
        return math.nan
    with localcontext(_DIGITS):
        groups = [(_decimal(d), 1 / _decimal(v)) for d, v in pairs]
        mean = sum((d * weight for d, weight in groups), Decimal(0)) / sum((weight for _, weight in groups), Decimal(0))
        q = float(sum(((d - mean) ** 2 * weight for d, weight in groups), Decimal(0)))
    return max(float(optional.scipy_special().chdtrc(len(groups) - 1, q)), LEAST_P)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
