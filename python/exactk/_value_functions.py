"""The functions of the best known metrics, which return one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._evaluate import takes_options
from exactk._metrics import Metric, metrics
from exactk._options import ValueOptions

if TYPE_CHECKING:
    from typing import Unpack

    from exactk._inputs.types import Blocks, PredictionsLike, TruthLike


@takes_options(ValueOptions, Metric.__call__)
def precision_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return precision@k, the share of the recommended items that are relevant, averaged over users.

    Examples
    --------
    >>> import exactk
    >>> exactk.precision_at_k([[1, 4], [21]], [[1, 2, 3], [2, 21]], k=2)
    0.5
    """
    return metrics.precision(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def recall_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return recall@k, the share of the relevant items that are recommended, averaged over users.

    Examples
    --------
    >>> import exactk
    >>> exactk.recall_at_k([[1, 4], [21]], [[1, 2, 3], [2, 21]], k=2)
    0.75
    """
    return metrics.recall(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def fbeta_at_k(
    truth: TruthLike | None,
    predictions: PredictionsLike | Blocks,
    k: int | None = 10,
    *,
    beta: float = 1.0,
    **options: Unpack[ValueOptions],
) -> float:
    """Return fbeta@k, the weighted harmonic mean of precision and recall, averaged over users.

    Parameters
    ----------
    beta : float
        The weight of recall beside precision, in [0, inf]: at 0 the value is precision, at inf recall.

    Examples
    --------
    >>> import exactk
    >>> exactk.fbeta_at_k([[1, 4], [21]], [[1, 2, 3], [2, 21]], k=2, beta=2)
    0.6666666666666667
    """
    return metrics.fbeta.with_(beta=beta)(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def average_precision_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return average_precision@k, the mean of the precision at the rank of each hit, averaged over users: MAP.

    Examples
    --------
    >>> import exactk
    >>> exactk.average_precision_at_k([[1, 4], [21]], [[1, 2, 3], [2, 21]], k=2)
    0.5
    """
    return metrics.average_precision(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def ndcg_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return ndcg@k, the discounted cumulative gain over that of the ideal ranking, averaged over users.

    Examples
    --------
    >>> import exactk
    >>> exactk.ndcg_at_k([{1: 3, 4: 1}, {21: 2}], [[4, 1, 3], [21]], k=2)
    0.8983537904952534
    """
    return metrics.ndcg(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def reciprocal_rank_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return reciprocal_rank@k, 1 / rank of the first relevant item, averaged over users: MRR.

    Examples
    --------
    >>> import exactk
    >>> exactk.reciprocal_rank_at_k([[1, 4], [21]], [[1, 2, 3], [2, 21]], k=2)
    0.75
    """
    return metrics.reciprocal_rank(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def hit_rate_at_k(
    truth: TruthLike | None, predictions: PredictionsLike | Blocks, k: int | None = 10, **options: Unpack[ValueOptions]
) -> float:
    """Return hit_rate@k, the share of the users to whom any relevant item is recommended.

    Examples
    --------
    >>> import exactk
    >>> exactk.hit_rate_at_k([[1, 4], [21]], [[1, 2, 3], [2, 3]], k=2)
    0.5
    """
    return metrics.hit_rate(truth, predictions, k, **options)


@takes_options(ValueOptions, Metric.__call__)
def auc(
    truth: TruthLike | None,
    predictions: PredictionsLike | Blocks,
    *,
    max_fpr: float = 1.0,
    **options: Unpack[ValueOptions],
) -> float:
    """Return auc, the share of the pairs of a relevant and another ranked item that are in the right order, averaged over users.

    Parameters
    ----------
    max_fpr : float
        The share of the other items down to which the ROC curve is looked at, in [1e-9, 1].

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> exactk.auc([[0, 2]], np.array([[0.9, 0.5, 0.1]]))
    0.5
    """
    return metrics.auc.with_(max_fpr=max_fpr)(truth, predictions, **options)
