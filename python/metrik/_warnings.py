"""What is said of numbers that may not mean what was meant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from metrik._conventions import STRICT_TIES
from metrik._errors import EvaluationWarning, caller_level
from metrik._inputs import Candidates, Rankings
from metrik._metrics import part_places
from metrik._state import planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from metrik._inputs.alignment import Aligned
    from metrik._metrics import Value
    from metrik._report import Report

_BY_CHANCE = 32  # fewer items by number than these may well be others


def warn_of_items(report: Report, case: Aligned, system: str = "") -> None:
    """Say so if no item of the truth is among the predictions at all: most likely their ids are not the same ones."""
    lists = case.predictions.lists if isinstance(case.predictions, Candidates) else case.predictions
    if not isinstance(lists, Rankings) or any(
        value > 0 for name, value in report.values.items() if not name.startswith(("num_rel", "num_rec"))
    ):
        return
    fewest = 1 if case.truth.names is not None or case.items is not None else _BY_CHANCE
    if min(len(lists.items), len(case.truth.items)) < fewest or np.isin(case.truth.items, lists.items).any():
        return
    message = (
        f"{system}none of the items of the truth, such as {case.item(int(case.truth.items[0]))}, is in any list of the "
        f"predictions, such as {case.item(int(lists.items[0]))}: check that both name the items alike"
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
