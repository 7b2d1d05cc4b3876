"""Users whose value is 0 / 0: how many, when that happens, and the line that leaves them out."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from exactk._plan.conventions import base_of, confirms_undefined, override_name
from exactk._plan.values import reads_item_values
from exactk._report.state import plan_of_state
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._report.state import State

_CASES: Mapping[str, str] = MappingProxyType(
    {
        "auc": "all ranked items are relevant, or none is",
        "list_auc": "all items are relevant, or none is",
        "ild": "fewer than two items of the list count",
        **dict.fromkeys(("serendipity", "calibration"), "no item in train, or none of the list, counts"),
        **dict.fromkeys(("novelty", "surprisal", "arp", "popularity_rank", "aplt"), "no item of the list counts"),
    }
)


def undefined_case(value: Value) -> str:
    """Return when the value of a user is 0 / 0, in parentheses after a blank; empty if the metric does not say."""
    case = "no relevant item has a value above 0" if reads_item_values(value) else _CASES.get(value.metric)
    return f" ({case})" if case else ""


def undefined_values(state: State) -> Iterator[tuple[Value, int]]:
    """Yield the values that are 0 / 0 for users who have a list, each with the number of these users."""
    for value, users in zip(plan_of_state(state), state.counts.undefined or (), strict=False):
        if users and value.rules["average"] != "micro":
            yield value, users


def describe_undefined(state: State) -> str:
    """Return a warning if 0 / 0 counts as 0 and nobody chose that; empty if it does not."""
    values = [
        (value, users) for value, users in undefined_values(state) if _is_zero_by_default(value, state.convention)
    ]
    if not values:
        return ""
    value, users = values[0]
    of_users = f"{users} of {plural(state.counts.users, 'user')}"
    message = f"{value.spelling} is 0 / 0 for {of_users}{undefined_case(value)} and counts as 0"
    message += f"; {_with_skip(value)!r} leaves them out"
    return message if len(values) == 1 else f"{message} (the first of {len(values)} such values)"


def _with_skip(value: Value) -> str:
    """Return the metric string that leaves the users out."""
    spelling = value.spelling.removesuffix("()")
    return f"{spelling[:-1]},undefined=skip)" if spelling.endswith(")") else f"{spelling}(undefined=skip)"


def _is_zero_by_default(value: Value, convention: Convention) -> bool:
    """Return whether 0 / 0 is 0 by no choice of the caller, nor of a library whose preset is in use.

    Users without an item in train whom that makes the best are another warning's.
    """
    preset = base_of(convention)
    is_of_library = preset is not None and preset.name not in {"standard", "capped"}
    is_best = value.info.direction == "lower" and value.needs.history
    return value.rules["undefined"] == "zero" and not (is_of_library or is_best or is_undefined_set(value, convention))


def is_undefined_set(value: Value, convention: Convention) -> bool:
    """Return whether the caller says what 0 / 0 is: in the metric's string, for the metric, or in the convention."""
    names = {value.metric, override_name(value.metric, value.cutoff)}
    return (
        "undefined" in value.spelling.casefold()
        or any("undefined" in convention.overrides.get(name, {}) for name in names)
        or confirms_undefined(convention)
    )
