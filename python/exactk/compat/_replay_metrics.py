"""The metrics of RePlay. Each computes the values of all users from arrays; modes combine them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from exactk._runtime import optional
from exactk.compat._replay_tables import ColumnNames, tables_of
from exactk.compat._user_values import ndcg_of_hits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from exactk._engine.problem import JudgedCells
    from exactk.compat._key_codes import Floats, Integers
    from exactk.compat._replay_tables import Container, ReplayTables, UserRows


Distribution = Any
"""Values of users: an array, or a Polars frame with one column if the metric was called with frames of Polars."""


class CalculationDescriptor:
    """What combines the values of users; a subclass of your own has the method `cpu`."""

    @property
    def __name__(self) -> str:
        return str(type(self).__name__)

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return one number for the values of users, an array or a Polars frame with one column."""


class Mean(CalculationDescriptor):
    """The mean of users."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return the mean."""
        return _values(distribution).mean()


class PerUser(CalculationDescriptor):
    """The values themselves, in a dict by user."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - an array or a frame
        """Return the values as they are."""
        return distribution


class Median(CalculationDescriptor):
    """The median of users."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return the median."""
        return _values(distribution).median() if optional.is_polars(distribution) else np.median(distribution)


class ConfidenceInterval(CalculationDescriptor):
    """Half the width of the normal confidence interval of the mean. It needs SciPy."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return half the width; of one user, 0 with frames of Polars, and otherwise NaN with a warning of SciPy."""
        optional.require("scipy", "ConfidenceInterval")
        stats = optional.scipy_stats()
        quantile = stats.norm.ppf((1 + self.alpha) / 2)
        if not optional.is_polars(distribution):
            return quantile * stats.sem(distribution)
        values = _values(distribution)
        deviation = values.std()
        return quantile * (0.0 if deviation is None or np.isnan(deviation) else deviation) / values.count() ** 0.5


def _values(distribution: Distribution) -> Any:  # noqa: ANN401 - an array or a Polars Series
    values: NDArray[Any] = distribution.to_series(0) if optional.is_polars(distribution) else np.asarray(distribution)
    return values


_UNEQUAL_TYPES = "All given data frames must have the same type"
_MEAN = Mean()


class MetricDuplicatesWarning(Warning):
    """A list of recommendations has an item twice."""


def unequal_types() -> ValueError:
    """Return the error of containers of different types."""
    return ValueError(_UNEQUAL_TYPES)


def _cutoffs(topk: Any) -> list[int]:  # noqa: ANN401 - checked
    """Return the values in ascending order; all that is wrong with them is a ValueError in RePlay."""
    ks = topk if isinstance(topk, list) else [topk]
    if not all(isinstance(k, int) for k in ks):
        message = f"expected an integer or a list of integers as topk, found {topk!r}"
        raise ValueError(message)
    if min(ks, default=1) < 1:
        message = f"expected values of topk of at least 1, found {topk!r}"
        raise ValueError(message)
    return sorted(ks)


class Metric:
    """What all metrics share."""

    category_column = "category_id"

    def __init__(
        self,
        topk: list[int] | int,
        query_column: str = "query_id",
        item_column: str = "item_id",
        rating_column: str = "rating",
        mode: CalculationDescriptor = _MEAN,
    ) -> None:
        self.topk = _cutoffs(topk)
        self.query_column = query_column
        self.item_column = item_column
        self.rating_column = rating_column
        self._mode = mode

    @property
    def __name__(self) -> str:
        name, mode = str(type(self).__name__), self._mode.__name__
        return name if mode == "Mean" else f"{name}-{mode}"

    @property
    def column_names(self) -> ColumnNames:
        """The columns of frames."""
        return ColumnNames(self.query_column, self.item_column, self.rating_column, self.category_column)

    def compute(self, tables: ReplayTables, recommendations: Container, other: Container) -> dict[str, Any]:
        """Return the results by name, with the tables of several metrics."""
        self.check_types(tables, recommendations, other)
        users, values = self._values_of_users(tables, recommendations, other)
        per_user = self._mode.__name__ == "PerUser"
        tables.check_distribution(len(users), self.topk, per_user=per_user)
        if per_user:
            return self._by_user(tables, users, values)
        return self._named(lambda k: self._mode.cpu(tables.distribution(values(k)[users], f"value_{k}")))

    def check_types(self, tables: ReplayTables, recommendations: Container, other: Container) -> None:
        """Raise if frames of Polars have users of different types."""
        tables.check_joinable(recommendations, other, self.query_column)

    def warn_of_duplicates(self, tables: ReplayTables, *lists: Container) -> None:
        """Warn if lists have items twice."""
        for data in lists:
            if tables.has_duplicates(data):
                message = "a list of recommendations has an item twice, which may raise the metrics"
                warnings.warn(message, MetricDuplicatesWarning, stacklevel=4)

    def _call(self, recommendations: Container, other: Container, *lists: Container) -> dict[str, Any]:
        tables = tables_of(self.column_names, recommendations, other)
        if not isinstance(recommendations, type(other)):
            raise unequal_types()
        self.warn_of_duplicates(tables, recommendations, *lists)
        return self.compute(tables, recommendations, other)

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        """Return the users of the results, and what returns the values of all codes at k."""
        raise NotImplementedError

    def _named(self, value_at: Callable[[int], Any]) -> dict[str, Any]:
        results = {f"{self.__name__}@{k}": value_at(k) for k in self.topk}
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in results.items()}

    def _by_user(self, tables: ReplayTables, users: Integers, values: Callable[[int], Floats]) -> dict[str, Any]:
        keys = tables.keys(users)
        return self._named(lambda k: dict(zip(keys, values(k)[users].tolist(), strict=True)))


