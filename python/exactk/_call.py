"""One evaluation of one set of predictions: what an engine is asked, and what is made of its answer.

The engine is the C++ core or the reference; neither is known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._errors import ExactkError, input_error, type_error
from exactk._finish import finished
from exactk._inputs import (
    Candidates,
    Columns,
    Exclude,
    Known,
    Lists,
    Predictions,
    Rankings,
    Truth,
    predictions_of,
    settled,
    truth_of,
)
from exactk._inputs.alignment import Aligned, aligned
from exactk._metrics import Value, computed, part_places
from exactk._progress import Progress, untold
from exactk._report import Report, joined_users
from exactk._state import Label, State, Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._conventions import Convention
    from exactk._inputs.names import Names
    from exactk._inputs.of_users import Groups, Weights
    from exactk._inputs.roles import ColumnNames


@dataclass(frozen=True)
class Problem:
    """An evaluation past waist 1: what the core is asked, and the reference too."""

    truth: Truth
    predictions: Predictions
    candidates: Columns | None  # beside scores and embeddings alone
    exclude: Exclude | None
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    group_count: int
    values: tuple[Value, ...]
    convention: Convention
    per_user: bool
    num_threads: int
    finished: Callable[[int], object]  # to be called often, with the number of users done


class Outcome(NamedTuple):
    """What an engine found."""

    sums: list[Sums]  # group by group, value by value
    counts: dict[str, int]
    per_user: NDArray[np.float64] | None  # values x users


Engine = Callable[[Problem], Outcome]


_FOUND = re.compile(r"(?<=found )((?:item )?)(\d+)")


@contextmanager
def _naming(case: Aligned) -> Iterator[None]:
    """Say which user is at fault, and which item, where the core knows only numbers."""
    try:
        yield
    except ExactkError as error:
        blamed = case.blamed(error)
        if blamed is None:
            raise
        message = str(blamed)
        if (found := _FOUND.search(message)) and _is_item(case, error, int(found[2])):
            message = message[: found.start()] + found[1] + case.item(int(found[2])) + message[found.end() :]
        raise type(error)(message, error.argument, error.row, error.position, error.count) from None


def _is_item(case: Aligned, error: ExactkError, number: int) -> bool:
    """Return whether the number that an error found is the item at its place."""
    lists = {"truth": case.truth, "predictions": case.predictions, "exclude": case.exclude}.get(error.argument or "")
    if isinstance(lists, Candidates):
        lists = lists.lists
    if not isinstance(lists, Lists) or error.row is None or error.position is None:
        return False
    row = lists.row(error.row)
    return error.position < len(row) and int(row[error.position]) == number


@contextmanager
def note(where: str) -> Iterator[None]:
    """Add to an error where it came from."""
    try:
        yield
    except ExactkError as error:
        error.add_note(where)
        raise


@dataclass(frozen=True)
class Call:
    """The arguments that hold for all users, or for all users one after another."""

    engine: Engine
    values: tuple[Value, ...]
    convention: Convention
    exclude: Exclude | None
    candidates: Columns | None
    weights: Weights | None
    groups: Groups | None
    per_user: bool
    num_threads: int
    progress: Progress
    columns: ColumnNames

    def predictions(self, given: object, truth: Truth | None) -> Predictions:
        """Return what was given as predictions, its names numbered on from those of the truth."""
        return self.settled(predictions_of(given, self.columns, known_names(truth, self.num_threads)))

    def settled(self, predictions: Predictions) -> Predictions:
        """Return the predictions with their scores in the type in which the convention compares them."""
        if self.convention.score_dtype == "native" or isinstance(predictions, Rankings):
            return predictions
        return predictions.narrowed()

    def case(self, truth: Truth, predictions: Predictions) -> Aligned:
        """Return what is evaluated together."""
        return aligned(truth, predictions, self.exclude)

    def whole(self, case: Aligned) -> Report:
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

    def span(self, case: Aligned, value: Value) -> tuple[float, float]:
        """Return the least and the highest that the value could be if items of one score were ordered otherwise."""
        extremes = tuple(replace(value, rules={**value.rules, "ties": ties}) for ties in ("pessimistic", "optimistic"))
        problem = replace(self._problem(case), values=computed(extremes))
        sums = self.engine(problem).sums
        # Sorted, as one hit more may lower a mean over the hits (ap_over='hits').
        lowest, highest = sorted(
            finished(one, [sums[place] for place in places], weighted=self.weights is not None)
            for one, places in zip(extremes, part_places(extremes), strict=True)
        )
        return lowest, highest

    def _problem(self, case: Aligned) -> Problem:
        """Return what is asked of all users as one group, no value of theirs kept and nobody told of progress."""
        candidates, exclude = settled(case.predictions, self.candidates, case.exclude)
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
        users: list[Names | NDArray[Any] | None] = []
        tables: list[NDArray[np.float64]] = []
        begin = 0
        for number, pair in enumerate(chain(pairs, [_END])):
            if pair is _END and state is not None:
                break
            with note(f"in block {number} of the iterator, whose first user is number {begin}"):
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
        return Report(state, joined_users(users), np.concatenate(tables, axis=1) if tables else None)

    def _block(self, pair: object) -> tuple[Truth, Predictions]:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise type_error("predictions", "an iterator of (truth, predictions) pairs", type(pair).__name__)
        truth = truth_of(pair[0], self.columns)
        predictions = self.predictions(pair[1], truth)
        if truth.names is None:
            _check_length("predictions", len(predictions), len(truth))
        return truth, predictions

    def _of_users(self) -> list[tuple[str, Exclude | Columns | Weights | Groups]]:
        candidates = None if self.candidates is None or self.candidates.for_all else self.candidates
        given = (
            ("exclude", None if self.exclude is None or self.exclude.names is not None else self.exclude),
            ("candidates", candidates),
            ("weights", self.weights if self.weights is None or self.weights.by_row else None),
            ("groups", self.groups if self.groups is None or self.groups.by_row else None),
        )
        return [(name, values) for name, values in given if values is not None]

    def _slice(self, begin: int, end: int) -> Call:
        for name, given in self._of_users():
            if len(given) < end:
                raise input_error(name, f"one entry for each of {end} users or more", str(len(given)))
        return replace(
            self,
            exclude=self.exclude if self.exclude is None or self.exclude.names is not None else self.exclude[begin:end],
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


def known_names(truth: Truth | None, threads: int) -> Known:
    """Return the names of the truth, from which others go on."""
    return Known(threads=threads) if truth is None else Known(truth.names, truth.catalogue, threads)
