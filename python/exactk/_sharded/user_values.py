"""The values of the users of a bucket, as Arrow batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error
from exactk._sharded.sides import tables_of_batches
from exactk._sharded.worker import evaluate_tables, without_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def evaluate_users(shard_plan: ShardPlan, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the users of the rows and their values, with null for users who are not evaluated."""
    pa = optional.arrow("a table")
    tables, rows = tables_of_batches(shard_plan.sides, batches)
    if not rows:
        return
    try:
        report = evaluate_tables(shard_plan, tables, rows, per_user=True).reports[""]
    except ExactkError as error:
        raise without_row(error) from None
    columns, names = user_value_columns(shard_plan)
    keys = report.users.tolist()
    parts = [keys] if len(columns) == 1 else [[key[i] for key in keys] for i in range(len(columns))]
    types = {"int": pa.int64(), "str": pa.string()}
    arrays = [pa.array(part, types[column.kind]) for part, column in zip(parts, columns, strict=True)]
    for name in names:
        values = np.asarray(report.per_user[name])
        arrays.append(pa.array(values, pa.float64(), mask=np.isnan(values)))
    table = pa.Table.from_arrays(arrays, [*(column.source for column in columns), *names])
    yield from table.to_batches(max_chunksize=_ROWS)
