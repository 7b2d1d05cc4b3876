"""One value per user, by key in a mapping, a pandas Series or a data frame, or else by row."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from numbers import Integral, Number
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._inputs.checks import entries_of
from exactk._inputs.containers.tables import Table, is_frame, open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns
from exactk._inputs.keys.columns import TextColumn, key_columns, key_kind
from exactk._inputs.keys.pivoted import index_columns
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.long_format import key_kinds
from exactk._inputs.registry import ARRAY, BLOCKS, FRAME, LIST, MAPPING, SERIES, classify
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot


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
