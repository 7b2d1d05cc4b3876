"""Tables, whose cells are as they are, and how they are shown and written: text, HTML, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import re
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import capitalized, plural
from exactk._runtime.records import NamedTuple
from exactk._runtime.texts import DIGITS, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence


Kind: TypeAlias = Literal["key", "value", "text"]
"""What a column holds: names of the rows, numbers, or other text. Numbers are aligned to the right."""

_VERY_LARGE = 1e9


class Column(NamedTuple):
    """A column of a table."""

    name: str
    cells: Any  # a list, or an array: texts, or numbers
    kind: Kind = "value"
    digits: int = DIGITS  # decimals of numbers that are no integers
    best: Collection[int] = ()  # rows of the best values
    letter: str = ""  # of a column whose values are tested: it stands for the column
    letters: Sequence[Sequence[str]] = ()  # beside the first cells: of columns, or rows, that are significantly worse

    def letters_of(self, row: int) -> Sequence[str]:
        """Return the letters beside a cell."""
        return self.letters[row] if row < len(self.letters) else ()

    def texts(self) -> list[str]:
        """Return the cells as they are shown."""
        return [
            format_number(cell, self.digits) if isinstance(cell, float) else str(cell)
            for cell in plain_cells(self.cells)
        ]


class Table(NamedTuple):
    """A table."""

    columns: Sequence[Column]
    caption: str = ""  # what it is: its heading in HTML
    notes: Sequence[str] = ()  # lines below what is displayed
    legend: str = ""  # in Markdown and LaTeX: what the letters mean, in place of the notes
    longest: int | None = None  # cell that HTML does not cut, in characters, if other than usually

    @classmethod
    def of_rows(cls, header: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1, **around: Any) -> Table:  # noqa: ANN401 - the other fields
        """Return a table of rows, whose first columns are names and texts."""
        cells = list(zip(*rows, strict=True)) or [()] * len(header)
        columns = enumerate(zip(header, cells, strict=True))
        return cls([Column(*one, "key" if index < left else "value") for index, one in columns], **around)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any], left: int, digits: int = DIGITS) -> Table:
        """Return a table of columns by name, the first of which name the rows."""
        return cls(
            [
                Column(name, cells, "key" if index < left else "value", digits)
                for index, (name, cells) in enumerate(columns.items())
            ]
        )

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def cells(self) -> list[tuple[Any, ...]]:
        """The cells as they are, row by row."""
        return list(zip(*(plain_cells(column.cells) for column in self.columns), strict=True))

    @property
    def rows(self) -> list[list[str]]:
        """The cells as they are shown, row by row."""
        return [list(row) for row in zip(*(column.texts() for column in self.columns), strict=True)]

    @property
    def left(self) -> int:
        """The number of columns before the first one of numbers."""
        return next((index for index, column in enumerate(self.columns) if column.kind == "value"), len(self.columns))

    @property
    def explanation(self) -> str:
        """What stands below the table, or in its caption: the legend, or else the notes."""
        return capitalized(self.legend or "; ".join(self.notes))


def left_out(where: str, **counts: int) -> list[str]:
    """Return a line on what a table does not show, such as groups, and where it is, if there is anything."""
    texts = [plural(count, f"more {what}") for what, count in counts.items() if count > 0]
    return [f"{' and '.join(texts)} in {where}"] if texts else []


def plain_cells(cells: Any) -> list[Any]:  # noqa: ANN401 - of any type
    """Return cells as Python's own numbers and texts."""
    return cells.tolist() if hasattr(cells, "tolist") else list(cells)


def format_number(value: float, digits: int = DIGITS) -> str:
    """Return a number with so many decimals, or a very large one with as many digits and one more."""
    return f"{value:.{digits}f}" if abs(value) < _VERY_LARGE else f"{value:.{digits + 1}g}"


