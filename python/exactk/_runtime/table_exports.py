"""What prints as tables, and is written as text, files and data frames."""

from __future__ import annotations

import os
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, overload

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from exactk._runtime.table import Table

FilePath: TypeAlias = str | os.PathLike[str]
_MAX_DIGITS = 17  # more say nothing about a double

_P = ParamSpec("_P")
_S = TypeVar("_S", contravariant=True)  # noqa: PLC0105 - as short as the other
_PATH = """path : str or path-like, optional
            The file to write. Without it, the text is returned."""


if TYPE_CHECKING:

    class Writer(Generic[_P]):
        """What `writes` makes of a method, as a bound one."""

        @overload
        def __call__(self, path: None = None, *args: _P.args, **options: _P.kwargs) -> str: ...
        @overload
        def __call__(self, path: FilePath, *args: _P.args, **options: _P.kwargs) -> None: ...
        def __call__(self, path: FilePath | None = None, *args: _P.args, **options: _P.kwargs) -> str | None: ...

    class WritingMethod(Generic[_S, _P]):
        """What `writes` makes of a method: a descriptor, as functions are."""

        @overload
        def __get__(self, instance: None, owner: type) -> WritingMethod[_S, _P]: ...
        @overload
        def __get__(self, instance: _S, owner: type) -> Writer[_P]: ...
        def __get__(self, instance: Any, owner: type) -> Any: ...
        def __call__(self, *args: object, **options: object) -> str | None: ...


def writes(make: Callable[Concatenate[_S, _P], str]) -> WritingMethod[_S, _P]:
    """Return a method that returns the text which this one makes or, given the path of a file, writes it."""
    text_of: Callable[..., str] = make

    @wraps(make)
    def method(self: Any, path: FilePath | None = None, **options: Any) -> str | None:  # noqa: ANN401 - those of `make`
        if isinstance(path, str) and path in self._table_names:
            found = f"{path!r}, the name of a table"
            raise input_error("path", "the path of a file", found, hint=Option("table", path))
        return return_or_write(text_of(self, **options), path)

    plain = signature(make)
    first, *others = plain.parameters.values()
    path = Parameter("path", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="FilePath | None")
    written: Any = method
    written.__signature__ = plain.replace(parameters=[first, path, *others], return_annotation="str | None")
    written.__annotations__ = {**make.__annotations__, "path": "FilePath | None", "return": "str | None"}
    written.__doc__ = _with_path(make.__doc__)
    result: WritingMethod[_S, _P] = written
    return result


def _with_path(text: str | None) -> str | None:
    """Return the docstring of a method with what it says of the path."""
    if text is None:  # under python -OO
        return None
    parameters = "Parameters\n        ----------\n        "
    before, heading, after = text.partition(parameters)
    if heading:
        return f"{before}{heading}{_PATH}\n        {after}"
    return f"{text.rstrip()}\n\n        {parameters}{_PATH}\n        "


def return_or_write(text: str, path: FilePath | None) -> str | None:
    """Return the text, or write it to a file as UTF-8, with lone surrogates escaped."""
    from exactk._runtime.written_files import write_file

    if path is None:
        return text
    if not isinstance(path, (str, os.PathLike)):
        raise type_error("path", "a path", type(path).__name__)
    ending = "" if text.endswith("\n") else "\n"
    write_file(path, (text + ending).encode(errors="backslashreplace"))
    return None


def checked_digits(digits: object) -> int:
    """Return the decimals to which numbers are rounded; raise InputError or InputTypeError if these are none."""
    if isinstance(digits, bool) or not isinstance(digits, Integral):
        raise type_error("digits", "an integer", repr(digits))
    if not 0 <= int(digits) <= _MAX_DIGITS:
        raise input_error("digits", f"an integer from 0 to {_MAX_DIGITS}", repr(digits)[:20])
    return int(digits)


def csv_of(columns: Mapping[str, Any], digits: int | None) -> str:
    """Return columns as CSV, numbers but integers rounded to so many decimals, if any."""
    from exactk._runtime.table import format_csv, plain_cells

    cells = {name: plain_cells(column) for name, column in columns.items()}
    if digits is not None:
        most = checked_digits(digits)
        cells = {
            name: [round(cell, most) if isinstance(cell, float) else cell for cell in column]
            for name, column in cells.items()
        }
    return format_csv(cells)


class ShowsTables:
    """Base of what prints as tables."""

    _table_names: tuple[str, ...] = ()  # which are no paths
    _has_all = "print() shows them"  # what HTML leaves out

    def _tables(self) -> Sequence[Table]:
        """Return the tables that are displayed, one above the other."""
        raise NotImplementedError

    def __repr__(self) -> str:
        from exactk._runtime.table import format_text

        return "\n".join(map(format_text, self._tables()))

    def _repr_html_(self) -> str:
        from exactk._runtime.table import html_of_tables

        return html_of_tables(self._tables(), self._has_all)


def tables_of(shown: ShowsTables) -> Sequence[Table]:
    """Return the tables that an object prints."""
    return shown._tables()  # noqa: SLF001 - of the class above


class ExportsTable(ShowsTables):
    """Base of what is one table, which is exported."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of the data frames by name."""
        raise NotImplementedError

    def _table(self, digits: int | None) -> Table:
        """Return the table, with so many decimals, or as many as are displayed."""
        raise NotImplementedError

    def _tables(self) -> Sequence[Table]:
        return [self._table(None)]

    @writes
    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return a Markdown table, with what it needs to be understood below, or write it to a file.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers, by default as many as are displayed.
        """
        from exactk._runtime.table import format_markdown

        return format_markdown(self._table(None if digits is None else checked_digits(digits)))

    @writes
    def to_latex(
        self,
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str | None = None,
        booktabs: bool = True,
    ) -> str:
        r"""Return a LaTeX ``tabular``, or write it to a file: in a ``table``, if it has a caption or a label.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers, by default as many as are displayed.
        caption : str, optional
            What the caption begins with, as plain text. What the table needs to be understood follows.
        label : str, optional
            The ``\label``.
        booktabs : bool
            Whether the rules are those of the package booktabs. Otherwise they are ``\hline``, which needs no package.
        """
        from exactk._runtime.table import format_latex

        table = self._table(None if digits is None else checked_digits(digits))
        return format_latex(table, caption, label, booktabs=booktabs)

    @writes
    def to_csv(self, *, digits: int | None = None) -> str:
        """Return CSV with a column per field, or write it to a file.

        Parameters
        ----------
        digits : int, optional
            Decimals to which numbers are rounded. By default they are in full precision.
        """
        return csv_of(self.columns(), digits)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame."""
        from exactk._runtime import optional

        return optional.pandas_frame(self.columns())

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame."""
        from exactk._runtime import optional

        return optional.polars_frame(self.columns())

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""
        from exactk._runtime import optional

        return optional.arrow_table(self.columns())
