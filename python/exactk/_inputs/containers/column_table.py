"""A data frame of our own: the columns of a text file, which need no library of data frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.columns import NumberColumn, PackedColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.columns import Column


class SelectedColumns(NamedTuple):
    """Selected columns of a frame, by name."""

    columns: dict[str, Column]  # for columns of lists, the elements
    list_offsets: dict[str, Offsets]  # for columns of lists, the offsets


@dataclass(frozen=True)
class ColumnTable:
    """Columns by name; those with list offsets hold the elements of one list per row."""

    columns: Mapping[str, Column]
    list_offsets: Mapping[str, Offsets] = field(default_factory=dict)

    def __len__(self) -> int:
        name = next(iter(self.columns))
        return len(self.list_offsets[name]) - 1 if name in self.list_offsets else len(self.columns[name])

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def names(self) -> list[str]:
        """Column names."""
        return list(self.columns)

    @property
    def data_names(self) -> list[Any]:
        """Column names."""
        return self.names

    def number_names(self, *, with_lists: bool) -> list[str]:
        """Return the columns of numbers or lists."""
        return [
            name
            for name, column in self.columns.items()
            if (with_lists if name in self.list_offsets else column.kind in {"int", "float"})
        ]

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:  # noqa: ARG002 - of every table
        """Return these columns."""
        offsets = {name: self.list_offsets[name] for name in names if name in self.list_offsets}
        return SelectedColumns({name: self.columns[name] for name in names}, offsets)

    def matrix_hint(self, argument: str) -> str:  # noqa: ARG002 - of every table
        """Return an empty hint: a file is no matrix."""
        return ""

    def with_columns(self, columns: Mapping[str, Column]) -> ColumnTable:
        """Return the table after replacing columns."""
        return ColumnTable({**self.columns, **columns}, self.list_offsets)

    @staticmethod
    def concatenate(parts: Sequence[ColumnTable]) -> ColumnTable:
        """Return the rows of all parts, which have the same columns and no lists."""
        return ColumnTable({name: _concatenate([part.columns[name] for part in parts]) for name in parts[0].names})


def _concatenate(columns: Sequence[Column]) -> Column:
    numbers = [column.array for column in columns if isinstance(column, NumberColumn)]
    texts = [column for column in columns if isinstance(column, PackedColumn)]
    if numbers:
        return NumberColumn(np.concatenate(numbers))
    sizes = np.concatenate([np.diff(column.offsets) for column in texts])
    data = np.concatenate([column.data for column in texts])
    return PackedColumn(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), data)
