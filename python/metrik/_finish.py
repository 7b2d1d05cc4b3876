"""From exact sums to the numbers of a report."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrik._metrics import Value
    from metrik._state import Sums

_DIGITS = Context(prec=40)  # libm's exponential differs by an ulp between platforms


def mean(value: Value, sums: Sums, *, weighted: bool) -> float:
    """Return the mean over users (macro, geometric) or the ratio of the sums (micro), correctly rounded."""
    if sums.users == 0 or sums.undefined:
        return math.nan
    divisor, scale = _divisor(value, sums, weighted=weighted)
    if divisor == 0:
        if value.rules["average"] != "micro":  # every weight is 0
            return math.nan
        return {"zero": 0.0, "one": 1.0}.get(value.rules["undefined"], math.nan)
    total, divisor = sums.total << scale, divisor << sums.total_scale
    if value.rules["average"] == "geometric":
        return float(_DIGITS.divide(Decimal(total), Decimal(divisor)).exp(_DIGITS))
    return total / divisor  # Python rounds the quotient of integers once


def standard_deviation(value: Value, sums: Sums, *, weighted: bool) -> float:
    """Return the population standard deviation of the users' values; NaN unless their mean is the arithmetic one."""
    divisor, scale = _divisor(value, sums, weighted=weighted)
    if value.rules["average"] != "macro" or divisor == 0 or sums.undefined:
        return math.nan
    weight = Fraction(divisor, 2**scale)
    average = Fraction(sums.total, 2**sums.total_scale) / weight
    variance = Fraction(sums.squares, 2**sums.squares_scale) / weight - average**2
    return math.sqrt(max(variance, Fraction(0)))  # exact, but for products that underflow


def _divisor(value: Value, sums: Sums, *, weighted: bool) -> tuple[int, int]:
    """Return what the total is divided by, as an integer and its scale."""
    if weighted or value.rules["average"] == "micro":
        return sums.weight, sums.weight_scale
    return sums.users, 0
