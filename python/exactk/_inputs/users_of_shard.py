"""The users of a shard: which of them depends on nothing but their keys, so that several machines may have a shard each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.batches import Batches
from exactk._inputs.containers.frames import long_columns
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.long_format import key_kinds
from exactk._inputs.model.rows import reindex
from exactk._inputs.model.scores import predictions_from_rows
from exactk._inputs.truth import Truth
from exactk._runtime.errors import input_error, name_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.long_format import LongColumns
    from exactk._inputs.model.lists import Rankings
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import SparseScores

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
