"""Adjusted p-values of a family of comparisons."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

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


def _by_rank(p_values: Sequence[float], adjusted: Callable[[list[float]], list[float]]) -> list[float]:
    """Adjust p-values in ascending order, and return them in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result = [0.0] * len(p_values)
    for index, p in zip(order, adjusted([p_values[index] for index in order]), strict=True):
        result[index] = p
    return result
