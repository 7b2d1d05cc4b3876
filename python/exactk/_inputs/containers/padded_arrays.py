"""Two-dimensional NumPy arrays: ids padded with -1, and multi-hot truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import as_ndarray, describe_dtype
from exactk._inputs.containers.sequences import is_row
from exactk._inputs.model.rows import Rows, graded_rows, padded_rows
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rows_of_array(value: object, argument: str) -> Rows:
    """Return the rows of a matrix of ids, or the columns that are True in each row of a bool matrix."""
    array = as_ndarray(value, argument)
    if array.ndim != 2:
        expected = "a two-dimensional array of ids padded with -1 (or exactk.Truth and exactk.Rankings for CSR arrays)"
        hint = _vector_hint(array, argument) if array.ndim == 1 else ""
        raise type_error(argument, expected, f"shape {array.shape}", hint=hint)
    if array.dtype.kind == "b":
        if argument == "predictions":  # a row of flags has no order
            hint = "pass the model's scores, or ids in the order of the scores"
            raise type_error(argument, "ids, best first", "a multi-hot bool array", hint=hint)
        return graded_rows(array, argument)
    if array.dtype.kind in "OUST" and array.size:
        hint = f"{argument}={argument}.tolist() reads rows of keys"
        if array.shape[1] == 2:
            hint += f", {argument}=pd.DataFrame({argument}, columns=['user', 'item']) pairs of users and items"
        raise type_error(argument, "integer ids", describe_dtype(array), hint=hint)
    if array.dtype.kind == "f" and argument == "truth":
        hint = "truth=exactk.Truth.from_dense(truth) if they are grades"
        raise type_error(argument, "integer ids", describe_dtype(array), hint=hint)
    return padded_rows(array, argument)


def repeat_hint(value: object, argument: str, item: object) -> str:
    """Return how to write a matrix in which an item repeats that may be no id: a flag, a score or the padding."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.kind not in "iu":
        return ""
    if argument == "truth" and item in {0, 1} and ((value == 0) | (value == 1)).all():
        return "truth=truth.astype(bool) if it is a multi-hot matrix"
    ids = f"{argument}.astype(int)" if value.dtype.kind == "u" else argument
    padding = f"{argument}=np.where({argument} == 0, -1, {ids}) if 0 is padding"
    scores = f"{argument}=exactk.Scores({argument}) if these are scores of all items"
    return ", ".join([padding] * (item == 0) + [scores] * (argument == "predictions"))


def _vector_hint(array: NDArray[Any], argument: str) -> str:
    """Return how to write a single sequence of items or numbers as one row per user."""
    if argument == "exclude" and array.dtype.kind in "biu":
        return "exclude=np.tile(exclude, (len(truth), 1)) excludes the same items for each user"
    if array.dtype.kind in "bf":
        return f"{argument}={argument}[None] gives the {'flags' if array.dtype.kind == 'b' else 'numbers'} to one user"
    if array.dtype.kind == "O" and array.size and is_row(array[0]):
        return f"{argument}={argument}.tolist() reads one row per user"
    if array.dtype.kind not in "iu":
        return ""
    return f"{argument}={argument}[:, None] gives each user one item, {argument}={argument}[None] gives all items to one user"
