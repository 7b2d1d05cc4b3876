"""Predictions in batches, such as those of a file that is larger than memory: read in blocks of users, or by partitions.

Rows that are not sorted by user go to a temporary file, in partitions that each hold all rows of some of the users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.checks import number_array
from exactk._inputs.containers import frames
from exactk._inputs.containers.tables import is_frame
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.rows import FrameRow, Rows, locate_in_frame, locate_in_parts, name_rows, reindexed
from exactk._runtime import optional
from exactk._runtime.errors import input_error, name_source, type_error, warn
from exactk._runtime.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Ids, Offsets
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.rows import Locate
    from exactk._inputs.protocols import DataFrame
    from exactk._runtime.faults import Text


class Batches(Record, eq=False, init=False):
    """Predictions as a stream of data frames, such as the batches of a file.

    `exactk.evaluate` keeps only a few frames in memory if each user's rows are contiguous, possibly across frame
    boundaries; otherwise it reads all frames into memory.

    Parameters
    ----------
    source : callable without arguments
        Returns an iterable of all the data frames, of any supported library. It is called a second time, and must
        return the same frames, if a user's rows turn out not to be contiguous.
    user, item, score, rank : str, optional
        Column names, as in `exactk.as_predictions`.

    Examples
    --------
    >>> import exactk
    >>> import polars as pl
    >>> halves = [{"user": ["ann", "ann", "bob"], "item": [4, 2, 3], "rank": [1, 2, 1]},
    ...           {"user": ["bob", "eve"], "item": [21, 7], "rank": [2, 1]}]
    >>> batches = exactk.Batches(lambda: map(pl.DataFrame, halves))
    >>> batches
    <Batches of data frames>
    >>> exactk.evaluate({"ann": [2], "bob": [21], "eve": [1]}, batches, "recall@2")["recall@2"]
    0.6666666666666666
    """

    source: Callable[[], Iterable[DataFrame]]
    columns: ColumnNames
    named_frames: Callable[[], Iterable[tuple[str, Any]]]  # each with its name in messages
    is_of_files: bool  # frames are named by path

    def __init__(
        self,
        source: Callable[[], Iterable[DataFrame]],
        *,
        user: str | Sequence[str] | None = None,
        item: str | None = None,
        score: str | None = None,
        rank: str | None = None,
    ) -> None:
        if not callable(source):
            raise type_error("source", "a callable that returns data frames", type(source).__name__)
        anew = _Anew(source)
        vars(self).update(
            source=source,
            columns={"user": user, "item": item, "score": score, "rank": rank},
            named_frames=lambda: ((f"batch {index}", frame) for index, frame in enumerate(anew())),
            is_of_files=False,
        )

    def __repr__(self) -> str:
        return f"<Batches of {'files' if self.is_of_files else 'data frames'}>"

    @classmethod
    def of_files(cls, named_frames: Callable[[], Iterable[tuple[str, Any]]], columns: dict[str, Any]) -> Batches:
        """Return the batches of files; each frame is preceded by the path of its file."""
        batches = cls(lambda: (frame for _, frame in named_frames()), **columns)
        vars(batches).update(named_frames=named_frames, is_of_files=True)
        return batches


Batches.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


class _Anew:
    """A caller's source of frames, which must not return an iterator that was read before."""

    def __init__(self, source: Callable[[], Iterable[DataFrame]]) -> None:
        self._source = source
        self._last: object = None  # iterator

    def __call__(self) -> Iterable[DataFrame]:
        frames: Any = self._source()  # which types do not hold to
        if not isinstance(frames, Iterable) or optional.is_pandas(frames):
            hint = "exactk.Batches(lambda: [frame]) has one frame" if is_frame(frames) else ""
            raise type_error("source", "a callable that returns data frames", type(frames).__name__, hint=hint)
        if isinstance(frames, Iterator):
            if frames is self._last:
                raise input_error("source", "frames anew in each call", "an iterator that was returned before")
            self._last = frames
        return frames


