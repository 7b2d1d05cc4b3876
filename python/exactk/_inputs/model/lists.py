"""Canonical lists: the form that every container of ids is converted to.

Rows are in CSR form: contiguous, in dtypes that the core reads, aligned by user, and immutable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk import _core
from exactk._inputs.checks import (
    Ids,
    Offsets,
    converted,
    first_and_count,
    flag_array,
    offset_array,
    offsets_of,
    read_only,
    row_at,
)
from exactk._inputs.model.rows import Rows, encode_items_again, reindex, remove_padding, slice_rows, validated_copy
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.rows import FindRow
    from exactk._inputs.protocols import KeysLike, VectorLike


class Lists(Record, eq=False, init=False):
    """One list of item ids per user: row ``u`` is ``items[indptr[u]:indptr[u + 1]]``."""

    indptr: Offsets
    items: Ids
    present: NDArray[np.bool_] | None
    lengths: Offsets | None
    user_vocabulary: Snapshot | None  # of keyed users
    item_vocabulary: Snapshot | None  # item keys, if items are codes
    column_count: int | None  # of the matrix without item keys whose column numbers the items are
    find_row: FindRow | None  # locates rows in a frame or file, for messages
    core: _core.Lists

    _argument = "lists"  # name in messages

    def _freeze(self, rows: Rows, *others: str) -> None:
        """View the items; copy other arrays that anyone else can write to, so that Python and the core agree.

        `others` are the arrays that not all lists have.
        """
        core = _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, self._argument)
        arrays: dict[str, NDArray[Any] | None] = {}
        for name in ("indptr", "present", "lengths", *others):
            array = getattr(rows, name)
            if array is not None:
                array = array.view() if rows.is_owned else converted(array, array.dtype)
                array.setflags(write=False)
            arrays[name] = array
        vars(self).update(
            arrays,
            items=read_only(rows.items),
            user_vocabulary=rows.user_vocabulary,
            item_vocabulary=rows.item_vocabulary,
            column_count=rows.column_count,
            find_row=rows.find_row,
            core=core,
        )

    @classmethod
    def from_valid_rows(cls, rows: Rows) -> Self:
        """Build from rows that need no validation, or were validated and copied."""
        lists = cls.__new__(cls)
        lists._freeze(rows)  # noqa: SLF001 - its own
        return lists

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        items = self.items.dtype if self.item_vocabulary is None else self.item_vocabulary.kinds[0]
        return f"<{type(self).__name__} of {plural(len(self), 'user')}, {plural(len(self.items), 'item')} ({items})>"

    @property
    def has_columns(self) -> bool:
        """Whether items are column numbers of a matrix without item keys."""
        return self.column_count is not None

    def rows(self) -> Rows:
        """Return the rows in the form that adapters produce."""
        return Rows(
            self.indptr,
            self.items,
            None,
            self.present,
            self.lengths,
            user_vocabulary=self.user_vocabulary,
            item_vocabulary=self.item_vocabulary,
            column_count=self.column_count,
            find_row=self.find_row,
        )

    def row(self, user: int) -> Ids:
        """Return one user's items."""
        begin, end = int(self.indptr[user]), int(self.indptr[user + 1])
        return self.items[begin : end if self.lengths is None else begin + int(self.lengths[user])]

    def has(self, user: int) -> bool:
        """Return whether the user has a list, even an empty one."""
        return self.present is None or bool(self.present[user])


def _optional_flags(present: object, argument: str) -> NDArray[np.bool_] | None:
    return None if present is None else flag_array(present, argument)


