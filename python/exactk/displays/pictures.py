"""The displays: rows of points with intervals, lines of curves and distributions, and two metrics crossed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from exactk._figures import (
    LEVELS,
    LIGHT,
    CurvesFigure,
    DifferencesFigure,
    DistributionFigure,
    GroupsFigure,
    PairFigure,
    TradeOffFigure,
    ValuesFigure,
    curves_figure,
    differences_figure,
    distribution_figure,
    first_tested,
    groups_figure,
    metrics_figure,
    pair_figure,
    trade_off_figure,
    values_figure,
)
from exactk._report.comparison import Comparison, confidence_of, reports_of
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk.displays.drawing import (
    LINE_WIDTH,
    NEUTRAL,
    Display,
    add_legend,
    as_text,
    compared,
    draw_interval,
    in_lines,
    name_rows,
    shown_result,
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
        shown = shown_result(result)
        if metric is None and not isinstance(shown, Comparison):
            return cls(metrics_figure(shown, confidence_of(shown)))
        return cls(values_figure(reports_of(shown), metric, confidence_of(shown)))

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
        What is drawn: ``metric``, ``system``, ``baseline``, ``rows`` of `Difference`, ``heterogeneity``,
        ``heterogeneity_adjusted`` and ``i_squared`` as in ``exactk.results.Differences``, and ``opposite``: whether groups differ in sign (``"sign"``), significantly in both directions (``"significant"``) or
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
        name_rows(ax, [f"{as_text(str(row.group))} ({plural(row.users, data.units.user)})" for row in data.rows])
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
        shown = shown_result(result)
        return cls(curves_figure(reports_of(shown), metric, confidence_of(shown)))

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
        reports = reports_of(shown_result(result))
        if (system is None) != (baseline is None):
            given = "system" if baseline is None else "baseline"
            raise input_error(given, "a system and a baseline, for differences", f"{given} alone")
        if system is None or baseline is None:
            return cls(distribution_figure(reports, metric))
        return cls(pair_figure(reports, system, baseline, metric))

    def _draw(self, ax: Axes) -> Sequence[Artist]:
        ax.set_ylabel(f"share of {self.data.units.users}")
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
