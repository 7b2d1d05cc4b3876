"""Novelty, popularity and tail: the number of each item against numbers made by hand."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exactk
from exactk.reference.popularity import ItemNumbers, TrainCounts, item_numbers, tail_items

RULES: dict[str, Any] = {
    "popularity": "users",
    "novelty_over": "users",
    "arp_over": "one",
    "unseen_items": "rare",
    "foreign_items": "count",
    "list_mean_over": "list",
    "tail": "head_share",
    "discount": "log2",
}
# Users 1: items 1, 2; 2: items 1, 3; 3: item 1; 4: item 2. Items 4 and 5 occur nowhere; one user has item 1 twice.
COUNTS = TrainCounts(users=(3, 2, 1, 0, 0), interactions=(4, 2, 1, 0, 0), train_users=4)
LOG_4_3 = 2 - math.log2(3)
ENGINES: list[Any] = [exactk.evaluate, exactk.reference.evaluate]
NAMES = ["novelty", "surprisal", "arp", "popularity_rank", "aplt", "epc", "efd"]


@pytest.mark.parametrize(
    ("metric", "rules", "numbers"),
    [
        ("novelty", {}, [LOG_4_3, 1, 2, 2, 2]),
        ("novelty", {"unseen_items": "zero"}, [LOG_4_3, 1, 2, 0, 0]),
        ("novelty", {"unseen_items": "skip"}, [LOG_4_3, 1, 2, None, None]),
        ("novelty", {"novelty_over": "interactions"}, [math.log2(7 / 3), math.log2(3.5), math.log2(7)] + 2 * [math.log2(7)]),
        ("novelty", {"popularity": "interactions"}, [0, 1, 2, 2, 2]),
        ("surprisal", {}, [LOG_4_3 / 2, 0.5, 1, 1, 1]),
        ("arp", {}, [3, 2, 1, 0, 0]),
        ("arp", {"popularity": "interactions", "arp_over": "users"}, [1, 0.5, 0.25, 0, 0]),
        ("arp", {"arp_over": "interactions"}, [3 / 7, 2 / 7, 1 / 7, 0, 0]),
        ("arp", {"arp_over": "max", "unseen_items": "least_popular"}, [1, 2 / 3, 1 / 3, 1 / 3, 1 / 3]),
        ("arp", {"arp_over": "max", "unseen_items": "skip"}, [1, 2 / 3, 1 / 3, None, None]),
        ("popularity_rank", {}, [1, 2 / 3, 1 / 3, 0, 0]),
        ("aplt", {}, [0, 0, 1, 1, 1]),
        ("aplt", {"unseen_items": "zero"}, [0, 0, 1, 0, 0]),
        ("aplt", {"tail": "lowest_share", "unseen_items": "zero"}, [0, 0, 1, 0, 0]),
        ("aplt", {"tail": "lowest_share", "unseen_items": "least_popular"}, [0, 0, 1, 1, 1]),
        ("aplt", {"tail": "at_most"}, [0, 0, 0, 1, 1]),
        ("epc", {}, [1 / 4, 1 / 2, 3 / 4, 1, 1]),
        ("epc", {"unseen_items": "least_popular"}, [1 / 4, 1 / 2, 3 / 4, 3 / 4, 3 / 4]),
        ("efd", {}, [1, math.log2(3), math.log2(6), math.log2(6), math.log2(6)]),
        ("efd", {"popularity": "interactions"}, [math.log2(7 / 4), math.log2(3.5), math.log2(7), math.log2(7), math.log2(7)]),
    ],
)  # fmt: skip
def test_the_number_of_each_item(metric: str, rules: dict[str, str], numbers: list[float | None]) -> None:
    actual = item_numbers(metric, COUNTS, {**RULES, **rules}).of_catalogue
    assert [n is None for n in actual] == [n is None for n in numbers]
    for number, expected in zip(actual, numbers, strict=True):
        assert number is None or number == pytest.approx(expected, rel=2e-15, abs=0)


@pytest.mark.parametrize("metric", NAMES)
def test_items_outside_the_catalogue_are_left_out_or_as_rare_as_can_be(metric: str) -> None:
    for unseen in ("rare", "zero", "skip", "least_popular"):
        rules = {**RULES, "unseen_items": unseen}
        numbers = item_numbers(metric, COUNTS, rules)
        assert numbers.foreign == numbers.of_catalogue[3]
        assert item_numbers(metric, COUNTS, {**rules, "foreign_items": "ignore"}).foreign is None


@pytest.mark.parametrize("metric", NAMES)
def test_a_train_without_rows(metric: str) -> None:
    """There is nothing to take a share or the logarithm of: the items are left out."""
    numbers = item_numbers(metric, TrainCounts((0, 0), (0, 0), 0), {**RULES, "arp_over": "max"})
    expected = {"popularity_rank": 0.0, "aplt": 1.0}.get(metric)
    assert numbers == ItemNumbers([expected, expected], expected, are_defined=expected is not None)
    rules = {**RULES, "arp_over": "max", "unseen_items": "zero"}
    of_zero = {"popularity_rank": 0.0, "aplt": 0.0}.get(metric)
    zeros = item_numbers(metric, TrainCounts((0, 0), (0, 0), 0), rules)
    assert zeros == ItemNumbers([of_zero, of_zero], of_zero, are_defined=of_zero is not None)


def test_one_user_of_train_has_no_surprise() -> None:
    assert item_numbers("surprisal", TrainCounts((1, 0), (1, 0), 1), RULES) == ItemNumbers(
        [None, None], None, are_defined=False
    )
    for engine in (exactk.evaluate, exactk.reference.evaluate):
        for over in ("list", "cutoff"):
            metric = f"surprisal@2(list_mean_over={over},undefined=nan)"
            assert math.isnan(engine([[1]], [[1, 2]], metric, items=[[1, 2]])[metric])


@pytest.mark.parametrize(
    ("popularity", "tail", "head", "expected"),
    [
        ([4, 4, 1, 1], "head_share", 0.8, {2, 3}),  # 8 of 10
        ([7, *[1] * 93], "head_share", 0.07, {*range(1, 94)}),  # 0.07 * 100 is above 7
        ([4, 4, 1, 1], "head_share", 0.81, {3}),  # of equal items, the first is in the head
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
        numbers = item_numbers("aplt", counts, {**RULES, "unseen_items": "least_popular"}, head=0.5)
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
