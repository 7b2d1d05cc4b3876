"""Data frames: pandas, Polars, and anything that streams Arrow (pyarrow, DuckDB)."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._inputs import long_format
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import Columns, usual_role
from exactk._inputs.keys.unused_columns import UnusedColumns, events_among, names_outcome
from exactk._inputs.long_format import Encoding, LongColumns
from exactk._inputs.model.rows import Rows, TruthColumns, locate_in_frame, name_rows, rows_with_lists
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.containers.column_table import SelectedColumns
    from exactk._inputs.containers.tables import Table
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.columns import Column
    from exactk._runtime.faults import Text


_VALUE_ROLES = {
    "truth": {"grades": "grade"},
    "predictions": {"scores": "score", "ranks": "rank"},
    "scores": {"scores": "score"},
}  # value columns of a frame, by field, and their roles


class ColumnsByRole(NamedTuple):
    """The columns of a frame that are read, and the others."""

    users: list[str]
    item: str
    values: dict[str, str]  # the columns of grades, scores or ranks
    selected: SelectedColumns
    unused: UnusedColumns
    columns: Columns


def rows_of_frame(value: object, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:
    """Return the rows of a frame in long format, or with one list of items per user."""
    is_whole = not encoding.outlives_call  # in a block, ones may be followed by other numbers
    by_role = columns_by_role(value, argument, requested, encoding.source, is_whole=is_whole)
    _warn_of_orders(by_role, argument, requested)
    if by_role.item not in by_role.selected.list_offsets:
        rows = long_format.rows_from_long_format(_to_long_columns(by_role, argument, requested), argument, encoding)
        return _with_truth_columns(rows, by_role, argument)
    users = [by_role.selected.columns[user] for user in by_role.users]
    rows = _rows_of_list_columns(by_role, argument, encoding)._replace(find_row=rows_with_lists(encoding.source))
    with name_rows(locate_in_frame(encoding.source)):
        rows = long_format.rows_by_user(users, by_role.users, rows, argument, encoding)
    return _with_truth_columns(rows, by_role, argument)


def _with_truth_columns(rows: Rows, by_role: ColumnsByRole, argument: str) -> Rows:
    """Return the rows with the source columns of a truth, or of exclusions; other arguments do not need them."""
    used, grade = (*by_role.users, by_role.item, *by_role.values.values()), by_role.values.get("grades")
    if argument == "exclude":
        return rows._replace(columns=TruthColumns(used, next(iter(by_role.unused.numbers), None)))
    if argument != "truth":
        return rows
    return rows._replace(columns=truth_columns(used, grade, by_role.unused))


def truth_columns(used: tuple[str, ...], grade: str | None, unused: UnusedColumns) -> TruthColumns:
    """Return the columns of a truth. Beside a column of grades, only those that say what happened are kept."""
    numbers = column_roles.may_be_grades(unused.numbers)
    kept = numbers if grade is None else tuple(filter(names_outcome, numbers))
    return TruthColumns(used, grade, kept, unused.events)


def _warn_of_orders(by_role: ColumnsByRole, argument: str, requested: ColumnNames) -> None:
    """Warn if the name of scores or ranks says that the other order is meant, or if other scores are not used."""
    if argument not in {"predictions", "scores"}:
        return
    selected, has_lists = by_role.selected.columns, by_role.item in by_role.selected.list_offsets
    chosen = {_VALUE_ROLES[argument][field]: name for field, name in by_role.values.items()}
    score, rank = chosen.get("score", ""), chosen.get("rank")
    if column_roles.names_lowest_as_best(score) and not (
        usual_role(score) == "rank" and _has_fractions(selected[score])
    ):
        column_roles.warn_of_order(score, argument, takes_ranks=not has_lists and "rank" in requested)
    if rank is not None and requested.get("rank") is None and _has_fractions(selected[rank]):
        column_roles.warn_of_fractions(rank, argument)
    is_ordered = by_role.values or has_lists  # otherwise the frame is refused
    is_named = requested.get("score") is not None or requested.get("rank") is not None
    if by_role.unused.numbers and is_ordered and not is_named:
        takes_scores = "score" in requested
        column_roles.warn_of_other_scores(by_role.unused.numbers, chosen, argument, takes_scores=takes_scores)


def _has_fractions(column: Column) -> bool:
    """Return whether the first numbers are no ranks, as PostgreSQL's `ts_rank` and percentiles."""
    first = getattr(column, "chunks", (column,))[0]
    ranks = first.values("rank")[:1000] if first.kind == "float" else np.zeros(0)
    return bool((ranks > np.floor(ranks)).any())


def long_columns(value: object, argument: str, requested: ColumnNames, *, warn: bool) -> LongColumns:
    """Return the columns of a frame in long format."""
    by_role = columns_by_role(value, argument, requested)
    if warn:
        _warn_of_orders(by_role, argument, requested)
    if by_role.item in by_role.selected.list_offsets:
        raise type_error(f"{argument}.{by_role.item}", "one item per row", "lists")
    return _to_long_columns(by_role, argument, requested)


