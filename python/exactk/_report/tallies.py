"""How many lists recommend each item, and each group of items: integers, so that addition is exact in any order; their bytes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._runtime.errors import StateMismatchError, input_error
from exactk._runtime.records import NamedTuple
from exactk._runtime.shapes import MOST, ShapeError, Whole, read_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.sums import Label

_KINDS = ("int", "str", "bytes")
_CHECKED_SIZE = 1 << 24  # bytes, decompressed
_MAX_RATIO = 50  # of larger tallies
_SIZE = 8  # bytes of a size
_BITS = 7  # of an integer in each of its bytes; the eighth says that others follow


def packed(parts: Iterable[NDArray[Any] | bytes]) -> bytes:
    """Return bytes, and arrays of integers that are not negative, as bytes: their size, and they, compressed.

    An array is its length, the lowest bits of all integers, the next bits of those that have more, and so on.
    """
    body = b"".join(part if isinstance(part, bytes) else _low_bits_first(part) for part in parts)
    # Not to search for repeated sequences gives the same bytes in any zlib, such as zlib-ng; it is also ten times as fast.
    stream = zlib.compressobj(strategy=zlib.Z_RLE)
    compressed = stream.compress(body) + stream.flush()
    if len(body) > max(_CHECKED_SIZE, _MAX_RATIO * len(compressed)):  # which no one would read
        stream = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)  # a bit for each byte, at least
        compressed = stream.compress(body) + stream.flush()
    return len(body).to_bytes(_SIZE, "little") + compressed


def _low_bits_first(array: NDArray[Any]) -> bytes:
    rest: NDArray[np.uint64] = array.astype(np.uint64).ravel()
    bits = np.uint64(_BITS)
    parts = [len(rest).to_bytes(_SIZE, "little")]
    while len(rest):
        has_more = rest >> bits > 0
        parts.append(((rest & np.uint64(127)).astype(np.uint8) | has_more.astype(np.uint8) << _BITS).tobytes())
        rest = rest[has_more] >> bits
    return b"".join(parts)


class Unpacked:
    """The parts of `packed`, which are read in order; ValueError for bytes that are not such."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:_SIZE], "little")
        if size > max(_CHECKED_SIZE, _MAX_RATIO * len(data)):
            raise ShapeError("", "as many bytes as items of lists need", size)
        stream = zlib.decompressobj()
        try:
            self._body = stream.decompress(data[_SIZE:], size + 1)
        except zlib.error as error:
            raise ShapeError("", "compressed bytes", str(error)) from error
        if len(self._body) != size or not stream.eof or stream.unused_data:
            raise ShapeError("", f"compressed bytes that end after {size}", len(self._body))
        self._position = 0

    def raw(self, what: str, size: int) -> bytes:
        """Return the next bytes."""
        part = self._body[self._position : self._position + size]
        if len(part) < size:
            raise ShapeError(what, f"{size} bytes", len(part))
        self._position += size
        return part

    def take(self, what: str, size: int | None = None) -> NDArray[np.uint64]:
        """Return the next array."""
        count = int.from_bytes(self.raw(what, _SIZE), "little")
        if size is not None and count != size:
            raise ShapeError(what, f"{size} integers", count)
        lowest = np.frombuffer(self.raw(what, count), np.uint8)
        array, rows = (lowest & 127).astype(np.uint64), np.flatnonzero(lowest >> _BITS)
        for shift in range(_BITS, 64 if len(rows) else 0, _BITS):
            bits = np.frombuffer(self.raw(what, len(rows)), np.uint8)
            if not bits.all() or (shift + _BITS > 64 and (bits > 1).any()):
                break
            array[rows] |= (bits & 127).astype(np.uint64) << np.uint64(shift)
            rows = rows[bits >> _BITS > 0]
        if len(rows):
            raise ShapeError(what, "integers of 64 bits, without bytes that are 0")
        return array

    def counts(self, what: str, size: int | None = None) -> Integers:
        """Return the next array, whose sums fit."""
        array = self.take(what, size)
        check_sum(array, what)
        return array.astype(np.int64)

    def table(self, what: str, columns: int) -> Integers:
        """Return a table of ascending rows of counts above 0."""
        cells = self.take(what)
        if len(cells) % columns:
            raise ShapeError(what, f"rows of {columns}", len(cells))
        check_sum(cells, what)
        cells = cells.reshape(columns, -1)
        table = np.column_stack([np.cumsum(cells[0]), *cells[1:]]).astype(np.int64).reshape(-1, columns)
        ascends = np.zeros(max(len(table) - 1, 0), np.bool_)
        for column in table.T[-2::-1]:
            step = np.diff(column)
            ascends = (step > 0) | ((step == 0) & ascends)
        if not ascends.all() or (table[:, -1] <= 0).any():
            raise ShapeError(what, "ascending rows of counts above 0", table[:3].tolist())
        return table

    def finish(self) -> None:
        """Raise ValueError if there is more."""
        if self._position != len(self._body):
            raise ShapeError("", "no bytes after the last array", len(self._body) - self._position)


