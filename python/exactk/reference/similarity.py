"""Scores of embeddings: in float64, with the terms of a pair added in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.model.scores import CanonicalEmbeddings

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
        wrong = np.flatnonzero(~((squared >= smallest) & (squared <= _LARGEST_SQUARED_NORM)))
        if not wrong.size:
            continue
        row, count = int(wrong[0]), int(wrong.size)
        invalid = np.flatnonzero(~np.isfinite(vectors[row]))
        if invalid.size:
            position = int(invalid[0])
            raise input_error(
                argument, "finite numbers", f"{vectors[row, position]:g}", row=row, position=position, count=count
            )
        expected = "vectors of length 2^-250 to 2^250"
        raise input_error(argument, expected, f"a vector of length {np.sqrt(squared[row]):g}", row=row, count=count)
    biases = embeddings.item_bias
    if biases is not None and (invalid := np.flatnonzero(~(np.abs(biases.astype(np.float64)) <= 2.0**250))).size:
        position = int(invalid[0])
        raise input_error(
            "embeddings.item_bias",
            "numbers from -2^250 to 2^250",
            f"{biases[position]:g}",
            position=position,
            count=int(invalid.size),
        )
