"""The interface of files with columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from exactk._files.column_choice import ColumnChoice
from exactk._files.text import text_size
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import ROLES, Columns
from exactk._inputs.keys.unused_columns import UnusedColumns, events_among

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._files.column_choice import RequestedColumns
    from exactk._files.faults import File
    from exactk._inputs.keys.column_roles import ColumnNames

_LARGE = 1 << 28  # bytes
_USUAL_RATIO = 4  # ratio of text to compressed bytes


class Source:
    """A file with columns, in any format."""

    has_types = True  # whether columns are typed; ids of untyped files are read as text if `text_ids` is set

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def size(self) -> int:
        """A lower bound on the bytes of text, or of rows."""
        size = text_size(self.file)
        return max(size, _USUAL_RATIO * self.file.path.stat().st_size) if self.file.is_compressed else size

    @property
    def has_one_item_per_row(self) -> bool:
        """Whether no row holds a list of items."""
        return True

    @property
    def names(self) -> list[str]:
        """Column names."""
        raise NotImplementedError

    def number_columns(self) -> list[str]:
        """Return the numeric columns, by type or, for text, by the first row."""
        raise NotImplementedError

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        raise NotImplementedError

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield all rows in parts, for large files."""
        raise NotImplementedError


def is_large(sources: Sequence[Source]) -> bool:
    """Return whether the files are too large to hold all rows in memory, and have one item per row."""
    return all(source.has_one_item_per_row for source in sources) and sum(source.size for source in sources) > _LARGE


def memory_size() -> int:
    """Return the bytes of memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def choose_columns(source: Source, requested: RequestedColumns, *, is_first: bool = True) -> ColumnChoice:
    """Return the columns that the caller names, or that have common names; warn of others in the first of several files."""
    role, existing = source.file.role, source.names
    if any("\0" in name for name in existing):
        raise source.file.fault("column names without zero bytes", "a zero byte")
    columns = Columns.of(existing, cast("ColumnNames", requested), role)
    users = column_roles.user_columns(columns, requested.get("user"), role)
    item = column_roles.item_column(columns, requested.get("item"), role)
    optional_values = {
        value: column_roles.value_column(columns, value, requested.get(value), role) for value in ROLES[role][2:]
    }
    values = {value: name for value, name in optional_values.items() if name is not None}
    column_roles.check_distinct([*users, item, *values.values()], role)
    if role in {"predictions", "scores"} and not values and source.has_one_item_per_row:
        raise column_roles.order_error(columns, [*users, item], ROLES[role][2:], role)
    used = {*users, item, *values.values()}
    others = tuple(name for name in source.number_columns() if name not in used) if is_first else ()
    unused = UnusedColumns()
    if role == "truth" and requested.get("grade") is None:
        unused = UnusedColumns(others, events_among(name for name in existing if name not in {*used, *others}))
    if role in {"predictions", "scores"} and not {"score", "rank"} & requested.keys():
        column_roles.warn_of_other_scores(others, values, role)
    return ColumnChoice((*users, item), tuple(values.values()), unused)
