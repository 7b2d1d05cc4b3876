"""The keys of users in reports: joined, compared, and written as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def concatenate_users(parts: Sequence[Vocabulary | NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return the keys of the users of all parts; None where they are row numbers in all.

    A part without users says nothing about the kind of keys.
    """
    arrays = [part.array if isinstance(part, Vocabulary) else part for part in parts if part is not None]
    keyed = [part for part in arrays if len(part)] or arrays[:1]
    if not keyed:
        return None
    if len(arrays) < len(parts) or len({part.dtype.kind for part in keyed}) > 1:
        message = "parts: expected keys of users of one kind in all parts, found them in some, or of several kinds"
        raise StateMismatchError(message, "parts")
    users = np.concatenate(keyed)
    seen: set[Any] = set()
    for user in users.tolist():
        if user in seen:
            raise StateMismatchError(f"parts: expected each user in one part, found {user!r} again", "parts")
        seen.add(user)
    return users


def equal_arrays(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.dtype.kind != other.dtype.kind:
        return False
    if one.dtype.kind in "OV":
        return bool(one.tolist() == other.tolist())
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def user_columns(users: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the keys of users as columns: several if several columns made them."""
    if users.dtype.names is None:
        return {"user": users}
    return {name: users[name] for name in users.dtype.names}


def users_to_plain(users: NDArray[Any]) -> list[Any]:
    """Return keys as plain data: how NumPy describes their type, and they; bytes as hexadecimal text."""
    kind = users.dtype.descr if users.dtype.names else users.dtype.str
    return [kind, [_key_to_plain(key) for key in users.tolist()]]


def _key_to_plain(key: object) -> object:
    if isinstance(key, tuple):
        return [_key_to_plain(part) for part in key]
    return {"bytes": key.hex()} if isinstance(key, bytes) else key


def users_from_plain(kind: Any, keys: list[Any], count: int) -> NDArray[Any]:  # noqa: ANN401 - what JSON had
    """Return the keys that `users_to_plain` described."""
    dtype = np.dtype(kind if isinstance(kind, str) else [(str(name), str(part)) for name, part in kind])
    parts = [dtype[name].kind for name in dtype.names] if dtype.names else [dtype.kind]
    if set(parts) - set("iuUO"):
        raise ValueError(f"users of type {dtype}")
    users = np.empty(len(keys), dtype)
    users[:] = [_key_from_plain(key) for key in keys]
    if len(users) != count:
        raise ValueError(f"{len(users)} users of {count}")
    return users


def _key_from_plain(key: object) -> object:
    if isinstance(key, list):
        return tuple(_key_from_plain(part) for part in key)
    return bytes.fromhex(key["bytes"]) if isinstance(key, dict) else key
