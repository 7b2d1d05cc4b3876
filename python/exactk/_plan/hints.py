"""Hints of errors: each is a change of the convention that can be pasted into the failing call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._plan.conventions import changes_from, override_name
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._runtime.errors import ExactkError

_REFUSED_CHOICES = frozenset({"raise", "unjudged", "cutoff", "input_order"})
"""The choices that hints propose to change."""


def convention_option(convention: Convention, **changes: object) -> Option:
    """Return the keyword argument for a change of the convention."""
    return Option("convention", changes_from(convention, changes))


def with_complete_hint(error: ExactkError, convention: Convention, values: Sequence[Value]) -> ExactkError:
    """Return the error with its hint, written for the standard convention, completed with the call's own changes."""
    hint = tuple(_complete(part, convention, values) for part in error.fault.hint)
    return error if hint == error.fault.hint else error.amended(hint=hint)


def _complete(part: str | Option, convention: Convention, values: Sequence[Value]) -> str | Option:
    """Return the completed part of a hint."""
    if not isinstance(part, Option) or part.name != "convention" or not isinstance(part.value, dict):
        return part
    ((field, choice),) = part.value.items()
    for value in values:
        refused = value.rules[field]
        of_convention = convention.rules(override_name(value.metric, value.cutoff))[field]
        if refused in _REFUSED_CHOICES and refused != of_convention:  # by the metric's string
            return Option("metrics", value.name.replace(f"{field}={refused}", f"{field}={choice}"))
    overridden = {f"{metric}.{field}": choice for metric, rules in convention.overrides.items() if field in rules}
    return Option("convention", changes_from(convention, {field: choice} | overridden))
