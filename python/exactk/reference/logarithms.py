"""Binary logarithms of integers in 50 digits, for one rounding to a double at the end."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

DIGITS = Context(prec=50)
_LN_2 = Decimal(2).ln(DIGITS)


@lru_cache(maxsize=1 << 16)
def log2(number: int) -> Decimal:
    """Return the binary logarithm of a positive integer."""
    return DIGITS.divide(Decimal(number).ln(DIGITS), _LN_2)
