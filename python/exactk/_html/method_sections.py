"""What was computed and how to compute it again, with the numbers of the page as JSON."""

from __future__ import annotations

import json
import math
import os
import shlex
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from exactk._figures import interval_of
from exactk._html.page_parts import Code, Facts, Fold, JsonBlock, Paragraph, page_table
from exactk._plan.conventions import conventions, departures, description
from exactk._plan.metrics import ignored_fields
from exactk._report.difference import Difference
from exactk._report.export_forms import json_counts, json_number
from exactk._runtime.optional import installation_facts, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from exactk._html.page_parts import Content, Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._report.differences import Differences
    from exactk._report.report import Report
    from exactk._runtime.table import Table


_USERS = {
    "truth": "those in the truth",
    "both": "those in both truth and predictions",
    "predictions": "those in the predictions",
    "union": "those in the truth or the predictions",
}
_OF_ITEM_GROUPS = (
    "With item_group=, relevant items are those of the group alone; with item_group_value=share, hits are, and divisors "
    "stay those of all items."
)
_NEVER_SHOWN = frozenset({"decimals", "score_dtype", "nan"})


def definitions(source: Source) -> Content:
    convention = source.first.convention
    facts = [
        ("convention", description(convention)),
        ("differences from standard", departures(convention)),
        ("rules", source.first._rules_text),
        (
            source.named("users in the mean"),
            " or ".join(_USERS[name] for name in dict.fromkeys(value.rules["users"] for value in source.values)),
        ),
    ]
    if source.differences is not None:
        facts.append(("differences", source.differences.caption))
    parts: list[Part] = [Facts(facts), _formulas(source)]
    if table := _presets(source):
        parts.append(Fold("What other conventions would change", [table]))
    return parts


def _rule(values: Any, name: str) -> str:  # noqa: ANN401 - the values of a plan
    return " or ".join(dict.fromkeys(str(value.rules[name]) for value in values))


def _formulas(source: Source) -> Table:
    by_metric: dict[str, list[Value]] = {}
    for value in source.values:
        by_metric.setdefault(value.info.name, []).append(value)
    rows = [
        [
            metric,
            ", ".join(value.spelling for value in some),
            source.named(some[0].info.summary),
            source.named(some[0].info.formula),
            _rule(some, "average"),
            some[0].info.direction,
            some[0].info.source,
        ]
        for metric, some in by_metric.items()
    ]
    header = ["metric", "here", "what it is", "formula", "average", "better", "source"]
    note = _OF_ITEM_GROUPS if any(value.item_group is not None for value in source.values) else ""
    return page_table("Metrics", header, rows, left=len(header), note=source.named(note))


def _presets(source: Source) -> Table | None:
    """Return the fields in which presets differ from the convention, of those that the metrics read."""
    convention = source.first.convention
    read = {name for value in source.values for name in convention.to_dict() if name not in ignored_fields(value.info)}
    rows = []
    for name, preset in conventions.items():
        if name == convention.name:
            continue
        changes = {
            field: other
            for field, (_, other) in convention.diff(preset).items()
            if field in read - _NEVER_SHOWN and field not in {"name", "overrides"}
        }
        text = ", ".join(f"{field}={value!r}" for field, value in changes.items())
        rows.append([name, text or "nothing that these metrics read"])
    return page_table("Convention fields with other values", ["convention", "it has"], rows, left=2) if rows else None


_FORMAT, _VERSION = "exactk-page", 1
_MOST_CHARACTERS = 100_000
_MOST_ROWS = 400  # of a table of groups, which is a fraction of that text
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_OPTIONAL = (
    *("differences_by_group", "by_group", "by_item_group", "popularity", "drift", "heterogeneity", "differences"),
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
        "popularity": [row._asdict() for row in source.popularity],
        "drift": {name: one.to_dict() for name, one in source.request.drift.items()},
        "differences": _table_of(differences or ()),
        "differences_by_group": _table_of(by_group) if len(by_group) <= _MOST_ROWS else None,
        "heterogeneity": [
            dict(zip(_HETEROGENEITY, (*key, *map(json_number, numbers)), strict=True))
            for key, numbers in islice(_heterogeneity(differences), _MOST_ROWS)
        ],
        "test": None if differences is None else differences.caption,
    }


_HETEROGENEITY = ("metric", "system", "baseline", "p", "p_adjusted", "i_squared")


def _heterogeneity(differences: Differences | None) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
    """Yield each test of groups and its numbers."""
    if differences is not None:
        numbers = (differences.heterogeneity, differences.heterogeneity_adjusted, differences.i_squared)
        yield from ((key, tuple(one[key] for one in numbers)) for key in differences.heterogeneity)


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


_READING = """import json, pathlib, re
page = pathlib.Path("report.html").read_text(encoding="utf-8")
block = re.search(r'<script type="application/json" id="exactk-results">(.*?)</script>', page, re.DOTALL)
results = json.loads(block[1])"""
_OF_MACHINE = ("platform", "instructions", "threads")


def reproduction(source: Source) -> Content:
    text, left_out = results_json(source)
    parts: list[Part] = [Facts([*_facts_of_run(source), *_facts_of_machine()])]
    if source.request.inputs:
        rows = [
            [str(one["argument"]), str(one["system"] or ""), str(one["path"]), str(one["sha256"] or "none")]
            for one in source.request.inputs
        ]
        parts.append(page_table("Files", ["argument", "system", "path", "SHA-256"], rows, left=4))
    more = f" Left out, as the page would be too large: {', '.join(left_out)}." if left_out else ""
    parts.append(
        Paragraph(
            source.named("The page contains its numbers as JSON, in full precision and without data of users.") + more
        )
    )
    parts.append(Fold("Read them in Python", [Code(_READING, "Python code")]))
    return [*parts, JsonBlock(text)]


def _facts_of_run(source: Source) -> list[tuple[str, str]]:
    facts = [("exactk", version_of("exactk")), ("written", _written())]
    if source.request.command:
        facts.append(("command", shlex.join(source.request.command)))
    digests = dict.fromkeys(report.state.truth_digest for report in source.reports.values())
    texts = [f"{digest:#034x}" for digest in digests if digest is not None]
    if texts:
        facts.append(("digest of the truth", ", ".join(texts)))
    options = None if source.comparison is None else source.comparison.state.options
    if options is not None and options.has_random_numbers:
        facts.append(
            ("random numbers", f"seed {options.seed}, {options.permutations:,} flips, {options.resamples:,} resamples")
        )
    return facts


def _written() -> str:
    """Return the time, or that of SOURCE_DATE_EPOCH, which makes equal pages of equal inputs."""
    epoch = _source_date_epoch()
    time = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(epoch, UTC)
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _source_date_epoch() -> int | None:
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 12 else None


def _facts_of_machine() -> list[tuple[str, str]]:
    """Return libraries and, unless the page is to be the same everywhere, the machine."""
    facts = installation_facts()
    names = ["Python", "NumPy", *([] if _source_date_epoch() is not None else _OF_MACHINE)]
    shown = [(name, facts[name]) for name in names]
    scipy = version_of("scipy")
    text = "no number depends on instructions, threads or platform"
    return [*shown, ("SciPy", scipy), ("bits", text)]
