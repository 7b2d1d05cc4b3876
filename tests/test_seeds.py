"""The worked examples of the documents that the project started from. Those of ratings are in test_ratings.py."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactk

SCORES = np.array([[0.10, 0.50, 0.30, 0.05, 0.08, 0.02]])  # ranked 1, 2, 0, 4, 3, 5


@pytest.mark.parametrize("convention", ["standard", "tensorflow"])
@pytest.mark.parametrize("predictions", [[[1, 2, 0, 4, 3, 5]], SCORES], ids=["list", "scores"])
@pytest.mark.parametrize(
    "labels",
    [[[0, 3]], np.array([[0, 3, -1]]), np.array([[True, False, False, True, False, False]])],
    ids=["list", "padded", "multi-hot"],
)
def test_labels_against_a_ranking(labels: Any, predictions: Any, convention: str) -> None:
    """TensorFlow's article: two labels, six ranked."""
    metrics = ["recall@[1,2,3,4,5]", "precision@[1,2,3,4,5]"]
    report = exactk.evaluate(labels, predictions, metrics, convention=convention)
    assert [report[f"recall@{k}"] for k in range(1, 6)] == [0, 0, 0.5, 0.5, 1]
    assert [report[f"precision@{k}"] for k in range(1, 6)] == [0, 0, 1 / 3, 1 / 4, 2 / 5]


def test_a_batch_whose_labels_are_repeated() -> None:
    """Recall counts 3 + 1 + 2 labels; average precision is the article's 0.4907."""
    labels = [[1, 0, 4], [0, 0, 0], [0, 2, 2]]
    ranked = [[1, 2, 0, 4, 3, 5], [0, 1, 2, 3, 4, 5], [1, 0, 3, 2, 4, 5]]
    metrics = ["recall@4", "precision@4", "average_precision@4"]
    report = exactk.evaluate(labels, ranked, metrics, convention="tensorflow")
    assert report["recall@4"] == 6 / 6
    assert report["precision@4"] == 6 / 12
    assert round(report["average_precision@4"], 4) == 0.4907


@pytest.mark.parametrize(
    ("relevant", "recommended", "common", "precision", "recall"),
    [
        (300, 300, 200, Fraction(2, 3), Fraction(2, 3)),
        (250, 300, 200, Fraction(2, 3), Fraction(4, 5)),
        (300, 180, 160, Fraction(8, 9), Fraction(8, 15)),
        (0, 300, 0, Fraction(0), Fraction(1)),
        (300, 0, 0, Fraction(1), Fraction(0)),
    ],
)
def test_brute_force_against_an_index(
    relevant: int, recommended: int, common: int, precision: Fraction, recall: Fraction
) -> None:
    truth = np.arange(relevant)
    ranking = np.concatenate([truth[:common], np.arange(10_000, 10_000 + recommended - common)])
    report = exactk.evaluate([truth], [ranking], ["precision@300", "recall@300"], convention="brute_force_hnsw")
    assert report["precision@300"] == float(precision)
    assert report["recall@300"] == float(recall)
