"""Two metrics of each system, crossed, with intervals in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._html.charts.axes import horizontal_axis, scale_of, vertical_axis
from exactk._html.charts.svg import WIDTH, label, line, marker, path, picture, shortened, styled, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._figures.palette import SystemStyle
    from exactk._html.charts.axes import Scale
    from exactk._html.charts.svg import Point
    from exactk._inference.significance import Interval

_HEIGHT, _TOP, _LEFT, _RIGHT, _BOTTOM = 320, 34, 60, 150, 44


@dataclass(frozen=True)
class ScatterPoint:
    """A system's two values; intervals may be NaN."""

    label: str
    style: SystemStyle
    x: float
    y: float
    x_interval: Interval
    y_interval: Interval
    on_front: bool


def scatter_chart(title: str, finding: str, points: Sequence[ScatterPoint], x_title: str, y_title: str) -> str:
    """Return the points, those on the Pareto front joined by a line."""
    right, bottom = WIDTH - _RIGHT, _TOP + _HEIGHT
    x_scale = scale_of([number for one in points for number in (one.x, *one.x_interval)], _LEFT, right)
    y_scale = scale_of([number for one in points for number in (one.y, *one.y_interval)], bottom, _TOP)
    parts = [*vertical_axis(y_scale, _LEFT, right, y_title), *horizontal_axis(x_scale, _TOP, bottom, x_title)]
    front = sorted((x_scale(one.x), y_scale(one.y)) for one in points if one.on_front)
    if len(front) > 1:
        parts.append(f'<g class="front">{path(front)}</g>')
    boxes: list[tuple[float, float, float]] = []
    for one in points:
        if math.isfinite(one.x) and math.isfinite(one.y):
            at = (x_scale(one.x), y_scale(one.y))
            parts.append(styled(_cross(one, at, x_scale, y_scale), one.style._replace(dash=())))
            parts.append(_name(one, at, boxes))
    return picture(bottom + _BOTTOM, title, finding, parts)


def _cross(one: ScatterPoint, at: Point, x_scale: Scale, y_scale: Scale) -> list[str]:
    x, y = at
    marks = []
    if not any(map(math.isnan, one.x_interval)):
        marks.append(line((x_scale(one.x_interval.low), y), (x_scale(one.x_interval.high), y), "interval"))
    if not any(map(math.isnan, one.y_interval)):
        marks.append(line((x, y_scale(one.y_interval.low)), (x, y_scale(one.y_interval.high)), "interval"))
    return [*marks, marker(at, one.style.marker, 5 if one.on_front else 4)]


def _name(one: ScatterPoint, at: Point, boxes: list[tuple[float, float, float]]) -> str:
    """Return the name beside a point, lower where another name stands."""
    text = shortened(one.label, _RIGHT - 16)
    x, y, width = at[0] + 9, at[1] - 7, text_width(text)
    while any(abs(y - other_y) < 15 and x < other_x + size and other_x < x + width for other_x, other_y, size in boxes):
        y += 15
    boxes.append((x, y, width))
    return label((x, y), text)
