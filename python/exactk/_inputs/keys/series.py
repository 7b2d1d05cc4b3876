"""pandas columns: the contents of a Series or an Index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import arrow_table
from exactk._inputs.keys import columns
from exactk._inputs.keys.columns import CodedColumn, Column, NumberColumn
from exactk._runtime import optional
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from exactk import _core
    from exactk._inputs.checks import Offsets


def index_columns(index: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - an Index of pandas
    """Return the columns of an index and their names."""
    labels = [
        "user" if index.nlevels == 1 else f"user_{level}" if name is None else str(name)
        for level, name in enumerate(index.names)
    ]
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    return [column_of_series(level, f"{argument}.{name}") for level, name in zip(levels, labels, strict=True)], labels


def column_of_series(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    """Return the values of a Series or Index, which must not have missing values."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return columns.column_of_array(series.to_numpy(), argument)
    if (holes := series.isna()).any():
        found, first = f"{dtype} with {int(holes.sum())} missing", int(np.argmax(holes))
        raise type_error(argument, "a value in every row", found, position=first)
    if hasattr(series, "cat") or hasattr(series, "codes"):
        return _column_of_categorical(series, argument)
    if (arrow := arrow_of_series(series, argument)) is not None:
        return columns.column_of_arrow(arrow, argument)
    if dtype.kind in "iuf" and hasattr(dtype, "numpy_dtype"):  # masked dtypes without missing values
        return NumberColumn(series.to_numpy(dtype=dtype.numpy_dtype, copy=False))
    return columns.column_of_objects(series.tolist(), argument)


def arrow_of_series(series: Any, argument: str) -> _core.ArrowColumn | None:  # noqa: ANN401 - as above
    """Return the underlying Arrow array, or None."""
    if not optional.holds_arrow(series.dtype):
        return None
    return arrow_table(series.array.__arrow_array__(), argument).columns[0][1]


def _column_of_categorical(series: Any, argument: str) -> Column:  # noqa: ANN401 - as above
    categorical = series.cat if hasattr(series, "cat") else series
    codes = np.asarray(categorical.codes)
    return CodedColumn(codes, column_of_series(categorical.categories, argument))


def holds_lists(series: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether the first object is a list; tuples can be keys."""
    return len(series) > 0 and _is_list(series.array[0])


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes, tuple))


def flatten_lists(lists: list[Any], argument: str) -> tuple[Offsets, list[Any]]:
    """Return the offsets and the elements of all lists."""
    for row, items in enumerate(lists):
        if not _is_list(items):
            raise type_error(argument, "a list in every row", type(items).__name__, position=row)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(items) for items in lists], dtype=np.int64)])
    return indptr, list(chain.from_iterable(lists))