class TruthMetric(Metric):
    """A metric of hits, by the preset of RePlay: its users are those of the truth."""

    _name: ClassVar[str]
    """The metric of exactk."""

    def __call__(self, recommendations: Container, ground_truth: Container) -> dict[str, Any]:
        """Return the metric by name and k."""
        return self._call(recommendations, ground_truth)

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        truth = tables.interactions(other)
        columns = tables.values([f"{self._name}@{k}" for k in self.topk], recommendations, truth)
        return truth.listed, dict(zip(self.topk, columns, strict=True)).__getitem__


class Precision(TruthMetric):
    """The items of the truth among the first k recommendations, divided by k."""

    _name = "precision"


class Recall(TruthMetric):
    """The items of the truth among the first k recommendations, as a share of the truth."""

    _name = "recall"


class HitRate(TruthMetric):
    """1 if an item of the truth is among the first k recommendations, otherwise 0."""

    _name = "hit_rate"


class MRR(TruthMetric):
    """The reciprocal of the rank of the first item of the truth."""

    _name = "reciprocal_rank"


class MAP(TruthMetric):
    """The average precision; repeated rows of lists and of the truth count as often as they are there."""

    _name = "average_precision"


class JudgedMetric(TruthMetric):
    """A metric of the hits of lists, where the core has another definition, or other last digits."""

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        truth = tables.interactions(other)
        blocks = list(tables.judged(recommendations, truth))
        return truth.listed, lambda k: np.concatenate([self._values_of_lists(block, k) for block in blocks])

    def _values_of_lists(self, lists: JudgedCells, k: int) -> Floats:
        """Return the values of some codes; 0 for those without a list or without truth."""
        raise NotImplementedError


class NDCG(JudgedMetric):
    """The normalized discounted gain; repeated rows of lists and of the truth count as often as they are there."""

    def _values_of_lists(self, lists: JudgedCells, k: int) -> Floats:
        return ndcg_of_hits(lists, k)


class RocAuc(JudgedMetric):
    """The share of pairs of a hit and another recommendation in which the hit is first; 1 if all are hits."""

    def _values_of_lists(self, lists: JudgedCells, k: int) -> Floats:
        # `auc` counts relevant items that are not in the list too, and `list_auc` all items.
        hits = lists.hits[:, :k]
        count = np.count_nonzero(hits, axis=1)
        inversions = np.where(hits, np.cumsum(~hits, axis=1), 0).sum(axis=1)
        others = np.minimum(lists.lengths, k) - count
        return np.where(count == 0, 0.0, 1 - inversions / np.maximum(others * count, 1))


class TrainMetric(Metric):
    """A metric that compares recommendations with the train."""

    def __call__(self, recommendations: Container, train: Container) -> dict[str, Any]:
        """Return the metric by name and k: as a metric of hits, with the train in place of the truth."""
        return self._call(recommendations, train)


class Novelty(TrainMetric):
    """The share of recommendations that are not in the train of the user; its users are those of the train."""

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        train = tables.interactions(other)
        shares = tables.values([f"precision@{k}(precision_over=list)" for k in self.topk], recommendations, train)
        values = {k: 1 - share for k, share in zip(self.topk, shares, strict=True)}
        return train.listed, values.__getitem__


