"""The evaluation of one system: its problem is made, an engine solves it, and a report is made of the outcome."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.problem import Engine, Outcome, Problem
from exactk._inputs.alignment import AlignedInputs, align
from exactk._inputs.conversions import predictions_of, truth_of
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Lists, Rankings, Truth
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._inputs.restrictions import restrict
from exactk._plan.metric_strings import Value, computed, part_places
from exactk._report.report import Report
from exactk._report.state import Label, State
from exactk._report.statistics import finish
from exactk._report.user_keys import concatenate_users
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.progress import Progress, untold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.predictions import Predictions
    from exactk._inputs.user_values import Groups, Weights
    from exactk._plan.conventions import Convention


_FOUND = re.compile(r"(?<=found )((?:item )?)(\d+)")


@contextmanager
def _naming(case: AlignedInputs) -> Iterator[None]:
    """Say which user is at fault, and which item, where the core knows only numbers."""
    try:
        yield
    except ExactkError as error:
        with_user = case.with_user(error)
        if with_user is None:
            raise
        message = str(with_user)
        if (found := _FOUND.search(message)) and _is_item(case, error, int(found[2])):
            message = message[: found.start()] + found[1] + case.item_text(int(found[2])) + message[found.end() :]
        raise type(error)(message, error.argument, error.row, error.position, error.count) from None


def _is_item(case: AlignedInputs, error: ExactkError, number: int) -> bool:
    """Return whether the number that an error found is the item at its place."""
    lists = {"truth": case.truth, "predictions": case.predictions, "exclude": case.exclude}.get(error.argument or "")
    if isinstance(lists, SparseScores):
        lists = lists.lists
    if not isinstance(lists, Lists) or error.row is None or error.position is None:
        return False
    row = lists.row(error.row)
    return error.position < len(row) and int(row[error.position]) == number


@contextmanager
def add_error_note(where: str) -> Iterator[None]:
    """Add to an error where it came from."""
    try:
        yield
    except ExactkError as error:
        error.add_note(where)
        raise


@dataclass(frozen=True)
class Evaluation:
    """The arguments that hold for all users, or for all users one after another."""

    engine: Engine
    values: tuple[Value, ...]
    convention: Convention
    exclude: Exclusions | None
    candidates: CandidateItems | None
    weights: Weights | None
    groups: Groups | None
    per_user: bool
    num_threads: int
    progress: Progress
    columns: ColumnNames

    def predictions(self, given: object, truth: Truth | None) -> Predictions:
        """Return what was given as predictions, its names numbered on from those of the truth."""
        return self.restrict(predictions_of(given, self.columns, encoding_after(truth, self.num_threads)))

    def restrict(self, predictions: Predictions) -> Predictions:
        """Return the predictions with their scores in the type in which the convention compares them."""
        if self.convention.score_dtype == "native" or isinstance(predictions, Rankings):
            return predictions
        return predictions.narrowed()

    def case(self, truth: Truth, predictions: Predictions) -> AlignedInputs:
        """Return what is evaluated together."""
        return align(truth, predictions, self.exclude)

    def whole(self, case: AlignedInputs) -> Report:
        """Evaluate all users at once."""
        codes, labels = None, None
        if self.groups is not None:
            codes, labels = self.groups.codes(case, self.convention)
        problem = replace(
            self._problem(case),
            groups=codes,
            group_count=1 if labels is None else max(1, len(labels)),
            per_user=self.per_user,
            finished=self.progress.at_hand,
        )
        with _naming(case):
            outcome = self.engine(problem)
        self.progress.add(len(case.truth))
        state = _state(problem, outcome, [value.name for value in self.values], labels)
        return Report(state, case.users, _spread(outcome.per_user, self.values))

    def span(self, case: AlignedInputs, value: Value) -> tuple[float, float]:
        """Return the least and the highest that the value could be if items of one score were ordered otherwise."""
        extremes = tuple(replace(value, rules={**value.rules, "ties": ties}) for ties in ("pessimistic", "optimistic"))
        problem = replace(self._problem(case), values=computed(extremes))
        sums = self.engine(problem).sums
        # Sorted, as one hit more may lower a mean over the hits (ap_over='hits').
        lowest, highest = sorted(
            finish(one, [sums[place] for place in places], weighted=self.weights is not None)
            for one, places in zip(extremes, part_places(extremes), strict=True)
        )
        return lowest, highest

    def _problem(self, case: AlignedInputs) -> Problem:
        """Return what is asked of all users as one group, no value of theirs kept and nobody told of progress."""
        candidates, exclude = restrict(case.predictions, self.candidates, case.exclude)
        return Problem(
            case.truth,
            case.predictions,
            candidates,
            exclude,
            None if self.weights is None else self.weights.of_rows(case, self.convention),
            groups=None,
            group_count=1,
            values=computed(self.values),
            convention=self.convention,
            per_user=False,
            num_threads=self.num_threads,
            finished=untold,
        )

    def blocks(self, pairs: Iterator[Any]) -> Report:
        """Evaluate block after block; the arguments of all users are cut as the blocks come."""
        state: State | None = None
        users: list[Vocabulary | NDArray[Any] | None] = []
        tables: list[NDArray[np.float64]] = []
        begin = 0
        for number, pair in enumerate(chain(pairs, [_END])):
            if pair is _END and state is not None:
                break
            with add_error_note(f"in block {number} of the iterator, whose first user is number {begin}"):
                truth, predictions = self._block(pair)
                end = begin + len(truth)
                part = self._slice(begin, end)
                if pair is _END:  # it has no columns that could be candidates
                    part = replace(part, candidates=None)
                report = part.whole(part.case(truth, predictions))
            state = report.state if state is None else state.plus(report.state)
            users.append(truth.users)
            tables += [] if report.table is None else [report.table]
            begin = end
        for name, given in self._of_users():
            _check_length(name, len(given), begin)
        assert state is not None  # noqa: S101 - there is always a block, be it the empty one
        return Report(state, concatenate_users(users), np.concatenate(tables, axis=1) if tables else None)

    def _block(self, pair: object) -> tuple[Truth, Predictions]:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise type_error("predictions", "an iterator of (truth, predictions) pairs", type(pair).__name__)
        truth = truth_of(pair[0], self.columns)
        predictions = self.predictions(pair[1], truth)
        if truth.user_vocabulary is None:
            _check_length("predictions", len(predictions), len(truth))
        return truth, predictions

    def _of_users(self) -> list[tuple[str, Exclusions | CandidateItems | Weights | Groups]]:
        candidates = None if self.candidates is None or self.candidates.for_all else self.candidates
        given = (
            ("exclude", None if self.exclude is None or self.exclude.user_vocabulary is not None else self.exclude),
            ("candidates", candidates),
            ("weights", self.weights if self.weights is None or self.weights.by_row else None),
            ("groups", self.groups if self.groups is None or self.groups.by_row else None),
        )
        return [(name, values) for name, values in given if values is not None]

    def _slice(self, begin: int, end: int) -> Evaluation:
        for name, given in self._of_users():
            if len(given) < end:
                raise input_error(name, f"one entry for each of {end} users or more", str(len(given)))
        return replace(
            self,
            exclude=self.exclude
            if self.exclude is None or self.exclude.user_vocabulary is not None
            else self.exclude[begin:end],
            candidates=None if self.candidates is None else self.candidates[begin:end],
            weights=None if self.weights is None else self.weights[begin:end],
            groups=None if self.groups is None else self.groups[begin:end],
        )


_END: tuple[list[Any], list[Any]] = ([], [])  # a block without users: what an iterator without blocks comes down to


def _check_length(argument: str, found: int, users: int) -> None:
    if found != users:
        raise input_error(argument, f"one entry for each of {users} users", f"{found}")


def _spread(table: NDArray[np.float64] | None, values: tuple[Value, ...]) -> NDArray[np.float64] | None:
    """Return the users' values in the order asked, of what was computed; NaN where a value is made of means."""
    places = part_places(values)
    if table is None or places == [(row,) for row in range(len(table))]:
        return table
    asked = np.full((len(values), table.shape[1]), np.nan)
    for row, parts in enumerate(places):
        if len(parts) == 1:
            asked[row] = table[parts[0]]
    return asked


def _state(problem: Problem, outcome: Outcome, names: list[str], labels: list[Label] | None) -> State:
    size = len(problem.values)
    by_group = [tuple(outcome.sums[i : i + size]) for i in range(0, len(outcome.sums), size)]
    totals = by_group[0]
    for sums in by_group[1:]:
        totals = tuple(one.plus(other) for one, other in zip(totals, sums, strict=True))
    unknown = problem.truth.unknown_actual
    counts = {"users": len(problem.truth), **outcome.counts} | ({} if unknown is None else {"unknown_actual": unknown})
    return State(
        tuple(names),
        problem.convention,
        problem.weights is not None,
        counts,
        totals,
        None if labels is None else dict(zip(labels, by_group, strict=False)),
    )


def encoding_after(truth: Truth | None, threads: int) -> Encoding:
    """Return the names of the truth, from which others go on."""
    return (
        Encoding(threads=threads) if truth is None else Encoding(truth.user_vocabulary, truth.item_vocabulary, threads)
    )
