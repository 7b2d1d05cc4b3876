"""Features of items from their containers: vectors or tags, by key or beside the catalogue."""

from __future__ import annotations

from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import as_ndarray, first_and_count, number_array, offsets_of, row_at
from exactk._inputs.containers.arrays import stored_elements
from exactk._inputs.containers.frames import elements
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keyed_values import (
    LEAVE_OUT,
    Side,
    check_distinct_entries,
    item_of_frame,
    items_of_index,
    items_of_objects,
    leaving_out_items,
    of_item,
    read_keyed,
)
from exactk._inputs.keys.columns import NumberColumn, column_of_objects, is_missing, key_kind
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.item_table import ItemFeatures
from exactk._inputs.model.rows import validated_copy
from exactk._inputs.registry import ARRAY, FRAME, LIST, MAPPING, SERIES, SPARSE_MATRIX, classify
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Offsets
    from exactk._inputs.containers.tables import ColumnTable
    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.key_lists import ItemEntries

_NAME = "features"
_EXPECTED = (
    "a two-dimensional array or sparse matrix beside the catalogue, a data frame with an item column, "
    "or a mapping, Series or list of vectors or of lists of tags"
)
_HINT = "a list of strings, or a set, has the tags of an item"
_SETS = (set, frozenset)
_LISTS = (list, tuple, np.ndarray, *_SETS)


_OF_LISTS = frozenset({MAPPING, SERIES, LIST})
_ITEMS_WITH_LISTS = Side(_EXPECTED, items_of_objects, items_of_index, elements)


def features_of(container: Any) -> tuple[ItemFeatures, ItemEntries | None]:  # noqa: ANN401 - of any library
    """Return the features of a container, and their items."""
    classified = container, kind = classify(container, _NAME)
    items: ItemEntries | None = None
    if kind is SPARSE_MATRIX:
        features = _sparse_vectors(container)
    elif kind is ARRAY and container.ndim == 2:
        features = _dense_vectors(container)
    elif kind is FRAME:
        features, items = _features_of_frame(container)
    elif kind in _OF_LISTS or isinstance(container, tuple) or (kind is ARRAY and container.dtype.kind == "O"):
        values, items, *_ = read_keyed(classified, _NAME, _ITEMS_WITH_LISTS)
        features = _features_of_values(list(values), items)
    else:
        found = f"shape {container.shape}" if kind is ARRAY else type(container).__name__
        raise type_error(_NAME, _EXPECTED, found)
    if items is not None:
        check_distinct_entries(items, _NAME)
    _check_finite(features, items)
    return features, items


def _dense_vectors(value: object) -> ItemFeatures:
    """Return vectors in rows: of float32 as such, of other numbers and flags as float64."""
    array = as_ndarray(value, _NAME)
    if array.dtype.kind == "b":
        array = array.astype(np.float64)
    vectors = array if array.dtype == np.float32 else number_array(array, _NAME, dimensions=2)
    if not vectors.shape[1]:
        raise input_error(_NAME, "at least one feature", "none")
    return ItemFeatures(vectors.shape[1], np.zeros(len(vectors), np.bool_), vectors + vectors.dtype.type(0))


def _sparse_vectors(matrix: Any) -> ItemFeatures:  # noqa: ANN401 - of SciPy
    stored = stored_elements(matrix, _NAME)
    values = stored.values.astype(np.float64) if stored.values.dtype.kind == "b" else stored.values
    weights = number_array(values, f"{_NAME}.data")
    rows = validated_copy(stored.rows._replace(column_count=None), _NAME)
    if not matrix.shape[1]:
        raise input_error(_NAME, "at least one feature", "none")
    kept = weights != 0
    indptr = offsets_of(kept)[rows.indptr]
    order, columns = _ascending(indptr, rows.items[kept].astype(np.int64), "column")
    is_missing = np.zeros(len(indptr) - 1, np.bool_)
    return ItemFeatures(int(matrix.shape[1]), is_missing, None, indptr, columns, weights[kept][order])


