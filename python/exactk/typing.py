"""The types of arguments, for annotations of code that calls exactk.

Examples
--------
>>> import exactk
>>> from exactk.typing import ConventionLike, PredictionsLike, TruthLike
>>> def quality(truth: TruthLike, predictions: PredictionsLike, convention: ConventionLike = "ranx") -> float:
...     return exactk.ndcg_at_k(truth, predictions, k=2, convention=convention)
>>> quality([[1, 4]], [[4, 1]])
1.0
"""

from __future__ import annotations

from exactk._inputs.items import CatalogueLike
from exactk._inputs.parents import ParentsLike
from exactk._inputs.protocols import (
    DataFrame,
    KeysLike,
    MatrixLike,
    Series,
    SparseMatrix,
    SupportsArrowStream,
    SupportsColumns,
    SupportsDLPack,
    VectorLike,
)
from exactk._inputs.types import (
    Blocks,
    CandidatesLike,
    ExclusionsLike,
    FilePath,
    GroupsLike,
    ItemsLike,
    PredictionsLike,
    RankingsLike,
    ScoresLike,
    TruthLike,
    WeightsLike,
)
from exactk._plan import literals as _literals
from exactk._plan.conventions import ConventionLike
from exactk._plan.literals import *  # noqa: F403 - the names of presets and of the values of fields
from exactk._plan.metric_strings import MetricsLike
from exactk._runtime.progress import ProgressCallback

__all__ = [  # noqa: PLE0604 - the names of literals are strings
    "Blocks",
    "CandidatesLike",
    "CatalogueLike",
    "ConventionLike",
    "DataFrame",
    "ExclusionsLike",
    "FilePath",
    "GroupsLike",
    "ItemsLike",
    "KeysLike",
    "MatrixLike",
    "MetricsLike",
    "ParentsLike",
    "PredictionsLike",
    "ProgressCallback",
    "RankingsLike",
    "ScoresLike",
    "Series",
    "SparseMatrix",
    "SupportsArrowStream",
    "SupportsColumns",
    "SupportsDLPack",
    "TruthLike",
    "VectorLike",
    "WeightsLike",
    *sorted(name for name in vars(_literals) if not name.startswith("_")),
]
