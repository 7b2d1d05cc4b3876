"""Which ranks the systems may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._figures.palette import SystemStyle
from exactk._html.charts.interval_rows import IntervalRow, intervals_chart
from exactk._html.page_parts import Chart, Paragraph, Section, page_table
from exactk._html.texts import number
from exactk._report.ranks import ranks_text
from exactk._runtime.errors import ExactkError
from exactk._runtime.table_exports import tables_of

if TYPE_CHECKING:
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._report.ranks import Ranks
    from exactk._runtime.table import Table


_QUESTION = "Which systems need not be told apart."


def ranks(source: Source) -> Section:
    """Return the section."""
    found, missing = _ranks_of(source)
    if not found:
        return Section("ranks", "Ranks", _QUESTION, missing=missing)
    metric, first = next(iter(found.items()))
    method = tables_of(first)[0].notes[-1]
    parts: list[Part] = [
        _chart_of_ranks(source, metric, first),
        _table_of_ranks(found),
        Paragraph(f"{method[:1].upper()}{method[1:]}."),
    ]
    return Section("ranks", "Ranks", _QUESTION, parts)


def _ranks_of(source: Source) -> tuple[dict[str, Ranks], str]:
    """Return the ranks by metric, and why there are none."""
    if source.no_differences or source.comparison is None:
        return {}, source.no_differences
    baseline = source.comparison.state.options.baseline
    if baseline is not None:
        return {}, f"systems are compared with {baseline} alone; baseline=None compares every pair"
    found, reasons = {}, []
    for metric in source.rows_of:
        try:
            found[metric] = source.comparison.ranks(metric)
        except ExactkError as error:
            reasons.append(str(error))
    return found, next(iter(reasons), "")


def _chart_of_ranks(source: Source, metric: str, one: Ranks) -> Chart:
    shown = list(one.items())[: source.limits.marks]
    neutral = SystemStyle(0, "circle", ())
    rows = [
        IntervalRow(
            system,
            float("nan") if interval.best < interval.worst else float(interval.best),
            float(interval.best),
            float(interval.worst),
            f"{ranks_text(interval)} ({number(one.value_of(system))})",
            source.styles.get(system, neutral),
        )
        for system, interval in shown
    ]
    top = ", ".join(one.top)
    finding = f"Tied for the top: {top}." if len(one.top) > 1 else f"Top: {top}."
    title = f"Possible ranks by {metric}"
    return Chart(title, finding, intervals_chart(title, finding, rows, "rank", integers=True))


def _table_of_ranks(found: dict[str, Ranks]) -> Table:
    systems = list(next(iter(found.values())))
    rows = [[system, *(ranks_text(one[system]) for one in found.values())] for system in systems]
    return page_table("Possible ranks in each metric", ["system", *found], rows)
