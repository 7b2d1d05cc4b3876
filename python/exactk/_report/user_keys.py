"""User keys in reports: joined, compared, and written as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.keys.vocabulary import Snapshot, object_array, structured_keys, text_array
from exactk._report.validation import checked_integer, checked_list, fail
from exactk._runtime.errors import StateMismatchError, input_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def concatenate_users(
    parts: Sequence[Snapshot | NDArray[Any] | None], argument: str = "parts", part_noun: str = "part"
) -> NDArray[Any] | None:
    """Return the user keys of all parts; None if all have row numbers.

    A part without users does not fix the kind of keys. The argument and what its parts are called are for messages.
    """
    arrays = [part.array if isinstance(part, Snapshot) else part for part in parts if part is not None]
    keyed = [part for part in arrays if len(part)] or arrays[:1]
    if not keyed:
        return None
    if len(arrays) < len(parts) or len({kinds_of_keys(part) for part in keyed}) > 1:
        found = f"{part_noun}s without keys or keys of several kinds"
        raise StateMismatchError(
            f"{argument}: expected user keys of one kind in all {part_noun}s, found {found}", argument
        )
    names = keyed[0].dtype.names
    if names is None:
        users = _concatenate_column(keyed)
    else:
        users = structured_keys(names, [_concatenate_column([part[name] for part in keyed]) for name in names])
    seen: set[Any] = set()
    for user in users.tolist():
        if user in seen:
            hint = "users of the predictions count too: split truth and predictions by user"
            raise StateMismatchError(
                f"{argument}: expected each user in one {part_noun}, found {user!r} in several; {hint}", argument
            )
        seen.add(user)
    return users


def kinds_of_keys(users: NDArray[Any]) -> tuple[tuple[str, str], ...]:
    """Return the name of each column of the keys, empty if there is only one, and the kind of its values."""
    columns = {"": users} if users.dtype.names is None else user_columns(users)
    return tuple((name, _kind_of_column(column)) for name, column in columns.items())


def _kind_of_column(column: NDArray[Any]) -> str:
    if column.dtype.kind == "O":  # bytes, or strings that a string array would change or that would waste memory
        return type(column[0]).__name__ if len(column) else ""
    return {"i": "int", "u": "int", "U": "str"}.get(column.dtype.kind, "")  # an empty array may have float64


def _concatenate_column(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return one array of values of one kind, of the type that they would have in one evaluation."""
    if len(parts) == 1:
        return parts[0]
    if _kind_of_column(parts[0]) == "str":
        return text_array([text for part in parts for text in part.tolist()])
    if np.result_type(*parts).kind != "f":
        return np.concatenate(parts)
    integers = [integer for part in parts for integer in part.tolist()]  # int64 and uint64, which NumPy makes floats
    if min(integers) < 0 and max(integers) >= 2**63:
        message = "parts: expected user keys that all fit int64 or all fit uint64, found negative keys and keys of 2^63 or more"
        raise StateMismatchError(message, "parts")
    return np.array(integers, np.int64 if max(integers) < 2**63 else np.uint64)


def equal_arrays(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    if "O" in {one.dtype.kind, other.dtype.kind} <= {"O", "U"} or one.dtype.kind == other.dtype.kind == "V":
        return bool(one.tolist() == other.tolist())
    if one.dtype.kind != other.dtype.kind:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def user_columns(users: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return user keys as columns, one per part of the key."""
    if users.dtype.names is None:
        return {"user": users}
    return {name: users[name] for name in users.dtype.names}


def join_columns(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of both; raise InputError if they share a name."""
    if shared := [name for name in second if name in set(first)]:
        hint = "rename the user columns"
        raise input_error("table", "distinct column names", f"two columns {shared[0]!r}", hint=hint)
    return {**first, **second}


def users_to_plain(users: NDArray[Any]) -> list[Any]:
    """Return keys as plain data: their NumPy type and values, with bytes as hexadecimal text."""
    kind = users.dtype.descr if users.dtype.names else users.dtype.str
    return [kind, [_key_to_plain(key) for key in users.tolist()]]


def _key_to_plain(key: object) -> object:
    if isinstance(key, tuple):
        return [_key_to_plain(part) for part in key]
    return {"bytes": key.hex()} if isinstance(key, bytes) else key


_INTEGER_TYPE = re.compile(r"[<>|][iu][1248]")
_TEXT_TYPE = re.compile(r"[<>]U[0-9]{1,10}|\|O")


def users_from_plain(data: object, count: int) -> NDArray[Any] | None:
    """Return the keys that `users_to_plain` described; raise ValueError if they are invalid."""
    if data is None:
        return None
    kind, keys = checked_list(data, "members of users (type and keys)", 2)
    keys = checked_list(keys, "users", count)
    if len(set(map(repr, keys))) < len(keys):
        raise fail("distinct users", "one twice")
    if isinstance(kind, str):
        return _column_from_plain(kind, keys)
    labels, kinds = zip(
        *(checked_list(part, "members of a type", 2) for part in checked_list(kind, "types")), strict=True
    )
    if not all(isinstance(label, str) and label for label in labels) or len(set(labels)) < len(labels):
        raise fail("distinct column names", labels)
    rows = [checked_list(key, "parts of a user", len(labels)) for key in keys]
    columns = [_column_from_plain(part, [row[i] for row in rows]) for i, part in enumerate(kinds)]
    return structured_keys(labels, columns)


def _column_from_plain(kind: object, keys: Sequence[Any]) -> NDArray[Any]:
    """Return one part of the keys. Memory for text follows the values, not the stated length."""
    if isinstance(kind, str) and _INTEGER_TYPE.fullmatch(kind):
        dtype = np.dtype(kind)
        info = np.iinfo(dtype)
        return np.array([checked_integer(key, "a user", int(info.min), int(info.max)) for key in keys], dtype)
    if not isinstance(kind, str) or not _TEXT_TYPE.fullmatch(kind):
        raise fail("integer or string users", kind)
    texts = [_key_from_plain(key) for key in keys]
    if len(set(map(type, texts))) > 1:
        raise fail("users that are all strings or all bytes", kind)
    strings = [text for text in texts if isinstance(text, str)]
    return text_array(strings) if kind != "|O" and len(strings) == len(texts) else object_array(texts)


def _key_from_plain(key: object) -> str | bytes:
    if isinstance(key, str):
        return key
    if not isinstance(key, Mapping) or set(key) != {"bytes"} or not isinstance(key["bytes"], str):
        raise fail("a user that is a string or bytes", key)
    return bytes.fromhex(key["bytes"])
