"""Tables of any library, whose columns are read by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import arrow_table, offsets_of
from exactk._inputs.keys.column_roles import HIT, all_columns, names_of_record, sample_of_rows, usual_role, value_of
from exactk._inputs.keys.columns import (
    ChunkedColumn,
    NumberColumn,
    PackedColumn,
    arrow_or_series,
    column_of_array,
    column_of_arrow,
    column_of_objects,
    column_of_series,
    flatten_lists,
    holds_lists,
)
from exactk._inputs.keys.pivoted import hint_of_frame, hint_of_types
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.rows import locate_in_frame, of_row
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.columns import Column

_NUMBERS = ("int", "uint", "float", "bool", "decimal")
_LISTS = ("list",)
_OF_ITEMS = frozenset({"item", "score", "rank", "grade"})


class Table:
    """A frame of any library, whose columns are read when they are selected."""

    names: list[str]  # of columns, for pandas including index levels
    data_names: list[Any]  # of columns without index levels, whatever their type

    def type_of(self, name: Any) -> str:  # noqa: ANN401 - of pandas, not only a string
        """Return the type of a column: it begins with one of those of numbers or with list, or is of another."""
        raise NotImplementedError

    def stored(self, names: Sequence[str], argument: str) -> list[tuple[str, Any]]:
        """Return these columns with their names: arrays of Arrow, lists of objects, or Series."""
        raise NotImplementedError

    def matrix_hint(self, argument: str) -> str:  # noqa: ARG002 - of every table
        """Return how to convert a frame that is most likely a matrix, as no column can be keys; a file is none."""
        return ""

    def number_names(self, names: Iterable[Any], *, with_lists: bool) -> list[str]:
        """Return those of the columns that hold numbers, bools or lists, by type."""
        kinds = _NUMBERS + _LISTS if with_lists else _NUMBERS
        return [name for name in names if self.type_of(name).startswith(kinds)]

    @property
    def list_names(self) -> list[str]:
        """The columns of lists, by type."""
        return [name for name in self.data_names if self.type_of(name).startswith(_LISTS)]

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> ColumnTable:
        """Return these columns; messages name the frame by its source."""
        columns: dict[str, Column] = {}
        list_offsets: dict[str, Offsets] = {}
        for name, stored in self.stored(names, argument):
            columns[name], offsets = _read(stored, f"{argument}.{name}", source)
            if offsets is not None:
                list_offsets[name] = offsets
        return ColumnTable(columns, list_offsets)


def _read(stored: Any, argument: str, source: str) -> tuple[Column, Offsets | None]:  # noqa: ANN401 - as `Table.stored` yields it
    """Return a column; for one of lists, the elements of all lists, and the lists' offsets."""
    offsets: Offsets | None = None
    try:
        if isinstance(stored, list):
            if stored and isinstance(stored[0], list):
                offsets, stored = flatten_lists(stored, argument)
            return column_of_objects(stored, argument), offsets
        if isinstance(stored, _core.ArrowColumn):
            if stored.type == "list":
                nulls, first = stored.nulls()
                if nulls:
                    raise type_error(argument, "a list in every row", f"{nulls} null", position=first)
                offsets, stored = stored.lists(argument)
            return column_of_arrow(stored, argument), offsets
        if not isinstance(stored.dtype, np.dtype):
            return column_of_series(stored, argument), None
        if stored.dtype.kind == "O" and holds_lists(stored):
            offsets, elements = flatten_lists(stored.tolist(), argument)
            return column_of_objects(elements, argument), offsets
        return column_of_array(stored.to_numpy(), argument), None
    except ExactkError as error:
        raise of_row(error, locate_in_frame(source, offsets)) from error.__cause__


