"""Canonical sparse scores: each user's items with their scores, used in place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exactk import _core
from exactk._inputs.checks import read_only, score_array
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import checked_threshold, finite_threshold, round_threshold, round_to_float32
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.frame_rows import FindRow
    from exactk._inputs.protocols import KeysLike, VectorLike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class SparseScores:
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
    core: _core.SparseScores = field(repr=False)

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
        object.__setattr__(self, "lists", lists)
        object.__setattr__(self, "scores", array)
        object.__setattr__(self, "min_score", threshold)
        object.__setattr__(self, "is_complete", is_complete)
        object.__setattr__(self, "core", _core.SparseScores(lists.core, array, threshold, argument))

    def with_float32_scores(self) -> SparseScores:
        """Return the same items, their scores and `min_score` as float32."""
        return self._replace(round_to_float32(self.scores), round_threshold(self.min_score))

    def without_negative_infinity(self) -> SparseScores:
        """Return the same items and scores with -inf and NaN dropped."""
        return self._replace(self.scores, finite_threshold(self.min_score))

    def _replace(self, scores: object, min_score: float | None) -> SparseScores:
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
