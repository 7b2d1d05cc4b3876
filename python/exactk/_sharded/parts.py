"""The rows of a partition, split by buckets of users.

Each part is bytes, which an engine moves as they are: no type of a column, and no hash, is the engine's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.keys.columns import CodedColumn, NumberColumn, TextColumn
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.restrictions import shard_numbers
from exactk._runtime import optional
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from exactk._sharded.shard_plan import ShardPlan
    from exactk._sharded.sides import Side


def parts_schema() -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema of parts."""
    pa = optional.arrow("a table")
    return pa.schema([("bucket", pa.int64()), ("side", pa.int64()), ("rows", pa.large_binary())])


def plain_type(dtype: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the type of the values of a dictionary, such as of a categorical; others as they are."""
    return dtype.value_type if optional.arrow("a table").types.is_dictionary(dtype) else dtype


def parts_of_table(shard_plan: ShardPlan, number: int, table: Any, num_buckets: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a part per bucket of the rows of a side, as an Arrow table: all rows of a user are of one bucket.

    Raises
    ------
    InputTypeError
        If a column has another type than its first partition, by which the evaluation was planned.
    """
    pa = optional.arrow("a table")
    side = shard_plan.sides[number]
    schema = _schema_of_rows(side)
    columns = [_cast(table[one.name], one, side.argument, side.schema.field(one.name).type) for one in schema]
    rows = pa.table(columns, schema=schema).combine_chunks()
    numbers = bucket_numbers([rows[column.source] for column in side.users], num_buckets)
    order = np.argsort(numbers, kind="stable")
    rows, numbers = rows.take(pa.array(order)), numbers[order]
    buckets, starts, counts = np.unique(numbers, return_index=True, return_counts=True)
    slices = zip(starts.tolist(), counts.tolist(), strict=True)
    parts = [_to_bytes(rows.slice(start, count)) for start, count in slices]
    return pa.table([buckets, np.full(len(parts), number), parts], schema=parts_schema())


def tables_of_parts(shard_plan: ShardPlan, parts: Any) -> tuple[list[Any], int]:  # noqa: ANN401 - pyarrow has no types
    """Return a table per side, and the number of rows, of the parts of one bucket."""
    pa = optional.arrow("a table")
    tables = [[_schema_of_rows(side).empty_table()] for side in shard_plan.sides]
    for number, rows in zip(parts["side"].to_pylist(), parts["rows"], strict=True):
        with pa.ipc.open_stream(rows.as_buffer()) as stream:
            tables[number].append(stream.read_all())
    whole = [pa.concat_tables(of_side) for of_side in tables]
    return whole, sum(len(table) for table in whole)


def _schema_of_rows(side: Side) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("a table")
    types = {"int": pa.int64(), "str": pa.large_string()}
    return pa.schema(
        [(one.source, types[one.kind] if one.kind else side.schema.field(one.source).type) for one in side.columns]
    )


def _to_bytes(table: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("a table")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _cast(column: Any, field: Any, argument: str, planned: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the column with the type of the field; raise if that is not of the kind that was planned."""
    pa = optional.arrow("a table")
    if _is_same_kind(column.type, planned):
        try:
            return column.cast(field.type)
        except pa.ArrowInvalid as error:  # an integer or a float that the type cannot hold
            if column.type == planned:
                raise type_error(f"{argument}.{field.name}", f"values that fit {field.type}", str(error)) from None
    hint = "cast the column to one type"
    raise type_error(f"{argument}.{field.name}", f"{planned} in every partition", str(column.type), hint=hint)


def _is_same_kind(found: Any, planned: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether values of a type can be cast without becoming others, as 7 becomes '7'."""
    types = optional.arrow("a table").types
    found = plain_type(found)
    if found == planned or types.is_null(found):
        return True
    if _is_list(found) and _is_list(planned):
        return _is_same_kind(found.value_type, planned.value_type)
    if types.is_struct(found) and types.is_struct(planned):
        pairs = zip(found, planned, strict=False)
        return len(found) == len(planned) and all(a.name == b.name and _is_same_kind(a.type, b.type) for a, b in pairs)
    if types.is_floating(found) and types.is_floating(planned):
        return bool(found.bit_width <= planned.bit_width)  # a narrower type would make scores equal that are not
    kinds = (types.is_integer, lambda dtype: types.is_string(dtype) or types.is_large_string(dtype))
    is_number = types.is_integer(found) and types.is_floating(planned)
    return is_number or any(is_kind(found) and is_kind(planned) for is_kind in kinds)


def _is_list(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    types = optional.arrow("a table").types
    return bool(types.is_list(dtype) or types.is_large_list(dtype))


def bucket_numbers(users: Sequence[Any], num_buckets: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each row, by the values of its user columns alone: Arrow arrays of integers or strings.

    The hash is that of keys, by which the command line has its shards.
    """
    columns = list(map(_keys_of, users))
    vocabulary = Vocabulary.of_kinds([column.kind for column in columns])
    codes = vocabulary.encode(columns, "user")
    return shard_numbers(vocabulary.snapshot().hashes, num_buckets)[codes] - 1


def _keys_of(column: Any) -> NumberColumn | CodedColumn:  # noqa: ANN401 - pyarrow has no types
    """Return the keys of a column, with 0 or the empty string for null, which the worker refuses."""
    if optional.arrow("a table").types.is_integer(column.type):
        return NumberColumn(column.fill_null(0).to_numpy())
    encoded = column.fill_null("").combine_chunks().dictionary_encode()
    return CodedColumn(encoded.indices.to_numpy(), TextColumn(encoded.dictionary.to_pylist(), "str"))
