"""Short ways for calls without options: of small inputs without keys, and of mappings of strings.

Such a call would spend its time on what it does not have, such as weights, columns, candidates and other systems, or
on a vocabulary of items that nothing reads. These ways have the steps of `evaluate_with_engine` that the call needs.
Wherever an error may be raised, or the inputs may be misread, they return nothing and leave the call to that function,
so that each message is made in one place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from exactk._engine.core import core_engine
from exactk._engine.findings import Findings, has_counts_to_warn_of, has_no_hit
from exactk._engine.outcomes import evaluate_plainly, tie_range
from exactk._engine.problem import KeyedTruth
from exactk._inputs.list_readings import find_readings
from exactk._inputs.model.lists import Rankings
from exactk._inputs.small_inputs import small_inputs
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import may_have_unused_fields, plan
from exactk._report.system_warnings import warn_of_unreached_cutoffs
from exactk._runtime.errors import ExactkError
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.matched_mappings import MatchedMappings
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Plan
    from exactk._report.report import Report

_READ_TWICE = frozenset({str, list, tuple})  # metrics of other types are iterators, which are read once


class _ShortInputs(NamedTuple):
    inputs: AlignedInputs
    keyed: KeyedTruth
    matched: MatchedMappings | None = None  # where an id is another item for each user: what tells the items


def evaluate_shortly(
    truth: object, predictions: object, metrics: MetricsLike, convention: ConventionLike, num_threads: object
) -> Report | None:
    """Return the report; None unless one of the short ways leads to it."""
    if type(metrics) not in _READ_TWICE or truth is predictions:
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
        return _ShortInputs(inputs, KeyedTruth(inputs.truth, None, None))
    from exactk._inputs.matched_mappings import match_mappings

    matched = match_mappings(truth, predictions, num_threads)
    if matched is None:
        return None
    return _ShortInputs(matched.inputs, KeyedTruth(matched.hashed, matched.users, None), matched)


def _warn_of_report(values: Plan, problem: Problem, short: _ShortInputs, report: Report) -> None:
    inputs, matched = short.inputs, short.matched
    readings = find_readings(inputs, values.strictest_grade)
    may_warn = readings.users > 0 or has_counts_to_warn_of(report) or has_no_hit(report)
    if isinstance(problem.predictions, Rankings) and not may_warn:
        warn_of_unreached_cutoffs({"": report.state})  # which is all that such lists may have
        return
    from exactk._engine.inspection import find_in_system
    from exactk._engine.warnings import Evaluated, warn_of
    from exactk._inputs.readings import lines_of_ranks
    from exactk._inputs.registry import MAPPING, ClassifiedValue

    disjoint_items, candidates_of = (None, None) if matched is None else (matched.disjoint_items, matched.candidates_of)
    found = find_in_system(inputs, report, find_disjoint_items=disjoint_items, candidates_of=candidates_of)
    advice = lines_of_ranks(ClassifiedValue(None, None if matched is None else MAPPING), {})
    ranges = {"": partial(tie_range, core_engine, problem)}
    warn_of(Evaluated({"": report}, Findings({"": found}), report.convention, ranges, {"": advice}))
