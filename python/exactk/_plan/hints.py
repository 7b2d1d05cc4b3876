"""Hints of errors: each names a change of the convention so that it can be pasted into the call at fault."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from exactk._plan.conventions import changes_literal, override_name
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.conventions import Convention
    from exactk._plan.metric_strings import Value

_REFUSED_CHOICES = frozenset({"raise", "unjudged", "cutoff"})
"""Those of which a hint tells to change."""

_CHANGE = re.compile(r"convention=\{'(?P<field>\w+)': '(?P<choice>\w+)'\}")


@contextmanager
def complete_hints(convention: Convention, values: Sequence[Value]) -> Iterator[None]:
    """Have the hints of errors, which speak of the standard convention, keep what the call has set already."""
    try:
        yield
    except ExactkError as error:
        error.args = (_CHANGE.sub(lambda match: _complete_hint(match, convention, values), str(error)),)
        raise


def _complete_hint(match: re.Match[str], convention: Convention, values: Sequence[Value]) -> str:
    field, choice = match["field"], match["choice"]
    for value in values:
        refused = value.rules[field]
        of_convention = convention.rules(override_name(value.metric, value.cutoff))[field]
        if refused in _REFUSED_CHOICES and refused != of_convention:  # by the metric's string
            return "metrics={!r}".format(value.name.replace(f"{field}={refused}", f"{field}={choice}"))
    overridden = {f"{metric}.{field}": choice for metric, rules in convention.overrides.items() if field in rules}
    return f"convention={changes_literal(convention, {field: choice} | overridden)}"
