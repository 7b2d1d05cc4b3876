"""Blocks of users: converted, checked and aligned, each by itself."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.base_arguments import base_of_block
from exactk._engine.chunks import Chunk
from exactk._engine.error_locations import explain_repeats
from exactk._engine.findings import Findings
from exactk._engine.inspection import find_ratings
from exactk._engine.systems import in_system, open_systems
from exactk._inputs.alignment import Alignment, truth_without_items
from exactk._inputs.beside_scores import check_block, check_ids, grades_beside_scores, shapes_of_systems
from exactk._inputs.conversions import truth_input
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import count_users
from exactk._inputs.paths import opened
from exactk._inputs.readings import check_not_truth
from exactk._inputs.registry import classify
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sized

    from exactk._engine.evaluation import Evaluation
    from exactk._engine.systems import Systems
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.truth import Truth


class Block(NamedTuple):
    """Some users, encoded alike, and their containers."""

    truth: Truth | Rows
    systems: dict[str, Predictions | Rows]
    exclude: Exclusions | Rows | None
    classified_truth: ClassifiedValue
    classified_systems: Systems
    all_exclusions: Lists | Rows | None  # of any users, known or not

    @property
    def row_count(self) -> int:
        """The number of users of the truth."""
        return count_users(self.truth)

    @contextmanager
    def naming_system(self, name: str) -> Iterator[None]:
        """Say in errors of this context which system they are about, if there are several, and what else a matrix may be."""
        with in_system(name), explain_repeats(self.classified_truth, self.classified_systems[name]):
            yield


def convert_block(
    evaluation: Evaluation,
    truth: object,
    systems: Systems,
    exclude: object,
    restrictions: Mapping[str, ClassifiedValue],
) -> Block:
    """Return the block, in the evaluation's encoding; `restrictions` are those of the call."""
    columns = evaluation.columns
    check_not_truth(truth, [*(("predictions", one.value) for one in systems.values()), ("exclude", exclude)], columns)
    systems = open_systems(systems, columns)
    shapes = shapes_of_systems(systems.values())
    classified_exclude = opened(classify(exclude, "exclude"), "exclude", columns)
    check_block(shapes, classified_exclude, restrictions)
    classified_truth = grades_beside_scores(opened(classify(truth, "truth"), "truth", columns), shapes)
    for name, system in systems.items():
        with in_system(name):
            check_ids(system, classified_truth)
    rows = truth_input(classified_truth, columns, evaluation.encoding) if evaluation.has_truth else None
    if rows is not None:
        evaluation.check_user_values(rows)
    converted = evaluation.convert_systems(systems)
    if rows is None:
        rows = truth_without_items(converted.values(), evaluation.encoding.users)
    exclusions = evaluation.convert_exclusions(classified_exclude)
    # Exclusions without the users that no other input has are not all of those that were given.
    all_exclusions = classified_exclude.value if isinstance(classified_exclude.value, Lists) else exclusions
    block = Block(rows, converted, exclusions, classified_truth, systems, all_exclusions)
    _check_lengths(block)
    return block


def _check_lengths(block: Block) -> None:
    """Raise InputError if rows without keys are not one per user of the truth."""
    if block.truth.user_vocabulary is not None:
        return
    users = block.row_count
    without_keys = {name: rows for name, rows in block.systems.items() if rows.user_vocabulary is None}
    for name, predictions in without_keys.items():
        with in_system(name):
            _check_length("predictions", count_users(predictions), users)
    if block.exclude is not None and without_keys:
        _check_length("exclude", count_users(block.exclude), users)


def chunk_of_block(evaluation: Evaluation, block: Block, names: Collection[str]) -> Chunk:
    """Return the users of a block, aligned, with its own exclusions or their part of the call's.

    The names are those of the systems of earlier blocks, if there are any.
    """
    systems, truth = block.systems, block.truth
    if not names:
        of_truth = evaluation.find_in_truth(truth, block.classified_truth, block.classified_systems.values())
    else:
        _check_names(systems, names)
        systems = {name: systems[name] for name in names}
        of_truth = Findings(ratings=find_ratings(truth, evaluation.values))
    exclude = block.exclude
    if exclude is None:
        exclude = evaluation.convert_exclusions(classify(evaluation.exclude, "exclude"))
    assert evaluation.block is not None  # noqa: S101 - `of_rows`
    base = base_of_block(evaluation.base, evaluation.block, evaluation.encoding)
    alignment = Alignment(truth, block.systems.values(), exclude, evaluation.encoding, base)
    given = evaluation.exclude if block.all_exclusions is None else block.all_exclusions
    return Chunk(alignment, systems, given, truth, of_truth, block.naming_system)


def _check_names(names: Iterable[str], first_names: Iterable[str]) -> None:
    """Raise InputError if a block has other systems than the first."""
    if set(names) != set(first_names):
        expected, found = (", ".join(map(repr, systems)) for systems in (first_names, names))
        raise input_error("systems", f"the systems of the first block, {expected}", found)


def empty_block(evaluation: Evaluation) -> tuple[Any, Any]:
    """Return a block without users, for none at all; its users are keyed if weights or groups are."""
    by_user = [values for values in (evaluation.weights, evaluation.groups) if values is not None]
    is_keyed = any(not values.is_by_row for values in by_user) or any(
        one is not None and one.user_vocabulary is not None for one in (evaluation.exclude, evaluation.base)
    )
    is_keyed = is_keyed or (evaluation.histories is not None and evaluation.histories.users is not None)
    return ({}, {}) if is_keyed else ([], [])


def check_row_arguments(evaluation: Evaluation, users: int) -> None:
    """Raise InputError if an argument does not have one row for each of so many users of all blocks."""
    for argument, values in _row_arguments(evaluation):
        _check_length(argument, len(values), users)


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


def check_rows_until(evaluation: Evaluation, end: int) -> None:
    """Raise InputError if an argument that has a row for each user of all blocks has too few for the users so far."""
    for name, values in _row_arguments(evaluation):
        if len(values) < end:
            raise input_error(name, f"one entry per user (at least {end})", str(len(values)))


def of_rows(evaluation: Evaluation, begin: int, end: int) -> Evaluation:
    """Return the evaluation of some users, with their part of the arguments that have a row for each user."""
    check_rows_until(evaluation, end)
    exclude, candidates, weights, groups = (
        evaluation.exclude,
        evaluation.candidates,
        evaluation.weights,
        evaluation.groups,
    )
    return evaluation._replace(
        exclude=exclude if exclude is None or exclude.user_vocabulary is not None else exclude[begin:end],
        candidates=None if candidates is None else candidates[begin:end],
        weights=None if weights is None else weights[begin:end],
        groups=None if groups is None else groups[begin:end],
        block=range(begin, end),
    )


def _check_length(argument: str, length: int, users: int) -> None:
    if length != users:
        raise input_error(argument, f"one entry per user ({users})", f"{length}")
