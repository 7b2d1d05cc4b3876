"""Metrics of exactk after each round of LightGBM, XGBoost and CatBoost, while they learn to rank.

None of these libraries is imported. Each function here returns what a library calls with the scores of a data set.

The mean over groups is weighted as the data set is. A weight is that of a group: one per group, or one per row, if those of a
group are equal.

Names in the logs are the metrics as they were requested, without spaces, at which XGBoost splits. A name of their built-in metrics,
such as ``ndcg@10``, gets the suffix ``_exactk``, for these libraries append the values of two metrics with one name to one list.
"""

from __future__ import annotations

import math
import re
import sys
from collections import OrderedDict
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

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

__all__ = ["catboost_metric", "lightgbm_feval", "xgboost_callback", "xgboost_metric"]

_BUILT_IN = {"auc", "average_precision", "map", "ndcg"}
"""Metrics that LightGBM or XGBoost has too, by names that exactk could log."""


def lightgbm_feval(
    metrics: str | Sequence[str], *, convention: ConventionLike = "standard", num_threads: int | None = None
) -> Callable[..., list[tuple[str, float, bool]]]:
    """Return a function for ``feval`` of ``lightgbm.train`` and ``eval_metric`` of ``LGBMRanker.fit``.

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
        Takes the scores and the ``lightgbm.Dataset``, which must have groups, or the labels, scores, weights and group sizes,
        and returns the name, the value and whether higher is better, for each metric. A value that is undefined is NaN.
        Weights of the data set weight the mean over its groups.

    Raises
    ------
    InputError
        If a metric is invalid; and, when the function is called, if the data set has no groups, or weights that differ inside
        a group, or weights for a metric that has none, such as coverage.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` does, and of NaN, by which no library can stop early, when the function is first called with a
        data set.

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
    >>> feval = lightgbm_feval(["mrr", "recall@1"])
    >>> feval([0.5, 0.9, 0.1, 0.3, 0.2], Dataset())
    [('mrr', 0.625, True), ('recall@1', 0.125, True)]

    ``lightgbm.train(parameters, train, valid_sets=[valid], feval=feval)`` calls it after each round, and so does
    ``LGBMRanker().fit(X, y, group=sizes, eval_set=[(X_valid, y_valid)], eval_group=[sizes_valid], eval_metric=feval)``.
    """
    evaluator = _RoundEvaluator(metrics, convention, num_threads)

    # LGBMRanker counts the parameters, and passes labels, scores, weights and group sizes if they are four.
    def feval(preds: Any, data: Any, weight: Any = None, group: Any = None) -> list[tuple[str, float, bool]]:  # noqa: ANN401
        if not hasattr(data, "get_label"):
            return evaluator.values(data, preds, _with_zero(group), weight)
        return evaluator.values(preds, data.get_label(), _with_zero(data.get_group()), data.get_weight())

    return feval


def xgboost_metric(
    metrics: str | Sequence[str], *, convention: ConventionLike = "standard", num_threads: int | None = None
) -> Callable[[NDArray[Any], Any], list[tuple[str, float]]]:
    """Return a function for ``custom_metric`` of ``xgboost.train`` and ``xgboost.cv``; for ``XGBRanker`` see `xgboost_callback`.

    Parameters
    ----------
    metrics, convention, num_threads
        As in `lightgbm_feval`.

    Returns
    -------
    function
        Takes the scores and the ``xgboost.DMatrix``, which must have groups or ``qid``, and returns the name and the value of
        each metric, of which XGBoost logs six decimals. A value that is undefined is NaN. Weights are as in `lightgbm_feval`.
        XGBoost stops early by the last one, and takes lower values for better unless ``maximize=True`` says otherwise.

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
    >>> custom_metric = xgboost_metric("ndcg@2(gain=exp2)")
    >>> custom_metric(np.array([0.5, 0.9, 0.1, 0.3, 0.2]), DMatrix())
    [('ndcg@2(gain=exp2)', 0.7285...)]

    ``xgboost.train(parameters, train, evals=[(valid, "valid")], custom_metric=custom_metric)`` calls it after each round.
    """
    evaluator = _RoundEvaluator(metrics, convention, num_threads)

    def custom_metric(predt: NDArray[Any], dtrain: Any) -> list[tuple[str, float]]:  # noqa: ANN401 - a DMatrix of XGBoost
        if not hasattr(dtrain, "get_uint_info"):
            message = (
                "eval_metric: expected a DMatrix, found arrays: XGBRanker calls it for one group at a time, without weights; "
                "write callbacks=[xgboost_callback(metrics, data)]"
            )
            raise InputError(message)
        offsets = np.asarray(dtrain.get_uint_info("group_ptr"), np.int64)
        return [one[:2] for one in evaluator.values(predt, dtrain.get_label(), offsets, dtrain.get_weight())]

    return custom_metric


