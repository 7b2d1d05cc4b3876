"""RecTools: frames of interactions and of ranked items, a metric an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import SCORES, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "rectools"
MODULE = "rectools"
REQUIREMENTS = ("rectools==0.19.0",)
SOURCE = ""
INPUT = "ranks"
MIN_SCORE = None
# A user without a row is not in a frame. Every row of the interactions is relevant, whatever its weight.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_truth=False,
    empty_list=False,
    missing_truth=True,
    missing_list=True,
    rank_gaps=True,
    unknown_truth=True,
)
NOT_DRAWN = dict.fromkeys(SCORES, "items are given with their ranks, without scores")
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "precision@{k}": ("Precision", {}),
    "precision@{k}(precision_over=min_cutoff_relevant)": ("Precision", {"r_precision": True}),
    "recall@{k}": ("Recall", {}),
    "f1@{k}": ("F1Beta", {"beta": 1.0}),
    "fbeta@{k}(beta=2)": ("F1Beta", {"beta": 2.0}),
    "hit_rate@{k}": ("HitRate", {}),
    "average_precision@{k}": ("MAP", {}),
    "average_precision@{k}(ap_over=cutoff)": ("MAP", {"divide_by_k": True}),
    "ndcg@{k}": ("NDCG", {}),
    "ndcg@{k}(ideal_over=min_cutoff_relevant)": ("NDCG", {"log_base": 3, "divide_by_achievable": True}),
    "reciprocal_rank@{k}": ("MRR", {}),
}
CALLS = {
    metric.format(k="k"): f"{name}({', '.join(['k', *(f'{key}={value}' for key, value in options.items())])})"
    for metric, (name, options) in METRICS.items()
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by calc_metrics, and by calc_per_user of each metric."""
    from pandas import DataFrame
    from rectools import Columns, metrics

    truth = [(u, item, grade) for u, row in enumerate(case.truth) for item, grade in row or []]
    lists = [(u, item, rank) for u, row in enumerate(case.predictions) for item, rank in row or []]
    interactions = DataFrame(truth, columns=[Columns.User, Columns.Item, Columns.Weight])
    recommended = DataFrame(lists[::-1], columns=[Columns.User, Columns.Item, Columns.Rank])
    asked = {
        metric.format(k=k): getattr(metrics, name)(k=k, **options)
        for metric, (name, options) in METRICS.items()
        for k in case.cutoffs
    }
    means = metrics.calc_metrics(asked, recommended, interactions)
    outputs: dict[str, Output] = {}
    for metric, calculator in asked.items():
        users = calculator.calc_per_user(recommended, interactions)
        outputs[metric] = (means[metric], [users.get(u) for u in range(len(case.truth))])
    return outputs
