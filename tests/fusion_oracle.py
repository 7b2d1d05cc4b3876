"""Fused scores in fractions, from the formulas of the documentation; only square roots and powers are rounded, to 50 digits."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

DIGITS = Context(prec=50)
RANK_METHODS = ("rrf", "rbc", "borda")

System = Mapping[str, float] | Sequence[str]  # of one user: items with scores, or ranked ones


def fused_scores(systems: Mapping[str, System], method: str, options: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return the fused score of each item of one user."""
    weights = options.get("weights") or dict.fromkeys(systems, 1)
    systems = {name: system for name, system in systems.items() if weights[name]}
    lists = {name: best_first(system, options) for name, system in systems.items()}
    union = {item for entries in lists.values() for item, _ in entries}
    norm = "none" if method in RANK_METHODS else options.get("norm") or "min_max"
    values = {
        name: {
            item: Fraction(weights[name]) * value
            for (item, _), value in zip(
                entries, values_of(name, entries, method, norm, len(union), options), strict=True
            )
        }
        for name, entries in lists.items()
    }
    missing = {
        name: missing_value(method, norm, options, of_system, len(union), Fraction(weights[name]))
        for name, of_system in values.items()
    }
    return {
        item: combined(
            method,
            [of_system[item] for of_system in values.values() if item in of_system],
            [missing[name] for name, of_system in values.items() if item not in of_system],
            options,
        )
        for item in union
    }


def best_first(system: System, options: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the items down to the depth with their scores; of ranked items these are distinct."""
    ties = options.get("ties", "lowest_id")
    if isinstance(system, Mapping):
        entries = list(system.items())
        if ties != "input_order":
            entries.sort(key=lambda one: one[0], reverse=ties == "highest_id")
        entries.sort(key=lambda one: -one[1])
    else:
        entries = [(item, -float(rank)) for rank, item in enumerate(system)]
    return entries[: options.get("depth") or None]


def values_of(
    name: str, entries: list[tuple[str, float]], method: str, norm: str, union: int, options: Mapping[str, Any]
) -> list[Fraction]:
    size = len(entries)
    ranks = [[r for r, (_, other) in enumerate(entries, 1) if other == score] for _, score in entries]
    if norm != "rank" and options.get("ties", "lowest_id") not in {"shared", "expected"}:
        ranks = [[r] for r in range(1, size + 1)]
    elif norm != "rank" and options["ties"] == "shared":
        ranks = [[max(tied)] for tied in ranks]
    if method in RANK_METHODS or norm in {"rank", "borda"}:
        return [
            sum(of_rank(r, size, method, norm, union, options) for r in tied) / Fraction(len(tied)) for tied in ranks
        ]
    return normalised([Fraction(score) for _, score in entries], norm, low_of(name, options))


def of_rank(r: int, size: int, method: str, norm: str, union: int, options: Mapping[str, Any]) -> Fraction:
    if method == "rrf":
        return 1 / (Fraction(options.get("rank_constant", 60)) + r)
    if method == "rbc":
        persistence = Fraction(options.get("persistence", 0.8))
        return (1 - persistence) * persistence ** (r - 1)
    if norm == "rank":
        return 1 - Fraction(r - 1, size)
    return Fraction(union - r + 1, 1 if method == "borda" else union)


def low_of(name: str, options: Mapping[str, Any]) -> Fraction:
    low = options.get("low", 0)
    return Fraction(low[name] if isinstance(low, Mapping) else low)


def normalised(scores: list[Fraction], norm: str, low: Fraction) -> list[Fraction]:
    if norm == "none" or not scores:
        return scores
    size, least, greatest = len(scores), min(scores), max(scores)
    mean = sum(scores) / Fraction(size)
    variance = sum((score - mean) ** 2 for score in scores) / Fraction(size)
    root = Fraction(DIGITS.sqrt(DIGITS.divide(Decimal(variance.numerator), Decimal(variance.denominator))))
    origin, length, without = {
        "min_max": (least, greatest - least, Fraction(1)),
        "max": (Fraction(0), greatest, Fraction(0)),
        "sum": (least, sum(score - least for score in scores), Fraction(1, size)),
        "z": (mean, root, Fraction(0)),
        "theoretical_min_max": (low, greatest - low, Fraction(1)),
        "distribution": (mean - 3 * root, 6 * root, Fraction(1, 2)),
    }[norm]
    return [(score - origin) / length if length else without for score in scores]


def missing_value(
    method: str, norm: str, options: Mapping[str, Any], values: Mapping[str, Fraction], union: int, weight: Fraction
) -> Fraction:
    if method == "borda" or (method in {"sum", "mnz"} and norm == "borda"):
        return weight * Fraction(union - len(values) + 1, 2) / (1 if method == "borda" else max(1, union))
    is_lowest = (options.get("missing") or ("lowest" if norm == "z" else "zero")) == "lowest"
    return min(values.values(), default=Fraction(0)) if is_lowest and method in {"sum", "mnz"} else Fraction(0)


def combined(method: str, values: list[Fraction], missing: list[Fraction], options: Mapping[str, Any]) -> Fraction:
    if method in {"max", "min"}:
        return max(values) if method == "max" else min(values)
    if method == "median":
        return statistics.median(values)
    total = sum(values + missing)
    if method == "anz":
        return Fraction(total) / len(values)
    if method == "mnz":
        return Fraction(DIGITS.power(Decimal(len(values)), Decimal(options.get("power", 1)))) * total
    return Fraction(total)