class LongRows(Record, eq=False):
    """Rows in long format: one user and one item each."""

    user_codes: Codes
    items: Ids
    scores: NDArray[Any] | None
    ranks: NDArray[Any] | None
    first_row: int = 0  # its number among those of all batches

    def __len__(self) -> int:
        return len(self.user_codes)

    def between(self, begin: int, end: int | None) -> LongRows:
        """Return consecutive rows."""
        return self.take(slice(begin, end))._replace(first_row=self.first_row + int(begin))

    def take(self, rows: slice | NDArray[np.int64]) -> LongRows:
        """Return some of the rows."""
        return LongRows(
            self.user_codes[rows],
            self.items[rows],
            None if self.scores is None else self.scores[rows],
            None if self.ranks is None else self.ranks[rows],
        )

    @staticmethod
    def concatenate(parts: Sequence[LongRows]) -> LongRows:
        """Return the rows of all parts, copied."""
        scores = [part.scores for part in parts if part.scores is not None]
        ranks = [part.ranks for part in parts if part.ranks is not None]
        return LongRows(
            np.concatenate([part.user_codes for part in parts]),
            _concatenate_exactly([part.items for part in parts], "predictions.item"),
            _concatenate_exactly(scores, "predictions.score") if scores else None,
            _concatenate_exactly(ranks, "predictions.rank") if ranks else None,
            parts[0].first_row,
        )


def _concatenate_exactly(arrays: Sequence[NDArray[Any]], argument: str) -> NDArray[Any]:
    """Return one array; raise if NumPy would round integers to join them."""
    kinds = {array.dtype.kind for array in arrays}
    if np.result_type(*arrays).kind != "f" or kinds == {"f"}:
        return np.concatenate(arrays)
    if "f" not in kinds:  # int64 and uint64
        return np.concatenate([_to_int64(array, argument) for array in arrays])
    return np.concatenate([number_array(array, argument) for array in arrays])


def _to_int64(array: NDArray[Any], argument: str) -> NDArray[np.int64]:
    too_large = array > np.iinfo(np.int64).max
    if too_large.any():
        found = f"{array[np.argmax(too_large)]} in one batch and int64 in another"
        raise input_error(argument, "integers below 2^63, or uint64 in all batches", found)
    return array.astype(np.int64)


def _describe_order(rows: LongRows) -> str:
    both = rows.scores is not None and rows.ranks is not None
    return "scores and ranks" if both else "ranks" if rows.scores is None else "scores"


