"""The result of a command: printed, and written to files."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

import exactk
from exactk._cli import trec
from exactk._report.comparison import reports_of
from exactk._report.exports import json_of
from exactk._runtime import optional
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk._runtime.table import format_csv, plain_cells

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from exactk._cli.input_options import Provenance
    from exactk._report.differences import Differences
    from exactk._report.export_forms import TableName


_MOST_ROWS = 12  # of groups, in a table for a terminal


def differences_as_text(differences: Differences, format_name: str) -> list[str]:
    """Return the differences, and those of groups if there are any, in the format "table", "markdown" or "latex"."""
    tables = [differences, differences.by_group] if differences.by_group else [differences]
    if format_name == "markdown":
        return [table.to_markdown() for table in tables]
    if format_name == "latex":
        return [table.to_latex() for table in tables]
    left_out = len(differences.by_group) - _MOST_ROWS
    remark = [f"{plural(left_out, 'more row')} of groups with --format csv"] if left_out > 0 else []
    return [repr(differences), *(repr(table[:_MOST_ROWS]) for table in tables[1:]), *remark]


def differences_as_csv(differences: Differences) -> str:
    """Return the differences, and those of groups, as one table; the rows of all users have no group."""
    columns, of_groups = differences.columns(), differences.by_group.columns()
    if not differences.by_group:
        return format_csv(columns)
    of_all = [None] * len(differences)
    return format_csv({name: [*columns.get(name, of_all), *cells] for name, cells in of_groups.items()})


Result = exactk.Report | exactk.Comparison

DATA_FORMATS = frozenset({"json", "csv", "trec"})
"""Formats for programs."""

_NO_OPTIONS = trec.Output()


def format_result(
    result: Result,
    format_name: str,
    provenance: Provenance,
    trec_output: trec.Output = _NO_OPTIONS,
    *,
    has_differences: bool = False,
) -> str:
    """Return the result as text in one of `FORMATS`, a comparison perhaps with its differences.

    CSV, which is one table, then has the differences, and each of them both values. JSON has what they follow from.
    """
    if format_name == "trec":
        return trec.format_trec(result, trec_output)
    if format_name == "json":
        return _json_document(result, provenance) + "\n"
    compared = result.differences if has_differences and isinstance(result, exactk.Comparison) else None
    if format_name == "csv":
        return _values_as_csv(result) if compared is None else differences_as_csv(compared)
    tables = [] if compared is None else differences_as_text(compared, format_name)
    if format_name == "table":
        return "\n\n".join([repr(result), *tables]) + "\n"
    write = result.to_markdown if format_name == "markdown" else result.to_latex
    return "\n\n".join([*(write(table=table) for table in _tables(result)), *tables]) + "\n"


def _tables(result: Result) -> tuple[TableName, ...]:
    """Return the tables to print: that of values, and, if there are groups of users or items, theirs."""
    reports = reports_of(result).values()
    of_users: tuple[TableName, ...] = ("by_group",) if any(report.by_group for report in reports) else ()
    of_items: tuple[TableName, ...] = ("by_item_group",) if any(report.by_item_group for report in reports) else ()
    return ("values", *of_users, *of_items)


def _values_as_csv(result: Result) -> str:
    """Return the values, and those of groups, as one table; the rows of all users have no group."""
    tables = [result.columns(table) for table in _tables(result)]
    columns: dict[str, list[object]] = {name: [] for table in reversed(tables) for name in table}
    for table in tables:
        size = len(table["value"])
        for name, cells in columns.items():
            cells.extend(plain_cells(table[name]) if name in table else [None] * size)
    return format_csv(columns)


def _json_document(result: Result, provenance: Provenance) -> str:
    """Return the result as JSON without per-user values, which go to their own file, unless the test needs them."""
    inputs = [one.to_dict(provenance.stdin) for one in provenance.inputs]
    if isinstance(result, exactk.Report):
        return json_of(exactk.merge([result.state]), provenance.command, inputs)
    if result.state.options.needs_users:
        return json_of(result, provenance.command, inputs)
    return json_of(exactk.merge([result.state]), provenance.command, inputs)


ENDINGS = (".parquet", ".csv", ".json", ".jsonl", ".ndjson")


def check_user_table_path(path: Path) -> None:
    """Raise the errors of `user_table_file`, before anything is read."""
    if path.suffix.lower() not in ENDINGS:
        raise input_error("--per-user", f"a file that ends in {', '.join(ENDINGS)}", repr(str(path)))
    if path.suffix.lower() == ".parquet":
        optional.require("pyarrow", "--per-user with a .parquet file")


def user_table_file(result: Result, path: Path) -> bytes:
    """Return the per-user values as the content of a file with this extension."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        return optional.parquet(result.to_arrow("per_user"))
    if ending == ".csv":
        return result.to_csv(table="per_user").encode(errors="backslashreplace")
    rows = _json_rows(result)
    text = "[{}]\n".format(",\n".join(rows)) if ending == ".json" else "".join(f"{row}\n" for row in rows)
    return text.encode()


def _json_rows(result: Result) -> list[str]:
    """Return each user's values as a JSON object, with null for NaN; the key of a user is the same whatever users are called."""
    columns = {name: np.asarray(column).tolist() for name, column in result.columns("per_user").items()}
    columns = {"user" if name == result.unit_names.user else name: column for name, column in columns.items()}
    return [
        json_object(dict(zip(columns, map(_nullable, row), strict=True))) for row in zip(*columns.values(), strict=True)
    ]


def _nullable(cell: object) -> object:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def json_object(row: Mapping[str, object]) -> str:
    """Return the row as JSON, where infinity and NaN are as Python writes them; bytes become text, invalid ones escaped."""
    return json.dumps(row, default=lambda key: key.decode(errors="backslashreplace"))
