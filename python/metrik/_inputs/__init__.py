"""From the caller's containers to waist 1. A container is one module: a new one is one more row here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metrik._errors import type_error
from metrik._inputs import arrays, sequences
from metrik._inputs.canonical import Exclude, Lists, Rankings, Rows, Truth
from metrik._inputs.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Exclude",
    "Lists",
    "Rankings",
    "Scores",
    "Truth",
    "as_exclude",
    "as_predictions",
    "as_rankings",
    "as_truth",
]


class Adapter(NamedTuple):
    """One kind of container."""

    name: str  # as a message lists it
    matches: Callable[[object], bool]
    rows: Callable[[object, str], Rows]  # the container and the argument's name


ADAPTERS = (
    Adapter("a list of sequences", sequences.matches, sequences.rows),
    Adapter("a two-dimensional array", arrays.matches, arrays.rows),
)


def _rows(value: object, argument: str) -> Rows:
    for adapter in ADAPTERS:
        if adapter.matches(value):
            return adapter.rows(value, argument)
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    explicit = {"truth": "metrik.Truth", "predictions": "metrik.Rankings", "exclude": "metrik.Exclude"}
    raise type_error(argument, f"{expected} or {explicit[argument]}", type(value).__name__)


def as_truth(value: object) -> Truth:
    """Return the value as `Truth`, converting it if it is another container.

    Parameters
    ----------
    value : Truth, list of sequences, or two-dimensional array
        A list has one sequence or set of ids a user, a mapping from item to grade, or None for a user
        who is missing. An array holds ids padded with -1, or is bool (multi-hot).

    Examples
    --------
    >>> import metrik
    >>> metrik.as_truth([[1, 4], [21]])
    <Truth of 2 users, 3 items (int64)>
    """
    return value if isinstance(value, Truth) else Truth.from_rows(_rows(value, "truth"))


def as_rankings(value: object) -> Rankings:
    """Return the value as `Rankings`, converting it if it is another container.

    Parameters
    ----------
    value : Rankings, list of sequences, or two-dimensional array
        A list has one sequence of ids a user, best first, or None for a user who got none. An array
        holds ids padded with -1.

    Examples
    --------
    >>> import metrik
    >>> metrik.as_rankings([[4, 2, 1], [21, 3]])
    <Rankings of 2 users, 5 items (int64)>
    """
    return value if isinstance(value, Rankings) else Rankings.from_rows(_rows(value, "predictions"))


def as_predictions(value: object) -> Rankings | Scores:
    """Return the value as `Scores` if it is a two-dimensional array of floats, or else as `Rankings`.

    Parameters
    ----------
    value : Rankings, Scores, list of sequences, or two-dimensional array
        Scores that are integers need `metrik.Scores`: an array of integers holds ids. Of the rest,
        `metrik.as_rankings` says what it means.

    Examples
    --------
    >>> import metrik
    >>> import numpy as np
    >>> metrik.as_predictions(np.array([[0.5, 0.25, 1.0]]))
    <Scores of 1 users, 3 items (float64)>
    >>> metrik.as_predictions(np.array([[2, 0, 1]]))
    <Rankings of 1 users, 3 items (int64)>
    """
    if isinstance(value, Scores):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f":
        return Scores(value)
    return as_rankings(value)


def as_exclude(value: object) -> Exclude | None:
    """Return the value as `Exclude`, converting it if it is another container.

    Parameters
    ----------
    value : Exclude, Truth, Rankings, list of sequences, two-dimensional array, or None
        A list has one sequence or set of ids a user. An array holds ids padded with -1, or is bool.
        None stays None.

    Examples
    --------
    >>> import metrik
    >>> metrik.as_exclude([{4, 7}, []])
    <Exclude of 2 users, 2 items (int64)>
    """
    if value is None or isinstance(value, Exclude):
        return value
    if isinstance(value, Lists):  # training data often is a Truth already
        return Exclude.from_rows(Rows(value.indptr, value.items, lengths=value.lengths))
    return Exclude.from_rows(_rows(value, "exclude"))
