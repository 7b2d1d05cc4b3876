"""Data frames (pandas, Polars, and anything that streams Arrow) and Series."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs import long_format
from exactk._inputs.checks import asking
from exactk._inputs.containers import sequences
from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import (
    VALUE_ROLES,
    ChosenColumns,
    Columns,
    UnusedColumns,
    events_among,
    names_outcome,
    usual_role,
)
from exactk._inputs.keys.columns import column_of_series, index_columns, is_missing
from exactk._inputs.long_format import Encoding, LongColumns
from exactk._inputs.model.rows import Rows, TruthColumns, locate_in_frame, name_rows, rows_with_lists
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, InputError, input_error, type_error
from exactk._runtime.faults import Option, as_text
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.containers.tables import ColumnTable, Table
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.columns import Column
    from exactk._runtime.faults import Text


class ColumnsByRole(NamedTuple):
    """The columns of a frame that are read, and the others."""

    chosen: ChosenColumns
    selected: ColumnTable
    unused: UnusedColumns
    columns: Columns

    @property
    def has_lists(self) -> bool:
        """Whether each row holds a list of items."""
        return self.chosen.item in self.selected.list_offsets

    @property
    def users(self) -> list[Column]:
        """The columns of users."""
        return [self.selected.columns[name] for name in self.chosen.users]


def rows_of_frame(value: object, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:
    """Return the rows of a frame in long format, or with one list of items per user; or of columns that are chosen."""
    is_whole = not encoding.outlives_call  # in a block, ones may be followed by other numbers
    by_role = (
        value
        if isinstance(value, ColumnsByRole)
        else columns_by_role(value, argument, requested, encoding.source, is_whole=is_whole)
    )
    if argument in {"predictions", "scores"}:
        _warn_of_orders(by_role, argument, requested)
    if not by_role.has_lists:
        rows = long_format.rows_from_long_format(_to_long_columns(by_role, argument, requested), argument, encoding)
        return _with_truth_columns(rows, by_role, argument)
    rows = sequences.rows_from_lists(by_role.chosen, by_role.selected, argument, encoding)._replace(
        find_row=rows_with_lists(encoding.source)
    )
    with name_rows(locate_in_frame(encoding.source)):
        rows = long_format.rows_by_user(by_role.users, by_role.chosen.users, rows, argument, encoding)
    return _with_truth_columns(rows, by_role, argument)


def _with_truth_columns(rows: Rows, by_role: ColumnsByRole, argument: str) -> Rows:
    """Return the rows with the source columns of a truth, or of exclusions; other arguments do not need them."""
    if argument not in {"truth", "exclude"}:
        return rows
    used, (numbers, events) = tuple(by_role.chosen.names), by_role.unused
    if argument == "exclude":
        return rows._replace(columns=TruthColumns(used, next(iter(numbers), None)))
    numbers, grade = column_roles.may_be_grades(numbers), by_role.chosen.values.get("grade")
    kept = numbers if grade is None else tuple(filter(names_outcome, numbers))  # beside grades, what happened
    return rows._replace(columns=TruthColumns(used, grade, kept, events))


def _warn_of_orders(by_role: ColumnsByRole, argument: str, requested: ColumnNames) -> None:
    """Warn if the name of scores or ranks says that the other order is meant, or if other scores are not used."""
    selected, chosen = by_role.selected.columns, by_role.chosen.values
    score, rank = chosen.get("score", ""), chosen.get("rank")
    if column_roles.names_lowest_as_best(score) and not (
        usual_role(score) == "rank" and _has_fractions(selected[score])
    ):
        column_roles.warn_of_order(score, argument, takes_ranks=not by_role.has_lists and "rank" in requested)
    if rank is not None and requested.get("rank") is None and _has_fractions(selected[rank]):
        column_roles.warn_of_fractions(rank, argument)
    is_ordered = chosen or by_role.has_lists  # otherwise the frame is refused
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
    if by_role.has_lists:
        raise type_error(f"{argument}.{by_role.chosen.item}", "one item per row", "lists")
    return _to_long_columns(by_role, argument, requested)


def columns_by_role(
    value: object, argument: str, requested: ColumnNames, source: str = "the frame", *, is_whole: bool = False
) -> ColumnsByRole:
    """Return the columns by the names that the caller requested, or else by common names."""
    table = open_table(value, argument)
    columns = Columns.of(
        table.names, requested, argument, partial(table.matrix_hint, argument), lambda: table.list_names
    )
    roles = [role for role in VALUE_ROLES.get(argument, ()) if role in requested]
    named = [role for role in roles if requested.get(role) is not None]
    chosen = column_roles.choose_columns(columns, requested, argument, named or roles)
    selected = _select(table, chosen, argument, source)
    used = {*chosen.names}
    others = [name for name in table.data_names if name not in used]
    if not others:
        return ColumnsByRole(chosen, selected, UnusedColumns(), columns)
    has_lists = chosen.item in selected.list_offsets
    numbers = column_roles.beside(chosen.item, table.number_names(others, with_lists=has_lists))
    unused = UnusedColumns(tuple(numbers))
    if argument == "truth" and requested.get("grade") is None:
        texts = [name for name in others if name not in numbers]
        events = events_among(texts, partial(_distinct_texts, table, argument))
        numbers = [name for name in numbers if not (is_whole and operator.eq(*_range_of(table, name)))]
        unused = UnusedColumns(tuple(numbers), events)
    elif argument == "truth":
        unused = UnusedColumns()
    elif argument == "exclude":
        zeros = (name for name in filter(names_outcome, unused.numbers) if _range_of(table, name)[0] <= 0)
        unused = UnusedColumns(tuple(zeros))
    return ColumnsByRole(chosen, selected, unused, columns)


def columns_of_choice(
    value: object, chosen: ChosenColumns, unused: UnusedColumns, argument: str, requested: ColumnNames, source: str
) -> ColumnsByRole:
    """Return the columns of a table that were chosen in a file.

    Where the caller names scores or ranks, others do not order the rows.
    """
    table = open_table(value, argument)
    named = {role: name for role, name in chosen.values.items() if requested.get(role) is not None}
    chosen = ChosenColumns.of(chosen.users, chosen.item, named or chosen.values)
    selected = _select(table, chosen, argument, source)
    return ColumnsByRole(chosen, selected, unused, Columns.of(table.names, requested, argument))


def _select(table: Table, chosen: ChosenColumns, argument: str, source: str) -> ColumnTable:
    """Return the columns. Raise InputTypeError if others than those of items, and their values, hold lists."""
    selected = table.select(chosen.names, argument, source)
    for name in chosen.users if chosen.item in selected.list_offsets else [*chosen.users, *chosen.values.values()]:
        if name in selected.list_offsets:  # even if it has as many values as rows: their rows are unknown
            raise type_error(f"{argument}.{name}", "a value in every row", "lists")
    return selected


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
        codes, keys = long_format.encode_items(column, argument, Encoding())
        if keys is not None and column.kind == "str":
            texts: list[str] = keys.array[np.flatnonzero(np.bincount(codes))].tolist()
            return texts
    return ()


def _to_long_columns(by_role: ColumnsByRole, argument: str, requested: ColumnNames) -> LongColumns:
    chosen, selected = by_role.chosen, by_role.selected.columns
    if argument in {"predictions", "scores"} and not chosen.values:
        roles = [role for role in VALUE_ROLES[argument] if role in requested]
        raise column_roles.order_error(by_role.columns, chosen.names, roles, argument)
    values = {f"{role}s": selected[name] for role, name in chosen.values.items()}
    hint = sequences.hint_to_order(chosen.values)
    return LongColumns(by_role.users, chosen.users, selected[chosen.item], **values, hint=hint)


_ROLES_OF_SERIES = {"truth": "grade", "predictions": "score", "scores": "score"}
_LISTS_OF_USERS = "{0}.groupby({0}.index).agg(list)"


def rows_of_series(series: Any, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:  # noqa: ANN401 - of any library
    """Return the rows: users are those of the index, or row numbers without an index or with pandas' default."""
    holds_items = has_one_item_each(series)
    if not has_user_index(series):
        if holds_items:
            raise _item_error(series, argument, f"[[item] for item in {argument}]")
        return sequences.rows_of_lists(elements(series), argument, encoding)
    if holds_items and series.index.nlevels > 1:
        return _rows_of_values(series, argument, encoding, requested)
    users, labels = index_columns(series.index, argument)
    if not holds_items:
        rows = sequences.rows_of_lists(elements(series), argument, encoding)
    elif argument in {"truth", "exclude"}:
        items = column_of_series(series, f"{argument}.item")
        ids, keys = long_format.encode_items(items, f"{argument}.item", encoding)
        rows = Rows(np.arange(len(ids) + 1), ids, item_vocabulary=keys)
    else:
        raise _item_error(series, argument, _LISTS_OF_USERS.format(argument))
    try:
        return long_format.rows_by_user(users, labels, rows, argument, encoding)
    except InputError as error:
        if not holds_items or error.fault.hint:
            raise
        hint = f"{argument}={_LISTS_OF_USERS.format(argument)} has a list for each user"
        raise error.amended(hint=as_text(hint)) from None


