"""Judged lists, by the definition: a user's list without excluded items, and what the truth says of each item."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.problem import JudgedCells
from exactk._inputs.model.lists import Rankings
from exactk._runtime.errors import input_error
from exactk.reference.rules import resolved_rules

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk.reference.judged_users import JudgedUsers

_ORDERS = ("lowest_id", "highest_id", "input_order", "raise")


def reference_judged_lists(problem: Problem, judged_users: JudgedUsers, users: range) -> JudgedCells:
    """Return the cells of these users, by the rules and the cutoff of the problem's only value."""
    (value,) = problem.values
    rules, k = resolved_rules(value), value.cutoff
    assert k is not None  # noqa: S101 - for the type checker
    if not isinstance(problem.predictions, Rankings) and rules["ties"] not in _ORDERS:
        raise input_error("convention", f"ties among {', '.join(_ORDERS)}", rules["ties"])
    shape = (len(users), k)
    cells = JudgedCells(
        np.full(shape, -1, np.int64),
        np.full(shape, math.nan),
        np.zeros(shape, np.bool_),
        np.zeros(len(users), np.int64),
        np.zeros(len(users), np.int64),
    )
    ordered = {**rules, "ties": "lowest_id" if rules["ties"] == "raise" else rules["ties"]}
    for row, user in enumerate(users):
        judged, excluded = judged_users.judged_user(user, rules), judged_users.excluded_items(user)
        ranked = chain.from_iterable(judged_users.ranked_groups(user, ordered))
        items = [item for item in ranked if item not in excluded]
        for rank, item, judgement in zip(judged.list_ranks, items, judged.ranking, strict=True):
            if rank > k:
                break
            cells.items[row, rank - 1] = item
            if judgement is not None:
                cells.grades[row, rank - 1] = judgement.grade
                cells.hits[row, rank - 1] = judgement.relevant
        cells.lengths[row], cells.relevant[row] = len(judged.top(k)), judged.relevant
    return cells