def columns_by_role(
    value: object, argument: str, requested: ColumnNames, source: str = "the frame", *, is_whole: bool = False
) -> ColumnsByRole:
    """Return the columns by the names that the caller requested, or else by common names."""
    table = open_table(value, argument)
    names = table.names

    def hint() -> str:
        return table.matrix_hint(argument)

    columns = Columns.of(names, requested, argument, hint)
    users = column_roles.user_columns(columns, requested.get("user"), argument)
    item = column_roles.item_column(columns, requested.get("item"), argument)
    values = _value_columns(columns, argument, requested)
    column_roles.check_distinct([*users, item, *values.values()], argument)
    selected = table.select([*users, item, *values.values()], argument, source)
    for name in users if item in selected.list_offsets else [*users, *values.values()]:
        if name in selected.list_offsets:  # even if it has as many values as rows: their rows are unknown
            raise type_error(f"{argument}.{name}", "a value in every row", "lists")
    used = {*users, item, *values.values()}
    numbers = table.number_names(with_lists=item in selected.list_offsets)
    unused = UnusedColumns(tuple(name for name in numbers if name not in used))
    if argument == "truth" and requested.get("grade") is None:
        others = [name for name in table.data_names if name not in used and name not in numbers]
        events = events_among(others, partial(_distinct_texts, table, argument))
        numbers = [name for name in unused.numbers if not (is_whole and operator.eq(*_range_of(table, name)))]
        unused = UnusedColumns(tuple(numbers), events)
    elif argument == "truth":
        unused = UnusedColumns()
    elif argument == "exclude":
        zeros = (name for name in filter(names_outcome, unused.numbers) if _range_of(table, name)[0] <= 0)
        unused = UnusedColumns(tuple(zeros))
    return ColumnsByRole(users, item, values, selected, unused, columns)


def _range_of(table: Table, name: str) -> tuple[float, float]:
    """Return the lowest and the highest number of a column; NaN if it holds others, or nothing. If equal, none is a grade."""
    with suppress(ExactkError):
        column = table.select([name], "truth").columns[name]
        chunks = [chunk.values("truth") for chunk in getattr(column, "chunks", (column,)) if len(chunk)]
        return min((chunk.min() for chunk in chunks), default=math.nan), max(
            (chunk.max() for chunk in chunks), default=0
        )
    return math.nan, math.nan


def _distinct_texts(table: Table, argument: str, name: str) -> Sequence[str]:
    """Return the distinct strings of a column; none if it holds others, or nothing."""
    with suppress(ExactkError):
        column = table.select([name], argument).columns[name]
        codes, vocabulary = long_format.encode_items(column, argument, Encoding())
        if vocabulary is not None and column.kind == "str":
            texts: list[str] = vocabulary.snapshot().array[np.flatnonzero(np.bincount(codes))].tolist()
            return texts
    return ()


def _to_long_columns(by_role: ColumnsByRole, argument: str, requested: ColumnNames) -> LongColumns:
    value_columns = {field: by_role.selected.columns[name] for field, name in by_role.values.items()}
    if argument in {"predictions", "scores"} and not value_columns:
        roles = [role for role in _VALUE_ROLES[argument].values() if role in requested]
        raise column_roles.order_error(by_role.columns, [*by_role.users, by_role.item], roles, argument)
    users = [by_role.selected.columns[user] for user in by_role.users]
    return LongColumns(
        users,
        by_role.users,
        by_role.selected.columns[by_role.item],
        **value_columns,
        hint=_hint_to_order(by_role.values),
    )


def _value_columns(columns: Columns, argument: str, requested: ColumnNames) -> dict[str, str]:
    """Return the grade, score or rank columns."""
    possible = _VALUE_ROLES.get(argument, {})
    named = {field: role for field, role in possible.items() if requested.get(role) is not None}
    return {
        field: name
        for field, role in (named or possible).items()
        if role in requested
        and (name := column_roles.value_column(columns, role, requested.get(role), argument)) is not None
    }


def _hint_to_order(values: dict[str, str]) -> Text:
    """Return how to select scores or ranks, if there are both."""
    if not {"scores", "ranks"} <= values.keys():
        return ()
    score, rank = Option("score", values["scores"]), Option("rank", values["ranks"])
    return (score, " or ", rank, " selects the one that orders them")


def _rows_of_list_columns(by_role: ColumnsByRole, argument: str, encoding: Encoding) -> Rows:
    """Return one row of items per row of the frame. Predictions without scores are best first."""
    item, values, selected = by_role.item, by_role.values, by_role.selected
    indptr = selected.list_offsets[item]
    if hint := _hint_to_order(values):
        raise input_error(argument, "one column that orders the items", " and ".join(values.values()), hint=hint)
    with name_rows(locate_in_frame(encoding.source, indptr)):
        ids, item_vocabulary = long_format.encode_items(selected.columns[item], f"{argument}.{item}", encoding)
    rows = Rows(indptr, ids, item_vocabulary=None if item_vocabulary is None else item_vocabulary.snapshot())
    for field, name in values.items():
        if name not in selected.list_offsets or not np.array_equal(selected.list_offsets[name], indptr):
            raise input_error(f"{argument}.{name}", f"lists of the same lengths as {item}", "other lengths")
        if field == "ranks":
            raise input_error(f"{argument}.{name}", "scores or no values with lists of items", "ranks")
        with name_rows(locate_in_frame(encoding.source, indptr)):
            if field == "grades":
                rows = rows._replace(grades=long_format.grade_array(selected.columns[name], f"{argument}.{name}"))
            else:
                rows = rows._replace(scores=selected.columns[name].values(f"{argument}.{name}"))
    return rows
