"""What arguments take, for type checkers. `exactk.typing` has these names for callers."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from exactk._inputs.batches import Batches
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._inputs.model.top_k import TopK
from exactk._inputs.protocols import DataFrame, Series, SparseMatrix, SupportsDLPack
from exactk._inputs.truth import Truth

FilePath: TypeAlias = str | os.PathLike[str]
"""The path of a file; see `exactk.read`."""

ItemsLike: TypeAlias = Collection[Any] | SupportsDLPack | Series
"""One user's items, perhaps with grades or scores."""

_Container: TypeAlias = (
    Sequence[ItemsLike | None] | Mapping[Any, Any] | NDArray[Any] | SupportsDLPack
    | SparseMatrix | DataFrame | Series | TopK | tuple[NDArray[Any], NDArray[Any]] | FilePath
)  # fmt: skip

TruthLike: TypeAlias = Truth | _Container
"""The relevant items of each user; see `exactk.as_truth`."""

RankingsLike: TypeAlias = Rankings | Batches | _Container
"""Lists of items, best first; see `exactk.as_predictions`."""

ScoresLike: TypeAlias = Scores | SparseScores | CanonicalEmbeddings | Batches | _Container
"""Scores to rank by; see `exactk.topk`."""

PredictionsLike: TypeAlias = Rankings | ScoresLike
"""The predictions of one system; see `exactk.as_predictions`."""

ExclusionsLike: TypeAlias = Exclusions | Truth | Rankings | _Container
"""Items that must not be ranked; see `exactk.as_exclusions`."""

CandidatesLike: TypeAlias = Collection[Any] | Exclusions | Truth | Rankings | _Container
"""The only items that may be ranked, for all users or user by user."""

WeightsLike: TypeAlias = (
    Mapping[Any, float] | Sequence[float] | NDArray[Any] | SupportsDLPack | Series | DataFrame | FilePath
)
"""One weight per user."""

GroupsLike: TypeAlias = (
    Mapping[Any, Any] | Sequence[int] | Sequence[str] | NDArray[Any] | SupportsDLPack | Series | DataFrame | FilePath
)
"""One label per user."""

Blocks: TypeAlias = Iterator[tuple[Any, Any]] | Iterator[tuple[Any, Any, Any]]
"""Tuples (truth, predictions) or (truth, predictions, exclude), one per block of users."""

ClustersLike: TypeAlias = str | GroupsLike
"""One label per user, or the name of a column of the users' keys."""
