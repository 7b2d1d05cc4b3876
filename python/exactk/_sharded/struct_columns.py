"""Columns of lists of structs, such as the recommendations of Spark's ALS, as columns of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._inputs.keys.column_roles import usual_role
from exactk._runtime import optional
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from exactk._inputs.keys.column_roles import ColumnNames


def split_structs(table: Any, argument: str, requested: ColumnNames) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the table with a column of lists per field in place of each column of lists of structs."""
    pa = optional.arrow("a table")
    columns: list[tuple[str, Any]] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if holds_structs(field.type):
            names = _field_names([one.name for one in field.type.value_type], argument, requested)
            columns += zip(names, _fields_of_lists(column, f"{argument}.{field.name}"), strict=True)
        else:
            columns.append((field.name, column))
    return pa.table([column for _, column in columns], names=[name for name, _ in columns])


def holds_structs(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether an Arrow type is one of lists of structs."""
    types = optional.arrow("a table").types
    return bool((types.is_list(dtype) or types.is_large_list(dtype)) and types.is_struct(dtype.value_type))


def _field_names(names: list[str], argument: str, requested: ColumnNames) -> list[str]:
    """Return the names of the fields as those of columns.

    ALS calls its scores ``rating``, a name of grades elsewhere, and its items as their column was called. Of two fields,
    the one beside the scores or grades can only be the item.
    """
    roles: list[str | None] = [_role(name, requested) for name in names]
    if argument == "predictions" and not {"score", "rank"} & {*roles} and roles.count("grade") == 1:
        roles[roles.index("grade")] = "score"
    if len(names) == 2 and "item" not in roles and len({"score", "rank", "grade"} & {*roles}) == 1:
        roles = ["item" if role is None else role for role in roles]
    return [
        role if role is not None and _role(name, requested) != role else name
        for name, role in zip(names, roles, strict=True)
    ]


def _role(name: str, requested: ColumnNames) -> str | None:
    by_name = {column: role for role, column in requested.items() if isinstance(column, str)}
    return by_name.get(name) or usual_role(name)


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
