"""The exports that reports and comparisons share: text, files, frames, the page, the pictures."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.faults import Option
from exactk._runtime.numbers import DIGITS
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from exactk._report.gate import Gate
    from exactk._report.json_document import Document, Source
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.significance_marks import SignificanceMarks
    from exactk._report.tables import Columns, DisplayTable, Table, TextTable

FilePath: TypeAlias = str | os.PathLike[str]
_MAX_DIGITS = 17  # more say nothing about a double


TABLES = ("values", "per_user", "by_group", "by_item_group")


class DisplaysTables(ABC):
    """Base of objects that print as tables."""

    @abstractmethod
    def _display_tables(self) -> Sequence[DisplayTable]:
        """Return the tables, one above the other."""

    def __repr__(self) -> str:
        from exactk._report.tables import format_text
        from exactk._runtime.printable_text import printable

        return "\n".join(
            "\n".join([format_text(*one.table), *map(printable, one.notes)]) for one in self._display_tables()
        )

    def _repr_html_(self) -> str:
        from exactk._runtime.html_table import HtmlTable, html_of_tables

        return html_of_tables(
            [HtmlTable(one.caption, *one.table, one.notes, one.longest) for one in self._display_tables()]
        )


def tables_of(shown: DisplaysTables) -> Sequence[DisplayTable]:
    """Return the tables that an object prints."""
    return shown._display_tables()  # noqa: SLF001 - of the class above


class Exports(DisplaysTables):
    """Base of objects that print as a table and convert to text, plain data and data frames."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_dict` described."""

    @abstractmethod
    def columns(self, table: Table = "values", *, wide: bool | None = None) -> Columns:
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
    def _text_table(self, table: Table, digits: int) -> TextTable:
        """Return a table as text."""

    def _marks(self, table: Table) -> SignificanceMarks:  # noqa: ARG002 - for classes that have tests
        """Return the marks of significance in a table of Markdown or LaTeX."""
        from exactk._report.significance_marks import NO_MARKS

        return NO_MARKS

    @classmethod
    def _expected(cls) -> str:
        """Return the description of valid plain data, for errors."""
        return f"the output of {cls.__name__}.to_dict"

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: FilePath) -> None: ...
    def to_json(self, path: FilePath | None = None) -> str | None:
        """Return everything as JSON, or write it to a file; NaN is null.

        One report and several have the same shape, described in the documentation of files.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write. Without it, the text is returned.
        """
        from exactk._report.json_document import json_document

        return return_or_write(json_document(self._to_document()), path)

    @classmethod
    def from_json(cls, source: Source) -> Self:
        """Read the output of `to_json`.

        Parameters
        ----------
        source : str, bytes or path-like
            The JSON itself, or the path of a file as a ``pathlib.Path``. A string is always JSON.
        """
        from exactk._report.json_document import read_document

        return cls._from_document(read_document(source, cls.__name__.lower(), cls._expected_json()))

    @classmethod
    def _expected_json(cls) -> str:
        return f"the output of {cls.__name__}.to_json"

    @overload
    def to_markdown(self, path: None = None, *, table: Table = "values", digits: int = DIGITS) -> str: ...
    @overload
    def to_markdown(self, path: FilePath, *, table: Table = "values", digits: int = DIGITS) -> None: ...
    def to_markdown(self, path: FilePath | None = None, *, table: Table = "values", digits: int = DIGITS) -> str | None:
        """Return a Markdown table, or write it to a file; see `to_latex` for what it has and the parameters."""
        from exactk._report.tables import format_markdown, markdown_with_caption, without_markup

        text_table = self._text_table(table, checked_digits(digits))
        header, rows = without_markup(text_table.header, text_table.rows)
        superscripts, caption = self._marks(table)
        text = format_markdown(header, rows, text_table.left, text_table.best, superscripts)
        return return_or_write(markdown_with_caption(text, caption) if caption else text, path)

    @overload
    def to_latex(self, path: None = None, *, table: Table = "values", digits: int = DIGITS) -> str: ...
    @overload
    def to_latex(self, path: FilePath, *, table: Table = "values", digits: int = DIGITS) -> None: ...
    def to_latex(self, path: FilePath | None = None, *, table: Table = "values", digits: int = DIGITS) -> str | None:
        r"""Return a LaTeX ``tabular``, or write it to a file. It needs no package.

        A comparison has a column per system, and each metric's best values in bold. If its differences can be tested,
        it is a ``table`` with a ``\caption`` that says how: each system has a letter, and a value has the letters of the
        systems that are significantly worse by their adjusted p-values; only the baseline is compared with others if
        there is one. That needs SciPy and sums over pairs of systems, which every comparison of `exactk.compare` has.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write. Without it, the text is returned.
        table : {"values", "per_user", "by_group", "by_item_group"}
            What the rows are: metrics, users, groups and metrics, or groups of items and metrics.
        digits : int
            Decimals of each number but counts.
        """
        from exactk._report.tables import format_latex, latex_float

        text_table = self._text_table(table, checked_digits(digits))
        superscripts, caption = self._marks(table)
        text = format_latex(*text_table, superscripts)
        return return_or_write(latex_float(text, caption) if caption else text, path)

    @overload
    def to_csv(
        self, path: None = None, *, table: Table = "values", wide: bool | None = None, digits: int | None = None
    ) -> str: ...
    @overload
    def to_csv(
        self, path: FilePath, *, table: Table = "values", wide: bool | None = None, digits: int | None = None
    ) -> None: ...
    def to_csv(
        self,
        path: FilePath | None = None,
        *,
        table: Table = "values",
        wide: bool | None = None,
        digits: int | None = None,
    ) -> str | None:
        """Return CSV, or write it to a file.

        Text that a spreadsheet would run as a formula (beginning with ``=``, ``+``, ``-`` or ``@``, but not a number)
        is prefixed with an apostrophe. Other exports leave it unchanged.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write. Without it, the text is returned.
        table : {"values", "per_user", "by_group", "by_item_group"}
            What the rows are; see `to_pandas`.
        wide : bool, optional
            Whether to return one column per metric; see `to_pandas`.
        digits : int, optional
            Decimals to which numbers are rounded. By default they are in full precision.
        """
        from exactk._report.tables import format_csv, plain_column

        columns = {name: plain_column(column) for name, column in self.columns(table, wide=wide).items()}
        if digits is not None:
            columns = {name: rounded(column, checked_digits(digits)) for name, column in columns.items()}
        return return_or_write(format_csv(columns), path)

    def to_pandas(self, table: Table = "values", *, wide: bool | None = None) -> pd.DataFrame:
        """Return a pandas data frame.

        Parameters
        ----------
        table : {"values", "per_user", "by_group", "by_item_group"}
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

    def to_polars(self, table: Table = "values", *, wide: bool | None = None) -> pl.DataFrame:
        """Return a Polars data frame; see `to_pandas`."""
        from exactk._runtime import optional

        return optional.polars_frame(self.columns(table, wide=wide))

    def to_arrow(self, table: Table = "values", *, wide: bool | None = None) -> pa.Table:
        """Return an Arrow table; see `to_pandas`."""
        from exactk._runtime import optional

        return optional.arrow_table(self.columns(table, wide=wide))


def json_of(result: Exports, command: Sequence[str], inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the JSON of what a command has computed from files."""
    from exactk._report.json_document import json_document

    return json_document(result._to_document(), command, inputs)  # noqa: SLF001 - of the class's own module


