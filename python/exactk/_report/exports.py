"""The exports that reports and comparisons share: text, files, frames, the page, the pictures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.records import Record
from exactk._runtime.table_exports import ShowsTables, checked_digits, csv_of, writes
from exactk._runtime.texts import DIGITS

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from exactk._inputs.items import Items
    from exactk._report.drift import Drift
    from exactk._report.export_forms import Columns, Document, Source, TableName
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.verdicts import Gate
    from exactk._runtime.table import Table

TABLES = ("values", "per_user", "by_group", "by_item_group", "per_item")


class Exports(ShowsTables):
    """Base of reports and comparisons: what they print, and are written as."""

    _table_names = TABLES

    _confidence = 0.95  # of intervals

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_dict` described."""

    @abstractmethod
    def columns(self, table: TableName = "values", *, wide: bool | None = None) -> Columns:
        """Return the columns of a table."""

    @abstractmethod
    def to_flat_dict(self, prefix: str = "") -> dict[str, float]:
        """Return the values under names that experiment trackers accept."""

    @abstractmethod
    def _to_document(self) -> Document:
        """Return everything as plain data, in the form of its JSON."""

    @classmethod
    @abstractmethod
    def _from_document(cls, document: Document) -> Self:
        """Return what `_to_document` described."""

    @abstractmethod
    def _names_of(self, metrics: object, table: TableName) -> list[str]:
        """Return the canonical names of some metrics; raise InputError or InputTypeError if the table lacks one."""

    @abstractmethod
    def _export_table(
        self, table: TableName, digits: int, names: Sequence[str] | None, *, systems_as_rows: bool, diagnostics: bool
    ) -> Table:
        """Return a table for Markdown and LaTeX, of the metrics with these canonical names."""

    @classmethod
    def _expected(cls) -> str:
        """Return the description of valid plain data, for errors."""
        return f"the output of {cls.__name__}.to_dict"

    @writes
    def to_json(self) -> str:
        """Return everything as JSON, or write it to a file; NaN is null.

        One report and several have the same shape, described in the documentation of files.
        """
        from exactk._report.export_forms import json_document

        return json_document(self._to_document())

    @classmethod
    def from_json(cls, source: Source) -> Self:
        """Read the output of `to_json`.

        Parameters
        ----------
        source : str, bytes or path-like
            The JSON itself, or the path of a file as a ``pathlib.Path``. A string is always JSON.
        """
        from exactk._report.export_forms import read_document

        return cls._from_document(read_document(source, cls.__name__.lower(), cls._expected_json()))

    @classmethod
    def _expected_json(cls) -> str:
        return f"the output of {cls.__name__}.to_json"

    @writes
    def to_markdown(
        self,
        *,
        table: TableName = "values",
        digits: int = DIGITS,
        metrics: str | Sequence[str] | None = None,
        systems_as_rows: bool = False,
        diagnostics: bool = False,
    ) -> str:
        """Return a Markdown table, or write it to a file; see `to_latex` for what it has.

        Parameters
        ----------
        table : {"values", "per_user", "by_group", "by_item_group", "per_item"}
            What the rows are; see `to_latex`.
        digits : int
            Decimals of each number but counts.
        metrics : str or sequence of str, optional
            The metrics to show, in this order; by default all.
        systems_as_rows : bool
            Whether a comparison has a row per system.
        diagnostics : bool
            Whether the table also has the users of each mean, and what was counted; see `to_latex`.
        """
        from exactk._runtime.table import format_markdown

        return format_markdown(self._asked_table(table, digits, metrics, systems_as_rows, diagnostics))

    @writes
    def to_latex(
        self,
        *,
        table: TableName = "values",
        digits: int = DIGITS,
        caption: str | None = None,
        label: str | None = None,
        metrics: str | Sequence[str] | None = None,
        systems_as_rows: bool = False,
        booktabs: bool = True,
        diagnostics: bool = False,
    ) -> str:
        r"""Return a LaTeX ``tabular``, or write it to a file.

        A comparison has a column per system, and each metric's best values in bold. If its differences can be tested,
        it is a ``table`` with a ``\caption`` that says how: each system has a letter, and a value has the letters of the
        systems that are significantly worse by their adjusted p-values; only the baseline is compared with others if
        there is one. That needs SciPy and sums over pairs of systems, which every comparison of `exactk.compare` has.

        Parameters
        ----------
        table : {"values", "per_user", "by_group", "by_item_group", "per_item"}
            What the rows are: metrics, users, groups and metrics, or groups of items and metrics.
        digits : int
            Decimals of each number but counts.
        caption : str, optional
            What the caption begins with, as plain text; what the letters mean follows.
        label : str, optional
            The ``\label``. With it or a caption, the ``tabular`` is in a ``table``.
        metrics : str or sequence of str, optional
            The metrics to show, in this order; by default all.
        systems_as_rows : bool
            Whether a comparison has a row per system, and a column per metric. A report, of one system, has none; tables of
            users stay as they are.
        booktabs : bool
            Whether the rules are those of the package booktabs. Otherwise they are ``\hline``, which needs no package.
        diagnostics : bool
            Whether the table also has the number of users in each mean and of those who are skipped, or of items of each
            group, and what print shows below: a row, or with `systems_as_rows` a column, for each count that is not 0, such
            as of users without a list.
        """
        from exactk._runtime.table import format_latex

        shown = self._asked_table(table, digits, metrics, systems_as_rows, diagnostics)
        return format_latex(shown, caption, label, booktabs=booktabs)

    def _asked_table(
        self,
        table: TableName,
        digits: int,
        metrics: str | Sequence[str] | None,
        systems_as_rows: bool,  # noqa: FBT001 - as the next
        diagnostics: bool,  # noqa: FBT001 - passed on in order
    ) -> Table:
        """Return a table for Markdown and LaTeX, once the arguments are checked."""
        if table not in TABLES:
            raise unknown_table(table)
        names = None if metrics is None else self._names_of(metrics, table)
        return self._export_table(
            table, checked_digits(digits), names, systems_as_rows=systems_as_rows, diagnostics=diagnostics
        )

    @writes
    def to_csv(self, *, table: TableName = "values", wide: bool | None = None, digits: int | None = None) -> str:
        """Return CSV, or write it to a file.

        Text that a spreadsheet would run as a formula (beginning with ``=``, ``+``, ``-`` or ``@``, but not a number)
        is prefixed with an apostrophe. Other exports leave it unchanged.

        Parameters
        ----------
        table : {"values", "per_user", "by_group", "by_item_group", "per_item"}
            What the rows are; see `to_pandas`.
        wide : bool, optional
            Whether to return one column per metric; see `to_pandas`.
        digits : int, optional
            Decimals to which numbers are rounded. By default they are in full precision.
        """
        return csv_of(self.columns(table, wide=wide), digits)

    def to_pandas(self, table: TableName = "values", *, wide: bool | None = None) -> pd.DataFrame:
        """Return a pandas data frame.

        Parameters
        ----------
        table : {"values", "per_user", "by_group", "by_item_group", "per_item"}
            What the rows are: metrics, users, groups and metrics, or groups of items and metrics. A comparison stacks the rows of all systems, with
            the system's name in the first column, ``system``.
        wide : bool, optional
            True returns one column per metric, named as the metric was requested, and one row per report, user or
            group. False returns one row per value, with the metric (without its cutoff) in the column ``metric`` and
            the cutoff in ``k``. By default, tables of users are wide, and those of values and groups are long.

        Examples
        --------
        >>> import exactk
        >>> report = exactk.evaluate([[1], [2]], [[1, 3], [3, 2]], ["P@[1,2]", "mrr"])
        >>> report.to_pandas()[["metric", "k", "value"]]
          metric     k  value
        0      P     1   0.50
        1      P     2   0.50
        2    mrr  <NA>   0.75
        >>> report.to_pandas(wide=True)
           P@1  P@2   mrr
        0  0.5  0.5  0.75
        """
        from exactk._runtime import optional

        return optional.pandas_frame(self.columns(table, wide=wide))

    def to_polars(self, table: TableName = "values", *, wide: bool | None = None) -> pl.DataFrame:
        """Return a Polars data frame; see `to_pandas`."""
        from exactk._runtime import optional

        return optional.polars_frame(self.columns(table, wide=wide))

    def to_arrow(self, table: TableName = "values", *, wide: bool | None = None) -> pa.Table:
        """Return an Arrow table; see `to_pandas`."""
        from exactk._runtime import optional

        return optional.arrow_table(self.columns(table, wide=wide))


