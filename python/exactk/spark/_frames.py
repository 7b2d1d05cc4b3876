"""The data frames of an evaluation: the rows of all inputs, hashed into buckets of users, and the results of the buckets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from exactk._runtime import optional
from exactk._runtime.errors import type_error
from exactk._sharded.buckets import Bucket, add_results
from exactk._sharded.engines import Buckets, check_num_buckets
from exactk._sharded.sides import SIDE
from exactk._sharded.worker import evaluate_bucket, evaluate_users, user_value_columns
from exactk._sharded.worker_python import WorkerPython, check_worker, describe_worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from exactk._sharded.engines import Planner
    from exactk._sharded.shard_plan import Inputs
    from exactk._sharded.sides import Side


_ARROW_TYPES = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "boolean": "bool_",
    "date": "date32",
    "binary": "binary",
}
_TEXT = re.compile(r"(string|(var)?char)\b.*")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")


def arrow_schema(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema for ``StructType.jsonValue()``."""
    pa = optional.arrow("exactk.spark")
    return pa.schema([(field["name"], _arrow_type(field["type"])) for field in schema["fields"]])


def _arrow_type(dtype: Any) -> Any:  # noqa: ANN401 - JSON; pyarrow has no types
    """Return the type; null for those that can be neither keys nor numbers."""
    pa = optional.arrow("exactk.spark")
    if isinstance(dtype, Mapping):
        return _nested_type(dtype)
    if decimal := _DECIMAL.fullmatch(dtype):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    name = "string" if _TEXT.fullmatch(dtype) else _ARROW_TYPES.get(dtype, "null")
    return pa.timestamp("us") if dtype.startswith("timestamp") else getattr(pa, name)()


