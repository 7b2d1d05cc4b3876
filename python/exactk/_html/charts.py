"""The charts of a page: bars, rows of points with intervals, lines, steps and two metrics crossed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exactk._figures import LEVELS
from exactk._html.svg import (
    WIDTH,
    Drawing,
    Scale,
    band,
    horizontal_axis,
    interval,
    label,
    line,
    marker,
    path,
    rectangle,
    scale_of,
    shortened,
    styled,
    text_width,
    toned,
    unit_scale,
    vertical_axis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._figures import CurvesFigure, PopularityRow, SystemStyle, TradeOffFigure
    from exactk._html.svg import Point
    from exactk._inference.intervals import MeanInterval

_BELOW = 44  # height of a horizontal axis
_MOST_ROW_NAME = 250  # width of the names of rows
_BAR_ROW, _BAR_TOP, _BAR = 26, 28, 16
_INTERVAL_ROW, _INTERVAL_TOP = 24, 8
_MOST_SIDE = 130  # width of the texts on the right
_TOP, _LINES_HEIGHT, _LINES_LEFT = 34, 260, 56
_MOST_LINE_NAME = 170  # width beside lines
_MOST_LEGEND = 300
_APART = 16  # between labels beside lines
_SHARE_LINE = 11  # height of a line of a system
_SCATTER_HEIGHT, _SCATTER_LEFT, _SCATTER_RIGHT = 320, 60, 150


def bars_chart(kinds: Sequence[tuple[str, str]], rows: Sequence[tuple[str, Sequence[int]]], axis: str) -> Drawing:
    """Return a bar for each name with its counts; `kinds` are a class of the style sheet and a name for each count."""
    left = min(_MOST_ROW_NAME, max(text_width(name) for name, _ in rows)) + 16
    scale = unit_scale(left, WIDTH - 20)
    bottom = _BAR_TOP + _BAR_ROW * len(rows)
    parts = _legend_of_kinds(kinds, left)
    for index, (name, counts) in enumerate(rows):
        top = _BAR_TOP + _BAR_ROW * index + (_BAR_ROW - _BAR) / 2
        parts.append(label((left - 10, top + 12), shortened(name, _MOST_ROW_NAME), "end"))
        parts += _bar(counts, kinds, scale, top)
    parts += horizontal_axis(scale, bottom, bottom, axis)
    return Drawing(bottom + _BELOW, parts)


def _bar(counts: Sequence[int], kinds: Sequence[tuple[str, str]], scale: Scale, top: float) -> list[str]:
    total, x, parts = sum(counts), scale.start, []
    for (kind, _), count in zip(kinds, counts, strict=True):
        size = (scale.end - scale.start) * count / total if total else 0.0
        parts.append(rectangle(x, top, size, _BAR, f"bar {kind}"))
        if size > text_width(f"{count:,}") + 8:
            parts.append(label((x + size / 2, top + 12), f"{count:,}", "middle", f"on-{kind}"))
        x += size
    return parts


def _legend_of_kinds(kinds: Sequence[tuple[str, str]], left: float) -> list[str]:
    parts, x = [], left
    for kind, name in kinds:
        parts += [rectangle(x, 6, 12, 12, f"bar {kind}"), label((x + 17, 16), name)]
        x += 17 + text_width(name) + 22
    return parts


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


def intervals_chart(rows: Sequence[IntervalRow], axis: str, *, zero: bool = False, integers: bool = False) -> Drawing:
    """Return the rows one below the other; with `zero`, of differences from 0."""
    left = min(_MOST_ROW_NAME, max(text_width(row.label) for row in rows)) + 16
    right = WIDTH - min(_MOST_SIDE, max(text_width(row.text) for row in rows)) - 20
    bottom = _INTERVAL_TOP + _INTERVAL_ROW * len(rows)
    bounds = [number for row in rows for number in (row.value, row.low, row.high)]
    margins = [sign * row.margin for row in rows for sign in (-1, 1)]
    scale = scale_of([*bounds, *margins], left, right, include=[0.0] if zero else [])
    if integers:
        scale = scale_of([], left, right, include=[min(bounds) - 0.5, max(bounds) + 0.5])
    parts = [_margin_band(row, scale, _INTERVAL_TOP + _INTERVAL_ROW * index) for index, row in enumerate(rows)]
    parts += horizontal_axis(scale, _INTERVAL_TOP, bottom, axis, signed=zero)
    if zero:
        parts.append(line((scale(0), _INTERVAL_TOP), (scale(0), bottom), "zero"))
    for index, row in enumerate(rows):
        parts += _interval_row(row, scale, _INTERVAL_TOP + _INTERVAL_ROW * (index + 0.5))
    return Drawing(bottom + _BELOW, parts)


def _margin_band(row: IntervalRow, scale: Scale, top: float) -> str:
    if not row.margin > 0:
        return ""
    low, high = scale(-row.margin), scale(row.margin)
    return rectangle(low, top, high - low, _INTERVAL_ROW, "margin")


def _interval_row(row: IntervalRow, scale: Scale, y: float) -> list[str]:
    marks = []
    if not math.isnan(row.low + row.high):
        is_open = math.isinf(row.low), math.isinf(row.high)
        marks.append(interval(scale(row.low), scale(row.high), y, is_open=is_open))
    if math.isfinite(row.value):
        marks.append(marker((scale(row.value), y), "circle" if row.style is None else row.style.marker))
    drawn = toned(marks, row.tone or "neutral") if row.style is None else styled(marks, row.style._replace(dash=()))
    name = label((scale.start - 10, y + 4), shortened(row.label, _MOST_ROW_NAME), "end")
    side = label((scale.end + 10, y + 4), shortened(row.text, _MOST_SIDE), kind="side") if row.text else ""
    return [name, drawn, side]


def curves_chart(figure: CurvesFigure, styles: Mapping[str, SystemStyle]) -> Drawing:
    """Return lines with bands and markers, each labelled at its end. Cutoffs are evenly spaced, as ranks matter by ratio."""
    names = {system: system or figure.metric for system in styles}
    right = WIDTH - min(_MOST_LINE_NAME, max(map(text_width, names.values()))) - 16
    bottom = _TOP + _LINES_HEIGHT
    cutoffs = sorted(set(figure.cutoffs))
    x_scale = Scale(0, max(1, len(cutoffs) - 1), _LINES_LEFT + 16, right - 12)
    bounds = [bound for system in styles for one in figure.intervals[system] for bound in one]
    y_scale = scale_of([*(value for system in styles for value in figure.values[system]), *bounds], bottom, _TOP)
    parts = vertical_axis(y_scale, _LINES_LEFT, right, figure.metric)
    x_of = {cutoff: x_scale(index) for index, cutoff in enumerate(cutoffs)}
    parts += [label((x, bottom + 16), f"{cutoff:g}", "middle", "tick") for cutoff, x in x_of.items()]
    parts.append(label(((_LINES_LEFT + right) / 2, bottom + 34), "cutoff k", "middle", "axis"))
    xs = [x_of[cutoff] for cutoff in figure.cutoffs]
    ends = []
    for system, style in styles.items():
        points = [(x, y_scale(y)) for x, y in zip(xs, figure.values[system], strict=True) if math.isfinite(y)]
        parts.append(styled([*_bands(figure.intervals[system], xs, y_scale), path(points)], style))
        parts.append(_markers(points, style))
        ends += [(names[system], points[-1])] if points else []
    return Drawing(bottom + _BELOW, [*parts, *_end_labels(ends, right, bottom)])


def _markers(points: Iterable[Point], style: SystemStyle) -> str:
    return styled([marker(point, style.marker) for point in points], style._replace(dash=()))


def _bands(intervals: Iterable[MeanInterval], xs: Iterable[float], y_scale: Scale) -> list[str]:
    bounds = [
        (x, y_scale(low), y_scale(high))
        for x, (low, high) in zip(xs, intervals, strict=True)
        if not (math.isnan(low) or math.isnan(high))
    ]
    if len(bounds) < 2:
        return []
    return [band([*((x, high) for x, _, high in bounds), *((x, low) for x, low, _ in reversed(bounds))])]


def _end_labels(ends: Iterable[tuple[str, Point]], right: float, bottom: float) -> list[str]:
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
    for (name, (x, y)), height in zip(ordered, heights, strict=True):
        if abs(height - y) > 2:
            parts.append(line((x + 6, y), (right + 4, height), "leader"))
        parts.append(label((right + 8, height + 4), shortened(name, _MOST_LINE_NAME - 10)))
    return parts


@dataclass(frozen=True)
class StepLine:
    """The line of a system: quantiles at `LEVELS`, NaN where there is none."""

    label: str
    style: SystemStyle
    quantiles: NDArray[Any]


def steps_chart(lines: Sequence[StepLine], x_title: str, y_title: str) -> Drawing:
    """Return the share of users, on the y axis, whose number is at most x; with a legend, as the lines meet at 1."""
    legend, top = _legend([(one.label, one.style) for one in lines])
    bottom, right = top + _LINES_HEIGHT, WIDTH - 20
    x_scale = scale_of([x for one in lines for x in one.quantiles.tolist()], _LINES_LEFT, right)
    y_scale = unit_scale(bottom, top)
    parts = [*legend, *vertical_axis(y_scale, _LINES_LEFT, right, y_title)]
    parts += horizontal_axis(x_scale, top, bottom, x_title)
    if x_scale.low < 0 < x_scale.high:
        parts.append(line((x_scale(0), top), (x_scale(0), bottom), "zero"))
    for one in lines:
        points = _steps(one.quantiles.tolist(), LEVELS.tolist(), x_scale, y_scale)
        if points:
            parts.append(styled([path(points)], one.style))
            parts.append(_markers([points[round(share * (len(points) - 1))] for share in (0.25, 0.5, 0.75)], one.style))
    return Drawing(bottom + _BELOW, parts)


def _steps(xs: Iterable[float], ys: Iterable[float], x_scale: Scale, y_scale: Scale) -> list[Point]:
    """Return the corners of the steps, without those on one line."""
    points: list[Point] = []
    for x, y in zip(xs, ys, strict=True):
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


def _legend(systems: Iterable[tuple[str, SystemStyle]]) -> tuple[list[str], float]:
    """Return the names of the lines, and where the picture begins below them."""
    parts, x, y = [], float(_LINES_LEFT), 14.0
    for name, style in systems:
        text = shortened(name, _MOST_LEGEND)
        width = 44 + text_width(text) + 18
        if x + width > WIDTH and x > _LINES_LEFT:
            x, y = float(_LINES_LEFT), y + 20
        parts.append(styled([line((x, y), (x + 36, y))], style))
        parts.append(_markers([(x + 18, y)], style))
        parts.append(label((x + 43, y + 4), text))
        x += width
    return parts, y + 40


def shares_chart(rows: Sequence[PopularityRow], styles: Mapping[str, SystemStyle], names: str, axis: str) -> Drawing:
    """Return a line from 0 to the share of each system, below each other in rows, with a stroke at that of train."""
    legend, top = _legend(styles.items()) if any(styles) else ([], float(_TOP))
    left = min(_MOST_ROW_NAME, max(text_width(row.part) for row in rows)) + 30
    height = _SHARE_LINE * len(styles) + _SHARE_LINE
    bottom = top + height * len(rows)
    scale = scale_of([share for row in rows for share in (row.train, *row.shares.values())], left, WIDTH - 20)
    scale = Scale(0.0, scale.high, left, WIDTH - 20)
    parts = [*legend, label((left - 10, top - 8), names, "end", "axis"), *horizontal_axis(scale, top, bottom, axis)]
    for index, row in enumerate(rows):
        begin = top + height * index
        parts.append(label((left - 10, begin + height / 2 + 4), row.part, "end"))
        for number, (system, style) in enumerate(styles.items()):
            end = (scale(row.shares[system]), begin + _SHARE_LINE * (number + 1))
            parts += [styled([line((scale(0), end[1]), end)], style), _markers([end], style)]
        x = scale(row.train)
        parts.append(line((x, begin + 3), (x, begin + height - 3), "zero"))
    return Drawing(bottom + _BELOW, parts)


def scatter_chart(figure: TradeOffFigure, styles: Mapping[str, SystemStyle], x_title: str, y_title: str) -> Drawing:
    """Return two values of each system with intervals, those on the Pareto front joined by a line."""
    right, bottom = WIDTH - _SCATTER_RIGHT, _TOP + _SCATTER_HEIGHT
    x_numbers, y_numbers = (
        [number for system in styles for number in (one.values[system], *one.intervals[system])]
        for one in (figure.x, figure.y)
    )
    x_scale, y_scale = scale_of(x_numbers, _SCATTER_LEFT, right), scale_of(y_numbers, bottom, _TOP)
    parts = [*vertical_axis(y_scale, _SCATTER_LEFT, right, y_title), *horizontal_axis(x_scale, _TOP, bottom, x_title)]
    points = {system: (figure.x.values[system], figure.y.values[system]) for system in styles}
    front = sorted((x_scale(x), y_scale(y)) for system, (x, y) in points.items() if system in figure.front)
    if len(front) > 1:
        parts.append(f'<g class="front">{path(front)}</g>')
    boxes: list[tuple[float, float, float]] = []
    for system, (x, y) in points.items():
        if math.isfinite(x) and math.isfinite(y):
            at, style = (x_scale(x), y_scale(y)), styles[system]
            marks = _cross(figure, system, at, x_scale, y_scale)
            marks.append(marker(at, style.marker, 5 if system in figure.front else 4))
            parts += [styled(marks, style._replace(dash=())), _name_of_point(system, at, boxes)]
    return Drawing(bottom + _BELOW, parts)


def _cross(figure: TradeOffFigure, system: str, at: Point, x_scale: Scale, y_scale: Scale) -> list[str]:
    """Return the intervals in both directions."""
    x, y = at
    marks = []
    across, along = figure.x.intervals[system], figure.y.intervals[system]
    if not any(map(math.isnan, across)):
        marks.append(line((x_scale(across.low), y), (x_scale(across.high), y), "interval"))
    if not any(map(math.isnan, along)):
        marks.append(line((x, y_scale(along.low)), (x, y_scale(along.high)), "interval"))
    return marks


def _name_of_point(name: str, at: Point, boxes: list[tuple[float, float, float]]) -> str:
    """Return the name beside a point, lower where another name stands."""
    text = shortened(name, _SCATTER_RIGHT - 16)
    x, y, width = at[0] + 9, at[1] - 7, text_width(text)
    while any(abs(y - other_y) < 15 and x < other_x + size and other_x < x + width for other_x, other_y, size in boxes):
        y += 15
    boxes.append((x, y, width))
    return label((x, y), text)
