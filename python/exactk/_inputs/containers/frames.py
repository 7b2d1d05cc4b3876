"""Data frames: pandas, Polars, and whatever else streams Arrow's columns (pyarrow, DuckDB)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.keys import column_roles, columns
from exactk._inputs.keys.columns import CodedColumn, Column, NumberColumn
from exactk._inputs.long_format import LongColumns
from exactk._inputs.model.frame_rows import locate_in_frame, name_rows, of_row, rows_with_lists
from exactk._inputs.model.rows import Rows, TruthColumns
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding


_VALUE_ROLES = {
    "truth": {"grades": "grade"},
    "predictions": {"scores": "score", "ranks": "rank"},
    "scores": {"scores": "score"},
}  # what a frame has beside users and items, and what the column is called


class SelectedColumns(NamedTuple):
    """Some columns of a frame, by name."""

    columns: dict[str, Column]  # of a column of lists, what all lists hold
    list_offsets: dict[str, Offsets]  # of a column of lists, where the list of each row begins


def is_frame(value: object) -> bool:
    """Return whether the value has columns."""
    is_stream = hasattr(value, "__arrow_c_stream__") and (not is_series(value) or _holds_structs(value))
    return optional.is_pandas(value) or optional.is_lazy(value) or is_stream


def _holds_structs(series: Any) -> bool:  # noqa: ANN401 - of Polars or Arrow
    """Return whether the values of a Series have fields, which are the columns of a frame then."""
    return str(getattr(series, "type", getattr(series, "dtype", ""))).lower().startswith("struct")


def is_series(value: object) -> bool:
    """Return whether the value is one column: a Series of pandas or Polars, or an array of Arrow."""
    return hasattr(value, "to_numpy") and not hasattr(value, "columns")


class _ColumnsByRole(NamedTuple):
    users: list[str]
    item: str
    values: dict[str, str]  # the columns of grades, scores or ranks
    selected: SelectedColumns
    unused: tuple[str, ...]  # columns of numbers
    names: list[str]  # of all columns


def rows_of_frame(value: object, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:
    """Return the rows: of long format with one user and item each, or of users with a list of items each."""
    by_role = _columns_by_role(value, argument, requested, encoding.source)
    _warn_of_other_scores(by_role, argument, requested)
    if by_role.item not in by_role.selected.list_offsets:
        rows = long_format.rows_from_long_format(_to_long_columns(by_role, argument), argument, encoding)
        return rows._replace(columns=_truth_columns(by_role))
    users = [by_role.selected.columns[user] for user in by_role.users]
    rows = _rows_of_list_columns(by_role, argument, encoding)._replace(find_row=rows_with_lists(encoding.source))
    with name_rows(locate_in_frame(encoding.source)):
        rows = long_format.rows_by_user(users, by_role.users, rows, argument, encoding)
    return rows._replace(columns=_truth_columns(by_role))


def _truth_columns(by_role: _ColumnsByRole) -> TruthColumns:
    used, grade = (*by_role.users, by_role.item, *by_role.values.values()), by_role.values.get("grades")
    return TruthColumns(used, grade, column_roles.may_be_grades(by_role.unused) if grade is None else ())


def _warn_of_other_scores(by_role: _ColumnsByRole, argument: str, requested: ColumnNames) -> None:
    if argument in {"predictions", "scores"} and requested.get("score") is None and requested.get("rank") is None:
        column_roles.warn_of_other_scores(by_role.unused, list(by_role.values.values()), argument)


def long_columns(value: object, argument: str, requested: ColumnNames, *, warn: bool) -> LongColumns:
    """Return the columns of a frame whose rows have one user and one item each."""
    by_role = _columns_by_role(value, argument, requested)
    if warn:
        _warn_of_other_scores(by_role, argument, requested)
    if by_role.item in by_role.selected.list_offsets:
        raise type_error(f"{argument}.{by_role.item}", "an item in each row", "lists")
    return _to_long_columns(by_role, argument)


def _columns_by_role(value: object, argument: str, requested: ColumnNames, source: str = "the frame") -> _ColumnsByRole:
    container, value = value, materialize_stream(value, argument)
    names = column_names(value)

    def hint() -> str:
        return "" if _has_key_column(value) else _matrix_hint(container, argument)

    users = column_roles.user_columns(names, requested.get("user"), argument, hint)
    item = column_roles.item_column(names, requested.get("item"), argument, hint)
    values = _value_columns(names, argument, requested)
    column_roles.check_distinct([*users, item, *values.values()], argument)
    selected = select_columns(value, [*users, item, *values.values()], argument, source)
    for name in users if item in selected.list_offsets else [*users, *values.values()]:
        if name in selected.list_offsets:  # of as many values as there are rows, perhaps, but in which row is each?
            raise type_error(f"{argument}.{name}", "a value in every row", "lists")
    numbers = number_columns(value, with_lists=item in selected.list_offsets)
    unused = tuple(name for name in numbers if name not in {*users, item, *values.values()})
    return _ColumnsByRole(users, item, values, selected, unused, list(names))


def _has_key_column(value: Any) -> bool:  # noqa: ANN401 - as in `column_names`
    """Return whether the name and type of a column let it hold keys. Without one, a frame most likely is a matrix."""
    if optional.is_pandas(value):
        types = [
            "float" if getattr(dtype, "kind", "") == "f" or not isinstance(name, str) else ""
            for name, dtype in zip(value.columns, value.dtypes, strict=True)
        ]
    elif optional.is_lazy(value):
        types = [str(dtype).lower() for dtype in value.collect_schema().values()]
    else:
        types = [column.type for _, column in value.columns]
    return not types or not all(name.startswith("float") for name in types)


def _matrix_hint(container: Any, argument: str) -> str:  # noqa: ANN401 - a frame of any library
    """Return how to write a frame that is a matrix of users and items."""
    if optional.is_pandas(container) and list(container.columns) != list(range(container.shape[1])):
        if argument not in {"truth", "predictions", "scores"}:
            return ""
        orient = "records" if optional.is_default_index(container.index) else "index"
        return f"{argument}={argument}.to_dict({orient!r}) takes the names of its columns as items"
    if optional.is_pandas(container) and not optional.is_default_index(container.index):
        return f"{argument}={argument}.to_dict('index') takes its index as users, and its columns as items"
    if optional.is_lazy(container):
        return f"{argument}={argument}.collect().to_numpy() takes it as a matrix"
    return f"{argument}={argument}.to_numpy() takes it as a matrix" if hasattr(container, "to_numpy") else ""


def _to_long_columns(by_role: _ColumnsByRole, argument: str) -> LongColumns:
    value_columns = {field: by_role.selected.columns[name] for field, name in by_role.values.items()}
    if argument in {"predictions", "scores"} and not value_columns:
        expected = "a column of scores or of ranks, for the order of rows says nothing"
        raise input_error(argument, expected, "none", hint=column_roles.naming_hint(by_role.names, "score", "rank"))
    users = [by_role.selected.columns[user] for user in by_role.users]
    return LongColumns(users, by_role.users, by_role.selected.columns[by_role.item], **value_columns)


def _value_columns(names: Sequence[str], argument: str, requested: ColumnNames) -> dict[str, str]:
    """Return which columns have grades, or scores or ranks."""
    possible = _VALUE_ROLES.get(argument, {})
    named = {field: role for field, role in possible.items() if requested.get(role) is not None}
    by_field = {
        field: name
        for field, role in (named or possible).items()
        if (name := column_roles.value_column(names, role, requested.get(role), argument)) is not None
    }
    if len(by_field) > 1:
        score, rank = Option("score", by_field["scores"]), Option("rank", by_field["ranks"])
        hint = (score, " or ", rank, " names the one that orders them")
        raise input_error(argument, "one column that orders the items", " and ".join(by_field.values()), hint=hint)
    return by_field


def _rows_of_list_columns(by_role: _ColumnsByRole, argument: str, encoding: Encoding) -> Rows:
    """Return a row of items for each row of the frame. Lists of predictions without scores are best first."""
    item, values, selected = by_role.item, by_role.values, by_role.selected
    indptr = selected.list_offsets[item]
    with name_rows(locate_in_frame(encoding.source, indptr)):
        ids, item_vocabulary = long_format.encode_items(selected.columns[item], f"{argument}.{item}", encoding)
    rows = Rows(indptr, ids, item_vocabulary=None if item_vocabulary is None else item_vocabulary.snapshot())
    for field, name in values.items():
        if name not in selected.list_offsets or not np.array_equal(selected.list_offsets[name], indptr):
            raise input_error(f"{argument}.{name}", f"lists as long as those of {item}", "others")
        if field == "ranks":
            raise input_error(f"{argument}.{name}", "scores beside lists of items, or none", "ranks")
        with name_rows(locate_in_frame(encoding.source, indptr)):
            if field == "grades":
                rows = rows._replace(grades=long_format.grade_array(selected.columns[name], f"{argument}.{name}"))
            else:
                rows = rows._replace(scores=selected.columns[name].values(f"{argument}.{name}"))
    return rows


def materialize_stream(value: Any, argument: str) -> Any:  # noqa: ANN401 - a frame of any library
    """Return a frame that knows its columns: of what streams, all of it, for it may stream but once."""
    if optional.is_pandas(value) or optional.is_lazy(value):
        return value
    return _core.ArrowTable(value.__arrow_c_stream__(), argument)


def column_names(value: Any) -> list[str]:  # noqa: ANN401 - a frame of pandas, a lazy one of Polars, or a table of the core
    """Return what the columns are called."""
    if optional.is_pandas(value):
        return [name for name in (*value.columns, *value.index.names) if isinstance(name, str)]
    if optional.is_lazy(value):
        return list(value.collect_schema().names())
    return [name for name, _ in value.columns]


def data_columns(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    """Return what the columns are called, without those of the index of pandas, and whatever their names are."""
    return list(value.columns) if optional.is_pandas(value) else column_names(value)


def number_columns(value: Any, *, with_lists: bool) -> list[str]:  # noqa: ANN401 - as above
    """Return the columns that hold numbers or flags, or lists, by their types."""
    if optional.is_pandas(value):
        return [
            name for name in data_columns(value) if isinstance(name, str) and _is_of_numbers(value[name], with_lists)
        ]
    types = (
        ((name, str(dtype)) for name, dtype in value.collect_schema().items())
        if optional.is_lazy(value)
        else ((name, column.type) for name, column in value.columns if not column.is_dictionary)
    )
    kinds = ("int", "uint", "float", "bool", "decimal") + (("list",) if with_lists else ())
    return [name for name, dtype in types if dtype.lower().startswith(kinds)]


def _is_of_numbers(series: Any, with_lists: bool) -> bool:  # noqa: ANN401, FBT001 - a Series
    kind = getattr(getattr(series, "dtype", None), "kind", "")
    return kind in set("biuf") or bool(with_lists and kind == "O" and len(series) and _is_list(series.array[0]))


def index_columns(index: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - an Index of pandas
    """Return the columns of an index, and what they are called."""
    labels = [
        "user" if index.nlevels == 1 else f"user_{level}" if name is None else str(name)
        for level, name in enumerate(index.names)
    ]
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    return [_column_of_series(level, f"{argument}.{name}") for level, name in zip(levels, labels, strict=True)], labels


def select_columns(value: Any, names: Sequence[str], argument: str, source: str = "the frame") -> SelectedColumns:  # noqa: ANN401 - as above
    """Return these columns; messages call the frame by its source."""
    selected = SelectedColumns({}, {})
    if optional.is_pandas(value):
        for name in names:
            with _name_rows_of_column(selected, name, source):
                _add_pandas_column(selected, name, _pandas_column(value, name), f"{argument}.{name}")
        return selected
    if optional.is_lazy(value):
        value = materialize_stream(value.select(names).collect(), argument)
    for name, column in value.columns:
        if name in names:
            with _name_rows_of_column(selected, name, source):
                _add_arrow_column(selected, name, column, f"{argument}.{name}")
    return selected


@contextmanager
def _name_rows_of_column(selected: SelectedColumns, name: str, source: str) -> Iterator[None]:
    """Say of an error about a column which row of the frame it is, and where in its list once the lists are read."""
    try:
        yield
    except ExactkError as error:
        raise of_row(error, locate_in_frame(source, selected.list_offsets.get(name))) from error.__cause__


def _add_arrow_column(selected: SelectedColumns, name: str, column: _core.ArrowColumn, argument: str) -> None:
    if column.type == "list":
        nulls, first = column.nulls()
        if nulls:
            raise type_error(argument, "a list in every row", f"{nulls} null", position=first)
        selected.list_offsets[name], column = column.lists(argument)
    selected.columns[name] = columns.column_of_arrow(column, argument)


def _add_pandas_column(selected: SelectedColumns, name: str, series: Any, argument: str) -> None:  # noqa: ANN401 - a Series or an Index
    if optional.holds_arrow(series.dtype):
        _add_arrow_column(selected, name, _arrow_column_of_series(series, argument), argument)
    elif series.dtype == object and len(series) and _is_list(series.array[0]):
        selected.list_offsets[name], items = _flatten_lists(series.tolist(), argument)
        selected.columns[name] = columns.column_of_objects(items, argument)
    else:
        selected.columns[name] = _column_of_series(series, argument)


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes, tuple))  # these may be keys


def _flatten_lists(lists: list[Any], argument: str) -> tuple[Offsets, list[Any]]:
    """Return where each list begins in what all of them hold, and that."""
    for row, items in enumerate(lists):
        if not _is_list(items):
            raise type_error(argument, "a list in every row", type(items).__name__, position=row)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(items) for items in lists], dtype=np.int64)])
    return indptr, list(chain.from_iterable(lists))


def _arrow_column_of_series(series: Any, argument: str) -> _core.ArrowColumn:  # noqa: ANN401 - a Series or an Index
    """Return the array of Arrow that a column holds."""
    return _core.ArrowTable(series.array.__arrow_array__().__arrow_c_stream__(), argument).columns[0][1]


def _pandas_column(frame: Any, name: str) -> Any:  # noqa: ANN401 - a Series or an Index
    return frame[name] if name in frame.columns else frame.index.get_level_values(name)


def _column_of_series(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return columns.column_of_array(series.to_numpy(), argument)
    if (holes := series.isna()).any():
        found, first = f"{dtype} with {int(holes.sum())} missing", int(np.argmax(holes))
        raise type_error(argument, "a value in every row", found, position=first)
    if hasattr(series, "cat") or hasattr(series, "codes"):
        return _column_of_categorical(series, argument)
    if optional.holds_arrow(dtype):
        return columns.column_of_arrow(_arrow_column_of_series(series, argument), argument)
    if dtype.kind in "iuf" and hasattr(dtype, "numpy_dtype"):  # of numbers with a mask, of which nothing is masked
        return NumberColumn(series.to_numpy(dtype=dtype.numpy_dtype, copy=False))
    return columns.column_of_objects(series.tolist(), argument)


def _column_of_categorical(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    categorical = series.cat if hasattr(series, "cat") else series
    codes = np.asarray(categorical.codes)
    return CodedColumn(codes, _column_of_series(categorical.categories, argument))
