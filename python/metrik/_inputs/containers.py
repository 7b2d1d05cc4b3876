"""What a container is told by, and what makes rows of it. A new one is one more row here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metrik._errors import type_error
from metrik._inputs import arrays, found, sequences, sparse
from metrik._inputs.canonical import Columns, Lists, Rows
from metrik._inputs.checks import id_array

if TYPE_CHECKING:
    from collections.abc import Callable


class Adapter(NamedTuple):
    """One kind of container."""

    name: str  # as a message lists it
    matches: Callable[[object], bool]
    rows: Callable[[object, str], Rows]  # the container and the argument's name


ADAPTERS = (
    Adapter("a list of sequences", sequences.matches, sequences.rows),
    Adapter("a two-dimensional array", arrays.matches, arrays.rows),
    Adapter("ids and distances as an index of neighbours returns them", found.matches, found.rows),
)


def rows_of(value: object, argument: str) -> Rows:
    for adapter in ADAPTERS:
        if adapter.matches(value):
            return adapter.rows(value, argument)
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    others = {
        "truth": " or metrik.Truth",
        "predictions": ", a sparse matrix, metrik.Rankings, Scores, Candidates or Embeddings",
        "exclude": ", a sparse matrix or metrik.Exclude",
        "candidates": ", a sparse matrix or one sequence of ids for all users",
    }
    raise type_error(argument, f"{expected}{others[argument]}", type(value).__name__)


def as_columns(value: object) -> Columns | None:
    """Return the columns that scores are restricted to: a flat sequence or 1-D array is for all users."""
    if value is None or isinstance(value, Columns):
        return value
    if isinstance(value, Lists):
        return Columns.from_rows(value.rows(), for_all=False)
    if sparse.matches(value):
        return Columns.from_rows(sparse.entries(value, "candidates").rows, for_all=False)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = id_array(value, "candidates")
        return Columns.from_rows(Rows(np.array([0, len(items)]), items), for_all=True)
    if sequences.is_flat(value) and not found.matches(value):  # a pair of arrays is a tuple too
        return Columns.from_rows(sequences.rows([value], "candidates"), for_all=True)
    return Columns.from_rows(rows_of(value, "candidates"), for_all=False)
