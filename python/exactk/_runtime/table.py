"""Tables as results give them: columns of cells, and what stands around them. What shows or writes one needs no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from exactk._runtime.faults import capitalized, plural
from exactk._runtime.numbers import DIGITS
from exactk._runtime.printable_text import printable
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

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
