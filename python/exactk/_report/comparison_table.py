"""The values of several systems as text: a column per system."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.counts import count_label
from exactk._report.state import plan_of_state
from exactk._report.tables import DisplayTable, TextTable, format_number
from exactk._runtime.faults import plural
from exactk._runtime.numbers import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from exactk._report.counts import CandidateCounts
    from exactk._report.report import Report
    from exactk._report.sums import Label

_MOST_ROWS = 12  # of groups below the values


def best_systems(values: Mapping[str, float], direction: str) -> tuple[str, ...]:
    """Return the systems with the best value: all that are equal; none if neither direction is better."""
    numbers = {system: value for system, value in values.items() if not math.isnan(value)}
    if direction == "none" or not numbers:
        return ()
    best = max(numbers.values()) if direction == "higher" else min(numbers.values())
    return tuple(system for system, number in numbers.items() if number == best)


class _Row(NamedTuple):
    """The values of one metric."""

    names: list[str]  # the cells before the values
    values: dict[str, float]  # by system
    counts: list[str]  # the cells after the values
    direction: str


class ComparisonTable(NamedTuple):
    """The reports of several systems, and how their metrics are spelled."""

    reports: Mapping[str, Report]
    spellings: Sequence[str]

    def of_values(self, digits: int) -> TextTable:
        """Return a row for each metric, and for each count that says more than 0."""
        header = ["metric", *self.reports, "evaluated", "skipped"]
        table = self._table(header, list(self._rows_of_values()), digits)
        counts = (*self._rows_of_counts(), *self._rows_of_ties(), *self._rows_of_candidates())
        return table._replace(rows=[*table.rows, *([*row, "", ""] for row in counts)])

    def of_groups(self, digits: int, labels: Sequence[Label]) -> TextTable:
        """Return a row for each metric of each of these groups."""
        return self._table(
            ["group", "metric", *self.reports, "evaluated"], list(self._rows_of_groups(labels)), digits, left=2
        )

    def to_display(self, labels: Sequence[Label]) -> Sequence[DisplayTable]:
        """Return the values and, if there are any, the first groups; the convention is below."""
        values = self.of_values(DIGITS)
        tables = [DisplayTable(f"Comparison of {plural(len(self.reports), 'system')}", values)]
        tables += self._groups_in_brief(labels)
        tables[-1] = tables[-1]._replace(notes=[*tables[-1].notes, self._remarks(values)])
        return tables

    def _table(self, header: list[str], rows: Sequence[_Row], digits: int, left: int = 1) -> TextTable:
        """Return the rows as text; the best value of each is marked if there are several systems."""
        cells = [
            [*row.names, *(format_number(value, digits) for value in row.values.values()), *row.counts] for row in rows
        ]
        columns = {system: column for column, system in enumerate(self.reports, start=left)}
        best = {
            (index, columns[system])
            for index, row in enumerate(rows)
            for system in best_systems(row.values, row.direction)
        }
        return TextTable(header, cells, left, frozenset(best if len(self.reports) > 1 else ()))

    def _metrics(self) -> list[tuple[str, str, str]]:
        """Return the canonical name, the spelling and the direction of each metric."""
        values = plan_of_state(next(iter(self.reports.values())).state)
        return [
            (value.name, spelling, value.info.direction) for value, spelling in zip(values, self.spellings, strict=True)
        ]

    def _rows_of_values(self) -> Iterator[_Row]:
        reports = self.reports.values()
        for name, spelling, direction in self._metrics():
            evaluated = [report.counts["evaluated"][name] for report in reports]
            skipped = [report.counts["users"] - count for report, count in zip(reports, evaluated, strict=True)]
            values = {system: report[name] for system, report in self.reports.items()}
            yield _Row([spelling], values, [_format_counts(evaluated), _format_counts(skipped)], direction)

    def _rows_of_groups(self, labels: Sequence[Label]) -> Iterator[_Row]:
        by_group = {
            system: {(row.label, row.name): row for row in report._rows_of_groups(labels)}
            for system, report in self.reports.items()
        }
        for label, (name, spelling, direction) in product(labels, self._metrics()):
            rows = {system: rows.get((label, name)) for system, rows in by_group.items()}
            values = {system: math.nan if row is None else row.value for system, row in rows.items()}
            evaluated = [0 if row is None else row.evaluated for row in rows.values()]
            yield _Row([str(label), spelling], values, [_format_counts(evaluated)], direction)

    def _rows_of_counts(self) -> Iterator[list[str]]:
        """Yield a row for each count that is not 0 in all systems; for the number of users, if systems differ."""
        counts = [report.state.counts.scalars() for report in self.reports.values()]
        first, *_ = plan_of_state(next(iter(self.reports.values())).state)
        compares_lists = first.info.compares_lists
        for name in dict.fromkeys(name for one in counts for name in one):
            cells = [one.get(name, 0) for one in counts]
            if name == "longest_list" or (name == "users" and len(set(cells)) == 1):  # users are in the footer
                continue
            if any(cells):
                yield [count_label(name, compares_lists=compares_lists), *map(str, cells)]

    def _rows_of_ties(self) -> Iterator[list[str]]:
        """Yield a row for the first metric in which a report counts users whom the order of ties decides."""
        dependent = [report.counts.get("tie_dependent", {}) for report in self.reports.values()]
        firsts = [next((name for name, count in one.items() if count), None) for one in dependent]
        for name in dict.fromkeys(name for name in firsts if name is not None):
            yield [f"tie dependent {name}", *(str(one.get(name, 0)) for one in dependent)]

    def _rows_of_candidates(self) -> Iterator[list[str]]:
        """Yield a row for the numbers of candidates, if there are any."""
        cells = [_format_candidates(report.state.counts.candidates) for report in self.reports.values()]
        if any(cells):
            yield ["candidates per user", *cells]

    def _groups_in_brief(self, labels: Sequence[Label]) -> list[DisplayTable]:
        if not labels:
            return []
        shown = labels[: max(1, _MOST_ROWS // len(self.spellings))]
        left_out = len(labels) - len(shown)
        notes = [f"{plural(left_out, 'more group')} in to_pandas('by_group')"] if left_out else []
        return [DisplayTable("By group", self.of_groups(DIGITS, shown), notes)]

    def _remarks(self, table: TextTable) -> str:
        users = {report.state.counts.users for report in self.reports.values()}
        rules = dict.fromkeys(report._rules_text for report in self.reports.values())
        remarks = [" / ".join(rules), *(plural(count, "user") for count in users if len(users) == 1)]
        return "; ".join([*remarks, "* best"] if table.best else remarks)


def _format_counts(counts: Sequence[int]) -> str:
    """Return the count that all systems share, or the systems' counts joined by slashes."""
    return "/".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))


def _format_candidates(candidates: CandidateCounts | None) -> str:
    if candidates is None or not candidates.users:
        return ""
    fewest, most = candidates.fewest, candidates.most
    return str(fewest) if fewest == most else f"{fewest} to {most}"
