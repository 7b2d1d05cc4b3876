"""The form of a state as plain data and bytes, and the tallies that its values need."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactk._plan.conventions import Convention
from exactk._plan.metrics import CustomInfo, check_name
from exactk._plan.values import plan_group_tallies, plan_item_tallies
from exactk._report.catalogue_digest import Catalogue
from exactk._report.shards import SHARDS
from exactk._report.tallies import group_tally_from_bytes, tally_from_bytes
from exactk._report.validation import SUMS, GroupLabel
from exactk._runtime.shapes import (
    FLAG,
    Anything,
    Binary,
    Digest,
    Fields,
    Many,
    Maybe,
    OneOf,
    Pairs,
    Row,
    Text,
    Through,
    Whole,
    invalid,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import TallyPlan, Value
    from exactk._report.tallies import GroupTally, ItemTally
    from exactk._runtime.shapes import Shape

_MOST_ITEMS = 2**31 - 3


def _custom(name: str, range: tuple[float, float] | None, **fields: Any) -> CustomInfo:  # noqa: A002, ANN401 - as a state has them
    return CustomInfo(check_name(name), range=range, **fields)


def _bounds(low: object, high: object) -> tuple[float, float]:
    if type(low) is not float or type(high) is not float or math.isnan(low + high) or not low <= high:
        raise invalid("custom_metrics", "the range of a custom metric to be two numbers in order", [low, high])
    return low, high


_CATALOGUE: dict[str, Shape] = {
    "digest": Digest(),
    "size": Whole(1, _MOST_ITEMS),
    "source": OneOf(("catalogue", "train", "popularity")),
}
_CUSTOM: dict[str, Shape] = {
    "name": Text(),
    "of": OneOf(("judged", "lists")),
    "range": Maybe(Row(_bounds, (Anything(), Anything()))),
    "direction": OneOf(("higher", "lower", "none")),
    "digest": Digest(),
}
HEAD = Fields(
    dict,
    {
        "metrics": Many(Text()),
        "spellings": Many(Text()),
        "convention": Through(Convention.from_dict, Convention.to_dict),
        "weighted": FLAG,
        "counts": Anything(),
        "totals": Many(SUMS),
        "groups": Maybe(Pairs(GroupLabel(), Many(SUMS))),
        "group_order": Maybe(Many(GroupLabel())),
        "grade_column": Maybe(Text()),
        "truth_digest": Maybe(Digest()),
        "catalogue": Maybe(Fields(Catalogue, _CATALOGUE)),
        "custom_metrics": Many(Fields(_custom, _CUSTOM)),
        "shards": SHARDS,
    },
    optional=("shards",),
)
"""All of a state but its tallies."""

TALLIES = Fields(dict, {"item_tallies": Many(Binary()), "group_tallies": Many(Binary())})
"""The tallies of a state as text."""


def checked_tallies(
    tallies: Sequence[bytes], values: Sequence[Value], users: int, catalogue: Catalogue | None
) -> tuple[tuple[ItemTally, ...], tuple[GroupTally, ...]]:
    """Return the tallies that the values need, after checking that so many users and items can have them."""
    of_items, of_groups = plan_item_tallies(values), plan_group_tallies(values)
    count = len(of_items) + len(of_groups)
    if len(tallies) != count or (count and catalogue is None):
        raise invalid("", f"{count} tallies of items and groups, and a catalogue beside them", len(tallies))
    size = 0 if catalogue is None else catalogue.size
    item_tallies = tuple(_checked_item_tally(data, plan, size) for plan, data in zip(of_items, tallies, strict=False))
    of_rest = zip(of_groups, tallies[len(of_items) :], strict=True)
    group_tallies = tuple(group_tally_from_bytes(data, value, size) for value, data in of_rest)
    for lists in [*(tally.lists for tally in item_tallies), *(tally.lists for tally in group_tallies)]:
        if lists > users:
            raise invalid("", f"a tally of at most {users} lists", lists)
    return item_tallies, group_tallies


def _checked_item_tally(data: bytes, tally_plan: TallyPlan, items: int) -> ItemTally:
    tally = tally_from_bytes(data, lists_are_sets=tally_plan.lists_are_sets)
    if tally.cutoffs != tally_plan.cutoffs or (tally.short_lists is not None) != tally_plan.has_short_lists:
        raise invalid("", f"a tally of items at the cutoffs {tally_plan.cutoffs}", tally.cutoffs)
    if tally_plan.rules["foreign_items"] != "count" and len(tally.keys) > items:
        raise invalid("", f"a tally of at most {items} items", len(tally.keys))
    return tally
