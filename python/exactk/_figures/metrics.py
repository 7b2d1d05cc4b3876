"""The metrics of reports: which one a picture is of, and its values with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inference.intervals import MeanInterval
from exactk._report.state import plan_of_state
from exactk._runtime.errors import InputError, input_error
from exactk._runtime.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exactk._plan.values import Value
    from exactk._report.report import Report


def value_of_metric(reports: Mapping[str, Report], metric: str | None, argument: str = "metric") -> Value:
    """Return a value of the reports, by any spelling of its metric; the first one for None."""
    first = next(iter(reports.values()))
    values = plan_of_state(first.state)
    if metric is None:
        return values[0]
    return values[first.index_of(metric, argument)]


def interval_of(report: Report, value: Value, confidence: float) -> MeanInterval:
    """Return the interval of a value; NaN where it has none, as with weights."""
    try:
        return report.interval(value.name, confidence)
    except InputError:
        return MeanInterval()


def check_system(systems: Iterable[str], argument: str, name: str) -> None:
    """Raise InputError unless a system has the name."""
    names = list(systems)
    if name not in names:
        hint = did_you_mean(str(name), names)
        raise input_error(argument, f"one of {', '.join(map(repr, names))}", repr(name), hint=hint)


def directed(value: Value, argument: str) -> str:
    """Return which values are better, higher or lower; raise InputError if neither is."""
    if value.info.direction == "none":
        expected = "a metric whose values are better if they are higher, or lower"
        raise input_error(argument, expected, repr(value.spelling))
    return value.info.direction
