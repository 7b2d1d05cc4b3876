"""Text tables, escaped for each format, whatever the cells mean."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

Row = Sequence[str]


def printable(text: str) -> str:
    r"""Return the text with control characters escaped as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _printable_rows(header: Row, rows: Sequence[Row]) -> list[list[str]]:
    return [[printable(cell) for cell in row] for row in (header, *rows)]


def format_text(
    header: Row, rows: Sequence[Row], *, align_right: bool = True, best: Collection[tuple[int, int]] = ()
) -> str:
    """Return a table for a terminal; ``align_right`` aligns all columns but the first to the right.

    `best` are the row and the column of cells to mark with an asterisk, which takes no part in the alignment.
    """
    lines = _printable_rows(header, rows)
    marked_columns = {column for _, column in best}
    for row, line in enumerate(lines, start=-1):
        for column in marked_columns:
            line[column] += "*" if (row, column) in best else " "
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    align = str.rjust if align_right else str.ljust
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(align(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in lines
    )


def format_markdown(header: Row, rows: Sequence[Row], *, align_right: bool = True) -> str:
    """Return a Markdown table; ``align_right`` aligns all columns but the first to the right."""
    rule = ["---", *(["---:" if align_right else "---"] * (len(header) - 1))]
    lines = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in _printable_rows(header, rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def format_latex(header: Row, rows: Sequence[Row]) -> str:
    """Return a LaTeX ``tabular``; needs no package."""

    def line(row: Row) -> str:
        return " & ".join("".join(_LATEX.get(character, character) for character in cell) for cell in row) + r" \\"

    columns = "l" + "r" * (len(header) - 1)
    first, *others = _printable_rows(header, rows)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            line(first),
            r"\hline",
            *map(line, others),
            r"\hline",
            r"\end{tabular}",
        ]
    )


_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


class _Lines(list[str]):
    """The lines that a CSV writer writes."""

    write = list[str].append


def format_csv(columns: Mapping[str, Sequence[object]]) -> str:
    """Return the columns as CSV: text quoted as in RFC 4180, numbers in full precision.

    Text that a spreadsheet would run as a formula, unless it is a number, is prefixed with an apostrophe.
    """
    lines = _Lines()
    writer = csv.writer(lines)
    writer.writerow(map(_without_formula, columns))
    writer.writerows(zip(*(map(_without_formula, column) for column in columns.values()), strict=True))
    # Before Python 3.13, carriage returns are quoted only if they are part of the line terminator.
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def _without_formula(value: object) -> object:
    is_formula = isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def plain_columns(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: column.tolist() if isinstance(column, np.ndarray) else column for name, column in columns.items()}


def format_number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1e5 else f"{value:.5g}"
