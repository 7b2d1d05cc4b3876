"""Plain rows in CSR form: the result of an adapter, aligned before the canonical containers are built; where they were in a frame."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import (
    Ids,
    Offsets,
    as_ndarray,
    converted,
    flag_array,
    flat_positions,
    id_array,
    number_array,
    offsets_of,
    parts,
    parts_of_rows,
    row_at,
)
from exactk._runtime.errors import ExactkError, input_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sized

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Offsets
    from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary


class FrameRow(NamedTuple):
    """A row of a data frame or file."""

    number: int  # from 0
    source: str = "the frame"  # name in messages
    position: int | None = None  # in the list that the row holds

    def __str__(self) -> str:
        position = "" if self.position is None else f", position {self.position}"
        return f"row {self.number} of {self.source}{position}"


Locate: TypeAlias = Callable[[int], FrameRow]
"""Maps a row number among all rows read to its location."""

FindRow: TypeAlias = Callable[[int, int | None], FrameRow | None]
"""Maps a user's row and a position in it to the frame's row; None if that is not a single row."""


def locate_in_parts(names: Sequence[str], first_rows: Sequence[int]) -> Locate:
    """Return a locator of rows read in parts, from each part's name and the number of its first row."""

    def locate(number: int) -> FrameRow:
        part = bisect_right(first_rows, number) - 1
        return FrameRow(number - first_rows[part], names[part])

    return locate


def rows_together(indptr: Offsets, locate: Locate) -> FindRow:
    """Return a locator of rows that are grouped by user."""
    return lambda user, position: None if position is None else locate(int(indptr[user]) + position)


def rows_apart(user_codes: Callable[[], Codes], ranks: NDArray[Any] | None, locate: Locate) -> FindRow:
    """Return a locator of rows in the order of the frame, or of the ranks if given, by their users."""

    def find_row(user: int, position: int | None) -> FrameRow | None:
        if position is None:
            return None
        rows = np.flatnonzero(user_codes() == user)
        if ranks is not None:
            rows = rows[np.argsort(ranks[rows], kind="stable")]
        return locate(int(rows[position])) if position < len(rows) else None  # None if the frame has changed meanwhile

    return find_row


def rows_with_lists(source: str) -> FindRow:
    """Return a locator of rows that each hold one user's list."""
    return lambda user, position: FrameRow(user, source, position)


def reindexed(find_row: FindRow | None, sources: NDArray[np.int64]) -> FindRow | None:
    """Return a locator for reordered users: user i is user `sources[i]`, or without rows where that is -1."""
    if find_row is None:
        return None
    return lambda user, position: None if sources[user] < 0 else find_row(int(sources[user]), position)


def of_first_rows(find_row: FindRow | None, size: int) -> FindRow | None:
    """Return a locator for the first users; the others have no rows."""
    if find_row is None:
        return None
    return lambda user, position: find_row(user, position) if user < size else None


def with_frame_row(error: ExactkError, find_row: FindRow | None) -> ExactkError:
    """Return the error with the row of the frame, if any, instead of the user's row and position."""
    if find_row is None or error.row is None:
        return error
    frame_row = find_row(error.row, error.position)
    if frame_row is None:
        return error.amended(row=None, position=None, location="")
    return error.amended(row=frame_row.number, position=frame_row.position, location=str(frame_row))


def with_location(
    error: ExactkError, users: Snapshot | None, find_row: FindRow | None, codes: Codes | None = None
) -> ExactkError:
    """Return the error with the key of the user in whose row it is, and the row of the frame.

    `codes` are the users of the rows, if these are not all users in their order.
    """
    return with_frame_row(error if users is None else users.with_user(error, codes), find_row)


def of_row(error: ExactkError, locate: Locate) -> ExactkError:
    """Return the error, whose position is the number of a row that is read, with the row of the frame."""
    if error.row is not None or error.position is None:
        return error
    frame_row = locate(error.position)
    return error.amended(row=frame_row.number, position=frame_row.position, location=str(frame_row))


