"""Which columns of a file are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exactk._files.ids import as_text
from exactk._inputs.keys import column_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._files.faults import File

Asked: TypeAlias = "dict[str, Any]"
"""What the caller says that columns are called."""

COLUMNS = {
    "truth": ("user", "item", "grade"),
    "predictions": ("user", "item", "score", "rank"),
    "exclude": ("user", "item"),
}
"""The columns that a file may have in each role."""


class Chosen(NamedTuple):
    """The names of the columns."""

    ids: tuple[str, ...]  # of users, and of items
    numbers: tuple[str, ...]
    text_ids: bool = False  # ids are text even where they are digits

    @property
    def all(self) -> list[str]:
        """Return all of them, in order."""
        return [*self.ids, *self.numbers]

    def settled(self, part: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return rows of these columns with ids as they are to be."""
        return as_text(part, self.ids) if self.text_ids else part


def chosen(present: Sequence[str], asked: Asked, file: File) -> Chosen:
    """Return those that the caller names, or that have a usual name."""
    if any("\0" in name for name in present):
        raise file.fault("names of columns", "a zero byte in one")
    users = column_roles.user_columns(present, asked.get("user"), file.role)
    item = column_roles.item_column(present, asked.get("item"), file.role)
    values = (
        column_roles.value_column(present, value, asked.get(value), file.role) for value in COLUMNS[file.role][2:]
    )
    numbers = tuple(name for name in values if name is not None)
    column_roles.check_differ([*users, item, *numbers], file.role)
    return Chosen((*users, item), numbers)
