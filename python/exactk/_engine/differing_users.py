"""The warning about systems that are compared on different users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._engine.inspection import evaluated_users, users_in_all
from exactk._report.state import plan_of_state
from exactk._runtime.errors import warn
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._engine.findings import Findings
    from exactk._plan.values import Value
    from exactk._report.report import Report

CONCATENATE = "concatenate them"
"""The advice for systems that look like parts of one; the command line replaces it."""


def describe_differing_users(reports: Mapping[str, Report], findings: Findings) -> tuple[str, str]:
    """Return warnings if only some systems have predictions for a user, and if means are over different users."""
    of_any, several, by_system, in_all = findings.coverage
    covered = {name: by_system.get(name, 0) for name in reports}
    coverage, advice = _describe_counted_coverage(reports), ""
    if of_any:  # else of no users
        lacking = ", ".join(
            f"{name!r} has none for {of_any - users}" for name, users in covered.items() if of_any > users
        )
        count = plural(of_any, "user")
        coverage = (
            f"systems cover different users: of {count} with predictions in some system, {lacking}" if lacking else ""
        )
        if all(covered.values()) and not several:
            advice = f"; no user has predictions in two systems: if they are parts of one system, {CONCATENATE}"
    return _advised(
        plan_of_state(next(iter(reports.values())).state), coverage, _describe_means_of_values(reports, in_all), advice
    )


def _advised(values: Sequence[Value], coverage: str, means: str, advice: str = "") -> tuple[str, str]:
    """Return both with advice. If no mean counts users without predictions, the message about means suffices."""
    if means and all(_skips_missing_lists(value) for value in values):
        coverage = ""
    return (coverage + advice, means) if coverage else ("", means + advice if means else "")


def _skips_missing_lists(value: Value) -> bool:
    return value.rules["users"] in {"both", "predictions"} or value.rules["missing_list"] == "skip"


def _describe_counted_coverage(reports: Mapping[str, Report]) -> str:
    """Return the same by the counts of reports, which do not name the users."""
    covered = {
        system: one.counts["users"] - one.counts["missing_truth"] - one.counts["missing_lists"]
        for system, one in reports.items()
    }
    if len(set(covered.values())) == 1:
        return ""
    return f"systems cover different users: predictions are for {_list_users(covered)}"


def _list_users(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{plural(count, 'user')} in {system!r}" for system, count in counts.items())


def _describe_means_of_values(reports: Mapping[str, Report], in_all: Mapping[str, int]) -> str:
    """Return a warning if systems have means over different users, of whom so many are in all systems, if known."""
    messages = []
    for name in next(iter(reports.values())):
        counts = {system: report.counts["evaluated"][name] for system, report in reports.items()}
        in_common = in_all.get(name) if all(counts.values()) else None
        if len(set(counts.values())) == 1 and in_common in {None, *counts.values()}:
            continue
        messages.append(
            f"{name} averages {_list_users(counts)}"
            + ("" if in_common is None else f", {in_common} of them in all systems")
        )
    if not messages:
        return ""
    others = f", and {len(messages) - 1} more values" if len(messages) > 1 else ""
    return f"means over different users are compared: {messages[0]}{others}"


def warn_of_reports_of_different_users(reports: Mapping[str, Report]) -> None:
    """Warn of the same for reports, which count the users without predictions but do not name them."""
    from exactk._report.matched_reports import has_same_users

    first, *others = reports.values()
    judged = {system: one.counts["users"] - one.counts["missing_truth"] for system, one in reports.items()}
    have_same_users = all(has_same_users(first, other) for other in others)
    if truths := "" if have_same_users else _describe_truths(reports, judged):
        warn(truths)
        return
    in_all: Mapping[str, int] = {}
    if have_same_users and (values := _partly_evaluated(reports)):
        in_all = users_in_all([evaluated_users(report, values) for report in reports.values()])
    means = _describe_means_of_values(reports, in_all)
    for text in filter(None, _advised(plan_of_state(first.state), _describe_counted_coverage(reports), means)):
        warn(text)


def _partly_evaluated(reports: Mapping[str, Report]) -> set[int]:
    """Return the values that some report does not have for all of its users, by position."""
    return {
        index
        for report in reports.values()
        for index, count in enumerate(report.counts["evaluated"].values())
        if count < report.counts["users"] or report._undefined_users(index)
    }


def _describe_truths(reports: Mapping[str, Report], judged: Mapping[str, int]) -> str:
    """Return a warning if reports have truths of different users; `judged` is the number of users of each truth."""
    if len(set(judged.values())) > 1:
        return f"systems are evaluated on different truths, with {_list_users(judged)}"
    if any(
        report.counts["missing_truth"] for report in reports.values()
    ):  # some users are in no truth, but reports do not say which
        return ""
    in_all = set[Any]().union(*(report.users.tolist() for report in reports.values()))
    is_same = len(in_all) == next(iter(judged.values()))
    return "" if is_same else f"systems are evaluated on different truths, with {plural(len(in_all), 'user')} in total"
