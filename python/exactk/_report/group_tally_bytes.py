"""Tallies of groups of items as bytes, and the checks of such bytes from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._report.group_tally import GroupTally
from exactk._report.tally_bytes import EXPECTED, TallyReader, check_sum, compressed, key_parts, pack, read_keys
from exactk._report.validation import fail, plain_data
from exactk._report.varints import write_varints

if TYPE_CHECKING:
    from exactk._plan.values import Value
    from exactk._report.item_tally import Integers
    from exactk._report.sums import Label


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