def json_of(result: Exports, command: Sequence[str], inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the JSON of what a command has computed from files."""
    from exactk._report.export_forms import json_document

    return json_document(result._to_document(), command, inputs)  # noqa: SLF001 - of the class's own module


class PageRequest(Record, eq=False):
    """What a page is to show beside the numbers of a report or comparison."""

    title: str | None = None
    note: str = ""
    examples: int = 0  # users per side whose keys, values and lists are shown
    item_names: Mapping[Any, str] = MappingProxyType({})
    lists: Mapping[str, JudgedLists] = MappingProxyType({})  # by system, "" for a report
    gate: Gate | None = None
    headline: Sequence[str] = ()  # metrics that lead the page: one, or both axes of the trade-off
    items: Items | None = None  # those of the evaluation, whose popularity is shown
    drift: Mapping[str, Drift] = MappingProxyType({})  # by name, "" for one without
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
    headline: str | Sequence[str] | None = None,
    items: Items | None = None,
    drift: Drift | Mapping[str, Drift] | None = None,
) -> PageRequest:
    """Return the request of a page. Raise InputError or InputTypeError for an invalid argument."""
    from exactk._report.verdicts import Gate

    for argument, text in {"title": title or "", "note": note}.items():
        _check_page_text(argument, text)
    _check_number_of_examples(examples)
    if item_names is not None and not isinstance(item_names, Mapping):
        raise type_error("item_names", "a mapping from item to name", type(item_names).__name__)
    if gate is not None and not isinstance(gate, Gate):
        raise type_error("gate", "the result of comparison.check", type(gate).__name__)
    if lists is not None:
        _check_judged_lists(lists)
    if items is not None:
        _check_items(items)
    metrics, drifts = _checked_headline(headline), _checked_drift(drift)
    return PageRequest(title, note, int(examples), item_names or {}, lists or {}, gate, metrics, items, drifts)


def _check_items(items: object) -> None:
    from exactk._inputs.items import Items

    if not isinstance(items, Items):
        raise type_error("items", "exactk.Items, as of the evaluation", type(items).__name__)


def _checked_drift(drift: object) -> Mapping[str, Drift]:
    from exactk._report.drift import Drift

    drifts: Mapping[Any, Any] = drift if isinstance(drift, Mapping) else {} if drift is None else {"": drift}
    for name, one in drifts.items():
        if not isinstance(name, str) or not isinstance(one, Drift):
            found = type(one).__name__ if isinstance(name, str) else f"the name {name!r}"
            raise type_error("drift", "the result of exactk.drift, or several by name", found)
    return drifts


def _checked_headline(headline: object) -> list[str]:
    expected = "a metric, or two: the axes of the trade-off"
    if headline is None or isinstance(headline, str):
        return [headline] if headline else []
    if not isinstance(headline, Sequence) or not all(isinstance(metric, str) for metric in headline):
        raise type_error("headline", expected, repr(headline))
    if not 1 <= len(headline) <= 2:
        raise input_error("headline", expected, plural(len(headline), "metric"))
    return list(headline)


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
    from exactk._report.judged_lists import JudgedLists

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
    from exactk._runtime import optional

    for library in ("jinja2", "scipy"):
        optional.require(library, "to_html()", "report")
    make: PageMaker = import_module("exactk._html").html_page
    return make(result, request)


def plot(result: Exports, kind: str, metric: str | None, ax: Axes | None, **options: str | None) -> DrawnDisplay:
    """Return the display of one kind, drawn."""
    draw: Plotter = import_module("exactk.displays").draw
    return draw(result, kind, metric, ax, **options)


def unknown_table(table: object) -> InputError:
    """Return the error for a table that there is not."""
    hint = "comparison.differences has its own exports, such as to_pandas()" if table == "differences" else ""
    return input_error("table", f"one of {', '.join(map(repr, TABLES))}", repr(table), hint=hint)
