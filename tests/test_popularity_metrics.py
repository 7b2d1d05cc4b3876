"""Novelty, popularity and tail: the number of each item against numbers made by hand."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given, strategies as st

import exactk
from exactk.reference.popularity import ItemNumbers, TrainCounts, item_numbers, tail_items

RULES: dict[str, Any] = {
    "popularity": "users", "novelty_over": "users", "arp_over": "one", "unseen_items": "rare", "foreign_items": "count",
    "list_mean_over": "list", "tail": "head_share", "discount": "log2", "discount_base": 2.0, "discount_power": 1.0, "discount_persistence": 0.85,
}  # fmt: skip
ENGINES: list[Any] = [exactk.evaluate, exactk.reference.evaluate]
NAMES = ["novelty", "surprisal", "arp", "popularity_rank", "aplt", "epc", "efd"]


@pytest.mark.parametrize("metric", NAMES)
def test_a_train_without_rows(metric: str) -> None:
    """There is nothing to take a share or the logarithm of: the items are left out."""
    for unseen, of_tail in (("rare", 1.0), ("zero", 0.0)):
        rules = {**RULES, "arp_over": "max", "unseen_items": unseen}
        number = {"popularity_rank": 0.0, "aplt": of_tail}.get(metric)
        numbers = item_numbers(metric, TrainCounts((0, 0), (0, 0), 0), rules)
        assert numbers == ItemNumbers([number, number], number, are_defined=number is not None)


def test_one_user_of_train_has_no_surprise() -> None:
    numbers = item_numbers("surprisal", TrainCounts((1, 0), (1, 0), 1), RULES)
    assert numbers == ItemNumbers([None, None], None, are_defined=False)
    for engine in ENGINES:
        for over in ("list", "cutoff"):
            metric = f"surprisal@2(list_mean_over={over},undefined=nan)"
            assert math.isnan(engine([[1]], [[1, 2]], metric, items=[[1, 2]])[metric])


@pytest.mark.parametrize(
    ("popularity", "tail", "head", "expected"),
    [
        ([4, 4, 1, 1], "head_share", 0.8, {2, 3}),  # 8 of 10
        ([7, *[1] * 93], "head_share", 0.07, {*range(1, 94)}),  # 0.07 * 100 is above 7
        ([4, 4, 1, 1], "head_share", 0.81, set()),  # equal items stay together: all are in the head
        ([5, 3, 3, 2, 1, 1], "head_share", 0.5, {3, 4, 5}),  # 8 of 15 are enough without the second of 3
        ([8, 2], "head_share", 0.8, {1}),
        ([1, 4, 1, 4], "head_share", 0.0, {0, 1, 2, 3}),
        ([1, 4, 0, 4], "head_share", 1.0, set()),
        ([5, 3, 3, 3], "lowest_share", 0.5, {1, 2}),  # of equal items, the first is in the tail
        ([*range(1, 21)], "lowest_share", 0.9, {0, 1}),  # where (1 - 0.9) * 20 is below 2
        ([7, 0, 9], "lowest_share", 1.0, {0}),
        ([7, 0, 9], "at_most", 7.0, {0}),
    ],
)
def test_the_tail(popularity: list[int], tail: str, head: float, expected: set[int]) -> None:
    assert tail_items(popularity, tail, head) == expected


def test_the_least_popular_item_is_in_the_tail_if_any_of_its_equals_is() -> None:
    for popularity in ([2, 2, 0], [0, 2, 2]):
        counts = TrainCounts(popularity, popularity, 4)
        numbers = item_numbers(
            "aplt", counts, {**RULES, "tail": "lowest_share", "unseen_items": "least_popular"}, head=0.5
        )
        assert numbers.foreign == 1


@given(st.integers(2, 10**6), st.data())
def test_logarithms_are_rounded_once(users: int, data: st.DataObject) -> None:
    p = data.draw(st.integers(1, users))
    counts = TrainCounts((p,), (p,), users)
    with localcontext(prec=80):
        novelty = (Decimal(users) / p).ln() / Decimal(2).ln()
        surprisal = (Decimal(users) / p).ln() / Decimal(users).ln()
    assert item_numbers("novelty", counts, RULES).of_catalogue == [float(novelty)]
    assert item_numbers("surprisal", counts, RULES).of_catalogue == [float(surprisal)]


@pytest.mark.parametrize("metric", ["novelty@5", "surprisal@5", "arp@5"])
def test_items_of_more_interactions_than_a_table_holds_are_as_any_other(metric: str) -> None:
    items = exactk.Items(range(5), popularity=[2**16 - 1, 2**16, 2**16 + 1, 10**6, 1], train_users=2 * 10**6)
    lists = [[1, 0, 2, 4, 3], [3, 2]]
    reports = [evaluate([[1], [2]], lists, metric, items=items) for evaluate in ENGINES]
    assert reports[0][metric] == reports[1][metric]
