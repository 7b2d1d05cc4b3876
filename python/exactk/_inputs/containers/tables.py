"""Column access to the data frames of each library, and columns by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from exactk._inputs.checks import arrow_table
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import (
    ChunkedColumn,
    NumberColumn,
    PackedColumn,
    column_of_array,
    column_of_arrow,
    column_of_objects,
)
from exactk._inputs.keys.pivoted import (
    arrow_of_series,
    column_of_series,
    flatten_lists,
    has_matrix_columns,
    holds_lists,
)
from exactk._inputs.model.rows import locate_in_frame, of_row
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, type_error
from exactk._runtime.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk import _core
    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.columns import Column


class SelectedColumns(NamedTuple):
    """Selected columns of a frame, by name."""

    columns: dict[str, Column]  # for columns of lists, the elements
    list_offsets: dict[str, Offsets]  # for columns of lists, the offsets


class ColumnTable(Record):
    """Columns by name; those with list offsets hold the elements of one list per row."""

    columns: Mapping[str, Column]
    list_offsets: Mapping[str, Offsets] = MappingProxyType({})

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

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers or lists."""
        return [
            name
            for name in names
            if (with_lists if name in self.list_offsets else self.columns[name].kind in {"int", "float"})
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


def is_frame(value: object) -> bool:
    """Return whether the value has columns."""
    if isinstance(value, ColumnTable) or optional.is_pandas(value) or optional.is_lazy(value):
        return True
    return hasattr(value, "__arrow_c_stream__") and (not is_series(value) or _holds_structs(value))


def _holds_structs(series: Any) -> bool:  # noqa: ANN401 - of Polars or Arrow
    """Return whether a Series holds structs, whose fields are then columns of a frame."""
    return str(getattr(series, "type", getattr(series, "dtype", ""))).lower().startswith("struct")


def is_series(value: object) -> bool:
    """Return whether the value is a single column: a pandas or Polars Series, or an Arrow array."""
    return hasattr(value, "to_numpy") and not hasattr(value, "columns")


class Table(Protocol):
    """A frame of any library."""

    @property
    def names(self) -> list[str]:
        """Column names, for pandas including index levels."""
        ...

    @property
    def data_names(self) -> list[Any]:
        """Column names without index levels, whatever their type."""
        ...

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers, bools or lists, by type."""
        ...

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:
        """Return these columns; messages name the frame by its source."""
        ...

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a frame that is most likely a matrix, as no column can be keys."""
        ...


def open_table(frame: Any, argument: str) -> Table:  # noqa: ANN401 - of any library
    """Return the frame as a table. Streams are read whole, as they may be read only once."""
    if isinstance(frame, ColumnTable):
        return frame
    if optional.is_pandas(frame):
        return PandasTable(frame)
    return LazyTable(frame) if optional.is_lazy(frame) else ArrowTable(frame, argument)


_NUMBER_KINDS = frozenset("biuf")


class PandasTable:
    """A pandas data frame."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - pandas may not be installed
        self._frame = frame
        self.data_names = list(frame.columns)  # whatever their type
        self.names = [name for name in (*self.data_names, *frame.index.names) if isinstance(name, str)]

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers, bools or lists."""
        series = ((name, self._frame[name]) for name in names if isinstance(name, str))
        kinds = ((name, one, getattr(getattr(one, "dtype", None), "kind", "")) for name, one in series)
        return [
            name
            for name, one, kind in kinds
            if kind in _NUMBER_KINDS or (with_lists and kind == "O" and holds_lists(one))
        ]

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:
        """Return these columns, or levels of the index."""
        frame, selected = self._frame, SelectedColumns({}, {})
        for name in names:
            series = frame[name] if name in frame.columns else frame.index.get_level_values(name)
            try:
                _add_series(selected, name, series, f"{argument}.{name}")
            except ExactkError as error:
                raise _of_column(error, source, selected, name) from error.__cause__
        return selected

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix."""
        frame, call = self._frame, _MATRIX_CALLS.get(argument, "")
        kinds = [getattr(dtype, "kind", "") for dtype in frame.dtypes]
        if call and (user := _user_beside_items(frame.columns, kinds)) is not None:
            return f"{argument}={call}({argument}.set_index({user!r})) reads the other column names as items"
        if frame.columns.empty or not set(kinds) <= set("biuf") or any(map(_has_usual_role, frame.columns)):
            return ""
        if frame.index.nlevels > 1 and (len(kinds) == 1 or argument not in _MATRIX_CALLS):  # values by user and item
            return ""
        if not optional.is_default_index(frame.index):
            return _keyed_matrix_hint(argument, set(kinds))
        is_numbered = optional.is_default_index(frame.columns) and "b" not in kinds
        return f"{argument}={argument}.to_numpy() reads it as a matrix" if is_numbered else ""


class ArrowTable:
    """Columns from an Arrow stream."""

    def __init__(self, frame: Any, argument: str) -> None:  # noqa: ANN401 - of any library
        self._can_be_array = hasattr(frame, "to_numpy")
        self._has_drop = hasattr(frame, "drop")
        self._objects = {name: frame[name].to_list() for name in optional.objects_in(frame)}
        names = [*frame.columns] if self._objects else []
        self._columns = arrow_table(frame.drop([*self._objects]) if self._objects else frame, argument).columns
        self.names = names or [name for name, _ in self._columns]

    @property
    def data_names(self) -> list[Any]:
        """Column names."""
        return self.names

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers, bools or lists."""
        among = {*names}
        return _names_of_numbers(
            ((name, one.type) for name, one in self._columns if name in among and not one.is_dictionary), with_lists
        )

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:
        """Return these columns."""
        selected = SelectedColumns({}, {})
        for name, column in self._columns:
            if name in names:
                try:
                    _add_arrow_column(selected, name, column, f"{argument}.{name}")
                except ExactkError as error:
                    raise _of_column(error, source, selected, name) from error.__cause__
        for name in [name for name in names if name in self._objects]:
            selected.columns[name] = column_of_objects(self._objects[name], f"{argument}.{name}")
        return selected

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix."""
        is_matrix = self._can_be_array and _are_of_floats(column.type for _, column in self._columns)
        if is_matrix:
            return f"{argument}={argument}.to_numpy() reads it as a matrix"
        if not (self._can_be_array and self._has_drop):
            return ""
        return _pivoted_hint(argument, argument, [(name, column.type) for name, column in self._columns])


class LazyTable:
    """A lazy Polars frame; only the selected columns are collected."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - Polars may not be installed
        self._frame = frame
        self._types = {name: str(dtype) for name, dtype in frame.collect_schema().items()}
        self.names = list(self._types)

    @property
    def data_names(self) -> list[Any]:
        """Column names."""
        return self.names

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers, bools or lists."""
        return _names_of_numbers(((name, self._types[name]) for name in names), with_lists)

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:
        """Return these columns."""
        return ArrowTable(self._frame.select(names).collect(), argument).select(names, argument, source)

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix."""
        is_matrix = _are_of_floats(self._types.values())
        if is_matrix:
            return f"{argument}={argument}.collect().to_numpy() reads it as a matrix"
        return _pivoted_hint(argument, f"{argument}.collect()", list(self._types.items()))


_MATRIX_CALLS = {
    "truth": "exactk.Truth.from_dense",
    "predictions": "exactk.Scores",
    "scores": "exactk.Scores",
}
"""What takes a matrix with users and items."""


def _keyed_matrix_hint(argument: str, kinds: set[str]) -> str:
    """Return how to convert a pandas frame with users in its index and items in its columns."""
    if kinds == {"b"} and argument not in {"predictions", "scores"}:
        return f"{argument}=exactk.Truth.from_dense({argument}) reads its index as users and its columns as items"
    if "b" in kinds:
        return ""
    if argument in _MATRIX_CALLS:
        return f"{argument}={_MATRIX_CALLS[argument]}({argument}) reads its index as users and its columns as items"
    return f"{argument}=exactk.Truth.from_dense({argument} > 0) has the items of each user above 0"


def _has_usual_role(name: object) -> bool:
    return isinstance(name, str) and usual_role(name) is not None


def _user_beside_items(names: Iterable[object], kinds: Iterable[str]) -> str | None:
    """Return the only column whose name says that it holds users, if the others can only be those of a matrix."""
    by_name = list(zip(names, kinds, strict=True))
    users = [name for name, _ in by_name if isinstance(name, str) and usual_role(name) == "user"]
    others = [(name, kind) for name, kind in by_name if name not in users]
    is_pivoted = len(users) == 1 and has_matrix_columns([name for name, _ in others], {kind for _, kind in others})
    return users[0] if is_pivoted else None


def _pivoted_hint(argument: str, frame: str, types: Sequence[tuple[str, str]]) -> str:
    """Return how to convert a frame of Polars with a column of users, and a column for each item."""
    user = _user_beside_items([name for name, _ in types], [dtype.lower()[:1] for _, dtype in types])
    if user is None or argument not in _MATRIX_CALLS:
        return ""
    call = _MATRIX_CALLS[argument]
    items = f"{frame}.drop({user!r}).columns"
    keys = f"users={frame}[{user!r}], items={items}"
    return f"{argument}={call}({frame}.drop({user!r}).to_numpy(), {keys}) reads the other column names as items"


def _are_of_floats(types: Iterable[str]) -> bool:
    lowered = [name.lower() for name in types]
    return bool(lowered) and all(name.startswith("float") for name in lowered)


def _names_of_numbers(types: Iterable[tuple[str, str]], with_lists: bool) -> list[str]:  # noqa: FBT001 - as of its callers
    kinds = ("int", "uint", "float", "bool", "decimal") + (("list",) if with_lists else ())
    return [name for name, dtype in types if dtype.lower().startswith(kinds)]


def _of_column(error: ExactkError, source: str, selected: SelectedColumns, name: str) -> ExactkError:
    """Return the error with the row of the frame, and where in its list once the lists are read."""
    return of_row(error, locate_in_frame(source, selected.list_offsets.get(name)))


def _add_series(selected: SelectedColumns, name: str, series: Any, argument: str) -> None:  # noqa: ANN401 - a Series or an Index
    if not isinstance(series.dtype, np.dtype):
        if (arrow := arrow_of_series(series, argument)) is not None:
            _add_arrow_column(selected, name, arrow, argument)
        else:
            selected.columns[name] = column_of_series(series, argument)
    elif series.dtype.kind == "O" and holds_lists(series):
        selected.list_offsets[name], items = flatten_lists(series.tolist(), argument)
        selected.columns[name] = column_of_objects(items, argument)
    else:
        selected.columns[name] = column_of_array(series.to_numpy(), argument)


def _add_arrow_column(selected: SelectedColumns, name: str, column: _core.ArrowColumn, argument: str) -> None:
    if column.type == "list":
        nulls, first = column.nulls()
        if nulls:
            raise type_error(argument, "a list in every row", f"{nulls} null", position=first)
        selected.list_offsets[name], column = column.lists(argument)
    selected.columns[name] = column_of_arrow(column, argument)
