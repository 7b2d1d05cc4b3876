"""The metrics of groups of items, from how often lists recommend items of each group.

Each number is exact until it is rounded once; a standard deviation is computed in 100 digits. All depend on the tally
alone, so that they are the same in whatever order tallies are merged.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import Value
    from exactk._report.group_tally import GroupTally

_DIGITS = Context(prec=100)
_DISCOUNT_DIGITS = Context(prec=32)
_SCALE = 57  # bits after the point of a discount: the lowest, of rank 2^31, is above 2^-5


def numbers_of_groups(value: Value, tally: GroupTally) -> list[Fraction | None]:
    """Return the exact number of each group; None if it is 0 / 0."""
    if tally.possible is not None:
        counts = zip(tally.counts[:, : value.cutoff].sum(axis=1).tolist(), tally.possible.tolist(), strict=True)
        return [Fraction(count, possible) if possible else None for count, possible in counts]
    exposures = _exposures(tally, value.cutoff, value.rules["discount"])
    total = sum(exposures)
    return [Fraction(one, total) if total else None for one in exposures]


def value_of_groups(value: Value, tally: GroupTally) -> float | None:
    """Return the standard deviation of the groups' numbers over their mean; None if it is 0 / 0.

    Over no lists at all, it is NaN.
    """
    if not tally.lists:
        return math.nan
    defined = [number for number in numbers_of_groups(value, tally) if number is not None]
    return None if len(defined) < 2 or not any(defined) else _relative_deviation(defined)


def _exposures(tally: GroupTally, cutoff: int | None, discount: str) -> list[int]:
    """Return each group's sum of the discounts of its ranks, times 2^57."""
    counts = tally.counts[:, :cutoff]
    weights = [_scaled_discount(discount, rank) for rank in range(1, counts.shape[1] + 1)]
    return [sum(count * weight for count, weight in zip(row, weights, strict=True) if count) for row in counts.tolist()]


@lru_cache(maxsize=1 << 16)
def _scaled_discount(kind: str, rank: int) -> int:
    """Return the discount of a rank, rounded to a double as in DCG, times 2^57."""
    number = rank + 1 if kind == "log2" else max(2, rank)
    logarithm = Decimal(number).ln(_DISCOUNT_DIGITS)
    return int(float(_DISCOUNT_DIGITS.divide(Decimal(2).ln(_DISCOUNT_DIGITS), logarithm)) * 2.0**_SCALE)


def _relative_deviation(numbers: Sequence[Fraction]) -> float:
    """Return the population standard deviation over the mean. Equal numbers have exactly 0."""
    if min(numbers) == max(numbers):
        return 0.0
    rounded = [_DIGITS.divide(Decimal(one.numerator), Decimal(one.denominator)) for one in numbers]
    mean = _DIGITS.divide(_sum(rounded), Decimal(len(rounded)))
    deviations = [_DIGITS.subtract(one, mean) for one in rounded]
    squares = _sum([_DIGITS.multiply(one, one) for one in deviations])
    variance = _DIGITS.divide(squares, Decimal(len(rounded)))
    return float(_DIGITS.divide(_DIGITS.sqrt(variance), mean))


def _sum(numbers: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for number in numbers:
        total = _DIGITS.add(total, number)
    return total
