"""Surprise: an example that it ships, whose function is all that is taken of it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from golden.cases import NO_RANKS, ONE_SIDE, Case, Knobs
from golden.libraries._source import functions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

INPUT = "sparse scores"
MIN_SCORE = 0.5  # scores that are tied are from 0 to 1
# A row is a rating that is known beside its estimate: a user without one is no user.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_list=False,
    listed_truth=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
)
CALLS: Mapping[str, str] = {
    "precision@k": "precision_recall_at_k(rows, k, threshold=0.5)[0]",
    "recall@k": "precision_recall_at_k(rows, k, threshold=0.5)[1]",
}
NOT_DRAWN = {"gap in ranks": NO_RANKS} | dict.fromkeys(ONE_SIDE, "a row has an item, its estimate and its rating")
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-12

RATINGS: Mapping[float, float] = {0: 0.25}  # by grade; others are ratings
UNKNOWN = 0.0  # rating of what is not in the truth


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by the example. Two rows in a row have one item, of which it is no matter."""
    function = functions("examples/precision_recall_at_k.py", defaultdict=defaultdict)["precision_recall_at_k"]
    ratings = [{item: RATINGS.get(grade, grade) for item, grade in row or []} for row in case.truth]
    rows: list[tuple[int, int, float, float, dict[str, Any]]] = [
        (user, item // 2, ratings[user].get(item, UNKNOWN), score, {})
        for user, row in enumerate(case.predictions)
        for item, score in row or []
    ]
    outputs: dict[str, Output] = {}
    for k in case.cutoffs:
        for metric, found in zip(("precision", "recall"), function(rows, k=k, threshold=MIN_SCORE), strict=True):
            mean = sum(found.values()) / len(found)  # as the example prints it
            outputs[f"{metric}@{k}"] = (mean, [found.get(user) for user in range(len(case.truth))])
    return outputs
