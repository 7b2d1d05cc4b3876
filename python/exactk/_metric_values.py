"""What the functions of single metrics share: the metric string that each asks for, and its one value."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from exactk._evaluate import evaluate
from exactk._plan.metric_strings import checked_cutoff, checked_parameter
from exactk._plan.metrics import metrics
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from typing import Unpack

    from exactk._engine.pipeline import Options
    from exactk._inputs.types import Blocks, PredictionsLike, TruthLike


def metric_string(metric: str, k: object, **parameter: object) -> str:
    """Return the string of a metric at a cutoff, or of the whole list, with its parameter if it has one."""
    cutoff = "" if k is None else f"@{checked_cutoff(k)}"
    arguments = [f"({name}={_checked_number(metric, name, number)!r})" for name, number in parameter.items()]
    return "".join([metric, cutoff, *arguments])


def _checked_number(metric: str, name: str, number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, Real):
        raise type_error(name, "a number", repr(number))
    try:
        value = float(number)
    except OverflowError as error:
        raise input_error(name, "a number that float64 holds", "a larger number") from error
    return checked_parameter(metrics[metric], value, name)


def metric_value(
    metric: str, truth: TruthLike | None, predictions: PredictionsLike | Blocks, **options: Unpack[Options]
) -> float:
    """Return the value of one metric string for one system."""
    report = evaluate(truth, predictions, metric, **options)
    return report[report.metrics[0]]
