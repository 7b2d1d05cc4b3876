"""What a page consists of: sections of paragraphs, tables, charts and folded parts. Text is escaped when it is rendered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from exactk._runtime.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence


Tone = Literal["", "better", "worse", "muted"]
"""What a cell says beside its text, which says it too; a colour on the page."""


class ListItem(NamedTuple):
    """An item of a user's list."""

    rank: int
    name: str
    is_hit: bool


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    tone: Tone = ""
    is_best: bool = False
    mark: str = ""  # behind the text, such as an asterisk
    items: Sequence[ListItem] = ()  # a list below the text
    share: float | None = None  # from -1 to 1: how strongly a cell of a heat table is filled

    @property
    def kind(self) -> str:
        """The classes of the style sheet; a share is one of five steps in either direction."""
        share = 0.0 if self.share is None or math.isnan(self.share) else min(max(self.share, -1.0), 1.0)
        steps = math.ceil(5 * abs(share))
        heat = f"{'more' if share > 0 else 'less'}{steps}" if steps else ""
        return " ".join(filter(None, [self.tone, "best" if self.is_best else "", heat]))


def page_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell | str]], left: int = 1, note: str = ""
) -> Table:
    """Return a table, with a note below; the first column names the rows."""
    return Table.of_rows(header, rows, left, caption=caption, notes=[note] if note else [])


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
class Findings:
    """A list of sentences, each in the colour of what it says."""

    rows: Sequence[tuple[Tone, str]]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text as it is typed."""

    text: str
    label: str = "Code"  # for those who hear the page


@dataclass(frozen=True)
class JsonBlock:
    """Data for programs, which the page does not show."""

    text: str  # safe within an element of HTML


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


Part: TypeAlias = "Paragraph | Bullets | Findings | Facts | Code | JsonBlock | Table | Chart | Fold"


@dataclass(frozen=True)
class Section:
    """A section of a page; one line where its data are missing."""

    anchor: str
    title: str
    question: str  # what it helps to decide
    parts: Sequence[Part] = ()
    missing: str = ""  # why there is nothing to show, and what to write for it
