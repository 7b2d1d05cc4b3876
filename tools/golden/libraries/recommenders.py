"""Microsoft's recommenders: frames of ratings and of predictions, a function a metric, which returns the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import NO_RANKS, Case, Knobs, Pairs, has_negative_grade

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "recommenders"
MODULE = "recommenders"
REQUIREMENTS = ("recommenders==1.2.1",)
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
# A user without a row is not in a frame. Every row of the truth is relevant, one rated 0 as well.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_truth=False,
    empty_list=False,
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
    unknown_truth=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS}
HITLESS = " where a user has no hit"
DIFFERS = {
    "r_precision" + HITLESS: "The mean leaves out the users without a hit among their first |T|, unless none has a hit."
}
TOLERANCE = 1e-12

AT_CUTOFF: dict[str, tuple[str, dict[str, Any]]] = {
    "precision@{k}": ("precision_at_k", {}),
    "recall@{k}": ("recall_at_k", {}),
    "average_precision@{k}": ("map_at_k", {}),
    "average_precision@{k}(ap_over=relevant)": ("map", {}),
    "ndcg@{k}": ("ndcg_at_k", {}),
    "ndcg@{k}(gain=linear)": ("ndcg_at_k", {"score_type": "raw", "discfun_type": "log2"}),
    "ndcg@{k}(gain=exp2)": ("ndcg_at_k", {"score_type": "exp"}),
    "r_precision@{k}": ("r_precision_at_k", {}),
}
UNCUT = {"recall": "recall_at_k", "average_precision(ap_over=relevant)": "map"}
CALLS = {
    metric.format(k="k"): f"{name}({', '.join(['k=k', *(f'{key}={value!r}' for key, value in options.items())])})"
    for metric, (name, options) in AT_CUTOFF.items()
} | {metric: f"{name}(relevancy_method=None)" for metric, name in UNCUT.items()}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by the functions, and by them for one user alone."""
    from pandas import DataFrame
    from recommenders.evaluation import python_evaluation

    def frame(rows: list[Pairs | None], users: range, value: str) -> DataFrame:
        pairs = [(u, item, number) for u in users for item, number in rows[u] or []]
        return DataFrame(pairs, columns=["userID", "itemID", value]).astype({"userID": "int64", "itemID": "int64"})

    def said(name: str, options: dict[str, Any]) -> Output:
        lists = case.predictions
        if "relevancy_method" in options:  # for lists that are in order
            lists = [None if row is None else sorted(row, key=lambda pair: -pair[1]) for row in lists]

        def asked(users: range) -> float:
            truth, predictions = frame(case.truth, users, "rating"), frame(lists, users, "prediction")
            return float(getattr(python_evaluation, name)(truth, predictions, **options))

        def has_value(u: int) -> bool:
            truth = case.truth[u]
            if truth is None or (lists[u] is None and name != "ndcg_at_k"):
                return False
            # Of rows that are all rated 0, nDCG is 0 / 0, which the mean leaves out; but 0 where nobody has a hit.
            return "score_type" not in options or any(rating for _, rating in truth)

        everybody = range(len(case.truth))
        users = [asked(range(u, u + 1)) if has_value(u) else None for u in everybody]
        return asked(everybody) if any(map(has_value, everybody)) else None, users

    outputs = {metric: said(name, {"relevancy_method": None}) for metric, name in UNCUT.items()}
    for k in case.cutoffs:
        outputs |= {
            metric.format(k=k): said(name, {"k": k, **options})
            for metric, (name, options) in AT_CUTOFF.items()
            if not (has_negative_grade(case) and "score_type" in options)
        }
        precisions = outputs[f"r_precision@{k}"][1] or []
        if any(value is not None and not float(value) > 0 for value in precisions):  # NaN or 0
            outputs[f"r_precision@{k}" + HITLESS] = outputs.pop(f"r_precision@{k}")
    return outputs
