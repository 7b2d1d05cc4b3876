"""The exports that reports and comparisons share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from exactk._report import display
from exactk._report.validation import read_json
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import pandas as pd
    import polars as pl
    import pyarrow as pa

Table = Literal["values", "per_user", "by_group"]


class Exports(ABC):
    """Base of objects that print as a table and convert to text, plain data and data frames."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_dict` described."""

    @abstractmethod
    def columns(self, table: Table = "values") -> dict[str, Any]:
        """Return the columns of a table."""

    @abstractmethod
    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table of values, as text."""

    def _best_cells(self) -> frozenset[tuple[int, int]]:
        """Return the row and the column of the cells to mark as the best."""
        return frozenset()

    @abstractmethod
    def _footer(self) -> str:
        """Return the line below that table."""

    @classmethod
    def _expected(cls) -> str:
        """Return the description of valid plain data, for errors."""
        return f"the output of {cls.__name__}.to_dict"

    def to_json(self) -> str:
        """Return everything as JSON, with null for NaN."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote."""
        return cls.from_dict(read_json(text, cls.__name__.lower(), cls._expected()))

    def __repr__(self) -> str:
        return "\n".join([display.format_text(*self._cells(), best=self._best_cells()), self._footer()])

    def to_markdown(self) -> str:
        """Return the values as a Markdown table, with a column per system for a comparison."""
        return display.format_markdown(*self._cells())

    def to_latex(self) -> str:
        """Return the values as a LaTeX table, with a column per system for a comparison."""
        return display.format_latex(*self._cells())

    def to_csv(self, table: Table = "values") -> str:
        """Return CSV with numbers in full precision; see `to_pandas` for the tables.

        Text that a spreadsheet would run as a formula (beginning with ``=``, ``+``, ``-`` or ``@``, but not a number)
        is prefixed with an apostrophe. Other exports leave it unchanged.
        """
        return display.format_csv(display.plain_columns(self.columns(table)))

    def to_pandas(self, table: Table = "values") -> pd.DataFrame:
        """Return a pandas data frame.

        Parameters
        ----------
        table : {"values", "per_user", "by_group"}
            What the rows are: metrics, users or groups. A comparison stacks the rows of all systems, with the system's
            name in the first column, ``system``.
        """
        return optional.pandas_frame(self.columns(table))

    def to_polars(self, table: Table = "values") -> pl.DataFrame:
        """Return a Polars data frame; see `to_pandas`."""
        return optional.polars_frame(self.columns(table))

    def to_arrow(self, table: Table = "values") -> pa.Table:
        """Return an Arrow table; see `to_pandas`."""
        return optional.arrow_table(self.columns(table))
