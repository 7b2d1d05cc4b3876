"""Numbers of actual values beside predicted ones, as scikit-learn defines them: errors of ratings, AUC, log loss."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from exactk.compat._array_checks import UndefinedMetricWarning

Floats = np.ndarray[Any, np.dtype[np.float64]]

_LABELS = 2


def checked_columns(actual: object, predicted: object) -> tuple[Floats, Floats]:
    """Return both columns as float64; raise ValueError unless they are finite numbers, as many in each, and not none."""
    one, other = np.asarray(actual), np.asarray(predicted)
    if one.ndim != 1 or other.ndim != 1 or len(one) != len(other):
        message = f"expected as many predicted as actual values, found shapes {one.shape} and {other.shape}"
        raise ValueError(message)
    if not len(one):
        message = "expected at least one value, found none"
        raise ValueError(message)
    columns = one.astype(np.float64), other.astype(np.float64)
    if not all(np.isfinite(column).all() for column in columns):
        message = "expected finite numbers, found NaN or infinity"
        raise ValueError(message)
    return columns


def rmse(actual: object, predicted: object) -> float:
    """Return the root mean squared error."""
    one, other = checked_columns(actual, predicted)
    return float(np.sqrt(np.mean((one - other) ** 2)))


def mae(actual: object, predicted: object) -> float:
    """Return the mean absolute error."""
    one, other = checked_columns(actual, predicted)
    return float(np.mean(np.abs(one - other)))


def rsquared(actual: object, predicted: object) -> float:
    """Return R squared; NaN, with a warning, of a single value."""
    one, other = checked_columns(actual, predicted)
    if len(one) < _LABELS:
        message = "R^2 score is not well-defined with less than two samples."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    return _explained(float(np.sum((one - other) ** 2)), float(np.sum((one - one.mean()) ** 2)))


def exp_var(actual: object, predicted: object) -> float:
    """Return the share of the variance that the predictions explain."""
    one, other = checked_columns(actual, predicted)
    return _explained(float(np.var(one - other)), float(np.var(one)))


def _explained(left: float, total: float) -> float:
    if total == 0:
        return 1.0 if left == 0 else 0.0
    return 1 - left / total


# `auc` of the core is that of each user's list; here all rows are one list, and NumPy sorts only those of the lower label.


def auc(actual: object, predicted: object) -> float:
    """Return the area under the ROC curve: the share of pairs of a higher and a lower label in that order of predictions; ties count a half."""
    is_higher, other = _binary_columns(actual, predicted)
    positives, negatives = np.count_nonzero(is_higher), np.count_nonzero(~is_higher)
    if not positives or not negatives:
        message = "Only one class is present in y_true. ROC AUC score is not defined in that case."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    lower = np.sort(other[~is_higher])
    below = np.searchsorted(lower, other[is_higher], side="left")
    not_above = np.searchsorted(lower, other[is_higher], side="right")
    return float((below.sum() + not_above.sum()) / 2 / (float(positives) * float(negatives)))


def logloss(actual: object, predicted: object) -> float:
    """Return the mean negative logarithm of the probability of each label."""
    is_higher, other = _binary_columns(actual, predicted)
    if is_higher.all() or not is_higher.any():
        message = "expected two labels in y_true, found one"
        raise ValueError(message)
    if other.min() < 0 or other.max() > 1:
        message = "expected probabilities, found numbers below 0 or above 1"
        raise ValueError(message)
    given = np.asarray(predicted).dtype
    least = np.finfo(given if given.kind == "f" else np.float64).eps
    probability = np.clip(other, least, 1 - least)
    return float(-np.mean(np.log(np.where(is_higher, probability, 1 - probability))))


def _binary_columns(actual: object, predicted: object) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], Floats]:
    """Return which labels are the higher of two, or the only one if it is above 0, and the predictions."""
    one, other = checked_columns(actual, predicted)
    labels = np.unique(one)
    if len(labels) > _LABELS or not (labels == np.trunc(labels)).all():
        message = "expected two labels in y_true, which are whole numbers"
        raise ValueError(message)
    return one == labels[-1], other
