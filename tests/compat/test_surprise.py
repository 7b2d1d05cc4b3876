"""`precision_recall_at_k` against what Surprise's example returned, and the article's variant likewise."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from exactk.compat import surprise
from golden.cases import Case
from golden.libraries._surprise import MIN_SCORE, RATINGS, UNKNOWN
from golden.record import read_recording

FUNCTIONS = {"surprise": surprise.precision_recall_at_k, "surprise_article": surprise.precision_recall_at_k_article}


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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_predictions_are_no_users(name: str) -> None:
    assert FUNCTIONS[name]([]) == ({}, {})


def test_an_estimate_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        surprise.precision_recall_at_k([("ann", 1, 4.0, math.nan, None)])


@pytest.mark.parametrize("name", ["rmse", "mse", "mae", "fcp"])
def test_predictions_may_come_from_an_iterator(name: str) -> None:
    predictions: list[tuple[Any, ...]] = [("ann", 1, 4.0, 3.0, {}), ("ann", 2, 3.0, 3.5, {}), ("bob", 1, 2.0, 2.5, {})]
    function = getattr(surprise, name)
    assert function(iter(predictions), verbose=False) == function(predictions, verbose=False)


def test_pairs_of_a_user_are_counted_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_from = random.Random(0)  # noqa: S311 - no secrets
    predictions = [("ann", item, draw_from.randrange(5), draw_from.randrange(5), None) for item in range(50)]
    expected = surprise.fcp(predictions, verbose=False)
    for cells in (1, 50, 170):
        monkeypatch.setattr(surprise, "_CELLS", cells)
        assert surprise.fcp(predictions, verbose=False) == expected
