"""A metric over its cutoffs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._figures.metrics import interval_of, value_of_metric
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inference.intervals import MeanInterval
    from exactk._plan.values import Value
    from exactk._report.report import Report


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
