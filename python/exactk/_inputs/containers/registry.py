"""How a container is recognized, and the adapter that makes rows of it. A new one is one more row here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import id_array, import_dlpack
from exactk._inputs.containers import frames, mappings, neighbor_lists, padded_arrays, sequences, sparse
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.candidate_items import CandidateItems
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import Rows
from exactk._runtime import optional
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._inputs.keys.column_roles import ColumnNames


class ConversionOptions(NamedTuple):
    """What an adapter needs beside the container."""

    argument: str
    encoding: Encoding
    columns: ColumnNames


class Adapter(NamedTuple):
    """One kind of container."""

    name: str  # as a message lists it
    accepts: Callable[[object], bool]
    to_rows: Callable[[Any, ConversionOptions], Rows]


ADAPTERS = (
    Adapter(
        "a list of sequences",
        sequences.is_list_of_rows,
        lambda value, options: sequences.rows_of_lists(value, options.argument, options.encoding),
    ),
    Adapter(
        "a sparse matrix",
        sparse.is_sparse_matrix,
        lambda value, options: sparse.rows_of_sparse_matrix(value, options.argument),
    ),
    Adapter(
        "a mapping",
        mappings.is_mapping,
        lambda value, options: mappings.rows_of_mapping(value, options.argument, options.encoding),
    ),
    Adapter(
        "a two-dimensional array",
        padded_arrays.is_array,
        lambda value, options: padded_arrays.rows_of_array(value, options.argument),
    ),
    Adapter(
        "a data frame",
        frames.is_frame,
        lambda value, options: frames.rows_of_frame(value, options.argument, options.encoding, options.columns),
    ),
    Adapter(
        "ids and distances as an index of neighbours returns them",
        neighbor_lists.is_neighbor_lists,
        lambda value, options: neighbor_lists.rows_of_neighbor_lists(value, options.argument),
    ),
)


def rows_of_container(value: object, options: ConversionOptions) -> Rows:
    """Return the rows that the adapter of the container makes of it."""
    if not frames.is_series(value):
        value = import_dlpack(value, options.argument)
    for adapter in ADAPTERS:
        if adapter.accepts(value):
            return adapter.to_rows(value, options)
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    alternatives = {
        "truth": " or exactk.Truth",
        "predictions": ", exactk.Rankings, Scores, SparseScores or Embeddings",
        "exclude": " or exactk.Exclusions",
        "scores": ", exactk.Scores, SparseScores or Embeddings",
        "candidates": " or one sequence of ids for all users",
    }
    hint = _list_hint(value, options.argument)
    raise type_error(options.argument, f"{expected}{alternatives[options.argument]}", type(value).__name__, hint=hint)


def _list_hint(value: object, argument: str) -> str:
    """Return how to write as a list what holds rows, but is none, such as a generator."""
    if frames.is_series(value):
        return _series_hint(value, argument)
    return f"{argument}=list({argument})" if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else ""


def _series_hint(series: object, argument: str) -> str:
    """Return how to write what a Series, or an array of Arrow, holds as one of the containers."""
    if argument == "candidates":
        return f"{argument}={argument}.to_numpy() for all users"
    is_default = not optional.is_series(series) or optional.is_default_index(series.index)  # type: ignore[attr-defined]
    if sequences.is_item(next(iter(series), None)):  # type: ignore[call-overload]
        rows = "[[item] for item in {0}]" if is_default else "{{user: [item] for user, item in {0}.items()}}"
        return f"{argument}={rows.format(argument)} has one item for each user"
    if optional.is_series(series):
        method = "tolist" if optional.is_default_index(series.index) else "to_dict"  # type: ignore[attr-defined]
    else:
        method = "to_list" if hasattr(series, "to_list") else "to_pylist"
    return f"{argument}={argument}.{method}()"


def as_candidate_items(value: object) -> CandidateItems | None:
    """Return the columns that scores are restricted to: a flat sequence or 1-D array is for all users."""
    if value is None or isinstance(value, CandidateItems):
        return value
    if isinstance(value, Lists):
        return CandidateItems.from_rows(value.rows(), for_all=False)
    if sparse.is_sparse_matrix(value):
        return CandidateItems.from_rows(sparse.stored_elements(value, "candidates").rows, for_all=False)
    value = import_dlpack(value, "candidates")
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = id_array(value, "candidates")
        return CandidateItems.from_rows(Rows(np.array([0, len(items)]), items), for_all=True)
    if sequences.is_flat(value) and not neighbor_lists.is_neighbor_lists(value):  # a pair of arrays is a tuple too
        return CandidateItems.from_rows(
            _check_integer_ids(sequences.rows_of_lists([value], "candidates", Encoding())), for_all=True
        )
    return CandidateItems.from_rows(
        _check_integer_ids(rows_of_container(value, ConversionOptions("candidates", Encoding(), {}))), for_all=False
    )


def _check_integer_ids(rows: Rows) -> Rows:
    """Return the rows; raise InputTypeError if their users or items are keyed."""
    if rows.user_vocabulary is not None or rows.item_vocabulary is not None:
        raise type_error("candidates", "numbers of columns, for all users or row by row", "names of users or items")
    return rows