def format_text(table: Table) -> str:
    """Return a table and its notes for a terminal, numbers aligned to the right.

    The best values are marked with an asterisk, which takes no part in the alignment.
    """
    columns = []
    for column in table.columns:
        cells = [*map(printable, (column.name, *column.texts()))]
        if column.best:
            cells = [cell + ("*" if row in column.best else " ") for row, cell in enumerate(cells, start=-1)]
        width = max(map(len, cells))
        columns.append([cell.rjust(width) if column.kind == "value" else cell.ljust(width) for cell in cells])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *map(printable, table.notes)])


MOST_ROWS = 60
_MOST_COLUMNS = 20
_MOST_NOTES = 30
_MOST_BYTES = (
    20_700  # of columns, rows and notes; captions, the lines on what is left out and tags around need the rest of 24 kB
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
_NUMBER_CELL = "<td>{}</td>"
_UNBROKEN_NUMBER = '<td style="white-space:nowrap">{}</td>'
# Said by each cell that needs it: Jupyter's own rule for cells wins over what they would inherit from the table.
_IN_ONE_LINE = ";white-space:nowrap"
_MAY_BREAK = r"(?a)[^\w.+@]"
_BEST = "<b>*&nbsp;{}</b>"  # the asterisk on the left, so that numbers align, and in the same line
_NOTE = '<div class="exactk-note" style="text-align:left">{}</div>'


def html_of_tables(tables: Sequence[Table], rest: str = "print() shows them") -> str:
    """Return tables as HTML of at most 60 rows and 24 kB together; `rest` says where to find what is left out."""
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
        return (_UNBROKEN_NUMBER if in_one_line else _NUMBER_CELL).format(shown)
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


_MARKUP = r"[*`~]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=[(\[])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
"""What Markdown would read as emphasis, code, a link or HTML. Underscores within a word are none of these."""


def format_markdown(table: Table) -> str:
    """Return a Markdown table, numbers aligned to the right and the best ones in bold, above its legend."""
    join = _joined_letters(table)

    def marked(column: Column, row: int, text: str) -> str:
        cell = _without_markup(text)
        if row in column.best:
            cell = f"**{cell}**"
        letters = column.letters_of(row)
        superscript = f"<sup>{join(letters)}</sup>" if letters else ""
        return f"{superscript} {cell}" if superscript and column.kind == "key" else cell + superscript

    columns = []
    for column in table.columns:
        name = _without_markup(column.name)
        header = f"<sup>{column.letter}</sup> {name}" if column.letter else name
        columns.append([header, *(marked(column, row, text) for row, text in enumerate(column.texts()))])
    first, *rows = zip(*columns, strict=True)
    text = _markdown(first, rows, ["---:" if column.kind == "value" else "---" for column in table.columns])
    legend = _without_markup(printable(table.explanation)).replace("\\", "\\\\")
    return f"{text}\n\n{legend}" if legend else text


def markdown_of_cells(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a table of cells in Markdown, all but the first `left` columns aligned to the right."""
    return _markdown(header, rows, ["---" if column < left else "---:" for column in range(len(header))])


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]], rule: Sequence[str]) -> str:
    lines = [[printable(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in (header, *rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))


def _without_markup(text: str) -> str:
    """Return a text such that Markdown shows it as it is, but for backslashes."""
    return re.sub(_MARKUP, lambda match: f"&#{ord(match[0])};", text)


def _joined_letters(table: Table) -> Callable[[Sequence[str]], str]:
    """Return a function that joins letters to one text, with commas if any system has two."""
    of_rows = [letter for column in table.columns if column.kind == "key" for row in column.letters for letter in row]
    has_long = any(len(letter) > 1 for letter in (*(column.letter for column in table.columns), *of_rows))
    return ("," if has_long else "").join


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "`": r"\textasciigrave{}",  # what follows the end of a row in brackets would be its argument
}  # fmt: skip
_EXPONENT = r"(?<![\w.])(\d+(?:\.\d+)?)e([+-])0*(\d+)"
_MINUS = r"(?:^|(?<=\s))-(?=\d)"
_RULES = {True: (r"\toprule", r"\midrule", r"\bottomrule"), False: (r"\hline",) * 3}
_LABEL = r"(?a)[\w:.\-/+ ]+"


def escape_latex(text: str) -> str:
    """Return the text such that LaTeX shows it as it is."""
    escaped = "".join(_LATEX.get(character, character) for character in printable(text))
    return re.sub("-(?=-)", "-{}", escaped)  # which would be a dash


def _latex_numbers(cell: str) -> str:
    """Return a cell with powers of ten and minus signs, where it has 1e-05 and hyphens."""
    powers = re.sub(_EXPONENT, lambda one: rf"${one[1]} \cdot 10^{{{one[2].strip('+')}{one[3]}}}$", cell)
    return re.sub(_MINUS, "$-$", powers)


def format_latex(table: Table, caption: str | None = None, label: str | None = None, *, booktabs: bool = True) -> str:
    r"""Return a LaTeX ``tabular``, numbers aligned to the right and the best ones in bold.

    With a caption, a label or a legend, which follows the caption, it is in a ``table``. Superscripts that other cells of a
    column have take the same space in all of its cells, so that numbers align. Rules need booktabs, or are ``\hline``.
    """
    if not isinstance(booktabs, bool):
        raise type_error("booktabs", "True or False", repr(booktabs))
    join = _joined_letters(table)
    columns = [_latex_column(column, join) for column in table.columns]
    rows = [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]
    first, *others = ["{}" * row.startswith("*") + row for row in rows]  # the end of a row takes a star, too
    top, middle, bottom = _RULES[booktabs]
    aligned = "".join("r" if column.kind == "value" else "l" for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{aligned}}}", top, first, middle, *others, bottom, r"\end{tabular}"]
    text = _caption(caption, table.explanation)
    if text or label is not None:
        around = [rf"\caption{{{escape_latex(text)}}}"] if text else []
        around += [rf"\label{{{_checked_label(label)}}}"] if label is not None else []
        lines = [r"\begin{table}", r"\centering", *around, *lines, r"\end{table}"]
    return "\n".join(lines)


def _latex_column(column: Column, join: Callable[[Sequence[str]], str]) -> list[str]:
    """Return the header and the cells of a column."""
    name = escape_latex(column.name)
    lines = [f"$^{{{column.letter}}}${name}" if column.letter else name]
    in_column = sorted({letter for letters in column.letters for letter in letters}, key=lambda one: (len(one), one))
    for row, text in enumerate(column.texts()):
        cell = escape_latex(text)
        if column.kind == "value":
            cell = _latex_numbers(cell)
        if row in column.best:
            cell = rf"\textbf{{{cell}}}"
        letters = column.letters_of(row)
        shown = f"$^{{{join(letters)}}}$" if letters else ""
        if column.kind == "key":
            lines.append(shown + cell)
            continue
        absent = [letter for letter in in_column if letter not in letters and row < len(column.letters)]
        between = join(["", ""]) if letters and absent else ""  # the comma that the letters of a full cell have here
        hidden = rf"\phantom{{$^{{{between}{join(absent)}}}$}}" if absent else ""
        lines.append(cell + shown + hidden)
    return lines


def _caption(caption: object, explanation: str) -> str:
    """Return the caption with the explanation behind it."""
    if caption is None:
        return explanation
    if not isinstance(caption, str):
        raise type_error("caption", "a string", type(caption).__name__)
    text = " ".join(caption.split())
    end = "." if text and explanation and text[-1] not in ".?!:;" else ""
    return " ".join(filter(None, [text + end, explanation]))


def _checked_label(label: object) -> str:
    """Return the label; raise InputError or InputTypeError if LaTeX would not take it as it is."""
    if not isinstance(label, str):
        raise type_error("label", "a string", type(label).__name__)
    if not re.fullmatch(_LABEL, label):
        raise input_error("label", "a label of letters, digits, spaces and any of _:.-/+", repr(label)[:100])
    return label


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
