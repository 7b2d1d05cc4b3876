"""The worker: the rows of a bucket of users in, its state out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.findings import NO_EXAMPLES
from exactk._engine.fold import evaluate_systems
from exactk._inputs.model.rows import TruthColumns
from exactk._plan.conventions import with_complete_hint
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, InUnits, input_error, without_warnings
from exactk._sharded.buckets import Bucket, error_to_json
from exactk._sharded.sides import tables_of_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exactk._engine.chunks import Part
    from exactk._engine.request import Request
    from exactk._sharded.shard_plan import ShardPlan
    from exactk._sharded.sides import Column


def evaluate_bucket(shard_plan: ShardPlan, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the result of the rows as one Arrow batch; nothing for no rows.

    The result is a function of the rows, in any order, so that a bucket may be evaluated again.
    """
    bucket = result_of_batches(shard_plan, batches)
    if bucket is not None:
        yield bucket.to_batch()


def result_of_batches(shard_plan: ShardPlan, batches: Iterable[Any]) -> Bucket | None:
    """Return the result of the rows; None for no rows."""
    return result_of_tables(shard_plan, *tables_of_batches(shard_plan.sides, batches))


def result_of_tables(shard_plan: ShardPlan, tables: Sequence[Any], rows: int) -> Bucket | None:
    """Return the result of the rows, with a table per side; None for no rows."""
    if not rows:
        return None
    try:
        return Bucket.of_part(evaluate_tables(shard_plan, tables, rows), shard_plan.comparison)
    except ExactkError as error:
        return Bucket(None, None, error_to_json(without_row(error)))


def result_of_no_rows(shard_plan: ShardPlan) -> Bucket:
    """Return the result of an evaluation in which no bucket has a row."""
    tables = [side.schema.empty_table() for side in shard_plan.sides]
    return Bucket.of_part(evaluate_tables(shard_plan, tables, 0), shard_plan.comparison)


def evaluate_tables(shard_plan: ShardPlan, tables: Sequence[Any], rows: int, *, per_user: bool = False) -> Part:
    """Return the part of a table per side; the caller warns."""
    with without_warnings(), InUnits(shard_plan.unit_names):
        request = shard_plan.request(tables, per_user=per_user)
        _check_repeated_truth(request)
        try:
            part = evaluate_systems(request, finds_odd_items=False).part
        except ExactkError as error:
            raise with_complete_hint(error, shard_plan.convention, request.values) from error.__cause__
    # The plan has warned of columns, and has names for what the engine's frames are.
    return part._replace(findings=part.findings._replace(columns=TruthColumns(), pairs=NO_EXAMPLES, rows=rows))


def _check_repeated_truth(request: Request) -> None:
    """Raise InputError if a repeated item of the truth has several grades, of which the first in the order of rows counts."""
    truth, values = request.given.truth.value, request.values
    if (
        request.truth_rows is None
        or request.truth_rows.grades is None
        or all(value.rules["duplicate_truth"] == "raise" for value in values)
    ):
        return
    columns = request.truth_rows.columns
    if columns.grade is None or truth.column(columns.grade).type.num_fields:
        return
    keys = [name for name in columns.used if name != columns.grade]
    grades = truth.group_by(keys).aggregate([(columns.grade, "count_distinct")])
    compute = optional.arrow_module("compute", "a table")
    repeated = grades.filter(compute.greater(grades[f"{columns.grade}_count_distinct"], 1))
    if repeated.num_rows:
        first = ", ".join(
            f"{name} {value!r}" for name, value in repeated.select(keys).slice(0, 1).to_pylist()[0].items()
        )
        found = f"several grades for {first}"
        raise input_error(
            "truth", "one grade for each user and item, as rows have no order", found, count=repeated.num_rows
        )


def without_row(error: ExactkError) -> ExactkError:
    """Return the error without its row, which means nothing outside the bucket."""
    return error.amended(row=None, position=None, location="")


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
