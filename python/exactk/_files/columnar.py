"""Parquet and Arrow IPC, read by pyarrow, whole or in parts."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from exactk._core import memory_limit
from exactk._files.source import Source, by_pandas, warn_of_lists
from exactk._inputs.containers.tables import split_structs
from exactk._inputs.keys.column_roles import HIT
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._files.file_errors import File
    from exactk._files.source import ColumnChoice

_PART_ROWS = 1 << 20  # per part: about 20 MB
_ROW_SIZE = 16  # bytes of an id of a user and one of an item
_BUFFER_SIZE = 1 << 20  # bytes of a column; without a limit, pyarrow buffers a whole row group


class _Columnar(Source):
    """A file in a columnar format."""

    def __init__(self, file: File, expected: str, purpose: str) -> None:
        super().__init__(file)
        self._expected, self._arrow = expected, optional.arrow(purpose)

    @cached_property
    def fields(self) -> list[tuple[str, Any]]:
        """The columns: names and pyarrow types."""
        raise NotImplementedError

    @cached_property
    def _split_fields(self) -> list[tuple[str, Any]]:
        """The columns, with one per field in place of lists of structs."""
        if self.has_one_item_per_row:
            return self.fields
        schema = self._arrow.schema([field for _, field in self.fields])
        return _named_fields(split_structs(schema.empty_table(), self.file.role).schema)

    @property
    def names(self) -> list[str]:
        """Column names."""
        return [name for name, _ in self._split_fields]

    @property
    def list_names(self) -> list[str]:
        """The columns of lists."""
        types = self._arrow.types
        kinds = types.is_list, types.is_large_list
        return [name for name, field in self._split_fields if any(kind(field.type) for kind in kinds)]

    def number_columns(self) -> list[str]:
        """Return the columns of numbers or bools, or of lists of them."""
        types = self._arrow.types
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)

        def is_of_numbers(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
            if types.is_list(dtype) or types.is_large_list(dtype):
                return is_of_numbers(dtype.value_type)
            return any(kind(dtype) for kind in kinds)

        return [name for name, field in self._split_fields if is_of_numbers(field.type)]

    @property
    def has_one_item_per_row(self) -> bool:
        """Whether no column is nested."""
        types = self._arrow.types
        return not any(types.is_nested(field.type) for _, field in self.fields)

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        fields, names = dict(self.fields), list(dict.fromkeys(map(_source_of, columns.all)))
        schema = self._arrow.schema([fields[name] for name in names])
        table = self._arrow.Table.from_batches([part.select(names) for part in self.parts(columns)], schema)
        return table if names == columns.all else split_structs(table, self.file.role).select(columns.all)

    def _translate_errors(self) -> Any:  # noqa: ANN401 - a context manager
        errors = self._arrow.ArrowException, UnicodeDecodeError  # the latter of a column name
        return self.file.translate_errors(self._expected, *errors)


class Parquet(_Columnar):
    """A Parquet file."""

    def __init__(self, file: File) -> None:
        super().__init__(file, "Parquet", "Parquet")
        self._parquet = optional.arrow_module("parquet", "a Parquet file")

    @cached_property
    def _footer(self) -> tuple[list[tuple[str, Any]], int]:
        """The columns, and the number of rows."""
        with self._open() as parquet_file:
            return _named_fields(parquet_file.schema_arrow), int(parquet_file.metadata.num_rows)

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """The columns: names and pyarrow types."""
        return self._footer[0]

    @cached_property
    def size(self) -> int:
        """A lower bound on the bytes of all rows, which may far exceed the file: a small file can repeat one row."""
        return max(super().size, self._footer[1] * _ROW_SIZE)

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        if self.size > memory_limit():
            raise self.file.fault(
                f"rows that fit in the memory of {memory_limit():.0f} bytes", f"{self.size} bytes of rows"
            )
        table = super().read_all(columns)
        path = repr(str(self.file.path))
        warn_of_lists(
            self.file, table, columns, lambda then: by_pandas(self.file, f"pandas.read_parquet({path}){then}")
        )
        return table

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the rows in parts."""
        with self._open() as parquet_file:
            for groups in _runs_of_groups(parquet_file.metadata):
                for part in self._read_groups(parquet_file, groups, list(dict.fromkeys(map(_source_of, columns.all)))):
                    yield _validated(part)

    def _read_groups(self, parquet_file: Any, groups: list[int], columns: list[str]) -> Iterator[Any]:  # noqa: ANN401 - pyarrow has no types
        """Yield the rows of row groups: all at once if they fit a part, because pyarrow then allocates each column once."""
        if sum(parquet_file.metadata.row_group(group).num_rows for group in groups) > _PART_ROWS:
            yield from parquet_file.iter_batches(_PART_ROWS, groups, columns)
        else:
            table = parquet_file.read_row_groups(groups, columns)
            with suppress(self._arrow.ArrowInvalid):  # narrow codes of more keys than they can number
                table = table.combine_chunks()  # a dictionary has a chunk per group
            yield from table.to_batches()

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with (
            self._translate_errors(),
            self._arrow.OSFile(os.fsencode(self.file.path)) as stream,  # names need not be text
            self._parquet.ParquetFile(stream, buffer_size=_BUFFER_SIZE) as parquet_file,
        ):
            yield parquet_file


class Ipc(_Columnar):
    """An Arrow IPC file or stream."""

    def __init__(self, file: File) -> None:
        super().__init__(file, "Arrow IPC", "an Arrow IPC file")

    @cached_property
    def fields(self) -> list[tuple[str, Any]]:
        """The columns: names and pyarrow types."""
        with self._open(None) as (schema, _):
            return _named_fields(schema)

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the rows in the parts of the file."""
        names = [name for name, _ in self.fields]
        with self._open([names.index(_source_of(name)) for name in columns.all]) as (_, parts):
            for part in parts:
                yield _validated(part)

    @contextmanager
    def _open(self, fields: list[int] | None) -> Iterator[tuple[Any, Iterator[Any]]]:
        """Open the file to read these fields, without mapping it, because it could change after the checks."""
        ipc = self._arrow.ipc
        options = ipc.IpcReadOptions(included_fields=fields)
        with self._translate_errors(), self._arrow.OSFile(os.fsencode(self.file.path)) as stream:
            if stream.read(6) == b"ARROW1":
                reader = ipc.open_file(stream, options=options)
                yield reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                stream.seek(0)
                reader = ipc.open_stream(stream, options=options)
                yield reader.schema, self._stream_parts(reader, stream)

    def _stream_parts(self, reader: Any, stream: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow has no types
        """Yield the parts of a stream. A second stream after its end is ignored."""
        yield from reader
        if stream.read(1):
            raise self.file.fault("one Arrow IPC stream", "more bytes after its end")


def _runs_of_groups(metadata: Any) -> Iterator[list[int]]:  # noqa: ANN401 - pyarrow has no types
    """Yield the row groups in runs of about the rows of a part; a longer one is a run of its own."""
    run: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        added = metadata.row_group(group).num_rows
        if run and rows + added > _PART_ROWS:
            yield run
            run, rows = [], 0
        run.append(group)
        rows += added
    if run:
        yield run


def _source_of(name: str) -> str:
    """Return the column of the file in which a column, perhaps of hits, is."""
    return name.rpartition(HIT)[0] or name


def _named_fields(schema: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - pyarrow has no types
    return [(field.name, field) for field in schema]


def _validated(batch: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the batch after checking its offsets and strings, as file contents are untrusted."""
    batch.validate(full=True)
    return batch
