"""How many users win, tie and lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._html.charts.bars import BarRow, bars_chart
from exactk._html.page_parts import Chart, Section, page_table
from exactk._html.texts import share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._report.difference import Difference
    from exactk._runtime.table import Table

_QUESTION = "Whether a difference comes from many users or from a few."
_KINDS = (("better", "wins"), ("tie", "ties"), ("worse", "losses"))


def wins(source: Source) -> Section:
    """Return the section."""
    missing = source.no_differences
    rows_of = {metric: rows for metric, rows in source.rows_of.items() if _has_users(source, metric)}
    if not missing and not any(_total(row) for rows in rows_of.values() for row in rows):
        missing = "no metric has values of users, which could win or lose"
    if missing:
        return Section("wins", "Wins, ties and losses", _QUESTION, missing=missing)
    metric, rows = next(iter(rows_of.items()))
    parts: list[Part] = [_chart_of_wins(source, metric, rows[: source.limits.marks]), _table_of_wins(source, rows_of)]
    return Section("wins", "Wins, ties and losses", _QUESTION, parts)


def _has_users(source: Source, metric: str) -> bool:
    return bool(source.value_of[metric].rules["average"] != "of_means")


def _total(row: Difference) -> int:
    return sum(_counts_of_wins(row))


def _counts_of_wins(row: Difference) -> tuple[int, int, int]:
    return row.wins, row.ties, row.losses


def _chart_of_wins(source: Source, metric: str, rows: Sequence[Difference]) -> Chart:
    bars = [BarRow(source.pair_name(row.system, row.baseline), _counts_of_wins(row)) for row in rows]
    first = rows[0]
    better, worse = ("higher", "lower") if source.has_no_direction(metric) else ("better", "worse")
    finding = (
        f"{first.system} is {better} than {first.baseline} for {first.wins:,} users, equal for {first.ties:,} and {worse} "
        f"for {first.losses:,}."
    )
    title = f"Users who win, tie and lose in {metric}"
    return Chart(title, finding, bars_chart(title, finding, _KINDS, bars, "share of users"))


def _table_of_wins(source: Source, rows_of: dict[str, Sequence[Difference]]) -> Table:
    cells = [
        [
            row.metric,
            source.pair_name(row.system, row.baseline),
            *(f"{count:,}" for count in _counts_of_wins(row)),
            _net_share(row),
        ]
        for rows in rows_of.values()
        for row in rows
    ]
    header = ["metric", "system", "wins", "ties", "losses", "wins less losses"]
    note = "The last column is in percent of the users. For a metric without a direction, wins are higher values."
    return page_table("Wins, ties and losses", header, cells, left=2, note=note)


def _net_share(row: Difference) -> str:
    total = _total(row)
    if not total:
        return "-"
    net = (row.wins - row.losses) / total
    sign = "+" if net > 0 else "\N{MINUS SIGN}" if net < 0 else ""
    return f"{sign}{share_text(abs(net))}"
