"""The agreement of two lists once more, in fractions, from the formulas of the documentation: on plain lists alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Items = Sequence[object]


def _common(one: Items, other: Items) -> int:
    return sum(item in other for item in one)


def overlap(one: Items, other: Items, k: int) -> Fraction | None:
    a, b = one[:k], other[:k]
    return Fraction(_common(a, b), max(len(a), len(b))) if a or b else None


def jaccard(one: Items, other: Items, k: int) -> Fraction | None:
    union = set(one[:k]) | set(other[:k])
    return Fraction(_common(one[:k], other[:k]), len(union)) if union else None


def rbo_extrapolated(one: Items, other: Items, k: int, p: Fraction) -> Fraction | None:
    """Webber, Moffat, Zobel 2010, equation 32, term by term as it is printed."""
    shorter, longer = sorted((one[:k], other[:k]), key=len)
    s, length = len(shorter), len(longer)
    if not length:
        return None
    x = [_common(shorter[:d], longer[:d]) for d in range(length + 1)]
    if not s:
        return Fraction(0)
    if p == 0:
        return Fraction(x[1])
    sums = sum((Fraction(x[d], d) * p**d for d in range(1, length + 1)), Fraction(0))
    sums += sum((Fraction(x[s] * (d - s), s * d) * p**d for d in range(s + 1, length + 1)), Fraction(0))
    return (1 - p) / p * sums + (Fraction(x[length] - x[s], length) + Fraction(x[s], s)) * p**length


def rbo_truncated(one: Items, other: Items, k: int, p: Fraction) -> Fraction | None:
    """The weighted mean of the overlap at the depths 1 to k, also beyond the lists."""
    if not one and not other:
        return None
    weights = [p ** (d - 1) for d in range(1, k + 1)]
    overlaps = [Fraction(_common(one[:d], other[:d]), d) for d in range(1, k + 1)]
    return sum((w * a for w, a in zip(weights, overlaps, strict=True)), Fraction(0)) / sum(weights)


def kendall_tau(one: Items, other: Items, k: int) -> Fraction | None:
    common = [item for item in one[:k] if item in other[:k]]
    pairs = list(combinations(common, 2))
    if not pairs:
        return None
    in_order = sum(other.index(above) < other.index(below) for above, below in pairs)
    return Fraction(2 * in_order - len(pairs), len(pairs))


def lip(one: Items, other: Items, k: int) -> Fraction | None:
    ranks = [one.index(item) + 1 for item in other[:k] if item in one]
    return Fraction(max(0, max(ranks) - k)) if ranks else None
