"""Marks of charts as SVG, with scales from numbers to coordinates and their axes: text is escaped, colours are those of the page's style sheet."""

from __future__ import annotations

import html
import math
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._figures import Marker, SystemStyle


WIDTH = 720
_LONGEST = 400  # text that is not drawn, in characters
_CHARACTER, _CAPITAL = 7.0, 9.5  # widths of an average character and of a wide one, in units of the picture
_WIDE = 13.5  # of one of two columns, such as Chinese

Point = tuple[float, float]


class Drawing(NamedTuple):
    """What a picture shows, as marks, and how high it is."""

    height: float
    marks: Sequence[str]


def picture(title: str, finding: str, drawing: Drawing) -> str:
    """Return a picture; `finding` says in words what it shows, for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {coordinate(WIDTH)} {coordinate(drawing.height)}" role="img" class="chart">'
        f"<title>{escaped(title[:_LONGEST])}</title><desc>{escaped(finding[:_LONGEST])}</desc>{''.join(drawing.marks)}</svg>"
    )


def coordinate(number: float) -> str:
    """Return a coordinate with one decimal, which is enough for the eye."""
    text = f"{number:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def escaped(text: str) -> str:
    """Return plain text as SVG has it."""
    return html.escape(printable(text))


def styled(parts: Iterable[str], style: SystemStyle) -> str:
    """Return marks in the colour and the dash of a system."""
    dash = f' stroke-dasharray="{" ".join(map(str, style.dash))}"' if style.dash else ""
    return f'<g class="s{style.color}"{dash}>{"".join(parts)}</g>'


def toned(parts: Iterable[str], tone: str) -> str:
    """Return marks in the colour of a tone, such as ``better``."""
    return f'<g class="{tone}">{"".join(parts)}</g>'


def line(start: Point, end: Point, kind: str = "") -> str:
    """Return a straight line; `kind` is a class of the style sheet."""
    (x1, y1), (x2, y2) = start, end
    numbers = f'x1="{coordinate(x1)}" y1="{coordinate(y1)}" x2="{coordinate(x2)}" y2="{coordinate(y2)}"'
    return f"<line {numbers}{_class(kind)}/>"


def interval(start: float, end: float, y: float, *, is_open: tuple[bool, bool] = (False, False)) -> str:
    """Return a horizontal interval, with a cap at each end, or the head of an arrow at one that is infinite."""
    first = "m6 -4l-6 4l6 4m-6 -4" if is_open[0] else "m0 -4v8m0-4"
    last = "m-6 -4l6 4l-6 4" if is_open[1] else "m0-4v8"
    return f'<path class="interval" d="M{coordinate(start)} {coordinate(y)}{first}H{coordinate(end)}{last}"/>'


def path(points: Sequence[Point]) -> str:
    """Return a line through points."""
    return f'<polyline points="{_points(points)}"/>'


def band(points: Sequence[Point]) -> str:
    """Return an area between lines."""
    return f'<polygon class="band" points="{_points(points)}"/>'


def rectangle(left: float, top: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle."""
    sides = (f'{name}="{coordinate(size)}"' for name, size in zip("xy", (left, top), strict=True))
    return f'<rect {" ".join(sides)} width="{coordinate(width)}" height="{coordinate(height)}"{_class(kind)}/>'


def label(at: Point, text: str, anchor: str = "start", kind: str = "") -> str:
    """Return text that starts, has its middle or ends at a point."""
    x, y = at
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{coordinate(x)}" y="{coordinate(y)}"{where}{_class(kind)}>{escaped(text)}</text>'


def marker(at: Point, shape: Marker, size: float = 4) -> str:
    """Return the mark of a value."""
    x, y = at
    if shape == "circle":
        return f'<circle cx="{coordinate(x)}" cy="{coordinate(y)}" r="{coordinate(size)}"/>'
    if shape == "cross":
        strokes = (
            f"M{coordinate(x - size)} {coordinate(y + sign * size)}l{2 * size} {-sign * 2 * size}" for sign in (-1, 1)
        )
        return f'<path class="cross" d="{"".join(strokes)}"/>'
    return f'<polygon class="marker" points="{_points(_corners(x, y, shape, size))}"/>'


def _corners(x: float, y: float, shape: Marker, size: float) -> list[Point]:
    if shape == "square":
        return [(x - size, y - size), (x + size, y - size), (x + size, y + size), (x - size, y + size)]
    if shape == "triangle":
        return [(x, y - 1.3 * size), (x + 1.2 * size, y + size), (x - 1.2 * size, y + size)]
    return [(x, y - 1.4 * size), (x + 1.4 * size, y), (x, y + 1.4 * size), (x - 1.4 * size, y)]


def text_width(text: str) -> float:
    """Return about how wide a text is."""
    return sum(map(_width, printable(text)))


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    return _CAPITAL if character.isupper() or character in "%&@mw" else _CHARACTER


def shortened(text: str, width: float) -> str:
    """Return the text, cut where it is wider than that; the table below a chart has it whole."""
    if text_width(text) <= width:
        return text
    kept = ""
    for one in printable(text):
        if text_width(kept + one) > width - _CHARACTER:
            break
        kept += one
    return f"{kept}…"


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


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
