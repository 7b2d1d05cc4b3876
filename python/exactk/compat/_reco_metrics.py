"""What all metrics of RecTools have, and those that count hits, or weigh them by rank, and areas under curves of hits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from exactk._runtime.errors import input_error
from exactk.compat._reco_tables import ITEM, RANK, USER, MergedRows, RecoTables, UserValues, debiased_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd  # noqa: TID251 - for the type checker alone
    from numpy.typing import NDArray

    from exactk.compat._key_codes import Floats, Integers


@dataclass
class RecoMetric:
    """A metric of the first `k` ranks."""

    k: int

    is_checked: ClassVar[bool] = True  # whether calc checks the frames
    is_checked_among_others: ClassVar[bool] = True  # whether calc_metrics does

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:
        """Return the values of users; `k_max` is the largest k of the metrics of the family."""
        raise NotImplementedError

    def tables(
        self,
        reco: pd.DataFrame,
        interactions: pd.DataFrame | None = None,
        prev_interactions: pd.DataFrame | None = None,
        catalog: Collection[Any] | None = None,
    ) -> RecoTables:
        """Return the frames, whose columns and ranks are checked."""
        if self.is_checked:
            check_reco_frames(reco, interactions, prev_interactions)
        return RecoTables(reco, interactions, prev_interactions, catalog)

    def mean(self, tables: RecoTables) -> float:
        """Return the mean over users."""
        mean: float = tables.mean(self.compute(tables, self.k))
        return mean

    def by_user(self, tables: RecoTables) -> pd.Series:
        """Return the value of each user."""
        return tables.series(self.compute(tables, self.k))


def check_reco_frames(
    reco: pd.DataFrame,
    interactions: pd.DataFrame | None = None,
    prev_interactions: pd.DataFrame | None = None,
    ref_reco: pd.DataFrame | None = None,
) -> None:
    """Raise KeyError for missing columns, and warn of ranks that are no integers from 1."""
    lists, pairs = (USER, ITEM, RANK), (USER, ITEM)
    _check_columns(reco, "reco", lists)
    _check_columns(interactions, "interactions", pairs)
    _check_columns(prev_interactions, "prev_interactions", pairs)
    _check_columns(ref_reco, "ref_reco", lists)
    _check_ranks(reco, "reco")
    _check_ranks(ref_reco, "ref_reco")


def _check_columns(frame: pd.DataFrame | None, name: str, required: tuple[str, ...]) -> None:
    missing = set() if frame is None else set(required) - set(frame.columns)
    if missing:
        message = f"Missed columns {missing} in '{name}' dataframe"
        raise KeyError(message)


def _check_ranks(frame: pd.DataFrame | None, name: str) -> None:
    if frame is None or frame.empty:
        return
    if frame[RANK].dtype.kind not in "iu":
        warnings.warn(f"Expected integer dtype of '{RANK}' column in '{name}' dataframe.", stacklevel=5)
    if round(frame[RANK].min()) != 1:
        message = f"Expected min value of '{RANK}' column in '{name}' dataframe to be equal to 1."
        warnings.warn(message, stacklevel=5)


@dataclass(frozen=True)
class DebiasConfig:
    """How many interactions of popular items to keep."""

    iqr_coef: float = 1.5
    random_state: int | None = None


def debias_interactions(interactions: pd.DataFrame, config: DebiasConfig) -> pd.DataFrame:
    """Return the interactions without a random part of those with the most popular items."""
    if not len(interactions):
        return interactions
    rows = debiased_rows(RecoTables(interactions, interactions).interactions, config)
    return interactions.iloc[rows].reset_index(drop=True)


class InteractionMetric(RecoMetric):
    """A metric of the lists and the interactions."""

    def calc(self, reco: pd.DataFrame, interactions: pd.DataFrame) -> float:
        """Return the mean over users."""
        return self.mean(self.tables(reco, interactions))

    def calc_per_user(self, reco: pd.DataFrame, interactions: pd.DataFrame) -> pd.Series:
        """Return the value of each user with interactions, by user; the arguments are those of `calc`."""
        return self.by_user(self.tables(reco, interactions))


@dataclass
class DebiasableMetric(RecoMetric):
    """A metric of interactions, of which some with popular items may be left out."""

    debias_config: DebiasConfig | None = None

    samples_merged_rows: ClassVar[bool] = False  # whether calc leaves out rows that are beside ranks
    is_checked_among_others: ClassVar[bool] = False

    def merged(self, tables: RecoTables) -> MergedRows:
        """Return the interactions beside the ranks."""
        debias_first = not (self.samples_merged_rows or tables.has_several_metrics)
        return tables.merged(self.debias_config, debias_first=debias_first)


class HitMetric(DebiasableMetric, InteractionMetric):
    """A metric of the ranks of interactions."""


class CatalogMetric(DebiasableMetric):
    """A metric of the lists, the interactions and the size of the catalogue."""

    def calc(self, reco: pd.DataFrame, interactions: pd.DataFrame, catalog: Collection[Any]) -> float:
        """Return the mean over users."""
        return self.mean(self.tables(reco, interactions, catalog=catalog))

    def calc_per_user(self, reco: pd.DataFrame, interactions: pd.DataFrame, catalog: Collection[Any]) -> pd.Series:
        """Return the value of each user with interactions, by user; the arguments are those of `calc`."""
        return self.by_user(self.tables(reco, interactions, catalog=catalog))


class HistoryMetric(RecoMetric):
    """A metric of the lists and of interactions before them."""

    def calc(self, reco: pd.DataFrame, prev_interactions: pd.DataFrame) -> float:
        """Return the mean over users."""
        return self.mean(self.tables(reco, prev_interactions=prev_interactions))

    def calc_per_user(self, reco: pd.DataFrame, prev_interactions: pd.DataFrame) -> pd.Series:
        """Return the value of each user with a list, by user; the arguments are those of `calc`."""
        return self.by_user(self.tables(reco, prev_interactions=prev_interactions))


class ListMetric(RecoMetric):
    """A metric of the lists alone."""

    def calc(self, reco: pd.DataFrame) -> float:
        """Return the mean over users."""
        return self.mean(self.tables(reco))

    def calc_per_user(self, reco: pd.DataFrame) -> pd.Series:
        """Return the value of each user with a list, by user; the argument is that of `calc`."""
        return self.by_user(self.tables(reco))


# The core has these values by the preset 'rectools', of lists with each item once and of integers as ranks from 1. RecTools
# also counts each of the rows that a repeated item has beside its interactions, and ranks that are fractions, equal or below 1.
# So they are computed of the merged rows, which all metrics of a call share.


class HitCounts:
    """Counts of each user: hits down to k, the other ranks, and the interactions that are no hits."""

    def __init__(self, merged: MergedRows, k: int) -> None:
        self.liked = merged.counts
        self.true_positives = merged.hits(k)
        self.false_positives = k - self.true_positives
        self.false_negatives = self.liked - self.true_positives


def _of_interactions(values: NDArray[Any], merged: MergedRows, *, is_ordered: bool = True) -> UserValues:
    return UserValues(values, merged.distinct_users, "interactions", is_ordered)


class CountMetric(HitMetric):
    """A metric of the counts of hits."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        merged = self.merged(tables)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _of_interactions(self._values(HitCounts(merged, self.k)), merged)

    def _values(self, counts: HitCounts) -> Floats:
        raise NotImplementedError


