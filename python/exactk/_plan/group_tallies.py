"""How often items of each group are recommended: what metrics of groups of items need to be counted."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from exactk._plan.item_tallies import counting_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import Value


def plan_group_tallies(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return what to count, whatever the order of the values: each metric and its lists, down to the last cutoff.

    Counts are by rank, so that all cutoffs share them.
    """
    by_key: dict[tuple[Any, ...], list[Value]] = {}
    for value in values:
        if value.info.reads_groups:
            by_key.setdefault(_key(value), []).append(value)
    return tuple(max(by_key[key], key=_depth) for key in sorted(by_key, key=repr))


def group_tally_index(value: Value, tallies: Sequence[Value]) -> int:
    """Return which of the tallies has the value's counts."""
    return list(map(_key, tallies)).index(_key(value))


def _depth(value: Value) -> float:
    return inf if value.cutoff is None else value.cutoff


def _key(value: Value) -> tuple[Any, ...]:
    return (value.metric, *counting_key(value.rules))
