"""Areas under curves of RecTools: of hits and of the first ranks without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from exactk._runtime.errors import input_error
from exactk.compat._reco_metrics import HitMetric
from exactk.compat._reco_tables import Integers, MergedRows, RecoTables, UserValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HANDLINGS = ("ignore", "exclude", "raise")


class RankedHits:
    """The hits of users with interactions, in the order of their ranks; a rank without an item is one without a hit."""

    def __init__(self, tables: RecoTables, merged: MergedRows) -> None:
        ranks, listing = tables.ranks, tables.reco.users
        is_tested = np.bincount(merged.distinct_users, minlength=merged.user_count) > 0
        _check_ranks_of_lists(tables, is_tested[listing])
        deepest = np.zeros(merged.user_count)
        np.maximum.at(deepest, listing, ranks)
        self.merged = merged
        is_hit = ~np.isnan(merged.ranks)
        order = np.lexsort((merged.ranks[is_hit], merged.users[is_hit]))
        self.users = merged.users[is_hit][order]
        counts = np.bincount(self.users, minlength=merged.user_count)
        self.numbers: Integers = np.arange(1, len(self.users) + 1) - (np.cumsum(counts) - counts)[self.users]
        self.misses_above = merged.ranks[is_hit][order] - self.numbers
        self.misses = (deepest - counts)[merged.distinct_users]
        self.is_complete = counts[merged.distinct_users] == merged.counts


def _check_ranks_of_lists(tables: RecoTables, rows: NDArray[np.bool_]) -> None:
    """Raise unless the ranks are integers from 1, each once in a list."""
    if rows.any() and tables.reco_frame["rank"].dtype.kind not in "iu":
        message = f"reco.rank: expected integers, found {tables.reco_frame['rank'].dtype}"
        raise TypeError(message)
    users, ranks = tables.reco.users[rows], tables.ranks[rows]
    if (ranks < 1).any():
        raise input_error("reco.rank", "ranks from 1 for an area under a curve", f"{ranks.min():.0f}")
    order = np.lexsort((ranks, users))
    is_again = (np.diff(users[order]) == 0) & (np.diff(ranks[order]) == 0)
    if is_again.any():
        found = f"{ranks[order][int(np.argmax(is_again))]:.0f} twice"
        raise input_error("reco.rank", "each rank once in a list for an area under a curve", found)


@dataclass
class AreaMetric(HitMetric):
    """An area under a curve.

    Parameters
    ----------
    k : int
        The number of ranks without a hit.
    insufficient_handling : {"ignore", "exclude", "raise"}, default "ignore"
        What to do about users whose list has fewer than k ranks without a hit, and lacks a liked item.
    """

    insufficient_handling: str = "ignore"

    is_checked_among_others: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.__setattr__("insufficient_handling", self.insufficient_handling)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - of any attribute
        if name == "insufficient_handling" and value not in _HANDLINGS:
            message = f"`insufficient_handling` must be one of the {set(_HANDLINGS)}. Got {value}."
            raise ValueError(message)
        super().__setattr__(name, value)

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        merged = tables.merged(self.debias_config, debias_first=True, distinct=True)
        hits = RankedHits(tables, merged)
        counted = (hits.misses_above < self.k) & self._counts(hits)
        gains = (self.k - hits.misses_above)[counted]
        gained = np.bincount(hits.users[counted], weights=gains, minlength=merged.user_count)[merged.distinct_users]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.nan_to_num(gained / (self._positives(merged) * self.k), posinf=np.inf, neginf=-np.inf)
        kept = self._sufficient(hits)
        return UserValues(values[kept], merged.distinct_users[kept], "interactions", is_ordered=True)

    def _counts(self, hits: RankedHits) -> NDArray[np.bool_]:
        """Return which hits count."""
        return np.ones(len(hits.users), np.bool_)

    def _positives(self, merged: MergedRows) -> Integers:
        """Return how many hits each user could have."""
        return merged.counts

    def _sufficient(self, hits: RankedHits) -> NDArray[np.bool_]:
        """Return which users to keep; raise if there are others, and they are to be no users."""
        if self.insufficient_handling == "ignore":
            return np.ones(len(hits.misses), np.bool_)
        is_insufficient = (hits.misses < self.k) & ~hits.is_complete
        if self.insufficient_handling == "raise" and is_insufficient.any():
            message = (
                f"{type(self).__name__}@{self.k} needs {self.k} ranks without a hit, or all liked items, in each list;"
                f" {int(is_insufficient.sum())} users have less: insufficient_handling='exclude' leaves them out"
            )
            raise ValueError(message)
        is_sufficient: NDArray[np.bool_] = ~is_insufficient
        return is_sufficient


class PartialAUC(AreaMetric):
    """The area under the curve of all liked items and the first k others. Lists must be longer than k."""


class PAP(AreaMetric):
    """The area under the curve of the first k liked items and the first k others. Lists must be longer than k."""

    def _counts(self, hits: RankedHits) -> NDArray[np.bool_]:
        is_counted: NDArray[np.bool_] = hits.numbers <= self.k
        return is_counted

    def _positives(self, merged: MergedRows) -> Integers:
        return np.minimum(merged.counts, self.k)
