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


def _cutoff(k: object) -> str:
    return "" if k is None else f"@{checked_cutoff(k)}"


def _parameter(info: _core.MetricInfo, name: str, number: object) -> str:
    if isinstance(number, bool) or not isinstance(number, Real):
        raise type_error(name, "a number", repr(number))
    try:
        settled = float(number)
    except OverflowError as error:
        raise input_error(name, "a number that float64 holds", "a larger one") from error
    return f"({name}={checked_parameter(info, settled, name)!r})"


def _make(info: _core.MetricInfo) -> Callable[..., float]:
    def function(*given: Any, **options: Any) -> float:  # noqa: ANN401
        arguments = signature.bind(*given, **options)
        arguments.apply_defaults()
        settled = arguments.arguments
        truth, predictions = settled.pop("truth"), settled.pop("predictions")
        spelling = f"{info.name}{_cutoff(settled.pop('k', None))}"
        if info.parameter is not None:
            name = info.parameter.name
            spelling += _parameter(info, name, settled.pop(name))
        if isinstance(predictions, Mapping):
            raise type_error("predictions", "those of one system (exactk.evaluate takes several)", "a mapping")
        report = evaluate(truth, predictions, spelling, **settled)
        return report[report.metrics[0]]

    signature = _signature(info)
    function.__name__ = function.__qualname__ = function_name(info)
    function.__module__ = "exactk"
    function.__doc__ = _docstring(info)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _signature(info: _core.MetricInfo) -> inspect.Signature:
    own = inspect.Parameter
    parameters = [
        own("truth", own.POSITIONAL_OR_KEYWORD, annotation="object"),
        own("predictions", own.POSITIONAL_OR_KEYWORD, annotation="object"),
    ]
    if not info.pairwise:
        parameters.append(own("k", own.POSITIONAL_OR_KEYWORD, default=10, annotation="int | None"))
    if info.parameter is not None:
        standard = own.empty if info.parameter.standard is None else info.parameter.standard
        parameters.append(own(info.parameter.name, own.KEYWORD_ONLY, default=standard, annotation="float"))
    taken_over = inspect.signature(evaluate).parameters
    parameters += [
        taken_over[name] for name in ("convention", "exclude", "candidates", "weights", "num_threads", "progress")
    ]
    return inspect.Signature(parameters, return_annotation="float")


def _docstring(info: _core.MetricInfo) -> str:
    parameters = (
        "" if info.pairwise else "\n    k : int or None\n        The cutoff in [1, 2^31); None for the whole list."
    )
    if info.parameter is not None:
        bounds = info.parameter
        whole = ", a whole number" if bounds.whole else ""
        parameters += f"\n    {bounds.name} : float\n        In [{bounds.low:g}, {bounds.high!r}]{whole}."
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


FUNCTIONS = {function_name(info): _make(info) for info in metrics.values()}
"""The functions by name."""

globals().update(FUNCTIONS)
__all__ = list(FUNCTIONS)
