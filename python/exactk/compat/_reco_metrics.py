"""What all metrics of RecTools have, and families of them by what they are computed from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from exactk.compat._reco_tables import ITEM, RANK, USER, MergedRows, RecoTables, UserValues, debiased_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd  # noqa: TID251 - for the type checker alone


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
