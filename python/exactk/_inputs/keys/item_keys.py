"""Distinct keys of items in ascending order, which other inputs of items are matched with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import read_only
from exactk._inputs.keys.columns import NumberColumn
from exactk._inputs.keys.vocabulary import KIND_HINT, Snapshot, Vocabulary
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Ids


class ItemEntries(NamedTuple):
    """Items in any order, perhaps repeated: integer ids, or codes of keys."""

    values: Ids
    keys: Snapshot | None = None

    @property
    def kind(self) -> str:
        """The kind of the items: int, str or bytes."""
        return "int" if self.keys is None else self.keys.kinds[0]

    def text(self, position: int) -> str:
        """Return an item as messages show it."""
        item = int(self.values[position])
        return f"item {item if self.keys is None else self.keys.repr_of(item)}"


@dataclass(frozen=True, eq=False)
class ItemKeys:
    """Distinct keys in ascending order: integers by number, strings by code point, bytes by byte."""

    integers: NDArray[np.int64] | None  # None: the keys are strings or bytes
    keys: Snapshot | None = None
    positions: Codes | None = None  # of each key's code, in ascending order

    @classmethod
    def of_entries(cls, entries: ItemEntries, argument: str) -> tuple[ItemKeys, NDArray[np.int64]]:
        """Return the distinct items of the entries, and the position of each entry among them."""
        values, positions = np.unique(entries.values, return_inverse=True)
        if entries.keys is None:
            _check_range(entries.values, argument)
            return cls(read_only(values.astype(np.int64))), positions.astype(np.int64)
        keys = entries.keys if len(values) == len(entries.keys) else entries.keys.select(values)
        order = keys.positions_in_key_order()
        return cls(None, keys, order), order[positions].astype(np.int64)

    def __len__(self) -> int:
        return len(self.integers) if self.integers is not None else len(self.snapshot)

    def text(self, position: int) -> str:
        """Return a key as messages show it."""
        key = self.array[position]
        return repr(key.item() if isinstance(key, np.generic) else key)

    @property
    def snapshot(self) -> Snapshot:
        """The keys, which are strings or bytes, in the order of their codes."""
        assert self.keys is not None  # noqa: S101 - for the type checker
        return self.keys

    @property
    def kind(self) -> str:
        """The kind of the keys: int, str or bytes."""
        return "int" if self.keys is None else self.keys.kinds[0]

    @property
    def array(self) -> NDArray[Any]:
        """The keys in ascending order."""
        return self.integers if self.integers is not None else read_only(self.snapshot.array[self._order])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The code of each key, in ascending order."""
        assert self.positions is not None  # noqa: S101 - for the type checker
        order = np.empty(len(self), np.int64)
        order[self.positions] = np.arange(len(self))
        return order

    def find(self, entries: ItemEntries, argument: str) -> NDArray[np.int64]:
        """Return the position of each entry here, or -1; raise InputTypeError if none could ever be found."""
        if not len(entries.values):
            return np.zeros(0, np.int64)
        if entries.kind != self.kind:
            expected = f"items of type {self.kind}, as in the catalogue"
            raise type_error(argument, expected, entries.kind, hint=KIND_HINT)
        if self.integers is not None:
            return _find_integers(self.integers, entries.values)
        assert self.positions is not None and entries.keys is not None  # noqa: S101, PT018 - for the type checker
        codes = self.snapshot.find(entries.keys, argument)[entries.values]
        return np.where(codes < 0, -1, self.positions[codes].astype(np.int64))

    def ids_among(self, items: Snapshot | None, item_ids: Codes | None) -> NDArray[np.int64]:
        """Return the ids in a call: those of its keys, then those of keys that it does not have; `item_ids` are by code.

        Without keys in the call, integers are ids.
        """
        if items is None:
            return self.integers if self.integers is not None else np.arange(len(self))
        codes = items.find(self._as_snapshot(), "items")
        is_found = codes >= 0
        ids = np.where(is_found, codes if item_ids is None else item_ids.astype(np.int64)[codes], 0)
        ids[~is_found] = len(items) + np.arange(len(ids) - int(is_found.sum()))
        return ids if self.positions is None else ids[self._order]

    def _as_snapshot(self) -> Snapshot:
        """Return the keys, integers as such."""
        if self.integers is None:
            return self.snapshot
        vocabulary = Vocabulary.of_kinds(["int"])
        vocabulary.encode([NumberColumn(self.integers)], "items")
        return vocabulary.snapshot()

    def canonical_bytes(self) -> tuple[bytes, bytes, bytes]:
        """Return the kind, the lengths of the keys and the keys themselves, in ascending order: the same in any process."""
        if self.integers is not None:
            return b"int", b"", self.integers.astype("<i8").tobytes()
        offsets, data = self.snapshot.vocabulary.parts[0].as_packed(len(self))
        order = self._order
        sizes = np.diff(offsets)[order]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        sources = np.arange(ends[-1]) + np.repeat(offsets[:-1][order] - ends[:-1], sizes)
        return self.kind.encode(), sizes.astype("<i8").tobytes(), data[sources].tobytes()

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, for pickling."""
        return (self.integers, None if self.keys is None else self.keys.to_plain())

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> ItemKeys:
        """Return the keys that `to_plain` described."""
        integers, keys = plain
        if keys is None:
            return cls(read_only(integers))
        snapshot = Snapshot.from_plain(keys)
        return cls(None, snapshot, snapshot.positions_in_key_order())


def _find_integers(ascending: NDArray[np.int64], values: Ids) -> NDArray[np.int64]:
    if not len(ascending):
        return np.full(len(values), -1, np.int64)
    ids = values.astype(np.int64)  # NumPy compares int64 and uint64 as floats
    slots = np.searchsorted(ascending, ids)
    return np.where(ascending.take(slots, mode="clip") == ids, slots, -1)


def _check_range(values: Ids, argument: str) -> None:
    """Raise InputError if an integer is no id."""
    beyond = (values < 0) | (values.astype(np.uint64) > np.iinfo(np.int64).max)
    if beyond.any():
        position, count = int(np.argmax(beyond)), int(beyond.sum())
        raise input_error(argument, "item ids in [0, 2^63)", str(values[position]), position=position, count=count)
