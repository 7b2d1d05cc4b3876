"""What each picture shows, as arrays and names, and the colours, markers and dashes of systems, the same in all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from exactk._inference.intervals import MeanInterval
from exactk._report.comparison_table import best_systems
from exactk._report.matched_reports import matched_users
from exactk._report.state import common_unit_names, plan_of_state
from exactk._runtime.errors import InputError, check_among, input_error
from exactk._runtime.faults import Option
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inference.margins import Margin
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.values import Value
    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference
    from exactk._report.report import Report


Marker = Literal["circle", "square", "triangle", "diamond", "cross"]

MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond", "cross")
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))
"""Lengths of dashes and gaps, in widths of a thin line; a solid line has none."""


@dataclass(frozen=True)
class Palette:
    """The colours of one mode."""

    page: str
    text: str
    muted: str
    systems: tuple[str, ...]
    better: str
    worse: str


LIGHT = Palette(
    page="#ffffff",
    text="#1a1c20",
    muted="#5a6069",
    systems=("#0072B2", "#D55E00", "#117733", "#CC79A7", "#332288", "#4D4D4D"),
    better="#0072B2",
    worse="#D55E00",
)
DARK = Palette(
    page="#16181d",
    text="#e6e8ec",
    muted="#a3aab5",
    systems=("#56B4E9", "#E8743B", "#2FBF93", "#E59AC8", "#F0E442", "#FFFFFF"),
    better="#56B4E9",
    worse="#E8743B",
)


class SystemStyle(NamedTuple):
    """How a system is drawn."""

    color: int  # index of the palette's colours of systems
    marker: Marker
    dash: tuple[int, ...]


def system_styles(systems: Iterable[str]) -> dict[str, SystemStyle]:
    """Return the style of each system, by its position in the comparison."""
    colors = len(LIGHT.systems)
    return {
        system: SystemStyle(
            index % colors,
            MARKERS[(index + index // colors) % len(MARKERS)],
            DASHES[(index // colors) % len(DASHES)],
        )
        for index, system in enumerate(systems)
    }


def value_of_metric(reports: Mapping[str, Report], metric: str | None, argument: str = "metric") -> Value:
    """Return a value of the reports, by any spelling of its metric; the first one for None."""
    first = next(iter(reports.values()))
    values = plan_of_state(first.state)
    if metric is None:
        return values[0]
    return values[first._index_of(metric, argument)]


def interval_of(report: Report, value: Value, confidence: float) -> MeanInterval:
    """Return the interval of a value; NaN where it has none, as with weights of users who were not kept."""
    try:
        return report.interval(value.name, confidence)
    except InputError:
        return MeanInterval()


def directed(value: Value, argument: str) -> str:
    """Return which values are better, higher or lower; raise InputError if neither is."""
    if value.info.direction == "none":
        expected = "a metric whose values are better if they are higher, or lower"
        raise input_error(argument, expected, repr(value.spelling))
    return value.info.direction


@dataclass(frozen=True)
class ValuesFigure:
    """The value of each system, and its confidence interval, NaN where it has none; or of each metric, without `metric`."""

    metric: str
    confidence: float
    values: Mapping[str, float]
    intervals: Mapping[str, MeanInterval]
    best: tuple[str, ...]  # all that are equal; none if neither direction is better


def values_figure(reports: Mapping[str, Report], metric: str | None = None, confidence: float = 0.95) -> ValuesFigure:
    """Return the values of a metric, by default the first one."""
    value = value_of_metric(reports, metric)
    values = {system: report[value.name] for system, report in reports.items()}
    intervals = {system: interval_of(report, value, confidence) for system, report in reports.items()}
    return ValuesFigure(value.spelling, confidence, values, intervals, best_systems(values, value.info.direction))


def metrics_figure(report: Report, confidence: float = 0.95) -> ValuesFigure:
    """Return the values of all metrics of one system."""
    intervals = {value.spelling: interval_of(report, value, confidence) for value in plan_of_state(report.state)}
    return ValuesFigure("", confidence, dict(report), intervals, ())


@dataclass(frozen=True)
class CurvesFigure:
    """The value of each system at each cutoff, with its interval, NaN where it has none."""

    metric: str  # without the cutoff
    confidence: float
    cutoffs: tuple[int, ...]
    values: Mapping[str, Sequence[float]]  # by system, then by cutoff
    intervals: Mapping[str, Sequence[MeanInterval]]


def metrics_with_cutoffs(reports: Mapping[str, Report]) -> dict[str, list[Value]]:
    """Return the values of each metric that was computed at two cutoffs or more, by the metric without the cutoff."""
    values: dict[str, list[Value]] = {}
    for value in plan_of_state(next(iter(reports.values())).state):
        if value.cutoff is not None:
            values.setdefault(value.label, []).append(value)
    in_order = {label: sorted(some, key=lambda value: value.cutoff or 0) for label, some in values.items()}
    return {label: some for label, some in in_order.items() if len({value.cutoff for value in some}) > 1}


def curves_figure(reports: Mapping[str, Report], metric: str | None = None, confidence: float = 0.95) -> CurvesFigure:
    """Return a metric over its cutoffs; by default the first one that was computed at two or more.

    The metric is named without a cutoff, as in ``"ndcg"``, or with any of its cutoffs.
    """
    curves = metrics_with_cutoffs(reports)
    if not curves:
        raise input_error("metrics", "a metric at two cutoffs or more, such as ndcg@[5,10,20]", "none")
    label = next(iter(curves)) if metric is None else _label(reports, metric, curves)
    if label not in curves:
        raise input_error("metric", f"one that was computed at two cutoffs or more: {', '.join(curves)}", repr(metric))
    values = curves[label]
    return CurvesFigure(
        label,
        confidence,
        tuple(value.cutoff or 0 for value in values),
        {system: [report[value.name] for value in values] for system, report in reports.items()},
        {system: [interval_of(report, value, confidence) for value in values] for system, report in reports.items()},
    )


def _label(reports: Mapping[str, Report], metric: str, curves: Mapping[str, object]) -> str:
    return metric if metric in curves else value_of_metric(reports, metric).label


@dataclass(frozen=True)
class DifferencesFigure:
    """Rows of differences, and the margin of each as a difference, NaN where there is none."""

    rows: Sequence[Difference]
    margins: Sequence[float]
    confidence: float
    caption: str  # how they were tested


def differences_figure(comparison: Comparison, metric: str | None = None) -> DifferencesFigure:
    """Return the differences of all pairs in a metric; by default, in every metric."""
    differences = comparison.differences
    if metric is not None:
        spelling = value_of_metric(comparison.reports, metric).spelling
        tested = dict.fromkeys(row.metric for row in differences)
        if spelling not in tested:
            expected = f"a metric of which differences are tested: {', '.join(tested) or 'none is'}"
            raise input_error("metric", expected, repr(metric))
        differences = differences.of(spelling)
    rows = tuple(differences)
    margins = margins_of(comparison)
    sizes = [_size(margins.get(row.metric), row) for row in rows]
    return DifferencesFigure(rows, sizes, comparison.state.options.confidence, differences.caption)


def first_tested(comparison: Comparison) -> str:
    """Return the first metric of which differences are tested."""
    first = next(iter(comparison.differences), None)
    if first is None:
        asked = ", ".join(next(iter(comparison.reports.values())))
        raise input_error("metrics", "a metric of which differences are tested", asked)
    return first.metric


def margins_of(comparison: Comparison) -> dict[str, Margin]:
    """Return the margin of each metric that has one, by its spelling."""
    first = next(iter(comparison.reports.values()))
    spellings = plan_of_state(first.state).spellings_by_name
    margins = comparison.state.options.margins(first.convention, spellings)
    found = {spelling: margins.get(name, margins.get("")) for name, spelling in spellings.items()}
    return {spelling: margin for spelling, margin in found.items() if margin is not None}


def _size(margin: Margin | None, row: Difference) -> float:
    return math.nan if margin is None else margin.difference(row.baseline_value)


Opposite = Literal["", "sign", "significant"]


@dataclass(frozen=True)
class GroupsFigure:
    """A row of each group, and whether the difference is the same in all."""

    metric: str
    system: str
    baseline: str
    rows: Sequence[Difference]
    heterogeneity: float  # Welch's p-value; NaN for fewer than two groups
    heterogeneity_adjusted: float  # over metrics and pairs of systems
    i_squared: float
    opposite: Opposite  # whether groups differ in sign, or significantly in both directions
    units: UnitNames = USERS_AND_ITEMS


def groups_figure(
    comparison: Comparison, metric: str | None = None, system: str | None = None, baseline: str | None = None
) -> GroupsFigure:
    """Return the differences by group of a pair in a metric, by default of the first row of differences."""
    figures = groups_figures(comparison)
    if not figures:
        raise input_error("groups", "groups of users, which groups= of exactk.compare names", "none")
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None:
            check_among(argument, name, comparison.reports)
    spelling = value_of_metric(comparison.reports, metric).spelling if metric is not None else figures[0].metric
    for one in figures:
        if one.metric == spelling and system in {None, one.system} and baseline in {None, one.baseline}:
            return one
    pair = " against ".join(repr(name) for name in (system, baseline) if name is not None)
    asked = f"{spelling!r} of {pair}" if pair else repr(spelling)
    raise input_error("metric", "a metric and a pair of systems that are compared", asked)


def groups_figures(comparison: Comparison) -> list[GroupsFigure]:
    """Return the differences by group of each pair in each metric, in the order of the rows."""
    rows_of: dict[tuple[str, str, str], list[Difference]] = {}
    for row in comparison.differences.by_group:
        rows_of.setdefault((row.metric, row.system, row.baseline), []).append(row)
    differences, level = comparison.differences, comparison.state.options.level
    p, adjusted, i_squared = differences.heterogeneity, differences.heterogeneity_adjusted, differences.i_squared
    units = comparison.unit_names
    return [
        GroupsFigure(*key, rows, p[key], adjusted[key], i_squared[key], opposite_signs(rows, level), units)
        for key, rows in rows_of.items()
    ]


_WITH_A_SIDE = {"better", "worse", "higher", "lower", "equivalent"}  # the last by a margin, perhaps significant too


def opposite_signs(rows: Sequence[Difference], level: float) -> Opposite:
    """Return whether some differences are above 0 and others below, and whether both are significant."""
    defined = [row for row in rows if row.difference and not math.isnan(row.difference)]
    significant = [row for row in defined if row.p_adjusted <= level and row.verdict in _WITH_A_SIDE]
    if len({row.difference > 0 for row in significant}) == 2:
        return "significant"
    return "sign" if len({row.difference > 0 for row in defined}) == 2 else ""


@dataclass(frozen=True)
class TradeOffFigure:
    """Two metrics, and the systems that no other one beats in one of them without losing in the other."""

    x: ValuesFigure
    y: ValuesFigure
    front: tuple[str, ...]


def trade_off_figure(
    reports: Mapping[str, Report], x: str | None = None, y: str | None = None, confidence: float = 0.95
) -> TradeOffFigure:
    """Return two metrics crossed: by default the first two of different names that are better higher, or lower."""
    of_x = None if x is None else value_of_metric(reports, x)
    of_y = None if y is None else value_of_metric(reports, y, "against")
    of_x = of_x or _first_beside(of_y, reports)
    of_y = of_y or _first_beside(of_x, reports)
    signs = [1 if directed(value, name) == "higher" else -1 for name, value in (("metric", of_x), ("against", of_y))]
    figures = tuple(values_figure(reports, value.name, confidence) for value in (of_x, of_y))
    points = {
        system: tuple(sign * figure.values[system] for sign, figure in zip(signs, figures, strict=True))
        for system in reports
    }
    defined = {system: point for system, point in points.items() if not any(map(math.isnan, point))}
    front = tuple(
        system for system, point in defined.items() if not any(_dominates(other, point) for other in defined.values())
    )
    return TradeOffFigure(figures[0], figures[1], front)


def _first_beside(other: Value | None, reports: Mapping[str, Report]) -> Value:
    """Return the first metric of another name that has a better and a worse."""
    values = plan_of_state(next(iter(reports.values())).state)
    for value in values:
        if value.info.direction != "none" and (other is None or value.metric != other.metric):
            return value
    raise input_error("metrics", "two metrics, one against the other", ", ".join(value.spelling for value in values))


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


class PopularityRow(NamedTuple):
    """Some items, about equally popular: which share of train they have, and of each system's recommendations."""

    part: str
    items: int
    train: float
    shares: Mapping[str, float]


