"""What was computed: convention, formulas, tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._html.page_parts import Facts, Fold, Section, page_table
from exactk._plan.conventions import conventions, departures, description
from exactk._plan.metrics import ignored_fields

if TYPE_CHECKING:
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._runtime.table import Table

_QUESTION = "So that another reader computes the same."
_USERS = {
    "truth": "those in the truth",
    "both": "those in both truth and predictions",
    "predictions": "those in the predictions",
    "union": "those in the truth or the predictions",
}
_NEVER_SHOWN = frozenset({"decimals", "score_dtype", "nan"})


def definitions(source: Source) -> Section:
    """Return the section."""
    convention = source.first.convention
    facts = [
        ("convention", description(convention)),
        ("differences from standard", departures(convention)),
        ("rules", source.first._rules_text),
        (
            "users in the mean",
            " or ".join(_USERS[name] for name in dict.fromkeys(value.rules["users"] for value in source.values)),
        ),
    ]
    if source.differences is not None:
        facts.append(("differences", source.differences.caption))
    parts: list[Part] = [Facts(facts), _formulas(source)]
    if table := _presets(source):
        parts.append(Fold("What other conventions would change", [table]))
    return Section("definitions", "What was computed", _QUESTION, parts)


def _rule(values: Any, name: str) -> str:  # noqa: ANN401 - the values of a plan
    return " or ".join(dict.fromkeys(str(value.rules[name]) for value in values))


def _formulas(source: Source) -> Table:
    by_metric: dict[str, list[Value]] = {}
    for value in source.values:
        by_metric.setdefault(value.metric, []).append(value)
    rows = [
        [
            metric,
            ", ".join(value.spelling for value in some),
            some[0].info.summary,
            some[0].info.formula,
            _rule(some, "average"),
            some[0].info.direction,
            some[0].info.source,
        ]
        for metric, some in by_metric.items()
    ]
    header = ["metric", "here", "what it is", "formula", "average", "better", "source"]
    return page_table("Metrics", header, rows, left=len(header))


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
