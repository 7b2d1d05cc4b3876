"""The results of all buckets as one report, with the warnings of one evaluation."""

from __future__ import annotations

import logging
from functools import reduce
from typing import TYPE_CHECKING

from exactk._engine.column_warnings import counted_ratings, warn_of_ratings
from exactk._engine.core import core_paired_engine
from exactk._engine.differing_users import NO_FLAGS
from exactk._engine.pairs import Pairing
from exactk._engine.warnings import (
    EvaluatedSystem,
    describe_disjoint_keys_of_blocks,
    describe_ties,
    tie_bounds,
    warn_of_evaluated_systems,
    warn_of_item_use,
)
from exactk._report.comparison_state import ComparisonState
from exactk._report.merge import merge
from exactk._report.report import Report
from exactk._report.state import State, plan_of_state
from exactk._sharded.results import Facts, error_from_json, sum_of_states

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._report.comparison import Comparison
    from exactk._sharded.results import Bucket, SystemFacts


_LOGGER = logging.getLogger("exactk")


def report_of_buckets(buckets: Sequence[Bucket]) -> Report:
    """Return the report of at least one bucket; raise the first error of a bucket, and warn of what all users show.

    The report has no users, and equals that of one evaluation in its state.
    """
    state, facts = _sum_of_buckets(buckets)
    assert isinstance(state, State)  # noqa: S101 - comparisons have a function of their own
    report = Report(state)
    _warn({next(iter(facts.systems)): report}, facts)
    return report


def comparison_of_buckets(buckets: Sequence[Bucket]) -> Comparison:
    """Return the comparison of at least one bucket, likewise."""
    state, facts = _sum_of_buckets(buckets)
    assert isinstance(state, ComparisonState)  # noqa: S101 - as above
    comparison = merge([state])
    _warn(comparison.reports, facts)
    pairing = Pairing(core_paired_engine, state.options)
    pairing.state = state.paired
    pairing.check_missing(plan_of_state(next(iter(state.values()))))
    return comparison


def _sum_of_buckets(buckets: Sequence[Bucket]) -> tuple[State | ComparisonState, Facts]:
    """Return the states and the facts of all buckets; raise if one has an error."""
    parts = [Facts.from_json(bucket.facts) for bucket in buckets if bucket.facts is not None]
    failed = [bucket.error for bucket in buckets if bucket.error is not None]
    if failed:
        count = len(failed) + sum(facts.buckets for facts in parts)
        raise error_from_json(min(failed), f"(in {len(failed)} of {count} buckets)")
    facts = reduce(Facts.plus, parts)
    _LOGGER.info("%d buckets, the largest of %d rows", facts.buckets, facts.rows)
    return sum_of_states(bucket.state for bucket in buckets if bucket.state is not None), facts


def _warn(reports: Mapping[str, Report], facts: Facts) -> None:
    first = next(iter(reports.values()))
    values = plan_of_state(first.state)
    column = counted_ratings(first.state.grade_column, values)
    if column is not None:
        warn_of_ratings(column, facts.ratings, first.convention)
    if facts.train is not None:
        warn_of_item_use(values, facts.train, len(reports))
    systems = {name: _evaluated_system(report, facts.systems[name]) for name, report in reports.items()}
    warn_of_evaluated_systems(values, systems, tie_bounds(first))


def _evaluated_system(report: Report, of_system: SystemFacts) -> EvaluatedSystem:
    disjoint_keys = describe_disjoint_keys_of_blocks(
        report, is_keyed=True, has_shared_items=of_system.has_shared_items, within=" of the same bucket"
    )
    return EvaluatedSystem(
        report,
        describe_ties(report, None),
        disjoint_keys,
        is_complete=False,
        flags=NO_FLAGS,
        exclusions=of_system.exclusions.describe(),
        candidate_rows=of_system.candidate_rows,
        readings=of_system.readings,
    )