def has_user_index(series: object) -> bool:
    """Return whether a Series has an index that is not pandas' default."""
    return optional.is_series(series) and not optional.is_default_index(series.index)  # type: ignore[attr-defined]


def has_values_by_user_and_item(series: object) -> bool:
    """Return whether a Series has an index of several levels, whose names are column names."""
    return has_user_index(series) and series.index.nlevels > 1  # type: ignore[attr-defined]


def has_one_item_each(series: Any) -> bool:  # noqa: ANN401 - of any library
    """Return whether the elements are items rather than lists of items, by the first that is not missing."""
    with asking("series", "elements"):
        plain = (element.as_py() if hasattr(element, "as_py") else element for element in series)
        first = next((element for element in plain if not is_missing(element)), None)
    return first is not None and not sequences.is_row(first)


def elements(series: Any) -> list[Any]:  # noqa: ANN401 - of any library
    """Return the elements as a list, with None for those that are missing."""
    if optional.is_series(series):
        return [
            None if is_absent else one for one, is_absent in zip(series.tolist(), series.isna().tolist(), strict=True)
        ]
    with asking("series", "elements"):
        values: list[Any] = series.to_list() if hasattr(series, "to_list") else series.to_pylist()
    return values


def _item_error(series: Any, argument: str, rows: str) -> Exception:  # noqa: ANN401 - of any library
    hint = f"{argument}={rows} has a list for each user"
    found = getattr(series, "dtype", None) or series.type  # pyarrow's name for it
    return type_error(argument, "a Series of lists", f"one of {found}", hint=hint)


