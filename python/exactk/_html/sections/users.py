"""How the values of users are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._figures.figures import LEVELS, distribution_figure, pair_figure
from exactk._html.charts.lines import Series, steps_chart
from exactk._html.page_parts import Chart, Section, page_table
from exactk._html.texts import number, share_text
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._figures.figures import DistributionFigure, PairFigure
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._runtime.table import Table

_QUESTION = "Whether the mean is that of most users or of a few."
_SHOWN_LEVELS = (0, 10, 25, 50, 75, 90, 100)  # in percent


def users(source: Source) -> Section:
    """Return the section."""
    try:
        figure = distribution_figure(source.reports)
    except ExactkError as error:
        return Section("users", "Distribution over users", _QUESTION, missing=str(error))
    if not any(figure.users.values()):
        return Section("users", "Distribution over users", _QUESTION, missing=f"no user has a value of {figure.metric}")
    parts: list[Part] = [_chart_of_users(source, figure)]
    runs = {} if source.comparison is None else source.comparison.state.options.runs or {}
    pairs = [pair for pair in source.pairs if not runs.keys() & set(pair)][: source.limits.marks]
    pair_figures = [pair_figure(source.reports, *pair, figure.metric) for pair in pairs]
    if any(one.users for one in pair_figures):
        parts += [_chart_of_pairs(source, pair_figures), _table_of_shares(source, pair_figures)]
    return Section("users", "Distribution over users", _QUESTION, parts)


def _series(name: str, source: Source, system: str, quantiles: NDArray[Any]) -> Series:
    return Series(name, source.styles[system], quantiles.tolist(), LEVELS.tolist())


def _chart_of_users(source: Source, figure: DistributionFigure) -> Chart:
    systems = [system for system, count in figure.users.items() if count][: source.limits.marks]
    series = [_series(system or figure.metric, source, system, figure.quantiles[system]) for system in systems]
    first = figure.quantiles[systems[0]]
    name = f" of {systems[0]}" if systems[0] else ""
    finding = f"The median{name} is {number(first[50])}."
    title = f"Users by {figure.metric}"
    weights = "; users count once each, whatever their weights" if source.first.state.weighted else ""
    return Chart(
        title,
        f"{finding} The height of a line is the share of users whose value is at most x{weights}.",
        steps_chart(title, finding, series, figure.metric, "share of users"),
        _table_of_quantiles(f"Quantiles of users' {figure.metric}", systems, figure),
    )


def _table_of_quantiles(caption: str, systems: Sequence[str], figure: DistributionFigure) -> Table:
    rows = [
        [
            system or figure.metric,
            *(number(figure.quantiles[system][level]) for level in _SHOWN_LEVELS),
            f"{figure.users[system]:,}",
        ]
        for system in systems
    ]
    return page_table(caption, [_name_of_rows(systems), *map(_level_text, _SHOWN_LEVELS), "users"], rows)


def _name_of_rows(systems: Sequence[str]) -> str:
    return "metric" if list(systems) == [""] else "system"


def _level_text(level: int) -> str:
    return {0: "least", 50: "median", 100: "largest"}.get(level, f"{level} %")


def _chart_of_pairs(source: Source, figures: Sequence[PairFigure]) -> Chart:
    shown = [one for one in figures if one.users]
    series = [_series(source.pair_name(one.system, one.baseline), source, one.system, one.quantiles) for one in shown]
    first = shown[0]
    finding = f"The median difference of {first.system} from {first.baseline} is {number(first.quantiles[50])}."
    rows = [
        [
            source.pair_name(one.system, one.baseline),
            *(number(one.quantiles[level]) for level in _SHOWN_LEVELS),
            f"{one.users:,}",
        ]
        for one in shown
    ]
    title = f"Users by their difference in {first.metric}"
    return Chart(
        title,
        finding,
        steps_chart(title, finding, series, f"difference in {first.metric}", "share of users"),
        page_table("Quantiles of users' differences", ["system", *map(_level_text, _SHOWN_LEVELS), "users"], rows),
    )


def _table_of_shares(source: Source, figures: Sequence[PairFigure]) -> Table:
    rows = []
    for one in figures:
        if one.users:
            shares = [_shares_text(one.gains), _shares_text(one.losses)]
            rows.append([source.pair_name(one.system, one.baseline), *shares[0], *shares[1]])
    header = [
        "system",
        "share of all gains: 1 % of users who gain most",
        "10 %",
        "share of all losses: 1 % of users who lose most",
        "10 %",
    ]
    note = "If 1 % of the users have most of the gains, the difference is theirs, not that of a typical user."
    return page_table("How few users have the gains and losses", header, rows, note=note)


def _shares_text(shares: Sequence[tuple[float, float]]) -> list[str]:
    return [share_text(share) for _, share in shares] or ["none", "none"]