def check_sum(cells: NDArray[Any], what: str) -> None:
    """Raise ValueError if sums of these integers may not fit."""
    if float(cells.sum(dtype=np.float64)) >= MOST:
        raise ShapeError(what, "sums below 2^62", int(cells.max()))


def parts_of_keys(keys: TallyKeys) -> list[NDArray[Any] | bytes]:
    """Return the kind of the keys, and integers by their distances or text by its lengths and bytes."""
    kind = np.array([_KINDS.index(kind_of_item_keys(keys))])
    if isinstance(keys, np.ndarray):
        values = keys.view(np.uint64)
        return [kind, np.append(values[:1], values[1:] - values[:-1])]  # modulo 2^64
    texts = [key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass") for key in keys]
    return [kind, np.array([len(text) for text in texts]), b"".join(texts)]


def read_keys(parts: Unpacked) -> TallyKeys:
    """Return distinct keys, ascending."""
    (number,) = parts.take("the kind of keys", 1).tolist()
    kind = _KINDS[read_at("the kind of keys", Whole(most=len(_KINDS) - 1), number)]
    if kind == "int":
        integers = np.cumsum(parts.take("keys")).view(np.int64)
        if (integers[1:] <= integers[:-1]).any():
            raise ShapeError("keys", "distinct ascending keys of items", integers[:3].tolist())
        return integers
    lengths = parts.counts("lengths of keys")
    joined = parts.raw("texts of keys", int(lengths.sum()))
    if len(lengths) > len(joined) + 1:
        raise ShapeError("keys", "distinct ascending keys of items")
    texts = [joined[begin:end] for begin, end in pairwise([0, *np.cumsum(lengths).tolist()])]
    if not texts or any(one >= other for one, other in pairwise(texts)):
        raise ShapeError("keys", "distinct ascending keys of items", texts[:3])
    return tuple(texts) if kind == "bytes" else tuple([one.decode("utf-8", "surrogatepass") for one in texts])


Integers: TypeAlias = "NDArray[np.int64]"
TallyKeys: TypeAlias = "NDArray[Any] | tuple[Any, ...]"
"""Integers as an int64 array; strings or bytes as a tuple."""


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
        return int(self.list_lengths[0][:, 1].sum())

    def entries(self, column: int) -> int:
        """Return the number of items that all lists have down to a cutoff."""
        return int(self.list_lengths[column].prod(axis=1).sum())

    def counts_of(self, keys: TallyKeys, column: int) -> Integers:
        """Return the counts of these items, among which are all of the tally's, at one of the cutoffs."""
        counts = np.zeros(len(keys), np.int64)
        counts[_positions_among(self.keys, keys)] = self.counts[:, column]
        return counts

    def plus(self, other: ItemTally) -> ItemTally:
        """Return the tally of both sets of lists, which must be counted at the same cutoffs."""
        if self.cutoffs != other.cutoffs or (self.short_lists is None) != (other.short_lists is None):
            message = f"parts: expected items counted at the same cutoffs, found {self.cutoffs} and {other.cutoffs}"
            raise StateMismatchError(message, "parts")
        tallies = (self, other)
        if sum(max(tally.lists, tally.entries(-1)) for tally in tallies) >= MOST:
            raise StateMismatchError("parts: expected fewer than 2^62 recommended items, found more", "parts")
        keys = union_of_keys(self.keys, other.keys)
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


def union_of_keys(one: TallyKeys, other: TallyKeys) -> TallyKeys:
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
    """Return the tally as bytes: all that its values do not say."""
    tables = [*tally.list_lengths, *(tally.short_lists or ())]
    return packed(
        [
            *parts_of_keys(tally.keys),
            np.diff(tally.counts, axis=1, prepend=0).T,
            # The first column, which ascends, by its distances.
            *(np.concatenate([np.diff(table[:, 0], prepend=0), *table.T[1:]]) for table in tables),
        ]
    )


def tally_from_bytes(
    data: bytes, cutoffs: tuple[int | None, ...], *, has_short_lists: bool, lists_are_sets: bool
) -> ItemTally:
    """Return the tally at these cutoffs that `tally_to_bytes` wrote; raise ValueError if there are no lists that have it.

    In lists that are sets, an item is counted once.
    """
    parts = Unpacked(data)
    keys = read_keys(parts)
    steps = parts.counts("counts", len(keys) * len(cutoffs)).reshape(len(cutoffs), len(keys))
    counts = np.ascontiguousarray(np.cumsum(steps, axis=0).T)
    lengths = tuple([parts.table("lists by their lengths", 2) for _ in cutoffs])
    short = tuple([parts.table("items of short lists", 3) for _ in cutoffs]) if has_short_lists else None
    parts.finish()
    tally = ItemTally(cutoffs, keys, counts, lengths, short)
    _check_tally(tally, lists_are_sets=lists_are_sets)
    return tally


def _check_tally(tally: ItemTally, *, lists_are_sets: bool) -> None:
    """Raise ValueError if no lists have this tally."""
    if not (tally.counts[:, -1] > 0).all():
        raise ShapeError("tally", "items that are in a list")
    for column, (cutoff, lengths) in enumerate(zip(tally.cutoffs, tally.list_lengths, strict=True)):
        check_sum(lengths, "lists by their lengths")
        check_sum(lengths.astype(np.float64).prod(axis=1), "items by the lengths of their lists")
        total, counts = tally.entries(column), tally.counts[:, column]
        with_items = int(lengths[lengths[:, 0] > 0, 1].sum())
        if cutoff is not None and (lengths[:, 0] > cutoff).any():
            raise ShapeError("tally", f"lists of at most {cutoff} items", int(lengths[-1, 0]))
        if total != int(counts.sum()):
            raise ShapeError("tally", f"lists of {int(counts.sum())} items in all", total)
        if int(lengths[:, 1].sum()) != tally.lists:
            raise ShapeError("tally", f"{tally.lists} lists at each cutoff", int(lengths[:, 1].sum()))
        if lists_are_sets and counts.max(initial=0) > with_items:
            raise ShapeError("tally", f"items in at most {with_items} lists", int(counts.max()))
        if tally.short_lists is not None:
            _check_short_lists(tally, column)


def check_hits(hits: ItemTally, relevant: ItemTally) -> None:
    """Raise ValueError unless the hits are of relevant items of the same lists."""
    if hits.lists != relevant.lists:
        raise ShapeError("tally", f"relevant items of {hits.lists} lists", relevant.lists)
    keys = union_of_keys(hits.keys, relevant.keys)
    if len(keys) > len(relevant.keys) or (hits.counts_of(keys, -1) > relevant.counts_of(keys, -1)).any():
        raise ShapeError("tally", "hits of items that are as often relevant", len(hits.keys))


def _check_short_lists(tally: ItemTally, column: int) -> None:
    """Raise ValueError unless lists of each length below the cutoff have so many items, the others the rest."""
    assert tally.short_lists is not None  # noqa: S101 - for the type checker
    rows, cutoff = tally.short_lists[column], tally.cutoffs[column]
    lists: dict[int | None, int] = dict(tally.list_lengths[column].tolist())
    if (rows[:, 0] >= len(tally.keys)).any():
        raise ShapeError("tally", f"positions of {len(tally.keys)} items", int(rows[:, 0].max()))
    entries = dict.fromkeys((length for length in lists if length and length != cutoff), 0)
    for _, length, number in rows.tolist():
        if length not in entries or number > lists[length]:
            raise ShapeError("tally", f"an item in at most {lists.get(length, 0)} lists of {length} items", number)
        entries[length] += number
    if any(number != length * lists[length] for length, number in entries.items()):
        raise ShapeError("tally", "as many items as the lists of each length have", entries)
    rest = tally.counts[:, column].copy()
    np.subtract.at(rest, rows[:, 0], rows[:, 2])
    if (rest < 0).any() or rest.max(initial=0) > lists.get(cutoff, 0):
        raise ShapeError(
            "tally", "items in as many lists of the cutoff's length as there are", int(rest.max(initial=0))
        )


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
        if any(tally.most >= MOST // 2 for tally in (self, other)):
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
    texts = tuple(label for label in tally.labels if isinstance(label, str))
    keys = parts_of_keys(texts or np.array(tally.labels, np.int64))
    possible = [] if tally.possible is None else [tally.possible]
    return packed([np.array([tally.lists]), *keys, tally.sizes, tally.counts.T, *possible])


def group_tally_from_bytes(data: bytes, value: Value, items: int) -> GroupTally:
    """Return the tally that `group_tally_to_bytes` wrote; raise ValueError if no lists have it.

    The value is at the last cutoff, and there are so many items in the catalogue.
    """
    parts = Unpacked(data)
    (lists,) = parts.counts("the number of lists", 1).tolist()
    keys = read_keys(parts)
    groups, sizes = len(keys), parts.counts("sizes of groups", len(keys))
    counts = parts.counts("counts of groups")
    if not groups or len(counts) % groups:
        raise ShapeError("counts of groups", f"ranks of {groups} groups", len(counts))
    by_group = np.ascontiguousarray(counts.reshape(-1, groups).T)
    possible = parts.counts("possible items", groups) if value.info.reads_history else None
    parts.finish()
    labels = tuple(keys.tolist()) if isinstance(keys, np.ndarray) else tuple(map(_checked_label, keys))
    tally = GroupTally(labels, sizes, lists, by_group, possible)
    _check_group_tally(tally, value, items)
    return tally


def _checked_label(key: str | bytes) -> str:
    if isinstance(key, bytes):
        raise ShapeError("labels", "labels of groups to be strings or integers", key)
    return key


def _check_group_tally(tally: GroupTally, value: Value, items: int) -> None:
    """Raise ValueError if no lists have this tally."""
    groups, ranks = tally.counts.shape
    if groups < 2 or (tally.sizes < 1).any() or int(tally.sizes.sum()) > items:
        raise ShapeError("tally", f"two groups or more of {items} items in all", tally.sizes[:3].tolist())
    if ranks > 0 and not tally.counts[:, -1].any():
        raise ShapeError("tally", "an item at the last rank")
    if value.cutoff is not None and ranks > value.cutoff:
        raise ShapeError("tally", f"at most {value.cutoff} ranks", ranks)
    if (tally.counts.sum(axis=0) > tally.lists).any():
        raise ShapeError("tally", f"at most {tally.lists} items at a rank", int(tally.counts.sum(axis=0).max()))
    in_lists = tally.counts.sum(axis=1).tolist()
    possible = in_lists if tally.possible is None else tally.possible.tolist()
    for size, count, most in zip(tally.sizes.tolist(), in_lists, possible, strict=True):
        if value.rules["duplicate_items"] != "count" and most > size * tally.lists:
            raise ShapeError("tally", f"{size} items in at most {tally.lists} lists", most)
        if count > most:
            raise ShapeError("tally", f"at most {most} items of a group", count)


class Tallies(NamedTuple):
    """The tallies of some lists: of their items, and of the groups of these."""

    items: tuple[ItemTally, ...] = ()
    groups: tuple[GroupTally, ...] = ()

    def plus(self, other: Tallies) -> Tallies:
        """Return the tallies of both sets of lists."""
        of_items = zip(self.items, other.items, strict=True)
        of_groups = zip(self.groups, other.groups, strict=True)
        return Tallies(tuple(one.plus(two) for one, two in of_items), tuple(one.plus(two) for one, two in of_groups))

    def to_bytes(self) -> list[bytes]:
        """Return the bytes of each tally, of items first."""
        return [*map(tally_to_bytes, self.items), *map(group_tally_to_bytes, self.groups)]


MOST_GROUPS = 64
"""Of users, each of which has tallies of its own."""


def check_group_count(labels: Collection[Label]) -> None:
    """Raise InputError for more groups of users than may have tallies."""
    if len(labels) > MOST_GROUPS:
        expected = f"at most {MOST_GROUPS} groups with metrics of all lists together, whose items are counted by group"
        hint = "coarser groups, or a call without these metrics, have values"
        raise input_error("groups", expected, f"{len(labels)}", hint=hint)
