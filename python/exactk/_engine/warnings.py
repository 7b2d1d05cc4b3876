"""What is said of numbers that may not mean what was meant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._plan.conventions import STRICT_TIES
from exactk._plan.metric_strings import part_places
from exactk._report.state import planned
from exactk._runtime.errors import EvaluationWarning, caller_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.metric_strings import Value
    from exactk._report.report import Report

_BY_CHANCE = 32  # fewer items by number than these may well be others


def warn_of_names(report: Report, case: AlignedInputs, system: str = "") -> None:
    """Say so if truth and predictions have no user, or no item, in common: most likely they name them differently."""
    named = case.truth.user_vocabulary is not None
    if named and not _has_common_user(report):
        _warn_of_users(system)
    elif _found_nothing(report) and not share_items(case, 1 if named or case.items is not None else _BY_CHANCE):
        lists = case.predictions.lists if isinstance(case.predictions, SparseScores) else case.predictions
        assert isinstance(lists, Rankings)  # noqa: S101 - of others all items are common
        _warn_of_items(system, case.item_text(int(case.truth.items[0])), case.item_text(int(lists.items[0])))


def warn_of_names_of_batches(report: Report, *, items_shared: bool) -> None:
    """Say the same of predictions that are no longer there."""
    if not _has_common_user(report):
        _warn_of_users("")
    elif _found_nothing(report) and not items_shared:
        _warn_of_items("")


def share_items(case: AlignedInputs, fewest: int = 1) -> bool:
    """Return whether an item of the truth is in any list, or too few are given on a side to tell."""
    lists = case.predictions.lists if isinstance(case.predictions, SparseScores) else case.predictions
    if not isinstance(lists, Rankings) or min(len(lists.items), len(case.truth.items)) < fewest:
        return True
    return bool(np.isin(case.truth.items, lists.items).any())


def _has_common_user(report: Report) -> bool:
    counts = report.counts
    return not counts["users"] or counts["users"] > counts["missing_predictions"] + counts["missing_truth"]


def _found_nothing(report: Report) -> bool:
    """Return whether no value says that an item was found."""
    return not any(value > 0 for name, value in report.values.items() if not name.startswith(("num_rel", "num_rec")))


def _warn_of_users(system: str) -> None:
    message = f"{system}no user of the truth is in the predictions: check that both name the users alike"
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _warn_of_items(system: str, one: str = "", other: str = "") -> None:
    such, as_such = (f", such as {one},", f", such as {other}") if one else ("", "")
    message = (
        f"{system}none of the items of the truth{such} is in any list of the predictions{as_such}: "
        "check that both name the items alike"
    )
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


_MANY_TIED = 0.01  # of the users


def warn_of_ties(report: Report, span: Callable[[Value], tuple[float, float]] | None, system: str = "") -> None:
    """Say so if ids or the order of input decide what many users are recommended, and how much that may change."""
    counts = report.counts
    users, tied_at = counts["users"], counts.get("tied_at_cutoff", {})
    for value in planned(report.state):
        tied = tied_at.get(value.cutoff, 0)
        if value.rules["ties"] not in STRICT_TIES or tied <= _MANY_TIED * users:
            continue
        message = (
            f"{system}{tied} of {users} users have items of one score on both sides of rank {value.cutoff}, "
            f"where ties={value.rules['ties']!r} decides; "
        )
        if span is None:
            message += "ties='pessimistic' and ties='optimistic' show how much that changes"
        else:
            lowest, highest = span(value)
            if not lowest < highest:  # no matter of order, or NaN
                continue
            message += f"by other orders {value.name} = {report[value.name]:.4f} is {lowest:.4f} to {highest:.4f}"
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())
        return


def warn_of_counts(*reports: Report, whole: bool = True) -> None:
    """Say once what makes the numbers mean something else than they seem to.

    Where not all that a system could rank was given, but its best, as usual by user and item, what is missing is no
    cause for alarm.
    """
    messages: dict[str, None] = {}  # in order, each once, however many systems it holds for
    for report in reports:
        nobody = [name for name, users in report.counts["evaluated"].items() if users == 0]
        weightless = _weightless(report) if report.state.weighted else []
        excluded, unknown = report.counts["relevant_excluded"], report.counts["relevant_not_rankable"]
        if nobody:
            messages[f"no user was evaluated for {', '.join(nobody)}: NaN"] = None
        if weightless:
            messages[f"all weights are 0 for {', '.join(weightless)}: NaN"] = None
        if excluded:
            messages[f"{excluded} relevant items are in exclude; they stay in the truth as misses"] = None
        if unknown and whole:
            where = "have no column in the scores, or are not among the candidates"
            messages[f"{unknown} relevant items {where}; they stay in the truth as misses"] = None
    for message in messages:
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _weightless(report: Report) -> list[str]:
    """Return the values for whose users all weights are 0."""
    totals, places = report.state.totals, part_places(planned(report.state))
    parts = {name: [totals[i] for i in own] for name, own in zip(report.metrics, places, strict=True)}
    return [name for name, own in parts.items() if any(one.users and not one.weight for one in own)]
