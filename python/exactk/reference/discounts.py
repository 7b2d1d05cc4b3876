from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from exactk.reference.logarithms import DIGITS, log2


@lru_cache(maxsize=1 << 16)
def discount(kind: str, rank: int) -> float:
    """Return the weight of a rank (from 1), correctly rounded: 50 digits, then one rounding."""
    if kind == "log2":
        return float(DIGITS.divide(Decimal(1), log2(rank + 1)))
    return float(DIGITS.divide(Decimal(1), max(Decimal(1), log2(rank))))  # log2_floored
