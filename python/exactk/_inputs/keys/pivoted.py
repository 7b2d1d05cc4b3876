"""Pivoted pandas frames: a matrix with users in the index and items in the columns.

Names and types tell such a frame from one in long format, never values. All of its columns are floats, which are never
keys, so none can hold users or items; and none has a usual name of a column in long format, as a column of ids that a
join has turned into floats has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import number_array
from exactk._inputs.keys.column_roles import name_columns, usual_role
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


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
        and has_matrix_columns(value.columns.tolist(), set(map(_kind, set(value.dtypes))))  # type: ignore[attr-defined]
    )


def has_matrix_columns(names: Iterable[object], kinds: set[str]) -> bool:
    """Return whether columns of these names, and kinds as NumPy has them, can only be those of a matrix."""
    return kinds == {"f"} and not any(isinstance(name, str) and usual_role(name) for name in names)


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
