"""What is kept of users, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._plan.values import range_of
from exactk._report.json_document import json_number
from exactk._report.state import State, plan_of_state
from exactk._report.user_table import UserTable, has_part_rows, rows_of_values
from exactk._report.validation import checked_fields, checked_integer, checked_list, fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.metric_strings import Plan
    from exactk._plan.values import Value
    from exactk._report.sums import Sums

_TOLERANCE = 1e-9  # of a sum: users have doubles, sums are exact
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
    table = UserTable(np.array(rows, np.float64).reshape(len(rows), users), len(values), weights, groups, labels)
    _check_sums(table, values, state.totals, slice(None), "all users")
    for code, (label, sums) in enumerate((state.groups or {}).items()):
        _check_sums(table, values, sums, groups == code, f"group {label!r}")
    return table


def _check_sums(table: UserTable, values: Plan, totals: Sequence[Sums], where: Any, of_users: str) -> None:  # noqa: ANN401 - an index
    """Raise ValueError if the users' numbers do not add up to the sums of these users."""
    weights = (np.ones(table.rows.shape[1]) if table.weights is None else table.weights)[where]
    for value, parts, rows in zip(values, values.part_indices, rows_of_values(values), strict=True):
        average = value.rules["average"]
        if average == "micro" and not _are_ratios(table.rows[[values.index(value), *rows]][:, where]):
            raise fail(f"users of {of_users} whose {value.spelling} are ratios of what is kept", "others")
        of_rows = [(totals[part], part_of_sums) for part in parts for part_of_sums in ("total", "weight")]
        for row, (sums, name) in zip(rows, of_rows if average == "micro" else of_rows[::2], strict=bool(parts)):
            numbers = table.rows[row][where]
            is_given = ~np.isnan(numbers)
            if int(is_given.sum()) != sums.users - sums.undefined:
                expected = f"{sums.users - sums.undefined} users of {of_users} with {value.spelling}, as in its sums"
                raise fail(expected, int(is_given.sum()))
            terms = (numbers * weights)[is_given]
            total = float(Fraction(getattr(sums, name), 1 << getattr(sums, f"{name}_scale")))
            is_sum = math.isclose(
                math.fsum(terms), total, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE * float(abs(terms).sum())
            )
            if average != "geometric" and not is_sum:
                raise fail(
                    f"users of {of_users} whose {value.spelling} add up to {total:.9g}, as in its sums",
                    math.fsum(terms),
                )


def _are_ratios(rows: NDArray[np.float64]) -> bool:
    """Return whether the first row is the second by the third, wherever that is above 0."""
    ratios, numerators, denominators = rows[:, rows[2] > 0]
    return np.allclose(ratios, numerators / denominators, rtol=_TOLERANCE, atol=_TOLERANCE)


def _user_numbers(data: object, what: str, users: int, limits: tuple[float, float]) -> list[float]:
    """Return a number for each user, NaN for null."""
    row, (least, most) = checked_list(data, f"users of {what}", users), limits
    for number in row:
        is_number = type(number) is float or (type(number) is int and abs(number) < 2**53)
        if number is not None and not (is_number and math.isfinite(number) and least <= number <= most):
            raise fail(f"a user's {what} or null", number)
    return [math.nan if number is None else number for number in row]
