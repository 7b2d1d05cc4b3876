"""Numbers and verdicts as the page shows them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from exactk._report.difference_table import signed_number
from exactk._report.display import DIGITS, format_number

if TYPE_CHECKING:
    from exactk._html.parts import Tone
    from exactk._inference.significance import Interval
    from exactk._report.difference import Difference

_HYPHEN = re.compile(r"(?<![\w.])-(?=[\d.])")
_TONES: dict[str, Tone] = {"better": "better", "worse": "worse"}


def number(value: float) -> str:
    """Return a value as reports print it, with four decimals."""
    return "NaN" if math.isnan(value) else format_number(value, DIGITS)


def signed(value: float, row: Difference) -> str:
    """Return a difference with its sign, and as many decimals as the row's interval needs."""
    return with_minus_signs(signed_number(value, row))


def with_minus_signs(text: str) -> str:
    """Return numbers with minus signs where they have hyphens, but in exponents."""
    return _HYPHEN.sub("\N{MINUS SIGN}", text)


def with_interval(value: float, interval: Interval) -> str:
    """Return a value with the half width of its interval, or with both bounds if it is not in their middle."""
    low, high = interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return number(value)
    half = (high - low) / 2
    if abs((low + high) / 2 - value) <= 0.5e-4 + 1e-9 * abs(value):
        return f"{number(value)} ± {format_number(half, DIGITS)}"
    return f"{number(value)} ({number(low)} to {number(high)})"


def tone_of(verdict: str) -> Tone:
    """Return the colour of a verdict, whose word says the same."""
    return _TONES.get(verdict, "")


def share_text(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.2g} %"


def key_text(key: object) -> str:
    """Return the key of a user or an item as text; bytes that are none are escaped."""
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else str(key)
