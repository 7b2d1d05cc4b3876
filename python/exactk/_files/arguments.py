"""Files that are passed as arguments of the public functions, such as `exactk.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._files import file_at, has_columns, json_document, read_in_role, read_user_values
from exactk._files.column_choice import COLUMNS, ColumnChoice
from exactk._files.formats import COLUMN_SOURCES, JSON, format_of
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.paths import names_file
from exactk._inputs.values_by_user import values_of_column
from exactk._runtime.errors import name_source

if TYPE_CHECKING:
    from exactk._files.faults import File
    from exactk._files.source import Source
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.types import FilePath

__all__ = ["has_columns", "read_argument"]

_USER_VALUES = ("weights", "groups", "clusters")
"""The arguments with one value per user."""


def read_argument(path: FilePath, argument: str, columns: ColumnNames, *, text_ids: bool = False) -> Any:  # noqa: ANN401 - of many types
    """Return the container of the file. Column names are for files with columns, as they are for data frames."""
    file = file_at(path, argument, argument)
    if isinstance(path, str) and not names_file(path):
        raise file.fault("a readable file", "No such file or directory", hint="a string is the path of a file")
    with name_source(str(file.path)):
        if argument in _USER_VALUES:
            return read_user_values(path, argument, text_ids=text_ids, user=columns.get("user"))
        if argument == "catalogue":
            return _read_catalogue(file, columns, text_ids=text_ids)
        if argument == "candidates" and format_of(file) == JSON:
            file.check_kind(pipes=True)
            return json_document.read_object(file, text_ids=text_ids)  # perhaps a list, of all users
        if not has_columns(path, argument):
            return read_in_role(file, {}, text_ids=text_ids)
        file.check_kind(pipes=False)
        if argument == "candidates" and len((source := COLUMN_SOURCES[format_of(file)](file)).names) == 1:
            return _read_items(source, argument, columns, text_ids=text_ids)
        requested = {role: name for role, name in columns.items() if name is not None and role in COLUMNS[argument]}
        return read_in_role(file, requested, text_ids=text_ids)


def _read_catalogue(file: File, columns: ColumnNames, *, text_ids: bool) -> object:
    """Return the items of a catalogue, from a JSON list or the item column of a file."""
    format_name = format_of(file)
    file.check_kind(pipes=format_name == JSON)
    if format_name == JSON:
        return json_document.read_object(file, text_ids=text_ids)
    if format_name not in COLUMN_SOURCES:
        raise file.fault(f"a file of columns ({', '.join(COLUMN_SOURCES)}), or a JSON list", format_name)
    return _read_items(COLUMN_SOURCES[format_name](file), "catalogue", columns, text_ids=text_ids)


def _read_items(source: Source, argument: str, columns: ColumnNames, *, text_ids: bool) -> object:
    """Return the items in the item column of a file."""
    item = column_roles.item_column(source.names, columns.get("item"), argument)
    choice = ColumnChoice((item,), (), text_ids=text_ids)
    table = open_table(choice.convert_ids(source.read_all(choice)), argument)
    return values_of_column(table.select([item], argument).columns[item], f"{argument}.{item}")
