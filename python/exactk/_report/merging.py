"""Merging the reports or states of different users into one report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from exactk._report.comparison import Comparison
from exactk._report.comparison_state import ComparisonState
from exactk._report.matched_reports import merged_clusters
from exactk._report.report import Report
from exactk._report.state import State, StateSums, common_unit_names
from exactk._report.system_warnings import warn_of_unreached_cutoffs
from exactk._report.user_table import UserTable, concatenate_users
from exactk._runtime.errors import InUnits, StateMismatchError, input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@overload
def merge(parts: Sequence[Report | State]) -> Report: ...
@overload
def merge(parts: Sequence[Comparison | ComparisonState]) -> Comparison: ...
def merge(
    parts: Sequence[Report | State] | Sequence[Comparison | ComparisonState],
) -> Report | Comparison:
    """Merge evaluations of different users into one report, or comparisons into one.

    The values equal, bit for bit, those of one evaluation of all users. Metrics merge by their canonical names; those
    that the parts spell differently are reported under these names.

    Parameters
    ----------
    parts : sequence of Report or State, or sequence of Comparison or ComparisonState
        At least one evaluation, each of different users, with the same metrics and convention; the convention's name
        may differ. Reports of keyed users must not share a user, which is checked; users whom only the predictions have
        count too. Users without keys, and the users of states, cannot be told apart: pass each shard once, or its users
        count twice. Comparisons must have the same systems and options.

    Returns
    -------
    Report or Comparison
        Its users are those of the parts, in order; users without keys are numbered from 0 across the parts. Only if one
        evaluation has them in that order too are the two reports ``==``; their states are in any case. Per-user values
        are kept if all parts are reports that have them. Values by group are merged by group.

    Raises
    ------
    StateMismatchError
        If the parts were computed differently, or a user is in several of them, or a cluster, as far as the parts keep
        users. The message says what differs.
    InputError
        If there is no part.
    InputTypeError
        If the parts are no sequence, or not all of them reports and states, or comparisons and their states.

    Examples
    --------
    >>> import exactk
    >>> one = exactk.evaluate([[1, 4]], [[4, 2, 1]], ["recall@2"])
    >>> other = exactk.evaluate([[21]], [[2, 21]], ["recall@2"])
    >>> exactk.merge([one, other])["recall@2"]
    0.75
    """
    if isinstance(parts, (Report, State, Mapping)) or not isinstance(parts, Iterable):
        raise type_error("parts", "a sequence of reports or states", type(parts).__name__)
    all_parts = list(parts)
    if not all_parts:
        raise input_error("parts", "at least one report or state", "none")
    comparisons = [part for part in all_parts if isinstance(part, (Comparison, ComparisonState))]
    if 0 < len(comparisons) < len(all_parts):
        other = next(part for part in all_parts if not isinstance(part, (Comparison, ComparisonState)))
        found = f"{type(comparisons[0]).__name__} beside {type(other).__name__}"
        raise type_error("parts", "comparisons alone, or reports and states", found)
    named = (part.unit_names for part in all_parts if isinstance(part, (Report, State, Comparison)))
    with InUnits(common_unit_names(named)):
        return _merge_comparisons(comparisons) if comparisons else _merge_reports(all_parts)


def _merge_comparisons(parts: list[Comparison | ComparisonState]) -> Comparison:
    states = [part.state if isinstance(part, Comparison) else part for part in parts]
    first, *others = states
    paired = first.paired
    for other in others:
        first.check_same_plan(other)
        if paired is not None and other.paired is not None:
            paired = paired.plus(other.paired)
    reports = {}
    for system in first:
        of_system = [part.reports[system] if isinstance(part, Comparison) else part[system] for part in parts]
        reports[system] = _merged(of_system)
    if len(parts) > 1:
        warn_of_unreached_cutoffs({system: report.state for system, report in reports.items()})
    whole = [(part.reports, part._cluster_hashes) for part in parts if isinstance(part, Comparison)]
    _check_clusters([hashes for _, hashes in whole if hashes is not None])
    clusters = merged_clusters(whole, reports) if len(whole) == len(parts) else None
    return Comparison(reports, first.options, paired, clusters)


def _check_clusters(of_parts: Sequence[NDArray[np.uint64]]) -> None:
    """Raise StateMismatchError if a cluster is in several parts: their sums have it as several clusters."""
    clusters, counts = np.unique(
        np.concatenate([np.zeros(0, np.uint64), *map(np.unique, of_parts)]), return_counts=True
    )
    if shared := int(np.count_nonzero(counts > 1)):
        found = f"{shared} of {plural(len(clusters), 'cluster')} in several"
        message = f"parts: expected all users of a cluster in one part, found {found}"
        raise StateMismatchError(message, "parts")


def _merge_reports(all_parts: list[Any]) -> Report:
    report = _merged(_checked_parts(all_parts))
    if len(all_parts) > 1:  # a single part has already warned
        warn_of_unreached_cutoffs({"": report.state})
    return report


def _merged(parts: Sequence[Report | State]) -> Report:
    states = [part if isinstance(part, State) else part.state for part in parts]
    sums = StateSums(states[0])
    for other in states[1:]:
        sums.add(other)
    state = sums.state()
    reports = [part for part in parts if isinstance(part, Report)]
    if len(reports) < len(parts):
        return Report(state)
    tables = [report._user_table for report in reports if report._user_table is not None]
    has_all_tables = len(tables) == len(reports)
    with_users = [report for report in reports if report.state.counts.users] or reports[:1]
    users = concatenate_users([report._users for report in with_users])  # noqa: SLF001 - of the class's own module
    return Report(state, users, UserTable.concatenate(tables) if has_all_tables else None)


def _checked_parts(parts: list[Any]) -> list[Report | State]:
    """Return the parts, or raise if they are not reports or states."""
    for part in parts:
        if not isinstance(part, (Report, State)):
            expected = "reports and states, or comparisons alone"
            raise type_error("parts", expected, type(part).__name__)
    return parts
