"""Metrics by another way than their formula: as what they are made of, or as what they stand for."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrik

STANDARD = metrik.conventions["standard"]
RANKINGS = st.lists(st.integers(0, 9), unique=True, max_size=8)
TRUTHS = st.dictionaries(st.integers(0, 9), st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=5)


def one(metric: str, truth: Any, ranking: list[int], **changes: Any) -> float:
    """Return the value of one user, computed whatever is empty."""
    convention = STANDARD.replace(empty_truth="compute", **changes)
    (value,) = metrik.evaluate([truth], [ranking], metric, convention=convention).values.values()
    return value


@given(TRUTHS, RANKINGS, st.integers(1, 12), st.sampled_from([0.0, 0.5, 0.9]))
def test_rbp_is_the_mean_gain_of_the_last_item_that_is_read(
    truth: dict[int, float], ranking: list[int], k: int, p: float
) -> None:
    gains = [truth.get(item, 0.0) for item in ranking[:k]]
    expected = math.fsum((1 - p) * p**place * gain for place, gain in enumerate(gains))
    assert one(f"rbp@{k}(p={p})", truth, ranking) == pytest.approx(expected, rel=1e-12)
    found = one(f"rbp@{k}(p={p},gain=binary)", truth, ranking)
    relevant = [item for item, grade in truth.items() if grade > 0]
    assert found == one(f"rbp@{k}(p={p})", relevant, ranking)
    assert one(f"rbp@{k}(gain=exp2_shifted,min_grade=0)", [], ranking) == 0
