"""The values of several systems as tables, a column per system or a row, and which systems are significantly worse."""

from __future__ import annotations

import math
from itertools import product
from string import ascii_lowercase
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.counts import counts_of_systems
from exactk._report.difference import significant_side
from exactk._report.difference_table import left_out_lines
from exactk._report.state import common_unit_names, plan_of_state
from exactk._runtime.faults import listed, plural
from exactk._runtime.table import Column, Table, left_out
from exactk._runtime.texts import DIGITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from exactk._report.difference import Difference
    from exactk._report.difference_table import ComparisonMethod
    from exactk._report.report import ItemGroupRow, Report
    from exactk._report.sums import Label
    from exactk._runtime.unit_names import UnitNames


class Marks(NamedTuple):
    """The letters of a table of values, and what they mean."""

    letters: Mapping[str, str]  # by system, which other values are marked with
    worse: Mapping[tuple[Label | None, str, str], Sequence[str]]  # by group, metric and system: of those that are worse
    legend: str


NO_MARKS = Marks(MappingProxyType({}), MappingProxyType({}), "")


def letters(count: int) -> list[str]:
    """Return a, b, ..., z, aa, ab, ... in this order."""
    names = list(ascii_lowercase)
    while len(names) < count:
        names += [name + letter for name in names[-(26 ** len(names[-1])) :] for letter in ascii_lowercase]
    return names[:count]


def significance_marks(
    differences: Sequence[Difference], method: ComparisonMethod, directions: Mapping[str, str], systems: Sequence[str]
) -> Marks:
    """Return the marks of the values of these systems in some metrics, as the differences spell them; none if none is tested.

    `directions` are those of the metrics. Training runs have the letter and the marks of their mean.
    """
    differences = [one for one in differences if directions.get(one.metric, "none") != "none"]
    if all(one.reason for one in differences):
        return NO_MARKS
    compared = method.options.compared_systems(systems)
    letter_of = dict(zip(compared, letters(len(compared)), strict=True))
    runs_of = {system: method.options.runs_of(system) for system in compared}
    worse: dict[tuple[Label | None, str, str], list[str]] = {}
    for one in differences:
        side = significant_side(one, directions[one.metric], method.options)
        winner, loser = (one.system, one.baseline) if side > 0 else (one.baseline, one.system)
        for run in runs_of[winner] if side else ():
            worse.setdefault((one.group, one.metric, run), []).append(letter_of[loser])
    in_order = {key: sorted(some, key=lambda letter: (len(letter), letter)) for key, some in worse.items()}
    of_runs = {run: letter_of[system] for system, runs in runs_of.items() for run in runs}
    tested = {one.metric for one in differences}
    return Marks(of_runs, in_order, _caption(differences, method, [name for name in directions if name not in tested]))


def _caption(differences: Sequence[Difference], method: ComparisonMethod, untested: Sequence[str]) -> str:
    options = method.options
    users = ", ".join(
        filter(None, [method.users_text(differences) or _range_of_users(differences, method.units), method.sample])
    )
    tests = f"{method.test_text(differences)}; {method.adjustment_of(differences)}; {method.level_text}; {users}"
    bold = "Best values, also of single runs, in bold" if options.runs else "Best values in bold"
    sentences = [
        f"{bold}; superscript letters: the systems that are significantly worse ({tests})",
        *method.one_side,
        *left_out_lines(differences, method.units),
    ]
    if untested:
        users = method.units.users
        sentences.append(
            f"no letters in {', '.join(untested)}: {users} have no values to test, or neither direction is better"
        )
    if options.baseline is not None:
        sentences.append(f"only differences from {options.baseline} are tested")
    for system, runs in (options.runs or {}).items():
        sentences.append(f"{', '.join(runs)}: runs of {system}, tested as their mean")
    without = sum(bool(one.reason) for one in differences)
    if without:
        sentences.append(f"{without} of {len(differences)} differences without a p-value")
    return "; ".join(sentences)


def _range_of_users(differences: Sequence[Difference], units: UnitNames) -> str:
    counts = [one.users for one in differences]
    of_group = " per group" if any(one.group is not None for one in differences) else ""
    return f"{min(counts)} to {max(counts)} {units.users}{of_group}"


_MOST_ROWS = 12  # of groups and metrics below the values; with more, groups are rows
_MOST_GROUPS = 50
_MOST_WIDTH = 100  # characters of the values of groups, if these are of several metrics


