"""Predictions in batches: users are evaluated as they are complete, and nobody's rows are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs import Exclude, Known, Predictions, Truth
from exactk._inputs.alignment import Aligned, aligned, named, numbered, of_catalogue
from exactk._inputs.batches import Batches, Block, Reader, Unsorted, blocks, of_rows
from exactk._inputs.canonical import Rows, taken
from exactk._report import Report
from exactk._warnings import share_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._call import Call
    from exactk._inputs.names import Names
    from exactk._state import State


def streamed(call: Call, truth: Truth, batches: Batches) -> tuple[Report, bool]:
    """Evaluate block after block; the report is the same as of all rows at once.

    Return it, and whether an item of the truth was among the predictions.
    """
    by_key = [given for given in (call.weights, call.groups) if given is not None and not given.by_row]
    if by_key and call.convention.users not in {"truth", "both"}:  # those of users whom only all batches name
        case = call.case(truth, call.predictions(batches, truth))
        return call.whole(case), share_items(case)
    truth = named(truth)
    assert truth.names is not None  # noqa: S101 - for the type checker
    call = _with_values_by_number(call, truth)
    known, excluded = Known(truth.names, truth.catalogue, call.num_threads), None
    if call.exclude is not None:
        exclude = of_catalogue(call.exclude, truth.catalogue)
        users, excluded = numbered(truth.names, exclude, "exclude")
        call, known = (
            replace(call, exclude=exclude),
            Known(users, exclude.catalogue or truth.catalogue, call.num_threads),
        )
    reader = Reader(batches, call.columns, known)
    stream = _Stream(call, truth, excluded)
    try:
        for block in blocks(reader):
            stream.add(block._replace(rows=block.rows._replace(catalogue=reader.items)), reader.users or truth.names)
    except Unsorted:
        every = Reader(batches, call.columns, known._replace(users=truth.names))  # without users of exclude alone
        case = call.case(truth, call.settled(every.whole()))
        return call.whole(case), share_items(case)
    stream.add_rest(truth.names, scored=stream.scored)
    return stream.report(reader.users or truth.names), stream.items_shared


def _with_values_by_number(call: Call, truth: Truth) -> Call:
    """Return the call with weights and groups in the order of the truth: they are looked up by name once."""
    nothing = of_rows(Rows(np.zeros(1, np.int64), np.zeros(0, np.int64)))
    every = Aligned(truth, nothing, None, len(truth))
    return replace(
        call,
        weights=call.weights and call.weights.by_number(every, call.convention),
        groups=call.groups and call.groups.by_number(every, call.convention),
    )


class _Stream:
    """What was found so far."""

    def __init__(self, call: Call, truth: Truth, excluded: NDArray[np.int64] | None) -> None:
        self._call = call
        self._truth = truth
        self._excluded = excluded  # which row of exclude each user has
        self._state: State | None = None
        self._numbers: list[NDArray[np.uint32]] = []
        self._tables: list[NDArray[np.float64]] = []
        self.scored = False
        self.items_shared = False

    def add(self, block: Block, names: Names) -> None:
        """Evaluate some users."""
        predictions = self._call.settled(of_rows(block.rows))
        self.scored = block.rows.scores is not None
        call = self._call
        if call.weights is not None:
            call = replace(call, weights=call.weights.of_users(block.users, call.convention))
        if call.groups is not None:
            call = replace(call, groups=call.groups.of_users(block.users, call.convention))
        case = replace(self._case(block, predictions), whose=(names, block.users))
        if len(block.rows.items) and len(case.truth.items):
            self.items_shared = self.items_shared or share_items(case)
        report = call.whole(case)
        self._state = report.state if self._state is None else self._state.plus(report.state)
        self._numbers.append(block.users)
        self._tables += [] if report.table is None else [report.table]

    def _case(self, block: Block, predictions: Predictions) -> Aligned:
        """Return the rows of these users, who need no names any more."""
        own = block.users.astype(np.int64)
        own[own >= len(self._truth)] = -1
        truth = Truth.from_rows(taken(self._truth.rows(), own)._replace(users=None))
        exclude = self._call.exclude
        if exclude is not None and self._excluded is not None:
            rows = np.full(len(block.users), -1, np.int64)
            known = block.users < len(self._excluded)
            rows[known] = self._excluded[block.users[known]]
            exclude = Exclude.from_rows(taken(exclude.rows(), rows)._replace(users=None, present=None))
        return aligned(truth, predictions, exclude)

    def add_rest(self, names: Names, *, scored: bool) -> None:
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

    def report(self, names: Names) -> Report:
        """Return the report of all users: those of the truth first, in its order, then the others as they came."""
        assert self._state is not None  # noqa: S101 - the rest is a block
        numbers = np.concatenate(self._numbers)
        order = np.argsort(np.where(numbers < len(self._truth), numbers, len(self._truth)), kind="stable")
        users = names if np.array_equal(numbers[order], np.arange(len(names))) else names.array[numbers[order]]
        table = np.concatenate(self._tables, axis=1)[:, order] if self._tables else None
        return Report(self._state, users, table)
