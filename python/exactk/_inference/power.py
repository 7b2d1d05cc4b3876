"""What a sample of this size can find, and how many users would find a given difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._inference.significance import root, t_quantile
from exactk._runtime import optional

if TYPE_CHECKING:
    from fractions import Fraction

    from exactk._inference.estimates import Estimate

POWER = 0.8
"""The chance of finding a difference of the detectable size, as is usual."""


def detectable_difference(estimate: Estimate, confidence: float, power: float = POWER) -> float:
    """Return the smallest difference that is found with this chance: (t_{1 - alpha/2} + t_power) * SE."""
    contrast = estimate.contrast()
    df = contrast.degrees_of_freedom
    if df <= 0:
        return math.nan
    width = (t_quantile((1 + confidence) / 2, df) + t_quantile(power, df)) * root(contrast.variance)
    return math.exp(estimate.baseline_value) * math.expm1(width) if estimate.is_logarithmic else width


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
    of_runs = (quantiles / difference) ** 2 * float(contrast.variance - contrast.users_variance)
    if of_runs >= 1:
        return math.inf
    standard_deviation = root(contrast.users_variance * estimate.units)
    return max(2, math.ceil((quantiles * standard_deviation / difference) ** 2 / (1 - of_runs)))


def heterogeneity(differences: list[Fraction], variances: list[Fraction]) -> float:
    """Return the p-value of Cochran's Q: whether a difference differs between groups; NaN for fewer than two groups.

    Groups without variance say nothing about their precision, and are left out.
    """
    groups = [(d, v) for d, v in zip(differences, variances, strict=True) if v > 0]
    if len(groups) < 2:
        return math.nan
    weight = sum(1 / v for _, v in groups)
    mean = sum(d / v for d, v in groups) / weight
    q = float(sum((d - mean) ** 2 / v for d, v in groups))
    return float(optional.scipy_special().chdtrc(len(groups) - 1, q))
