"""One value per user, such as weights and groups, by key in a mapping, a pandas Series or a data frame, or else by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral, Number
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from exactk._inputs.checks import entries_of, key_array, number_array
from exactk._inputs.containers.tables import Table, is_frame, open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns
from exactk._inputs.keys.columns import TextColumn, index_columns, is_missing as is_missing_value, key_columns, key_kind
from exactk._inputs.keys.disjoint_keys import describe_disjoint
from exactk._inputs.keys.key_lists import encode_labels, encode_row_keys
from exactk._inputs.keys.vocabulary import KIND_HINT, Vocabulary
from exactk._inputs.long_format import key_kinds
from exactk._inputs.paths import names_file, open_path
from exactk._inputs.registry import ARRAY, BLOCKS, FRAME, LIST, MAPPING, SERIES, classify
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.truth import Truth


def category_order(container: Any, column: str | None) -> tuple[str, ...] | tuple[int, ...] | None:  # noqa: ANN401 - of any library
    """Return the categories of a Series, or of the column of a frame, in order; None if they have no order."""
    if column is not None and is_frame(container) and hasattr(container, "__getitem__"):
        container = container.head(0).collect() if optional.is_lazy(container) else container
        container = container[column]
    categories = optional.ordered_categories(container)
    if {type(category) for category in categories} not in ({str}, {int}):
        return None
    return tuple(categories)


CONTAINERS = "a mapping from user to value, a Series, a data frame, the path of a file, or an array or list with one entry per row"
"""The accepted containers, for messages."""


class KeyPositions(NamedTuple):
    """Keys of users, and the position of each key's value."""

    keys: Snapshot
    positions: NDArray[np.int64]


UserKeys: TypeAlias = "dict[tuple[str, ...], KeyPositions]"
"""The users of values by the kinds of their keys, which may differ in a mapping."""


class ValuesByUser(NamedTuple):
    """Values as an array or list, and their users."""

    values: object
    keys: UserKeys | None  # None: the values are in the order of the rows
    plain_values: str  # code that returns only the values; for keyed values, those of `users`, in that order
    column: str | None = None  # name of the values' column


def values_by_user(container: Any, argument: str, requested: ColumnNames) -> ValuesByUser:  # noqa: ANN401 - of any library
    """Return the values and their users."""
    container, kind = classify(container, argument)
    if kind is MAPPING:
        container = entries_of(container, argument)
        keys = _keys_of_objects(list(container), argument)
        return ValuesByUser(list(container.values()), keys, f"[{argument}[user] for user in users]")
    if kind is SERIES and optional.is_series(container) and not optional.is_default_index(container.index):
        users, labels = index_columns(container.index, argument)
        keys = _keys_of_columns(users, labels, argument)
        return ValuesByUser(plain_values(container), keys, f"{argument}.loc[users].to_numpy()", container.name)
    if kind is SERIES:
        return ValuesByUser(
            plain_values(container), None, f"{argument}.to_pylist()" if hasattr(container, "to_pylist") else argument
        )
    if kind is FRAME:
        return _values_of_frame(container, argument, requested)
    if kind not in {LIST, ARRAY} and not isinstance(container, (tuple, range)):
        hint = f"{argument}=list({argument})" if kind is BLOCKS else ""
        raise type_error(argument, CONTAINERS, type(container).__name__, hint=hint)
    return ValuesByUser(container.tolist() if _holds_objects(container) else container, None, argument)


def conversion_hint(container: Any, argument: str, column: object) -> str:  # noqa: ANN401 - of any library
    """Return how to convert the values in a container or column to strings, or a mapping from group to one from user."""
    is_keyed_series = optional.is_series(container) and not optional.is_default_index(container.index)
    if isinstance(container, Mapping) or is_keyed_series:
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
    is_keyed_series = optional.is_series(container) and not optional.is_default_index(container.index)
    if isinstance(container, Mapping) or is_keyed_series:
        return f"{argument}={{user: str(value) for user, value in {argument}.items()}}"
    if optional.is_pandas(container):
        return f"{argument}={argument}.assign(**{{{column!r}: {argument}[{column!r}].map(str)}})"
    if not is_frame(container):
        return f"{argument}=list(map(str, {argument}))"
    return f"{argument}={argument}.cast({{{column!r}: str}})" if hasattr(container, "collect_schema") else ""


def _check_keys(keys: list[Any], types: set[type], argument: str) -> None:
    """Raise InputTypeError for a key that cannot be a user, such as 1.0 and True, which equal 1."""
    if any(issubclass(type_, tuple) for type_ in types):
        tuples = keys if types == {tuple} else [key for key in keys if isinstance(key, tuple)]
        types = types | set(map(type, chain.from_iterable(tuples)))
    wrong = tuple(type_ for type_ in types if not _is_key_type(type_))
    if not wrong:
        return
    found = [key for key in keys if any(type(part) in wrong for part in (key if isinstance(key, tuple) else (key,)))]
    expected = "integers, strings, bytes or tuples of them as users"
    raise type_error(argument, expected, f"{type(found[0]).__name__} {found[0]!r}", count=len(found))


