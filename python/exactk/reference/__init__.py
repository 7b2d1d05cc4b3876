"""The definition of every metric, in plain Python (arrays in NumPy) that reads like the papers.

``evaluate``, ``compare``, ``agreement``, ``drift``, ``judge``, ``topk`` and ``fuse`` of this module take the arguments of the functions of
``exactk`` with these names and return the same results. They share containers, plan and defaults with those functions, but no code
with the C++ core: the tests compare the two. They are slow, and exactk never falls back to them. What they refuse, they refuse with
the same class of error, which has the same row, position and count; its message only names the argument and the fault, such as
``predictions: repeated item at row 3``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._agreement import (
    DEFAULT_AGREEMENT_METRICS,
    ListEngine,
    agreement as core_agreement,
    drift as core_drift,
    evaluate_agreement,
    evaluate_drift,
)
from exactk._compare import Engines, compare as core_compare, compare_systems
from exactk._engine.fold import evaluate_with_engine
from exactk._engine.systems import ONE_SYSTEM
from exactk._evaluate import evaluate as core_evaluate, with_defaults
from exactk._fuse import fuse as core_fuse, fuse_systems
from exactk._judge import judge as core_judge, prepare_judging
from exactk._options import AgreementOptions, CompareOptions, FusionOptions, JudgeOptions, ListOptions, TopKOptions
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._topk import rank_top_k, topk as core_topk
from exactk.reference.engine import reference_engine
from exactk.reference.fusion import reference_fuser
from exactk.reference.list_metrics import (
    METRICS as metrics,  # noqa: N811 - the registry, public as a name
    changes_of_lists,
)
from exactk.reference.paired import reference_paired_engine
from exactk.reference.ranking import reference_ranker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from exactk._inputs.model.fused_scores import FusedScores, FusionMethod
    from exactk._inputs.model.top_k import TopK
    from exactk._inputs.types import Blocks, ExclusionsLike, PredictionsLike, ScoresLike, TruthLike
    from exactk._options import Options
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.comparison import Comparison
    from exactk._report.drift import Drift
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.report import Report

__all__ = ["agreement", "compare", "drift", "evaluate", "fuse", "judge", "metrics", "topk"]


def evaluate(
    truth: TruthLike | None,
    predictions: PredictionsLike | Blocks,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[Options],
) -> Report:
    """Evaluate in plain Python, one user at a time, with the arguments and results of `exactk.evaluate`.

    `num_threads` is checked and ignored.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.evaluate([[1, 4], [21]], [[1, 2, 4], [2, 3]], ["recall@3"])["recall@3"]
    0.5
    """
    arguments = with_defaults(options, core_evaluate, metrics=metrics)
    return evaluate_with_engine(reference_engine, ONE_SYSTEM, truth, predictions, metrics, **arguments).report


def compare(
    truth: TruthLike | None,
    systems: Mapping[str, PredictionsLike] | Blocks,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Evaluate several systems in plain Python, with the arguments and results of `exactk.compare`.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.compare([[1], [2]], {"a": [[1], [3]], "b": [[3], [3]]}, "P@1")["P@1"]
    {'a': 0.5, 'b': 0.0}
    """
    arguments = with_defaults(options, core_compare, CompareOptions, metrics)
    return compare_systems(Engines(reference_engine, reference_paired_engine), truth, systems, metrics, arguments)


def agreement(
    one: PredictionsLike,
    other: PredictionsLike,
    metrics: MetricsLike = DEFAULT_AGREEMENT_METRICS,
    **options: Unpack[AgreementOptions],
) -> Report:
    """Compare two systems' lists in plain Python, with the arguments and results of `exactk.agreement`.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.agreement([[1, 2]], [[2, 3]], "overlap@2")["overlap@2"]
    0.5
    """
    arguments = with_defaults(options, core_agreement, AgreementOptions, metrics)
    return evaluate_agreement(ListEngine(reference_engine, reference_ranker), one, other, metrics, **arguments)


def drift(one: PredictionsLike, other: PredictionsLike, k: int = 10, **options: Unpack[ListOptions]) -> Drift:
    """Say what changed between two systems' lists in plain Python, with the arguments and results of `exactk.drift`.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.drift([[1, 2]], [[2, 3]], k=2).new_items
    1
    """
    arguments = with_defaults(options, core_drift, ListOptions)
    engine = ListEngine(reference_engine, reference_ranker)
    return evaluate_drift(engine, changes_of_lists, one, other, k, **arguments)


def judge(truth: TruthLike, predictions: PredictionsLike, k: int, **options: Unpack[JudgeOptions]) -> JudgedLists:
    """Judge lists in plain Python, one user at a time, with the arguments and results of `exactk.judge`.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.judge([[1, 4]], [[4, 2, 1]], k=2).hits
    array([[ True, False]])
    """
    arguments = with_defaults(options, core_judge, JudgeOptions)
    judging = prepare_judging(reference_engine, truth, predictions, k, **arguments)
    (judged,) = judging.blocks(max(1, judging.user_count))
    return judged


def topk(scores: ScoresLike, k: int, exclude: ExclusionsLike | None = None, **options: Unpack[TopKOptions]) -> TopK:
    """Rank in plain Python, one user at a time, with the arguments and results of `exactk.topk`.

    `num_threads` is checked and ignored.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.topk([[3, 7, 5]], k=2).items
    array([[1, 2]])
    """
    arguments = with_defaults(options, core_topk, TopKOptions)
    return rank_top_k(reference_ranker, scores, k, exclude, **arguments)


def fuse(
    systems: Mapping[str, PredictionsLike], method: FusionMethod = "rrf", **options: Unpack[FusionOptions]
) -> FusedScores:
    """Fuse in plain Python, one user at a time, with the arguments and results of `exactk.fuse`.

    `num_threads` is checked and ignored.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.fuse({"a": [[1, 4]], "b": [[4, 2]]}, k=1).items
    array([4])
    """
    return fuse_systems(reference_fuser, systems, method, with_defaults(options, core_fuse, FusionOptions))
