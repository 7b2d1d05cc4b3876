"""The truth, which is a canonical input, also of ratings; it stands above the containers, as it is also made from frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import as_ndarray, flag_array, key_array, number_array, offset_array, offsets_of
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import (
    FrameRow,
    Rows,
    TruthColumns,
    graded_rows,
    padded_rows,
    rows_together,
    validated_copy,
)
from exactk._inputs.model.scores import SparseScores, checked_threshold
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.protocols import DataFrame, KeysLike, MatrixLike, VectorLike


class Truth(Lists, eq=False, init=False):
    """The relevant items of each user, optionally with grades.

    The arrays are copied once and validated; the truth is immutable.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int or of keys, shape (n_entries,)
        Item ids in [0, 2^63), or strings, bytes or others that ``str`` tells apart, in any order within a row. Of a
        SciPy CSR matrix whose columns have keys: ``keys[matrix.indices]``.
    grades : array of float, shape (n_entries,), optional
        The grade of each item, by default 1. An item of grade 0 is judged and not relevant.
    users : sequence of int or str, shape (n_users,), optional
        The key of each row's user, in a list, an array, a Series or an Index. By default, row numbers.
    present : array of bool, shape (n_users,), optional
        False for users who are missing from the truth, such as users with predictions alone; their rows are empty.

    Raises
    ------
    InputError
        If offsets, ids or grades are invalid. The message gives the row and position of the first fault.
    InputTypeError
        If an array has the wrong type: ids and offsets are integers, grades numbers.

    Examples
    --------
    >>> import exactk
    >>> exactk.Truth(indptr=[0, 2, 3], items=[1, 4, 21])
    <Truth of 2 users, 3 items (int64)>
    """

    grades: NDArray[np.float64] | None
    labels: NDArray[Any] | None  # user labels, if rows are in the caller's order
    columns: TruthColumns
    unknown_actual: int | None  # number of dropped unknown ratings; None if the truth is not made from ratings

    _argument = "truth"

    def __init__(
        self,
        indptr: VectorLike,
        items: KeysLike,
        grades: VectorLike | None = None,
        users: KeysLike | None = None,
        present: VectorLike | None = None,
    ) -> None:
        from exactk._inputs.keys.key_lists import encode_item_keys

        ids, keys = encode_item_keys(items, "truth.items")
        rows = Rows(
            offset_array(indptr, "truth.indptr"),
            ids,
            None if grades is None else number_array(grades, "truth.grades"),
            None if present is None else flag_array(present, "truth.present"),
            item_vocabulary=keys,
        )
        rows = validated_copy(rows, self._argument)
        self._freeze(rows._replace(labels=_labels(users, rows.user_count, may_repeat=True)))

    @classmethod
    def from_dense(
        cls, grades: MatrixLike | DataFrame, *, users: KeysLike | None = None, items: KeysLike | None = None
    ) -> Truth:
        """Return the truth for a matrix with one grade per user and item.

        Parameters
        ----------
        grades : array of float, int or bool, or pandas DataFrame, shape (n_users, n_items)
            Grade 0 is judged and not relevant; NaN is not judged. In a bool array, True is relevant and False is not
            judged. A data frame is a pivoted one, as in `exactk.Scores`.
        users : sequence of int or str, shape (n_users,), optional
            User labels, as for `Truth`.
        items : sequence, shape (n_items,), optional
            The key of each column's item, as in `exactk.Scores`. By default, items are column indices.

        Returns
        -------
        Truth

        Raises
        ------
        InputError
            If a grade is infinite, or an integer that float64 cannot represent, or keys repeat.
        InputTypeError
            If the value is not a two-dimensional array of numbers or bools.

        Examples
        --------
        >>> import exactk
        >>> truth = exactk.Truth.from_dense([[3, 0, 1], [0, 2, 0]])
        >>> exactk.ndcg_at_k(truth, exactk.Scores([[0.5, 0.9, 0.7], [0.1, 0.8, 0.3]]), k=3)
        0.8...
        >>> exactk.Truth.from_dense([[3, 0, 1], [0, 2, 0]], users=["ann", "bob"], items=["film", "song", "book"]).users
        array(['ann', 'bob'], dtype='<U3')
        """
        from exactk._inputs.keys.key_lists import keys_of_items
        from exactk._inputs.keys.pivoted import matrix_of

        matrix = matrix_of(grades, cls._argument)
        array = as_ndarray(matrix.values, cls._argument)
        rows = graded_rows(array, cls._argument)
        keys = keys_of_items(matrix.items if items is None else items, "truth.items", array.shape[1], "column")
        if keys is not None:  # integers are ids themselves
            is_integer = keys.kinds == ("int",)
            rows = rows._replace(items=keys.array[rows.items]) if is_integer else rows._replace(item_vocabulary=keys)
            rows = rows._replace(column_count=None)
        return cls.from_rows(rows._replace(labels=_labels(matrix.users if users is None else users, len(array))))

    @classmethod
    def from_frame(
        cls,
        frame: DataFrame,
        *,
        user: str | Sequence[str] | None = None,
        item: str | None = None,
        grade: str | None = None,
    ) -> Truth:
        """Return the truth for a data frame with one row per user and item, or one row per user with a list of items.

        `exactk.as_truth` takes other containers too.

        Parameters
        ----------
        frame : data frame
            Of pandas, Polars (also lazy), pyarrow, DuckDB, narwhals, Ibis, Hugging Face, or any library that streams Arrow.
        user, item, grade : str, optional
            Column names, as in `exactk.as_truth`.

        Returns
        -------
        Truth
            Users and their items keep their order.

        Raises
        ------
        InputError
            If a column is missing or ambiguous, or has an invalid value.
        InputTypeError
            If the value is not a data frame, or a column has the wrong type.

        Examples
        --------
        >>> import exactk
        >>> import pandas as pd
        >>> ratings = pd.DataFrame({"who": ["ann", "ann", "bob"], "film": ["up", "wall-e", "up"], "stars": [4, 2, 5]})
        >>> truth = exactk.Truth.from_frame(ratings, user="who", item="film", grade="stars")
        >>> truth
        <Truth of 2 users, 3 items (str)>
        >>> exactk.ndcg_at_k(truth, {"ann": ["wall-e", "up"], "bob": ["up"]}, k=2)
        0.9298...
        """
        from exactk._inputs.containers.frames import rows_of_frame
        from exactk._inputs.containers.tables import is_frame
        from exactk._inputs.long_format import Encoding
        from exactk._runtime import optional

        frame = optional.unwrapped(frame)
        if not is_frame(frame):
            hint = "exactk.as_truth takes other containers"
            raise type_error(cls._argument, "a data frame", type(frame).__name__, hint=hint)
        columns: ColumnNames = {"user": user, "item": item, "grade": grade}
        return cls.from_rows(rows_of_frame(frame, cls._argument, Encoding(resolve_threads(None)), columns))

    @classmethod
    def from_padded(cls, ids: MatrixLike, *, users: KeysLike | None = None) -> Truth:
        """Return the truth for a matrix with the ids of each user's relevant items.

        Parameters
        ----------
        ids : array of int, shape (n_users, width)
            One row per user, padded with -1 at the end.
        users : sequence of int or str, shape (n_users,), optional
            User labels, as for `Truth`.

        Returns
        -------
        Truth

        Raises
        ------
        InputTypeError
            If the value is not a two-dimensional array of integers.
        InputError
            If an id is below -1 or after padding. A repeated id is one of the convention's ``duplicate_truth``.

        Examples
        --------
        >>> import exactk
        >>> exactk.Truth.from_padded([[1, 4], [21, -1]])
        <Truth of 2 users, 3 items (int64)>
        """
        rows = padded_rows(ids, cls._argument)
        return cls.from_rows(rows._replace(labels=_labels(users, rows.user_count)))

    @classmethod
    def from_rows(cls, rows: Rows) -> Truth:
        """Build from an adapter's rows."""
        return cls.from_valid_rows(validated_copy(rows, cls._argument))

    def _freeze(self, rows: Rows, *others: str) -> None:
        super()._freeze(rows, "grades", "labels", *others)
        vars(self).update(columns=rows.columns, unknown_actual=rows.unknown_actual)

    @property
    def users(self) -> NDArray[Any] | None:
        """User keys or labels; None if users are row numbers."""
        return self.labels if self.user_vocabulary is None else self.user_vocabulary.array

    def rows(self) -> Rows:
        """Return the rows in the form that adapters produce."""
        return (
            super()
            .rows()
            ._replace(
                grades=self.grades,
                columns=self.columns,
                labels=self.labels,
                unknown_actual=self.unknown_actual,
                is_owned=True,
            )
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Truth._from_plain, (self.rows().to_plain(), self.labels, self.unknown_actual))

    @classmethod
    def _from_plain(cls, rows: dict[str, Any], users: object, unknown_actual: int | None) -> Truth:
        labels = _labels(users, len(rows["indptr"]) - 1, may_repeat=True)
        return cls.from_rows(Rows.from_plain(rows)._replace(labels=labels, unknown_actual=unknown_actual))


Truth.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


def _labels(users: object, size: int, *, may_repeat: bool = False) -> NDArray[Any] | None:
    """Return the labels of a truth's rows."""
    from exactk._inputs.keys.key_lists import check_distinct_keys, encode_row_keys

    if users is None:
        return None
    keys, codes = encode_row_keys(users, "truth.users", size, "row")
    if not may_repeat:
        check_distinct_keys(keys, codes, "truth.users")
    if keys.kinds not in {("int",), ("str",)}:
        raise type_error("truth.users", "integers or strings", " and ".join(keys.kinds))
    return keys.array[codes]


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
    indptr = offsets_of(np.bincount(codes, minlength=len(keys)))
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
