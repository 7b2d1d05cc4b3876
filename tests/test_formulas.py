"""Metrics by another way than their formula: as what they are made of, or as what they stand for."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import exactk
from refusals import refused
from strategies import examples

STANDARD = exactk.conventions["standard"]
RANKINGS = st.lists(st.integers(0, 9), unique=True, max_size=8)
TRUTHS = st.dictionaries(st.integers(0, 9), st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=5)


def value_of(metric: str, truth: Any, ranking: list[int], **changes: Any) -> float:
    """Return the value of one user, computed whatever is empty."""
    convention = STANDARD.replace(empty_truth="compute", **changes)
    (value,) = exactk.evaluate([truth], [ranking], metric, convention=convention).values()
    return value


def test_mean_precision_far_below_the_list() -> None:
    """Steps are counted from the first hit on, and go on where the list ends."""
    for k in (65_535, 65_536, 65_537, 2**20):
        harmonic = math.fsum(1 / n for n in range(2, k + 1)) / k
        assert value_of(f"mean_precision@{k}", [7], [3, 7]) == pytest.approx(harmonic, rel=1e-12)


@given(TRUTHS, RANKINGS, st.integers(1, 12), st.sampled_from([3, 4, 6]))
def test_err_is_the_mean_of_1_over_the_rank_of_the_stop(
    truth: dict[int, float], ranking: list[int], k: int, max_grade: int
) -> None:
    """Each item satisfies or does not, by itself: the mean over all outcomes, each with its chance."""
    chances = [(2 ** truth.get(item, 0.0) - 1) / 2**max_grade for item in ranking[:k]]
    expected = 0.0
    for satisfied in product([True, False], repeat=len(chances)):
        if any(satisfied):
            pairs = zip(satisfied, chances, strict=True)
            expected += math.prod(chance if yes else 1 - chance for yes, chance in pairs) / (satisfied.index(True) + 1)
    value = value_of(f"err@{k}(max_grade={max_grade})", truth, ranking)
    assert value == pytest.approx(expected, rel=1e-12)
    assert value_of(f"err@{k}(max_grade={max_grade})", truth, ranking, gain="table", min_grade=0.5) == value


def test_f09_grades_above_the_highest_are_refused() -> None:
    truth = [{1: 1.0, 4: 3.0}, {21: 5.0, 2: 4.5}]
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        assert evaluate(truth, [[1], [2]], "err@3(max_grade=5)")
        with pytest.raises(exactk.InputError) as caught:
            evaluate(truth, [[1], [2]], "err@3", convention=STANDARD.replace(gain="binary"))
        error = caught.value
        assert (error.argument, error.row, error.position, error.count) == ("truth", 1, 0, 2)
    with pytest.raises(exactk.InputError, match="grades from 0 to max_grade=4 for err, found grade 5"):
        exactk.evaluate(truth, [[1], [2]], "err@3")


@settings(max_examples=examples(30))
@given(st.sets(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), unique=True, max_size=6), st.integers(1, 6))
def test_list_auc_is_the_mean_auc_over_all_orders_of_the_rest(truth: set[int], ranking: list[int], k: int) -> None:
    rest = [item for item in range(6) if item not in ranking[:k]]
    aucs = [value_of("auc", sorted(truth), ranking[:k] + list(order)) for order in permutations(rest)]
    assert value_of(f"list_auc@{k}(num_items=6)", sorted(truth), ranking) == pytest.approx(
        math.fsum(aucs) / len(aucs), rel=1e-12
    )


def test_items_are_at_least_those_that_a_user_has() -> None:
    truth, lists = [[1, 2], [1, 2, 3], [7]], [[1, 5], [5, 6, 1], [7, 8, 9]]
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        assert evaluate(truth, lists, "list_auc(num_items=5)")["list_auc(num_items=5)"] == pytest.approx(
            ((1 + 1.5 * 2) / 6 + 0 / 6 + 1) / 3
        )
        assert evaluate(truth, lists, "list_auc@1(num_items=4)")
        with refused("metrics: too few items", "num_items") as caught:
            evaluate(truth, lists, ["recall", "list_auc@2(num_items=4)", "list_auc@3(num_items=4)"], num_threads=2)
        assert (caught.value.argument, caught.value.row, caught.value.count) == ("metrics", 1, 1)
