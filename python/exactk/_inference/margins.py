"""Tests against a margin: whether a system is worse, or better, than its baseline by more than a given difference."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from exactk._inference.geometric_means import contrast_at_difference
from exactk._inference.significance import LEAST_P, t_statistic
from exactk._runtime import optional

if TYPE_CHECKING:
    from exactk._inference.estimates import Contrast, Estimate


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
    return _p_positive(contrast_at(estimate, margin), estimate.sign_flips)


def p_below(estimate: Estimate, margin: Margin) -> float:
    """Return the one-sided p-value of the claim that the difference is below the margin."""
    contrast = contrast_at(estimate, margin)
    return _p_positive(contrast._replace(difference=-contrast.difference), estimate.sign_flips)


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


def _p_positive(contrast: Contrast, sign_flips: int) -> float:
    """Return the one-sided p-value of the claim that a contrast is above 0."""
    if contrast.degrees_of_freedom <= 0:
        return math.nan
    if contrast.variance == 0:  # every unit has this contrast: only one of 2^n sign flips is as extreme
        return max(math.ldexp(1.0, -sign_flips), LEAST_P) if contrast.difference > 0 else 1.0
    p = optional.scipy_special().stdtr(float(contrast.degrees_of_freedom), -t_statistic(contrast))
    return max(float(p), LEAST_P)
