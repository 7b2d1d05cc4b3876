"""The differences of systems, with tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures.figures import differences_figure
from exactk._html.charts.interval_rows import IntervalRow, intervals_chart
from exactk._html.page_parts import Bullets, Cell, Chart, Fold, Section, page_table
from exactk._html.texts import signed, tone_of
from exactk._runtime.table_exports import tables_of

if TYPE_CHECKING:
    from exactk._figures.figures import DifferencesFigure
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._report.differences import Differences
    from exactk._runtime.table import Table


QUESTION = "Whether a difference is real, and whether it is large enough to matter."


def differences(source: Source) -> Section:
    """Return the section."""
    if source.no_differences or source.comparison is None or source.differences is None:
        return Section("differences", "Differences", QUESTION, missing=source.no_differences)
    metrics = list(source.rows_of)[: source.limits.charts]
    charts = [_chart_of_differences(source, differences_figure(source.comparison, metric)) for metric in metrics]
    parts: list[Part] = [*charts[:1], *table_of_differences(source.differences)]
    if len(charts) > 1:
        left_out = len(source.rows_of) - len(metrics)
        more = f" (the first {len(metrics)}, {left_out} more in the table)" if left_out else ""
        parts.append(Fold(f"Pictures of the other metrics{more}", charts[1:]))
    return Section("differences", "Differences", QUESTION, parts)


def table_of_differences(rows: Differences) -> list[Part]:
    """Return the rows as they print, with verdicts in colour, and how they were tested."""
    (shown,) = tables_of(rows)
    caption, *notes = shown.notes
    parts: list[Part] = [_table_of_differences(shown, rows, f"{caption[:1].upper()}{caption[1:]}.")]
    return [*parts, Bullets(list(notes))] if notes else parts


def _table_of_differences(shown: Table, rows: Differences, note: str) -> Table:
    """Return the rows with the verdict, the last column of what prints, behind the names."""
    header, cells, left = shown.header, shown.rows, shown.left
    toned: list[list[Cell | str]] = [
        [*line[:left], Cell(line[-1], tone_of(row.verdict)), *line[left:-1]]
        for line, row in zip(cells, rows, strict=True)
    ]
    return page_table(shown.caption, [*header[:left], header[-1], *header[left:-1]], toned, left + 1, note)


def _chart_of_differences(source: Source, figure: DifferencesFigure) -> Chart:
    shown = figure.rows[: source.limits.marks]
    metric = shown[0].metric
    rows = [
        IntervalRow(
            source.pair_name(row.system, row.baseline),
            row.difference,
            row.low,
            row.high,
            signed(row.difference, row),
            tone=tone_of(row.verdict) or "neutral",
            margin=margin,
        )
        for row, margin in zip(shown, figure.margins, strict=False)
    ]
    verdicts = [row.verdict for row in shown]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    band = "; the grey band is the margin" if any(margin > 0 for margin in figure.margins) else ""
    one_baseline = len({row.baseline for row in shown}) == 1
    against = f" against {shown[0].baseline}" if one_baseline and len(shown) > 1 else ""
    title = f"Differences in {metric}{against}"
    has_intervals = any(math.isfinite(row.low) for row in shown)
    lines = f", the line its {source.level_text} confidence interval" if has_intervals else ""
    finding = f"{counts}. The point is the difference{lines}{band}."
    return Chart(title, finding, intervals_chart(title, finding, rows, f"difference in {metric}", zero=True))
