"""One metric of each system, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._figures.metrics import interval_of, value_of_metric
from exactk._report.comparison_table import best_systems
from exactk._report.state import plan_of_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._inference.intervals import MeanInterval
    from exactk._report.report import Report


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
