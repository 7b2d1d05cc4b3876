"""The values of all metrics, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures.figures import values_figure
from exactk._html.charts.interval_rows import IntervalRow, intervals_chart
from exactk._html.page_parts import Cell, Chart, Section, page_table
from exactk._html.texts import number, with_intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._figures.figures import ValuesFigure
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._runtime.table import Table


def values(source: Source) -> Section:
    """Return the section."""
    figures = [values_figure(source.reports, value.name, source.confidence) for value in source.values]
    parts: list[Part] = [_table_of_values(source, figures)]
    if source.comparison is not None:
        with_intervals = [figure for figure in figures if _has_interval(figure)]
        parts += [_chart_of_values(source, figure) for figure in with_intervals[:1]]
    return Section("values", "Values", "How good each system is.", parts)


def _table_of_values(source: Source, figures: Sequence[ValuesFigure]) -> Table:
    names = list(source.reports) if source.comparison is not None else ["value"]
    header = ["metric", *names, "better", "users"]
    columns = [
        with_intervals([one.values[system] for one in figures], [one.intervals[system] for one in figures])
        for system in source.reports
    ]
    rows = [
        [value.spelling, *_cells(source, value, figure, texts), *_facts(source, value)]
        for value, figure, texts in zip(source.values, figures, zip(*columns, strict=True), strict=True)
    ]
    baseline = None if source.comparison is None else source.comparison.state.options.baseline
    has_tied = any(isinstance(cell, Cell) and cell.mark == "~" for row in rows for cell in row)
    intervals = _note_on_intervals(source, columns) if any(map(_has_interval, figures)) else ""
    if intervals and any(row.units != row.users for some in source.rows_of.values() for row in some):
        intervals += ", as if users were independent: it ignores the clusters, which the differences do not"
    notes = [
        intervals or "no intervals: they need SciPy, and means of users' values with equal weights",
        *(["* best"] if len(source.reports) > 1 else []),
        *(["~ not significantly worse than the best"] if has_tied else []),
        *([f"only differences from {baseline} are tested"] if baseline and len(source.reports) > 2 else []),
        *_notes_on_users(source),
    ]
    return page_table("Values", header, rows, note="; ".join(notes) + ".")


def _note_on_intervals(source: Source, columns: Iterable[Iterable[str]]) -> str:
    """Return what stands beside the values."""
    signs = {sign for texts in columns for text in texts for sign in "±[" if sign in text}
    interval = f"{source.level_text} confidence interval"
    forms = f"± half of the {interval}" if "±" in signs else f"in brackets the {interval}"
    forms += ", or the whole in brackets" * (signs == {"±", "["})
    counts = (report.counts["evaluated"].values() for report in source.reports.values())
    few = "; an interval of one user says little" * any(1 in some for some in counts)
    return f"{forms}{few}"


def _cells(source: Source, value: Value, figure: ValuesFigure, texts: Iterable[str]) -> list[Cell | str]:
    tied = _tied_with_best(source, value, figure)
    cells: list[Cell | str] = []
    for system, text in zip(source.reports, texts, strict=True):
        is_best = len(source.reports) > 1 and system in figure.best
        cells.append(Cell(text, is_best=is_best, mark="*" if is_best else "~" if system in tied else ""))
    return cells


def _tied_with_best(source: Source, value: Value, figure: ValuesFigure) -> set[str]:
    """Return the systems that are compared with the best one, and not significantly worse."""
    is_one_sided = source.comparison is not None and source.comparison.state.options.alternative != "two_sided"
    tied = set()
    for row in () if is_one_sided else source.rows_of.get(value.spelling, ()):
        if row.p_adjusted > source.level and (row.system in figure.best or row.baseline in figure.best):
            tied |= {row.system, row.baseline}
    return tied - set(figure.best)


def _facts(source: Source, value: Value) -> Sequence[str]:
    evaluated = list(dict.fromkeys(report.counts["evaluated"][value.name] for report in source.reports.values()))
    direction = {"none": "neither"}.get(value.info.direction, value.info.direction)
    return [direction, "/".join(f"{count:,}" for count in evaluated)]


def _notes_on_users(source: Source) -> list[str]:
    users = {report.state.counts.users for report in source.reports.values()}
    if len(users) > 1:
        return ["the systems have different users"]
    (count,) = users
    is_partial = any(
        evaluated != count for report in source.reports.values() for evaluated in report.counts["evaluated"].values()
    )
    return [f"users: those who are in the mean, of {count:,}"] if is_partial else []


def _has_interval(figure: ValuesFigure) -> bool:
    return not all(math.isnan(one.low) for one in figure.intervals.values())


def _chart_of_values(source: Source, figure: ValuesFigure) -> Chart:
    shown = list(source.reports)[: source.limits.marks]
    rows = [
        IntervalRow(
            system,
            figure.values[system],
            *figure.intervals[system],
            number(figure.values[system]),
            source.styles[system],
        )
        for system in shown
    ]
    best = " and ".join(figure.best[:3])
    finding = f"{best} {'has' if len(figure.best) == 1 else 'have'} the best value" if best else "each system's value"
    title = f"{figure.metric} of each system"
    return Chart(
        title,
        f"The point is the value, the line its {source.level_text} confidence interval; {finding}.",
        intervals_chart(title, finding, rows, figure.metric),
    )