@contextmanager
def name_rows(locate: Locate) -> Iterator[None]:
    """Say of an error about a column, whose position is the number of a row that is read, which row of the frame it is."""
    try:
        yield
    except ExactkError as error:
        raise of_row(error, locate) from error.__cause__


def locate_in_frame(source: str, list_offsets: Offsets | None = None) -> Locate:
    """Return a locator of rows of one frame; in a column of lists, of elements of all lists."""
    if list_offsets is None:
        return lambda number: FrameRow(number, source)

    def locate(number: int) -> FrameRow:
        row, position = row_at(list_offsets, number)
        return FrameRow(row, source, position)

    return locate


class TruthColumns(NamedTuple):
    """The source columns of a truth from a frame or file, or of exclusions."""

    used: tuple[str, ...] = ()
    grade: str | None = None  # of exclusions: one that is 0 in some rows, which count as the others do
    unused: tuple[str, ...] = ()  # columns of numbers that could be grades
    events: tuple[tuple[str, ...], ...] = ()  # columns that say what happened, each with its values


class Rows(NamedTuple):
    """The arguments of `Truth`, `Rankings`, `SparseScores` and `Exclusions`."""

    indptr: Offsets
    items: Ids
    grades: NDArray[np.float64] | None = None
    present: NDArray[np.bool_] | None = None
    lengths: Offsets | None = None  # row lengths of a padded matrix
    scores: NDArray[Any] | None = None
    ranks: NDArray[Any] | None = None  # given ranks, int64 or float64, ascending per row; None: 1, 2, 3, ...
    user_vocabulary: Snapshot | None = None  # keyed users of the rows; None: rows are matched by position
    item_vocabulary: Snapshot | None = None  # item keys, if items are codes
    is_complete: bool = False  # whether all items that may be ranked are given, as in a matrix, not only the best
    columns: TruthColumns = TruthColumns()
    find_row: FindRow | None = None  # locates rows in a frame or file, for messages; not pickled
    labels: NDArray[Any] | None = None  # user labels of a truth, if rows are in the caller's order
    unknown_actual: int | None = None  # number of dropped unknown ratings; None if the truth is not made from ratings
    min_score: float | None = None  # of scores
    column_count: int | None = None  # of the matrix without item keys whose column numbers the items are
    is_owned: bool = False  # whether no other code can write to the arrays

    @property
    def users(self) -> NDArray[Any] | None:
        """The user keys or labels; None if users are row numbers."""
        return self.labels if self.user_vocabulary is None else self.user_vocabulary.array

    @property
    def user_count(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def has_columns(self) -> bool:
        """Whether items are column numbers of a matrix without item keys."""
        return self.column_count is not None

    def with_entries(self, which: slice | NDArray[Any], **changes: Any) -> Rows:  # noqa: ANN401 - other fields
        """Return rows of these entries alone, with other fields changed."""
        for name in ("items", "grades", "scores", "ranks"):
            entries = getattr(self, name)
            changes[name] = None if entries is None else entries[which]
        return self._replace(**changes)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for `from_plain`, so that pickles name no private class."""
        vocabularies = {"user_vocabulary": self.user_vocabulary, "item_vocabulary": self.item_vocabulary}
        plain = {name: None if keys is None else keys.to_plain() for name, keys in vocabularies.items()}
        plain |= {"columns": tuple(self.columns)}
        return {name: getattr(self, name) for name in _PLAIN_FIELDS} | plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Rows:
        """Return the rows that `to_plain` described."""
        from exactk._inputs.keys.vocabulary import Snapshot

        vocabularies = {
            name: None if plain[name] is None else Snapshot.from_plain(plain[name])
            for name in ("user_vocabulary", "item_vocabulary")
        }
        return cls(**plain | vocabularies | {"columns": TruthColumns(*plain["columns"])})


_PLAIN_FIELDS = ("indptr", "items", "grades", "present", "lengths", "scores", "ranks", "is_complete", "column_count")


def with_labels_as_keys(rows: Rows, argument: str) -> Rows:
    """Return the rows of a truth in another argument: its labels are the keys of users, who must be distinct."""
    from exactk._inputs.keys.vocabulary import vocabulary_of_labels

    if rows.labels is None:
        return rows
    keys = vocabulary_of_labels(rows.labels, f"{argument}.users").snapshot()
    return rows._replace(user_vocabulary=keys, labels=None)


def validated_copy(rows: Rows, argument: str) -> Rows:
    """Return copied, validated rows of a truth or of exclusions, without padding; raise InputError if invalid."""
    lists = _core.Lists(rows.items, rows.indptr, rows.lengths, rows.present, argument)
    try:
        lists.validate(argument, rows.grades)
    except ExactkError as error:
        raise with_location(error, rows.user_vocabulary, rows.find_row) from None
    rows = remove_padding(rows)
    if rows.is_owned:
        return rows if rows.items.dtype == np.int64 else rows._replace(items=converted(rows.items, np.int64))
    return rows._replace(
        indptr=converted(rows.indptr, np.int64),
        items=converted(rows.items, np.int64),
        grades=None if rows.grades is None else converted(rows.grades, rows.grades.dtype),
        present=None if rows.present is None else rows.present.copy(),
        is_owned=True,
    )


def encode_items_again(rows: Rows, items: Vocabulary, argument: str) -> Rows:
    """Return the rows, of some items, with the codes of another vocabulary, which gets new keys."""
    from exactk._inputs.keys.columns import NumberColumn

    if not len(rows.items):
        return rows._replace(item_vocabulary=None)
    if rows.item_vocabulary is None:
        codes = items.encode([NumberColumn(rows.items)], argument)
    else:
        codes = items.extend(rows.item_vocabulary, argument)[rows.items]
    return rows._replace(items=codes.astype(np.int64), item_vocabulary=None)


def count_users(rows: Rows | Sized) -> int:
    """Return the number of users of rows or of a container."""
    return rows.user_count if isinstance(rows, Rows) else len(rows)


def reindex(rows: Rows, sources: NDArray[np.int64]) -> Rows:
    """Return the rows in another order: row i is row `sources[i]`, or that of a missing user where it is -1."""
    size, absent = len(rows.indptr) - 1, sources < 0
    shared = min(size, len(sources))
    if np.array_equal(sources[:shared], np.arange(shared)) and absent[shared:].all():
        return resize(rows, len(sources))
    if size and rows.lengths is None and _are_consecutive(sources):
        return _consecutive(rows, int(sources[0]), int(sources[-1]) + 1, sources)
    lengths, starts, present = np.zeros(len(sources), np.int64), np.zeros(len(sources), np.int64), ~absent
    if size:
        existing = np.where(absent, 0, sources)
        starts = rows.indptr[existing]
        source_lengths = rows.indptr[existing + 1] - starts if rows.lengths is None else rows.lengths[existing]
        lengths = np.where(absent, 0, source_lengths)
        present &= True if rows.present is None else rows.present[existing]
    indptr, offsets = flat_positions(starts, lengths)
    return rows.with_entries(
        offsets,
        indptr=indptr,
        present=None if present.all() else present,
        lengths=None,
        find_row=reindexed(rows.find_row, sources),
        is_owned=True,
    )


def _are_consecutive(sources: NDArray[np.int64]) -> bool:
    """Return whether the rows follow one another, as those of a part of a sorted file do."""
    return bool(
        len(sources) and sources[0] >= 0 and np.array_equal(sources, np.arange(sources[0], sources[0] + len(sources)))
    )


def _consecutive(rows: Rows, begin: int, end: int, sources: NDArray[np.int64]) -> Rows:
    """Return consecutive rows, whose items are not copied."""
    first, last = rows.indptr[begin], rows.indptr[end]
    present = None if rows.present is None else rows.present[begin:end]
    return rows.with_entries(
        slice(first, last),
        indptr=rows.indptr[begin : end + 1] - first,
        present=None if present is None or present.all() else present,
        find_row=reindexed(rows.find_row, sources),
    )


def resize(rows: Rows, size: int) -> Rows:
    """Return the first rows, or all rows followed by those of missing users; the items are not copied."""
    old_size = len(rows.indptr) - 1
    if size == old_size:
        return rows
    if size < old_size:
        rows = rows.with_entries(slice(int(rows.indptr[size])))
    indptr = np.concatenate([rows.indptr[: size + 1], np.full(max(0, size - old_size), rows.indptr[-1])])
    present = np.arange(size) < old_size
    if rows.present is not None:
        present[:old_size] &= rows.present[:size]
    lengths = None if rows.lengths is None else np.resize(rows.lengths, size) * (np.arange(size) < old_size)
    find_row = rows.find_row if size < old_size else of_first_rows(rows.find_row, old_size)
    return rows._replace(indptr=indptr, present=None if present.all() else present, lengths=lengths, find_row=find_row)


def padded_rows(ids: object, argument: str) -> Rows:
    """Return the rows of an id matrix that is padded with -1."""
    array = id_array(ids, argument, dimensions=2)
    return matrix_rows(array, _core.padded_lengths(array, argument))


def matrix_rows(ids: Ids, lengths: Offsets | None, *, is_owned: bool = False) -> Rows:
    """Return the rows of a matrix, of the given lengths or full."""
    users, width = ids.shape
    indptr = np.arange(0, users * width + 1, width, dtype=np.int64) if width else np.zeros(users + 1, np.int64)
    return Rows(indptr, ids.reshape(-1), lengths=lengths, is_owned=is_owned)


def graded_rows(grades: object, argument: str) -> Rows:
    """Return the columns with a grade in each row of a matrix; for a bool matrix, the True ones."""
    matrix = as_ndarray(grades, argument)
    if matrix.dtype.kind == "b":
        flags = flag_array(matrix, argument, dimensions=2)
        return _selected(flags)
    numbers = number_array(matrix, argument, dimensions=2)
    if (infinite := np.isinf(numbers)).any():
        row, column = divmod(int(np.argmax(infinite)), numbers.shape[1])
        found, count = str(numbers[row, column]), int(infinite.sum())
        raise input_error(argument, "finite grades, or NaN", found, row=row, position=column, count=count)
    return _selected(~np.isnan(numbers), numbers)


def _selected(mask: NDArray[np.bool_], numbers: NDArray[np.float64] | None = None) -> Rows:
    """Return the indices of the True columns, with their numbers as grades."""
    lengths = [mask[part].sum(axis=1) for part in parts(mask)]
    indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]), dtype=np.int64)
    columns = np.empty(int(indptr[-1]), np.int64)
    grades = None if numbers is None else np.empty(len(columns), np.float64)
    for part in parts(mask):
        where = slice(indptr[part.start], indptr[min(part.stop, len(mask))])
        columns[where] = np.nonzero(mask[part])[1]
        if grades is not None and numbers is not None:
            grades[where] = numbers[part][mask[part]]
    return Rows(indptr, columns, grades=grades, column_count=mask.shape[1], is_owned=True)


def slice_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Return the items of consecutive rows, with offsets from 0."""
    indptr = rows.indptr[begin : end + 1]
    items = rows.items[indptr[0] : indptr[-1]]
    return Rows(indptr - indptr[0], items, item_vocabulary=rows.item_vocabulary, column_count=rows.column_count)


def remove_padding(rows: Rows) -> Rows:
    """Return the rows without padding in between."""
    if rows.lengths is None:
        return rows
    indptr = offsets_of(rows.lengths)
    items = np.empty(int(indptr[-1]), rows.items.dtype)
    for part in parts_of_rows(indptr):
        begin, end = indptr[part.start], indptr[part.stop]
        offsets = np.arange(begin, end) + np.repeat(rows.indptr[part] - indptr[part], rows.lengths[part])
        items[begin:end] = rows.items[offsets]
    return rows._replace(indptr=indptr, items=items, lengths=None, is_owned=True)
