"""Evaluations of the same inputs under several conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._engine.pipeline import align_systems, prepare_call
from exactk._engine.systems import ONE_SYSTEM
from exactk._engine.warnings import describe_disjoint_keys
from exactk._inputs.registry import BLOCKS, classify
from exactk._plan.hints import with_complete_hint
from exactk._plan.metric_strings import plan
from exactk._plan.unused_fields import warn_of_unused_fields
from exactk._report.system_warnings import warn_of_systems
from exactk._runtime.errors import ExactkError, InputError, InputTypeError, type_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._engine.evaluation import Evaluation
    from exactk._engine.problem import Engine
    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.conventions import Convention
    from exactk._report.report import Report


def reports_of_conventions(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: Sequence[str],
    conventions: Mapping[str, Convention],
    **options: Any,  # noqa: ANN401 - those of `prepare_call`
) -> Mapping[str, Report | ExactkError]:
    """Return the report of each convention, or its error if it refuses the input; if all do, raise the first error."""
    first = next(iter(conventions.values()))
    values = plan(metrics, first)
    warn_of_unused_fields(first, values)
    classified = classify(predictions, ONE_SYSTEM.argument)
    if classified.container is BLOCKS:
        raise type_error("predictions", "predictions in a container", "an iterator, which can be read only once")
    try:
        call = prepare_call(engine, ONE_SYSTEM, truth, classified, values, first, **options)
        alignment, systems, _ = align_systems(call)
    except ExactkError as error:
        raise ONE_SYSTEM.amended(with_complete_hint(error, first, values), classified, values) from error.__cause__
    (rows,) = systems.values()
    inputs = alignment.inputs(rows)
    outcomes = _evaluate_conventions(call.evaluation, inputs, metrics, conventions)
    reports = [outcome for outcome in outcomes.values() if not isinstance(outcome, ExactkError)]
    if not reports:
        raise next(outcome for outcome in outcomes.values() if isinstance(outcome, ExactkError))
    warn_of_systems({"": describe_disjoint_keys(reports[0], inputs)})
    return outcomes


def _evaluate_conventions(
    evaluation: Evaluation, inputs: AlignedInputs, metrics: Sequence[str], conventions: Mapping[str, Convention]
) -> dict[str, Report | ExactkError]:
    users = len(inputs.truth)
    outcomes: dict[str, Report | ExactkError] = {}
    with evaluation.progress.track(users * len(conventions)):
        for name, convention in conventions.items():
            try:
                values = plan(metrics, convention)
                outcomes[name] = evaluation._replace(values=values, convention=convention).evaluate_all(inputs)
            except (InputError, InputTypeError) as error:
                outcomes[name] = with_complete_hint(error, convention, values)
                evaluation.progress.add_finished(users)
    return outcomes
