"""The base list of a user: the ranks of the items that other predictions recommend."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk.reference.ranking import excluded_items, numbers_of_row, scored_row

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
        if item in excluded or (item in by_item and rules["duplicate_items"] == "collapse"):
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
        return items, numbers_of_row(predictions, predictions.ranks, user)
    row, excluded = scored_row(predictions, base.candidates, user), excluded_items(base.exclude, user)
    ranking = chain.from_iterable(row.ranking(excluded, predictions.min_score, ties=rules["ties"], nan=rules["nan"]))
    ids = np.array([row.ids[i] for i in ranking], np.int64)
    return base.to_ids(ids).tolist(), list(range(1, len(ids) + 1))
