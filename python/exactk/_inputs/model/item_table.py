"""The items that could be recommended, with what is known of each."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.keys.item_keys import ItemKeys
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._inputs.model.histories import Histories
from exactk._inputs.model.item_features import ItemFeatures
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.vocabulary import Snapshot

_CHUNK = 1 << 20  # bytes
CatalogueSource: TypeAlias = Literal["catalogue", "train", "popularity"]
"""The argument of `exactk.Items` that has the items of the catalogue."""


@dataclass(frozen=True, eq=False)
class CanonicalItems:
    """The catalogue in the order of its keys, and what is known of each item."""

    keys: ItemKeys
    ids: NDArray[np.int64]  # those of a call; before one, integers, or positions of other keys
    source: CatalogueSource
    users: NDArray[np.int64] | None = None  # distinct users of each item in train; None: unknown
    interactions: NDArray[np.int64] | None = None  # rows of each item in train; None: unknown
    train_users: int | None = None  # distinct users of train; None: unknown
    foreign_items: int = 0  # distinct items of train that are outside the catalogue
    group_codes: NDArray[np.int64] | None = None  # the group of each item, -1 for none
    group_labels: tuple[int | str, ...] = ()
    item_values: NDArray[np.float64] | None = None  # NaN for none
    features: ItemFeatures | None = None
    histories: Histories | None = None  # what each user has in train; None: unknown
    has_columns: bool = False  # whether integers are column numbers, never keys

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_catalogue_given(self) -> bool:
        """Whether the catalogue is an argument of its own."""
        return self.source == "catalogue"

    def of_call(
        self, items: Snapshot | None, item_ids: Codes | None, *, has_items: bool, are_columns: bool
    ) -> CanonicalItems:
        """Return the items with the ids of a call, whose keys and ids are these; None for ids that are the caller's.

        `has_items` is whether the call's other inputs have any, and `are_columns` whether ids are columns of scores.
        """
        if not has_items:
            return replace(self, ids=np.arange(len(self)))
        if items is None and self.keys.integers is None:
            if are_columns:
                hint = "exactk.Scores(values, items=items) and exactk.Embeddings(..., items=items) have keys"
                raise type_error("items", "column numbers, as the scores have no item keys", "item keys", hint=hint)
            raise type_error("items", "items of type int, as in the predictions", self.keys.kind, hint=KIND_HINT)
        if items is not None and self.has_columns:
            raise type_error("items", "item keys, as in the predictions", "a number of items or columns of a matrix")
        if items is not None and items.kinds != (self.keys.kind,):
            expected = f"items of type {items.kinds[0]}, as in the predictions"
            raise type_error("items", expected, self.keys.kind, hint=KIND_HINT)
        ids = self.keys.ids_among(items, item_ids)
        return self if ids is self.ids else replace(self, ids=ids)

    @cached_property
    def rows_with_features(self) -> NDArray[np.bool_]:
        """Whether each row of train has an item with features."""
        assert self.features is not None and self.histories is not None  # noqa: S101, PT018 - for the type checker
        have_features = ~self.features.lack_features[self.histories.items]
        counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(have_features)])
        return np.diff(counted[self.histories.indptr]) > 0

    @cached_property
    def core(self) -> _core.Items:
        """The catalogue in the core's form."""
        return _core.Items(
            self.ids,
            self.users,
            self.interactions,
            self.train_users,
            not self.is_catalogue_given,
            self.item_values,
            self.group_codes,
            len(self.group_labels),
            features=None if self.features is None else self.features.core,
        )

    @cached_property
    def digest(self) -> int:
        """128 bits that tell these items from others: by their keys and what is known of each, in any container and order."""
        digest = blake2b(digest_size=16)
        numbers = [self.users, self.interactions, self.group_codes, self.item_values]
        features = () if self.features is None else self.features.canonical_parts()
        for part in (*self.keys.canonical_bytes(), *map(_canonical_bytes, numbers), *features):
            digest.update(len(part).to_bytes(8, "little"))
            for begin in range(0, len(part), _CHUNK):  # which Ctrl-C can interrupt
                digest.update(part[begin : begin + _CHUNK])
        digest.update(json.dumps([self.train_users, *self.group_labels]).encode())
        return int.from_bytes(digest.digest(), "little")

    def digest_of(self, histories: Histories | None) -> int:
        """Return 128 bits that tell these items, with the histories that metrics read, from others."""
        if histories is None:
            return self.digest
        both = b"".join(digest.to_bytes(16, "little") for digest in (self.digest, histories.digest))
        return int.from_bytes(blake2b(both, digest_size=16).digest(), "little")

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for `from_plain`, so that pickles name no private class."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        parts = {"features": self.features, "histories": self.histories}
        plain |= {name: None if part is None else part.to_plain() for name, part in parts.items()}
        return plain | {"keys": self.keys.to_plain()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> CanonicalItems:
        """Return the items that `to_plain` described."""
        features = None if plain["features"] is None else ItemFeatures(**plain["features"])
        histories = None if plain["histories"] is None else Histories.from_plain(plain["histories"])
        parts = {"keys": ItemKeys.from_plain(plain["keys"]), "features": features, "histories": histories}
        return cls(**plain | parts)


def _canonical_bytes(numbers: NDArray[Any] | None) -> bytes:
    """Return the numbers as bytes, the same on any machine; of NaN there is one."""
    if numbers is None:
        return b"unknown"
    return numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()
