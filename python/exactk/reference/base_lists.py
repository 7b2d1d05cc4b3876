"""The base list of a user: the ranks of the items that other predictions recommend."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.problem import TopKProblem
from exactk._inputs.alignment import ARGUMENT, naming_base
from exactk._inputs.base_predictions import most_items
from exactk._inputs.model.lists import Rankings
from exactk._runtime.errors import input_error
from exactk.reference.ranking import check_repeats, reference_ranker, scored_row

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk._inputs.base_predictions import BaseLists
    from exactk.reference.rules import Rules


def base_ranks(problem: Problem, user: int, rules: Rules, excluded: frozenset[int]) -> dict[int, int]:
    """Return the rank of each item of the user's base list: its first one, if it is repeated."""
    if problem.base is None:
        return {}
    items, ranks = _base_list(problem.base, user, rules)
    above = 0
    by_item: dict[int, int] = {}
    for item, rank in zip(items, ranks, strict=True):
        if item in excluded:
            above += 1  # which moves those below it up by one
        else:
            by_item.setdefault(item, rank - above)
    return by_item


def _base_list(base: BaseLists, user: int, rules: Rules) -> tuple[list[int], list[int]]:
    """Return the ids of the problem, best first, and their ranks."""
    predictions = base.predictions
    if isinstance(predictions, Rankings):
        items: list[int] = predictions.row(user).tolist()
        if predictions.ranks is None:
            return items, list(range(1, len(items) + 1))
        begin = int(predictions.indptr[user])
        return items, [int(rank) for rank in predictions.ranks[begin : begin + len(items)].tolist()]
    row = scored_row(predictions, base.candidates, user)
    excluded = frozenset() if base.exclude is None else frozenset(base.exclude.row(user).tolist())
    ranking = chain.from_iterable(row.ranking(excluded, predictions.min_score, ties=rules["ties"], nan=rules["nan"]))
    ids = np.array([row.ids[i] for i in ranking], np.int64)
    return base.to_ids(ids).tolist(), list(range(1, len(ids) + 1))


def check_base_scores(problem: Problem) -> None:
    """Raise InputError if scores of base predictions cannot be ranked, whatever else is wrong."""
    readers = [value for value in problem.values if value.info.reads_base]
    if not readers or problem.base is None or isinstance(problem.base.predictions, Rankings):
        return
    cutoffs, rules = [value.cutoff for value in readers], readers[0].rules
    base, deepest = problem.base, None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    most = most_items(problem.base.predictions)
    depth = max(1, most if deepest is None else min(deepest, most))
    ties = rules["ties"]
    with naming_base():
        reference_ranker(
            TopKProblem(problem.base.predictions, depth, base.exclude, base.candidates, ties, rules["nan"], 1)
        )


def check_base_lists(problem: Problem) -> None:
    """Raise InputError if the base lists are missing, or not one per user."""
    reader = next((value for value in problem.values if value.info.reads_base), None)
    if reader is None:
        return
    if problem.base is None:
        raise input_error(ARGUMENT, f"predictions to compare the lists with, for {reader.metric}", "none")
    users, rows = len(problem.truth), len(problem.base.predictions)
    if rows != users:
        raise input_error(ARGUMENT, f"{users} rows, one per user of the truth", str(rows))


def check_repeats_in_base(problem: Problem) -> None:
    """Raise InputError if a base list has an item twice."""
    if problem.base is not None and isinstance(problem.base.predictions, Rankings):
        lists = problem.base.predictions
        if any(value.info.reads_base for value in problem.values):
            check_repeats(ARGUMENT, (lists.row(user).tolist() for user in range(len(lists))))
