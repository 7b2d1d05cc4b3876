"""Two-dimensional NumPy arrays: ids padded with -1, and multi-hot truth."""

from __future__ import annotations

import numpy as np

from exactk._inputs.checks import as_ndarray, describe_dtype
from exactk._inputs.model.lists import Rows, graded_rows, padded_rows
from exactk._runtime.errors import type_error


def is_array(value: object) -> bool:
    """Return whether the value is a NumPy array."""
    return isinstance(value, np.ndarray)


def rows_of_array(value: object, argument: str) -> Rows:
    """Return the rows of a matrix of ids, or the columns that are True in each row of a bool matrix."""
    array = as_ndarray(value, argument)
    if array.ndim != 2:
        expected = "a two-dimensional array of ids padded with -1 (or exactk.Truth and exactk.Rankings for CSR arrays)"
        raise type_error(argument, expected, f"shape {array.shape}")
    if array.dtype.kind == "b":
        if argument == "predictions":  # a row of flags has no order
            raise type_error(argument, "ids, best first", "a multi-hot bool array")
        return graded_rows(array, argument)
    if array.dtype.kind == "f" and argument == "truth":
        hint = "truth=exactk.Truth.from_dense(truth) if they are grades"
        raise type_error(argument, "integer ids", describe_dtype(array), hint=hint)
    return padded_rows(array, argument)
