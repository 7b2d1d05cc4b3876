"""The base predictions of an evaluation as lists, with the item ids of its predictions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.error_locations import name_rows_and_keys
from exactk._engine.problem import BaseLists
from exactk._inputs.base_messages import ARGUMENT, naming_base
from exactk._inputs.candidate_lists import merge_restrictions, restrict_lists
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import remove_padding
from exactk._inputs.model.scores import SparseScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.checks import Ids
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.scores import Scored


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
        codes = order.take(np.searchsorted(others.array[order], held), mode="clip")
        codes = np.where(others.array[codes] == held, codes, -1)
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
