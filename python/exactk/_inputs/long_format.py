"""From long format to rows in CSR form: encode users, and group rows by user."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import first_and_count, id_array, number_array, row_at
from exactk._inputs.keys.columns import key_kind
from exactk._inputs.keys.vocabulary import SharedVocabulary, Vocabulary
from exactk._inputs.model.rows import (
    Rows,
    locate_in_frame,
    of_row,
    reindex,
    rows_apart,
    rows_together,
    with_frame_row,
    with_location,
)
from exactk._runtime.errors import ExactkError, input_error
from exactk._runtime.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Ids, Offsets
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.rows import Locate
    from exactk._runtime.faults import Text


class LongColumns(NamedTuple):
    """The columns of long format: one row per user and item."""

    users: list[Column]
    labels: list[str]
    items: Column
    grades: Column | None = None
    scores: Column | None = None
    ranks: Column | None = None
    hint: Text = ()  # how to select scores or ranks, if there are both


class Encoding(Record, eq=False, init=False):
    """The vocabularies and the number of threads that encode the keys of all inputs of a call.

    `source` is the name of the rows' container in messages. `outlives_call` is whether the resulting containers may be
    kept after the caller's arrays are gone.
    """

    threads: int
    source: str
    outlives_call: bool
    users: SharedVocabulary
    items: SharedVocabulary

    def __init__(
        self,
        threads: int = 1,
        source: str = "the frame",
        *,
        outlives_call: bool = True,
        users: SharedVocabulary | None = None,
        items: SharedVocabulary | None = None,
    ) -> None:
        users, items = users or SharedVocabulary(), items or SharedVocabulary()
        vars(self).update(threads=threads, source=source, outlives_call=outlives_call, users=users, items=items)


class RankColumn(NamedTuple):
    """The ranks of rows in long format, and how to select scores or ranks if there are both."""

    values: NDArray[Any]
    hint: Text


def rows_from_long_format(
    columns: LongColumns, argument: str, encoding: Encoding, locate: Locate | None = None
) -> Rows:
    """Return the rows of long format, in any order; each user's items keep their order.

    Messages locate rows by `locate`, or else name the encoding's source.
    """
    users, labels, items, grades, scores, ranks, hint = columns
    _check_lengths(argument, *users, items, *(column for column in (grades, scores, ranks) if column is not None))
    locate = locate or locate_in_frame(encoding.source)
    try:
        user_vocabulary, user_codes = _encode_users(users, labels, argument, encoding)
        ids, item_keys = encode_items(items, f"{argument}.item", encoding)
        rows = Rows(
            np.zeros(0, np.int64),
            ids,
            None if grades is None else grade_array(grades, f"{argument}.grade"),
            scores=None if scores is None else scores.values(f"{argument}.score"),
            user_vocabulary=user_vocabulary.snapshot(),
            item_vocabulary=item_keys,
        )
        order = None if ranks is None else RankColumn(rank_array(ranks, f"{argument}.rank"), hint)
    except ExactkError as error:
        raise of_row(error, locate) from error.__cause__
    find_codes = (lambda: user_codes) if encoding.outlives_call else partial(user_vocabulary.encode, users, argument)
    return group_by_user(rows, user_codes, find_codes, order, argument, encoding.threads, locate)


def group_by_user(
    rows: Rows,
    user_codes: Codes,
    find_codes: Callable[[], Codes],
    ranks: RankColumn | None,
    argument: str,
    threads: int,
    locate: Locate,
    users: Codes | None = None,
) -> Rows:
    """Return rows of long format, which belong to users of these codes, user by user; by rank if there are ranks.

    Scores beside ranks must give the same order, and are left out. For messages, `find_codes` returns the codes again.
    With `users`, rows belong to some users of the vocabulary only, and their codes are positions in `users`.
    """
    assert rows.user_vocabulary is not None  # noqa: S101 - long format has users
    if ranks is not None:
        return _order_by_rank(rows, user_codes, find_codes, ranks, argument, locate, users)
    columns = [part for part in (rows.items, rows.grades, rows.scores) if part is not None]
    user_count = rows.user_vocabulary.size if users is None else len(users)
    indptr, grouped = _core.group_by_user(user_codes, user_count, columns, threads, argument)
    parts = iter(columns if grouped is None else grouped)
    return rows._replace(
        indptr=indptr,
        items=next(parts),
        grades=None if rows.grades is None else next(parts),
        scores=None if rows.scores is None else next(parts),
        present=_users_with_rows(indptr),
        find_row=rows_together(indptr, locate) if grouped is None else rows_apart(find_codes, None, locate),
        is_owned=grouped is not None,
    )


def _order_by_rank(
    rows: Rows,
    user_codes: Codes,
    find_codes: Callable[[], Codes],
    column: RankColumn,
    argument: str,
    locate: Locate,
    users: Codes | None,
) -> Rows:
    """Return the rows grouped by user, in rank order."""
    assert rows.user_vocabulary is not None  # noqa: S101 - long format has users
    ranks, scores = column.values, rows.scores
    find_row = rows_apart(find_codes, ranks, locate)
    try:
        user_count = rows.user_vocabulary.size if users is None else len(users)
        indptr, order = _core.order_by_user(user_codes, user_count, ranks, argument)
        check_same_order(scores if scores is None or order is None else scores[order], indptr, argument, column.hint)
    except ExactkError as error:
        raise of_row(with_location(error, rows.user_vocabulary, find_row, users), locate) from None
    if order is not None:
        rows, ranks = rows._replace(items=rows.items[order]), ranks[order]
    uncommon = uncommon_ranks(ranks, indptr)
    return rows._replace(
        scores=None,
        indptr=indptr,
        ranks=uncommon.copy() if uncommon is ranks and order is None else uncommon,  # the caller can write to them
        present=_users_with_rows(indptr),
        find_row=rows_together(indptr, locate) if order is None else find_row,
        is_owned=order is not None,
    )


def lists_by_rank(rows: Rows, ranks: NDArray[Any], argument: str, hint: Text) -> Rows:
    """Return the lists of items in rank order. Scores beside ranks must give the same order, and are left out."""
    count = len(rows.indptr) - 1
    lists = np.repeat(np.arange(count, dtype=np.uint32), np.diff(rows.indptr))
    _, order = _core.order_by_user(lists, count, ranks, argument)
    if order is not None:
        rows = rows._replace(items=rows.items[order], scores=None if rows.scores is None else rows.scores[order])
        ranks = ranks[order]
    check_same_order(rows.scores, rows.indptr, argument, hint)
    return rows._replace(scores=None, ranks=uncommon_ranks(ranks, rows.indptr))


def check_same_order(scores: NDArray[Any] | None, indptr: Offsets, argument: str, hint: Text) -> None:
    """Raise InputError unless each user's scores, which are in rank order, descend; equal scores may be in any order."""
    if scores is None or not len(scores):
        return
    ascends = np.concatenate([[False], ~(scores[1:] <= scores[:-1])])  # NaN has no order
    ascends[indptr[:-1][np.diff(indptr) > 0]] = False
    if not ascends.any():
        return
    offset, count = first_and_count(ascends)
    row, position = row_at(indptr, offset)
    found = f"score {scores[offset]} ranked below score {scores[offset - 1]}"
    expected = "scores and ranks that give the same order, or one of them"
    raise input_error(argument, expected, found, row=row, position=position, count=count, hint=hint)


