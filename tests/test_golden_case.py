"""The golden case: five users on whom the libraries of the field disagree."""

from __future__ import annotations

from typing import Any

import pytest

import exactk
from rankings import rankings_of

K = 5
TRUTH = [[1, 4], [11, 12, 13, 101, 102, 103, 104, 105], [21], [5, 6], []]
PREDICTIONS = [[1, 2, 3, 4, 5], [1, 11, 12, 2, 13], [2, 21, 3], [], [1, 2, 3, 4, 5]]

NAN = float("nan")
# A column per metric string, a row per user; computed by hand, to six digits.
PER_USER: dict[str, list[float]] = {
    "num_hits@5": [2, 3, 1, 0, 0],
    "num_recommended@5": [5, 5, 3, 0, 5],
    "num_relevant@5": [2, 8, 1, 2, 0],
    "precision@5": [0.4, 0.6, 0.2, 0, 0],
    "precision@5(precision_over=list)": [0.4, 0.6, 0.333333, NAN, 0],
    "recall@5": [1, 0.375, 1, 0, NAN],
    "recall@5(recall_over=min_cutoff_relevant)": [1, 0.6, 1, 0, NAN],
    "average_precision@5(ap_over=relevant)": [0.75, 0.220833, 0.5, 0, NAN],
    "average_precision@5": [0.75, 0.353333, 0.5, 0, NAN],
    "average_precision@5(ap_over=hits)": [0.75, 0.588889, 0.5, 0, 0],
    "average_precision@5(ap_over=cutoff)": [0.3, 0.353333, 0.1, 0, 0],
    "dcg@5": [1.430677, 1.517783, 0.630930, 0, 0],
    "ndcg@5": [0.877215, 0.514771, 0.630930, 0, NAN],
    "ndcg@5(ideal_over=cutoff,gain=binary)": [0.485229, 0.514771, 0.213986, 0, 0],
    "ndcg@5(discount=log2_floored)": [0.75, 0.578842, 1, 0, NAN],
    "reciprocal_rank@5": [1, 0.5, 0.5, 0, 0],
    "f1@5": [0.571429, 0.461538, 0.333333, 0, 0],
}
# Every user is computed, and 0 / 0 shows as NaN.
BARE = exactk.conventions["standard"].replace(empty_truth="compute", undefined="nan")


@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
@pytest.mark.parametrize("metric", PER_USER)
def test_intermediates(metric: str, evaluate: Any) -> None:
    report = evaluate(TRUTH, PREDICTIONS, metric, convention=BARE, per_user=True)
    assert report.per_user[metric].tolist() == pytest.approx(PER_USER[metric], abs=1e-6, nan_ok=True)


STANDARD = {
    "precision@5": 0.3,
    "recall@5": 0.59375,
    "average_precision@5": 0.400833333,
    "ndcg@5": 0.505729,
    "reciprocal_rank@5": 0.5,
    "hit_rate@5": 0.75,
    "f1@5": 0.3416,
}
VALUES = {"standard": STANDARD, "capped": {**STANDARD, "recall@5": 0.65, "f1@5": (4 / 7 + 6 / 10 + 2 / 6 + 0) / 4}}


@pytest.mark.parametrize("convention", VALUES)
def test_values(convention: str) -> None:
    report = exactk.evaluate(TRUTH, PREDICTIONS, list(STANDARD), convention=convention)
    for metric, value in VALUES[convention].items():
        assert report[metric] == pytest.approx(value, abs=5e-5), metric


def test_means_over_the_users_with_lists() -> None:
    """Some libraries drop the user who got no list."""
    present = rankings_of([None if row == [] else row for row in PREDICTIONS])
    report = exactk.evaluate(
        TRUTH,
        present,
        ["P@5", "R@5", "AP@5", "AP@5(ap_over=relevant)", "nDCG@5"],
        convention=BARE.replace(users="both", empty_truth="skip"),
    )
    expected = [0.4, 0.791667, 0.534444, 0.490278, 0.674305]
    assert list(report.values()) == pytest.approx(expected, abs=1e-6)


def test_micro_averages() -> None:
    report = exactk.evaluate(
        TRUTH,
        PREDICTIONS,
        ["recall@5(average=micro)", "precision@5(average=micro,precision_over=min_cutoff_relevant)"],
    )
    assert list(report.values()) == [6 / 13, 6 / (2 + 5 + 1 + 2)]


def test_counts() -> None:
    counts = exactk.evaluate(TRUTH, PREDICTIONS, ["P@5"]).counts
    assert counts["users"] == 5
    assert counts["evaluated"] == {"P@5": 4}
    assert (counts["empty_truth"], counts["empty_predictions"]) == (1, 1)


RELEVANT = {"ann": ["a", "b", "x"], "bob": ["a"], "cy": ["x", "y", "z"], "dee": ["b", "q"]}
RANKED = {
    "ann": ["a", "x", "p", "b"],
    "bob": ["p", "a", "b", "q"],
    "cy": ["a", "y", "b", "x"],
    "dee": ["p", "a", "x", "q"],
}
OF_DISCOUNTS = {
    "log2": [0.765361, 0.630930, 0.296082, 0],
    "log,discount_base=10": [0.765361, 0.630930, 0.296082, 0],
    "log2_floored": [0.760188, 1, 0.380094, 0],
    "log_floored,discount_base=10": [2 / 3, 1, 1 / 3, 0],
    "none": [2 / 3, 1, 1 / 3, 0],
    "inverse": [9 / 11, 1 / 2, 3 / 11, 0],
    "power,discount_power=0.5": [0.747270, 0.707107, 0.309529, 0],
    "geometric,discount_persistence=0.5": [6 / 7, 1 / 2, 2 / 7, 0],
    "table,discount_table=[1,0.5]": [1, 1 / 2, 1 / 3, 0],
}


@pytest.mark.parametrize("discount", OF_DISCOUNTS)
def test_ndcg_by_hand_under_each_discount(discount: str) -> None:
    report = exactk.evaluate(RELEVANT, RANKED, f"ndcg@3(discount={discount})", per_user=True)
    (values,) = report.per_user.values()
    assert values.tolist() == pytest.approx(OF_DISCOUNTS[discount], abs=5e-7)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", 0.703518),
        (",gain=exp2", 0.717409),
        (",discount=inverse", 0.633333),
        (",gain=exp2,discount=inverse", 0.642857),
    ],
)
def test_ndcg_of_catboost_with_each_of_its_denominators(fields: str, expected: float) -> None:
    """What CatBoost 1.2.10 gave for NDCG:top=2, of which a group without relevant rows counts 1."""
    truth = {"a": {1: 0, 2: 2, 3: 1}, "b": {1: 0, 2: 0}, "c": {1: 1, 2: 0}}
    scores = {"a": {1: 0.9, 2: 0.5, 3: 0.1}, "b": {1: 0.3, 2: 0.2}, "c": {1: 0.1, 2: 0.2}}
    report = exactk.evaluate(truth, scores, f"ndcg@2(empty_truth=one,ties=pessimistic{fields})")
    assert next(iter(report.values())) == pytest.approx(expected, abs=5e-7)
