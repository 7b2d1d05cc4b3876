"""How often items, and items of each group, are recommended: what their metrics need to be counted."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._plan.fields import fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.values import Value


_COUNTING_FIELDS = ("foreign_items", "list_users", "users", "empty_truth", "empty_list")
"""The fields that decide which lists and items are counted, beside those that decide how lists are read."""


class TallyPlan(NamedTuple):
    """Lists whose items are counted, for all values of these lists."""

    rules: Mapping[str, Any]  # of any of these values
    cutoffs: tuple[int | None, ...]  # ascending; None, the last: whole lists
    has_short_lists: bool  # whether items are counted by the length of short lists too

    @property
    def lists_are_sets(self) -> bool:
        """Whether an item counts once per list."""
        return bool(self.rules["duplicate_items"] != "count")


def plan_item_tallies(values: Sequence[Value]) -> tuple[TallyPlan, ...]:
    """Return what to count for the values, whatever their order."""
    by_key: dict[tuple[Any, ...], list[Value]] = {}
    for value in values:
        if value.info.of_collection and not value.info.reads_groups:
            by_key.setdefault(counting_key(value.rules), []).append(value)
    return tuple(_plan_of_values(by_key[key]) for key in sorted(by_key, key=repr))


def tally_index(value: Value, tallies: Sequence[TallyPlan]) -> tuple[int, int]:
    """Return which of the tallies has the value's lists, and the column of its cutoff."""
    index = [counting_key(tally.rules) for tally in tallies].index(counting_key(value.rules))
    return index, tallies[index].cutoffs.index(value.cutoff)


def _plan_of_values(values: Sequence[Value]) -> TallyPlan:
    cutoffs = sorted({value.cutoff for value in values}, key=lambda cutoff: inf if cutoff is None else cutoff)
    needs_lengths = any(
        "list_similarity" in value.info.own_fields and value.rules["list_similarity"] == "cosine" for value in values
    )
    return TallyPlan(values[0].rules, tuple(cutoffs), needs_lengths)


def counting_key(rules: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what decides which lists are counted, and which items of them."""
    return tuple(rules[name] for name in (*fields_of("ranking", "judging"), *_COUNTING_FIELDS))


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
