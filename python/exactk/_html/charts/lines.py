"""Lines: metrics over cutoffs with bands, and steps of shares of users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._html.charts.axes import Scale, horizontal_axis, scale_of, unit_scale, vertical_axis
from exactk._html.charts.svg import WIDTH, band, label, line, marker, path, picture, shortened, styled, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._figures.palette import SystemStyle
    from exactk._html.charts.svg import Point

_HEIGHT, _TOP, _LEFT, _BOTTOM = 260, 34, 56, 44
_MOST_LABEL = 170  # width beside lines
_MOST_LEGEND = 300
_APART = 16  # between labels beside lines


@dataclass(frozen=True)
class Series:
    """The line of a system, with the bounds of its band; NaN where there is no point."""

    label: str
    style: SystemStyle
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()


def curves_chart(title: str, finding: str, series: Sequence[Series], x_title: str, y_title: str) -> str:
    """Return lines with bands and markers, each labelled at its end. Cutoffs are evenly spaced, as ranks matter by ratio."""
    positions = sorted({x for one in series for x in one.xs})
    right = WIDTH - min(_MOST_LABEL, max(text_width(one.label) for one in series)) - 16
    bottom = _TOP + _HEIGHT
    x_scale = Scale(0, max(1, len(positions) - 1), _LEFT + 16, right - 12)
    numbers = [number for one in series for number in (*one.ys, *one.lows, *one.highs)]
    y_scale = scale_of(numbers, bottom, _TOP)
    parts = vertical_axis(y_scale, _LEFT, right, y_title)
    x_of = {x: x_scale(index) for index, x in enumerate(positions)}
    parts += [label((at, bottom + 16), f"{x:g}", "middle", "tick") for x, at in x_of.items()]
    parts.append(label(((_LEFT + right) / 2, bottom + 34), x_title, "middle", "axis"))
    ends = []
    for one in series:
        points = [(x_of[x], y_scale(y)) for x, y in zip(one.xs, one.ys, strict=True) if math.isfinite(y)]
        parts.append(styled([*_bands(one, x_of, y_scale), path(points)], one.style))
        parts.append(styled([marker(point, one.style.marker) for point in points], one.style._replace(dash=())))
        ends += [(one, points[-1])] if points else []
    parts += _end_labels(ends, right, bottom)
    return picture(bottom + _BOTTOM, title, finding, parts)


def _bands(one: Series, x_of: dict[float, float], y_scale: Scale) -> list[str]:
    bounds = [
        (x_of[x], y_scale(low), y_scale(high))
        for x, low, high in zip(one.xs, one.lows, one.highs, strict=False)
        if not (math.isnan(low) or math.isnan(high))
    ]
    if len(bounds) < 2:
        return []
    return [band([*((x, high) for x, _, high in bounds), *((x, low) for x, low, _ in reversed(bounds))])]


def _end_labels(ends: Iterable[tuple[Series, Point]], right: float, bottom: float) -> list[str]:
    """Return the names beside the ends of lines, moved apart where they would overlap."""
    ordered = sorted(ends, key=lambda end: end[1][1])
    heights = [point[1] for _, point in ordered]
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + _APART)
    excess = max(0.0, heights[-1] - bottom) if heights else 0.0
    if excess:
        heights[-1] -= excess
        for index in reversed(range(len(heights) - 1)):
            heights[index] = min(heights[index], heights[index + 1] - _APART)
    parts = []
    for (one, (x, y)), height in zip(ordered, heights, strict=True):
        if abs(height - y) > 2:
            parts.append(line((x + 6, y), (right + 4, height), "leader"))
        parts.append(label((right + 8, height + 4), shortened(one.label, _MOST_LABEL - 10)))
    return parts


def steps_chart(title: str, finding: str, series: Sequence[Series], x_title: str, y_title: str) -> str:
    """Return the share of users, on the y axis, whose number is at most x; with a legend, as the lines meet at 1."""
    legend, top = _legend(series)
    bottom, right = top + _HEIGHT, WIDTH - 20
    x_scale = scale_of([x for one in series for x in one.xs], _LEFT, right)
    y_scale = unit_scale(bottom, top)
    parts = [*legend, *vertical_axis(y_scale, _LEFT, right, y_title), *horizontal_axis(x_scale, top, bottom, x_title)]
    if x_scale.low < 0 < x_scale.high:
        parts.append(line((x_scale(0), top), (x_scale(0), bottom), "zero"))
    for one in series:
        points = _steps(one, x_scale, y_scale)
        if points:
            parts.append(styled([path(points)], one.style))
            marked = [points[round(share * (len(points) - 1))] for share in (0.25, 0.5, 0.75)]
            parts.append(styled([marker(point, one.style.marker) for point in marked], one.style._replace(dash=())))
    return picture(bottom + _BOTTOM, title, finding, parts)


def _steps(one: Series, x_scale: Scale, y_scale: Scale) -> list[Point]:
    """Return the corners of the steps, without those on one line."""
    points: list[Point] = []
    for x, y in zip(one.xs, one.ys, strict=True):
        if not math.isfinite(x):
            continue
        at = (x_scale(x), y_scale(y))
        if points and at[0] != points[-1][0]:
            points.append((at[0], points[-1][1]))
        if len(points) > 1 and points[-1][0] == points[-2][0] == at[0]:
            points[-1] = at
        else:
            points.append(at)
    return points


def _legend(series: Sequence[Series]) -> tuple[list[str], float]:
    """Return the names of the lines, and where the picture begins below them."""
    parts, x, y = [], float(_LEFT), 14.0
    for one in series:
        text = shortened(one.label, _MOST_LEGEND)
        width = 44 + text_width(text) + 18
        if x + width > WIDTH and x > _LEFT:
            x, y = float(_LEFT), y + 20
        parts.append(styled([line((x, y), (x + 36, y))], one.style))
        parts.append(styled([marker((x + 18, y), one.style.marker)], one.style._replace(dash=())))
        parts.append(label((x + 43, y + 4), text))
        x += width
    return parts, y + 40
