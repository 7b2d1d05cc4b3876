"""The JSON of reports: one shape for one report and for those of several systems."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from exactk._runtime.errors import InputError, type_error
from exactk._runtime.shapes import Anything, Fields, Many, Maybe, ShapeError, Text, plain_data, read_json
from exactk._runtime.versions import version_of

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
