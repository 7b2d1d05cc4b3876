"""Frames of recommendations and of interactions as arrays of codes, and their join: what metrics of RecTools read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.columns import NumberColumn, column_of_series
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.long_format import rank_array
from exactk._runtime import optional
from exactk._runtime.errors import InputTypeError
from exactk._runtime.threads import resolve_threads
from exactk.compat._key_codes import KeyCodes, distinct_codes, ranges

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd  # noqa: TID251 - for the type checker alone
    from numpy.typing import NDArray

    from exactk.compat._key_codes import Floats, Integers

USER, ITEM, RANK = "user_id", "item_id", "rank"


class UserItems(NamedTuple):
    """The codes of the users and items of rows."""

    users: Integers
    items: Integers

    def take(self, rows: Integers) -> UserItems:
        """Return some of the rows."""
        return UserItems(self.users[rows], self.items[rows])


@dataclass(eq=False)
class MergedRows:
    """The interactions beside the rank that each item has in the user's list, once for each row of it there."""

    users: Integers
    items: Integers
    ranks: Floats  # NaN if the item is not in the list
    user_count: int  # of all codes

    def take(self, rows: Integers) -> MergedRows:
        """Return some of the rows."""
        return MergedRows(self.users[rows], self.items[rows], self.ranks[rows], self.user_count)

    @cached_property
    def distinct_users(self) -> Integers:
        """The users, in order of first appearance."""
        return distinct_codes(self.users, self.user_count)

    @cached_property
    def counts(self) -> Integers:
        """The rows of each of the distinct users."""
        return np.bincount(self.users, minlength=self.user_count)[self.distinct_users]

    def sums(self, values: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the sum of the values of some rows, for each of the distinct users."""
        totals: NDArray[Any] = np.bincount(self.users[rows], weights=values, minlength=self.user_count)
        return totals[self.distinct_users]

    def hits(self, k: float) -> Integers:
        """Return the rows with a rank down to k, for each of the distinct users."""
        return np.bincount(self.users[self.ranks <= k], minlength=self.user_count)[self.distinct_users]


class UserValues(NamedTuple):
    """A value for each of some users."""

    values: NDArray[Any]
    users: Integers
    frame: str  # that of the recommendations or of the interactions: where the users are from
    is_ordered: bool  # whether results are in the order of the keys of users, or in that of `users`
    name: str | None = None


class RecoTables:
    """The arguments of a call; all its frames have the same codes of users and of items."""

    def __init__(
        self,
        reco: pd.DataFrame,
        interactions: pd.DataFrame | None = None,
        prev_interactions: pd.DataFrame | None = None,
        catalog: Collection[Any] | None = None,
        *,
        has_several_metrics: bool = False,
    ) -> None:
        self.reco_frame: Any = reco
        self.interactions_frame: Any = interactions
        self.prev_interactions_frame: Any = prev_interactions
        self.catalog = catalog
        self.has_several_metrics = has_several_metrics  # whether the call is calc_metrics, which samples merged rows
        self._users, self._items = KeyCodes(), KeyCodes()
        self._threads = resolve_threads(None)
        self._merged: dict[Any, MergedRows] = {}

    @cached_property
    def reco(self) -> UserItems:
        """The rows of the recommendations."""
        _ = self.reco_frame.empty  # an AttributeError without a frame, as in RecTools
        return self._codes(self.reco_frame, "reco")

    @cached_property
    def ranks(self) -> Floats:
        """The ranks of the recommendations."""
        if self.reco_frame.empty:
            return np.zeros(0)
        ranks: Floats = rank_array(column_of_series(self.reco_frame[RANK], "reco.rank"), "reco.rank").astype(np.float64)
        return ranks

    @cached_property
    def interactions(self) -> UserItems:
        """The rows of the interactions."""
        return self._codes(self.interactions_frame, "interactions")

    @cached_property
    def prev_interactions(self) -> UserItems:
        """The rows of the interactions before."""
        return self._codes(self.prev_interactions_frame, "prev_interactions")

    @property
    def user_count(self) -> int:
        """The number of users so far: of the codes in use."""
        return len(self._users)

    @property
    def item_count(self) -> int:
        """The number of items so far."""
        return len(self._items)

    def _codes(self, frame: Any, argument: str) -> UserItems:  # noqa: ANN401 - a frame
        users, items = (
            _codes_of_series(frame[name], codes, f"{argument}.{name}")
            for name, codes in ((USER, self._users), (ITEM, self._items))
        )
        return UserItems(users, items)

    def pairs(self, rows: UserItems, vocabulary: Vocabulary) -> Integers:
        """Return the code of each pair of a user and an item; new pairs are added to the vocabulary.

        All rows of a vocabulary must be encoded before, as the keys depend on the number of items: dense keys are
        much faster to find.
        """
        keys = rows.users * self.item_count + rows.items
        return vocabulary.encode([NumberColumn(keys)], "pairs", self._threads).astype(np.int64)

    def merged(self, config: Any = None, *, debias_first: bool = False, distinct: bool = False) -> MergedRows:  # noqa: ANN401 - of the public module
        """Return the interactions beside the ranks, without some rows of popular items if there is a config.

        With `debias_first`, rows are left out before they are beside ranks: where lists repeat items, chance differs.
        With `distinct`, repeated interactions count once.
        """
        _ = self.interactions_frame.empty  # an AttributeError without a frame, as in RecTools
        key = (config, config is not None and debias_first, distinct)
        if key not in self._merged:
            rows = self.interactions
            if key[1]:
                rows = rows.take(debiased_rows(rows, config))
            merged = self._merge(self._distinct(rows) if distinct else rows)
            if config is not None and not debias_first:
                merged = merged.take(debiased_rows(UserItems(merged.users, merged.items), config))
            self._merged[key] = merged
        return self._merged[key]

    def _distinct(self, rows: UserItems) -> UserItems:
        vocabulary = Vocabulary.of_kinds(["int"])
        pairs = self.pairs(rows, vocabulary)
        return rows.take(np.flatnonzero(np.diff(np.maximum.accumulate(pairs), prepend=-1)))

    def _merge(self, interactions: UserItems) -> MergedRows:
        vocabulary, lists = Vocabulary.of_kinds(["int"]), self.reco
        pairs = self.pairs(interactions, vocabulary)
        pair_count = len(vocabulary)
        listed = self.pairs(lists, vocabulary)
        is_hit = listed < pair_count
        listed, ranks = listed[is_hit], self.ranks[is_hit]
        counts = np.bincount(listed, minlength=pair_count)
        if counts.max(initial=0) <= 1:
            rank_of_pair = np.full(pair_count, np.nan)
            rank_of_pair[listed] = ranks
            return MergedRows(*interactions, rank_of_pair[pairs], self.user_count)
        # Ranks by pair, with NaN for pairs in no list; each interaction takes all ranks of its pair.
        absent = np.flatnonzero(counts == 0)
        by_pair = np.argsort(np.concatenate([listed, absent]), kind="stable")
        ranks = np.concatenate([ranks, np.full(len(absent), np.nan)])[by_pair]
        lengths = np.maximum(counts, 1)
        starts = np.cumsum(lengths) - lengths
        rows = np.repeat(np.arange(len(pairs)), lengths[pairs])
        return MergedRows(*interactions.take(rows), ranks[ranges(starts[pairs], lengths[pairs])], self.user_count)

    def mean(self, result: UserValues) -> Any:  # noqa: ANN401 - a number of NumPy
        """Return the mean of the users; of those without NaN."""
        return optional.pandas("exactk.compat.rectools").Series(result.values).mean()

    def series(self, result: UserValues) -> pd.Series:
        """Return the values by the key of the user."""
        frame, codes = self.reco_frame, self.reco.users
        if result.frame == "interactions":
            frame, codes = self.interactions_frame, self.interactions.users
        row_of_user = np.zeros(self.user_count, np.int64)
        row_of_user[codes[::-1]] = np.arange(len(codes))[::-1]
        keys = frame[USER].iloc[row_of_user[result.users]]
        series = optional.pandas("exactk.compat.rectools").Series(
            result.values, index=optional.pandas("exactk.compat.rectools").Index(keys, name=USER), name=result.name
        )
        ordered: pd.Series = series.sort_index() if result.is_ordered else series
        return ordered


def _codes_of_series(series: Any, codes: KeyCodes, argument: str) -> Integers:  # noqa: ANN401 - a pandas Series
    """Return codes; raise if there are categories without rows: pandas groups by them, so that RecTools counts them."""
    unused = len(series.dtype.categories) - series.nunique() if hasattr(series.dtype, "categories") else 0
    if unused:
        message = f"{argument}: expected categories that rows have, found {unused} of no row; .cat.remove_unused_categories() drops them"
        raise InputTypeError(message)
    return codes.of_column(column_of_series(series, argument), argument) if len(series) else np.zeros(0, np.int64)


def debiased_rows(rows: UserItems, config: Any) -> Integers:  # noqa: ANN401 - of the public module
    """Return the rows to keep: of popular items, a random sample of as many as the border allows."""
    if not len(rows.users):
        return np.zeros(0, np.int64)
    vocabulary = Vocabulary.of_kinds(["int"])
    pairs = vocabulary.encode([NumberColumn(rows.users * (1 << 32) + rows.items)], "pairs").astype(np.int64)
    item_of_pair = np.zeros(len(vocabulary), np.int64)
    item_of_pair[pairs] = rows.items
    users_of_item = np.bincount(item_of_pair)
    low, high = np.percentile(users_of_item[users_of_item > 0], [25, 75])
    border = int(high + config.iqr_coef * (high - low))
    is_beyond = users_of_item[rows.items] > border
    beyond = (
        optional.pandas("exactk.compat.rectools")
        .Series(np.flatnonzero(is_beyond))
        .sample(frac=1.0, random_state=config.random_state)
    )
    kept: Integers = beyond.groupby(rows.items[beyond.to_numpy()]).head(border).to_numpy()
    return np.concatenate([np.flatnonzero(~is_beyond), kept])