def uncommon_ranks(ranks: NDArray[Any], indptr: Offsets) -> NDArray[Any] | None:
    """Return the ranks, ascending per user; None if they are 1, 2, 3, ... for every user."""
    starts = indptr[:-1][np.diff(indptr) > 0]
    is_usual = np.concatenate([np.zeros(1, np.bool_), ranks[1:] == ranks[:-1] + 1])[: len(ranks)]
    is_usual[starts] = ranks[starts] == 1
    return None if is_usual.all() else ranks


def rows_by_user(users: Sequence[Column], labels: Sequence[str], rows: Rows, argument: str, encoding: Encoding) -> Rows:
    """Return rows, each of which belongs to the user in the same row of the columns, as rows of these users."""
    _check_lengths(argument, *users, range(len(rows.indptr) - 1))
    vocabulary, codes = _encode_users(users, labels, argument, encoding)
    if len(codes) == len(vocabulary) and (codes == np.arange(len(codes))).all():  # as most often
        return rows._replace(user_vocabulary=vocabulary.snapshot())
    sources = np.full(len(vocabulary), -1, np.int64)
    sources[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of each
    if (repeated := sources[codes] != np.arange(len(codes))).any():
        row, count = first_and_count(repeated)
        found = f"{vocabulary.snapshot().repr_of(int(codes[row]))} again"
        raise with_frame_row(input_error(argument, "each user once", found, row=row, count=count), rows.find_row)
    return reindex(rows, sources)._replace(user_vocabulary=vocabulary.snapshot())


def encode_items(
    items: Column, argument: str, encoding: Encoding, vocabulary: Vocabulary | None = None
) -> tuple[Ids, Snapshot | None]:
    """Return integers unchanged; encode strings or bytes, in the given vocabulary or a new one, and return its keys."""
    kind = key_kind(items, argument)
    if kind == "int":
        return id_array(items.values(argument), argument), None
    if vocabulary is None:
        vocabulary = encoding.items.of_kinds([kind])
    return vocabulary.encode([items], argument, encoding.threads), vocabulary.snapshot()


def _encode_users(
    users: Sequence[Column], labels: Sequence[str], argument: str, encoding: Encoding
) -> tuple[Vocabulary, Codes]:
    vocabulary = encoding.users.of_kinds(key_kinds(users, labels, argument), labels)
    return vocabulary, vocabulary.encode(users, argument, encoding.threads)


def key_kinds(users: Sequence[Column], labels: Sequence[str], argument: str) -> list[str]:
    """Return the kinds of key columns."""
    return [key_kind(column, f"{argument}.{label}") for column, label in zip(users, labels, strict=True)]


def grade_array(grades: Column, argument: str) -> NDArray[np.float64]:
    """Return grades as float64; for bools, 1 is True."""
    array = grades.values(argument)
    return number_array(array.astype(np.int8) if array.dtype.kind == "b" else array, argument)


def rank_array(ranks: Column, argument: str) -> NDArray[Any]:
    """Return ranks as int64 or float64."""
    array = ranks.values(argument)
    if array.dtype.kind in "iu":
        if (beyond := array > np.iinfo(np.int64).max).any():
            position, count = first_and_count(beyond)
            raise input_error(argument, "ranks below 2^63", str(array[position]), position=position, count=count)
        return id_array(array, argument).astype(np.int64, copy=False)
    return number_array(array, argument)


def _users_with_rows(indptr: Offsets) -> NDArray[np.bool_] | None:
    """Return which users have rows; None if all have. A user without rows is missing."""
    present = np.diff(indptr) > 0
    return None if present.all() else present


def _check_lengths(argument: str, *columns: Any) -> None:  # noqa: ANN401 - whatever has a length
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise input_error(argument, "columns of equal length", " and ".join(map(str, sizes)))
