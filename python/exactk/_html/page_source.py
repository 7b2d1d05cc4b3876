"""What the sections of a page read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from exactk._figures.palette import system_styles
from exactk._inference.significance import level_of
from exactk._report.matched_users import matched_users
from exactk._report.state import plan_of_state
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._figures.palette import SystemStyle
    from exactk._plan.values import Value
    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference
    from exactk._report.differences import Differences
    from exactk._report.exports import PageRequest
    from exactk._report.matched_users import MatchedUsers
    from exactk._report.paired_sums import Pair
    from exactk._report.report import Report


@dataclass(frozen=True)
class Limits:
    """The most that a page shows. A page that is too large is made again with half of each."""

    rows: int = 200  # of a table
    columns: int = 40
    characters: int = 400  # of a text
    charts: int = 6  # of a section
    marks: int = 60  # rows or lines of a chart
    examples: int = 40  # users with lists, of all pairs
    pairs: int = 3  # whose examples are shown

    def halved(self) -> Limits:
        """Return half of each limit, of the number of characters at least 40."""
        return Limits(
            rows=max(1, self.rows // 2),
            columns=max(1, self.columns // 2),
            characters=max(40, self.characters // 2),
            charts=max(1, self.charts // 2),
            marks=max(1, self.marks // 2),
            examples=self.examples // 2,
            pairs=max(1, self.pairs // 2),
        )


@dataclass(frozen=True, eq=False)
class Source:
    """One report or several, and what the page was asked to show."""

    reports: Mapping[str, Report]  # one without a name, "", if there is no comparison
    comparison: Comparison | None
    request: PageRequest
    limits: Limits = field(default_factory=Limits)

    @property
    def first(self) -> Report:
        """The first report, whose metrics and convention all have."""
        return next(iter(self.reports.values()))

    @cached_property
    def values(self) -> Sequence[Value]:
        """The metrics."""
        return plan_of_state(self.first.state)

    @cached_property
    def value_of(self) -> Mapping[str, Value]:
        """The metrics by their spelling."""
        return {value.spelling: value for value in self.values}

    @cached_property
    def styles(self) -> Mapping[str, SystemStyle]:
        """How each system is drawn; the mean of runs as its first run."""
        styles = system_styles(self.reports)
        runs = {} if self.comparison is None else self.comparison.state.options.runs or {}
        return {**styles, **{system: styles[some[0]] for system, some in runs.items()}}

    @property
    def confidence(self) -> float:
        """The confidence of intervals."""
        return 0.95 if self.comparison is None else self.comparison.state.options.confidence

    @property
    def level(self) -> float:
        """The largest p-value that is significant."""
        return level_of(self.confidence)

    def is_significant(self, row: Difference) -> bool:
        """Return whether a difference is, whatever margins say of it."""
        return row.p_adjusted <= self.level

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
        return rows

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """The pairs of systems that are compared."""
        return list(dict.fromkeys((row.system, row.baseline) for rows in self.rows_of.values() for row in rows))

    def has_no_direction(self, metric: str) -> bool:
        """Return whether neither higher nor lower values of a metric are better."""
        return self.value_of[metric].info.direction == "none"

    def pair_name(self, system: str, baseline: str) -> str:
        """Return the name of a pair: of the system alone if all are compared with one baseline."""
        has_one_baseline = len({one for _, one in self.pairs}) <= 1
        return system if has_one_baseline and len(self.pairs) > 1 else f"{system} against {baseline}"
