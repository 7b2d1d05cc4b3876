"""The way of every evaluation: containers to waist 1, values to a plan, a call, a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from exactk._engine.batch_evaluation import evaluate_batches
from exactk._engine.evaluation import Evaluation, add_error_note, encoding_after
from exactk._engine.warnings import warn_of_counts, warn_of_names, warn_of_names_of_batches, warn_of_ties
from exactk._inputs.alignment import extend_to_all_users
from exactk._inputs.batches import Batches
from exactk._inputs.containers.mappings import is_of_systems
from exactk._inputs.containers.registry import as_candidate_items
from exactk._inputs.conversions import exclusions_of, truth_of
from exactk._inputs.long_format import Encoding
from exactk._inputs.user_values import Groups, Weights
from exactk._plan.conventions import Convention, as_convention
from exactk._plan.metric_strings import plan
from exactk._report.comparison import Comparison
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.optional import is_sparse
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from exactk._engine.problem import Engine
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.lists import Truth
    from exactk._inputs.model.predictions import Predictions
    from exactk._report.report import Report
    from exactk._runtime.progress import Tell


class Options(TypedDict, total=False):
    """The keyword arguments of `evaluate`, for the type checker."""

    convention: Convention | str
    exclude: object
    candidates: object
    weights: object
    groups: object
    per_user: bool
    num_threads: int | None
    progress: bool | Tell
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None


def evaluate_with(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    convention: Convention | str,
    exclude: object,
    candidates: object,
    weights: object,
    groups: object,
    per_user: object,
    num_threads: object,
    progress: object,
    columns: ColumnNames,
) -> Report | Comparison:
    """Evaluate by the given engine; the other arguments are those of `exactk.evaluate`."""
    convention = as_convention(convention)
    values = plan(metrics, convention)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    threads = resolve_threads(num_threads)
    known = truth if truth is None else truth_of(truth, columns, Encoding(threads=threads))
    call = Evaluation(
        engine,
        values,
        convention,
        exclusions_of(exclude, columns, encoding_after(known, threads)),
        as_candidate_items(candidates),
        None if weights is None else Weights.of(weights),
        None if groups is None else Groups.of(groups),
        bool(per_user),
        threads,
        Progress(progress),
        columns,
    )
    if isinstance(predictions, Iterator) and not hasattr(
        predictions, "__arrow_c_stream__"
    ):  # a reader of Arrow is one too
        if known is not None:
            expected = "None beside an iterator, whose blocks are (truth, predictions)"
            raise input_error("truth", expected, type(truth).__name__)
        with call.progress.of(None):
            report = call.blocks(predictions)
        warn_of_ties(report, None)
        warn_of_counts(report)
        return report
    if known is None:
        raise type_error("truth", "what the users found relevant", "None")
    if isinstance(predictions, Mapping) and not is_sparse(predictions):  # one form of these is a mapping too
        of_systems = is_of_systems(predictions)
        if of_systems or (of_systems is None and known.user_vocabulary is None):
            return _compare(call, known, predictions)
    if isinstance(predictions, Batches):
        with call.progress.of(None):
            report, items_shared = evaluate_batches(call, known, predictions)
        warn_of_ties(report, None)
        warn_of_names_of_batches(report, items_shared=items_shared)
        warn_of_counts(report, whole=False)
        return report
    case = call.case(known, call.predictions(predictions, known))
    with call.progress.of(len(case.truth)):
        report = call.whole(case)
    warn_of_ties(report, partial(call.span, case))
    warn_of_names(report, case)
    warn_of_counts(report, whole=case.is_complete)
    return report


def _compare(call: Evaluation, truth: Truth, given: Mapping[Any, object]) -> Comparison:
    if not given:
        raise input_error("predictions", "at least one system", "an empty mapping")
    systems: dict[str, Predictions] = {}
    for name, predictions in given.items():
        if not isinstance(name, str):
            raise type_error("predictions", "names of systems, each with its predictions", repr(name))
        with add_error_note(f"in system {name!r}"):
            systems[name] = call.predictions(predictions, truth)
    everybody = extend_to_all_users(truth, systems)
    reports = {}
    with call.progress.of(len(everybody) * len(systems)):
        for name, predictions in systems.items():
            with add_error_note(f"in system {name!r}"):
                case = replace(call.case(everybody, predictions), truth_size=len(truth))
                reports[name] = call.whole(case)
                warn_of_ties(reports[name], partial(call.span, case), f"system {name!r}: ")
                warn_of_names(reports[name], case, f"system {name!r}: ")
    warn_of_counts(*reports.values(), whole=case.is_complete)
    return Comparison(reports)
