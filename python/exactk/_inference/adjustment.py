"""Adjusted p-values of a family of comparisons."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that keep the chance of any false claim in the family [1]_.

    The i-th smallest of K is multiplied by K - i + 1, and is at least the adjusted one before it.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    size = len(p_values)
    return _by_rank(p_values, lambda p: list(accumulate((min(1.0, (size - i) * one) for i, one in enumerate(p)), max)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values that keep the expected share of false claims among the claims of the family [1]_.

    The i-th smallest of K is multiplied by K / i, and is at most the adjusted one after it.

    References
    ----------
    .. [1] Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
    """
    size = len(p_values)

    def adjusted(p: list[float]) -> list[float]:
        scaled = [min(1.0, size / i * one) for i, one in enumerate(p, start=1)]  # of the largest, p itself: no rounding
        return list(accumulate(reversed(scaled), min))[::-1]

    return _by_rank(p_values, adjusted)


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Return the p-values times their number."""
    return [min(1.0, len(p_values) * p) for p in p_values]


def unadjusted(p_values: Sequence[float]) -> list[float]:
    """Return the p-values."""
    return list(p_values)


ADJUSTMENTS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": unadjusted,
}


def adjust(p_values: Sequence[float], method: str) -> list[float]:
    """Return adjusted p-values; those that are NaN stay so, and are no members of the family."""
    numbers = [p for p in p_values if not math.isnan(p)]
    adjusted = iter(ADJUSTMENTS[method](numbers))
    return [p if math.isnan(p) else next(adjusted) for p in p_values]


class PValue(NamedTuple):
    """A p-value of a family, with its standard error if it comes from random flips, and when adjusted."""

    p: float
    p_error: float
    p_adjusted: float


def errors_of_adjusted(family: Sequence[PValue], method: str, flips: int) -> list[float]:
    """Return the standard error of each adjusted p-value of a family; 0 of those that are NaN.

    Max-T counts random flips, also where p is exact; of a single p-value there is nothing to adjust. Every other
    adjusted p-value is a multiple of one p-value: of those with the same adjusted p-value, the smallest by Holm's
    method and the largest by that of Benjamini and Hochberg. Its error is the same multiple.
    """
    numbers = [one for one in family if not math.isnan(one.p)]
    if method == "max_t" and len(numbers) > 1:
        return [
            0.0 if math.isnan(one.p) else math.sqrt(one.p_adjusted * (1 - one.p_adjusted) / flips) for one in family
        ]
    source: dict[float, PValue] = {}
    if method in {"holm", "benjamini_hochberg"}:
        turn = -1 if method == "holm" else 1
        source = {one.p_adjusted: one for one in sorted(numbers, key=lambda one: (turn * one.p, one.p_error))}

    def error(one: PValue) -> float:
        multiplied = source.get(one.p_adjusted, one) if one.p_adjusted < 1 else one  # many may be 1, each by its own p
        return multiplied.p_error * (one.p_adjusted / multiplied.p)

    return [0.0 if math.isnan(one.p) else error(one) for one in family]


def _by_rank(p_values: Sequence[float], adjusted: Callable[[list[float]], list[float]]) -> list[float]:
    """Adjust p-values in ascending order, and return them in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result = [0.0] * len(p_values)
    for index, p in zip(order, adjusted([p_values[index] for index in order]), strict=True):
        result[index] = p
    return result
