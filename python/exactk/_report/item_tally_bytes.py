"""Item tallies as bytes, and the checks of such bytes from anywhere."""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.item_tally import MAX_ENTRIES, ItemTally, kind_of_item_keys
from exactk._report.validation import checked_integer, fail, plain_data
from exactk._report.varints import read_varints, write_varints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._report.item_tally import Integers, TallyKeys

_EXPECTED = "the output of tally_to_bytes"
_KINDS = ("int", "str", "bytes")
_CHECKED_SIZE = 1 << 28  # bytes, decompressed
_MAX_RATIO = 200  # of larger tallies; real ones compress less
_MOST = 2**62


def tally_to_bytes(tally: ItemTally) -> bytes:
    """Return the tally as bytes: the size of the rest, which is compressed."""
    parts = [_pack([len(tally.cutoffs), *(cutoff or 0 for cutoff in tally.cutoffs), len(tally.keys)])]
    parts += [*_key_parts(tally.keys), write_varints(np.diff(tally.counts, axis=1, prepend=0).T.ravel())]
    parts += [_table_bytes(table) for table in tally.list_lengths]
    parts += [_pack([tally.short_lists is not None]), *map(_table_bytes, tally.short_lists or ())]
    body = b"".join(parts)
    return _pack([len(body)]) + zlib.compress(body)


def tally_from_bytes(data: bytes, *, lists_are_sets: bool) -> ItemTally:
    """Return the tally that `tally_to_bytes` wrote; raise InputError if there are no lists that have it.

    In lists that are sets, an item is counted once.
    """
    with plain_data("state", _EXPECTED):
        reader = _Reader(_decompress(data))
        cutoffs = _read_cutoffs(reader)
        size = reader.integer("the number of items")
        keys = _read_keys(reader, size)
        steps = reader.integers(size * len(cutoffs)).reshape(len(cutoffs), size)
        _check_sum(steps)
        counts = np.ascontiguousarray(np.cumsum(steps, axis=0).T.astype(np.int64))
        lengths = tuple(reader.table(2) for _ in cutoffs)
        short = tuple(reader.table(3) for _ in cutoffs) if reader.integer("a flag", 1) else None
        reader.finish()
        tally = ItemTally(cutoffs, keys, counts, lengths, short)
        _check_tally(tally, lists_are_sets=lists_are_sets)
        return tally


def _pack(integers: Sequence[int]) -> bytes:
    return write_varints(np.array(integers, np.uint64))


