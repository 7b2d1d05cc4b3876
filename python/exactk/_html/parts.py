"""What a page consists of: sections of paragraphs, tables, charts and folded parts. Text is escaped when it is rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Tone = Literal["", "better", "worse", "muted"]
"""What a cell says beside its text, which says it too; a colour on the page."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    tone: Tone = ""
    is_best: bool = False
    share: float | None = None  # from -1 to 1: how strongly a cell of a heat table is filled


@dataclass(frozen=True)
class Table:
    """A table; the first column names the rows."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    left: int = 1  # columns aligned to the left
    note: str = ""  # below the table


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    is_strong: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text as it is typed."""

    text: str


@dataclass(frozen=True)
class Chart:
    """A picture with the same numbers as a table."""

    title: str
    finding: str  # what it shows, in words
    svg: str  # markup, in which all text is escaped
    table: Table | None = None


@dataclass(frozen=True)
class Fold:
    """Parts below a line that opens them."""

    summary: str
    parts: Sequence[Part]
    is_open: bool = False


Part: TypeAlias = "Paragraph | Bullets | Facts | Code | Table | Chart | Fold"


@dataclass(frozen=True)
class Section:
    """A section of a page; one line where its data are missing."""

    anchor: str
    title: str
    question: str  # what it helps to decide
    parts: Sequence[Part] = ()
    missing: str = ""  # why there is nothing to show, and what to write for it
