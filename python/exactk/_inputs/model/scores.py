"""Canonical dense scores: a matrix, used in place."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import Offsets, exact_float, read_only, score_array
from exactk._inputs.keys.key_lists import keys_of_items, keys_of_rows
from exactk._inputs.keys.pivoted import Matrix, matrix_of
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.protocols import DataFrame, KeysLike, MatrixLike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Scores:
    """Dense scores: one score per user and item, where higher is better.

    The array is viewed, not copied.

    Parameters
    ----------
    values : array of float or int, pandas DataFrame, or Scores, shape (n_users, n_items)
        Scores of float16, float32, float64 or any integer type, compared exactly in that type. (If the convention's
        ``score_dtype`` is ``"float32"``, a rounded copy is compared.) Strided arrays and memory maps are used in
        place; do not change them during the evaluation. Only unaligned arrays and arrays of another byte order are
        copied. A data frame is a pivoted one: its index holds the users and its columns the items, unless they are
        pandas' default, which numbers them. `Scores` get the given keys.
    min_score : float, optional
        Drop items with a lower score, or with a NaN score.
    users : sequence, shape (n_users,), optional
        The key of each row's user: integers, strings, bytes, tuples of them, or others that ``str`` tells apart; in a
        list, an array, a Series or an Index. Users are then matched by key, in any order. By default, users are row
        numbers.
    items : sequence, shape (n_items,), optional
        The key of each column's item, in the same way. By default, items are column indices.

    Raises
    ------
    InputTypeError
        If the array has the wrong type or shape, or keys have. NaN is checked for during the evaluation.
    InputError
        If `min_score` is NaN or cannot be represented in float64, or keys repeat or do not match the array's shape.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> scores = exactk.Scores(np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.3]]), min_score=0.25)
    >>> scores
    <Scores of 2 users, 3 items (float64)>
    >>> exactk.precision_at_k([[1], [0, 1]], scores, k=2)
    0.5

    With keys, users and items may come in any order:

    >>> scores = exactk.Scores(scores.values, users=["ann", "bob"], items=["film", "song", "book"])
    >>> exactk.precision_at_k({"bob": ["film"], "ann": ["song", "book"]}, scores, k=2)
    0.75
    """

    values: NDArray[Any]
    min_score: float | None
    user_vocabulary: Snapshot | None  # the keys of the rows; of `user_rows` if there are any
    item_vocabulary: Snapshot | None  # the keys of the columns, in their order
    user_rows: Offsets | None  # the row of each user, -1 for a user without scores; None: user u has row u
    core: _core.Scores = field(repr=False)

    def __init__(
        self,
        values: MatrixLike | DataFrame | Scores,
        min_score: float | None = None,
        *,
        users: KeysLike | None = None,
        items: KeysLike | None = None,
    ) -> None:
        self._freeze(values, min_score, "values", users=users, items=items)

    @classmethod
    def for_argument(cls, values: object, argument: str) -> Scores:
        """View an array under the argument name that messages use."""
        scores = cls.__new__(cls)
        scores._freeze(values, None, argument)  # noqa: SLF001 - its own
        return scores

    def _freeze(
        self, values: object, min_score: object, argument: str, *, users: object = None, items: object = None
    ) -> None:
        if isinstance(values, Scores):  # the same, with keys
            min_score = values.min_score if min_score is None else min_score
            matrix = Matrix(values.values, values.users, values.items)
        else:
            matrix = matrix_of(values, argument)
        array = score_array(matrix.values, argument)
        rows, columns = array.shape
        self._assemble(
            array,
            None if min_score is None else checked_threshold(min_score),
            keys_of_rows(matrix.users, f"{argument}.users", rows, "row")
            if users is None
            else keys_of_rows(users, "users", rows, "row"),
            keys_of_items(matrix.items, f"{argument}.items", columns, "column")
            if items is None
            else keys_of_items(items, "items", columns, "column"),
            None,
            argument,
        )

    def _assemble(
        self,
        values: NDArray[Any],
        min_score: float | None,
        users: Snapshot | None,
        items: Snapshot | None,
        user_rows: Offsets | None,
        argument: str = "predictions",
    ) -> None:
        for name, part in (
            ("values", read_only(values)),
            ("min_score", min_score),
            ("user_vocabulary", users),
            ("item_vocabulary", items),
            ("user_rows", None if user_rows is None else read_only(user_rows)),
        ):
            object.__setattr__(self, name, part)
        object.__setattr__(self, "core", self._core_view(None, argument))

    def _core_view(self, candidates: CandidateItems | None, argument: str) -> _core.Scores:
        columns = None if candidates is None else candidates.core
        return _core.Scores(self.values, self.min_score, columns, self.user_rows, self.tie_ids, argument)

    def core_for(self, candidates: CandidateItems | None) -> _core.Scores:
        """Return the core's view of the scores, restricted to these columns."""
        return self.core if candidates is None else self._core_view(candidates, "predictions")

    @property
    def tie_ids(self) -> NDArray[np.int64] | None:
        """By column, numbers that order tied items as their keys do; None if columns do."""
        return None if self.item_vocabulary is None else ids_in_key_order(self.item_vocabulary)

    def for_users(self, users: Snapshot, positions: NDArray[np.int64]) -> Scores:
        """Return the same scores for these users, who are at these positions among those here, or -1 for none."""
        rows = positions if self.user_rows is None else at_positions(self.user_rows, positions)
        is_unchanged = np.array_equal(rows, np.arange(len(self.values)))
        return self._replace(self.values, self.min_score, users, None if is_unchanged else rows)

    def with_float32_scores(self) -> Scores:
        """Return the same scores as float32, and `min_score` too."""
        return self._replace(round_to_float32(self.values), round_threshold(self.min_score))

    def without_negative_infinity(self) -> Scores:
        """Return the same scores with -inf and NaN dropped."""
        return self._replace(self.values, finite_threshold(self.min_score))

    def _replace(
        self,
        values: NDArray[Any],
        min_score: float | None,
        users: Snapshot | None = None,
        user_rows: Offsets | None = None,
    ) -> Scores:
        scores = Scores.__new__(Scores)
        rows = (self.user_vocabulary, self.user_rows) if users is None else (users, user_rows)
        scores._assemble(values, min_score, rows[0], self.item_vocabulary, rows[1])  # noqa: SLF001 - its own
        return scores

    @property
    def users(self) -> NDArray[Any] | None:
        """User keys; None if users are row numbers."""
        return None if self.user_vocabulary is None else self.user_vocabulary.array

    @property
    def items(self) -> NDArray[Any] | None:
        """Item keys; None if items are column numbers."""
        return None if self.item_vocabulary is None else self.item_vocabulary.array

    @property
    def present(self) -> NDArray[np.bool_] | None:
        """Flags of the users who have scores; None if all have."""
        return None if self.user_rows is None else self.user_rows >= 0

    def row_of(self, user: int) -> int:
        """Return the user's row; -1 for none."""
        return user if self.user_rows is None else int(self.user_rows[user])

    @property
    def is_keyed(self) -> bool:
        """Whether users or items have keys."""
        return self.user_vocabulary is not None or self.item_vocabulary is not None

    @property
    def item_count(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.values if self.user_rows is None else self.user_rows)

    def __repr__(self) -> str:
        users, items = self.values.shape
        return f"<Scores of {plural(users, 'user')}, {plural(items, 'item')} ({self.values.dtype})>"

    def has(self, user: int) -> bool:
        """Return whether the user has a list."""
        return 0 <= user < len(self) and self.row_of(user) >= 0

    def __reduce__(self) -> tuple[Any, ...]:
        keys = [None if one is None else one.to_plain() for one in (self.user_vocabulary, self.item_vocabulary)]
        return (Scores._from_plain, (self.values, self.min_score, *keys))

    @classmethod
    def _from_plain(cls, values: NDArray[Any], min_score: float | None, *keys: Any) -> Scores:  # noqa: ANN401 - as __reduce__ has them
        scores = cls.__new__(cls)
        users, items = (None if plain is None else Snapshot.from_plain(plain) for plain in keys)
        scores._assemble(values, min_score, users, items, None)  # noqa: SLF001 - its own
        return scores


