"""The rows of all inputs in buckets, as an engine makes them: what the tests of the worker share."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from exactk._report.comparison_options import ComparisonOptions
from exactk._sharded.buckets import Bucket
from exactk._sharded.shard_plan import Inputs, ShardPlan, plan_shards
from exactk._sharded.worker import result_of_batches

NAMES = dict.fromkeys(("user", "item", "score", "rank", "grade"))


def plan_of_tables(
    truth: pa.Table,
    predictions: pa.Table | Mapping[str, pa.Table],
    metrics: Any,
    *,
    convention: Any = "standard",
    items: Any = None,
    columns: Mapping[str, Any] | None = None,
    comparison: ComparisonOptions | None = None,
    **others: Any,
) -> ShardPlan:
    """Return the plan, pickled once, as a worker gets it."""
    systems = predictions if isinstance(predictions, Mapping) else {"": predictions}
    schemas = Inputs(
        truth.schema,
        {name: table.schema for name, table in systems.items()},
        **{name: one if one is None or isinstance(one, str) else one.schema for name, one in others.items()},
    )
    names: Any = {**NAMES, **(columns or {})}
    planned = plan_shards(schemas, metrics, convention, names, items, 1, comparison)
    plan: ShardPlan = pickle.loads(pickle.dumps(planned))  # noqa: S301 - our own
    return plan


def all_rows(plan: ShardPlan, tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all sides together, with null in the columns of others."""
    parts = []
    for number, (side, table) in enumerate(zip(plan.sides, tables, strict=True)):
        columns = {"side": pa.array(np.full(len(table), number, np.int8))}
        for column in side.columns:
            values = table[column.source]
            columns[column.name] = values.cast({"int": pa.int64(), "str": pa.string(), "": values.type}[column.kind])
        parts.append(pa.table(columns))
    return pa.concat_tables(parts, promote_options="default")


def bucket_numbers(rows: pa.Table, buckets: int, salt: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a bucket for each row: any function of the user."""
    users = [name for name in rows.column_names if name.startswith("user_")]
    keys = zip(*(rows[name].to_pylist() for name in users), strict=True)
    return np.array([zlib.crc32(repr((salt, key)).encode()) % buckets for key in keys], np.int64)


def results_of(
    plan: ShardPlan, tables: Sequence[pa.Table], *, buckets: int = 5, salt: int = 0, seed: int = 0, batch: int = 7
) -> list[Bucket]:
    """Return the results of the buckets, in random order, of rows in random order, cut into batches."""
    random = np.random.default_rng(seed)
    rows = all_rows(plan, tables)
    rows = rows.take(pa.array(random.permutation(len(rows))))
    numbers = bucket_numbers(rows, buckets, salt)
    of_buckets = [rows.filter(pa.array(numbers == number)) for number in random.permutation(buckets)]
    results = [result_of_batches(plan, table.to_batches(max_chunksize=batch)) for table in of_buckets]
    return [one for one in results if one is not None]
