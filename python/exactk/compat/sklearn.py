"""A drop-in replacement for the ranking metrics of scikit-learn 1.9.1: the same numbers, several times as fast.

>>> from exactk.compat.sklearn import ndcg_score, top_k_accuracy_score
>>> ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]])
0.6956940443813076
>>> top_k_accuracy_score([0, 1, 2, 2], [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]], k=2)
0.75

The functions need no scikit-learn. `make_scorer` and `get_scorer` make its scorers of them, for `cross_validate` and searches,
and need it.
`differences` says what is not equal; the rest is as the documentation of scikit-learn says.

The engine finds the first labels down to a small cutoff, and evaluates samples with few relevant labels. Where many labels
are relevant, and without a cutoff where all labels have gains, it is slower than to sort all scores, and NumPy does that.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.optional import is_sparse, sklearn_metrics
from exactk.compat._array_checks import (
    InvalidParameterError,
    UndefinedMetricWarning,
    as_column,
    check_lengths,
    check_parameters,
    checked_labels,
    checked_numbers,
    is_indicator,
    is_integral,
    metric_warning,
)
from exactk.compat._label_rankings import RelevantLabels, discounted_gains, ideal_gains

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "InvalidParameterError",
    "UndefinedMetricWarning",
    "coverage_error",
    "dcg_score",
    "differences",
    "get_scorer",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "make_scorer",
    "ndcg_score",
    "top_k_accuracy_score",
]


def differences() -> tuple[str, ...]:
    """Return what is not equal to scikit-learn, in sentences."""
    return (
        "Values may differ in the last digits, as sums are taken in another order.",
        "With ignore_ties=True, equal scores are in the order of numpy.argsort, as there: that depends on the processor.",
        "A sparse y_true in which a sample has a label twice is a ValueError; scikit-learn counts the label twice.",
        "Gains of 2**63 and more give no RuntimeWarning.",
        "Weights of float16 are summed in float64; scikit-learn rounds the sums to float16.",
        "With SciPy 1.18 and newer, scikit-learn takes label_ranking_average_precision_score of float32 scores in float32.",
        "The settings of sklearn.set_config have no effect: arguments are always checked, and arrays are NumPy's.",
        "Messages of exceptions have other words.",
    )


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Return the mean discounted cumulative gain of the samples."""
    check_parameters(
        "dcg_score",
        y_true=(y_true, "array"),
        y_score=(y_score, "array"),
        k=(k, "cutoff or None"),
        log_base=(log_base, "positive"),
        sample_weight=(sample_weight, "array or None"),
        ignore_ties=(ignore_ties, "flag"),
    )
    gains, scores = checked_numbers(y_true), checked_numbers(y_score)
    check_lengths(gains, scores, sample_weight)
    _check_gains(gains, scores, ignore_ties=ignore_ties)
    discounts, cutoff = _discounts(gains.shape[1], log_base), _plain_cutoff(k)
    values = discounted_gains(gains, scores, discounts, cutoff, ignore_ties=ignore_ties)
    return _mean_of_samples(values, sample_weight)


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Return the mean normalized discounted cumulative gain of the samples; 0 for a sample without gains.

    See Also
    --------
    exactk.ndcg_at_k : The same of lists, mappings, sparse matrices and data frames.
    """
    check_parameters(
        "ndcg_score",
        y_true=(y_true, "array"),
        y_score=(y_score, "array"),
        k=(k, "cutoff or None"),
        sample_weight=(sample_weight, "array or None"),
        ignore_ties=(ignore_ties, "flag"),
    )
    gains, scores = checked_numbers(y_true), checked_numbers(y_score)
    check_lengths(gains, scores, sample_weight)
    if gains.min() < 0:
        message = "ndcg_score should not be used on negative y_true values."
        raise ValueError(message)
    _check_gains(gains, scores, ignore_ties=ignore_ties)
    discounts, cutoff = _discounts(gains.shape[1]), _plain_cutoff(k)
    found, ideal = (
        discounted_gains(gains, scores, discounts, cutoff, ignore_ties=ignore_ties),
        ideal_gains(gains, discounts, cutoff),
    )
    values = np.divide(found, ideal, out=np.zeros(len(found)), where=ideal != 0)
    return _mean_of_samples(values, sample_weight)


def _plain_cutoff(k: int | None) -> int | None:
    """Return the cutoff as an int of Python, which cannot overflow as one of NumPy's eight bits."""
    return None if k is None else int(k)


def _mean_of_samples(values: NDArray[Any], weights: Any) -> float:  # noqa: ANN401 - what NumPy takes
    return float(np.average(values, weights=weights))


def _discounts(labels: int, log_base: float = 2) -> NDArray[np.float64]:
    discounts: NDArray[np.float64] = 1 / (np.log(np.arange(labels) + 2) / np.log(log_base))
    return discounts


