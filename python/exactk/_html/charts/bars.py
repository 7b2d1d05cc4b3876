"""Stacked bars: of how many users win, tie and lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._html.charts.axes import horizontal_axis, unit_scale
from exactk._html.charts.svg import WIDTH, label, picture, rectangle, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW, _TOP, _BOTTOM, _BAR = 26, 28, 44, 16
_MOST_LABEL = 250


@dataclass(frozen=True)
class BarRow:
    """Counts that add up to a whole."""

    label: str
    counts: tuple[int, ...]


def bars_chart(title: str, finding: str, kinds: Sequence[tuple[str, str]], rows: Sequence[BarRow], axis: str) -> str:
    """Return a bar for each row; `kinds` are a class of the style sheet and a name for each count."""
    left = min(_MOST_LABEL, max(text_width(row.label) for row in rows)) + 16
    scale = unit_scale(left, WIDTH - 20)
    bottom = _TOP + _ROW * len(rows)
    parts = _legend_of_kinds(kinds, left)
    for index, row in enumerate(rows):
        top = _TOP + _ROW * index + (_ROW - _BAR) / 2
        parts.append(label((left - 10, top + 12), shortened(row.label, _MOST_LABEL), "end"))
        parts += _bar(row, kinds, scale.start, scale.end - scale.start, top)
    parts += horizontal_axis(scale, bottom, bottom, axis)
    return picture(bottom + _BOTTOM, title, finding, parts)


def _bar(row: BarRow, kinds: Sequence[tuple[str, str]], left: float, width: float, top: float) -> list[str]:
    total, x, parts = sum(row.counts), left, []
    for (kind, _), count in zip(kinds, row.counts, strict=True):
        size = width * count / total if total else 0.0
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