Scores.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


def at_positions(values: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values at the positions; -1 where these are negative."""
    selected = np.full(len(positions), -1, np.int64)
    selected[positions >= 0] = values[positions[positions >= 0]]
    return selected


def ids_in_key_order(items: Snapshot) -> NDArray[np.int64] | None:
    """Return the position of each key among all of them in ascending order; None if they ascend."""
    positions = items.positions_in_key_order().astype(np.int64)
    return None if np.array_equal(positions, np.arange(len(positions))) else positions


def checked_threshold(min_score: object, argument: str = "min_score") -> float:
    """Return the lowest recommended score in the form that the core takes."""
    if isinstance(min_score, bool) or not isinstance(min_score, Real):
        raise type_error(argument, "a number or None", repr(min_score))
    exact = exact_float(min_score)
    if exact is None or math.isnan(exact):
        found = "NaN" if exact is not None else "a number with more digits"
        raise input_error(argument, "a number that float64 holds", found)
    return exact


def finite_threshold(min_score: float | None) -> float:
    """Return the lowest recommended score if -inf is not recommended."""
    lowest = float(np.finfo(np.float64).min)
    return lowest if min_score is None else max(min_score, lowest)


_CHUNK = 1 << 20  # scores that are rounded at a time: signals are handled between them


def round_to_float32(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the scores rounded to float32, infinite beyond its range. Narrower types are unchanged."""
    if scores.dtype in {np.dtype(np.float16), np.dtype(np.float32)}:
        return scores
    rounded = np.empty(scores.shape, np.float32)
    rows = max(1, _CHUNK // max(1, math.prod(scores.shape[1:])))
    with np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, len(scores), rows):
            rounded[begin : begin + rows] = scores[begin : begin + rows]
    return rounded


def round_threshold(min_score: float | None) -> float | None:
    """Return `min_score` as float32, such that scores that reach it still do once rounded."""
    return None if min_score is None else float(round_to_float32(np.array([min_score]))[0])
