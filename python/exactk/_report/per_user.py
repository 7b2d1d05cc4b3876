"""Per-user values, read from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.state import State, plan_of_state
from exactk._report.validation import checked_fields, checked_list, fail, is_in_unit_range

if TYPE_CHECKING:
    from numpy.typing import NDArray


def per_user_from_plain(data: object, state: State) -> NDArray[np.float64] | None:
    """Return per-user values, if any; raise ValueError if they are impossible."""
    if not isinstance(data, Mapping):
        raise fail("per_user to be a mapping", data)
    if not data:
        return None
    checked_fields(data, state.spellings, "per_user")
    rows = []
    for value in plan_of_state(state):
        row = checked_list(data[value.spelling], f"user values of {value.spelling}", state.counts.users)
        least, most = (0, 1) if is_in_unit_range(value) else (-math.inf, math.inf)
        for number in row:
            is_number = type(number) is float or (type(number) is int and abs(number) < 2**53)
            if number is not None and not (is_number and math.isfinite(number) and least <= number <= most):
                raise fail(f"a user's {value.spelling} or null", number)
        rows.append([math.nan if number is None else number for number in row])
    return np.array(rows, np.float64).reshape(len(rows), state.counts.users)