class Surprisal(TrainMetric):
    """The mean self-information of recommendations: 1 for an item without train, 0 for one that all users have."""

    def check_types(self, tables: ReplayTables, recommendations: Container, other: Container) -> None:
        """Raise if frames of Polars have items of different types."""
        tables.check_joinable(recommendations, other, self.item_column)

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        lists, train = tables.lists(recommendations), tables.interactions(other)
        weights = _self_information(tables, train, is_polars=optional.is_polars(other))[lists.items]
        ranks, count = lists.ranks, tables.user_count

        def values(k: int) -> Floats:
            within = ranks <= k
            means: Floats = np.bincount(lists.users[within], weights[within], count) / k
            return means

        return lists.listed, values


def _self_information(tables: ReplayTables, train: UserRows, *, is_polars: bool) -> Floats:
    """Return the weight of each item; with one user they are NaN, of which NumPy warns in RePlay but for Polars."""
    user_counts = np.bincount(train.items[train.is_first], minlength=tables.item_count)
    weights, trained = np.ones(tables.item_count), np.flatnonzero(user_counts)
    if len(trained):
        with np.errstate(invalid="ignore" if is_polars else "warn"):
            count = np.float64(len(train.listed))
            weights[trained] = np.log2(count / user_counts[trained]) / np.log2(count)
    return weights


class Coverage(TrainMetric):
    """The share of the train's items that are among the first k recommendations of any user."""

    def __init__(
        self,
        topk: list[int] | int,
        query_column: str = "query_id",
        item_column: str = "item_id",
        rating_column: str = "rating",
        allow_caching: bool = True,  # noqa: FBT001, FBT002 - as in RePlay
    ) -> None:
        super().__init__(topk, query_column, item_column, rating_column)
        self._allow_caching = allow_caching

    def compute(self, tables: ReplayTables, recommendations: Container, other: Container) -> dict[str, Any]:
        """Return the results by name, with the tables of several metrics."""
        tables.check_joinable(recommendations, other, self.item_column)
        lists, train = tables.lists_by_rating(recommendations), tables.interactions(other)
        is_trained = np.zeros(tables.item_count, np.bool_)
        is_trained[train.items] = True
        count, ranks = int(is_trained.sum()), lists.ranks
        if not count and optional.is_polars(other):
            return self._named(lambda _: float("nan"))

        def share(k: int) -> float:
            is_covered = np.zeros_like(is_trained)
            is_covered[lists.items[ranks <= k]] = True
            return int((is_covered & is_trained).sum()) / count

        return self._named(share)


class Unexpectedness(Metric):
    """The share of recommendations that a base model does not have among its first k for the user."""

    def __call__(self, recommendations: Container, base_recommendations: Container) -> dict[str, Any]:
        """Return the metric by name and k: as a metric of hits, with the lists of the base model in place of the truth."""
        return self._call(recommendations, base_recommendations, base_recommendations)

    def _values_of_users(
        self, tables: ReplayTables, recommendations: Container, other: Container
    ) -> tuple[Integers, Callable[[int], Floats]]:
        lists, base = tables.lists(recommendations), tables.lists(other)
        has_list, has_base = (np.bincount(rows.users, minlength=tables.user_count) > 0 for rows in (lists, base))

        def values(k: int) -> Floats:
            (share,) = tables.values([f"precision@{k}"], recommendations, base.down_to(k))
            return np.where(has_list & has_base, 1 - share, 0.0)

        return lists.listed, values


class CategoricalDiversity(Metric):
    """The number of different categories among the first k recommendations, divided by k."""

    def __init__(
        self,
        topk: list[int] | int,
        query_column: str = "query_id",
        category_column: str = "category_id",
        rating_column: str = "rating",
        mode: CalculationDescriptor = _MEAN,
    ) -> None:
        super().__init__(topk, query_column, rating_column=rating_column, mode=mode)
        self.category_column = category_column

    def __call__(self, recommendations: Container) -> dict[str, Any]:
        """Return the metric by name and k: as a metric of hits, with categories in place of items, and no truth."""
        return self.compute(tables_of(self.column_names, recommendations), recommendations, None)

    def compute(self, tables: ReplayTables, recommendations: Container, other: Container) -> dict[str, Any]:
        """Return the results by name."""
        del other
        lists = tables.categories(recommendations)
        is_first = lists.is_first
        users, ranks = lists.users[is_first], lists.ranks[is_first]

        def counts(k: int) -> NDArray[Any]:
            return np.bincount(users[ranks <= k], minlength=tables.user_count)

        if self._mode.__name__ == "PerUser":
            return self._by_user(tables, lists.listed, lambda k: counts(k) / k)
        if optional.is_polars(recommendations):  # the mean of integers, divided by k
            return self._named(lambda k: self._mode.cpu(tables.distribution(counts(k)[lists.listed], "count")) / k)
        tables.check_distribution(len(lists.listed), self.topk, per_user=False)
        return self._named(lambda k: self._mode.cpu(counts(k)[lists.listed] / k))
