"""What the sections of a page read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from exactk._figures import directed, popularity_rows, system_styles, value_of_metric
from exactk._html.page_parts import Limits
from exactk._inference.significance import level_of
from exactk._report.comparison import Comparison, confidence_of, reports_of
from exactk._report.matched_reports import matched_users
from exactk._report.state import plan_of_state
from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exactk._figures import GroupsFigure, PairFigure, PopularityRow, SystemStyle
    from exactk._plan.values import Value
    from exactk._report.difference import Difference
    from exactk._report.differences import Differences
    from exactk._report.exports import PageRequest
    from exactk._report.matched_reports import MatchedUsers
    from exactk._report.paired_sums import Pair
    from exactk._report.report import Report


@dataclass(frozen=True, eq=False)
class Source:
    """One report or several, and what the page was asked to show."""

    result: Report | Comparison
    request: PageRequest
    limits: Limits = field(default_factory=Limits)

    @property
    def reports(self) -> Mapping[str, Report]:
        """The reports by system, one without a name, "", if there is no comparison."""
        return reports_of(self.result)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison; None for the report of one system."""
        return self.result if isinstance(self.result, Comparison) else None

    def named(self, text: str) -> str:
        """Return a text with what users and items are called."""
        return self.result.unit_names.text(text)

    @property
    def first(self) -> Report:
        """The first report, whose metrics and convention all have."""
        return next(iter(self.reports.values()))

    @property
    def plan(self) -> Sequence[Value]:
        """The metrics in the order of the reports' tables."""
        return plan_of_state(self.first.state)

    @cached_property
    def headline(self) -> Sequence[Value]:
        """The metrics that lead the page, if it was asked for some: one, or both axes of the trade-off."""
        return [value_of_metric(self.reports, metric, "headline") for metric in self.request.headline]

    def check_headline(self) -> None:
        """Raise InputError for a headline that the sections cannot begin with."""
        names = [value.spelling for value in self.headline]
        if names and self.rows_of and names[0] not in self.rows_of:
            expected = f"first a metric of which differences are tested: {', '.join(self.rows_of)}"
            raise input_error("headline", expected, repr(names[0]))
        if len(names) == 2:
            if self.comparison is None:
                raise input_error("headline", "one metric, as one system has no trade-off", "2")
            if names[0] == names[1]:
                raise input_error("headline", "two metrics, one against the other", f"{names[0]!r} twice")
            for value in self.headline:
                directed(value, "headline")

    def check_items(self) -> None:
        """Raise InputError for items that are not those of the reports, or without popularity."""
        if self.request.items is None:
            return
        table = self.request.items.table
        if table.users is None:
            hint = "exactk.Items(train=...) counts it"
            raise input_error("items", "items whose popularity is known", "a catalogue alone", hint=hint)
        digests = {table.digest, table.digest_of(table.histories)}
        for system, report in self.reports.items():
            if report.state.catalogue is not None and report.state.catalogue.digest not in digests:
                of_system = f" than those of {system!r}" if system else ""
                raise input_error("items", "the items of the evaluation", f"others{of_system}")

    @cached_property
    def value_of_lists(self) -> Value | None:
        """The first metric of all lists, which has counted how often each item is recommended; None without one."""
        of_lists = (value for value in self.values if value.info.of_collection and not value.info.reads_groups)
        return next(of_lists, None)

    @cached_property
    def popularity(self) -> Sequence[PopularityRow]:
        """How popular the recommended items are; nothing if that is not known."""
        if self.request.items is None or self.value_of_lists is None:
            return []
        return popularity_rows(self.reports, self.value_of_lists, self.request.items.table)

    @property
    def values(self) -> Sequence[Value]:
        """The metrics, those of the headline first."""
        return list(self.value_of.values())

    @cached_property
    def value_of(self) -> Mapping[str, Value]:
        """The metrics by their spelling, those of the headline first."""
        return {value.spelling: value for value in (*self.headline, *self.plan)}

    def column_names(self, of_one: str = "value") -> list[str]:
        """Return the names of columns with a cell of each system; that of one system has another name."""
        return [of_one] if self.comparison is None else list(self.reports)

    @property
    def runs(self) -> Mapping[str, Sequence[str]]:
        """The names of the runs of systems that have several."""
        return (None if self.comparison is None else self.comparison.state.options.runs) or {}

    @cached_property
    def styles(self) -> Mapping[str, SystemStyle]:
        """How each system is drawn; the mean of runs as its first run."""
        styles = system_styles(self.reports)
        return {**styles, **{system: styles[some[0]] for system, some in self.runs.items()}}

    def shown_styles(self, systems: Iterable[str]) -> dict[str, SystemStyle]:
        """Return the styles of as many systems as a chart shows."""
        return {system: self.styles[system] for system in list(systems)[: self.limits.marks]}

    @property
    def confidence(self) -> float:
        """The confidence of intervals."""
        return confidence_of(self.result)

    @property
    def level(self) -> float:
        """The largest p-value that is significant."""
        return level_of(self.confidence)

    @property
    def level_text(self) -> str:
        """The confidence in words."""
        return f"{100 * self.confidence:g} %"

    @cached_property
    def matched(self) -> MatchedUsers | None:
        """What is kept of users, in one order; None where a report keeps nothing, or other users."""
        try:
            return matched_users(self.reports)
        except ExactkError:
            return None

    @cached_property
    def _tested(self) -> tuple[Differences | None, str]:
        if self.comparison is None:
            return None, "this is the report of one system; exactk.compare tests the differences of several"
        try:
            return self.comparison.differences, ""
        except ExactkError as error:
            return None, str(error)

    @property
    def differences(self) -> Differences | None:
        """The differences; None if they cannot be computed."""
        return self._tested[0]

    @property
    def no_differences(self) -> str:
        """Why there are no differences; empty if there are."""
        differences, reason = self._tested
        if differences is not None and not len(differences):
            return "only metrics of which users have values are tested, not those of all lists together"
        return reason

    @cached_property
    def rows_of(self) -> Mapping[str, Sequence[Difference]]:
        """The differences of all pairs by metric, in the order of the metrics."""
        rows: dict[str, list[Difference]] = {}
        for row in self.differences or ():
            rows.setdefault(row.metric, []).append(row)
        return {metric: rows[metric] for metric in self.value_of if metric in rows}

    @property
    def rows_of_users(self) -> Mapping[str, Sequence[Difference]]:
        """The differences by metric, of those whose values are means over users."""
        return {
            metric: rows
            for metric, rows in self.rows_of.items()
            if self.value_of[metric].rules["average"] != "of_means"
        }

    @property
    def has_clusters(self) -> bool:
        """Whether users count in clusters for any difference."""
        return any(row.units != row.users for rows in self.rows_of.values() for row in rows)

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """The pairs of systems that are compared."""
        return list(dict.fromkeys((row.system, row.baseline) for rows in self.rows_of.values() for row in rows))

    def words_of_sides(self, metric: str) -> tuple[str, str]:
        """Return what a system is whose values are better, and worse, or higher and lower if neither are better."""
        return ("higher", "lower") if self.value_of[metric].info.direction == "none" else ("better", "worse")

    def pair_name(self, row: Difference | GroupsFigure | PairFigure) -> str:
        """Return the name of a pair: of the system alone if all are compared with one baseline."""
        has_one_baseline = len({one for _, one in self.pairs}) <= 1
        return row.system if has_one_baseline and len(self.pairs) > 1 else f"{row.system} against {row.baseline}"
