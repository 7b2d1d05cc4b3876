"""Two metrics of each system, crossed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactk._figures.metrics import directed, value_of_metric
from exactk._figures.values import values_figure
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._figures.values import ValuesFigure
    from exactk._report.report import Report


@dataclass(frozen=True)
class TradeOffFigure:
    """Two metrics, and the systems that no other one beats in one of them without losing in the other."""

    x: ValuesFigure
    y: ValuesFigure
    front: tuple[str, ...]


def trade_off_figure(
    reports: Mapping[str, Report], x: str | None = None, y: str | None = None, confidence: float = 0.95
) -> TradeOffFigure:
    """Return two metrics crossed: by default the first one, and the first one after it of another name."""
    of_x = value_of_metric(reports, x, "x")
    if y is None:
        others = [
            value
            for value in plan_of_state(next(iter(reports.values())).state)
            if value.metric != of_x.metric and value.info.direction != "none"
        ]
        if not others:
            raise input_error("metrics", "two metrics, one against the other", of_x.spelling)
        of_y = others[0]
    else:
        of_y = value_of_metric(reports, y, "y")
    signs = [1 if directed(value, name) == "higher" else -1 for name, value in {"x": of_x, "y": of_y}.items()]
    figures = tuple(values_figure(reports, value.name, confidence) for value in (of_x, of_y))
    points = {
        system: tuple(sign * figure.values[system] for sign, figure in zip(signs, figures, strict=True))
        for system in reports
    }
    defined = {system: point for system, point in points.items() if not any(map(math.isnan, point))}
    front = tuple(
        system for system, point in defined.items() if not any(_dominates(other, point) for other in defined.values())
    )
    return TradeOffFigure(figures[0], figures[1], front)


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))
