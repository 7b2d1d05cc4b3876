"""Metrics of RecTools of the recommended items: novelty, popularity, diversity, coverage and faults of lists."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from exactk._inputs.keys.columns import NumberColumn
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._runtime import optional
from exactk.compat._key_codes import distinct_codes, group_means, pairs_within
from exactk.compat._reco_metrics import (
    HistoryMetric,
    InteractionMetric,
    ListMetric,
    Recall,
    RecoMetric,
    check_reco_frames,
)
from exactk.compat._reco_tables import ITEM, RANK, USER, RecoTables, UserValues

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd  # noqa: TID251 - for the type checker alone
    from numpy.typing import NDArray

    from exactk.compat._key_codes import Integers


def _distinct_pairs(tables: RecoTables) -> Integers:
    """Return the code of the item of each distinct pair of a user and an item of the interactions before."""
    previous = tables.prev_interactions
    vocabulary = Vocabulary.of_kinds(["int"])
    pairs = tables.pairs(previous, vocabulary)
    items = np.zeros(len(vocabulary), np.int64)
    items[pairs] = previous.items
    return items


@dataclass
class MeanInvUserFreq(HistoryMetric):
    """The mean of log2(users / users of the item), of interactions before; items without any count as having one user."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with a list; NaN if it has no rank down to k."""
        lists, is_listed = tables.reco, tables.ranks <= self.k
        users_of_item = np.bincount(_distinct_pairs(tables), minlength=tables.item_count)
        user_count = len(distinct_codes(tables.prev_interactions.users, tables.user_count))
        with np.errstate(divide="ignore"):
            novelty = -np.log2(np.maximum(users_of_item, 1) / np.int64(user_count))
        means = group_means(lists.users[is_listed], novelty[lists.items[is_listed]], tables.user_count)
        users = distinct_codes(lists.users, tables.user_count)
        return UserValues(means[users], users, "reco", is_ordered=False)


