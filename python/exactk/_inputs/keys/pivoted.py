"""Pivoted pandas frames: a matrix with users in the index and items in the columns.

Names and types tell such a frame from one in long format, never values. All of its columns are floats, which are never
keys, so none can hold users or items; and none has a usual name of a column in long format, as a column of ids that a
join has turned into floats has.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import arrow_table, number_array
from exactk._inputs.keys import columns
from exactk._inputs.keys.column_roles import name_columns, usual_role
from exactk._inputs.keys.columns import CodedColumn, Column, NumberColumn
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from exactk import _core
    from exactk._inputs.checks import Offsets


def index_columns(index: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - an Index of pandas
    """Return the columns of an index and their names."""
    labels = [
        "user" if index.nlevels == 1 else f"user_{level}" if name is None else str(name)
        for level, name in enumerate(index.names)
    ]
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    return [column_of_series(level, f"{argument}.{name}") for level, name in zip(levels, labels, strict=True)], labels


def column_of_series(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    """Return the values of a Series or Index, which must not have missing values."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return columns.column_of_array(series.to_numpy(), argument)
    if (holes := series.isna()).any():
        found, first = f"{dtype} with {int(holes.sum())} missing", int(np.argmax(holes))
        raise type_error(argument, "a value in every row", found, position=first)
    if hasattr(series, "cat") or hasattr(series, "codes"):
        return _column_of_categorical(series, argument)
    if (arrow := arrow_of_series(series, argument)) is not None:
        return columns.column_of_arrow(arrow, argument)
    if dtype.kind in "iuf" and hasattr(dtype, "numpy_dtype"):  # masked dtypes without missing values
        return NumberColumn(series.to_numpy(dtype=dtype.numpy_dtype, copy=False))
    return columns.column_of_objects(series.tolist(), argument)


def arrow_of_series(series: Any, argument: str) -> _core.ArrowColumn | None:  # noqa: ANN401 - as above
    """Return the underlying Arrow array, or None."""
    if not optional.holds_arrow(series.dtype):
        return None
    return arrow_table(series.array.__arrow_array__(), argument).columns[0][1]


def _column_of_categorical(series: Any, argument: str) -> Column:  # noqa: ANN401 - as above
    categorical = series.cat if hasattr(series, "cat") else series
    codes = np.asarray(categorical.codes)
    return CodedColumn(codes, column_of_series(categorical.categories, argument))


def holds_lists(series: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether the first object is a list; tuples can be keys."""
    return len(series) > 0 and _is_list(series.array[0])


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes, tuple))


def flatten_lists(lists: list[Any], argument: str) -> tuple[Offsets, list[Any]]:
    """Return the offsets and the elements of all lists."""
    for row, items in enumerate(lists):
        if not _is_list(items):
            raise type_error(argument, "a list in every row", type(items).__name__, position=row)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(items) for items in lists], dtype=np.int64)])
    return indptr, list(chain.from_iterable(lists))


class Matrix(NamedTuple):
    """A matrix, with the keys of its rows and columns; None for numbers of rows or columns."""

    values: object
    users: Any = None  # an Index of pandas
    items: Any = None


def is_pivoted(value: object) -> bool:
    """Return whether the value is a pandas frame that can only be a matrix: of floats, under no usual column names."""
    return (
        optional.is_pandas(value)
        and value.columns.nlevels == value.index.nlevels == 1  # type: ignore[attr-defined]
        and not _have_usual_names(value.columns.tolist())  # type: ignore[attr-defined]
        and set(map(_kind, set(value.dtypes))) == {"f"}  # type: ignore[attr-defined]
    )


def has_matrix_columns(names: Iterable[object], kinds: set[str]) -> bool:
    """Return whether columns of these names, and kinds as NumPy has them, can only be those of a matrix."""
    return kinds == {"f"} and not _have_usual_names(names)


def _have_usual_names(names: Iterable[object]) -> bool:
    return any(isinstance(name, str) and usual_role(name) for name in names)


def matrix_of(value: object, argument: str) -> Matrix:
    """Return a pandas frame as a matrix with its index as users and its columns as items; other values as they are.

    An index or columns that pandas numbers by default are no keys.
    """
    if optional.is_lazy(value) or (
        hasattr(value, "__arrow_c_stream__") and hasattr(value, "columns") and not optional.is_pandas(value)
    ):
        hint = "matrix.to_numpy() of the items' columns is one, beside users=users, items=matrix.columns"
        raise type_error(argument, "an array or a pandas data frame", type(value).__name__, hint=hint)
    if not optional.is_pandas(value):
        return Matrix(value)
    frame: Any = value
    if frame.columns.nlevels > 1:
        name = frame.columns[0][0] if len(frame.columns) else "NAME"
        hint = f"{argument}={argument}[{name!r}] has one"
        raise type_error(argument, "one level of columns, the items", f"{frame.columns.nlevels} levels", hint=hint)
    if name_columns(frame.columns):
        columns = ", ".join(map(str, frame.columns))
        hint = "a frame with a row per user and item is passed as it is"
        raise input_error(argument, "users in the index and items in the columns", f"the columns {columns}", hint=hint)
    users, items = (None if optional.is_default_index(axis) else axis for axis in (frame.index, frame.columns))
    return Matrix(_values_of_frame(frame, argument), users, items)


def _values_of_frame(frame: Any, argument: str) -> NDArray[Any]:  # noqa: ANN401 - pandas may not be installed
    dtypes = set(frame.dtypes)
    if not set(map(_kind, dtypes)) <= set("biuf"):
        name, dtype = next(column for column in frame.dtypes.items() if _kind(column[1]) not in "biuf")
        raise type_error(argument, "columns of numbers, one for each item", f"column {name!r} of {dtype}")
    if len(dtypes) <= 1 and all(isinstance(dtype, np.dtype) for dtype in dtypes):
        values: NDArray[Any] = frame.to_numpy()
        return values
    columns = [_exact_floats(frame.iloc[:, column], argument) for column in range(frame.shape[1])]
    return np.column_stack(columns)


def _exact_floats(column: Any, argument: str) -> NDArray[np.float64]:  # noqa: ANN401 - a Series
    """Return the numbers, NaN where they are missing; raise if any would be rounded."""
    present = column.dropna()
    values = np.full(len(column), np.nan)
    values[column.notna().to_numpy()] = number_array(
        present.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", column.dtype)), argument
    )
    return values


def _kind(dtype: Any) -> str:  # noqa: ANN401 - of NumPy or pandas
    """Return the kind as NumPy has it; of what may be missing too."""
    return "O" if not hasattr(dtype, "numpy_dtype") and not isinstance(dtype, np.dtype) else str(dtype.kind)
