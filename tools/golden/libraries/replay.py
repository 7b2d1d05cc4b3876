"""RePlay: frames of interactions and of scored items; or dicts of them, whose ties and empty users differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.cases import NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "replay-rec"
MODULE = "replay"
REQUIREMENTS = ("replay-rec==0.22.0",)
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
# Every row of the interactions is relevant, whatever its rating; one that is there twice counts twice in some sums.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
    repeated_truth=True,
    repeated_list=True,
    unknown_truth=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS}
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

NAMES = {
    "precision": "Precision",
    "recall": "Recall",
    "average_precision": "MAP",
    "ndcg": "NDCG",
    "reciprocal_rank": "MRR",
    "hit_rate": "HitRate",
}
BY_DICTS = ("recall", "average_precision", "ndcg")
OF_DICTS = "(ties=input_order,empty_truth=compute)"
CALLS = {f"{metric}@k": f"{name}(k), of pandas frames" for metric, name in NAMES.items()} | {
    f"{metric}@k{OF_DICTS}": f"{NAMES[metric]}(k), of dicts" for metric in BY_DICTS
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate each metric for the mean and for the users, by frames and by dicts."""
    from pandas import DataFrame
    from replay import metrics

    interactions = [(u, item, rating) for u, row in enumerate(case.truth) for item, rating in row or []]
    scored = [(u, item, score) for u, row in enumerate(case.predictions) for item, score in row or []]
    columns = ["query_id", "item_id", "rating"]
    frames = DataFrame(scored, columns=columns), DataFrame(interactions, columns=columns)
    dicts = (
        {u: row for u, row in enumerate(case.predictions) if row is not None},
        {u: [item for item, _ in row] for u, row in enumerate(case.truth) if row is not None},
    )
    outputs: dict[str, Output] = {}
    asked = [(metric, "", frames) for metric in NAMES] + [(metric, OF_DICTS, dicts) for metric in BY_DICTS]
    for metric, rules, data in asked:
        name = NAMES[metric]
        means = getattr(metrics, name)(case.cutoffs)(*data)
        users = getattr(metrics, name)(case.cutoffs, mode=metrics.PerUser())(*data)
        for k in case.cutoffs:
            of_users = users[f"{name}-PerUser@{k}"]
            outputs[f"{metric}@{k}{rules}"] = (
                means[f"{name}@{k}"],
                [of_users.get(u) for u in range(len(case.truth))],
            )
    return outputs
