"""Two-dimensional NumPy arrays: ids padded with -1, and multi-hot truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk import _core
from exactk._inputs.checks import as_ndarray, id_array
from exactk._inputs.model.lists import Rows
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from exactk._inputs.checks import Ids, Offsets


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
        return _rows_of_multi_hot(array, argument)
    return _rows_of_padded(array, argument)


def _rows_of_multi_hot(array: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], argument: str) -> Rows:
    if argument == "predictions":  # a row of flags has no order
        raise type_error(argument, "ids, best first", "a multi-hot bool array")
    users, items = np.nonzero(array)
    indptr = np.searchsorted(users, np.arange(len(array) + 1))
    return Rows(indptr.astype(np.int64), items.astype(np.int64))


def _rows_of_padded(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], argument: str) -> Rows:
    ids = id_array(array, argument, dimensions=2)
    return matrix_rows(ids, _core.padded_lengths(ids, argument))


def matrix_rows(ids: Ids, lengths: Offsets | None) -> Rows:
    """Return the rows of a matrix, which hold so many ids, or are full."""
    users, width = ids.shape
    return Rows(np.arange(users + 1, dtype=np.int64) * width, ids.reshape(-1), lengths=lengths)
