"""Evaluation of an iterator of blocks of users: each block is evaluated, added to the sums, and freed."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.base_arguments import base_of_block
from exactk._engine.base_use import BaseUse, describe_base_use
from exactk._engine.column_warnings import RatingScale, rating_column, warn_of_ratings
from exactk._engine.differing_users import UserFlags
from exactk._engine.error_locations import explain_repeats
from exactk._engine.sampled_candidates import NO_ROWS, add_rows
from exactk._engine.shared_items import SharedItems
from exactk._engine.systems import ONE_SYSTEM, in_context, in_system, open_systems
from exactk._engine.warnings import (
    EvaluatedSystem,
    describe_disjoint_keys_of_blocks,
    describe_ties,
    has_exclusions,
    has_no_hit,
)
from exactk._inputs.alignment import Alignment
from exactk._inputs.beside_scores import check_block, grades_beside_scores, shapes_of_scores
from exactk._inputs.conversions import truth_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.rows import count_users
from exactk._inputs.paths import opened
from exactk._inputs.registry import classify
from exactk._report.report import Report
from exactk._report.state import StateSums
from exactk._report.user_keys import concatenate_users
from exactk._report.user_table import UserTable
from exactk._runtime.errors import ExactkError, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sized

    from numpy.typing import NDArray

    from exactk._engine.evaluation import Evaluation
    from exactk._engine.sampled_candidates import CandidateRows
    from exactk._engine.systems import Form, Systems
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.predictions import Predictions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.truth import Truth


class _Block(NamedTuple):
    """Some users, encoded alike, and their containers."""

    truth: Truth | Rows
    systems: dict[str, Predictions | Rows]
    exclude: Exclusions | Rows | None
    classified_truth: ClassifiedValue
    classified_systems: Systems


def evaluate_blocks(
    evaluation: Evaluation, blocks: Iterator[Any], form: Form, restrictions: Mapping[str, ClassifiedValue]
) -> dict[str, EvaluatedSystem]:
    """Evaluate each system block by block; arguments for all users are sliced for each block."""
    systems: dict[str, _SystemSums] = {}
    users: list[Snapshot | NDArray[Any] | None] = []
    begin, is_keyed, has_excluded_users = 0, False, evaluation.exclude is None or not len(evaluation.exclude.items)
    ratings, scale = None, RatingScale()
    empty_block = _empty_block(evaluation)
    for number, value in enumerate(chain(blocks, [empty_block])):
        if value is empty_block and users:
            break
        if value is empty_block and form is not ONE_SYSTEM:
            raise input_error(form.argument, f"at least one block {form.block}", "an empty iterator")
        with in_context(f"block {number} of the iterator, whose first user is number {begin}"):
            encoding = Encoding(evaluation.num_threads)
            block = _convert_block(replace(evaluation, encoding=encoding), value, form, restrictions)
            if number == 0:
                evaluation.warn_of_unused_columns(block.truth)
                systems = {name: _SystemSums() for name in block.systems}
            _check_names(block.systems, systems)
            if (column := rating_column(block.truth, evaluation.values)) is not None:
                ratings, scale = column, scale.add(block.truth.grades)
            end = begin + count_users(block.truth)
            of_block = replace(_slice_rows(evaluation, begin, end), encoding=encoding)
            if value is empty_block:  # it has no columns that could be candidates
                of_block = replace(of_block, candidates=None)
            alignment = _align_block(of_block, block, range(begin, end))
            truth_digest: int | None = None
            for name in of_block.begin_pairs(list(systems), alignment.user_count):
                predictions = block.systems[name]
                with in_system(name), explain_repeats(block.classified_truth, block.classified_systems[name]):
                    inputs = alignment.inputs(predictions)
                    report, flags = of_block.evaluate_system(inputs, truth_digest, is_compared=len(systems) > 1)
                    truth_digest = report.state.truth_digest
                    report = of_block.add_to_pairs(name, report)
                    systems[name].add(report, flags, is_complete=inputs.is_complete)
                    systems[name].add_lists_beside(of_block, inputs, report)
                    systems[name].add_items(block.truth, predictions)
            of_block.end_pairs()
        users.append(inputs.users)
        is_keyed = inputs.truth.user_vocabulary is not None
        has_excluded_users = has_excluded_users or has_exclusions(inputs)
        begin = end
    for argument, values in _row_arguments(evaluation):
        _check_length(argument, len(values), begin)
    if ratings is not None:
        warn_of_ratings(ratings, scale, evaluation.convention)
    keys = concatenate_users(users, form.argument, "block")
    return {
        name: sums.evaluated_system(keys, is_keyed=is_keyed, has_unknown_exclusions=not has_excluded_users)
        for name, sums in systems.items()
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

    def add(self, report: Report, flags: UserFlags, *, is_complete: bool) -> None:
        """Add the report of a block."""
        if self._sums is None:
            self._sums = StateSums(report.state)
        else:
            self._sums.add(report.state)
        self._flags.append(flags)
        self._tables += [] if report.user_table is None else [report.user_table]
        self._has_hit = self._has_hit or not has_no_hit(report)
        self._is_complete = self._is_complete and is_complete

    def add_lists_beside(self, evaluation: Evaluation, inputs: AlignedInputs, report: Report) -> None:
        """Add the base predictions of a block, and its candidates until they are certainly no samples."""
        self._base_use = self._base_use.plus(inputs)
        if self._candidate_rows is not None:
            self._candidate_rows = add_rows(self._candidate_rows, evaluation.candidate_rows(inputs, report))

    def add_items(self, truth: Truth | Rows, predictions: Predictions | Rows) -> None:
        """Add the items of a block, before they are aligned."""
        if not self._has_hit:
            self._shared_items.add(truth, predictions)

    def evaluated_system(
        self, users: Snapshot | NDArray[Any] | None, *, is_keyed: bool, has_unknown_exclusions: bool
    ) -> EvaluatedSystem:
        """Return the system, with the users of all blocks."""
        assert self._sums is not None  # noqa: S101 - without blocks, the empty one was evaluated
        report = Report(self._sums.state(), users, UserTable.concatenate(self._tables) if self._tables else None)
        has_shared_items = self._has_hit or bool(self._shared_items)
        disjoint_keys = describe_disjoint_keys_of_blocks(report, is_keyed=is_keyed, has_shared_items=has_shared_items)
        flags = UserFlags.concatenate(self._flags)
        return EvaluatedSystem(
            report,
            describe_ties(report, None),
            disjoint_keys,
            self._is_complete,
            flags,
            has_unknown_exclusions,
            candidate_rows=self._candidate_rows,
            base=describe_base_use(report, self._base_use),
        )


def _convert_block(
    evaluation: Evaluation, value: object, form: Form, restrictions: Mapping[str, ClassifiedValue]
) -> _Block:
    """Return the block, in the evaluation's encoding."""
    if not isinstance(value, tuple) or len(value) not in {2, 3}:
        found = type(value).__name__ + (f" of {len(value)}" if isinstance(value, tuple) else "")
        raise type_error(form.argument, f"an iterator of {form.blocks}", found, hint=form.hint)
    classified = classify(value[1], form.argument)
    try:
        block = _encode_block(evaluation, value, form.systems(classified), restrictions)
    except ExactkError as error:
        raise form.amended(error, classified, evaluation.values, truth="None") from error.__cause__
    if block.exclude is not None and evaluation.exclude is not None:
        raise input_error("exclude", f"None with blocks of {form.block.removesuffix(')')}, exclude)", "exclusions")
    _check_lengths(block)
    return block


