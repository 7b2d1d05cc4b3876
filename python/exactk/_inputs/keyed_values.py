"""Keyed values: one value per user or per item, from a mapping, a Series, a data frame, or else an array or a list in order.

`read_keyed` tells the containers apart, for users and items alike. What differs is in a `Side`: users may have keys of
several parts, and in a mapping of several kinds; items have one kind of keys, and each has a value.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from numbers import Integral, Number
from operator import itemgetter, ne
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._inputs.checks import entries_of, first_repeat
from exactk._inputs.containers.frames import has_user_index
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns, usual_role
from exactk._inputs.keys.columns import TextColumn, index_columns, is_missing, key_columns, key_kind
from exactk._inputs.keys.key_lists import ItemEntries, encode_item_keys
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.long_format import Encoding, encode_items, key_kinds
from exactk._inputs.registry import ARRAY, BLOCKS, FRAME, LIST, MAPPING, SERIES, classify
from exactk._runtime import optional
from exactk._runtime.errors import InputError, InputTypeError, input_error, type_error
from exactk._runtime.faults import Name, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.containers.tables import ColumnTable, Table
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.registry import ClassifiedValue


class KeyedValues(NamedTuple):
    """Values as an array or list, and whose they are."""

    values: Any
    keys: Any  # `UserKeys` or `ItemEntries`; None: the values are in the order of the rows, or of the catalogue
    plain_values: str = ""  # code that returns only the values; for those of keyed users, of `users` in that order
    column: str | None = None  # name of the values' column


class Side(NamedTuple):
    """Whose values are read, and what of their containers differs."""

    containers: str  # which are accepted, for messages
    keys_of_objects: Callable[[list[Any], str], Any]  # of a mapping
    keys_of_index: Callable[[Any, str], Any]  # of pandas
    values_of_series: Callable[[Any], Any]


def read_keyed(classified: ClassifiedValue, argument: str, side: Side) -> KeyedValues:
    """Return the values and their keys, of all containers but frames."""
    container, kind = classified
    if kind is MAPPING:
        container = entries_of(container, argument)
        keys = side.keys_of_objects(list(container), argument)
        return KeyedValues(list(container.values()), keys, f"[{argument}[user] for user in users]")
    if kind is SERIES and has_user_index(container):
        keys = side.keys_of_index(container.index, argument)
        return KeyedValues(side.values_of_series(container), keys, f"{argument}.loc[users].to_numpy()", container.name)
    if kind is SERIES:
        as_list = ".to_pylist()" if hasattr(container, "to_pylist") else ""
        return KeyedValues(side.values_of_series(container), None, argument + as_list)
    if kind not in {LIST, ARRAY} and not isinstance(container, (tuple, range)):
        hint = f"{argument}=list({argument})" if kind is BLOCKS else ""
        raise type_error(argument, side.containers, type(container).__name__, hint=hint)
    holds_objects = type(container) is np.ndarray and container.dtype.kind in "OT"
    return KeyedValues(container.tolist() if holds_objects else container, None, argument)


def plain_values(series: object) -> Any:  # noqa: ANN401 - an array or a list
    """Return numbers, and dates, which are then refused, as an array, and other values as a list."""
    array = np.asarray(series)
    if not array.ndim:
        raise type_error("series", "a column of values", type(series).__name__)
    return array if array.dtype.kind in "biufcmM" else array.tolist()  # tolist() turns some dates into integers


def _has_keys_in_index(frame: Any, names: Iterable[str], role: str) -> bool:  # noqa: ANN401 - of any library
    """Return whether only the index can be the keys: pandas does not number it, and no column has a usual name."""
    return (
        optional.is_pandas(frame)
        and not optional.is_default_index(frame.index)
        and not any(usual_role(name) == role for name in names)
    )


def _only_column(
    others: Sequence[Any], argument: str, beside: str, select: Callable[[Any], object], names: type = str
) -> Any:  # noqa: ANN401 - what names a column
    """Return the one column that has the values; `select` returns what selects one of several with the keys."""
    if len(others) == 1 and isinstance(others[0], names):
        return others[0]
    found = " and ".join(map(str, others)) or "none"
    hint = f"{argument}={argument}[{select(others[0])!r}]" if others else ""
    raise input_error(argument, Name(f"one column {beside}"), Name(found), hint=hint)


def _values_in(selected: ColumnTable, name: str, argument: str) -> object:
    """Return the values of a column; raise if it holds lists, or a column of keys does."""
    for column in selected.list_offsets:
        raise type_error(f"{argument}.{column}", "a value in every row", "lists")
    return selected.values_of(name, f"{argument}.{name}")


# Users.

USER_CONTAINERS = "a mapping from user to value, a Series, a data frame, the path of a file, or an array or list with one entry per row"


class KeyPositions(NamedTuple):
    """Keys of users, and the position of each key's value."""

    keys: Snapshot
    positions: NDArray[np.int64]


