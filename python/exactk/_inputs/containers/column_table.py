"""A data frame of our own: the columns of a text file, which need no library of data frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.columns import ChunkedColumn, NumberColumn, PackedColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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

    def filter(self, is_kept: NDArray[np.bool_]) -> ColumnTable:
        """Return some of the rows of a table without lists."""
        return ColumnTable({name: _filter(column, is_kept) for name, column in self.columns.items()})

    @staticmethod
    def concatenate(parts: Sequence[ColumnTable]) -> ColumnTable:
        """Return the rows of all parts, which have the same columns of the same types."""
        return ColumnTable(
            {name: _concatenate([part.columns[name] for part in parts]) for name in parts[0].names},
            {name: _concatenate_offsets([part.list_offsets[name] for part in parts]) for name in parts[0].list_offsets},
        )

    def type_of(self, name: str) -> str:
        """Return the type of a column, for messages."""
        return f"lists of {_type_of(self.columns[name])}" if name in self.list_offsets else _type_of(self.columns[name])


def _filter(column: Column, is_kept: NDArray[np.bool_]) -> Column:
    if isinstance(column, NumberColumn):
        return NumberColumn(column.array[is_kept])
    assert isinstance(column, PackedColumn)  # noqa: S101 - parts of text files have no other columns
    return column.take(np.flatnonzero(is_kept))


def _type_of(column: Column) -> str:
    if isinstance(column, ChunkedColumn):
        return _type_of(column.chunks[0])
    return str(column.array.dtype) if isinstance(column, NumberColumn) else column.kind


def _concatenate(columns: Sequence[Column]) -> Column:
    numbers = [column.array for column in columns if isinstance(column, NumberColumn)]
    texts = [column for column in columns if isinstance(column, PackedColumn)]
    if len(numbers) == len(columns):
        return NumberColumn(np.concatenate(numbers))
    if len(texts) < len(columns):
        return ChunkedColumn(columns)
    offsets = _concatenate_offsets([column.offsets for column in texts])
    return PackedColumn(offsets, np.concatenate([column.data for column in texts]))


def _concatenate_offsets(parts: Sequence[Offsets]) -> Offsets:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([np.diff(offsets) for offsets in parts]))])
