"""`precision_recall_at_k` against what Surprise's example returned, and the article's variant likewise."""

from __future__ import annotations

import math
from typing import Any

import pytest

from exactk.compat import surprise
from golden.cases import Case
from golden.libraries._surprise import MIN_SCORE, RATINGS, UNKNOWN
from golden.record import read_recording

FUNCTIONS = {
    "surprise": surprise.precision_recall_at_k,
    "surprise_article": surprise.precision_recall_at_k_article,
}


def predictions_of(case: Case) -> list[tuple[Any, ...]]:
    """Return the rows that the example was given."""
    ratings = [{item: RATINGS.get(grade, grade) for item, grade in row or []} for row in case.truth]
    return [
        (user, item // 2, ratings[user].get(item, UNKNOWN), score, {})
        for user, row in enumerate(case.predictions)
        for item, score in row or []
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_recorded_examples_are_answered_alike(name: str) -> None:
    compared = 0
    for data in read_recording(name)["cases"]:
        case = Case.from_dict(data)
        for metric, (_, recorded) in data["outputs"].items():
            kind, k = metric.split("@")
            found = FUNCTIONS[name](predictions_of(case), k=int(k), threshold=MIN_SCORE)[kind == "recall"]
            assert [found.get(user) for user in range(len(case.truth))] == recorded
            compared += 1
    assert compared > 300


def test_an_estimate_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        surprise.precision_recall_at_k([("ann", 1, 4.0, math.nan, None)])
