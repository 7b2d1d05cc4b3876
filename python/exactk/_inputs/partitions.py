"""Rows that are not sorted by user, in a temporary file: in parts that each hold all rows of some of the users."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.batches import Block, LongRows, Reader
from exactk._inputs.model.rows import Rows, reindexed
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids
    from exactk._inputs.model.rows import FrameRow

PARTITIONS = 64  # a power of two; a billion rows need some hundred MB in memory for each
BLOCK_ROWS = 1 << 19  # adjacent partitions are read together up to about this many rows


class _Segment(NamedTuple):
    """The rows of one batch in the file, partition by partition, a column after another."""

    row_offsets: NDArray[np.int64]  # of the partitions
    columns: list[tuple[int, np.dtype[Any]] | None]  # the position in the file, and the type; None: no such column


class Partitions:
    """The rows of all batches, which may be in any order. The temporary file is deleted when this is closed, or killed.

    A user's partition is the remainder of the user's code, which a vocabulary gives in order of appearance: partitions
    have as many users each as possible. Copy all rows before reading blocks, which may be done in another thread.
    """

    def __init__(self, make_reader: Callable[[], Reader], threads: int) -> None:
        self._make_reader = make_reader  # for messages, which locate rows by reading again
        self._threads = threads
        self._segments: list[_Segment] = []
        self.reader = make_reader()
        with _needing_room():
            self._file = tempfile.TemporaryFile(prefix="exactk", buffering=0)  # noqa: SIM115 - __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def copy_rows(self) -> None:
        """Copy all rows to the file."""
        for long_rows in self.reader:
            self._write(long_rows)

    def _write(self, long_rows: LongRows) -> None:
        arrays = [long_rows.user_codes, _narrowed(long_rows.items), long_rows.scores, long_rows.ranks]
        present = [array for array in arrays if array is not None]
        numbers = _partition_of(long_rows.user_codes)
        row_offsets, grouped = _core.group_by_user(numbers, PARTITIONS, present, self._threads, "predictions")
        parts = iter(present if grouped is None else grouped)
        columns = [None if array is None else self._append(next(parts)) for array in arrays]
        self._segments.append(_Segment(row_offsets, columns))

    def _append(self, array: NDArray[Any]) -> tuple[int, np.dtype[Any]]:
        position, unwritten = self._file.tell(), np.ascontiguousarray(array).view(np.uint8).data
        with _needing_room():
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
        return position, array.dtype

    def blocks(self) -> Iterator[Block]:
        """Yield all users who have rows, with all of these: those of one partition, or of several that have few rows."""
        count = PARTITIONS
        while count > 1 and self.reader.row_count * count > BLOCK_ROWS * PARTITIONS:
            count //= 2
        for first in range(0, PARTITIONS, count):
            partitions = range(first, first + count)
            parts = [self._read(segment, partitions) for segment in self._segments]
            parts = [part for part in parts if len(part)]
            if parts:
                yield self._block(LongRows.concatenate(parts), partitions)

    def _read(self, segment: _Segment, partitions: range) -> LongRows:
        begin, end = segment.row_offsets[[partitions.start, partitions.stop]].tolist()
        return LongRows(*[None if one is None else self._read_column(*one, begin, end) for one in segment.columns])  # type: ignore[arg-type]

    def _read_column(self, position: int, dtype: np.dtype[Any], begin: int, end: int) -> NDArray[Any]:
        array = np.empty(end - begin, dtype)
        self._file.seek(position + begin * dtype.itemsize)
        unread = array.view(np.uint8).data
        while unread:
            size = self._file.readinto(unread)
            if not size:
                message = "the temporary file of the rows has become shorter"
                raise OSError(message)
            unread = unread[size:]
        return array

    def _block(self, long_rows: LongRows, partitions: range) -> Block:
        assert self.reader.user_vocabulary is not None  # noqa: S101 - a user was read
        keys = self.reader.user_vocabulary.snapshot()
        row_starts = np.arange(0, len(keys), PARTITIONS, dtype=np.uint32)  # the codes of a row of a table by partition
        codes = (row_starts[:, None] + np.array(partitions, np.uint32)).reshape(-1)
        positions = _partition_of(long_rows.user_codes) - np.uint32(partitions.start)
        positions += long_rows.user_codes // np.uint32(PARTITIONS) * np.uint32(len(partitions))
        ranks = long_rows.ranks
        rows = long_format.group_by_user(
            Rows(np.zeros(0, np.int64), long_rows.items, scores=long_rows.scores, user_vocabulary=keys),
            positions,
            lambda: positions,
            None if ranks is None else long_format.RankColumn(ranks, self.reader.order_hint),
            "predictions",
            self._threads,
            lambda number: self._locate(partitions, number),
            codes,
        )
        filled = np.flatnonzero(np.diff(rows.indptr))
        rows = rows._replace(
            indptr=np.concatenate([rows.indptr[:-1][filled], rows.indptr[-1:]]),
            present=None,
            find_row=reindexed(rows.find_row, filled),
            user_vocabulary=None,
            item_vocabulary=self.reader.item_keys,
        )
        return Block(codes[filled], rows)

    def _locate(self, partitions: range, number: int) -> FrameRow:
        """Return the location of a row of some partitions, which are one after another within each batch."""
        reader, before = self._make_reader(), 0
        for long_rows in reader:
            numbers = _partition_of(long_rows.user_codes)
            rows = np.flatnonzero((numbers >= partitions.start) & (numbers < partitions.stop))
            if number < before + len(rows):
                row = rows[np.argsort(numbers[rows], kind="stable")][number - before]
                return reader.locate(long_rows.first_row + int(row))
            before += len(rows)
        raise input_error("source", "the same frames in each call", f"{reader.row_count} rows after more")


def _partition_of(user_codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return user_codes & np.uint32(PARTITIONS - 1)


def _narrowed(items: Ids) -> Ids:
    """Return ids in 32 bits, of the same signedness, if all fit, so that the file is smaller."""
    narrow = np.dtype(f"{items.dtype.kind}4")
    bounds = np.iinfo(narrow)
    fit = items.itemsize > narrow.itemsize and bounds.min <= items.min() and items.max() <= bounds.max
    return items.astype(narrow) if fit else items


@contextmanager
def _needing_room() -> Iterator[None]:
    """Say in an error about the temporary file where it is, and what needs none."""
    try:
        yield
    except OSError as error:
        try:
            folder = tempfile.gettempdir()
        except OSError:
            folder = "a temporary directory"
        hint = "the environment variable TMPDIR names another directory; files that are sorted by user need none"
        expected = f"room in {folder} for a copy of rows that are not sorted by user"
        raise input_error("predictions", expected, error.strerror or str(error), hint=hint) from error
