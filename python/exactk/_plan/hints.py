"""Hints of errors: each is a change of the convention that can be pasted into the failing call."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from exactk._plan.conventions import changes_from, override_name
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.conventions import Convention
    from exactk._plan.metric_strings import Value

_REFUSED_CHOICES = frozenset({"raise", "unjudged", "cutoff"})
"""The choices that hints propose to change."""


def convention_option(convention: Convention, **changes: object) -> Option:
    """Return the keyword argument for a change of the convention."""
    return Option("convention", changes_from(convention, changes))


@contextmanager
def complete_hints(convention: Convention, values: Sequence[Value]) -> Iterator[None]:
    """Complete the hints of errors, written for the standard convention, with the call's own changes."""
    try:
        yield
    except ExactkError as error:
        hint = tuple(_complete(part, convention, values) for part in error.fault.hint)
        if hint == error.fault.hint:
            raise
        raise error.amended(hint=hint) from None


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
