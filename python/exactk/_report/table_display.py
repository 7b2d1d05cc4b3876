"""What prints as tables: as text in a terminal, as HTML in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.display import format_text
from exactk._runtime.html_table import LONGEST, HtmlTable, html_of_tables
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._report.tables import TextTable


class DisplayTable(NamedTuple):
    """A table as it is displayed."""

    caption: str  # of HTML; text has none
    table: TextTable
    notes: Sequence[str] = ()  # lines below
    longest: int = LONGEST  # cell in HTML, in characters


class DisplaysTables(ABC):
    """Base of objects that print as tables."""

    @abstractmethod
    def _display_tables(self) -> Sequence[DisplayTable]:
        """Return the tables, one above the other."""

    def __repr__(self) -> str:
        return "\n".join(
            "\n".join([format_text(*one.table), *map(printable, one.notes)]) for one in self._display_tables()
        )

    def _repr_html_(self) -> str:
        return html_of_tables(
            [HtmlTable(one.caption, *one.table, one.notes, one.longest) for one in self._display_tables()]
        )


def tables_of(shown: DisplaysTables) -> Sequence[DisplayTable]:
    """Return the tables that an object prints."""
    return shown._display_tables()  # noqa: SLF001 - of the class above
