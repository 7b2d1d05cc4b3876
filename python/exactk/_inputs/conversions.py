"""From the caller's containers to canonical inputs. A container is one adapter; `containers.registry` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.batches import Batches, Reader, predictions_from_rows
from exactk._inputs.checks import import_dlpack
from exactk._inputs.containers import frames, mappings, sparse
from exactk._inputs.containers.registry import ConversionOptions, rows_of_container
from exactk._inputs.keys.column_roles import may_be_grades
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.lists import Exclusions, Lists, Rankings, Truth
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._runtime.errors import type_error
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.predictions import Predictions, Scored


def as_truth(
    value: object, *, user: str | Sequence[str] | None = None, item: str | None = None, grade: str | None = None
) -> Truth:
    """Return the value as `Truth`, converting it if it is another container.

    Parameters
    ----------
    value : Truth, mapping, data frame, list of sequences, array, sparse matrix, or ids and distances
        A mapping has for each user a sequence or set of items, a mapping from item to grade, or a sequence
        of (item, grade) tuples; a list has such rows without the users' names, and None for a user who is
        missing. A data frame (pandas, Polars, or any that streams Arrow) has a row for each user and item, or
        for each user a list of items. An array holds ids padded with -1, or is bool (multi-hot);
        `exactk.Truth.from_dense` takes grades of all items. What a sparse matrix of SciPy stores are grades,
        of which a zero is judged and not relevant; a bool one has none. Ids and distances are what an index
        of neighbours returns, as in `exactk.as_rankings`.
    user, item, grade : str, optional
        What the columns of a data frame are called; of the user also several, whose values together name one.
        By default, the one column with a usual name is taken: user_id, query_id, uid, ...; item_id, doc_id,
        movieId, ...; grade, relevance, rel, label, rating, target or gain. Without a column of grades each item
        is relevant, and `exactk.evaluate` warns of other columns of numbers, which could be grades.

    Returns
    -------
    Truth
        With the users in the order in which they come.

    Raises
    ------
    InputError, InputTypeError
        If it is not what it must be: what was expected, what came, where first.

    Examples
    --------
    >>> import exactk
    >>> exactk.as_truth([[1, 4], [21]])
    <Truth of 2 users, 3 items (int64)>
    >>> exactk.as_truth({"ann": {"film": 3.0, "song": 1.0}, "bob": {}}).users
    array(['ann', 'bob'], dtype='<U3')
    """
    return truth_of(value, {"user": user, "item": item, "grade": grade}, default_encoding())


def default_encoding() -> Encoding:
    """Return an encoding without vocabularies to continue, by as many threads as an evaluation uses by default."""
    return Encoding(threads=resolve_threads(None))


def truth_of(
    value: object,
    columns: ColumnNames,
    encoding: Encoding = Encoding(),  # noqa: B008 - immutable
    unused: Sequence[str] = (),
) -> Truth:
    """Return the value as `Truth`; columns are what `exactk.as_truth` says of them, beside others that are unused."""
    if isinstance(value, Truth):
        return value
    rows = rows_of_container(value, ConversionOptions("truth", encoding, columns))
    if rows.grades is None and unused:
        rows = rows._replace(columns=rows.columns._replace(unused=may_be_grades(unused)))
    return Truth.from_rows(rows)


def as_rankings(value: object) -> Rankings:
    """Return the value as `Rankings`, converting it if it is another container.

    Parameters
    ----------
    value : Rankings, mapping, list of sequences, two-dimensional array, or ids and distances
        A mapping or list has one sequence of ids a user, best first, or None for a user who got none. An array
        holds ids padded with -1. Ids and distances are what an index of neighbours returns: a tuple of a
        matrix of integers and one of floats, in either order, such as faiss's ``search``, hnswlib's
        ``knn_query``, scikit-learn's ``kneighbors`` and `exactk.topk` make, or usearch's result, which
        counts the ids of each row. Only the ids rank. Distances must rise in all rows, or similarities
        fall in all: else the ids are not best first, which is an error.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> exactk.as_rankings([[4, 2, 1], [21, 3]])
    <Rankings of 2 users, 5 items (int64)>
    >>> ids, distances = np.array([[4, 2, 1], [21, 3, -1]]), np.array([[0.0, 0.5, 0.5], [0.25, 1.0, np.inf]])
    >>> exactk.as_rankings((ids, distances)).row(1)
    array([21,  3])
    """
    if isinstance(value, Rankings):
        return value
    rows = rows_of_container(value, ConversionOptions("predictions"))
    if rows.scores is not None:
        raise type_error("predictions", "lists of ids, best first", "ids with scores")
    return Rankings.from_rows(rows)


def as_predictions(
    value: object,
    *,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
) -> Predictions:
    """Return the value as `Scores`, `SparseScores`, `Embeddings` or `Rankings`, by what it is.

    Parameters
    ----------
    value : Rankings, Scores, SparseScores, Embeddings, mapping, data frame, list, array, ids and distances, or sparse matrix
        A mapping has for each user a sequence of items, best first, a mapping from item to score, or a sequence
        of (item, score) tuples; a list has such rows without the users' names. A data frame has a row for each
        user and item with a score or a rank, in any order, or for each user a list of items, best first, or with
        a list of scores beside it. A two-dimensional array of floats is taken as `Scores`. Scores that are
        integers need `exactk.Scores`: an array of integers holds ids. A csr, csc or coo array or matrix of SciPy
        is taken as `SparseScores`: each stored entry is a score, a zero too, and several entries of one row and
        column are not added up, but are an item that is repeated. `exactk.as_rankings` describes the others.
    user, item, score, rank : str, optional
        What the columns of a data frame are called, as in `exactk.as_truth`: of scores the highest is best, of
        ranks the lowest; the convention's ``rank_gaps`` says whether an item keeps its rank where some are left
        out. Usual names are score, prediction and rank; of a frame that has both, one must be said.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> exactk.as_predictions(np.array([[0.5, 0.25, 1.0]]))
    <Scores of 1 users, 3 items (float64)>
    >>> exactk.as_predictions(np.array([[2, 0, 1]]))
    <Rankings of 1 users, 3 items (int64)>
    >>> exactk.as_predictions({"ann": {"film": 0.5, "song": 0.75}})
    <SparseScores of 1 users, 2 items (str), scores (float64)>
    """
    return predictions_of(value, {"user": user, "item": item, "score": score, "rank": rank}, default_encoding())


def predictions_of(value: object, columns: ColumnNames, encoding: Encoding = Encoding()) -> Predictions:  # noqa: B008 - immutable
    """Return the value as predictions; the codes of their keys continue those of the encoding."""
    value = import_dlpack(value, "predictions")
    if isinstance(value, (Rankings, Scores, SparseScores, CanonicalEmbeddings)):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f":
        return Scores(value)
    if isinstance(value, Batches):
        return Reader(value, columns, encoding).read_all()
    return predictions_from_rows(rows_of_container(value, ConversionOptions("predictions", encoding, columns)))


def as_scored(value: object) -> Scored:
    """Return the value as what has scores; messages call it scores."""
    value = import_dlpack(value, "scores")
    if isinstance(value, (Scores, SparseScores, CanonicalEmbeddings)):
        return value
    if not (
        isinstance(value, Batches)
        or sparse.is_sparse_matrix(value)
        or mappings.is_mapping(value)
        or frames.is_frame(value)
    ):
        return Scores.for_argument(value, "scores")
    if isinstance(value, Batches):
        scored = Reader(value, {}, Encoding()).read_all()
    else:
        scored = predictions_from_rows(rows_of_container(value, ConversionOptions("scores")), "scores")
    if isinstance(scored, Rankings):
        raise type_error("scores", "items with scores", "lists of items")
    return scored


def as_exclusions(
    value: object, *, user: str | Sequence[str] | None = None, item: str | None = None
) -> Exclusions | None:
    """Return the value as `Exclusions`, converting it if it is another container.

    Parameters
    ----------
    value : Exclusions, Truth, Rankings, mapping, data frame, list of sequences, two-dimensional array, sparse matrix, or None
        A mapping or list has one sequence or set of ids a user. A data frame has a row for each user and item.
        An array holds ids padded with -1, or is bool. Of a csr, csc or coo array or matrix of SciPy, each stored
        entry is excluded, a zero too. None stays None.
    user, item : str, optional
        What the columns of a data frame are called, as in `exactk.as_truth`.

    Examples
    --------
    >>> import exactk
    >>> exactk.as_exclusions([{4, 7}, []])
    <Exclusions of 2 users, 2 items (int64)>
    """
    return exclusions_of(value, {"user": user, "item": item}, default_encoding())


def exclusions_of(value: object, columns: ColumnNames, encoding: Encoding = Encoding()) -> Exclusions | None:  # noqa: B008 - immutable
    """Return the value as `Exclusions`; the codes of its keys continue those of the encoding."""
    if value is None or isinstance(value, Exclusions):
        return value
    if isinstance(value, Lists):  # training data often is a Truth already
        return Exclusions.from_rows(value.rows()._replace(grades=None, present=None))
    rows = rows_of_container(value, ConversionOptions("exclude", encoding, columns))
    return Exclusions.from_rows(rows._replace(present=None))
