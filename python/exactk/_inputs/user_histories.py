"""The histories of the users of a call: rows of train, matched by key or by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.keys.vocabulary import KIND_HINT, vocabulary_of_labels
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary
    from exactk._inputs.model.item_table import Histories, UserHistories

_NAME = "train"


def rows_by_code(histories: Histories, users: Vocabulary) -> NDArray[np.int64]:
    """Add the users of train to a vocabulary; return the row of each code, and last, -1 for all higher codes."""
    if histories.users is None or histories.users.kinds != users.kinds:
        return np.full(1, -1, np.int64)
    codes = users.extend(histories.users, _NAME)
    rows = np.full(len(users) + 1, -1, np.int64)
    rows[codes] = np.arange(len(codes))
    return rows


def histories_of_users(
    histories: Histories, inputs: AlignedInputs, block: range | None, by_code: NDArray[np.int64] | None
) -> UserHistories:
    """Return the histories of a call's users.

    `block` are the positions of a block of users among all of them, and `by_code` is what `rows_by_code` returned for users
    who come in batches.
    """
    from exactk._inputs.model.item_table import UserHistories

    keys = _keys_of_users(inputs)
    if histories.users is None:
        return UserHistories(histories, _rows_by_position(len(histories), inputs, keys, block))
    if keys is None:
        hint = "truth=dict(zip(users, truth)) adds them"
        raise type_error("truth", "user keys, as in train", "rows without user keys", hint=hint)
    if len(keys) and len(histories) and keys.kinds != histories.users.kinds:
        expected, found = (" and ".join(one.kinds) for one in (keys, histories.users))
        raise type_error(_NAME, f"users of type {expected}, as in the truth", found, hint=KIND_HINT)
    if inputs.row_users is not None and by_code is not None:
        return UserHistories(histories, by_code[np.minimum(inputs.row_users[1], len(by_code) - 1)])
    if not len(keys) or not len(histories):
        return UserHistories(histories, np.full(len(inputs.truth), -1, np.int64))
    return UserHistories(histories, histories.users.find(keys, _NAME))


def _keys_of_users(inputs: AlignedInputs) -> Snapshot | None:
    """Return the keys of the users, or of all users if the rows are some; None if users have no keys."""
    if inputs.row_users is not None:
        return inputs.row_users[0]
    if inputs.truth.user_vocabulary is not None or inputs.truth.labels is None:
        return inputs.truth.user_vocabulary
    return vocabulary_of_labels(inputs.truth.labels, "truth.users").snapshot()


def _rows_by_position(
    size: int, inputs: AlignedInputs, keys: Snapshot | None, block: range | None
) -> NDArray[np.int64]:
    """Return the row of each user; a block of users checks the size at its end."""
    if keys is not None and inputs.truth.labels is None:
        hint = "train=dict(zip(users, train)) adds them"
        raise type_error(_NAME, "user keys, as in the truth", "rows without user keys", hint=hint)
    users = len(inputs.truth)
    if block is None and size != users:
        raise input_error(_NAME, f"one row per user ({users})", str(size))
    return np.arange(users) if block is None else np.arange(block.start, block.stop)
