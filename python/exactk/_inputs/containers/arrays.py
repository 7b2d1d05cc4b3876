"""Arrays: ids padded with -1, multi-hot truth, sparse matrices, `TopK`, and ids with distances of nearest-neighbor searches.

Every stored element of a sparse matrix counts, explicit zeros included; no SciPy method is used that sums duplicates or
changes the matrix. Ids and distances are a pair of arrays in either order, as faiss, hnswlib and scikit-learn return
them, or an object as usearch has: the ids are the ranking, and the distances show whether they are best first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.checks import (
    as_ndarray,
    converted,
    describe_dtype,
    elements_at,
    first_and_count,
    id_array,
    number_array,
    offset_array,
    row_at,
)
from exactk._inputs.containers.sequences import is_row
from exactk._inputs.keys.columns import column_of_array, column_of_objects
from exactk._inputs.model.rows import Rows, TruthColumns, graded_rows, matrix_rows, padded_rows
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.top_k import TopK


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
    row, position = row_at(rows.indptr, int(offsets[0]))
    expected, found = f"column numbers below {columns}, the number of columns", str(rows.items[offsets[0]])
    raise input_error(argument, expected, found, row=row, position=position, count=len(offsets))


def rows_of_top_k(value: TopK, argument: str, encoding: Encoding) -> Rows:
    """Return the rows of items, best first, with the vocabularies of their keys."""
    scores = np.nan_to_num(as_ndarray(value.scores, argument), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    ids, vocabulary = as_ndarray(value.items, argument), None
    if ids.dtype == object:
        filled = value.filled
        items = column_of_objects(ids[filled].tolist(), f"{argument}.item")
        codes, vocabulary = long_format.encode_items(items, f"{argument}.item", encoding)
        ids = np.full(ids.shape, -1, np.int64)
        ids[filled] = codes
    ids = id_array(ids, argument, dimensions=2)
    check_shape(ids, scores, argument)
    lists = NeighborLists(ids, scores, _core.padded_lengths(ids, argument))
    check_order(lists, argument)
    rows = matrix_rows(ids, lists.lengths)._replace(item_vocabulary=vocabulary)
    if value.users is None:
        return rows
    users = as_ndarray(value.users, f"{argument}.users")
    if len(users) != len(ids):
        raise input_error(f"{argument}.users", f"one key for each of {len(ids)} rows", str(len(users)))
    names = users.dtype.names
    parts = [users] if names is None else [users[name] for name in names]
    columns = [column_of_array(part, f"{argument}.users") for part in parts]
    return long_format.rows_by_user(columns, list(names or ("user",)), rows, argument, encoding)


_CHUNK_SIZE = 1 << 20  # distances that are checked between signals


class NeighborLists(NamedTuple):
    """The arrays of one result, however its library orders and pads them."""

    ids: Ids
    distances: NDArray[Any]
    lengths: Offsets | None  # row lengths, if any row is padded


def is_neighbor_lists(value: object) -> bool:
    """Return whether the value is a tuple of two arrays, or has the keys and distances of usearch."""
    if isinstance(value, tuple):
        return len(value) == 2 and all(isinstance(array, np.ndarray) for array in value)
    return all(isinstance(getattr(value, name, None), np.ndarray) for name in ("keys", "distances"))


def rows_of_neighbor_lists(value: object, argument: str) -> Rows:
    """Return the rows of ids; raise InputError if the distances show that they are not best first."""
    lists = _lists_of_pair(value, argument) if isinstance(value, tuple) else _lists_of_usearch(value, argument)
    check_order(lists, argument)
    return matrix_rows(lists.ids, lists.lengths)


def _lists_of_pair(pair: tuple[Any, ...], argument: str) -> NeighborLists:
    first, second = (as_ndarray(array, argument) for array in pair)
    if {first.dtype.kind, second.dtype.kind} in ({"i", "f"}, {"u", "f"}):
        ids, distances = (second, first) if first.dtype.kind == "f" else (first, second)
    else:
        expected, found = "integer ids and float distances", f"{first.dtype} and {second.dtype}"
        hint = ""
        if {first.dtype.kind, second.dtype.kind} <= {"i", "u"}:
            hint = "(ids, distances.astype(float)) converts integer distances"
        elif first.dtype.kind in "OU":
            hint = f"{argument}={argument}[0].tolist() reads rows of keys, best first"
        elif {first.dtype.kind, second.dtype.kind} == {"f"}:
            hint = f"exactk.Embeddings(*{argument}) has vectors of users and items, if these are the arrays"
        raise type_error(argument, expected, found, hint=hint)
    ids = id_array(ids, argument, dimensions=2)
    check_shape(ids, distances, argument)
    return NeighborLists(ids, distances, _core.padded_lengths(ids, argument))


def _lists_of_usearch(value: Any, argument: str) -> NeighborLists:  # noqa: ANN401 - usearch is optional
    """Read usearch's BatchMatches, whose rows hold `counts` ids, or its Matches: the row of one user."""
    keys, distances = (as_ndarray(array, argument) for array in (value.keys, value.distances))
    if keys.ndim == 1:
        keys, distances = keys[None], distances[None]
    ids = id_array(keys, argument, dimensions=2)
    check_shape(ids, distances, argument)
    users, width = ids.shape
    counts = offset_array(getattr(value, "counts", np.full(users, width)), argument)
    if len(counts) != users:
        raise input_error(argument, f"one count per user ({users})", str(len(counts)))
    if (wrong := (counts < 0) | (counts > width)).any():
        row, count = first_and_count(wrong)
        raise input_error(argument, f"counts from 0 to {width}", str(counts[row]), row=row, count=count)
    return NeighborLists(ids, distances, counts)


