"""Rows of points with intervals: values, differences, ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._html.charts.axes import horizontal_axis, scale_of
from exactk._html.charts.svg import (
    WIDTH,
    interval,
    label,
    line,
    marker,
    picture,
    rectangle,
    shortened,
    styled,
    text_width,
    toned,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._figures.palette import SystemStyle
    from exactk._html.charts.axes import Scale


_ROW, _TOP, _BOTTOM = 24, 8, 44
_MOST_LABEL = 250  # width of the names of rows
_MOST_SIDE = 130  # width of the texts on the right


@dataclass(frozen=True)
class IntervalRow:
    """A point and its interval, either of which may be NaN."""

    label: str
    value: float
    low: float
    high: float
    text: str = ""  # on the right
    style: SystemStyle | None = None
    tone: str = ""  # in place of a style
    margin: float = math.nan  # half width of a band around 0


def intervals_chart(
    title: str, finding: str, rows: Sequence[IntervalRow], axis: str, *, zero: bool = False, integers: bool = False
) -> str:
    """Return the rows one below the other; with `zero`, of differences from 0."""
    left = min(_MOST_LABEL, max(text_width(row.label) for row in rows)) + 16
    right = WIDTH - min(_MOST_SIDE, max(text_width(row.text) for row in rows)) - 20
    bottom = _TOP + _ROW * len(rows)
    bounds = [number for row in rows for number in (row.value, row.low, row.high)]
    margins = [sign * row.margin for row in rows for sign in (-1, 1)]
    scale = scale_of([*bounds, *margins], left, right, include=[0.0] if zero else [])
    if integers:
        scale = scale_of([], left, right, include=[min(bounds) - 0.5, max(bounds) + 0.5])
    parts = [_margin_band(row, scale, _TOP + _ROW * index) for index, row in enumerate(rows)]
    parts += horizontal_axis(scale, _TOP, bottom, axis, signed=zero)
    if zero:
        parts.append(line((scale(0), _TOP), (scale(0), bottom), "zero"))
    for index, row in enumerate(rows):
        parts += _row(row, scale, _TOP + _ROW * (index + 0.5))
    return picture(bottom + _BOTTOM, title, finding, parts)


def _margin_band(row: IntervalRow, scale: Scale, top: float) -> str:
    if not row.margin > 0:
        return ""
    low, high = scale(-row.margin), scale(row.margin)
    return rectangle(low, top, high - low, _ROW, "margin")


def _row(row: IntervalRow, scale: Scale, y: float) -> list[str]:
    marks = []
    if not math.isnan(row.low + row.high):
        is_open = math.isinf(row.low), math.isinf(row.high)
        marks.append(interval(scale(row.low), scale(row.high), y, is_open=is_open))
    if math.isfinite(row.value):
        marks.append(marker((scale(row.value), y), "circle" if row.style is None else row.style.marker))
    drawn = toned(marks, row.tone or "neutral") if row.style is None else styled(marks, row.style._replace(dash=()))
    name = label((scale.start - 10, y + 4), shortened(row.label, _MOST_LABEL), "end")
    side = label((scale.end + 10, y + 4), shortened(row.text, _MOST_SIDE), kind="side") if row.text else ""
    return [name, drawn, side]
