"""Canonical embeddings: user and item vectors, used in place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import read_only, vector_array
from exactk._inputs.model.lists import Exclusions
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import checked_threshold, finite_threshold, round_threshold
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.model.candidate_items import CandidateItems

SIMILARITIES = ("dot", "cosine", "euclidean")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CanonicalEmbeddings:
    """User and item vectors with canonical candidate items. `exactk.Embeddings` accepts any container of candidates."""

    users: NDArray[Any]
    items: NDArray[Any]
    similarity: str
    min_score: float | None
    candidates: CandidateItems | None
    item_bias: NDArray[Any] | None
    exclude_self: bool
    has_float32_scores: bool  # whether scores are rounded to float32
    arguments: tuple[str, str]  # names of users and items in messages
    core: _core.Embeddings = field(repr=False)

    @classmethod
    def neighbors(
        cls, vectors: object, similarity: str, min_score: float | None, *, exclude_self: bool
    ) -> CanonicalEmbeddings:
        """View vectors that are both users and items, named ``vectors`` in messages."""
        array = vector_array(vectors, "vectors")
        threshold = None if min_score is None else checked_threshold(min_score)
        embeddings = cls.__new__(cls)
        embeddings._freeze(  # noqa: SLF001 - its own
            array,
            array,
            similarity,
            threshold,
            None,
            None,
            exclude_self=exclude_self,
            arguments=("vectors", "vectors"),
        )
        return embeddings

    def _freeze(
        self,
        users: NDArray[Any],
        items: NDArray[Any],
        similarity: object,
        min_score: float | None,
        candidates: CandidateItems | None,
        item_bias: NDArray[Any] | None,
        *,
        exclude_self: object,
        has_float32_scores: bool = False,
        arguments: tuple[str, str] = ("embeddings.users", "embeddings.items"),
    ) -> None:
        if not isinstance(similarity, str) or similarity not in SIMILARITIES:
            raise input_error("similarity", f"one of {', '.join(SIMILARITIES)}", repr(similarity))
        if not isinstance(exclude_self, (bool, np.bool_)):
            raise type_error("exclude_self", "True or False", repr(exclude_self))
        values = {
            "users": read_only(users),
            "items": read_only(items),
            "similarity": similarity,
            "min_score": min_score,
            "candidates": candidates,
            "item_bias": None if item_bias is None else read_only(item_bias),
            "exclude_self": bool(exclude_self),
            "has_float32_scores": has_float32_scores,
            "arguments": arguments,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "core", self.core_for(None, None))
        if exclude_self and len(users) != len(items):
            raise input_error("exclude_self", f"as many users as items ({len(items)})", str(len(users)))
        if candidates is not None:
            candidates.check_ids(len(items))

    def core_for(self, candidates: CandidateItems | None, sgemm: Any) -> _core.Embeddings:  # noqa: ANN401 - a capsule or None
        """Return the core's view, restricted to these items, which may use BLAS."""
        return _core.Embeddings(
            self.users,
            self.items,
            self.item_bias,
            self.similarity,
            self.has_float32_scores,
            self.min_score,
            None if candidates is None else candidates.core,
            sgemm,
            *self.arguments,
        )

    def extend_exclusions(self, exclude: Exclusions | None) -> Exclusions | None:
        """Return the exclusions, with each user's own row if `exclude_self` is set."""
        if not self.exclude_self:
            return exclude
        self_ids = np.arange(len(self), dtype=np.int64)
        if exclude is None:
            return Exclusions.from_valid_rows(Rows(np.arange(len(self) + 1), self_ids, is_owned=True))
        if len(exclude) != len(self):
            raise input_error("exclude", f"one entry per user ({len(self)})", str(len(exclude)))
        items = np.insert(exclude.items, exclude.indptr[1:], self_ids)
        return Exclusions.from_valid_rows(Rows(exclude.indptr + np.arange(len(self) + 1), items, is_owned=True))

    def with_float32_scores(self) -> CanonicalEmbeddings:
        """Return the same, its scores and `min_score` rounded to float32."""
        return self._with_scores(round_threshold(self.min_score), has_float32_scores=True)

    def without_negative_infinity(self) -> CanonicalEmbeddings:
        """Return the same embeddings with items dropped that score -inf in float32."""
        return self._with_scores(finite_threshold(self.min_score), has_float32_scores=self.has_float32_scores)

    def _with_scores(self, min_score: float | None, *, has_float32_scores: bool) -> CanonicalEmbeddings:
        embeddings = type(self).__new__(type(self))
        embeddings._freeze(  # noqa: SLF001 - its own
            self.users,
            self.items,
            self.similarity,
            min_score,
            self.candidates,
            self.item_bias,
            exclude_self=self.exclude_self,
            has_float32_scores=has_float32_scores,
            arguments=self.arguments,
        )
        return embeddings

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.users)

    def __repr__(self) -> str:
        items, width = self.items.shape
        return (
            f"<Embeddings of {plural(len(self), 'user')}, {plural(items, 'item')}, width {width} "
            f"({self.items.dtype}), {self.similarity}>"
        )

    def has(self, user: int) -> bool:
        """Return whether the user has a list; always true."""
        return 0 <= user < len(self)
