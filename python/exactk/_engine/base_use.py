"""Warnings about base predictions that do not fit the predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._engine.shared_items import FEWEST_UNKEYED_ITEMS
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._report.state import plan_of_state

if TYPE_CHECKING:
    from exactk._inputs.alignment import AlignedInputs
    from exactk._report.report import Report


class BaseUse(NamedTuple):
    """How many users and items the base predictions have."""

    users: int = 0  # users with predictions
    users_without_base: int = 0  # among them
    items: int = 0  # of all base lists
    is_keyed: bool = False  # whether items have keys

    def plus(self, inputs: AlignedInputs) -> BaseUse:
        """Return the numbers of these users and of others."""
        if inputs.base is None:
            return self
        base, size = inputs.base.predictions, len(inputs.truth)
        sides = (inputs.predictions.present, base.present)
        in_predictions, in_base = (np.ones(size, np.bool_) if one is None else one for one in sides)
        is_shorter = len(in_predictions) != size or len(in_base) != size  # which the engine refuses
        return BaseUse(
            self.users + int(in_predictions.sum()),
            self.users_without_base + (0 if is_shorter else int((in_predictions & ~in_base).sum())),
            self.items + (len(base.items) if isinstance(base, (Rankings, SparseScores)) else base.item_count),
            self.is_keyed or inputs.base.item_vocabulary is not None,
        )


def describe_base_use(report: Report, use: BaseUse) -> str:
    """Return a warning if users have no base predictions, or these recommend no item of any list."""
    values = plan_of_state(report.state).readers_of_base
    if not values or not use.users:
        return ""
    if use.users_without_base == use.users:
        return "no user of the predictions has base predictions: check that both use the same user ids"
    if all(report[value.name] == 1 for value in values) and use.items >= (1 if use.is_keyed else FEWEST_UNKEYED_ITEMS):
        return (
            f"no item of base_predictions is in the predictions down to the cutoff of {values[-1].spelling}: "
            "check that both use the same item ids"
        )
    if use.users_without_base:
        count = use.users_without_base
        have, its = ("user has", "its list") if count == 1 else ("users have", "their lists")
        return f"{count} {have} predictions and no base predictions: every item of {its} is unexpected"
    return ""
