"""Canonical embeddings: user and item vectors, used in place."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk import _core
from exactk._inputs.checks import read_only, vector_array
from exactk._inputs.model.lists import Exclusions
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import (
    at_positions,
    checked_threshold,
    finite_threshold,
    ids_in_key_order,
    round_threshold,
)
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.candidate_items import CandidateItems

SIMILARITIES = ("dot", "cosine", "euclidean")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CanonicalEmbeddings:
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
    present: NDArray[np.bool_] | None = None  # flags of the users who have a vector of their own; None: all have
    self_items: NDArray[np.int64] | None = None  # the item that each user is, -1 for none; None: user u is item u
    item_rows: NDArray[np.int64] | None = None  # where items were put in the order of their keys, each one's former row
    has_float32_scores: bool = False  # whether scores are rounded to float32
    arguments: tuple[str, str] = ("embeddings.user_vectors", "embeddings.item_vectors")  # names in messages
    core: _core.Embeddings = field(repr=False, init=False)

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
            object.__setattr__(self, name, read_only(part) if isinstance(part, np.ndarray) else part)
        object.__setattr__(self, "core", self.core_for(None))
        if exclude_self and self.self_items is None and len(self.user_vectors) != self.item_count:
            raise input_error("exclude_self", f"as many users as items ({self.item_count})", str(len(self)))
        if self.candidates is not None:
            self.candidates.check_ids(self.item_count)

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields
        embeddings = type(self).__new__(type(self))
        parts = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "core"}
        embeddings._freeze(**(parts | changes))  # noqa: SLF001 - its own
        return embeddings

    def core_for(self, candidates: CandidateItems | None) -> _core.Embeddings:
        """Return the core's view, restricted to these items."""
        return _core.Embeddings(
            self.user_vectors,
            self.item_vectors,
            self.item_bias,
            self.similarity,
            self.has_float32_scores,
            self.min_score,
            None if candidates is None else candidates.core,
            self.present,
            *self.arguments,
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
            indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(has_self)])
            return Exclusions.from_valid_rows(Rows(indptr, self_items[has_self], is_owned=True))
        if len(exclude) != len(self):
            raise input_error("exclude", f"one entry per user ({len(self)})", str(len(exclude)))
        items = np.insert(exclude.items, exclude.indptr[1:][has_self], self_items[has_self])
        indptr = exclude.indptr + np.concatenate([np.zeros(1, np.int64), np.cumsum(has_self)])
        return Exclusions.from_valid_rows(Rows(indptr, items, is_owned=True))

    def with_float32_scores(self) -> Self:
        """Return the same, its scores and `min_score` rounded to float32."""
        return self._replace(min_score=round_threshold(self.min_score), has_float32_scores=True)

    def without_negative_infinity(self) -> Self:
        """Return the same embeddings with items dropped that score -inf in float32."""
        return self._replace(min_score=finite_threshold(self.min_score))

    @property
    def users(self) -> NDArray[Any] | None:
        """User keys; None if users are row numbers."""
        return None if self.user_vocabulary is None else self.user_vocabulary.array

    @property
    def items(self) -> NDArray[Any] | None:
        """Item keys; None if items are row numbers."""
        return None if self.item_vocabulary is None else self.item_vocabulary.array

    @property
    def is_keyed(self) -> bool:
        """Whether users or items have keys."""
        return self.user_vocabulary is not None or self.item_vocabulary is not None

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
