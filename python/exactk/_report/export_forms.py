"""Forms in which results are written: flat names, columns, JSON documents."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.faults import quote
from exactk._runtime.optional import version_of
from exactk._runtime.shapes import Anything, Fields, Many, Maybe, ShapeError, Text, plain_data, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._plan.values import Value


TableName = Literal["values", "per_user", "by_group", "by_item_group", "per_item"]

Columns = dict[str, Any]
"""The columns of a table by name: arrays or lists."""

_ACCEPTED = r"(?a)[\w\-. :/]*"  # the characters that MLflow accepts in names of metrics
_MOST_CHARACTERS = 250  # that MLflow accepts


def flat_name(name: str) -> str:
    """Return the name as a word of letters, digits and underscores: ``ndcg_at_10`` for ``ndcg@10``."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("@", "_at_")).strip("_")
    if not word:
        raise input_error("names", "names with a letter from A to Z or a digit", repr(name))
    return f"_{word}" if word[:1].isdigit() else word


def flat_dict(values: Iterable[tuple[tuple[str, ...], float]], prefix: object, sep: object = "/") -> dict[str, float]:
    """Return the values under flat names, whose parts, such as system and metric, are joined by `sep`."""
    begin, between = _checked("prefix", prefix), _checked("sep", sep)
    flat: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for parts, value in values:
        name = begin + between.join(map(flat_name, parts))
        if len(name) > _MOST_CHARACTERS:
            expected = f"names that have at most {_MOST_CHARACTERS} characters with the prefix"
            raise input_error("names", expected, f"{len(name)} in {quote(name)}")
        if name in flat:
            both = " and ".join(repr(" ".join(one)) for one in (sources[name], parts))
            raise input_error(
                "names", "names that differ in letters from A to Z or digits", f"{both}, which are both {name}"
            )
        flat[name], sources[name] = value, parts
    return flat


def _checked(argument: str, text: object) -> str:
    """Return what stands before or between names; raise InputError or InputTypeError if no tracker accepts it."""
    if not isinstance(text, str):
        raise type_error(argument, "a string", repr(text))
    if not re.fullmatch(_ACCEPTED, text):
        raise input_error(argument, "letters, digits, spaces and any of _-.:/", repr(text))
    return text


def metric_columns(values: Sequence[Value], times: int = 1) -> Columns:
    """Return the columns of metrics, as requested, and of cutoffs, repeated `times`."""
    from exactk._runtime.optional import NullableIntegers

    return {
        "metric": [value.label for value in values] * times,
        "k": NullableIntegers([value.cutoff for value in values] * times),
    }


def join_columns(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of both; raise InputError if they share a name."""
    if shared := [name for name in second if name in set(first)]:
        hint = "rename the user columns or the unit, or the system or metric of this name"
        raise input_error("table", "distinct column names", f"two columns {shared[0]!r}", hint=hint)
    return {**first, **second}


def stack_systems(tables: Mapping[str, Columns]) -> Columns:
    """Return the rows of all systems, after a column ``system`` with their names."""
    first = next(iter(tables.values()))
    sizes = [len(next(iter(table.values()))) for table in tables.values()]
    systems = [system for system, size in zip(tables, sizes, strict=True) for _ in range(size)]
    columns = {name: _concatenate([table[name] for table in tables.values()]) for name in first}
    return join_columns({"system": systems}, columns)


def _concatenate(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - columns of any type
    from exactk._runtime.optional import NullableIntegers, OrderedCategories

    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    cells = chain.from_iterable(parts)
    if isinstance(parts[0], NullableIntegers):
        return NullableIntegers(cells)
    orders = {part.categories if isinstance(part, OrderedCategories) else None for part in parts}
    order = orders.pop() if len(orders) == 1 else None
    return list(cells) if order is None else OrderedCategories(cells, order)


_FORMAT = "exactk-report"
_VERSION = 1
_SHAPE = Fields(
    dict,
    {
        **dict.fromkeys(("format", "version", "exactk", "command", "inputs"), Anything()),
        "reports": Many(Fields(dict, {"system": Maybe(Text())}, has_others=True)),
        "comparison": Maybe(Fields(dict, {}, has_others=True)),
    },
)

Source: TypeAlias = str | bytes | os.PathLike[str]
"""JSON as text, or the path of a file with it."""


class Document(NamedTuple):
    """Reports as plain data, by system, and how they are compared; the only report of one system has the name None."""

    reports: Mapping[str | None, Mapping[str, Any]]
    comparison: Mapping[str, Any] | None = None


def json_document(
    document: Document, command: Sequence[str] | None = None, inputs: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """Return JSON of reports.

    `command` and `inputs`, the files with their digests, are known where a command has read them.
    """
    fields = {
        "format": _FORMAT,
        "version": _VERSION,
        "exactk": version_of("exactk"),
        "command": command,
        "inputs": inputs,
        "reports": [{"system": system, **report} for system, report in document.reports.items()],
        "comparison": document.comparison,
    }
    return json.dumps(fields, allow_nan=False)


def read_document(source: Source, argument: str, expected: str) -> Document:
    """Return what is in JSON, as plain data."""
    text = _text_of(source, argument, expected)
    try:
        document = read_json(text, argument, expected)
    except InputError as error:
        if isinstance(source, str) and source.endswith(".json"):
            raise error.amended(hint=(f"pathlib.Path({source!r}) is the file",)) from None
        raise
    with plain_data(argument, expected):
        plain = _SHAPE.read(document)
        if (plain["format"], plain["version"]) != (_FORMAT, _VERSION):
            raise ShapeError("", f"{_FORMAT} of version {_VERSION}", (plain["format"], plain["version"]))
        reports = {report["system"]: report for report in plain["reports"]}
        if len(reports) < len(plain["reports"]) or (None in reports and len(reports) > 1):
            raise ShapeError("reports", "the name of each system, once", [*reports])
        by_system = {
            system: {name: part for name, part in report.items() if name != "system"}
            for system, report in reports.items()
        }
        return Document(by_system, plain["comparison"])


def _text_of(source: Source, argument: str, expected: str) -> str | bytes:
    """Return the JSON itself, which a string holds and a path leads to."""
    if isinstance(source, os.PathLike):
        return Path(source).read_bytes()
    if not isinstance(source, (str, bytes)):
        raise type_error(argument, f"{expected}, or a path", type(source).__name__)
    return source


def json_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return counts as JSON has them."""
    return {
        name: {key: json_number(number) for key, number in count.items()} if isinstance(count, Mapping) else count
        for name, count in counts.items()
    }


def json_number(value: float) -> float | None:
    """Return a number as JSON has it, which lacks NaN."""
    return None if math.isnan(value) else value
