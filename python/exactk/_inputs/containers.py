"""What a container is told by, and what makes rows of it. A new one is one more row here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._errors import type_error
from exactk._inputs import arrays, found, frames, mappings, sequences, sparse
from exactk._inputs.canonical import Columns, Lists, Rows
from exactk._inputs.checks import as_numpy, id_array
from exactk._inputs.keyed import Known
from exactk._inputs.roles import ColumnNames

if TYPE_CHECKING:
    from collections.abc import Callable


class Asked(NamedTuple):
    """What an adapter is to know beside the container."""

    argument: str
    known: Known = Known()
    columns: ColumnNames = ColumnNames()


class Adapter(NamedTuple):
    """One kind of container."""

    name: str  # as a message lists it
    matches: Callable[[object], bool]
    rows: Callable[[Any, Asked], Rows]


ADAPTERS = (
    Adapter(
        "a list of sequences",
        sequences.matches,
        lambda value, asked: sequences.rows(value, asked.argument, asked.known),
    ),
    Adapter("a sparse matrix", sparse.matches, lambda value, asked: sparse.rows(value, asked.argument)),
    Adapter("a mapping", mappings.matches, lambda value, asked: mappings.rows(value, asked.argument, asked.known)),
    Adapter("a two-dimensional array", arrays.matches, lambda value, asked: arrays.rows(value, asked.argument)),
    Adapter(
        "a data frame",
        frames.matches,
        lambda value, asked: frames.rows(value, asked.argument, asked.known, asked.columns),
    ),
    Adapter(
        "ids and distances as an index of neighbours returns them",
        found.matches,
        lambda value, asked: found.rows(value, asked.argument),
    ),
)


def rows_of(value: object, asked: Asked) -> Rows:
    value = as_numpy(value, asked.argument)
    for adapter in ADAPTERS:
        if adapter.matches(value):
            return adapter.rows(value, asked)
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    others = {
        "truth": " or exactk.Truth",
        "predictions": ", exactk.Rankings, Scores, Candidates or Embeddings",
        "exclude": " or exactk.Exclude",
        "scores": ", exactk.Scores, Candidates or Embeddings",
        "candidates": " or one sequence of ids for all users",
    }
    raise type_error(asked.argument, f"{expected}{others[asked.argument]}", type(value).__name__)


def as_columns(value: object) -> Columns | None:
    """Return the columns that scores are restricted to: a flat sequence or 1-D array is for all users."""
    if value is None or isinstance(value, Columns):
        return value
    if isinstance(value, Lists):
        return Columns.from_rows(value.rows(), for_all=False)
    if sparse.matches(value):
        return Columns.from_rows(sparse.entries(value, "candidates").rows, for_all=False)
    value = as_numpy(value, "candidates")
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = id_array(value, "candidates")
        return Columns.from_rows(Rows(np.array([0, len(items)]), items), for_all=True)
    if sequences.is_flat(value) and not found.matches(value):  # a pair of arrays is a tuple too
        return Columns.from_rows(_of_numbers(sequences.rows([value], "candidates")), for_all=True)
    return Columns.from_rows(_of_numbers(rows_of(value, Asked("candidates"))), for_all=False)


def _of_numbers(rows: Rows) -> Rows:
    if rows.users is not None or rows.catalogue is not None:
        raise type_error("candidates", "numbers of columns, for all users or row by row", "names of users or items")
    return rows
