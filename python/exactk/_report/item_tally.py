"""How many lists recommend each item: integers, so that addition is exact in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

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
