"""The flow of every evaluation: containers to canonical inputs, metrics to a plan, an engine call, a report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from exactk._engine.batch_evaluation import evaluate_batches
from exactk._engine.column_warnings import warn_of_text_pairs
from exactk._engine.differing_users import (
    Flags,
    covered_users,
    evaluated_users,
    may_skip_users,
    warn_of_differing_users,
)
from exactk._engine.evaluation import Evaluation, add_error_note
from exactk._engine.warnings import (
    describe_disjoint_keys,
    describe_disjoint_keys_of_blocks,
    describe_ties,
    tie_bounds,
    warn_of_counts,
)
from exactk._inputs.alignment import Alignment
from exactk._inputs.beside_scores import (
    check_blocks,
    check_meaning,
    grades_beside_scores,
    shapes_of_scores,
)
from exactk._inputs.column_use import check_columns_are_read
from exactk._inputs.containers.mappings import is_mapping_of_systems
from exactk._inputs.conversions import exclusions_of, truth_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.registry import BATCHES, BLOCKS, MAPPING, ClassifiedValue, as_candidate_items, classify
from exactk._inputs.user_values import Groups, Weights
from exactk._plan.conventions import AnyConvention, as_convention
from exactk._plan.hints import complete_hints
from exactk._plan.metric_strings import plan
from exactk._plan.unused_fields import warn_of_unused_fields
from exactk._report.comparison import Comparison
from exactk._report.report import Report
from exactk._report.system_warnings import warn_of_systems
from exactk._report.unreached_cutoffs import warn_of_unreached_cutoffs
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exactk._engine.problem import Engine
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.lists import Truth
    from exactk._inputs.model.predictions import Predictions
    from exactk._inputs.model.rows import Rows
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
) -> Report | Comparison:
    """Evaluate with the given engine; the other arguments are those of `exactk.evaluate`."""
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank, "grade": grade}
    convention = as_convention(convention)
    values = plan(metrics, convention)
    warn_of_unused_fields(convention, values)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    threads = resolve_threads(num_threads)
    check_columns_are_read(
        columns, truth=truth, predictions=predictions, exclude=exclude, weights=weights, groups=groups
    )
    classified = classify(predictions, "predictions")
    shapes = shapes_of_scores(classified)
    classified_truth = grades_beside_scores(classify(truth, "truth"), shapes)
    encoding = Encoding(threads, outlives_call=False)
    truth_rows = None if truth is None else truth_input(classified_truth, columns, encoding)
    classified_exclude, classified_candidates = classify(exclude, "exclude"), classify(candidates, "candidates")
    check_meaning(classified_exclude, "exclude", shapes)
    check_meaning(classified_candidates, "candidates", shapes)
    if classified.container is BLOCKS:
        blocks = check_blocks(classified.value, exclude=classified_exclude, candidates=classified_candidates)
        classified = classified._replace(value=blocks)
    comes_in_pieces = classified.container is BLOCKS or classified.container is BATCHES
    evaluation = Evaluation(
        engine,
        values,
        convention,
        exclusions_of(exclude, columns, Encoding(threads)) if comes_in_pieces else None,
        as_candidate_items(classified_candidates),
        None if weights is None else Weights.from_argument(weights, columns, truth_rows),
        None if groups is None else Groups.from_argument(groups, columns, truth_rows),
        bool(per_user),
        threads,
        Progress(progress),
        columns,
        encoding,
    )
    with complete_hints(convention, values):
        return _evaluate(evaluation, classified_truth, truth_rows, classified, classified_exclude)


def _evaluate(
    evaluation: Evaluation,
    truth: ClassifiedValue,
    truth_rows: Truth | Rows | None,
    classified: ClassifiedValue,
    exclude: ClassifiedValue,
) -> Report | Comparison:
    predictions = classified.value
    if classified.container is BLOCKS:
        if truth_rows is not None:
            expected = "None with an iterator of (truth, predictions) blocks"
            hint = "predictions=list(predictions) makes a list of one row per user"
            raise input_error("truth", expected, type(truth.value).__name__, hint=hint)
        with evaluation.progress.track(None):
            report, is_keyed, is_complete, has_shared_items = evaluation.evaluate_blocks(predictions)
        warn_of_systems({"": describe_ties(report, None)}, *tie_bounds(report))
        disjoint_keys = describe_disjoint_keys_of_blocks(report, is_keyed=is_keyed, has_shared_items=has_shared_items)
        warn_of_systems({"": disjoint_keys})
        warn_of_counts({"": report}, [""] if is_complete else [])
        warn_of_unreached_cutoffs({"": report.state})
        return report
    if truth_rows is None:
        raise type_error("truth", "the relevant items of each user", "None")
    warn_of_text_pairs(truth, classified)
    evaluation.check_user_values(truth_rows)
    evaluation.warn_of_columns(truth_rows)
    if classified.container is MAPPING:
        has_systems = is_mapping_of_systems(predictions)
        if has_systems or (has_systems is None and truth_rows.user_vocabulary is None):
            return _compare_systems(evaluation, truth_rows, predictions, exclude)
    if classified.container is BATCHES:
        with evaluation.progress.track(None):
            report, has_shared_items = evaluate_batches(evaluation, truth_rows, predictions)
        warn_of_systems({"": describe_ties(report, None)}, *tie_bounds(report))
        disjoint_keys = describe_disjoint_keys_of_blocks(report, is_keyed=True, has_shared_items=has_shared_items)
        warn_of_systems({"": disjoint_keys})
        warn_of_counts({"": report}, [])
        warn_of_unreached_cutoffs({"": report.state})
        return report
    system = evaluation.convert_predictions(classified)
    exclude_rows = evaluation.convert_exclusions(exclude)
    inputs = Alignment(truth_rows, [system], exclude_rows, evaluation.encoding).inputs(system)
    with evaluation.progress.track(len(inputs.truth)):
        report = evaluation.evaluate_all(inputs)
    warn_of_systems({"": describe_ties(report, partial(evaluation.tie_range, inputs))})
    warn_of_systems({"": describe_disjoint_keys(report, inputs)})
    warn_of_counts({"": report}, [""] if inputs.is_complete else [])
    warn_of_unreached_cutoffs({"": report.state})
    return report


def _compare_systems(
    evaluation: Evaluation, truth: Truth | Rows, systems: Mapping[Any, object], exclude: ClassifiedValue
) -> Comparison:
    if not systems:
        raise input_error("predictions", "at least one system", "an empty mapping")
    converted: dict[str, Rows | Predictions] = {}
    for name, predictions in systems.items():
        if not isinstance(name, str):
            raise type_error("predictions", "system names as keys", repr(name))
        with add_error_note(f"in system {name!r}"):
            converted[name] = evaluation.convert_predictions(classify(predictions, "predictions"))
    alignment = Alignment(truth, converted.values(), evaluation.convert_exclusions(exclude), evaluation.encoding)
    reports: dict[str, Report] = {}
    covered: Flags = {}
    evaluated: dict[str, Flags] = {}
    ties: dict[str, str] = {}
    disjoint_keys: dict[str, str] = {}
    complete_systems: list[str] = []
    keeps_users = len(systems) > 1 and may_skip_users(evaluation)
    with evaluation.progress.track(alignment.user_count * len(converted)):
        for name, predictions in converted.items():
            with add_error_note(f"in system {name!r}"):
                inputs = alignment.inputs(predictions)
                covered[name] = covered_users(inputs, evaluation.convention.users)
                report = replace(evaluation, per_user=evaluation.per_user or keeps_users).evaluate_all(inputs)
                if keeps_users:
                    evaluated[name] = evaluated_users(report)
                reports[name] = report if evaluation.per_user else Report(report.state, inputs.users)
                ties[name] = describe_ties(reports[name], partial(evaluation.tie_range, inputs))
                disjoint_keys[name] = describe_disjoint_keys(reports[name], inputs)
                complete_systems += [name] if inputs.is_complete else []
    warn_of_systems(ties)
    warn_of_systems(disjoint_keys)
    warn_of_differing_users(evaluation.values, covered, reports, evaluated)
    warn_of_counts(reports, complete_systems)
    warn_of_unreached_cutoffs({system: report.state for system, report in reports.items()})
    return Comparison(reports)
