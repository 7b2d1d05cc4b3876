"""Displays with a row per system, pair or group: a point and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from exactk._figures.differences import DifferencesFigure, differences_figure, first_tested
from exactk._figures.groups import GroupsFigure, groups_figure
from exactk._figures.palette import LIGHT
from exactk._figures.values import ValuesFigure, metrics_figure, values_figure
from exactk._report.comparison import Comparison
from exactk._runtime.faults import plural
from exactk.displays.drawing import (
    NEUTRAL,
    Display,
    as_text,
    compared,
    confidence_of,
    draw_interval,
    in_lines,
    name_rows,
    reports_of,
    styles_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from exactk._report.difference import Difference
    from exactk._report.report import Report


@dataclass(eq=False, repr=False)
class ValuesDisplay(Display):
    """Each system's value of a metric with its interval, or all metrics of one system.

    Attributes
    ----------
    data : ValuesFigure
        What is drawn: ``metric``, ``confidence``, and by system ``values`` and ``intervals``; ``best`` systems. For one
        system, ``metric`` is empty, and values and intervals are by metric.
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> comparison = exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[1], [2]]}, "P@1")
    >>> display = exactk.displays.ValuesDisplay.from_result(comparison)
    >>> display.data.values
    {'a': 0.5, 'b': 1.0}
    >>> display.plot().ax_.get_xlabel()
    'P@1'
    """

    data: ValuesFigure

    @classmethod
    def from_result(cls, result: Report | Comparison, metric: str | None = None) -> Self:
        """Return the display of a metric: by default the first one of a comparison, and all of a report."""
        reports, confidence = reports_of(result), confidence_of(result)
        if metric is None and not isinstance(result, Comparison):
            return cls(metrics_figure(result, confidence))
        return cls(values_figure(reports, metric, confidence))

    def _rows(self) -> int:
        return len(self.data.values)

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        styles = styles_of(self.data.values)
        artists = []
        for row, (name, value) in enumerate(self.data.values.items()):
            style = styles[name] if self.data.metric else {"color": LIGHT.systems[0], "marker": "o"}
            low, high = self.data.intervals[name]
            draw_interval(ax, (low, high), row, str(style["color"]), marker="|")
            artists += ax.plot([value], [row], color=style["color"], marker=style["marker"], linestyle="none")
        name_rows(ax, [as_text(name or self.data.metric) for name in self.data.values])
        ax.set_xlabel(as_text(self.data.metric or "value"))
        return artists


@dataclass(eq=False, repr=False)
class DifferencesDisplay(Display):
    """The differences of systems with intervals, a line at 0, and the margin as a band.

    Attributes
    ----------
    data : DifferencesFigure
        What is drawn: ``rows`` of `Difference`, the ``margins`` as differences (NaN without one), ``confidence``, and a
        ``caption`` that says how they were tested.
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
    >>> display = exactk.displays.DifferencesDisplay.from_result(comparison)
    >>> [round(float(x), 2) for x in display.plot().artists_[0].get_xdata()]
    [0.3]
    """

    data: DifferencesFigure

    @classmethod
    def from_result(cls, result: Comparison, metric: str | None = None) -> Self:
        """Return the display of the pairs of a comparison in a metric, by default the first that is tested."""
        comparison = compared(result)
        return cls(differences_figure(comparison, first_tested(comparison) if metric is None else metric))

    def _rows(self) -> int:
        return len(self.data.rows)

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        artists = _draw_differences(ax, self.data.rows)
        for index, margin in enumerate(self.data.margins):
            if margin > 0:
                ax.fill_betweenx([index - 0.5, index + 0.5], -margin, margin, color="#dfe2e6", zorder=0)
        baselines = {row.baseline for row in self.data.rows}
        against = [f"against {as_text(baseline)}" for baseline in baselines] if len(baselines) == 1 else []
        name_rows(
            ax,
            [
                as_text(row.system) if against else f"{as_text(row.system)} against {as_text(row.baseline)}"
                for row in self.data.rows
            ],
        )
        metrics = dict.fromkeys(as_text(row.metric) for row in self.data.rows)
        ax.set_xlabel(in_lines(f"difference in {', '.join(metrics)}", *against))
        return artists


@dataclass(eq=False, repr=False)
class GroupsDisplay(Display):
    """The difference of a pair of systems in each group of users.

    Attributes
    ----------
    data : GroupsFigure
        What is drawn: ``metric``, ``system``, ``baseline``, ``rows`` of `Difference`, the p-value ``heterogeneity``, and
        ``opposite``: whether groups differ in sign (``"sign"``), significantly in both directions (``"significant"``) or
        not (``""``).
    ax_, figure_, artists_
        As in `Display`, after `plot`.

    See Also
    --------
    Comparison.plot : Makes and draws displays.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> groups = ["new"] * 18 + ["old"] * 22
    >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", groups=groups)
    >>> display = exactk.displays.GroupsDisplay.from_result(comparison)
    >>> [(row.group, round(row.difference, 3)) for row in display.data.rows], display.data.opposite
    ([('new', 0.444), ('old', 0.182)], '')
    """

    data: GroupsFigure

    @classmethod
    def from_result(
        cls,
        result: Comparison,
        metric: str | None = None,
        *,
        system: str | None = None,
        baseline: str | None = None,
    ) -> Self:
        """Return the display of a pair in a metric, by default of the first pair and metric."""
        return cls(groups_figure(compared(result), metric, system, baseline))

    def _rows(self) -> int:
        return len(self.data.rows)

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        artists = _draw_differences(ax, self.data.rows)
        data = self.data
        name_rows(ax, [f"{as_text(str(row.group))} ({plural(row.users, 'user')})" for row in data.rows])
        names = (f"difference in {as_text(data.metric)},", as_text(data.system), f"against {as_text(data.baseline)}")
        ax.set_xlabel(in_lines(*names))
        return artists


def _draw_differences(ax: Axes, rows: Sequence[Difference]) -> list[Artist]:
    """Draw a point and an interval per row, coloured by the verdict."""
    colors = {"better": LIGHT.better, "worse": LIGHT.worse}
    markers = {"better": ">", "worse": "<"}
    artists: list[Artist] = []
    for index, row in enumerate(rows):
        color = colors.get(row.verdict, NEUTRAL)
        draw_interval(ax, (row.low, row.high), index, color, marker="|")
        marker = markers.get(row.verdict, "o")
        artists += ax.plot([row.difference], [index], color=color, marker=marker, linestyle="none")
    ax.axvline(0, color=LIGHT.text, linewidth=1)
    return artists
