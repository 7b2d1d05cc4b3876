"""Data frames: pandas, Polars, and whatever else streams Arrow's columns (pyarrow, DuckDB)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.checks import number_array
from exactk._inputs.keys import column_roles, columns
from exactk._inputs.keys.columns import CodedColumn, Column, NumberColumn
from exactk._inputs.long_format import LongColumns
from exactk._inputs.model.lists import Rows
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding


_VALUES = {
    "truth": {"grades": "grade"},
    "predictions": {"scores": "score", "ranks": "rank"},
    "scores": {"scores": "score"},
}  # what a frame has beside users and items, and what the column is called


class Table(NamedTuple):
    """The columns that were asked for, by name."""

    columns: dict[str, Column]
    lists: dict[str, Offsets]  # of a column of lists, where that of each row begins


def matches(value: object) -> bool:
    """Return whether the value has columns."""
    return optional.is_pandas(value) or optional.is_lazy(value) or hasattr(value, "__arrow_c_stream__")


class _Chosen(NamedTuple):
    users: list[str]
    item: str
    values: dict[str, str]  # the columns of grades, scores or ranks
    found: Table


def rows(value: object, argument: str, encoding: Encoding, given: ColumnNames) -> Rows:
    """Return the rows: of entries with one user and item each, or of users with a list of items each."""
    chosen = _chosen(value, argument, given)
    if chosen.item not in chosen.found.lists:
        return long_format.rows_from_long_format(_entry_columns(chosen, argument), argument, encoding)
    users = [chosen.found.columns[user] for user in chosen.users]
    return long_format.rows_by_user(users, chosen.users, _lists(chosen, argument, encoding), argument, encoding)


def entry_columns(value: object, argument: str, given: ColumnNames) -> LongColumns:
    """Return the columns of a frame whose rows have one user and one item each."""
    chosen = _chosen(value, argument, given)
    if chosen.item in chosen.found.lists:
        raise type_error(f"{argument}.{chosen.item}", "an item in each row", "lists")
    return _entry_columns(chosen, argument)


def _chosen(value: object, argument: str, given: ColumnNames) -> _Chosen:
    value = _opened(value, argument)
    names = names_of(value)
    users = column_roles.user_columns(names, given.get("user"), argument)
    item = column_roles.item_column(names, given.get("item"), argument)
    values = _value_columns(names, argument, given)
    column_roles.check_differ([*users, item, *values.values()], argument)
    found = table(value, [*users, item, *values.values()], argument)
    for name in users if item in found.lists else [*users, *values.values()]:
        if name in found.lists:  # of as many values as there are rows, perhaps, but in which row is each?
            raise type_error(f"{argument}.{name}", "a value in every row", "lists")
    return _Chosen(users, item, values, found)


def _entry_columns(chosen: _Chosen, argument: str) -> LongColumns:
    columns_of = {what: chosen.found.columns[name] for what, name in chosen.values.items()}
    if argument in {"predictions", "scores"} and not columns_of:
        expected = "a column of scores or of ranks, for the order of rows says nothing"
        raise input_error(argument, expected, "none", hint="score= or rank= names it")
    users = [chosen.found.columns[user] for user in chosen.users]
    return LongColumns(users, chosen.users, chosen.found.columns[chosen.item], **columns_of)


def _value_columns(names: Sequence[str], argument: str, given: ColumnNames) -> dict[str, str]:
    """Return which columns have grades, or scores or ranks."""
    possible = _VALUES.get(argument, {})
    named = {what: role for what, role in possible.items() if given.get(role) is not None}
    found = {
        what: name
        for what, role in (named or possible).items()
        if (name := column_roles.value_column(names, role, given.get(role), argument)) is not None
    }
    if len(found) > 1:
        hint = "score= or rank= names the one that orders them"
        raise input_error(argument, "one column that orders the items", " and ".join(found.values()), hint=hint)
    return found


def _lists(chosen: _Chosen, argument: str, encoding: Encoding) -> Rows:
    """Return a row of items for each row of the frame. Lists of predictions without scores are best first."""
    _, item, values, found = chosen
    indptr = found.lists[item]
    ids, item_vocabulary = long_format.encode_items(found.columns[item], f"{argument}.{item}", encoding)
    own = Rows(indptr, ids, item_vocabulary=item_vocabulary)
    for what, name in values.items():
        if name not in found.lists or not np.array_equal(found.lists[name], indptr):
            raise input_error(f"{argument}.{name}", f"lists as long as those of {item}", "others")
        if what == "ranks":
            raise input_error(f"{argument}.{name}", "scores beside lists of items, or none", "ranks")
        numbers = found.columns[name].values(f"{argument}.{name}")
        if what == "grades":
            own = own._replace(grades=number_array(numbers, f"{argument}.{name}"))
        else:
            own = own._replace(scores=numbers)
    return own


def _opened(value: Any, argument: str) -> Any:  # noqa: ANN401 - a frame of any library
    """Return a frame that knows its columns: of what streams, all of it, for it may stream but once."""
    if optional.is_pandas(value) or optional.is_lazy(value):
        return value
    return _core.ArrowTable(value.__arrow_c_stream__(), argument)


def names_of(value: Any) -> list[str]:  # noqa: ANN401 - a frame of pandas, a lazy one of Polars, or a table of the core
    """Return what the columns are called."""
    if optional.is_pandas(value):
        return [name for name in (*value.columns, *value.index.names) if isinstance(name, str)]
    if optional.is_lazy(value):
        return list(value.collect_schema().names())
    return [name for name, _ in value.columns]


def table(value: Any, names: Sequence[str], argument: str) -> Table:  # noqa: ANN401 - as above
    """Return these columns."""
    found = Table({}, {})
    if optional.is_pandas(value):
        for name in names:
            _add_pandas(found, name, _pandas_column(value, name), f"{argument}.{name}")
        return found
    if optional.is_lazy(value):
        value = _opened(value.select(names).collect(), argument)
    for name, column in value.columns:
        if name in names:
            _add_arrow(found, name, column, f"{argument}.{name}")
    return found


def _add_arrow(found: Table, name: str, column: _core.ArrowColumn, place: str) -> None:
    if column.type == "list":
        nulls, first = column.nulls()
        if nulls:
            raise type_error(place, "a list in every row", f"{nulls} null", position=first)
        found.lists[name], column = column.lists(place)
    found.columns[name] = columns.of_arrow(column, place)


def _add_pandas(found: Table, name: str, series: Any, place: str) -> None:  # noqa: ANN401 - a Series or an Index
    if optional.holds_arrow(series.dtype):
        _add_arrow(found, name, _held(series, place), place)
    elif series.dtype == object and len(series) and _is_list(series.array[0]):
        found.lists[name], items = _joined(series.tolist(), place)
        found.columns[name] = columns.of_objects(items, place)
    else:
        found.columns[name] = _of_pandas(series, place)


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(
        value, (str, bytes, tuple)
    )  # these may be names


def _joined(lists: list[Any], place: str) -> tuple[Offsets, list[Any]]:
    """Return where each list begins in what all of them hold."""
    for row, one in enumerate(lists):
        if not _is_list(one):
            raise type_error(place, "a list in every row", type(one).__name__, position=row)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(one) for one in lists], dtype=np.int64)])
    return indptr, list(chain.from_iterable(lists))


def _held(series: Any, argument: str) -> _core.ArrowColumn:  # noqa: ANN401 - a Series or an Index
    """Return the array of Arrow that a column holds."""
    return _core.ArrowTable(series.array.__arrow_array__().__arrow_c_stream__(), argument).columns[0][1]


def _pandas_column(frame: Any, name: str) -> Any:  # noqa: ANN401 - a Series or an Index
    return frame[name] if name in frame.columns else frame.index.get_level_values(name)


def _of_pandas(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    kind = series.dtype
    if isinstance(kind, np.dtype):
        return columns.of_array(series.to_numpy(), argument)
    if (holes := series.isna()).any():
        found, first = f"{kind} with {int(holes.sum())} missing", int(np.argmax(holes))
        raise type_error(argument, "a value in every row", found, position=first)
    if hasattr(series, "cat") or hasattr(series, "codes"):
        return _of_categories(series, argument)
    if optional.holds_arrow(kind):
        return columns.of_arrow(_held(series, argument), argument)
    if kind.kind in "iuf" and hasattr(kind, "numpy_dtype"):  # of numbers with a mask, of which nothing is masked
        return NumberColumn(series.to_numpy(dtype=kind.numpy_dtype, copy=False))
    return columns.of_objects(series.tolist(), argument)


def _of_categories(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    held = series.cat if hasattr(series, "cat") else series
    codes = np.asarray(held.codes)
    return CodedColumn(codes, _of_pandas(held.categories, argument))
