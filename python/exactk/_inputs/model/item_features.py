"""The features of items: a vector or a set of tags of each."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import converted, parts
from exactk._inputs.model.rows import Rows, reindex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.checks import Offsets


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
            self.width, self.is_missing, vectors, self.indptr, self.columns, self.weights, self.item_columns
        )

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for pickling."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        if self.tags is not None:
            return f"{self.width} {'tag' if self.width == 1 else 'tags'}"
        return f"features of {self.width} dimension{'' if self.width == 1 else 's'}"
