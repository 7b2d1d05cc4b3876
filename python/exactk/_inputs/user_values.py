"""Weights and groups: one value per user, by key or by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from exactk._inputs.category_order import category_order
from exactk._inputs.checks import key_array, number_array
from exactk._inputs.keys.columns import key_columns
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._inputs.paths import names_file, open_path
from exactk._inputs.values_by_user import CONTAINERS, conversion_hint, values_by_user
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.truth import Truth


class RowValues(NamedTuple):
    """One value per row of the inputs. Users without a value must not count."""

    values: NDArray[Any]
    is_missing: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class UserValues:
    """One value per user, by key or by row."""

    values: NDArray[Any]
    keys: tuple[Any, ...] | None  # the user of each value; None: the values are in the order of the rows
    plain_values: str = ""  # code that returns only the values, for hints
    column: str | None = None  # name of the values' column
    code_positions: NDArray[np.int64] | None = None  # by code, where keys were encoded; last, -1 for all higher codes
    order: tuple[Any, ...] | None = None  # of all values that there may be, if they are categories with an order

    argument = "weights"

    @classmethod
    def from_argument(cls, container: object, columns: ColumnNames, truth: Truth | Rows | None = None) -> Self:
        """Return the values of a container; `columns` names those of data frames."""
        if isinstance(container, str) and not names_file(container):
            raise _column_name_error(container, cls.argument, truth)
        container = open_path(container, cls.argument, columns)
        values, keys, plain_values, column = values_by_user(container, cls.argument, columns)
        array = cls._to_array(values, conversion_hint(container, cls.argument, column))
        return cls(array, keys, plain_values, column, order=category_order(container, column))

    def check_keys(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed and values are not, as their orders may differ."""
        if self.keys is not None or truth.users is None:
            return
        expected, count = "entries with user keys, as in the truth", len(self.values)
        found = f"{count} {'entry' if count == 1 else 'entries'} without keys"
        hint = f"{self.argument}=dict(zip(users, {self.plain_values})), where users are the users of the entries"
        raise type_error(self.argument, expected, found, hint=hint)

    @classmethod
    def _to_array(cls, values: object, hint: str) -> NDArray[Any]:
        """Return the values in the core's form; the hint is how to convert other values."""
        raise NotImplementedError

    @property
    def is_by_row(self) -> bool:
        """Whether the values are in row order."""
        return self.keys is None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, users: slice) -> Self:
        """Return the values of consecutive rows."""
        return self if self.keys is not None else replace(self, values=self.values[users])

    def encode_keys(self, users: Vocabulary) -> Self:
        """Add the keys that users may have to a vocabulary; return the same values, found by its codes too."""
        keys = [(position, key) for key, position in self._position_of_key.items() if _kinds_of(key) == users.kinds]
        codes = np.zeros(0, np.uint32)
        if keys:
            codes = users.encode(key_columns([key for _, key in keys], f"{self.argument}.user"), self.argument)
        code_positions = np.full(len(users) + 1, -1, np.int64)
        code_positions[codes] = [position for position, _ in keys]
        return replace(self, code_positions=code_positions)

    def by_row(self, inputs: AlignedInputs) -> RowValues:
        """Return the value of each row."""
        positions = self._positions_by_row(inputs)
        is_missing = positions < 0
        if len(positions) and is_missing.all():
            self._check_kinds(inputs)
        if not len(self.values):
            return RowValues(np.zeros(len(positions), self.values.dtype), is_missing)
        return RowValues(self.values[np.maximum(positions, 0)], is_missing)

    def _positions_by_row(self, inputs: AlignedInputs) -> NDArray[np.int64]:
        """Return the position of each row's value; -1 for none."""
        if self.keys is None:
            if len(self.values) != len(inputs.truth):
                raise input_error(self.argument, f"one entry per user ({len(inputs.truth)})", f"{len(self)}")
            return np.arange(len(self.values))
        if self.code_positions is not None and inputs.row_users is not None:
            by_row: NDArray[np.int64] = self.code_positions[
                np.minimum(inputs.row_users[1], len(self.code_positions) - 1)
            ]
            return by_row
        users = inputs.truth.users
        if users is None:
            expected = "one entry per row, as users have no keys"
            hint = (
                f"{self.argument}={self.plain_values}, where users are the users of the rows"
                if self.plain_values
                else ""
            )
            raise type_error(self.argument, expected, "entries with keys", hint=hint)
        return np.array([self._position_of_key.get(key, -1) for key in users.tolist()], np.int64)

    def _check_kinds(self, inputs: AlignedInputs) -> None:
        """Raise InputTypeError if no key is of the users' type, and so none can match."""
        users = inputs.truth.user_vocabulary
        kinds = {_kinds_of(key) for key in self._position_of_key}
        if users is not None and kinds and users.kinds not in kinds:
            expected, found = (" and ".join(one) for one in (users.kinds, next(iter(kinds))))
            raise type_error(self.argument, f"users of type {expected}, as in the truth", found, hint=KIND_HINT)

    @cached_property
    def _position_of_key(self) -> dict[Any, int]:
        return {_lookup_key(key): position for position, key in enumerate(self.keys or ())}


