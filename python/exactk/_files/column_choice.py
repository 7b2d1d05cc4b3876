"""The choice of the columns to read from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exactk._files.ids import cast_to_text
from exactk._inputs.keys.column_roles import UnusedColumns

if TYPE_CHECKING:
    from collections.abc import Mapping

RequestedColumns: TypeAlias = "dict[str, Any]"
"""The names of columns that the caller gives, by role."""


class ColumnChoice(NamedTuple):
    """The names of the columns to read."""

    ids: tuple[str, ...]  # of users, and of items
    values: Mapping[str, str]  # of scores, ranks or grades, each with its role
    unused: UnusedColumns = UnusedColumns()
    text_ids: bool = False  # ids are text even where they are digits

    @property
    def all(self) -> list[str]:
        """Return all column names, in order."""
        return [*self.ids, *self.values]

    def convert_ids(self, part: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows with ids converted as requested."""
        return cast_to_text(part, self.ids) if self.text_ids else part
