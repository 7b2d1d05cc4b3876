"""The inputs that metrics read, items and the truth, and what is asked of metrics that read the items of lists."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from exactk._plan.metrics import evaluation_metrics
from exactk._plan.values import reads_items
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.faults import Name, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.values import Plan, Value


def items_of_metrics(
    items: object, values: Sequence[Value], columns: ColumnNames, threads: int
) -> CanonicalItems | None:
    """Return the items; None, with a warning, if no metric reads them."""
    from exactk._inputs.items import Items

    table = Items.from_argument(items, columns, threads).table
    if any(map(reads_items, values)):
        warn_of_items_outside(table, values)
        warn_of_split_tail(table, values)
        return table
    warn(Name("items"), " has no effect on the requested metrics: leave it out")
    return None


def check_truth_is_not_read(values: Sequence[Value], other_use: str = "") -> None:
    """Raise InputTypeError if a value needs the truth, which is None; `other_use` is what None is for besides."""
    reader = next((value for value in values if _reads_truth(value)), None)
    if reader is None:
        return
    others = ", ".join(name for name, info in evaluation_metrics.items() if not info.reads_truth)
    hint = f"None is for {other_use}metrics of the lists alone: {others}"
    raise type_error("truth", f"the relevant items of each user, which {reader.spelling} needs", "None", hint=hint)


def check_base_is_not_read(values: Sequence[Value]) -> None:
    """Raise InputError if a value needs base predictions, which only a call of `exactk.evaluate` takes."""
    reader = next((value for value in values if value.info.reads_base), None)
    if reader is not None:
        hint = "exactk.evaluate(..., base_predictions=...) computes it"
        raise input_error("metrics", "metrics that need no base predictions", reader.spelling, hint=hint)


def _reads_truth(value: Value) -> bool:
    counts_users = value.info.of_collection and value.rules["list_users"] == "users"  # who have relevant items
    return value.info.reads_truth or counts_users


def check_collection_values(values: Plan, weights: object = None) -> None:
    """Raise InputError if users of a value of all lists together have weights, or fields contradict each other."""
    if not values.of_collections:
        return
    for value in values:
        if not value.info.of_collection:
            continue
        if weights is not None:
            expected = f"None with {value.spelling}, which all lists together have"
            raise input_error("weights", expected, "weights", hint="evaluate it by itself")
        _check_fields(value)


def check_item_groups(values: Plan, items: CanonicalItems | None) -> None:
    """Raise InputError unless there are groups of items for the values that need some."""
    if not values.group_tallies:
        return
    reader = next(value for value in values if value.info.reads_groups)
    groups = () if items is None else items.group_labels
    if len(groups) < 2:
        expected = f"at least two groups of items, which {reader.spelling} compares"
        hint = "items=exactk.Items(..., item_groups=...) gives the group of each item"
        raise input_error("items", expected, f"only {groups[0]!r}" if groups else "none", hint=hint)
    with_history = next((value for value in values if value.info.reads_groups and value.info.reads_history), None)
    if with_history is not None and (items is None or items.histories is None):
        expected = f"what each user has in train, which {with_history.spelling} needs"
        raise input_error("items", expected, "none", hint="items=exactk.Items(train=..., item_groups=...) has it")


def with_item_groups(values: Plan, items: CanonicalItems | None) -> Plan:
    """Return the values with one for each group in place of those of every group; raise InputError for groups there are not."""
    if not values.item_groups:
        return values
    from exactk._plan.item_groups import MOST_ITEM_GROUPS

    reader = next(value for value in values if value.item_group is not None)
    labels = () if items is None else items.item_group_labels
    if items is None or not labels:
        expected = f"groups of items, which {reader.spelling} needs"
        hint = "items=exactk.Items(..., item_groups=...) gives the group of each item, features= its tags"
        raise input_error("items", expected, "none", hint=hint)
    expanded = values.of_each_group((*labels, None) if items.has_items_without_group else labels)
    if (count := len(expanded.item_groups)) > MOST_ITEM_GROUPS:
        hint = "item_group=label asks for one of them"
        raise input_error("metrics", f"at most {MOST_ITEM_GROUPS} groups of items", str(count), hint=hint)
    return expanded


def _with_field(value: Value, field: str, choice: str) -> str:
    cutoff = "" if value.cutoff is None else f"@{value.cutoff}"
    return f"{value.metric}{cutoff}({field}={choice})"


def _divides_by_catalogue(value: Value) -> bool:
    info, rules = value.info, value.rules
    if "gini_items" in info.own_fields:
        return bool(rules["gini_items"] == "catalogue")
    if "entropy_over" in info.own_fields:
        return bool(rules["entropy_over"] == "log_items")
    return info.unit_range and "list_similarity" not in info.own_fields and not value.counts_hits


def _check_fields(value: Value) -> None:
    rules, own_fields = value.rules, value.info.own_fields
    if rules["foreign_items"] == "count" and _divides_by_catalogue(value):
        expected = f"{value.spelling}: foreign_items of 'ignore' or 'raise'"
        hint = f"it divides by the items of the catalogue: {_with_field(value, 'foreign_items', 'ignore')} leaves out the others"
        raise input_error("metrics", expected, "'count', by which other items count too", hint=hint)
    reads_sets = "list_similarity" in own_fields or (value.info.reads_groups and value.info.reads_history)
    if rules["duplicate_items"] == "count" and (reads_sets or value.counts_hits):
        expected = f"{value.spelling}: duplicate_items of 'collapse', 'first' or 'raise'"
        raise input_error("metrics", expected, "'count', by which a list is no set of items")


_OF_ALL_ITEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "novelty_over": ("interactions",),
        "arp_over": ("interactions", "max"),
        "tail": ("head_share", "lowest_share"),
    }
)
"""The fields of metrics of popularity, with the choices by which an item's number depends on the popularity of others."""