def _column_name_error(name: str, argument: str, truth: Truth | Rows | None) -> Exception:
    hint = ""
    if truth is not None and truth.columns.used and truth.user_vocabulary is not None:
        users = list(truth.user_vocabulary.vocabulary.labels)
        hint = (
            f"{argument}=truth.groupby({(users[0] if len(users) == 1 else users)!r})[{name!r}].first() "
            "if it is a column of a pandas truth with one value per user"
        )
    return type_error(argument, CONTAINERS, repr(name), hint=hint)


def _lookup_key(key: object) -> object:
    """Return the key in the vocabulary's form: keys other than numbers, strings and tuples of them by ``str``."""
    return key if key is None or isinstance(key, (Number, np.generic, str, bytes, tuple)) else str(key)


def _kinds_of(key: object) -> tuple[str, ...]:
    """Return the kinds of a key's parts; an empty kind if it cannot be a user key."""
    if isinstance(key, tuple):
        return tuple(kind for part in key for kind in _kinds_of(part))
    for kind, base in (("", bool), ("int", Integral), ("str", str), ("bytes", bytes)):
        if isinstance(key, base):
            return (kind,)
    return ("",)


class Weights(UserValues):
    """The weight of each user in a mean."""

    argument = "weights"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> NDArray[np.float64]:  # noqa: ARG003 - weights are numbers
        return number_array(values, cls.argument)


class Groups(UserValues):
    """The group of each user."""

    argument = "groups"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> NDArray[Any]:
        return key_array(values, cls.argument, hint=hint)

    def encode_by_row(self, inputs: AlignedInputs) -> tuple[RowValues, list[Any]]:
        """Return the code of each row's group, and the group labels."""
        groups, is_missing = self.by_row(inputs)
        codes = np.zeros(len(groups), np.int64)
        labels, codes[~is_missing] = np.unique(groups[~is_missing], return_inverse=True)
        return RowValues(codes, is_missing), labels.tolist()


class Clusters(UserValues):
    """The cluster of each user, such as the person whose sessions are evaluated as users."""

    argument = "clusters"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> NDArray[Any]:
        kept = values.tolist() if isinstance(values, np.ndarray) else values
        missing = [value is None or value != value for value in kept] if isinstance(kept, list) else []  # noqa: PLR0124 - NaN
        if any(missing):  # as strings, all of these users would be one cluster
            raise input_error(cls.argument, "a cluster for every user", "NaN or None", count=sum(missing))
        return key_array(values, cls.argument, hint=hint)

    def of_users(self, users: NDArray[Any], first_row: int) -> NDArray[Any]:
        """Return the clusters of users, by their keys or, without keys, by their rows from `first_row` on."""
        if self.keys is None:
            clusters = self.values[first_row : first_row + len(users)]
            if len(clusters) < len(users):
                raise input_error(self.argument, f"one entry per user ({first_row + len(users)})", f"{len(self)}")
            return clusters
        positions = [self._position_of_key.get(user, -1) for user in users.tolist()]
        if -1 in positions:
            found = f"none of user {users[positions.index(-1)].item()!r}"
            raise input_error(self.argument, "a cluster for every user", found, count=positions.count(-1))
        return self.values[positions]
