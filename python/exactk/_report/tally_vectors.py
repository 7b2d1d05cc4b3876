"""Item tallies as vectors of int64 of a fixed size, which processes add, where all items are those of a catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._report.item_tally import item_tally
from exactk._report.validation import fail

if TYPE_CHECKING:
    from exactk._plan.item_tallies import TallyPlan
    from exactk._plan.values import Value
    from exactk._report.item_tally import Integers, ItemTally, TallyKeys


def has_fixed_size(value: Value) -> bool:
    """Return whether the tally of a value, if it needs one, has a fixed size for a catalogue."""
    rules = value.rules
    if not value.info.of_collection:
        return True
    if value.info.reads_groups or ("list_similarity" in value.info.own_fields and rules["list_similarity"] == "cosine"):
        return False
    return bool(rules["foreign_items"] != "count" and rules["duplicate_items"] != "count")


class TallyLayout:
    """Which number stands where in the vectors of a tally: the counts of each item, then lists by length, per cutoff."""

    def __init__(self, plan: TallyPlan, keys: TallyKeys) -> None:
        """Take the keys of the catalogue, ascending."""
        self._cutoffs, self._keys = plan.cutoffs, keys
        self._positions = None if isinstance(keys, np.ndarray) else {key: row for row, key in enumerate(keys)}
        items = len(keys)
        self._sizes = [items * len(plan.cutoffs)]
        self._sizes += [1 + (items if cutoff is None else min(cutoff, items)) for cutoff in plan.cutoffs]
        self.size = sum(self._sizes)

    def vector(self, tally: ItemTally) -> Integers:
        """Return the vector of a tally."""
        counts = np.zeros((len(self._keys), len(self._cutoffs)), np.int64)
        counts[self._rows_of(tally.keys)] = tally.counts
        tables = [np.zeros(size, np.int64) for size in self._sizes[1:]]
        for table, lengths in zip(tables, tally.list_lengths, strict=True):
            table[lengths[:, 0]] = lengths[:, 1]
        return np.concatenate([counts.ravel(), *tables])

    def tally(self, vector: Integers) -> ItemTally:
        """Return the tally of all lists whose vectors were added; raise ValueError if there are no such lists."""
        counts, *tables = np.split(vector, np.cumsum(self._sizes[:-1]))
        counts = counts.reshape(len(self._keys), len(self._cutoffs))
        if vector.min(initial=0) < 0 or (np.diff(counts, axis=1) < 0).any():
            raise fail("counts of items that grow with the cutoff", "others")
        lengths = [np.column_stack([np.flatnonzero(table), table[table > 0]]) for table in tables]
        return item_tally(self._cutoffs, self._keys, counts, lengths)

    def _rows_of(self, keys: TallyKeys) -> Integers:
        if self._positions is None:
            return np.searchsorted(np.asarray(self._keys), np.asarray(keys, np.int64)).astype(np.int64)
        return np.fromiter((self._positions[key] for key in keys), np.int64, len(keys))
