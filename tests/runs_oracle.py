"""The definition of a difference between systems of several training runs, user by user."""

from __future__ import annotations

import math
from statistics import fmean, stdev, variance
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers: TypeAlias = tuple[float, ...] | None
"""A user's numbers, if there are any: a value; for micro averages, numerator and denominator; for F of means, both."""

_LEAST_VALUE = 1e-5  # floor in a geometric mean


class DifferenceOfRuns(NamedTuple):
    """A difference, as it is tested: of logarithms for geometric means."""

    difference: float
    standard_error: float
    degrees_of_freedom: float
    effect: float


class _Value(NamedTuple):
    value: float
    influences: list[float]  # of units


def difference_of_runs(
    runs: Sequence[Sequence[Numbers]],
    baseline_runs: Sequence[Sequence[Numbers]],
    average: str,
    weights: Sequence[float] | None = None,
    clusters: Sequence[int] | None = None,
) -> DifferenceOfRuns:
    """Return the difference between the means of the runs of two systems; one run is a system without runs.

    Each run has the numbers of all users. A user counts who has numbers in all runs of both systems, with a weight above
    0, and for micro averages not 0/0 in all of them.
    """
    size = len(runs[0])
    has_weights = weights is not None
    weights = [1.0] * size if weights is None else weights
    clusters = range(size) if clusters is None else clusters
    of_users = [[run[user] for run in (*runs, *baseline_runs)] for user in range(size)]
    users = [
        user
        for user, numbers in enumerate(of_users)
        if None not in numbers and weights[user] and (average != "micro" or any(any(one or ()) for one in numbers))
    ]
    systems = [
        _value([_mean_numbers([run[user] for run in one], average) for user in users], average,
               [weights[user] for user in users], [clusters[user] for user in users])
        for one in (runs, baseline_runs)
    ]  # fmt: skip
    differences = [a - b for a, b in zip(systems[0].influences, systems[1].influences, strict=True)]
    units = len(differences)
    users_variance = math.fsum(e**2 for e in differences) / (units * (units - 1))
    of_units = _sums_by_unit([(weights[user],) for user in users], [clusters[user] for user in users])
    effective = math.fsum(w for (w,) in of_units) ** 2 / math.fsum(w**2 for (w,) in of_units)
    parts = [(users_variance, (effective if has_weights else units) - 1)]
    for one in (runs, baseline_runs):
        if len(one) > 1:
            values = [_value_of_run(run, average, weights, clusters) for run in one]
            parts.append((variance(values) / len(values), len(values) - 1))
    squared_error = math.fsum(part for part, _ in parts)
    df = squared_error**2 / math.fsum(part**2 / df for part, df in parts)
    difference = systems[0].value - systems[1].value
    return DifferenceOfRuns(
        difference, math.sqrt(squared_error), df, difference / stdev(differences) if users_variance else math.nan
    )


def _value_of_run(run: Sequence[Numbers], average: str, weights: Sequence[float], clusters: Sequence[int]) -> float:
    users = [user for user, numbers in enumerate(run) if numbers is not None]
    numbers = [_mean_numbers([run[user]], average) for user in users]
    return _value(numbers, average, [weights[user] for user in users], [clusters[user] for user in users]).value


def _mean_numbers(of_runs: Sequence[Numbers], average: str) -> tuple[float, ...]:
    """Return the means over the runs of a user's numbers; of logarithms for geometric means."""
    numbers = [one for one in of_runs if one is not None]
    if average == "geometric":
        numbers = [(math.log(max(value, _LEAST_VALUE)),) for (value,) in numbers]
    return tuple(fmean(column) for column in zip(*numbers, strict=True))


def _value(
    numbers: Sequence[tuple[float, ...]], average: str, weights: Sequence[float], clusters: Sequence[int]
) -> _Value:
    """Return a value over users, and the influence of each unit on it."""
    if average == "of_means":
        precision, recall = (_ratio([(one[i], 1.0) for one in numbers], weights, clusters) for i in (0, 1))
        p, r = precision.value, recall.value
        divisor = p + r
        if divisor == 0:
            return _Value(0.0, [0.0] * len(precision.influences))
        return _Value(
            2 * p * r / divisor,
            [
                2 * r**2 / divisor**2 * z_p + 2 * p**2 / divisor**2 * z_r
                for z_p, z_r in zip(precision.influences, recall.influences, strict=True)
            ],
        )
    ratios = [(one[0], one[1] if average == "micro" else 1.0) for one in numbers]
    return _ratio(ratios, weights, clusters)


def _ratio(ratios: Sequence[tuple[float, float]], weights: Sequence[float], clusters: Sequence[int]) -> _Value:
    """Return the ratio of two weighted sums over users, and the influence of each unit on it."""
    units = _sums_by_unit([(w * a, w * b) for w, (a, b) in zip(weights, ratios, strict=True)], clusters)
    numerator, denominator = (math.fsum(column) for column in zip(*units, strict=True))
    value = numerator / denominator
    return _Value(value, [(a - value * b) / (denominator / len(units)) for a, b in units])


def _sums_by_unit(columns: Sequence[tuple[float, ...]], clusters: Sequence[int]) -> list[list[float]]:
    units: dict[int, list[tuple[float, ...]]] = {}
    for cluster, one in zip(clusters, columns, strict=True):
        units.setdefault(cluster, []).append(one)
    return [[math.fsum(column) for column in zip(*rows, strict=True)] for rows in units.values()]
