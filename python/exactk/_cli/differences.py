"""The differences of a comparison, as the command line prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._report.difference import Difference
from exactk._runtime.faults import plural
from exactk._runtime.table_formats import format_csv

if TYPE_CHECKING:
    from exactk._report.differences import Differences

_MOST_ROWS = 12  # of groups, in a table for a terminal


def differences_as_text(differences: Differences, format_name: str) -> list[str]:
    """Return the differences, and those of groups if there are any, in the format "table", "markdown" or "latex"."""
    tables = [differences, differences.by_group] if differences.by_group else [differences]
    if format_name == "markdown":
        return [table.to_markdown() for table in tables]
    if format_name == "latex":
        return [table.to_latex() for table in tables]
    left_out = len(differences.by_group) - _MOST_ROWS
    remark = [f"{plural(left_out, 'more row')} of groups with --format csv"] if left_out > 0 else []
    return [repr(differences), *(repr(table[:_MOST_ROWS]) for table in tables[1:]), *remark]


def differences_as_csv(differences: Differences) -> str:
    """Return the differences, and those of groups, as one table; the rows of all users have no group."""
    rows = [*differences, *differences.by_group]
    names = [name for name in Difference._fields if name != "group" or differences.by_group]
    return format_csv({name: [getattr(row, name) for row in rows] for name in names})
