"""The way of every evaluation: containers to waist 1, values to a plan, an engine, a report.

The engine is the C++ core or the reference; neither is known here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from metrik._conventions import Convention, as_convention
from metrik._errors import EvaluationWarning, input_error, type_error
from metrik._inputs import Exclude, Rankings, Truth, as_exclude, as_rankings, as_truth
from metrik._inputs.checks import number_array, plain_array
from metrik._metrics import Value, plan
from metrik._report import Comparison, Report, merge
from metrik._state import Label, State, Sums
from metrik._threads import default_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_THREADS = 1024


@dataclass(frozen=True)
class Problem:
    """An evaluation past waist 1: what the core is asked, and the reference too."""

    truth: Truth
    rankings: Rankings
    exclude: Exclude | None
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    group_count: int
    values: tuple[Value, ...]
    convention: Convention
    per_user: bool
    num_threads: int


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
    weights: object
    groups: object
    per_user: bool
    num_threads: int | None


def run(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    convention: Convention | str,
    exclude: object,
    weights: object,
    groups: object,
    per_user: object,
    num_threads: object,
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
        None if weights is None else number_array(weights, "weights"),
        None if groups is None else _labels(groups),
        bool(per_user),
        _threads(num_threads),
    )
    if isinstance(predictions, Mapping):
        return _compare(call, truth, predictions)
    if isinstance(predictions, Iterator):
        if truth is not None:
            expected = "None beside an iterator, whose blocks are (truth, predictions)"
            raise input_error("truth", expected, type(truth).__name__)
        report = call.blocks(predictions)
    else:
        report = call.whole(as_truth(truth), as_rankings(predictions))
    _warn(report)
    return report


def _compare(call: _Call, truth: object, systems: Mapping[Any, object]) -> Comparison:
    if not systems:
        raise input_error("predictions", "at least one system", "an empty mapping")
    for name in systems:
        if not isinstance(name, str):
            raise type_error("predictions", "names of systems, each with its predictions", repr(name))
    truth = as_truth(truth)
    comparison = Comparison({name: call.whole(truth, as_rankings(lists)) for name, lists in systems.items()})
    for report in comparison.values():
        _warn(report)
    return comparison


@dataclass(frozen=True)
class _Call:
    """The arguments that hold for all users, or for all users one after another."""

    engine: Engine
    values: tuple[Value, ...]
    convention: Convention
    exclude: Exclude | None
    weights: NDArray[np.float64] | None
    labels: NDArray[Any] | None
    per_user: bool
    num_threads: int

    def whole(self, truth: Truth, rankings: Rankings) -> Report:
        """Evaluate all users at once."""
        codes, names = None, None
        if self.labels is not None:
            _check_length("groups", len(self.labels), len(truth))
            names, codes = np.unique(self.labels, return_inverse=True)
        problem = Problem(
            truth,
            rankings,
            self.exclude,
            self.weights,
            None if codes is None else codes.astype(np.int64),
            1 if names is None else max(1, len(names)),
            self.values,
            self.convention,
            self.per_user,
            self.num_threads,
        )
        outcome = self.engine(problem)
        state = _state(problem, outcome, None if names is None else names.tolist())
        return Report(state, truth.users, outcome.per_user)

    def blocks(self, pairs: Iterator[Any]) -> Report:
        """Evaluate block after block; each of the users' arguments is cut as the blocks come."""
        reports: list[Report] = []
        begin = 0
        for pair in chain(pairs, [_END]):
            if pair is _END and reports:
                break
            truth, rankings = _block(pair)
            end = begin + len(truth)
            reports.append(self._slice(begin, end).whole(truth, rankings))
            begin = end
        for name, given in (("exclude", self.exclude), ("weights", self.weights), ("groups", self.labels)):
            if given is not None:
                _check_length(name, len(given), begin)
        return merge(reports)

    def _slice(self, begin: int, end: int) -> _Call:
        return _Call(
            self.engine,
            self.values,
            self.convention,
            None if self.exclude is None else self.exclude.sliced(begin, end),
            None if self.weights is None else self.weights[begin:end],
            None if self.labels is None else self.labels[begin:end],
            self.per_user,
            self.num_threads,
        )


_END: tuple[list[Any], list[Any]] = ([], [])  # a block without users: what an iterator without blocks comes down to


def _block(pair: object) -> tuple[Truth, Rankings]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise type_error("predictions", "an iterator of (truth, predictions) pairs", type(pair).__name__)
    truth, rankings = as_truth(pair[0]), as_rankings(pair[1])
    _check_length("predictions", len(rankings), len(truth))
    return truth, rankings


def _check_length(argument: str, found: int, users: int) -> None:
    if found != users:
        raise input_error(argument, f"one entry for each of {users} users", f"{found}")


def _labels(groups: object) -> NDArray[Any]:
    labels = plain_array(groups, "groups")
    if labels.ndim != 1:
        raise type_error("groups", "one label a user", f"shape {labels.shape}")
    if labels.dtype.kind not in "iubU":
        raise type_error("groups", "integers, strings or bool", str(labels.dtype))
    return labels


def _threads(num_threads: object) -> int:
    if num_threads is None:
        return default_threads()
    if isinstance(num_threads, bool) or not isinstance(num_threads, Integral):
        raise type_error("num_threads", "an integer or None", repr(num_threads))
    if not 1 <= int(num_threads) <= _MAX_THREADS:
        raise input_error("num_threads", f"from 1 to {_MAX_THREADS}", repr(num_threads))
    return int(num_threads)


def _state(problem: Problem, outcome: Outcome, labels: list[Label] | None) -> State:
    size = len(problem.values)
    by_group = [tuple(outcome.sums[i : i + size]) for i in range(0, len(outcome.sums), size)]
    totals = by_group[0]
    for sums in by_group[1:]:
        totals = tuple(one.plus(other) for one, other in zip(totals, sums, strict=True))
    return State(
        tuple(value.name for value in problem.values),
        problem.convention,
        problem.weights is not None,
        {"users": len(problem.truth), **outcome.counts},
        totals,
        None if labels is None else dict(zip(labels, by_group, strict=False)),
    )


def _warn(report: Report) -> None:
    """Say once what makes the numbers mean something else than they seem to."""
    sums = dict(zip(report.metrics, report.state.totals, strict=True))
    nobody = [name for name, one in sums.items() if one.users == 0]
    weightless = [name for name, one in sums.items() if report.state.weighted and one.users and not one.weight]
    excluded = report.counts["relevant_excluded"]
    messages = []
    if nobody:
        messages.append(f"no user was evaluated for {', '.join(nobody)}: NaN")
    if weightless:
        messages.append(f"all weights are 0 for {', '.join(weightless)}: NaN")
    if excluded:
        messages.append(f"{excluded} relevant items are in exclude; they stay in the truth as misses")
    for message in messages:
        warnings.warn(message, EvaluationWarning, stacklevel=_frames_of_metrik())


def _frames_of_metrik() -> int:
    """Return the stack level of the caller's own line, for a warning raised by our caller."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - the standard library's own way before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "metrik":
        level += 1
        frame = frame.f_back
    return level
