"""Evaluation of users who come in updates, such as the batches of a training loop."""

from __future__ import annotations

from contextlib import nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.blocks import check_row_arguments, chunk_of_block, empty_block, of_rows
from exactk._engine.chunks import Part, PartSums
from exactk._engine.evaluation import evaluate_chunk
from exactk._engine.findings import Findings
from exactk._engine.inspection import ItemsApart, find_in_system
from exactk._engine.outcomes import evaluate_plainly
from exactk._engine.problem import KeyedTruth
from exactk._engine.request import Given, Request
from exactk._engine.short_ways import small_inputs
from exactk._engine.systems import ONE_SYSTEM
from exactk._engine.warnings import Evaluated, warn_of
from exactk._inputs.alignment import without_truth
from exactk._inputs.keys.vocabulary import KIND_HINT, Snapshot, Vocabulary, vocabulary_of_labels
from exactk._inputs.long_format import Encoding
from exactk._inputs.metric_inputs import (
    check_base_is_not_read,
    check_collection_values,
    check_item_groups,
    check_truth_is_not_read,
    with_item_groups,
)
from exactk._inputs.readings import check_not_truth
from exactk._inputs.registry import BLOCKS, as_candidate_items, classify, open_path
from exactk._inputs.values_by_user import Groups, Weights
from exactk._plan.conventions import with_complete_hint
from exactk._report.report import Report
from exactk._report.state import check_label_types, check_same_plan
from exactk._runtime.errors import ExactkError, StateMismatchError, input_error, type_error
from exactk._runtime.faults import Option
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from exactk._engine.problem import Engine
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Plan
    from exactk._report.state import State


_WITHOUT_KEYS = "rows without user keys"
_REPEATED_HINT = "reset() forgets the users so far; users of the predictions count too"


