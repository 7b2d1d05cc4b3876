"""Two aims against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._figures.figures import trade_off_figure
from exactk._html.charts.scatter import ScatterPoint, scatter_chart
from exactk._html.page_parts import Chart, Section, page_table
from exactk._html.texts import with_intervals
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from exactk._figures.figures import TradeOffFigure
    from exactk._html.page_source import Source

_QUESTION = "What one aim costs in the other."


def trade_offs(source: Source) -> Section:
    """Return the section."""
    if source.comparison is None:
        return Section("trade-offs", "Trade-offs", _QUESTION, missing=source.no_differences)
    try:
        figure = trade_off_figure(source.reports, y=_other_aim(source), confidence=source.confidence)
    except ExactkError as error:
        return Section("trade-offs", "Trade-offs", _QUESTION, missing=str(error))
    return Section("trade-offs", "Trade-offs", _QUESTION, [_chart_of_trade_off(source, figure)])


def _other_aim(source: Source) -> str | None:
    """Return the first metric of what is recommended, whether relevant or not; None if there is none."""
    first = source.values[0]
    aims = [
        value.name
        for value in source.values
        if (value.info.reads_list or value.info.of_collection) and value.info.direction != "none"
    ]
    return next((name for name in aims if name != first.name), None)


def _chart_of_trade_off(source: Source, figure: TradeOffFigure) -> Chart:
    points = [
        ScatterPoint(
            system,
            source.styles[system],
            figure.x.values[system],
            figure.y.values[system],
            figure.x.intervals[system],
            figure.y.intervals[system],
            on_front=system in figure.front,
        )
        for system in list(source.reports)[: source.limits.marks]
    ]
    directions = {value.spelling: value.info.direction for value in source.values}
    x, y = figure.x.metric, figure.y.metric
    titles = [f"{metric} ({directions[metric]} is better)" for metric in (x, y)]
    front = ", ".join(figure.front) or "no system, as no one has both values"
    finding = (
        f"On the Pareto front, that is, with no other system better in one metric and not worse in the other: {front}."
    )
    title = f"{x} against {y}"
    columns = [with_intervals(one.values.values(), one.intervals.values()) for one in (figure.x, figure.y)]
    rows = [
        [system, *cells, "yes" if system in figure.front else "no"]
        for system, *cells in zip(figure.x.values, *columns, strict=True)
    ]
    table = page_table(title, ["system", x, y, "on the front"], rows)
    return Chart(title, finding, scatter_chart(title, finding, points, *titles), table)
