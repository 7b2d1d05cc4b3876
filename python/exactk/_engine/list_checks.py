"""Checks of what is asked of metrics that all lists together have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.metric_strings import Value


def check_collection_values(values: Sequence[Value], unused: Mapping[str, object]) -> None:
    """Raise InputError if an argument cannot apply to a value of all lists together, or fields contradict each other.

    `unused` are the arguments for values of users, None where they are not given.
    """
    of_collection = [value for value in values if value.info.of_collection]
    for value in of_collection:
        for argument, given in unused.items():
            if given is not None:
                expected = f"None with {value.spelling}, which all lists together have"
                hint = "evaluate it by itself, or the lists of each group by themselves"
                raise input_error(argument, expected, type(given).__name__, hint=hint)
        _check_fields(value)


def _check_fields(value: Value) -> None:
    rules, own_fields = value.rules, value.info.own_fields
    if rules["duplicate_items"] == "count" and "list_similarity" in own_fields:
        expected = f"{value.spelling}: duplicate_items of 'first' or 'raise'"
        raise input_error("metrics", expected, "'count', by which a list is no set of items")
