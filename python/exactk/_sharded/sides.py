"""The rows of all inputs together: a column that says of which input a row is, the user, and the columns of each input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._inputs.alignment import ARGUMENT as BASE
from exactk._inputs.containers.frames import columns_by_role
from exactk._inputs.containers.tables import split_structs
from exactk._inputs.keys.column_roles import HIT, Columns, item_column, user_columns, usual_role
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exactk._inputs.keys.column_roles import ColumnNames


SIDE = "side"
"""The column with the number of a row's side."""


class Column(NamedTuple):
    """A column of a side."""

    source: str  # its name in the caller's frame
    name: str  # among the rows of all sides
    kind: str  # of keys: int or str, which all of the name are cast to; empty for values and lists


class Side(NamedTuple):
    """One of the inputs."""

    argument: str
    system: str  # of the predictions, if there are several
    users: tuple[Column, ...]
    others: tuple[Column, ...]
    schema: Any  # of the caller's frame

    @property
    def role(self) -> str:
        """What the rows are: those of base predictions are predictions."""
        return "predictions" if self.argument == BASE else self.argument

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns that are read."""
        return self.users + self.others

    @property
    def has_item_column(self) -> bool:
        """Whether there is one item per row, not an array of items."""
        return any(column.name == "item" for column in self.others)


def side_of_schema(
    number: int,
    argument: str,
    schema: Any,  # noqa: ANN401 - pyarrow has no types
    requested: ColumnNames,
    *,
    system: str = "",
    beside: Iterable[str] = (),
) -> Side:
    """Return the columns that are read of an Arrow schema, by the rules of frames; `beside` are further columns."""
    table = without_values(split_structs(schema.empty_table(), argument), beside, requested)
    columns = Columns.of(schema.names, requested, argument)
    _check_keys(table.schema, argument, requested)
    if argument in {"weights", "groups"}:
        users = user_columns(columns, requested.get("user"), argument)
        read = [name for name in schema.names if name not in users]
    else:
        users, item, values, _ = columns_by_role(table, argument, requested).chosen
        read = [item, *values.values()]
    sources = dict.fromkeys(_source(schema, name) for name in (*read, *beside))
    of_users = [Column(name, f"user_{i}", key_kind(schema, name, argument)) for i, name in enumerate(users)]
    others = []
    for position, name in enumerate(sources):
        if argument not in {"weights", "groups"} and name == read[0] and not _is_nested(schema.field(name).type):
            others.append(Column(name, "item", key_kind(schema, name, argument)))
        else:
            others.append(Column(name, f"value_{number}_{position}", ""))
    return Side(argument, system, tuple(of_users), tuple(others), schema)


def without_values(table: Any, names: Iterable[str], requested: ColumnNames) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a truth's table without its columns of weights and groups that would be grades by their names alone."""
    grades = {name for name in names if usual_role(name) == "grade"} - {requested.get("grade")}
    return table.drop_columns(list(grades)) if grades else table


def _check_keys(schema: Any, argument: str, requested: ColumnNames) -> None:  # noqa: ANN401 - pyarrow has no types
    """Raise InputTypeError for types of keys that other frames may have, but engines cannot compare exactly."""
    columns = Columns.of(schema.names, requested, argument)
    keys = user_columns(columns, requested.get("user"), argument)
    if argument not in {"weights", "groups"}:
        keys.append(item_column(columns, requested.get("item"), argument))
    for name in keys:
        key_kind(schema, name, argument)


def _source(schema: Any, name: str) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the column of the schema with the values of a column, which may be a field of structs."""
    return name if name in schema.names else name.rpartition(HIT)[0]


def _is_nested(dtype: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    return bool(optional.arrow("a table").types.is_nested(dtype))


def key_kind(schema: Any, name: str, argument: str) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the kind of a column of keys, or of lists of keys."""
    types = optional.arrow("a table").types
    dtype = schema.field(name).type
    while types.is_list(dtype) or types.is_large_list(dtype):
        dtype = dtype.value_type
    if types.is_integer(dtype):
        return "int"
    if types.is_string(dtype) or types.is_large_string(dtype):
        return "str"
    hint = "cast the column to integers or strings"
    found = "values that are all missing, or have no one type" if types.is_null(dtype) else str(dtype)
    raise type_error(f"{argument}.{name}", "keys of integers or strings", found, hint=hint)


