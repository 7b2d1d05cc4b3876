"""A list with one sequence of ids a user; None for a user who has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from metrik._errors import input_error, type_error
from metrik._inputs.canonical import Rows
from metrik._inputs.checks import exact_float, id_array


def matches(value: object) -> bool:
    """Return whether the value is a list."""
    return isinstance(value, list)


def is_flat(value: object) -> bool:
    """Return whether the value is one sequence or set of ids, and not a list with one a user."""
    if isinstance(value, list):
        return len(value) > 0 and not (value[0] is None or isinstance(value[0], Iterable))
    return isinstance(value, (Sequence, AbstractSet)) and not isinstance(value, (str, bytes))


def rows(value: object, argument: str) -> Rows:
    """Return the rows. In the truth a row may also be a set, or a mapping from item to grade."""
    assert isinstance(value, list)  # noqa: S101 - what `matches` said, for the type checker
    graded = argument == "truth" and any(isinstance(row, Mapping) for row in value)
    lists = [() if row is None else _row(row, argument, user) for user, row in enumerate(value)]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in lists], dtype=np.int64)])
    present = np.array([row is not None for row in value], dtype=np.bool_)
    return Rows(
        indptr,
        _items(lists, argument),
        grades=_grades(value, argument) if graded else None,
        present=None if present.all() else present,
    )


def _row(row: object, argument: str, user: int) -> Any:  # noqa: ANN401 - a sequence or an array
    if isinstance(row, list):  # as nearly all are; to ask for an abstract class takes long
        return row
    if isinstance(row, np.ndarray):
        if row.size == 0:  # np.array([]) is of floats, and has none
            return ()
        return id_array(row, argument, row=user)
    if isinstance(row, (Mapping, AbstractSet)):
        if argument == "predictions":  # neither says what comes first
            raise type_error(argument, "a sequence of ids, best first", type(row).__name__, row=user)
        return tuple(row)
    if isinstance(row, Sequence) and not isinstance(row, (str, bytes)):
        return row
    raise type_error(argument, "a sequence of ids", type(row).__name__, row=user)


def _items(lists: list[Any], argument: str) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    """Return all ids in one array. Python's own integers are checked one by one: 1.0 and True are no ids."""
    if lists and all(isinstance(row, np.ndarray) for row in lists if len(row)):
        filled = [row for row in lists if len(row)]
        if len({row.dtype for row in filled}) == 1:
            return np.concatenate(filled)
    types = set(map(type, chain.from_iterable(lists)))
    if not all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in types):
        _refuse_first(lists, argument)
    size = sum(map(len, lists))
    try:
        return np.fromiter(chain.from_iterable(lists), np.int64, size)
    except OverflowError:
        raise _out_of_range(lists, argument) from None


def _refuse_first(lists: list[Any], argument: str) -> None:
    for user, row in enumerate(lists):
        for position, item in enumerate(row):
            if isinstance(item, bool) or not isinstance(item, Integral):
                found = f"{type(item).__name__} {item!r}"
                raise type_error(argument, "integer ids", found, row=user, position=position)


def _out_of_range(lists: list[Any], argument: str) -> Exception:
    places = [
        (user, position, item)
        for user, row in enumerate(lists)
        for position, item in enumerate(row)
        if not 0 <= item < 2**63
    ]
    user, position, item = places[0]
    return input_error(argument, "item ids in [0, 2^63)", str(item), row=user, position=position, count=len(places))


def _grades(value: list[Any], argument: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    grades: list[float] = []
    for user, row in enumerate(value):
        if row is None:
            continue
        if not isinstance(row, Mapping):
            raise type_error(argument, "a mapping from item to grade in every row", type(row).__name__, row=user)
        for position, grade in enumerate(row.values()):
            if isinstance(grade, bool) or not isinstance(grade, Real):
                raise type_error(
                    argument,
                    "grades that are numbers",
                    f"{type(grade).__name__} {grade!r}",
                    row=user,
                    position=position,
                )
            if (exact := exact_float(grade)) is None:
                what = "grades that float64 holds exactly"
                raise input_error(argument, what, repr(grade), row=user, position=position)
            grades.append(exact)
    return np.array(grades, np.float64)
