"""How many lists recommend each item, and each group of items: integers, so that addition is exact in any order; their bytes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._report.validation import checked_integer, fail, plain_data
from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.sums import Label

_MOST_BYTES = 10
_LOW, _MORE = 0x7F, 0x80


def write_varints(integers: NDArray[np.int64] | NDArray[np.uint64]) -> bytes:
    """Return the integers as bytes; negative ones as they are modulo 2^64."""
    values = integers.astype(np.uint64)
    sizes = np.ones(len(values), np.int64)
    for size in range(1, _MOST_BYTES):
        sizes += values >= np.uint64(1 << 7 * size)
    ends = np.cumsum(sizes)
    packed = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    for index in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > index)
        bits = (values[longer] >> np.uint64(7 * index)).astype(np.uint8) & _LOW
        packed[ends[longer] - sizes[longer] + index] = bits | np.where(sizes[longer] > index + 1, _MORE, 0)
    return packed.tobytes()


def read_varints(packed: NDArray[np.uint8], count: int) -> tuple[NDArray[np.uint64], int]:
    """Return so many integers and the number of their bytes; raise ValueError if these are not the bytes of integers."""
    if count > len(packed):
        raise ValueError(f"{count} integers in {len(packed)} bytes")
    if count == 0:
        return np.empty(0, np.uint64), 0
    ends = np.flatnonzero(packed < _MORE)[:count] + 1
    if len(ends) < count:
        raise ValueError(f"{count} integers in bytes of {len(ends)}")
    begins = np.append(0, ends[:-1])
    sizes = ends - begins
    last = packed[ends - 1]
    if sizes.max() > _MOST_BYTES or (last[sizes == _MOST_BYTES] > 1).any() or (last[sizes > 1] == 0).any():
        raise ValueError("an integer of 2^64 or more, or in more bytes than it needs")
    values = np.zeros(count, np.uint64)
    for index in range(int(sizes.max())):
        longer = np.flatnonzero(sizes > index)
        bits = packed[begins[longer] + index] & _LOW
        values[longer] |= bits.astype(np.uint64) << np.uint64(7 * index)
    return values, int(ends[-1])


EXPECTED = "the output of tally_to_bytes"
MOST = 2**62
_KINDS = ("int", "str", "bytes")
_CHECKED_SIZE = 1 << 28  # bytes, decompressed
_MAX_RATIO = 200  # of larger tallies; real ones compress less


def compressed(parts: Sequence[bytes]) -> bytes:
    """Return the size of the parts, and the parts, compressed."""
    body = b"".join(parts)
    return pack([len(body)]) + zlib.compress(body)


def pack(integers: Sequence[int]) -> bytes:
    """Return integers as bytes."""
    return write_varints(np.array(integers, np.uint64))


def key_parts(keys: TallyKeys) -> list[bytes]:
    """Return the kind of the keys, and integers by their distances or text by its lengths and bytes."""
    kind = pack([_KINDS.index(kind_of_item_keys(keys))])
    if isinstance(keys, np.ndarray):
        values = keys.view(np.uint64)
        steps = np.append(values[:1], values[1:] - values[:-1])  # modulo 2^64
        return [kind, write_varints(steps)]
    texts = [key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass") for key in keys]
    return [kind, write_varints(np.array([len(text) for text in texts], np.uint64)), b"".join(texts)]


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


class TallyReader:
    """The decompressed bytes of a tally, read in order."""

    def __init__(self, data: bytes) -> None:
        self._data = _decompress(data)
        self._position = 0

    def integers(self, count: int) -> NDArray[np.uint64]:
        values, size = read_varints(self._data[self._position :], count)
        self._position += size
        return values

    def integer(self, what: str, most: int = MOST) -> int:
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
        check_sum(cells)
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


def check_sum(cells: NDArray[np.uint64]) -> None:
    """Raise ValueError if sums of these integers may not fit."""
    if float(cells.sum(dtype=np.float64)) >= MAX_ENTRIES:
        raise fail("sums below 2^62", int(cells.max()))


def read_keys(reader: TallyReader, size: int) -> TallyKeys:
    """Return distinct keys, ascending."""
    kind = _KINDS[reader.integer("a kind of keys", len(_KINDS) - 1)]
    numbers = reader.integers(size)
    if kind == "int":
        integers = np.cumsum(numbers).view(np.int64)
        if (integers[1:] <= integers[:-1]).any():
            raise fail("distinct ascending keys of items", integers[:3].tolist())
        return integers
    check_sum(numbers)
    ends = np.cumsum(numbers).tolist()
    text = reader.text(ends[-1] if ends else 0)
    texts = [text[begin:end] for begin, end in pairwise([0, *ends])]
    if not texts or any(one >= other for one, other in pairwise(texts)):
        raise fail("distinct ascending keys of items", texts[:3])
    return tuple(texts) if kind == "bytes" else tuple([one.decode("utf-8", "surrogatepass") for one in texts])


Integers: TypeAlias = "NDArray[np.int64]"
TallyKeys: TypeAlias = "NDArray[Any] | tuple[Any, ...]"
"""Integers as an int64 array; strings or bytes as a tuple."""

MAX_ENTRIES = 2**62


@dataclass(frozen=True, eq=False)
class ItemTally:
    """The items that some lists recommend, at several cutoffs.

    Lists in another order have the same tally, bit for bit: items are in the order of their keys, rows of tables
    ascend, and no row has a count of 0.
    """

    cutoffs: tuple[int | None, ...]  # ascending; None, the last: whole lists
    keys: TallyKeys  # of the recommended items, ascending
    counts: Integers  # items x cutoffs: lists with the item at a rank down to the cutoff
    list_lengths: tuple[Integers, ...]  # per cutoff: rows of (items of a list down to the cutoff, such lists)
    short_lists: tuple[Integers, ...] | None = None
    # Per cutoff: rows of (position of an item, length, lists of this length that have the item), only of lengths below
    # the cutoff. None: not counted.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ItemTally):
            return NotImplemented
        has_same_tables = (self.short_lists is None) == (other.short_lists is None)
        if not has_same_tables or self.cutoffs != other.cutoffs or not _equal_keys(self.keys, other.keys):
            return False
        return all(map(np.array_equal, self._tables(), other._tables()))

    def __hash__(self) -> int:
        return hash((self.cutoffs, self.lists, len(self.keys)))

    def __repr__(self) -> str:
        return f"<ItemTally of {len(self.keys)} items in {self.lists} lists; cutoffs {self.cutoffs}>"

    @property
    def lists(self) -> int:
        """The number of lists, including empty ones."""
        return sum(self.list_lengths[0][:, 1].tolist())

    def entries(self, column: int) -> int:
        """Return the number of items that all lists have down to a cutoff."""
        return sum(length * lists for length, lists in self.list_lengths[column].tolist())

    def plus(self, other: ItemTally) -> ItemTally:
        """Return the tally of both sets of lists, which must be counted at the same cutoffs."""
        if self.cutoffs != other.cutoffs or (self.short_lists is None) != (other.short_lists is None):
            message = f"parts: expected items counted at the same cutoffs, found {self.cutoffs} and {other.cutoffs}"
            raise StateMismatchError(message, "parts")
        tallies = (self, other)
        if sum(max(tally.lists, tally.entries(-1)) for tally in tallies) >= MAX_ENTRIES:
            raise StateMismatchError("parts: expected fewer than 2^62 recommended items, found more", "parts")
        keys = _union_of_keys(self.keys, other.keys)
        positions = [_positions_among(tally.keys, keys) for tally in tallies]
        counts = np.zeros((len(keys), len(self.cutoffs)), np.int64)
        for tally, rows in zip(tallies, positions, strict=True):
            counts[rows] += tally.counts
        lengths = tuple(map(_sum_rows, zip(self.list_lengths, other.list_lengths, strict=True)))
        if self.short_lists is None:
            return ItemTally(self.cutoffs, keys, counts, lengths)
        short_lists = [
            _at_positions(tally.short_lists or (), rows) for tally, rows in zip(tallies, positions, strict=True)
        ]
        return ItemTally(self.cutoffs, keys, counts, lengths, tuple(map(_sum_rows, zip(*short_lists, strict=True))))

    def _tables(self) -> tuple[Integers, ...]:
        return (self.counts, *self.list_lengths, *(self.short_lists or ()))


def item_tally(
    cutoffs: Sequence[int | None],
    keys: NDArray[Any] | Sequence[Any] | Mapping[int, Any],
    counts: Integers,
    list_lengths: Iterable[Integers],
    short_lists: Sequence[Integers] | None = None,
) -> ItemTally:
    """Return the tally for items in any order, some of them in no list, and for tables with rows in any order."""
    listed = np.flatnonzero(counts[:, -1] > 0)
    ascending: TallyKeys
    if isinstance(keys, np.ndarray) or not len(listed):
        order, integers = listed, np.asarray(keys)[listed].astype(np.int64)
        if not (integers[1:] > integers[:-1]).all():  # only where items are foreign
            by_key = np.argsort(integers, kind="stable")
            order, integers = listed[by_key], integers[by_key]
        ascending = integers
    else:
        order = np.array(sorted(listed.tolist(), key=keys.__getitem__), np.int64)
        ascending = tuple([keys[i] for i in order.tolist()])
    lengths = tuple(_sum_rows([table]) for table in list_lengths)
    if short_lists is None:
        return ItemTally(tuple(cutoffs), ascending, np.take(counts, order, axis=0), lengths)
    positions = np.empty(len(counts), np.int64)
    positions[order] = np.arange(len(order))
    short = tuple(_sum_rows([table]) for table in _at_positions(short_lists, positions))
    return ItemTally(tuple(cutoffs), ascending, np.take(counts, order, axis=0), lengths, short)


def kind_of_item_keys(keys: TallyKeys) -> str:
    """Return int, str or bytes."""
    return "int" if isinstance(keys, np.ndarray) else type(keys[0]).__name__


def _equal_keys(one: TallyKeys, other: TallyKeys) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return isinstance(one, tuple) and one == other


def _union_of_keys(one: TallyKeys, other: TallyKeys) -> TallyKeys:
    """Return the keys of both, ascending."""
    if not len(one) or not len(other):
        return one if len(one) else other
    kinds = sorted({kind_of_item_keys(one), kind_of_item_keys(other)})
    if len(kinds) > 1:
        raise StateMismatchError(f"parts: expected item keys of one type, found {' and '.join(kinds)}", "parts")
    return np.union1d(one, other) if isinstance(one, np.ndarray) else tuple(sorted({*one, *other}))


def _positions_among(keys: TallyKeys, union: TallyKeys) -> Integers:
    """Return the position of each key in the union."""
    if isinstance(union, np.ndarray):
        return np.searchsorted(union, np.asarray(keys, np.int64)).astype(np.int64)
    positions = {key: position for position, key in enumerate(union)}
    return np.fromiter((positions[key] for key in keys), np.int64, len(keys))


def _at_positions(tables: Iterable[Integers], positions: Integers) -> list[Integers]:
    """Return tables with other positions of the items."""
    return [np.column_stack([positions[table[:, 0]], table[:, 1:]]) for table in tables]


def _sum_rows(tables: Iterable[Integers]) -> Integers:
    """Return the rows of all tables, ascending: of rows that differ in the last number alone, their sum, unless it is 0."""
    rows = np.concatenate(list(tables))
    rows = rows[np.lexsort(rows.T[-2::-1])]
    if not len(rows):
        return rows
    is_first = np.append(True, (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1))
    summed: Integers = rows[is_first]
    summed[:, -1] = np.add.reduceat(rows[:, -1], np.flatnonzero(is_first))
    return np.compress(summed[:, -1] > 0, summed, axis=0)


def tally_to_bytes(tally: ItemTally) -> bytes:
    """Return the tally as bytes: the size of the rest, which is compressed."""
    parts = [pack([len(tally.cutoffs), *(cutoff or 0 for cutoff in tally.cutoffs), len(tally.keys)])]
    parts += [*key_parts(tally.keys), write_varints(np.diff(tally.counts, axis=1, prepend=0).T.ravel())]
    parts += [_table_bytes(table) for table in tally.list_lengths]
    parts += [pack([tally.short_lists is not None]), *map(_table_bytes, tally.short_lists or ())]
    return compressed(parts)


def tally_from_bytes(data: bytes, *, lists_are_sets: bool) -> ItemTally:
    """Return the tally that `tally_to_bytes` wrote; raise InputError if there are no lists that have it.

    In lists that are sets, an item is counted once.
    """
    with plain_data("state", EXPECTED):
        reader = TallyReader(data)
        cutoffs = _read_cutoffs(reader)
        size = reader.integer("the number of items")
        keys = read_keys(reader, size)
        steps = reader.integers(size * len(cutoffs)).reshape(len(cutoffs), size)
        check_sum(steps)
        counts = np.ascontiguousarray(np.cumsum(steps, axis=0).T.astype(np.int64))
        lengths = tuple(reader.table(2) for _ in cutoffs)
        short = tuple(reader.table(3) for _ in cutoffs) if reader.integer("a flag", 1) else None
        reader.finish()
        tally = ItemTally(cutoffs, keys, counts, lengths, short)
        _check_tally(tally, lists_are_sets=lists_are_sets)
        return tally


def _table_bytes(table: Integers) -> bytes:
    """Return the number of rows, and the columns: the first, which ascends, by its distances."""
    first = np.diff(table[:, 0], prepend=0)
    return pack([len(table)]) + write_varints(np.concatenate([first, *table.T[1:]]))


def _read_cutoffs(reader: TallyReader) -> tuple[int | None, ...]:
    cutoffs = tuple(cutoff or None for cutoff in reader.integers(reader.integer("the number of cutoffs")).tolist())
    sizes = [MOST if cutoff is None else cutoff for cutoff in cutoffs]
    if not cutoffs or any(one >= other for one, other in pairwise(sizes)) or sizes[-1] > MOST:
        raise fail("ascending cutoffs", cutoffs)
    return cutoffs


def _check_tally(tally: ItemTally, *, lists_are_sets: bool) -> None:
    """Raise ValueError if no lists have this tally."""
    if not (tally.counts[:, -1] > 0).all():
        raise fail("items that are in a list", "an item in none")
    for column, (cutoff, lengths) in enumerate(zip(tally.cutoffs, tally.list_lengths, strict=True)):
        check_sum(lengths.astype(np.uint64))
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


@dataclass(frozen=True, eq=False)
class GroupTally:
    """How often some lists have items of each group, rank by rank.

    Lists in another order have the same tally, bit for bit: groups are in the order of their labels, and an item of a group
    is at the last rank.
    """

    labels: tuple[Label, ...]  # of all groups of the catalogue, ascending
    sizes: Integers  # items of each group in the catalogue
    lists: int  # including empty ones
    counts: Integers  # groups x ranks
    possible: Integers | None = None  # by group: items that the lists could have; None: not counted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupTally):
            return NotImplemented
        if (self.labels, self.lists, len(self._tables())) != (other.labels, other.lists, len(other._tables())):
            return False
        return all(map(np.array_equal, self._tables(), other._tables()))

    def __hash__(self) -> int:
        return hash((self.labels, self.lists))

    def __repr__(self) -> str:
        return f"<GroupTally of {len(self.labels)} groups in {self.lists} lists>"

    def plus(self, other: GroupTally) -> GroupTally:
        """Return the tally of both sets of lists, which must be of the same groups of items."""
        are_alike = np.array_equal(self.sizes, other.sizes) and (self.possible is None) == (other.possible is None)
        if self.labels != other.labels or not are_alike:
            raise StateMismatchError("parts: expected the same groups of items in all, found other groups", "parts")
        if any(tally.most >= MAX_ENTRIES // 2 for tally in (self, other)):
            raise StateMismatchError("parts: expected fewer than 2^61 recommended items, found more", "parts")
        counts = np.zeros((len(self.labels), max(self.counts.shape[1], other.counts.shape[1])), np.int64)
        for tally in (self, other):
            counts[:, : tally.counts.shape[1]] += tally.counts
        possible = None if self.possible is None or other.possible is None else self.possible + other.possible
        return replace(self, lists=self.lists + other.lists, counts=counts, possible=possible)

    def _tables(self) -> tuple[Integers, ...]:
        return (self.sizes, self.counts, *(() if self.possible is None else (self.possible,)))

    @property
    def most(self) -> int:
        """Return the highest of the sums that must fit."""
        return max(self.lists, int(self.counts.sum()), 0 if self.possible is None else int(self.possible.sum()))


def group_tally_to_bytes(tally: GroupTally) -> bytes:
    """Return the tally as bytes, as those of items."""
    groups, ranks = tally.counts.shape
    parts = [pack([groups, ranks, tally.lists]), *key_parts(_keys_of_labels(tally.labels))]
    parts += [write_varints(tally.sizes), write_varints(tally.counts.T.ravel()), pack([tally.possible is not None])]
    parts += [] if tally.possible is None else [write_varints(tally.possible)]
    return compressed(parts)


def _keys_of_labels(labels: tuple[Label, ...]) -> Integers | tuple[str, ...]:
    texts = tuple(label for label in labels if isinstance(label, str))
    return texts or np.array(labels, np.int64)


def group_tally_from_bytes(data: bytes, value: Value, items: int) -> GroupTally:
    """Return the tally that `group_tally_to_bytes` wrote; raise InputError if no lists have it.

    The value is at the last cutoff, and there are so many items in the catalogue.
    """
    with plain_data("state", EXPECTED):
        reader = TallyReader(data)
        groups, ranks, lists = (reader.integer(what) for what in ("groups", "ranks", "lists"))
        keys = read_keys(reader, groups)
        sizes = _counts(reader, groups)
        counts = np.ascontiguousarray(_counts(reader, groups * ranks).reshape(ranks, groups).T)
        possible = _counts(reader, groups) if reader.integer("a flag", 1) else None
        reader.finish()
        labels = tuple(keys.tolist()) if isinstance(keys, np.ndarray) else tuple(map(_checked_label, keys))
        tally = GroupTally(labels, sizes, lists, counts, possible)
        _check_group_tally(tally, value, items)
        return tally


def _checked_label(key: str | bytes) -> str:
    if isinstance(key, bytes):
        raise fail("labels of groups to be strings or integers", key)
    return key


def _counts(reader: TallyReader, count: int) -> Integers:
    numbers = reader.integers(count)
    check_sum(numbers)
    return numbers.astype(np.int64)


def _check_group_tally(tally: GroupTally, value: Value, items: int) -> None:
    """Raise ValueError if no lists have this tally."""
    groups, ranks = tally.counts.shape
    if groups < 2 or (tally.sizes < 1).any() or int(tally.sizes.sum()) > items:
        raise fail(f"two groups or more of {items} items in all", tally.sizes[:3].tolist())
    if ranks > 0 and not tally.counts[:, -1].any():
        raise fail("an item at the last rank", "none")
    if value.cutoff is not None and ranks > value.cutoff:
        raise fail(f"at most {value.cutoff} ranks", ranks)
    if (tally.counts.sum(axis=0) > tally.lists).any():
        raise fail(f"at most {tally.lists} items at a rank", int(tally.counts.sum(axis=0).max()))
    if (tally.possible is not None) != value.info.reads_history:
        raise fail(f"a tally of {value.metric}", "one of another metric")
    in_lists = tally.counts.sum(axis=1).tolist()
    possible = in_lists if tally.possible is None else tally.possible.tolist()
    for size, count, most in zip(tally.sizes.tolist(), in_lists, possible, strict=True):
        if value.rules["duplicate_items"] != "count" and most > size * tally.lists:
            raise fail(f"{size} items in at most {tally.lists} lists", most)
        if count > most:
            raise fail(f"at most {most} items of a group", count)
