"""What is said of numbers that may not mean what was meant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._plan.conventions import changes_literal
from exactk._plan.metric_strings import part_indices
from exactk._report.state import plan_of_state
from exactk._runtime.errors import EvaluationWarning, caller_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.metric_strings import Value
    from exactk._report.report import Report

_FEWEST_UNKEYED_ITEMS = 32  # fewer items without keys than these may well be others


def warn_of_disjoint_keys(report: Report, inputs: AlignedInputs, system: str = "") -> None:
    """Say so if truth and predictions have no user, or no item, in common: most likely they name them differently."""
    is_keyed = inputs.truth.user_vocabulary is not None
    if is_keyed and not _has_common_user(report):
        warn_of_disjoint_users(report, system)
    elif _has_no_hit(report) and not has_common_item(
        inputs, 1 if is_keyed or inputs.item_vocabulary is not None else _FEWEST_UNKEYED_ITEMS
    ):
        lists = inputs.predictions.lists if isinstance(inputs.predictions, SparseScores) else inputs.predictions
        assert isinstance(lists, Rankings)  # noqa: S101 - of others all items are common
        _warn_of_disjoint_items(
            system, inputs.item_text(int(inputs.truth.items[0])), inputs.item_text(int(lists.items[0]))
        )


def warn_of_disjoint_keys_in_batches(report: Report, *, has_shared_items: bool) -> None:
    """Say the same of predictions that are no longer there."""
    if not _has_common_user(report):
        warn_of_disjoint_users(report)
    elif _has_no_hit(report) and not has_shared_items:
        _warn_of_disjoint_items("")


def has_common_item(inputs: AlignedInputs, fewest: int = 1) -> bool:
    """Return whether an item of the truth is in any list, or too few are given on a side to tell."""
    lists = inputs.predictions.lists if isinstance(inputs.predictions, SparseScores) else inputs.predictions
    if not isinstance(lists, Rankings) or min(len(lists.items), len(inputs.truth.items)) < fewest:
        return True
    return bool(np.isin(inputs.truth.items, lists.items).any())


def _has_common_user(report: Report) -> bool:
    counts = report.counts
    return not counts["users"] or counts["users"] > counts["missing_predictions"] + counts["missing_truth"]


def _has_no_hit(report: Report) -> bool:
    """Return whether no value says that there is a hit."""
    return not any(value > 0 for name, value in report.values.items() if not name.startswith(("num_rel", "num_rec")))


def warn_of_disjoint_users(report: Report, system: str = "") -> None:
    """Say so if no user of the truth has predictions; users have keys."""
    if _has_common_user(report):
        return
    message = f"{system}no user of the truth is in the predictions: check that both name the users alike"
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _warn_of_disjoint_items(system: str, truth_item: str = "", predictions_item: str = "") -> None:
    in_truth, in_predictions = (f", such as {truth_item},", f", such as {predictions_item}") if truth_item else ("", "")
    message = (
        f"{system}none of the items of the truth{in_truth} is in any list of the predictions{in_predictions}: "
        "check that both name the items alike"
    )
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


_MANY_TIED_USERS = 0.01  # of the users
_SMALLEST_SPREAD = 50  # of a mean, in millionths: of less, four decimals show nothing


def warn_of_ties(report: Report, tie_range: Callable[[Value], tuple[float, float]] | None, system: str = "") -> None:
    """Say so if ids or the order of input decide the values of many users, and how much that may change the first one."""
    users, dependent = report.counts["users"], report.counts.get("tie_dependent", {})
    values = [
        value
        for value in plan_of_state(report.state)
        if dependent.get(value.name, 0) > _MANY_TIED_USERS * users
        and report.state.counts[f"tie_spread.{value.name}"] >= _SMALLEST_SPREAD * report.counts["evaluated"][value.name]
    ]
    if not values:
        return
    first = values[0]
    message = (
        f"{system}the order of tied items, which ties={first.rules['ties']!r} decides, changes {first.name} "
        f"of {dependent[first.name]} of {users} users"
    )
    if tie_range is None:
        bounds = [changes_literal(report.convention, {"ties": ties}) for ties in ("pessimistic", "optimistic")]
        message += f"; convention={bounds[0]} and convention={bounds[1]} show how much that changes its mean"
    else:
        lowest, highest = tie_range(first)
        message += f"; by other orders {first.name} = {report[first.name]:.4f} is {lowest:.4f} to {highest:.4f}"
    if len(values) > 1:
        message += f" (the first of {len(values)} such values)"
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def warn_of_counts(*reports: Report, is_complete: bool = True) -> None:
    """Say once what makes the numbers mean something else than they seem to.

    Where not all that a system could rank was given, but its best, as usual by user and item, what is missing is no
    cause for alarm.
    """
    messages: dict[str, None] = {}  # in order, each once, however many systems it holds for
    for report in reports:
        not_evaluated = [name for name, users in report.counts["evaluated"].items() if users == 0]
        weightless = _weightless_values(report) if report.state.weighted else []
        excluded, unknown = report.counts["relevant_excluded"], report.counts["relevant_not_rankable"]
        if not_evaluated:
            messages[f"no user was evaluated for {', '.join(not_evaluated)}: NaN"] = None
        if weightless:
            messages[f"all weights are 0 for {', '.join(weightless)}: NaN"] = None
        if gaps := report.counts.get("rank_gaps", 0):
            literal = changes_literal(report.convention, {"rank_gaps": "keep"})
            messages[
                f"{gaps} users have ranks with gaps, which are closed: only the order counts; "
                f"convention={literal} keeps each item at its rank"
            ] = None
        if excluded:
            messages[f"{excluded} relevant items are in exclude; they stay in the truth as misses"] = None
        if unknown and is_complete:
            where = "have no column in the scores, are not among the candidates, or score -inf"
            messages[f"{unknown} relevant items {where}; they stay in the truth as misses"] = None
    for message in messages:
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _weightless_values(report: Report) -> list[str]:
    """Return the values for whose users all weights are 0."""
    totals, indices = report.state.totals, part_indices(plan_of_state(report.state))
    parts = {name: [totals[i] for i in row] for name, row in zip(report.metrics, indices, strict=True)}
    return [name for name, sums in parts.items() if any(part.users and not part.weight for part in sums)]
