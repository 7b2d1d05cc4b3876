"""Scales from numbers to coordinates, and their axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._html.charts.svg import label, line

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_TICKS = 6
_LEAST = 1e-290  # size of a scale, whose steps are normal doubles


@dataclass(frozen=True)
class Scale:
    """A linear map from numbers to coordinates."""

    low: float
    high: float
    start: float  # coordinate of `low`
    end: float

    def __call__(self, number: float) -> float:
        number = min(max(number, self.low), self.high)
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the scale, at most six."""
        step = _round_step((self.high - self.low) / _MOST_TICKS)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]

    def texts(self, *, signed: bool = False) -> list[str]:
        """Return the numbers of the ticks, all with as many decimals as they need."""
        step = _round_step((self.high - self.low) / _MOST_TICKS)
        return [tick_text(tick, step, signed=signed) for tick in self.ticks]


def scale_of(numbers: Iterable[float], start: float, end: float, *, include: Iterable[float] = ()) -> Scale:
    """Return a scale with room for finite numbers, and for those to include."""
    finite = [number for number in (*numbers, *include) if math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if not math.isfinite(high - low):  # of the largest doubles
        low, high = low / 4, high / 4
    room = 0.05 * (high - low)
    if high - low <= max(1e-12 * max(abs(low), abs(high)), _LEAST):  # one number, or rounding
        room = 0.05 * max(abs(low), abs(high)) or 1.0
    return Scale(low - room, high + room, start, end)


def unit_scale(start: float, end: float) -> Scale:
    """Return the scale of shares, from 0 to 1."""
    return Scale(0.0, 1.0, start, end)


def tick_text(tick: float, step: float, *, signed: bool = False) -> str:
    """Return the number of a tick."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    text = f"{tick:.3g}" if decimals > 6 or abs(tick) >= 1e7 else f"{tick:.{decimals}f}"
    zero = not float(text)
    text = text.replace("-", "") if zero else text.replace("-", "\N{MINUS SIGN}")
    return f"+{text}" if signed and tick > 0 and not zero else text


def horizontal_axis(scale: Scale, top: float, bottom: float, title: str, *, signed: bool = False) -> list[str]:
    """Return vertical grid lines, numbers below them, and what the numbers are."""
    parts = []
    for tick, text in zip(scale.ticks, scale.texts(signed=signed), strict=True):
        x = scale(tick)
        parts += [line((x, top), (x, bottom), "grid"), label((x, bottom + 16), text, "middle", "tick")]
    return [*parts, label(((scale.start + scale.end) / 2, bottom + 34), title, "middle", "axis")]


def vertical_axis(scale: Scale, left: float, right: float, title: str) -> list[str]:
    """Return horizontal grid lines, numbers beside them, and above them what the numbers are."""
    parts = [label((left - 40, scale.end - 12), title, "start", "axis")]
    for tick, text in zip(scale.ticks, scale.texts(), strict=True):
        y = scale(tick)
        parts += [line((left, y), (right, y), "grid"), label((left - 6, y + 4), text, "end", "tick")]
    return parts


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
