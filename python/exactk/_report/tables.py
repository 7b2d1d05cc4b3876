"""Tables of reports as columns, text, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import quote
from exactk._runtime.numbers import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exactk._plan.values import Value

_ACCEPTED = r"(?a)[\w\-. :/]*"  # the characters that MLflow accepts in names of metrics
_MOST_CHARACTERS = 250  # that MLflow accepts


def flat_name(name: str) -> str:
    """Return the name as a word of letters, digits and underscores: ``ndcg_at_10`` for ``ndcg@10``."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("@", "_at_")).strip("_")
    if not word:
        raise input_error("names", "names with a letter from A to Z or a digit", repr(name))
    return f"_{word}" if word[:1].isdigit() else word


def flat_dict(values: Iterable[tuple[tuple[str, ...], float]], prefix: object, sep: object = "/") -> dict[str, float]:
    """Return the values under flat names, whose parts, such as system and metric, are joined by `sep`."""
    begin, between = _checked("prefix", prefix), _checked("sep", sep)
    flat: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for parts, value in values:
        name = begin + between.join(map(flat_name, parts))
        if len(name) > _MOST_CHARACTERS:
            expected = f"names that have at most {_MOST_CHARACTERS} characters with the prefix"
            raise input_error("names", expected, f"{len(name)} in {quote(name)}")
        if name in flat:
            both = " and ".join(repr(" ".join(one)) for one in (sources[name], parts))
            raise input_error(
                "names", "names that differ in letters from A to Z or digits", f"{both}, which are both {name}"
            )
        flat[name], sources[name] = value, parts
    return flat


def _checked(argument: str, text: object) -> str:
    """Return what stands before or between names; raise InputError or InputTypeError if no tracker accepts it."""
    if not isinstance(text, str):
        raise type_error(argument, "a string", repr(text))
    if not re.fullmatch(_ACCEPTED, text):
        raise input_error(argument, "letters, digits, spaces and any of _-.:/", repr(text))
    return text


Row = Sequence[str]

Cells = Collection[tuple[int, int]]
"""Cells of a table by row, below the header, and column."""


class Superscripts(NamedTuple):
    """Letters that stand for columns, and those that stand beside cells, as papers mark significance."""

    of_columns: Mapping[int, str]
    of_cells: Mapping[
        tuple[int, int], Sequence[str]
    ]  # also of cells without letters, which are aligned with the others

    def in_column(self, column: int) -> list[str]:
        """Return all letters beside the cells of a column."""
        return sorted({letter for (_, of), letters in self.of_cells.items() if of == column for letter in letters})

    def join(self, letters: Sequence[str]) -> str:
        """Return letters as one text, with commas if any system has two."""
        return ("," if any(len(letter) > 1 for letter in self.of_columns.values()) else "").join(letters)


NO_SUPERSCRIPTS = Superscripts(MappingProxyType({}), MappingProxyType({}))


def _printable_rows(header: Row, rows: Sequence[Row]) -> list[list[str]]:
    from exactk._runtime.printable_text import printable

    return [[printable(cell) for cell in row] for row in (header, *rows)]


def format_text(header: Row, rows: Sequence[Row], left: int = 1, best: Cells = ()) -> str:
    """Return a table for a terminal, all but the first `left` columns aligned to the right.

    The best cells are marked with an asterisk, which takes no part in the alignment.
    """
    lines = _printable_rows(header, rows)
    marked_columns = {column for _, column in best}
    for row, line in enumerate(lines, start=-1):
        for column in marked_columns:
            line[column] += "*" if (row, column) in best else " "
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligns = [str.ljust if column < left else str.rjust for column in range(len(widths))]
    return "\n".join(
        "  ".join(align(cell, width) for align, cell, width in zip(aligns, row, widths, strict=True)).rstrip()
        for row in lines
    )