_TENTHS = 10


def popularity_rows(reports: Mapping[str, Report], value: Value, items: CanonicalItems) -> list[PopularityRow]:
    """Return a row for each tenth of train, the most popular items first, then for items without users in train.

    An item belongs to the tenth that the more popular ones reach, so that equally popular items are in one row. `value`
    is a metric of all lists, down to whose cutoff recommendations count.
    """
    assert items.users is not None  # noqa: S101 - for the type checker
    levels, level_of, sizes = np.unique(-items.users, return_inverse=True, return_counts=True)
    entries = -levels * sizes
    total = int(entries.sum())
    parts = (_TENTHS * (np.cumsum(entries) - entries) // max(1, total))[level_of]
    parts[items.users == 0] = _TENTHS
    names = [f"{10 * tenth} to {10 * tenth + 10} %" for tenth in range(_TENTHS)]
    names += ["not in train", "outside the catalogue"]
    sums = [np.bincount(parts, weights, len(names)) for weights in (None, items.users)]
    part_of = dict(zip(items.keys.array.tolist(), parts.tolist(), strict=True))
    shares = {}
    for system, report in reports.items():
        tally, column = report._tally_of(value, report.state.tallies)
        keys = tally.keys.tolist() if isinstance(tally.keys, np.ndarray) else tally.keys
        of_keys = np.array([part_of.get(key, _TENTHS + 1) for key in keys], np.int64)
        counts = np.bincount(of_keys, tally.counts[:, column], len(names))
        shares[system] = counts / max(1, counts.sum())
    rows = [
        PopularityRow(
            name,
            int(sums[0][index]),
            float(sums[1][index] / max(1, total)),
            {system: float(some[index]) for system, some in shares.items()},
        )
        for index, name in enumerate(names)
    ]
    return [row for row in rows if row.items or any(row.shares.values())]


LEVELS = np.linspace(0, 1, 101)
"""The shares of users at which quantiles are taken: a picture has no mark per user."""

_BEST_SHARES = (0.01, 0.1)


@dataclass(frozen=True, eq=False)
class DistributionFigure:
    """Quantiles of the users' values of a metric, by system. Users count once each, whatever their weights."""

    metric: str
    quantiles: Mapping[str, NDArray[np.float64]]  # at `LEVELS`
    users: Mapping[str, int]  # who have a value
    units: UnitNames = USERS_AND_ITEMS


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
    units: UnitNames = USERS_AND_ITEMS


def distribution_figure(reports: Mapping[str, Report], metric: str | None = None) -> DistributionFigure:
    """Return the distribution of a metric over users; by default of the first one of which users have values."""
    value = _value_of_users(reports, metric)
    of_users = {system: _defined(_users_of(reports, value)[system]) for system in reports}
    quantiles = {system: _quantiles(numbers) for system, numbers in of_users.items()}
    counts = {system: len(one) for system, one in of_users.items()}
    return DistributionFigure(value.spelling, quantiles, counts, _units_of(reports))


def _units_of(reports: Mapping[str, Report]) -> UnitNames:
    return common_unit_names(report.unit_names for report in reports.values())


def pair_figure(reports: Mapping[str, Report], system: str, baseline: str, metric: str | None = None) -> PairFigure:
    """Return the distribution of the users' differences; higher is a higher value of the system."""
    value = _value_of_users(reports, metric)
    of_users = _users_of(reports, value)
    check_among("system", system, reports)
    check_among("baseline", baseline, reports)
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
        _units_of(reports),
    )


def _value_of_users(reports: Mapping[str, Report], metric: str | None) -> Value:
    values: Sequence[Value] = plan_of_state(next(iter(reports.values())).state)
    if metric is None:
        values = [value for value in values if has_users(value)]
        if not values:
            raise input_error("metric", "a metric of which users have values", "none")
        return values[0]
    value = value_of_metric(reports, metric)
    if not has_users(value):
        raise input_error("metric", "a metric of which users have values", repr(metric))
    return value


def has_users(value: Value) -> bool:
    """Return whether a metric is a mean of values that users have."""
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
