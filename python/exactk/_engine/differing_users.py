"""The warning about systems that are compared on different users."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from exactk._runtime.errors import warn
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._engine.evaluation import Evaluation
    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.metric_strings import Value
    from exactk._report.report import Report

CONCATENATE = "concatenate them"
"""The advice for systems that look like parts of one; the command line replaces it."""

Flags: TypeAlias = "dict[str, NDArray[np.bool_]]"  # by system, or by value


def covered_users(inputs: AlignedInputs, users: str) -> NDArray[np.bool_]:
    """Return which of the users that the convention may count have predictions."""
    predictions, truth = inputs.predictions, inputs.truth
    covered = np.ones(len(truth), np.bool_)
    if predictions.present is not None:
        covered &= predictions.present
    if users in {"truth", "both"} and truth.present is not None:
        covered &= truth.present
    return covered


def may_skip_users(evaluation: Evaluation) -> bool:
    """Return whether a value can skip users of one system and not of another."""
    return any(
        value.rules["users"] in {"both", "predictions", "union"}
        or "skip" in {value.rules[field] for field in ("missing_list", "empty_list", "undefined")}
        for value in evaluation.values
    )


def evaluated_users(report: Report) -> Flags:
    """Return which users each value has a number for, without values that are computed from means."""
    flags = {name: ~np.isnan(values) for name, values in report.per_user.items()}
    return {name: users for name, users in flags.items() if users.any()}


def warn_of_differing_users(
    values: Sequence[Value], covered: Flags, reports: Mapping[str, Report], evaluated: Mapping[str, Flags]
) -> None:
    """Warn if only some systems have predictions for a user, or if means are over different users.

    `evaluated` has the users by system and value. If no mean counts users without predictions, the message about means suffices.
    """
    coverage, means, advice = (
        _describe_coverage(covered),
        _describe_means(reports, evaluated),
        _advise_on_parts(covered),
    )
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


def _advise_on_parts(covered: Flags) -> str:
    """Return a hint if the systems look like parts of one, as no user has predictions in two of them."""
    sizes, of_any = [int(users.sum()) for users in covered.values()], reduce(np.logical_or, covered.values())
    if len(sizes) == 1 or not all(sizes) or sum(sizes) != of_any.sum():
        return ""
    return f"; no user has predictions in two systems: if they are parts of one system, {CONCATENATE}"


def _describe_means(reports: Mapping[str, Report], evaluated: Mapping[str, Flags]) -> str:
    messages = []
    for name in next(iter(reports.values())).metrics:
        counts = {system: report.counts["evaluated"][name] for system, report in reports.items()}
        flags = [users[name] for users in evaluated.values() if name in users]
        in_common = int(reduce(np.logical_and, flags).sum()) if len(flags) == len(reports) else None
        if len(set(counts.values())) == 1 and in_common in {None, *counts.values()}:
            continue
        users = ", ".join(f"{plural(count, 'user')} in {system!r}" for system, count in counts.items())
        messages.append(
            f"{name} averages {users}" + ("" if in_common is None else f", {in_common} of them in all systems")
        )
    if not messages:
        return ""
    others = f", and {len(messages) - 1} more values" if len(messages) > 1 else ""
    return f"means over different users are compared: {messages[0]}{others}"
