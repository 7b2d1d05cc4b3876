"""One function a metric, made from the registry: ``exactk.ndcg_at_k(truth, predictions, k=10)``, or ``exactk.auc``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from exactk._evaluate import evaluate
from exactk._plan.metric_strings import checked_cutoff, checked_parameter, metrics
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk import _core


def function_name(info: _core.MetricInfo) -> str:
    """Return the name of a metric's function."""
    return info.name if info.pairwise else f"{info.name}_at_k"


def _cutoff_text(k: object) -> str:
    return "" if k is None else f"@{checked_cutoff(k)}"


def _parameter_text(info: _core.MetricInfo, name: str, number: object) -> str:
    if isinstance(number, bool) or not isinstance(number, Real):
        raise type_error(name, "a number", repr(number))
    try:
        value = float(number)
    except OverflowError as error:
        raise input_error(name, "a number that float64 holds", "a larger one") from error
    return f"({name}={checked_parameter(info, value, name)!r})"


def _metric_function(info: _core.MetricInfo) -> Callable[..., float]:
    def function(*positional: Any, **keywords: Any) -> float:  # noqa: ANN401
        bound = signature.bind(*positional, **keywords)
        bound.apply_defaults()
        arguments = bound.arguments
        truth, predictions = arguments.pop("truth"), arguments.pop("predictions")
        spelling = f"{info.name}{_cutoff_text(arguments.pop('k', None))}"
        if info.parameter is not None:
            name = info.parameter.name
            spelling += _parameter_text(info, name, arguments.pop(name))
        if isinstance(predictions, Mapping):
            raise type_error("predictions", "those of one system (exactk.evaluate takes several)", "a mapping")
        report = evaluate(truth, predictions, spelling, **arguments)
        return report[report.metrics[0]]

    signature = _signature(info)
    function.__name__ = function.__qualname__ = function_name(info)
    function.__module__ = "exactk"
    function.__doc__ = _docstring(info)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _signature(info: _core.MetricInfo) -> inspect.Signature:
    parameter = inspect.Parameter
    parameters = [
        parameter("truth", parameter.POSITIONAL_OR_KEYWORD, annotation="object"),
        parameter("predictions", parameter.POSITIONAL_OR_KEYWORD, annotation="object"),
    ]
    if not info.pairwise:
        parameters.append(parameter("k", parameter.POSITIONAL_OR_KEYWORD, default=10, annotation="int | None"))
    if info.parameter is not None:
        standard = parameter.empty if info.parameter.standard is None else info.parameter.standard
        parameters.append(parameter(info.parameter.name, parameter.KEYWORD_ONLY, default=standard, annotation="float"))
    evaluate_parameters = inspect.signature(evaluate).parameters
    parameters += [
        evaluate_parameters[name]
        for name in ("convention", "exclude", "candidates", "weights", "num_threads", "progress")
    ]
    return inspect.Signature(parameters, return_annotation="float")


def _docstring(info: _core.MetricInfo) -> str:
    parameters = (
        "" if info.pairwise else "\n    k : int or None\n        The cutoff in [1, 2^31); None for the whole list."
    )
    if info.parameter is not None:
        bounds = info.parameter
        whole_number = ", a whole number" if bounds.whole else ""
        parameters += f"\n    {bounds.name} : float\n        In [{bounds.low:g}, {bounds.high!r}]{whole_number}."
    required = info.parameter is not None and info.parameter.standard is None
    example = ("" if info.pairwise else ", k=3") + (f", {info.parameter.name}=100" if required else "")
    return f"""Return {info.name}{"" if info.pairwise else "@k"}: {info.summary}, averaged over the users.

    Under the standard convention: {info.formula}. Source: {info.source}.

    Parameters
    ----------
    truth, predictions
        As `exactk.evaluate` takes them.{parameters}
    convention, exclude, candidates, weights, num_threads, progress
        As `exactk.evaluate` takes them.

    Returns
    -------
    float
        NaN where no user was evaluated.

    Examples
    --------
    >>> import exactk
    >>> value = exactk.{function_name(info)}([[1, 4], [21]], [[1, 2, 4], [2, 3, 21]]{example})
    """


FUNCTIONS = {function_name(info): _metric_function(info) for info in metrics.values()}
"""The functions by name."""

globals().update(FUNCTIONS)
__all__ = list(FUNCTIONS)
