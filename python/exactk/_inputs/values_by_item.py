"""One value per item, by key in a mapping, a pandas Series or a data frame, or else beside the catalogue."""

from __future__ import annotations

from contextlib import contextmanager
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import entries_of
from exactk._inputs.containers.tables import Table, open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import column_of_objects, index_columns, is_missing
from exactk._inputs.keys.item_keys import ItemEntries
from exactk._inputs.keys.key_lists import encode_item_keys
from exactk._inputs.long_format import Encoding, encode_items
from exactk._inputs.registry import ARRAY, BLOCKS, FRAME, LIST, MAPPING, SERIES, classify
from exactk._inputs.values_by_user import plain_values, values_of_column
from exactk._runtime import optional
from exactk._runtime.errors import InputError, InputTypeError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.item_keys import ItemKeys


def check_labels_are_items(
    part: Any,  # noqa: ANN401 - of any library
    argument: str,
    catalogue: object,
    keys: ItemKeys,
    positions: NDArray[np.int64],
) -> None:
    """Raise InputError if the index of a part may have items, and may as well have the labels of the catalogue's rows.

    `keys` are the items of the `catalogue` in ascending order, and `positions` are those of its entries among them.
    """
    if optional.is_series(part) and optional.is_default_index(part.index):
        _check_numbered_rows(argument, keys, positions)
    elif optional.is_series(catalogue) and _may_have_items_in_index(part) and _has_labels_of(part.index, catalogue):
        _raise_shared_labels(part, argument)


def _check_numbered_rows(argument: str, keys: ItemKeys, positions: NDArray[np.int64]) -> None:
    """Raise InputError if numbers of rows may be items, and are not those of the same rows of the catalogue."""
    numbers = np.arange(len(keys))
    are_numbers = keys.integers is not None and np.array_equal(keys.integers, numbers)
    if keys.integers is None or (are_numbers and np.array_equal(positions, numbers)):
        return
    expected = "items in the index, or values beside the catalogue without an index"
    found = "the default index of pandas, whose numbers could be items"
    hint = (
        f"{argument}={argument}.to_numpy() is beside the catalogue, {argument}={argument}.to_dict() has items as keys"
    )
    raise input_error(argument, expected, found, hint=hint)


def _may_have_items_in_index(part: Any) -> bool:  # noqa: ANN401 - of any library
    if optional.is_series(part):
        return bool(part.index.nlevels == 1)
    return optional.is_pandas(part) and part.index.nlevels == 1 and has_items_in_index(part)


def _has_labels_of(index: Any, catalogue: Any) -> bool:  # noqa: ANN401 - of pandas
    """Return whether all labels are those of rows of the catalogue with other items."""
    names_items = isinstance(index.name, str) and (index.name == catalogue.name or usual_role(index.name) == "item")
    if names_items or catalogue.index.nlevels > 1 or not index.isin(catalogue.index).all():
        return False
    if not catalogue.index.is_unique:
        return True
    return bool(catalogue.reindex(index).tolist() != index.tolist())


def _raise_shared_labels(part: Any, argument: str) -> None:  # noqa: ANN401 - of pandas
    if optional.is_series(part):
        beside = f"{argument}=dict(zip(catalogue[{argument}.index], {argument}))"
        by_item = f"{argument}={argument}.to_dict()"
    else:
        beside = f"{argument}={argument}.assign(item=catalogue)"
        by_item = f"{argument}={argument}.rename_axis('item')"
    expected = "an index of items, or no index"
    found = "labels of the catalogue's rows"
    hint = f"{beside} takes the items of these rows, {by_item} reads the labels as items"
    raise input_error(argument, expected, found, hint=hint)


CONTAINERS = "a mapping from item to value, a Series, a data frame, or an array or list beside the catalogue"
"""The accepted containers, for messages."""


LEAVE_OUT = "leave out the item, as items may have none"
"""The hint where a value is missing."""


class ValuesByItem(NamedTuple):
    """Values as an array or list, and their items, each once."""

    values: Any
    items: ItemEntries | None  # None: the values are in the order of the catalogue


def values_by_item(container: Any, argument: str) -> ValuesByItem:  # noqa: ANN401 - of any library
    """Return the values and their items."""
    given = _given_values(container, argument)
    if given.items is not None:
        check_distinct_entries(given.items, argument)
    _check_values_are_given(given.values, given.items, argument)
    return given


def _given_values(container: Any, argument: str) -> ValuesByItem:  # noqa: ANN401 - of any library
    container, kind = classify(container, argument)
    if kind is MAPPING:
        container = entries_of(container, argument)
        values: object = list(container.values())
        entries = _entries(list(container), argument)
    elif kind is SERIES and optional.is_series(container) and not optional.is_default_index(container.index):
        values, entries = plain_values(container), entries_of_index(container.index, argument)
    elif kind is SERIES:
        return ValuesByItem(plain_values(container), None)
    elif kind is FRAME:
        values, entries = _frame_values(container, argument)
    elif kind in {LIST, ARRAY} or isinstance(container, (tuple, range)):
        if kind is ARRAY and container.dtype.kind in "OT":
            container = container.tolist()
        return ValuesByItem(list(container) if isinstance(container, range) else container, None)
    else:
        hint = f"{argument}=list({argument})" if kind is BLOCKS else ""
        raise type_error(argument, CONTAINERS, type(container).__name__, hint=hint)
    return ValuesByItem(values, entries)


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