def _key_parts(keys: TallyKeys) -> list[bytes]:
    """Return the kind of the keys, and integers by their distances or text by its lengths and bytes."""
    kind = _pack([_KINDS.index(kind_of_item_keys(keys))])
    if isinstance(keys, np.ndarray):
        values = keys.view(np.uint64)
        steps = np.append(values[:1], values[1:] - values[:-1])  # modulo 2^64
        return [kind, write_varints(steps)]
    texts = [key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass") for key in keys]
    return [kind, write_varints(np.array([len(text) for text in texts], np.uint64)), b"".join(texts)]


def _table_bytes(table: Integers) -> bytes:
    """Return the number of rows, and the columns: the first, which ascends, by its distances."""
    first = np.diff(table[:, 0], prepend=0)
    return _pack([len(table)]) + write_varints(np.concatenate([first, *table.T[1:]]))


def _decompress(data: bytes) -> NDArray[np.uint8]:
    (size, *_), begin = read_varints(np.frombuffer(data, np.uint8), 1)
    if size > max(_CHECKED_SIZE, _MAX_RATIO * len(data)):
        raise fail("as many bytes as items of lists need", int(size))
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(data[begin:], int(size) + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(body) != size or not stream.eof or stream.unused_data:
        raise fail(f"{size} compressed bytes", len(body))
    return np.frombuffer(body, np.uint8)


class _Reader:
    """The decompressed bytes, read in order."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self._position = 0

    def integers(self, count: int) -> NDArray[np.uint64]:
        values, size = read_varints(self._data[self._position :], count)
        self._position += size
        return values

    def integer(self, what: str, most: int = _MOST) -> int:
        return checked_integer(int(self.integers(1)[0]), what, 0, most)

    def text(self, size: int) -> bytes:
        text = self._data[self._position : self._position + size].tobytes()
        if len(text) < size:
            raise fail(f"{size} bytes of keys", len(text))
        self._position += size
        return text

    def table(self, columns: int) -> Integers:
        """Return a table of ascending rows of counts above 0."""
        rows = self.integer("the number of rows")
        cells = self.integers(rows * columns).reshape(columns, rows)
        _check_sum(cells)
        table = np.column_stack([np.cumsum(cells[0]), *cells[1:]]).astype(np.int64).reshape(rows, columns)
        ascends = np.zeros(max(rows - 1, 0), np.bool_)
        for column in table.T[-2::-1]:
            step = np.diff(column)
            ascends = (step > 0) | ((step == 0) & ascends)
        if not ascends.all() or (table[:, -1] <= 0).any():
            raise fail("ascending rows of counts above 0", table[:3].tolist())
        return table

    def finish(self) -> None:
        if self._position != len(self._data):
            raise fail("no bytes after the last table", len(self._data) - self._position)


def _check_sum(cells: NDArray[np.uint64]) -> None:
    """Raise ValueError if sums of these integers may not fit."""
    if float(cells.sum(dtype=np.float64)) >= MAX_ENTRIES:
        raise fail("sums below 2^62", int(cells.max()))


def _read_cutoffs(reader: _Reader) -> tuple[int | None, ...]:
    cutoffs = tuple(cutoff or None for cutoff in reader.integers(reader.integer("the number of cutoffs")).tolist())
    sizes = [_MOST if cutoff is None else cutoff for cutoff in cutoffs]
    if not cutoffs or any(one >= other for one, other in pairwise(sizes)) or sizes[-1] > _MOST:
        raise fail("ascending cutoffs", cutoffs)
    return cutoffs


def _read_keys(reader: _Reader, size: int) -> TallyKeys:
    kind = _KINDS[reader.integer("a kind of keys", len(_KINDS) - 1)]
    numbers = reader.integers(size)
    if kind == "int":
        integers = np.cumsum(numbers).view(np.int64)
        if (integers[1:] <= integers[:-1]).any():
            raise fail("distinct ascending keys of items", integers[:3].tolist())
        return integers
    _check_sum(numbers)
    ends = np.cumsum(numbers).tolist()
    text = reader.text(ends[-1] if ends else 0)
    texts = [text[begin:end] for begin, end in pairwise([0, *ends])]
    if not texts or any(one >= other for one, other in pairwise(texts)):
        raise fail("distinct ascending keys of items", texts[:3])
    return tuple(texts) if kind == "bytes" else tuple([one.decode("utf-8", "surrogatepass") for one in texts])


def _check_tally(tally: ItemTally, *, lists_are_sets: bool) -> None:
    """Raise ValueError if no lists have this tally."""
    if not (tally.counts[:, -1] > 0).all():
        raise fail("items that are in a list", "an item in none")
    for column, (cutoff, lengths) in enumerate(zip(tally.cutoffs, tally.list_lengths, strict=True)):
        _check_sum(lengths.astype(np.uint64))
        total, counts = tally.entries(column), tally.counts[:, column]
        with_items = int(lengths[lengths[:, 0] > 0, 1].sum())
        if cutoff is not None and (lengths[:, 0] > cutoff).any():
            raise fail(f"lists of at most {cutoff} items", int(lengths[-1, 0]))
        if total >= MAX_ENTRIES or total != int(counts.sum()):
            raise fail(f"lists of {int(counts.sum())} items in all", total)
        if int(lengths[:, 1].sum()) != tally.lists:
            raise fail(f"{tally.lists} lists at each cutoff", int(lengths[:, 1].sum()))
        if lists_are_sets and counts.max(initial=0) > with_items:
            raise fail(f"items in at most {with_items} lists", int(counts.max()))
        if tally.short_lists is not None:
            _check_short_lists(tally, column)


def _check_short_lists(tally: ItemTally, column: int) -> None:
    """Raise ValueError unless lists of each length below the cutoff have so many items, the others the rest."""
    assert tally.short_lists is not None  # noqa: S101 - for the type checker
    rows, cutoff = tally.short_lists[column], tally.cutoffs[column]
    lists: dict[int | None, int] = dict(tally.list_lengths[column].tolist())
    if (rows[:, 0] >= len(tally.keys)).any():
        raise fail(f"positions of {len(tally.keys)} items", int(rows[:, 0].max()))
    entries = dict.fromkeys((length for length in lists if length and length != cutoff), 0)
    for _, length, number in rows.tolist():
        if length not in entries or number > lists[length]:
            raise fail(f"an item in at most {lists.get(length, 0)} lists of {length} items", number)
        entries[length] += number
    if any(number != length * lists[length] for length, number in entries.items()):
        raise fail("as many items as the lists of each length have", entries)
    rest = tally.counts[:, column].copy()
    np.subtract.at(rest, rows[:, 0], rows[:, 2])
    if (rest < 0).any() or rest.max(initial=0) > lists.get(cutoff, 0):
        raise fail("items in as many lists of the cutoff's length as there are", int(rest.max(initial=0)))
