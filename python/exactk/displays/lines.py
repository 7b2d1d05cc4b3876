"""Displays with a line per system: curves over cutoffs, distributions over users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from exactk._figures.curves import CurvesFigure, curves_figure
from exactk._figures.distribution import LEVELS, DistributionFigure, PairFigure, distribution_figure, pair_figure
from exactk._figures.palette import LIGHT
from exactk._runtime.errors import input_error
from exactk.displays.drawing import (
    LINE_WIDTH,
    NEUTRAL,
    Display,
    add_legend,
    as_text,
    confidence_of,
    in_lines,
    reports_of,
    styles_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from exactk._report.comparison import Comparison
    from exactk._report.report import Report


@dataclass(eq=False, repr=False)
class CurvesDisplay(Display):
    """A metric over its cutoffs, a line per system with the intervals as a band.

    Attributes
    ----------
    data : CurvesFigure
        What is drawn: ``metric``, ``confidence``, ``cutoffs``, and by system ``values`` and ``intervals``, one per cutoff.
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> report = exactk.evaluate([[1], [2]], [[1, 3], [3, 2]], "recall@[1,2]")
    >>> display = exactk.displays.CurvesDisplay.from_result(report)
    >>> display.data.cutoffs, display.data.values[""]
    ((1, 2), [0.5, 1.0])
    """

    data: CurvesFigure

    @classmethod
    def from_result(cls, result: Report | Comparison, metric: str | None = None) -> Self:
        """Return the display of a metric at two cutoffs or more, by default of the first.

        The metric may be without a cutoff, as ``"ndcg"``.
        """
        return cls(curves_figure(reports_of(result), metric, confidence_of(result)))

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        data, artists = self.data, []
        positions = list(range(len(data.cutoffs)))
        for system, style in styles_of(data.values).items():
            lows = [interval.low for interval in data.intervals[system]]
            highs = [interval.high for interval in data.intervals[system]]
            ax.fill_between(positions, lows, highs, color=style["color"], alpha=0.14, linewidth=0)
            artists += ax.plot(positions, data.values[system], **style)
        ax.set_xticks(positions, [str(cutoff) for cutoff in data.cutoffs])
        ax.set_xlabel("cutoff k")
        ax.set_ylabel(as_text(data.metric))
        ax.grid(axis="y", color="#dfe2e6")
        add_legend(ax, artists, list(data.values))
        return artists


@dataclass(eq=False, repr=False)
class DistributionDisplay(Display):
    """The distribution of a metric over users, or of the users' differences between two systems.

    The height of a line is the share of users whose value is at most x.

    Attributes
    ----------
    data : DistributionFigure or PairFigure
        What is drawn: ``metric``, the ``quantiles`` at 101 levels from 0 to 1, and the number of ``users``; by system, or
        of the pair ``system`` and ``baseline``.
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> report = exactk.evaluate([[1], [2]], [[1, 3], [3, 2]], "mrr", per_user=True)
    >>> display = exactk.displays.DistributionDisplay.from_result(report)
    >>> float(display.data.quantiles[""][0]), float(display.data.quantiles[""][-1])
    (0.5, 1.0)
    """

    data: DistributionFigure | PairFigure

    @classmethod
    def from_result(
        cls,
        result: Report | Comparison,
        metric: str | None = None,
        *,
        system: str | None = None,
        baseline: str | None = None,
    ) -> Self:
        """Return the display of the users' values, or with `system` and `baseline` of their differences.

        Needs reports that keep the users' values, ``per_user=True``.
        """
        reports = reports_of(result)
        if (system is None) != (baseline is None):
            given = "system" if baseline is None else "baseline"
            raise input_error(given, "a system and a baseline, for differences", f"{given} alone")
        if system is None or baseline is None:
            return cls(distribution_figure(reports, metric))
        return cls(pair_figure(reports, system, baseline, metric))

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        ax.set_ylabel("share of users")
        ax.set_ylim(0, 1.02)
        ax.grid(color="#dfe2e6")
        return _draw_pair(ax, self.data) if isinstance(self.data, PairFigure) else _draw_users(ax, self.data)


def _draw_users(ax: Axes, data: DistributionFigure) -> list[Artist]:
    artists: list[Artist] = []
    for system, style in styles_of(data.quantiles).items():
        drawn = {**style, "marker": "none"} if len(data.quantiles) == 1 else {**style, "markevery": (0.1, 0.2)}
        artists += ax.plot(data.quantiles[system], LEVELS, drawstyle="steps-post", **drawn)
    ax.set_xlabel(as_text(data.metric))
    add_legend(ax, artists, list(data.quantiles))
    return artists


def _draw_pair(ax: Axes, data: PairFigure) -> list[Artist]:
    """Draw in a colour of no system: the line is of two."""
    artists: list[Artist] = [
        *ax.plot(data.quantiles, LEVELS, drawstyle="steps-post", color=NEUTRAL, linewidth=LINE_WIDTH)
    ]
    ax.axvline(0, color=LIGHT.text, linewidth=1)
    names = (f"difference in {as_text(data.metric)},", as_text(data.system), f"against {as_text(data.baseline)}")
    ax.set_xlabel(in_lines(*names))
    return artists