UserKeys: TypeAlias = "dict[tuple[str, ...], KeyPositions]"
"""The users of values by the kinds of their keys, which may differ in a mapping."""


def values_by_user(container: object, argument: str, requested: ColumnNames) -> KeyedValues:
    """Return the values and their users."""
    classified = classify(container, argument)
    if classified.container is FRAME:
        return _values_of_user_frame(classified.value, argument, requested)
    return read_keyed(classified, argument, Side(USER_CONTAINERS, _users_of_objects, _users_of_index, plain_values))


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


def _users_of_objects(keys: list[Any], argument: str) -> UserKeys:
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
) -> Iterable[tuple[Sequence[int] | NDArray[np.int64], Sequence[Column]]]:
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


def _users_of_index(index: Any, argument: str) -> UserKeys:  # noqa: ANN401 - of pandas
    return _users_of_columns(*index_columns(index, argument), argument)


def _users_of_columns(columns: Sequence[Column], labels: Sequence[str], argument: str) -> UserKeys:
    """Return the keys in the rows of columns; raise if any repeats."""
    vocabulary = Vocabulary.of_kinds(key_kinds(columns, labels, argument), labels)
    codes, keys = vocabulary.encode(columns, argument), vocabulary.snapshot()
    if len(keys) < len(codes) and (repeat := first_repeat(codes)):
        row, count = repeat
        raise input_error(argument, "each user once", f"{keys.repr_of(int(codes[row]))} again", row=row, count=count)
    return {vocabulary.kinds: KeyPositions(keys, np.arange(len(codes)))} if len(codes) else {}


def _values_of_user_frame(frame: Any, argument: str, requested: ColumnNames) -> KeyedValues:  # noqa: ANN401 - of any library
    """Return the values of the only column besides the user columns, or besides the index."""
    table = open_table(frame, argument)
    if requested.get("user") is None and _has_keys_in_index(frame, table.names, "user"):
        name = _only_column(table.data_names, argument, "beside the index", lambda name: name)
        values = _values_in(table.select([name], argument), name, argument)
        code = f"{argument}.loc[users, {name!r}].to_numpy()"
        return KeyedValues(values, _users_of_index(frame.index, argument), code, name)
    users = column_roles.user_columns(Columns(table.names), requested.get("user"), argument)
    others = [name for name in table.data_names if name not in users]
    name = _only_column(others, argument, f"besides {' and '.join(users)}", lambda name: [*users, name], object)
    selected = table.select([*users, name], argument)
    values = _values_in(selected, name, argument)
    keys = _users_of_columns([selected.columns[user] for user in users], users, argument)
    return KeyedValues(values, keys, _values_of_users(frame, argument, users, name), name)


def _values_of_users(frame: Any, argument: str, users: list[str], column: str) -> str:  # noqa: ANN401 - of any library
    """Return code for the values of `users` in that order."""
    if len(users) > 1 or optional.is_lazy(frame):
        return ""
    if optional.is_pandas(frame):
        return f"{argument}.reset_index().set_index({users[0]!r}).loc[users, {column!r}].to_numpy()"
    as_list = ".to_pylist()" if hasattr(frame, "to_pylist") else ""  # Arrow columns hold Arrow scalars
    columns = ", ".join(f"{argument}[{name!r}]{as_list}" for name in (users[0], column))
    return f"[dict(zip({columns}))[user] for user in users]"


# Items.

_ITEM_CONTAINERS = "a mapping from item to value, a Series, a data frame, or an array or list beside the catalogue"
LEAVE_OUT = "leave out the item, as items may have none"
"""The hint where a value is missing."""


def values_by_item(container: object, argument: str) -> KeyedValues:
    """Return the values and their items, each once."""
    classified = classify(container, argument)
    if classified.container is FRAME:
        given = _values_of_item_frame(classified.value, argument)
    else:
        given = read_keyed(classified, argument, Side(_ITEM_CONTAINERS, items_of_objects, items_of_index, plain_values))
    if given.keys is not None:
        check_distinct_entries(given.keys, argument)
    _check_values_are_given(given.values, given.keys, argument)
    return given