class ColumnTable(Table):
    """Columns by name; those with list offsets hold the elements of one list per row."""

    def __init__(
        self, columns: Mapping[str, Column], list_offsets: Mapping[str, Offsets] = MappingProxyType({})
    ) -> None:
        self.columns, self.list_offsets = columns, list_offsets
        self.names = self.data_names = list(columns)

    def __len__(self) -> int:
        name = self.names[0]
        return len(self.list_offsets[name]) - 1 if name in self.list_offsets else len(self.columns[name])

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return f"{'lists of ' * (name in self.list_offsets)}{_type_of(self.columns[name])}"

    def select(self, names: Sequence[str], argument: str, source: str = "the frame") -> ColumnTable:  # noqa: ARG002 - of every table
        """Return these columns."""
        offsets = {name: self.list_offsets[name] for name in names if name in self.list_offsets}
        return ColumnTable({name: self.columns[name] for name in names}, offsets)

    def values_of(self, name: str, argument: str) -> Any:  # noqa: ANN401 - an array or a list
        """Return the values of a column as an array, or as a list if they are text."""
        column = self.columns[name]
        if column.kind not in {"str", "bytes"}:
            return column.values(argument)
        vocabulary = Vocabulary.of_kinds([column.kind])
        codes = vocabulary.encode([column], argument)
        return vocabulary.snapshot().array[codes].tolist()

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
    return offsets_of(np.concatenate([np.diff(offsets) for offsets in parts]))


def is_frame(value: object) -> bool:
    """Return whether the value has columns."""
    if isinstance(value, Table) or optional.is_pandas(value) or optional.is_lazy(value):
        return True
    return hasattr(value, "__arrow_c_stream__") and (not is_series(value) or _holds_structs(value))


def _holds_structs(series: Any) -> bool:  # noqa: ANN401 - of Polars or Arrow
    """Return whether a Series holds structs, whose fields are then columns of a frame."""
    return str(getattr(series, "type", getattr(series, "dtype", ""))).lower().startswith("struct")


def is_series(value: object) -> bool:
    """Return whether the value is a single column: a pandas or Polars Series, or an Arrow array."""
    return hasattr(value, "to_numpy") and not hasattr(value, "columns")


def open_table(frame: Any, argument: str) -> Table:  # noqa: ANN401 - of any library
    """Return the frame as a table. Streams are read whole, as they may be read only once."""
    if isinstance(frame, Table):
        return frame
    if optional.is_pandas(frame):
        return PandasTable(frame)
    return LazyTable(frame) if optional.is_lazy(frame) else ArrowTable(frame, argument)


class PandasTable(Table):
    """A pandas data frame."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - pandas may not be installed
        self._frame = frame
        self.data_names = list(frame.columns)
        self.names = [name for name in (*self.data_names, *frame.index.names) if isinstance(name, str)]

    def type_of(self, name: Any) -> str:  # noqa: ANN401 - whatever names a column
        """Return the type of a column; of none whose name is not a string or names several."""
        series = self._frame[name] if isinstance(name, str) else None
        kind = getattr(getattr(series, "dtype", None), "kind", "")
        if kind == "O":
            return "list" if holds_lists(series) else "object"
        return {"b": "bool", "i": "int", "u": "uint", "f": "float"}.get(kind, "other")

    def stored(self, names: Sequence[str], argument: str) -> list[tuple[str, Any]]:
        """Return these columns, or levels of the index."""
        frame = self._frame
        series = [frame[name] if name in frame.columns else frame.index.get_level_values(name) for name in names]
        columns = zip(names, series, strict=True)
        return [
            (name, one if isinstance(one.dtype, np.dtype) else arrow_or_series(one, f"{argument}.{name}"))
            for name, one in columns
        ]

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix, or a frame with lists of records."""
        rows = self._frame.head(1).itertuples(index=False, name=None)
        sample = sample_of_rows(dict(zip(self.data_names, row, strict=True)) for row in rows)
        if any(HIT in str(name) for name in sample):
            return f"{argument}={argument}.to_dict('records') has the fields of records in lists as columns"
        return hint_of_frame(self._frame, argument)


_STRUCTS = re.compile(r"list.*struct", re.IGNORECASE)