class Reader:
    """Reads batches, with one user vocabulary and one item vocabulary for all of them."""

    def __init__(self, batches: Batches, columns: ColumnNames, encoding: Encoding, *, again: bool = False) -> None:
        requested = {role: name for role, name in batches.columns.items() if name is not None}
        self._batches = batches
        self._columns: ColumnNames = {**columns, **requested}  # type: ignore[typeddict-item]
        self._encoding = encoding
        self._warns = not again  # warn about columns only once
        self.user_vocabulary: Vocabulary | None = None
        self._item_vocabulary: Vocabulary | None = None
        self._first_rows: dict[str, int] = {}  # first row of each batch or file
        self.row_count = 0  # of the rows read so far
        self.order_hint: Text = ()  # how to select scores or ranks, if there are both

    @property
    def item_keys(self) -> Snapshot | None:
        """The keys of the items read so far; None if items are not keyed."""
        return None if self._item_vocabulary is None else self._item_vocabulary.snapshot()

    def __iter__(self) -> Iterator[LongRows]:
        """Read from the first batch to the last."""
        self.user_vocabulary = self._item_vocabulary = None
        self._first_rows = {}
        self.row_count, first_form, first_name = 0, "", ""
        for name, frame in self._batches.named_frames():
            with name_source(name), name_rows(locate_in_frame("the frame")):
                long_rows = self._read_frame(frame)
            self._first_rows.setdefault(name, self.row_count)
            if long_rows is None:
                continue
            long_rows = long_rows._replace(first_row=self.row_count)
            self.row_count += len(long_rows)
            form = self._describe(long_rows)
            if not first_form:
                first_form, first_name = form, name
            elif form != first_form:
                found = f"{first_form} in {first_name} and {form} in {name}"
                raise input_error("predictions", "batches with the same columns", found)
            yield long_rows

    def _describe(self, long_rows: LongRows) -> str:
        """Return a description of the columns, which must agree between batches."""
        kind = "integer" if self._item_vocabulary is None else "text"
        return f"{kind} item ids with {_describe_order(long_rows)}"

    def _read_frame(self, frame: Any) -> LongRows | None:  # noqa: ANN401 - a frame of any library
        """Return the rows of a frame; None for an empty frame, whose columns may have any type."""
        frame = optional.unwrapped(frame)
        if not is_frame(frame):
            raise type_error(
                "source", "a callable that returns data frames", f"one that returns {type(frame).__name__}"
            )
        columns = frames.long_columns(frame, "predictions", self._columns, warn=self._warns)
        self._warns, self.order_hint = False, columns.hint
        if not len(columns.items):
            return None
        kinds = long_format.key_kinds(columns.users, columns.labels, "predictions")
        if self.user_vocabulary is None:
            self._encoding.users.check_kinds(kinds, "predictions")  # else a key would get the code of another
            self.user_vocabulary = self._encoding.users.of_kinds(kinds, columns.labels)
        user_codes = self.user_vocabulary.encode(columns.users, "predictions", self._encoding.threads)
        if self._item_vocabulary is not None and columns.items.kind == "int":
            self._item_vocabulary.check_kinds(["int"], "predictions", "items")
        ids, keys = long_format.encode_items(columns.items, "predictions.item", self._encoding, self._item_vocabulary)
        self._item_vocabulary = None if keys is None else keys.vocabulary
        return LongRows(
            user_codes,
            ids,
            None if columns.scores is None else columns.scores.values("predictions.score"),
            None if columns.ranks is None else long_format.rank_array(columns.ranks, "predictions.rank"),
        )

    def warn_of_ungrouped_rows(self, user: int) -> None:
        """Warn that a file will be copied, as the rows of this user are apart in what was read so far."""
        assert self.user_vocabulary is not None  # noqa: S101 - a user was read
        key, path = self.user_vocabulary.snapshot().repr_of(user), list(self._first_rows)[-1]
        warn(
            f"predictions: all rows are copied to a temporary file, because those of user {key} are apart within the first "
            f"{self.row_count:,} rows, up to those in {path}; files that are sorted by user are read in parts"
        )

    def locate(self, number: int) -> FrameRow:
        """Return the location of a row, in a file or in a batch."""
        prefix = "the data in " if self._batches.is_of_files else ""
        return locate_in_parts([prefix + name for name in self._first_rows], list(self._first_rows.values()))(number)

    def read_all(self) -> Rows:
        """Return the rows of all batches, which may be in any order, grouped by user."""
        parts = list(self)
        if not parts:
            nobody = Vocabulary.of_kinds(["str"], ["user"]).snapshot()
            return Rows(np.zeros(1, np.int64), np.zeros(0, np.int64), user_vocabulary=nobody)
        long_rows = LongRows.concatenate(parts)
        return self.group(long_rows, long_rows.user_codes, self.locate)

    def group(self, long_rows: LongRows, codes: Codes, locate: Locate, users: Codes | None = None) -> Rows:
        """Return rows user by user, in the order of their ranks if they have any.

        Codes are those of the vocabulary, or with `users` positions in them; `locate` locates rows for messages.
        """
        assert self.user_vocabulary is not None  # noqa: S101 - a user was read
        rows = Rows(
            np.zeros(0, np.int64),
            long_rows.items,
            scores=long_rows.scores,
            user_vocabulary=self.user_vocabulary.snapshot(),
            item_vocabulary=self.item_keys,
        )
        ranks = None if long_rows.ranks is None else long_format.RankColumn(long_rows.ranks, self.order_hint)
        threads = self._encoding.threads
        return long_format.group_by_user(rows, codes, lambda: codes, ranks, "predictions", threads, locate, users)


