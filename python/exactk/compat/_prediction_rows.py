"""Predictions of Surprise, ``(user, item, actual rating, estimate, details)``, as arrays grouped by user."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.model.sparse_scores import SparseScores
from exactk._topk import topk
from exactk.compat._pairs import head_of_groups

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from exactk.compat._pairs import Integers

_PARTS = 5
_CELLS = 1 << 22  # of a table of pairs

Floats = np.ndarray[Any, np.dtype[np.float64]]


class PredictionRows(NamedTuple):
    """The rows of all users, in the order given."""

    keys: list[Hashable]  # the users, in the order of their first rows
    users: Integers  # by row: the position of its user
    actual: Floats
    estimates: Floats


def prediction_rows(predictions: Iterable[Any]) -> PredictionRows:
    """Return the rows; raise ValueError unless each has five parts, and TypeError unless ratings are numbers."""
    rows = predictions if isinstance(predictions, (list, tuple)) else list(predictions)
    if set(map(len, rows)) - {_PARTS}:
        message = f"expected predictions of {_PARTS} parts: user, item, rating, estimate, details"
        raise ValueError(message)
    actual, estimates = (_numbers(list(map(itemgetter(part), rows))) for part in (2, 3))
    positions: dict[Hashable, int] = {}
    codes = [positions.setdefault(row[0], len(positions)) for row in rows]
    return PredictionRows(list(positions), np.array(codes, np.int64), actual, estimates)


def _numbers(values: list[Any]) -> Floats:
    array: NDArray[Any] = np.array(values) if values else np.zeros(0)
    if array.dtype.kind not in "biuf":
        message = f"expected numbers as ratings, found {array.dtype}"
        raise TypeError(message)
    return array.astype(np.float64)


def is_among_first(rows: PredictionRows, k: int | None) -> NDArray[np.bool_]:
    """Return which rows are among the first k of their user by falling estimate, as a slice ``[:k]`` has them."""
    if k is None or not len(rows.users):
        return np.ones(len(rows.users), np.bool_)
    order = np.argsort(rows.users, kind="stable")
    sizes = np.bincount(rows.users)
    depth = max(1, min(k, int(sizes.max())) if k >= 0 else int(sizes.max()))
    ranked = SparseScores(np.concatenate([[0], np.cumsum(sizes)]), np.arange(len(order)), rows.estimates[order])
    positions, _ = topk(ranked, depth, ties="input_order")
    of_user, above = np.nonzero(positions >= 0)
    kept = head_of_groups(above, sizes[of_user], k)
    is_first = np.zeros(len(rows.users), np.bool_)
    is_first[order[positions[of_user[kept], above[kept]]]] = True
    return is_first


def pair_orders(rows: PredictionRows) -> tuple[Integers, Integers]:
    """Return, by user, how many ordered pairs have estimates and ratings that agree, and how many do not.

    Of a pair with a higher and a lower rating, estimates agree if that of the higher is higher.
    """
    concordant = np.zeros(len(rows.keys), np.int64)
    discordant = np.zeros(len(rows.keys), np.int64)
    order = np.argsort(rows.users, kind="stable")
    sizes = np.bincount(rows.users, minlength=len(rows.keys))
    begins = np.cumsum(sizes) - sizes
    for user in np.flatnonzero(sizes > 1):
        mine = order[begins[user] : begins[user] + sizes[user]]
        concordant[user], discordant[user] = _count_pairs(rows.actual[mine], rows.estimates[mine])
    return concordant, discordant


def _count_pairs(actual: Floats, estimates: Floats) -> tuple[int, int]:
    """Return how many pairs agree, and how many do not, by tables of some rows beside all."""
    concordant = discordant = 0
    step = max(1, _CELLS // len(actual))
    for begin in range(0, len(actual), step):
        block = slice(begin, begin + step)
        is_higher = actual[block, np.newaxis] > actual
        concordant += int(np.count_nonzero(is_higher & (estimates[block, np.newaxis] > estimates)))
        discordant += int(np.count_nonzero(is_higher & (estimates[block, np.newaxis] <= estimates)))
    return concordant, discordant
