"""Predictions in batches: users are evaluated as they are complete, and nobody's rows are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.warnings import share_items
from exactk._inputs.alignment import AlignedInputs, align, in_item_vocabulary, match_users, with_user_keys
from exactk._inputs.batches import Batches, Block, Reader, Unsorted, blocks, of_rows
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Rows, Truth, reindex
from exactk._report.report import Report

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.evaluation import Evaluation
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.model.predictions import Predictions
    from exactk._report.state import State


def evaluate_batches(call: Evaluation, truth: Truth, batches: Batches) -> tuple[Report, bool]:
    """Evaluate block after block; the report is the same as of all rows at once.

    Return it, and whether an item of the truth was among the predictions.
    """
    by_key = [given for given in (call.weights, call.groups) if given is not None and not given.by_row]
    if by_key and call.convention.users not in {"truth", "both"}:  # those of users whom only all batches name
        case = call.case(truth, call.predictions(batches, truth))
        return call.whole(case), share_items(case)
    truth = with_user_keys(truth)
    assert truth.user_vocabulary is not None  # noqa: S101 - for the type checker
    call = _with_values_by_number(call, truth)
    known, excluded = Encoding(truth.user_vocabulary, truth.item_vocabulary, call.num_threads), None
    if call.exclude is not None:
        exclude = in_item_vocabulary(call.exclude, truth.item_vocabulary)
        users, excluded = match_users(truth.user_vocabulary, exclude, "exclude")
        call, known = (
            replace(call, exclude=exclude),
            Encoding(users, exclude.item_vocabulary or truth.item_vocabulary, call.num_threads),
        )
    reader = Reader(batches, call.columns, known)
    stream = _Stream(call, truth, excluded)
    try:
        for block in blocks(reader):
            stream.add(
                block._replace(rows=block.rows._replace(item_vocabulary=reader.items)),
                reader.users or truth.user_vocabulary,
            )
    except Unsorted:
        every = Reader(
            batches, call.columns, known._replace(users=truth.user_vocabulary)
        )  # without users of exclude alone
        case = call.case(truth, call.restrict(every.whole()))
        return call.whole(case), share_items(case)
    stream.add_rest(truth.user_vocabulary, scored=stream.scored)
    return stream.report(reader.users or truth.user_vocabulary), stream.items_shared


def _with_values_by_number(call: Evaluation, truth: Truth) -> Evaluation:
    """Return the call with weights and groups in the order of the truth: they are looked up by name once."""
    nothing = of_rows(Rows(np.zeros(1, np.int64), np.zeros(0, np.int64)))
    every = AlignedInputs(truth, nothing, None, len(truth))
    return replace(
        call,
        weights=call.weights and call.weights.by_number(every, call.convention),
        groups=call.groups and call.groups.by_number(every, call.convention),
    )


class _Stream:
    """What was found so far."""

    def __init__(self, call: Evaluation, truth: Truth, excluded: NDArray[np.int64] | None) -> None:
        self._call = call
        self._truth = truth
        self._excluded = excluded  # which row of exclude each user has
        self._state: State | None = None
        self._numbers: list[NDArray[np.uint32]] = []
        self._tables: list[NDArray[np.float64]] = []
        self.scored = False
        self.items_shared = False

    def add(self, block: Block, names: Vocabulary) -> None:
        """Evaluate some users."""
        predictions = self._call.restrict(of_rows(block.rows))
        self.scored = block.rows.scores is not None
        call = self._call
        if call.weights is not None:
            call = replace(call, weights=call.weights.of_users(block.users, call.convention))
        if call.groups is not None:
            call = replace(call, groups=call.groups.of_users(block.users, call.convention))
        case = replace(self._case(block, predictions), row_users=(names, block.users))
        if len(block.rows.items) and len(case.truth.items):
            self.items_shared = self.items_shared or share_items(case)
        report = call.whole(case)
        self._state = report.state if self._state is None else self._state.plus(report.state)
        self._numbers.append(block.users)
        self._tables += [] if report.table is None else [report.table]

    def _case(self, block: Block, predictions: Predictions) -> AlignedInputs:
        """Return the rows of these users, who need no names any more."""
        own = block.users.astype(np.int64)
        own[own >= len(self._truth)] = -1
        truth = Truth.from_rows(reindex(self._truth.rows(), own)._replace(users=None))
        exclude = self._call.exclude
        if exclude is not None and self._excluded is not None:
            rows = np.full(len(block.users), -1, np.int64)
            known = block.users < len(self._excluded)
            rows[known] = self._excluded[block.users[known]]
            exclude = Exclusions.from_rows(reindex(exclude.rows(), rows)._replace(users=None, present=None))
        return align(truth, predictions, exclude)

    def add_rest(self, names: Vocabulary, *, scored: bool) -> None:
        """Evaluate the users of the truth who were in no batch."""
        seen = np.zeros(len(self._truth), np.bool_)
        for numbers in self._numbers:
            seen[numbers[numbers < len(seen)]] = True
        users = np.flatnonzero(~seen).astype(np.uint32)
        if len(users) or self._state is None:
            indptr = np.zeros(len(users) + 1, np.int64)
            scores = np.zeros(0) if scored else None
            nothing = Rows(indptr, np.zeros(0, np.int64), present=np.zeros(len(users), np.bool_), scores=scores)
            self.add(Block(users, nothing), names)

    def report(self, names: Vocabulary) -> Report:
        """Return the report of all users: those of the truth first, in its order, then the others as they came."""
        assert self._state is not None  # noqa: S101 - the rest is a block
        numbers = np.concatenate(self._numbers)
        order = np.argsort(np.where(numbers < len(self._truth), numbers, len(self._truth)), kind="stable")
        users = names if np.array_equal(numbers[order], np.arange(len(names))) else names.array[numbers[order]]
        table = np.concatenate(self._tables, axis=1)[:, order] if self._tables else None
        return Report(self._state, users, table)
