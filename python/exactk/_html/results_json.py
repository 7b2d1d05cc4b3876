"""The numbers of a page as JSON, in full precision: no keys of users and items, and no values of single users."""

from __future__ import annotations

import json
import math
from itertools import islice
from typing import TYPE_CHECKING, Any

from exactk._figures.figures import interval_of
from exactk._report.difference import Difference
from exactk._report.json_document import json_counts, json_number
from exactk._runtime.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exactk._html.page_source import Source
    from exactk._report.report import Report

_FORMAT, _VERSION = "exactk-page", 1
_MOST_CHARACTERS = 100_000
_MOST_ROWS = 400  # of a table of groups, which is a fraction of that text
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_OPTIONAL = (
    *("differences_by_group", "by_group", "by_item_group", "heterogeneity", "differences"),
    *("standard_deviation", "intervals", "counts", "values", "metrics"),
)
"""What is left out of JSON that is too long, in this order."""


def results_json(source: Source) -> tuple[str, list[str]]:
    """Return JSON that is safe within an element of HTML, and the names of what was left out as it is too long."""
    plain = _plain(source)
    left_out = [name for name in _OPTIONAL if plain[name] is None]
    text = _dumps({**plain, "left_out": left_out})
    for name in _OPTIONAL:
        if len(text) <= _MOST_CHARACTERS:
            break
        if plain[name] is not None:
            plain[name] = None
            left_out.append(name)
            text = _dumps({**plain, "left_out": left_out})
    return text, left_out


def _dumps(plain: dict[str, Any]) -> str:
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return "".join(_ESCAPES.get(character, character) for character in text) if set(text) & _ESCAPES.keys() else text


def _plain(source: Source) -> dict[str, Any]:
    differences = source.differences
    by_group = () if differences is None else differences.by_group
    heterogeneity = {} if differences is None else differences.heterogeneity
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "exactk": version_of("exactk"),
        "command": list(source.request.command) or None,
        "inputs": list(source.request.inputs) or None,
        "convention": source.first.convention.to_dict(),
        "metrics": [
            {"metric": value.spelling, "name": value.name, "better": value.info.direction} for value in source.values
        ],
        "confidence": source.confidence,
        "values": {system: _numbers(report) for system, report in source.reports.items()},
        "standard_deviation": {
            system: _numbers(report.standard_deviation) for system, report in source.reports.items()
        },
        "intervals": {system: _intervals(source, report) for system, report in source.reports.items()},
        "counts": {system: json_counts(report.counts) for system, report in source.reports.items()},
        "by_group": _values_by_group(source),
        "by_item_group": {
            system: [{"group": label, **_numbers(numbers)} for label, numbers in report.by_item_group.items()]
            for system, report in source.reports.items()
            if report.by_item_group
        },
        "differences": _table_of(differences or ()),
        "differences_by_group": _table_of(by_group) if len(by_group) <= _MOST_ROWS else None,
        "heterogeneity": [
            {"metric": metric, "system": system, "baseline": baseline, "p": json_number(p)}
            for (metric, system, baseline), p in islice(heterogeneity.items(), _MOST_ROWS)
        ],
        "test": None if differences is None else differences.caption,
    }


def _numbers(values: Mapping[str, float]) -> dict[str, object]:
    return {name: _plain_field(value) for name, value in values.items()}


def _intervals(source: Source, report: Report) -> dict[str, dict[str, object]]:
    intervals = {value.spelling: interval_of(report, value, source.confidence) for value in source.values}
    return {
        name: {
            "low": _plain_field(one.low),
            "high": _plain_field(one.high),
            "confidence": source.confidence,
            "method": one.method,
        }
        for name, one in intervals.items()
        if one.method is not None
    }


def _values_by_group(source: Source) -> dict[str, list[list[Any]]] | None:
    """Return the rows of groups by system; None if they are too many."""
    groups = sum(len(report.state.groups or {}) for report in source.reports.values())
    if groups * len(source.values) > _MOST_ROWS:
        return None
    return {system: _groups_of(report) for system, report in source.reports.items() if report.state.groups}


def _groups_of(report: Report) -> list[list[Any]]:
    """Return a row of each group and metric: group, metric, value, users."""
    return [[row.label, row.metric, json_number(row.value), row.evaluated] for row in report._rows_of_groups()]


def _table_of(rows: Iterable[Difference]) -> dict[str, Any]:
    """Return rows of differences as a table, whose columns are named once."""
    return {"columns": list(Difference._fields), "rows": [[_plain_field(field) for field in row] for row in rows]}


def _plain_field(field: object) -> object:
    """Return a field as JSON has it, which lacks NaN, and the infinite statistic of equal differences."""
    return None if isinstance(field, float) and not math.isfinite(field) else field
