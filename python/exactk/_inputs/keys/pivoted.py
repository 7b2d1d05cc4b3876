"""Pivoted pandas frames: a matrix with users in the index and items in the columns.

Names and types tell such a frame from one in long format, never values. All of its columns are floats, which are never
keys, so none can hold users or items; and none has a usual name of a column in long format, as a column of ids that a
join has turned into floats has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import number_array
from exactk._inputs.keys.column_roles import name_columns, usual_role
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        and not _have_usual_names(value.columns.tolist())  # type: ignore[attr-defined]
        and set(map(_kind, set(value.dtypes))) == {"f"}  # type: ignore[attr-defined]
    )


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


_MATRIX_CALLS = {
    "truth": "exactk.Truth.from_dense",
    "predictions": "exactk.Scores",
    "scores": "exactk.Scores",
}
"""What takes a matrix with users and items."""


def hint_of_frame(frame: Any, argument: str) -> str:  # noqa: ANN401 - of pandas
    """Return how to convert a pandas frame that is most likely a matrix, as no column can be keys; empty for others."""
    call, kinds = _MATRIX_CALLS.get(argument, ""), [getattr(dtype, "kind", "") for dtype in frame.dtypes]
    if call and (user := _user_beside_items(frame.columns, kinds)) is not None:
        return f"{argument}={call}({argument}.set_index({user!r})) reads the other column names as items"
    if frame.columns.empty or not set(kinds) <= set("biuf") or _have_usual_names(frame.columns):
        return ""
    if frame.index.nlevels > 1 and (len(kinds) == 1 or not call):  # values by user and item
        return ""
    if not optional.is_default_index(frame.index):
        return _keyed_matrix_hint(argument, set(kinds))
    is_numbered = optional.is_default_index(frame.columns) and "b" not in kinds
    return f"{argument}={argument}.to_numpy() reads it as a matrix" if is_numbered else ""


def hint_of_types(types: Mapping[str, str], argument: str, frame: str, *, may_have_users: bool = True) -> str:
    """Return the same of a frame of Polars, which is what the code `frame` returns, by the types of its columns."""
    if types and all(dtype.startswith("float") for dtype in types.values()):
        return f"{argument}={frame}.to_numpy() reads it as a matrix"
    user = _user_beside_items(types, [dtype[:1] for dtype in types.values()])
    if user is None or argument not in _MATRIX_CALLS or not may_have_users:
        return ""
    keys = f"users={frame}[{user!r}], items={frame}.drop({user!r}).columns"
    call = _MATRIX_CALLS[argument]
    return f"{argument}={call}({frame}.drop({user!r}).to_numpy(), {keys}) reads the other column names as items"


def _keyed_matrix_hint(argument: str, kinds: set[str]) -> str:
    """Return how to convert a pandas frame with users in its index and items in its columns."""
    if kinds == {"b"} and argument not in {"predictions", "scores"}:
        return f"{argument}=exactk.Truth.from_dense({argument}) reads its index as users and its columns as items"
    if "b" in kinds:
        return ""
    if argument in _MATRIX_CALLS:
        return f"{argument}={_MATRIX_CALLS[argument]}({argument}) reads its index as users and its columns as items"
    return f"{argument}=exactk.Truth.from_dense({argument} > 0) has the items of each user above 0"


def _user_beside_items(names: Iterable[object], kinds: Iterable[str]) -> str | None:
    """Return the only column whose name says that it holds users, if the others can only be those of a matrix."""
    by_name = list(zip(names, kinds, strict=True))
    users = [name for name, _ in by_name if isinstance(name, str) and usual_role(name) == "user"]
    others = [(name, kind) for name, kind in by_name if name not in users]
    are_floats = {kind for _, kind in others} == {"f"}
    return users[0] if len(users) == 1 and are_floats and not _have_usual_names(name for name, _ in others) else None
