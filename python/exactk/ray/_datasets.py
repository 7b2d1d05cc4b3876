"""The datasets of an evaluation: the rows of all inputs, grouped by bucket of users, and the results of the buckets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, type_error
from exactk._sharded.buckets import Bucket, add_results, error_from_json, error_to_json
from exactk._sharded.engines import Buckets, check_num_buckets
from exactk._sharded.parts import parts_of_table, parts_schema, plain_type, tables_of_parts
from exactk._sharded.worker import result_of_tables, user_value_schema, values_of_tables
from exactk._sharded.worker_python import WorkerPython, check_worker, describe_worker

if TYPE_CHECKING:
    from ray.data import Dataset

    from exactk._sharded.engines import Planner
    from exactk._sharded.shard_plan import Inputs, ShardPlan


def planned_buckets(inputs: Inputs, plan: Planner, num_buckets: int | None) -> Buckets:
    """Return the rows of all inputs; raise what the types of the columns and the workers show."""
    ray = optional.ray()
    shard_plan = plan(inputs.schemas(_schema_of_dataset))
    if num_buckets is None:
        num_buckets = ray.data.DataContext.get_current().default_hash_shuffle_parallelism
    check_num_buckets(num_buckets)
    _check_workers()
    parts = [
        dataset.map_batches(
            _parts_of_block, batch_format="pyarrow", batch_size=None, fn_args=(shard_plan, number, num_buckets)
        )
        for number, dataset in enumerate(inputs.of_sides(shard_plan.sides))
    ]
    united = ray.data.from_arrow(_note("")).union(*parts)
    # A step of its own joins blocks without rows to others: Ray's shuffle takes no task that has only such blocks.
    united = united.map_batches(_same_parts, batch_format="pyarrow", batch_size=None)
    return Buckets(shard_plan, united, num_buckets)


def column_names(dataset: Any, argument: str) -> list[str]:  # noqa: ANN401 - whatever a caller gives
    """Return the names of a dataset's columns; raise InputTypeError for anything else."""
    _check_dataset(dataset, argument)
    return list(dataset.columns() or [])


def _check_dataset(dataset: Any, argument: str) -> None:  # noqa: ANN401 - likewise
    if not isinstance(dataset, optional.ray().data.Dataset):
        found = f"{type(dataset).__module__}.{type(dataset).__qualname__}"
        raise type_error(argument, "a dataset of Ray", found)


def _schema_of_dataset(dataset: Any, argument: str) -> Any:  # noqa: ANN401 - likewise; pyarrow has no types
    """Return the Arrow schema; of blocks of pandas, that of the first block as a table."""
    _check_dataset(dataset, argument)
    pa = optional.arrow("exactk.ray")
    schema = dataset.schema()
    if schema is not None and not isinstance(schema.base_schema, pa.Schema):
        schema = dataset.map_batches(_plain_table, batch_format="pyarrow", batch_size=None).schema()
    if schema is None:
        raise type_error(argument, "a dataset with columns", "none")
    return pa.schema([(field.name, _plain_type(field.type)) for field in schema.base_schema])


