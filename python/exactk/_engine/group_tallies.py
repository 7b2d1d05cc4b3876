"""From counted groups of items to tallies by their labels, which merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._report.group_tally import GroupTally

if TYPE_CHECKING:
    from exactk._engine.problem import GroupCounts
    from exactk._inputs.model.item_table import CanonicalItems


def tally_of_groups(counted: GroupCounts, items: CanonicalItems) -> GroupTally:
    """Return the tally by the labels of the groups, which ascend."""
    assert items.group_codes is not None  # noqa: S101 - the caller has checked
    groups = len(items.group_labels)
    sizes = np.bincount(items.group_codes[items.group_codes >= 0], minlength=groups).astype(np.int64)
    counts = np.ascontiguousarray(counted.counts.reshape(-1, groups).T)
    possible = counted.possible if len(counted.possible) else None
    return GroupTally(items.group_labels, sizes, counted.lists, counts, possible)
