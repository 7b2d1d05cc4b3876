r"""Bootstrap intervals: the values of two systems in many samples of as many units, drawn with replacement.

How often a unit is in a sample has a Poisson distribution with mean 1, drawn for each unit by its key [1]_: this does not
depend on the other units, as draws of a fixed number would.

.. math:: low, high = \text{quantiles of } \Delta^* \text{ at } \alpha_1, \alpha_2

with :math:`\alpha_i = \alpha/2, 1 - \alpha/2` ("percentile"), or, corrected for bias and skewness ("bca") [2]_,

.. math:: \alpha_i = \Phi\left(z_0 + \frac{z_0 + z_i}{1 - a (z_0 + z_i)}\right), \qquad
    z_0 = \Phi^{-1}\left(\frac{\#\{\Delta^* < \Delta\} + \#\{\Delta^* = \Delta\} / 2}{B}\right), \qquad
    a = \frac{\sum e^3}{6 (\sum e^2)^{3/2}}

where e is a unit's influence on the difference. That of geometric means A and B is :math:`A z_A - B z_B`, with the influences
z on their logarithms.

References
----------
.. [1] Chamandy, Muralidharan, Najmi and Naidu, "Estimating uncertainty for massive data streams", 2012.
.. [2] Efron, "Better bootstrap confidence intervals", 1987.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from exactk._inference.geometric_means import difference as difference_of_geometric_means
from exactk._inference.significance import UNDEFINED_INTERVAL, Interval, expm1
from exactk._inference.unit_numbers import Columns, Draws, in_portions, scale_of
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exactk._inference.unit_numbers import Average, Execution, Floats, Integers, PairNumbers, Ratio, Units

BootstrapMethod: TypeAlias = Literal["percentile", "bca"]

FEWEST_UNITS = 20
"""With fewer, samples of the units say little about other units."""

RELATIVE_ROUNDING = 1e-9
"""By what share of both values numbers may differ that are equal but for rounding."""

_SUMS_AT_A_TIME = 1 << 23
_COUNT_BITS = 3  # a unit is in a sample at most 8 times
_INFLUENCE_BITS = 30
_CUBE_BITS = 62


class BootstrapOptions(NamedTuple):
    """How bootstrap intervals are made."""

    method: BootstrapMethod
    resamples: int
    seed: int
    level: float


class BootstrapIntervals(NamedTuple):
    """The intervals of a difference, and of the value relative to that of the baseline."""

    difference: Interval
    relative: Interval

    def times_power_of_2(self, exponent: int) -> BootstrapIntervals:
        """Return the intervals of values that are so many times as large."""
        low, high = (math.ldexp(bound, exponent) for bound in self.difference)
        return self._replace(difference=Interval(low, high))


def bootstrap_intervals(
    pairs: Sequence[PairNumbers], units: Units, options: BootstrapOptions, execution: Execution
) -> list[BootstrapIntervals]:
    """Return the intervals of each pair."""
    intervals: list[BootstrapIntervals] = []
    for some in _parts(pairs, options.resamples):
        columns = Columns()
        indices = [
            [_add_ratios(columns, ratios, pair, units) for ratios in (pair.system, pair.baseline)] for pair in some
        ]
        draws = Draws(options.seed, 0, options.resamples)
        totals, sums = columns.resample_sums(units.keys, units.users, draws, execution)
        sums_of_columns = [math.ldexp(int(total), -scale) for total, scale in zip(totals, columns.scales, strict=True)]
        for pair, of_systems in zip(some, indices, strict=True):
            observed, resampled = (
                [_values(of_system, columns.scales, of_all, pair) for of_system in of_systems]
                for of_all in (totals[:, None], sums)
            )
            accelerations = 0.0, 0.0
            if options.method == "bca":
                accelerations = _accelerations(pair, observed, of_systems, sums_of_columns, units)
            intervals_of_pair = _intervals_of_logarithms if pair.is_logarithmic else _intervals
            intervals.append(intervals_of_pair(observed, resampled, accelerations, options))
    return intervals


def resample_count(pairs: Sequence[PairNumbers], resamples: int) -> int:
    """Return how many resamples are summed in all, if those of some pairs at a time are counted anew."""
    return resamples * sum(1 for _ in _parts(pairs, resamples))


def _parts(pairs: Sequence[PairNumbers], resamples: int) -> Iterator[Sequence[PairNumbers]]:
    """Yield some pairs at a time, whose sums fit into the memory that one step may take."""
    columns = max((4 * len(pair.system) for pair in pairs), default=1)
    at_a_time = max(1, _SUMS_AT_A_TIME // (columns * resamples))
    for first in range(0, len(pairs), at_a_time):
        yield pairs[first : first + at_a_time]


def _add_ratios(columns: Columns, ratios: Sequence[Ratio], pair: PairNumbers, units: Units) -> list[tuple[int, int]]:
    """Return the columns of a system's numerators and denominators."""

    def add(numbers: Floats, *, is_unit: bool) -> int:
        largest = 1.0 if is_unit else units.largest(numbers)
        return columns.add(numbers, scale_of(largest, pair.users, spare_bits=_COUNT_BITS))

    return [(add(ratio.numerators, is_unit=pair.is_unit), add(ratio.denominators, is_unit=False)) for ratio in ratios]


