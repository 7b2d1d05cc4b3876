"""The range of the values that users may have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactk._plan.values import Value

_RANGES = {"kendall_tau": (-1.0, 1.0)}
_UP_TO_CUTOFF = frozenset({"num_hits", "num_recommended"})
_SET_VALUES = {"zero": 0.0, "one": 1.0}  # what a convention gives to users without a value


def range_of(value: Value) -> tuple[float, float]:
    """Return the least and the greatest value that a user may have, whatever the lists are; infinite where there is none.

    A metric is in [0, 1] if its description says so (`unit_range`), and otherwise above 0, unless it stands here.
    """
    rules = value.rules
    if value.custom is not None:
        fields = "empty_truth", "empty_list", "missing_list", "undefined"
        low, high = value.custom.range or (-math.inf, math.inf)
        set_values = [_SET_VALUES[rules[name]] for name in fields if rules[name] in _SET_VALUES]
        return min([low, *set_values]), max([high, *set_values])
    if value.metric in _RANGES:
        return _RANGES[value.metric]
    if value.needs.distances and rules["distance"] == "dot":
        return -math.inf, math.inf
    if rules["duplicate_items"] == "count":  # so that a list may have more hits than there are relevant items
        return 0.0, math.inf
    if value.info.unit_range:
        return 0.0, 1.0
    return 0.0, float(value.cutoff or math.inf) if value.metric in _UP_TO_CUTOFF else math.inf


def is_in_unit_range(value: Value) -> bool:
    """Return whether each user's value is in [0, 1] for any list."""
    low, high = range_of(value)
    return low >= 0 and high <= 1
