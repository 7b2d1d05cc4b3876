"""Metrics of exactk after each round of LightGBM, XGBoost and CatBoost, while they learn to rank.

None of these libraries is imported. Each function here returns what a library calls with the scores of a data set. The labels,
groups and weights of a data set are read once, and kept as long as the data set itself.

The mean over groups is weighted as the data set is. A weight is that of a group: one per group, or one per row, if those of a
group are equal.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from exactk._evaluate import evaluate
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._runtime.errors import InputError, warn, without_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from exactk._plan.conventions import ConventionLike

__all__ = ["catboost_metric", "lightgbm_feval", "xgboost_metric"]


def lightgbm_feval(
    metrics: str | Sequence[str], *, convention: ConventionLike = "standard", num_threads: int | None = None
) -> Callable[[NDArray[Any], Any], list[tuple[str, float, bool]]]:
    """Return a function for ``feval`` of ``lightgbm.train``.

    Parameters
    ----------
    metrics : str or sequence of str
        As in `exactk.evaluate`. Relevant are documents with a label above 0, or as ``min_grade`` says. The scores of the
        first rounds are equal for many documents: ``"ndcg@10(ties=expected)"`` averages over their orders, where the default
        keeps the order of the rows.
    convention : Convention, str or mapping
        As in `exactk.evaluate`.
    num_threads : int, optional
        As in `exactk.evaluate`.

    Returns
    -------
    function
        Takes the scores and the ``lightgbm.Dataset``, which must have groups, and returns the name, the value and whether
        higher is better, for each metric. A value that is undefined is NaN. Weights of the data set weight the mean over its
        groups.

    Raises
    ------
    InputError
        If a metric is invalid; and, when the function is called, if the data set has no groups, or weights that differ inside
        a group, or weights for a metric that has none, such as coverage.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` does, when the function is first called with a data set.

    Examples
    --------
    >>> from exactk.ltr import lightgbm_feval
    >>> class Dataset:  # as of LightGBM
    ...     def get_label(self):
    ...         return [0, 2, 1, 0, 1]
    ...     def get_group(self):
    ...         return [3, 2]
    ...     def get_weight(self):
    ...         return [1, 1, 1, 3, 3]
    >>> data = Dataset()
    >>> feval = lightgbm_feval(["mrr", "recall@1"])
    >>> feval([0.5, 0.9, 0.1, 0.3, 0.2], data)
    [('mrr', 0.625, True), ('recall@1', 0.125, True)]

    ``lightgbm.train(parameters, train, valid_sets=[valid], feval=feval)`` calls it after each round.
    """
    evaluator = _RoundEvaluator(metrics, convention, num_threads)

    def feval(preds: NDArray[Any], data: Any) -> list[tuple[str, float, bool]]:  # noqa: ANN401 - a Dataset of LightGBM
        return [(*one, evaluator.is_higher_better[one[0]]) for one in evaluator.values(preds, data, _of_dataset)]

    return feval


def xgboost_metric(
    metrics: str | Sequence[str], *, convention: ConventionLike = "standard", num_threads: int | None = None
) -> Callable[[NDArray[Any], Any], list[tuple[str, float]]]:
    """Return a function for ``custom_metric`` of ``xgboost.train``.

    Parameters
    ----------
    metrics, convention, num_threads
        As in `lightgbm_feval`.

    Returns
    -------
    function
        Takes the scores and the ``xgboost.DMatrix``, which must have groups or ``qid``, and returns the name and the value of
        each metric. A value that is undefined is NaN. Weights are as in `lightgbm_feval`. XGBoost stops early by the last one, and takes lower values for better unless
        ``maximize=True`` says otherwise.

    Raises
    ------
    InputError
        As `lightgbm_feval` does.

    Warns
    -----
    EvaluationWarning
        As `lightgbm_feval` does.

    Examples
    --------
    >>> import numpy as np
    >>> from exactk.ltr import xgboost_metric
    >>> class DMatrix:  # as of XGBoost
    ...     def get_label(self):
    ...         return [0, 2, 1, 0, 1]
    ...     def get_uint_info(self, name):
    ...         return [0, 3, 5]
    ...     def get_weight(self):
    ...         return []
    >>> data = DMatrix()
    >>> custom_metric = xgboost_metric("ndcg@2(gain=exp2)")
    >>> custom_metric(np.array([0.5, 0.9, 0.1, 0.3, 0.2]), data)
    [('ndcg@2(gain=exp2)', 0.7285...)]

    ``xgboost.train(parameters, train, evals=[(valid, "valid")], custom_metric=custom_metric)`` calls it after each round.
    """
    evaluator = _RoundEvaluator(metrics, convention, num_threads)

    def custom_metric(predt: NDArray[Any], dtrain: Any) -> list[tuple[str, float]]:  # noqa: ANN401 - a DMatrix of XGBoost
        return evaluator.values(predt, dtrain, _of_matrix)

    return custom_metric


class catboost_metric:  # noqa: N801 - as the functions
    """An object for ``eval_metric`` of CatBoost, which hands it scores and labels, but no groups.

    Parameters
    ----------
    metric : str
        As in `lightgbm_feval`, a single one.
    *data : pair of arrays
        The labels of each data set that is evaluated, and the group of each row, such as ``(y, group_id)``. The rows of a group
        are next to each other. A data set is recognized by its labels.
    convention, num_threads
        As in `lightgbm_feval`.

    Raises
    ------
    InputError
        If the metric is invalid, labels and groups differ in length, or two data sets have the same labels; and, when
        CatBoost evaluates, if weights differ inside a group.

    Notes
    -----
    CatBoost shuffles the groups of the train data unless ``has_time=True``. A data set that is not recognized, such as these,
    has the value 0, for CatBoost refuses NaN, and is warned of once.

    Examples
    --------
    >>> from exactk.ltr import catboost_metric
    >>> metric = catboost_metric("mrr", ([0, 2, 1, 0, 1], [7, 7, 7, 9, 9]))
    >>> metric.evaluate([[0.5, 0.9, 0.1, 0.3, 0.2]], [0, 2, 1, 0, 1], None)
    (0.75, 1.0)

    ``catboost.CatBoost({"loss_function": "YetiRank", "eval_metric": metric})`` calls it after each round.
    """

    def __init__(
        self,
        metric: str,
        *data: tuple[ArrayLike, ArrayLike],
        convention: ConventionLike = "standard",
        num_threads: int | None = None,
    ) -> None:
        self._evaluator = _RoundEvaluator(metric, convention, num_threads)
        self._data = {_key(np.asarray(labels)): _of_rows(labels, groups) for labels, groups in data}
        if len(self._data) != len(data):
            message = (
                "data: expected data sets with different labels, found two with the same: they cannot be told apart"
            )
            raise InputError(message)
        (self._name,) = self._evaluator.is_higher_better
        self._has_warned = False

    def is_max_optimal(self) -> bool:
        """Return whether higher values are better."""
        return self._evaluator.is_higher_better[self._name]

    def evaluate(
        self,
        approxes: Sequence[ArrayLike],
        target: ArrayLike,
        weight: ArrayLike | None,
    ) -> tuple[float, float]:
        """Return the value, whose mean has the weights of the groups, and 1 as its weight."""
        graded = self._data.get(_key(np.asarray(target)))
        if graded is None:
            self._warn_once(len(np.asarray(target)))
            return 0.0, 1.0
        graded = graded._replace(weights=_weights_of_groups(weight, graded.offsets))
        ((_, value),) = self._evaluator.values_of(np.asarray(approxes[0]), graded, is_first=False)
        return value, 1.0

    def _warn_once(self, rows: int) -> None:
        if not self._has_warned:
            self._has_warned = True
            warn(
                f"{self._name} is 0 for a data set of {rows} rows with other labels than those given to catboost_metric, "
                "such as the train data, whose groups CatBoost shuffles unless has_time=True"
            )

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value."""
        return error / weight

    def __str__(self) -> str:
        """Return the metric, as CatBoost names it in its results."""
        return self._name


class _Graded(NamedTuple):
    """Labels of a data set, whose items are row numbers."""

    truth: Truth
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None  # of the groups


class _RoundEvaluator:
    """Values of metrics after each round."""

    def __init__(self, metrics: str | Sequence[str], convention: ConventionLike, num_threads: int | None) -> None:
        values = plan(metrics, as_convention(convention))
        self.is_higher_better = {value.spelling: value.info.direction != "lower" for value in values}
        self._metrics, self._convention, self._num_threads = metrics, convention, num_threads
        self._graded: WeakKeyDictionary[Any, _Graded] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Return what to pickle: models of CatBoost are pickled and copied with their metric. Data sets are read anew."""
        return {**self.__dict__, "_graded": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the evaluator, with no data sets."""
        self.__dict__.update(state, _graded=WeakKeyDictionary())

    def values(self, scores: ArrayLike, data: Any, read: Callable[[Any], _Graded]) -> list[tuple[str, float]]:  # noqa: ANN401
        """Return the values of a data set, which is read when it first comes."""
        graded = self._graded.get(data)
        if graded is None:
            self._graded[data] = read(data)
        return self.values_of(np.asarray(scores), self._graded[data], is_first=graded is None)

    def values_of(self, scores: NDArray[Any], graded: _Graded, *, is_first: bool) -> list[tuple[str, float]]:
        """Return the values; warnings are shown once for a data set."""
        predictions = SparseScores(graded.offsets, graded.rows, scores)
        with nullcontext() if is_first else without_warnings():
            report = evaluate(
                graded.truth,
                predictions,
                self._metrics,
                convention=self._convention,
                num_threads=self._num_threads,
                weights=graded.weights,
            )
        return list(report.items())


def _of_dataset(data: Any) -> _Graded:  # noqa: ANN401 - a Dataset of LightGBM
    return _graded(data.get_label(), _with_zero(data.get_group()), data.get_weight())


def _of_matrix(data: Any) -> _Graded:  # noqa: ANN401 - a DMatrix of XGBoost
    return _graded(data.get_label(), np.asarray(data.get_uint_info("group_ptr"), np.int64), data.get_weight())


def _of_rows(labels: ArrayLike, groups: ArrayLike) -> _Graded:
    groups = np.asarray(groups)
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(groups), 1), bool), groups[1:] != groups[:-1]]))
    if len(set(groups[starts].tolist())) != len(starts):
        message = "groups: expected the rows of each group next to each other, found a group in two places"
        raise InputError(message)
    return _graded(labels, np.append(starts, len(groups)).astype(np.int64))


def _with_zero(group: ArrayLike | None) -> NDArray[np.int64]:
    """Return the offsets of groups, whose sizes LightGBM has."""
    return np.concatenate([[0], np.cumsum(() if group is None else np.asarray(group, np.int64))]).astype(np.int64)


def _graded(labels: ArrayLike, offsets: NDArray[np.int64], weight: ArrayLike | None = None) -> _Graded:
    grades = np.asarray(labels, np.float64)
    if len(offsets) < 2 or offsets[-1] != len(grades):
        found = int(offsets[-1]) if len(offsets) else 0
        message = f"data: expected groups of {len(grades)} rows in all, found {found}: a data set to rank has groups"
        raise InputError(message)
    rows = np.arange(len(grades))
    return _Graded(Truth(offsets, rows, grades), offsets, rows, _weights_of_groups(weight, offsets))


def _weights_of_groups(weight: ArrayLike | None, offsets: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the weight of each group: XGBoost has one per group, LightGBM and CatBoost have one per row."""
    weights = np.asarray(() if weight is None else weight, np.float64)
    sizes = np.diff(offsets)
    if not len(weights) or len(weights) == len(sizes):
        return weights if len(weights) else None
    if len(weights) != offsets[-1]:
        expected = f"weight: expected one per group ({len(sizes)}) or one per row ({offsets[-1]}), found {len(weights)}"
        raise InputError(expected)
    of_groups = weights[np.minimum(offsets[:-1], len(weights) - 1)]  # an empty group at the end has no row
    differs = weights != np.repeat(of_groups, sizes)
    if differs.any():
        row = int(np.argmax(differs))
        group = int(np.searchsorted(offsets, row, side="right")) - 1
        expected = f"weight: expected equal weights in a group, found {of_groups[group]:g} and {weights[row]:g} in group {group}"
        raise InputError(f"{expected}; the mean over groups has one weight per group")
    return of_groups


def _key(labels: NDArray[Any]) -> bytes:
    """Return what labels are recognized by; CatBoost has them as float32."""
    return labels.astype(np.float32).tobytes()
