"""The argument `base_predictions`: checked, encoded as the predictions are, and as lists with their item ids."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.alignment import ARGUMENT, in_shared_vocabularies, name_rows_and_keys, naming_base, rows_of_users
from exactk._inputs.checks import positions_in
from exactk._inputs.conversions import predictions_of
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex, remove_padding
from exactk._inputs.model.scores import SparseScores, predictions_from_rows
from exactk._inputs.readings import warn_of_tuples
from exactk._inputs.registry import BLOCKS, ClassifiedValue, classify
from exactk._inputs.restrictions import merge_restrictions, restrict_lists
from exactk._runtime.errors import type_error, warn
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.checks import Ids
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.lists import CandidateItems, Exclusions
    from exactk._inputs.model.scores import Predictions, Scored
    from exactk._plan.values import Plan


class BaseLists(NamedTuple):
    """Other predictions of the same users, for metrics that compare the lists with them."""

    predictions: Predictions
    candidates: CandidateItems | None  # of dense scores and embeddings
    exclude: Exclusions | None  # likewise of those that are ranked, in their ids; lists have those of the problem
    to_ids: Callable[[Ids], NDArray[np.int64]]  # from the item ids of scores to those of the problem, which lists have


def classified_base(base: object, values: Plan) -> ClassifiedValue:
    """Return the argument; none, with a warning, if no metric reads it. Raise InputTypeError if one lacks it."""
    readers = values.readers_of_base
    if not readers:
        if base is not None:
            warn(f"{ARGUMENT} has no effect on the requested metrics: leave it out")
        return ClassifiedValue(None, None)
    if base is None:
        hint = f"{ARGUMENT}= takes them in any container of predictions, such as the most popular items of each user"
        raise type_error(
            ARGUMENT, f"other predictions of the same users, which {readers[0].spelling} needs", "None", hint=hint
        )
    with naming_base():
        classified = classify(base, "predictions")
    if classified.container is BLOCKS:
        raise type_error(ARGUMENT, "predictions in a container", "an iterator, which can be read only once")
    warn_of_tuples(classified, ARGUMENT)
    return classified


def base_for_pieces(base: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Predictions | None:
    """Return the base predictions beside predictions that come piece by piece: lists, or items with scores."""
    if base.value is None:
        return None
    with naming_base():
        predictions = predictions_of(base, columns, encoding)
    if not isinstance(predictions, (Rankings, SparseScores)):
        expected = "lists, or items with scores, beside predictions that are read piece by piece"
        hint = f"{ARGUMENT}=exactk.topk({ARGUMENT}, k, exclude) ranks them"
        raise type_error(ARGUMENT, expected, type(base.value).__name__, hint=hint)
    return predictions


def base_of_block(base: Predictions | None, users: range, encoding: Encoding) -> Rows | Predictions | None:
    """Return the base predictions of a block of users: those so far, by key, or by row."""
    if base is None:
        return None
    assert isinstance(base, (Rankings, SparseScores))  # noqa: S101 - `base_for_pieces`
    rows = base.rows()
    if rows.user_vocabulary is not None:
        return rows_of_users(rows, ARGUMENT, encoding)
    rows = reindex(rows, np.array(users, np.int64))
    return (
        predictions_from_rows(rows)
        if rows.item_vocabulary is None
        else in_shared_vocabularies(rows, ARGUMENT, encoding)
    )


def base_in_shared_vocabularies(base: Predictions | None, encoding: Encoding) -> Rows | None:
    """Return the base predictions beside batches as rows, encoded as the truth is."""
    if base is None:
        return None
    assert isinstance(base, (Rankings, SparseScores))  # noqa: S101 - `base_for_pieces`
    return in_shared_vocabularies(base.rows(), ARGUMENT, encoding)


def base_of_inputs(inputs: AlignedInputs, candidates: CandidateItems | None) -> BaseLists | None:
    """Return the base predictions, restricted as the predictions are; None if there are none."""
    if inputs.base is None:
        return None
    with naming_base(), name_rows_and_keys(inputs.base):
        base = restrict_lists(inputs.base, candidates).inputs
        remaining, exclude = merge_restrictions(base.predictions, candidates, base.exclude)
        predictions = base.predictions
        if isinstance(predictions, Rankings) and inputs.base.item_vocabulary is not inputs.item_vocabulary:
            predictions.core.validate(ARGUMENT, None)
            rows = remove_padding(predictions.rows())
            predictions = Rankings.from_rows(rows._replace(items=_ids_among(inputs.base, inputs, rows.items)))
    return BaseLists(predictions, remaining, exclude, partial(_ids_among, inputs.base, inputs))


def _ids_among(base: AlignedInputs, inputs: AlignedInputs, ids: Ids) -> NDArray[np.int64]:
    """Return the ids, among those of the inputs, of items of the base; items that the inputs lack get other ids."""
    keys, others = base.item_vocabulary, inputs.item_vocabulary
    ids = ids.astype(np.int64, copy=False)
    if keys is others or not len(ids):
        return ids  # type: ignore[return-value]
    if others is None:  # integers are ids
        assert base.item_keys is not None  # noqa: S101 - of which there are some
        if base.item_keys.dtype.kind not in "iu":
            return ids  # type: ignore[return-value]  # the inputs have no items
        return base.item_keys[ids].astype(np.int64)
    by_code = np.arange(len(others)) if inputs.item_ids is None else inputs.item_ids.astype(np.int64)
    if keys is None:
        held, ids = np.unique(ids, return_inverse=True)
        order = np.argsort(others.array)
        codes = np.append(order, -1)[positions_in(others.array[order], held)]
    else:
        codes = others.find(keys, ARGUMENT)
        if base.item_ids is not None:
            codes = codes[np.argsort(base.item_ids)]
    by_id: NDArray[np.int64] = np.where(codes < 0, len(others) + np.arange(len(codes)), by_code[codes])
    return by_id[ids]


def most_items(scores: Scored) -> int:
    """Return the most items that a user can have."""
    if isinstance(scores, SparseScores):
        return int(np.diff(scores.lists.indptr).max(initial=0))
    return scores.item_count
