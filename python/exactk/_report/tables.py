"""Tables of reports as columns, and as text."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from exactk._report.display import format_number
from exactk._report.user_keys import join_columns
from exactk._runtime.errors import InputError, input_error
from exactk._runtime.optional import NullableIntegers, OrderedCategories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.values import Value

Table = Literal["values", "per_user", "by_group", "by_item_group"]
TABLES = ("values", "per_user", "by_group", "by_item_group")

Columns = dict[str, Any]
"""The columns of a table by name: arrays or lists."""


class TextTable(NamedTuple):
    """A table whose cells are text."""

    header: list[str]
    rows: list[list[str]]
    left: int = 1  # columns aligned to the left
    best: frozenset[tuple[int, int]] = frozenset()  # rows and columns of the cells to mark


def unknown_table(table: object) -> InputError:
    """Return the error for a table that there is not."""
    hint = "comparison.differences has its own exports, such as to_pandas()" if table == "differences" else ""
    return input_error("table", f"one of {', '.join(map(repr, TABLES))}", repr(table), hint=hint)


def metric_columns(values: Sequence[Value], times: int = 1) -> Columns:
    """Return the columns of metrics, as requested, and of cutoffs, repeated `times`."""
    return {
        "metric": [value.label for value in values] * times,
        "k": NullableIntegers([value.cutoff for value in values] * times),
    }


def stack_systems(tables: Mapping[str, Columns]) -> Columns:
    """Return the rows of all systems, after a column ``system`` with their names."""
    first = next(iter(tables.values()))
    sizes = [len(next(iter(table.values()))) for table in tables.values()]
    systems = [system for system, size in zip(tables, sizes, strict=True) for _ in range(size)]
    columns = {name: _concatenate([table[name] for table in tables.values()]) for name in first}
    return join_columns({"system": systems}, columns)


def _concatenate(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - columns of any type
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    cells = chain.from_iterable(parts)
    if isinstance(parts[0], NullableIntegers):
        return NullableIntegers(cells)
    orders = {part.categories if isinstance(part, OrderedCategories) else None for part in parts}
    order = orders.pop() if len(orders) == 1 else None
    return list(cells) if order is None else OrderedCategories(cells, order)


def text_of_columns(columns: Columns, left: int, digits: int) -> TextTable:
    """Return the columns as text, numbers but integers with so many decimals."""
    cells = [
        [format_number(cell, digits) if isinstance(cell, float) else str(cell) for cell in plain_column(column)]
        for column in columns.values()
    ]
    return TextTable(list(columns), [list(row) for row in zip(*cells, strict=True)], left)


def plain_column(column: Any) -> list[Any]:  # noqa: ANN401 - a column of any type
    """Return the cells as Python's own numbers and text."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)
