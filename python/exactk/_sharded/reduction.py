"""The results of all buckets as one report, with the warnings of one evaluation."""

from __future__ import annotations

import logging
from functools import reduce
from typing import TYPE_CHECKING

from exactk._engine.chunks import Part
from exactk._engine.findings import plus
from exactk._engine.pairs import check_missing
from exactk._engine.warnings import Evaluated, warn_of
from exactk._report.comparison_state import ComparisonState
from exactk._report.merge import merge
from exactk._report.report import Report
from exactk._report.state import State, plan_of_state
from exactk._sharded.results import error_from_json, findings_from_json, sum_of_states

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._engine.findings import Findings
    from exactk._report.comparison import Comparison
    from exactk._sharded.results import Bucket


_LOGGER = logging.getLogger("exactk")


def report_of_buckets(buckets: Sequence[Bucket]) -> Report:
    """Return the report of at least one bucket; raise the first error of a bucket, and warn of what all users show.

    The report has no users, and equals that of one evaluation in its state.
    """
    state, findings = _sum_of_buckets(buckets)
    assert isinstance(state, State)  # noqa: S101 - comparisons have a function of their own
    report = Report(state)
    _warn({next(iter(findings.systems)): report}, findings)
    return report


def comparison_of_buckets(buckets: Sequence[Bucket]) -> Comparison:
    """Return the comparison of at least one bucket, likewise."""
    state, findings = _sum_of_buckets(buckets)
    assert isinstance(state, ComparisonState)  # noqa: S101 - as above
    comparison = merge([state])
    _warn(comparison.reports, findings)
    check_missing(state.options, state.paired, plan_of_state(next(iter(state.values()))))
    return comparison


def _sum_of_buckets(buckets: Sequence[Bucket]) -> tuple[State | ComparisonState, Findings]:
    """Return the states and the findings of all buckets; raise if one has an error."""
    parts = [findings_from_json(bucket.facts) for bucket in buckets if bucket.facts is not None]
    failed = [bucket.error for bucket in buckets if bucket.error is not None]
    if failed:
        count = len(failed) + sum(findings.chunks for findings in parts)
        raise error_from_json(min(failed), f"(in {len(failed)} of {count} buckets)")
    findings = reduce(plus, parts)
    _LOGGER.info("%d buckets, the largest of %d rows", findings.chunks, findings.rows)
    return sum_of_states(bucket.state for bucket in buckets if bucket.state is not None), findings


def _warn(reports: Mapping[str, Report], findings: Findings) -> None:
    convention = next(iter(reports.values())).convention
    warn_of(Evaluated(Part(reports, findings), convention, within=" of the same bucket"))
