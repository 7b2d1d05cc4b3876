"""The flow of every evaluation: metrics to a plan, arguments to chunks of users, these to parts, and what they add up to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from exactk._engine.evaluation import evaluate_chunk, range_over_ties
from exactk._engine.request import align_systems, checked_truth, comes_in_pieces, find_in_truth, request_of_arguments
from exactk._engine.systems import check_systems_before_metrics, in_system
from exactk._engine.warnings import Evaluated, warn_of
from exactk._inputs.conversions import truth_input
from exactk._inputs.readings import lines_of_ranks
from exactk._inputs.registry import BLOCKS, classify, with_records_read
from exactk._plan.conventions import as_convention, with_complete_hint
from exactk._plan.metric_strings import are_metrics, plan, warn_of_unused_fields
from exactk._runtime.errors import ExactkError, InUnits, input_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._engine.chunks import Chunk, Part
    from exactk._engine.pairs import Pairing
    from exactk._engine.problem import Engine
    from exactk._engine.request import Request
    from exactk._engine.systems import Form
    from exactk._plan.conventions import Convention, ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Value


def evaluate_with_engine(
    engine: Engine,
    form: Form,
    truth: object,
    predictions: object,
    metrics: MetricsLike,
    *,
    convention: ConventionLike,
    unit_names: object = None,
    **options: Any,  # noqa: ANN401 - those of `request_of_arguments`
) -> Part:
    """Return what the given engine finds, or `evaluate` in place of it; the other arguments are those of `exactk.evaluate`."""
    convention = as_convention(convention)
    with InUnits(unit_names, convention.name):
        return _evaluate_request(engine, form, truth, predictions, metrics, convention, **options)


def _evaluate_request(
    engine: Engine,
    form: Form,
    truth: object,
    predictions: object,
    metrics: MetricsLike,
    convention: Convention,
    pairing: Pairing | None = None,
    evaluate: Callable[[Request], Evaluated] | None = None,
    **options: Any,  # noqa: ANN401 - likewise
) -> Part:
    try:
        values = plan(metrics, convention)
    except ExactkError as error:
        if any(are_metrics(one, convention) for one in (truth, predictions)):
            raise error.amended(hint=(f"the order is {form.block.removesuffix(')')}, metrics)",)) from None
        check_systems_before_metrics(form, classify(predictions, form.argument))
        raise
    if pairing is not None:
        pairing.check_margins(convention, values)
    warn_of_unused_fields(convention, values, has_parents=options.get("parents") is not None)
    classified = classify(predictions, form.argument)
    if truth is not None:  # else an iterator has blocks
        classified = with_records_read(classified)
    try:
        if classified.container is BLOCKS:
            _check_no_truth(form, truth)
        request = request_of_arguments(engine, form, truth, classified, values, convention, pairing=pairing, **options)
        if classified.container is BLOCKS:
            from exactk._engine.blocks import evaluate_blocks

            with request.progress.track(None):
                evaluated = Evaluated(evaluate_blocks(request, classified.value), convention)
        else:
            evaluated = (evaluate or evaluate_systems)(request)
    except ExactkError as error:
        raise form.amended(with_complete_hint(error, convention, values), classified, values) from error.__cause__
    warn_of(evaluated)
    return evaluated.part


def _check_no_truth(form: Form, truth: object) -> None:
    if truth is not None:
        expected = f"None with an iterator of {form.block} blocks"
        raise input_error("truth", expected, type(truth).__name__, hint=form.hint)


def evaluate_systems(request: Request, *, finds_odd_items: bool = True) -> Evaluated:
    """Evaluate each system of a call; unless its containers are the caller's own, items are not told of that look odd."""
    if comes_in_pieces(request.given.systems):
        return _evaluate_in_batches(request)
    return evaluate_aligned(request, align_systems(request), finds_odd_items=finds_odd_items)


def evaluate_aligned(request: Request, chunk: Chunk, *, finds_odd_items: bool = True) -> Evaluated:
    """Evaluate each system of a call, aligned."""
    if finds_odd_items:
        chunk = chunk._replace(describe_inputs=request.describe_odd_items)
    with request.progress.track(chunk.alignment.user_count * len(chunk.systems)):
        part = evaluate_chunk(request, chunk)
    return Evaluated(
        part,
        request.convention,
        {name: partial(_tie_range, request, chunk, name) for name in chunk.systems},
        {
            name: lines_of_ranks(request.given.systems[name], request.columns)
            for name, found in part.findings.systems.items()
            if found.readings.may_be_ranks
        },
    )


def _tie_range(request: Request, chunk: Chunk, name: str, value: Value) -> tuple[float, float]:
    """Return the lowest and the highest value over all orders of ties."""
    return range_over_ties(request, chunk.inputs(name), value)


def _evaluate_in_batches(request: Request) -> Evaluated:
    from exactk._engine.batch_evaluation import evaluate_batches

    truth_rows = checked_truth(request)
    if truth_rows is None:
        truth_rows = truth_input(classify({}, "truth"), request.columns, request.encoding)
    ((name, batches),) = request.given.systems.items()
    with request.progress.track(None), in_system(name), request.naming_truth():
        part = evaluate_batches(request._replace(pairing=None), truth_rows, name, batches.value)
    findings = find_in_truth(request) + part.findings
    return Evaluated(part._replace(findings=findings._replace(chunks=1)), request.convention)
