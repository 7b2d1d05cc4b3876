"""The partitions of Dask's data frames, which are frames of pandas, as Arrow tables, and back."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._sharded.parts import plain_type

if TYPE_CHECKING:
    import pandas as pd  # noqa: TID251 - for the type checker alone
    from dask.dataframe import DataFrame


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
