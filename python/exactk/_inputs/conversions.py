"""Convert the caller's containers to canonical inputs, by the adapters that `registry` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from exactk._inputs.alignment import in_shared_vocabularies, rows_of_users, with_shared_users
from exactk._inputs.batches import Reader
from exactk._inputs.checks import score_array
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.rows import Rows, validated_copy, with_labels_as_keys
from exactk._inputs.model.scores import Scores, SparseScores, predictions_from_rows
from exactk._inputs.readings import warn_of_ascending, warn_of_tuples, warn_of_zeros
from exactk._inputs.registry import (
    BATCHES,
    EMBEDDINGS,
    LISTS,
    SCORES,
    SPARSE_SCORES,
    ClassifiedValue,
    ConversionOptions,
    check_columns_are_read,
    classify,
    opened,
    rows_of_container,
)
from exactk._inputs.truth import Truth
from exactk._runtime.errors import type_error
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.scores import MatrixScores, Predictions, Scored
    from exactk._inputs.types import ExclusionsLike, PredictionsLike, TruthLike

_ListsT = TypeVar("_ListsT", bound="Rankings | SparseScores")


def as_truth(
    value: TruthLike, *, user: str | Sequence[str] | None = None, item: str | None = None, grade: str | None = None
) -> Truth:
    """Return the value as `Truth`, converting it if it is another container.

    Parameters
    ----------
    value : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The relevant items of each user:

        - mapping: for each user a sequence or set of items, a mapping from item to grade, or a sequence of
          (item, grade) tuples;
        - list: the same rows without user keys; None for a user who is missing;
        - data frame (pandas, Polars, or any that streams Arrow), or records such as named tuples, in a list or an iterator:
          one row per user and item, or one row per user with a list of items;
        - two-dimensional array: ids padded with -1, or bool (multi-hot); for grades of all items, see
          `exactk.Truth.from_dense`;
        - SciPy sparse array or matrix: the stored values are grades (a stored zero is judged and not relevant); a bool
          one has no grades;
        - ids and distances from a nearest-neighbor index, as in `exactk.as_predictions`;
        - path of a file: what `exactk.read` reads.
    user, item, grade : str, optional
        Column names in a data frame; `user` may name several columns, which together identify a user. By default, the
        only column with a common name is used: user_id, query_id, uid, ...; item_id, doc_id, movieId, ...; grade,
        relevance, rel, label, rating, target or gain. Without a grade column, each item is relevant, and
        `exactk.evaluate` warns if other numeric columns could be grades.

    Returns
    -------
    Truth
        The users keep their order.

    Raises
    ------
    InputError, InputTypeError
        If the value is invalid. The message says what was expected, what was found, and where it was found first.

    Examples
    --------
    >>> import exactk
    >>> exactk.as_truth([[1, 4], [21]])
    <Truth of 2 users, 3 items (int64)>
    >>> exactk.as_truth({"ann": {"film": 3.0, "song": 1.0}, "bob": {}}).users
    array(['ann', 'bob'], dtype='<U3')
    """
    columns: ColumnNames = {"user": user, "item": item, "grade": grade}
    classified = classify(value, "truth")
    check_columns_are_read(columns, [("truth", classified)])
    return truth_of(opened(classified, "truth", columns), columns, default_encoding())


def default_encoding() -> Encoding:
    """Return the encoding for a container converted on its own, with the default number of threads."""
    return Encoding(resolve_threads(None))


def truth_of(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Truth:
    """Return the value as `Truth`; `columns` are those of `exactk.as_truth`."""
    if isinstance(classified.value, Truth):
        return classified.value
    return Truth.from_valid_rows(_truth_rows(classified, columns, encoding))


def truth_input(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Truth | Rows:
    """Return the truth of a call: rows in the call's vocabularies, which it begins, or a `Truth` without keys."""
    value = classified.value
    if not isinstance(value, Truth):
        return _truth_rows(classified, columns, encoding)
    if value.labels is not None:
        encoding.users.begin_with_labels(value.labels)
    users, items = value.user_vocabulary, value.item_vocabulary
    if users is None and items is None:
        return value
    return value.rows()._replace(
        user_vocabulary=None if users is None else encoding.users.begin_with(users),
        item_vocabulary=None if items is None else encoding.items.begin_with(items),
    )


