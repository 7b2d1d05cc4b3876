"""Rules for the core, without a convention."""

from __future__ import annotations

from typing import Any

from exactk import _core

STANDARD: dict[str, Any] = {field.name: field.standard for field in _core.convention_fields()}
"""What the core has as each field's standard."""

CHOICES = {field.name: field.choices for field in _core.convention_fields() if field.kind == "choice"}
"""The choices of the fields that have a few."""


def core_rules(**values: Any) -> _core.Rules:
    """Return the standard rules with some fields changed."""
    return _core.Rules(STANDARD | values)


def gains_of(info: _core.MetricInfo) -> dict[str, Any]:
    """Return the fields that a metric of gains up to 1 needs for grades to 3."""
    return {"gain": "scaled", "gain_range": [0.0, 3.0], "gain_table": []} if info.gains_to_one else {}
