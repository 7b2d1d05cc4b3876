"""What an index of nearest neighbours found: ids, and beside them distances that rise or similarities that fall.

A pair of arrays in either order, as faiss, hnswlib, scikit-learn and `exactk.topk` return it, or usearch's object.
The ids are the ranking. That they stand best first is what the distances show, and nothing else would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import id_array, offset_array, plain_array
from exactk._inputs.containers.padded_arrays import matrix_rows
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.model.lists import Rows

_AT_A_TIME = 1 << 20  # distances that are looked at before signals are handled


class NeighborLists(NamedTuple):
    """The arrays of one result, however its library orders and pads them."""

    ids: Ids
    distances: NDArray[Any]
    lengths: Offsets | None  # of the rows, if any is padded


def matches(value: object) -> bool:
    """Return whether the value is a tuple of two arrays, or has the keys and distances of usearch."""
    if isinstance(value, tuple):
        return len(value) == 2 and all(isinstance(array, np.ndarray) for array in value)
    return all(isinstance(getattr(value, name, None), np.ndarray) for name in ("keys", "distances"))


def rows(value: object, argument: str) -> Rows:
    """Return the rows of ids, if their distances say that they are best first."""
    found = _of_pair(value, argument) if isinstance(value, tuple) else _of_object(value, argument)
    _check_order(found, argument)
    return matrix_rows(found.ids, found.lengths)


def _of_pair(pair: tuple[Any, ...], argument: str) -> NeighborLists:
    first, second = (plain_array(array, argument) for array in pair)
    if getattr(pair, "_fields", None) == ("ids", "scores"):  # of TopK: scores may be integers, or NaN that is last
        ids, distances = first, np.nan_to_num(second, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    elif {first.dtype.kind, second.dtype.kind} in ({"i", "f"}, {"u", "f"}):
        ids, distances = (second, first) if first.dtype.kind == "f" else (first, second)
    else:
        expected, found = "integer ids and distances that are floats", f"{first.dtype} and {second.dtype}"
        raise type_error(argument, expected, found, hint=".astype(float) makes distances of integers so")
    ids = id_array(ids, argument, dimensions=2)
    _check_shape(ids, distances, argument)
    return NeighborLists(ids, distances, _core.padded_lengths(ids, argument))


def _of_object(value: Any, argument: str) -> NeighborLists:  # noqa: ANN401 - usearch's, whose types are its own
    """Read usearch's BatchMatches, whose rows hold `counts` ids, or its Matches: the row of one user."""
    keys, distances = (plain_array(array, argument) for array in (value.keys, value.distances))
    if keys.ndim == 1:
        keys, distances = keys[None], distances[None]
    ids = id_array(keys, argument, dimensions=2)
    _check_shape(ids, distances, argument)
    users, width = ids.shape
    counts = offset_array(getattr(value, "counts", np.full(users, width)), argument)
    if len(counts) != users:
        raise input_error(argument, f"one count for each of {users} users", str(len(counts)))
    if (wrong := (counts < 0) | (counts > width)).any():
        row = int(np.argmax(wrong))
        raise input_error(argument, f"counts from 0 to {width}", str(counts[row]), row=row, count=int(wrong.sum()))
    return NeighborLists(ids, distances, counts)


def _check_shape(ids: Ids, distances: NDArray[Any], argument: str) -> None:
    if ids.shape != distances.shape:
        raise input_error(argument, f"distances of the shape of the ids, {ids.shape}", str(distances.shape))


class _Faults:
    """Places of one kind: the first, and how many."""

    def __init__(self) -> None:
        self.first = (-1, -1)
        self.count = 0

    def add(self, places: NDArray[np.bool_], row: int, position: int) -> None:
        """Count places in rows and columns that begin there."""
        count = int(places.sum())
        if count and not self.count:
            user, place = divmod(int(np.argmax(places)), places.shape[1])
            self.first = (row + user, position + place)
        self.count += count


def _check_order(found: NeighborLists, argument: str) -> None:
    """Raise InputError unless the distances of all rows rise, or those of all rows fall. Equal ones may stand anyhow."""
    nan, rises, falls = _Faults(), _Faults(), _Faults()
    users, width = found.ids.shape
    some = max(1, _AT_A_TIME // max(1, width))
    for row in range(0, users, some):
        distances = found.distances[row : row + some]
        filled = found.ids[row : row + some] >= 0  # a hole between ids is for the core to refuse
        if found.lengths is not None:
            filled &= np.arange(width) < found.lengths[row : row + some, None]
        before, after = distances[:, :-1], distances[:, 1:]
        nan.add(np.isnan(distances) & filled, row, 0)
        both = filled[:, :-1] & filled[:, 1:]
        rises.add((after > before) & both, row, 1)
        falls.add((after < before) & both, row, 1)
    if nan.count:
        _refuse(nan, found, "a distance beside each id", argument)
    if rises.count and falls.count:
        rising = (rises.count, falls.first) > (falls.count, rises.first)  # as most do, or the first
        expected = f"ids best first: distances that {'rise' if rising else 'fall'} in each row"
        _refuse(falls if rising else rises, found, expected, argument)


def _refuse(faults: _Faults, found: NeighborLists, expected: str, argument: str) -> None:
    row, position = faults.first
    what = str(found.distances[row, position])
    if position and what != "nan":
        what += f" after {found.distances[row, position - 1]}"
    raise input_error(argument, expected, what, row=row, position=position, count=faults.count)
