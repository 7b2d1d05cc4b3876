"""What all displays share: axes, colours, and names as plain text."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from exactk._figures import LIGHT, system_styles
from exactk._report.comparison import Comparison
from exactk._report.report import Report
from exactk._runtime import optional
from exactk._runtime.errors import type_error
from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend


_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "X"}
_LONGEST = 40  # name, in characters
_LONGEST_LINE = 60
LINE_WIDTH = 1.8
_MOST_INSIDE = 4  # names in a legend that is on the data
_ROW_INCHES = 0.32
_WIDTH, _HEIGHT = 6.4, 4.8  # in inches, as matplotlib has them
_AXES_INCHES = 4.6  # the width that names beside the axes leave them
NEUTRAL = LIGHT.muted


class Display(ABC):
    """Base of the displays: data, and how to draw them with matplotlib.

    Attributes
    ----------
    data : object
        What is drawn, as numbers and names.
    ax_ : matplotlib.axes.Axes
        The axes, after `plot`.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes, after `plot`.
    artists_ : tuple of matplotlib.artist.Artist
        The marks of the values, in the order of the data, after `plot`.
    """

    data: Any
    ax_: Axes
    figure_: Figure | SubFigure
    artists_: tuple[Artist, ...]

    @abstractmethod
    def _draw(self, ax: Axes) -> Sequence[Artist]:
        """Draw on the axes and return the marks of the values."""

    def _rows(self) -> int:
        """Return how many rows the picture has; 0 if its height does not depend on them."""
        return 0

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on, such as those of a subplot. By default, those of a new figure.

        Returns
        -------
        Display
            The display itself, with ``ax_``, ``figure_`` and ``artists_``.

        Raises
        ------
        InputTypeError
            If `ax` is something else, such as an array of axes.
        ImportError
            If matplotlib is not installed.
        """
        plt = optional.pyplot()
        if ax is not None and not isinstance(ax, plt.Axes):
            hint = "pass one of an array of axes, such as ax=axes[0]"
            raise type_error("ax", "axes of matplotlib", type(ax).__name__, hint=hint)
        drawn_on = self._new_axes(plt) if ax is None else ax
        self.artists_ = tuple(self._draw(drawn_on))
        self.ax_, self.figure_ = drawn_on, drawn_on.figure
        if ax is None:
            _make_room_for_names(drawn_on)
        return self

    def __repr__(self) -> str:
        """Return the name of the class: notebooks print it below the picture."""
        return f"<{type(self).__module__}.{type(self).__name__}>"

    def _new_axes(self, plt: Any) -> Axes:  # noqa: ANN401 - matplotlib may be absent
        height = min(max(2.0, 1.2 + _ROW_INCHES * self._rows()), 20.0) if self._rows() else _HEIGHT
        ax: Axes = plt.subplots(figsize=(_WIDTH, height), layout="constrained")[1]
        return ax


def _make_room_for_names(ax: Axes) -> None:
    """Widen the figure for names beside the axes, which would make the axes narrow."""
    figure: Any = ax.figure  # of plt.subplots, which has a size
    legend = ax.get_legend()
    beside = ax.get_yticklabels()
    if legend is not None and len(legend.get_texts()) > _MOST_INSIDE:
        beside = [*beside, *legend.get_texts()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of glyphs that the font lacks: matplotlib says so when it draws them
        widest = max((text.get_window_extent().width for text in beside), default=0.0)
    figure.set_figwidth(max(_WIDTH, _AXES_INCHES + widest / figure.dpi))


def shown_result(result: object) -> Report | Comparison:
    """Return what a display shows; raise InputTypeError for anything else."""
    if not isinstance(result, (Report, Comparison)):
        raise type_error("result", "a Report or a Comparison", type(result).__name__)
    return result


def compared(result: object) -> Comparison:
    """Return the comparison; raise InputTypeError for anything else."""
    if not isinstance(result, Comparison):
        raise type_error("comparison", "a Comparison, from exactk.compare", type(result).__name__)
    return result


def as_text(name: str) -> str:
    """Return a name such that matplotlib shows it as it is, but for its end if it is long: dollar signs would be formulas."""
    text = printable(name)
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return text.replace("$", r"\$")


def in_lines(*texts: str) -> str:
    """Return texts one after the other, or below each other if they are long together."""
    line = " ".join(texts)
    return line if len(line) <= _LONGEST_LINE else "\n".join(texts)


def styles_of(systems: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return colour, marker and dash of each system, as arguments of matplotlib."""
    return {
        system: {
            "color": LIGHT.systems[style.color],
            "marker": _MARKERS[style.marker],
            "linestyle": (0, style.dash) if style.dash else "solid",
            "linewidth": LINE_WIDTH,
        }
        for system, style in system_styles(systems).items()
    }


def add_legend(ax: Axes, handles: Sequence[Artist], names: Sequence[str]) -> Legend | None:
    """Add a legend if there are several names; matplotlib itself leaves out those that begin with an underscore."""
    if len(names) < 2:
        return None
    where = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(names) > _MOST_INSIDE else {"loc": "best"}
    legend = ax.legend(list(handles), [str(index) for index in range(len(names))], fontsize="small", **where)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(as_text(name))
    return legend


def draw_interval(
    ax: Axes,
    interval: tuple[float, float],
    at: float,
    color: str,
    *,
    is_vertical: bool = False,
    **style: Any,  # noqa: ANN401 - of matplotlib
) -> None:
    """Draw an interval at a place of the other axis, as an arrow to the edge where an end is infinite; nothing for NaN."""

    def turned(along: Any, across: Any) -> tuple[Any, Any]:  # noqa: ANN401 - numbers or lists of them
        return (across, along) if is_vertical else (along, across)

    ends = [end for end in interval if math.isfinite(end)]
    if not any(map(math.isnan, interval)):
        ax.plot(*turned(ends, [at] * len(ends)), color=color, linestyle="solid", **style)
    to_edge = ax.get_xaxis_transform() if is_vertical else ax.get_yaxis_transform()
    for end, edge in zip(interval, (0.0, 1.0), strict=True):
        if math.isinf(end) and ends:
            arrow = {"arrowstyle": "->", "color": color}
            ax.annotate("", turned(edge, at), turned(ends[0], at), to_edge, "data", arrowprops=arrow)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Set the texts beside the rows of a picture, the first at the top."""
    ax.set_yticks(range(len(names)), list(names))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="#dfe2e6")
    ax.set_axisbelow(True)
