"""Distances between items by their features, and scores of embeddings: in float64, with the terms added in a fixed order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk.reference.refusals import refuse, refuse_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.model.item_table import ItemFeatures
    from exactk._inputs.model.scores import CanonicalEmbeddings

_NAME = "items.features"
_MAX_FEATURE = 2.0**64
_LEAST_SQUARE = 2.0**-500  # of a vector that has a direction

Row: TypeAlias = "NDArray[np.float64] | dict[int, float]"
"""A vector, or the numbers of a sparse one by column; the tags of a set have 1."""


def check_features(features: ItemFeatures) -> None:
    """Raise InputError for a number that is not finite or too large."""
    rows = [row.values() if isinstance(row, dict) else row.tolist() for row in _rows(features)]
    cells = [(row, i) for row, numbers in enumerate(rows) for i, n in enumerate(numbers) if not abs(n) <= _MAX_FEATURE]
    refuse_any(_NAME, "number out of range", cells)


class ItemDistances:
    """One kind of distance between the items of the catalogue, by position."""

    def __init__(self, features: ItemFeatures, distance: str) -> None:
        self._distance = distance
        self._rows = _rows(features)
        self._is_missing = features.is_missing.tolist()
        if features.vectors is None and features.weights is None:  # an item without tags has no distance from others
            self._is_missing = [not row for row in self._rows]
        self._columns = None if features.item_columns is None else features.item_columns.tolist()
        self._scales = [1.0] * len(self._rows)
        if distance == "cosine":
            self._scales = [_inverse_length(row, i) for i, row in enumerate(self._rows)]
        if distance == "jaccard":
            self._check_tags()
        if distance == "matrix":
            self._check_matrix()

    def has_features(self, item: int) -> bool:
        """Return whether there are distances from the item to others."""
        return not self._is_missing[item]

    def between(self, item: int, other: int) -> float:
        """Return the distance of an item from another one."""
        one, two = self._rows[item], self._rows[other]
        match self._distance:
            case "cosine":
                return max(0.0, 1 - _product(one, two) * self._scales[other] * self._scales[item])
            case "dot":
                return 1 - _product(one, two)
            case "euclidean":
                return math.sqrt(_squared_difference(one, two))
            case "hamming":
                return float(sum(a != b for a, b in _pairs(one, two)))
            case "jaccard":
                return _jaccard(one, two)
            case _:
                return self._entry(item, other)

    def sum_of_pairs(self, items: Sequence[int]) -> float:
        """Return the sum of the distances of all pairs: of vectors' products, by the running sum of the vectors."""
        if self._distance in {"cosine", "dot"} and not isinstance(self._rows[0] if self._rows else {}, dict):
            return self._sum_of_products(items)
        total = 0.0
        for i, item in enumerate(items):
            for other in items[:i]:
                total += self.between(item, other)
        return total

    def _sum_of_products(self, items: Sequence[int]) -> float:
        similarities = 0.0
        above: Any = np.zeros(len(self._rows[0]))
        for item in items:
            row = self._rows[item]
            assert not isinstance(row, dict)  # noqa: S101 - for the type checker
            similarities += _product(above, row) * self._scales[item]
            above = above + row * self._scales[item]
        total = len(items) * (len(items) - 1) / 2 - similarities
        return max(0.0, total) if self._distance == "cosine" else total

    def _entry(self, item: int, other: int) -> float:
        assert self._columns is not None  # noqa: S101 - for the type checker
        return float(self._rows[item][self._columns[other]])

    def _check_tags(self) -> None:
        for item, row in enumerate(self._rows):
            is_sparse = isinstance(row, dict)
            for number in row.values() if isinstance(row, dict) else row.tolist():
                if number != 1 and (is_sparse or number != 0):
                    refuse(_NAME, "number that is no tag")
            if not _tags(row):
                self._is_missing[item] = True

    def _check_matrix(self) -> None:
        if any(isinstance(row, dict) for row in self._rows):
            refuse(_NAME, "sparse matrix of distances")
        if self._columns is None:
            refuse(_NAME, "no square matrix of distances")
        listed = [item for item, is_missing in enumerate(self._is_missing) if not is_missing]
        for item in listed:
            for other in listed:
                distance = self._entry(item, other)
                if other > item:
                    continue
                is_distance = distance >= 0 and distance == self._entry(other, item)
                if not is_distance or (item == other and distance != 0):
                    refuse(_NAME, "number that is no distance", row=item, position=self._columns[other])