def _plain_type(dtype: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the type of a column, with lists for Ray's tensors of one dimension; null for other types of Ray's own."""
    pa = optional.arrow("exactk.ray")
    if not isinstance(dtype, pa.BaseExtensionType):
        return plain_type(dtype)
    if len(getattr(dtype, "shape", ())) != 1:
        return pa.null()
    storage = dtype.storage_type  # of lists of any length, structs of values and shapes
    return storage.field("data").type if pa.types.is_struct(storage) else storage


def _plain_table(block: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the table with lists for Ray's tensors."""
    pa = optional.arrow("exactk.ray")
    return pa.table(list(map(_plain_column, block.columns)), names=block.column_names)


def _plain_column(column: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("exactk.ray")
    dtype = _plain_type(column.type)
    if not isinstance(column.type, pa.BaseExtensionType) or pa.types.is_null(dtype):
        return column
    chunks = [chunk.storage for chunk in column.chunks]
    return pa.chunked_array([one.field("data") if pa.types.is_struct(one.type) else one for one in chunks], dtype)


_ERROR = -1  # the number in place of a side's


def _note(text: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a part of the first bucket with an error: Ray would lose its type, and without any row the columns."""
    return optional.arrow("exactk.ray").table([[0], [_ERROR], [text.encode()]], schema=parts_schema())


def _parts_of_block(block: Any, shard_plan: ShardPlan, number: int, num_buckets: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the parts of the rows of a block, or one with the error."""
    if not block.num_columns:  # an empty block may have none
        return parts_schema().empty_table()
    read = list(dict.fromkeys(column.source for column in shard_plan.sides[number].columns))
    try:
        return parts_of_table(shard_plan, number, _plain_table(block.select(read)), num_buckets)
    except ExactkError as error:
        return _note(error_to_json(error))


def _same_parts(parts: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    return parts


def _result_of_parts(parts: Any, shard_plan: ShardPlan) -> tuple[list[Any], int, str]:  # noqa: ANN401 - pyarrow has no types
    """Return a table per side, the number of rows, and an error, if a block has one."""
    compute = optional.arrow_module("compute", "exactk.ray")
    is_error = compute.equal(parts["side"], _ERROR)
    errors = [one.decode() for one in parts["rows"].filter(is_error).to_pylist()]
    tables, rows = tables_of_parts(shard_plan, parts.filter(compute.invert(is_error)))
    return tables, rows, max(errors, default="")


def state_frame(buckets: Buckets) -> Dataset:
    """Return the state of each bucket."""
    return _of_buckets(buckets, _state_of_parts)


def _of_buckets(buckets: Buckets, function: Any) -> Dataset:  # noqa: ANN401 - of the parts of a bucket and the plan
    """Return what the function makes of each bucket, whose parts Ray passes in one call."""
    grouped = buckets.rows.groupby("bucket", num_partitions=buckets.num_buckets)
    made: Dataset = grouped.map_groups(function, batch_format="pyarrow", fn_args=(buckets.shard_plan,))
    return made


def _state_of_parts(parts: Any, shard_plan: ShardPlan) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("exactk.ray")
    tables, rows, error = _result_of_parts(parts, shard_plan)
    result = Bucket(None, None, error) if error else result_of_tables(shard_plan, tables, rows)
    schema = pa.schema([("bucket", pa.int64()), *Bucket.schema()])
    if result is None:
        return schema.empty_table()
    return pa.table([parts["bucket"].slice(0, 1), *result.to_batch().columns], schema=schema)


def user_frame(buckets: Buckets) -> Dataset:
    """Return the values of the users of each bucket."""
    return _of_buckets(buckets, _values_of_parts)


def _values_of_parts(parts: Any, shard_plan: ShardPlan) -> Any:  # noqa: ANN401 - pyarrow has no types
    tables, rows, error = _result_of_parts(parts, shard_plan)
    if error:
        raise error_from_json(error, "(in a block of the dataset)")
    return values_of_tables(shard_plan, tables, rows) if rows else user_value_schema(shard_plan).empty_table()


def collect(states: Dataset, tasks: int | None) -> list[Bucket]:
    """Return the states as they are, or their sum, which tasks add, first some of them and then all, and each error."""
    if tasks != 0:
        states = states.materialize()
        for count in (tasks or math.isqrt(states.num_blocks()), 1):
            states = states.repartition(max(count, 1)).map_batches(_added, batch_format="pyarrow", batch_size=None)
    return [Bucket(*(row[name] for name in Bucket._fields)) for row in states.take_all()]


def _added(states: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("exactk.ray")
    if not states.num_columns:
        return Bucket.schema().empty_table()
    return pa.Table.from_batches(add_results([states.select(list(Bucket._fields))]), schema=Bucket.schema())


def _check_workers() -> None:
    """Raise ImportError unless the Python of a worker has this version of exactk."""
    ray = optional.ray()
    hint = "install it there, such as by Ray's runtime environment: {'pip': ['exactk']}"
    check_worker(WorkerPython(*ray.get(ray.remote(describe_worker()).remote())), hint)
