"""The items that may be ranked: columns of dense scores, or items of embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import converted
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import Rows, encode_items_again, reindex, remove_padding, slice_rows
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids
    from exactk._inputs.keys.vocabulary import Snapshot


class CandidateItems(Lists, eq=False, init=False):
    """The columns of scores that may be ranked: one row for all users, or one row per user.

    Each row is a set: its ids ascend, without repetition.
    """

    for_all: bool
    unsorted: Rows  # the same before they were sorted, for positions in messages
    is_absent: NDArray[np.bool_] | None = None  # flags of the users who have no row; None: all have

    _argument = "candidates"

    @classmethod
    def from_rows(cls, rows: Rows, *, for_all: bool) -> CandidateItems:
        """Build from an adapter's rows."""
        _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, cls._argument).validate(cls._argument, None)
        if rows.present is not None and not rows.present.all():  # ambiguous: no candidates, or all items
            user, count = int(np.argmin(rows.present)), int((~rows.present).sum())
            raise input_error(cls._argument, "a sequence of ids for every user", "None", row=user, count=count)
        rows = remove_padding(rows)
        return cls._from_unsorted(rows._replace(items=converted(rows.items, np.int64)), for_all=for_all)

    @classmethod
    def _from_unsorted(cls, rows: Rows, *, for_all: bool, is_absent: NDArray[np.bool_] | None = None) -> CandidateItems:
        unsorted = Rows(
            rows.indptr,
            rows.items,
            user_vocabulary=rows.user_vocabulary,
            item_vocabulary=rows.item_vocabulary,
            column_count=rows.column_count,
        )
        return cls._assemble(_sort_rows(unsorted), unsorted, for_all=for_all, is_absent=is_absent)

    @classmethod
    def _assemble(
        cls, rows: Rows, unsorted: Rows, *, for_all: bool, is_absent: NDArray[np.bool_] | None = None
    ) -> CandidateItems:
        candidates = cls.__new__(cls)
        candidates._freeze(rows)  # noqa: SLF001 - its own
        object.__setattr__(candidates, "for_all", for_all)
        object.__setattr__(candidates, "unsorted", unsorted)
        object.__setattr__(candidates, "is_absent", is_absent)
        return candidates

    def among(self, items: Snapshot | None, users: Snapshot | None, *, of_rows: bool = False) -> CandidateItems:
        """Return the candidates as positions among these items, with a row for each of these users if not for all.

        Without item keys, ids are positions already. `of_rows` is whether rows without keys are those of the users.
        """
        has_foreign_users = self.user_vocabulary is not None and users is None
        if has_foreign_users or (self.item_vocabulary is not None and items is None):
            expected = "column numbers, for all users or per user"
            hint = f"exactk.Scores(values, {'users=users' if has_foreign_users else 'items=items'}) has keys"
            raise type_error(self._argument, expected, "user or item keys", hint=hint)
        rows = self.unsorted if items is None else self._positions_among(items)
        if self.for_all:
            return self if rows is self.unsorted else self._from_unsorted(rows, for_all=True)
        if self.user_vocabulary is None:
            if users is not None and not of_rows:
                hint = "candidates=dict(zip(users, candidates)) adds them"
                raise type_error(self._argument, "user keys, as in the scores", "rows without user keys", hint=hint)
            return self if rows is self.unsorted else self._from_unsorted(rows, for_all=False)
        assert users is not None  # noqa: S101 - for the type checker
        sources = np.full(len(users), -1, np.int64)
        if len(users) and len(self.user_vocabulary):
            if users.kinds != self.user_vocabulary.kinds:
                expected, found = (" and ".join(one.kinds) for one in (users, self.user_vocabulary))
                raise type_error(self._argument, f"users of type {expected}, as in the scores", found, hint=KIND_HINT)
            sources = self.user_vocabulary.find(users, self._argument)
        rows = reindex(rows, sources)
        is_absent = None if (sources >= 0).all() else sources < 0
        return self._from_unsorted(rows._replace(user_vocabulary=users), for_all=False, is_absent=is_absent)

    def _positions_among(self, items: Snapshot) -> Rows:
        from exactk._inputs.keys.disjoint_keys import describe_disjoint

        rows, keys = self.unsorted, self.item_vocabulary
        kind = "int" if keys is None else keys.kinds[0]
        if rows.has_columns and len(rows.items):
            raise type_error(self._argument, "item keys, as in the scores", "column numbers of a matrix")
        if items.kinds != (kind,) and len(rows.items):
            raise type_error(self._argument, f"items of type {items.kinds[0]}, as in the scores", kind, hint=KIND_HINT)
        positions = encode_items_again(rows, items.copy(), self._argument)
        beyond = positions.items >= len(items)
        if beyond.any():
            offset = int(np.argmax(beyond))
            item = rows.items[offset]
            found = f"item {item if keys is None else keys.repr_of(int(item))}"
            row = None if self.for_all else int(np.searchsorted(rows.indptr, offset, side="right")) - 1
            position, count = offset - int(rows.indptr[row or 0]), int(beyond.sum())
            expected = "items that have scores"
            none = (found.removeprefix("item "), items.repr_of(0)) if beyond.all() and len(items) else None
            hint = describe_disjoint("item", self._argument, "the scores", none) if none else ""
            error = input_error(self._argument, expected, found, row=row, position=position, count=count, hint=hint)
            raise error if self.user_vocabulary is None else self.user_vocabulary.with_user(error)
        return positions

    def check_users(self, present: NDArray[np.bool_] | None) -> None:
        """Raise InputError if a user who has scores has no row."""
        if self.is_absent is None or self.user_vocabulary is None:
            return
        lacking = self.is_absent if present is None else self.is_absent & present
        if lacking.any():
            user, count = int(np.argmax(lacking)), int(lacking.sum())
            error = input_error(self._argument, "candidates of every user with scores", "none", row=user, count=count)
            raise self.user_vocabulary.with_user(error)

    def for_users(self, positions: NDArray[np.int64]) -> CandidateItems:
        """Return the candidates of users who have the rows at these positions, or none where these are -1."""
        return self if self.for_all else self._from_unsorted(reindex(self.unsorted, positions), for_all=False)

    def renumbered(self, positions: NDArray[np.int64]) -> CandidateItems:
        """Return the candidates for items in another order: item i is then at `positions[i]`."""
        rows = self.unsorted._replace(items=positions[self.unsorted.items])
        return self._from_unsorted(rows, for_all=self.for_all)

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
        if not self.is_by_row:
            return self
        begin, end, _ = users.indices(len(self))
        return self._assemble(slice_rows(self.rows(), begin, end), slice_rows(self.unsorted, begin, end), for_all=False)

    @property
    def is_by_row(self) -> bool:
        """Whether each user has a row, which is found by its number."""
        return not self.for_all and self.user_vocabulary is None


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
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return rows._replace(indptr=indptr, items=items[first])
