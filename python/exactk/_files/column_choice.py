"""The choice of the columns to read from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exactk._files.ids import cast_to_text
from exactk._inputs.keys import column_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._files.faults import File

RequestedColumns: TypeAlias = "dict[str, Any]"
"""The names of columns that the caller gives, by role."""

COLUMNS = {
    "truth": ("user", "item", "grade"),
    "predictions": ("user", "item", "score", "rank"),
    "exclude": ("user", "item"),
    "scores": ("user", "item", "score"),
    "candidates": ("user", "item"),
}
"""The columns that a file may have in each role."""


class ColumnChoice(NamedTuple):
    """The names of the columns to read."""

    ids: tuple[str, ...]  # of users, and of items
    values: tuple[str, ...]  # of scores, ranks or grades
    unused: tuple[str, ...] = ()  # columns of numbers that could be grades or scores
    text_ids: bool = False  # ids are text even where they are digits

    @property
    def all(self) -> list[str]:
        """Return all column names, in order."""
        return [*self.ids, *self.values]

    def convert_ids(self, part: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows with ids converted as requested."""
        return cast_to_text(part, self.ids) if self.text_ids else part


def choose_columns(
    existing: Sequence[str], numbers: Sequence[str], requested: RequestedColumns, file: File
) -> ColumnChoice:
    """Return the columns that the caller names, or that have common names, given which columns are numeric."""
    if any("\0" in name for name in existing):
        raise file.fault("column names without zero bytes", "a zero byte")
    users = column_roles.user_columns(existing, requested.get("user"), file.role)
    item = column_roles.item_column(existing, requested.get("item"), file.role)
    optional_values = {
        role: column_roles.value_column(existing, role, requested.get(role), file.role)
        for role in COLUMNS[file.role][2:]
    }
    values = {role: name for role, name in optional_values.items() if name is not None}
    column_roles.check_distinct([*users, item, *values.values()], file.role)
    unused = tuple(name for name in numbers if name not in {*users, item, *values.values()})
    if file.role in {"predictions", "scores"} and not {"score", "rank"} & requested.keys():
        column_roles.warn_of_other_scores(unused, values, file.role)
    return ColumnChoice((*users, item), tuple(values.values()), unused)
