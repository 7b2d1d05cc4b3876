"""The rules that a value is computed by, and the discounts of ranks: binary logarithms in 50 digits, rounded once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from exactk._plan.fields import STRICT_TIES

if TYPE_CHECKING:
    from exactk._plan.values import Value

Rules = Mapping[str, Any]


def of_whole_lists(rules: Rules) -> Rules:
    """Return the rules for lists with the items that are not judged."""
    return {**rules, "unjudged": "keep"}


def list_rules(rules: Rules) -> Rules:
    """Return the rules by which the items of lists are read: whole lists, no gain matters, and the order of ties must be one."""
    ties = "lowest_id" if rules["ties"] == "raise" else rules["ties"]  # only ties with items of the truth are refused
    return {**of_whole_lists(rules), "gain": "binary", "weight": "one", "ties": ties}


def resolved_rules(value: Value) -> Rules:
    """Return the value's rules as adapted to its metric: irrelevant or fixed gains, whole lists where unjudged items matter, weights of recall alone, expected ties for pairs, and an order of the list."""
    info, rules = value.info, dict(value.rules)
    if not info.uses_gains:
        rules["gain"] = "binary"
    if "weight" not in info.own_fields:
        rules["weight"] = "one"
    if info.takes_max_grade:
        rules["gain"] = "exp2"
    if info.pairwise and rules["ties"] in STRICT_TIES:
        rules["ties"] = "expected"
    if not info.may_condense:
        rules["unjudged"] = "keep"
    if info.reads_list and rules["ties"] == "raise":  # ties are refused apart
        rules["ties"] = "lowest_id"
    return rules


DIGITS = Context(prec=50)
LN_2 = Decimal(2).ln(DIGITS)


@lru_cache(maxsize=1 << 16)
def log2(number: float) -> Decimal:
    """Return the binary logarithm of a positive number."""
    return DIGITS.divide(Decimal(number).ln(DIGITS), LN_2)


def discount(rules: Rules, rank: int) -> float:
    """Return the weight of a rank (from 1), correctly rounded: 50 digits, then one rounding."""
    if rules["discount"] == "table":
        return float(dict(enumerate(rules["discount_table"], 1)).get(rank, 0))
    if rules["discount"] == "geometric":
        weight = DIGITS.power(Decimal(rules["discount_persistence"]), rank - 1)
        return float(weight) if weight >= Decimal(2) ** -1000 else 0.0
    return _discount(rules["discount"], rank, rules["discount_base"], rules["discount_power"])


@lru_cache(maxsize=1 << 20)
def _discount(kind: str, rank: int, base: float, power: float) -> float:
    if kind in {"inverse", "power", "none"}:
        exponent = {"inverse": 1, "power": power, "none": 0}[kind]
        return float(DIGITS.divide(Decimal(1), DIGITS.power(Decimal(rank), Decimal(exponent))))
    unit = Decimal(1) if kind in {"log2", "log2_floored"} else DIGITS.divide(Decimal(base).ln(DIGITS), LN_2)
    number = max(log2(rank), unit) if kind in {"log2_floored", "log_floored"} else log2(rank + 1)
    return float(DIGITS.divide(unit, number))
