"""The items that may be ranked: columns of dense scores, or items of embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import Rows, remove_padding, slice_rows
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.checks import Ids


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CandidateItems(Lists):
    """The columns of scores that may be ranked: one row for all users, or one row per user.

    Each row is a set: its ids ascend, without repetition.
    """

    for_all: bool
    unsorted: Rows  # the same before they were sorted, for positions in messages

    _argument = "candidates"

    @classmethod
    def from_rows(cls, rows: Rows, *, for_all: bool) -> CandidateItems:
        """Build from an adapter's rows."""
        _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, cls._argument).validate(cls._argument, None)
        if rows.present is not None and not rows.present.all():  # ambiguous: no candidates, or all items
            user, count = int(np.argmin(rows.present)), int((~rows.present).sum())
            raise input_error(cls._argument, "a sequence of ids for every user", "None", row=user, count=count)
        rows = remove_padding(rows)
        unsorted = Rows(rows.indptr, rows.items.astype(np.int64))
        return cls._assemble(_sort_rows(unsorted), unsorted, for_all=for_all)

    @classmethod
    def _assemble(cls, rows: Rows, unsorted: Rows, *, for_all: bool) -> CandidateItems:
        candidates = cls.__new__(cls)
        candidates._freeze(rows)  # noqa: SLF001 - its own
        object.__setattr__(candidates, "for_all", for_all)
        object.__setattr__(candidates, "unsorted", unsorted)
        return candidates

    def row(self, user: int) -> Ids:
        """Return one user's columns."""
        return super().row(0 if self.for_all else user)

    def check_ids(self, columns: int) -> None:
        """Raise InputError if an id is not a column."""
        if not (self.items >= columns).any():
            return
        offsets = np.flatnonzero(self.unsorted.items >= columns)
        user = int(np.searchsorted(self.unsorted.indptr, offsets[0], side="right")) - 1
        raise input_error(
            self._argument,
            f"column ids below {columns}",
            str(self.unsorted.items[offsets[0]]),
            row=user,
            position=int(offsets[0] - self.unsorted.indptr[user]),
            count=len(offsets),
        )

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, for pickling."""
        return (self.rows().to_plain(), self.unsorted.to_plain(), self.for_all)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> CandidateItems:
        """Return the candidate items that `to_plain` described."""
        rows, unsorted, for_all = plain
        return cls._assemble(Rows.from_plain(rows), Rows.from_plain(unsorted), for_all=for_all)

    def __reduce__(self) -> tuple[Any, ...]:
        return (CandidateItems.from_plain, (self.to_plain(),))

    def __getitem__(self, users: slice) -> CandidateItems:
        """Return consecutive users."""
        if self.for_all:
            return self
        begin, end, _ = users.indices(len(self))
        rows = slice_rows(Rows(self.indptr, self.items), begin, end)
        return self._assemble(rows, slice_rows(self.unsorted, begin, end), for_all=False)


def _has_ascending_rows(rows: Rows) -> bool:
    starts = np.zeros(len(rows.items) + 1, np.bool_)
    starts[rows.indptr] = True
    return bool((starts[1:-1] | (rows.items[1:] > rows.items[:-1])).all())


def _sort_rows(rows: Rows) -> Rows:
    """Return each row's distinct ids in ascending order, or the rows themselves if already sorted."""
    if _has_ascending_rows(rows):
        return rows
    count = len(rows.indptr) - 1
    users = np.repeat(np.arange(count), np.diff(rows.indptr))
    items = rows.items[np.lexsort((rows.items, users))]
    first = np.ones(len(items), np.bool_)
    first[1:] = (items[1:] != items[:-1]) | (users[1:] != users[:-1])
    sizes = np.bincount(users[first], minlength=count)
    return Rows(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), items[first])
