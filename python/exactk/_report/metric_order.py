"""Reports of the same metrics in one order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exactk._plan.values import as_plan
from exactk._report.report import Report
from exactk._report.state import plan_of_state, sums_of_groups
from exactk._report.user_table import has_part_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import Value


def with_metrics_in_one_order(reports: Mapping[str, Report]) -> Mapping[str, Report]:
    """Return reports with the metrics in the order of the first; as they are if they are no reports."""
    given: object = reports  # other values are refused later
    of_systems: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}  # which no other thread changes
    if not of_systems or not all(isinstance(report, Report) for report in of_systems.values()):
        return reports
    first = next(iter(of_systems.values())).metrics
    return {name: _in_order(report, first) for name, report in of_systems.items()}


def _in_order(report: Report, metrics: tuple[str, ...]) -> Report:
    """Return the report with its metrics in this order; the same report if it has others, or has this order."""
    state = report.state
    if state.metrics == metrics or sorted(state.metrics) != sorted(metrics):
        return report
    order = [state.metrics.index(metric) for metric in metrics]
    values = plan_of_state(state)
    ordered = [values[index] for index in order]
    position = {part.identity: index for index, part in enumerate(as_plan(values).distinct_parts)}
    parts = [position[part.identity] for part in as_plan(ordered).distinct_parts]
    groups = sums_of_groups(state)
    state = state._replace(
        metrics=metrics,
        spellings=tuple(state.spellings[index] for index in order),
        totals=tuple(state.totals[part] for part in parts),
        groups=None if groups is None else groups.with_parts(parts),
    )
    table = report._user_table
    if table is not None:
        table = table._replace(rows=table.rows[[*order, *_part_rows(values, order)]])
    return Report(state, report.users if report._has_keys else None, table)


def _part_rows(values: Sequence[Value], order: Sequence[int]) -> list[int]:
    """Return the rows of a table, after those of the values, in the order of other values."""
    first_rows, row = {}, len(values)
    for index, value in enumerate(values):
        first_rows[index] = row
        row += 2 * has_part_rows(value)
    return [first_rows[i] + part for i in order if has_part_rows(values[i]) for part in (0, 1)]
