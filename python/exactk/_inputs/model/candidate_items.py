"""Which items of a matrix of scores, or of embeddings, may be ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.model.lists import Lists, Rows, compact, cut_rows
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.checks import Ids


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CandidateItems(Lists):
    """Which columns of scores may be ranked: one row for all users, or a row a user.

    Each row is a set: its ids ascend, each once.
    """

    for_all: bool
    given: Rows  # the same before they were sorted, to say where one stood

    _argument = "candidates"

    @classmethod
    def from_rows(cls, rows: Rows, *, for_all: bool) -> CandidateItems:
        """Build from what an adapter made."""
        _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, cls._argument).validate(cls._argument, None)
        if rows.present is not None and not rows.present.all():  # no candidates at all, or all there are?
            user, count = int(np.argmin(rows.present)), int((~rows.present).sum())
            raise input_error(cls._argument, "a sequence of ids for every user", "None", row=user, count=count)
        rows = compact(rows)
        given = Rows(rows.indptr, rows.items.astype(np.int64))
        return cls._of(_ascending(given), given, for_all=for_all)

    @classmethod
    def _of(cls, rows: Rows, given: Rows, *, for_all: bool) -> CandidateItems:
        columns = cls.__new__(cls)
        columns._freeze(rows)  # noqa: SLF001 - its own
        object.__setattr__(columns, "for_all", for_all)
        object.__setattr__(columns, "given", given)
        return columns

    def row(self, user: int) -> Ids:
        """Return one user's columns."""
        return super().row(0 if self.for_all else user)

    def check(self, columns: int) -> None:
        """Raise InputError if there are not as many columns as an id asks for."""
        if not (self.items >= columns).any():
            return
        places = np.flatnonzero(self.given.items >= columns)
        user = int(np.searchsorted(self.given.indptr, places[0], side="right")) - 1
        raise input_error(
            self._argument,
            f"ids of columns, below {columns}",
            str(self.given.items[places[0]]),
            row=user,
            position=int(places[0] - self.given.indptr[user]),
            count=len(places),
        )

    def to_plain(self) -> tuple[Any, ...]:
        """Return what `from_plain` makes the same candidate items of, for pickles."""
        return (self.rows().to_plain(), self.given.to_plain(), self.for_all)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> CandidateItems:
        """Return the candidate items that `to_plain` described."""
        rows, given, for_all = plain
        return cls._of(Rows.from_plain(rows), Rows.from_plain(given), for_all=for_all)

    def __reduce__(self) -> tuple[Any, ...]:
        return (CandidateItems.from_plain, (self.to_plain(),))

    def __getitem__(self, users: slice) -> CandidateItems:
        """Return consecutive users."""
        if self.for_all:
            return self
        begin, end, _ = users.indices(len(self))
        own = cut_rows(Rows(self.indptr, self.items), begin, end)
        return self._of(own, cut_rows(self.given, begin, end), for_all=False)


def _is_ascending(rows: Rows) -> bool:
    starts = np.zeros(len(rows.items) + 1, np.bool_)
    starts[rows.indptr] = True
    return bool((starts[1:-1] | (rows.items[1:] > rows.items[:-1])).all())


def _ascending(rows: Rows) -> Rows:
    """Return the ids of each row in ascending order, each once: the rows themselves if they are so already."""
    if _is_ascending(rows):
        return rows
    count = len(rows.indptr) - 1
    users = np.repeat(np.arange(count), np.diff(rows.indptr))
    items = rows.items[np.lexsort((rows.items, users))]
    first = np.ones(len(items), np.bool_)
    first[1:] = (items[1:] != items[:-1]) | (users[1:] != users[:-1])
    sizes = np.bincount(users[first], minlength=count)
    return Rows(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), items[first])