def _values(indices: Sequence[tuple[int, int]], scales: Sequence[int], sums: Integers, pair: PairNumbers) -> Floats:
    """Return a system's value in each sample; NaN where a denominator is 0."""
    ratios = []
    for numerator, denominator in indices:
        dividend = np.ldexp(sums[numerator].astype(np.float64), scales[denominator] - scales[numerator])
        divisor = sums[denominator].astype(np.float64)
        ratios.append(dividend / np.where(divisor == 0, math.nan, divisor))
    return pair.average.value(ratios)


def _intervals(
    observed: Sequence[Floats],
    resampled: Sequence[Floats],
    accelerations: tuple[float, float],
    options: BootstrapOptions,
) -> BootstrapIntervals:
    """Return the intervals of the system's value and of the baseline's, of which there are as many as samples."""

    def relative(value: Floats, baseline_value: Floats) -> Floats:
        return value / baseline_value - 1

    rounding = RELATIVE_ROUNDING * sum(abs(float(value[0])) for value in observed)
    difference = _interval(np.subtract, observed, resampled, _Correction(accelerations[0], rounding), options)
    if not all(np.all(values > 0) for values in (observed[1], resampled[1])):
        return BootstrapIntervals(difference, UNDEFINED_INTERVAL)
    of_quotient = _Correction(accelerations[1], rounding / float(observed[1][0]))
    return BootstrapIntervals(difference, _interval(relative, observed, resampled, of_quotient, options))


def _intervals_of_logarithms(
    observed: Sequence[Floats],
    resampled: Sequence[Floats],
    accelerations: tuple[float, float],
    options: BootstrapOptions,
) -> BootstrapIntervals:
    """Return the intervals of two geometric means, of whose logarithms there are as many as samples."""

    def difference(logarithms: Floats, baseline: Floats) -> Floats:
        pairs = zip(logarithms.tolist(), baseline.tolist(), strict=True)
        return np.array([difference_of_geometric_means(one, other) for one, other in pairs])

    logarithms = [float(value[0]) for value in observed]
    correction = _Correction(accelerations[0], RELATIVE_ROUNDING * sum(map(math.exp, logarithms)))
    of_difference = _interval(difference, observed, resampled, correction, options)
    of_quotient = _Correction(accelerations[1], RELATIVE_ROUNDING * sum(map(abs, logarithms)))
    gap = _interval(np.subtract, observed, resampled, of_quotient, options)
    return BootstrapIntervals(of_difference, Interval(*map(expm1, gap)))


class _Correction(NamedTuple):
    """What corrects the probabilities of bounds: the acceleration, and by how much samples that are equal may differ."""

    acceleration: float
    rounding: float


def _interval(
    function: Callable[[Floats, Floats], Floats],
    observed: Sequence[Floats],
    resampled: Sequence[Floats],
    correction: _Correction,
    options: BootstrapOptions,
) -> Interval:
    """Return the interval of a function of both values."""
    (estimate,), samples = function(*observed), function(*resampled)
    samples = np.sort(samples[np.isfinite(samples)])
    if not len(samples) or not math.isfinite(estimate):
        return UNDEFINED_INTERVAL
    tails = options.level / 2, 1 - options.level / 2
    if options.method == "bca":
        tails = _corrected(tails, samples, float(estimate), correction)
    return Interval(*(_quantile(samples, tail) for tail in tails))


def _corrected(
    tails: tuple[float, float], samples: Floats, estimate: float, correction: _Correction
) -> tuple[float, float]:
    """Return the probabilities of the bounds, corrected for bias and skewness."""
    special = optional.scipy_special()
    below = int(np.searchsorted(samples, estimate - correction.rounding, "left"))
    up_to = int(np.searchsorted(samples, estimate + correction.rounding, "right"))
    share = (below + up_to) / (2 * len(samples))
    bias = float(special.ndtri(min(max(share, 0.5 / len(samples)), 1 - 0.5 / len(samples))))

    def corrected(tail: float) -> float:
        shifted = bias + float(special.ndtri(tail))
        divisor = 1 - correction.acceleration * shifted
        return float(special.ndtr(bias + shifted / divisor)) if divisor > 0 else float(shifted > 0)

    return corrected(tails[0]), corrected(tails[1])