def _is_key_type(part: type) -> bool:
    if issubclass(part, (Integral, str, bytes)):
        return not issubclass(part, bool)
    return part is not type(None) and not issubclass(part, (Number, np.generic))


def _holds_objects(container: object) -> bool:
    return type(container) is np.ndarray and container.dtype.kind in "OT"


def plain_values(series: object) -> object:
    """Return numbers, and dates, which are then refused, as an array, and other values as a list."""
    array = np.asarray(series)
    if not array.ndim:
        raise type_error("series", "a column of values", type(series).__name__)
    return array if array.dtype.kind in "biufcmM" else array.tolist()  # tolist() turns some dates into integers


def _keys_of_objects(keys: list[Any], argument: str) -> UserKeys:
    """Return the keys of a mapping, of which those that `str` makes equal have the last value."""
    types = set(map(type, keys))  # once, as this reads the memory of each key
    _check_keys(keys, types, argument)
    found: UserKeys = {}
    for positions, columns in _columns_by_kind(keys, types, f"{argument}.user"):
        vocabulary = Vocabulary.of_kinds([key_kind(column, argument) for column in columns])
        codes = vocabulary.encode(columns, argument)
        of_codes = np.empty(len(vocabulary), np.int64)
        of_codes[codes] = positions
        found[vocabulary.kinds] = KeyPositions(vocabulary.snapshot(), of_codes)
    return found


def _columns_by_kind(
    keys: list[Any], types: set[type], argument: str
) -> Iterable[tuple[Sequence[int] | NDArray[np.int64], list[Column]]]:
    """Return the positions and the columns of the keys of each kind; most often there is one."""
    if types == {str}:
        return [(np.arange(len(keys)), [TextColumn(keys, "str")])]
    if _have_one_kind(keys, types):
        return [(np.arange(len(keys)), key_columns(keys, argument))]
    by_kinds: dict[tuple[str, ...], tuple[list[int], list[Any]]] = {}
    for position, key in enumerate(keys):
        parts = key if isinstance(key, tuple) else (key,)
        plain = tuple([part if _kind_of(type(part)) else str(part) for part in parts])
        positions, of_kind = by_kinds.setdefault(tuple([_kind_of(type(part)) for part in plain]), ([], []))
        positions.append(position)
        of_kind.append(plain)
    return [(positions, key_columns(of_kind, argument)) for kinds, (positions, of_kind) in by_kinds.items() if kinds]


def _have_one_kind(keys: list[Any], types: set[type]) -> bool:
    """Return whether the keys, or each part of keys of as many parts, are all integers, strings, bytes or others."""
    if types == {tuple} and len(set(map(len, keys))) == 1 and keys[0]:
        parts = (set(map(type, map(itemgetter(part), keys))) for part in range(len(keys[0])))
        return all(len(set(map(_kind_of, of_part))) == 1 for of_part in parts)
    return len(set(map(_kind_of, types))) == 1 and not any(issubclass(type_, tuple) for type_ in types)


def _kind_of(type_: type) -> str:
    """Return the kind of keys of a type; empty for those that become strings."""
    return next(
        (kind for kind, base in (("int", Integral), ("str", str), ("bytes", bytes)) if issubclass(type_, base)), ""
    )


def _keys_of_columns(columns: Sequence[Column], labels: Sequence[str], argument: str) -> UserKeys:
    """Return the keys in the rows of columns; raise if any repeats."""
    vocabulary = Vocabulary.of_kinds(key_kinds(columns, labels, argument), labels)
    codes = vocabulary.encode(columns, argument)
    repeated = np.ones(len(codes), np.bool_)
    repeated[np.unique(codes, return_index=True)[1]] = False
    if repeated.any():
        row, count = int(np.argmax(repeated)), int(repeated.sum())
        raise input_error(
            argument, "each user once", f"{vocabulary.snapshot().repr_of(int(codes[row]))} again", row=row, count=count
        )
    return {vocabulary.kinds: KeyPositions(vocabulary.snapshot(), np.arange(len(codes)))} if len(codes) else {}


def _values_of_frame(frame: Any, argument: str, requested: ColumnNames) -> ValuesByUser:  # noqa: ANN401 - of any library
    """Return the values of the only column besides the user columns."""
    table = open_table(frame, argument)
    if requested.get("user") is None and _has_users_in_index(frame, table.names):
        return _values_by_index(frame, table, argument)
    users = column_roles.user_columns(Columns(table.names), requested.get("user"), argument)
    others = [name for name in table.data_names if name not in users]
    if len(others) != 1:
        found = " and ".join(map(str, others)) or "none"
        hint = f"{argument}={argument}[{[*users, others[0]]!r}]" if others else ""
        raise input_error(argument, f"one column besides {' and '.join(users)}", found, hint=hint)
    selected = table.select([*users, *others], argument)
    if lists := selected.list_offsets.keys():
        raise type_error(f"{argument}.{next(iter(lists))}", "a value in every row", "lists")
    keys = _keys_of_columns([selected.columns[name] for name in users], users, argument)
    values = values_of_column(selected.columns[others[0]], f"{argument}.{others[0]}")
    return ValuesByUser(values, keys, _values_of_users(frame, argument, users, others[0]), others[0])


