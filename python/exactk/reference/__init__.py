"""The definition of every number, in plain Python that reads like the papers.

``exactk.reference.evaluate`` and ``exactk.reference.topk`` take the arguments of ``exactk.evaluate`` and
``exactk.topk`` and return the same results. They share containers, plan and defaults with those functions, but no code
with the C++ core: the tests compare the two. They are slow, and exactk never falls back to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from exactk._engine.pipeline import evaluate_with_engine
from exactk._engine.topk import rank_top_k
from exactk._evaluate import DEFAULTS
from exactk._topk import TOPK_DEFAULTS
from exactk.reference.engine import reference_engine
from exactk.reference.metrics import METRICS as metrics  # noqa: N811 - the registry, public as a name
from exactk.reference.ranking import reference_ranker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from exactk._engine.pipeline import Options
    from exactk._engine.topk import TopKOptions
    from exactk._inputs.model.top_k import TopK
    from exactk._report.comparison import Comparison
    from exactk._report.report import Report

__all__ = ["evaluate", "metrics", "topk"]


@overload
def evaluate(  # type: ignore[overload-overlap]
    truth: object,
    predictions: Mapping[str, Any],
    metrics: str | Iterable[str],
    **options: Unpack[Options],
) -> Comparison: ...
@overload
def evaluate(
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    **options: Unpack[Options],
) -> Report: ...
def evaluate(
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    **options: Unpack[Options],
) -> Report | Comparison:
    """Evaluate in plain Python, one user at a time, with the arguments and results of `exactk.evaluate`.

    `num_threads` is checked and ignored.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.evaluate([[1, 4], [21]], [[1, 2, 4], [2, 3]], ["recall@3"])["recall@3"]
    0.5
    """
    arguments: dict[str, Any] = {**DEFAULTS, **options}
    return evaluate_with_engine(reference_engine, truth, predictions, metrics, **arguments)


def topk(scores: object, k: int, exclude: object = None, **options: Unpack[TopKOptions]) -> TopK:
    """Rank in plain Python, one user at a time, with the arguments and results of `exactk.topk`.

    `num_threads` is checked and ignored.

    Examples
    --------
    >>> import exactk
    >>> exactk.reference.topk([[3, 7, 5]], k=2).ids
    array([[1, 2]])
    """
    arguments: dict[str, Any] = {**TOPK_DEFAULTS, **options}
    return rank_top_k(reference_ranker, scores, k, exclude, **arguments)