def _truth_rows(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Rows:
    return validated_copy(rows_of_container(classified, ConversionOptions("truth", encoding, columns)), "truth")


def as_predictions(
    value: PredictionsLike,
    *,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
) -> Predictions:
    """Return the value as `Scores`, `SparseScores`, `Embeddings` or `Rankings`, depending on its kind.

    Parameters
    ----------
    value : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The predictions of one system:

        - mapping: for each user a sequence of items, best first, a mapping from item to score, or a sequence of
          (item, score) tuples, or of hits such as ``{"docid": "d7", "score": 0.5}``;
        - list: the same rows without user keys;
        - data frame: one row per user and item with a score or a rank, in any order; or one row per user with a list of
          items, best first, or with a list of items and a list of their scores;
        - two-dimensional array: floats become `Scores`, and integers are ids; wrap integer scores in `exactk.Scores`;
        - SciPy CSR, CSC or COO array or matrix: becomes `SparseScores`. Each stored entry is a score, stored zeros
          included. Duplicate entries are repeated items; they are not summed;
        - path of a file: what `exactk.read` reads;
        - ids and distances from a nearest-neighbor index: a tuple of an integer and a float matrix, in either order,
          such as faiss's ``search``, hnswlib's ``knn_query``, scikit-learn's ``kneighbors`` or `exactk.topk` return,
          or a usearch result, which counts the ids of each row. Only the ids rank. Distances must rise in all rows,
          or similarities fall in all rows; otherwise the ids are not best first, which is an error.
    user, item, score, rank : str, optional
        Column names in a data frame, as in `exactk.as_truth`. The highest score or the lowest rank is best. The common
        names are score, prediction and rank. Ranks decide if a frame has both and the scores descend with them, as in
        what `exactk.topk` returns; if they do not, pass one of them. The convention's ``rank_gaps`` decides whether items keep ranks that have gaps.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> exactk.as_predictions(np.array([[0.5, 0.25, 1.0]]))
    <Scores of 1 user, 3 items (float64)>
    >>> exactk.as_predictions(np.array([[2, 0, 1]]))
    <Rankings of 1 user, 3 items (int64)>
    >>> exactk.as_predictions({"ann": {"film": 0.5, "song": 0.75}})
    <SparseScores of 1 user, 2 items (str), scores (float64)>
    """
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank}
    classified = classify(value, "predictions")
    check_columns_are_read(columns, [("predictions", classified)])
    return predictions_of(opened(classified, "predictions", columns), columns, default_encoding())


