"""The differences of pairs of systems, with intervals and margins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._figures.metrics import value_of_metric
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inference.margins import Margin
    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference


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
    spellings = {value.name: value.spelling for value in plan_of_state(first.state)}
    margins = comparison.state.options.margins(first.convention, spellings)
    found = {spelling: margins.get(name, margins.get("")) for name, spelling in spellings.items()}
    return {spelling: margin for spelling, margin in found.items() if margin is not None}


def _size(margin: Margin | None, row: Difference) -> float:
    return math.nan if margin is None else margin.difference(row.baseline_value)
