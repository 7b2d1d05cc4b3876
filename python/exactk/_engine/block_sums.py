"""Sums over blocks of users: each block is evaluated, added to the sums, and freed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._engine.base_arguments import BaseUse, describe_base_use
from exactk._engine.blocks import align_block
from exactk._engine.column_warnings import RatingScale, rating_column, warn_of_pairs, warn_of_ratings
from exactk._engine.differing_users import NO_FLAGS, UserFlags
from exactk._engine.error_locations import explain_repeats
from exactk._engine.exclusion_use import CandidateUse, ExclusionUse
from exactk._engine.outcomes import evaluate_plainly
from exactk._engine.problem import KeyedTruth
from exactk._engine.sampled_candidates import NO_ROWS, CandidateRows, add_rows
from exactk._engine.shared_items import SharedItems
from exactk._engine.systems import in_system
from exactk._engine.warnings import EvaluatedSystem, describe_disjoint_keys_of_blocks, describe_ties, has_no_hit
from exactk._inputs.readings import NO_READINGS, Readings
from exactk._report.report import Report
from exactk._report.state import StateSums
from exactk._report.user_table import UserTable
from exactk._runtime.copies import changed_copy
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """The sums of each system over the blocks so far, and what warnings about them need."""

    def __init__(self) -> None:
        self.row_count = 0  # users of the truth
        self._systems: dict[str, _SystemSums] = {}
        self._is_keyed = False
        self._exclusions = ExclusionUse()
        self._rating_column: str | None = None
        self._rating_scale = RatingScale()

    def add(self, evaluation: Evaluation, block: Block) -> Snapshot | NDArray[Any] | None:
        """Evaluate a block and add it; return its users."""
        if not self._systems:
            warn_of_pairs(block.classified_truth, block.classified_systems.values())
            evaluation.warn_of_unused_columns(block.truth)
            self._systems = {name: _SystemSums() for name in block.systems}
        _check_names(block.systems, self._systems)
        if (column := rating_column(block.truth, evaluation.values)) is not None:
            self._rating_column, self._rating_scale = column, self._rating_scale.add(block.truth.grades)
        given = evaluation.exclude if block.all_exclusions is None else block.all_exclusions
        alignment = align_block(evaluation, block)
        users: Snapshot | NDArray[Any] | None = None
        truth_digest: int | None = None
        for name in evaluation.begin_pairs(list(self._systems), alignment.user_count):
            predictions, sums = block.systems[name], self._systems[name]
            with in_system(name), explain_repeats(block.classified_truth, block.classified_systems[name]):
                inputs = alignment.inputs(predictions)
                report, flags = evaluation.evaluate_system(inputs, truth_digest, is_compared=len(self._systems) > 1)
                truth_digest = report.state.truth_digest
                self._exclusions = self._exclusions.plus(given, inputs, report.state.counts)
                report = evaluation.add_to_pairs(name, report)
                sums.add(report, flags, is_complete=inputs.is_complete)
                sums.add_lists_beside(evaluation, inputs, report)
                sums.add_items(block.truth, predictions)
            users = inputs.users
            self._is_keyed |= inputs.truth.user_vocabulary is not None
        evaluation.end_pairs()
        self.row_count += block.row_count
        return users

    @property
    def is_empty(self) -> bool:
        """Whether no block was added."""
        return not self._systems

    def add_unkeyed(self, evaluation: Evaluation, inputs: AlignedInputs) -> None:
        """Evaluate users without keys, exclusions and columns, and add them to the one system there is."""
        (sums,) = self._systems.values()
        keyed = KeyedTruth(inputs.truth, None, None)
        _, report = evaluate_plainly(
            evaluation.engine, inputs, keyed, evaluation.values, evaluation.convention, evaluation.num_threads
        )
        sums.add(report, NO_FLAGS, is_complete=inputs.is_complete)
        sums.add_lists_beside(evaluation, inputs, report)
        sums.add_items(inputs.truth, inputs.predictions)
        self.row_count += len(inputs.truth)

    def merge(self, other: BlockSums) -> None:
        """Add the sums over blocks of other users."""
        for name, sums in other._systems.items():
            if name in self._systems:
                self._systems[name].merge(sums)
            else:
                self._systems[name] = _SystemSums.from_plain(sums.to_plain())
        self.row_count += other.row_count
        self._is_keyed |= other._is_keyed
        self._exclusions = self._exclusions.merged(other._exclusions)
        self._rating_column = other._rating_column if self._rating_column is None else self._rating_column
        self._rating_scale = self._rating_scale.plus(other._rating_scale)

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, with the public states, but nothing that is kept of each user."""
        return (
            self.row_count,
            {name: sums.to_plain() for name, sums in self._systems.items()},
            (self._is_keyed, tuple(self._exclusions)),
            (self._rating_column, tuple(self._rating_scale)),
        )

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> BlockSums:
        """Return the sums that `to_plain` described."""
        sums = cls()
        sums.row_count, systems, (sums._is_keyed, exclusions), (sums._rating_column, scale) = plain
        sums._exclusions = ExclusionUse(*exclusions)
        sums._systems = {name: _SystemSums.from_plain(system) for name, system in systems.items()}
        sums._rating_scale = RatingScale(*scale)
        return sums

    def copy(self) -> BlockSums:
        """Return sums that grow independently, but nothing that is kept of each user."""
        return changed_copy(self, _systems={name: system.copy() for name, system in self._systems.items()})

    @property
    def states(self) -> dict[str, State]:
        """The state of each system."""
        return {name: sums.state for name, sums in self._systems.items()}

    def evaluated_systems(
        self, users: Snapshot | NDArray[Any] | None, convention: Convention, within: str = ""
    ) -> dict[str, EvaluatedSystem]:
        """Return each system, with the users of all blocks, and warn of ratings.

        `within` is that of `describe_disjoint_keys_of_blocks`.
        """
        if self._rating_column is not None:
            warn_of_ratings(self._rating_column, self._rating_scale, convention)
        exclusions = self._exclusions.describe()
        return {
            name: sums.evaluated_system(users, within, is_keyed=self._is_keyed, exclusions=exclusions)
            for name, sums in self._systems.items()
        }