def of_item(items: ItemEntries | None, position: int) -> str:
    """Return whose value is at a position, for messages; empty if it is not known."""
    return "" if items is None else f" of {items.text(position)}"


@contextmanager
def leaving_out_items() -> Iterator[None]:
    """Add to an error about missing values in a column what to do."""
    try:
        yield
    except InputTypeError as error:
        if error.fault.expected not in {"a value in every row", "a list in every row"}:
            raise
        raise error.amended(hint=(LEAVE_OUT,)) from error.__cause__


def _check_values_are_given(values: Any, items: ItemEntries | None, argument: str) -> None:  # noqa: ANN401 - an array or a list
    """Raise InputError for None or NaN, naming the item."""
    if isinstance(values, np.ndarray):
        missing = np.flatnonzero(np.isnan(values)).tolist() if values.dtype.kind == "f" and values.ndim == 1 else []
    else:
        is_plain = set(map(type, values)) <= {int, float, str} and not any(map(ne, values, values))  # NaN is not itself
        missing = [] if is_plain else [position for position, value in enumerate(values) if is_missing(value)]
    if missing:
        found = f"{values[missing[0]]}{of_item(items, missing[0])}"
        hint = LEAVE_OUT if items is not None else f"{argument} as a mapping may leave out the item"
        raise input_error(argument, "a value in every entry", found, position=missing[0], count=len(missing), hint=hint)


def item_entries(items: object, argument: str) -> ItemEntries:
    """Return the items of a list, an array, a Series or an Index."""
    if isinstance(items, (list, tuple)) and bool in set(map(type, items)):
        raise type_error(argument, "integers, strings or bytes", "bool")
    return ItemEntries(*encode_item_keys(items, argument))


def items_of_objects(keys: list[Any], argument: str) -> ItemEntries:
    """Return the items that are the keys of a mapping."""
    return item_entries(keys, f"{argument}.item")


def items_of_index(index: Any, argument: str) -> ItemEntries:  # noqa: ANN401 - of pandas
    """Return the items in the index of a Series or a frame."""
    columns, labels = index_columns(index, argument)
    if len(columns) > 1:
        raise type_error(argument, "an index of items", f"the levels {labels}")
    return ItemEntries(*encode_items(columns[0], f"{argument}.item", Encoding()))


def check_distinct_entries(entries: ItemEntries, argument: str, expected: str = "each item once") -> None:
    """Raise InputError if an item repeats."""
    if repeat := first_repeat(entries.values):
        position, count = repeat
        raise input_error(argument, expected, f"{entries.text(position)} again", position=position, count=count)


def has_items_in_index(frame: Any) -> bool:  # noqa: ANN401 - of pandas
    """Return whether only the index of a frame can be the items."""
    return _has_keys_in_index(frame, open_table(frame, "items").names, "item")


def _item_column(names: list[str], argument: str) -> str:
    """Return the name of the item column. No argument selects it, so hints are about the names."""
    try:
        columns = Columns(names, hint=lambda: "rename the column of items to 'item'")
        return column_roles.item_column(columns, None, argument)
    except InputError as error:
        if not any(isinstance(part, Option) for part in error.fault.hint):
            raise
        others = [name for name in names if usual_role(name) == "item"][1:]
        raise error.amended(hint=(f"drop or rename {' and '.join(others)}",)) from error.__cause__


def item_of_frame(frame: Any, table: Table, argument: str) -> tuple[str | None, ItemEntries]:  # noqa: ANN401 - of any library
    """Return the item column, None for the index, and the items in it."""
    if _has_keys_in_index(frame, table.names, "item"):
        return None, items_of_index(frame.index, argument)
    item = _item_column(table.names, argument)
    selected = table.select([item], argument)
    if selected.list_offsets:
        raise type_error(f"{argument}.{item}", "one item per row", "lists")
    return item, ItemEntries(*encode_items(selected.columns[item], f"{argument}.{item}", Encoding()))


def _values_of_item_frame(frame: Any, argument: str) -> KeyedValues:  # noqa: ANN401 - of any library
    """Return the values of the only column besides the item column, or besides the index."""
    table = open_table(frame, argument)
    item, entries = item_of_frame(frame, table, argument)
    keys = [] if item is None else [item]
    others = [name for name in table.data_names if name not in keys]
    name = _only_column(others, argument, f"besides {item or 'the index'}", lambda name: [*keys, name])
    with leaving_out_items():
        selected = table.select([name], argument)
    return KeyedValues(_values_in(selected, name, argument), entries)
