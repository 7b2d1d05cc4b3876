"""The way of every evaluation: containers to waist 1, values to a plan, an engine, a report.

The engine is the C++ core or the reference; neither is known here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from metrik._conventions import STRICT_TIES, Convention, as_convention
from metrik._errors import EvaluationWarning, MetrikError, input_error, type_error
from metrik._finish import finished
from metrik._inputs import (
    Columns,
    Exclude,
    Predictions,
    Rankings,
    Truth,
    as_columns,
    as_exclude,
    as_predictions,
    as_truth,
    settled,
)
from metrik._inputs.checks import key_array, number_array
from metrik._metrics import Value, computed, part_places, plan
from metrik._optional import is_sparse
from metrik._progress import Progress, untold
from metrik._report import Comparison, Report, joined_users
from metrik._state import Label, State, Sums, planned
from metrik._threads import settled_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrik._progress import Tell


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


class Options(TypedDict, total=False):
    """The keyword arguments of `evaluate`, for the type checker."""

    convention: Convention | str
    exclude: object
    candidates: object
    weights: object
    groups: object
    per_user: bool
    num_threads: int | None
    progress: bool | Tell


def run(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    convention: Convention | str,
    exclude: object,
    candidates: object,
    weights: object,
    groups: object,
    per_user: object,
    num_threads: object,
    progress: object,
) -> Report | Comparison:
    """Evaluate by the given engine; the other arguments are those of `metrik.evaluate`."""
    convention = as_convention(convention)
    values = plan(metrics, convention)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    call = _Call(
        engine,
        values,
        convention,
        as_exclude(exclude),
        as_columns(candidates),
        None if weights is None else number_array(weights, "weights"),
        None if groups is None else key_array(groups, "groups"),
        bool(per_user),
        settled_threads(num_threads),
        Progress(progress),
    )
    if isinstance(predictions, Mapping) and not is_sparse(predictions):  # one form of these is a mapping too
        return _compare(call, truth, predictions)
    if isinstance(predictions, Iterator):
        if truth is not None:
            expected = "None beside an iterator, whose blocks are (truth, predictions)"
            raise input_error("truth", expected, type(truth).__name__)
        with call.progress.of(None):
            report = call.blocks(predictions)
        _warn_of_ties(report, None)
    else:
        truth, predictions = as_truth(truth), _predictions(predictions, convention)
        with call.progress.of(len(truth)):
            report = call.whole(truth, predictions)
        _warn_of_ties(report, partial(call.span, truth, predictions))
    _warn(report)
    return report


def _predictions(given: object, convention: Convention) -> Predictions:
    """Return the predictions, their scores in the type in which the convention compares them."""
    predictions = as_predictions(given)
    if convention.score_dtype == "native" or isinstance(predictions, Rankings):
        return predictions
    return predictions.narrowed()


def _compare(call: _Call, truth: object, systems: Mapping[Any, object]) -> Comparison:
    if not systems:
        raise input_error("predictions", "at least one system", "an empty mapping")
    for name in systems:
        if not isinstance(name, str):
            raise type_error("predictions", "names of systems, each with its predictions", repr(name))
    truth = as_truth(truth)
    reports = {}
    with call.progress.of(len(truth) * len(systems)):
        for name, lists in systems.items():
            with _note(f"in system {name!r}"):
                predictions = _predictions(lists, call.convention)
                reports[name] = call.whole(truth, predictions)
                _warn_of_ties(reports[name], partial(call.span, truth, predictions), f"system {name!r}: ")
    _warn(*reports.values())
    return Comparison(reports)


@contextmanager
def _note(where: str) -> Iterator[None]:
    """Add to an error where it came from."""
    try:
        yield
    except MetrikError as error:
        error.add_note(where)
        raise


@dataclass(frozen=True)
class _Call:
    """The arguments that hold for all users, or for all users one after another."""

    engine: Engine
    values: tuple[Value, ...]
    convention: Convention
    exclude: Exclude | None
    candidates: Columns | None
    weights: NDArray[np.float64] | None
    labels: NDArray[Any] | None
    per_user: bool
    num_threads: int
    progress: Progress

    def whole(self, truth: Truth, predictions: Predictions) -> Report:
        """Evaluate all users at once."""
        codes, names = None, None
        if self.labels is not None:
            _check_length("groups", len(self.labels), len(truth))
            names, codes = np.unique(self.labels, return_inverse=True)
        problem = replace(
            self._problem(truth, predictions),
            groups=None if codes is None else codes.astype(np.int64),
            group_count=1 if names is None else max(1, len(names)),
            per_user=self.per_user,
            finished=self.progress.at_hand,
        )
        outcome = self.engine(problem)
        self.progress.add(len(truth))
        state = _state(
            problem, outcome, [value.name for value in self.values], None if names is None else names.tolist()
        )
        return Report(state, truth.users, _spread(outcome.per_user, self.values))

    def span(self, truth: Truth, predictions: Predictions, value: Value) -> tuple[float, float]:
        """Return the least and the highest that the value could be if items of one score were ordered otherwise."""
        extremes = tuple(replace(value, rules={**value.rules, "ties": ties}) for ties in ("pessimistic", "optimistic"))
        problem = replace(self._problem(truth, predictions), values=computed(extremes))
        sums = self.engine(problem).sums
        # Sorted, as one hit more may lower a mean over the hits (ap_over='hits').
        lowest, highest = sorted(
            finished(one, [sums[place] for place in places], weighted=self.weights is not None)
            for one, places in zip(extremes, part_places(extremes), strict=True)
        )
        return lowest, highest

    def _problem(self, truth: Truth, predictions: Predictions) -> Problem:
        """Return what is asked of all users as one group, no value of theirs kept and nobody told of progress."""
        candidates, exclude = settled(predictions, self.candidates, self.exclude)
        return Problem(
            truth,
            predictions,
            candidates,
            exclude,
            self.weights,
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
        users: list[NDArray[Any] | None] = []
        tables: list[NDArray[np.float64]] = []
        begin = 0
        for number, pair in enumerate(chain(pairs, [_END])):
            if pair is _END and state is not None:
                break
            with _note(f"in block {number} of the iterator, whose first user is number {begin}"):
                truth, predictions = _block(pair, self.convention)
                end = begin + len(truth)
                part = self._slice(begin, end)
                if pair is _END:  # it has no columns that could be candidates
                    part = replace(part, candidates=None)
                report = part.whole(truth, predictions)
            state = report.state if state is None else state.plus(report.state)
            users.append(truth.users)
            tables += [] if report.table is None else [report.table]
            begin = end
        for name, given in self._of_users():
            _check_length(name, len(given), begin)
        assert state is not None  # noqa: S101 - there is always a block, be it the empty one
        return Report(state, joined_users(users), np.concatenate(tables, axis=1) if tables else None)

    def _of_users(self) -> list[tuple[str, Exclude | Columns | NDArray[Any]]]:
        candidates = None if self.candidates is None or self.candidates.for_all else self.candidates
        given = (
            ("exclude", self.exclude),
            ("candidates", candidates),
            ("weights", self.weights),
            ("groups", self.labels),
        )
        return [(name, values) for name, values in given if values is not None]

    def _slice(self, begin: int, end: int) -> _Call:
        for name, given in self._of_users():
            if len(given) < end:
                raise input_error(name, f"one entry for each of {end} users or more", str(len(given)))
        return replace(
            self,
            exclude=None if self.exclude is None else self.exclude[begin:end],
            candidates=None if self.candidates is None else self.candidates[begin:end],
            weights=None if self.weights is None else self.weights[begin:end],
            labels=None if self.labels is None else self.labels[begin:end],
        )


_END: tuple[list[Any], list[Any]] = ([], [])  # a block without users: what an iterator without blocks comes down to


def _block(pair: object, convention: Convention) -> tuple[Truth, Predictions]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise type_error("predictions", "an iterator of (truth, predictions) pairs", type(pair).__name__)
    truth, predictions = as_truth(pair[0]), _predictions(pair[1], convention)
    _check_length("predictions", len(predictions), len(truth))
    return truth, predictions


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


_MANY_TIED = 0.01  # of the users


def _warn_of_ties(report: Report, span: Callable[[Value], tuple[float, float]] | None, system: str = "") -> None:
    """Say so if ids or the order of input decide what many users are recommended, and how much that may change."""
    counts = report.counts.get("tied_at_cutoff", {})
    for value in planned(report.state):
        tied, users = counts.get(value.cutoff, 0), report.counts["users"]
        if value.rules["ties"] not in STRICT_TIES or tied <= _MANY_TIED * users:
            continue
        message = (
            f"{system}{tied} of {users} users have items of one score on both sides of rank {value.cutoff}, "
            f"where ties={value.rules['ties']!r} decides; "
        )
        if span is None:
            message += "ties='pessimistic' and ties='optimistic' show how much that changes"
        else:
            lowest, highest = span(value)
            if not lowest < highest:  # no matter of order, or NaN
                continue
            message += f"by other orders {value.name} = {report[value.name]:.4f} is {lowest:.4f} to {highest:.4f}"
        warnings.warn(message, EvaluationWarning, stacklevel=_frames_of_metrik())
        return


def _warn(*reports: Report) -> None:
    """Say once what makes the numbers mean something else than they seem to."""
    messages: dict[str, None] = {}  # in order, each once, however many systems it holds for
    for report in reports:
        nobody = [name for name, users in report.counts["evaluated"].items() if users == 0]
        weightless = _weightless(report) if report.state.weighted else []
        excluded, unknown = report.counts["relevant_excluded"], report.counts["relevant_not_rankable"]
        if nobody:
            messages[f"no user was evaluated for {', '.join(nobody)}: NaN"] = None
        if weightless:
            messages[f"all weights are 0 for {', '.join(weightless)}: NaN"] = None
        if excluded:
            messages[f"{excluded} relevant items are in exclude; they stay in the truth as misses"] = None
        if unknown:
            where = "have no column in the scores, or are not among the candidates"
            messages[f"{unknown} relevant items {where}; they stay in the truth as misses"] = None
    for message in messages:
        warnings.warn(message, EvaluationWarning, stacklevel=_frames_of_metrik())


def _weightless(report: Report) -> list[str]:
    """Return the values for whose users all weights are 0."""
    totals, places = report.state.totals, part_places(planned(report.state))
    parts = {name: [totals[i] for i in own] for name, own in zip(report.metrics, places, strict=True)}
    return [name for name, own in parts.items() if any(one.users and not one.weight for one in own)]


def _frames_of_metrik() -> int:
    """Return the stack level of the caller's own line, for a warning raised by our caller."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - the standard library's own way before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "metrik":
        level += 1
        frame = frame.f_back
    return level