@dataclass
class AvgRecPopularity(HistoryMetric):
    """The mean number of interactions before with the recommended items."""

    normalize: bool = False

    is_checked: ClassVar[bool] = False
    is_checked_among_others: ClassVar[bool] = False

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with a rank down to k."""
        lists, is_listed = tables.reco, tables.ranks <= self.k
        previous = tables.prev_interactions.items
        popularity: NDArray[Any] = np.bincount(previous, minlength=tables.item_count)
        if self.normalize:
            popularity = popularity / max(len(previous), 1)
        users = distinct_codes(lists.users[is_listed], tables.user_count)
        means = group_means(lists.users[is_listed], popularity[lists.items[is_listed]], tables.user_count)
        return UserValues(means[users], users, "reco", is_ordered=True, name="popularity")


@dataclass
class Serendipity(RecoMetric):
    """The mean over ranks of the hits, each weighed by how much more popular than the item other items are."""

    def calc(
        self,
        reco: pd.DataFrame,
        interactions: pd.DataFrame,
        prev_interactions: pd.DataFrame,
        catalog: Collection[Any],
    ) -> float:
        """Return the mean over users."""
        return self.mean(self.tables(reco, interactions, prev_interactions, catalog))

    def calc_per_user(
        self,
        reco: pd.DataFrame,
        interactions: pd.DataFrame,
        prev_interactions: pd.DataFrame,
        catalog: Collection[Any],
    ) -> pd.Series:
        """Return the value of each user with a rank down to k, by user; the arguments are those of `calc`."""
        return self.by_user(self.tables(reco, interactions, prev_interactions, catalog))

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:
        """Return the values of users with a rank down to `k_max`."""
        lists, ranks = tables.reco, tables.ranks
        assert tables.catalog is not None  # noqa: S101 - calc_metrics refuses it
        size = np.float64(len(tables.catalog))
        vocabulary = Vocabulary.of_kinds(["int"])
        liked = np.bincount(tables.pairs(tables.interactions, vocabulary))
        pairs = tables.pairs(lists, vocabulary)
        liked = np.concatenate([liked, np.zeros(len(vocabulary) - len(liked), np.int64)])[pairs]
        popularity = np.bincount(tables.prev_interactions.items, minlength=tables.item_count)
        _, rank_from_last = np.unique(popularity, return_inverse=True)
        popularity_ranks = (rank_from_last.max(initial=0) + 1 - rank_from_last)[lists.items]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_any = np.where(popularity[lists.items] > 0, (size + 1 - popularity_ranks) / size, 0.0)
            gains = np.maximum((size + 1 - ranks) / size - of_any, 0.0)
        is_listed = ranks <= self.k
        rows = np.maximum(liked, 1)[is_listed]  # a repeated interaction repeats the row
        sums = np.bincount(lists.users[is_listed], (gains * liked)[is_listed], tables.user_count)
        counts = np.bincount(lists.users[is_listed], rows, tables.user_count)
        users = distinct_codes(lists.users[ranks <= k_max], tables.user_count)
        with np.errstate(invalid="ignore"):
            return UserValues((sums / counts)[users], users, "reco", is_ordered=False)


@dataclass
class IntraListDiversity(ListMetric):
    """The mean distance of the pairs of items in a list."""

    distance_calculator: PairwiseDistanceCalculator

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:
        """Return the values of users with a rank down to `k_max`; 0 if there is only one item."""
        lists = tables.reco
        rows = np.flatnonzero(tables.ranks <= k_max)
        users = distinct_codes(lists.users[rows], tables.user_count)
        first, second = (rows[positions] for positions in pairs_within(lists.users[rows]))
        if not len(first):
            return UserValues(np.zeros(len(users), np.int64), users, "reco", is_ordered=False)
        distances = self._distances(tables, first, second)
        is_counted = (tables.ranks[first] <= self.k) & (tables.ranks[second] <= self.k)
        pairs = np.bincount(lists.users[first][is_counted], minlength=tables.user_count)
        is_counted &= ~np.isnan(distances)
        means = group_means(lists.users[first][is_counted], distances[is_counted], tables.user_count)
        values = np.where(pairs == 0, 0.0, means)[users].astype(distances.dtype, copy=False)
        return UserValues(values, users, "reco", is_ordered=False)

    def _distances(self, tables: RecoTables, first: Integers, second: Integers) -> NDArray[Any]:
        """Return the distance of each pair of rows."""
        codes, vocabulary = tables.reco.items, Vocabulary.of_kinds(["int"])
        pairs = vocabulary.encode([NumberColumn(codes[first] * (1 << 32) + codes[second])], "pairs")
        row_of_pair = np.zeros(len(vocabulary), np.int64)
        row_of_pair[pairs] = np.arange(len(pairs))
        items = tables.reco_frame[ITEM].to_numpy()
        distances = self.distance_calculator[items[first[row_of_pair]], items[second[row_of_pair]]]
        return np.asarray(distances)[pairs]


@dataclass
class CatalogCoverage(RecoMetric):
    """The number of different items that are recommended."""

    normalize: bool = False

    is_checked_among_others: ClassVar[bool] = False

    def calc(self, reco: pd.DataFrame, catalog: Collection[Any]) -> float:
        """Return the number or the share."""
        return self.coverage(RecoTables(reco, catalog=catalog))

    def coverage(self, tables: RecoTables) -> float:
        """Return the number or the share."""
        is_listed = tables.ranks <= self.k
        count = len(distinct_codes(tables.reco.items[is_listed], tables.item_count))
        assert tables.catalog is not None or not self.normalize  # noqa: S101 - calc_metrics refuses it
        return count / len(tables.catalog) if self.normalize and tables.catalog is not None else count


@dataclass
class FaultMetric(ListMetric):
    """A metric of faults of lists."""

    deep: bool = False


class SufficientReco(FaultMetric):
    """Whether a list has k items, or the share of k that it has."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with a list."""
        lists = tables.reco
        users = distinct_codes(lists.users, tables.user_count)
        counts = np.bincount(lists.users[tables.ranks <= self.k], minlength=tables.user_count)[users]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.minimum(counts / np.int64(self.k), 1.0) if self.deep else (counts >= self.k).astype(np.int64)
        return UserValues(values, users, "reco", is_ordered=False)


class UnrepeatedReco(FaultMetric):
    """Whether a list has each item once, or the share of rows that are the first of their item."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with a rank down to k."""
        rows = np.flatnonzero(tables.ranks <= self.k)
        lists, vocabulary = tables.reco.take(rows), Vocabulary.of_kinds(["int"])
        pairs = tables.pairs(lists, vocabulary)
        users = distinct_codes(lists.users, tables.user_count)
        user_of_pair = np.zeros(len(vocabulary), np.int64)
        user_of_pair[pairs] = lists.users
        distinct = np.bincount(user_of_pair, minlength=tables.user_count)[users]
        counts = np.bincount(lists.users, minlength=tables.user_count)[users]
        values = distinct / counts if self.deep else (distinct == counts).astype(np.int64)
        return UserValues(values, users, "reco", is_ordered=True)


@dataclass
class CoveredUsers(InteractionMetric):
    """Whether users with interactions have a rank down to k."""

    def compute(self, tables: RecoTables, k_max: int) -> UserValues:  # noqa: ARG002 - of another family
        """Return the values of users with interactions."""
        targets, listed = tables.interactions.users, tables.reco.users[tables.ranks <= self.k]
        users = distinct_codes(targets, tables.user_count)
        is_covered = np.bincount(listed, minlength=tables.user_count) > 0
        return UserValues(is_covered[users].astype(np.int64), users, "interactions", is_ordered=False)


