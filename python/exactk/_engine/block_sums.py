"""Sums over blocks of users: each block is evaluated, added to the sums, and freed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._engine.blocks import align_block
from exactk._engine.evaluation import Chunk
from exactk._engine.findings import Findings, SystemFindings
from exactk._engine.inspection import NO_ITEMS, ItemsApart, find_in_system, find_ratings
from exactk._engine.outcomes import evaluate_plainly
from exactk._engine.problem import KeyedTruth
from exactk._engine.systems import in_system
from exactk._engine.warnings import Evaluated
from exactk._report.report import Report
from exactk._report.state import StateSums, changed_copy
from exactk._report.user_table import UserTable
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from exactk._engine.blocks import Block
    from exactk._engine.evaluation import Evaluation
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._plan.conventions import Convention
    from exactk._report.state import State


_ARGUMENT = "groups"
"""The argument by which alone the states of a call's blocks may differ: the type of its labels."""


class BlockSums:
    """The sums of each system over the blocks so far, and what was found in them."""

    def __init__(self) -> None:
        self.row_count = 0  # users of the truth
        self._systems: dict[str, _SystemSums] = {}
        self._findings = Findings()

    def add(self, evaluation: Evaluation, block: Block) -> Snapshot | NDArray[Any] | None:
        """Evaluate a block and add it; return its users."""
        if not self._systems:
            self._systems = {name: _SystemSums() for name in block.systems}
            findings = evaluation.find_in_truth(block.truth, block.classified_truth, block.classified_systems.values())
        else:
            findings = Findings(ratings=find_ratings(block.truth, evaluation.values))
        _check_names(block.systems, self._systems)
        given = evaluation.exclude if block.all_exclusions is None else block.all_exclusions
        chunk = Chunk(align_block(evaluation, block), {name: block.systems[name] for name in self._systems}, given)
        part = evaluation.evaluate_chunk(chunk, block.naming_system, self._findings)
        for name, report in part.reports.items():
            with in_system(name):
                self._systems[name].add(report)
        self._add(part.findings, block.truth, chunk.systems)
        self._findings += findings
        self.row_count += block.row_count
        return part.users

    def _add(self, findings: Findings, truth: Truth | Rows, predictions: Mapping[str, Predictions | Rows]) -> None:
        """Add what was found in a block; the items of its truth and predictions are not yet aligned."""
        systems = {
            name: self._systems[name].compare_items(found, truth, predictions[name])
            for name, found in findings.systems.items()
        }
        self._findings += findings._replace(systems=systems)

    @property
    def is_empty(self) -> bool:
        """Whether no block was added."""
        return not self._systems

    def add_unkeyed(self, evaluation: Evaluation, inputs: AlignedInputs) -> None:
        """Evaluate users without keys, exclusions and columns, and add them to the one system there is."""
        ((name, sums),) = self._systems.items()
        keyed = KeyedTruth(inputs.truth, None, None)
        _, report = evaluate_plainly(
            evaluation.engine, inputs, keyed, evaluation.values, evaluation.convention, evaluation.num_threads
        )
        sums.add(report)
        found = find_in_system(inputs, report, earlier=self._findings.systems[name])
        self._add(Findings({name: found}, chunks=1), inputs.truth, {name: inputs.predictions})
        self.row_count += len(inputs.truth)

    def merge(self, other: BlockSums) -> None:
        """Add the sums over blocks of other users."""
        for name, sums in other._systems.items():
            if name in self._systems:
                self._systems[name].merge(sums)
            else:
                self._systems[name] = _SystemSums.from_plain(sums.to_plain())
        self.row_count += other.row_count
        findings = self._findings + other._findings
        systems = {
            name: found._replace(shares_item=found.shares_item or self._systems[name].items_apart is None)
            for name, found in findings.systems.items()
        }
        self._findings = findings._replace(systems=systems)

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, with the public states, but nothing that is kept of each user."""
        systems = {name: sums.to_plain() for name, sums in self._systems.items()}
        return self.row_count, systems, self._findings.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> BlockSums:
        """Return the sums that `to_plain` described."""
        sums = cls()
        sums.row_count, systems, findings = plain
        sums._systems = {name: _SystemSums.from_plain(system) for name, system in systems.items()}
        sums._findings = Findings.from_plain(findings)
        return sums

    def copy(self) -> BlockSums:
        """Return sums that grow independently, but nothing that is kept of each user."""
        return changed_copy(self, _systems={name: system.copy() for name, system in self._systems.items()})

    @property
    def states(self) -> dict[str, State]:
        """The state of each system."""
        return {name: sums.state for name, sums in self._systems.items()}

    def evaluated(
        self, users: Snapshot | NDArray[Any] | None, convention: Convention, names_columns: str = "{}"
    ) -> Evaluated:
        """Return each system, with the users of all blocks."""
        reports = {name: sums.report(users) for name, sums in self._systems.items()}
        return Evaluated(reports, self._findings, convention, names_columns=names_columns)

    @property
    def findings(self) -> Findings:
        """What was found in all blocks."""
        return self._findings


class _SystemSums:
    """One system's sums over the blocks so far, and their items until truth and lists have one in common."""

    def __init__(self) -> None:
        self._sums: StateSums | None = None
        self._tables: list[UserTable] = []
        self.items_apart: ItemsApart | None = NO_ITEMS

    def add(self, report: Report) -> None:
        """Add the report of a block."""
        if self._sums is None:
            self._sums = StateSums(report.state, _ARGUMENT)
        else:
            self._sums.add(report.state)
        self._tables += [] if report._user_table is None else [report._user_table]

    def compare_items(
        self, found: SystemFindings, truth: Truth | Rows, predictions: Predictions | Rows
    ) -> SystemFindings:
        """Return what was found in a block, also by its items, which are not yet aligned, and those of earlier blocks."""
        if found.shares_item:
            self.items_apart = None
        elif self.items_apart is not None:
            self.items_apart = self.items_apart.with_chunk(truth, predictions)
        is_new = self.items_apart is None and not found.shares_item
        return found._replace(shares_item=True) if is_new else found

    @property
    def state(self) -> State:
        """The exact sums."""
        assert self._sums is not None  # noqa: S101 - without blocks, the empty one was evaluated
        return self._sums.state()

    def merge(self, other: _SystemSums) -> None:
        """Add the sums of other users."""
        sums = StateSums(self.state, "other")
        sums.add(other.state)
        self._sums = StateSums(sums.state(), _ARGUMENT)
        both = self.items_apart, other.items_apart
        self.items_apart = None if both[0] is None or both[1] is None else both[0].merged(both[1])

    def copy(self) -> _SystemSums:
        """Return sums that grow independently, without values of users."""
        return changed_copy(self, _sums=None if self._sums is None else self._sums.copy(), _tables=[])

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, without values of users."""
        return self.state, None if self.items_apart is None else self.items_apart.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> _SystemSums:
        """Return the sums that `to_plain` described."""
        sums = cls()
        state, items = plain
        sums._sums, sums.items_apart = StateSums(state, _ARGUMENT), ItemsApart.from_plain(items)
        return sums

    def report(self, users: Snapshot | NDArray[Any] | None) -> Report:
        """Return the report, with the users of all blocks."""
        return Report(self.state, users, UserTable.concatenate(self._tables) if self._tables else None)


def _check_names(names: Iterable[str], first_names: Iterable[str]) -> None:
    """Raise InputError if a block has other systems than the first."""
    if set(names) != set(first_names):
        expected, found = (", ".join(map(repr, systems)) for systems in (first_names, names))
        raise input_error("systems", f"the systems of the first block, {expected}", found)
