"""Rows of pandas frames by user and item: codes of their keys, which rows of two frames have the same pair, and hits by rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from exactk._inputs.model.scores import SparseScores
from exactk._runtime import optional
from exactk._topk import topk
from exactk.compat._key_codes import Matches, positions_within, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk.compat._key_codes import Frame, Integers


def codes_of_both(one: NDArray[Any], other: NDArray[Any], *, sort: bool = False) -> tuple[Integers, Integers, int]:
    """Return integers for the keys of two columns, equal for equal keys, and how many keys there are."""
    pandas = optional.pandas("exactk.compat")
    codes, keys = pandas.factorize(np.concatenate([one, other]), sort=sort, use_na_sentinel=False)
    codes = codes.astype(np.int64, copy=False)
    return codes[: len(one)], codes[len(one) :], len(keys)


def shared_categories(one: Any, other: Any) -> Any:  # noqa: ANN401 - pandas Series, and an Index
    """Return the categories of two columns; None unless both have the same, as pandas then groups by all of them."""
    has_same = hasattr(one.dtype, "categories") and one.dtype == other.dtype
    return one.dtype.categories if has_same else None


def sorted_codes(one: Any, other: Any) -> tuple[Integers, Integers, int]:  # noqa: ANN401 - pandas Series
    """Return codes as `codes_of_both` does, in the order of keys: that of categories, if both columns have the same."""
    categories = shared_categories(one, other)
    if categories is None:
        return codes_of_both(one.to_numpy(), other.to_numpy(), sort=True)
    codes = (column.cat.set_categories(categories).cat.codes.to_numpy(np.int64) for column in (one, other))
    first, second = (np.where(code < 0, len(categories), code) for code in codes)  # missing keys are last
    return first, second, len(categories) + 1


def pairs_of_both(one: Frame, other: Frame, columns: Sequence[str]) -> tuple[Integers, Integers]:
    """Return an integer for each row's pair of keys in two columns of both frames."""
    user, item = columns
    one_users, other_users, _ = codes_of_both(one[user].to_numpy(), other[user].to_numpy())
    one_items, other_items, count = codes_of_both(one[item].to_numpy(), other[item].to_numpy())
    return one_users * count + one_items, other_users * count + other_items


def match_pairs(one: Integers, other: Integers) -> Matches:
    """Return which entries are equal, as an inner join does: in the order of the one column, then of the other."""
    order = np.argsort(other, kind="stable")
    ascending = other[order]
    begins = np.searchsorted(ascending, one, side="left")
    counts = np.searchsorted(ascending, one, side="right") - begins
    return Matches(np.repeat(np.arange(len(one)), counts), order[ranges(begins, counts)])


def head_of_groups(positions: Integers, sizes: Integers, count: float | None) -> NDArray[np.bool_]:
    """Return which entries are among the first so many of their group; below 0, all but the last so many; None: all."""
    if count is None:
        return np.ones(len(positions), np.bool_)
    kept: NDArray[np.bool_] = positions < count if count >= 0 else sizes - positions > -count
    return kept


def sums_of_pairs(pairs: Integers, values: Any, wanted: Integers) -> Any:  # noqa: ANN401 - numbers, or None
    """Return the sum of the values at each wanted pair, of which there are some; without values how often it is there."""
    keys, codes = np.unique(wanted, return_inverse=True)
    positions = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    is_wanted = keys[positions] == pairs
    return np.bincount(positions[is_wanted], None if values is None else values[is_wanted], len(keys))[codes]


class RankedHits(NamedTuple):
    """Rows of predictions that are in the truth, by user and rank; a row that is there twice is here twice."""

    rows: Integers  # of the predictions
    users: Integers  # codes, which ascend as keys do; if both frames have the same categories, those of categories
    ranks: Integers
    actual: Integers  # by code: rows of the truth; 0 for users without predictions
    truth_users: Integers  # by row of the truth: the code
    has_categories: bool  # which are the same in both frames

    @property
    def user_count(self) -> int:
        """The number of users in both frames."""
        return int(np.count_nonzero(self.actual))

    @property
    def counts(self) -> Integers:
        """The number of hits, by code."""
        return np.bincount(self.users, minlength=len(self.actual))

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of a value of each hit, by code."""
        return np.bincount(self.users, values, len(self.actual)).astype(np.float64, copy=False)


def ranked_hits(truth: Frame, predictions: Frame, user: str, item: str, score: str, k: float | None) -> RankedHits:
    """Return the hits among the first k rows of each user by falling score; without k, among all, in their order."""
    truth_users, users, count = sorted_codes(truth[user], predictions[user])
    if k is None:
        rows, ranks = np.arange(len(users)), positions_within(users) + 1
    else:
        rows, ranks = first_rows(users, count, numbers_of(predictions[score]), k)
    truth_items, items, item_count = codes_of_both(truth[item].to_numpy(), predictions[item].to_numpy()[rows])
    matches = match_pairs(users[rows] * item_count + items, truth_users * item_count + truth_items)
    hits = matches.first
    actual = np.bincount(truth_users, minlength=count)
    actual[np.bincount(users, minlength=count) == 0] = 0
    has_categories = shared_categories(truth[user], predictions[user]) is not None
    return RankedHits(rows[hits], users[rows[hits]], ranks[hits], actual, truth_users, has_categories)


def first_rows(
    users: Integers, user_count: int, scores: NDArray[Any], k: float, *, nan: Literal["raise", "last"] = "last"
) -> tuple[Integers, Integers]:
    """Return the first k rows of each user by falling score, and their ranks; equal scores keep their order.

    As in pandas' ``head``, a negative k means all but the last so many.
    """
    order = np.argsort(users, kind="stable") if np.any(users[1:] < users[:-1]) else np.arange(len(users))
    sizes = np.bincount(users, minlength=user_count)
    depth = max(1, int(sizes.max(initial=0)))
    if 0 <= k < depth:
        depth = max(1, math.ceil(k))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    ranked = SparseScores(indptr, np.arange(len(users)), scores[order])
    positions, _ = topk(ranked, depth, ties="input_order", nan=nan) if user_count else (np.zeros((0, 1), int), None)
    of_user, above = np.nonzero(positions >= 0)
    kept = head_of_groups(above, sizes[of_user], k)
    return order[positions[of_user[kept], above[kept]]], above[kept] + 1


def numbers_of(column: Any) -> NDArray[Any]:  # noqa: ANN401 - a pandas Series
    """Return a column of numbers as an array; missing ones are NaN."""
    array: NDArray[Any] = column.to_numpy()
    return array if array.dtype.kind in "iuf" else column.to_numpy(np.float64, na_value=np.nan)
