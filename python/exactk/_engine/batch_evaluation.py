"""Predictions in batches: users are evaluated as they are complete, and nobody's rows are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.warnings import has_common_item
from exactk._inputs.alignment import AlignedInputs, align, in_item_vocabulary, match_users, with_user_keys
from exactk._inputs.batches import Batches, Block, Reader, UngroupedRows, predictions_from_rows, read_blocks
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Rows, Truth, reindex
from exactk._report.report import Report
from exactk._report.state import StateSums
from exactk._runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.evaluation import Evaluation
    from exactk._inputs.checks import Ids
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.model.predictions import Predictions


def evaluate_batches(evaluation: Evaluation, truth: Truth, batches: Batches) -> tuple[Report, bool]:
    """Return the report, the same as of all rows at once, and whether any item of the truth is among the predictions."""
    truth = with_user_keys(truth)
    assert truth.user_vocabulary is not None  # noqa: S101 - for the type checker
    users, items, exclude_rows = truth.user_vocabulary, truth.item_vocabulary, None
    if evaluation.exclude is not None:
        exclude = in_item_vocabulary(evaluation.exclude, items)
        users, exclude_rows = match_users(users, exclude, "exclude")
        evaluation, items = replace(evaluation, exclude=exclude), exclude.item_vocabulary or items
    encoding = Encoding(users, items, evaluation.num_threads)
    reader = Reader(batches, evaluation.columns, encoding)
    batch_evaluation = _BatchEvaluation(evaluation, truth, exclude_rows)
    blocks = read_blocks(reader)
    try:
        for block in blocks:
            try:
                batch_evaluation.add_block(
                    block._replace(rows=block.rows._replace(item_vocabulary=reader.item_vocabulary)),
                    reader.user_vocabulary or truth.user_vocabulary,
                )
            except InputError:
                for _ in blocks:  # raises if a user has more rows, which may have no fault with these
                    pass
                raise
    except UngroupedRows:
        all_rows = Reader(
            batches, evaluation.columns, encoding._replace(user_vocabulary=truth.user_vocabulary), again=True
        )  # without users of exclude alone
        inputs = evaluation.align(truth, all_rows.read_all())
        return evaluation.evaluate_all(inputs), has_common_item(inputs)
    all_users = reader.user_vocabulary or truth.user_vocabulary.fork()
    batch_evaluation.add_remaining_users(all_users, has_scores=batch_evaluation.has_scores)
    return batch_evaluation.report(all_users), batch_evaluation.has_shared_items


class _BatchEvaluation:
    """The users evaluated so far, and their sums."""

    def __init__(self, evaluation: Evaluation, truth: Truth, exclude_rows: NDArray[np.int64] | None) -> None:
        self._evaluation = evaluation
        self._truth = truth
        self._exclude_rows = exclude_rows  # which row of exclude each user has
        self._sums: StateSums | None = None
        self._codes: list[NDArray[np.uint32]] = []
        self._tables: list[NDArray[np.float64]] = []
        self._truth_items = np.unique(truth.items)  # of any user
        self._has_items = False  # any of the predictions
        self._has_match = False  # between items of any user's predictions and any user's truth
        self.has_scores = False

    @property
    def has_shared_items(self) -> bool:
        """Whether an item of the truth was in any list, or one side has no items: as `has_common_item` of all rows."""
        return self._has_match or not self._has_items or not len(self._truth_items)

    def add_block(self, block: Block, vocabulary: Vocabulary) -> None:
        """Evaluate some users; the vocabulary is extended by the first call."""
        if not self._codes:  # not earlier: without users in the truth, only the first batch says of what kind keys are
            self._evaluation = self._evaluation.encode_user_keys(vocabulary)
        predictions = predictions_from_rows(block.rows)
        self.has_scores = block.rows.scores is not None
        inputs = replace(self._align_block(block, predictions), row_users=(vocabulary, block.user_codes))
        self._has_items = self._has_items or len(block.rows.items) > 0
        self._has_match = self._has_match or self._has_truth_item(block.rows.items)
        report = self._evaluation.evaluate_all(inputs)
        if self._sums is None:
            self._sums = StateSums(report.state)
        else:
            self._sums.add(report.state)
        self._codes.append(block.user_codes)
        self._tables += [] if report.table is None else [report.table]

    def _has_truth_item(self, items: Ids) -> bool:
        """Return whether any user's truth has one of the items."""
        if not len(self._truth_items):
            return False
        ids = items.astype(np.int64)  # NumPy compares int64 and uint64 as floats
        slots = np.searchsorted(self._truth_items, ids)
        return bool((self._truth_items.take(slots, mode="clip") == ids).any())

    def _align_block(self, block: Block, predictions: Predictions) -> AlignedInputs:
        """Return the aligned rows of these users, which need no keys any more."""
        truth_rows = block.user_codes.astype(np.int64)
        truth_rows[truth_rows >= len(self._truth)] = -1
        truth = Truth.from_rows(reindex(self._truth.rows(), truth_rows)._replace(user_vocabulary=None))
        exclude = self._evaluation.exclude
        if exclude is not None and self._exclude_rows is not None:
            rows = np.full(len(block.user_codes), -1, np.int64)
            has_row = block.user_codes < len(self._exclude_rows)
            rows[has_row] = self._exclude_rows[block.user_codes[has_row]]
            exclude = Exclusions.from_rows(reindex(exclude.rows(), rows)._replace(user_vocabulary=None, present=None))
        return align(truth, predictions, exclude)

    def add_remaining_users(self, vocabulary: Vocabulary, *, has_scores: bool) -> None:
        """Evaluate the users of the truth who were in no batch."""
        seen = np.zeros(len(self._truth), np.bool_)
        for users in self._codes:
            seen[users[users < len(seen)]] = True
        users = np.flatnonzero(~seen).astype(np.uint32)
        if len(users) or self._sums is None:
            indptr = np.zeros(len(users) + 1, np.int64)
            scores = np.zeros(0) if has_scores else None
            empty = Rows(indptr, np.zeros(0, np.int64), present=np.zeros(len(users), np.bool_), scores=scores)
            self.add_block(Block(users, empty), vocabulary)

    def report(self, vocabulary: Vocabulary) -> Report:
        """Return the report of all users: those of the truth first, in its order, then the others as they came."""
        assert self._sums is not None  # noqa: S101 - the remaining users are a block
        codes = np.concatenate(self._codes)
        order = np.argsort(np.where(codes < len(self._truth), codes, len(self._truth)), kind="stable")
        is_in_order = np.array_equal(codes[order], np.arange(len(vocabulary)))
        users = vocabulary if is_in_order else vocabulary.array[codes[order]]
        table = np.concatenate(self._tables, axis=1)[:, order] if self._tables else None
        return Report(self._sums.state(), users, table)