def check_kinds(sides: Iterable[Side], tables: Iterable[Any], requested: ColumnNames) -> None:
    """Raise InputTypeError if keys of users, or of items, can never match: an engine would cast integers to strings."""
    kinds: dict[str, dict[str, str]] = {}
    for side, table in zip(sides, tables, strict=True):
        names = {column.name: column.source for column in side.columns if column.kind}
        by_name = {name: key_kind(table.schema, source, side.argument) for name, source in names.items()}
        if side.argument not in {"weights", "groups"}:
            item = columns_by_role(table, side.role, requested).chosen.item
            names, by_name = {**names, "item": item}, {**by_name, "item": key_kind(table.schema, item, side.argument)}
        for name, kind in by_name.items():
            kinds.setdefault(name, {}).setdefault(kind, f"{side.argument}.{names[name]}")
    users = {len(side.users) for side in sides}
    if len(users) > 1:
        raise input_error("user", "as many user columns in all inputs", " and ".join(map(str, sorted(users))))
    for name, by_kind in kinds.items():
        if len(by_kind) > 1:
            found = " and ".join(f"{kind} in {column}" for kind, column in by_kind.items())
            raise type_error("item" if name == "item" else "user", "ids of one kind", found, hint=KIND_HINT)


def tables_of_batches(sides: tuple[Side, ...], batches: Iterable[Any]) -> tuple[list[Any], int]:
    """Return a table per side, with the columns as the caller named them, and the number of rows."""
    pa, compute = optional.arrow("a table"), optional.arrow_module("compute", "a table")
    parts: list[list[Any]] = [[] for _ in sides]
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        of_side = batch.column(SIDE)
        whole = pa.Table.from_batches([batch])
        for number, side in enumerate(sides):
            is_of_side = compute.equal(of_side, pa.scalar(number, of_side.type))
            part = whole.select([column.name for column in side.columns]).filter(is_of_side)
            parts[number].append(part.rename_columns([column.source for column in side.columns]))
    return [pa.concat_tables(tables) if tables else None for tables in parts], rows


def values_of_truth(table: Any, users: list[str], name: str, argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the value of each user, which all of the user's rows in the truth have.

    Raises
    ------
    InputError
        If the rows of a user differ.
    """
    compute = optional.arrow_module("compute", "a table")
    rows = table.select([*users, name])
    every = compute.CountOptions(mode="all")  # null and NaN are values too
    grouped = rows.group_by(users).aggregate([(name, "min"), (name, "count_distinct", every)])
    differs = compute.greater(grouped[f"{name}_count_distinct"], 1)
    count = compute.sum(differs).as_py() or 0
    if count:
        first = grouped.filter(differs).slice(0, 1).to_pylist()[0]
        key = ", ".join(repr(first[user]) for user in users)
        for user in users:
            rows = rows.filter(compute.equal(rows[user], first[user]))
        found = " and ".join(map(repr, rows[name].unique().to_pylist()[:2])) + f" in {name!r}"
        raise input_error(argument, "one value in all rows of a user", f"{found} (user {key})", count=count)
    return grouped.select([*users, f"{name}_min"]).rename_columns([*users, name])


def named_tables(sides: Iterable[Side], tables: Iterable[Any]) -> Mapping[str, Any]:
    """Return the tables by argument, those of predictions by system."""
    named: dict[str, Any] = {"systems": {}}
    for side, table in zip(sides, tables, strict=True):
        if side.argument == "predictions":
            named["systems"][side.system] = table
        else:
            named[side.argument] = table
    return named
