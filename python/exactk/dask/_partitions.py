"""The data frames of an evaluation: the rows of all inputs, in one partition per bucket of users, and the results."""

from __future__ import annotations

import uuid
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._sharded.buckets import Bucket, add_results
from exactk._sharded.engines import Buckets, check_num_buckets
from exactk._sharded.parts import parts_of_table, parts_schema, plain_type, tables_of_parts
from exactk._sharded.worker import result_of_tables, user_value_schema, values_of_tables
from exactk._sharded.worker_python import WorkerPython, check_worker, describe_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd  # noqa: TID251 - for the type checker alone
    from dask.dataframe import DataFrame

    from exactk._sharded.engines import Planner
    from exactk._sharded.shard_plan import Inputs, ShardPlan


def arrow_schema(frame: DataFrame, argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema of a frame of Dask; null for columns whose type only values show."""
    pa = optional.arrow("exactk.dask")
    meta = frame._meta  # noqa: SLF001 - where Dask keeps its types
    if not meta.columns.is_unique:
        repeated = sorted({str(name) for name in meta.columns[meta.columns.duplicated()]})
        raise input_error(argument, "columns of different names", f"several columns {', '.join(repeated)}")
    types = [pa.null() if _is_unknown(frame[name]) else _type(meta[name]) for name in meta.columns]
    return pa.schema(list(zip(map(str, meta.columns), types, strict=True)))


def _is_unknown(column: Any) -> bool:  # noqa: ANN401 - a column of Dask
    """Return whether a column has Python objects, or categories that Dask has not read yet."""
    dtype = column.dtype
    if isinstance(dtype, optional.pandas("exactk.dask").CategoricalDtype):
        if not attrgetter("cat.known")(column):
            return True
        dtype = dtype.categories.dtype
    return bool(dtype.kind == "O" and not optional.pandas("exactk.dask").api.types.is_extension_array_dtype(dtype))


def schema_to_bytes(partition: pd.DataFrame) -> bytes:
    """Return the Arrow schema of the values of a partition, for the driver; null for values of several types."""
    types = [(name, _type(partition[name])) for name in partition.columns]
    return bytes(optional.arrow("exactk.dask").schema(types).serialize())


def schema_from_bytes(schema: bytes) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the schema of `schema_to_bytes`."""
    pa = optional.arrow("exactk.dask")
    return pa.ipc.read_schema(pa.py_buffer(schema))


def _type(column: pd.Series[Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    try:
        dtype = plain_type(_array(column).type)
    except (optional.arrow("exactk.dask").ArrowException, OverflowError):
        return optional.arrow("exactk.dask").null()
    return dtype if _has_values(dtype) else optional.arrow("exactk.dask").null()


def _has_values(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether a type is not that of lists which are all empty."""
    types = optional.arrow("exactk.dask").types
    while types.is_list(dtype):
        dtype = dtype.value_type
    return not types.is_null(dtype)


def _array(column: pd.Series[Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the column as an Arrow array, with NaN as it is where it is a number."""
    return optional.arrow("exactk.dask").array(column, from_pandas=column.dtype.kind != "f")


def table_of_rows(partition: pd.DataFrame, argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the columns of an argument's partition as an Arrow table.

    Raises
    ------
    InputTypeError
        If the values of a column are of several types.
    """
    pa = optional.arrow("exactk.dask")
    arrays = {}
    for name in partition.columns:
        try:
            arrays[name] = _array(partition[name])
        except (pa.ArrowException, OverflowError) as error:  # the latter for Python integers beyond 64 bits
            hint = "cast the column to one type"
            raise type_error(f"{argument}.{name}", "values of one type", str(error), hint=hint) from None
    return pa.table(arrays)


def table_of_pandas(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the columns of a frame that `pandas_of_table` returned."""
    return optional.arrow("exactk.dask").table({name: _array(frame[name]) for name in frame.columns})


def pandas_of_table(table: Any) -> pd.DataFrame:  # noqa: ANN401 - pyarrow has no types
    """Return the table as a frame of pandas: numbers of NumPy's types, and others of Arrow's, which move without copies."""
    pandas, pa = optional.pandas("exactk.dask"), optional.arrow("exactk.dask")
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        columns[name] = column.to_numpy() if is_number else pandas.array(column, dtype=pandas.ArrowDtype(column.type))
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


class _Parts(NamedTuple):
    """The rows of all inputs, with each bucket in a partition of its own."""

    task: Any  # the plan as a task, which a cluster sends to each worker once
    frame: DataFrame


def planned_buckets(inputs: Inputs, plan: Planner, num_buckets: int | None) -> Buckets:
    """Return the rows of all inputs; raise what the types of the columns and the workers show."""
    optional.dask_dataframe()  # raises where dask is missing
    shard_plan = plan(inputs.schemas(_schema_of_frame))
    frames = inputs.of_sides(shard_plan.sides)
    if num_buckets is None:
        num_buckets = sum(frame.npartitions for frame in frames)
    check_num_buckets(num_buckets)
    _check_workers()
    task = optional.dask_delayed()(shard_plan, name=f"exactk-plan-{uuid.uuid4().hex}", traverse=False)
    return Buckets(shard_plan, _Parts(task, _in_buckets(shard_plan, task, frames, num_buckets)), num_buckets)


def column_names(frame: Any, argument: str) -> list[str]:  # noqa: ANN401 - whatever a caller gives
    """Return the names of a frame's columns; raise InputTypeError for anything else."""
    if not isinstance(frame, optional.dask_dataframe().DataFrame):
        raise type_error(argument, "a data frame of Dask", f"{type(frame).__module__}.{type(frame).__qualname__}")
    return list(frame.columns)


def _schema_of_frame(frame: Any, argument: str) -> Any:  # noqa: ANN401 - likewise; pyarrow has no types
    """Return the Arrow schema; for columns of Python objects, that of the first partition with values."""
    column_names(frame, argument)
    pa = optional.arrow("exactk.dask")
    schema = arrow_schema(frame, argument)
    unknown = [field.name for field in schema if pa.types.is_null(field.type)]
    for partition in frame[unknown].to_delayed() if unknown else ():
        found = schema_from_bytes(optional.dask_delayed()(schema_to_bytes)(partition).compute())
        for field in found:
            if not pa.types.is_null(field.type):
                schema = schema.set(schema.get_field_index(field.name), field)
                unknown.remove(field.name)
        if not unknown:
            break
    return schema


def _in_buckets(shard_plan: ShardPlan, task: Any, frames: Sequence[DataFrame], num_buckets: int) -> DataFrame:  # noqa: ANN401 - a task of Dask
    """Return the parts of all rows, with each bucket in the partition of its number."""
    parts = [
        frame[list(dict.fromkeys(column.source for column in side.columns))].map_partitions(
            _parts_of_partition, task, number, num_buckets, meta=_meta(parts_schema()), clear_divisions=True
        )
        for number, (side, frame) in enumerate(zip(shard_plan.sides, frames, strict=True))
    ]
    return optional.dask_dataframe().concat(parts).set_index("bucket", divisions=list(range(num_buckets + 1)))


def _parts_of_partition(partition: pd.DataFrame, shard_plan: ShardPlan, number: int, num_buckets: int) -> pd.DataFrame:
    table = table_of_rows(partition, shard_plan.sides[number].argument)
    return pandas_of_table(parts_of_table(shard_plan, number, table, num_buckets))


def _meta(schema: Any) -> pd.DataFrame:  # noqa: ANN401 - pyarrow has no types
    """Return a frame without rows, by which Dask knows the columns."""
    return pandas_of_table(schema.empty_table())


def state_schema() -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema of the states of buckets."""
    pa = optional.arrow("exactk.dask")
    return pa.schema([("bucket", pa.int64()), *Bucket.schema()])


def state_frame(buckets: Buckets) -> DataFrame:
    """Return the state of each bucket."""
    meta = _meta(state_schema())
    return _of_buckets(buckets, _state_of_partition, meta)


def _of_buckets(buckets: Buckets, function: Any, meta: pd.DataFrame) -> DataFrame:  # noqa: ANN401 - of a partition and the plan
    parts: _Parts = buckets.rows
    return parts.frame.map_partitions(function, parts.task, meta=meta, clear_divisions=True)


def _state_of_partition(partition: pd.DataFrame, shard_plan: ShardPlan) -> pd.DataFrame:
    pa = optional.arrow("exactk.dask")
    result = result_of_tables(shard_plan, *tables_of_parts(shard_plan, table_of_pandas(partition)))
    if result is None:
        return _meta(state_schema())
    batch = result.to_batch()
    return pandas_of_table(pa.table([pa.array(partition.index[:1]), *batch.columns], schema=state_schema()))


def user_frame(buckets: Buckets) -> DataFrame:
    """Return the values of the users of each bucket."""
    meta = _meta(user_value_schema(buckets.shard_plan))
    return _of_buckets(buckets, _values_of_partition, meta)


def _values_of_partition(partition: pd.DataFrame, shard_plan: ShardPlan) -> pd.DataFrame:
    tables, rows = tables_of_parts(shard_plan, table_of_pandas(partition))
    if not rows:
        return _meta(user_value_schema(shard_plan))
    return pandas_of_table(values_of_tables(shard_plan, tables, rows))


def collect(states: DataFrame, tasks: int | None) -> list[Bucket]:  # noqa: ARG001 - Dask has its own number
    """Return the sum of the states, which tasks add in a tree, and each error."""
    sums = states[list(Bucket._fields)].reduction(_added, meta=_meta(Bucket.schema()))
    return [Bucket(**row) for row in table_of_pandas(sums.compute()).to_pylist()]


def _added(states: pd.DataFrame) -> pd.DataFrame:
    pa = optional.arrow("exactk.dask")
    return pandas_of_table(pa.Table.from_batches(add_results([table_of_pandas(states)]), schema=Bucket.schema()))


def _check_workers() -> None:
    """Raise ImportError unless the Python of a worker has this version of exactk."""
    hint = "install it there, such as by the plugin PipInstall of dask.distributed"
    check_worker(WorkerPython(*optional.dask_delayed()(describe_worker(), pure=False)().compute()), hint)