def warn_of_items_outside(items: CanonicalItems, values: Sequence[Value]) -> None:
    """Warn if train has items outside the catalogue, and a value compares popularities with those of all items."""
    dependent = [value.spelling for value in values if _compares_with_all_items(value)]
    if items.foreign_items and dependent:
        outside = f"{plural(items.foreign_items, 'item')} of train outside the catalogue"
        warn(
            f"items: {outside}: the sums, the ranks and the highest popularity in {', '.join(dependent)} leave them out"
        )


def _compares_with_all_items(value: Value) -> bool:
    own_fields = value.info.own_fields
    fields = [field for field in _OF_ALL_ITEMS if field in own_fields]
    return "popularity" in own_fields and all(value.rules[field] in _OF_ALL_ITEMS[field] for field in fields)


def warn_of_split_tail(items: CanonicalItems, values: Sequence[Value]) -> None:
    """Warn if the order of the catalogue decides which of equally popular items are in a tail.

    RecBole, whose tail has no unseen item, cuts so too.
    """
    for value in values:
        rules = value.rules
        if "tail" not in value.info.own_fields or rules["tail"] != "lowest_share" or rules["unseen_items"] == "zero":
            continue
        counts = items.interactions if rules["popularity"] == "interactions" else items.users
        levels = np.sort(counts[counts > 0]) if counts is not None else np.zeros(0, np.int64)
        share = value.parameter * len(levels)
        in_tail = max(len(levels) - math.ceil(share - 1e-9 * max(1.0, share)), 1)
        if in_tail < len(levels) and levels[in_tail - 1] == levels[in_tail]:
            found = f"{plural(int((levels == levels[in_tail]).sum()), 'item')} of popularity {levels[in_tail]}"
            warn(
                f"items: the order of the catalogue decides which of {found} are in the tail of {value.spelling}; "
                "tail=head_share keeps equal items together"
            )
            return
