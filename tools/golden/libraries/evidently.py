"""Evidently: a frame of scored rows with what is known of them; what is in no row is unknown to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import ONE_SIDE, Case, Knobs, has_negative_grade

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "evidently"
MODULE = "evidently"
REQUIREMENTS = ("evidently==0.7.23", "pandas<3")
SOURCE = ""
INPUT = "rankings"
MIN_SCORE = None
# A user is who has a row. Ties share a rank that is rounded down, so that more than k are the first k, and
# rows that are not sorted are ranked right but the k-th row is taken for the k-th item: such input has no definition.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3), empty_list=False, close_scores=True, infinite_scores=True, listed_truth=True
)
NOT_DRAWN = {"gap in ranks": "it is given scores, which it ranks"} | dict.fromkeys(
    ONE_SIDE, "a row has an item, its score and its grade"
)
COUNTED_AGAIN = " where a list is shorter than k and ends with a hit"
DIFFERS = {
    metric
    + COUNTED_AGAIN: "The last hit of a short list is counted again at each missing rank, and the value may exceed 1."
    for metric in ("average_precision", "average_recall")
}
TOLERANCE = 1e-12

COUNTED = {"no_feedback_users": True}
# exactk's metric, its rules, the class, its options
ASKED: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("precision", "", "PrecisionTopKMetric", {}),
    ("precision", "(empty_truth=compute)", "PrecisionTopKMetric", COUNTED),
    ("precision", "(min_grade=2)", "PrecisionTopKMetric", {"min_rel_score": 2}),
    ("recall", "", "RecallTopKMetric", {}),
    ("recall", "(empty_truth=compute)", "RecallTopKMetric", COUNTED),
    ("f1", "", "FBetaTopKMetric", {}),
    ("fbeta", "(beta=2)", "FBetaTopKMetric", {"beta": 2.0}),
    ("average_precision", "", "MAPKMetric", {}),
    ("average_precision", "(empty_truth=compute)", "MAPKMetric", COUNTED),
    ("average_recall", "", "MARKMetric", {}),
    ("ndcg", "", "NDCGKMetric", {}),
    ("ndcg", "(empty_truth=compute)", "NDCGKMetric", COUNTED),
    ("ndcg", "(gain=binary,min_grade=2)", "NDCGKMetric", {"min_rel_score": 2}),
    ("reciprocal_rank", "", "MRRKMetric", {}),
    ("hit_rate", "", "HitRateKMetric", {}),
    ("hit_rate", "(empty_truth=compute)", "HitRateKMetric", COUNTED),
)
CALLS = {f"{metric}@k{rules}": f"{name}(k, {options})" for metric, rules, name, options in ASKED}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by a report, whose values are means."""
    import pandas as pd
    from evidently.legacy import metrics as library
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    grades = [dict(row or []) for row in case.truth]
    rows = [
        (user, item, score, float(grades[user].get(item, 0)))
        for user, row in enumerate(case.predictions)
        for item, score in row or []
    ]
    asked = {
        f"{metric}@{k}{rules}{_where(case, k, metric, options)}": getattr(library, name)(k=k, **options)
        for metric, rules, name, options in ASKED
        for k in case.cutoffs
        if not (has_negative_grade(case) and metric == "ndcg" and "binary" not in rules)
        and max((len(row) for row in _counted(case, options)), default=0) >= k
    }
    report = Report(metrics=list(asked.values()))
    report.run(
        reference_data=None,
        current_data=pd.DataFrame(rows, columns=["user", "item", "prediction", "target"]),
        column_mapping=ColumnMapping(
            user_id="user", item_id="item", prediction="prediction", target="target", recommendations_type="score"
        ),
    )
    # The series begin with the first cutoff, whether their index does with 0 or 1.
    return {metric: (float(one.get_result().current.iloc[one.k - 1]), None) for metric, one in asked.items()}


def _relevant(case: Case, options: dict[str, Any]) -> list[set[int]]:
    return [{item for item, grade in row or [] if grade >= options.get("min_rel_score", 1)} for row in case.truth]


def _counted(case: Case, options: dict[str, Any]) -> list[list[int]]:
    """Return the lists of the users who are in the mean. One of them must reach the cutoff."""
    lists = [[item for item, _ in row or []] for row in case.predictions]
    return [
        row for row, relevant in zip(lists, _relevant(case, options), strict=True) if relevant or options == COUNTED
    ]


def _where(case: Case, k: int, metric: str, options: dict[str, Any]) -> str:
    again = any(
        row and len(row) < k and row[-1][0] in relevant
        for row, relevant in zip(case.predictions, _relevant(case, options), strict=True)
    )
    return COUNTED_AGAIN if again and metric in {"average_precision", "average_recall"} else ""