def _entries(keys: list[Any], argument: str) -> ItemEntries:
    return item_entries(keys, f"{argument}.item")


def _entries_of_column(column: Column, argument: str) -> ItemEntries:
    ids, vocabulary = encode_items(column, argument, Encoding())
    return ItemEntries(ids, None if vocabulary is None else vocabulary.snapshot())


def entries_of_index(index: Any, argument: str) -> ItemEntries:  # noqa: ANN401 - of pandas
    """Return the items in the index of a Series or a frame."""
    columns, labels = index_columns(index, argument)
    if len(columns) > 1:
        raise type_error(argument, "an index of items", f"the levels {labels}")
    return _entries_of_column(columns[0], f"{argument}.item")


def check_distinct_entries(entries: ItemEntries, argument: str) -> None:
    """Raise InputError if an item repeats."""
    values, first = np.unique(entries.values, return_index=True)
    if len(values) == len(entries.values):
        return
    repeated = np.ones(len(entries.values), np.bool_)
    repeated[first] = False
    position, count = int(np.argmax(repeated)), int(repeated.sum())
    raise input_error(argument, "each item once", f"{entries.text(position)} again", position=position, count=count)


def has_items_in_index(frame: Any) -> bool:  # noqa: ANN401 - of pandas
    """Return whether only the index of a frame can be the items: pandas does not number it, and no column has a usual name."""
    names = (*frame.columns, *frame.index.names)
    return not optional.is_default_index(frame.index) and not any(
        isinstance(name, str) and column_roles.usual_role(name) == "item" for name in names
    )


def _item_column(names: list[str], argument: str) -> str:
    """Return the name of the item column. No argument selects it, so hints are about the names."""
    try:
        columns = column_roles.Columns(names, hint=lambda: "rename the column of items to 'item'")
        return column_roles.item_column(columns, None, argument)
    except InputError as error:
        if not any(isinstance(part, Option) for part in error.fault.hint):
            raise
        others = [name for name in names if column_roles.usual_role(name) == "item"][1:]
        raise error.amended(hint=(f"drop or rename {' and '.join(others)}",)) from error.__cause__


def item_of_frame(frame: Any, table: Table, argument: str) -> tuple[str | None, ItemEntries]:  # noqa: ANN401 - of any library
    """Return the item column, None for the index, and the items in it."""
    if optional.is_pandas(frame) and has_items_in_index(frame):
        return None, entries_of_index(frame.index, argument)
    item = _item_column(table.names, argument)
    selected = table.select([item], argument)
    if selected.list_offsets:
        raise type_error(f"{argument}.{item}", "one item per row", "lists")
    return item, _entries_of_column(selected.columns[item], f"{argument}.{item}")


def _frame_values(frame: Any, argument: str) -> tuple[object, ItemEntries]:  # noqa: ANN401 - of any library
    """Return the values of the only column besides the item column, or besides the index."""
    table = open_table(frame, argument)
    item, entries = item_of_frame(frame, table, argument)
    (name,) = _other_columns(table, item, argument)
    return _values(table, name, argument), entries


def _other_columns(table: Table, item: str | None, argument: str) -> list[Any]:
    """Return the one column that is not the item's; raise InputError if there is not one."""
    others = [name for name in table.data_names if name != item]
    if len(others) != 1 or not isinstance(others[0], str):
        found = " and ".join(map(str, others)) or "none"
        beside = "the index" if item is None else item
        hint = f"{argument}={argument}[{[*([] if item is None else [item]), others[0]]!r}]" if others else ""
        raise input_error(argument, f"one column besides {beside}", found, hint=hint)
    return others


def _values(table: Table, name: str, argument: str) -> object:
    with leaving_out_items():
        selected = table.select([name], argument)
    if selected.list_offsets:
        raise type_error(f"{argument}.{name}", "a value in every row", "lists")
    return values_of_column(selected.columns[name], f"{argument}.{name}")


def numbers_of(values: object, argument: str) -> Any:  # noqa: ANN401 - an array or a list, for `number_array`
    """Return values that may be numbers of mixed types as an array; raise InputTypeError for flags, which are no numbers."""
    if isinstance(values, (list, tuple)):
        if not values:
            return np.zeros(0)
        if any(issubclass(one, (bool, np.bool_)) for one in set(map(type, values))):
            raise type_error(argument, "numbers", "bool")
        return column_of_objects(list(values), argument).values(argument)
    return values
