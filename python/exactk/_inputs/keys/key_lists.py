"""Keys of rows or columns: one distinct key each, in a list, an array, a Series or an Index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import Ids, arrow_table, asking, id_array, import_dlpack, key_array
from exactk._inputs.keys.columns import (
    NumberColumn,
    TextColumn,
    column_of_array,
    column_of_arrow,
    column_of_series,
    index_columns,
    key_columns,
    key_kind,
)
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot


def keys_of_rows(keys: object, argument: str, size: int, what: str) -> Snapshot | None:
    """Return the keys, whose codes are their positions; None for None.

    Raise unless there are `size` keys, one per user or item (`what` in messages), and all are distinct.
    """
    if keys is None:
        return None
    snapshot, codes = encode_row_keys(keys, argument, size, what)
    check_distinct_keys(snapshot, codes, argument)
    return snapshot


def check_distinct_keys(keys: Snapshot, codes: Codes, argument: str) -> None:
    """Raise InputError if the code of a key repeats."""
    if len(keys) == len(codes):
        return
    position = int(np.argmax(codes != np.arange(len(codes))))
    found, count = f"{keys.repr_of(int(codes[position]))} again", len(codes) - len(keys)
    raise input_error(argument, "distinct keys", found, position=position, count=count)


def encode_row_keys(keys: object, argument: str, size: int, what: str) -> tuple[Snapshot, Codes]:
    """Return the distinct keys, and the code of each; raise unless there are `size` keys, one per `what`."""
    parts, labels = _columns_of_keys(keys, argument)
    vocabulary = Vocabulary.of_kinds([key_kind(part, argument) for part in parts], labels)
    if len(parts[0]) != size:
        raise input_error(argument, f"one key per {what} ({size})", str(len(parts[0])))
    codes = vocabulary.encode(parts, argument)
    return vocabulary.snapshot(), codes


def keys_of_items(keys: object, argument: str, size: int, what: str = "column") -> Snapshot | None:
    """Return the keys of items, which have one part; None for None."""
    snapshot = keys_of_rows(keys, argument, size, what)
    if snapshot is not None and len(snapshot.kinds) > 1:
        raise type_error(argument, "integers, strings or bytes", f"tuples of {len(snapshot.kinds)}")
    if snapshot is not None and snapshot.kinds == ("int",) and (negative := snapshot.array < 0).any():
        position, count = int(np.argmax(negative)), int(negative.sum())
        raise input_error(
            argument, "item ids in [0, 2^63)", str(snapshot.array[position]), position=position, count=count
        )
    return snapshot


def encode_item_keys(items: object, argument: str) -> tuple[Ids, Snapshot | None]:
    """Return the items of rows as integers, and their keys if these are not integers themselves."""
    if isinstance(items, np.ndarray) and items.dtype.kind not in "OUST":
        return id_array(items, argument), None
    if isinstance(items, (list, tuple, range)) and all(issubclass(kind, Integral) for kind in set(map(type, items))):
        return id_array(items, argument), None
    parts, _ = _columns_of_keys(items, argument)
    if len(parts) > 1:
        raise type_error(argument, "integers, strings or bytes", f"tuples of {len(parts)}")
    kind = key_kind(parts[0], argument)
    if kind == "int":
        return id_array(parts[0].values(argument), argument), None
    vocabulary = Vocabulary.of_kinds([kind])
    return vocabulary.encode(parts, argument).astype(np.int64), vocabulary.snapshot()


def encode_labels(values: object, argument: str, *, hint: str = "") -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct labels, all integers or all strings, in ascending order, and the number of each value's."""
    column: Column
    if isinstance(values, list) and set(map(type, values)) == {str}:
        column = TextColumn(values, "str")
    else:
        array = key_array(values, argument, hint=hint)
        column = NumberColumn(array) if array.dtype.kind in "iu" else TextColumn(array.tolist(), "str")
    vocabulary = Vocabulary.of_kinds([column.kind])
    codes = vocabulary.encode([column], argument)
    distinct = vocabulary.snapshot().array
    if column.kind == "str":
        distinct = key_array(distinct.tolist(), argument)
    labels, numbers = np.unique(distinct, return_inverse=True)
    return labels, numbers[codes]


_EXPECTED_KEYS = "a list, an array, a Series or an Index of keys"


def _list_hint(keys: object, argument: str) -> str:
    """Return how to list the keys in order, if they can be iterated over."""
    name = argument.rpartition(".")[2]
    if isinstance(keys, (set, frozenset)):
        return "a set has no order"
    if isinstance(keys, Mapping):
        return f"{name}=sorted({name}, key={name}.get) if it maps keys to numbers of rows or columns"
    return f"{name}=list({name})" if isinstance(keys, Iterable) and not isinstance(keys, (str, bytes)) else ""


def _columns_of_keys(keys: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - of any library
    """Return the keys' parts, and what a part is called if there are several."""
    keys = optional.as_series(optional.unwrapped(keys))
    if optional.is_index(keys) and keys.nlevels > 1:
        return index_columns(keys, argument)
    if optional.is_index(keys) or optional.is_series(keys):
        return [column_of_series(keys, argument)], []
    if hasattr(keys, "columns"):
        hint = f"{argument.rpartition('.')[2]}=frame[name] is a column of a data frame"
        raise type_error(argument, _EXPECTED_KEYS, type(keys).__name__, hint=hint)
    if hasattr(keys, "__arrow_c_stream__"):
        return [column_of_arrow(arrow_table(keys, argument).columns[0][1], argument)], []
    if hasattr(keys, "to_pylist"):  # an array of Arrow
        with asking(argument, _EXPECTED_KEYS):
            keys = keys.to_pylist()
    keys = import_dlpack(keys, argument)
    if isinstance(keys, np.ndarray):
        if keys.ndim != 1:
            raise type_error(argument, "a sequence of keys", f"an array of shape {keys.shape}")
        if keys.dtype.names is not None:  # of several parts, as `TopK.users` and `Report.users` are
            return [column_of_array(keys[name], argument) for name in keys.dtype.names], list(keys.dtype.names)
        return [column_of_array(keys, argument)], []
    if not isinstance(keys, (list, tuple, range)):
        raise type_error(argument, _EXPECTED_KEYS, type(keys).__name__, hint=_list_hint(keys, argument))
    parts = key_columns(list(keys), argument)
    return parts, [f"user_{part}" for part in range(len(parts))] if len(parts) > 1 else []
