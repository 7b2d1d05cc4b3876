"""Locations of faults in a data frame or file, looked up only when a message needs them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Offsets
    from exactk._inputs.keys.vocabulary import Snapshot


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
        row = int(np.searchsorted(list_offsets, number, side="right")) - 1
        return FrameRow(row, source, number - int(list_offsets[row]))

    return locate