def _rows(features: ItemFeatures) -> list[Row]:
    if features.vectors is not None:
        return list(features.vectors.astype(np.float64))
    assert features.indptr is not None and features.columns is not None  # noqa: S101, PT018 - for the type checker
    weights = np.ones(len(features.columns)) if features.weights is None else features.weights
    return [
        dict(zip(features.columns[begin:end].tolist(), weights[begin:end].tolist(), strict=True))
        for begin, end in zip(features.indptr[:-1].tolist(), features.indptr[1:].tolist(), strict=True)
    ]


def _pairs(one: Row, other: Row) -> list[tuple[float, float]]:
    """Return the numbers of both in each column, in order; of sparse ones, in the columns that one has."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [(one.get(column, 0.0), other.get(column, 0.0)) for column in sorted({*one, *other})]
    return list(zip(one, other, strict=True))


def _product(one: Row, other: Row) -> float:
    if not isinstance(one, dict) and not isinstance(other, dict):
        return float(sum_rows((one * other)[np.newaxis])[0])
    total = 0.0
    for a, b in _pairs(one, other):
        total += a * b
    return total


def _squared_difference(one: Row, other: Row) -> float:
    if not isinstance(one, dict) and not isinstance(other, dict):
        return float(sum_rows(((one - other) * (one - other))[np.newaxis])[0])
    total = 0.0
    for a, b in _pairs(one, other):
        total += (a - b) * (a - b)
    return total


def _tags(row: Row) -> set[int]:
    return set(row) if isinstance(row, dict) else set(np.flatnonzero(row).tolist())


def _jaccard(one: Row, other: Row) -> float:
    common, either = len(_tags(one) & _tags(other)), len(_tags(one) | _tags(other))
    return (either - common) / either


def _inverse_length(row: Row, item: int) -> float:
    """Return what a vector is multiplied by to have length 1; 0 if it is 0."""
    square = _product(row, row)
    if square >= _LEAST_SQUARE:
        return 1 / math.sqrt(square)
    if any(row.values() if isinstance(row, dict) else row):
        refuse(_NAME, "vector too short", row=item)
    return 0.0


_SUMS = 8
_LARGEST_SQUARED_NORM = 2.0**500  # square of a length


def sum_rows(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each row: term j is added to partial sum j mod 8, in order."""
    sums = np.zeros((len(terms), _SUMS))
    for j in range(terms.shape[1]):
        sums[:, j % _SUMS] += terms[:, j]
    zero, one, two, three, four, five, six, seven = sums.T
    return ((zero + four) + (two + six)) + ((one + five) + (three + seven))


def squared_norms(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the square of each vector's length."""
    wide = vectors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return sum_rows(wide * wide)


def similarities(embeddings: CanonicalEmbeddings, user: int) -> NDArray[np.float64]:
    """Return the score of each item for the user."""
    vector = embeddings.user_vectors[user].astype(np.float64)
    items = embeddings.item_vectors.astype(np.float64)
    if embeddings.similarity == "euclidean":
        scores = 0 - np.sqrt(sum_rows((vector - items) * (vector - items)))
    else:
        scores = sum_rows(vector * items)
    if embeddings.similarity == "cosine":
        scores = scores / np.sqrt(squared_norms(vector[np.newaxis]) * squared_norms(items))
    if embeddings.item_bias is not None:
        scores = scores + embeddings.item_bias.astype(np.float64)
    if not embeddings.has_float32_scores:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def check_vectors(embeddings: CanonicalEmbeddings) -> None:
    """Raise InputError unless numbers are finite, and no vector is too long, or, for a cosine, too short."""
    for argument, vectors in zip(embeddings.arguments, (embeddings.user_vectors, embeddings.item_vectors), strict=True):
        squared = squared_norms(vectors)
        smallest = 1 / _LARGEST_SQUARED_NORM if embeddings.similarity == "cosine" else 0.0
        wrong = np.flatnonzero(~((squared >= smallest) & (squared <= _LARGEST_SQUARED_NORM))).tolist()
        for row in wrong[:1]:
            for position in np.flatnonzero(~np.isfinite(vectors[row])).tolist()[:1]:
                refuse(argument, "number that is not finite", row=row, position=position, count=len(wrong))
            refuse(argument, "vector too long or too short", row=row, count=len(wrong))
    if (bias := embeddings.item_bias) is not None:
        wrong = np.flatnonzero(~(np.abs(bias.astype(np.float64)) <= 2.0**250)).tolist()
        refuse_any("embeddings.item_bias", "number out of range", [(None, position) for position in wrong])
