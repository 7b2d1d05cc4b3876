"""A short way for small calls: some users without keys, lists or scores, and no options.

A call of a few users spends its time on what it does not have: weights, columns, candidates, other systems. This way
has the steps of `evaluate_with_engine` that such a call needs. Wherever an error may be raised, or the inputs may be
misread, it returns nothing and leaves the call to that function, so that each message is made in one place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.core import core_engine
from exactk._engine.differing_users import NO_FLAGS
from exactk._engine.evaluation import state_of_outcome, tie_range
from exactk._engine.problem import KeyedTruth, Problem
from exactk._engine.rankings import solve
from exactk._engine.sampled_candidates import candidate_rows
from exactk._engine.warnings import (
    EvaluatedSystem,
    describe_disjoint_keys,
    describe_item_without_column,
    describe_ties,
    has_counts_to_warn_of,
    warn_of_evaluated_systems,
)
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.containers.sequences import rows_of_integers
from exactk._inputs.model.lists import Lists, Rankings
from exactk._inputs.model.rows import Rows, padded_rows, remove_padding
from exactk._inputs.model.scores import Scores
from exactk._inputs.pair_lists import kind_of_pairs
from exactk._inputs.registry import LIST, ClassifiedValue
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._plan.unused_fields import may_have_unused_fields
from exactk._report.report import Report
from exactk._report.unreached_cutoffs import warn_of_unreached_cutoffs
from exactk._runtime.errors import ExactkError
from exactk._runtime.progress import ignore_progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._plan.conventions import Convention, ConventionLike
    from exactk._plan.metric_strings import MetricsLike, Plan

_ROW_TYPES = frozenset({list, tuple})
_READ_TWICE = frozenset({str, *_ROW_TYPES})  # of other types are iterators, which are read once
_MOST_USERS = 1000  # of more, the steps that are left out take no share of the time that matters
_MOST_CELLS = 100_000  # of a matrix of ids
_MOST_SCORES = 10_000_000
_SCORES = (np.dtype(np.float32), np.dtype(np.float64))


def evaluate_small(
    truth: object, predictions: object, metrics: MetricsLike, convention: ConventionLike, num_threads: object
) -> Report | None:
    """Return the report; None unless the call is small and plain."""
    if type(metrics) not in _READ_TWICE:
        return None
    try:
        convention = as_convention(convention)
        values = plan(metrics, convention)
        if not values.reads_hits_alone or may_have_unused_fields(values, convention):
            return None
        problem = _problem_of(truth, predictions, values, convention, num_threads)
        if problem is None:
            return None
        outcome = solve(core_engine, problem)
        digest = core_engine.truth_digest(KeyedTruth(problem.truth, None, None), problem.num_threads)
    except ExactkError:
        return None
    report = Report(state_of_outcome(problem, outcome, values, None, None, digest, None))
    _warn_of_report(values, problem, report)
    return report


def _problem_of(
    truth: object, predictions: object, values: Plan, convention: Convention, num_threads: object
) -> Problem | None:
    judged = _truth_of(truth)
    ranked = None if judged is None else _predictions_of(predictions)
    if judged is None or ranked is None:
        return None
    if isinstance(ranked, Scores) and (type(truth) is np.ndarray or len(judged.items) == ranked.values.size):
        return None  # it may be grades
    return Problem(
        judged, ranked, None, None, None, None, 1, values.distinct_parts, convention,
        per_user=False, num_threads=resolve_threads(num_threads), report_progress=ignore_progress,
    )  # fmt: skip


def _warn_of_report(values: Plan, problem: Problem, report: Report) -> None:
    inputs = AlignedInputs(problem.truth, problem.predictions, None)
    disjoint_keys = describe_disjoint_keys(report, inputs)
    if isinstance(problem.predictions, Rankings) and not (disjoint_keys or has_counts_to_warn_of(report)):
        warn_of_unreached_cutoffs({"": report.state})  # which is all that such lists may have
        return
    system = EvaluatedSystem(
        report,
        describe_ties(report, partial(tie_range, core_engine, problem)),
        disjoint_keys,
        inputs.is_complete,
        NO_FLAGS,
        has_unknown_exclusions=False,
        item_without_column=describe_item_without_column(report, inputs),
        candidate_rows=candidate_rows(inputs, None, report),
    )
    warn_of_evaluated_systems(values, {"": system}, ())


def _truth_of(value: object) -> Truth | None:
    """Return the truth if it is small and has no keys. The core validates it with the rest."""
    if isinstance(value, Truth):
        return value if value.labels is None and _is_plain(value) else None
    rows = _rows_of(value, "truth")
    return None if rows is None else Truth.from_valid_rows(remove_padding(rows))


def _predictions_of(value: object) -> Rankings | Scores | None:
    """Return lists without keys and ranks, or dense scores without keys, if they are small."""
    if isinstance(value, Scores):
        return None if value.is_keyed or value.user_rows is not None or not _is_small(value.values) else value
    if type(value) is np.ndarray and value.ndim == 2 and value.dtype in _SCORES:
        return Scores.for_argument(value, "predictions") if _is_small(value) else None
    if isinstance(value, Rankings):
        return value if value.ranks is None and _is_plain(value) else None
    rows = _rows_of(value, "predictions")
    return None if rows is None else Rankings.from_rows(rows)


def _is_small(scores: NDArray[Any]) -> bool:
    return len(scores) <= _MOST_USERS and scores.size <= _MOST_SCORES


def _is_plain(lists: Lists) -> bool:
    is_small = len(lists) <= _MOST_USERS and len(lists.items) <= _MOST_CELLS
    return is_small and lists.user_vocabulary is None and lists.item_vocabulary is None


def _rows_of(value: object, argument: str) -> Rows | None:
    """Return the rows of an id matrix or of a list of rows of integers, as copies."""
    if type(value) is np.ndarray:
        has_ids = value.dtype.kind in "iu" and np.can_cast(value.dtype, np.int64)  # uint64 has others
        is_plain = value.ndim == 2 and has_ids and value.size <= _MOST_CELLS
        return padded_rows(value.astype(np.int64), argument)._replace(is_owned=True) if is_plain else None
    if type(value) is not list or len(value) > _MOST_USERS or not _are_rows_of_integers(value):
        return None
    return None if kind_of_pairs(ClassifiedValue(value, LIST)) else rows_of_integers(value, argument)


def _are_rows_of_integers(rows: list[Any]) -> bool:
    """Return whether these are lists or tuples, and the first item of all is an integer."""
    first = next(filter(None, rows), (None,)) if set(map(type, rows)) <= _ROW_TYPES else (None,)
    return type(first[0]) is int
