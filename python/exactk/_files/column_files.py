"""One system's predictions in several columnar files, read as if their rows were in one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from exactk._files import ids, read_containers
from exactk._files.source import choose_columns, is_large
from exactk._inputs.batches import Batches
from exactk._inputs.containers.tables import ColumnTable, open_table
from exactk._runtime import optional
from exactk._runtime.errors import input_error, name_source
from exactk._runtime.faults import Name
from exactk._runtime.threads import read_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from exactk._files.source import ColumnChoice, RequestedColumns, Source


def predictions_of_sources(
    sources: Sequence[Source], requested: RequestedColumns, *, text_ids: bool
) -> read_containers.ReadResult:
    """Return the predictions of all files, in file order. A user may be in several files."""
    columns = _common_columns(sources, requested)._replace(text_ids=text_ids)
    has_types = sources[0].has_types
    as_written = columns._replace(text_ids=True)  # ids are integers only if they are in all files
    if is_large(sources):

        def parts() -> Iterator[tuple[str, Any]]:
            return ((str(source.file.path), part) for source in sources for part in source.parts(as_written))

        convert = _conversion(parts, columns, has_types=has_types)
        return Batches.of_files(lambda: read_ahead(convert(parts())), requested)
    tables = [(str(source.file.path), source.read_all(as_written)) for source in sources]
    tables = list(_conversion(lambda: tables, columns, has_types=has_types)(tables))
    if any(_holds_lists(table) for _, table in tables):
        return read_containers.result_of_table(
            _concatenate(tables), "predictions", requested, columns, source="the data of all files"
        )
    return read_containers.result_of_batches(Batches.of_files(lambda: tables, requested))


def _common_columns(sources: Sequence[Source], requested: RequestedColumns) -> ColumnChoice:
    """Return the columns to read from each file. Raise InputError if they differ."""
    first, *others = sources
    with name_source(str(first.file.path)):
        columns = choose_columns(first, requested)
    for source in others:
        with name_source(str(source.file.path)):
            chosen = choose_columns(source, requested, is_first=False)
        if chosen.all != columns.all:
            found = f"{', '.join(columns.all)} in {first.file.path} and {', '.join(chosen.all)} in {source.file.path}"
            raise input_error("predictions", "files with the same columns", Name(found))
    return columns


def _conversion(
    parts: Callable[[], Iterable[tuple[str, Any]]], columns: ColumnChoice, *, has_types: bool
) -> Callable[[Iterable[tuple[str, Any]]], Iterator[tuple[str, Any]]]:
    """Return what converts the ids of parts; those of untyped files become integers if all files hold only integers."""
    if has_types or columns.text_ids:
        return lambda given: ((path, columns.convert_ids(part)) for path, part in given)

    @cache
    def integers() -> list[str]:
        return ids.integer_columns((part for _, part in parts()), columns.ids)

    return lambda given: ((path, ids.convert_integers(part, integers())) for path, part in given)


def _holds_lists(table: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    if isinstance(table, ColumnTable):
        return bool(table.list_offsets)
    is_nested = optional.arrow("a table").types.is_nested
    return any(is_nested(field.type) for field in table.schema)


def _column_table(path: str, table: Any) -> ColumnTable:  # noqa: ANN401 - pyarrow has no types
    if isinstance(table, ColumnTable):
        return table
    opened = open_table(table, "predictions")
    with name_source(path):
        return opened.select(opened.names, "predictions", "the data")


def _concatenate(tables: Sequence[tuple[str, Any]]) -> ColumnTable:
    """Return one table of all rows. Raise InputError if column types differ."""
    parts = [(path, _column_table(path, table)) for path, table in tables]
    first_path, first = parts[0]
    for path, table in parts:
        for name in first.names:
            types = first.type_of(name), table.type_of(name)
            if types[0] != types[1]:
                found = f"{types[0]} in {first_path} and {types[1]} in {path}"
                raise input_error(f"predictions.{name}", "one type in all files", found)
    return ColumnTable.concatenate([table for _, table in parts])
