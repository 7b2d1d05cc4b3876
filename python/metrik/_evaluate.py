"""The one call: containers in, a report out. The only place where its defaults are written."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from metrik import _core
from metrik._conventions import Convention, as_convention
from metrik._errors import EvaluationWarning, input_error, type_error
from metrik._inputs import Exclude, Rankings, Truth, as_exclude, as_rankings, as_truth
from metrik._inputs.checks import number_array, plain_array
from metrik._metrics import Value, core_rules, plan
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


def core_engine(problem: Problem) -> Outcome:
    """Have the C++ core evaluate."""
    sums, counts, per_user = _core.evaluate(
        problem.truth.core,
        problem.truth.grades,
        problem.rankings.core,
        None if problem.exclude is None else problem.exclude.core,
        problem.weights,
        problem.groups,
        problem.group_count,
        [value.core for value in problem.values],
        core_rules(problem.convention.rules("")),
        problem.per_user,
        problem.num_threads,
    )
    return Outcome([Sums(*one) for one in sums], dict(counts), per_user)


class Options(TypedDict, total=False):
    """The keyword arguments of `evaluate`, for the type checker."""

    convention: Convention | str
    exclude: object
    weights: object
    groups: object
    per_user: bool
    num_threads: int | None


# A mapping is an object too: the first that fits counts.
@overload
def evaluate(  # type: ignore[overload-overlap]
    truth: object, predictions: Mapping[str, Any], metrics: str | Iterable[str], **options: Unpack[Options]
) -> Comparison: ...
@overload
def evaluate(
    truth: object, predictions: object, metrics: str | Iterable[str], **options: Unpack[Options]
) -> Report: ...
def evaluate(
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    *,
    convention: Convention | str = "standard",
    exclude: object = None,
    weights: object = None,
    groups: object = None,
    per_user: bool = False,
    num_threads: int | None = None,
) -> Report | Comparison:
    """Evaluate ranked lists against what the users found relevant.

    Parameters
    ----------
    truth : Truth, list of sequences, two-dimensional array, or None
        The relevant items of each user; see `metrik.as_truth`. None if `predictions` is an iterator.
    predictions : Rankings, list of sequences, two-dimensional array, mapping, or iterator
        The items recommended to each user, best first; see `metrik.as_rankings`. A mapping from a
        system's name to its predictions evaluates several systems on the same truth. An iterator
        yields (truth, predictions) of one block of users after another.
    metrics : str or iterable of str
        ``name[@k | @[k1,k2]][(parameter=value, ...)]``, such as ``"ndcg@10"``, ``"recall@[10,100]"``
        or ``"fbeta@10(beta=2)"``. In the parentheses may also stand fields of the convention. Without
        ``@k`` the whole list counts. ``metrik.metrics`` has the names; the field's aliases are accepted.
    convention : Convention or str
        The choices behind the names; ``metrik.conventions`` has the presets.
    exclude : Exclude, Truth, list of sequences, or two-dimensional array, optional
        Items that are taken out of each user's list before it is cut, such as training items.
    weights : array of float, shape (n_users,), optional
        Weights in the mean over users, from 0 to 2^256.
    groups : sequence of int, str or bool, length n_users, optional
        The group of each user: the report has the values of each.
    per_user : bool
        Whether to keep each user's values: 8 bytes a user and value.
    num_threads : int, optional
        By default as many as the CPU affinity and the cgroup's quota allow. No number changes a bit
        of the result.

    Returns
    -------
    Report, or Comparison for a mapping of systems

    Raises
    ------
    InputError, InputTypeError
        If an argument is not what it must be: which, what was expected, what came, where first.

    Warns
    -----
    EvaluationWarning
        If no user is evaluated, or relevant items are excluded.

    Examples
    --------
    >>> import metrik
    >>> truth = [[1, 4], [21], [7, 8, 9]]
    >>> predictions = [[1, 2, 3, 4, 5], [2, 21, 3], []]
    >>> metrik.evaluate(truth, predictions, ["precision@5", "recall@5", "ndcg@5"])
    metric        value     std  evaluated  skipped
    precision@5  0.2000  0.1633          3        0
    recall@5     0.6667  0.4714          3        0
    ndcg@5       0.5027  0.3694          3        0
    convention standard; 3 users, 1 empty predictions
    """
    return run(core_engine, truth, predictions, metrics, convention, exclude, weights, groups, per_user, num_threads)


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
    """Evaluate by the given engine: `metrik.evaluate` and `metrik.reference.evaluate` are this."""
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
