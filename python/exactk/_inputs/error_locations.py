"""Names of users and items, and rows of data frames, for errors that have only row numbers and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.containers.arrays import repeat_hint
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import with_frame_row
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._runtime.errors import Amending

if TYPE_CHECKING:
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._inputs.model.rows import FindRow
    from exactk._inputs.registry import ClassifiedValue
    from exactk._runtime.errors import ExactkError


def name_rows_and_keys(inputs: AlignedInputs, items: CanonicalItems | None = None) -> Amending:
    """Add to an error of this block the keys of the user and the item, and the row of the data frame.

    `items` are those of the catalogue, which the inputs may lack.
    """
    return Amending(_with_rows_and_keys, inputs, items)


def _with_rows_and_keys(error: ExactkError, inputs: AlignedInputs, items: CanonicalItems | None) -> ExactkError:
    if items is not None and error.argument == _FEATURES and error.row is not None:
        return error.amended(row=None, column=items.keys.text(error.row))
    if (of_matrix := _fault_of_matrix(inputs, error)) is not None:
        return of_matrix
    with_user, item = inputs.with_user(error), error.fault.item
    named = error if with_user is None else with_frame_row(with_user, _row_finder(inputs, error))
    return named.amended(item=_item_text(inputs, items, item)) if isinstance(item, int) else named


_FEATURES = "items.features"


def _item_text(inputs: AlignedInputs, items: CanonicalItems | None, item: int) -> int | str:
    """Return an item of the inputs or of the catalogue as messages show it."""
    positions = [] if items is None else np.flatnonzero(items.ids == item).tolist()
    if items is not None and positions:
        integers = items.keys.integers
        return items.keys.text(positions[0]) if integers is None else int(integers[positions[0]])
    return item if inputs.item_vocabulary is None else inputs.item_text(item)


def _fault_of_matrix(inputs: AlignedInputs, error: ExactkError) -> ExactkError | None:
    """Return a fault of scores or vectors with keys, with these keys and the row of the caller's array."""
    scores = inputs.predictions
    if not isinstance(scores, (Scores, CanonicalEmbeddings)) or not scores.is_keyed or error.row is None:
        return None
    named = inputs.with_user(error) or error
    if isinstance(scores, Scores):
        if error.argument not in {"predictions", "scores"}:
            return None
        has_column = error.position is not None and scores.item_vocabulary is not None
        column = inputs.item_text(error.position or 0) if has_column else None
        return named.amended(row=scores.row_of(error.row), column=column)
    if error.argument == scores.arguments[0]:  # of users who may have been put in another order
        return named.amended(row=None) if scores.user_vocabulary is not None else None
    if error.argument != scores.arguments[1]:
        return None
    row = error.row if scores.item_rows is None else int(scores.item_rows[error.row])
    return error.amended(row=row, column=None if scores.item_vocabulary is None else inputs.item_text(error.row))


def explain_repeats(truth: ClassifiedValue, predictions: ClassifiedValue) -> Amending:
    """Add to an error of this block about a repeated item of a matrix what else the matrix may be."""
    return Amending(_with_repeats_explained, truth, predictions)


def _with_repeats_explained(error: ExactkError, truth: ClassifiedValue, predictions: ClassifiedValue) -> ExactkError:
    matrix = {"truth": truth, "predictions": predictions}.get(error.argument or "")
    item = error.fault.item
    hint = "" if matrix is None or item is None else repeat_hint(matrix.value, error.argument or "", item)
    return error.amended(hint=(f"{hint}; ", *error.fault.hint)) if hint else error


def _lists_at_fault(inputs: AlignedInputs, error: ExactkError) -> Lists | None:
    """Return the lists to which the error's row and position refer."""
    arguments = {
        "truth": inputs.truth,
        "predictions": inputs.predictions,
        "scores": inputs.predictions,
        "exclude": inputs.exclude,
        "base_predictions": None if inputs.base is None else inputs.base.predictions,
    }
    lists = arguments.get(error.argument or "")
    lists = lists.lists if isinstance(lists, SparseScores) else lists
    return lists if isinstance(lists, Lists) else None


def _row_finder(inputs: AlignedInputs, error: ExactkError) -> FindRow | None:
    """Return the locator of frame rows. Faults of a user, such as an invalid weight, have no row in a frame."""
    lists = _lists_at_fault(inputs, error)
    if lists is not None:
        return lists.find_row
    predictions = inputs.predictions
    is_of_frame = inputs.truth.find_row is not None or getattr(predictions, "find_row", None) is not None
    return (lambda _user, _position: None) if is_of_frame else None
