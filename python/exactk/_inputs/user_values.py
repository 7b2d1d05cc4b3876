"""Weights and groups: one entry a user, in the order of the rows, or by the user's key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk._inputs.checks import key_array, number_array
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.conventions import Convention


@dataclass(frozen=True, eq=False)
class _OfUsers:
    values: NDArray[Any]
    keys: tuple[Any, ...] | None  # whose the values are; None: the rows' own, in their order

    argument = "weights"

    @classmethod
    def of(cls, given: object) -> Self:
        """Return what was given for the users."""
        if isinstance(given, Mapping):
            return cls(cls._array(list(given.values())), tuple(given))
        return cls(cls._array(given), None)

    @classmethod
    def _array(cls, given: object) -> NDArray[Any]:
        raise NotImplementedError

    @property
    def by_row(self) -> bool:
        """Whether the values are in the order of the rows."""
        return self.keys is None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, users: slice) -> Self:
        """Return those of consecutive rows."""
        return self if self.keys is not None else replace(self, values=self.values[users])

    def by_number(self, case: AlignedInputs, convention: Convention) -> Self:
        """Return the same in the order of the rows of a case."""
        return replace(self, values=self._settled(case, convention), keys=None)

    def of_users(self, numbers: NDArray[np.uint32], convention: Convention) -> Self:
        """Return those of some rows. Users beyond all rows may go without, if they do not count."""
        known = self.values
        if (numbers >= len(known)).any() and convention.users not in {"truth", "both"}:
            raise input_error(self.argument, "an entry for each user", "none for one who is not in the truth")
        values = known[np.minimum(numbers, max(0, len(known) - 1))] if len(known) else np.ones(len(numbers))
        return replace(self, values=values.astype(known.dtype))

    def _settled(self, case: AlignedInputs, convention: Convention) -> NDArray[Any]:
        """Return one value for each row. Users that the truth does not have may go without, if they do not count."""
        places = self._places(case)
        without = int((places < 0).sum())
        if without and (convention.users not in {"truth", "both"} or (places[: case.truth_size] < 0).any()):
            row = int(np.argmax(places < 0))
            found = f"none for {without} users" if isinstance(case.users, np.ndarray | None) else self._whose(case, row)
            raise input_error(self.argument, f"one entry for each of {len(case.truth)} users", found)
        if not len(self.values):
            return np.ones(len(places), self.values.dtype)
        return self.values[np.maximum(places, 0)]

    @staticmethod
    def _whose(case: AlignedInputs, row: int) -> str:
        users = case.truth.user_vocabulary
        return "none for " + (f"row {row}" if users is None else users.repr_of(row))

    def _places(self, case: AlignedInputs) -> NDArray[np.int64]:
        rows = len(case.truth)
        if self.keys is None:
            if len(self.values) not in {rows, case.truth_size}:
                raise input_error(
                    self.argument, f"one entry for each of {case.truth_size} users", f"{len(self.values)}"
                )
            return np.where(np.arange(rows) < len(self.values), np.arange(rows), -1)
        users = case.truth.users
        if users is None:
            raise type_error(self.argument, "an array with one entry a row, as the users have no keys", "a mapping")
        where = {_name(key): place for place, key in enumerate(self.keys)}
        return np.array([where.get(key, -1) for key in users.tolist()], np.int64)


def _name(key: object) -> object:
    """Return what a key is called among names: others than numbers, strings and tuples of them by ``str``."""
    return key if key is None or isinstance(key, (Number, np.generic, str, bytes, tuple)) else str(key)


class Weights(_OfUsers):
    """What each user weighs in a mean."""

    argument = "weights"

    @classmethod
    def _array(cls, given: object) -> NDArray[np.float64]:
        return number_array(given, cls.argument)

    def of_rows(self, case: AlignedInputs, convention: Convention) -> NDArray[np.float64]:
        """Return the weight of each row."""
        return self._settled(case, convention)


class Groups(_OfUsers):
    """Which group each user is of."""

    argument = "groups"

    @classmethod
    def _array(cls, given: object) -> NDArray[Any]:
        return key_array(given, cls.argument)

    def codes(self, case: AlignedInputs, convention: Convention) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the number of each row's group, and what the groups are called."""
        names, codes = np.unique(self._settled(case, convention), return_inverse=True)
        return codes.astype(np.int64), names.tolist()