class ArrowTable(Table):
    """Columns from an Arrow stream."""

    def __init__(self, frame: Any, argument: str) -> None:  # noqa: ANN401 - of any library
        self._can_be_array, self._has_drop = hasattr(frame, "to_numpy"), hasattr(frame, "drop")
        if _STRUCTS.search(str(getattr(frame, "schema", ""))) and optional.has("pyarrow"):
            frame = split_structs(optional.arrow("a frame of hits").table(frame), argument)
        self._objects = {name: frame[name].to_list() for name in optional.objects_in(frame)}
        names = [*frame.columns] if self._objects else []
        self._columns = arrow_table(frame.drop([*self._objects]) if self._objects else frame, argument).columns
        self._types = {name: "dictionary" if one.is_dictionary else one.type for name, one in self._columns}
        self.names = self.data_names = names or [name for name, _ in self._columns]

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return self._types.get(name, "object")

    def stored(self, names: Sequence[str], argument: str) -> list[tuple[str, Any]]:  # noqa: ARG002 - of every table
        """Return these columns."""
        return [(name, column) for name, column in (*self._columns, *self._objects.items()) if name in names]

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix."""
        if not self._can_be_array:
            return ""
        return hint_of_types(self._types, argument, argument, may_have_users=self._has_drop)


class RecordTable(Table):
    """Records of users and items, such as named tuples, whose fields are columns."""

    def __init__(self, records: list[Any], names: list[str]) -> None:
        if isinstance(records[0], Mapping):
            self._sample: Any = sample_of_rows(records)
            if any(HIT in name for name in self._sample if isinstance(name, str)):  # and of what later hits have
                later = set().union(*map(all_columns, records)).difference(self._sample)
                self._sample |= {name: [] for name in later if HIT in name and usual_role(name) in _OF_ITEMS}
            names = list(self._sample)
        else:
            self._sample = {name: getattr(records[0], name) for name in names}
        self._records, self.names, self.data_names = records, names, names

    def type_of(self, name: str) -> str:
        """Return the type of a column, by the first record."""
        return type(self._sample[name]).__name__

    def stored(self, names: Sequence[str], argument: str) -> list[tuple[str, Any]]:
        """Return these columns."""
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for name, values in columns.items():
            try:
                of_hits = partial(value_of, name=name) if HIT in name else itemgetter(name)
                get = of_hits if isinstance(self._records[0], Mapping) else attrgetter(name)
                values.extend(map(get, self._records))
            except (KeyError, AttributeError, TypeError):  # of another type than the first
                expected = "records of one type with the same fields"
                raise type_error(f"{argument}.{name}", expected, "one without", position=len(values)) from None
        return list(columns.items())


def of_records(value: object) -> object:
    """Return a list of records of users and items as a table; other values unchanged."""
    names = names_of_record(value[0]) if isinstance(value, list) and value else []
    return RecordTable(list(value), names) if names else value  # type: ignore[call-overload]


class LazyTable(Table):
    """A lazy Polars frame; only the selected columns are collected."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - Polars may not be installed
        self._frame = frame
        self._types = {name: str(dtype).lower() for name, dtype in frame.collect_schema().items()}
        self.names = self.data_names = list(self._types)

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return self._types[name]

    def stored(self, names: Sequence[str], argument: str) -> list[tuple[str, Any]]:
        """Return these columns."""
        return ArrowTable(self._frame.select(names).collect(), argument).stored(names, argument)

    def matrix_hint(self, argument: str) -> str:
        """Return how to convert a matrix."""
        return hint_of_types(self._types, argument, f"{argument}.collect()")


def split_structs(table: Any, argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow table with a column of lists per plain field in place of each column of lists of structs."""
    pa = optional.arrow("a table")
    columns: list[tuple[str, Any]] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if _holds_lists_of_structs(field.type):
            lists = zip(field.type.value_type, _fields_of_lists(column, f"{argument}.{field.name}"), strict=True)
            columns += [
                (f"{field.name}{HIT}{one.name}", of_field)
                for one, of_field in lists
                if not pa.types.is_nested(one.type)
            ]
        else:
            columns.append((field.name, column))
    return pa.table([column for _, column in columns], names=[name for name, _ in columns])


def _holds_lists_of_structs(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    types = optional.arrow("a table").types
    return bool((types.is_list(dtype) or types.is_large_list(dtype)) and types.is_struct(dtype.value_type))


def _fields_of_lists(column: Any, argument: str) -> list[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return the lists of each field."""
    pa = optional.arrow("a table")
    compute = optional.arrow_module("compute", "a table")
    if column.null_count:
        raise type_error(argument, "a list in every row", f"{column.null_count} null")
    chunks = [
        [
            type(lists).from_arrays(lists.offsets, compute.struct_field(lists.values, index))
            for index in range(column.type.value_type.num_fields)
        ]
        for lists in column.chunks
    ]
    make = pa.large_list if pa.types.is_large_list(column.type) else pa.list_
    types = [make(field.type) for field in column.type.value_type]
    return [pa.chunked_array([chunk[index] for chunk in chunks], dtype) for index, dtype in enumerate(types)]
