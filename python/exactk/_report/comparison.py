"""The reports of several systems, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exactk._plan.metric_strings import plan
from exactk._plan.metrics import metrics
from exactk._report.counts import count_label
from exactk._report.display import DIGITS, format_number, format_text
from exactk._report.exports import Exports
from exactk._report.flat_names import flat_dict
from exactk._report.report import Report
from exactk._report.state import State, check_label_types, check_same_plan, common_spellings, ordered_labels
from exactk._report.tables import TextTable, stack_systems, text_of_columns
from exactk._runtime.errors import StateMismatchError, input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from exactk._report.counts import CandidateCounts
    from exactk._report.sums import Label
    from exactk._report.tables import Columns, Table

_MOST_ROWS = 12  # of groups in a printed comparison


class Comparison(Exports, Mapping[str, Mapping[str, float]]):
    """The values of several systems: a mapping from metric to the value of each system.

    `exactk.compare` and `exactk.compare_reports` return comparisons. ``comparison["ndcg@10"]["als"]`` is a value;
    metrics may be spelled in any way, and are shown as requested. A comparison prints as one table with a column per system, where ``*`` marks
    the best value of each metric and its equals. Below the values it says what the reports count, such as missing
    users, wherever systems differ or a count is not 0.

    Attributes
    ----------
    reports : Mapping of str to Report
        The report of each system.
    metrics : tuple of str
        Canonical names of the metrics, in the order of the keys.
    state : Mapping of str to State
        The exact sums of each system.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1], [3]], "b": [[3], [3]], "c": [[1], []]}
    >>> comparison = exactk.compare([[1], [2]], systems, "P@1")
    >>> comparison
    metric                       a        b       c   evaluated  skipped
    P@1                     0.5000*  0.0000  0.5000*          2        0
    users with empty lists       0        0       1
    convention standard; 2 users; * best
    >>> comparison["P@1"]["b"], comparison.best("P@1")
    (0.0, ('a', 'c'))
    >>> comparison.reports["c"].counts["empty_predictions"]
    1
    """

    def __init__(self, reports: Mapping[str, Report]) -> None:
        if not isinstance(reports, Mapping):
            raise type_error("reports", "a mapping from each system's name to its report", type(reports).__name__)
        if isinstance(reports, Comparison):
            hint = "its .reports have them"
            raise type_error("reports", "a Report of each system", "a Comparison", hint=hint)
        self._reports = dict(reports)
        if not self._reports:
            raise input_error("reports", "at least one system", "none")
        first = next(iter(self._reports.values()))
        for system, report in self._reports.items():
            check_system_name(system, "reports")
            if not isinstance(report, Report):
                raise type_error("reports", "a Report of each system", f"{type(report).__name__} for {system!r}")
            try:
                check_same_plan(first.state, report.state, "reports")
            except StateMismatchError as error:
                raise error.within(f"system {system!r}") from None
        check_label_types([report.state.groups for report in self._reports.values()], "reports")

    @property
    def reports(self) -> Mapping[str, Report]:
        """The report of each system."""
        return MappingProxyType(self._reports)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Canonical names of the metrics, in the order of the keys."""
        return self._first.metrics

    @property
    def state(self) -> Mapping[str, State]:
        """The exact sums of each system."""
        return MappingProxyType({system: report.state for system, report in self._reports.items()})

    @property
    def _first(self) -> Report:
        return next(iter(self._reports.values()))

    def __getitem__(self, metric: str) -> Mapping[str, float]:
        """Return each system's value of a metric, in any accepted spelling."""
        try:
            return {system: report[metric] for system, report in self._reports.items()}
        except KeyError:
            if metric not in self._reports:
                raise
            message = f"expected a metric, found the system {metric!r}; comparison.reports[{metric!r}] is its report"
            raise KeyError(message) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the metrics as requested; under their canonical names where the reports differ."""
        return iter(common_spellings([report.state.spellings for report in self._reports.values()], self.metrics))

    def __len__(self) -> int:
        return len(self.metrics)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __eq__(self, other: object) -> bool:
        return self._reports == other._reports if isinstance(other, Comparison) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def best(self, metric: str) -> tuple[str, ...]:
        """Return the systems with the best value of a metric: all that are equal, in the order of the comparison.

        ``exactk.metrics`` says whether higher or lower values are better. Nobody is best where the metric has no
        direction (``"none"``) or every value is NaN.
        """
        return self._best(metric, self[metric])

    def _best(self, metric: str, values: Mapping[str, float]) -> tuple[str, ...]:
        """Return the systems with the best of these values of a metric."""
        numbers = {system: value for system, value in values.items() if not math.isnan(value)}
        (value,) = plan([metric], self._first.convention)
        direction = metrics[value.metric].direction
        if direction == "none" or not numbers:
            return ()
        best = max(numbers.values()) if direction == "higher" else min(numbers.values())
        return tuple(system for system, number in numbers.items() if number == best)

    def _text_table(self, table: Table, digits: int) -> TextTable:
        if table == "values":
            return self._text_of_values(digits)
        if table == "by_group":
            return self._text_of_groups(digits, self._labels())
        columns = self.columns(table)
        return text_of_columns(columns, len(columns) - len(self), digits)

    def _text_of_values(self, digits: int) -> TextTable:
        reports = list(self._reports.values())
        rows = []
        for name, values in self.items():
            evaluated = [report.counts["evaluated"][name] for report in reports]
            skipped = [report.counts["users"] - count for report, count in zip(reports, evaluated, strict=True)]
            cells = (format_number(value, digits) for value in values.values())
            rows.append([name, *cells, _format_counts(evaluated), _format_counts(skipped)])
        counts = [
            [*row, "", ""] for row in (*self._rows_of_counts(), *self._rows_of_ties(), *self._rows_of_candidates())
        ]
        header = ["metric", *self._reports, "evaluated", "skipped"]
        return TextTable(header, [*rows, *counts], best=self._best_cells(self.items(), first_column=1))

    def _text_of_groups(self, digits: int, labels: Sequence[Label]) -> TextTable:
        """Return a row for each metric of each of these groups, with a column per system."""
        rows, rows_of_values = [], []
        for label, metric, values, evaluated in self._rows_of_groups(labels):
            cells = (format_number(value, digits) for value in values.values())
            rows.append([str(label), metric, *cells, _format_counts(evaluated)])
            rows_of_values.append((metric, values))
        header = ["group", "metric", *self._reports, "evaluated"]
        return TextTable(header, rows, left=2, best=self._best_cells(rows_of_values, first_column=2))

    def _labels(self) -> list[Label]:
        """Return the groups of any system, in order."""
        states = self.state.values()
        orders = {state.group_order for state in states}
        labels = {label for state in states for label in state.groups or {}}
        return ordered_labels(labels, orders.pop() if len(orders) == 1 else None)

    def _rows_of_groups(self, labels: Sequence[Label]) -> Iterator[tuple[Label, str, dict[str, float], list[int]]]:
        """Yield the values and the numbers of users by system, of each metric of each group."""
        by_group = {
            system: {(row.label, row.name): row for row in report.rows_of_groups(labels)}
            for system, report in self._reports.items()
        }
        for label, (name, spelling) in product(labels, zip(self.metrics, self, strict=True)):
            rows = {system: rows.get((label, name)) for system, rows in by_group.items()}
            values = {system: math.nan if row is None else row.value for system, row in rows.items()}
            yield label, spelling, values, [0 if row is None else row.evaluated for row in rows.values()]

    def _best_cells(
        self, rows: Iterable[tuple[str, Mapping[str, float]]], first_column: int
    ) -> frozenset[tuple[int, int]]:
        """Return the row and the column of the best values of each metric, if there are several systems."""
        if len(self._reports) == 1:
            return frozenset()
        columns = {system: column for column, system in enumerate(self._reports, start=first_column)}
        return frozenset(
            (row, columns[system]) for row, (metric, values) in enumerate(rows) for system in self._best(metric, values)
        )

    def _rows_of_counts(self) -> Iterator[list[str]]:
        """Yield a row for each count that is not 0 in all systems; for the number of users, if systems differ."""
        counts = [report.state.counts.scalars() for report in self._reports.values()]
        for name in dict.fromkeys(name for one in counts for name in one):
            cells = [one.get(name, 0) for one in counts]
            if name == "longest_list" or (name == "users" and len(set(cells)) == 1):  # users are in the footer
                continue
            if any(cells):
                yield [count_label(name), *map(str, cells)]

    def _rows_of_ties(self) -> Iterator[list[str]]:
        """Yield a row for the first metric in which a report counts users whom the order of ties decides."""
        dependent = [report.counts.get("tie_dependent", {}) for report in self._reports.values()]
        firsts = [next((name for name, count in one.items() if count), None) for one in dependent]
        for name in dict.fromkeys(name for name in firsts if name is not None):
            yield [f"tie dependent {name}", *(str(one.get(name, 0)) for one in dependent)]

    def _rows_of_candidates(self) -> Iterator[list[str]]:
        """Yield a row for the numbers of candidates, if there are any."""
        cells = [_format_candidates(report.state.counts.candidates) for report in self._reports.values()]
        if any(cells):
            yield ["candidates per user", *cells]

    def to_dict(self) -> dict[str, Any]:
        """Return the reports as plain data, by system. ``Comparison.from_dict`` reads it back."""
        return {system: report.to_dict() for system, report in self._reports.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` described."""
        if not isinstance(data, Mapping):
            raise input_error("comparison", cls._expected(), type(data).__name__)
        return cls({system: Report.from_dict(report) for system, report in data.items()})

    def _plain_reports(self) -> Mapping[str | None, Mapping[str, Any]]:
        return {system: report.to_dict() for system, report in self._reports.items()}

    @classmethod
    def _from_plain_reports(cls, reports: Mapping[str | None, Mapping[str, Any]]) -> Comparison:
        if None in reports:
            hint = "exactk.Report.from_json reads one report"
            raise input_error("comparison", "reports by system", "a report without a system", hint=hint)
        return cls({str(system): Report.from_dict(report) for system, report in reports.items()})

    def columns(self, table: Table = "values", *, wide: bool | None = None) -> Columns:
        """Return the columns of all systems, stacked, after a column ``system`` with the system's name."""
        reports = {system: _respell(report, tuple(self)) for system, report in self._reports.items()}
        return stack_systems({system: report.columns(table, wide=wide) for system, report in reports.items()})

    def to_flat_dict(self, prefix: str = "") -> dict[str, float]:
        """Return the values under names that experiment trackers accept, with the system before a slash; see `Report`.

        Examples
        --------
        >>> import exactk
        >>> exactk.compare([[1]], {"als": [[1]], "popular": [[2]]}, "P@1").to_flat_dict()
        {'als/P_at_1': 1.0, 'popular/P_at_1': 0.0}
        """
        by_system = ((system, metric) for system in self._reports for metric in self)
        return flat_dict((((system, metric), self[metric][system]) for system, metric in by_system), prefix)

    def _footer(self) -> str:
        return "\n".join([*self._groups_in_brief(), self._remarks()])

    def _groups_in_brief(self) -> list[str]:
        """Return the lines of the first groups, if there are groups."""
        labels = self._labels()
        if not labels:
            return []
        shown = labels[: max(1, _MOST_ROWS // len(self))]
        left_out = len(labels) - len(shown)
        lines = [format_text(*self._text_of_groups(DIGITS, shown))]
        return lines + ([f"{plural(left_out, 'more group')} in to_pandas('by_group')"] if left_out else [])

    def _remarks(self) -> str:
        users = {report.state.counts.users for report in self._reports.values()}
        rules = dict.fromkeys(report.rules_text for report in self._reports.values())
        remarks = [" / ".join(rules), *(plural(count, "user") for count in users if len(users) == 1)]
        return "; ".join([*remarks, "* best"] if self._text_of_values(0).best else remarks)


def check_system_name(name: object, argument: str) -> None:
    """Raise unless the key of a mapping from system is a name."""
    if not isinstance(name, str):
        raise type_error(argument, "system names as keys", repr(name))
    if not name:
        raise input_error(argument, "a name for each system", repr(name))


def _respell(report: Report, spellings: tuple[str, ...]) -> Report:
    """Return the report with other spellings of its metrics."""
    if report.state.spellings == spellings:
        return report
    return Report(replace(report.state, spellings=spellings), report.users, report.table)


def _format_counts(counts: Sequence[int]) -> str:
    """Return the count that all systems share, or the systems' counts joined by slashes."""
    return "/".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))


def _format_candidates(candidates: CandidateCounts | None) -> str:
    if candidates is None or not candidates.users:
        return ""
    fewest, most = candidates.fewest, candidates.most
    return str(fewest) if fewest == most else f"{fewest} to {most}"
