"""Histories: what each user has in train, as positions in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import read_only
from exactk._inputs.keys.vocabulary import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Offsets


@dataclass(frozen=True, eq=False)
class Histories:
    """The rows of train: distinct items of the catalogue, ascending in each row."""

    indptr: Offsets
    items: NDArray[np.uint32]  # positions in the catalogue
    users: Snapshot | None  # the key of each row; None: rows are matched by position

    @classmethod
    def of_interactions(
        cls, indptr: Offsets, positions: NDArray[np.int64], users: Snapshot | None, item_count: int
    ) -> Histories:
        """Return the histories of rows, whose items have these positions in the catalogue; -1 for none."""
        row_count = len(indptr) - 1
        rows = np.repeat(np.arange(row_count), np.diff(indptr))
        pairs = rows * item_count + positions
        if not (is_held := positions >= 0).all():
            rows, pairs = rows[is_held], pairs[is_held]
        if (pairs[1:] <= pairs[:-1]).any():
            pairs.sort(kind="stable")  # fast, for the rows stand in order already, and stay where they are
            is_first = np.concatenate([[True], pairs[1:] != pairs[:-1]])
            rows, pairs = rows[is_first], pairs[is_first]
        items = pairs - rows * item_count
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=row_count))])
        return cls(read_only(ends), read_only(items.astype(np.uint32)), users)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.indptr) - 1

    @cached_property
    def core(self) -> _core.Histories:
        """The rows in the core's form."""
        return _core.Histories(self.indptr, self.items)

    @cached_property
    def digest(self) -> int:
        """128 bits that tell these histories from others, in any order of keyed users."""
        lists = _core.Lists(self.items.astype(np.int64), self.indptr, None, None, "train")
        hashes = None if self.users is None else self.users.hashes
        return _core.truth_digest(lists, None, hashes, None, 1, "")

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, for pickling."""
        return (self.indptr, self.items, None if self.users is None else self.users.to_plain())

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Histories:
        """Return the histories that `to_plain` described."""
        indptr, items, users = plain
        return cls(read_only(indptr), read_only(items), None if users is None else Snapshot.from_plain(users))


class UserHistories(NamedTuple):
    """The histories of the users of a call."""

    histories: Histories
    rows: NDArray[np.int64]  # of train, one per user of the call; -1: none

    def of_user(self, user: int) -> list[int]:
        """Return the positions in the catalogue of what the user has in train."""
        row, indptr, items = int(self.rows[user]), self.histories.indptr, self.histories.items
        return [] if row < 0 else items[indptr[row] : indptr[row + 1]].tolist()
