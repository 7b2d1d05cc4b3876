"""The users of an evaluation who come in updates, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.vocabulary import KIND_HINT, Snapshot, Vocabulary, vocabulary_of_labels
from exactk._runtime.errors import StateMismatchError, input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WITHOUT_KEYS = "rows without user keys"
_REPEATED_HINT = "reset() forgets the users so far; users of the predictions count too"


class UpdateUsers(NamedTuple):
    """The users so far: their keys, or none."""

    size: int = 0
    keys: Snapshot | None = None

    def plus(self, users: Snapshot | NDArray[Any] | None, count: int, argument: str) -> UpdateUsers:
        """Return the users so far and those of an update, which the argument names; raise InputError if one is in both.

        An update without users does not fix the kind of keys.
        """
        if isinstance(users, np.ndarray):
            users = vocabulary_of_labels(users, argument).snapshot()
        if not count:
            return self
        if self.size:
            found, expected = _kind_of_keys(users), _kind_of_keys(self.keys)
            if found != expected:
                hint = KIND_HINT if users is not None and self.keys is not None else ""
                raise type_error(argument, f"{expected}, as in earlier updates", found, hint=hint)
            if (user := self._shared_user(users)) is not None:
                raise input_error(argument, "each user in one update", f"{user} in several", hint=_REPEATED_HINT)
        return self._joined(users, count)

    def merged(self, other: UpdateUsers) -> UpdateUsers:
        """Return the users of two evaluators; raise StateMismatchError if a user is in both."""
        if not self.size or not other.size:
            return self._joined(other.keys, other.size) if other.size else self
        found, expected = _kind_of_keys(other.keys), _kind_of_keys(self.keys)
        if found == expected and (user := self._shared_user(other.keys)) is not None:
            found, expected = f"{user} in both", "evaluators without a user in common"
        if found != expected:
            message = f"other: expected {expected}, found {found}"
            raise StateMismatchError(message, "other")
        return self._joined(other.keys, other.size)

    def copy(self) -> UpdateUsers:
        """Return users of another vocabulary, which another thread may extend at the same time."""
        return self if self.keys is None else self._replace(keys=self.keys.copy().snapshot())

    def _shared_user(self, users: Snapshot | None) -> str | None:
        """Return the first user who is among those so far, as a message shows it."""
        if users is None or self.keys is None:
            return None
        is_shared = self.keys.find(users, "truth") >= 0
        return users.repr_of(int(np.argmax(is_shared))) if is_shared.any() else None

    def _joined(self, users: Snapshot | None, count: int) -> UpdateUsers:
        if users is None:
            return UpdateUsers(self.size + count)
        if self.keys is None:
            vocabulary = Vocabulary.of_kinds(users.kinds, users.vocabulary.labels)
        elif len(self.keys) == len(self.keys.vocabulary):
            vocabulary = self.keys.vocabulary
        else:  # others have added keys, as an update that failed afterwards
            vocabulary = self.keys.copy()
        vocabulary.extend(users, "truth")
        return UpdateUsers(self.size + count, vocabulary.snapshot())

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`."""
        return self.size, None if self.keys is None else self.keys.to_plain()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> UpdateUsers:
        """Return the users that `to_plain` described."""
        count, keys = plain
        return cls(count, None if keys is None else Snapshot.from_plain(keys))


def _kind_of_keys(keys: Snapshot | None) -> str:
    """Return what the keys are, for messages."""
    if keys is None:
        return _WITHOUT_KEYS
    if len(keys.kinds) == 1:
        return f"users of type {keys.kinds[0]}"
    parts = zip(keys.vocabulary.labels, keys.kinds, strict=True)
    return f"users of type {' and '.join(f'{kind} ({label!r})' for label, kind in parts)}"
