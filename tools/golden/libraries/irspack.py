"""irspack: an Evaluator of a matrix of scores, in which -inf is no item, and a function of frames of lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from golden.cases import NO_RANKS, Case, Knobs, Pairs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "irspack"
MODULE = "irspack"
REQUIREMENTS = ("irspack==0.5.2",)
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
# The truth is a sparse matrix, of which every stored entry is relevant, a zero as well.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS}
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

NAMES = {
    "precision": "precision",
    "recall": "recall",
    "average_precision": "map",
    "ndcg": "ndcg",
    "hit_rate": "hit",
}
OF_FRAMES = "(users=both,empty_list=skip)"
CALLS = {f"{metric}@k": f"Evaluator.get_scores_from_score_matrix {name}@k" for metric, name in NAMES.items()} | {
    metric + OF_FRAMES: f"evaluate_recommendation_df {name}" for metric, name in NAMES.items()
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by both."""
    return by_scores(case, recall_with_cutoff=False) | _by_frames(case)


def by_scores(case: Case, *, recall_with_cutoff: bool) -> dict[str, Output]:
    """Evaluate by an Evaluator, and by one of each user."""
    import numpy as np
    from irspack.evaluation import Evaluator
    from scipy.sparse import csr_matrix

    shape = (len(case.truth), case.items)
    entries = [(u, item, grade) for u, row in enumerate(case.truth) for item, grade in row or []]
    rows, columns, grades = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    truth = csr_matrix((grades, (rows.astype(np.int64), columns.astype(np.int64))), shape=shape)
    scores = np.full(shape, -np.inf)
    for u, row in enumerate(case.predictions):
        for item, score in row or []:
            scores[u, item] = score

    def asked(users: slice) -> dict[str, float]:
        evaluator = Evaluator(truth[users], recall_with_cutoff=recall_with_cutoff, n_threads=1)
        found: dict[str, float] = evaluator.get_scores_from_score_matrix(scores[users], case.cutoffs)
        return found

    mean = asked(slice(None))
    users = [asked(slice(u, u + 1)) if row else None for u, row in enumerate(case.truth)]
    return {
        f"{metric}@{k}": (mean[f"{name}@{k}"], [None if values is None else values[f"{name}@{k}"] for values in users])
        for metric, name in NAMES.items()
        for k in case.cutoffs
    }


def _by_frames(case: Case) -> dict[str, Output]:
    """Evaluate by evaluate_recommendation_df, which takes whole lists, and the users who are in both frames."""
    from irspack.evaluation.evaluate_df_to_df import evaluate_recommendation_df
    from pandas import DataFrame

    def frame(lists: list[Pairs | None], users: range) -> DataFrame:
        pairs = [(u, item) for u in users for item, _ in lists[u] or []]
        return DataFrame(pairs, columns=["user", "item"], dtype="int64")

    # An item of score -inf is not recommended.
    recommended = [None if row is None else [pair for pair in row if pair[1] > -math.inf] for row in case.predictions]
    ranked = [None if row is None else sorted(row, key=lambda pair: (-pair[1], pair[0])) for row in recommended]

    def asked(users: range) -> dict[str, float]:
        lists, truth = frame(ranked, users), frame(case.truth, users)
        found: dict[str, float] = evaluate_recommendation_df(lists, truth, "user", "item", n_threads=1)
        return found

    everybody = range(len(case.truth))
    mean = asked(everybody)
    users = [asked(range(u, u + 1)) if ranked[u] and case.truth[u] else None for u in everybody]
    return {
        metric + OF_FRAMES: (mean[name], [None if values is None else values[name] for values in users])
        for metric, name in NAMES.items()
    }
