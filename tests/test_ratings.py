from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk

NAN = math.nan
# The worked example: item 2 stands twice, and the last two rows have no actual rating.
ITEMS = [7, 5, 10, 2, 2, 1, 11, 12]
ACTUAL = [2, 5, 4, 2, 3, 4, NAN, NAN]
PREDICTED = [4.9, 4.5, 4.3, 3.6, 3.4, 2.3, 5.0, NAN]


def evaluate_ratings(convention: str, *metrics: str, **options: Any) -> list[float]:
    truth, predictions = exactk.from_ratings(["ann"] * len(ITEMS), ITEMS, ACTUAL, PREDICTED, **options)
    report = exactk.evaluate(truth, predictions, metrics, convention=convention)
    return [report[metric] for metric in report]


def test_the_worked_example() -> None:
    assert evaluate_ratings("surprise_article", "precision@3", "recall@3") == [2 / 3, 2 / 3]
    assert evaluate_ratings("surprise", "precision@3", "recall@3") == [2 / 3, 2 / 3]


def test_thresholds_of_their_own() -> None:
    """From 3 on, 5, 10, 2 (the second time) and 1 are relevant; from 4.4 on, 7 and 5 are recommended."""
    assert evaluate_ratings("surprise", "P@6", "R@6", threshold=3, predicted_threshold=4.4) == [1 / 2, 1 / 4]


@pytest.mark.parametrize(("convention", "value"), [("surprise", 0.0), ("surprise_article", 1.0)])
def test_limits(convention: str, value: float) -> None:
    """One user is recommended nothing, and the other has nothing relevant."""
    truth, predictions = exactk.from_ratings([1, 1, 2, 2], [1, 2, 1, 2], [5, 4, 1, 2], [1, 2, 5, 4])
    report = exactk.evaluate(truth, predictions, ["P@2", "R@2"], convention=convention, per_user=True)
    assert report.per_user["P@2"].tolist() == [value, 0]
    assert report.per_user["R@2"].tolist() == [0, value]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_of_frames(frame: Any) -> None:
    columns: list[Any] = [["b", "a", "b", "c"], [1, 2, 3, 4], [5.0, 4.0, 2.0, NAN], [5.0, 4.0, 5.0, 5.0]]
    table = frame(dict(zip("uiap", columns, strict=True)))
    report, expected = (
        exactk.evaluate(*exactk.from_ratings(*given), "P@2", convention="surprise", per_user=True)
        for given in ((table[name] for name in "uiap"), columns)
    )
    assert report == expected
    assert report.users.tolist() == ["a", "b"]


def test_unknown_rows_are_left_out_and_counted() -> None:
    truth, predictions = exactk.from_ratings(["b", "a", "b", "c"], [1, 2, 3, 4], [5, 4, NAN, NAN], [5, 4, 5, 5])
    report = exactk.evaluate(truth, predictions, "P@1", convention="surprise")
    assert report.counts["unknown_actual"] == 2
    assert report.users.tolist() == ["a", "b"]
    assert "2 rows without an actual rating" in repr(report)
    assert exactk.merge([report.state, report.state]).counts["unknown_actual"] == 4
    again = exactk.evaluate(pickle.loads(pickle.dumps(truth)), predictions, "P@1", convention="surprise")  # noqa: S301
    assert again == report


def test_equal_predictions_keep_the_order_of_the_rows() -> None:
    truth, predictions = exactk.from_ratings([1, 1, 1], [9, 8, 7], [5, 1, 1], [4, 4, 4])
    assert exactk.evaluate(truth, predictions, "P@1", convention="surprise")["P@1"] == 1


def test_rows_of_users_may_be_mixed() -> None:
    source = np.random.default_rng(5)
    users = source.integers(0, 9, 200)
    actual, predicted = source.integers(1, 11, 200) / 2, source.integers(1, 101, 200) / 20
    truth, predictions = exactk.from_ratings(users, np.arange(200), actual, predicted)
    report = exactk.evaluate(truth, predictions, ["P@5", "R@5"], convention="surprise", per_user=True)
    for row, user in enumerate(report.users):
        rows = [i for i in np.argsort(-predicted, kind="stable") if users[i] == user]
        recommended = [i for i in rows[:5] if predicted[i] >= 3.5]
        hits = sum(actual[i] >= 3.5 for i in recommended)
        assert report.per_user["P@5"][row] == (hits / len(recommended) if recommended else 0)
        assert report.per_user["R@5"][row] == hits / max(1, sum(actual[i] >= 3.5 for i in rows))


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (([1, 2], [1], [1, 2], [1, 2]), "items"), (([1], [1], [1, 2], [1]), "actual"),
        (([1], [1], [1], []), "predicted"), (([1.5], [1], [1], [1]), "users"), (([1], [None], [1], [1]), "items"),
        (([1], [1], ["5"], [1]), "actual"), (([1], [1], [1], [[1]]), "predicted"),
    ],
)  # fmt: skip
def test_columns_that_are_none(arguments: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(exactk.ExactkError, match=f"^{argument}"):
        exactk.from_ratings(*arguments)


@pytest.mark.parametrize("option", ["threshold", "predicted_threshold"])
@pytest.mark.parametrize("number", [NAN, "3.5", True])
def test_thresholds_that_are_none(option: str, number: Any) -> None:
    with pytest.raises(exactk.ExactkError, match=f"^{option}: "):
        exactk.from_ratings([1], [1], [1], [1], **{option: number})


def test_a_prediction_that_is_nan_is_refused_where_it_is_ranked() -> None:
    truth, predictions = exactk.from_ratings([1, 2], [1, 1], [4, 4], [4, NAN])
    with pytest.raises(exactk.InputError, match=r"NaN at row 1 of the ratings; .* \(user 2\)"):
        exactk.evaluate(truth, predictions, "P@1", convention="surprise")


@pytest.mark.parametrize("columns", [pa.array, lambda values: pa.chunked_array([values])])
def test_columns_of_arrow_are_read(columns: Callable[[list[Any]], Any]) -> None:
    rows: tuple[list[Any], ...] = (["a", "a", "b"], ["x", "y", "x"], [5.0, None, 4.0], [4.0, 3.5, 2.0])
    truth, predictions = exactk.from_ratings(*[columns(row) for row in rows])
    expected = exactk.from_ratings(rows[0], rows[1], [5.0, NAN, 4.0], rows[3])
    assert exactk.evaluate(truth, predictions, "P@1") == exactk.evaluate(*expected, "P@1")
