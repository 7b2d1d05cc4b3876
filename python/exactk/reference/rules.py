"""The rules that a value is computed by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exactk._plan.fields import STRICT_TIES

if TYPE_CHECKING:
    from exactk._plan.values import Value

Rules = Mapping[str, Any]


def list_rules(rules: Rules) -> Rules:
    """Return the rules by which the items of lists are read: no gain matters, and the order of ties must be one."""
    ties = "lowest_id" if rules["ties"] == "raise" else rules["ties"]  # only ties with items of the truth are refused
    return {**rules, "gain": "binary", "weight": "one", "ties": ties}


def resolved_rules(value: Value) -> Rules:
    """Return the value's rules as adapted to its metric: irrelevant or fixed gains, weights of recall alone, expected ties for pairs, and an order of the list."""
    info, rules = value.info, dict(value.rules)
    if not info.uses_gains:
        rules["gain"] = "binary"
    if "weight" not in info.own_fields:
        rules["weight"] = "one"
    if info.takes_max_grade:
        rules["gain"] = "exp2"
    if info.pairwise and rules["ties"] in STRICT_TIES:
        rules["ties"] = "expected"
    if info.reads_list and rules["ties"] == "raise":  # ties are refused apart
        rules["ties"] = "lowest_id"
    return rules
