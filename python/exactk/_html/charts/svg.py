"""Marks of charts as SVG: text is escaped, colours are those of the page's style sheet."""

from __future__ import annotations

import html
import unicodedata
from typing import TYPE_CHECKING

from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._figures.palette import Marker, SystemStyle

WIDTH = 720
_LONGEST = 400  # text that is not drawn, in characters
_CHARACTER, _CAPITAL = 7.0, 9.5  # widths of an average character and of a wide one, in units of the picture
_WIDE = 13.5  # of one of two columns, such as Chinese

Point = tuple[float, float]


def picture(height: float, title: str, finding: str, parts: Iterable[str], width: float = WIDTH) -> str:
    """Return a picture; `finding` says in words what it shows, for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {coordinate(width)} {coordinate(height)}" role="img" class="chart">'
        f"<title>{escaped(title[:_LONGEST])}</title><desc>{escaped(finding[:_LONGEST])}</desc>{''.join(parts)}</svg>"
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
