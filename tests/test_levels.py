"""The level of a confidence, by which p-values are significant, ranks are counted and intervals end."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import exactk
from exactk._inference.significance import fewest_draws, level_of, ranks_within, round_draws

CONFIDENCES = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999, 1 - 1 / 3]


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_a_level_is_the_decimal_complement(confidence: float) -> None:
    assert level_of(confidence) == float(1 - Decimal(str(confidence)))
    assert level_of(np.float64(confidence)) == level_of(confidence)


@given(st.sampled_from(CONFIDENCES) | st.floats(0.5, 1, exclude_max=True), st.integers(99, 3000))
def test_ranks_are_those_of_significant_p_values(confidence: float, draws: int) -> None:
    level = level_of(confidence)
    assert ranks_within(level, draws) == sum(rank / (draws + 1) <= level for rank in range(1, draws + 1))


@given(st.sampled_from(CONFIDENCES) | st.floats(0.5, 1 - 1e-9))
def test_the_fewest_draws_have_a_rank(confidence: float) -> None:
    fewest = fewest_draws(level_of(confidence))
    assert ranks_within(level_of(confidence), fewest) == 1
    assert ranks_within(level_of(confidence), fewest - 1) == 0


@pytest.mark.parametrize(
    ("fewest", "advised"),
    [(1, 1), (19, 19), (20, 49), (99, 99), (100, 199), (666, 999), (999, 999), (1000, 1999), (19_999, 19_999)],
)
def test_advised_draws_are_round(fewest: int, advised: int) -> None:
    assert round_draws(fewest) == advised


@pytest.mark.filterwarnings("ignore:.*may be on either side")
@pytest.mark.parametrize("confidence", [0.6, 0.7, 0.8, 0.9])
def test_a_p_value_of_exactly_the_level_is_significant(confidence: float) -> None:
    """In doubles, 1 - 0.9 is below 0.1."""
    level, found = float(1 - Decimal(str(confidence))), 0
    rng = np.random.default_rng(0)
    truth: Any = [[1]] * 50
    how: dict[str, Any] = {"test": "permutation", "adjust": "none", "permutations": 99, "confidence": confidence}
    for _ in range(20):
        systems: dict[str, Any] = {name: [rng.permutation(9).tolist() for _ in range(50)] for name in "abcde"}
        for row in exactk.compare(truth, systems, ["ndcg@9", "rr@3", "rr@9"], **how).differences:
            assert (row.verdict != "undecided") == (row.p <= level)
            found += row.p == level
    assert found > 0
