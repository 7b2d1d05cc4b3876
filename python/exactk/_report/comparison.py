"""The reports of several systems, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._report import display
from exactk._report.report import Report, Table
from exactk._report.user_keys import join_columns
from exactk._report.validation import read_json
from exactk._runtime import optional
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


_EXPECTED = "what Comparison.to_dict returned"


class Comparison(Mapping[str, Report]):
    """The reports of several systems on one truth, by name. Shown as one table.

    Examples
    --------
    >>> import exactk
    >>> exactk.evaluate([[1], [2]], {"a": [[1], [3]], "b": [[3], [3]]}, "P@1")
    metric            a       b  evaluated  skipped
    precision@1  0.5000  0.0000          2        0
    convention standard; 2 users
    """

    def __init__(self, reports: Mapping[str, Report]) -> None:
        self._reports = dict(reports)
        if not self._reports:
            raise input_error("reports", "at least one system", "none")

    def __getitem__(self, system: str) -> Report:
        """Return the report of a system."""
        return self._reports[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        reports = list(self._reports.values())
        rows = []
        for name in reports[0].metrics:
            evaluated = [report.counts["evaluated"][name] for report in reports]
            skipped = [report.counts["users"] - count for report, count in zip(reports, evaluated, strict=True)]
            rows.append(
                [
                    name,
                    *(display.format_number(report[name]) for report in reports),
                    _format_counts(evaluated),
                    _format_counts(skipped),
                ]
            )
        return ["metric", *self._reports, "evaluated", "skipped"], [*rows, *self._rows_of_counts()]

    def _rows_of_counts(self) -> Iterator[list[str]]:
        """Yield a row of each count that differs between systems, or is not 0 in all."""
        counts = [report.state.counts.by_name(report.metrics) for report in self._reports.values()]
        for name in dict.fromkeys(name for one in counts for name in one):
            kind, part = name
            cells = [one.get(name, 0) for one in counts]
            if kind in {"longest_list", "tie_spread"} or name in {("candidates", "users"), ("candidates", "total")}:
                continue  # other lines say enough
            if kind in {"candidates", "users"} and len(set(cells)) == 1:
                continue
            if any(cells):
                yield [f"{kind.replace('_', ' ')} {part}".rstrip(), *map(str, cells), "", ""]

    def to_markdown(self) -> str:
        """Return the values as a Markdown table, a column a system."""
        return display.format_markdown(*self._cells())

    def to_latex(self) -> str:
        """Return the values as a LaTeX table, a column a system."""
        return display.format_latex(*self._cells())

    def to_dict(self) -> dict[str, Any]:
        """Return the reports as plain data, by system. ``Comparison.from_dict`` takes it back."""
        return {system: report.to_dict() for system, report in self.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` described."""
        if not isinstance(data, Mapping):
            raise input_error("comparison", _EXPECTED, type(data).__name__)
        return cls({system: Report.from_dict(report) for system, report in data.items()})

    def to_json(self) -> str:
        """Return everything as JSON; NaN is null."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Return the comparison that `to_json` wrote."""
        return cls.from_dict(read_json(text, "comparison", _EXPECTED))

    def columns(self, table: Table = "values") -> dict[str, Any]:
        """Return the columns of all systems one below the other, after one that names the system."""
        parts = [report.columns(table) for report in self.values()]
        systems = np.repeat(list(self), [len(next(iter(part.values()))) for part in parts])
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return join_columns({"system": systems}, columns)

    def to_csv(self, table: Table = "values") -> str:
        """Return CSV with numbers in full, a column ``system`` first; see `Report.to_csv`."""
        return display.format_csv(display.plain_columns(self.columns(table)))

    def to_pandas(self, table: Table = "values") -> pd.DataFrame:
        """Return a pandas data frame, a column ``system`` first; see `Report.to_pandas`."""
        return optional.pandas_frame(self.columns(table))

    def to_polars(self, table: Table = "values") -> pl.DataFrame:
        """Return a Polars data frame, a column ``system`` first; see `Report.to_pandas`."""
        return optional.polars_frame(self.columns(table))

    def to_arrow(self, table: Table = "values") -> pa.Table:
        """Return an Arrow table, a column ``system`` first; see `Report.to_pandas`."""
        return optional.arrow_table(self.columns(table))

    def __repr__(self) -> str:
        first = next(iter(self._reports.values()))
        footer = f"{first.rules_text}; {first.state.counts.users} users"
        return "\n".join([display.format_text(*self._cells()), footer])


def _format_counts(counts: Sequence[int]) -> str:
    """Return the one count that all systems share, or each system's."""
    return "/".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))
