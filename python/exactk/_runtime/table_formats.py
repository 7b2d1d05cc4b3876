"""Tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from exactk._runtime.table import Column, Table

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
