"""Canonical sparse scores: items of each user with their scores, which are read where they lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exactk import _core
from exactk._inputs.checks import read_only, score_array
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import checked_threshold, finite_threshold, round_threshold, round_to_float32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids, Offsets
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.frame_rows import FindRow


@dataclass(frozen=True, eq=False, init=False, repr=False)
class SparseScores:
    """The items that may be ranked for each user, and their scores: the higher, the better. Viewed, not copied.

    Parameters
    ----------
    indptr : array of int, shape (n_users + 1,)
        Row ``u`` is ``items[indptr[u]:indptr[u + 1]]``. Any integer dtype.
    items : array of int, shape (n_items,)
        Item ids in [0, 2^63), in any order within a row. An array of int32, int64, uint32 or uint64 is
        used in place: do not change it while it is evaluated.
    scores : array of float or int, shape (n_items,)
        The score of each item, of float16, float32, float64 or any integer type; they are compared as
        they are, unless the convention's ``score_dtype`` is ``"float32"``: then a copy is rounded. Used in place
        too, whatever the strides.
    min_score : float, optional
        An item that scores less is not recommended, nor is one whose score is NaN.
    present : array of bool, shape (n_users,), optional
        False for a user who got no list, which is not the same as an empty one; the row has no items.

    Raises
    ------
    InputTypeError
        If an array has the wrong type or shape. Values are checked when they are evaluated.
    InputError
        If there is not one score an item, or `min_score` is NaN or a number that float64 does not hold.

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
        self, indptr: object, items: object, scores: object, min_score: float | None = None, present: object = None
    ) -> None:
        self._freeze(Rankings(indptr, items, present), scores, min_score, "predictions", is_complete=True)

    @classmethod
    def from_lists(
        cls, lists: Rankings, scores: object, argument: str, min_score: float | None = None, *, is_complete: bool
    ) -> SparseScores:
        """Score items that are lists already; messages call them by this name."""
        sparse_scores = cls.__new__(cls)
        sparse_scores._freeze(lists, scores, min_score, argument, is_complete=is_complete)  # noqa: SLF001 - its own
        return sparse_scores

    @classmethod
    def from_rows(cls, rows: Rows, argument: str = "predictions") -> SparseScores:
        """Build from what an adapter made; messages call it by this name."""
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
        """Return the same items and scores, of which -inf is not recommended, nor NaN."""
        return self._replace(self.scores, finite_threshold(self.min_score))

    def _replace(self, scores: object, min_score: float | None) -> SparseScores:
        return SparseScores.from_lists(self.lists, scores, "predictions", min_score, is_complete=self.is_complete)

    @property
    def indptr(self) -> Offsets:
        """Where the rows begin, and the last ends."""
        return self.lists.indptr

    @property
    def items(self) -> Ids:
        """The ids of all rows."""
        return self.lists.items

    @property
    def present(self) -> NDArray[np.bool_] | None:
        """Which users have a list; None if all have."""
        return self.lists.present

    def rows(self) -> Rows:
        """Return the same as an adapter makes it."""
        return self.lists.rows()._replace(scores=self.scores, min_score=self.min_score, is_complete=self.is_complete)

    @property
    def user_vocabulary(self) -> Snapshot | None:
        """Keys of the users, if the users are keyed."""
        return self.lists.user_vocabulary

    @property
    def item_vocabulary(self) -> Snapshot | None:
        """Keys of the items, if the items are keyed: they are codes then."""
        return self.lists.item_vocabulary

    @property
    def find_row(self) -> FindRow | None:
        """Where rows stand in a frame or file, for messages."""
        return self.lists.find_row

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.lists)

    def __repr__(self) -> str:
        kind = self.items.dtype if self.item_vocabulary is None else self.item_vocabulary.kinds[0]
        items = f"{len(self.items)} items ({kind})"
        return f"<SparseScores of {len(self)} users, {items}, scores ({self.scores.dtype})>"

    def has(self, user: int) -> bool:
        """Return whether the user has a list, be it empty."""
        return self.lists.has(user)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SparseScores._from_plain, (self.rows().to_plain(), self.min_score))

    @classmethod
    def _from_plain(cls, plain: dict[str, Any], min_score: float | None) -> SparseScores:
        return cls.from_rows(Rows.from_plain(plain)._replace(min_score=min_score))