class UpdateUsers(NamedTuple):
    """The users so far: their keys, or none."""

    size: int = 0
    keys: Snapshot | None = None

    def plus(self, users: Snapshot | NDArray[Any] | None, count: int, argument: str) -> UpdateUsers:
        """Return the users so far and those of an update, which the argument names; raise InputError if one is in both.

        An update without users does not fix the kind of keys.
        """
        if isinstance(users, np.ndarray):
            users = vocabulary_of_labels(users, argument).snapshot()
        if not count:
            return self
        if self.size:
            found, expected = _kind_of_keys(users), _kind_of_keys(self.keys)
            if found != expected:
                hint = KIND_HINT if users is not None and self.keys is not None else ""
                raise type_error(argument, f"{expected}, as in earlier updates", found, hint=hint)
            if (user := self._shared_user(users)) is not None:
                raise input_error(argument, "each user in one update", f"{user} in several", hint=_REPEATED_HINT)
        return self._joined(users, count)

    def merged(self, other: UpdateUsers) -> UpdateUsers:
        """Return the users of two evaluators; raise StateMismatchError if a user is in both."""
        if not self.size or not other.size:
            return self._joined(other.keys, other.size) if other.size else self
        found, expected = _kind_of_keys(other.keys), _kind_of_keys(self.keys)
        if found == expected and (user := self._shared_user(other.keys)) is not None:
            found, expected = f"{user} in both", "evaluators without a user in common"
        if found != expected:
            message = f"other: expected {expected}, found {found}"
            raise StateMismatchError(message, "other")
        return self._joined(other.keys, other.size)

    def copy(self) -> UpdateUsers:
        """Return users of another vocabulary, which another thread may extend at the same time."""
        return self if self.keys is None else self._replace(keys=self.keys.copy().snapshot())

    def _shared_user(self, users: Snapshot | None) -> str | None:
        """Return the first user who is among those so far, as a message shows it."""
        if users is None or self.keys is None:
            return None
        is_shared = self.keys.find(users, "truth") >= 0
        return users.repr_of(int(np.argmax(is_shared))) if is_shared.any() else None

    def _joined(self, users: Snapshot | None, count: int) -> UpdateUsers:
        if users is None:
            return UpdateUsers(self.size + count)
        if self.keys is None:
            vocabulary = Vocabulary.of_kinds(users.kinds, users.vocabulary.labels)
        elif len(self.keys) == len(self.keys.vocabulary):
            vocabulary = self.keys.vocabulary
        else:  # others have added keys, as an update that failed afterwards
            vocabulary = self.keys.copy()
        vocabulary.extend(users, "truth")
        return UpdateUsers(self.size + count, vocabulary.snapshot())

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`."""
        return self.size, None if self.keys is None else self.keys.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> UpdateUsers:
        """Return the users that `to_plain` described."""
        count, keys = plain
        return cls(count, None if keys is None else Snapshot.from_plain(keys))


def _kind_of_keys(keys: Snapshot | None) -> str:
    """Return what the keys are, for messages."""
    if keys is None:
        return _WITHOUT_KEYS
    if len(keys.kinds) == 1:
        return f"users of type {keys.kinds[0]}"
    parts = zip(keys.vocabulary.labels, keys.kinds, strict=True)
    return f"users of type {' and '.join(f'{kind} ({label!r})' for label, kind in parts)}"


_COLUMNS: ColumnNames = {"user": None, "item": None, "score": None, "rank": None, "grade": None}


class Update(NamedTuple):
    """The arguments of an update."""

    truth: object
    predictions: object
    exclude: object = None
    candidates: object = None
    weights: object = None
    groups: object = None

    @property
    def optional(self) -> dict[str, bool]:
        """Which arguments are given, of those that all updates have or none."""
        optional = {"truth": self.truth, "weights": self.weights, "groups": self.groups}
        return {name: argument is not None for name, argument in optional.items()}


class UpdateSums(NamedTuple):
    """What is kept of the updates so far. It never changes, so that an update that fails leaves it as it was."""

    sums: PartSums = PartSums()
    users: UpdateUsers = UpdateUsers()
    optional: dict[str, bool] | None = None  # as in the updates; None before the first

    def plus(self, request: Request, update: Update) -> UpdateSums:
        """Return these sums and those of an update."""
        shortly = self._plus_shortly(request, update)
        if shortly is not None:
            return shortly
        classified = classify(update.predictions, "predictions")
        try:
            if classified.container is BLOCKS:
                hint = "exactk.evaluate(None, predictions, metrics) reads an iterator of blocks"
                raise type_error("predictions", "the predictions of some users", "an iterator", hint=hint)
            self._check_optional(update)
            if update.truth is None:
                check_truth_is_not_read(request.values)
            with without_truth("predictions") if update.truth is None else nullcontext():
                return self._plus_block(request, update)
        except ExactkError as error:
            complete = with_complete_hint(_naming_columns(error), request.convention, request.values)
            raise ONE_SYSTEM.amended(complete, classified, request.values) from error.__cause__

    def _plus_shortly(self, request: Request, update: Update) -> UpdateSums | None:
        """Return the sums if this is not the first update, and one that takes the short way of small inputs.

        None otherwise, and wherever an error may be raised, so that each message is made in one place.
        """
        if not self.sums.systems or request.items is not None or not request.values.reads_hits_alone:
            return None
        if self.optional != update.optional or any(value is not None for value in update[2:]) or update.truth is None:
            return None
        try:
            inputs = small_inputs(update.truth, update.predictions)
            if inputs is None or inputs.truth.columns.grade is not None:
                return None
            sums = self.sums.copy()
            sums.add(_part_of_unkeyed(request, inputs, sums.findings))
            return self._replace(sums=sums, users=self.users.plus(None, len(inputs.truth), "truth"))
        except ExactkError:
            return None

    def _check_optional(self, update: Update) -> None:
        """Raise InputTypeError unless the truth, weights and groups are given as in earlier updates."""
        for name, is_given in update.optional.items():
            if self.optional is not None and is_given != self.optional[name]:
                kinds = ("None", name if name == "truth" else f"{name} of users")
                expected, found = kinds[not is_given], kinds[is_given]
                raise type_error(name, f"{expected}, as in earlier updates", found)

    def _plus_block(self, request: Request, update: Update) -> UpdateSums:
        check_collection_values(request.values, update.weights)
        candidates = classify(open_path(update.candidates, "candidates", _COLUMNS), "candidates")
        request = request._replace(
            candidates=as_candidate_items(candidates, _COLUMNS),
            weights=None if update.weights is None else Weights.from_argument(update.weights, _COLUMNS),
            groups=None if update.groups is None else Groups.from_argument(update.groups, _COLUMNS),
            encoding=Encoding(request.num_threads),
            has_truth=update.truth is not None,
        )
        systems = ONE_SYSTEM.systems(classify(update.predictions, "predictions"))
        check_not_truth(update.truth, [("predictions", systems[""].value), ("exclude", update.exclude)], _COLUMNS)
        exclude = classify(update.exclude, "exclude")
        request = request.reading(Given(systems, classify(update.truth, "truth"), exclude, candidates))
        sums = self.sums.copy()
        request, chunk = chunk_of_block(request, sums, _of_users_of_update)
        part = evaluate_chunk(request, chunk, sums.findings)
        sums.add(part.without_users())
        argument = "predictions" if update.truth is None else "truth"
        users = self.users.plus(part.users, part.rows if part.users is None else len(part.users), argument)
        return UpdateSums(sums, users, update.optional)

    def merged(self, request: Request, other: UpdateSums, other_request: Request) -> UpdateSums:
        """Return these sums and those of another evaluator; raise StateMismatchError unless their plans are equal."""
        check_same_plan(_without_users(request).state, _without_users(other_request).state, "other")
        if request.histories is not None and request.histories.users is None:
            message = "other: expected train with user keys, found rows, which are of the users of one evaluator"
            raise StateMismatchError(message, "other")
        if other.optional is None:
            return self
        if self.optional is None:
            return other._replace(users=other.users.copy())
        for name, is_given in other.optional.items():
            if is_given != self.optional[name]:
                words = ("without", "with")
                expected, found = (f"updates {words[one]} {name}" for one in (self.optional[name], is_given))
                raise StateMismatchError(f"other: expected {expected}, found {found}", "other")
        check_label_types([self.state.groups, other.state.groups], "other")
        users = self.users.merged(other.users)
        sums = PartSums()
        sums.add(self.sums.part() + other.sums.part())
        return UpdateSums(sums, users, self.optional)

    @property
    def state(self) -> State:
        """The state of all users, of whom there is an update."""
        return self.sums.part().report.state

    def report(self, request: Request) -> Report:
        """Return the report of all users, and warn of their values."""
        check_row_arguments(request, self.sums.rows)
        evaluated = self.evaluated(request)
        warn_of(evaluated)
        return evaluated.part.report

    def evaluated(self, request: Request) -> Evaluated:
        """Return the report of all users, with what was found in all updates."""
        part = self.sums.part()
        reports = {name: Report(report.state, self.users.keys) for name, report in part.reports.items()}
        return Evaluated(part._replace(reports=reports), request.convention, names_columns=CONVERSIONS["truth"])

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`."""
        return self.sums.part().to_plain(), self.users.to_plain(), self.optional

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> UpdateSums:
        """Return the sums that `to_plain` described."""
        part, users, optional = plain
        sums = PartSums()
        sums.add(Part.from_plain(part))
        return cls(sums, UpdateUsers.from_plain(users), optional)


def _of_users_of_update(request: Request, users: range) -> Request:
    """Return the request of an update's users, whose candidates, weights and groups are the update's own."""
    of_rows(request._replace(candidates=None, weights=None, groups=None), users)  # raises if train has too few
    return request._replace(block=users)


def _part_of_unkeyed(request: Request, inputs: AlignedInputs, earlier: Findings) -> Part:
    """Return the part of users without keys, exclusions and columns."""
    keyed = KeyedTruth(inputs.truth, None, None)
    _, report = evaluate_plainly(request.engine, inputs, keyed, request.values, request.convention, request.num_threads)
    found = find_in_system(inputs, report, earlier=earlier.systems[""])
    items = None if found.shares_item else ItemsApart.of_chunk(inputs.truth, inputs.predictions)
    findings = Findings({"": found}, chunks=1)
    return Part({"": report}, findings, len(inputs.truth), items_apart={"": items})


CONVERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "truth": "exactk.as_truth(truth, {})",
        "predictions": "exactk.as_predictions(predictions, {})",
        "exclude": "exactk.as_exclusions(exclude, {})",
        "candidates": "exactk.as_exclusions(candidates, {})",
    }
)
"""The calls that name columns of data frames, for hints, where an update does not."""


def _naming_columns(error: ExactkError) -> ExactkError:
    """Return the error with hints for an update, no argument of which names columns of data frames."""
    columns = [part for part in error.fault.hint if isinstance(part, Option) and part.name in _COLUMNS]
    if not columns:
        return error
    call = CONVERSIONS.get((error.argument or "").partition(".")[0])
    if call is None:  # of weights and groups
        return error.amended(hint=(f"rename it {columns[0].name!r}",))
    hint = [
        part._replace(call=call) if isinstance(part, Option) and part in columns else part for part in error.fault.hint
    ]
    return error.amended(hint=tuple(hint))


def sums_of_updates(request: Request, sums: UpdateSums) -> UpdateSums:
    """Return the sums; before any update, those of no users."""
    return _without_users(request) if sums.optional is None else sums


def _without_users(request: Request) -> UpdateSums:
    return UpdateSums().plus(request, Update(*empty_block(request)))


def request_of_updates(
    engine: Engine,
    values: Plan,
    convention: Convention,
    table: CanonicalItems | None,
    num_threads: int | None,
) -> Request:
    """Return the request that all updates share; raise InputError if updates cannot give what a metric needs."""
    check_collection_values(values)
    check_item_groups(values, table)
    values = with_item_groups(values, table)
    check_base_is_not_read(values)
    threads, progress = resolve_threads(num_threads), Progress(progress=False)
    return Request(engine, values, convention, threads, progress, _COLUMNS, Encoding(), items=table)