class Rankings(Lists, eq=False, init=False):
    """The item ids recommended to each user, best first.

    The arrays are viewed, not copied.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int or of keys, shape (n_entries,)
        Item ids in [0, 2^63), or keys as in `Truth`, best first within a row. Arrays of int32, int64, uint32 and uint64
        are used in place: do not change them during the evaluation.
    present : array of bool, shape (n_users,), optional
        False for users without a list, which differs from an empty list.
    ranks : array of int, shape (n_entries,), optional
        The rank of each item, from 1 and ascending within a row, for lists with gaps. The convention's ``rank_gaps``
        decides whether items keep these ranks or are ranked 1, 2, 3, ...
    users : sequence, shape (n_users,), optional
        The key of each row's user, as in `exactk.Scores`.

    Raises
    ------
    InputTypeError
        If an array has the wrong type. Values are checked during the evaluation.
    InputError
        If there is not one rank per item, or the ranks of a row do not ascend.

    Examples
    --------
    >>> import exactk
    >>> exactk.Rankings(indptr=[0, 3, 5], items=[4, 2, 1, 21, 3])
    <Rankings of 2 users, 5 items (int64)>
    """

    ranks: NDArray[Any] | None

    _argument = "predictions"

    def __init__(
        self,
        indptr: VectorLike,
        items: KeysLike,
        present: VectorLike | None = None,
        ranks: VectorLike | None = None,
        *,
        users: KeysLike | None = None,
    ) -> None:
        from exactk._inputs.keys.key_lists import encode_item_keys, keys_of_rows

        offsets = offset_array(indptr, "predictions.indptr")
        ids, keys = encode_item_keys(items, "predictions.items")
        self._freeze(
            Rows(
                offsets,
                ids,
                present=_optional_flags(present, "predictions.present"),
                ranks=None if ranks is None else offset_array(ranks, "predictions.ranks"),
                user_vocabulary=keys_of_rows(users, "predictions.users", len(offsets) - 1, "row"),
                item_vocabulary=keys,
            )
        )
        if self.ranks is not None and len(self.ranks) != len(self.items):
            expected = f"one rank per item ({len(self.items)})"
            raise input_error("predictions.ranks", expected, str(len(self.ranks)))
        self._check_ascending_ranks()

    def _check_ascending_ranks(self) -> None:
        """Raise InputError if ranks do not ascend within a row: closing gaps would hide the wrong order."""
        indptr, ranks = self.indptr, self.ranks
        if ranks is None or not len(indptr) or indptr[0] != 0 or indptr[-1] != len(ranks):
            return  # the core refuses these offsets
        sizes = np.diff(indptr)
        if (sizes < 0).any():
            return
        rows = np.repeat(np.arange(len(sizes)), sizes)
        falls = np.flatnonzero((ranks[1:] <= ranks[:-1]) & (rows[1:] == rows[:-1])) + 1
        if len(falls):
            offset, row = int(falls[0]), int(rows[falls[0]])
            expected, position, count = "ascending ranks in each row", offset - int(indptr[row]), len(falls)
            raise input_error(
                "predictions.ranks", expected, str(ranks[offset]), row=row, position=position, count=count
            )

    @classmethod
    def from_rows(cls, rows: Rows) -> Rankings:
        """Build from an adapter's rows, whose values are checked during the evaluation."""
        return cls.from_valid_rows(rows)

    def _freeze(self, rows: Rows, *others: str) -> None:
        super()._freeze(rows if len(rows.items) else rows._replace(ranks=None), "ranks", *others)

    def rows(self) -> Rows:
        """Return the rows in the form that adapters produce."""
        return super().rows()._replace(ranks=self.ranks)

    @property
    def users_with_rank_gaps(self) -> int:
        """The number of users whose ranks have gaps."""
        if self.ranks is None or not len(self.ranks):
            return 0
        previous = np.roll(self.ranks, 1)
        previous[self.indptr[:-1][np.diff(self.indptr) > 0]] = 0
        gaps = np.flatnonzero((self.ranks > previous) & (self.ranks - 1 > previous))
        return len(np.unique(np.searchsorted(self.indptr, gaps, side="right")))

    def without_ranks(self) -> Rankings:
        """Return the same lists, ranked 1, 2, 3, ..."""
        return self if self.ranks is None else Rankings.from_rows(self.rows()._replace(ranks=None))

    def with_core_ranks(self) -> Rankings:
        """Return the same lists, with the given ranks passed to the core too."""
        if self.ranks is None:
            return self
        ranks = self._integer_ranks()
        rankings = Rankings.from_rows(self.rows()._replace(ranks=ranks))
        core = _core.Lists(rankings.items, rankings.indptr, rankings.lengths, rankings.present, ranks, self._argument)
        vars(rankings)["core"] = core
        return rankings

    def _integer_ranks(self) -> NDArray[np.int64]:
        assert self.ranks is not None  # noqa: S101 - for the type checker
        if self.ranks.dtype == np.int64:
            return self.ranks
        with np.errstate(invalid="ignore"):
            ranks = self.ranks.astype(np.int64)
        if (fractions := ranks != self.ranks).any():
            offset, count = first_and_count(fractions)
            (row, position), found = row_at(self.indptr, offset), f"{self.ranks[offset]:g}"
            raise input_error("predictions", "ranks without fractions", found, row=row, position=position, count=count)
        return ranks

    def __reduce__(self) -> tuple[Any, ...]:
        return (Rankings._from_plain, (self.rows().to_plain(),))

    @classmethod
    def _from_plain(cls, rows: dict[str, Any]) -> Rankings:
        return cls.from_rows(Rows.from_plain(rows))


