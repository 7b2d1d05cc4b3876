"""The warning about systems that are compared on different users."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._report.matched_users import has_same_users
from exactk._report.state import plan_of_state
from exactk._report.user_table import rows_of_values
from exactk._runtime.errors import warn
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.values import Value
    from exactk._report.report import Report

CONCATENATE = "concatenate them"
"""The advice for systems that look like parts of one; the command line replaces it."""

Flags: TypeAlias = "dict[str, NDArray[np.bool_]]"  # by system, or by value


class UserFlags(NamedTuple):
    """The users that a system covers; empty for a system that is not compared."""

    covered: NDArray[np.bool_]  # by predictions, of those whom the convention may count
    evaluated: Flags  # those whom each value has a number for, if values may skip users

    @staticmethod
    def concatenate(parts: Sequence[UserFlags]) -> UserFlags:
        """Return the flags of all blocks."""
        names = parts[0].evaluated
        return UserFlags(
            np.concatenate([part.covered for part in parts]),
            {name: np.concatenate([part.evaluated[name] for part in parts]) for name in names},
        )


NO_FLAGS = UserFlags(np.zeros(0, np.bool_), {})


def covered_users(inputs: AlignedInputs, users: str) -> NDArray[np.bool_]:
    """Return which of the users that the convention may count have predictions."""
    predictions, truth = inputs.predictions, inputs.truth
    covered = np.ones(len(truth), np.bool_)
    if predictions.present is not None:
        covered &= predictions.present
    if users in {"truth", "both"} and truth.present is not None:
        covered &= truth.present
    return covered


def may_skip_users(values: Iterable[Value]) -> bool:
    """Return whether a value can skip users of one system and not of another."""
    return any(
        value.rules["users"] in {"both", "predictions", "union"}
        or "skip" in {value.rules[field] for field in ("missing_list", "empty_list", "undefined")}
        for value in values
    )


def evaluated_users(report: Report, values: Container[int] | None = None) -> Flags:
    """Return the users that each value, or each of these, evaluates; none for values that are computed from means."""
    table, plan = report._user_table, plan_of_state(report.state)
    if table is None:
        return {}
    # A micro average also evaluates users of whom it is 0/0, who have no value.
    rows = [
        both[0] if value.rules["average"] == "micro" else row
        for row, (value, both) in enumerate(zip(plan, rows_of_values(plan), strict=True))
    ]
    return {name: ~np.isnan(table.rows[rows[i]]) for i, name in enumerate(report) if values is None or i in values}


def warn_of_differing_users(
    values: Sequence[Value], reports: Mapping[str, Report], flags: Mapping[str, UserFlags]
) -> None:
    """Warn if only some systems have predictions for a user, or if means are over different users."""
    covered = {system: one.covered for system, one in flags.items()}
    means = _describe_means(reports, {system: one.evaluated for system, one in flags.items()})
    is_counted = not any(map(len, covered.values()))  # of users in buckets, which have no flags
    coverage = _describe_counted_coverage(reports) if is_counted else _describe_coverage(covered)
    _warn(values, coverage, means, _advise_on_parts(covered))


def warn_of_reports_of_different_users(reports: Mapping[str, Report]) -> None:
    """Warn of the same for reports, which count the users without predictions but do not name them."""
    first, *others = reports.values()
    judged = {system: one.counts["users"] - one.counts["missing_truth"] for system, one in reports.items()}
    have_same_users = all(has_same_users(first, other) for other in others)
    if truths := "" if have_same_users else _describe_truths(reports, judged):
        warn(truths)
        return
    evaluated: dict[str, Flags] = {}
    if have_same_users and (values := _partly_evaluated(reports)):
        evaluated = {system: evaluated_users(report, values) for system, report in reports.items()}
    coverage = _describe_counted_coverage(reports)
    _warn(plan_of_state(first.state), coverage, _describe_means(reports, evaluated))


def _partly_evaluated(reports: Mapping[str, Report]) -> set[int]:
    """Return the values that some report does not have for all of its users, by position."""
    return {
        index
        for report in reports.values()
        for index, count in enumerate(report.counts["evaluated"].values())
        if count < report.counts["users"] or report._undefined_users(index)
    }


def _warn(values: Sequence[Value], coverage: str, means: str, advice: str = "") -> None:
    """Warn of both, with advice. If no mean counts users without predictions, the message about means suffices."""
    if means and all(_skips_missing_lists(value) for value in values):
        coverage = ""
    messages = [message for message in (coverage, means) if message]
    for message, ending in zip(messages, (advice, ""), strict=False):
        warn(message + ending)


def _skips_missing_lists(value: Value) -> bool:
    return value.rules["users"] in {"both", "predictions"} or value.rules["missing_list"] == "skip"


def _describe_coverage(covered: Flags) -> str:
    of_any = reduce(np.logical_or, covered.values())
    lacking = {system: int((of_any & ~users).sum()) for system, users in covered.items()}
    if not any(lacking.values()):
        return ""
    counts = ", ".join(f"{system!r} has none for {count}" for system, count in lacking.items() if count)
    return f"systems cover different users: of {plural(int(of_any.sum()), 'user')} with predictions in some system, {counts}"


def _describe_counted_coverage(reports: Mapping[str, Report]) -> str:
    """Return the same by counts, which do not name the users."""
    covered = {
        system: one.counts["users"] - one.counts["missing_truth"] - one.counts["missing_lists"]
        for system, one in reports.items()
    }
    if len(set(covered.values())) == 1:
        return ""
    return f"systems cover different users: predictions are for {_list_users(covered)}"


def _advise_on_parts(covered: Flags) -> str:
    """Return a hint if the systems look like parts of one, as no user has predictions in two of them."""
    sizes, of_any = [int(users.sum()) for users in covered.values()], reduce(np.logical_or, covered.values())
    if len(sizes) == 1 or not all(sizes) or sum(sizes) != of_any.sum():
        return ""
    return f"; no user has predictions in two systems: if they are parts of one system, {CONCATENATE}"


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


def _list_users(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{plural(count, 'user')} in {system!r}" for system, count in counts.items())


def _describe_means(reports: Mapping[str, Report], evaluated: Mapping[str, Flags]) -> str:
    """Return a warning if systems have means over different users."""
    messages = []
    for name in next(iter(reports.values())):
        counts = {system: report.counts["evaluated"][name] for system, report in reports.items()}
        flags = [users[name] for users in evaluated.values() if name in users and users[name].any()]
        in_common = int(reduce(np.logical_and, flags).sum()) if len(flags) == len(reports) else None
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
