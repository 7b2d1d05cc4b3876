"""An evaluation is a fold: a source gives chunks of users, each of them becomes a part, and parts add up.

What spans chunks is the business of the source: blocks refuse a user who comes again, batches wait until a user's rows are
complete, and updates remember their users.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exactk._engine.findings import NO_FINDINGS, Findings
from exactk._engine.inspection import ItemsApart
from exactk._engine.systems import in_system
from exactk._report.report import Report
from exactk._report.state import StateSums, changed_copy
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from exactk._engine.pairs import Paired
    from exactk._inputs.alignment import AlignedInputs, Alignment
    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.lists import Lists
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._report.user_table import UserTable


class Chunk(NamedTuple):
    """Some users with all their systems, aligned: those of a call, a block, a batch or an update."""

    alignment: Alignment
    systems: Mapping[str, Rows | Predictions]
    exclude: Rows | Lists | None = None  # of any users, known or not
    truth: Truth | Rows | None = None  # before it was aligned; None if `shares_item` has that of all chunks
    of_truth: Findings = NO_FINDINGS  # what was found in it
    naming_system: Callable[[str], AbstractContextManager[object]] = in_system  # in errors
    describe_inputs: Callable[[AlignedInputs], str] | None = None  # a warning about the containers of the call
    shares_item: Callable[[], bool] | None = None  # whether a list has an item of the truth of any user
    row_users: tuple[Snapshot, Codes] | None = None  # all users, and those of the rows, where rows have no keys
    truth_digest: int | None = None  # computed if None

    def inputs(self, name: str) -> AlignedInputs:
        """Return the aligned inputs of a system."""
        inputs = self.alignment.inputs(self.systems[name])
        if self.row_users is None:
            return inputs
        base = None if inputs.base is None else inputs.base._replace(row_users=self.row_users)
        return inputs._replace(row_users=self.row_users, base=base)


class Part(NamedTuple):
    """What is known of some users: the sums of each system, what is kept of users, and what warnings need."""

    reports: Mapping[str, Report]
    findings: Findings
    rows: int = 0  # users of the truth
    paired: Paired | None = None  # of several systems
    items_apart: Mapping[str, ItemsApart | None] = MappingProxyType({})  # None if an item is on both sides, or may be

    def __add__(self, other: Part) -> Part:  # type: ignore[override] # tuples add otherwise
        """Return what is known of both sets of users."""
        sums = PartSums()
        sums.add(self)
        sums.add(other)
        return sums.part()

    @property
    def report(self) -> Report:
        """The report of the first system."""
        return next(iter(self.reports.values()))

    @property
    def users(self) -> Snapshot | NDArray[Any] | None:
        """The keys of the users; None if they have none, or are not kept."""
        report = next(iter(self.reports.values()), None)
        return None if report is None else report._users  # noqa: SLF001 - as an array, they would cost time

    def without_users(self) -> Part:
        """Return the part without what is kept of each user."""
        return self._replace(reports={name: Report(report.state) for name, report in self.reports.items()})

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, with the public states, but nothing that is kept of each user."""
        states = {name: report.state for name, report in self.reports.items()}
        items = {name: None if one is None else one.to_plain() for name, one in self.items_apart.items()}
        return states, self.findings.to_plain(), self.rows, items

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Part:
        """Return the part that `to_plain` described."""
        states, findings, rows, items = plain
        reports = {name: Report(state) for name, state in states.items()}
        apart = {name: ItemsApart.from_plain(one) for name, one in items.items()}
        return cls(reports, Findings.from_plain(findings), rows, items_apart=apart)


NOBODY = Part({}, NO_FINDINGS)
"""The part before any other."""


class PartSums:
    """Running sums over the parts of a call, added in place, so that the time does not grow with the sums so far."""

    def __init__(self, users: str = "predictions", states: str = "groups") -> None:
        self._arguments = users, states  # by which they may differ, for messages: states of a call, by their labels
        self._sum = NOBODY  # its reports are those of the first part
        self._states: dict[str, StateSums] = {}  # empty until there are two parts
        self._users: list[Snapshot | NDArray[Any]] = []  # of each part whose users have keys
        self._has_unkeyed = False  # whether there are other parts
        self._tables: dict[str, list[UserTable]] = {}

    @property
    def findings(self) -> Findings:
        """What was found so far."""
        return self._sum.findings

    @property
    def rows(self) -> int:
        """Users of the truth so far."""
        return self._sum.rows

    @property
    def systems(self) -> Mapping[str, object]:
        """The systems by name; empty before the first part."""
        return self._sum.reports

    def add(self, part: Part) -> None:
        """Add the part of other users."""
        self._add_users(part)
        before = self._sum
        if not before.reports:
            self._sum = part
            return
        self._states = self._states or {
            name: StateSums(report.state, self._arguments[1]) for name, report in before.reports.items()
        }
        for name, sums in self._states.items():
            with in_system(name):
                sums.add(part.reports[name].state)
        findings, items = before.findings + part.findings, {}
        for name, one in before.items_apart.items():
            other = part.items_apart[name]
            items[name] = None if one is None or other is None else one.plus(other)
            if one is not None and other is not None and items[name] is None:  # one part's truth, the other's lists
                shared = findings.systems[name]._replace(shares_item=True)
                findings = findings._replace(systems={**findings.systems, name: shared})
        paired = before.paired if part.paired is None or before.paired is None else before.paired + part.paired
        self._sum = Part(before.reports, findings, before.rows + part.rows, paired, items)

    def _add_users(self, part: Part) -> None:
        if part.users is None:
            self._has_unkeyed = True
        else:
            self._users.append(part.users)
        for name, report in part.reports.items():
            if report._user_table is not None:
                self._tables.setdefault(name, []).append(report._user_table)

    def copy(self) -> PartSums:
        """Return sums that grow independently, of parts without users."""
        return changed_copy(self, _states={name: sums.copy() for name, sums in self._states.items()})

    def part(self) -> Part:
        """Return the sum of at least one part."""
        if not self._states:
            return self._sum
        users, tables = None, {}
        if self._tables or self._users:
            from exactk._report.user_table import concatenate_users

            users = concatenate_users([*self._users, *[None] * self._has_unkeyed], self._arguments[0], "block")
            tables = {name: of_parts[0].concatenate(of_parts) for name, of_parts in self._tables.items()}
        reports = {name: Report(sums.state(), users, tables.get(name)) for name, sums in self._states.items()}
        return self._sum._replace(reports=reports)