def predictions_of(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Predictions:
    """Return the value as predictions."""
    if isinstance(classified.value, (Rankings, SparseScores)):
        return classified.value
    if classified.container is SCORES or classified.container is EMBEDDINGS:
        scores: Scored = classified.value
        return scores
    predictions = predictions_input(classified, columns, encoding)
    return predictions_from_rows(predictions) if isinstance(predictions, Rows) else predictions


def predictions_input(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Predictions | Rows:
    """Return a system's predictions: rows in the call's vocabularies, or a container without keys."""
    value, container = classified
    if isinstance(value, (Rankings, SparseScores)):
        return _lists_input(value, "predictions", encoding)
    if container is SCORES or container is EMBEDDINGS:
        matrix: MatrixScores = value
        return with_shared_users(matrix, "predictions", encoding)
    if classified.is_matrix_of_floats:
        return with_shared_users(Scores.for_argument(value, "predictions"), "predictions", encoding)
    rows = _checked_scores(_rows_of_classified(classified, "predictions", columns, encoding), "predictions")
    warn_of_ascending(container, rows)
    return rows


def _rows_of_classified(classified: ClassifiedValue, argument: str, columns: ColumnNames, encoding: Encoding) -> Rows:
    if classified.container is BATCHES:
        return Reader(classified.value, columns, encoding).read_all()
    return rows_of_container(classified, ConversionOptions(argument, encoding, columns))


def _lists_input(lists: _ListsT, argument: str, encoding: Encoding) -> _ListsT | Rows:
    if lists.user_vocabulary is None and lists.item_vocabulary is None:
        return lists
    return in_shared_vocabularies(lists.rows(), argument, encoding)


def _checked_scores(rows: Rows, argument: str) -> Rows:
    if rows.scores is None:
        return rows
    return rows._replace(scores=score_array(rows.scores, f"{argument}.scores", dimensions=1))


def scored_input(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Scored | Rows:
    """Return the value as a container of scores, called ``scores`` in messages."""
    if classified.container is SCORES or classified.container is EMBEDDINGS:
        matrix: MatrixScores = classified.value
        return with_shared_users(matrix, "scores", encoding)
    if classified.container is SPARSE_SCORES:
        return _lists_input(classified.value, "scores", encoding)
    container = classified.container
    if container is not BATCHES and (container is None or container.to_rows is None or not container.names_items):
        return with_shared_users(Scores.for_argument(classified.value, "scores"), "scores", encoding)
    rows = _rows_of_classified(classified, "scores", columns, encoding)
    if rows.scores is None:
        if len(rows.items):
            raise type_error("scores", "items with scores", "lists of items")
        rows = rows._replace(scores=np.zeros(0))
    return _checked_scores(rows, "scores")


def as_exclusions(
    value: ExclusionsLike | None, *, user: str | Sequence[str] | None = None, item: str | None = None
) -> Exclusions | None:
    """Return the value as `Exclusions`, converting it if it is another container.

    Parameters
    ----------
    value : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, path, or None
        The items that must not be ranked for each user:

        - mapping or list: one sequence or set of ids per user;
        - data frame: one row per user and item;
        - two-dimensional array: ids padded with -1, or bool;
        - SciPy CSR, CSC or COO array or matrix: each stored entry is excluded, stored zeros included;
        - None: returned unchanged.
    user, item : str, optional
        Column names in a data frame, as in `exactk.as_truth`.

    Examples
    --------
    >>> import exactk
    >>> exactk.as_exclusions([{4, 7}, []])
    <Exclusions of 2 users, 2 items (int64)>
    """
    columns: ColumnNames = {"user": user, "item": item}
    classified = classify(value, "exclude")
    check_columns_are_read(columns, [("exclude", classified)])
    return exclusions_of(opened(classified, "exclude", columns), columns, default_encoding())


def exclusions_of(
    classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding, argument: str = "exclude"
) -> Exclusions | None:
    """Return the value as `Exclusions`; warnings name the argument."""
    if classified.value is None or isinstance(classified.value, Exclusions):
        return classified.value
    return Exclusions.from_valid_rows(_exclusion_rows(classified, columns, encoding, argument))


def exclusions_input(classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Exclusions | Rows | None:
    """Return the exclusions of a call: rows in its vocabularies, or `Exclusions` without keys."""
    value = classified.value
    if value is None:
        return None
    if isinstance(value, Exclusions) and value.user_vocabulary is None and value.item_vocabulary is None:
        return value
    rows = value.rows() if isinstance(value, Exclusions) else _exclusion_rows(classified, columns, encoding)
    return rows_of_users(rows, "exclude", encoding) if classified.container is LISTS else rows


def _exclusion_rows(
    classified: ClassifiedValue, columns: ColumnNames, encoding: Encoding, argument: str = "exclude"
) -> Rows:
    warn_of_tuples(classified, argument)
    if classified.container is LISTS:  # training data is often a Truth
        rows = with_labels_as_keys(classified.value.rows(), "exclude")._replace(grades=None, unknown_actual=None)
    else:
        rows = rows_of_container(classified, ConversionOptions("exclude", encoding, columns))
        warn_of_zeros(classified, argument, rows)
    # The rows are valid, so the row locator is not needed, and dropping it frees the frame.
    return validated_copy(rows._replace(present=None), "exclude")._replace(find_row=None)