def _rows_of_values(series: Any, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:  # noqa: ANN401 - of pandas
    """Return the rows of values by user and item, which are the levels of the index."""
    names, role = list(series.index.names), _ROLES_OF_SERIES.get(argument, "")
    if names == [None, None]:
        names = ["user", "item"]
    if any(not isinstance(name, str) for name in names):
        hint = f"{argument}={argument}.rename_axis(['user', 'item']) if these are users and items"
        raise input_error(argument, "an index with levels for the user and the item", f"the levels {names}", hint=hint)
    _check_item_level(names, argument, requested)
    name = series.name if role and isinstance(series.name, str) and series.name not in names else role or "grade"
    is_named = usual_role(name) == "rank" or any(requested.get(one) is not None for one in (role, "rank"))
    if role in requested and not is_named:
        requested = {**requested, role: name}  # type: ignore[misc]
    return rows_of_frame(series.rename_axis(names).to_frame(name), argument, encoding, requested)


def _check_item_level(names: list[str], argument: str, requested: ColumnNames) -> None:
    """Raise InputError if all levels may be parts of a user, and the values the items, as in leave-one-out evaluation."""
    user = requested.get("user")
    if user is not None and not isinstance(user, (str, list, tuple)):
        return  # which is refused later
    of_users = [user] if isinstance(user, str) else user or [name for name in names if usual_role(name) == "user"]
    others = [name for name in names if name not in of_users]
    if requested.get("item") is not None or not of_users or any(usual_role(name) == "item" for name in others):
        return
    frame = f"{argument}={argument}.reset_index() is a data frame, if the values are the items"
    hint: Text = (Option("item", others[-1]), " names it, or ", frame) if others else (frame,)
    raise input_error(argument, "a level of the index for the item", f"the levels {names}", hint=hint)