def check_shape(ids: Ids, distances: NDArray[Any], argument: str) -> None:
    """Raise InputError unless there is a distance for each id."""
    if ids.shape != distances.shape:
        raise input_error(argument, f"distances of the same shape as the ids, {ids.shape}", str(distances.shape))


class _Violations:
    """Violations of one rule: where the first is, and how many."""

    def __init__(self) -> None:
        self.first = (-1, -1)
        self.count = 0

    def add(self, violates: NDArray[np.bool_], row: int, position: int) -> None:
        """Count violations in rows and columns that begin there."""
        count = int(violates.sum())
        if count and not self.count:
            first_row, first_column = divmod(int(np.argmax(violates)), violates.shape[1])
            self.first = (row + first_row, position + first_column)
        self.count += count


def check_order(lists: NeighborLists, argument: str) -> None:
    """Raise InputError unless the distances of all rows rise, or those of all rows fall. Ties are allowed."""
    nan, rises, falls = _Violations(), _Violations(), _Violations()
    users, width = lists.ids.shape
    chunk_rows = max(1, _CHUNK_SIZE // max(1, width))
    for row in range(0, users, chunk_rows):
        distances = lists.distances[row : row + chunk_rows]
        filled = lists.ids[row : row + chunk_rows] >= 0  # the core refuses holes between ids
        if lists.lengths is not None:
            filled &= np.arange(width) < lists.lengths[row : row + chunk_rows, None]
        before, after = distances[:, :-1], distances[:, 1:]
        nan.add(np.isnan(distances) & filled, row, 0)
        both = filled[:, :-1] & filled[:, 1:]
        rises.add((after > before) & both, row, 1)
        falls.add((after < before) & both, row, 1)
    if nan.count:
        _raise_first(nan, lists, "a distance for each id", argument)
    if rises.count and falls.count:
        rising = (rises.count, falls.first) > (falls.count, rises.first)  # by majority; if equal, by the first
        expected = f"ids best first, with distances that {'rise' if rising else 'fall'} in each row"
        _raise_first(falls if rising else rises, lists, expected, argument)


def _raise_first(violations: _Violations, lists: NeighborLists, expected: str, argument: str) -> None:
    row, position = violations.first
    found = str(lists.distances[row, position])
    if position and found != "nan":
        found += f" after {lists.distances[row, position - 1]}"
    raise input_error(argument, expected, found, row=row, position=position, count=violations.count)
