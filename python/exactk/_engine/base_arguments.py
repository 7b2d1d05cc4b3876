"""The argument `base_predictions` of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.alignment import in_shared_vocabularies, rows_of_users
from exactk._inputs.base_messages import ARGUMENT, naming_base
from exactk._inputs.conversions import predictions_of
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.model.scores import SparseScores, predictions_from_rows
from exactk._inputs.readings import warn_of_tuples
from exactk._inputs.registry import BLOCKS, ClassifiedValue, classify
from exactk._runtime.errors import type_error, warn

if TYPE_CHECKING:
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.scores import Predictions
    from exactk._plan.values import Plan


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
