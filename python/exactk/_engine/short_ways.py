"""Short ways for calls without options: of small inputs without keys, and of mappings of strings.

Such a call would spend its time on what it does not have, such as weights, columns, candidates and other systems, or
on a vocabulary of items that nothing reads. These ways have the steps of `evaluate_with_engine` that the call needs.
Wherever an error may be raised, or the inputs may be misread, they return nothing and leave the call to that function,
so that each message is made in one place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._engine.core import core_engine
from exactk._engine.findings import has_counts_to_warn_of, has_no_hit
from exactk._engine.outcomes import evaluate_plainly, tie_range
from exactk._engine.problem import KeyedTruth
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.list_readings import find_readings, tuples_of_ids, tuples_of_rows
from exactk._inputs.model.lists import Lists, Rankings
from exactk._inputs.model.rows import Rows, matrix_rows, remove_padding
from exactk._inputs.model.scores import Scores
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import may_have_unused_fields, plan
from exactk._runtime.errors import ExactkError, InUnits
from exactk._runtime.records import NamedTuple
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.problem import Problem
    from exactk._inputs.matched_mappings import MatchedMappings
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Plan
    from exactk._report.report import Report

_READ_TWICE = frozenset({str, list, tuple})  # metrics of other types are iterators, which are read once
_JUDGED = (Truth, list, np.ndarray, dict)
# How much longer the whole call takes without them, for 10, 100 and 1,000 users with 20 items or 500 scores each: lists 2.5,
# 2.5 and 1.4 times, matrices of ids 3.2, 2.8 and 1.6, dense scores 1.9, 1.6 and 1.1, mappings of strings 2.8, 2.1 and 1.6.
_MOST_USERS = 1000


class _ShortInputs(NamedTuple):
    inputs: AlignedInputs
    keyed: KeyedTruth
    is_array: bool = False  # whether the predictions were one, as warnings name them
    matched: MatchedMappings | None = None  # where an id is another item for each user: what tells the items


def evaluate_shortly(
    truth: object, predictions: object, metrics: MetricsLike, convention: ConventionLike, num_threads: object
) -> Report | None:
    """Return the report; None unless one of the short ways leads to it."""
    if type(metrics) not in _READ_TWICE or truth is predictions or not isinstance(truth, _JUDGED):
        return None
    if type(truth) is list and len(truth) > _MOST_USERS:
        return None
    try:
        convention = as_convention(convention)
        values = plan(metrics, convention)
        if not values.reads_hits_alone or may_have_unused_fields(values, convention):
            return None
        threads = resolve_threads(num_threads)
        short = _inputs_of(truth, predictions, threads)
        if short is None:
            return None
        problem, report = evaluate_plainly(core_engine, short.inputs, short.keyed, values, convention, threads)
    except ExactkError:
        return None
    _warn_of_report(values, problem, short, report)
    return report


def _inputs_of(truth: object, predictions: object, num_threads: int) -> _ShortInputs | None:
    inputs = small_inputs(truth, predictions)
    if inputs is not None:
        return _ShortInputs(inputs, KeyedTruth(inputs.truth, None, None), type(predictions) is np.ndarray)
    from exactk._inputs.matched_mappings import match_mappings

    matched = match_mappings(truth, predictions, num_threads)
    if matched is None:
        return None
    return _ShortInputs(matched.inputs, KeyedTruth(matched.hashed, matched.users, None), matched=matched)


def _warn_of_report(values: Plan, problem: Problem, short: _ShortInputs, report: Report) -> None:
    are_plain_lists = (
        isinstance(problem.predictions, Rankings)
        and not has_counts_to_warn_of(report)
        and not find_readings(short.inputs, values.strictest_grade).users
    )
    has_hit = not has_no_hit(report)
    is_short = report.state.counts.longest_list < values.last_cutoff_of_truth
    if are_plain_lists and has_hit and not is_short:
        return
    with InUnits(preset=problem.convention.name):
        if not (are_plain_lists and has_hit):
            from exactk._engine.warnings import warn_of_plain_call

            ranges = partial(tie_range, core_engine, problem)
            if warn_of_plain_call(
                short.inputs,
                report,
                short.matched,
                ranges,
                has_hit=has_hit,
                are_plain_lists=are_plain_lists,
                is_array=short.is_array,
            ):
                return
        if is_short:  # all that plain lists with a hit may have
            from exactk._report.system_warnings import warn_of_unreached_cutoffs

            warn_of_unreached_cutoffs({"": report.state})


_ROW_TYPES = frozenset({list, tuple})
_MOST_CELLS = 100_000  # of a matrix of ids
_MOST_SCORES = 10_000_000
_SCORES = (np.dtype(np.float32), np.dtype(np.float64))


def small_inputs(truth: object, predictions: object) -> AlignedInputs | None:
    """Return the inputs if they are small and have no keys; None if not, or if they may be misread."""
    judged = _truth_of(truth)
    ranked = None if judged is None else _predictions_of(predictions)
    if judged is None or ranked is None:
        return None
    if isinstance(ranked, Scores) and (type(truth) is np.ndarray or len(judged.items) == ranked.values.size):
        return None  # it may be grades
    if judged.column_count is not None and _may_be_misread(judged.column_count, judged, ranked):
        return None
    return AlignedInputs(judged, ranked, None)


def _may_be_misread(columns: int, truth: Truth, ranked: Rankings | Scores) -> bool:
    """Return whether scores have other columns than the truth, or lists may be scores of all items, or begin at 1."""
    if isinstance(ranked, Scores):
        return ranked.item_count != columns
    return len(ranked.items) == columns * len(truth) or bool((ranked.items == columns).any())


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
        if value.ndim != 2 or not has_ids or value.size > _MOST_CELLS or tuples_of_ids(value):
            return None
        ids = value.astype(np.int64, order="C")
        return matrix_rows(ids, _core.padded_lengths(ids, argument), is_owned=True)
    if type(value) is not list or len(value) > _MOST_USERS or not _are_rows_of_integers(value):
        return None
    if tuples_of_rows(value):
        return None
    rows = _core.integer_rows(value, None, argument, "values")  # raises TypeError unless all items are integers
    return Rows(rows.indptr, rows.items, present=rows.present, is_owned=True)


def _are_rows_of_integers(rows: list[Any]) -> bool:
    """Return whether these are lists or tuples, and the first item of all is an integer."""
    first = next(filter(None, rows), (None,)) if set(map(type, rows)) <= _ROW_TYPES else (None,)
    return type(next(iter(first), None)) is int
