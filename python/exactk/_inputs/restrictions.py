"""What inputs are restricted to: items that may be ranked, of lists and of scores, and the users of a shard.

Which users are in a shard depends on nothing but their keys, so that several machines may have a shard each.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.batches import Batches
from exactk._inputs.checks import positions_in
from exactk._inputs.containers.frames import long_columns
from exactk._inputs.keys.vocabulary import Vocabulary, kinds_error
from exactk._inputs.long_format import key_kinds
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex, remove_padding
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores, predictions_from_rows
from exactk._inputs.truth import Truth
from exactk._runtime.errors import Amending, input_error, name_source, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.long_format import LongColumns
    from exactk._inputs.model.lists import CandidateItems, Exclusions
    from exactk._inputs.model.scores import Predictions
    from exactk._runtime.errors import ExactkError


def merge_restrictions(
    predictions: Predictions, candidates: CandidateItems | None, exclude: Exclusions | None
) -> tuple[CandidateItems | None, Exclusions | None]:
    """Return the candidates and the exclusions of the call, merged with those of the predictions.

    Lists and sparse scores hold only candidates by now. Raise InputError if others cannot be restricted to theirs.
    """
    if isinstance(predictions, CanonicalEmbeddings):
        exclude = predictions.extend_exclusions(exclude)
        if predictions.candidates is not None:
            if candidates is not None:
                raise input_error("candidates", "None for embeddings that have candidates", "candidates")
            candidates = predictions.candidates
    if candidates is None or not isinstance(predictions, (Scores, CanonicalEmbeddings)):
        return None, exclude
    if candidates is not _own_candidates(predictions):
        candidates = candidates.among(predictions.item_vocabulary, predictions.user_vocabulary)
        candidates.check_users(predictions.present)
    if not candidates.for_all and len(candidates) != len(predictions):
        raise input_error("candidates", f"one entry per user ({len(predictions)})", str(len(candidates)))
    candidates.check_ids(predictions.item_count)
    return candidates, exclude


def _own_candidates(predictions: Predictions) -> CandidateItems | None:
    return predictions.candidates if isinstance(predictions, CanonicalEmbeddings) else None


class _Positions(NamedTuple):
    """The kept entries of lists, for messages."""

    indptr: Offsets  # of all entries
    kept_indptr: Offsets
    kept: NDArray[np.int64]  # offsets among all entries

    def original(self, row: int, position: int) -> int:
        """Return the position in the row with all entries."""
        return int(self.kept[int(self.kept_indptr[row]) + position] - self.indptr[row])


class CandidateLists(NamedTuple):
    """Inputs whose lists hold only candidates."""

    inputs: AlignedInputs
    positions: _Positions | None = None  # None: the lists are as they were

    @property
    def is_emptied(self) -> bool:
        """Whether there were items, and none is a candidate."""
        return self.positions is not None and not len(self.positions.kept) and self.positions.indptr[-1] > 0

    @property
    def has_items(self) -> bool:
        """Whether an item is left."""
        return self.positions is None or len(self.positions.kept) > 0

    def original_positions(self, argument: str) -> AbstractContextManager[None]:
        """Give errors about the lists, under this argument, the positions before."""
        return _UNCHANGED if self.positions is None else Amending(_with_position_before, self.positions, argument)


_UNCHANGED = nullcontext()


def _with_position_before(error: ExactkError, positions: _Positions, argument: str) -> ExactkError:
    if error.argument != argument or error.row is None or error.position is None:
        return error
    return error.amended(position=positions.original(error.row, error.position))


def restrict_lists(inputs: AlignedInputs, candidates: CandidateItems | None) -> CandidateLists:
    """Return the inputs with only the candidates in lists and sparse scores; other predictions are left as they are."""
    predictions = inputs.predictions
    if candidates is None or not isinstance(predictions, (Rankings, SparseScores)):
        return CandidateLists(inputs)
    lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
    lists.core.validate("predictions", None)
    rows = remove_padding(predictions.rows())
    kept = np.flatnonzero(_is_candidate(rows, inputs, candidates))
    kept_indptr = np.searchsorted(kept, rows.indptr).astype(np.int64)
    restricted = rows.with_entries(kept)._replace(
        indptr=kept_indptr,
        ranks=None if rows.ranks is None else _closed_ranks(rows.ranks, rows.indptr, kept, kept_indptr),
        find_row=None,  # positions are made those of all entries, which have a row
        is_owned=True,
    )
    positions = _Positions(rows.indptr, kept_indptr, kept)
    return CandidateLists(inputs._replace(predictions=predictions_from_rows(restricted)), positions)


def restricted_rows(inputs: AlignedInputs, candidates: CandidateItems | None) -> Rows:
    """Return the rows of lists or sparse scores, with only the candidates and without padding."""
    lists = restrict_lists(inputs, candidates).inputs.predictions
    assert isinstance(lists, (Rankings, SparseScores))  # noqa: S101 - for the type checker
    return remove_padding(lists.rows())


def candidates_of_users(lists: Rankings, inputs: AlignedInputs, candidates: CandidateItems) -> Rows:
    """Return the candidates of each user with a list as they are, repeats included; other users have no row."""
    return reindex(candidates.unsorted, _candidate_rows_of_users(lists.rows(), inputs, candidates))


def _closed_ranks(
    ranks: NDArray[np.int64], indptr: Offsets, kept: NDArray[np.int64], kept_indptr: Offsets
) -> NDArray[np.int64]:
    """Return the ranks of the kept entries, less the entries before them that are not kept."""
    sizes = np.diff(kept_indptr)
    position = kept - np.repeat(indptr[:-1], sizes)
    kept_position = np.arange(len(kept)) - np.repeat(kept_indptr[:-1], sizes)
    return ranks[kept] - (position - kept_position)


def _is_candidate(rows: Rows, inputs: AlignedInputs, candidates: CandidateItems) -> NDArray[np.bool_]:
    """Return whether each entry of the rows is a candidate of its user."""
    entry_rows = np.repeat(np.arange(rows.user_count), np.diff(rows.indptr))
    candidate_rows = np.repeat(np.arange(len(candidates)), np.diff(candidates.indptr))
    sources = _candidate_rows_of_users(rows, inputs, candidates)
    distinct = np.unique(candidates.items)
    ids = _candidate_ids(rows, inputs, candidates)
    index = positions_in(distinct, ids)
    # Pairs of row and item as numbers, which ascend over the candidates.
    pairs = candidate_rows * len(distinct) + np.searchsorted(distinct, candidates.items)
    entry_pairs = sources[entry_rows] * len(distinct) + index
    return (index >= 0) & (positions_in(pairs, entry_pairs) >= 0) & (sources[entry_rows] >= 0)


def _candidate_rows_of_users(rows: Rows, inputs: AlignedInputs, candidates: CandidateItems) -> NDArray[np.int64]:
    """Return the row of each user among the candidates; -1 for a user without predictions who has none."""
    from exactk._inputs.keys.key_lists import describe_disjoint

    count = rows.user_count
    if candidates.for_all:
        return np.zeros(count, np.int64)
    users, codes = inputs.row_users or (inputs.truth.user_vocabulary, None)
    if candidates.user_vocabulary is None:
        if users is not None:
            hint = "candidates=dict(zip(users, candidates)) adds them"
            raise type_error("candidates", "user keys, as in the predictions", "rows without user keys", hint=hint)
        if len(candidates) != count:
            raise input_error("candidates", f"one entry per user ({count})", str(len(candidates)))
        return np.arange(count)
    if users is None:
        expected = "items for all users or one entry per row, as users have no keys"
        raise type_error("candidates", expected, "user keys")
    if len(users) and len(candidates.user_vocabulary) and users.kinds != candidates.user_vocabulary.kinds:
        raise kinds_error("candidates", "users", users.kinds, candidates.user_vocabulary.kinds, "predictions")
    sources = np.full(count, -1, np.int64)
    if len(users) and len(candidates.user_vocabulary):
        of_users = candidates.user_vocabulary.find(users, "candidates")
        sources = of_users if codes is None else of_users[codes]
    lacking = (sources < 0) & (True if rows.present is None else rows.present)
    if lacking.any():
        expected, first = "candidates of every user with predictions", int(np.argmax(lacking))
        hint = ""
        if lacking.all() and len(candidates.user_vocabulary):
            examples = candidates.user_vocabulary.repr_of(0), inputs.user_text(first)
            hint = describe_disjoint("user", "candidates", "the predictions", examples)
        error = input_error("candidates", expected, "none", row=first, count=int(lacking.sum()), hint=hint)
        raise inputs.with_user(error) or error
    return sources


def _candidate_ids(rows: Rows, inputs: AlignedInputs, candidates: CandidateItems) -> NDArray[np.int64]:
    """Return the items of the rows as ids of the candidates; -1 for items that are no candidates of anyone."""
    ids, keys, candidate_keys = rows.items.astype(np.int64), inputs.item_vocabulary, candidates.item_vocabulary
    if not len(ids) or not len(candidates.items):
        return np.full(len(ids), -1, np.int64)
    if keys is not None and candidates.has_columns:
        raise type_error("candidates", "item keys, as in the predictions", "column numbers of a matrix")
    kind, found = (("int",) if one is None else one.kinds for one in (keys, candidate_keys))
    if kind != found:
        raise kinds_error("candidates", "items", kind, found, "predictions")
    if keys is not None and inputs.item_ids is not None:
        ids = np.argsort(inputs.item_ids)[ids]  # ids that ascend as the keys do
    if keys is not None and candidate_keys is not None:
        return candidate_keys.find(keys, "candidates")[ids]
    if keys is not None:
        return keys.array[ids].astype(np.int64)
    if candidate_keys is None:
        return ids
    order = np.argsort(candidate_keys.array)
    return np.append(order, -1)[positions_in(candidate_keys.array[order], ids)]


_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)


class Shard(NamedTuple):
    """One of the shards of an evaluation."""

    number: int  # from 1
    shards: int  # how many there are

    def __str__(self) -> str:
        return f"{self.number}/{self.shards}"


def shard_numbers(hashes: NDArray[np.uint64], shards: int) -> NDArray[np.int64]:
    """Return the shard of each key by its hash, from 1: the finalizer of splitmix64, as integers are their own hashes."""
    words = hashes + _ODD
    for shift, factor in _MIXERS:
        words = (words ^ (words >> shift)) * factor
    words ^= words >> _LAST
    return (words % np.uint64(shards)).astype(np.int64) + 1


def users_of_shard(
    truth: Truth, predictions: Rankings | SparseScores | Batches, shard: Shard
) -> tuple[Truth, Rankings | SparseScores | Batches]:
    """Return the users of the truth and of the predictions who are in the shard.

    Raises
    ------
    InputError
        If users have no keys.
    InputTypeError
        If those of the truth and of the predictions are of several kinds: a shard may not have users of both.
    """
    keys = _keys_of(truth.rows(), "truth")
    chosen = Truth.from_valid_rows(_rows_of_shard(truth.rows(), keys, shard))
    if isinstance(predictions, Batches):
        batches = predictions
        return chosen, Batches.of_files(lambda: _frames_of_shard(batches, keys, shard), dict(batches.columns))
    rows = predictions.rows()
    others = _keys_of(rows, "predictions")
    if len(keys) and len(others):
        keys.vocabulary.check_kinds(others.kinds, "predictions", example=others.repr_of(0))
    return chosen, predictions_from_rows(_rows_of_shard(rows, others, shard))


def _keys_of(rows: Rows, argument: str) -> Snapshot:
    if rows.user_vocabulary is None:
        hint = "an .npz archive has them in the array users"
        raise input_error(argument, "users with keys, by which they are in a shard", "users without keys", hint=hint)
    return rows.user_vocabulary


def _rows_of_shard(rows: Rows, keys: Snapshot, shard: Shard) -> Rows:
    codes = np.flatnonzero(shard_numbers(keys.hashes, shard.shards) == shard.number)
    return reindex(rows, codes)._replace(user_vocabulary=keys.select(codes))


def _frames_of_shard(batches: Batches, keys: Snapshot, shard: Shard) -> Iterator[tuple[str, Any]]:
    """Yield the rows of the shard of each frame; `keys` are those of the truth."""
    for name, frame in batches.named_frames():
        with name_source(name):
            is_of_shard = _is_of_shard(long_columns(frame, "predictions", batches.columns, warn=False), keys, shard)
        yield f"{name} (rows of shard {shard})", frame.filter(is_of_shard)


def _is_of_shard(columns: LongColumns, keys: Snapshot, shard: Shard) -> NDArray[np.bool_]:
    """Return for each row whether its user is in the shard."""
    if not len(columns.items):
        return np.zeros(0, np.bool_)
    kinds = key_kinds(columns.users, columns.labels, "predictions")
    if len(keys):
        keys.vocabulary.check_kinds(kinds, "predictions")
    vocabulary = Vocabulary.of_kinds(kinds, columns.labels)
    codes = vocabulary.encode(columns.users, "predictions")
    is_of_shard: NDArray[np.bool_] = shard_numbers(vocabulary.snapshot().hashes, shard.shards)[codes] == shard.number
    return is_of_shard