def _quantile(samples: Floats, probability: float) -> float:
    """Return the order statistic number probability * (B + 1), linear between two."""
    number = min(max(probability * (len(samples) + 1), 1.0), float(len(samples)))
    whole = min(int(number), len(samples) - 1)
    low, high = float(samples[whole - 1]), float(samples[whole])
    return low + (number - whole) * (high - low)


def _accelerations(
    pair: PairNumbers,
    observed: Sequence[Floats],
    of_systems: Sequence[Sequence[tuple[int, int]]],
    sums: Sequence[float],
    units: Units,
) -> tuple[float, float]:
    """Return the acceleration of the difference of the values, and that of their quotient; sums are of columns."""
    of_difference, of_quotient = _derivatives(*(float(one[0]) for one in observed), is_logarithmic=pair.is_logarithmic)
    system, baseline = (
        _factors(pair.average, [(sums[one], sums[other]) for one, other in indices], len(units.users))
        for indices in of_systems
    )
    differences, quotients = np.empty((2, len(units.users)))
    for users, difference, quotient in zip(
        in_portions(units.users), in_portions(differences), in_portions(quotients), strict=True
    ):
        of_system = _influences(pair.system, system, users)
        of_baseline = _influences(pair.baseline, baseline, users)
        difference[:] = of_system * of_difference[0] + of_baseline * of_difference[1]
        quotient[:] = of_system * of_quotient[0] + of_baseline * of_quotient[1]
    return _acceleration(differences, units), _acceleration(quotients, units)


def _derivatives(
    value: float, baseline_value: float, *, is_logarithmic: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return those of the difference by both values, and those of the quotient, or of its logarithm."""
    if is_logarithmic:
        return (math.exp(value), -math.exp(baseline_value)), (1.0, -1.0)
    if not baseline_value:
        return (1.0, -1.0), (0.0, 0.0)
    return (1.0, -1.0), (1 / baseline_value, -value / baseline_value / baseline_value)


class _Factor(NamedTuple):
    """A user with N and M has the influence (N - ratio * M) * factor."""

    ratio: float
    factor: float


def _factors(average: Average, sums: Sequence[tuple[float, float]], users: int) -> list[_Factor]:
    """Return what users' influences on a system's value are made of, by the sums of its ratios."""
    ratios = [one / other if other else math.nan for one, other in sums]
    gradient = zip(ratios, sums, average.gradient(ratios), strict=True)
    return [_Factor(ratio, derivative * users / other) for ratio, (_, other), derivative in gradient]


def _influences(ratios: Sequence[Ratio], factors: Sequence[_Factor], users: Integers) -> Floats:
    """Return each user's influence on a system's value."""
    influences = np.zeros(len(users))
    for ratio, (value, factor) in zip(ratios, factors, strict=True):
        of_users = ratio.numerators[users] - value * ratio.denominators[users]
        of_users[np.isnan(of_users)] = 0.0
        influences += of_users * factor
    return influences


def _acceleration(influences: Floats, units: Units) -> float:
    """Return the acceleration: sums of integers, so that it does not depend on the order of the users."""
    largest = max((float(np.abs(some).max()) for some in in_portions(influences)), default=0.0)
    if not 0 < largest < math.inf:
        return 0.0
    np.multiply(influences, math.ldexp(1.0, _INFLUENCE_BITS - math.frexp(largest)[1]), out=influences)
    numbers = np.rint(influences, out=influences)
    if units.are_clusters:
        numbers = units.sums(numbers.astype(np.int64)).astype(np.float64)
    squares = _exact_sum(numbers, lambda one: one * one)
    return _exact_sum(numbers, lambda one: one * one * one) / (6 * squares**1.5) if squares else 0.0


def _exact_sum(numbers: Floats, power: Callable[[Floats], Floats]) -> float:
    """Return the sum of powers, rounded: that of integers of as many bits as cannot overflow."""
    largest = max((float(np.abs(power(some)).max()) for some in in_portions(numbers)), default=0.0)
    shift = _CUBE_BITS - len(numbers).bit_length() - math.frexp(largest)[1]
    total = sum(int(np.rint(np.ldexp(power(some), shift)).astype(np.int64).sum()) for some in in_portions(numbers))
    return math.ldexp(total, -shift)
