"""torchmetrics: the functions of its retrieval module for a user, its classes for the mean over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import NO_RANKS, Case, Knobs, has_negative_grade

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "torchmetrics"
MODULE = "torchmetrics"
REQUIREMENTS = ("torchmetrics==1.9.0", "torch==2.13.0")
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = 2**-149  # the least positive float32: what is scored 0 or less is no hit
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_list=False,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
    apart=True,
    listed_truth=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS, "user without truth": "every item of a list has a target"}
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-6  # it computes in float32

# By metric: the function, the class and their arguments.
POSITIVE_SCORES_HIT = {
    "precision@k": ("precision", "Precision"),
    "recall@k": ("recall", "Recall"),
    "average_precision@k": ("average_precision", "MAP"),
    "reciprocal_rank@k": ("reciprocal_rank", "MRR"),
    "recall": ("recall", "Recall"),
    "average_precision": ("average_precision", "MAP"),
    "reciprocal_rank": ("reciprocal_rank", "MRR"),
}
# These see what is scored 0 or less, or count it in the list.
EVERY_SCORE_COUNTS = {
    "precision": ("precision", "Precision"),
    "precision@k(precision_over=list)": ("precision", "Precision"),
    "hit_rate@k": ("hit_rate", "HitRate"),
    "r_precision": ("r_precision", "RPrecision"),
}
# These are defined where scores are equal; what the others say is left to torch.topk.
TIED = {
    "ndcg@k": ("normalized_dcg", "NormalizedDCG"),
    "ndcg": ("normalized_dcg", "NormalizedDCG"),
    "auc": ("auroc", "AUROC"),
}
EMPTY_TARGETS = {"skip": "skip", "one": "pos"}  # by exactk's empty_truth; "zero" is the default of both
CALLS = {
    metric: f"retrieval_{function}, Retrieval{name}"
    for metric, (function, name) in (POSITIVE_SCORES_HIT | EVERY_SCORE_COUNTS | TIED).items()
} | {f"recall(empty_truth={empty})": f"RetrievalRecall({action!r})" for empty, action in EMPTY_TARGETS.items()}


def asked_of(preds: list[Any]) -> dict[str, tuple[str, str]]:
    """Return what can be asked about lists of these scores."""
    strict = all(len(row.unique()) == len(row) for row in preds)
    positive = all((row > 0).all() for row in preds)
    return (
        (POSITIVE_SCORES_HIT if strict else {})
        | (EVERY_SCORE_COUNTS if strict and positive else {})
        | (TIED if positive else {})
    )


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate who has a list."""
    import torch
    from torchmetrics import functional, retrieval

    users = [user for user, row in enumerate(case.predictions) if row is not None]
    rows = [case.predictions[user] or [] for user in users]
    grades = [dict(case.truth[user] or []) for user in users]
    preds = [torch.tensor([score for _, score in row], dtype=torch.float32) for row in rows]
    graded = [
        torch.tensor([float(user_grades.get(item, 0)) for item, _ in row])
        for user_grades, row in zip(grades, rows, strict=True)
    ]
    indexes = torch.tensor([user for user, row in enumerate(rows) for _ in row])

    outputs: dict[str, Output] = {}
    for metric, (function, name) in asked_of(preds).items():
        if metric.startswith("ndcg") and has_negative_grade(case):
            continue
        targets = graded if metric.startswith("ndcg") else [(row > 0).long() for row in graded]
        for k in case.cutoffs if "@k" in metric else [None]:
            arguments: dict[str, Any] = ({} if k is None else {"top_k": k}) | (
                {"adaptive_k": True} if "over=list" in metric else {}
            )
            measure = getattr(functional.retrieval, f"retrieval_{function}")
            values: list[float | None] = [None] * len(case.truth)
            for user, *pair in zip(users, preds, targets, strict=True):
                values[user] = float(measure(*pair, **arguments))
            whole = getattr(retrieval, f"Retrieval{name}")(**arguments)
            mean = whole(torch.cat(preds), torch.cat(targets), indexes=indexes)
            outputs[metric.replace("@k", f"@{k}")] = (float(mean), values)
    if "recall" in outputs and any((target > 0).any() for target in graded):
        binary = (torch.cat(graded) > 0).long()
        for empty, action in EMPTY_TARGETS.items():
            mean = retrieval.RetrievalRecall(action)(torch.cat(preds), binary, indexes=indexes)
            outputs[f"recall(empty_truth={empty})"] = (float(mean), None)
    return outputs
