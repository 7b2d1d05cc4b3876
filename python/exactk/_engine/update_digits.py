"""The sums of updates as vectors of a fixed size, for processes that add them element by element.

They hold the state of the users, and what the warnings about it need.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from itertools import chain
from operator import add, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.chunks import Part
from exactk._engine.findings import ADDING, Findings, ItemUse, SystemFindings, plus
from exactk._engine.updates import Update, UpdateSums, sums_of_updates
from exactk._engine.warnings import Evaluated, warn_of
from exactk._plan.values import plan_item_tallies
from exactk._report.report import Report
from exactk._report.state_digits import NOTHING, StateLayout, TallyLayout, Vectors, has_fixed_size
from exactk._runtime.errors import StateMismatchError, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._engine.findings import Adding
    from exactk._engine.request import Request
    from exactk._plan.values import Value
    from exactk._report.state import State

_INSTEAD = "exactk.Evaluator takes them; torch.distributed.all_gather_object gathers evaluators, and merge adds them"
_PLAN_FIELDS = ("metrics", "convention", "catalogue", "custom_metrics")


def _added_numbers(record: tuple[Any, ...]) -> Iterator[int]:
    """Yield the numbers and flags of a record that are added."""
    for adding, value in zip(ADDING[type(record)], record, strict=True):
        if adding is plus:
            yield from _added_numbers(value)
        elif adding in {add, or_}:
            yield int(value)


def _largest_numbers(record: tuple[Any, ...]) -> Iterator[int]:
    """Yield the numbers of a record of which the largest is kept, and the negatives of those of which the least is."""
    for adding, value in zip(ADDING[type(record)], record, strict=True):
        if adding is plus:
            yield from _largest_numbers(value)
        elif adding in {min, max}:
            yield value if adding is max else -value


def _record_of(default: Any, added: Iterator[int], largest: Iterator[int]) -> Any:  # noqa: ANN401 - of any type
    """Return the record of such numbers; examples, which are texts, are not among them."""
    read: Mapping[Adding, Callable[[Any], Any]] = {
        plus: lambda value: _record_of(value, added, largest),
        add: lambda _: next(added),
        or_: lambda _: next(added) > 0,
        max: lambda _: next(largest),
        min: lambda _: -next(largest),
    }
    fields = zip(ADDING[type(default)], default, strict=True)
    return type(default)(*[read[adding](value) if adding in read else value for adding, value in fields])


_KEPT = SystemFindings(), ItemUse()
_OF_NOBODY = [*chain.from_iterable(map(_added_numbers, _KEPT))], [*chain.from_iterable(map(_largest_numbers, _KEPT))]
_NUM_COUNTS, _NUM_LARGEST = 1 + len(_OF_NOBODY[0]), len(_OF_NOBODY[1])  # one count is of updates with a truth


def check_fixed_size(values: Sequence[Value]) -> None:
    """Raise InputError if the sums of a value have no fixed size, or belong to users by key or position."""
    for value in values:
        if not has_fixed_size(value):
            raise input_error(
                "metrics", "metrics whose counts of items have a fixed size", value.spelling, hint=_INSTEAD
            )
        if value.needs.history:
            expected = "metrics that need no train data of each user"
            raise input_error("metrics", expected, value.spelling, hint=_INSTEAD)


def check_groups(groups: object) -> None:
    """Raise InputError if there are groups, whose number is not known."""
    if groups is not None:
        raise input_error(
            "groups", "None, as the number of groups is not known before", "groups of users", hint=_INSTEAD
        )


class UpdateLayout:
    """Which number stands where in the vectors of an evaluation's updates.

    The counts are those of the state, then those of the warnings. The largest numbers begin with the plan.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._of_nobody = sums_of_updates(request, UpdateSums())
        tallies = _tallies(request)
        weighted = None if tallies else UpdateSums().plus(request, Update([], [], weights=[])).state
        self._states = StateLayout(self._of_nobody.state, weighted, tallies)
        self._plan = _digest_of_plan(self._of_nobody.state)
        of_state = self._states.vectors(self._of_nobody.state)
        largest = np.full(len(of_state.largest), NOTHING, np.int64)
        self.empty = Vectors(
            np.zeros_like(of_state.digits),
            np.zeros(len(of_state.counts) + _NUM_COUNTS, np.int64),
            np.concatenate([self._plan, np.array(_OF_NOBODY[1], np.int64), largest]),
        )
        """The vectors of no updates."""

    def update(self, vectors: Vectors, update: Update) -> Vectors:
        """Evaluate some users; return their vectors alone. `vectors` are those of the users so far."""
        self._check(vectors)
        sums = UpdateSums(optional=self._optional(vectors)).plus(self._request, update)
        if sums.users.keys is not None:
            argument = "predictions" if update.truth is None else "truth"
            found = f"users of type {' and '.join(sums.users.keys.kinds)}"
            raise type_error(argument, "rows without user keys, of which no sum can be kept", found, hint=_INSTEAD)
        evaluated = sums.evaluated(self._request)
        warn_of(evaluated._replace(part=evaluated.part._replace(reports={})))  # of the truth: vectors hold no texts
        return self._vectors(sums)

    def report(self, vectors: Vectors) -> Report:
        """Return the report of all users whose vectors were added, and warn of their values."""
        self._check(vectors)
        optional = self._optional(vectors)
        if optional is None:
            return self._of_nobody.report(self._request)
        counts, size = vectors.counts.tolist(), len(vectors.counts) - _NUM_COUNTS
        with_truth, *of_warnings = counts[size:]
        updates = counts[0]
        if with_truth not in {0, updates}:
            found = f"a truth in {with_truth} of {updates}"
            raise StateMismatchError(f"truth: expected a truth in all updates or in none, found {found}", "truth")
        largest = vectors.largest[len(self._plan) :].tolist()
        state = self._states.state(Vectors(vectors.digits, vectors.counts[:size], vectors.largest[-3:]))
        added, most = iter(of_warnings), iter(largest[:_NUM_LARGEST])
        found, train = (_record_of(one, added, most) for one in _KEPT)
        report, within = Report(state), " of the same update"
        warn_of(
            Evaluated(Part({"": report}, Findings({"": found}, train=train)), self._request.convention, within=within)
        )
        return report

    def _optional(self, vectors: Vectors) -> dict[str, bool] | None:
        """Return which arguments the updates so far had; None before the first."""
        updates, with_weights = vectors.counts[:2].tolist()
        if not updates:
            return None
        return {"truth": bool(vectors.counts[-_NUM_COUNTS] > 0), "weights": with_weights > 0, "groups": False}

    def _vectors(self, sums: UpdateSums) -> Vectors:
        of_state, findings, optional = self._states.vectors(sums.state), sums.sums.findings, sums.optional
        assert optional is not None  # noqa: S101 - of an update
        kept = findings.systems[""], findings.train
        counts = [int(optional["truth"]), *chain.from_iterable(map(_added_numbers, kept))]
        largest = [*chain.from_iterable(map(_largest_numbers, kept))]
        return Vectors(
            of_state.digits,
            np.concatenate([of_state.counts, np.array(counts, np.int64)]),
            np.concatenate([self._plan, np.array(largest, np.int64), of_state.largest]),
        )

    def _check(self, vectors: Vectors) -> None:
        """Raise an error unless these are vectors of updates of this evaluation."""
        for found, expected in zip(vectors, self.empty, strict=True):
            if (found.dtype, found.shape) != (expected.dtype, expected.shape):
                hint = "another metric's state was loaded, or its type was changed"
                shapes = [f"{one.dtype} of shape {one.shape}" for one in (expected, found)]
                raise input_error("state", shapes[0], shapes[1], hint=hint)
        if not np.array_equal(vectors.largest[: len(self._plan)], self._plan):
            message = "state: expected sums of the same metrics, convention and items, found sums of others"
            raise StateMismatchError(message, "state")


def _tallies(request: Request) -> list[TallyLayout]:
    """Return the layouts of the item tallies, for the items of the catalogue."""
    plans = plan_item_tallies(request.values)
    if not plans or request.items is None:
        return []
    keys = request.items.keys
    ascending = tuple(sorted(keys.array.tolist())) if keys.integers is None else np.sort(keys.array.astype(np.int64))
    return [TallyLayout(tally_plan, ascending) for tally_plan in plans]


def _digest_of_plan(of_nobody: State) -> NDArray[np.int64]:
    """Return bytes that tell the plan from others, and the same negated: the larger ones are equal if all plans are.

    Bytes differ by a part in 256 at least, so that a comparison with a tolerance tells plans apart too.
    """
    plain = of_nobody.to_dict()
    text = json.dumps({name: plain[name] for name in _PLAN_FIELDS}, sort_keys=True)
    digest = np.frombuffer(blake2b(text.encode(), digest_size=16).digest(), np.uint8).astype(np.int64)
    return np.concatenate([digest, -digest])
