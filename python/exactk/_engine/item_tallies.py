"""From counted items to tallies by their keys, which merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._report.item_tally import item_tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.problem import ItemCounts
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.item_tallies import TallyPlan
    from exactk._report.item_tally import ItemTally


def tally_of_counts(plan: TallyPlan, counted: ItemCounts, items: CanonicalItems, inputs: AlignedInputs) -> ItemTally:
    """Return the tally of the lists, by the keys of the catalogue and those of the foreign items."""
    keys = items.keys.array
    if len(counted.foreign_ids):
        keys = np.concatenate([keys, _keys_of_ids(counted.foreign_ids, inputs)])
    by_key: Any = keys
    listed = np.flatnonzero(counted.counts[:, -1] > 0)
    if items.keys.integers is None and len(listed):  # only of these, as a block of users lists few of a large catalogue
        by_key = dict(zip(listed.tolist(), keys[listed].tolist(), strict=True))
    short_lists = counted.short_lists if plan.has_short_lists else None
    return item_tally(plan.cutoffs, by_key, counted.counts, counted.list_lengths, short_lists)


def _keys_of_ids(ids: NDArray[np.int64], inputs: AlignedInputs) -> NDArray[Any]:
    """Return the keys of items of the call."""
    if inputs.item_vocabulary is None:
        return ids
    keys = inputs.item_vocabulary.array
    if inputs.item_ids is None:
        return keys[ids]
    by_id = np.empty(len(keys), np.int64)
    by_id[inputs.item_ids] = np.arange(len(keys))
    return keys[by_id[ids]]
