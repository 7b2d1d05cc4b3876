"""Cuts what is too long for a page, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exactk._html.page_parts import Bullets, Cell, Chart, Facts, Findings, Fold, Paragraph, page_table
from exactk._html.texts import with_minus_signs
from exactk._runtime.faults import plural
from exactk._runtime.printable_text import printable
from exactk._runtime.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._html.page_parts import Part, Section
    from exactk._html.page_source import Limits


def limited_section(section: Section, limits: Limits) -> Section:
    """Return the section with tables, lists and texts of at most these sizes, control characters escaped."""
    return replace(section, missing=_text(section.missing, limits), parts=_limited(section.parts, limits))


def _limited(parts: Sequence[Part], limits: Limits) -> list[Part]:
    return [_limited_part(part, limits) for part in parts]


def _limited_part(part: Part, limits: Limits) -> Part:
    limited: Part = part
    match part:
        case Table():
            limited = _limited_table(part, limits)
        case Chart():
            texts = {"title": _text(part.title, limits), "finding": _text(part.finding, limits)}
            limited = replace(part, **texts, table=None if part.table is None else _limited_table(part.table, limits))
        case Fold():
            limited = replace(part, summary=_text(part.summary, limits), parts=_limited(part.parts, limits))
        case Paragraph():
            limited = replace(part, text=_text(part.text, limits))
        case Bullets():
            more = len(part.items) - limits.rows
            items = [_text(item, limits) for item in part.items[: limits.rows]]
            limited = Bullets([*items, f"{more} more"] if more > 0 else items)
        case Findings():
            more = len(part.rows) - limits.rows
            rows = [(tone, _text(text, limits)) for tone, text in part.rows[: limits.rows]]
            limited = Findings([*rows, ("", f"{more} more")] if more > 0 else rows)
        case Facts():
            limited = Facts([(_text(name, limits), _text(text, limits)) for name, text in part.rows[: limits.rows]])
    return limited


def _limited_table(table: Table, limits: Limits) -> Table:
    cells = table.cells
    rows = [
        [_cell(cell, limits, is_number=column >= table.left) for column, cell in enumerate(row[: limits.columns])]
        for row in cells[: limits.rows]
    ]
    counts = {"row": len(cells) - len(rows), "column": len(table.columns) - limits.columns}
    left_out = ", ".join(plural(count, f"more {noun}") for noun, count in counts.items() if count > 0)
    notes = [*(_text(note, limits) for note in table.notes), *([f"Left out: {left_out}."] if left_out else [])]
    header = [_text(name, limits) for name in table.header[: limits.columns]]
    return page_table(_text(table.caption, limits), header, rows, table.left, " ".join(notes))


def _cell(cell: Cell | str, limits: Limits, *, is_number: bool) -> Cell | str:
    text = _text(cell if isinstance(cell, str) else cell.text, limits)
    if is_number:
        text = with_minus_signs(text)
    return text if isinstance(cell, str) else replace(cell, text=text)


def _text(text: str, limits: Limits) -> str:
    shown = printable(text)
    return shown if len(shown) <= limits.characters else f"{shown[: limits.characters - 1]}…"
