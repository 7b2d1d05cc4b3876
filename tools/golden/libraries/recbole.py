"""RecBole: a Collector of a tensor of scores and an Evaluator, which rounds the means to four decimals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from golden.cases import BOTH_SIDES, NO_RANKS, ONE_SIDE, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "recbole"
MODULE = "recbole"
# It asks NumPy for np.float, which 1.24 has no more.
REQUIREMENTS = ("recbole==1.2.1", "numpy==1.23.5", "pandas==1.5.3", "torch==2.15.0")
SOURCE = ""
INPUT = "scores"
MIN_SCORE = None
# Every user has interactions and a score for every item. The order within a tie is torch.topk's, which promises none.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_truth=False,
    empty_list=False,
    short_list=False,
    full_list=True,
    sorted=False,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
    repeated_truth=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS} | dict.fromkeys(ONE_SIDE, BOTH_SIDES)
PADDED = " where a relevant item scores -inf"
DIFFERS = {"auc" + PADDED: "RecBole pads with -inf: it leaves the item out of the ranks, but counts it as relevant."}
TOLERANCE = 1e-12

AT_CUTOFF = {
    "precision": "precision",
    "recall": "recall",
    "average_precision": "map",
    "ndcg": "ndcg",
    "reciprocal_rank": "mrr",
    "hit_rate": "hit",
}
CALLS = {f"{metric}@k": f"Evaluator {name}@k" for metric, name in AT_CUTOFF.items()} | {
    "auc": "Evaluator gauc, of one user"
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by an Evaluator; and each user by one that does not round."""
    asked = {f"{metric}@{k}": f"{name}@{k}" for metric, name in AT_CUTOFF.items() for k in case.cutoffs}
    everybody = range(len(case.truth))
    means = _evaluated(case, everybody, decimals=4)
    users = [_evaluated(case, range(u, u + 1), decimals=15) for u in everybody]
    outputs: dict[str, Output] = {metric: (means[name], [of[name] for of in users]) for metric, name in asked.items()}
    # The mean of gauc weighs the users by |T|.
    padded = any(
        -math.inf in (dict(row or []).get(item) for item, _ in judged or [])
        for judged, row in zip(case.truth, case.predictions, strict=True)
    )
    return outputs | {"auc" + (PADDED if padded else ""): (None, [of["gauc"] for of in users])}


def _evaluated(case: Case, users: range, decimals: int) -> dict[str, float]:
    import torch
    from recbole.evaluator import Collector, Evaluator

    config: dict[str, Any] = {
        "metrics": [*AT_CUTOFF.values(), "gauc"],
        "topk": case.cutoffs,
        "metric_decimal_place": decimals,
        "eval_args": {"mode": "full"},
        "device": "cpu",
    }
    # Item 0 is the padding, which is never recommended.
    scores = torch.full((len(users), case.items + 1), -torch.inf, dtype=torch.float64)
    for row, u in enumerate(users):
        for item, score in case.predictions[u] or []:
            scores[row, item + 1] = score
    positive = [(row, item + 1) for row, u in enumerate(users) for item, _ in case.truth[u] or []]
    collector = Collector(config)
    collector.eval_batch_collect(scores, None, *torch.tensor(positive).T)
    found: dict[str, float] = Evaluator(config).evaluate(collector.get_data_struct())
    return found
