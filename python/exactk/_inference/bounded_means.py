"""Bounds of the mean of values whose range is known, which stay in the range and never have no width.

Values are on the unit scale here: (x - low) / (high - low) of their range.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from exactk._inference.significance import LEAST_P
from exactk._runtime import optional

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
