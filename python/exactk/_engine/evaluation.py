"""The evaluation of one system: build the problem, let an engine solve it, and report the outcome."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.column_warnings import RatingScale, rating_column, warn_of_ratings, warn_of_unused_columns
from exactk._engine.error_locations import name_rows_and_keys
from exactk._engine.problem import Engine, Outcome, Problem
from exactk._engine.rankings import solve
from exactk._engine.shared_items import SharedItems
from exactk._engine.warnings import has_no_hit
from exactk._inputs.alignment import AlignedInputs, Alignment, in_shared_vocabularies
from exactk._inputs.beside_scores import grades_beside_scores, shapes_of_scores
from exactk._inputs.conversions import exclusions_input, predictions_input, truth_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.rows import Rows, count_users
from exactk._inputs.registry import classify
from exactk._inputs.restrictions import merge_restrictions
from exactk._plan.metric_strings import Value, distinct_parts, part_indices
from exactk._report.counts import TieCounts
from exactk._report.report import Report
from exactk._report.state import State, StateSums
from exactk._report.statistics import value_of_sums
from exactk._report.sums import Sums
from exactk._report.user_keys import concatenate_users
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.lists import Truth
    from exactk._inputs.model.predictions import Predictions
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.user_values import Groups, RowValues, Weights
    from exactk._plan.conventions import Convention
    from exactk._report.sums import Label


@contextmanager
def add_error_note(note: str) -> Iterator[None]:
    """Add a note to an error about where it came from."""
    try:
        yield
    except ExactkError as error:
        error.add_note(note)
        raise


class EvaluatedBlocks(NamedTuple):
    """The report of all blocks, and the warnings about them."""

    report: Report
    is_keyed: bool  # users have keys
    is_complete: bool  # the predictions of all blocks include every item that may be ranked
    has_shared_items: bool  # an item of the truth is in any list, or there are too few items to tell


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: the arguments that apply to all users, and the ways to evaluate them."""

    engine: Engine
    values: tuple[Value, ...]
    convention: Convention
    exclude: Exclusions | None  # of predictions in batches; for others, converted after the predictions
    candidates: CandidateItems | None
    weights: Weights | None
    groups: Groups | None
    per_user: bool
    num_threads: int
    progress: Progress
    columns: ColumnNames
    encoding: Encoding

    def convert_predictions(self, classified: ClassifiedValue) -> Rows | Predictions:
        """Return the predictions of a system, encoded as the truth is."""
        return predictions_input(classified, self.columns, self.encoding)

    def convert_exclusions(self, classified: ClassifiedValue) -> Exclusions | Rows | None:
        """Return the exclusions, encoded as the truth is. Convert predictions before: users follow in that order."""
        return exclusions_input(classified, self.columns, self.encoding)

    def exclusions_in_shared_vocabularies(self) -> Rows | None:
        """Return the exclusions of predictions that come in pieces as rows, encoded as the truth is."""
        return None if self.exclude is None else in_shared_vocabularies(self.exclude.rows(), "exclude", self.encoding)

    def encode_user_keys(self, users: Vocabulary) -> Evaluation:
        """Add the keys of weights and groups to a vocabulary of users, whose codes find the values from then on."""
        return replace(
            self,
            weights=None if self.weights is None else self.weights.encode_keys(users),
            groups=None if self.groups is None else self.groups.encode_keys(users),
        )

    def evaluate_all(self, inputs: AlignedInputs) -> Report:
        """Evaluate all users at once."""
        codes, labels = None, None
        if self.groups is not None:
            codes, labels = self.groups.encode_by_row(inputs)
        problem = self._problem(
            inputs,
            distinct_parts(self.values),
            groups=codes,
            group_count=1 if labels is None else max(1, len(labels)),
            per_user=self.per_user,
            report_progress=self.progress.report_finished,
        )
        with name_rows_and_keys(inputs):
            outcome = solve(self.engine, problem)
        self.progress.add_finished(len(inputs.truth))
        state = _state_of_outcome(problem, outcome, self.values, labels)
        return Report(state, inputs.users, _per_user_values(outcome.per_user, self.values))

    def tie_range(self, inputs: AlignedInputs, value: Value) -> tuple[float, float]:
        """Return the lowest and the highest value over all orders of ties."""
        extremes = tuple(replace(value, rules={**value.rules, "ties": ties}) for ties in ("pessimistic", "optimistic"))
        sums = solve(self.engine, self._problem(inputs, distinct_parts(extremes))).sums
        # Sorted, as one hit more may lower a mean over the hits (ap_over='hits').
        lowest, highest = sorted(
            value_of_sums(one, [sums[i] for i in indices], weighted=self.weights is not None)
            for one, indices in zip(extremes, part_indices(extremes), strict=True)
        )
        return lowest, highest

    def _problem(
        self,
        inputs: AlignedInputs,
        values: tuple[Value, ...],
        *,
        groups: RowValues | None = None,
        group_count: int = 1,
        per_user: bool = False,
        report_progress: Callable[[int], object] = ignore_progress,
    ) -> Problem:
        """Return the problem of all users."""
        candidates, exclude = merge_restrictions(inputs.predictions, self.candidates, inputs.exclude)
        return Problem(
            inputs.truth,
            inputs.predictions,
            candidates,
            exclude,
            None if self.weights is None else self.weights.by_row(inputs),
            groups,
            group_count,
            values,
            self.convention,
            per_user,
            self.num_threads,
            report_progress,
        )

    def evaluate_blocks(self, pairs: Iterator[Any]) -> EvaluatedBlocks:
        """Evaluate block by block; arguments for all users are sliced for each block."""
        sums: StateSums | None = None
        users: list[Snapshot | NDArray[Any] | None] = []
        tables: list[NDArray[np.float64]] = []
        begin, is_complete, has_hit = 0, True, False
        ratings, scale, shared_items = None, RatingScale(), SharedItems()
        empty_block = self._empty_block()
        for block, pair in enumerate(chain(pairs, [empty_block])):
            if pair is empty_block and sums is not None:
                break
            with add_error_note(f"in block {block} of the iterator, whose first user is number {begin}"):
                encoding = Encoding(self.num_threads)
                truth, predictions, exclude = replace(self, encoding=encoding).convert_block(pair)
                if block == 0:
                    self._warn_of_unused_columns(truth)
                if (column := rating_column(truth, self.values)) is not None:
                    ratings, scale = column, scale.add(truth.grades)
                end = begin + count_users(truth)
                evaluation = replace(self._slice_rows(begin, end), encoding=encoding)
                if pair is empty_block:  # it has no columns that could be candidates
                    evaluation = replace(evaluation, candidates=None)
                inputs = evaluation.align_block(truth, predictions, exclude)
                report = evaluation.evaluate_all(inputs)
            if sums is None:
                sums = StateSums(report.state)
            else:
                sums.add(report.state)
            has_hit = has_hit or not has_no_hit(report)
            if not has_hit:
                shared_items.add(truth, predictions)
            is_complete = is_complete and inputs.is_complete
            users.append(inputs.users)
            tables += [] if report.table is None else [report.table]
            begin = end
        for name, values in self._row_arguments():
            _check_length(name, len(values), begin)
        if ratings is not None:
            warn_of_ratings(ratings, scale, self.convention)
        assert sums is not None  # noqa: S101 - without blocks, the empty one was evaluated
        report = Report(sums.state(), concatenate_users(users), np.concatenate(tables, axis=1) if tables else None)
        return EvaluatedBlocks(
            report, inputs.truth.user_vocabulary is not None, is_complete, has_hit or bool(shared_items)
        )

    def align_block(
        self, truth: Truth | Rows, predictions: Predictions | Rows, exclude: Exclusions | Rows | None
    ) -> AlignedInputs:
        """Return the inputs of a block, with its own exclusions or its users' part of the call's."""
        if exclude is None:
            exclude = self.convert_exclusions(classify(self.exclude, "exclude"))
        return Alignment(truth, [predictions], exclude, self.encoding).inputs(predictions)

    def _empty_block(self) -> tuple[Any, Any]:
        """Return a block without users, for an empty iterator; its users are keyed if weights or groups are."""
        by_user = [values for values in (self.weights, self.groups) if values is not None and not values.is_by_row]
        is_keyed = bool(by_user) or (self.exclude is not None and self.exclude.user_vocabulary is not None)
        return ({}, {}) if is_keyed else ([], [])

    def convert_block(self, block: object) -> tuple[Truth | Rows, Predictions | Rows, Exclusions | Rows | None]:
        """Return the truth, the predictions and the exclusions of a block."""
        if not isinstance(block, tuple) or len(block) not in {2, 3}:
            expected, found = (
                "an iterator of (truth, predictions) or (truth, predictions, exclude)",
                type(block).__name__,
            )
            found += f" of {len(block)}" if isinstance(block, tuple) else ""
            raise type_error(
                "predictions", expected, found, hint="predictions=list(predictions) makes a list of one row per user"
            )
        classified = classify(block[1], "predictions")
        classified_truth = grades_beside_scores(classify(block[0], "truth"), shapes_of_scores(classified))
        truth = truth_input(classified_truth, self.columns, self.encoding)
        self.check_user_values(truth)
        predictions = self.convert_predictions(classified)
        exclude = self.convert_exclusions(classify(block[2], "exclude")) if block[2:] else None
        if exclude is not None and self.exclude is not None:
            raise input_error("exclude", "None with blocks of (truth, predictions, exclude)", "exclusions")
        if truth.user_vocabulary is None and predictions.user_vocabulary is None:
            _check_length("predictions", count_users(predictions), count_users(truth))
            if exclude is not None:
                _check_length("exclude", count_users(exclude), count_users(truth))
        return truth, predictions, exclude

    def warn_of_columns(self, truth: Truth | Rows) -> None:
        """Warn of truth columns that are likely misread."""
        self._warn_of_unused_columns(truth)
        if (column := rating_column(truth, self.values)) is not None:
            warn_of_ratings(column, RatingScale().add(truth.grades), self.convention)

    def _warn_of_unused_columns(self, truth: Truth | Rows) -> None:
        user_values = [values.column for values in (self.weights, self.groups) if values is not None]
        warn_of_unused_columns(truth, user_values)

    def check_user_values(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed, but weights or groups are not."""
        for user_values in (self.weights, self.groups):
            if user_values is not None:
                user_values.check_keys(truth)

    def _row_arguments(self) -> list[tuple[str, Exclusions | CandidateItems | Weights | Groups]]:
        candidates = None if self.candidates is None or self.candidates.for_all else self.candidates
        arguments = (
            ("exclude", None if self.exclude is None or self.exclude.user_vocabulary is not None else self.exclude),
            ("candidates", candidates),
            ("weights", self.weights if self.weights is None or self.weights.is_by_row else None),
            ("groups", self.groups if self.groups is None or self.groups.is_by_row else None),
        )
        return [(name, values) for name, values in arguments if values is not None]

    def _slice_rows(self, begin: int, end: int) -> Evaluation:
        for name, values in self._row_arguments():
            if len(values) < end:
                raise input_error(name, f"one entry per user (at least {end})", str(len(values)))
        return replace(
            self,
            exclude=self.exclude
            if self.exclude is None or self.exclude.user_vocabulary is not None
            else self.exclude[begin:end],
            candidates=None if self.candidates is None else self.candidates[begin:end],
            weights=None if self.weights is None else self.weights[begin:end],
            groups=None if self.groups is None else self.groups[begin:end],
        )


def _check_length(argument: str, length: int, users: int) -> None:
    if length != users:
        raise input_error(argument, f"one entry per user ({users})", f"{length}")


def _per_user_values(table: NDArray[np.float64] | None, values: tuple[Value, ...]) -> NDArray[np.float64] | None:
    """Return the users' values in the order of the request, NaN for values that are computed from means."""
    indices = part_indices(values)
    if table is None or indices == [(row,) for row in range(len(table))]:
        return table
    requested_rows = np.full((len(values), table.shape[1]), np.nan)
    for row, parts in enumerate(indices):
        if len(parts) == 1:
            requested_rows[row] = table[parts[0]]
    return requested_rows


def _state_of_outcome(
    problem: Problem, outcome: Outcome, values: tuple[Value, ...], labels: list[Label] | None
) -> State:
    size = len(problem.values)
    by_group = [tuple(outcome.sums[i : i + size]) for i in range(0, len(outcome.sums), size)]
    totals = by_group[0] if len(by_group) == 1 else tuple(map(Sums.over_groups, zip(*by_group, strict=True)))
    counts = outcome.counts._replace(
        unknown_actual=problem.truth.unknown_actual,
        rank_gaps=_users_with_closed_gaps(problem),
        ties=None if outcome.counts.ties is None else _ties_of_values(outcome.counts.ties, values),
    )
    return State(
        tuple(value.name for value in values),
        problem.convention,
        problem.weights is not None,
        counts,
        totals,
        None if labels is None else dict(zip(labels, by_group, strict=False)),
        problem.truth.columns.grade,
    )


def _ties_of_values(ties: tuple[TieCounts, ...], values: tuple[Value, ...]) -> tuple[TieCounts, ...]:
    """Return the ties of each value, whose parts depend on the same orders."""
    parts = [[ties[i] for i in indices] for indices in part_indices(values)]
    return tuple(TieCounts(max(one.dependent for one in row), max(one.spread for one in row)) for row in parts)


def _users_with_closed_gaps(problem: Problem) -> int:
    """Return the number of users whose rank gaps a value closes."""
    if not isinstance(problem.predictions, Rankings) or all(v.rules["rank_gaps"] == "keep" for v in problem.values):
        return 0
    return problem.predictions.users_with_rank_gaps
