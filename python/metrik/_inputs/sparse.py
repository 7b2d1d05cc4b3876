"""SciPy's sparse arrays and matrices. Each entry that is stored counts, whatever its value: a zero too.

Nothing is asked of SciPy that would add up entries of one place, or change the matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrik import _optional
from metrik._errors import input_error, type_error
from metrik._inputs.canonical import Rows
from metrik._inputs.checks import id_array, offset_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrik._inputs.checks import Ids, Offsets


class Entries(NamedTuple):
    """The stored entries, row after row, within a row in the order in which they are stored."""

    rows: Rows
    values: NDArray[Any]


def matches(value: object) -> bool:
    """Return whether the value is a sparse array or matrix."""
    return _optional.is_sparse(value)


def entries(value: object, argument: str) -> Entries:
    """Return what a csr, csc or coo array or matrix stores: views of the first, copies of the others."""
    matrix: Any = value
    if matrix.ndim != 2 or matrix.format not in {"csr", "csc", "coo"}:
        found = f"{type(value).__name__} of {matrix.ndim} dimension(s)"
        raise type_error(argument, "a two-dimensional csr, csc or coo matrix", found, hint=".tocsr() makes one")
    if matrix.format == "coo":
        return _by_row(id_array(matrix.row, argument), id_array(matrix.col, argument), matrix, argument)
    indptr = offset_array(matrix.indptr, argument)
    size = max(0, int(indptr[-1]))  # there may be room for more
    indices = id_array(matrix.indices[:size], argument)
    if matrix.format == "csr":
        return Entries(Rows(indptr, indices), matrix.data[:size])
    sizes = np.diff(indptr)
    if (sizes < 0).any():
        raise input_error(argument, "indptr not to decrease", "indptr that does")
    return _by_row(indices, np.repeat(np.arange(len(sizes)), sizes), matrix, argument)


def _by_row(users: Ids, items: Ids, matrix: Any, argument: str) -> Entries:  # noqa: ANN401 - SciPy has no types
    values = matrix.data[: len(users)]
    if not len(users) == len(items) == len(values):
        found = f"{len(users)} row numbers, {len(items)} column numbers, {len(values)} values"
        raise input_error(argument, "a row, a column and a value for each entry", found)
    count = int(matrix.shape[0])
    if len(users) and not 0 <= users.min() <= users.max() < count:
        raise input_error(argument, f"row numbers from 0 to {count - 1}", f"from {users.min()} to {users.max()}")
    order = np.argsort(users, kind="stable")
    indptr: Offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(users, minlength=count))])
    return Entries(Rows(indptr, items[order]), values[order])
