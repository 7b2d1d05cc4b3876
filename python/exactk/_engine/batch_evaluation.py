"""Evaluation of predictions in batches: each user is evaluated once complete, and the rows are then freed."""

from __future__ import annotations

from contextlib import closing, nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.chunks import Chunk, PartSums
from exactk._engine.evaluation import evaluate_chunk
from exactk._engine.inspection import share_item
from exactk._engine.problem import KeyedTruth
from exactk._inputs.alignment import ARGUMENT, Alignment, truth_without_items, with_user_keys
from exactk._inputs.base_predictions import base_in_shared_vocabularies
from exactk._inputs.batches import Batches, Block, Partitions, Reader, UngroupedRows, read_blocks
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.truth import Truth
from exactk._report.report import Report
from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.threads import read_ahead

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.chunks import Part
    from exactk._engine.request import Request
    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.vocabulary import Vocabulary


def evaluate_batches(request: Request, truth: Truth | Rows, name: str, batches: Batches) -> Part:
    """Evaluate a system in batches; return what is equal to the part of all rows at once, but for examples in warnings."""
    truth = with_user_keys(truth.rows() if isinstance(truth, Truth) else truth, request.encoding.users)
    exclude = request.exclusions_in_shared_vocabularies()
    base = base_in_shared_vocabularies(request.base, request.encoding)
    for argument, rows in (("exclude", exclude), (ARGUMENT, base)):
        if rows is not None:
            _check_kinds(rows, argument, request.encoding)
    reader = Reader(batches, request.columns, request.encoding)
    sums = _BatchSums(request, truth, name, exclude, base)
    try:
        _add_blocks(sums, reader)
    except UngroupedRows as finding:
        if not batches.is_of_files:  # frames of the caller's, which may be in memory
            return _evaluate_at_once(request, truth, name, batches, least_rows=reader.row_count)
        reader.warn_of_ungrouped_rows(finding.user)
        return _evaluate_partitions(request, truth, name, batches, least_rows=reader.row_count)
    return sums.part(reader.user_vocabulary)


def _add_blocks(sums: _BatchSums, reader: Reader) -> None:
    """Evaluate all blocks. Raise UngroupedRows if a user's rows are not contiguous, even if an earlier block has a fault."""
    with closing(read_blocks(reader)) as blocks:  # ends the thread that reads ahead, whatever is raised
        for block in blocks:
            rows = block.rows._replace(item_vocabulary=reader.item_keys)
            try:
                sums.add_block(block._replace(rows=rows), reader.user_vocabulary)
            except InputError:
                for _ in blocks:  # raises UngroupedRows if a user has more rows, with which the user may be valid
                    pass
                raise


def _check_kinds(rows: Rows, argument: str, encoding: Encoding) -> None:
    """Raise InputTypeError if the keys of the rows and of the truth can never match."""
    if rows.item_vocabulary is not None and len(rows.item_vocabulary):
        encoding.items.check_kinds(rows.item_vocabulary.kinds, argument, "items")
    if rows.user_vocabulary is None:
        hint = f"{argument}=dict(zip(users, {argument})) adds them"
        raise type_error(argument, "user keys, as in the truth", "rows without user keys", hint=hint)
    if len(rows.user_vocabulary):
        encoding.users.check_kinds(rows.user_vocabulary.kinds, argument)


def _evaluate_partitions(request: Request, truth: Rows, name: str, batches: Batches, *, least_rows: int) -> Part:
    """Evaluate ungrouped batches some users at a time, from a temporary file of their rows."""
    request, truth = _encoded_anew(request, truth)
    make_reader = partial(Reader, batches, request.columns, request.encoding, again=True)
    with Partitions(make_reader, request.num_threads) as partitions:
        partitions.copy_rows()
        _check_row_count(partitions.reader, least_rows)
        exclude = request.exclusions_in_shared_vocabularies()
        base = base_in_shared_vocabularies(request.base, request.encoding)
        sums = _BatchSums(request, truth, name, exclude, base)
        with closing(read_ahead(partitions.blocks())) as blocks:
            for block in blocks:
                sums.add_block(block, partitions.reader.user_vocabulary)
        return sums.part(partitions.reader.user_vocabulary, by_code=True)


def _encoded_anew(request: Request, truth: Rows) -> tuple[Request, Rows]:
    """Return both with vocabularies of users who are in the truth, so that others follow in order of appearance."""
    assert truth.user_vocabulary is not None  # noqa: S101 - with_user_keys
    encoding = Encoding(request.num_threads, items=request.encoding.items)
    truth = truth._replace(user_vocabulary=encoding.users.begin_with(truth.user_vocabulary))
    return request._replace(encoding=encoding), truth


def _check_row_count(reader: Reader, least_rows: int) -> None:
    if reader.row_count < least_rows:
        found = f"{reader.row_count} rows after {least_rows} or more"
        raise input_error("source", "the same frames in each call", found)


