"""What is kept of users, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._plan.ranges import range_of
from exactk._report.json_document import json_number
from exactk._report.state import State, plan_of_state
from exactk._report.user_table import UserTable, has_part_rows
from exactk._report.validation import checked_fields, checked_integer, checked_list, fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value

_FIELDS = ("rows", "weights", "groups")


def kept_to_plain(table: UserTable, values: Sequence[Value]) -> dict[str, Any]:
    """Return what is kept of users beside their values: the rows of averages, weights and the positions of groups."""
    part_rows = iter(table.rows[table.value_count :])
    rows = {
        value.spelling: [_row_to_plain(next(part_rows)) for _ in range(2)] for value in values if has_part_rows(value)
    }
    weights = None if table.weights is None else _row_to_plain(table.weights)
    return {"rows": rows, "weights": weights, "groups": None if table.groups is None else table.groups.tolist()}


def _row_to_plain(row: NDArray[np.float64]) -> list[float | None]:
    return [json_number(number) for number in row.tolist()]


def kept_from_plain(per_user: object, kept: object, state: State) -> UserTable | None:
    """Return what is kept of users, if anything; raise ValueError if it is impossible."""
    if not isinstance(per_user, Mapping):
        raise fail("per_user to be a mapping", per_user)
    values, users = plan_of_state(state), state.counts.users
    spellings = [value.spelling for value in values if not value.info.of_collection]
    if not per_user and (kept is None or spellings):
        if kept is not None:
            raise fail("kept to be null, as per_user is empty", kept)
        return None
    checked_fields(per_user, spellings, "per_user")
    checked = checked_fields(kept, _FIELDS, "kept")
    rows = [
        _user_numbers(per_user[value.spelling], value.spelling, users, range_of(value))
        if value.spelling in spellings
        else [math.nan] * users
        for value in values
    ]
    with_parts = [value for value in values if has_part_rows(value)]
    part_rows = checked_fields(checked["rows"], [value.spelling for value in with_parts], "rows of kept")
    for value in with_parts:
        limits = (
            (0.0, 1.0) if value.rules["average"] == "of_means" and range_of(value) == (0, 1) else (-math.inf, math.inf)
        )
        pair = checked_list(part_rows[value.spelling], f"rows of {value.spelling}", 2)
        rows += [_user_numbers(row, value.spelling, users, limits) for row in pair]
    weights = groups = None
    if state.weighted:
        weights = np.array(_user_numbers(checked["weights"], "weights", users, (0.0, math.inf)), np.float64)
    elif checked["weights"] is not None:
        raise fail("no weights", checked["weights"])
    labels = tuple(state.groups or ())
    if state.groups is not None:
        codes = checked_list(checked["groups"], "groups", users)
        groups = np.array([checked_integer(code, "a group", -1, len(labels) - 1) for code in codes], np.int64)
    elif checked["groups"] is not None:
        raise fail("no groups", checked["groups"])
    table = np.array(rows, np.float64).reshape(len(rows), users)
    return UserTable(table, len(values), weights, groups, labels)


def _user_numbers(data: object, what: str, users: int, limits: tuple[float, float]) -> list[float]:
    """Return a number for each user, NaN for null."""
    row, (least, most) = checked_list(data, f"users of {what}", users), limits
    for number in row:
        is_number = type(number) is float or (type(number) is int and abs(number) < 2**53)
        if number is not None and not (is_number and math.isfinite(number) and least <= number <= most):
            raise fail(f"a user's {what} or null", number)
    return [math.nan if number is None else number for number in row]
