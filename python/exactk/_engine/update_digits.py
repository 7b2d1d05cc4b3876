"""The sums of updates as vectors of a fixed size, for processes that add them element by element.

They hold the state of the users, and what the warnings about it need.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.block_sums import BlockSums
from exactk._engine.column_warnings import RatingScale
from exactk._engine.exclusion_use import CandidateUse
from exactk._engine.sampled_candidates import NO_ROWS
from exactk._engine.updates import Update, UpdateSums, sums_of_updates
from exactk._engine.warnings import tie_bounds, warn_of_evaluated_systems
from exactk._inputs.readings import NO_READINGS
from exactk._plan.item_tallies import plan_item_tallies
from exactk._report.state_digits import NOTHING, StateLayout, TallyLayout, Vectors, has_fixed_size
from exactk._runtime.errors import StateMismatchError, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._engine.evaluation import Evaluation
    from exactk._plan.values import Value
    from exactk._report.report import Report
    from exactk._report.state import State

_INSTEAD = "exactk.Evaluator takes them; torch.distributed.all_gather_object gathers evaluators, and merge adds them"
_PLAN_FIELDS = ("metrics", "convention", "catalogue", "custom_metrics")
_NUM_COUNTS, _NUM_LARGEST = 16 + len(NO_READINGS), 8


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

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._of_nobody = sums_of_updates(evaluation, UpdateSums())
        tallies = _tallies(evaluation)
        weighted = None if tallies else UpdateSums().plus(evaluation, Update([], [], weights=[])).state
        self._states = StateLayout(self._of_nobody.state, weighted, tallies)
        self._plan = _digest_of_plan(self._of_nobody.state)
        of_state = self._states.vectors(self._of_nobody.state)
        largest = np.full(len(of_state.largest) + _NUM_LARGEST, NOTHING, np.int64)
        self.empty = Vectors(
            np.zeros_like(of_state.digits),
            np.zeros(len(of_state.counts) + _NUM_COUNTS, np.int64),
            np.concatenate([self._plan, largest]),
        )
        """The vectors of no updates."""

    def update(self, vectors: Vectors, update: Update) -> Vectors:
        """Evaluate some users; return their vectors alone. `vectors` are those of the users so far."""
        self._check(vectors)
        sums = UpdateSums(optional=self._optional(vectors)).plus(self._evaluation, update)
        if sums.users.keys is not None:
            argument = "predictions" if update.truth is None else "truth"
            found = f"users of type {' and '.join(sums.users.keys.kinds)}"
            raise type_error(argument, "rows without user keys, of which no sum can be kept", found, hint=_INSTEAD)
        return self._vectors(sums)

    def report(self, vectors: Vectors) -> Report:
        """Return the report of all users whose vectors were added, and warn of their values."""
        self._check(vectors)
        optional = self._optional(vectors)
        if optional is None:
            return self._of_nobody.report(self._evaluation)
        counts, size = vectors.counts.tolist(), len(vectors.counts) - _NUM_COUNTS
        with_truth, *of_warnings = counts[size:]
        updates = counts[0]
        if with_truth not in {0, updates}:
            found = f"a truth in {with_truth} of {updates}"
            raise StateMismatchError(f"truth: expected a truth in all updates or in none, found {found}", "truth")
        largest = vectors.largest[len(self._plan) :].tolist()
        state = self._states.state(Vectors(vectors.digits, vectors.counts[:size], vectors.largest[-3:]))
        return self._report(state, of_warnings, largest, updates)

    def _report(self, state: State, counts: list[int], largest: list[int], updates: int) -> Report:
        counts, readings = counts[: -len(NO_READINGS)], counts[-len(NO_READINGS) :]
        has_hit, complete, has_shared_item, *of_use, truth_items, list_items = counts[:-4]
        emptied, with_candidates, *of_exclusions = of_use
        fewest, *largest_of_rows = largest[:_NUM_LARGEST]
        shared_items: tuple[Any, ...] = (has_shared_item > 0, fewest, [truth_items, list_items], [], [])
        use = tuple(CandidateUse(emptied > 0, with_candidates > 0)), readings
        system = (state, has_hit > 0, complete == updates, shared_items, _rows(counts[-4:], largest_of_rows), use)
        flags, ratings = (False, [count > 0 for count in of_exclusions]), (None, RatingScale())
        sums = BlockSums.from_plain((state.counts.users, {"": system}, flags, ratings))
        evaluated = sums.evaluated_systems(None, self._evaluation.convention, within=" of the same update")
        report = evaluated[""].report
        warn_of_evaluated_systems(self._evaluation.values, evaluated, tie_bounds(report))
        return report

    def _optional(self, vectors: Vectors) -> dict[str, bool] | None:
        """Return which arguments the updates so far had; None before the first."""
        updates, with_weights = vectors.counts[:2].tolist()
        if not updates:
            return None
        return {"truth": bool(vectors.counts[-_NUM_COUNTS] > 0), "weights": with_weights > 0, "groups": False}

    def _vectors(self, sums: UpdateSums) -> Vectors:
        (_, systems, (_, exclusions), _), _, _, optional = sums.to_plain()
        ((state, has_hit, is_complete, shared_items, rows, (candidates, readings)),) = systems.values()
        has_shared_item, fewest, (truth_items, list_items), _, _ = shared_items
        of_rows, largest_of_rows = _numbers_of_rows(rows)
        flags = map(int, (optional["truth"], has_hit, is_complete, has_shared_item, *candidates[:2], *exclusions[:4]))
        of_state = self._states.vectors(state)
        counts, largest = [*flags, truth_items, list_items, *of_rows, *readings], [fewest, *largest_of_rows]
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


def _tallies(evaluation: Evaluation) -> list[TallyLayout]:
    """Return the layouts of the item tallies, for the items of the catalogue."""
    plans = plan_item_tallies(evaluation.values)
    if not plans or evaluation.items is None:
        return []
    keys = evaluation.items.keys
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


def _numbers_of_rows(rows: tuple[Any, ...] | None) -> tuple[list[int], list[int]]:
    """Return what is added of `CandidateRows`, and of what the larger is kept."""
    if rows is None:
        return [1, 0, 0, 0], [NOTHING] * 7
    users, fewest, most, fewest_irrelevant, most_irrelevant, compared, distinct, items, column = rows
    if not users:
        return [0] * 4, [NOTHING] * 7
    column = -1 if column is None else column
    return [0, users, compared, distinct], [-fewest, most, -fewest_irrelevant, most_irrelevant, items, column, -column]


def _rows(added: list[int], largest: list[int]) -> tuple[Any, ...] | None:
    """Return the `CandidateRows` of all users; None if they certainly are no samples."""
    without_rows, users, compared, distinct = added
    fewest, most, fewest_irrelevant, most_irrelevant, items, column, lowest_column = largest
    if without_rows or (users and column != -lowest_column):
        return None
    if not users:
        return tuple(NO_ROWS)
    of_users = (users, -fewest, most, -fewest_irrelevant, most_irrelevant, compared, distinct, items)
    return (*of_users, None if column < 0 else column)
