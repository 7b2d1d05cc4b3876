"""Binary logarithms in 50 digits and the discounts of ranks, rounded once."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

DIGITS = Context(prec=50)
_LN_2 = Decimal(2).ln(DIGITS)


@lru_cache(maxsize=1 << 16)
def log2(number: int) -> Decimal:
    """Return the binary logarithm of a positive integer."""
    return DIGITS.divide(Decimal(number).ln(DIGITS), _LN_2)


@lru_cache(maxsize=1 << 16)
def discount(kind: str, rank: int) -> float:
    """Return the weight of a rank (from 1), correctly rounded: 50 digits, then one rounding."""
    if kind == "log2":
        return float(DIGITS.divide(Decimal(1), log2(rank + 1)))
    return float(DIGITS.divide(Decimal(1), max(Decimal(1), log2(rank))))  # log2_floored