def _ascending(indptr: Offsets, columns: NDArray[np.int64], what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order in which columns ascend in each row, and the columns in it; raise if a row repeats one."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    repeats = np.flatnonzero((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])) + 1
    if len(repeats):
        raise input_error(
            _NAME, f"each {what} of an item once", "one again", row=int(rows[repeats[0]]), count=len(repeats)
        )
    return order, columns


def _features_of_values(values: list[Any], items: ItemEntries | None, argument: str = _NAME) -> ItemFeatures:
    """Return the features of one value per item: tags if they are sets or strings, otherwise vectors."""
    _check_are_lists(values, items, argument)
    lists = [*map(list, values)]  # which no other thread changes
    flat = [*chain.from_iterable(lists)]
    indptr = offsets_of([*map(len, lists)])
    _check_entries_are_given(flat, indptr, items, argument)
    if any(issubclass(kind, _SETS) for kind in set(map(type, values))) or not flat or isinstance(flat[0], (str, bytes)):
        return _tags(indptr, column_of_objects(flat, f"{_NAME}.tag"))
    if {bool, np.bool_} & set(map(type, flat)):
        flat = [float(one) if isinstance(one, (bool, np.bool_)) else one for one in flat]
    return _vectors_of_lists(indptr, column_of_objects(flat, argument), items)


def _check_are_lists(values: list[Any], items: ItemEntries | None, argument: str) -> None:
    """Raise InputTypeError for an item that has no list."""
    if all(issubclass(kind, _LISTS) for kind in set(map(type, values))):
        return
    for row, value in enumerate(values):
        if not isinstance(value, _LISTS):
            found, hint = (str(value), LEAVE_OUT) if is_missing(value) else (type(value).__name__, _HINT)
            expected = "a vector or a list of tags of each item"
            raise type_error(argument, expected, f"{found}{of_item(items, row)}", row=row, hint=hint)


def _check_entries_are_given(flat: list[Any], indptr: Offsets, items: ItemEntries | None, argument: str) -> None:
    """Raise InputError for None or NaN in a list; NaN among floats is found later."""
    types = set(map(type, flat))
    if types <= {str} or all(issubclass(one, (Integral, float, np.floating)) for one in types):
        return
    offset = next((offset for offset, one in enumerate(flat) if is_missing(one)), None)
    if offset is not None:
        row, position = row_at(indptr, offset)
        found = f"{flat[offset]}{of_item(items, row)}"
        raise input_error(argument, "a value in every entry", found, row=row, position=position, hint=LEAVE_OUT)


def _vectors_of_lists(indptr: Offsets, column: Column, items: ItemEntries | None) -> ItemFeatures:
    sizes = np.diff(indptr)
    if (different := sizes != sizes[0]).any():
        row, count = first_and_count(different)
        expected, found = f"vectors of one length ({sizes[0]})", f"{sizes[row]}{of_item(items, row)}"
        hint = "tags are strings, or integers in sets" if column.kind == "int" else ""
        raise input_error(_NAME, expected, found, row=row, count=count, hint=hint)
    return _dense_vectors(number_array(column.values(_NAME), _NAME).reshape(len(sizes), -1))


def _tags(indptr: Offsets, column: Column) -> ItemFeatures:
    """Return sets of tags, whose columns are in the order of the tags."""
    if not len(column):
        return ItemFeatures(0, np.zeros(len(indptr) - 1, np.bool_), None, indptr, np.zeros(0, np.int64), None, ())
    vocabulary = Vocabulary.of_kinds([key_kind(column, f"{_NAME}.tag")])
    codes = vocabulary.encode([column], f"{_NAME}.tag")
    keys = vocabulary.snapshot()
    if keys.kinds == ("bytes",):
        raise type_error(f"{_NAME}.tag", "strings or integers", "bytes")
    order = keys.positions_in_key_order()
    _, columns = _ascending(indptr, order[codes].astype(np.int64), "tag")
    tags = tuple(keys.array[np.argsort(order)].tolist())
    return ItemFeatures(len(tags), np.zeros(len(indptr) - 1, np.bool_), None, indptr, columns, None, tags)


def _features_of_frame(frame: Any) -> tuple[ItemFeatures, ItemEntries]:  # noqa: ANN401 - of any library
    """Return the features in the columns besides the items: numbers, or one column of lists or sets."""
    table = open_table(frame, _NAME)
    item, entries = item_of_frame(frame, table, _NAME)
    names = [name for name in table.data_names if name != item]
    if not names or not all(isinstance(name, str) for name in names):
        found = " and ".join(map(str, names)) or "none"
        raise input_error(_NAME, "columns of features, named by strings", found)
    if len(names) == 1 and optional.is_pandas(frame) and any(isinstance(one, _SETS) for one in frame[names[0]]):
        return _features_of_values(elements(frame[names[0]]), entries, f"{_NAME}.{names[0]}"), entries
    with leaving_out_items():
        selected = table.select(names, _NAME)
    if len(names) == 1 and names[0] in selected.list_offsets:
        column, indptr = selected.columns[names[0]], selected.list_offsets[names[0]]
        if column.kind in {"int", "float"}:
            return _vectors_of_lists(indptr, column, entries), entries
        return _tags(indptr, column), entries
    texts = [name for name in names if name not in selected.list_offsets and _is_text(selected.columns[name])]
    if texts:
        expected = "numbers, or lists of tags in the only column"
        values = list(map(str, selected.values_of(texts[0], _NAME)))
        found, hint = selected.columns[texts[0]].kind, _lists_hint(frame, item, texts[0], values)
        raise type_error(f"{_NAME}.{texts[0]}", expected, found, hint=hint)
    return _dense_vectors(np.column_stack([_numbers(selected, name) for name in names])), entries


def _is_text(column: Column) -> bool:
    return not isinstance(column, NumberColumn) and column.kind not in {"int", "float"}


def _lists_hint(frame: Any, item: str | None, name: str, texts: list[str]) -> str:  # noqa: ANN401 - of any library
    """Return how to make lists of tags of a column with one tag in each row, or with several in a text."""
    mark = next((mark for mark in ("|", ";", ", ", ",") if any(mark in text for text in texts)), "")
    is_pandas, is_lazy_or_polars = optional.is_pandas(frame), hasattr(frame, "collect_schema")
    if mark:
        split = f"assign(**{{{name!r}: {_NAME}[{name!r}].str.split({mark!r})}})" if is_pandas else ""
        lists = split or (f"with_columns(pl.col({name!r}).str.split({mark!r}))" if is_lazy_or_polars else "")
    else:
        grouped = f"groupby({'level=0' if item is None else repr(item)})[{name!r}].agg(list)" if is_pandas else ""
        lists = grouped or (f"group_by({item!r}).agg({name!r})" if is_lazy_or_polars else "")
    return f"{_NAME}={_NAME}.{lists} has the tags of each item" if lists else ""


def _numbers(selected: ColumnTable, name: str) -> NDArray[np.float64]:
    """Return a column of numbers or flags."""
    argument = f"{_NAME}.{name}"
    if name in selected.list_offsets:
        raise type_error(argument, "numbers, or lists in the only column", "lists")
    array = selected.columns[name].values(argument)
    return number_array(array.astype(np.float64) if array.dtype.kind == "b" else array, argument)


def _check_finite(features: ItemFeatures, items: ItemEntries | None) -> None:
    """Raise InputError for NaN or infinity, naming the item."""
    if features.vectors is not None:
        rows = np.flatnonzero(~np.isfinite(features.vectors).all(axis=1))
    elif features.weights is not None and features.indptr is not None:
        offsets = np.flatnonzero(~np.isfinite(features.weights))
        rows = np.unique(np.searchsorted(features.indptr, offsets, side="right") - 1)
    else:
        return
    if len(rows):
        row = int(rows[0])
        raise input_error(_NAME, "finite numbers", f"NaN or infinity{of_item(items, row)}", row=row, count=len(rows))
