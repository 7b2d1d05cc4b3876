"""Files that are passed as arguments of the public functions, such as `exactk.evaluate`."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._files import file_at, has_columns, json_files, read_files, read_user_values, source_at
from exactk._files.folders import parts_of
from exactk._files.formats import COLUMN_SOURCES, JSON, format_of
from exactk._files.forms import warn_of_ranks
from exactk._files.source import ColumnChoice
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns
from exactk._runtime.errors import name_source
from exactk._runtime.faults import Name, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._files.file_errors import File
    from exactk._files.source import Source
    from exactk._inputs.containers.tables import ColumnTable
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.types import FilePath

__all__ = ["columns_at", "has_columns", "read_argument", "read_catalogue_columns", "read_item_names", "warn_of_ranks"]


def columns_at(path: FilePath, role: str) -> Columns:
    """Return the file's columns; none for a format without."""
    source = source_at(path, role)
    return Columns([]) if source is None else Columns(source.names, lists=lambda: source.list_names)


_USER_VALUES = ("weights", "groups", "clusters")
"""The arguments with one value per user."""


def read_argument(path: FilePath, argument: str, columns: ColumnNames, *, text_ids: bool = False) -> Any:  # noqa: ANN401 - of many types
    """Return the container of the file. Column names are for files with columns, as they are for data frames."""
    files = parts_of(file_at(path, argument, argument))
    file = files[0]
    if argument == "parents" and not file.path.suffix:
        split = Option("split", str(path), "parents=exactk.Parents({})", f"--parents-split {shlex.quote(str(path))}")
        file.status(hint=(split, " if it separates documents from chunks in ids"))
    elif isinstance(path, str):
        file.status(hint="a string is the path of a file")
    with name_source(str(file.path)):
        if argument in _USER_VALUES:
            return read_user_values(path, argument, text_ids=text_ids, user=columns.get("user"))
        if argument == "parents":
            return _read_parents(file, text_ids=text_ids)
        if argument == "catalogue":
            return _read_catalogue(file, columns, text_ids=text_ids)
        format_name = format_of(file)
        if argument == "candidates" and format_name == JSON:
            file.check_kind(pipes=True)
            return json_files.read_object(file, text_ids=text_ids)  # perhaps a list, of all users
        if argument == "candidates" and format_name in COLUMN_SOURCES:
            file.check_kind(pipes=False)
            if len((source := COLUMN_SOURCES[format_name](file)).names) == 1:
                return _read_items(source, argument, columns, text_ids=text_ids)
        roles = column_roles.ROLES[argument]
        requested = {role: name for role, name in columns.items() if name is not None and role in roles}
        if requested and not has_columns(path, argument):
            requested = {}
        return read_files(files, requested, text_ids=text_ids).container


def read_catalogue_columns(
    path: FilePath, names: Sequence[str], columns: ColumnNames, *, are_numbers: bool
) -> list[Any]:
    """Return the values in these columns of a catalogue, each in the order of its items."""
    file = file_at(path, "catalogue", "catalogue")
    with name_source(str(file.path)):
        source = _catalogue_source(file, f"a file of columns ({', '.join(COLUMN_SOURCES)}), which has {names[0]}")
        if missing := [name for name in names if name not in source.names]:
            raise file.fault(Name(f"the column {missing[0]}"), Name(f"the columns {', '.join(source.names)}"))
        item = column_roles.item_column(Columns(source.names), columns.get("item"), "catalogue")
        column_roles.check_distinct([item, *names], "catalogue")
        choice = ColumnChoice((item,), dict.fromkeys(names, "")) if are_numbers else ColumnChoice((item, *names), {})
        selected = open_table(source.read_all(choice), "catalogue").select(names, "catalogue")
        return [_values_or_lists(selected, name) for name in names]


def _read_parents(file: File, *, text_ids: bool) -> Any:  # noqa: ANN401 - a mapping, or of pyarrow
    """Return the chunks and their documents, from a JSON object or a file of two columns."""
    if format_of(file) == JSON:
        file.check_kind(pipes=True)
        return json_files.read_object(file, text_ids=text_ids)
    source = _catalogue_source(file, f"a file of columns ({', '.join(COLUMN_SOURCES)}), or a JSON object")
    choice = ColumnChoice(tuple(source.names), {}, text_ids=text_ids)
    return choice.convert_ids(source.read_all(choice))


_NAME_COLUMNS = ("name", "title", "item_name")


def read_item_names(path: FilePath, item: str | None = None, *, text_ids: bool = False) -> dict[Any, str]:
    """Return the name of each item: from JSON, or a file with a column of items and one of names.

    The column of names is called name, title or item_name, or is the only other column.
    """
    file = file_at(path, "item_names", "catalogue")
    with name_source(str(file.path)):
        if format_of(file) == JSON:
            file.check_kind(pipes=True)
            return _names_of_json(json_files.read_object(file, text_ids=text_ids), file)
        source = _catalogue_source(file, f"a file of columns ({', '.join(COLUMN_SOURCES)}), or JSON")
        item_name = column_roles.item_column(Columns(source.names), item, "item_names")
        others = [name for name in source.names if name != item_name]
        usual = [name for name in others if name.lower() in _NAME_COLUMNS] or others
        if len(usual) != 1:
            raise file.fault(f"one column of names: {', '.join(_NAME_COLUMNS)}", ", ".join(source.names))
        items: Any = _read_items(source, "item_names", {"item": item}, text_ids=text_ids)
        choice = ColumnChoice((usual[0],), {}, text_ids=True)
        table = open_table(choice.convert_ids(source.read_all(choice)), "item_names")
        names = table.select([usual[0]], "item_names").values_of(usual[0], "item_names")
        return dict(zip(np.asarray(items).tolist(), map(str, np.asarray(names).tolist()), strict=True))


def _names_of_json(content: object, file: File) -> dict[Any, str]:
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content.values()):
        raise file.fault("an object from item to name", "other JSON")
    return content


def _values_or_lists(selected: ColumnTable, name: str) -> Any:  # noqa: ANN401 - an array or a list
    values = selected.values_of(name, f"catalogue.{name}")
    if name not in selected.list_offsets:
        return values
    return [list(values[begin:end]) for begin, end in pairwise(selected.list_offsets[name].tolist())]


def _catalogue_source(file: File, expected: str) -> Source:
    format_name = format_of(file)
    file.check_kind(pipes=False)
    if format_name not in COLUMN_SOURCES:
        raise file.fault(expected, format_name)
    return COLUMN_SOURCES[format_name](file)


def _read_catalogue(file: File, columns: ColumnNames, *, text_ids: bool) -> object:
    """Return the items of a catalogue, from a JSON list or the item column of a file."""
    if format_of(file) == JSON:
        file.check_kind(pipes=True)
        return json_files.read_object(file, text_ids=text_ids)
    source = _catalogue_source(file, f"a file of columns ({', '.join(COLUMN_SOURCES)}), or a JSON list")
    return _read_items(source, "catalogue", columns, text_ids=text_ids)


def _read_items(source: Source, argument: str, columns: ColumnNames, *, text_ids: bool) -> object:
    """Return the items in the item column of a file."""
    item = column_roles.item_column(Columns(source.names), columns.get("item"), argument)
    choice = ColumnChoice((item,), {}, text_ids=text_ids)
    table = open_table(choice.convert_ids(source.read_all(choice)), argument)
    return table.select([item], argument).values_of(item, f"{argument}.{item}")