def format_markdown(
    header: Row,
    rows: Sequence[Row],
    left: int = 1,
    best: Cells = (),
    superscripts: Superscripts = NO_SUPERSCRIPTS,
) -> str:
    """Return a Markdown table, all but the first `left` columns aligned to the right, and the best cells in bold."""
    lines = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in _printable_rows(header, rows)]
    for row, column in best:
        lines[row + 1][column] = f"**{lines[row + 1][column]}**"
    for column, letter in superscripts.of_columns.items():
        lines[0][column] = f"<sup>{letter}</sup> {lines[0][column]}"
    for (row, column), letters in superscripts.of_cells.items():
        lines[row + 1][column] += f"<sup>{superscripts.join(letters)}</sup>" if letters else ""
    rule = ["---" if column < left else "---:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))


_MARKUP = r"[*`~]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=[(\[])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
"""What Markdown would read as emphasis, code, a link or HTML. Underscores within a word are none of these."""


def without_markup(header: Row, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the cells of a Markdown table such that they are shown as they are."""
    first, *others = [
        [re.sub(_MARKUP, lambda match: f"&#{ord(match[0])};", cell) for cell in row] for row in (header, *rows)
    ]
    return first, others


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Return the text such that LaTeX shows it as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


_EXPONENT = r"(?<![\w.])(\d+(?:\.\d+)?)e([+-])0*(\d+)"
_MINUS = r"(?:^|(?<=\s))-(?=\d)"


def _latex_numbers(cell: str) -> str:
    """Return a cell with powers of ten and minus signs, where it has 1e-05 and hyphens."""
    powers = re.sub(
        _EXPONENT,
        lambda one: rf"${one[1]} \cdot 10^{{{one[2].strip('+')}{one[3]}}}$",
        cell,
    )
    return re.sub(_MINUS, "$-$", powers)


def format_latex(
    header: Row,
    rows: Sequence[Row],
    left: int = 1,
    best: Cells = (),
    superscripts: Superscripts = NO_SUPERSCRIPTS,
) -> str:
    """Return a LaTeX ``tabular``, all but the first `left` columns aligned to the right, and the best cells in bold.

    Superscripts that other cells of a column have take the same space in all cells of values, so that numbers align.
    Needs no package.
    """

    def line(row: Row) -> str:
        return " & ".join(row) + r" \\"

    lines = [[escape_latex(cell) for cell in row] for row in _printable_rows(header, rows)]
    for cells in lines[1:]:
        cells[left:] = map(_latex_numbers, cells[left:])
    for row, column in best:
        lines[row + 1][column] = rf"\textbf{{{lines[row + 1][column]}}}"
    for column, letter in superscripts.of_columns.items():
        lines[0][column] = f"$^{{{letter}}}${lines[0][column]}"
    for (row, column), letters in superscripts.of_cells.items():
        absent = [letter for letter in superscripts.in_column(column) if letter not in letters]
        shown = f"$^{{{superscripts.join(letters)}}}$" if letters else ""
        hidden = rf"\phantom{{$^{{{superscripts.join(absent)}}}$}}" if absent else ""
        lines[row + 1][column] += shown + hidden
    columns = "l" * left + "r" * (len(header) - left)
    first, *others = lines
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


def latex_float(tabular: str, caption: str) -> str:
    """Return a LaTeX ``table`` of a ``tabular``, with a caption of plain text."""
    from exactk._runtime.printable_text import printable

    return "\n".join(
        [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(printable(caption))}}}", tabular, r"\end{table}"]
    )


def markdown_with_caption(table: str, caption: str) -> str:
    """Return a Markdown table above its caption, a paragraph of plain text."""
    from exactk._runtime.printable_text import printable

    (escaped,), _ = without_markup([printable(caption)], [])
    return "\n\n".join([table, escaped.replace("\\", "\\\\")])


_FORMULA = r"[=+\-@\t\r\n]"
_NUMBER = r"(?a)[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


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
    is_formula = isinstance(value, str) and re.match(_FORMULA, value) and not re.fullmatch(_NUMBER, value)
    return f"'{value}" if is_formula else value


def format_number(value: float, digits: int = DIGITS) -> str:
    return f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.{digits + 1}g}"


Table = Literal["values", "per_user", "by_group", "by_item_group"]

Columns = dict[str, Any]
"""The columns of a table by name: arrays or lists."""


class TextTable(NamedTuple):
    """A table whose cells are text."""

    header: list[str]
    rows: list[list[str]]
    left: int = 1  # columns aligned to the left
    best: frozenset[tuple[int, int]] = frozenset()  # rows and columns of the cells to mark


def metric_columns(values: Sequence[Value], times: int = 1) -> Columns:
    """Return the columns of metrics, as requested, and of cutoffs, repeated `times`."""
    from exactk._runtime.optional import NullableIntegers

    return {
        "metric": [value.label for value in values] * times,
        "k": NullableIntegers([value.cutoff for value in values] * times),
    }


def stack_systems(tables: Mapping[str, Columns]) -> Columns:
    """Return the rows of all systems, after a column ``system`` with their names."""
    from exactk._report.user_table import join_columns

    first = next(iter(tables.values()))
    sizes = [len(next(iter(table.values()))) for table in tables.values()]
    systems = [system for system, size in zip(tables, sizes, strict=True) for _ in range(size)]
    columns = {name: _concatenate([table[name] for table in tables.values()]) for name in first}
    return join_columns({"system": systems}, columns)


def _concatenate(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - columns of any type
    from exactk._runtime.optional import NullableIntegers, OrderedCategories

    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    cells = chain.from_iterable(parts)
    if isinstance(parts[0], NullableIntegers):
        return NullableIntegers(cells)
    orders = {part.categories if isinstance(part, OrderedCategories) else None for part in parts}
    order = orders.pop() if len(orders) == 1 else None
    return list(cells) if order is None else OrderedCategories(cells, order)


def text_of_columns(columns: Columns, left: int, digits: int) -> TextTable:
    """Return the columns as text, numbers but integers with so many decimals."""
    cells = [
        [format_number(cell, digits) if isinstance(cell, float) else str(cell) for cell in plain_column(column)]
        for column in columns.values()
    ]
    return TextTable(list(columns), [list(row) for row in zip(*cells, strict=True)], left)


def plain_column(column: Any) -> list[Any]:  # noqa: ANN401 - a column of any type
    """Return the cells as Python's own numbers and text."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


class DisplayTable(NamedTuple):
    """A table as it is displayed."""

    caption: str  # of HTML; text has none
    table: TextTable
    notes: Sequence[str] = ()  # lines below
    longest: int | None = None  # as of HtmlTable
