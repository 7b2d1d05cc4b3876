"""sklearn: its ranking metrics of a user's row of scores, and the mean of them."""

from __future__ import annotations

import warnings
from statistics import fmean
from typing import TYPE_CHECKING

from golden.cases import BOTH_SIDES, NO_RANKS, ONE_SIDE, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "scikit-learn"
MODULE = "sklearn"
REQUIREMENTS = ("scikit-learn==1.9.1",)
SOURCE = ""
INPUT = "scores"
MIN_SCORE = None
KNOBS = Knobs(
    grades=(0, 0.5, 1, 2, 3),
    empty_list=False,
    short_list=False,
    full_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {
    "negative grade": "ndcg_score refuses them",
    "score of -inf": "it refuses them",
    "gap in ranks": NO_RANKS,
} | dict.fromkeys(ONE_SIDE, BOTH_SIDES)
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

# Their mean over the users is the library's; of the others it is taken here.
OF_ALL_USERS = {
    "ndcg@k": "ndcg_score",
    "ndcg": "ndcg_score",
    "dcg@k": "dcg_score",
    "dcg": "dcg_score",
    "average_precision(empty_truth=one)": "label_ranking_average_precision_score",
}
OF_ONE_USER = {"average_precision": "average_precision_score", "auc": "roc_auc_score"}
OF_ONE_LABEL = {"hit_rate@k": "top_k_accuracy_score"}  # where every user has one relevant item
CALLS = OF_ALL_USERS | OF_ONE_USER | OF_ONE_LABEL


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate the matrix, and each of its rows."""
    from sklearn import metrics

    warnings.simplefilter("ignore")  # of a user without a relevant item, or with no other
    labels = [dict(row or []) for row in case.truth]
    grades = [[float(user_labels.get(item, 0)) for item in range(case.items)] for user_labels in labels]
    binary = [[int(grade > 0) for grade in row] for row in grades]
    scores = [[score for _, score in sorted(row or [])] for row in case.predictions]

    outputs: dict[str, Output] = {}
    users: list[float | None]
    for metric, name in OF_ALL_USERS.items():
        function = getattr(metrics, name)
        targets = binary if metric.startswith("average") else grades
        for k in case.cutoffs if "@k" in metric else [None]:
            arguments = {} if k is None else {"k": k}
            users = [
                float(function([row], [user_scores], **arguments))
                for row, user_scores in zip(targets, scores, strict=True)
            ]
            outputs[metric.replace("@k", f"@{k}")] = (float(function(targets, scores, **arguments)), users)
    for metric, name in OF_ONE_USER.items():
        function = getattr(metrics, name)
        values = [float(function(row, user_scores)) for row, user_scores in zip(binary, scores, strict=True)]
        outputs[metric] = (fmean(values), [*values])
    if all(sum(row) == 1 for row in binary):
        relevant = [row.index(1) for row in binary]
        for k in case.cutoffs:
            users = [
                float(metrics.top_k_accuracy_score([item], [user_scores], k=k, labels=range(case.items)))
                for item, user_scores in zip(relevant, scores, strict=True)
            ]
            mean = metrics.top_k_accuracy_score(relevant, scores, k=k, labels=range(case.items))
            outputs[f"hit_rate@{k}"] = (float(mean), users)
    return outputs
