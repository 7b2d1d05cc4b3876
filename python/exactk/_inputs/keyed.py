"""From columns to rows in CSR form: users are numbered by name, their rows brought together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._errors import ExactkError, input_error
from exactk._inputs.canonical import Rows, taken
from exactk._inputs.checks import id_array, number_array
from exactk._inputs.columns import check_names
from exactk._inputs.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.columns import Column
    from exactk._inputs.frames import EntryColumns
    from exactk._inputs.names import Numbers


class Known(NamedTuple):
    """Names that others go on from, so that what is numbered alike needs no numbers changed; and of threads, how many."""

    users: Names | None = None
    items: Names | None = None
    threads: int = 1


def of_entries(columns: EntryColumns, argument: str, known: Known) -> Rows:
    """Return the rows of entries of one user and one item each, in any order; those of a user stay in theirs."""
    users, labels, items, grades, scores, ranks = columns
    _check_lengths(argument, *users, items, *(column for column in (grades, scores, ranks) if column is not None))
    names, numbers = _numbered(users, labels, argument, known)
    ids, catalogue = item_ids(items, f"{argument}.item", known)
    own = Rows(
        np.zeros(0, np.int64),
        ids,
        None if grades is None else number_array(grades.numbers(f"{argument}.grade"), f"{argument}.grade"),
        scores=None if scores is None else scores.numbers(f"{argument}.score"),
        users=names,
        catalogue=catalogue,
    )
    places = None if ranks is None else rank_array(ranks, f"{argument}.rank")
    return brought_together(own, numbers, places, argument, known.threads)


def brought_together(entries: Rows, numbers: Numbers, ranks: NDArray[Any] | None, argument: str, threads: int) -> Rows:
    """Return entries of one item each, of users of these numbers, user by user; by rank, if they have ranks."""
    assert entries.users is not None  # noqa: S101 - entries have users
    if ranks is not None:
        return _ranked(entries, numbers, ranks, argument)
    given = [part for part in (entries.items, entries.grades, entries.scores) if part is not None]
    indptr, moved = _core.moved(numbers, len(entries.users), given, threads, argument)
    parts = iter(given if moved is None else moved)
    return entries._replace(
        indptr=indptr,
        items=next(parts),
        grades=None if entries.grades is None else next(parts),
        scores=None if entries.scores is None else next(parts),
        present=_with_rows(indptr),
    )


def _ranked(rows: Rows, numbers: Numbers, ranks: NDArray[Any], argument: str) -> Rows:
    """Return the rows user by user, in the order of their ranks."""
    assert rows.users is not None  # noqa: S101 - entries have users
    try:
        indptr, order = _core.grouped(numbers, len(rows.users), ranks, argument)
    except ExactkError as error:
        raise rows.users.blamed(error) from None
    items = rows.items if order is None else rows.items[order]
    return rows._replace(indptr=indptr, items=items, present=_with_rows(indptr))


def of_lists(users: Sequence[Column], labels: Sequence[str], rows: Rows, argument: str, known: Known) -> Rows:
    """Return rows that have one user each as rows of the users by name."""
    _check_lengths(argument, *users, range(len(rows.indptr) - 1))
    names, numbers = _numbered(users, labels, argument, known)
    sources = np.full(len(names), -1, np.int64)
    sources[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the first of each
    if (again := sources[numbers] != np.arange(len(numbers))).any():
        row, count = int(np.argmax(again)), int(again.sum())
        raise input_error(argument, "each user once", f"{names.shown(int(numbers[row]))} again", row=row, count=count)
    return taken(rows, sources)._replace(users=names)


def item_ids(items: Column, argument: str, known: Known, *, extend: bool = True) -> tuple[Ids, Names | None]:
    """Return integers as they are; of strings or bytes, their numbers and what these mean."""
    check_names(items, argument)
    if items.kind == "int":
        return id_array(items.numbers(argument), argument), None
    catalogue = started([items.kind], (), known.items) if extend or known.items is None else known.items
    return catalogue.number([items], argument, known.threads), catalogue


def started(kinds: Sequence[str], labels: Sequence[str], known: Names | None) -> Names:
    """Return names of these kinds to add to: those that go on from the known ones, if they are of these kinds."""
    return known.extended() if known is not None and known.kinds == tuple(kinds) else Names.of_kinds(kinds, labels)


def _numbered(users: Sequence[Column], labels: Sequence[str], argument: str, known: Known) -> tuple[Names, Numbers]:
    checked_users(users, labels, argument)
    names = started([column.kind for column in users], labels, known.users)
    return names, names.number(users, argument, known.threads)


def checked_users(users: Sequence[Column], labels: Sequence[str], argument: str) -> Sequence[Column]:
    """Return the columns if they can be names."""
    for column, label in zip(users, labels, strict=True):
        check_names(column, f"{argument}.{label}")
    return users


def rank_array(ranks: Column, argument: str) -> NDArray[Any]:
    """Return ranks as int64 or float64."""
    array = ranks.numbers(argument)
    if array.dtype.kind in "iu":
        if (beyond := array > np.iinfo(np.int64).max).any():
            position, count = int(np.argmax(beyond)), int(beyond.sum())
            raise input_error(argument, "ranks below 2^63", str(array[position]), position=position, count=count)
        return id_array(array, argument).astype(np.int64, copy=False)
    return number_array(array, argument)


def _with_rows(indptr: Offsets) -> NDArray[np.bool_] | None:
    """Return which users have rows; None if all have. Who has none is missing: nothing else names that user."""
    present = np.diff(indptr) > 0
    return None if present.all() else present


def _check_lengths(argument: str, *columns: Any) -> None:  # noqa: ANN401 - whatever has a length
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise input_error(argument, "columns of one length", " and ".join(map(str, sizes)))
