"""Values and differences by group of users."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures.figures import GroupsFigure, opposite_signs
from exactk._html.charts.interval_rows import IntervalRow, intervals_chart
from exactk._html.page_parts import Cell, Chart, Findings, Fold, Paragraph, Section, page_table
from exactk._html.sections.paired_tests import table_of_differences
from exactk._html.texts import number, signed, tone_of
from exactk._report.difference_table import format_p
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from exactk._html.page_parts import Part, Tone
    from exactk._html.page_source import Source
    from exactk._report.difference import Difference
    from exactk._report.report import GroupRow
    from exactk._report.sums import Label
    from exactk._runtime.table import Table

_QUESTION = "For whom a system is better, and whether it is worse for somebody."
_MISSING = "there are no groups of users; groups= of exactk.evaluate and exactk.compare names them"


def groups(source: Source) -> Section:
    """Return the section."""
    if not any(report.state.groups for report in source.reports.values()):
        return Section("groups", "Groups", _QUESTION, missing=_MISSING)
    if source.comparison is None or source.differences is None or not source.differences.by_group:
        return Section("groups", "Groups", _QUESTION, [_table_of_group_values(source)])
    figures = list(_figures(source))
    metrics = list(source.rows_of)[: source.limits.charts // 2]
    tables = [_heat_table(source, metric, [one for one in figures if one.metric == metric]) for metric in metrics]
    parts: list[Part] = [*_findings(source, figures), _chart_of_groups(source, figures[0]), *tables[:1]]
    if len(tables) > 1:
        more = f", {len(source.rows_of) - len(metrics)} more in the next table" * (len(source.rows_of) > len(metrics))
        parts.append(Fold(f"Other metrics by group{more}", tables[1:]))
    rows = source.differences.by_group[: source.limits.rows // 8]
    parts.append(Fold("Differences by group", [*table_of_differences(rows), *_left_out(source, len(rows))]))
    parts.append(Fold("Values by group", [_table_of_group_values(source)]))
    return Section("groups", "Groups", _QUESTION, parts)


def _figures(source: Source) -> Iterator[GroupsFigure]:
    """Yield the differences by group of each pair in each metric."""
    differences = source.differences
    rows_of: dict[tuple[str, str, str], list[Difference]] = {}
    for row in () if differences is None else differences.by_group:
        rows_of.setdefault((row.metric, row.system, row.baseline), []).append(row)
    heterogeneity = {} if differences is None else differences.heterogeneity
    for key, rows in rows_of.items():
        yield GroupsFigure(*key, rows, heterogeneity.get(key, math.nan), opposite_signs(rows, source.level))


def _left_out(source: Source, shown: int) -> list[Part]:
    total = 0 if source.differences is None else len(source.differences.by_group)
    text = f"{total - shown:,} more rows: comparison.differences.by_group.to_csv() has all."
    return [Paragraph(text)] if total > shown else []


def _findings(source: Source, figures: Sequence[GroupsFigure]) -> list[Part]:
    """Return where differences have opposite signs, or are not the same in all groups."""
    rows: list[tuple[Tone, str]] = []
    for one in figures:
        name = f"{one.metric}, {source.pair_name(one.system, one.baseline)}"
        p = "" if math.isnan(one.heterogeneity) else f" (heterogeneity: p = {format_p(one.heterogeneity)})"
        if one.opposite == "significant":
            better, worse = ("higher", "lower") if source.has_no_direction(one.metric) else ("better", "worse")
            rows.append(("worse", f"{name}: significantly {better} in some groups and {worse} in others{p}."))
        elif one.opposite and one.heterogeneity <= source.level:
            rows.append(("", f"{name}: the sign differs between groups, and so does the difference{p}."))
        elif one.heterogeneity <= source.level:
            rows.append(("", f"{name}: not the same difference in all groups{p}."))
    if not rows:
        rows = [
            ("", "No difference is shown to vary between the groups, which is no evidence that it is the same in all.")
        ]
    most = source.limits.marks
    if len(rows) > most:
        rows = [*rows[:most], ("", f"{len(rows) - most} more")]
    return [Findings(rows)]


def _chart_of_groups(source: Source, figure: GroupsFigure) -> Chart:
    rows = [
        IntervalRow(
            f"{row.group} ({plural(row.users, 'user')})",
            row.difference,
            row.low,
            row.high,
            signed(row.difference, row),
            tone=tone_of(row.verdict) or "neutral",
        )
        for row in figure.rows[: source.limits.marks]
    ]
    title = f"Difference in {figure.metric} by group, {figure.system} against {figure.baseline}"
    words = {
        "": "No two groups differ in sign",
        "sign": "The signs differ",
        "significant": "Groups differ significantly in sign",
    }
    finding = f"{words[figure.opposite]}. The line is the {source.level_text} confidence interval."
    return Chart(title, finding, intervals_chart(title, finding, rows, f"difference in {figure.metric}", zero=True))


def _heat_table(source: Source, metric: str, of_metric: Sequence[GroupsFigure]) -> Table:
    """Return the differences of all pairs in a metric: a row per group, a column per pair."""
    labels = list(dict.fromkeys(row.group for one in of_metric for row in one.rows))
    cells = {(row.group, index): row for index, one in enumerate(of_metric) for row in one.rows}
    largest = max((abs(row.difference) for row in cells.values() if math.isfinite(row.difference)), default=0.0)
    users = _users_by_label(cells)
    turn = -1 if source.value_of[metric].info.direction == "lower" else 1
    rows: list[list[Cell | str]] = [
        [
            str(label),
            *(
                _heat_cell(row, turn, largest, is_significant=row is not None and source.is_significant(row))
                for row in _row_of(cells, label, len(of_metric))
            ),
            users[label],
        ]
        for label in labels
    ]
    p_values: list[Cell | str] = [
        Cell("-" if math.isnan(one.heterogeneity) else format_p(one.heterogeneity)) for one in of_metric
    ]
    names = [source.pair_name(one.system, one.baseline) for one in of_metric]
    note = "* significant, adjusted within the group. The last row is Welch's test of whether the difference is the same in all groups."
    return page_table(
        f"Differences in {metric} by group",
        ["group", *names, "users"],
        [*rows, ["p of heterogeneity", *p_values, ""]],
        note=note,
    )


def _row_of(
    cells: Mapping[tuple[Label | None, int], Difference], label: Label | None, size: int
) -> list[Difference | None]:
    return [cells.get((label, index)) for index in range(size)]


def _heat_cell(row: Difference | None, turn: int, largest: float, *, is_significant: bool) -> Cell:
    if row is None or math.isnan(row.difference):
        return Cell("-")
    share = turn * row.difference / largest if largest else 0.0
    return Cell(signed(row.difference, row), share=share, mark="*" if is_significant else "")


def _users_by_label(cells: Mapping[tuple[Label | None, int], Difference]) -> dict[Label | None, str]:
    """Return the number of users of each group, or the range over the pairs."""
    counts: dict[Label | None, list[int]] = {}
    for (label, _), row in cells.items():
        counts.setdefault(label, []).append(row.users)
    return {
        label: f"{some[0]:,}" if len(set(some)) == 1 else f"{min(some):,} to {max(some):,}"
        for label, some in counts.items()
    }


def _table_of_group_values(source: Source) -> Table:
    labels = list(dict.fromkeys(label for report in source.reports.values() for label in report.state.groups or {}))
    most = source.limits.rows // 8
    by_system = {
        system: {(row.label, row.name): row for row in report._rows_of_groups(labels[:most])}
        for system, report in source.reports.items()
    }
    rows: list[list[str]] = []
    for label in labels:
        for value in source.values:
            if not value.info.of_collection and len(rows) < most:
                of_systems = [of_system.get((label, value.name)) for of_system in by_system.values()]
                rows.append([str(label), value.spelling, *map(_value_text, of_systems), _evaluated(of_systems)])
    systems = list(source.reports) if source.comparison is not None else ["value"]
    total = len(labels) * sum(not value.info.of_collection for value in source.values)
    note = f"{total - len(rows):,} more rows: to_csv(table='by_group') has all." if total > len(rows) else ""
    return page_table("Values by group", ["group", "metric", *systems, "users"], rows, left=2, note=note)


def _value_text(row: GroupRow | None) -> str:
    return "-" if row is None else number(row.value)


def _evaluated(rows: Sequence[GroupRow | None]) -> str:
    counts = dict.fromkeys(row.evaluated for row in rows if row is not None)
    return "/".join(f"{count:,}" for count in counts)
