"""Judged lists: what is recommended at each rank, and what the truth says of it, for metrics of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import read_only
from exactk._inputs.model.top_k import with_item_keys
from exactk._runtime.faults import capitalized, plural
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from exactk._runtime.table import Kind, Table


_OF_USERS = ("codes", "grades", "hits", "lengths", "relevant", "in_truth", "has_list")


@dataclass(frozen=True, eq=False, repr=False)
class JudgedLists(ExportsTable):
    """The first k ranks of each user's list beside the truth, as arrays: what `exactk.judge` returns.

    Row u is a user, column i is rank i + 1. The arrays are read-only.

    Attributes
    ----------
    codes : array of int64, shape (n_users, k)
        The item at each rank as an integer: its position in `item_keys`, or the id itself where these are None. -1 where
        no item has the rank. In the lists of another call, codes may stand for other items.
    grades : array of float64, shape (n_users, k)
        The grade of the item in the user's truth (1 in a truth without grades). NaN where the item is not judged, and
        where no item has the rank. A later copy of a repeated item counts as not judged with
        ``duplicate_items="first"``.
    hits : array of bool, shape (n_users, k)
        Whether the item is relevant to the user.
    lengths : array of int64, shape (n_users,)
        The number of items in the list, at most k.
    relevant : array of int64, shape (n_users,)
        The number of relevant items in the truth.
    in_truth, has_list : array of bool, shape (n_users,)
        Whether the user is in the truth, and has a list, which may be empty.
    users : array, shape (n_users,), or None
        The key of each row's user, as in `Report.users`; None if users are row numbers.
    item_keys : array or None
        The key of each code, for all items of the call: also those of the truth and of `exclude` alone. None if `codes`
        are the caller's ids, and if there are no items.
    first_user : int
        The row number of the first user among all: 0 but in later blocks of `exactk.judge`.
    unit_names : tuple of str
        What a user and an item are called, as in `State.unit_names`; columns of data frames have these names.

    Examples
    --------
    >>> import exactk
    >>> judged = exactk.judge([[1, 4], [7]], [[4, 2, 1], [3]], k=3)
    >>> judged.hits
    array([[ True, False,  True],
           [False, False, False]])
    >>> judged
    judged lists of 2 users at k=3: 4 items, 2 hits
    >>> judged[1].items
    array([[ 3, -1, -1]])
    >>> judged.unjudged_items()
    {0: [2], 1: [3]}
    """

    _has_all = "to_pandas() has them"

    codes: NDArray[np.int64]
    grades: NDArray[np.float64]
    hits: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    relevant: NDArray[np.int64]
    in_truth: NDArray[np.bool_]
    has_list: NDArray[np.bool_]
    users: NDArray[Any] | None
    item_keys: NDArray[Any] | None
    first_user: int
    unit_names: tuple[str, str] = USERS_AND_ITEMS.pair

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in _OF_USERS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def _units(self) -> UnitNames:
        return UnitNames(*self.unit_names)

    @property
    def k(self) -> int:
        """The number of ranks."""
        return int(self.codes.shape[1])

    @cached_property
    def items(self) -> NDArray[Any]:
        """The item at each rank as its key, in an array like `TopK.items`: padded with -1, or with None for other keys."""
        return read_only(with_item_keys(self.codes, self.item_keys))

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        units = self._units
        users = f"{len(self):,} {units.user if len(self) == 1 else units.users}"
        items = f"{int(self.lengths.sum()):,} {units.item if self.lengths.sum() == 1 else units.items}"
        hits = "1 hit" if self.hits.sum() == 1 else f"{int(self.hits.sum()):,} hits"
        return f"judged lists of {users} at k={self.k}: {items}, {hits}"

    @cached_property
    def _keys(self) -> NDArray[Any]:
        return np.arange(self.first_user, self.first_user + len(self)) if self.users is None else self.users

    @cached_property
    def _row_of(self) -> dict[Any, int]:
        return {key: row for row, key in enumerate(self._keys.tolist())}

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys of the users, or their row numbers, as over those of a mapping."""
        return iter(self._keys.tolist())

    def __contains__(self, user: object) -> bool:
        try:
            return user in self._row_of and not isinstance(user, (bool, np.bool_))  # True is 1 to a dict
        except TypeError:
            return False

    def __getitem__(self, user: object) -> JudgedLists:
        """Return the list of one user, by key or, without keys, by row number."""
        if user not in self:
            raise KeyError(f"no list of {self._units.user} {user!r}")
        row = self._row_of[user]
        return self._of_rows(slice(row, row + 1))

    def _of_rows(self, rows: slice) -> JudgedLists:
        users = None if self.users is None else self.users[rows]
        some: dict[str, Any] = {name: getattr(self, name)[rows] for name in _OF_USERS}
        first = self.first_user + (rows.start or 0)
        return JudgedLists(**some, users=users, item_keys=self.item_keys, first_user=first, unit_names=self.unit_names)

    def unjudged_items(self) -> dict[Any, list[Any]]:
        """Return the items of the first k ranks that the truth has no grade for, best first, by user: what to judge next.

        Users without such items are left out, and so are later copies of an item.
        """
        keys = self._keys.tolist()
        has_grade, unjudged = ~np.isnan(self.grades), dict[Any, list[Any]]()
        for row in np.flatnonzero(((self.codes >= 0) & ~has_grade).any(axis=1)).tolist():
            graded = {*self.codes[row, has_grade[row]].tolist(), -1}  # of which later copies have none
            items = self.items[row, ~has_grade[row]].tolist()
            codes = self.codes[row, ~has_grade[row]].tolist()
            without = {code: item for code, item in zip(codes, items, strict=True) if code not in graded}
            if without:
                unjudged[keys[row]] = [*without.values()]
        return unjudged

    def columns(self) -> dict[str, Any]:
        """Return a row for each user and item: the user, the rank from 1, the item, its grade and whether it is a hit.

        Users without keys are row numbers.
        """
        from exactk._report.export_forms import join_columns
        from exactk._report.user_table import user_columns

        rows, ranks = np.nonzero(self.codes >= 0)
        items = self.items[rows, ranks]
        columns = {
            "rank": ranks + 1,
            self._units.item: items if items.dtype.kind in "iu" else items.tolist(),
            "grade": self.grades[rows, ranks],
            "hit": self.hits[rows, ranks],
        }
        return join_columns(user_columns(self._keys[rows], self._units.user), columns)

    def _tables(self) -> Sequence[Table]:
        from exactk._runtime.table import MOST_ROWS

        shown = max(1, MOST_ROWS // max(1, self.k))
        first = self._of_rows(slice(shown))
        notes = [f"the first {plural(shown, self._units.user)}; to_pandas() has all"] if len(self) > shown else []
        return [first._table(None)._replace(caption=capitalized(repr(self)), notes=notes)]  # noqa: SLF001 - its own

    def _table(self, digits: int | None) -> Table:
        from exactk._runtime.table import Column, Table

        columns, form = self.columns(), "g" if digits is None else f".{digits}f"
        columns["grade"] = ["" if np.isnan(grade) else format(grade, form) for grade in columns["grade"].tolist()]
        columns["hit"] = ["yes" if hit else "" for hit in columns["hit"]]
        kinds: dict[str, Kind] = {"rank": "value", self._units.item: "text", "grade": "value", "hit": "text"}
        return Table([Column(name, cells, kinds.get(name, "key")) for name, cells in columns.items()])


JudgedLists.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body
