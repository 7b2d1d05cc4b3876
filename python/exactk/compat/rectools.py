"""A drop-in replacement for the metrics of RecTools: ``from exactk.compat.rectools import NDCG, calc_metrics``.

>>> import pandas as pd
>>> from exactk.compat.rectools import MAP, Recall, calc_metrics
>>> reco = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [7, 8, 8, 9], "rank": [1, 2, 1, 2]})
>>> interactions = pd.DataFrame({"user_id": [1, 2, 2], "item_id": [8, 8, 9]})
>>> calc_metrics({"recall@1": Recall(k=1), "map@2": MAP(k=2)}, reco, interactions)
{'recall@1': 0.25, 'map@2': 0.75}
>>> MAP(k=2).calc_per_user(reco, interactions).to_dict()
{1: 0.5, 2: 1.0}

All metrics of ``rectools.metrics`` are here, with `calc`, `calc_per_user` and `calc_metrics`. Frames are of pandas, with
the columns of `Columns`. Every metric takes the number of ranks, ``k``, and metrics of hits take ``debias_config``: how many
interactions of popular items to keep.
`differences` says what is not equal; the rest is as the documentation of RecTools says.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime import optional
from exactk.compat._reco_lists import (
    AvgRecPopularity,
    CatalogCoverage,
    CoveredUsers,
    FaultMetric,
    Intersection,
    IntraListDiversity,
    MeanInvUserFreq,
    PairwiseDistanceCalculator,
    PairwiseHammingDistanceCalculator,
    Serendipity,
    SparsePairwiseHammingDistanceCalculator,
    SufficientReco,
    UnrepeatedReco,
)
from exactk.compat._reco_metrics import (
    MAP,
    MCC,
    MRR,
    NDCG,
    PAP,
    Accuracy,
    AreaMetric,
    CountMetric,
    CountMetricOfCatalog,
    DebiasConfig,
    F1Beta,
    HitRate,
    PartialAUC,
    Precision,
    Recall,
    RecoMetric,
    check_reco_frames,
    debias_interactions,
)
from exactk.compat._reco_tables import ITEM, RANK, USER, RecoTables

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    import pandas as pd  # noqa: TID251 - for the type checker alone

__all__ = [
    "MAP",
    "MCC",
    "MRR",
    "NDCG",
    "PAP",
    "Accuracy",
    "AvgRecPopularity",
    "CatalogCoverage",
    "Columns",
    "CoveredUsers",
    "DebiasConfig",
    "F1Beta",
    "HitRate",
    "Intersection",
    "IntraListDiversity",
    "MeanInvUserFreq",
    "PairwiseDistanceCalculator",
    "PairwiseHammingDistanceCalculator",
    "PartialAUC",
    "Precision",
    "Recall",
    "Serendipity",
    "SparsePairwiseHammingDistanceCalculator",
    "SufficientReco",
    "UnrepeatedReco",
    "calc_metrics",
    "debias_interactions",
    "differences",
]


class Columns:
    """The names of the columns that metrics read."""

    User = USER
    Item = ITEM
    Rank = RANK
    UserItem = (USER, ITEM)


def differences() -> tuple[str, ...]:
    """Return what is not equal to RecTools, in sentences."""
    return (
        "Values may differ in the last digits, as sums are rounded in another order.",
        "Ids of users and of items are integers, strings or bytes; other types, and missing ids, are a TypeError.",
        "Categories of users or items that no row has are a TypeError; RecTools counts them as users without hits, and the like.",
        "calc_per_user returns float64 by id; in RecTools, categories may be the index, and nullable frames give Float64.",
        "In calc_metrics a column that a metric needs and a frame lacks is a KeyError, as in calc; RecTools counts no hits.",
        "PartialAUC and PAP refuse ranks below 1 and a rank that a list has twice.",
        "Ranks of float16 are computed with in float64; Serendipity of RecTools has the digits of float16.",
        "ref_reco of calc_metrics may be a frame, as its documentation says; RecTools takes a dict of frames alone.",
        "The steps between frames and values are not here: fit, calc_from_merged, calc_from_fitted, calc_from_confusion_df.",
        "A distance calculator is asked once for each distinct pair of items; RecTools asks for all pairs of all lists.",
        "Columns has the names User, Item, Rank and UserItem alone; the last is a tuple.",
        "There are no FutureWarnings, which pandas gives RecTools.",
    )


class _Family(NamedTuple):
    """Metrics that calc_metrics computes together."""

    title: str  # as in messages
    metrics: tuple[type[RecoMetric], ...]
    required: tuple[str, ...]  # arguments
    checked: tuple[str, ...] = ()  # arguments whose columns and ranks are checked


_FAMILIES = (
    _Family("classification", (CountMetric, CountMetricOfCatalog), ("interactions",)),
    _Family("ranking", (NDCG,), ("interactions",)),
    _Family("ranking", (MRR,), ("interactions",)),
    _Family("ranking", (MAP,), ("interactions",)),
    _Family("AUC-like", (AreaMetric,), ("interactions",), ("interactions",)),
    _Family("novelty", (MeanInvUserFreq,), ("prev_interactions",), ("prev_interactions",)),
    _Family("catalog", (CatalogCoverage,), ("catalog",)),
    _Family("popularity", (AvgRecPopularity,), ("prev_interactions",)),
    _Family("diversity", (IntraListDiversity,), (), ("reco",)),
    _Family(
        "serendipity",
        (Serendipity,),
        ("interactions", "prev_interactions", "catalog"),
        ("interactions", "prev_interactions"),
    ),
    _Family("intersection", (Intersection,), ("ref_reco",)),
    _Family("some of the required DQ", (CoveredUsers,), ("interactions",), ("interactions",)),
    _Family("DQ", (FaultMetric,), (), ("reco",)),
)


def calc_metrics(
    metrics: Mapping[str, RecoMetric],
    reco: pd.DataFrame,
    interactions: pd.DataFrame | None = None,
    prev_interactions: pd.DataFrame | None = None,
    catalog: Collection[Any] | None = None,
    ref_reco: pd.DataFrame | Mapping[Hashable, pd.DataFrame] | None = None,
) -> dict[str, float]:
    """Calculate metrics that share the work of reading the frames.

    See Also
    --------
    exactk.evaluate : The same values with their counts and warnings: ``exactk.evaluate(interactions, reco, ["ndcg@10"], convention="rectools")``.
    """
    tables = RecoTables(reco, interactions, prev_interactions, catalog, has_several_metrics=True)
    results: dict[str, Any] = {}
    is_custom = dict.fromkeys(metrics, True)
    for family in _FAMILIES:
        members = {name: metric for name, metric in metrics.items() if isinstance(metric, family.metrics)}
        if not members:
            continue
        is_custom.update(dict.fromkeys(members, False))
        _check_family(family, tables, ref_reco)
        if isinstance(next(iter(members.values())), Intersection):
            results.update(_intersections(members, reco, ref_reco))
            continue
        k_max = max(metric.k for metric in members.values())
        results.update({name: _mean_of_users(metric, tables, k_max) for name, metric in members.items()})
    if any(is_custom.values()):
        warnings.warn("Custom metrics are not supported.", stacklevel=2)
    return {name: value.item() if hasattr(value, "item") else value for name, value in results.items()}


def _check_family(family: _Family, tables: RecoTables, ref_reco: object) -> None:
    """Raise ValueError if an argument is missing; check the columns and ranks of the frames."""
    arguments: dict[str, Any] = {
        "interactions": tables.interactions_frame,
        "prev_interactions": tables.prev_interactions_frame,
        "catalog": tables.catalog,
        "ref_reco": ref_reco,
    }
    for name in family.required:
        if arguments[name] is None or (name == "ref_reco" and not optional.is_pandas(ref_reco) and not ref_reco):
            raise _missing_argument(family.title, name)
    if family.checked:
        frames = {name: arguments[name] for name in family.checked if name != "reco"}
        check_reco_frames(tables.reco_frame, **frames)


def _missing_argument(title: str, name: str) -> ValueError:
    return ValueError(f"For calculating {title} metrics it's necessary to set '{name}'")


def _mean_of_users(metric: RecoMetric, tables: RecoTables, k_max: int) -> Any:  # noqa: ANN401 - a number
    if isinstance(metric, CatalogCoverage):
        return metric.coverage(tables)
    if isinstance(metric, CountMetricOfCatalog) and tables.catalog is None:
        raise _missing_argument(f"'{type(metric).__name__}'", "catalog")
    return tables.mean(metric.compute(tables, k_max))


def _intersections(metrics: Mapping[str, RecoMetric], reco: pd.DataFrame, ref_reco: Any) -> dict[str, Any]:  # noqa: ANN401 - a frame or a mapping
    """Return the values of each metric, with each of the other models."""
    pairs = {name: metric for name, metric in metrics.items() if isinstance(metric, Intersection)}
    if optional.is_pandas(ref_reco):
        return {name: metric.calc(reco, ref_reco) for name, metric in pairs.items()}
    return {
        f"{name}_{model}": metric.calc(reco, other)
        for name, metric in pairs.items()
        for model, other in ref_reco.items()
    }
