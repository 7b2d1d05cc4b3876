"""The canonical predictions with scores: dense, sparse, embeddings."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import Offsets, exact_float, offsets_of, read_only, score_array, vector_array
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.rows import Rows
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.lists import CandidateItems
    from exactk._inputs.model.rows import FindRow
    from exactk._inputs.protocols import DataFrame, KeysLike, MatrixLike, VectorLike


class _KeyedMatrix:
    """What scores of all items have in common: keys of users and of items, unless these are row and column numbers."""

    user_vocabulary: Snapshot | None
    item_vocabulary: Snapshot | None

    @property
    def users(self) -> NDArray[Any] | None:
        """User keys; None if users are row numbers."""
        return None if self.user_vocabulary is None else self.user_vocabulary.array

    @property
    def items(self) -> NDArray[Any] | None:
        """Item keys; None if items are numbers of columns, or of item vectors."""
        return None if self.item_vocabulary is None else self.item_vocabulary.array

    @property
    def is_keyed(self) -> bool:
        """Whether users or items have keys."""
        return self.user_vocabulary is not None or self.item_vocabulary is not None


class Scores(_KeyedMatrix, Record, eq=False, init=False):
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
    core: _core.Scores

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
        from exactk._inputs.keys.key_lists import keys_of_items, keys_of_rows
        from exactk._inputs.keys.pivoted import Matrix, matrix_of

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
        vars(self).update(
            values=read_only(values),
            min_score=min_score,
            user_vocabulary=users,
            item_vocabulary=items,
            user_rows=None if user_rows is None else read_only(user_rows),
        )
        vars(self)["core"] = self._core_view(None, argument)

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
        return self._with_scores(self.values, self.min_score, users, None if is_unchanged else rows)

    def with_float32_scores(self) -> Scores:
        """Return the same scores as float32, and `min_score` too."""
        return self._with_scores(round_to_float32(self.values), round_threshold(self.min_score))

    def without_negative_infinity(self) -> Scores:
        """Return the same scores with -inf and NaN dropped."""
        return self._with_scores(self.values, finite_threshold(self.min_score))

    def _with_scores(
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
    def present(self) -> NDArray[np.bool_] | None:
        """Flags of the users who have scores; None if all have."""
        return None if self.user_rows is None else self.user_rows >= 0

    def row_of(self, user: int) -> int:
        """Return the user's row; -1 for none."""
        return user if self.user_rows is None else int(self.user_rows[user])

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
        from exactk._inputs.keys.vocabulary import Snapshot

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


