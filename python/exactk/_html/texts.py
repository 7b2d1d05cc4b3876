"""Numbers and verdicts as the page shows them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from exactk._report.difference_table import signed_number
from exactk._runtime.numbers import DIGITS
from exactk._runtime.table import format_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._html.page_parts import Tone
    from exactk._inference.intervals import MeanInterval
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


def with_intervals(values: Iterable[float], intervals: Iterable[MeanInterval]) -> list[str]:
    """Return the cells of a column: values with half of their intervals, or with both bounds if any cell needs these."""
    cells = list(zip(values, intervals, strict=True))
    if all(math.isnan(interval.low) or _has_one_width(value, interval) for value, interval in cells):
        texts = [f" ± {number((high - low) / 2)}" for _, (low, high) in cells]
    else:
        texts = [f" [{bound_text(one.low, one)}, {bound_text(one.high, one)}]" for _, one in cells]
    return [number(value) + text * (not math.isnan(one.low)) for (value, one), text in zip(cells, texts, strict=True)]


def _has_one_width(value: float, interval: MeanInterval) -> bool:
    """Return whether an interval is that of t, and its sides are printed alike."""
    return interval.method == "t" and number(value - interval.low) == number(interval.high - value)


def bound_text(bound: float, interval: MeanInterval) -> str:
    """Return a bound of an interval: ``<0.0001`` where rounding alone would put it at an end of the range."""
    least = 10.0**-DIGITS
    for end, inner, sign in zip(interval.limits, (least, -least), "<>", strict=True):
        if 0 < abs(bound - end) < least and number(bound) == number(end):
            return f"{sign}{number(end + inner)}"
    return number(bound) if math.isfinite(bound) else "-"


def interval_clause(interval: MeanInterval, level: str, users: str) -> str:
    """Return what an interval says, to follow a value in a sentence; of a bound at the end of the range, nothing."""
    low, high = (bound_text(bound, interval) for bound in interval)
    least, most = interval.limits
    says_low, says_high = interval.low > least, interval.high < most
    if says_low and says_high:
        return f", between {low} and {high} with {level} confidence ({users})"
    if says_low or says_high:
        return f"; with {level} confidence {f'at least {low}' if says_low else f'at most {high}'} ({users})"
    return ""


def tone_of(verdict: str) -> Tone:
    """Return the colour of a verdict, whose word says the same."""
    return _TONES.get(verdict, "")


def share_text(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.2g} %"


def key_text(key: object) -> str:
    """Return the key of a user or an item as text; bytes that are none are escaped."""
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else str(key)