class CountMetricOfCatalog(CatalogMetric):
    """A metric of the counts of hits and of the items that are neither recommended nor liked."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - as above
        """Return the values of users with interactions."""
        merged = self.merged(tables)
        assert tables.catalog is not None  # noqa: S101 - calc_metrics refuses it
        counts, size = HitCounts(merged, self.k), len(tables.catalog)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._values(counts, size - self.k - counts.false_negatives, size)
        return _of_interactions(values, merged)

    def _values(self, counts: HitCounts, true_negatives: Integers, size: int) -> Floats:
        raise NotImplementedError


@dataclass
class Precision(CountMetric):
    """The share of hits among the first k ranks."""

    r_precision: bool = False

    def _values(self, counts: HitCounts) -> Floats:
        return counts.true_positives / (np.minimum(self.k, counts.liked) if self.r_precision else self.k)


@dataclass
class Recall(CountMetric):
    """The share of the interactions that are hits."""

    def _values(self, counts: HitCounts) -> Floats:
        return counts.true_positives / counts.liked


@dataclass
class F1Beta(CountMetric):
    """The weighted harmonic mean of precision and recall."""

    beta: float = 1.0

    def _values(self, counts: HitCounts) -> Floats:
        precision, recall = counts.true_positives / self.k, counts.true_positives / counts.liked
        square = self.beta**2
        values: Floats = (1 + square) * precision * recall / (square * precision + recall)
        return np.where((precision == 0) & (recall == 0), 0.0, values)


@dataclass
class HitRate(CountMetric):
    """Whether there is a hit."""

    def _values(self, counts: HitCounts) -> Floats:
        return (counts.true_positives > 0).astype(np.float64)


@dataclass
class Accuracy(CountMetricOfCatalog):
    """The share of the catalogue that is either recommended and liked, or neither."""

    def _values(self, counts: HitCounts, true_negatives: Integers, size: int) -> Floats:
        return (counts.true_positives + true_negatives) / np.int64(size)


@dataclass
class MCC(CountMetricOfCatalog):
    """Matthews' correlation of what is recommended and what is liked."""

    def _values(self, counts: HitCounts, true_negatives: Integers, size: int) -> Floats:  # noqa: ARG002 - of accuracy
        hits, others, missed = counts.true_positives, counts.false_positives, counts.false_negatives
        products = (hits + others) * (hits + missed) * (true_negatives + others) * (true_negatives + missed)
        with np.errstate(invalid="warn"):  # of lists longer than the catalogue
            divisor: Floats = np.sqrt(products)
        values: Floats = (hits * true_negatives - others * missed) / divisor
        return np.where(divisor == 0, 0.0, values)


