from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

_DIGITS = Context(prec=50)
_LN_2 = Decimal(2).ln(_DIGITS)


def _log2(number: int) -> Decimal:
    return _DIGITS.divide(Decimal(number).ln(_DIGITS), _LN_2)


@lru_cache(maxsize=1 << 16)
def discount(kind: str, rank: int) -> float:
    """Return the weight of a rank (from 1), correctly rounded: 50 digits, then one rounding."""
    if kind == "log2":
        return float(_DIGITS.divide(Decimal(1), _log2(rank + 1)))
    return float(_DIGITS.divide(Decimal(1), max(Decimal(1), _log2(rank))))  # log2_floored