def _check_gains(gains: NDArray[Any], scores: NDArray[Any], *, ignore_ties: bool) -> None:
    if gains.ndim != 2 or gains.shape[1] < 2 or gains.dtype.kind not in "biuf":
        message = f"Expected numbers of samples x labels, two labels or more, got shape {gains.shape} of {gains.dtype}"
        raise ValueError(message)
    if gains.shape != scores.shape:
        message = f"y_true and y_score have different shapes: {gains.shape}, {scores.shape}"
        raise (IndexError if ignore_ties and (scores.ndim < 2 or scores.shape > gains.shape) else ValueError)(message)


def label_ranking_average_precision_score(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean over samples and their labels of the share of relevant labels among all that score no lower."""
    check_parameters(
        "label_ranking_average_precision_score",
        y_true=(y_true, "array or sparse"),
        y_score=(y_score, "array"),
        sample_weight=(sample_weight, "array or None"),
    )
    if not is_sparse(y_true):
        check_lengths(y_true, y_score, sample_weight)
    labels, scores = _checked_indicator(y_true), checked_numbers(y_score)
    check_lengths(labels, scores, sample_weight)
    _check_shapes(labels, scores, least_labels=1)
    values = RelevantLabels(labels).precisions(scores)
    if sample_weight is None:
        return float(values.mean())
    weights = np.asarray(_by_number(sample_weight, len(values)))
    if weights.ndim != 1 or weights.dtype.kind not in "biufO":
        message = f"sample_weight: expected a number for each sample, got shape {weights.shape} of {weights.dtype}"
        raise TypeError(message)
    return float((values * weights).sum() / weights.sum())


def _by_number(weights: Any, count: int) -> Any:  # noqa: ANN401 - what NumPy takes
    """Return the weights of the samples 0, 1, ...: of a pandas Series with integer labels, by label, as scikit-learn asks for them."""
    labels = getattr(weights, "index", None)
    is_labelled = getattr(labels, "dtype", np.dtype(object)).kind in "iu"
    return [weights[sample] for sample in range(count)] if is_labelled else weights


def label_ranking_loss(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean share of the pairs of a relevant and another label of which the other scores no lower."""
    check_parameters(
        "label_ranking_loss",
        y_true=(y_true, "array or sparse"),
        y_score=(y_score, "array"),
        sample_weight=(sample_weight, "array or None"),
    )
    labels, scores = _checked_indicator(y_true), checked_numbers(y_score)
    check_lengths(labels, scores, sample_weight)
    _check_shapes(labels, scores, least_labels=2)
    return _mean_of_samples(RelevantLabels(labels).misordered_pairs(scores), sample_weight)


def _checked_indicator(y_true: Any) -> Any:  # noqa: ANN401 - of SciPy, which has no types
    """Return an indicator matrix: an array, or a sparse matrix in CSR form."""
    if not is_sparse(y_true):
        labels = checked_numbers(y_true)
        if labels.ndim == 2 and is_indicator(labels):
            return labels
        message = "y_true is no indicator matrix of samples x labels."
        raise ValueError(message)
    labels = y_true.tocsr(copy=True)
    count = labels.nnz
    labels.sum_duplicates()
    if labels.nnz != count:
        message = "y_true has a label twice in a sample."
        raise ValueError(message)
    values = np.unique(checked_numbers(labels.data)) if labels.nnz else np.zeros(0)
    if min(labels.shape) < 1 or len(values) > 2 or (len(values) == 2 and 0 not in values) or not is_integral(values):
        message = "y_true is no indicator matrix of samples x labels."
        raise ValueError(message)
    return labels


def _check_shapes(labels: Any, scores: NDArray[Any], *, least_labels: int) -> None:  # noqa: ANN401 - an indicator matrix
    if labels.shape != scores.shape:
        message = f"y_true and y_score have different shapes: {labels.shape}, {scores.shape}"
        raise ValueError(message)
    if labels.shape[1] < least_labels:
        message = f"Expected {least_labels} labels or more, got shape {labels.shape}"
        raise ValueError(message)


def coverage_error(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return how far down the ranking one has to go, on average, to have all relevant labels."""
    check_parameters(
        "coverage_error",
        y_true=(y_true, "array"),
        y_score=(y_score, "array"),
        sample_weight=(sample_weight, "array or None"),
    )
    labels = checked_numbers(y_true, two_dimensional=True)
    scores = checked_numbers(y_score, two_dimensional=True)
    check_lengths(labels, scores, sample_weight)
    _check_shapes(_checked_indicator(labels), scores, least_labels=2)
    scores = scores.view(np.uint8) if scores.dtype.kind == "b" else scores
    highest: Any = np.inf if scores.dtype.kind == "f" else np.iinfo(scores.dtype).max
    relevant = labels != 0
    lowest_relevant = np.where(relevant, scores, scores.dtype.type(highest)).min(axis=1, keepdims=True)
    covered = np.where(relevant.any(axis=1), (scores >= lowest_relevant).sum(axis=1), 0)
    return _mean_of_samples(covered, sample_weight)


def top_k_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Return the share of samples whose class is among the k with the highest scores. Of tied classes, the last is first."""
    check_parameters(
        "top_k_accuracy_score",
        y_true=(y_true, "array"),
        y_score=(y_score, "array"),
        k=(k, "cutoff"),
        normalize=(normalize, "flag"),
        sample_weight=(sample_weight, "array or None"),
        labels=(labels, "array or None"),
    )
    actual = checked_labels(y_true)
    distinct = _distinct_classes(actual)
    is_binary = len(distinct) <= 2 and (labels is None or len(np.asarray(labels)) <= 2)
    scores = _class_scores(checked_numbers(y_score), is_binary=is_binary)
    check_lengths(actual, scores, sample_weight)
    classes = _classes(distinct, labels, scores.shape[1] if scores.ndim == 2 else 2)
    if k >= len(classes):
        message = f"'k' ({k}) is no less than the number of classes ({len(classes)}), so that the score is perfect."
        warnings.warn(message, metric_warning(), stacklevel=2)
    codes = np.searchsorted(classes, actual)
    hits = _binary_hits(codes, scores, k) if is_binary else _multiclass_hits(codes, scores, k)
    if normalize:
        return _mean_of_samples(hits, sample_weight)
    return float(np.sum(hits)) if sample_weight is None else float(np.dot(hits, np.asarray(sample_weight)))


def _distinct_classes(actual: NDArray[Any]) -> NDArray[Any]:
    """Return the classes, in order; raise where they are no labels."""
    if actual.dtype.kind == "S":
        message = "Labels represented as bytes are not supported. Convert them to strings or integers."
        raise TypeError(message)
    is_text = actual.dtype.kind == "U" or isinstance(actual.flat[0], str)
    if not is_text and (actual.dtype.kind not in "biufM" or not is_integral(actual)):
        message = f"y type must be 'binary' or 'multiclass', got values of {actual.dtype}."
        raise ValueError(message)
    return np.unique(actual)


def _class_scores(scores: NDArray[Any], *, is_binary: bool) -> NDArray[Any]:
    if is_binary:
        return as_column(scores)
    if scores.ndim == 2:
        return scores
    message = f"y_score needs a column for each class, as y_true has several. Got the shape {scores.shape}."
    raise ValueError(message)


def _classes(distinct: NDArray[Any], labels: ArrayLike | None, count: int) -> NDArray[Any]:
    """Return all classes, of which there are as many as scores."""
    classes = distinct if labels is None else as_column(labels)
    if labels is not None and not np.array_equal(np.unique(classes), classes):
        message = "Parameter 'labels' must be unique and ordered."
        raise ValueError(message)
    if len(classes) != count:
        message = f"Number of classes ({len(classes)}) not equal to the number of columns of 'y_score' ({count})."
        raise ValueError(message)
    if labels is not None and not np.isin(distinct, classes).all():
        message = "'y_true' contains labels not in parameter 'labels'."
        raise ValueError(message)
    return classes


def _binary_hits(codes: NDArray[np.int64], scores: NDArray[Any], k: int) -> NDArray[np.bool_]:
    if k > 1:
        return np.ones(len(scores), np.bool_)
    threshold = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0
    hits: NDArray[np.bool_] = (scores > threshold) == codes
    return hits


def _multiclass_hits(codes: NDArray[np.int64], scores: NDArray[Any], k: int) -> NDArray[np.bool_]:
    # As `hit_rate` of the core by the preset 'sklearn', which is no faster with a thousand classes, and ten times slower with ten.
    actual = np.take_along_axis(scores, codes[:, np.newaxis], axis=1)
    ranks: NDArray[np.int64] = (scores > actual).sum(axis=1)
    is_tied = scores == actual
    rows = np.flatnonzero(is_tied.sum(axis=1) > 1)
    ranks[rows] += (is_tied[rows] & (np.arange(scores.shape[1]) > codes[rows, np.newaxis])).sum(axis=1)
    return ranks < k


def make_scorer(
    score_func: Callable[..., float],
    *,
    response_method: str | Sequence[str] = "predict",
    greater_is_better: bool = True,
    **kwargs: object,
) -> Any:  # noqa: ANN401 - a scorer of scikit-learn
    """Return a scorer of scikit-learn, which calls a function of this module, or another, in `cross_validate` and searches."""
    return sklearn_metrics("make_scorer()").make_scorer(
        score_func, response_method=response_method, greater_is_better=greater_is_better, **kwargs
    )


def get_scorer(scoring: Any) -> Any:  # noqa: ANN401 - a scorer of scikit-learn
    """Return a scorer of scikit-learn by its name; that of ``"top_k_accuracy"`` calls `top_k_accuracy_score` of this module."""
    metrics = sklearn_metrics("get_scorer()")
    if isinstance(scoring, str) and scoring == "top_k_accuracy":
        return metrics.make_scorer(top_k_accuracy_score, response_method=("decision_function", "predict_proba"))
    return metrics.get_scorer(scoring)
