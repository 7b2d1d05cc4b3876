"""The display of two metrics, crossed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from exactk._figures.trade_off import TradeOffFigure, trade_off_figure
from exactk.displays.drawing import (
    NEUTRAL,
    Display,
    add_legend,
    as_text,
    compared,
    confidence_of,
    draw_interval,
    styles_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from exactk._report.comparison import Comparison


@dataclass(eq=False, repr=False)
class TradeOffDisplay(Display):
    """Two metrics of each system with intervals in both directions, and the Pareto front.

    Attributes
    ----------
    data : TradeOffFigure
        What is drawn: ``x`` and ``y``, each with ``metric``, ``values`` and ``intervals`` by system, and the systems of
        the ``front``: those for which no other system is better in one metric and not worse in the other.
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1, 3], [3, 4]], "b": [[3, 1], [2, 3]]}
    >>> comparison = exactk.compare([[1], [2]], systems, ["P@1", "recall@2"])
    >>> exactk.displays.TradeOffDisplay.from_result(comparison).data.front
    ('b',)
    """

    data: TradeOffFigure

    @classmethod
    def from_result(
        cls,
        result: Comparison,
        metric: str | None = None,
        *,
        against: str | None = None,
    ) -> Self:
        """Return the display of a metric against another one, by default the first of another name."""
        comparison = compared(result)
        return cls(trade_off_figure(comparison.reports, metric, against, confidence_of(comparison)))

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        x, y, artists = self.data.x, self.data.y, []
        for system, style in styles_of(x.values).items():
            for interval, at, is_x in (
                (x.intervals[system], y.values[system], True),
                (y.intervals[system], x.values[system], False),
            ):
                draw_interval(ax, interval, at, style["color"], is_vertical=not is_x, linewidth=1.5)
            artists += ax.plot(
                [x.values[system]],
                [y.values[system]],
                color=style["color"],
                marker=style["marker"],
                linestyle="none",
                markersize=8,
            )
        handles: list[Artist] = [*artists]
        names = list(x.values)
        if self.data.front:
            handles.append(_draw_front(ax, [(x.values[system], y.values[system]) for system in self.data.front]))
            names.append("Pareto front")
        ax.set_xlabel(as_text(x.metric))
        ax.set_ylabel(as_text(y.metric))
        ax.grid(color="#dfe2e6")
        add_legend(ax, handles, names)
        return artists


def _draw_front(ax: Axes, points: Sequence[tuple[float, float]]) -> Artist:
    """Draw rings around the points, and a line through them."""
    xs, ys = zip(*sorted(points), strict=True)
    (line,) = ax.plot(
        xs, ys, color=NEUTRAL, linestyle="dotted", marker="o", markersize=15, markerfacecolor="none", zorder=1
    )
    return line
