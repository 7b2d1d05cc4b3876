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
    from exactk._plan.values import Value
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
    """Return two metrics crossed: by default the first two of different names that are better higher, or lower."""
    of_x = None if x is None else value_of_metric(reports, x)
    of_y = None if y is None else value_of_metric(reports, y, "against")
    of_x = of_x or _first_beside(of_y, reports)
    of_y = of_y or _first_beside(of_x, reports)
    signs = [1 if directed(value, name) == "higher" else -1 for name, value in (("metric", of_x), ("against", of_y))]
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


def _first_beside(other: Value | None, reports: Mapping[str, Report]) -> Value:
    """Return the first metric of another name that has a better and a worse."""
    values = plan_of_state(next(iter(reports.values())).state)
    for value in values:
        if value.info.direction != "none" and (other is None or value.metric != other.metric):
            return value
    raise input_error("metrics", "two metrics, one against the other", ", ".join(value.spelling for value in values))


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))
