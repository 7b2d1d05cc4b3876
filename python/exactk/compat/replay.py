"""A drop-in replacement for the metrics of RePlay: ``from exactk.compat.replay import NDCG, OfflineMetrics``.

>>> from exactk.compat.replay import MAP, OfflineMetrics, PerUser, Recall
>>> recommendations = {1: [(7, 0.5), (8, 0.25)], 2: [(8, 0.75), (9, 0.5)]}
>>> ground_truth = {1: [8], 2: [8, 9]}
>>> OfflineMetrics([Recall([1, 2]), MAP(2)])(recommendations, ground_truth)
{'Recall@1': 0.25, 'Recall@2': 1.0, 'MAP@2': 0.75}
>>> MAP(2, mode=PerUser())(recommendations, ground_truth)
{'MAP-PerUser@2': {1: 0.5, 2: 1.0}}

All metrics of ``replay.metrics`` are here, with their modes, `OfflineMetrics` and `Experiment`. Recommendations are
frames of pandas or Polars, or dicts of pairs.
`differences` says what is not equal; the rest is as the documentation of RePlay says.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from exactk._runtime import optional
from exactk.compat._replay_metrics import (
    MAP,
    MRR,
    NDCG,
    CalculationDescriptor,
    CategoricalDiversity,
    ConfidenceInterval,
    Coverage,
    HitRate,
    Mean,
    Median,
    Metric,
    MetricDuplicatesWarning,
    Novelty,
    PerUser,
    Precision,
    Recall,
    RocAuc,
    Surprisal,
    TrainMetric,
    TruthMetric,
    Unexpectedness,
    unequal_types,
)
from exactk.compat._replay_tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd  # noqa: TID251 - for the type checker alone

    from exactk.compat._replay_tables import Container, ReplayTables

__all__ = [
    "MAP",
    "MRR",
    "NDCG",
    "CalculationDescriptor",
    "CategoricalDiversity",
    "ConfidenceInterval",
    "Coverage",
    "Experiment",
    "HitRate",
    "Mean",
    "Median",
    "Metric",
    "MetricDuplicatesWarning",
    "Novelty",
    "OfflineMetrics",
    "PerUser",
    "Precision",
    "Recall",
    "RocAuc",
    "Surprisal",
    "Unexpectedness",
    "differences",
]


def differences() -> tuple[str, ...]:
    """Return what is not equal to RePlay, in sentences."""
    return (
        "Values may differ in the last digits, as sums are rounded in another order.",
        "Ids in frames are integers, strings or bytes, of one kind in all frames; other types and missing ids are a TypeError.",
        "A value of topk below 1 is a ValueError; RePlay divides by it, or cuts lists at their ends.",
        "Frames of Spark are a TypeError: exactk.spark.evaluate computes with them, by convention='replay'.",
        "Users of Polars frames are in the order of their first rows; RePlay's order is arbitrary.",
        "A metric of your own cannot be made by a method _get_metric_value_by_user; a mode of your own can, by a method cpu.",
        "MetricDuplicatesWarning is a class of exactk.compat.replay, not that of RePlay.",
    )


class OfflineMetrics:
    """Several metrics of the same recommendations, which are read once.

    See Also
    --------
    exactk.evaluate : The same values with their counts and warnings: ``exactk.evaluate(truth, recommendations, ["ndcg@10"], convention="replay")``.
    """

    def __init__(
        self,
        metrics: list[Metric],
        query_column: str = "query_id",
        item_column: str = "item_id",
        rating_column: str = "rating",
        category_column: str = "category_id",
        allow_caching: bool = True,  # noqa: FBT001, FBT002 - as in RePlay
    ) -> None:
        self._allow_caching = allow_caching
        for metric in metrics:
            metric.query_column, metric.item_column, metric.rating_column = query_column, item_column, rating_column
            metric.category_column = category_column
        separate = (Unexpectedness, CategoricalDiversity)
        self.main_metrics = [metric for metric in metrics if not isinstance(metric, separate)]
        self.unexpectedness_metric = [metric for metric in metrics if isinstance(metric, Unexpectedness)]
        self.diversity_metric = [metric for metric in metrics if isinstance(metric, CategoricalDiversity)]
        self.metrics = self.main_metrics

    def __call__(
        self,
        recommendations: Container,
        ground_truth: Container,
        train: Container | None = None,
        base_recommendations: Container | Mapping[str, Container] | None = None,
    ) -> dict[str, Any]:
        """Return all metrics by name."""
        names = [*self.main_metrics, *self.unexpectedness_metric, *self.diversity_metric][0].column_names
        bases = _bases_by_name(base_recommendations)
        tables = tables_of(names, recommendations, ground_truth, train, *bases.values())
        others = {"ground_truth": ground_truth, **({} if train is None else {"train": train}), **bases}
        if {type(one) for one in others.values()} != {type(recommendations)}:
            raise unequal_types()
        _check_users(tables, recommendations, others)
        results = self._main_results(tables, recommendations, ground_truth, train)
        if self.unexpectedness_metric and base_recommendations is None:
            message = "Can not calculate Unexpectedness because base_recommendations is None"
            raise ValueError(message)
        for metric in self.unexpectedness_metric:
            for model, base in bases.items():
                metric.warn_of_duplicates(tables, recommendations, base)
                for name, value in metric.compute(tables, recommendations, base).items():
                    title, _, k = name.partition("@")
                    results[f"{title}_{model}@{k}"] = value
        for diversity in self.diversity_metric:
            results.update(diversity.compute(tables, recommendations, None))
        return results

    def _main_results(
        self, tables: ReplayTables, recommendations: Container, ground_truth: Container, train: Container | None
    ) -> dict[str, Any]:
        results: dict[str, Any] = {}
        if self.main_metrics:
            self.main_metrics[0].warn_of_duplicates(tables, recommendations)
            tables.check_joinable(recommendations, ground_truth, tables.names.query)
        for metric in self.main_metrics:
            if not isinstance(metric, (TruthMetric, TrainMetric)):
                raise KeyError(type(metric).__qualname__)
            other = ground_truth if isinstance(metric, TruthMetric) else train
            if other is None:
                raise _missing_train(metric, recommendations)
            results.update(metric.compute(tables, recommendations, other))
        return results


def _bases_by_name(base_recommendations: Any) -> dict[str, Container]:  # noqa: ANN401 - containers
    """Return the lists of other models by name; lists without one are a model."""
    if base_recommendations is None:
        return {}
    if not isinstance(base_recommendations, dict) or isinstance(next(iter(base_recommendations.values())), list):
        return {"base_recommendations": base_recommendations}
    return base_recommendations


def _check_users(tables: ReplayTables, recommendations: Container, others: Mapping[str, Container]) -> None:
    """Raise KeyError if a frame has no column of users; warn of tables that lack users of the recommendations."""
    users: set[int] = set()
    for name, data in {"recommendations": recommendations, **others}.items():
        if not isinstance(data, dict) and tables.names.query not in data.columns:
            message = f"Query column {tables.names.query} is not present in {name} dataframe"
            raise KeyError(message)
        found = tables.users(data).tolist()
        if data is recommendations:
            users = set(found)
        elif not users.issubset(found):
            message = f"{name} contains queries that are not presented in recommendations"
            warnings.warn(message, stacklevel=3)


def _missing_train(metric: Metric, recommendations: Container) -> Exception:
    """Return the exception that RePlay raises if a metric of the train has none."""
    if not optional.is_polars(recommendations):
        return unequal_types()
    message = f"{type(metric).__qualname__} requires the argument 'train'"
    return TypeError(message) if isinstance(metric, Coverage) else KeyError(message)


class Experiment:
    """A table of the metrics of several models."""

    def __init__(
        self,
        metrics: list[Metric],
        ground_truth: Container,
        train: Container | None = None,
        base_recommendations: Container | Mapping[str, Container] | None = None,
        query_column: str = "query_id",
        item_column: str = "item_id",
        rating_column: str = "rating",
        category_column: str = "category_id",
    ) -> None:
        self._metrics = OfflineMetrics(metrics, query_column, item_column, rating_column, category_column)
        self._others = (ground_truth, train, base_recommendations)
        self._rows: dict[str, dict[str, Any]] = {}
        self.results: pd.DataFrame = optional.pandas("Experiment").DataFrame()

    def add_result(self, name: str, recommendations: Container) -> None:
        """Add a model, or replace one of the same name."""
        self._rows[name] = self._metrics(recommendations, *self._others)
        self.results = optional.pandas("Experiment").DataFrame(list(self._rows.values()), index=list(self._rows))

    def compare(self, name: str) -> pd.DataFrame:
        """Return by how many percent each model differs from one of them."""
        if name not in self.results.index:
            message = f"No results for model {name}"
            raise ValueError(message)
        table = self.results[[column for column in self.results.columns if column[-1].isdigit()]]
        percents = (100 * (table / table.loc[name] - 1)).astype(float).round(2).astype(str) + "%"
        percents.loc[name] = "\N{EN DASH}"
        return percents