def xgboost_callback(
    metrics: str | Sequence[str],
    data: dict[str, Any],
    *,
    convention: ConventionLike = "standard",
    num_threads: int | None = None,
) -> Any:  # noqa: ANN401 - a TrainingCallback of XGBoost
    """Return one of the ``callbacks`` of ``XGBRanker`` or ``xgboost.train``, which logs metrics with all their digits.

    Parameters
    ----------
    metrics, convention, num_threads
        As in `lightgbm_feval`.
    data : dict of {str: xgboost.DMatrix}
        The data sets to evaluate, with groups or ``qid``, by the name that they have in the log. XGBRanker calls those of
        ``eval_set`` ``validation_0`` and so on. Weights are one per group.

    Returns
    -------
    xgboost.callback.TrainingCallback
        It adds the values to the log, ``XGBRanker.evals_result()``, before those of XGBoost: ``early_stopping_rounds`` goes by
        the last one, as without it, unless there is none. To stop by a metric of exactk, write
        ``EarlyStopping(rounds=20, data_name="valid", metric_name="mrr", maximize=True)`` after it, for XGBoost takes lower
        values for better unless it knows the name. Copies share the data sets; what is pickled with a model has none.

    Raises
    ------
    InputError
        As `lightgbm_feval` does; if a data set is no ``DMatrix``; and, when training begins, if there is none, or it is that of
        ``xgboost.cv``, which has no single model.

    Warns
    -----
    EvaluationWarning
        As `lightgbm_feval` does.

    Examples
    --------
    ``valid = xgboost.DMatrix(X_valid, y_valid, qid=qid_valid)`` holds the data set of
    ``XGBRanker(callbacks=[xgboost_callback("mrr", {"valid": valid})]).fit(X, y, qid=qid)``.
    """
    library = sys.modules.get("xgboost")  # who has a DMatrix has it
    if library is None or not all(isinstance(one, library.DMatrix) for one in data.values()):
        message = 'data: expected a DMatrix per name; write {"valid": xgboost.DMatrix(X_valid, y_valid, qid=qid_valid)}'
        raise InputError(message)
    custom_metric = xgboost_metric(metrics, convention=convention, num_threads=num_threads)
    base: Any = library.callback.TrainingCallback

    class XGBoostCallback(base):  # type: ignore[misc]
        def before_training(self, model: Any) -> Any:  # noqa: ANN401
            if not data:
                message = 'data: expected a DMatrix to evaluate, found none; write {"valid": valid}'
                raise InputError(message)
            if not hasattr(model, "predict"):
                message = "callbacks: expected a model to evaluate, found folds of xgboost.cv; write custom_metric=xgboost_metric(metrics)"
                raise InputError(message)
            return model

        def after_iteration(self, model: Any, _: int, evals_log: Any) -> bool:  # noqa: ANN401
            for name, matrix in reversed(data.items()):
                log = _first(evals_log, name, OrderedDict())
                for metric, value in reversed(custom_metric(model.predict(matrix, output_margin=True), matrix)):
                    _first(log, metric, []).append(value)
            return False

        def __reduce__(self) -> Any:  # noqa: ANN401
            return _without_data, (metrics, convention, num_threads)

        def __deepcopy__(self, memo: Any) -> Any:  # noqa: ANN401 - estimators are cloned with their callbacks
            return self

    return XGBoostCallback()


def _first(log: Any, key: str, new: Any) -> Any:  # noqa: ANN401
    """Return a value of an ordered dict. A new one goes before the others, for XGBoost stops early by the last."""
    if key not in log:
        log[key] = new
        log.move_to_end(key, last=False)
    return log[key]


def _without_data(metrics: str | Sequence[str], convention: ConventionLike, num_threads: int | None) -> Any:  # noqa: ANN401
    """Return what is unpickled: a DMatrix cannot be pickled."""
    return xgboost_callback(metrics, {}, convention=convention, num_threads=num_threads)


