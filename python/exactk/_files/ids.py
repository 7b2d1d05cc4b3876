"""Ids in untyped files: strings, or integers if all are written as Python writes integers.

So 7 and 07 stay distinct, and a CSV file agrees with a Parquet file of the same integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def convert_integers(table: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the table with the string id columns that hold only integers converted to integers."""
    for name in names:
        integers = _as_integers(table[name])
        if integers is not None:
            table = table.set_column(table.schema.get_field_index(name), name, integers)
    return table


def integer_columns(parts: Iterable[Any], names: Sequence[str]) -> list[str]:
    """Return the columns that hold only integers."""
    remaining = list(names)
    for part in parts:
        remaining = [name for name in remaining if _as_integers(part[name]) is not None]
        if not remaining:
            break
    return remaining


def cast_to_integers(part: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows with these columns as int64."""
    arrow = optional.arrow("CSV")
    for name in names:
        index = part.schema.get_field_index(name)
        part = part.set_column(index, name, part[name].cast(arrow.int64()))
    return part


def cast_to_text(part: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows with integers in these columns, or in their lists, as strings."""
    for name in names:
        if (text := _text_type(part.schema.field(name).type)) is not None:
            part = part.set_column(part.schema.get_field_index(name), name, part[name].cast(text))
    return part


def _text_type(kind: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the string type for integers, or lists of them; None for other types."""
    arrow = optional.arrow("ids as text")
    types = arrow.types
    if types.is_integer(kind) or (types.is_dictionary(kind) and types.is_integer(kind.value_type)):
        return arrow.large_string()  # allows more than 2^31 bytes
    if not types.is_nested(kind) or (text := _text_type(getattr(kind, "value_type", None))) is None:
        return None
    if types.is_fixed_size_list(kind):
        return arrow.list_(text, kind.list_size)
    return arrow.large_list(text) if types.is_large_list(kind) else arrow.list_(text)


def _as_integers(column: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the column as int64, or None if any value is written differently."""
    arrow, compute = optional.arrow("CSV"), optional.arrow_module("compute", "CSV")
    try:
        integers = column.cast(arrow.int64())
    except arrow.ArrowInvalid:
        return None
    is_same = compute.equal(integers.cast(column.type), column)
    return integers if compute.all(is_same, min_count=0).as_py() else None
