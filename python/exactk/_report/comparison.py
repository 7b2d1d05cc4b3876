"""The reports of several systems, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from exactk._report.display import format_number
from exactk._report.exports import Exports, Table
from exactk._report.report import Report
from exactk._report.user_keys import join_columns
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural


class Comparison(Exports, Mapping[str, Report]):
    """The reports of several systems on one truth: a mapping from system name to `Report`.

    `exactk.evaluate` returns it for a mapping of systems. It prints as one table with a column per system.

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
                    *(format_number(report[name]) for report in reports),
                    _format_counts(evaluated),
                    _format_counts(skipped),
                ]
            )
        return ["metric", *self._reports, "evaluated", "skipped"], [*rows, *self._rows_of_counts()]

    def _rows_of_counts(self) -> Iterator[list[str]]:
        """Yield a row for each count that differs between systems or is not 0 in all of them."""
        counts = [report.state.counts.by_name(report.metrics) for report in self._reports.values()]
        for name in dict.fromkeys(name for one in counts for name in one):
            kind, part = name
            cells = [one.get(name, 0) for one in counts]
            if kind in {"longest_list", "tie_spread"} or name in {("candidates", "users"), ("candidates", "total")}:
                continue  # shown on other lines
            if kind in {"candidates", "users"} and len(set(cells)) == 1:
                continue
            if any(cells):
                yield [f"{kind.replace('_', ' ')} {part}".rstrip(), *map(str, cells), "", ""]

    def to_dict(self) -> dict[str, Any]:
        """Return the reports as plain data, by system. ``Comparison.from_dict`` reads it back."""
        return {system: report.to_dict() for system, report in self.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` described."""
        if not isinstance(data, Mapping):
            raise input_error("comparison", cls._expected(), type(data).__name__)
        return cls({system: Report.from_dict(report) for system, report in data.items()})

    def columns(self, table: Table = "values") -> dict[str, Any]:
        """Return the columns of all systems, stacked, after a column ``system`` with the system's name."""
        parts = [report.columns(table) for report in self.values()]
        systems = np.repeat(list(self), [len(next(iter(part.values()))) for part in parts])
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return join_columns({"system": systems}, columns)

    def _footer(self) -> str:
        first = next(iter(self._reports.values()))
        return f"{first.rules_text}; {plural(first.state.counts.users, 'user')}"


def _format_counts(counts: Sequence[int]) -> str:
    """Return the count that all systems share, or the systems' counts joined by slashes."""
    return "/".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))