@dataclass
class Intersection(RecoMetric):
    """The share of the recommended items that another model recommends too."""

    ref_k: int | None = None

    def calc(self, reco: pd.DataFrame, ref_reco: pd.DataFrame) -> float:
        """Return the mean over users."""
        mean: float = self.calc_per_user(reco, ref_reco).mean()
        return mean

    def calc_per_user(self, reco: pd.DataFrame, ref_reco: pd.DataFrame) -> pd.Series:
        """Return the value of each user with a rank down to k, by user; the arguments are those of `calc`."""
        check_reco_frames(reco, ref_reco=ref_reco)
        pandas = optional.pandas("exactk.compat.rectools")
        if not len(ref_reco) or ref_reco is reco:
            users = reco[USER].unique()[: len(ref_reco)]
            same: pd.Series = pandas.Series(1.0, index=pandas.Series(users, name=USER), dtype=np.float64)
            return same
        ref_k = self.k if self.ref_k is None else self.ref_k
        return Recall(ref_k).calc_per_user(ref_reco, reco[reco[RANK] <= self.k][[USER, ITEM]])


_ABSENT = "Some items lack features: their distances are NaN."


class PairwiseDistanceCalculator(ABC):
    """The distances of pairs of items: ``calculator[items_0, items_1]``.

    A class of one's own has a method ``_get_distances_for_item_pairs(items_0, items_1)`` that returns them.
    """

    def __getitem__(self, pair_index_sequences: Any) -> NDArray[Any]:  # noqa: ANN401 - a pair
        if len(pair_index_sequences) != 2:
            message = "class returns distances only for an item PAIR index sequences"
            raise IndexError(message)
        items_0, items_1 = pair_index_sequences
        if not (_is_list_of_items(items_0) and _is_list_of_items(items_1)):
            message = "class returns distances for index SEQUENCES"
            raise TypeError(message)
        if len(items_0) != len(items_1):
            message = "different lengths of index sequences"
            raise IndexError(message)
        return self._get_distances_for_item_pairs(items_0, items_1)

    @abstractmethod
    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]: ...  # noqa: ANN401 - sequences


def _is_list_of_items(items: object) -> bool:
    return isinstance(items, np.ndarray) or (isinstance(items, Sequence) and not isinstance(items, str))


class PairwiseHammingDistanceCalculator(PairwiseDistanceCalculator):
    """The number of features that differ."""

    def __init__(self, item_features_df: pd.DataFrame) -> None:
        self.features_df = item_features_df.copy()

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]:  # noqa: ANN401 - sequences
        items = optional.pandas("exactk.compat.rectools").Index(
            np.concatenate([np.asarray(items_0), np.asarray(items_1)])
        )
        codes, distinct = items.factorize(use_na_sentinel=False)
        features = self.features_df.reindex(distinct).to_numpy()
        is_absent = np.isnan(features).any(axis=1)
        first, second = codes[: len(items_0)], codes[len(items_0) :]
        distances = np.zeros(len(first))
        for feature in features.T:  # one at a time, as there are many pairs
            distances += feature[first] != feature[second]
        absent = is_absent[first] | is_absent[second]
        if absent.any():
            warnings.warn(_ABSENT, stacklevel=3)
        distances[absent] = np.nan
        return distances


class SparsePairwiseHammingDistanceCalculator(PairwiseDistanceCalculator):
    """The number of features that differ, of a sparse matrix."""

    def __init__(self, features: Any, id_map: Any) -> None:  # noqa: ANN401 - of RecTools
        self.features = features.values.copy()  # noqa: PD011 - no Series
        self.mapper = deepcopy(id_map)

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]:  # noqa: ANN401 - sequences
        pandas = optional.pandas("exactk.compat.rectools")
        pairs = [np.asarray(items_0), np.asarray(items_1)]
        is_known = pandas.Index(pairs[0]).isin(self.mapper.external_ids)
        is_known &= pandas.Index(pairs[1]).isin(self.mapper.external_ids)
        if not is_known.all():
            warnings.warn("Some items are not in id_map: their distances are NaN.", stacklevel=3)
        rows = [self.mapper.convert_to_internal(items[is_known]) for items in pairs]
        try:
            first, second = (self.features[internal, :] for internal in rows)
        except IndexError:
            message = "features: expected a row for each item of id_map"
            raise IndexError(message) from None
        distances = np.full(len(pairs[0]), np.nan, np.float32)
        distances[is_known] = np.ravel((first != second).sum(axis=1))
        is_absent = _has_nan(first) | _has_nan(second)
        if is_absent.any():
            warnings.warn(_ABSENT, stacklevel=3)
        distances[np.flatnonzero(is_known)[is_absent]] = np.nan
        return distances


def _has_nan(matrix: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - a sparse matrix
    """Return which rows have NaN."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows[np.isnan(matrix.data)], minlength=matrix.shape[0]) > 0
