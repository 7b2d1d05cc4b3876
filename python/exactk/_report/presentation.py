"""Pages and plots of results. What makes them is in layers above, and is loaded with the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from exactk._report.gate import Gate
from exactk._report.judged_lists import JudgedLists
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from exactk._report.exports import Exports


@dataclass(frozen=True, eq=False)
class PageRequest:
    """What a page is to show beside the numbers of a report or comparison."""

    title: str | None = None
    note: str = ""
    examples: int = 0  # users per side whose keys, values and lists are shown
    item_names: Mapping[Any, str] = field(default_factory=lambda: MappingProxyType({}))
    lists: Mapping[str, JudgedLists] = field(default_factory=lambda: MappingProxyType({}))  # by system, "" for a report
    gate: Gate | None = None
    command: Sequence[str] = ()
    inputs: Sequence[Mapping[str, Any]] = ()  # the files that a command has read, as its JSON has them


_MOST_CHARACTERS = 10_000  # of texts of the caller, so that pages stay small


def page_request(
    *,
    title: str | None = None,
    note: str = "",
    examples: int = 0,
    item_names: Mapping[Any, str] | None = None,
    lists: Mapping[str, JudgedLists] | None = None,
    gate: Gate | None = None,
) -> PageRequest:
    """Return the request of a page. Raise InputError or InputTypeError for an invalid argument."""
    for argument, text in {"title": title or "", "note": note}.items():
        _check_page_text(argument, text)
    _check_number_of_examples(examples)
    if item_names is not None and not isinstance(item_names, Mapping):
        raise type_error("item_names", "a mapping from item to name", type(item_names).__name__)
    if gate is not None and not isinstance(gate, Gate):
        raise type_error("gate", "the result of comparison.check", type(gate).__name__)
    if lists is not None:
        _check_judged_lists(lists)
    return PageRequest(title, note, int(examples), item_names or {}, lists or {}, gate)


def _check_page_text(argument: str, text: object) -> None:
    if not isinstance(text, str):
        raise type_error(argument, "a string", type(text).__name__)
    if len(text) > _MOST_CHARACTERS:
        raise input_error(argument, f"at most {_MOST_CHARACTERS:,} characters", f"{len(text):,}")


def _check_number_of_examples(examples: object) -> None:
    if isinstance(examples, bool) or not isinstance(examples, Integral):
        raise type_error("examples", "an integer", repr(examples))
    if int(examples) < 0:
        raise input_error("examples", "a number of users, or 0", repr(examples))


def _check_judged_lists(lists: object) -> None:
    if not isinstance(lists, Mapping):
        raise type_error("lists", "a mapping from system to the result of exactk.judge", type(lists).__name__)
    for system, one in lists.items():
        if not isinstance(one, JudgedLists):
            hint = "exactk.judge(truth, predictions, k=10) returns it"
            raise type_error("lists", f"JudgedLists of {system!r}", type(one).__name__, hint=hint)


class PageMaker(Protocol):
    """What makes an HTML page of a report or comparison."""

    def __call__(self, result: Exports, request: PageRequest) -> str:
        """Return the page."""
        ...


class DrawnDisplay(Protocol):
    """A display of `exactk.displays` after it was drawn with matplotlib."""

    @property
    def data(self) -> Any:  # noqa: ANN401 - what each kind of display shows is in layers above
        """What is drawn, as numbers and names."""
        ...

    @property
    def ax_(self) -> Axes:
        """The axes."""
        ...

    @property
    def figure_(self) -> Figure | SubFigure:
        """The figure of the axes."""
        ...

    @property
    def artists_(self) -> tuple[Artist, ...]:
        """The marks of the values."""
        ...


class Plotter(Protocol):
    """What draws a report or comparison."""

    def __call__(
        self, result: Exports, kind: str, metric: str | None, ax: Axes | None, **options: str | None
    ) -> DrawnDisplay:
        """Return the display of one kind, drawn."""
        ...


def html_page(result: Exports, request: PageRequest) -> str:
    """Return the HTML page of a report or comparison."""
    make: PageMaker = import_module("exactk._html").html_page
    return make(result, request)


def plot(result: Exports, kind: str, metric: str | None, ax: Axes | None, **options: str | None) -> DrawnDisplay:
    """Return the display of one kind, drawn."""
    draw: Plotter = import_module("exactk.displays").draw
    return draw(result, kind, metric, ax, **options)
