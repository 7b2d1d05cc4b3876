"""How many relevant items users have, and how long their lists are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._html.page_parts import Cell, Section, page_table
from exactk._html.texts import share_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._report.judged_lists import JudgedLists
    from exactk._runtime.table import Table

_QUESTION = "Whether the test set is what you think."
_MISSING = "it needs the lists; lists= of to_html takes them from exactk.judge"
_LEVELS = {"least": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9, "most": 1.0}
_BINS = ((0, 0), (1, 1), (2, 5), (6, 10), (11, 100), (101, None))
_MOST_GRADES = 12


def relevance(source: Source) -> Section:
    """Return the section."""
    lists = {system: one for system, one in source.request.lists.items() if one.in_truth.any()}
    if not lists:
        return Section("relevance", "Relevance", _QUESTION, missing=_MISSING)
    first = next(iter(lists.values()))
    relevant = first.relevant[first.in_truth]
    rows = [["relevant items of a user", *_statistics(relevant)]]
    for system, one in lists.items():
        if one.has_list.any():
            of_system = f" of {system}" if system else ""
            rows.append([f"length of a list{of_system}, at most {one.k}", *_statistics(one.lengths[one.has_list])])
    parts: list[Part] = [page_table("Per user", ["", *_LEVELS, "mean", "users"], rows), _histogram(relevant)]
    grades = _table_of_grades(lists)
    return Section("relevance", "Relevance", _QUESTION, [*parts, *([grades] if grades.rows else [])])


def _statistics(counts: NDArray[np.int64]) -> list[str]:
    quantiles = np.quantile(counts, list(_LEVELS.values()), method="inverted_cdf").tolist()
    return [*(f"{quantile:,}" for quantile in quantiles), f"{counts.mean():,.2f}", f"{len(counts):,}"]


def _histogram(relevant: NDArray[np.int64]) -> Table:
    rows: list[list[Cell | str]] = []
    for low, high in _BINS:
        count = int(((relevant >= low) & (relevant <= (relevant.max() if high is None else high))).sum())
        share = count / len(relevant)
        name = str(low) if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        rows.append([name, f"{count:,}", Cell(share_text(share), share=share)])
    return page_table("Users by their number of relevant items", ["relevant items", "users", "share"], rows)


def _table_of_grades(lists: dict[str, JudgedLists]) -> Table:
    """Return how often each grade is recommended; empty if the truth has one grade alone."""
    counts = {}
    for system, one in lists.items():
        grades, numbers = np.unique(one.grades[~np.isnan(one.grades)], return_counts=True)
        counts[system] = dict(zip(grades.tolist(), numbers.tolist(), strict=True))
    found = sorted({grade for one in counts.values() for grade in one}, reverse=True)
    shown = found[:_MOST_GRADES] if len(found) > 1 else []
    rows = [[f"{grade:g}", *(f"{one.get(grade, 0):,}" for one in counts.values())] for grade in shown]
    unjudged = [f"{int(one.lengths.sum()) - sum(counts[system].values()):,}" for system, one in lists.items()]
    if rows:
        rows.append(["not judged", *unjudged])
    left_out = f"{len(found) - _MOST_GRADES} lower grades are left out." if len(found) > _MOST_GRADES else ""
    return page_table(
        "Recommended items by grade", ["grade", *(system or "items" for system in lists)], rows, note=left_out
    )
