"""How the values of users are distributed, and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exactk._figures.metrics import check_system, value_of_metric
from exactk._report.matched_users import matched_users
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.report import Report

LEVELS = np.linspace(0, 1, 101)
"""The shares of users at which quantiles are taken: a picture has no mark per user."""

_BEST_SHARES = (0.01, 0.1)


@dataclass(frozen=True, eq=False)
class DistributionFigure:
    """Quantiles of the users' values of a metric, by system. Users count once each, whatever their weights."""

    metric: str
    quantiles: Mapping[str, NDArray[np.float64]]  # at `LEVELS`
    users: Mapping[str, int]  # who have a value


@dataclass(frozen=True, eq=False)
class PairFigure:
    """Quantiles of the users' differences between two systems."""

    metric: str
    system: str
    baseline: str
    quantiles: NDArray[np.float64]  # at `LEVELS`
    users: int  # who have a value in both
    gains: tuple[tuple[float, float], ...]  # shares of the users, and of all gains that those who gain most have
    losses: tuple[tuple[float, float], ...]


def distribution_figure(reports: Mapping[str, Report], metric: str | None = None) -> DistributionFigure:
    """Return the distribution of a metric over users; by default of the first one of which users have values."""
    value = _value_of_users(reports, metric)
    of_users = {system: _defined(_users_of(reports, value)[system]) for system in reports}
    quantiles = {system: _quantiles(numbers) for system, numbers in of_users.items()}
    return DistributionFigure(value.spelling, quantiles, {system: len(one) for system, one in of_users.items()})


def pair_figure(reports: Mapping[str, Report], system: str, baseline: str, metric: str | None = None) -> PairFigure:
    """Return the distribution of the users' differences; higher is a higher value of the system."""
    value = _value_of_users(reports, metric)
    of_users = _users_of(reports, value)
    check_system(reports, "system", system)
    check_system(reports, "baseline", baseline)
    differences = _defined(of_users[system] - of_users[baseline])
    better = -differences if value.info.direction == "lower" else differences
    return PairFigure(
        value.spelling,
        system,
        baseline,
        _quantiles(differences),
        len(differences),
        _shares_of_most(better),
        _shares_of_most(-better),
    )


def _value_of_users(reports: Mapping[str, Report], metric: str | None) -> Value:
    values: Sequence[Value] = plan_of_state(next(iter(reports.values())).state)
    if metric is None:
        values = [value for value in values if _has_users(value)]
        if not values:
            raise input_error("metric", "a metric of which users have values", "none")
        return values[0]
    value = value_of_metric(reports, metric)
    if not _has_users(value):
        raise input_error("metric", "a metric of which users have values", repr(metric))
    return value


def _has_users(value: Value) -> bool:
    return not value.info.of_collection and value.rules["average"] != "of_means"


def _users_of(reports: Mapping[str, Report], value: Value) -> dict[str, NDArray[np.float64]]:
    """Return the users' values by system, in one order."""
    matched = matched_users(reports)
    if matched is None:
        hint = (Option("per_user", True), " keeps them")  # noqa: FBT003 - the value of the option
        raise input_error("reports", "reports with the users' values", "none", hint=hint)
    row = [one.name for one in plan_of_state(next(iter(reports.values())).state)].index(value.name)
    return {system: table.values[row] for system, table in matched.tables.items()}


def _defined(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return numbers[~np.isnan(numbers)]


def _quantiles(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quantiles as values of users, without interpolation; NaN without users."""
    if not len(numbers):
        return np.full(len(LEVELS), np.nan)
    percent = np.arange(len(LEVELS))  # as integers, since 0.7 of 120 users is above 84 in doubles
    ranks = -(-percent * len(numbers) // (len(LEVELS) - 1))
    return np.asarray(np.sort(numbers)[np.maximum(ranks, 1) - 1])


def _shares_of_most(gains: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    """Return what the users who gain most have of all gains; nothing if nobody gains."""
    positive = np.sort(gains[gains > 0])[::-1]
    total = float(positive.sum())
    if not total:
        return ()
    return tuple((share, float(positive[: _rounded_up(share, len(gains))].sum()) / total) for share in _BEST_SHARES)


def _rounded_up(share: float, users: int) -> int:
    return -(-users * round(100 * share) // 100)
