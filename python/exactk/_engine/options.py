"""The options of an evaluation, for type checkers, by which functions take which. Their defaults are in the signature of `exactk.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inference.significance import Alternative
    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.types import (
        CandidatesLike,
        ClustersLike,
        ExclusionsLike,
        GroupsLike,
        PredictionsLike,
        WeightsLike,
    )
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.literals import Nan, RankingTies, ScoreDtype
    from exactk._report.comparison_options import (
        Adjustment,
        Family,
        IntervalMethod,
        MarginLike,
        Missing,
        RunsLike,
        Test,
    )
    from exactk._runtime.progress import ProgressCallback


class ListOptions(TypedDict, total=False):
    """What every function that reads lists takes."""

    convention: ConventionLike
    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None


class AgreementValueOptions(ListOptions, total=False):
    """What functions take that return one value of `exactk.agreement`."""

    weights: WeightsLike | None


class AgreementOptions(AgreementValueOptions, total=False):
    """What `exactk.agreement` takes."""

    groups: GroupsLike | None
    per_user: bool


class JudgeOptions(ListOptions, total=False):
    """What `exactk.judge` takes."""

    exclude: ExclusionsLike | None
    candidates: CandidatesLike | None
    grade: str | None


class ValueOptions(JudgeOptions, total=False):
    """What functions take that return one value, and `exactk.matching_conventions`."""

    items: CatalogueLike | None
    base_predictions: PredictionsLike | None
    weights: WeightsLike | None


class Options(ValueOptions, total=False):
    """What `exactk.evaluate` takes."""

    groups: GroupsLike | None
    per_user: bool


class EvaluatorOptions(TypedDict, total=False):
    """What `exactk.Evaluator` takes."""

    convention: ConventionLike
    items: CatalogueLike | None
    num_threads: int | None


class UpdateOptions(TypedDict, total=False):
    """What `exactk.Evaluator.update` takes."""

    exclude: ExclusionsLike | None
    candidates: CandidatesLike | None
    weights: WeightsLike | None
    groups: GroupsLike | None


class TopKOptions(TypedDict, total=False):
    """What `exactk.topk` takes."""

    candidates: CandidatesLike | None
    ties: RankingTies
    nan: Nan
    score_dtype: ScoreDtype
    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None


class _ComparingOptions(TypedDict, total=False):
    """How systems are compared."""

    baseline: str | None
    test: Test
    alternative: Alternative
    confidence: float
    interval: IntervalMethod
    adjust: Adjustment
    family: Family
    margin: MarginLike | None
    clusters: ClustersLike | None
    missing: Missing
    runs: RunsLike | None
    permutations: int
    resamples: int
    seed: int


class CompareOptions(Options, _ComparingOptions, total=False):
    """What `exactk.compare` takes."""


class CompareReportsOptions(_ComparingOptions, total=False):
    """What `exactk.compare_reports` takes."""

    num_threads: int | None
    progress: bool | ProgressCallback