def _nested_type(dtype: Mapping[str, Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("exactk.spark")
    if dtype["type"] == "array":
        return pa.list_(_arrow_type(dtype["elementType"]))
    if dtype["type"] == "struct":
        return pa.struct([(field["name"], _arrow_type(field["type"])) for field in dtype["fields"]])
    return pa.null()


SQL_TYPES = {"int": "bigint", "str": "string"}
"""What keys are cast to, by kind."""
_RESULT = "state binary, facts string, error string"


def planned_buckets(inputs: Inputs, plan: Planner, num_buckets: int | None) -> Buckets:
    """Return the rows of all inputs; raise what the types of the columns and the workers show."""
    optional.spark_functions()  # raises where pyspark is missing
    shard_plan = plan(inputs.schemas(_schema_of_frame))
    session = inputs.truth.sparkSession
    if num_buckets is None:
        partitions = str(session.conf.get("spark.sql.shuffle.partitions"))
        num_buckets = int(partitions) if partitions.isdigit() else _DEFAULT_BUCKETS
    check_num_buckets(num_buckets)
    _check_workers(session)
    rows = _union(shard_plan.sides, inputs.of_sides(shard_plan.sides))
    users = [column.name for column in shard_plan.sides[0].users]
    # By Spark's own hash: another one would take all rows through Python once more, before they are shuffled.
    return Buckets(shard_plan, rows.repartition(num_buckets, *users), num_buckets)


_DEFAULT_BUCKETS = 200  # Spark's own default, where it is "auto"


def _schema_of_frame(frame: Any, argument: str) -> Any:  # noqa: ANN401 - a frame of Spark; pyarrow has no types
    column_names(frame, argument)
    return arrow_schema(frame.schema.jsonValue())


def column_names(frame: Any, argument: str) -> list[str]:  # noqa: ANN401 - a frame of Spark, or of Spark Connect
    """Return the names of a frame's columns; raise InputTypeError for anything else."""
    kind = type(frame)  # a column of Spark has any attribute
    if not all(hasattr(kind, name) for name in ("mapInArrow", "sparkSession", "schema")):
        found = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise type_error(argument, "a data frame of Spark 3.4 or newer", found.removeprefix("builtins."))
    return list(frame.columns)


def _union(sides: Sequence[Side], frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all sides, with NULL or an empty array in the columns of others.

    Spark writes Arrow batches with NULL arrays in a time that grows with the square of their rows.
    """
    functions = optional.spark_functions()
    types: dict[str, Any] = {}
    for side, frame in zip(sides, frames, strict=True):
        for column, position in zip(side.columns, _positions(side), strict=True):
            types[column.name] = SQL_TYPES[column.kind] if column.kind else frame.schema[position].dataType

    def columns_of(number: int, side: Side) -> list[Column]:
        of_side = functions.lit(number).cast("tinyint").alias(SIDE)
        positions = zip(side.columns, _positions(side), strict=True)
        values = {column.name: functions.col(_name_of(position)) for column, position in positions}
        absent = {name: functions.array() if _is_array(dtype) else functions.lit(None) for name, dtype in types.items()}
        return [of_side, *((absent | values)[name].cast(dtype).alias(name) for name, dtype in types.items())]

    # By position, as names may differ in case alone, which Spark cannot tell apart.
    numbered = [frame.toDF(*map(_name_of, range(len(frame.columns)))) for frame in frames]
    first, *rest = [
        frame.select(*columns_of(number, side))
        for number, (side, frame) in enumerate(zip(sides, numbered, strict=True))
    ]
    for one in rest:
        first = first.union(one)
    return first


def _is_array(dtype: Any) -> bool:  # noqa: ANN401 - its name, or Spark's own object
    return not isinstance(dtype, str) and dtype.typeName() == "array"


def _positions(side: Side) -> list[int]:
    """Return the position of each column that is read."""
    return [side.schema.names.index(column.source) for column in side.columns]


def _name_of(position: int) -> str:
    return f"column_{position}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def state_frame(buckets: Buckets) -> DataFrame:
    """Return the state of each bucket, with its number."""
    states: DataFrame = buckets.rows.mapInArrow(partial(evaluate_bucket, buckets.shard_plan), _RESULT)
    return states.select(optional.spark_functions().spark_partition_id().alias("bucket"), "*")


def user_frame(buckets: Buckets) -> DataFrame:
    """Return the values of the users of each bucket."""
    users, names = user_value_columns(buckets.shard_plan)
    columns = [f"{_quoted(one.source)} {SQL_TYPES[one.kind]}" for one in users]
    columns += [f"{_quoted(name)} double" for name in names]
    values: DataFrame = buckets.rows.mapInArrow(partial(evaluate_users, buckets.shard_plan), ", ".join(columns))
    return values


def collect(states: DataFrame, tasks: int | None) -> list[Bucket]:
    """Return the states as they are, or their sums, which tasks add, first of each partition, then of all, and each error."""
    states = states.select(*Bucket._fields)
    if tasks:
        states = states.repartition(tasks)
    if tasks != 0:
        states = states.mapInArrow(add_results, _RESULT).repartition(1).mapInArrow(add_results, _RESULT)
    return [Bucket(None if row.state is None else bytes(row.state), row.facts, row.error) for row in states.collect()]


def _check_workers(session: SparkSession) -> None:
    """Raise ImportError unless the Python of a worker has this version of exactk."""
    describe = describe_worker()

    def probe(batches: Iterable[Any]) -> Iterator[Any]:
        import importlib

        pyarrow = importlib.import_module("pyarrow")
        for _ in batches:
            one_row = [pyarrow.array([one]) for one in describe()]
            yield pyarrow.RecordBatch.from_arrays(one_row, ["found", "python", "host"])

    try:
        (row,) = session.range(1).coalesce(1).mapInArrow(probe, "found string, python string, host string").collect()
    except Exception as error:
        error.add_note("exactk.spark ran a job of one row to check the workers' Python; PYSPARK_PYTHON names it")
        raise
    hint = "install it there, or set the environment variable PYSPARK_PYTHON to a Python that has it"
    check_worker(WorkerPython(row.found, row.python, row.host), hint)
