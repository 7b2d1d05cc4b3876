"""From columns to rows in CSR form: users are numbered by name, their rows brought together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrik import _core
from metrik._errors import MetrikError, input_error
from metrik._inputs.canonical import Rows, taken
from metrik._inputs.checks import id_array, number_array
from metrik._inputs.columns import check_names
from metrik._inputs.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from metrik._inputs.checks import Ids, Offsets
    from metrik._inputs.columns import Column
    from metrik._inputs.frames import EntryColumns


class Known(NamedTuple):
    """Names that others go on from, so that what is numbered alike needs no numbers changed."""

    users: Names | None = None
    items: Names | None = None


def of_entries(columns: EntryColumns, argument: str, known: Known) -> Rows:
    """Return the rows of entries of one user and one item each, in any order; those of a user stay in theirs."""
    users, labels, items, grades, scores, ranks = columns
    _check_lengths(argument, *users, items, *(column for column in (grades, scores, ranks) if column is not None))
    names, numbers = _numbered(users, labels, argument, known.users)
    places = None if ranks is None else rank_array(ranks, f"{argument}.rank")
    try:
        indptr, order = _core.grouped(numbers, len(names), places, argument)
    except MetrikError as error:
        raise _of_user(error, names) from None
    ids, catalogue = item_ids(items, f"{argument}.item", known.items)
    return Rows(
        indptr,
        _ordered(ids, order),
        None if grades is None else _ordered(number_array(grades.numbers(f"{argument}.grade"), argument), order),
        present=_with_rows(indptr),
        scores=None if scores is None else _ordered(scores.numbers(f"{argument}.score"), order),
        users=names,
        catalogue=catalogue,
    )


def of_lists(users: Sequence[Column], labels: Sequence[str], rows: Rows, argument: str, known: Known) -> Rows:
    """Return rows that have one user each as rows of the users by name."""
    _check_lengths(argument, *users, range(len(rows.indptr) - 1))
    names, numbers = _numbered(users, labels, argument, known.users)
    sources = np.full(len(names), -1, np.int64)
    sources[numbers] = np.arange(len(numbers))
    if (twice := sources[numbers] != np.arange(len(numbers))).any():
        row = int(np.argmax(twice))
        raise input_error(argument, "each user once", f"{names.shown(int(numbers[row]))} again", row=row)
    return taken(rows, sources)._replace(users=names)


def item_ids(items: Column, argument: str, known: Names | None, *, extend: bool = True) -> tuple[Ids, Names | None]:
    """Return integers as they are; of strings or bytes, their numbers and what these mean."""
    check_names(items, argument)
    if items.kind == "int":
        return id_array(items.numbers(argument), argument), None
    catalogue = started([items.kind], (), known) if extend or known is None else known
    return catalogue.number([items], argument), catalogue


def started(kinds: Sequence[str], labels: Sequence[str], known: Names | None) -> Names:
    """Return names of these kinds to add to: those that go on from the known ones, if they are of these kinds."""
    return known.extended() if known is not None and known.kinds == tuple(kinds) else Names.of_kinds(kinds, labels)


def _numbered(
    users: Sequence[Column], labels: Sequence[str], argument: str, known: Names | None
) -> tuple[Names, NDArray[np.uint32]]:
    checked_users(users, labels, argument)
    names = started([column.kind for column in users], labels, known)
    return names, names.number(users, argument)


def checked_users(users: Sequence[Column], labels: Sequence[str], argument: str) -> Sequence[Column]:
    """Return the columns if they can be names."""
    for column, label in zip(users, labels, strict=True):
        check_names(column, f"{argument}.{label}")
    return users


def rank_array(ranks: Column, argument: str) -> NDArray[Any]:
    """Return ranks as int64 or float64."""
    array = ranks.numbers(argument)
    if array.dtype.kind in "iu":
        return id_array(array, argument).astype(np.int64, copy=False)
    return number_array(array, argument)


def _ordered(values: NDArray[Any], order: Offsets | None) -> NDArray[Any]:
    return values if order is None else values[order]


def _with_rows(indptr: Offsets) -> NDArray[np.bool_] | None:
    """Return which users have rows; None if all have. Who has none is missing: nothing else names that user."""
    present = np.diff(indptr) > 0
    return None if present.all() else present


def _of_user(error: MetrikError, names: Names) -> MetrikError:
    """Return the error with the name of the user whose row is at fault."""
    return error if error.row is None else type(error)(f"{error} (user {names.shown(error.row)})", error.argument)


def _check_lengths(argument: str, *columns: Any) -> None:  # noqa: ANN401 - whatever has a length
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise input_error(argument, "columns of one length", " and ".join(map(str, sizes)))
