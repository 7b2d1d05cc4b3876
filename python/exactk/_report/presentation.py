"""Pages and plots of results. They are in layers above, which register what makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._report.exports import Exports


@dataclass(frozen=True, eq=False)
class PageRequest:
    """What a page is to show beside the numbers of a report or comparison."""

    title: str | None = None
    note: str = ""
    examples: int = 0  # users per side whose lists are shown
    item_names: Mapping[Any, str] | None = None
    truth: TruthLike | None = None
    predictions: Mapping[str, PredictionsLike] = field(default_factory=lambda: MappingProxyType({}))
    command: Sequence[str] = ()
    inputs: Sequence[Mapping[str, Any]] = ()  # the files that a command has read, as its JSON has them


class PageMaker(Protocol):
    """What makes an HTML page of a report or comparison."""

    def __call__(self, result: Exports, request: PageRequest) -> str:
        """Return the page."""
        ...


class Plotter(Protocol):
    """What draws a report or comparison."""

    def __call__(self, result: Exports, kind: str, metric: object, ax: object, **options: Any) -> Any:  # noqa: ANN401 - a display
        """Return the display of one kind, drawn."""
        ...


_loaders: dict[str, Callable[[], Any]] = {}


def register_page(load: Callable[[], PageMaker]) -> None:
    """Set what returns the maker of pages; it is called with the first page."""
    _loaders["page"] = load


def register_plot(load: Callable[[], Plotter]) -> None:
    """Set what returns the plotter; it is called with the first plot."""
    _loaders["plot"] = load


def html_page(result: Exports, request: PageRequest) -> str:
    """Return the HTML page of a report or comparison."""
    make: PageMaker = _loaders["page"]()
    return make(result, request)


def plot(result: Exports, kind: str, metric: object, ax: object, **options: Any) -> Any:  # noqa: ANN401 - as above
    """Return the display of one kind, drawn."""
    draw: Plotter = _loaders["plot"]()
    return draw(result, kind, metric, ax, **options)
