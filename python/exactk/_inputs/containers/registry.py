"""What a container is told by, and what makes rows of it. A new one is one more row here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import as_numpy, id_array
from exactk._inputs.containers import frames, mappings, neighbor_lists, padded_arrays, sequences, sparse
from exactk._inputs.keys.column_roles import ColumnNames
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.candidate_items import CandidateItems
from exactk._inputs.model.lists import Lists, Rows
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Callable


class ConversionRequest(NamedTuple):
    """What an adapter is to know beside the container."""

    argument: str
    encoding: Encoding = Encoding()
    columns: ColumnNames = ColumnNames()


class Adapter(NamedTuple):
    """One kind of container."""

    name: str  # as a message lists it
    matches: Callable[[object], bool]
    rows: Callable[[Any, ConversionRequest], Rows]


ADAPTERS = (
    Adapter(
        "a list of sequences",
        sequences.matches,
        lambda value, request: sequences.rows(value, request.argument, request.encoding),
    ),
    Adapter("a sparse matrix", sparse.matches, lambda value, request: sparse.rows(value, request.argument)),
    Adapter(
        "a mapping", mappings.matches, lambda value, request: mappings.rows(value, request.argument, request.encoding)
    ),
    Adapter(
        "a two-dimensional array",
        padded_arrays.matches,
        lambda value, request: padded_arrays.rows(value, request.argument),
    ),
    Adapter(
        "a data frame",
        frames.matches,
        lambda value, request: frames.rows(value, request.argument, request.encoding, request.columns),
    ),
    Adapter(
        "ids and distances as an index of neighbours returns them",
        neighbor_lists.matches,
        lambda value, request: neighbor_lists.rows(value, request.argument),
    ),
)


def rows_of(value: object, request: ConversionRequest) -> Rows:
    value = as_numpy(value, request.argument)
    for adapter in ADAPTERS:
        if adapter.matches(value):
            return adapter.rows(value, request)
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    others = {
        "truth": " or exactk.Truth",
        "predictions": ", exactk.Rankings, Scores, SparseScores or Embeddings",
        "exclude": " or exactk.Exclusions",
        "scores": ", exactk.Scores, SparseScores or Embeddings",
        "candidates": " or one sequence of ids for all users",
    }
    raise type_error(request.argument, f"{expected}{others[request.argument]}", type(value).__name__)


def as_candidate_items(value: object) -> CandidateItems | None:
    """Return the columns that scores are restricted to: a flat sequence or 1-D array is for all users."""
    if value is None or isinstance(value, CandidateItems):
        return value
    if isinstance(value, Lists):
        return CandidateItems.from_rows(value.rows(), for_all=False)
    if sparse.matches(value):
        return CandidateItems.from_rows(sparse.entries(value, "candidates").rows, for_all=False)
    value = as_numpy(value, "candidates")
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = id_array(value, "candidates")
        return CandidateItems.from_rows(Rows(np.array([0, len(items)]), items), for_all=True)
    if sequences.is_flat(value) and not neighbor_lists.matches(value):  # a pair of arrays is a tuple too
        return CandidateItems.from_rows(_of_numbers(sequences.rows([value], "candidates")), for_all=True)
    return CandidateItems.from_rows(_of_numbers(rows_of(value, ConversionRequest("candidates"))), for_all=False)


def _of_numbers(rows: Rows) -> Rows:
    if rows.users is not None or rows.item_vocabulary is not None:
        raise type_error("candidates", "numbers of columns, for all users or row by row", "names of users or items")
    return rows
