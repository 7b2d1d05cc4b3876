"""LensKit: lists and test items by user, a run analysed, its summary filled with 0 where a list has no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import LISTS, SCORES, Case, Knobs, has_negative_grade

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from golden.record import Output

DISTRIBUTION = "lenskit"
MODULE = "lenskit"
REQUIREMENTS = ("lenskit==2025.8.1",)
SOURCE = ""
INPUT = "rankings"
MIN_SCORE = None
# A test item is relevant whatever its rating, and a list is asked about when it was given.
KNOBS = Knobs(grades=(-1, 0, 0.5, 1, 2, 3), missing_truth=True, missing_list=True, unknown_truth=True)
NOT_DRAWN = dict.fromkeys(SCORES, LISTS) | {"gap in ranks": "it cuts a list by position, and discounts by rank"}
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-12

# exactk's metric, its rules, the call
FILLED = (
    ("precision", "", "Precision(k)"),
    ("recall", "", "Recall(k)"),
    ("ndcg", "", "NDCG(k)"),
    ("ndcg", "(gain=linear)", "NDCG(k, gain='rating')"),
    ("ndcg", "(discount=log2)", "NDCG(k, weight=LogRankWeight(offset=1))"),
    ("dcg", "", "DCG(k)"),
    ("reciprocal_rank", "", "RecipRank(k)"),
    ("hit_rate", "", "Hit(k)"),
    ("rbp", "(p=0.85)", "RBP(k)"),
)
UNFILLED = (
    ("precision", "(undefined=nan)", "Precision(k)"),
    ("recall", "(undefined=nan)", "Recall(k)"),
    ("ndcg", "(undefined=nan)", "NDCG(k)"),
    ("hit_rate", "(empty_truth=skip)", "Hit(k)"),
)
ALONE = (("average_precision", "", "AveragePrecision(k)"),)  # which refuses a list without test items
CALLS = {f"{metric}@k{rules}": call for metric, rules, call in (*FILLED, *ALONE)} | {
    f"{metric}@k{rules}": f"{call} in list_metrics(fill_missing=False)" for metric, rules, call in UNFILLED
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by RunAnalysis, at the deepest cutoff and without one."""
    from lenskit.data import ItemList, ItemListCollection

    outputs = ItemListCollection(["user"])
    test = ItemListCollection(["user"])
    for user, (judged, row) in enumerate(zip(case.truth, case.predictions, strict=True)):
        if row is not None:
            outputs.add(ItemList([item for item, _ in row], ordered=True), user=user)
        if judged is not None or not row:  # who is in neither is no user
            grades = [float(grade) for _, grade in judged or []]
            test.add(ItemList([item for item, _ in judged or []], rating=grades), user=user)
    answers: dict[str, Output] = {}
    for k in (max(case.cutoffs), None):
        at = "" if k is None else f"@{k}"
        asked = [one for one in FILLED if not (has_negative_grade(case) and "linear" in one[1])]
        filled = _analysed(asked, k, outputs, test)
        unfilled = _analysed(UNFILLED, k, outputs, test)
        means, users = filled.list_summary()["mean"], filled.list_metrics()
        for metric, rules, call in asked:
            answers[f"{metric}{at}{rules}"] = (means[call], _listed(users[call], case))
        for metric, rules, call in UNFILLED if k else ():
            answers[f"{metric}{at}{rules}"] = (None, _listed(unfilled.list_metrics(fill_missing=False)[call], case))
        for metric, rules, call in ALONE:
            try:
                align_scores = _analysed(ALONE, k, outputs, test)
            except ZeroDivisionError as error:
                answers[f"{metric}{at}{rules}"] = repr(error)
            else:
                means, users = align_scores.list_summary()["mean"], align_scores.list_metrics()
                answers[f"{metric}{at}{rules}"] = (means[call], _listed(users[call], case))
    return answers


def _analysed(asked: Iterable[tuple[str, str, str]], k: int | None, outputs: Any, test: Any) -> Any:
    """Return the analysis of the run, labelled by the calls."""
    from lenskit.metrics import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision, LogRankWeight

    made = {
        "Precision(k)": Precision(k),
        "Recall(k)": Recall(k),
        "NDCG(k)": NDCG(k),
        "NDCG(k, gain='rating')": NDCG(k, gain="rating"),
        "NDCG(k, weight=LogRankWeight(offset=1))": NDCG(k, weight=LogRankWeight(offset=1)),
        "DCG(k)": DCG(k),
        "RecipRank(k)": RecipRank(k),
        "Hit(k)": Hit(k),
        "RBP(k)": RBP(k),
        "AveragePrecision(k)": AveragePrecision(k),
    }
    analysis = RunAnalysis()
    for _, _, call in asked:
        analysis.add_metric(made[call], label=call)
    return analysis.measure(outputs, test)


def _listed(column: Any, case: Case) -> list[float | None]:
    """Return the values of all users; None for those without a list."""
    return [float(column[user]) if user in column.index else None for user in range(len(case.truth))]
