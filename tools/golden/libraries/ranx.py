"""ranx: Qrels and Run, queries made comparable, the values of each query kept in the Run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.cases import INTEGERS, NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "ranx"
MODULE = "ranx"
REQUIREMENTS = ("ranx==0.3.21",)
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
KNOBS = Knobs(
    grades=(-1, 0, 1, 2, 3),
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,  # of at most 15 items: beyond, the order of a tie is that of an unstable sort
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {"fractional grade": INTEGERS, "gap in ranks": NO_RANKS}
DIFFERS = {
    "bpref": "It divides 0 by 0 if a user found something of whom nothing is judged non-relevant, and misses some hits.",
}
TOLERANCE = 1e-12

CALLS = {
    "precision@k": "precision@k",
    "recall@k": "recall@k",
    "f1@k": "f1@k",
    "hit_rate@k": "hit_rate@k",
    "average_precision@k": "map@k",
    "ndcg@k": "ndcg@k",
    "ndcg@k(gain=exp2)": "ndcg_burges@k",
    "ndcg@k(min_grade=2)": "ndcg@k-l2",
    "reciprocal_rank@k": "mrr@k",
    "precision": "precision",
    "average_precision": "map",
    "ndcg": "ndcg",
    "dcg": "dcg",
    "dcg(gain=exp2)": "dcg_burges",
    "r_precision": "r-precision",
    "bpref": "bpref",
    "rbp(p=0.8)": "rbp.8",
    "num_hits": "hits",
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by ranx.evaluate."""
    from ranx import Qrels, Run, evaluate

    users = [f"u{user}" for user in range(len(case.truth))]
    truth = zip(users, case.truth, strict=True)
    lists = zip(users, case.predictions, strict=True)
    qrels = Qrels({user: {f"d{i:03}": int(grade) for i, grade in row} for user, row in truth if row is not None})
    run = Run({user: {f"d{i:03}": score for i, score in row} for user, row in lists if row is not None})
    asked = {
        metric.replace("@k", f"@{k}"): call.replace("@k", f"@{k}")
        for metric, call in CALLS.items()
        for k in case.cutoffs
    }
    means = evaluate(qrels, run, list(asked.values()), make_comparable=True)
    return {metric: (means[call], [run.scores[call].get(user) for user in users]) for metric, call in asked.items()}
