"""What is made of finished values: from exact sums to the numbers of a report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrik
from strategies import Evaluation, evaluations, examples
from test_laws import run

TRUTH = [[1, 4], [21], [7, 8, 9], []]
LISTS = [[4, 2, 1], [3, 21], [5], [6]]
STANDARD = metrik.conventions["standard"]


def both(*arguments: Any, **options: Any) -> list[metrik.Report]:
    """Return what the core and the reference report."""
    return [evaluate(*arguments, **options) for evaluate in (metrik.evaluate, metrik.reference.evaluate)]


def geometric(values: Any, weights: Any) -> float:
    """gm_map's formula, by libm."""
    products = [weight * math.log(max(value, 1e-5)) for value, weight in zip(values, weights, strict=True)]
    return math.exp(math.fsum(products) / math.fsum(weights)) if math.fsum(weights) else math.nan


def test_geometric_mean() -> None:
    metrics = ["ap", "ap(average=geometric)", "rr@2(average=geometric)", "num_hits(average=geometric)"]
    for report in both(TRUTH, LISTS, metrics, per_user=True):
        assert report["ap(average=geometric)"] == pytest.approx(geometric([5 / 6, 1 / 2, 0], [1] * 3), rel=1e-14)
        assert report["rr@2(average=geometric)"] == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3), rel=1e-14)
        assert report["num_hits(average=geometric)"] == pytest.approx((2 * 1 * 1e-5) ** (1 / 3), rel=1e-14)
        assert np.array_equal(report.per_user["ap(average=geometric)"], report.per_user["ap"], equal_nan=True)
        assert math.isnan(report.standard_deviation["ap(average=geometric)"])
        assert report.counts["evaluated"]["ap(average=geometric)"] == 3


@settings(max_examples=examples(300))
@given(evaluations(min_users=1), st.sampled_from(sorted(metrik.metrics)))
def test_geometric_mean_of_any_metric(evaluation: Evaluation, name: str) -> None:
    metric = f"{name}(average=geometric)"
    report = run(Evaluation(evaluation.truth, evaluation.predictions, [metric], evaluation.options), per_user=True)
    counted = ~np.isnan(report.per_user[metric])
    weights = np.asarray(evaluation.options.get("weights", np.ones(len(counted))))
    expected = geometric(report.per_user[metric][counted], weights[counted])
    if np.count_nonzero(counted) < report.counts["evaluated"][metric]:  # undefined for one of them
        expected = math.nan
    assert report[metric] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_geometric_means_of_groups_weights_and_shards() -> None:
    metric, weights, groups = "recall(average=geometric)", [0.5, 2.0, 1e10, 3.0], ["a", "b", "a", "b"]
    for report in both(TRUTH, LISTS, metric, weights=weights, groups=groups):
        assert report[metric] == pytest.approx(geometric([1, 1, 0], weights[:3]), rel=1e-13)
        assert report.by_group["a"][metric] == pytest.approx(geometric([1, 0], [0.5, 1e10]), rel=1e-13)
        assert report.by_group["b"][metric] == 1
    whole = metrik.evaluate(TRUTH, LISTS, metric)
    parts = [metrik.evaluate(TRUTH[i : i + 1], LISTS[i : i + 1], metric).state.to_bytes() for i in range(3)]
    assert metrik.merge([metrik.State.from_bytes(part) for part in reversed(parts)])[metric] == whole[metric]


@pytest.mark.parametrize(
    ("undefined", "expected"), [("zero", 1e-5**0.5), ("one", 1.0), ("skip", 1.0), ("nan", math.nan)]
)
def test_undefined_ratios_in_a_geometric_mean(undefined: str, expected: float) -> None:
    convention = STANDARD.replace(empty_truth="compute", average="geometric", undefined=undefined)
    for report in both([[1], []], [[1], [2]], "recall@1", convention=convention):
        assert report["recall@1"] == pytest.approx(expected, rel=1e-15, nan_ok=True)
