"""The results of all buckets as one report, with the warnings of one evaluation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from exactk._engine.column_warnings import counted_ratings, warn_of_ratings
from exactk._engine.differing_users import NO_FLAGS
from exactk._engine.warnings import (
    EvaluatedSystem,
    describe_disjoint_keys_of_blocks,
    describe_ties,
    tie_bounds,
    warn_of_evaluated_systems,
    warn_of_histories,
)
from exactk._report.report import Report
from exactk._report.state import State, StateSums, plan_of_state
from exactk._sharded.facts import Facts
from exactk._sharded.worker import error_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._sharded.worker import Bucket


_LOGGER = logging.getLogger("exactk")


def report_of_buckets(buckets: Sequence[Bucket]) -> Report:
    """Return the report of at least one bucket; raise the first error of a bucket, and warn of what all users show.

    The report has no users, and equals that of one evaluation in its state.
    """
    failed = [bucket.error for bucket in buckets if bucket.error is not None]
    if failed:
        raise error_from_json(min(failed), f"(in {len(failed)} of {len(buckets)} buckets)")
    sums: StateSums | None = None
    facts: Facts | None = None
    for bucket in buckets:
        assert bucket.state is not None and bucket.facts is not None  # noqa: S101, PT018 - it has no error
        state, of_bucket = State.from_bytes(bucket.state), Facts.from_json(bucket.facts)
        if sums is None or facts is None:
            sums, facts = StateSums(state), of_bucket
        else:
            sums.add(state)
            facts = facts.plus(of_bucket)
    assert sums is not None and facts is not None  # noqa: S101, PT018 - there is a bucket
    _LOGGER.info("%d buckets, the largest of %d rows", len(buckets), facts.rows)
    report = Report(sums.state())
    _warn(report, facts)
    return report


def _warn(report: Report, facts: Facts) -> None:
    values = plan_of_state(report.state)
    column = counted_ratings(report.state.grade_column, values)
    if column is not None:
        warn_of_ratings(column, facts.ratings, report.convention)
    if facts.train is not None:
        warn_of_histories(values, facts.train, len(facts.systems))
    ((name, of_system),) = facts.systems.items()
    disjoint_keys = describe_disjoint_keys_of_blocks(report, is_keyed=True, has_shared_items=of_system.has_shared_items)
    system = EvaluatedSystem(
        report,
        describe_ties(report, None),
        disjoint_keys,
        is_complete=False,
        flags=NO_FLAGS,
        has_unknown_exclusions=facts.has_any_exclusions and not of_system.has_excluded_users,
        candidate_rows=of_system.candidate_rows,
    )
    warn_of_evaluated_systems(values, {name: system}, tie_bounds(report))
