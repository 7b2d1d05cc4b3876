"""The items that could be recommended, with the features of each, and what each user has of them in train."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import converted, offsets_of, parts, read_only
from exactk._inputs.keys.key_lists import ItemKeys
from exactk._inputs.keys.vocabulary import Snapshot, kinds_error
from exactk._inputs.model.rows import Rows, reindex
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Offsets


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """The features of items: either dense `vectors`, or sparse ones, of which sets of tags have no `weights`.

    Row i of sparse vectors has `columns[indptr[i]:indptr[i + 1]]`, ascending.
    """

    width: int  # the number of dimensions, or of tags
    is_missing: NDArray[np.bool_]  # items without features
    vectors: NDArray[Any] | None = None  # items x dimensions, float32 or float64; 0 where they are missing
    indptr: Offsets | None = None
    columns: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: tuple[int | str, ...] | None = None  # of each column
    item_columns: NDArray[np.int64] | None = None  # of square vectors, the column of each item if they are distances

    def ordered(self, positions: NDArray[np.int64], size: int) -> ItemFeatures:
        """Return the features of items in another order, row i at `positions[i]` of `size`; other items have none."""
        is_missing = np.ones(size, np.bool_)
        is_missing[positions] = self.is_missing
        if self.vectors is not None:
            vectors = np.zeros((size, self.width), self.vectors.dtype)
            for part in parts(self.vectors):
                vectors[positions[part]] = self.vectors[part]
            item_columns = np.full(size, -1, np.int64)
            item_columns[positions] = np.arange(len(positions))
            is_square = self.width == len(positions)
            return ItemFeatures(self.width, is_missing, vectors, item_columns=item_columns if is_square else None)
        assert self.indptr is not None and self.columns is not None  # noqa: S101, PT018 - for the type checker
        sources = np.full(size, -1, np.int64)
        sources[positions] = np.arange(len(positions))
        rows = reindex(Rows(self.indptr, self.columns, scores=self.weights), sources)
        columns = rows.items.astype(np.int64, copy=False)
        return ItemFeatures(self.width, is_missing, None, rows.indptr, columns, rows.scores, self.tags)

    @property
    def lack_features(self) -> NDArray[np.bool_]:
        """Which items have no features, or no tags."""
        if self.tags is None or self.indptr is None:
            return self.is_missing
        lack: NDArray[np.bool_] = self.is_missing | (np.diff(self.indptr) == 0)
        return lack

    def columns_by_item(self) -> list[list[int]]:
        """Return the columns of each item of sparse vectors or sets of tags."""
        assert self.indptr is not None and self.columns is not None  # noqa: S101, PT018 - for the type checker
        columns, ends = self.columns.tolist(), self.indptr.tolist()
        return [columns[begin:end] for begin, end in pairwise(ends)]

    def canonical_parts(self) -> Iterator[bytes | memoryview]:
        """Yield the features as bytes, the same on any machine."""
        yield json.dumps([self.width, self.tags, self.weights is None]).encode()
        yield self.is_missing.tobytes()
        for numbers in (self.vectors, self.weights):
            yield b"none" if numbers is None else converted(numbers, "<f8").reshape(-1).view(np.uint8).data
        for integers in (self.indptr, self.columns, self.item_columns):
            yield b"none" if integers is None else integers.astype("<i8").tobytes()

    @cached_property
    def core(self) -> _core.ItemFeatures:
        """The features in the core's form."""
        vectors = None if self.vectors is None else self.vectors.reshape(-1)
        return _core.ItemFeatures(
            width=self.width,
            is_missing=self.is_missing,
            vectors=vectors,
            indptr=self.indptr,
            columns=self.columns,
            weights=self.weights,
            item_columns=self.item_columns,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for pickling."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        if self.tags is not None:
            return f"{self.width} {'tag' if self.width == 1 else 'tags'}"
        return f"features of {self.width} dimension{'' if self.width == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class Histories:
    """The rows of train: distinct items of the catalogue, ascending in each row."""

    indptr: Offsets
    items: NDArray[np.uint32]  # positions in the catalogue
    users: Snapshot | None  # the key of each row; None: rows are matched by position

    @classmethod
    def of_interactions(
        cls, indptr: Offsets, positions: NDArray[np.int64], users: Snapshot | None, item_count: int
    ) -> Histories:
        """Return the histories of rows, whose items have these positions in the catalogue; -1 for none."""
        row_count = len(indptr) - 1
        rows = np.repeat(np.arange(row_count), np.diff(indptr))
        pairs = rows * item_count + positions
        if not (is_held := positions >= 0).all():
            rows, pairs = rows[is_held], pairs[is_held]
        if (pairs[1:] <= pairs[:-1]).any():
            pairs.sort(kind="stable")  # fast, for the rows stand in order already, and stay where they are
            is_first = np.concatenate([[True], pairs[1:] != pairs[:-1]])
            rows, pairs = rows[is_first], pairs[is_first]
        items = pairs - rows * item_count
        ends = offsets_of(np.bincount(rows, minlength=row_count))
        return cls(read_only(ends), read_only(items.astype(np.uint32)), users)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.indptr) - 1

    @cached_property
    def core(self) -> _core.Histories:
        """The rows in the core's form."""
        return _core.Histories(self.indptr, self.items)

    @cached_property
    def digest(self) -> int:
        """128 bits that tell these histories from others, in any order of keyed users."""
        lists = _core.Lists(self.items.astype(np.int64), self.indptr, None, None, "train")
        hashes = None if self.users is None else self.users.hashes
        return _core.truth_digest(lists, None, hashes, None, 1, "")

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, for pickling."""
        return (self.indptr, self.items, None if self.users is None else self.users.to_plain())

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Histories:
        """Return the histories that `to_plain` described."""
        indptr, items, users = plain
        return cls(read_only(indptr), read_only(items), None if users is None else Snapshot.from_plain(users))


class UserHistories(NamedTuple):
    """The histories of the users of a call."""

    histories: Histories
    rows: NDArray[np.int64]  # of train, one per user of the call; -1: none

    def of_user(self, user: int) -> list[int]:
        """Return the positions in the catalogue of what the user has in train."""
        row, indptr, items = int(self.rows[user]), self.histories.indptr, self.histories.items
        return [] if row < 0 else items[indptr[row] : indptr[row + 1]].tolist()


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
            raise kinds_error("items", "items", ["int"], [self.keys.kind], "predictions")
        if items is not None and self.has_columns:
            raise type_error("items", "item keys, as in the predictions", "a number of items or columns of a matrix")
        if items is not None and items.kinds != (self.keys.kind,):
            raise kinds_error("items", "items", items.kinds[:1], [self.keys.kind], "predictions")
        ids = self.keys.ids_among(items, item_ids)
        return self if ids is self.ids else replace(self, ids=ids)

    @cached_property
    def rows_with_features(self) -> NDArray[np.bool_]:
        """Whether each row of train has an item with features."""
        assert self.features is not None and self.histories is not None  # noqa: S101, PT018 - for the type checker
        have_features = ~self.features.lack_features[self.histories.items]
        return np.diff(offsets_of(have_features)[self.histories.indptr]) > 0

    @property
    def item_group_labels(self) -> tuple[int | str, ...]:
        """The labels of groups of items: of `group_codes` or, without them, the tags."""
        if self.group_codes is not None:
            return self.group_labels
        return () if self.features is None else self.features.tags or ()

    @property
    def has_items_without_group(self) -> bool:
        """Whether an item of the catalogue is in no group."""
        return bool(self.is_in_item_group(None)[:-1].any())

    def is_in_item_group(self, label: int | str | None) -> NDArray[np.bool_]:
        """Return which items of the catalogue are in a group, or for None in none; and, last, items outside it."""
        is_in = np.zeros(len(self) + 1, np.bool_)
        code = -1 if label is None else self.item_group_labels.index(label)
        if self.group_codes is not None:
            is_in[:-1] = self.group_codes == code
        elif self.features is not None and self.features.tags is not None and self.features.indptr is not None:
            assert self.features.columns is not None  # noqa: S101 - of tags
            held = np.ones(len(self.features.columns), np.bool_) if label is None else self.features.columns == code
            is_in[:-1] = (np.diff(offsets_of(held)[self.features.indptr]) > 0) != (label is None)
        is_in[-1] = label is None
        return is_in

    def core_of_groups(self, labels: Iterable[int | str | None]) -> _core.Items:
        """Return the catalogue in the core's form, with a bit for each of some groups."""
        bits = np.zeros(len(self) + 1, np.uint64)
        for bit, label in enumerate(labels):
            bits |= self.is_in_item_group(label).astype(np.uint64) << np.uint64(bit)
        return self._core(bits)

    @cached_property
    def core(self) -> _core.Items:
        """The catalogue in the core's form."""
        return self._core(None)

    def _core(self, group_bits: NDArray[np.uint64] | None) -> _core.Items:
        return _core.Items(
            ids=self.ids,
            users=self.users,
            interactions=self.interactions,
            train_users=self.train_users,
            is_train=not self.is_catalogue_given,
            values=self.item_values,
            groups=self.group_codes,
            group_count=len(self.group_labels),
            features=None if self.features is None else self.features.core,
            group_bits=group_bits,
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
