"""What the evaluation counted: whether the numbers may be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._html.page_parts import Bullets, Section, page_table
from exactk._html.texts import number, share_text
from exactk._report.counts import count_label
from exactk._report.difference_table import left_out_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._report.report import Report
    from exactk._runtime.table import Table

_QUESTION = "Whether the numbers may be trusted."

_EXPLANATIONS = {
    "empty_truth": "the convention's empty_truth decides what they count",
    "missing_lists": "missing_list decides what they count",
    "missing_truth": "the convention's users decides whether they are in the mean",
    "empty_predictions": "empty_list decides what they count",
    "duplicates": "duplicate_items decides what they count",
    "excluded_recommended": "they were removed from the lists",
    "relevant_excluded": "they cannot be recommended and count as misses",
    "relevant_not_rankable": "no score, column or candidate is theirs, and they count as misses",
    "unknown_actual": "they were dropped",
    "rank_gaps": "rank_gaps decides whether they are closed",
    "foreign_recommended": "foreign_items decides what they count",
    "unseen_recommended": "unseen_items decides what they count",
}


def data_health(source: Source) -> Section:
    """Return the section."""
    parts: list[Part] = [
        Bullets(_remarks(source) or ["Nothing unusual: every count of missing, empty or excluded data is 0."]),
        _table_of_counts(source),
    ]
    parts += [table for table in (_ties(source),) if table.rows]
    return Section("data-health", "Data health", _QUESTION, parts)


def _remarks(source: Source) -> list[str]:
    """Return what deserves a look, in words."""
    lines = []
    compares_lists = source.values[0].info.compares_lists
    for name, explanation in _EXPLANATIONS.items():
        counts = {system: _scalars(report).get(name, 0) for system, report in source.reports.items()}
        if any(counts.values()):
            label = count_label(name, compares_lists=compares_lists)
            more = "" if compares_lists else f"; {explanation}"
            lines.append(f"{label[:1].upper()}{label[1:]}: {_by_system(counts)}{more}.")
    if source.differences is not None:
        lines += [f"{line[:1].upper()}{line[1:]}." for line in left_out_lines(source.differences)]
    return lines


def _scalars(report: Report) -> dict[str, int]:
    return report.state.counts.scalars()


def _by_system(counts: dict[str, int]) -> str:
    """Return one number if it is that of all systems, else that of each."""
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values())):,}"
    return ", ".join(f"{count:,} in {system}" for system, count in counts.items() if count)


def _table_of_counts(source: Source) -> Table:
    compares_lists = source.values[0].info.compares_lists
    names = dict.fromkeys(name for report in source.reports.values() for name in _scalars(report))
    rows = [
        [
            count_label(name, compares_lists=compares_lists),
            *(f"{_scalars(report).get(name, 0):,}" for report in source.reports.values()),
        ]
        for name in names
    ]
    for text, cells in _rows_of_candidates(source):
        rows.append([text, *cells])
    systems = list(source.reports) if source.comparison is not None else ["count"]
    return page_table("Counts", ["", *systems], rows)


def _rows_of_candidates(source: Source) -> Iterator[tuple[str, Sequence[str]]]:
    candidates = [report.counts.get("candidates") for report in source.reports.values()]
    if any(candidates):
        for name, text in {"min": "fewest", "mean": "mean", "max": "most"}.items():
            yield f"candidates of a user, {text}", ["-" if one is None else f"{one[name]:,.6g}" for one in candidates]


def _ties(source: Source) -> Table:
    """Return how many users' values depend on the order of ties, and how far apart the extremes of the mean are."""
    rows = []
    for index, value in enumerate(source.values):
        for system, report in source.reports.items():
            ties = (report.state.counts.ties or ())[index : index + 1]
            if ties and ties[0].dependent:
                evaluated = report.counts["evaluated"][value.name]
                span = number(ties[0].spread / 1e6 / evaluated) if evaluated and _has_span(value) else "-"
                share = share_text(ties[0].dependent / max(1, report.state.counts.users))
                rows.append([value.spelling, system, f"{ties[0].dependent:,}", share, span])
    note = "The span is that of the mean over all orders of tied items, from ties=pessimistic to ties=optimistic."
    return page_table(
        "Users whose value depends on the order of ties", ["metric", "system", "users", "share", "span"], rows, 2, note
    )


def _has_span(value: Value) -> bool:
    return not value.info.reads_list and value.rules["average"] == "macro"
