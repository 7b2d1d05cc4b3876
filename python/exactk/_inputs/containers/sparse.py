"""SciPy's sparse arrays and matrices. Every stored element counts, explicit zeros included.

No SciPy method is used that sums duplicates or changes the matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import converted, elements_at, id_array, number_array, offset_array
from exactk._inputs.model.rows import Rows, TruthColumns
from exactk._runtime.errors import input_error, type_error, warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets


class StoredElements(NamedTuple):
    """The stored elements, grouped by row, in storage order within a row."""

    rows: Rows
    values: NDArray[Any]


def rows_of_sparse_matrix(value: object, argument: str) -> Rows:
    """Return the rows: values are scores of predictions, or grades of a truth, where 0 is not relevant."""
    rows, values = stored_elements(value, argument)
    if argument in {"predictions", "scores"}:
        return rows._replace(scores=values, is_complete=True)
    if argument != "truth":
        if not values.all():
            lines = f"{argument}.eliminate_zeros() leaves them out, {argument}.data[:] = 1 keeps them"
            warn(f"{argument}: stored zeros count as the other stored values do; {lines}")
        return rows
    if values.dtype.kind == "b":  # flags are not grades, but False is not relevant
        return rows if values.all() else rows._replace(grades=values.astype(np.float64))
    return rows._replace(grades=number_array(values, "truth.data"), columns=TruthColumns(grade="stored values"))


def stored_elements(value: object, argument: str) -> StoredElements:
    """Return the stored elements: views for CSR, copies for CSC and COO."""
    matrix: Any = value
    if matrix.ndim != 2 or matrix.format not in {"csr", "csc", "coo"}:
        found = f"{type(value).__name__} of {matrix.ndim} dimension(s)"
        hint = f"{argument}={argument}.tocsr() converts it" if matrix.ndim == 2 else ""
        raise type_error(argument, "a two-dimensional csr, csc or coo matrix", found, hint=hint)
    if matrix.format == "coo":
        stored = _elements_by_row(id_array(matrix.row, argument), id_array(matrix.col, argument), matrix, argument)
    elif matrix.format == "csc":
        stored = _elements_of_csc(matrix, argument)
    else:
        indptr = _indptr_of(matrix, 0, argument)
        size = max(0, int(indptr[-1]))  # there may be room for more
        stored = StoredElements(Rows(indptr, id_array(matrix.indices[:size], argument)), matrix.data[:size])
    _check_columns(stored.rows, int(matrix.shape[1]), argument)
    return stored._replace(rows=stored.rows._replace(column_count=int(matrix.shape[1])))


def _indptr_of(matrix: Any, axis: int, argument: str) -> Offsets:  # noqa: ANN401 - SciPy has no types
    indptr = offset_array(matrix.indptr, argument)
    if len(indptr) != matrix.shape[axis] + 1:
        expected = f"an indptr of {matrix.shape[axis] + 1} offsets for the shape {tuple(matrix.shape)}"
        raise input_error(argument, expected, str(len(indptr)))
    return indptr


def _elements_of_csc(matrix: Any, argument: str) -> StoredElements:  # noqa: ANN401 - SciPy has no types
    indptr = _indptr_of(matrix, 1, argument)
    begin, end, stored_count = int(indptr[0]), int(indptr[-1]), len(matrix.indices)
    if begin != 0 or not 0 <= end <= stored_count:  # before that many columns are allocated
        expected = f"indptr to go from 0 to at most {stored_count}, the number of stored row numbers"
        raise input_error(argument, expected, f"from {begin} to {end}")
    sizes = np.diff(indptr)
    if (falls := indptr[1:] < indptr[:-1]).any():
        position = int(np.argmax(falls)) + 1
        found, count = str(indptr[position]), int(falls.sum())
        raise input_error(argument, "indptr not to decrease", found, position=position, count=count)
    users = id_array(matrix.indices[:end], argument)
    return _elements_by_row(users, np.repeat(np.arange(len(sizes)), sizes), matrix, argument)


def _elements_by_row(users: Ids, items: Ids, matrix: Any, argument: str) -> StoredElements:  # noqa: ANN401 - SciPy has no types
    values = matrix.data[: len(users)]
    if not len(users) == len(items) == len(values):
        found = f"{len(users)} row numbers, {len(items)} column numbers, {len(values)} values"
        raise input_error(argument, "one row number, column number and value per entry", found)
    count = int(matrix.shape[0])
    if len(users) and not 0 <= users.min() <= users.max() < count:
        raise input_error(argument, f"row numbers from 0 to {count - 1}", f"from {users.min()} to {users.max()}")
    indptr, grouped = _core.group_by_user(
        converted(users, np.uint32), count, [np.arange(len(users)), items], 1, argument
    )
    if grouped is None:  # they are in this order
        return StoredElements(Rows(indptr, items), values)
    order, items = grouped
    return StoredElements(Rows(indptr, items), elements_at(values, order))


def _check_columns(rows: Rows, columns: int, argument: str) -> None:
    """Raise InputError if an element is beyond the matrix's columns."""
    if not len(rows.items) or int(rows.items.max()) < columns:
        return
    if rows.indptr[0] != 0 or (rows.indptr[1:] < rows.indptr[:-1]).any():
        return  # the core refuses these offsets
    offsets = np.flatnonzero(rows.items >= columns)
    row = int(np.searchsorted(rows.indptr, offsets[0], side="right")) - 1
    raise input_error(
        argument,
        f"column numbers below {columns}, the number of columns",
        str(rows.items[offsets[0]]),
        row=row,
        position=int(offsets[0] - rows.indptr[row]),
        count=len(offsets),
    )
