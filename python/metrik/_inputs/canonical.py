"""Waist 1: what every container becomes before anything else looks at it.

Rows in CSR form, contiguous, of the dtypes that the core reads, aligned by user, and immutable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrik import _core
from metrik._inputs.checks import (
    Ids,
    Offsets,
    flag_array,
    id_array,
    key_array,
    number_array,
    offset_array,
    read_only,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rows(NamedTuple):
    """What an adapter makes of a container: the arguments of `Truth`, `Rankings` and `Exclude`."""

    indptr: Offsets
    items: Ids
    grades: NDArray[np.float64] | None = None
    present: NDArray[np.bool_] | None = None
    lengths: Offsets | None = None  # of the rows of a padded matrix


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Lists:
    """One list of item ids a user: row ``u`` is ``items[indptr[u]:indptr[u + 1]]``."""

    indptr: Offsets
    items: Ids
    present: NDArray[np.bool_] | None
    lengths: Offsets | None
    core: _core.Lists = field(repr=False)

    _argument = "lists"  # what messages call it

    def _settle(self, rows: Rows) -> None:
        """View the items; copy the rest, as the core does, so that both see the same for ever."""
        core = _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, self._argument)
        for name in ("indptr", "present", "lengths"):
            array = getattr(rows, name)
            object.__setattr__(self, name, None if array is None else read_only(array.copy()))
        object.__setattr__(self, "items", read_only(rows.items))
        object.__setattr__(self, "core", core)

    def _settle_copy(self, rows: Rows) -> None:
        """Validate, then copy the items too, in the one form in which the core takes truth and exclude."""
        lists = _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, self._argument)
        lists.validate(self._argument, rows.grades)
        rows = _compacted(rows)
        self._settle(rows._replace(items=rows.items.astype(np.int64)))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} users, {len(self.items)} items ({self.items.dtype})>"

    def row(self, user: int) -> Ids:
        """Return one user's items."""
        begin, end = int(self.indptr[user]), int(self.indptr[user + 1])
        return self.items[begin : end if self.lengths is None else begin + int(self.lengths[user])]

    def has(self, user: int) -> bool:
        """Return whether the user has a list, be it empty."""
        return self.present is None or bool(self.present[user])


def _optional_flags(present: object, argument: str) -> NDArray[np.bool_] | None:
    return None if present is None else flag_array(present, argument)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Truth(Lists):
    """What each user found relevant: copied once, validated when built, immutable.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int, shape (n_items,)
        Item ids in [0, 2^63), in any order within a row.
    grades : array of float, shape (n_items,), optional
        The grade of each item; without it every grade is 1. Grade 0 is judged and not relevant.
    users : array, shape (n_users,), optional
        What to call the users in a report: integers or strings. By default, their row numbers.
    present : array of bool, shape (n_users,), optional
        False for a user who is missing from the truth; the row has no items.

    Raises
    ------
    InputError
        If offsets, ids or grades are not what they must be; it says where the first one is.
    InputTypeError
        If an array has the wrong type: ids and offsets are integers, grades numbers.

    Examples
    --------
    >>> import metrik
    >>> metrik.Truth(indptr=[0, 2, 3], items=[1, 4, 21])
    <Truth of 2 users, 3 items (int64)>
    """

    grades: NDArray[np.float64] | None
    users: NDArray[Any] | None

    _argument = "truth"

    def __init__(
        self, indptr: object, items: object, grades: object = None, users: object = None, present: object = None
    ) -> None:
        self._build(
            Rows(
                offset_array(indptr, "truth.indptr"),
                id_array(items, "truth.items"),
                None if grades is None else number_array(grades, "truth.grades"),
                _optional_flags(present, "truth.present"),
            ),
            users,
        )

    @classmethod
    def from_rows(cls, rows: Rows, users: object = None) -> Truth:
        """Build from what an adapter made."""
        truth = cls.__new__(cls)
        truth._build(rows, users)  # noqa: SLF001 - its own
        return truth

    def _build(self, rows: Rows, users: object) -> None:
        self._settle_copy(rows)
        keys = None if users is None else key_array(users, "truth.users", len(self))
        for name, array in (("grades", rows.grades), ("users", keys)):
            object.__setattr__(self, name, None if array is None else read_only(array.copy()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Truth, (self.indptr, self.items, self.grades, self.users, self.present))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Rankings(Lists):
    """What was recommended to each user: item ids, best first. Viewed, not copied.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int, shape (n_items,)
        Item ids in [0, 2^63), best first within a row. An array of int32, int64, uint32 or uint64 is
        used in place: do not change it while it is evaluated.
    present : array of bool, shape (n_users,), optional
        False for a user who got no list, which is not the same as an empty one.

    Raises
    ------
    InputTypeError
        If an array has the wrong type. Values are checked when they are evaluated.

    Examples
    --------
    >>> import metrik
    >>> metrik.Rankings(indptr=[0, 3, 5], items=[4, 2, 1, 21, 3])
    <Rankings of 2 users, 5 items (int64)>
    """

    _argument = "predictions"

    def __init__(self, indptr: object, items: object, present: object = None) -> None:
        self._settle(
            Rows(
                offset_array(indptr, "predictions.indptr"),
                id_array(items, "predictions.items"),
                present=_optional_flags(present, "predictions.present"),
            )
        )

    @classmethod
    def from_rows(cls, rows: Rows) -> Rankings:
        """Build from what an adapter made."""
        rankings = cls.__new__(cls)
        rankings._settle(rows)  # noqa: SLF001 - its own
        return rankings

    def __reduce__(self) -> tuple[Any, ...]:
        rows = Rows(self.indptr, self.items, None, self.present, self.lengths)
        return (Rankings.from_rows, (rows,))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Exclude(Lists):
    """What must not be ranked for each user, such as training items. Copied once and validated.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int, shape (n_items,)
        Item ids in [0, 2^63), in any order within a row.

    Raises
    ------
    InputError, InputTypeError
        As `Truth` does.

    Examples
    --------
    >>> import metrik
    >>> seen = metrik.Exclude(indptr=[0, 1, 1], items=[4])
    >>> metrik.precision_at_k([[1], [2]], [[4, 1], [2]], k=1, exclude=seen)
    1.0
    """

    _argument = "exclude"

    def __init__(self, indptr: object, items: object) -> None:
        self._settle_copy(Rows(offset_array(indptr, "exclude.indptr"), id_array(items, "exclude.items")))

    @classmethod
    def from_rows(cls, rows: Rows) -> Exclude:
        """Build from what an adapter made."""
        exclude = cls.__new__(cls)
        exclude._settle_copy(rows)  # noqa: SLF001 - its own
        return exclude

    def __getitem__(self, users: slice) -> Exclude:
        """Return consecutive users."""
        begin, end, _ = users.indices(len(self))
        indptr = self.indptr[begin : end + 1]
        return Exclude.from_rows(Rows(indptr - indptr[0], self.items[indptr[0] : indptr[-1]]))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Exclude, (self.indptr, self.items))


def _compacted(rows: Rows) -> Rows:
    """Return rows without the padding between them."""
    if rows.lengths is None:
        return rows
    indptr = np.concatenate([[0], np.cumsum(rows.lengths)]).astype(np.int64)
    places = np.arange(indptr[-1]) + np.repeat(rows.indptr[:-1] - indptr[:-1], rows.lengths)
    return rows._replace(indptr=indptr, items=rows.items[places], lengths=None)