class SparseScores(Record, eq=False, init=False):
    """Sparse scores: the items that may be ranked for each user, with scores, where higher is better.

    The arrays are viewed, not copied.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int or of keys, shape (n_entries,)
        Item ids in [0, 2^63), or strings, bytes or others that ``str`` tells apart, in any order within a row. Arrays
        of int32, int64, uint32 and uint64 are used in place: do not change them during the evaluation. Of a SciPy CSR
        matrix whose columns have keys: ``keys[matrix.indices]``.
    scores : array of float or int, shape (n_entries,)
        The score of each item, of float16, float32, float64 or any integer type, compared exactly in that type. (If
        the convention's ``score_dtype`` is ``"float32"``, a rounded copy is compared.) Strided arrays are used in
        place.
    min_score : float, optional
        Drop items with a lower score, or with a NaN score.
    present : array of bool, shape (n_users,), optional
        False for users without a list, which differs from an empty list; their rows are empty.
    users : sequence, shape (n_users,), optional
        The key of each row's user, as in `exactk.Scores`.

    Raises
    ------
    InputTypeError
        If an array has the wrong type or shape. Values are checked during the evaluation.
    InputError
        If there is not one score per item, or `min_score` is NaN or cannot be represented in float64.

    Examples
    --------
    >>> import exactk
    >>> found = exactk.SparseScores(indptr=[0, 3, 5], items=[9, 4, 7, 21, 3], scores=[0.1, 0.9, 0.5, 0.2, 0.7])
    >>> found
    <SparseScores of 2 users, 5 items (int64), scores (float64)>
    >>> exactk.reciprocal_rank_at_k([[7], [3]], found)
    0.75
    """

    lists: Rankings
    scores: NDArray[Any]
    min_score: float | None
    is_complete: bool  # whether these are all items that may be ranked, and not the best of them
    core: _core.SparseScores

    def __init__(
        self,
        indptr: VectorLike,
        items: KeysLike,
        scores: VectorLike,
        min_score: float | None = None,
        present: VectorLike | None = None,
        *,
        users: KeysLike | None = None,
    ) -> None:
        self._freeze(Rankings(indptr, items, present, users=users), scores, min_score, "predictions", is_complete=True)

    @classmethod
    def from_lists(
        cls, lists: Rankings, scores: object, argument: str, min_score: float | None = None, *, is_complete: bool
    ) -> SparseScores:
        """Add scores to lists, under the argument name that messages use."""
        sparse_scores = cls.__new__(cls)
        sparse_scores._freeze(lists, scores, min_score, argument, is_complete=is_complete)  # noqa: SLF001 - its own
        return sparse_scores

    @classmethod
    def from_rows(cls, rows: Rows, argument: str = "predictions") -> SparseScores:
        """Build from an adapter's rows, under the argument name that messages use."""
        lists = Rankings.from_rows(rows)
        return cls.from_lists(lists, rows.scores, argument, rows.min_score, is_complete=rows.is_complete)

    def _freeze(self, lists: Rankings, scores: object, min_score: object, argument: str, *, is_complete: bool) -> None:
        array = read_only(score_array(scores, f"{argument}.scores", dimensions=1))
        threshold = None if min_score is None else checked_threshold(min_score)
        core = _core.SparseScores(lists.core, array, threshold, argument)
        vars(self).update(lists=lists, scores=array, min_score=threshold, is_complete=is_complete, core=core)

    def with_float32_scores(self) -> SparseScores:
        """Return the same items, their scores and `min_score` as float32."""
        return self._with_scores(round_to_float32(self.scores), round_threshold(self.min_score))

    def without_negative_infinity(self) -> SparseScores:
        """Return the same items and scores with -inf and NaN dropped."""
        return self._with_scores(self.scores, finite_threshold(self.min_score))

    def _with_scores(self, scores: object, min_score: float | None) -> SparseScores:
        return SparseScores.from_lists(self.lists, scores, "predictions", min_score, is_complete=self.is_complete)

    @property
    def indptr(self) -> Offsets:
        """Row offsets."""
        return self.lists.indptr

    @property
    def items(self) -> Ids:
        """Item ids of all rows."""
        return self.lists.items

    @property
    def present(self) -> NDArray[np.bool_] | None:
        """Flags of the users who have a list; None if all have."""
        return self.lists.present

    def rows(self) -> Rows:
        """Return the rows in the form that adapters produce."""
        return self.lists.rows()._replace(scores=self.scores, min_score=self.min_score, is_complete=self.is_complete)

    @property
    def user_vocabulary(self) -> Snapshot | None:
        """User keys; None if users are not keyed."""
        return self.lists.user_vocabulary

    @property
    def item_vocabulary(self) -> Snapshot | None:
        """Item keys, which item ids are then codes of; None if items are not keyed."""
        return self.lists.item_vocabulary

    @property
    def find_row(self) -> FindRow | None:
        """The locator of rows in the source frame or file, for messages."""
        return self.lists.find_row

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.lists)

    def __repr__(self) -> str:
        kind = self.items.dtype if self.item_vocabulary is None else self.item_vocabulary.kinds[0]
        items = f"{plural(len(self.items), 'item')} ({kind})"
        return f"<SparseScores of {plural(len(self), 'user')}, {items}, scores ({self.scores.dtype})>"

    def has(self, user: int) -> bool:
        """Return whether the user has a list, even an empty one."""
        return self.lists.has(user)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SparseScores._from_plain, (self.rows().to_plain(), self.min_score))

    @classmethod
    def _from_plain(cls, plain: dict[str, Any], min_score: float | None) -> SparseScores:
        return cls.from_rows(Rows.from_plain(plain)._replace(min_score=min_score))


