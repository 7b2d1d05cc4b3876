"""Files of weights, groups and clusters: the user columns and one other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from exactk._files.column_choice import ColumnChoice
from exactk._files.ids import cast_to_text
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._files.source import Source


_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")  # as pandas writes the index of a frame


def table_of_source(source: Source, user: object, *, text_ids: bool) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows of a file: weights are numbers; groups and clusters are read as ids are."""
    argument = source.file.role
    users = column_roles.user_columns(Columns(source.names), user, argument)
    others = [name for name in source.names if name not in users]
    if len(others) > 1:
        others = [name for name in others if not _INDEX.fullmatch(name)]
    if len(others) != 1:
        found = " and ".join(others) or "none"
        raise input_error(argument, f"one column besides {' and '.join(users)}", found)
    is_number = argument == "weights"
    columns = ColumnChoice((*users, *([] if is_number else others)), dict.fromkeys(others, "") if is_number else {})
    table = source.read_all(columns)
    return cast_to_text(table, users) if text_ids else table