class _SystemSums:
    """One system's sums over the blocks so far, and what its warnings need."""

    def __init__(self) -> None:
        self._sums: StateSums | None = None
        self._tables: list[UserTable] = []
        self._flags: list[UserFlags] = []
        self._has_hit, self._is_complete = False, True
        self._shared_items = SharedItems()
        self._candidate_rows: CandidateRows | None = NO_ROWS
        self._base_use = BaseUse()
        self._candidate_use = CandidateUse()
        self._readings = NO_READINGS

    def add(self, report: Report, flags: UserFlags, *, is_complete: bool) -> None:
        """Add the report of a block."""
        if self._sums is None:
            self._sums = StateSums(report.state, _ARGUMENT)
        else:
            self._sums.add(report.state)
        self._flags += [] if flags is NO_FLAGS else [flags]
        self._tables += [] if report._user_table is None else [report._user_table]
        self._has_hit = self._has_hit or not has_no_hit(report)
        self._is_complete = self._is_complete and is_complete

    def add_lists_beside(self, evaluation: Evaluation, inputs: AlignedInputs, report: Report) -> None:
        """Add the base predictions of a block, and its candidates: their use, and rows until they are certainly no samples."""
        self._candidate_use = self._candidate_use.plus(inputs, evaluation.candidates, report)
        self._base_use = self._base_use.plus(inputs, report)
        self._readings = self._readings.with_inputs(inputs, evaluation.values.strictest_grade)
        if self._candidate_rows is not None:
            self._candidate_rows = add_rows(self._candidate_rows, evaluation.candidate_rows(inputs, report))

    def add_items(self, truth: Truth | Rows, predictions: Predictions | Rows) -> None:
        """Add the items of a block, before they are aligned."""
        if not self._has_hit:
            self._shared_items.add(truth, predictions)

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
        self._has_hit |= other._has_hit
        self._is_complete &= other._is_complete
        self._shared_items.merge(other._shared_items)
        self._candidate_rows = add_rows(self._candidate_rows, other._candidate_rows)
        self._candidate_use = self._candidate_use.merged(other._candidate_use)
        self._readings = self._readings.plus(other._readings)

    def copy(self) -> _SystemSums:
        """Return sums that grow independently, without flags and values of users, and without base predictions."""
        sums = None if self._sums is None else self._sums.copy()
        items = self._shared_items.copy()
        return changed_copy(self, _sums=sums, _tables=[], _flags=[], _base_use=BaseUse(), _shared_items=items)

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`; neither flags and values of users nor base predictions are in it."""
        rows = None if self._candidate_rows is None else tuple(self._candidate_rows)
        use, items = (tuple(self._candidate_use), tuple(self._readings)), self._shared_items.to_plain()
        return self.state, self._has_hit, self._is_complete, items, rows, use

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> _SystemSums:
        """Return the sums that `to_plain` described."""
        sums = cls()
        state, sums._has_hit, sums._is_complete, shared_items, rows, use = plain
        sums._sums = StateSums(state, _ARGUMENT)
        sums._shared_items = SharedItems.from_plain(shared_items)
        sums._candidate_rows = None if rows is None else CandidateRows(*rows)
        sums._candidate_use, sums._readings = CandidateUse(*use[0]), Readings(*use[1])
        return sums

    def evaluated_system(
        self, users: Snapshot | NDArray[Any] | None, within: str, *, is_keyed: bool, exclusions: str
    ) -> EvaluatedSystem:
        """Return the system, with the users of all blocks."""
        report = Report(self.state, users, UserTable.concatenate(self._tables) if self._tables else None)
        has_shared_items = self._has_hit or bool(self._shared_items)
        disjoint_keys = describe_disjoint_keys_of_blocks(
            report, is_keyed=is_keyed, has_shared_items=has_shared_items, within=within
        )
        flags = UserFlags.concatenate(self._flags) if self._flags else NO_FLAGS
        return EvaluatedSystem(
            report,
            describe_ties(report, None),
            disjoint_keys or self._candidate_use.describe(),
            self._is_complete,
            flags,
            exclusions,
            candidate_rows=self._candidate_rows,
            base=describe_base_use(report, self._base_use),
            readings=self._readings,
        )


def _check_names(names: Iterable[str], first_names: Iterable[str]) -> None:
    """Raise InputError if a block has other systems than the first."""
    if set(names) != set(first_names):
        expected, found = (", ".join(map(repr, systems)) for systems in (first_names, names))
        raise input_error("systems", f"the systems of the first block, {expected}", found)