def _encode_block(
    evaluation: Evaluation, value: tuple[Any, ...], systems: Systems, restrictions: Mapping[str, ClassifiedValue]
) -> _Block:
    columns = evaluation.columns
    systems = open_systems(systems, columns)
    shapes = frozenset[tuple[int, ...]]().union(*map(shapes_of_scores, systems.values()))
    exclude = opened(classify(value[2] if value[2:] else None, "exclude"), "exclude", columns)
    check_block(shapes, exclude, restrictions)
    classified_truth = grades_beside_scores(opened(classify(value[0], "truth"), "truth", columns), shapes)
    truth = truth_input(classified_truth, columns, evaluation.encoding)
    evaluation.check_user_values(truth)
    converted = evaluation.convert_systems(systems)
    return _Block(truth, converted, evaluation.convert_exclusions(exclude), classified_truth, systems)


def _check_lengths(block: _Block) -> None:
    """Raise InputError if rows without keys are not one per user of the truth."""
    if block.truth.user_vocabulary is not None:
        return
    users = count_users(block.truth)
    without_keys = {name: rows for name, rows in block.systems.items() if rows.user_vocabulary is None}
    for name, predictions in without_keys.items():
        with in_system(name):
            _check_length("predictions", count_users(predictions), users)
    if block.exclude is not None and without_keys:
        _check_length("exclude", count_users(block.exclude), users)