def _evaluate_at_once(request: Request, truth: Rows, name: str, batches: Batches, *, least_rows: int) -> Part:
    """Evaluate ungrouped batches at once: users of the truth first, then the others in order of appearance."""
    request, truth = _encoded_anew(request, truth)
    encoding = request.encoding
    reader = Reader(batches, request.columns, encoding, again=True)
    predictions = reader.read_all()
    _check_row_count(reader, least_rows)
    if not request.has_truth:
        truth = truth_without_items([predictions], encoding.users)
    exclude = request.exclusions_in_shared_vocabularies()
    base = base_in_shared_vocabularies(request.base, encoding)
    alignment = Alignment(truth, [predictions], exclude, encoding, base)
    return evaluate_chunk(
        request,
        Chunk(
            alignment,
            {name: predictions},
            request.exclude,
            truth,
            naming_system=nullcontext,
            describe_inputs=request.describe_odd_items,
        ),
    )


class _BatchSums:
    """The users evaluated so far, and their sums."""

    def __init__(self, request: Request, truth: Rows, name: str, exclude: Rows | None, base: Rows | None) -> None:
        self._request, self._name = request, name
        self._truth, self._exclude, self._base = truth, exclude, base
        self._vocabulary: Vocabulary | None = None  # of the users
        self._sums = PartSums()
        self._codes: list[NDArray[np.uint32]] = []
        self._has_scores = False

    def add_block(self, block: Block, vocabulary: Vocabulary | None) -> None:
        """Evaluate some users of a vocabulary (None: the truth's), which the first call extends."""
        if (
            self._vocabulary is None
        ):  # not earlier: if the truth has no users, the first batch determines the kind of keys
            assert self._truth.user_vocabulary is not None  # noqa: S101 - batches have keyed users
            self._vocabulary = self._truth.user_vocabulary.vocabulary if vocabulary is None else vocabulary
            self._request = self._request.encode_user_keys(self._vocabulary)
        self._has_scores = block.rows.scores is not None
        chunk = Chunk(
            self._align_block(block),
            {self._name: block.rows},
            self._request.exclude,
            naming_system=nullcontext,
            describe_inputs=None if self._codes else self._request.describe_odd_items,
            shares_item=lambda: share_item(block.rows.items, self._truth_items),
            row_users=(self._vocabulary.snapshot(), block.user_codes),
            truth_digest=0,  # computed at the end, of all users
        )
        self._sums.add(evaluate_chunk(self._request, chunk, self._sums.findings))
        self._codes.append(block.user_codes)

    @cached_property
    def _truth_items(self) -> NDArray[np.int64]:
        """The distinct items of all users of the truth, ascending."""
        return np.unique(self._truth.items)

    def _align_block(self, block: Block) -> Alignment:
        """Return the alignment of the rows of these users, which no longer need keys."""
        truth = _rows_of_users(self._truth, block.user_codes)
        if not self._request.has_truth:
            truth = truth._replace(present=None)
        exclude = None if self._exclude is None else _rows_of_users(self._exclude, block.user_codes)
        exclude = None if exclude is None else exclude._replace(present=None)
        base = None if self._base is None else _rows_of_users(self._base, block.user_codes)
        return Alignment(truth, [block.rows], exclude, self._request.encoding, base)

    def _add_remaining_users(self, vocabulary: Vocabulary | None) -> None:
        """Evaluate the users of the truth who were in no batch."""
        seen = np.zeros(self._truth.user_count, np.bool_)
        for users in self._codes:
            seen[users[users < len(seen)]] = True
        users = np.flatnonzero(~seen).astype(np.uint32)
        if len(users) or not self._codes:
            indptr = np.zeros(len(users) + 1, np.int64)
            scores = np.zeros(0) if self._has_scores else None
            empty = Rows(indptr, np.zeros(0, np.int64), present=np.zeros(len(users), np.bool_), scores=scores)
            self.add_block(Block(users, empty), vocabulary)

    def part(self, vocabulary: Vocabulary | None, *, by_code: bool = False) -> Part:
        """Return the part of all users: those of the truth first, in its order, then the others in order of appearance.

        That order is the one of codes if users came in any other.
        """
        self._add_remaining_users(vocabulary)
        assert self._vocabulary is not None  # noqa: S101 - of the users of a block
        keys, codes, count = self._vocabulary.snapshot(), np.concatenate(self._codes), self._truth.user_count
        order = np.argsort(codes if by_code else np.where(codes < count, codes, count), kind="stable")
        is_in_order = np.array_equal(codes[order], np.arange(len(keys)))
        users = keys if is_in_order else keys.array[codes[order]]
        part = self._sums.part()
        table = None if part.report._user_table is None else part.report._user_table.of_users(order)
        state = part.report.state._replace(truth_digest=self._truth_digest())
        return part._replace(reports={self._name: Report(state, users, table)})

    def _truth_digest(self) -> int:
        rows, request = self._truth, self._request
        keyed = KeyedTruth(Truth.from_valid_rows(rows), rows.user_vocabulary, rows.item_vocabulary)
        return request.engine.truth_digest(keyed, request.num_threads)


def _rows_of_users(rows: Rows, codes: Codes) -> Rows:
    """Return the rows of users with these codes; users without rows are missing."""
    sources = codes.astype(np.int64)
    sources[sources >= rows.user_count] = -1
    return reindex(rows, sources)._replace(user_vocabulary=None)
