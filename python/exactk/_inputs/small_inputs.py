"""Small inputs: some users without keys, lists or scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.list_readings import tuples_of_ids, tuples_of_rows
from exactk._inputs.model.lists import Lists, Rankings
from exactk._inputs.model.rows import Rows, matrix_rows, remove_padding
from exactk._inputs.model.scores import Scores
from exactk._inputs.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ROW_TYPES = frozenset({list, tuple})
_MOST_USERS = 1000  # of more, the steps that are left out take no share of the time that matters
_MOST_CELLS = 100_000  # of a matrix of ids
_MOST_SCORES = 10_000_000
_SCORES = (np.dtype(np.float32), np.dtype(np.float64))


def small_inputs(truth: object, predictions: object) -> AlignedInputs | None:
    """Return the inputs if they are small and have no keys; None if not, or if they may be misread."""
    judged = _truth_of(truth)
    ranked = None if judged is None else _predictions_of(predictions)
    if judged is None or ranked is None:
        return None
    if isinstance(ranked, Scores) and (type(truth) is np.ndarray or len(judged.items) == ranked.values.size):
        return None  # it may be grades
    if judged.column_count is not None and _may_be_misread(judged.column_count, judged, ranked):
        return None
    return AlignedInputs(judged, ranked, None)


def _may_be_misread(columns: int, truth: Truth, ranked: Rankings | Scores) -> bool:
    """Return whether scores have other columns than the truth, or lists may be scores of all items, or begin at 1."""
    if isinstance(ranked, Scores):
        return ranked.item_count != columns
    return len(ranked.items) == columns * len(truth) or bool((ranked.items == columns).any())


def _truth_of(value: object) -> Truth | None:
    """Return the truth if it is small and has no keys. The core validates it with the rest."""
    if isinstance(value, Truth):
        return value if value.labels is None and _is_plain(value) else None
    rows = _rows_of(value, "truth")
    return None if rows is None else Truth.from_valid_rows(remove_padding(rows))


def _predictions_of(value: object) -> Rankings | Scores | None:
    """Return lists without keys and ranks, or dense scores without keys, if they are small."""
    if isinstance(value, Scores):
        return None if value.is_keyed or value.user_rows is not None or not _is_small(value.values) else value
    if type(value) is np.ndarray and value.ndim == 2 and value.dtype in _SCORES:
        return Scores.for_argument(value, "predictions") if _is_small(value) else None
    if isinstance(value, Rankings):
        return value if value.ranks is None and _is_plain(value) else None
    rows = _rows_of(value, "predictions")
    return None if rows is None else Rankings.from_rows(rows)


def _is_small(scores: NDArray[Any]) -> bool:
    return len(scores) <= _MOST_USERS and scores.size <= _MOST_SCORES


def _is_plain(lists: Lists) -> bool:
    is_small = len(lists) <= _MOST_USERS and len(lists.items) <= _MOST_CELLS
    return is_small and lists.user_vocabulary is None and lists.item_vocabulary is None


def _rows_of(value: object, argument: str) -> Rows | None:
    """Return the rows of an id matrix or of a list of rows of integers, as copies."""
    if type(value) is np.ndarray:
        has_ids = value.dtype.kind in "iu" and np.can_cast(value.dtype, np.int64)  # uint64 has others
        if value.ndim != 2 or not has_ids or value.size > _MOST_CELLS or tuples_of_ids(value):
            return None
        ids = value.astype(np.int64, order="C")
        return matrix_rows(ids, _core.padded_lengths(ids, argument), is_owned=True)
    if type(value) is not list or len(value) > _MOST_USERS or not _are_rows_of_integers(value):
        return None
    if tuples_of_rows(value):
        return None
    rows = _core.integer_rows(value, None, argument, "values")  # raises TypeError unless all items are integers
    return Rows(rows.indptr, rows.items, present=rows.present, is_owned=True)


def _are_rows_of_integers(rows: list[Any]) -> bool:
    """Return whether these are lists or tuples, and the first item of all is an integer."""
    first = next(filter(None, rows), (None,)) if set(map(type, rows)) <= _ROW_TYPES else (None,)
    return type(next(iter(first), None)) is int
