"""The way of every evaluation: containers to waist 1, values to a plan, an engine, a report.

The engine is the C++ core or the reference; neither is known here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from metrik._conventions import STRICT_TIES, Convention, as_convention
from metrik._errors import EvaluationWarning, MetrikError, caller_level, input_error, type_error
from metrik._finish import finished
from metrik._inputs import (
    Batches,
    Candidates,
    Columns,
    Exclude,
    Known,
    Lists,
    Predictions,
    Rankings,
    Truth,
    as_columns,
    exclude_of,
    predictions_of,
    settled,
    truth_of,
)
from metrik._inputs.alignment import Aligned, aligned, everyone
from metrik._inputs.mappings import is_of_systems
from metrik._inputs.names import Names
from metrik._inputs.of_users import Groups, Weights
from metrik._metrics import Value, computed, part_places, plan
from metrik._optional import is_sparse
from metrik._progress import Progress, untold
from metrik._report import Comparison, Report, joined_users
from metrik._stream import streamed
from metrik._state import Label, State, Sums, planned
from metrik._threads import settled_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrik._inputs.roles import ColumnNames
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
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None


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
    columns: ColumnNames,
) -> Report | Comparison:
    """Evaluate by the given engine; the other arguments are those of `metrik.evaluate`."""
    convention = as_convention(convention)
    values = plan(metrics, convention)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    known = truth if truth is None else truth_of(truth, columns)
    call = Call(
        engine,
        values,
        convention,
        exclude_of(exclude, columns, _known(known)),
        as_columns(candidates),
        None if weights is None else Weights.of(weights),
        None if groups is None else Groups.of(groups),
        bool(per_user),
        settled_threads(num_threads),
        Progress(progress),
        columns,
    )
    if isinstance(predictions, Iterator):
        if known is not None:
            expected = "None beside an iterator, whose blocks are (truth, predictions)"
            raise input_error("truth", expected, type(truth).__name__)
        with call.progress.of(None):
            report = call.blocks(predictions)
        _warn_of_ties(report, None)
        _warn(report)
        return report
    if known is None:
        raise type_error("truth", "what the users found relevant", "None")
    if isinstance(predictions, Mapping) and not is_sparse(predictions):  # one form of these is a mapping too
        of_systems = is_of_systems(predictions)
        if of_systems or (of_systems is None and known.names is None):
            return _compare(call, known, predictions)
    if isinstance(predictions, Batches):
        with call.progress.of(None):
            report = streamed(call, known, predictions)
        _warn_of_ties(report, None)
        _warn(report, whole=False)
        return report
    case = call.case(known, call.predictions(predictions, known))
    with call.progress.of(len(case.truth)):
        report = call.whole(case)
    _warn_of_ties(report, partial(call.span, case))
    _warn_of_items(report, case)
    _warn(report, whole=case.is_whole)
    return report


def _known(truth: Truth | None) -> Known:
    """Return the names of the truth, from which others go on."""
    return Known() if truth is None else Known(truth.names, truth.catalogue)


def _compare(call: Call, truth: Truth, given: Mapping[Any, object]) -> Comparison:
    if not given:
        raise input_error("predictions", "at least one system", "an empty mapping")
    systems: dict[str, Predictions] = {}
    for name, predictions in given.items():
        if not isinstance(name, str):
            raise type_error("predictions", "names of systems, each with its predictions", repr(name))
        with _note(f"in system {name!r}"):
            systems[name] = call.predictions(predictions, truth)
    everybody = everyone(truth, systems)
    reports = {}
    with call.progress.of(len(everybody) * len(systems)):
        for name, predictions in systems.items():
            with _note(f"in system {name!r}"):
                case = replace(call.case(everybody, predictions), given=len(truth))
                reports[name] = call.whole(case)
                _warn_of_ties(reports[name], partial(call.span, case), f"system {name!r}: ")
                _warn_of_items(reports[name], case, f"system {name!r}: ")
    _warn(*reports.values(), whole=case.is_whole)
    return Comparison(reports)


@contextmanager
def _note(where: str) -> Iterator[None]:
    """Add to an error where it came from."""
    try:
        yield
    except MetrikError as error:
        error.add_note(where)
        raise


_FOUND = re.compile(r"(?<=found )((?:item )?)(\d+)")


@contextmanager
def _naming(case: Aligned) -> Iterator[None]:
    """Say which user is at fault, and which item, where the core knows only numbers."""
    try:
        yield
    except MetrikError as error:
        if error.row is None or not isinstance(case.users, Names) or error.row >= len(case.users):
            raise
        message = f"{error} (user {case.users.shown(error.row)})"
        if (found := _FOUND.search(message)) and _is_item(case, error, int(found[2])):
            message = message[: found.start()] + found[1] + case.item(int(found[2])) + message[found.end() :]
        raise type(error)(message, error.argument, error.row, error.position, error.count) from None


def _is_item(case: Aligned, error: MetrikError, number: int) -> bool:
    """Return whether the number that an error found is the item at its place."""
    lists = {"truth": case.truth, "predictions": case.predictions, "exclude": case.exclude}.get(error.argument or "")
    if isinstance(lists, Candidates):
        lists = lists.lists
    if not isinstance(lists, Lists) or error.row is None or error.position is None:
        return False
    row = lists.row(error.row)
    return error.position < len(row) and int(row[error.position]) == number


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
        return self.settled(predictions_of(given, self.columns, _known(truth)))

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
            with _note(f"in block {number} of the iterator, whose first user is number {begin}"):
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


_BY_CHANCE = 32  # fewer items by number than these may well be others


def _warn_of_items(report: Report, case: Aligned, system: str = "") -> None:
    """Say so if no item of the truth is among the predictions at all: most likely their ids are not the same ones."""
    lists = case.predictions.lists if isinstance(case.predictions, Candidates) else case.predictions
    if not isinstance(lists, Rankings) or any(
        value > 0 for name, value in report.values.items() if not name.startswith(("num_rel", "num_rec"))
    ):
        return
    fewest = 1 if case.truth.names is not None or case.items is not None else _BY_CHANCE
    if min(len(lists.items), len(case.truth.items)) < fewest or np.isin(case.truth.items, lists.items).any():
        return
    message = (
        f"{system}none of the items of the truth, such as {case.item(int(case.truth.items[0]))}, is in any list of the "
        f"predictions, such as {case.item(int(lists.items[0]))}: check that both name the items alike"
    )
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


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
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())
        return


def _warn(*reports: Report, whole: bool = True) -> None:
    """Say once what makes the numbers mean something else than they seem to.

    Where not all that a system could rank was given, but its best, as usual by user and item, what is missing is no
    cause for alarm.
    """
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
        if unknown and whole:
            where = "have no column in the scores, or are not among the candidates"
            messages[f"{unknown} relevant items {where}; they stay in the truth as misses"] = None
    for message in messages:
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _weightless(report: Report) -> list[str]:
    """Return the values for whose users all weights are 0."""
    totals, places = report.state.totals, part_places(planned(report.state))
    parts = {name: [totals[i] for i in own] for name, own in zip(report.metrics, places, strict=True)}
    return [name for name, own in parts.items() if any(one.users and not one.weight for one in own)]