def _check_names(names: Iterable[str], first_names: Iterable[str]) -> None:
    """Raise InputError if a block has other systems than the first."""
    if set(names) != set(first_names):
        expected, found = (", ".join(map(repr, systems)) for systems in (first_names, names))
        raise input_error("systems", f"the systems of the first block, {expected}", found)


def _align_block(evaluation: Evaluation, block: _Block, users: range) -> Alignment:
    """Return the alignment of a block, with its own exclusions or its users' part of the call's."""
    exclude = block.exclude
    if exclude is None:
        exclude = evaluation.convert_exclusions(classify(evaluation.exclude, "exclude"))
    base = base_of_block(evaluation.base, users, evaluation.encoding)
    return Alignment(block.truth, block.systems.values(), exclude, evaluation.encoding, base)


def _empty_block(evaluation: Evaluation) -> tuple[Any, Any]:
    """Return a block without users, for an empty iterator; its users are keyed if weights or groups are."""
    by_user = [values for values in (evaluation.weights, evaluation.groups) if values is not None]
    is_keyed = any(not values.is_by_row for values in by_user) or any(
        one is not None and one.user_vocabulary is not None for one in (evaluation.exclude, evaluation.base)
    )
    is_keyed = is_keyed or (evaluation.histories is not None and evaluation.histories.users is not None)
    return ({}, {}) if is_keyed else ([], [])


def _row_arguments(evaluation: Evaluation) -> list[tuple[str, Sized]]:
    """Return the arguments that have a row for each user of all blocks."""
    exclude, candidates, weights, groups = (
        evaluation.exclude,
        evaluation.candidates,
        evaluation.weights,
        evaluation.groups,
    )
    histories = evaluation.histories
    arguments = (
        ("exclude", None if exclude is None or exclude.user_vocabulary is not None else exclude),
        ("candidates", candidates if candidates is not None and candidates.is_by_row else None),
        ("weights", weights if weights is None or weights.is_by_row else None),
        ("groups", groups if groups is None or groups.is_by_row else None),
        ("train", histories if histories is None or histories.users is None else None),
    )
    base = evaluation.base
    base_by_row = () if base is None or base.user_vocabulary is not None else (("base_predictions", base),)
    return [(name, values) for name, values in (*arguments, *base_by_row) if values is not None]


def _slice_rows(evaluation: Evaluation, begin: int, end: int) -> Evaluation:
    """Return the evaluation of some users, with their part of such arguments."""
    for name, values in _row_arguments(evaluation):
        if len(values) < end:
            raise input_error(name, f"one entry per user (at least {end})", str(len(values)))
    exclude, candidates, weights, groups = (
        evaluation.exclude,
        evaluation.candidates,
        evaluation.weights,
        evaluation.groups,
    )
    return replace(
        evaluation,
        exclude=exclude if exclude is None or exclude.user_vocabulary is not None else exclude[begin:end],
        candidates=None if candidates is None else candidates[begin:end],
        weights=None if weights is None else weights[begin:end],
        groups=None if groups is None else groups[begin:end],
        block=range(begin, end),
    )


def _check_length(argument: str, length: int, users: int) -> None:
    if length != users:
        raise input_error(argument, f"one entry per user ({users})", f"{length}")
