"""Tables as HTML, which notebooks show in place of text."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from exactk._runtime.faults import plural
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exactk._runtime.table import Table

MOST_ROWS = 60
_MOST_COLUMNS = 20
_MOST_NOTES = 30
_MOST_BYTES = (
    16_000  # of columns, rows and notes; captions, the lines on what is left out and tags around need the rest of 20 kB
)
LONGEST = 80  # cell that is not cut, in characters
_MOST_CHARACTERS_OF_NOTE = 600
_MOST_IN_A_LINE = 40

# Without colors, so that it is readable on any background; the other classes keep MathJax from reading $ in names.
_BLOCK = '<div class="exactk-tables tex2jax_ignore mathjax_ignore" style="overflow-x:auto">{}</div>'
_TABLE = (
    '<table class="exactk-table" style="border-collapse:separate;border-spacing:0.7em 0.1em;'
    'text-align:right;font-variant-numeric:tabular-nums">'
)
_CAPTION = '<caption style="caption-side:top;text-align:left;font-weight:bold">{}</caption>'
_HEAD = "<thead><tr>{}</tr></thead>"
_COLUMN = '<th scope="col" style="text-align:{}">{}</th>'
_ROW = '<th scope="row" style="text-align:left;font-weight:normal{}">{}</th>'
_TEXT = '<td style="text-align:left{}">{}</td>'
_NUMBER = "<td>{}</td>"
_UNBROKEN_NUMBER = '<td style="white-space:nowrap">{}</td>'
# Said by each cell that needs it: Jupyter's own rule for cells wins over what they would inherit from the table.
_IN_ONE_LINE = ";white-space:nowrap"
_MAY_BREAK = r"(?a)[^\w.+@]"
_BEST = "<b>*&nbsp;{}</b>"  # the asterisk on the left, so that numbers align, and in the same line
_NOTE = '<div class="exactk-note" style="text-align:left">{}</div>'


def html_of_tables(tables: Sequence[Table], rest: str = "print() shows them") -> str:
    """Return tables as HTML of at most 60 rows and 20 kB together; `rest` says where to find what is left out."""
    return _BLOCK.format("".join(_html(table, len(tables), rest) for table in tables))


def _html(table: Table, tables: int, rest: str) -> str:
    """Return one of so many tables, each of which has its share of the space."""
    budget, cells = _MOST_BYTES // tables, table.rows
    columns = [
        _COLUMN.format("left" if column < table.left else "right", _text(name, (table.longest or LONGEST)))
        for column, name in enumerate(table.header[:_MOST_COLUMNS])
    ]
    columns = _that_fit(columns, budget // 4)
    notes = [_NOTE.format(_text(note, _MOST_CHARACTERS_OF_NOTE)) for note in table.notes[:_MOST_NOTES]]
    notes = _that_fit(notes, budget // 4)
    used = sum(map(_size, (*columns, *notes)))
    rows = _that_fit(_rows(table, cells[: MOST_ROWS // tables], len(columns)), budget - used)
    left_out = _left_out(table, cells, len(rows), len(columns), len(notes))
    return "".join(
        [
            _TABLE,
            _CAPTION.format(_text(table.caption, LONGEST)),
            _HEAD.format("".join(columns)),
            f"<tbody>{''.join(rows)}</tbody></table>",
            *notes,
            _NOTE.format(_text(f"left out: {left_out}; {rest}", _MOST_CHARACTERS_OF_NOTE)) if left_out else "",
        ]
    )


def _rows(table: Table, rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    shown = table.columns[:columns]
    for index, row in enumerate(rows):
        cells = [
            _cell(table, position, cell, is_best=index in column.best)
            for position, (column, cell) in enumerate(zip(shown, row, strict=False))
        ]
        yield f"<tr>{''.join(cells)}</tr>"


def _cell(table: Table, column: int, cell: str, *, is_best: bool) -> str:
    """Return a cell, which has lines only if it is a long text."""
    text = _text(cell, (table.longest or LONGEST))
    shown = _BEST.format(text) if is_best else text
    is_number = column >= max(1, table.left)
    in_one_line = re.search(_MAY_BREAK, cell) and (is_number or len(cell) <= _MOST_IN_A_LINE)
    if is_number:
        return (_UNBROKEN_NUMBER if in_one_line else _NUMBER).format(shown)
    return (_ROW if column == 0 else _TEXT).format(_IN_ONE_LINE if in_one_line else "", shown)


def _left_out(table: Table, cells: Sequence[Sequence[str]], rows: int, columns: int, notes: int) -> str:
    """Return what is not among the first rows, columns and notes, in words; empty if nothing is missing."""
    counts = {
        "row": len(cells) - rows,
        "column": len(table.header) - columns,
        "line": len(table.notes) - notes,
    }
    shown = [cell for row in (table.header, *cells[:rows]) for cell in row[:columns]]
    is_cut = any(len(printable(cell)) > (table.longest or LONGEST) for cell in shown)
    is_cut |= any(len(printable(note)) > _MOST_CHARACTERS_OF_NOTE for note in table.notes[:notes])
    parts = [plural(count, noun) for noun, count in counts.items() if count]
    return ", ".join([*parts, *(["the ends of long texts (…)"] if is_cut else [])])


def _text(text: str, longest: int) -> str:
    """Return plain text as HTML, cut where it is too long."""
    shown = printable(text)
    return escape(shown if len(shown) <= longest else f"{shown[: longest - 1]}…")


def _that_fit(parts: Iterable[str], budget: int) -> list[str]:
    """Return the first parts, as many as have no more bytes than that together."""
    kept = []
    for part in parts:
        budget -= _size(part)
        if budget < 0:
            break
        kept.append(part)
    return kept


def _size(text: str) -> int:
    return len(text.encode())
