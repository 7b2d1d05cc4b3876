"""Results of a nearest-neighbor index: ids with ascending distances or descending similarities.

A pair of arrays in either order, as returned by faiss, hnswlib and scikit-learn, or usearch's object. The ids are the
ranking. The distances show whether they are best first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import as_ndarray, id_array, offset_array
from exactk._inputs.model.rows import matrix_rows
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.model.rows import Rows

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
        row = int(np.argmax(wrong))
        raise input_error(argument, f"counts from 0 to {width}", str(counts[row]), row=row, count=int(wrong.sum()))
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
