"""Metrics over their cutoffs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures.figures import curves_figure, metrics_with_cutoffs
from exactk._html.charts.lines import Series, curves_chart
from exactk._html.page_parts import Chart, Fold, Section, page_table
from exactk._html.texts import number, with_intervals

if TYPE_CHECKING:
    from exactk._figures.figures import CurvesFigure
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._runtime.table import Table

_QUESTION = "Which list length to choose, and whether one system is better for short lists and another for long ones."
_MISSING = "no metric was computed at two cutoffs or more; ask for some, such as ndcg@[5,10,20]"


def curves(source: Source) -> Section:
    """Return the section."""
    metrics = metrics_with_cutoffs(source.reports)
    if not metrics:
        return Section("curves", "Curves by cutoff", _QUESTION, missing=_MISSING)
    shown = list(metrics)[: source.limits.charts]
    charts = [_chart_of_curves(source, curves_figure(source.reports, metric, source.confidence)) for metric in shown]
    parts: list[Part] = list(charts[:1])
    if len(metrics) > 1:
        left_out = len(metrics) - len(shown)
        more = f" (the first {len(shown)}, {left_out} more in the values)" if left_out else ""
        parts.append(Fold(f"Curves of the other metrics{more}", charts[1:]))
    return Section("curves", "Curves by cutoff", _QUESTION, parts)


def _chart_of_curves(source: Source, figure: CurvesFigure) -> Chart:
    systems = list(figure.values)[: source.limits.marks]
    series = [
        Series(
            system or figure.metric,
            source.styles[system],
            figure.cutoffs,
            figure.values[system],
            [interval.low for interval in figure.intervals[system]],
            [interval.high for interval in figure.intervals[system]],
        )
        for system in systems
    ]
    finding = _finding(figure)
    has_bands = any(math.isfinite(low) for one in series for low in one.lows)
    bands = f" Bands are {source.level_text} confidence intervals of each value by itself." if has_bands else ""
    title = f"{figure.metric} by cutoff"
    return Chart(
        title,
        f"{finding}{bands}",
        curves_chart(title, finding, series, "cutoff k", figure.metric),
        _table_of_curves(figure),
    )


def _finding(figure: CurvesFigure) -> str:
    """Return the first and the last value of one system, or which system has the highest at each cutoff."""
    if len(figure.values) == 1:
        (values,) = figure.values.values()
        cutoffs = figure.cutoffs
        return f"From {number(values[0])} at {cutoffs[0]} to {number(values[-1])} at {cutoffs[-1]}."
    highest: dict[str, list[str]] = {}
    for index, cutoff in enumerate(figure.cutoffs):
        numbers = {system: values[index] for system, values in figure.values.items() if math.isfinite(values[index])}
        for system in [system for system, one in numbers.items() if one == max(numbers.values())]:
            highest.setdefault(system, []).append(str(cutoff))
    sentences = [f"{system} at {', '.join(cutoffs)}" for system, cutoffs in list(highest.items())[:4]]
    return f"Highest: {'; '.join(sentences)}." if sentences else "No system has a value."


def _table_of_curves(figure: CurvesFigure) -> Table:
    header = ["system" if len(figure.values) > 1 else "", *(f"@{cutoff}" for cutoff in figure.cutoffs)]
    values, intervals = (zip(*of_systems.values(), strict=True) for of_systems in (figure.values, figure.intervals))
    columns = map(with_intervals, values, intervals)
    rows = [[system or figure.metric, *cells] for system, *cells in zip(figure.values, *columns, strict=True)]
    return page_table(f"{figure.metric} by cutoff", header, rows)