Rankings.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


class Exclusions(Lists, eq=False, init=False):
    """The items that must not be ranked for each user, such as training items.

    The arrays are copied once and validated.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int or of keys, shape (n_entries,)
        Item ids in [0, 2^63), or keys as in `Truth`, in any order within a row.
    users : sequence, shape (n_users,), optional
        The key of each row's user, as in `exactk.Scores`.

    Raises
    ------
    InputError, InputTypeError
        As for `Truth`.

    Examples
    --------
    >>> import exactk
    >>> seen = exactk.Exclusions(indptr=[0, 1, 1], items=[4])
    >>> exactk.precision_at_k([[1], [2]], [[4, 1], [2]], k=1, exclude=seen)
    1.0
    """

    _argument = "exclude"

    def __init__(self, indptr: VectorLike, items: KeysLike, *, users: KeysLike | None = None) -> None:
        from exactk._inputs.keys.key_lists import encode_item_keys, keys_of_rows

        offsets = offset_array(indptr, "exclude.indptr")
        ids, keys = encode_item_keys(items, "exclude.items")
        rows = validated_copy(Rows(offsets, ids, item_vocabulary=keys), self._argument)
        self._freeze(rows._replace(user_vocabulary=keys_of_rows(users, "exclude.users", rows.user_count, "row")))

    @classmethod
    def from_rows(cls, rows: Rows) -> Exclusions:
        """Build from an adapter's rows."""
        return cls.from_valid_rows(validated_copy(rows, cls._argument))

    def rows(self) -> Rows:
        """Return the rows in the form that adapters produce."""
        return super().rows()._replace(is_owned=True)

    def __getitem__(self, users: slice) -> Exclusions:
        """Return consecutive users."""
        begin, end, _ = users.indices(len(self))
        return Exclusions.from_valid_rows(slice_rows(self.rows(), begin, end)._replace(is_owned=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Exclusions._from_plain, (self.rows().to_plain(),))

    @classmethod
    def _from_plain(cls, rows: dict[str, Any]) -> Exclusions:
        return cls.from_rows(Rows.from_plain(rows))


Exclusions.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


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
        candidates = cls.from_valid_rows(rows)
        vars(candidates).update(for_all=for_all, unsorted=unsorted, is_absent=is_absent)
        return candidates

    def among(self, items: Snapshot | None, users: Snapshot | None, *, of_rows: bool = False) -> CandidateItems:
        """Return the candidates as positions among these items, with a row for each of these users if not for all.

        Without item keys, ids are positions already. `of_rows` is whether rows without keys are those of the users.
        """
        from exactk._inputs.keys.vocabulary import kinds_error

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
                raise kinds_error(self._argument, "users", users.kinds, self.user_vocabulary.kinds, "scores")
            sources = self.user_vocabulary.find(users, self._argument)
        rows = reindex(rows, sources)
        is_absent = None if (sources >= 0).all() else sources < 0
        return self._from_unsorted(rows._replace(user_vocabulary=users), for_all=False, is_absent=is_absent)

    def _positions_among(self, items: Snapshot) -> Rows:
        from exactk._inputs.keys.key_lists import describe_disjoint
        from exactk._inputs.keys.vocabulary import kinds_error

        rows, keys = self.unsorted, self.item_vocabulary
        kind = "int" if keys is None else keys.kinds[0]
        if rows.has_columns and len(rows.items):
            raise type_error(self._argument, "item keys, as in the scores", "column numbers of a matrix")
        if items.kinds != (kind,) and len(rows.items):
            raise kinds_error(self._argument, "items", items.kinds, [kind], "scores")
        positions = encode_items_again(rows, items.copy(), self._argument)
        beyond = positions.items >= len(items)
        if beyond.any():
            offset, count = first_and_count(beyond)
            item = rows.items[offset]
            found = f"item {item if keys is None else keys.repr_of(int(item))}"
            row, position = (None, offset) if self.for_all else row_at(rows.indptr, offset)
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
            user, count = first_and_count(lacking)
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
        user, position = row_at(self.unsorted.indptr, int(offsets[0]))
        expected, found = f"column ids below {columns}", str(self.unsorted.items[offsets[0]])
        raise input_error(self._argument, expected, found, row=user, position=position, count=len(offsets))

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
    indptr = offsets_of(sizes)
    return rows._replace(indptr=indptr, items=items[first])