def checked_digits(digits: object) -> int:
    """Return the decimals to which numbers are rounded; raise InputError or InputTypeError if these are none."""
    if isinstance(digits, bool) or not isinstance(digits, int):
        raise type_error("digits", "an integer", repr(digits))
    if not 0 <= digits <= _MAX_DIGITS:
        raise input_error("digits", f"an integer from 0 to {_MAX_DIGITS}", repr(digits)[:20])
    return digits


def rounded(column: list[Any], digits: int) -> list[Any]:
    """Return the cells with numbers but integers rounded."""
    return [round(cell, digits) if isinstance(cell, float) else cell for cell in column]


def return_or_write(text: str, path: FilePath | None) -> str | None:
    """Return the text, or write it to a file as UTF-8, with lone surrogates escaped."""
    from exactk._runtime.written_files import write_file

    if path is None:
        return text
    if not isinstance(path, (str, os.PathLike)):
        raise type_error("path", "a path", type(path).__name__)
    if path in TABLES:
        raise input_error("path", "the path of a file", f"{path!r}, the name of a table", hint=Option("table", path))
    ending = "" if text.endswith("\n") else "\n"
    write_file(path, (text + ending).encode(errors="backslashreplace"))
    return None


class PageRequest(Record, eq=False):
    """What a page is to show beside the numbers of a report or comparison."""

    title: str | None = None
    note: str = ""
    examples: int = 0  # users per side whose keys, values and lists are shown
    item_names: Mapping[Any, str] = MappingProxyType({})
    lists: Mapping[str, JudgedLists] = MappingProxyType({})  # by system, "" for a report
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
    from exactk._report.gate import Gate

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
