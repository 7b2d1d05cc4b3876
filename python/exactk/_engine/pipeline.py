"""The flow of every evaluation: containers to canonical inputs, metrics to a plan, an engine call, reports."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from exactk._engine.batch_evaluation import evaluate_batches
from exactk._engine.block_evaluation import evaluate_blocks
from exactk._engine.column_warnings import warn_of_text_pairs
from exactk._engine.differing_users import NO_FLAGS
from exactk._engine.evaluation import Evaluation
from exactk._engine.systems import in_system
from exactk._engine.warnings import (
    EvaluatedSystem,
    describe_disjoint_keys,
    describe_disjoint_keys_of_blocks,
    describe_ties,
    tie_bounds,
    warn_of_evaluated_systems,
)
from exactk._inputs.alignment import Alignment
from exactk._inputs.beside_scores import check_meaning, grades_beside_scores, shapes_of_scores
from exactk._inputs.column_use import check_columns_are_read
from exactk._inputs.conversions import exclusions_of, truth_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.registry import BATCHES, BLOCKS, ClassifiedValue, as_candidate_items, classify
from exactk._inputs.user_values import Groups, Weights
from exactk._plan.conventions import AnyConvention, as_convention
from exactk._plan.hints import with_complete_hint
from exactk._plan.metric_strings import plan
from exactk._plan.unused_fields import warn_of_unused_fields
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._engine.problem import Engine
    from exactk._engine.systems import Form, Systems
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.lists import Truth
    from exactk._inputs.model.rows import Rows
    from exactk._report.report import Report
    from exactk._runtime.progress import ProgressCallback


class Options(TypedDict, total=False):
    """The keyword arguments of `exactk.evaluate`, for type checkers. Defaults are in its signature."""

    convention: AnyConvention
    exclude: object
    candidates: object
    weights: object
    groups: object
    per_user: bool
    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None


def evaluate_with_engine(
    engine: Engine,
    form: Form,
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    *,
    convention: AnyConvention,
    exclude: object,
    candidates: object,
    weights: object,
    groups: object,
    per_user: object,
    num_threads: object,
    progress: object,
    user: str | Sequence[str] | None,
    item: str | None,
    score: str | None,
    rank: str | None,
    grade: str | None,
) -> dict[str, Report]:
    """Return each system's report from the given engine; the other arguments are those of `exactk.evaluate`."""
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank, "grade": grade}
    convention = as_convention(convention)
    values = plan(metrics, convention)
    warn_of_unused_fields(convention, values)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    threads = resolve_threads(num_threads)
    classified = classify(predictions, form.argument)
    try:
        systems = {"": classified} if classified.container is BLOCKS else form.systems(classified)
        comes_in_pieces = _comes_in_pieces(systems)
        check_columns_are_read(columns, systems.values(), truth=truth, exclude=exclude, weights=weights, groups=groups)
        shapes = frozenset[tuple[int, ...]]().union(*map(shapes_of_scores, systems.values()))
        classified_truth = grades_beside_scores(classify(truth, "truth"), shapes)
        encoding = Encoding(threads, outlives_call=False)
        truth_rows = None if truth is None else truth_input(classified_truth, columns, encoding)
        restrictions = {"exclude": classify(exclude, "exclude"), "candidates": classify(candidates, "candidates")}
        for argument, restriction in restrictions.items():
            check_meaning(restriction, argument, shapes)
        evaluation = Evaluation(
            engine,
            values,
            convention,
            exclusions_of(exclude, columns, Encoding(threads)) if comes_in_pieces else None,
            as_candidate_items(restrictions["candidates"]),
            None if weights is None else Weights.from_argument(weights, columns, truth_rows),
            None if groups is None else Groups.from_argument(groups, columns, truth_rows),
            bool(per_user),
            threads,
            Progress(progress),
            columns,
            encoding,
        )
        if classified.container is BLOCKS:
            _check_no_truth(form, classified_truth)
            with evaluation.progress.track(None):
                evaluated = evaluate_blocks(evaluation, classified.value, form, restrictions)
        else:
            exclusions = restrictions["exclude"]
            evaluated = _evaluate_systems(evaluation, classified_truth, truth_rows, systems, exclusions)
    except ExactkError as error:
        raise form.amended(with_complete_hint(error, convention, values), classified, values) from error.__cause__
    first = next(iter(evaluated.values())).report
    warn_of_evaluated_systems(values, evaluated, tie_bounds(first) if comes_in_pieces else ())
    return {name: system.report for name, system in evaluated.items()}


def _comes_in_pieces(systems: Systems) -> bool:
    """Return whether the predictions are read piece by piece; batches beside other systems are read as a whole."""
    (first, *others) = systems.values()
    return not others and (first.container is BLOCKS or first.container is BATCHES)


def _check_no_truth(form: Form, truth: ClassifiedValue) -> None:
    if truth.value is not None:
        expected = f"None with an iterator of {form.block} blocks"
        raise input_error("truth", expected, type(truth.value).__name__, hint=form.hint)


def _evaluate_systems(
    evaluation: Evaluation,
    truth: ClassifiedValue,
    truth_rows: Truth | Rows | None,
    systems: Systems,
    exclude: ClassifiedValue,
) -> dict[str, EvaluatedSystem]:
    if truth_rows is None:
        raise type_error("truth", "the relevant items of each user", "None")
    warn_of_text_pairs(truth, systems.values())
    evaluation.check_user_values(truth_rows)
    evaluation.warn_of_columns(truth_rows)
    if _comes_in_pieces(systems):
        ((name, batches),) = systems.items()
        with evaluation.progress.track(None), in_system(name):
            return {name: _evaluate_batches(evaluation, truth_rows, batches)}
    converted = evaluation.convert_systems(systems)
    alignment = Alignment(truth_rows, converted.values(), evaluation.convert_exclusions(exclude), evaluation.encoding)
    evaluated: dict[str, EvaluatedSystem] = {}
    with evaluation.progress.track(alignment.user_count * len(converted)):
        for name, rows in converted.items():
            with in_system(name):
                inputs = alignment.inputs(rows)
                report, flags = evaluation.evaluate_system(inputs, is_compared=len(systems) > 1)
                ties = describe_ties(report, partial(evaluation.tie_range, inputs))
                disjoint_keys = describe_disjoint_keys(report, inputs)
                evaluated[name] = EvaluatedSystem(report, ties, disjoint_keys, inputs.is_complete, flags)
    return evaluated


def _evaluate_batches(evaluation: Evaluation, truth: Truth | Rows, batches: ClassifiedValue) -> EvaluatedSystem:
    report, has_shared_items = evaluate_batches(evaluation, truth, batches.value)
    disjoint_keys = describe_disjoint_keys_of_blocks(report, is_keyed=True, has_shared_items=has_shared_items)
    return EvaluatedSystem(report, describe_ties(report, None), disjoint_keys, is_complete=False, flags=NO_FLAGS)
