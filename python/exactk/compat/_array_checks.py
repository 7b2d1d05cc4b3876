"""Checks of arrays and parameters, with the exceptions of scikit-learn."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.optional import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXPECTED = {
    "array": "an array-like",
    "array or None": "an array-like or None",
    "array or sparse": "an array-like or a sparse array or matrix",
    "cutoff": "an int in the range [1, inf)",
    "cutoff or None": "an int in the range [1, inf) or None",
    "positive": "a float in the range (0.0, inf)",
    "flag": "an instance of 'bool' or an instance of 'numpy.bool'",
}


class InvalidParameterError(ValueError, TypeError):
    """A parameter has the wrong type or is out of range. If scikit-learn is imported, its class of this name is raised."""


class UndefinedMetricWarning(UserWarning):
    """A value says nothing. If scikit-learn is imported, its class of this name is used."""


def metric_warning() -> type[Warning]:
    """Return the category of warnings about values that say nothing."""
    category: type[Warning] = getattr(
        sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", UndefinedMetricWarning
    )
    return category


def check_parameters(function: str, **parameters: tuple[object, str]) -> None:
    """Raise InvalidParameterError unless each value is of its kind, a key of `_EXPECTED`."""
    for name, (value, kind) in parameters.items():
        if not _is_of_kind(value, kind):
            error = getattr(
                sys.modules.get("sklearn.utils._param_validation"), "InvalidParameterError", InvalidParameterError
            )
            message = f"The {name!r} parameter of {function} must be {_EXPECTED[kind]}. Got {value!r} instead."
            raise error(message)


def _is_of_kind(value: object, kind: str) -> bool:
    if value is None:
        return kind.endswith("or None")
    if kind == "flag":
        return isinstance(value, (bool, np.bool_))
    if kind == "positive":
        return isinstance(value, Real) and 0 < float(value) < np.inf
    if kind.startswith("cutoff"):
        return isinstance(value, Integral) and int(value) >= 1
    if is_sparse(value):
        return kind == "array or sparse"
    return not np.isscalar(value) and any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))


def check_lengths(*arrays: object) -> None:
    """Raise ValueError unless all but None are equally long, TypeError if one has no length."""
    lengths = [_length(array) for array in arrays if array is not None]
    if len(set(lengths)) > 1:
        message = f"Found input variables with inconsistent numbers of samples: {lengths}"
        raise ValueError(message)


def _length(array: Any) -> int:  # noqa: ANN401 - anything with a length
    shape = getattr(array, "shape", None)
    if shape:
        return int(shape[0])
    if shape is not None or not hasattr(array, "__len__"):
        message = f"Expected sequence or array-like, got {type(array)}"
        raise TypeError(message)
    return len(array)


def checked_numbers(array: object, *, two_dimensional: bool = False) -> NDArray[Any]:
    """Return numbers, all finite, in one dimension or two, as an array of their type."""
    values = _converted(array)
    if two_dimensional and values.ndim < 2:
        message = f"Expected 2D array, got {values.ndim}D array instead:\narray={values}."
        raise ValueError(message)
    if values.dtype.kind == "O":
        if not hasattr(array, "dtype") and not hasattr(array, "dtypes") and any(one is None for one in values.flat):
            message = f"Expected numbers, got {array!r}"
            raise TypeError(message)
        if any(type(one).__name__ == "NAType" for one in values.flat):  # of pandas
            message = "Input contains NaN."
            raise ValueError(message)
        values = values.astype(np.float64)
    if values.dtype.kind in "USV":
        message = "Convert your data to numeric values explicitly instead of bytes or strings."
        raise ValueError(message)
    return _checked_values(values)


def checked_labels(array: object) -> NDArray[Any]:
    """Return labels of any type as an array in one dimension."""
    return as_column(_checked_values(_converted(array)))


def as_column(array: object) -> NDArray[Any]:
    """Return an array of one dimension, or of one column, in one dimension."""
    values = _converted(array)
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.reshape(-1)
    message = f"y should be a 1d array, got an array of shape {values.shape} instead."
    raise ValueError(message)


def _converted(array: object) -> NDArray[Any]:
    if isinstance(array, np.matrix):
        message = "np.matrix is not supported. Please convert to a numpy array with np.asarray."
        raise TypeError(message)
    values = np.asarray(array)
    if values.dtype.kind == "c":
        message = f"Complex data not supported\n{values}\n"
        raise ValueError(message)
    return values


def _checked_values(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim > 2:
        message = f"Found array with dim {values.ndim}, while dim <= 2 is required."
        raise ValueError(message)
    if not is_finite(values):
        message = "Input contains NaN or infinity."
        raise ValueError(message)
    check_lengths(values)
    if values.shape[0] < 1 or (values.ndim == 2 and values.shape[1] < 1):
        message = f"Found array with shape={values.shape} while at least one sample and one feature are required."
        raise ValueError(message)
    return values


def is_finite(values: NDArray[Any]) -> bool:
    """Return whether there is no NaN, and in arrays of floats no infinity."""
    if values.dtype.kind == "O":
        return not any(one != one for one in values.flat)  # noqa: PLR0124 - NaN alone
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        is_sum_finite = np.isfinite(values.sum())
    return bool(is_sum_finite) or bool(np.isfinite(values).all())


def is_integral(values: NDArray[Any]) -> bool:
    """Return whether all numbers are whole."""
    return values.dtype.kind != "f" or bool((values == np.trunc(values)).all())


def is_indicator(values: NDArray[Any]) -> bool:
    """Return whether there are at most two numbers, both whole."""
    if values.dtype.kind not in "biuf":
        return False
    low, high = values.min(), values.max()
    return is_integral(np.array([low, high])) and bool(((values == low) | (values == high)).all())
