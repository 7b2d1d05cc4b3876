"""The values of the users of a bucket, as Arrow batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error
from exactk._sharded.sides import tables_of_batches
from exactk._sharded.worker import evaluate_tables, without_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exactk._sharded.shard_plan import ShardPlan
    from exactk._sharded.sides import Column

_ROWS = 10_000  # of a batch


def user_value_columns(shard_plan: ShardPlan) -> tuple[tuple[Column, ...], list[str]]:
    """Return the user columns of the truth, and the names of the values; raise InputError if a name is in both."""
    users = shard_plan.sides[0].users
    names = [value.spelling for value in shard_plan.values if not value.info.of_collection]
    for column in users:
        if column.source in names:
            raise input_error("user", "a column that is not named like a value", repr(column.source))
    return users, names


def user_value_schema(shard_plan: ShardPlan) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema of the values of users."""
    pa = optional.arrow("a table")
    columns, names = user_value_columns(shard_plan)
    types = {"int": pa.int64(), "str": pa.string()}
    keys = [(column.source, types[column.kind]) for column in columns]
    return pa.schema([*keys, *((name, pa.float64()) for name in names)])


def evaluate_users(shard_plan: ShardPlan, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the users of the rows and their values, with null for users who are not evaluated."""
    tables, rows = tables_of_batches(shard_plan.sides, batches)
    if rows:
        yield from values_of_tables(shard_plan, tables, rows).to_batches(max_chunksize=_ROWS)


def values_of_tables(shard_plan: ShardPlan, tables: Sequence[Any], rows: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the same of a table per side, as a table."""
    pa = optional.arrow("a table")
    try:
        report = evaluate_tables(shard_plan, tables, rows, per_user=True).reports[""]
    except ExactkError as error:
        raise without_row(error) from None
    schema = user_value_schema(shard_plan)
    columns, names = user_value_columns(shard_plan)
    keys = report.users.tolist()
    parts = [keys] if len(columns) == 1 else [[key[i] for key in keys] for i in range(len(columns))]
    arrays = [pa.array(part, schema.field(i).type) for i, part in enumerate(parts)]
    for name in names:
        values = np.asarray(report.per_user[name])
        arrays.append(pa.array(values, pa.float64(), mask=np.isnan(values)))
    return pa.Table.from_arrays(arrays, schema=schema)
