"""The difference of a pair of systems in each group of users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from exactk._figures.metrics import check_system, value_of_metric
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference

Opposite = Literal["", "sign", "significant"]


@dataclass(frozen=True)
class GroupsFigure:
    """A row of each group, and whether the difference is the same in all."""

    metric: str
    system: str
    baseline: str
    rows: Sequence[Difference]
    heterogeneity: float  # Welch's p-value; NaN for fewer than two groups
    opposite: Opposite  # whether groups differ in sign, or significantly in both directions


def groups_figure(
    comparison: Comparison, metric: str | None = None, system: str | None = None, baseline: str | None = None
) -> GroupsFigure:
    """Return the differences by group of a pair in a metric, by default of the first row of differences."""
    by_group = comparison.differences.by_group
    if not by_group:
        raise input_error("groups", "groups of users, which groups= of exactk.compare names", "none")
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None:
            check_system(comparison.reports, argument, name)
    spelling = value_of_metric(comparison.reports, metric).spelling if metric is not None else by_group[0].metric
    rows = [
        row
        for row in by_group
        if row.metric == spelling and system in {None, row.system} and baseline in {None, row.baseline}
    ]
    if not rows:
        pair = " against ".join(repr(name) for name in (system, baseline) if name is not None)
        asked = f"{spelling!r} of {pair}" if pair else repr(spelling)
        raise input_error("metric", "a metric and a pair of systems that are compared", asked)
    first = rows[0]
    rows = [row for row in rows if (row.system, row.baseline) == (first.system, first.baseline)]
    p = comparison.differences.heterogeneity.get((spelling, first.system, first.baseline), math.nan)
    level = comparison.state.options.level
    return GroupsFigure(spelling, first.system, first.baseline, rows, p, opposite_signs(rows, level))


_WITH_A_SIDE = {"better", "worse", "higher", "lower", "equivalent"}  # the last by a margin, perhaps significant too


def opposite_signs(rows: Sequence[Difference], level: float) -> Opposite:
    """Return whether some differences are above 0 and others below, and whether both are significant."""
    defined = [row for row in rows if row.difference and not math.isnan(row.difference)]
    significant = [row for row in defined if row.p_adjusted <= level and row.verdict in _WITH_A_SIDE]
    if len({row.difference > 0 for row in significant}) == 2:
        return "significant"
    return "sign" if len({row.difference > 0 for row in defined}) == 2 else ""
