"""The results of all buckets as one report, with the warnings of one evaluation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from exactk._engine.pairs import check_missing
from exactk._engine.warnings import Evaluated, warn_of
from exactk._report.comparison import Comparison
from exactk._report.state import plan_of_state
from exactk._runtime.errors import InUnits
from exactk._sharded.buckets import error_from_json, findings_from_json, sum_of_buckets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._engine.chunks import Part
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.report import Report
    from exactk._sharded.buckets import Bucket


_LOGGER = logging.getLogger("exactk")


def report_of_buckets(buckets: Sequence[Bucket]) -> Report:
    """Return the report of at least one bucket; raise the first error of a bucket, and warn of what all users show.

    The report has no users, and equals that of one evaluation in its state.
    """
    part, comparison = _sum_of_valid_buckets(buckets)
    assert comparison is None  # noqa: S101 - comparisons have a function of their own
    _warn(part)
    return part.report


def comparison_of_buckets(buckets: Sequence[Bucket]) -> Comparison:
    """Return the comparison of at least one bucket, likewise."""
    part, options = _sum_of_valid_buckets(buckets)
    assert options is not None  # noqa: S101 - as above
    state = None if part.paired is None else part.paired.state
    comparison = Comparison(part.reports, options, state)
    _warn(part)
    check_missing(options, state, plan_of_state(part.report.state))
    return comparison


def _sum_of_valid_buckets(buckets: Sequence[Bucket]) -> tuple[Part, ComparisonOptions | None]:
    """Return the sum of all buckets; raise if one has an error."""
    failed = [bucket.error for bucket in buckets if bucket.error is not None]
    valid = [bucket for bucket in buckets if bucket.error is None]
    if failed:
        count = len(failed) + sum(
            findings_from_json(bucket.facts).chunks for bucket in valid if bucket.facts is not None
        )
        raise error_from_json(min(failed), f"(in {len(failed)} of {count} buckets)")
    part, comparison = sum_of_buckets(valid)
    _LOGGER.info("%d buckets, the largest of %d rows", part.findings.chunks, part.findings.rows)
    return part, comparison


def _warn(part: Part) -> None:
    with InUnits(part.report.state.unit_names):
        warn_of(Evaluated(part, part.report.convention, within=" of the same bucket"))