def _has_users_in_index(frame: Any, names: list[str]) -> bool:  # noqa: ANN401 - of any library
    """Return whether only the index can be the users: pandas does not number it, and no column has a usual name."""
    return (
        optional.is_pandas(frame)
        and not optional.is_default_index(frame.index)
        and not any(column_roles.usual_role(name) == "user" for name in names)
    )


def _values_by_index(frame: Any, table: Table, argument: str) -> ValuesByUser:  # noqa: ANN401 - of pandas
    """Return the values of the only column, by the index."""
    names = table.data_names
    if len(names) != 1 or not isinstance(names[0], str):
        found = " and ".join(map(str, names)) or "none"
        hint = f"{argument}={argument}[{names[0]!r}]" if names else ""
        raise input_error(argument, "one column beside the index", found, hint=hint)
    users, labels = index_columns(frame.index, argument)
    selected = table.select(names, argument)
    values = values_of_column(selected.columns[names[0]], f"{argument}.{names[0]}")
    plain_values = f"{argument}.loc[users, {names[0]!r}].to_numpy()"
    return ValuesByUser(values, _keys_of_columns(users, labels, argument), plain_values, names[0])


def _values_of_users(frame: Any, argument: str, users: list[str], column: str) -> str:  # noqa: ANN401 - of any library
    """Return code for the values of `users` in that order."""
    if len(users) > 1 or optional.is_lazy(frame):
        return ""
    if optional.is_pandas(frame):
        return f"{argument}.reset_index().set_index({users[0]!r}).loc[users, {column!r}].to_numpy()"
    as_list = ".to_pylist()" if hasattr(frame, "to_pylist") else ""  # Arrow columns hold Arrow scalars
    columns = ", ".join(f"{argument}[{name!r}]{as_list}" for name in (users[0], column))
    return f"[dict(zip({columns}))[user] for user in users]"


def values_of_column(column: Column, argument: str) -> object:
    """Return the values as an array, or as a list if they are text."""
    if column.kind not in {"str", "bytes"}:
        return column.values(argument)
    vocabulary = Vocabulary.of_kinds([column.kind])
    codes = vocabulary.encode([column], argument)
    return vocabulary.snapshot().array[codes].tolist()


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
        values, keys, plain_values, column = values_by_user(container, cls.argument, columns)
        array, labels = cls._to_array(values, conversion_hint(container, cls.argument, column))
        return cls(array, keys, plain_values, column, order=category_order(container, column), labels=labels)

    def check_keys(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed and values are not, as their orders may differ."""
        if self.keys is not None or (truth.user_vocabulary is None and truth.labels is None):
            return
        expected, count = "entries with user keys, as in the truth", len(self.values)
        found = f"{count} {'entry' if count == 1 else 'entries'} without keys"
        hint = f"{self.argument}=dict(zip(users, {self.plain_values})), where users are the users of the entries"
        raise type_error(self.argument, expected, found, hint=hint)

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
        entries = (self.keys or {}).get(users.kinds)
        codes = np.zeros(0, np.uint32) if entries is None else users.extend(entries.keys, self.argument)
        code_positions = np.full(len(users) + 1, -1, np.int64)
        if entries is not None:
            code_positions[codes] = entries.positions
        return replace(self, code_positions=code_positions)

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
            by_row: NDArray[np.int64] = self.code_positions[
                np.minimum(inputs.row_users[1], len(self.code_positions) - 1)
            ]
            return by_row
        users, labels = inputs.truth.user_vocabulary, inputs.truth.labels
        if users is not None:
            return self._positions_of_keys(users)
        if labels is None:
            expected = "one entry per row, as users have no keys"
            hint = (
                f"{self.argument}={self.plain_values}, where users are the users of the rows"
                if self.plain_values
                else ""
            )
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
            expected, found = (" and ".join(one) for one in (users.kinds, next(iter(self.keys))))
            raise type_error(self.argument, f"users of type {expected}, as in the truth", found, hint=KIND_HINT)


def _column_name_error(name: str, argument: str, truth: Truth | Rows | None) -> Exception:
    hint = ""
    if truth is not None and truth.columns.used and truth.user_vocabulary is not None:
        users = list(truth.user_vocabulary.vocabulary.labels)
        hint = (
            f"{argument}=truth.groupby({(users[0] if len(users) == 1 else users)!r})[{name!r}].first() "
            "if it is a column of a pandas truth with one value per user"
        )
    return type_error(argument, CONTAINERS, repr(name), hint=hint)


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