@dataclass
class MAP(HitMetric):
    """Average precision."""

    divide_by_k: bool = False

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        merged = self.merged(tables)
        is_hit = merged.ranks <= self.k
        users, ranks = merged.users[is_hit], np.round(merged.ranks[is_hit]).astype(np.int64)
        if (ranks < 0).any():
            message = f"reco.rank: expected no negative ranks, found {ranks.min()}"
            raise ValueError(message)
        order = np.lexsort((ranks, users))
        users, ranks = users[order], ranks[order]
        is_last = np.concatenate([(np.diff(users) != 0) | (np.diff(ranks) != 0), np.ones(min(len(users), 1), np.bool_)])
        hits = np.bincount(users, minlength=merged.user_count)
        before = np.cumsum(hits) - hits
        counted = is_last & (ranks > 0)  # hits of equal ranks are one summand
        precisions = (np.arange(1, len(users) + 1) - before[users])[counted] / ranks[counted]
        totals = np.bincount(users[counted], weights=precisions, minlength=merged.user_count)[merged.distinct_users]
        with np.errstate(divide="ignore", invalid="ignore"):
            return _of_interactions(totals / (np.int64(self.k) if self.divide_by_k else merged.counts), merged)


@dataclass
class NDCG(HitMetric):
    """The discounted gain, as a share of that of k hits."""

    log_base: int = 2
    divide_by_achievable: bool = False

    samples_merged_rows: ClassVar[bool] = True

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        merged = self.merged(tables)
        is_hit = merged.ranks <= self.k
        base = np.log(self.log_base)
        gains = 1 / (np.log(merged.ranks[is_hit] + 1) / base)
        gained = merged.sums(np.nan_to_num(gains, posinf=np.inf, neginf=-np.inf), is_hit)
        ideal = np.cumsum(1 / (np.log(np.arange(1, self.k + 1) + 1) / base))
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.divide_by_achievable:
                values = gained / np.concatenate([np.zeros(1), ideal])[np.minimum(merged.counts, len(ideal))]
            else:
                values = np.nan_to_num(gained / (ideal[-1] if len(ideal) else 0.0), posinf=np.inf, neginf=-np.inf)
        return _of_interactions(values, merged, is_ordered=False)


@dataclass
class MRR(HitMetric):
    """The reciprocal of the rank of the first hit."""

    samples_merged_rows: ClassVar[bool] = True

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        merged = self.merged(tables)
        is_hit = merged.ranks <= self.k
        first = np.full(merged.user_count, np.inf)
        np.minimum.at(first, merged.users[is_hit], merged.ranks[is_hit])
        with np.errstate(divide="ignore"):
            return _of_interactions(1 / first[merged.distinct_users], merged, is_ordered=False)


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
    """An area under a curve."""

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