class catboost_metric:  # noqa: N801 - as the functions
    """An object for ``eval_metric`` of ``CatBoost`` and ``CatBoostRanker``, which hand it scores and labels, but no groups.

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
        CatBoost evaluates, if weights differ inside a group, or the value is NaN, which CatBoost refuses.

    Warns
    -----
    EvaluationWarning
        As `lightgbm_feval` does.

    Notes
    -----
    CatBoost shuffles the groups of the train data unless ``has_time=True``. A data set that is not recognized, such as these,
    has the value 0, and is warned of once. Weights are those of ``group_weight``.

    Examples
    --------
    >>> from exactk.ltr import catboost_metric
    >>> metric = catboost_metric("mrr", ([0, 2, 1, 0, 1], [7, 7, 7, 9, 9]))
    >>> metric.evaluate([[0.5, 0.9, 0.1, 0.3, 0.2]], [0, 2, 1, 0, 1], None)
    (0.75, 1.0)

    ``catboost.CatBoostRanker(loss_function="YetiRank", eval_metric=metric)`` calls it after each round.
    """

    def __init__(
        self,
        metric: str,
        *data: tuple[Sequence[float] | NDArray[Any], ArrayLike],
        convention: ConventionLike = "standard",
        num_threads: int | None = None,
    ) -> None:
        self._evaluator = _RoundEvaluator(metric, convention, num_threads)
        self._offsets = {_key(labels): _offsets_of_rows(np.asarray(groups), len(labels)) for labels, groups in data}
        if len(self._offsets) != len(data):
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
        offsets = self._offsets.get(_key(target))
        if offsets is None:
            self._warn_once(len(np.asarray(target)))
            return 0.0, 1.0
        ((_, value, _),) = self._evaluator.values(approxes[0], target, offsets, weight)
        if math.isnan(value):
            message = f"{self._name}: expected a value in each round, found NaN, which CatBoost refuses"
            raise InputError(message)
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


class _RoundEvaluator:
    """Values of metrics after each round."""

    def __init__(self, metrics: str | Sequence[str], convention: ConventionLike, num_threads: int | None) -> None:
        values = plan(metrics, as_convention(convention))
        self.is_higher_better = {value.spelling: value.info.direction != "lower" for value in values}
        self._metrics, self._convention, self._num_threads = metrics, convention, num_threads
        self._evaluated: set[int] = set()

    def values(
        self, scores: ArrayLike, labels: ArrayLike, offsets: NDArray[np.int64], weight: ArrayLike | None
    ) -> list[tuple[str, float, bool]]:
        """Return name, value and whether higher is better; warnings are shown once for a data set."""
        grades = np.asarray(labels, np.float64)
        _check_groups(offsets, len(grades))
        rows = np.arange(len(grades))
        key = hash((grades.tobytes(), offsets.tobytes()))
        is_first = key not in self._evaluated
        with nullcontext() if is_first else without_warnings():
            report = evaluate(
                Truth(offsets, rows, grades),
                SparseScores(offsets, rows, np.asarray(scores)),
                self._metrics,
                convention=self._convention,
                num_threads=self._num_threads,
                weights=_weights_of_groups(weight, offsets),
            )
            undefined = ", ".join(name for name, value in report.items() if math.isnan(value))
            if undefined:
                warn(f"{undefined}: NaN in the first round, which early stopping would keep as the best")
        self._evaluated.add(key)
        return [(_log_name(name), value, self.is_higher_better[name]) for name, value in report.items()]


def _log_name(spelling: str) -> str:
    name = spelling.replace(" ", "")
    return f"{name}_exactk" if re.sub(r"@\d+$", "", name) in _BUILT_IN else name


def _offsets_of_rows(groups: NDArray[Any], rows: int) -> NDArray[np.int64]:
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(groups), 1), bool), groups[1:] != groups[:-1]]))
    if len(set(groups[starts].tolist())) != len(starts):
        message = "groups: expected the rows of each group next to each other, found a group in two places"
        raise InputError(message)
    offsets = np.append(starts, len(groups)).astype(np.int64)
    _check_groups(offsets, rows)
    return offsets


def _with_zero(group: ArrayLike | None) -> NDArray[np.int64]:
    """Return the offsets of groups, whose sizes LightGBM has."""
    return np.concatenate([[0], np.cumsum(() if group is None else np.asarray(group, np.int64))]).astype(np.int64)


def _check_groups(offsets: NDArray[np.int64], rows: int) -> None:
    if len(offsets) < 2 or offsets[-1] != rows:
        found = int(offsets[-1]) if len(offsets) else 0
        message = f"data: expected groups of {rows} rows in all, found {found}: a data set to rank has groups"
        raise InputError(message)


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
        raise InputError(
            f"{expected}; write np.repeat(weight_of_each_group, group_sizes), for groups are what is averaged"
        )
    return of_groups


def _key(labels: ArrayLike) -> bytes:
    """Return what labels are recognized by; CatBoost has them as float32."""
    return np.asarray(labels).astype(np.float32).tobytes()
