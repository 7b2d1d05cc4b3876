"""At which ranks lists recommend items of each group: integers, so that addition is exact in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.item_tally import MAX_ENTRIES
from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from exactk._report.item_tally import Integers
    from exactk._report.sums import Label


@dataclass(frozen=True, eq=False)
class GroupTally:
    """How often some lists have items of each group, rank by rank.

    Lists in another order have the same tally, bit for bit: groups are in the order of their labels, and an item of a group
    is at the last rank.
    """

    labels: tuple[Label, ...]  # of all groups of the catalogue, ascending
    sizes: Integers  # items of each group in the catalogue
    lists: int  # including empty ones
    counts: Integers  # groups x ranks
    possible: Integers | None = None  # by group: items that the lists could have; None: not counted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupTally):
            return NotImplemented
        if (self.labels, self.lists, len(self._tables())) != (other.labels, other.lists, len(other._tables())):
            return False
        return all(map(np.array_equal, self._tables(), other._tables()))

    def __hash__(self) -> int:
        return hash((self.labels, self.lists))

    def __repr__(self) -> str:
        return f"<GroupTally of {len(self.labels)} groups in {self.lists} lists>"

    def plus(self, other: GroupTally) -> GroupTally:
        """Return the tally of both sets of lists, which must be of the same groups of items."""
        are_alike = np.array_equal(self.sizes, other.sizes) and (self.possible is None) == (other.possible is None)
        if self.labels != other.labels or not are_alike:
            raise StateMismatchError("parts: expected the same groups of items in all, found other groups", "parts")
        if any(tally.most >= MAX_ENTRIES // 2 for tally in (self, other)):
            raise StateMismatchError("parts: expected fewer than 2^61 recommended items, found more", "parts")
        counts = np.zeros((len(self.labels), max(self.counts.shape[1], other.counts.shape[1])), np.int64)
        for tally in (self, other):
            counts[:, : tally.counts.shape[1]] += tally.counts
        possible = None if self.possible is None or other.possible is None else self.possible + other.possible
        return replace(self, lists=self.lists + other.lists, counts=counts, possible=possible)

    def _tables(self) -> tuple[Integers, ...]:
        return (self.sizes, self.counts, *(() if self.possible is None else (self.possible,)))

    @property
    def most(self) -> int:
        """Return the highest of the sums that must fit."""
        return max(self.lists, int(self.counts.sum()), 0 if self.possible is None else int(self.possible.sum()))
