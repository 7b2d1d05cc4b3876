"""From the caller's containers to waist 1. A container is one module; `containers` lists them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from metrik._errors import input_error
from metrik._inputs import sparse
from metrik._inputs.candidates import Candidates
from metrik._inputs.canonical import Columns, Exclude, Lists, Rankings, Rows, Truth
from metrik._inputs.containers import as_columns, rows_of
from metrik._inputs.embeddings import Embeddings
from metrik._inputs.ratings import from_ratings
from metrik._inputs.scores import Scores

__all__ = [
    "Candidates",
    "Columns",
    "Embeddings",
    "Exclude",
    "Lists",
    "Predictions",
    "Rankings",
    "Scored",
    "Scores",
    "Truth",
    "as_columns",
    "as_exclude",
    "as_predictions",
    "as_rankings",
    "as_scored",
    "as_truth",
    "from_ratings",
    "settled",
]

Scored: TypeAlias = Scores | Candidates | Embeddings  # what has scores
Predictions: TypeAlias = Rankings | Scored


def as_truth(value: object) -> Truth:
    """Return the value as `Truth`, converting it if it is another container.

    Parameters
    ----------
    value : Truth, list of sequences, two-dimensional array, or ids and distances
        A list has one sequence or set of ids a user, a mapping from item to grade, or None for a user
        who is missing. An array holds ids padded with -1, or is bool (multi-hot). Ids and distances are
        what an index of neighbours returns, as in `metrik.as_rankings`.

    Examples
    --------
    >>> import metrik
    >>> metrik.as_truth([[1, 4], [21]])
    <Truth of 2 users, 3 items (int64)>
    """
    return value if isinstance(value, Truth) else Truth.from_rows(rows_of(value, "truth"))


def as_rankings(value: object) -> Rankings:
    """Return the value as `Rankings`, converting it if it is another container.

    Parameters
    ----------
    value : Rankings, list of sequences, two-dimensional array, or ids and distances
        A list has one sequence of ids a user, best first, or None for a user who got none. An array
        holds ids padded with -1. Ids and distances are what an index of neighbours returns: a tuple of a
        matrix of integers and one of floats, in either order, such as faiss's ``search``, hnswlib's
        ``knn_query``, scikit-learn's ``kneighbors`` and `metrik.topk` make, or usearch's result, which
        counts the ids of each row. Only the ids rank. Distances must rise in all rows, or similarities
        fall in all: else the ids are not best first, which is an error.

    Examples
    --------
    >>> import metrik
    >>> import numpy as np
    >>> metrik.as_rankings([[4, 2, 1], [21, 3]])
    <Rankings of 2 users, 5 items (int64)>
    >>> ids, distances = np.array([[4, 2, 1], [21, 3, -1]]), np.array([[0.0, 0.5, 0.5], [0.25, 1.0, np.inf]])
    >>> metrik.as_rankings((ids, distances)).row(1)
    array([21,  3])
    """
    return value if isinstance(value, Rankings) else Rankings.from_rows(rows_of(value, "predictions"))


def as_predictions(value: object) -> Predictions:
    """Return the value as `Scores`, `Candidates`, `Embeddings` or `Rankings`, by what it is.

    Parameters
    ----------
    value : Rankings, Scores, Candidates, Embeddings, list, array, ids and distances, or sparse matrix
        A two-dimensional array of floats is taken as `Scores`. Scores that are integers need
        `metrik.Scores`: an array of integers holds ids. A csr, csc or coo array or matrix of SciPy is
        taken as `Candidates`: each stored entry is one, a zero too, and entries of one place are not
        added up, but are an item that is repeated. Of the rest, `metrik.as_rankings` says what it means.

    Examples
    --------
    >>> import metrik
    >>> import numpy as np
    >>> metrik.as_predictions(np.array([[0.5, 0.25, 1.0]]))
    <Scores of 1 users, 3 items (float64)>
    >>> metrik.as_predictions(np.array([[2, 0, 1]]))
    <Rankings of 1 users, 3 items (int64)>
    """
    if isinstance(value, (Scores, Candidates, Embeddings)):
        return value
    if sparse.matches(value):
        return _sparse_candidates(value, "predictions")
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f":
        return Scores(value)
    return as_rankings(value)


def as_scored(value: object) -> Scored:
    """Return the value as what has scores; messages call it scores."""
    if isinstance(value, (Scores, Candidates, Embeddings)):
        return value
    return _sparse_candidates(value, "scores") if sparse.matches(value) else Scores.named(value, "scores")


def _sparse_candidates(value: object, argument: str) -> Candidates:
    rows, values = sparse.entries(value, argument)
    return Candidates.named(Rankings.from_rows(rows), values, argument)


def as_exclude(value: object) -> Exclude | None:
    """Return the value as `Exclude`, converting it if it is another container.

    Parameters
    ----------
    value : Exclude, Truth, Rankings, list of sequences, two-dimensional array, sparse matrix, or None
        A list has one sequence or set of ids a user. An array holds ids padded with -1, or is bool. Of a
        csr, csc or coo array or matrix of SciPy, each stored entry is excluded, a zero too. None stays
        None.

    Examples
    --------
    >>> import metrik
    >>> metrik.as_exclude([{4, 7}, []])
    <Exclude of 2 users, 2 items (int64)>
    """
    if value is None or isinstance(value, Exclude):
        return value
    if isinstance(value, Lists):  # training data often is a Truth already
        return Exclude.from_rows(Rows(value.indptr, value.items, lengths=value.lengths))
    if sparse.matches(value):
        return Exclude.from_rows(sparse.entries(value, "exclude").rows)
    return Exclude.from_rows(rows_of(value, "exclude"))


def settled(
    predictions: Predictions, columns: Columns | None, exclude: Exclude | None
) -> tuple[Columns | None, Exclude | None]:
    """Return which items may be ranked and which are excluded, with what the predictions themselves say of it.

    Raise InputError unless they are scores that can be restricted to the columns.
    """
    if isinstance(predictions, Embeddings):
        exclude = predictions.excluded(exclude)
        if predictions.candidates is not None:
            if columns is not None:
                raise input_error("candidates", "None beside embeddings that have candidates", "others")
            columns = predictions.candidates
    if columns is None:
        return None, exclude
    if not isinstance(predictions, (Scores, Embeddings)):
        expected = f"None beside {type(predictions).__name__}, which hold all that may be ranked"
        raise input_error("candidates", expected, "columns of scores")
    if not columns.for_all and len(columns) != len(predictions):
        raise input_error("candidates", f"one entry for each of {len(predictions)} users", str(len(columns)))
    columns.check(len(predictions.items) if isinstance(predictions, Embeddings) else predictions.values.shape[1])
    return columns, exclude