SparseScores.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


SIMILARITIES = ("dot", "cosine", "euclidean")


class CanonicalEmbeddings(_KeyedMatrix, Record, eq=False, init=False):
    """User and item vectors with canonical candidate items. `exactk.Embeddings` accepts any container of candidates."""

    user_vectors: NDArray[Any]
    item_vectors: NDArray[Any]
    similarity: str
    min_score: float | None
    candidates: CandidateItems | None
    item_bias: NDArray[Any] | None
    exclude_self: bool
    user_vocabulary: Snapshot | None  # the keys of the users
    item_vocabulary: Snapshot | None  # the keys of the items, in their order
    core: _core.Embeddings
    present: NDArray[np.bool_] | None = None  # flags of the users who have a vector of their own; None: all have
    self_items: NDArray[np.int64] | None = None  # the item that each user is, -1 for none; None: user u is item u
    item_rows: NDArray[np.int64] | None = None  # where items were put in the order of their keys, each one's former row
    has_float32_scores: bool = False  # whether scores are rounded to float32
    arguments: tuple[str, str] = ("embeddings.user_vectors", "embeddings.item_vectors")  # names in messages

    @classmethod
    def neighbors(
        cls, vectors: object, similarity: str, min_score: float | None, keys: Snapshot | None, *, exclude_self: bool
    ) -> CanonicalEmbeddings:
        """View vectors that are both users and items, named ``vectors`` in messages."""
        array = vector_array(vectors, "vectors")
        embeddings = cls.__new__(cls)
        embeddings._freeze(  # noqa: SLF001 - its own
            user_vectors=array,
            item_vectors=array,
            similarity=similarity,
            min_score=None if min_score is None else checked_threshold(min_score),
            candidates=None,
            item_bias=None,
            exclude_self=exclude_self,
            user_vocabulary=keys,
            item_vocabulary=keys,
            arguments=("vectors", "vectors"),
        )
        return embeddings

    def _freeze(self, **parts: Any) -> None:  # noqa: ANN401 - the fields
        similarity, exclude_self = parts["similarity"], parts["exclude_self"]
        if not isinstance(similarity, str) or similarity not in SIMILARITIES:
            raise input_error("similarity", f"one of {', '.join(SIMILARITIES)}", repr(similarity))
        if not isinstance(exclude_self, (bool, np.bool_)):
            raise type_error("exclude_self", "True or False", repr(exclude_self))
        for name, part in (parts | {"exclude_self": bool(exclude_self)}).items():
            vars(self)[name] = read_only(part) if isinstance(part, np.ndarray) else part
        vars(self)["core"] = self.core_for(None)
        if exclude_self and self.self_items is None and len(self.user_vectors) != self.item_count:
            raise input_error("exclude_self", f"as many users as items ({self.item_count})", str(len(self)))
        if self.candidates is not None:
            self.candidates.check_ids(self.item_count)

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields
        embeddings = type(self).__new__(type(self))
        parts = {name: getattr(self, name) for name in self._field_names if name != "core"}
        embeddings._freeze(**(parts | changes))  # noqa: SLF001 - its own
        return embeddings

    def core_for(self, candidates: CandidateItems | None) -> _core.Embeddings:
        """Return the core's view, restricted to these items."""
        return _core.Embeddings(
            users=self.user_vectors,
            items=self.item_vectors,
            item_bias=self.item_bias,
            similarity=self.similarity,
            float32_scores=self.has_float32_scores,
            min_score=self.min_score,
            candidates=None if candidates is None else candidates.core,
            present=self.present,
            users_argument=self.arguments[0],
            items_argument=self.arguments[1],
        )

    def for_users(self, users: Snapshot, positions: NDArray[np.int64]) -> Self:
        """Return the same for these users, who are at these positions among those here, or -1 for none."""
        if np.array_equal(positions, np.arange(len(self))):
            return self._replace(user_vocabulary=users)
        is_held = positions >= 0
        vectors = np.ones((len(positions), self.user_vectors.shape[1]), self.user_vectors.dtype)
        vectors[is_held] = self.user_vectors[positions[is_held]]
        present = is_held.copy()
        if self.present is not None:
            present[is_held] = self.present[positions[is_held]]
        self_items = np.arange(len(self)) if self.self_items is None else self.self_items
        return self._replace(
            user_vectors=vectors,
            user_vocabulary=users,
            present=None if present.all() else present,
            self_items=at_positions(self_items, positions) if self.exclude_self else None,
            candidates=None if self.candidates is None else self.candidates.for_users(positions),
        )

    def with_items_in_key_order(self) -> Self:
        """Return the same, ties between whose items go by their keys as they go by their ids."""
        positions = None if self.item_vocabulary is None else ids_in_key_order(self.item_vocabulary)
        if positions is None or self.item_vocabulary is None:
            return self
        order = np.argsort(positions)
        self_items = np.arange(len(self)) if self.self_items is None else self.self_items
        return self._replace(
            item_vectors=self.item_vectors[order],
            item_bias=None if self.item_bias is None else self.item_bias[order],
            item_vocabulary=self.item_vocabulary.select(order),
            self_items=at_positions(positions, self_items) if self.exclude_self else None,
            candidates=None if self.candidates is None else self.candidates.renumbered(positions),
            item_rows=order,
        )

    def extend_exclusions(self, exclude: Exclusions | None) -> Exclusions | None:
        """Return the exclusions, with each user's own item if `exclude_self` is set."""
        if not self.exclude_self:
            return exclude
        self_items = np.arange(len(self), dtype=np.int64) if self.self_items is None else self.self_items
        has_self = self_items >= 0
        if exclude is None:
            return Exclusions.from_valid_rows(Rows(offsets_of(has_self), self_items[has_self], is_owned=True))
        if len(exclude) != len(self):
            raise input_error("exclude", f"one entry per user ({len(self)})", str(len(exclude)))
        items = np.insert(exclude.items, exclude.indptr[1:][has_self], self_items[has_self])
        return Exclusions.from_valid_rows(Rows(exclude.indptr + offsets_of(has_self), items, is_owned=True))

    def with_float32_scores(self) -> Self:
        """Return the same, its scores and `min_score` rounded to float32."""
        return self._replace(min_score=round_threshold(self.min_score), has_float32_scores=True)

    def without_negative_infinity(self) -> Self:
        """Return the same embeddings with items dropped that score -inf in float32."""
        return self._replace(min_score=finite_threshold(self.min_score))

    @property
    def item_count(self) -> int:
        """The number of items."""
        return len(self.item_vectors)

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.user_vectors)

    def __repr__(self) -> str:
        items, width = self.item_vectors.shape
        return (
            f"<Embeddings of {plural(len(self), 'user')}, {plural(items, 'item')}, width {width} "
            f"({self.item_vectors.dtype}), {self.similarity}>"
        )

    def has(self, user: int) -> bool:
        """Return whether the user has a list."""
        return 0 <= user < len(self) and (self.present is None or bool(self.present[user]))


def check_input_order(predictions: object, ties: Iterable[str], argument: str) -> None:
    """Raise InputError if ties go by input order, and items were put in the order of their keys."""
    if not isinstance(predictions, CanonicalEmbeddings) or predictions.item_rows is None or "input_order" not in ties:
        return
    expected = "items in ascending key order with ties='input_order'"
    hint = "order = np.argsort(items); exactk.Embeddings(user_vectors, item_vectors[order], items=items[order])"
    raise input_error(argument, expected, "items in another order", hint=hint)


MatrixScores: TypeAlias = Scores | CanonicalEmbeddings  # with a score for every item
Scored: TypeAlias = Scores | SparseScores | CanonicalEmbeddings  # the containers with scores
Predictions: TypeAlias = Rankings | Scored


def predictions_from_rows(rows: Rows, argument: str = "predictions") -> Rankings | SparseScores:
    """Return sparse scores if the rows have scores, and rankings otherwise."""
    return Rankings.from_rows(rows) if rows.scores is None else SparseScores.from_rows(rows, argument)
