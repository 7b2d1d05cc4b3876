"""The first rows of each user in a pandas frame of predictions, and which of them are in a frame of the truth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.model.scores import SparseScores
from exactk._topk import topk
from exactk.compat._pairs import (
    codes_of_both,
    head_of_groups,
    match_pairs,
    positions_within,
    shared_categories,
    sorted_codes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk.compat._pairs import Frame, Integers


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


def first_rows(users: Integers, user_count: int, scores: NDArray[Any], k: float) -> tuple[Integers, Integers]:
    """Return the first k rows of each user by falling score, and their ranks; equal scores keep their order, NaN is last.

    As in pandas' ``head``, a negative k means all but the last so many.
    """
    order = np.argsort(users, kind="stable") if np.any(users[1:] < users[:-1]) else np.arange(len(users))
    sizes = np.bincount(users, minlength=user_count)
    depth = max(1, int(sizes.max(initial=0)))
    if 0 <= k < depth:
        depth = max(1, math.ceil(k))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    ranked = SparseScores(indptr, np.arange(len(users)), scores[order])
    positions, _ = topk(ranked, depth, ties="input_order", nan="last") if user_count else (np.zeros((0, 1)), None)
    of_user, above = np.nonzero(positions >= 0)
    kept = head_of_groups(above, sizes[of_user], k)
    return order[positions[of_user[kept], above[kept]]], above[kept] + 1


def numbers_of(column: Any) -> NDArray[Any]:  # noqa: ANN401 - a pandas Series
    """Return a column of numbers as an array; missing ones are NaN."""
    array: NDArray[Any] = column.to_numpy()
    return array if array.dtype.kind in "iuf" else column.to_numpy(np.float64, na_value=np.nan)