def best_systems(values: Mapping[str, float], direction: str) -> tuple[str, ...]:
    """Return the systems with the best value: all that are equal; none if neither direction is better."""
    numbers = {system: value for system, value in values.items() if not math.isnan(value)}
    if direction == "none" or not numbers:
        return ()
    best = max(numbers.values()) if direction == "higher" else min(numbers.values())
    return tuple(system for system, number in numbers.items() if number == best)


class _Row(NamedTuple):
    """The values of one metric, of all users or of a group."""

    group: Label | None
    metric: str  # as requested
    values: dict[str, float]  # by system
    counts: dict[str, list[int]]  # of each system, by what is counted
    best: tuple[str, ...] = ()


class ComparisonTable(NamedTuple):
    """The reports of several systems, and how their metrics are spelled."""

    reports: Mapping[str, Report]
    spellings: Sequence[str]

    def rows(self, labels: Sequence[Label] | None = None, names: Sequence[str] | None = None) -> list[_Row]:
        """Return the values of all users, or of each of these groups, in the metrics with these canonical names."""
        of_values = zip(plan_of_state(self._first.state), self.spellings, strict=True)
        values = {value.name: (spelling, value.info.direction) for value, spelling in of_values}
        shown = [(name, *values[name]) for name in (values if names is None else names)]
        return [*self._rows_of_values(shown)] if labels is None else [*self._rows_of_groups(shown, labels)]

    def table(
        self,
        rows: Sequence[_Row],
        digits: int,
        marks: Marks = NO_MARKS,
        *,
        systems_as_rows: bool = False,
        diagnostics: bool = False,
    ) -> Table:
        """Return these values; the best of each row is marked if there are several systems."""
        table = self._of_systems(rows, digits, marks) if systems_as_rows else self._of_metrics(rows, digits, marks)
        if diagnostics:
            table = self._with_counts(table, rows, systems_as_rows=systems_as_rows)
        return table._replace(legend=marks.legend)

    def _of_metrics(self, rows: Sequence[_Row], digits: int, marks: Marks) -> Table:
        """Return a row for each metric, and a column for each system."""
        columns = [
            Column(
                system,
                [row.values[system] for row in rows],
                digits=digits,
                best={index for index, row in enumerate(rows) if self._is_marked(row, system)},
                letter=marks.letters.get(system, ""),
                letters=[marks.worse.get((row.group, row.metric, system), ()) for row in rows] if marks.letters else (),
            )
            for system in self.reports
        ]
        return Table([*_keys(rows), *columns])

    def _of_systems(self, rows: Sequence[_Row], digits: int, marks: Marks) -> Table:
        """Return a row for each system, of each group, and a column for each metric."""
        by_metric: dict[str, list[_Row]] = {}
        for row in rows:
            by_metric.setdefault(row.metric, []).append(row)
        first = next(iter(by_metric.values()), [])
        cells = list(product(range(len(first)), self.reports))
        letters = [(marks.letters[system],) for _, system in cells] if marks.letters else ()
        keys = [Column("system", [system for _, system in cells], "key", letters=letters)]
        if any(row.group is not None for row in first):
            keys.insert(0, Column("group", [str(first[index].group) for index, _ in cells], "key"))
        columns = [
            Column(
                metric,
                [of_metric[index].values[system] for index, system in cells],
                digits=digits,
                best={at for at, (index, system) in enumerate(cells) if self._is_marked(of_metric[index], system)},
                letters=[marks.worse.get((of_metric[i].group, metric, system), ()) for i, system in cells]
                if marks.letters
                else (),
            )
            for metric, of_metric in by_metric.items()
        ]
        return Table([*keys, *columns])

    def _is_marked(self, row: _Row, system: str) -> bool:
        return len(self.reports) > 1 and system in row.best

    def _with_counts(self, table: Table, rows: Sequence[_Row], *, systems_as_rows: bool) -> Table:
        """Return the table with the counts of each row and, of all users, with a row or a column for each other count."""
        counts = {} if any(row.group is not None for row in rows) else self._counts()
        of_rows: dict[str, list[str]] = {}
        for name in rows[0].counts:
            if systems_as_rows:  # which have a number for each metric
                groups = [
                    [row for row in rows if row.group == group] for group in dict.fromkeys(row.group for row in rows)
                ]
                by_cell = product(groups, range(len(self.reports)))
                of_rows[name] = [_joined([row.counts[name][i] for row in group]) for group, i in by_cell]
            else:
                of_rows[name] = [_joined(row.counts[name]) for row in rows]
        if systems_as_rows:
            more = [Column(name, cells) for name, cells in of_rows.items()]
            more += [Column(name, [*row.values()]) for name, row in counts.items()]
            return table._replace(columns=[*table.columns, *more])
        of_keys = [one._replace(cells=[*one.cells, *counts]) for one in table.columns if one.kind == "key"]
        of_systems = [
            one._replace(cells=[*one.cells, *(row[one.name] for row in counts.values())])
            for one in table.columns
            if one.kind != "key"
        ]
        more = [Column(name, [*cells, *[""] * len(counts)]) for name, cells in of_rows.items()]
        return table._replace(columns=[*of_keys, *of_systems, *more])

    @property
    def _units(self) -> UnitNames:
        return common_unit_names(report.state.unit_names for report in self.reports.values())

    @property
    def _first(self) -> Report:
        return next(iter(self.reports.values()))

    def _rows_of_values(self, metrics: Sequence[tuple[str, str, str]]) -> Iterator[_Row]:
        for name, spelling, direction in metrics:
            evaluated = [report.counts["evaluated"][name] for report in self.reports.values()]
            users = [report.state.counts.users for report in self.reports.values()]
            values = {system: report[name] for system, report in self.reports.items()}
            skipped = [of_all - count for of_all, count in zip(users, evaluated, strict=True)]
            counts = {"evaluated": evaluated, "skipped": skipped}
            yield _Row(None, spelling, values, counts, best_systems(values, direction))

    def _rows_of_groups(self, metrics: Sequence[tuple[str, str, str]], labels: Sequence[Label]) -> Iterator[_Row]:
        by_group = {system: report._cells_of_groups(labels) for system, report in self.reports.items()}
        for label, (name, spelling, direction) in product(labels, metrics):
            rows = {system: rows.get((label, name)) for system, rows in by_group.items()}
            values = {system: math.nan if row is None else row.value for system, row in rows.items()}
            evaluated = [0 if row is None else row.evaluated for row in rows.values()]
            yield _Row(label, spelling, values, {"evaluated": evaluated}, best_systems(values, direction))

    def rows_of_item_groups(self, names: Sequence[str] | None = None) -> list[_Row]:
        """Return what each value has of each group of items. Of a share of all that is recommended, none is the best."""
        by_cell: dict[tuple[Label | None, str], dict[str, ItemGroupRow]] = {}
        for system, report in self.reports.items():
            for row in report._rows_of_item_groups(names):
                by_cell.setdefault((row.label, row.of.spelling), {})[system] = row
        return [self._row_of_item_group(str(label), rows) for (label, _), rows in by_cell.items()]

    def _row_of_item_group(self, label: str, rows: Mapping[str, ItemGroupRow]) -> _Row:
        of, values = next(iter(rows.values())).of, {system: row.value for system, row in rows.items()}
        best = best_systems(values, "none" if of.info.reads_groups else of.info.direction)
        return _Row(label, of.spelling, values, self._counts_of_item_group(rows.values()), best)

    def _counts_of_item_group(self, rows: Collection[ItemGroupRow]) -> dict[str, list[int]]:
        """Return the users in each system's mean, if values are of users, and its items, if a metric counts these."""
        state = self._first.state
        evaluated = {"evaluated": [row.evaluated or 0 for row in rows]} if plan_of_state(state).item_groups else {}
        return evaluated | ({self._units.items: [row.items or 0 for row in rows]} if state.group_tallies else {})

    # Diagnostics, which stand beside the values.

    def _counts(self) -> dict[str, dict[str, str]]:
        """Return each count that is not 0 in all systems, by system."""
        states = [report.state for report in self.reports.values()]
        compares_lists = plan_of_state(states[0])[0].info.compares_lists
        counts = [one.counts for one in states]
        texts = counts_of_systems(counts, self.spellings, self._units, compares_lists=compares_lists)
        return {name: dict(zip(self.reports, cells, strict=True)) for name, cells in texts.items()}

    def _lines(self, rows: Sequence[_Row]) -> list[str]:
        """Return a line for each count, and on the users whom values skip."""
        skipped: dict[tuple[int, ...], list[str]] = {}
        for row in rows:
            skipped.setdefault(tuple(row.counts["skipped"]), []).append(row.metric)
        counts = {}
        for cells, metrics in skipped.items():
            of = "" if len(metrics) == len(rows) else f" in {listed(metrics)}"
            counts[f"skipped {self._units.users}{of}"] = dict(zip(self.reports, map(str, cells), strict=True))
        return [
            f"{name}: {text}" for name, cells in (counts | self._counts()).items() if (text := _text_by_system(cells))
        ]

    def to_display(self, labels: Sequence[Label]) -> Sequence[Table]:
        """Return the values and, if there are any, those of groups; counts and the convention are below."""
        names = plan_of_state(self._first.state).names_of_all_items
        rows = self.rows(None, names) if names else []
        caption = f"Comparison of {plural(len(self.reports), 'system')}"
        values = [self.table(rows, DIGITS)._replace(caption=caption, notes=self._lines(rows))] if rows else []
        of_items = self._item_groups_in_brief()
        has_best = any(column.best for table in (values or of_items) for column in table.columns)
        tables = [*values, *self._groups_in_brief(labels), *of_items]
        tables[-1] = tables[-1]._replace(notes=[*tables[-1].notes, self._remarks(has_best=has_best)])
        return tables

    def _groups_in_brief(self, labels: Sequence[Label]) -> list[Table]:
        """Return the values of all groups, of as many metrics as there is room for."""
        if not labels:
            return []
        if len(labels) * len(self.spellings) <= _MOST_ROWS:
            return [self.table(self.rows(labels), DIGITS, diagnostics=True)._replace(caption="By group")]
        names = [value.name for value in plan_of_state(self._first.state)]
        width = sum(max(len(system), DIGITS + 3) + 2 for system in self.reports)
        size = max(
            1, _MOST_WIDTH // (width + sum(len(one) + 1 for one in self.spellings) // len(names) * len(self.reports))
        )
        shown, metrics = labels[:_MOST_GROUPS], names[:size]
        by_metric: dict[str, list[_Row]] = {}
        for row in self.rows(shown, metrics):
            by_metric.setdefault(row.metric, []).append(row)
        columns = [
            column._replace(name=f"{metric} {column.name}")
            for metric, rows in by_metric.items()
            for column in self.table(rows, DIGITS).columns[2:]
        ]
        notes = left_out("to_pandas('by_group')", group=len(labels) - len(shown), metric=len(names) - len(metrics))
        of_users = [_joined(row.counts["evaluated"]) for row in next(iter(by_metric.values()))]
        keys = [Column("group", [*map(str, shown)], "key"), Column("evaluated", of_users)]
        return [Table([*keys, *columns], "By group", notes)]

    def _item_groups_in_brief(self) -> list[Table]:
        """Return the first groups of items, if a metric has some."""
        rows = self.rows_of_item_groups()
        if not rows:
            return []
        groups = list(dict.fromkeys(row.group for row in rows))
        shown = groups[: max(1, _MOST_ROWS // (len(rows) // len(groups)))]
        notes = left_out("to_pandas('by_item_group')", group=len(groups) - len(shown))
        first, *others = self.table([row for row in rows if row.group in shown], DIGITS, diagnostics=True).columns
        return [
            Table(
                [first._replace(name=f"{self._units.item} group"), *others], f"By group of {self._units.items}", notes
            )
        ]

    def _remarks(self, *, has_best: bool) -> str:
        users = {report.state.counts.users for report in self.reports.values()}
        rules = dict.fromkeys(report._rules_text for report in self.reports.values())
        remarks = [" / ".join(rules), *(plural(count, self._units.user) for count in users if len(users) == 1)]
        return "; ".join([*remarks, "* best"] if has_best else remarks)


def _keys(rows: Sequence[_Row]) -> list[Column]:
    """Return the columns that name the rows."""
    groups = (
        [Column("group", [str(row.group) for row in rows], "key")] if any(row.group is not None for row in rows) else []
    )
    return [*groups, Column("metric", [row.metric for row in rows], "key")]


def _joined(counts: Sequence[int]) -> str:
    """Return the count that all systems share, or the systems' counts joined by slashes."""
    return "/".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))


def _text_by_system(cells: Mapping[str, str]) -> str:
    """Return what all systems share, or of each system what it has; empty if that is nothing."""
    if len(set(cells.values())) == 1:
        only = next(iter(cells.values()))
        return "" if only == "0" else only
    return listed([f"{cell} in {system}" for system, cell in cells.items() if cell not in {"0", ""}])
