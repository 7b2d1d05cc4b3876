"""Weights and groups: one entry per user, in the order of the rows, or by the user's key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk._inputs.checks import key_array, number_array
from exactk._inputs.containers.values_by_user import values_by_user
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.lists import Truth
    from exactk._plan.conventions import Convention


@dataclass(frozen=True, eq=False)
class UserValues:
    """A value for each user, in the order of the rows or by the user's key."""

    values: NDArray[Any]
    keys: tuple[Any, ...] | None  # the user of each value; None: the values are in the order of the rows
    without_keys: str = ""  # code that returns the values alone, for hints

    argument = "weights"

    @classmethod
    def from_argument(cls, container: object, columns: ColumnNames) -> Self:
        """Return the values in a container; columns are what those of a data frame are called."""
        values, keys, without_keys = values_by_user(container, cls.argument, columns)
        return cls(cls._to_array(values), keys, without_keys)

    def check_keys(self, truth: Truth) -> None:
        """Raise InputTypeError if users have keys and the values none: their order may be another."""
        if self.keys is not None or truth.users is None:
            return
        expected, found = "the user of each entry, as users have keys", f"{len(self.values)} entries without"
        hint = f"{self.argument}=dict(zip(users, {self.without_keys})), where users are those of the entries"
        raise type_error(self.argument, expected, found, hint=hint)

    @classmethod
    def _to_array(cls, values: object) -> NDArray[Any]:
        raise NotImplementedError

    @property
    def is_by_row(self) -> bool:
        """Whether the values are in the order of the rows."""
        return self.keys is None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, users: slice) -> Self:
        """Return those of consecutive rows."""
        return self if self.keys is not None else replace(self, values=self.values[users])

    def in_row_order(self, inputs: AlignedInputs, convention: Convention) -> Self:
        """Return the same in the order of the rows of the inputs."""
        return replace(self, values=self._values_by_row(inputs, convention), keys=None)

    def for_users(self, codes: NDArray[np.uint32], convention: Convention) -> Self:
        """Return those of some rows. Users beyond all rows may go without, if they do not count."""
        existing = self.values
        if (codes >= len(existing)).any() and convention.users not in {"truth", "both"}:
            raise input_error(self.argument, "an entry for each user", "none for one who is not in the truth")
        values = existing[np.minimum(codes, max(0, len(existing) - 1))] if len(existing) else np.ones(len(codes))
        return replace(self, values=values.astype(existing.dtype))

    def _values_by_row(self, inputs: AlignedInputs, convention: Convention) -> NDArray[Any]:
        """Return one value for each row. Users that the truth does not have may go without, if they do not count."""
        positions = self._value_positions(inputs)
        missing = int((positions < 0).sum())
        if missing and (convention.users not in {"truth", "both"} or (positions[: inputs.truth_size] < 0).any()):
            row = int(np.argmax(positions < 0))
            found = (
                f"none for {missing} users"
                if isinstance(inputs.users, np.ndarray | None)
                else self._describe_missing(inputs, row)
            )
            raise input_error(self.argument, f"one entry for each of {len(inputs.truth)} users", found)
        if not len(self.values):
            return np.ones(len(positions), self.values.dtype)
        return self.values[np.maximum(positions, 0)]

    @staticmethod
    def _describe_missing(inputs: AlignedInputs, row: int) -> str:
        users = inputs.truth.user_vocabulary
        return "none for " + (f"row {row}" if users is None else users.repr_of(row))

    def _value_positions(self, inputs: AlignedInputs) -> NDArray[np.int64]:
        """Return the position of each row's value; -1 for none."""
        rows = len(inputs.truth)
        if self.keys is None:
            if len(self.values) not in {rows, inputs.truth_size}:
                raise input_error(
                    self.argument, f"one entry for each of {inputs.truth_size} users", f"{len(self.values)}"
                )
            return np.where(np.arange(rows) < len(self.values), np.arange(rows), -1)
        users = inputs.truth.users
        if users is None:
            expected, hint = "one entry for each row, as users have no keys", f"{self.argument}={self.without_keys}"
            raise type_error(self.argument, expected, "entries with keys", hint=hint)
        position_of = {_lookup_key(key): position for position, key in enumerate(self.keys)}
        return np.array([position_of.get(key, -1) for key in users.tolist()], np.int64)


def _lookup_key(key: object) -> object:
    """Return the key as vocabularies hold it: others than numbers, strings and tuples of them by ``str``."""
    return key if key is None or isinstance(key, (Number, np.generic, str, bytes, tuple)) else str(key)


class Weights(UserValues):
    """What each user weighs in a mean."""

    argument = "weights"

    @classmethod
    def _to_array(cls, values: object) -> NDArray[np.float64]:
        return number_array(values, cls.argument)

    def row_weights(self, inputs: AlignedInputs, convention: Convention) -> NDArray[np.float64]:
        """Return the weight of each row."""
        return self._values_by_row(inputs, convention)


class Groups(UserValues):
    """Which group each user is of."""

    argument = "groups"

    @classmethod
    def _to_array(cls, values: object) -> NDArray[Any]:
        return key_array(values, cls.argument)

    def encode(self, inputs: AlignedInputs, convention: Convention) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the code of each row's group, and the labels of the groups."""
        labels, codes = np.unique(self._values_by_row(inputs, convention), return_inverse=True)
        return codes.astype(np.int64), labels.tolist()