class UngroupedRows(Exception):  # noqa: N818 - a finding, not an error
    """A user's rows are not contiguous. `user` is the user's code."""

    def __init__(self, user: int) -> None:
        super().__init__(user)
        self.user = user


class Block(NamedTuple):
    """Consecutive users with all of their rows."""

    user_codes: Codes
    rows: Rows  # one per user


def read_blocks(reader: Reader) -> Generator[Block]:
    """Cut the batches into blocks of complete users; users that span batches get separate blocks.

    Raise UngroupedRows if a user's rows are not contiguous.
    """
    finished = _FinishedUsers()
    carried: list[LongRows] = []
    for batch in reader:
        starts = _core.run_starts(batch.user_codes, "predictions")
        ready: list[Block] = []
        if carried and carried[0].user_codes[0] == batch.user_codes[0]:
            carried.append(batch.between(0, starts[1] if len(starts) > 1 else None))
            if len(starts) == 1:
                continue
            starts = starts[1:]
        if carried:
            ready.append(_make_block(LongRows.concatenate(carried), np.zeros(1, np.int64), reader))
        begin, end = starts[0], starts[-1]
        carried = [LongRows.concatenate([batch.between(end, None)])]  # a copy, so that the batch need not be kept
        if begin < end:
            ready.append(_make_block(batch.between(begin, end), starts[:-1] - begin, reader))
        for block in ready:
            finished.add(block.user_codes)
            yield block
    if carried:
        block = _make_block(LongRows.concatenate(carried), np.zeros(1, np.int64), reader)
        finished.add(block.user_codes)
        yield block


def _make_block(long_rows: LongRows, starts: Offsets, reader: Reader) -> Block:
    """Return the block of rows whose users begin at these offsets; the reader locates faults for messages."""
    users, sizes = long_rows.user_codes[starts], np.diff(starts, append=len(long_rows))
    codes = np.repeat(np.arange(len(users), dtype=np.uint32), sizes)
    rows = reader.group(long_rows, codes, lambda number: reader.locate(long_rows.first_row + number), users)
    return Block(users, rows._replace(user_vocabulary=None, item_vocabulary=None))


class _FinishedUsers:
    """The users whose rows have all been read."""

    def __init__(self) -> None:
        self._finish_order = np.zeros(0, np.int64)  # by code, from 1; 0: not yet
        self._count = 0

    def add(self, users: Codes) -> None:
        """Record users as finished; raise UngroupedRows if any was finished before or is repeated."""
        max_code = int(users.max())
        if max_code >= len(self._finish_order):
            self._finish_order = np.concatenate([self._finish_order, np.zeros(max_code + 1, np.int64)])
        order = np.arange(self._count + 1, self._count + 1 + len(users))
        was_finished = self._finish_order[users] > 0
        self._finish_order[users] = order
        is_repeated = was_finished | (self._finish_order[users] != order)
        if is_repeated.any():
            raise UngroupedRows(int(users[np.argmax(is_repeated)]))
        self._count += len(users)


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
        import tempfile

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
        rows = self.reader.group(long_rows, positions, lambda number: self._locate(partitions, number), codes)
        filled = np.flatnonzero(np.diff(rows.indptr))
        rows = rows._replace(
            indptr=np.concatenate([rows.indptr[:-1][filled], rows.indptr[-1:]]),
            present=None,
            find_row=reindexed(rows.find_row, filled),
            user_vocabulary=None,
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
    import tempfile

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
