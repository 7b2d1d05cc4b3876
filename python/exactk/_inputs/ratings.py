"""Actual and predicted ratings in rows: the adapter that returns both truth and predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import key_array, number_array
from exactk._inputs.model.rows import FrameRow, Rows, rows_together
from exactk._inputs.model.scores import SparseScores, checked_threshold
from exactk._inputs.truth import Truth
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.protocols import KeysLike, VectorLike


def from_ratings(
    users: KeysLike,
    items: KeysLike,
    actual: VectorLike,
    predicted: VectorLike,
    *,
    threshold: float = 3.5,
    predicted_threshold: float | None = None,
) -> tuple[Truth, SparseScores]:
    """Return the truth and the predictions for rows of actual and predicted ratings.

    A row is relevant if its actual rating reaches the threshold, and recommended if its predicted rating does. Each
    user's rows are ranked by predicted rating. Rows are the items of the ranking, so an item may be in several rows of
    a user. Rows without an actual rating (NaN) are dropped and counted in ``report.counts["unknown_actual"]``.

    Parameters
    ----------
    users : array, list or data frame's column of int or str, shape (n_rows,)
        The user of each row. Reports list these keys in ascending order, without users who have only unknown rows.
    items : array, list or column of int or str, shape (n_rows,)
        The item of each row. Checked for type and length, and not used otherwise: rows are ranked, not items. It is
        there so that the columns of a table of predictions can be passed as they are.
    actual : array, list or column of float, shape (n_rows,)
        The user's rating, or NaN if it is unknown.
    predicted : array, list or column of float, shape (n_rows,)
        The predicted rating.
    threshold : float, default 3.5
        The lowest rating of a relevant row.
    predicted_threshold : float, optional
        The lowest predicted rating of a recommended row. Defaults to `threshold`.

    Returns
    -------
    truth : Truth
        Each user's rows with an actual rating, identified by row number in the input, with grade 1 if relevant and 0
        otherwise.
    predictions : SparseScores
        The same rows with their predicted ratings, and the threshold as `min_score`.

    Raises
    ------
    InputError, InputTypeError
        If the arrays differ in length or have the wrong type. NaN predicted ratings are refused or ranked last, as the
        convention says, during the evaluation.

    Examples
    --------
    >>> import exactk
    >>> nan = float("nan")
    >>> truth, predictions = exactk.from_ratings(
    ...     users=["ann"] * 4, items=[7, 5, 10, 8], actual=[2, 5, 4, nan], predicted=[4.9, 4.5, 3.3, 5.0]
    ... )
    >>> report = exactk.evaluate(truth, predictions, ["precision@2", "recall@2"], convention="surprise")
    >>> report["precision@2"], report["recall@2"], report.counts["unknown_actual"]
    (0.5, 0.5, 1)
    """
    row_users, row_items = key_array(_column_values(users), "users"), key_array(_column_values(items), "items")
    ratings = number_array(_column_values(actual), "actual")
    estimates = number_array(_column_values(predicted), "predicted")
    for name, column in (("items", row_items), ("actual", ratings), ("predicted", estimates)):
        if len(column) != len(row_users):
            raise input_error(name, f"one entry per row ({len(row_users)})", str(len(column)))
    min_rating = checked_threshold(threshold, "threshold")
    min_predicted = (
        min_rating if predicted_threshold is None else checked_threshold(predicted_threshold, "predicted_threshold")
    )

    rated = np.flatnonzero(~np.isnan(ratings))
    keys, codes = np.unique(row_users[rated], return_inverse=True)
    rows = rated[np.argsort(codes, kind="stable")]  # user by user, those of a user in the order given
    indptr = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(keys)))]).astype(np.int64)
    find_row = rows_together(indptr, lambda number: FrameRow(int(rows[number]), "the ratings"))
    relevant = (ratings[rows] >= min_rating).astype(np.float64)
    lists = Rows(indptr, rows, find_row=find_row, is_owned=True)
    truth = lists._replace(grades=relevant, labels=keys, unknown_actual=len(row_users) - len(rated))
    predictions = lists._replace(scores=estimates[rows], min_score=min_predicted, is_complete=True)
    return Truth.from_rows(truth), SparseScores.from_rows(predictions)


def _column_values(column: Any) -> object:  # noqa: ANN401 - whatever the caller has
    """Return a data frame's column as an array, or as a list if it holds objects; return other values unchanged."""
    if not hasattr(column, "to_numpy"):
        return column
    array = np.asarray(column) if hasattr(column, "to_pylist") else column.to_numpy()  # Arrow may have to copy
    return array.tolist() if array.dtype == object else array
