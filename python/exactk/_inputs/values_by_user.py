"""Values of the users of a call: their weights, groups and clusters, and what each has in train, matched by key or by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from exactk._inputs.checks import key_array, number_array
from exactk._inputs.containers.frames import has_user_index
from exactk._inputs.containers.tables import is_frame
from exactk._inputs.keyed_values import USER_CONTAINERS, values_by_user
from exactk._inputs.keys.columns import is_missing as is_missing_value
from exactk._inputs.keys.key_lists import describe_disjoint, encode_labels, encode_row_keys
from exactk._inputs.keys.vocabulary import kinds_error, vocabulary_of_labels
from exactk._inputs.model.item_table import UserHistories
from exactk._inputs.registry import names_file, open_path
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keyed_values import UserKeys
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary
    from exactk._inputs.model.item_table import Histories
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
    keys: UserKeys | None  # None: the values are in the order of the rows
    plain_values: str = ""  # code that returns only the values, for hints
    column: str | None = None  # name of the values' column
    code_positions: NDArray[np.int64] | None = None  # by code, where keys were encoded; last, -1 for all higher codes
    order: tuple[Any, ...] | None = None  # of all values that there may be, if they are categories with an order
    labels: NDArray[Any] | None = None  # in ascending order, where the values are their numbers

    argument = "weights"

    @classmethod
    def from_argument(cls, container: object, columns: ColumnNames, truth: Truth | Rows | None = None) -> Self:
        """Return the values of a container; `columns` names those of data frames."""
        if isinstance(container, str) and not names_file(container):
            raise _column_name_error(container, cls.argument, truth)
        container = optional.unwrapped(open_path(container, cls.argument, columns))
        given = values_by_user(container, cls.argument, columns)
        array, labels = cls._to_array(given.values, _conversion_hint(container, cls.argument, given.column))
        order = _category_order(container, given.column)
        return cls(array, given.keys, given.plain_values, given.column, order=order, labels=labels)

    def check_keys(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed and values are not, as their orders may differ."""
        if self.keys is not None or (truth.user_vocabulary is None and truth.labels is None):
            return
        expected, count = "entries with user keys, as in the truth", len(self.values)
        found = f"{count} {'entry' if count == 1 else 'entries'} without keys"
        code = Name(f"{self.argument}=dict(zip(users, {self.plain_values})), where users")
        raise type_error(self.argument, expected, found, hint=(code, " are the users of the entries"))

    @classmethod
    def _to_array(cls, values: object, hint: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the values, and their labels if they are numbers of these; the hint is how to convert other values."""
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
        keys, positions = (self.keys or {}).get(users.kinds, (None, np.zeros(0, np.int64)))
        return replace(self, code_positions=_positions_by_code(keys, positions, users, self.argument))

    def check_users(self, by_row: RowValues, inputs: AlignedInputs) -> None:
        """Raise InputError if the values by row are of none of all users."""
        if self.keys and len(by_row.is_missing) and by_row.is_missing.all():
            hint = self._hint("the truth or the predictions", inputs.user_text(0))
            raise input_error(self.argument, "users of the truth", "none of them", hint=hint)

    def _hint(self, others: str, example: str) -> str:
        """Return what is said where no user of the values is among others."""
        first = next((entries.keys.repr_of(0) for entries in (self.keys or {}).values()), "")
        return describe_disjoint("user", self.argument, others, (first, example))

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
            return _at_codes(self.code_positions, inputs.row_users[1])
        users, labels = inputs.truth.user_vocabulary, inputs.truth.labels
        if users is not None:
            return self._positions_of_keys(users)
        if labels is None:
            expected = "one entry per row, as users have no keys"
            code = self.plain_values
            hint = (Name(f"{self.argument}={code}, where users"), " are the users of the rows") if code else ""
            raise type_error(self.argument, expected, "entries with keys", hint=hint)
        return self._positions_of_rows(labels)

    def _positions_of_keys(self, users: Snapshot) -> NDArray[np.int64]:
        """Return the position of each key's value; -1 for none."""
        entries = (self.keys or {}).get(users.kinds)
        if entries is None:
            return np.full(len(users), -1)
        return np.append(entries.positions, -1)[entries.keys.find(users, self.argument)]

    def _positions_of_rows(self, users: NDArray[Any]) -> NDArray[np.int64]:
        """Return the position of the value of each row's user, any of whom may repeat; -1 for none."""
        keys, codes = encode_row_keys(users, f"{self.argument}.user", len(users), "row")
        return self._positions_of_keys(keys)[codes]

    def _check_kinds(self, inputs: AlignedInputs) -> None:
        """Raise InputTypeError if no key is of the users' type, and so none can match."""
        users = inputs.truth.user_vocabulary
        if users is not None and self.keys and users.kinds not in self.keys:
            raise kinds_error(self.argument, "users", users.kinds, next(iter(self.keys)), "truth")


def _positions_by_code(
    keys: Snapshot | None, positions: NDArray[np.int64], users: Vocabulary, argument: str
) -> NDArray[np.int64]:
    """Add keys to a vocabulary; return the position for each code, and last, -1 for all higher codes."""
    codes = np.zeros(0, np.uint32) if keys is None else users.extend(keys, argument)
    by_code = np.full(len(users) + 1, -1, np.int64)
    by_code[codes] = positions
    return by_code


def _at_codes(by_code: NDArray[np.int64], codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return what `_positions_by_code` found for codes of its vocabulary, which may have grown."""
    positions: NDArray[np.int64] = by_code[np.minimum(codes, len(by_code) - 1)]
    return positions


def _column_name_error(name: str, argument: str, truth: Truth | Rows | None) -> Exception:
    hint = ""
    if truth is not None and truth.columns.used and truth.user_vocabulary is not None:
        users = list(truth.user_vocabulary.vocabulary.labels)
        hint = (
            f"{argument}=truth.groupby({(users[0] if len(users) == 1 else users)!r})[{name!r}].first() "
            "if it is a column of a pandas truth with one value per user"
        )
    return type_error(argument, USER_CONTAINERS, repr(name), hint=hint)


class Weights(UserValues):
    """The weight of each user in a mean."""

    argument = "weights"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> tuple[NDArray[Any], None]:  # noqa: ARG003 - weights are numbers
        return number_array(values, cls.argument), None


class Groups(UserValues):
    """The group of each user."""

    argument = "groups"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> tuple[NDArray[Any], NDArray[Any]]:
        labels, codes = encode_labels(values, cls.argument, hint=hint)
        return codes, labels

    def encode_by_row(self, inputs: AlignedInputs) -> tuple[RowValues, list[Any]]:
        """Return the code of each row's group, and the group labels."""
        assert self.labels is not None  # noqa: S101 - groups have some
        codes, is_missing = self.by_row(inputs)
        is_used = np.zeros(len(self.labels), np.bool_)
        is_used[codes[~is_missing]] = True
        used_codes = np.append(np.cumsum(is_used) - 1, 0)  # the last where there are no labels
        return RowValues(np.where(is_missing, 0, used_codes[codes]), is_missing), self.labels[is_used].tolist()


def _is_missing_cluster(value: Any) -> bool:  # noqa: ANN401 - of a user's list
    is_number = isinstance(value, (Number, np.generic))
    return is_missing_value(value) or bool(is_number and value != value)  # noqa: PLR0124 - NaN is not itself


class Clusters(UserValues):
    """The cluster of each user, such as the person whose sessions are evaluated as users."""

    argument = "clusters"

    @classmethod
    def _to_array(cls, values: object, hint: str) -> tuple[NDArray[Any], None]:
        kept: Any = values.tolist() if isinstance(values, np.ndarray) else values
        is_plain = not isinstance(kept, list) or set(map(type, kept)) <= {int, str}
        missing = 0 if is_plain else sum(map(_is_missing_cluster, kept))
        if missing:  # as strings, all of these users would be one cluster
            raise input_error(cls.argument, "a cluster for every user", "NaN or None", count=missing)
        return key_array(values, cls.argument, hint=hint), None

    def of_users(self, users: NDArray[Any], first_row: int) -> NDArray[Any]:
        """Return the clusters of users, by their keys or, without keys, by their rows from `first_row` on."""
        if self.keys is None:
            clusters = self.values[first_row : first_row + len(users)]
            if len(clusters) < len(users):
                raise input_error(self.argument, f"one entry per user ({first_row + len(users)})", f"{len(self)}")
            return clusters
        positions = self._positions_of_rows(users)
        is_missing = positions < 0
        if is_missing.any():
            user = users[[np.argmax(is_missing)]].tolist()[0]
            hint = self._hint("the compared lists", repr(user)) if is_missing.all() else ""
            found = f"none of user {user!r}"
            raise input_error(self.argument, "a cluster for every user", found, count=int(is_missing.sum()), hint=hint)
        return self.values[positions]


def _category_order(container: Any, column: str | None) -> tuple[str, ...] | tuple[int, ...] | None:  # noqa: ANN401 - of any library
    """Return the categories of a Series, or of the column of a frame, in order; None if they have no order."""
    if column is not None and is_frame(container) and hasattr(container, "__getitem__"):
        container = container.head(0).collect() if optional.is_lazy(container) else container
        container = container[column]
    categories = optional.ordered_categories(container)
    if {type(category) for category in categories} not in ({str}, {int}):
        return None
    return tuple(categories)


def _conversion_hint(container: Any, argument: str, column: object) -> str:  # noqa: ANN401 - of any library
    """Return how to convert the values in a container or column to strings, or a mapping from group to one from user."""
    if isinstance(container, Mapping) or has_user_index(container):
        values = list(container.values()) if isinstance(container, Mapping) else container
        if all(isinstance(value, (list, set, np.ndarray)) for value in values):
            code = "{user: group for group, users in " + argument + ".items() for user in users}"
            return f"{argument}={code} if these are the users of each group"
    code = _as_strings(container, argument, column)
    return f"{code} converts them to strings" if code else ""


def _as_strings(container: Any, argument: str, column: object) -> str:  # noqa: ANN401 - of any library
    """Return code that converts the values in a container or column to strings."""
    if optional.is_series(container) and optional.ordered_categories(container) and not container.isna().any():
        return f"{argument}={argument}.cat.rename_categories(str)"
    if isinstance(container, Mapping) or has_user_index(container):
        return f"{argument}={{user: str(value) for user, value in {argument}.items()}}"
    if optional.is_pandas(container):
        return f"{argument}={argument}.assign(**{{{column!r}: {argument}[{column!r}].map(str)}})"
    if not is_frame(container):
        return f"{argument}=list(map(str, {argument}))"
    return f"{argument}={argument}.cast({{{column!r}: str}})" if hasattr(container, "collect_schema") else ""


_TRAIN = "train"


def rows_by_code(histories: Histories, users: Vocabulary) -> NDArray[np.int64]:
    """Add the users of train to a vocabulary; return the row of each code, and last, -1 for all higher codes."""
    keys = histories.users if histories.users is not None and histories.users.kinds == users.kinds else None
    return _positions_by_code(keys, np.arange(0 if keys is None else len(keys)), users, _TRAIN)


def histories_of_users(
    histories: Histories, inputs: AlignedInputs, block: range | None, by_code: NDArray[np.int64] | None
) -> UserHistories:
    """Return the histories of a call's users.

    `block` are the positions of a block of users among all of them, and `by_code` is what `rows_by_code` returned for users
    who come in batches.
    """
    keys = _keys_of_users(inputs)
    if histories.users is None:
        return UserHistories(histories, _rows_by_position(len(histories), inputs, keys, block))
    if keys is None:
        hint = "truth=dict(zip(users, truth)) adds them"
        raise type_error("truth", "user keys, as in train", "rows without user keys", hint=hint)
    if len(keys) and len(histories) and keys.kinds != histories.users.kinds:
        raise kinds_error(_TRAIN, "users", keys.kinds, histories.users.kinds, "truth")
    if inputs.row_users is not None and by_code is not None:
        return UserHistories(histories, _at_codes(by_code, inputs.row_users[1]))
    if not len(keys) or not len(histories):
        return UserHistories(histories, np.full(len(inputs.truth), -1, np.int64))
    return UserHistories(histories, histories.users.find(keys, _TRAIN))


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
        raise type_error(_TRAIN, "user keys, as in the truth", "rows without user keys", hint=hint)
    users = len(inputs.truth)
    if block is None and size != users:
        raise input_error(_TRAIN, f"one row per user ({users})", str(size))
    return np.arange(users) if block is None else np.arange(block.start, block.stop)
