"""Item tallies as bytes, and the checks of such bytes from anywhere."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.item_tally import MAX_ENTRIES, ItemTally
from exactk._report.tally_bytes import EXPECTED, MOST, TallyReader, check_sum, compressed, key_parts, pack, read_keys
from exactk._report.validation import fail, plain_data
from exactk._report.varints import write_varints

if TYPE_CHECKING:
    from exactk._report.item_tally import Integers


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
