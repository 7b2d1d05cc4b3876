"""How often items occur in train, and the number that each adds to a metric of the list.

A number is rounded once, from integers or from 50 digits.
"""

from __future__ import annotations

import math
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from exactk.reference.distances import ItemDistances
from exactk.reference.rules import DIGITS, log2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._inputs.model.item_table import ItemFeatures
    from exactk.reference.rules import Rules


class TrainCounts(NamedTuple):
    """How often each item of the catalogue occurs in train, by position."""

    users: Sequence[int]  # distinct users
    interactions: Sequence[int]  # rows
    train_users: int

    def popularity(self, rules: Rules) -> Sequence[int]:
        """Return p, one number per item."""
        return self.users if rules["popularity"] == "users" else self.interactions

    def occasions(self, over: str) -> int:
        """Return how many users or rows there are in train."""
        return self.train_users if over == "users" else sum(self.interactions)


class ItemNumbers(NamedTuple):
    """What each recommended item adds to the sum over a list; None: the item is left out of sum and divisor."""

    of_catalogue: Sequence[float | None]  # by position
    foreign: float | None
    are_defined: bool = True  # not if numbers of items divide by 0


class Catalogue:
    """The items that could be recommended, and how often each occurs in train."""

    def __init__(
        self,
        ids: Sequence[int],
        counts: TrainCounts,
        values: Sequence[float] = (),
        features: ItemFeatures | None = None,
    ) -> None:
        self.counts = counts
        self._values = values
        self._features = features
        self._distances: dict[str, ItemDistances] = {}
        self.positions = {item: position for position, item in enumerate(ids)}
        self._numbers: dict[tuple[object, ...], ItemNumbers] = {}

    def is_unseen(self, item: int) -> bool:
        """Return whether an item of the catalogue does not occur in train."""
        counts = self.counts.users or self.counts.interactions
        return item in self.positions and bool(counts) and counts[self.positions[item]] == 0

    def value(self, item: int) -> float:
        """Return the item's value, NaN for none."""
        return self._values[self.positions[item]] if self._values and item in self.positions else math.nan

    def distances(self, distance: str) -> ItemDistances:
        """Return the distances between items, which need features."""
        assert self._features is not None  # noqa: S101 - for the type checker
        if distance not in self._distances:
            self._distances[distance] = ItemDistances(self._features, distance)
        return self._distances[distance]

    @cached_property
    def tags(self) -> list[list[int]]:
        """The tags of each item, ascending, by position."""
        assert self._features is not None  # noqa: S101 - for the type checker
        return self._features.columns_by_item()

    def has_tags(self, position: int) -> bool:
        """Return whether an item of the catalogue has tags."""
        return bool(self.tags[position])

    def has_features(self, item: int, distance: str) -> bool:
        """Return whether there are distances from the item to others."""
        return item in self.positions and self.distances(distance).has_features(self.positions[item])

    def numbers(self, metric: str, rules: Rules, head: float) -> ItemNumbers:
        """Return the items' numbers in a metric."""
        key = (metric, head, *(rules[field] for field in _FIELDS))
        if key not in self._numbers:
            self._numbers[key] = item_numbers(metric, self.counts, rules, head)
        return self._numbers[key]

    def number(self, item: int, metric: str, rules: Rules, head: float) -> float | None:
        """Return the item's number in a metric."""
        numbers, position = self.numbers(metric, rules, head), self.positions.get(item)
        return numbers.foreign if position is None else numbers.of_catalogue[position]


_FIELDS = ("popularity", "novelty_over", "arp_over", "tail", "unseen_items", "foreign_items")


class _Numbers(NamedTuple):
    of_items: list[float | None]  # arbitrary where p = 0
    of_rare: float | None  # where p = 0
    of_least: float | None  # of the least popular item with p > 0, or as of_rare


def _numbers_of_popularity(popularity: Sequence[int], number: Callable[[int], float], rare: float) -> _Numbers:
    """Return the numbers of items by their popularity alone."""
    seen = [p for p in popularity if p]
    return _Numbers([number(p) if p else None for p in popularity], rare, number(min(seen)) if seen else rare)


def _log2_of_ratio(above: int, below: int) -> float:
    return float(DIGITS.subtract(log2(above), log2(below)))


def _novelty(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers | None:
    """Return log2(P / p), the self-information of meeting the item."""
    occasions = counts.occasions(rules["novelty_over"])
    if occasions == 0:
        return None
    return _numbers_of_popularity(
        counts.popularity(rules), lambda p: _log2_of_ratio(occasions, p), _log2_of_ratio(occasions, 1)
    )


def _surprisal(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers | None:
    """Return log2(P / p) / log2 P."""
    occasions = counts.occasions(rules["novelty_over"])
    if occasions <= 1:  # log2 P is 0 or does not exist
        return None

    def number(p: int) -> float:
        return float(DIGITS.divide(DIGITS.subtract(log2(occasions), log2(p)), log2(occasions)))

    return _numbers_of_popularity(counts.popularity(rules), number, 1.0)


def _arp(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers | None:
    """Return p over what the convention says."""
    popularity, over = counts.popularity(rules), rules["arp_over"]
    divisor = 1 if over == "one" else max(popularity, default=0) if over == "max" else counts.occasions(over)
    return _numbers_of_popularity(popularity, lambda p: p / divisor, 0.0) if divisor else None


def _popularity_rank(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return the average rank of p among items that occur in train, from the least popular, over their number."""
    popularity = counts.popularity(rules)
    seen = [p for p in popularity if p]
    return _numbers_of_popularity(
        popularity, lambda p: (2 * sum(q < p for q in seen) + seen.count(p) + 1) / (2 * len(seen)), 0.0
    )


def _aplt(counts: TrainCounts, rules: Rules, head: float) -> _Numbers:
    """Return 1 for the items of the tail, and for those that do not occur in train."""
    popularity = counts.popularity(rules)
    tail = tail_items(popularity, rules["tail"], head)
    seen = [p for p in popularity if p]
    least_popular = {i for i, p in enumerate(popularity) if seen and p == min(seen)}
    numbers: list[float | None] = [float(i in tail) for i in range(len(popularity))]
    return _Numbers(numbers, 1.0, float(bool(tail & least_popular)) if seen else 1.0)


def _serendipity(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return the dense rank of p among items that occur in train, from the most popular; the others are behind all items."""
    popularity = counts.popularity(rules)
    falling = sorted({p for p in popularity if p}, reverse=True)
    return _numbers_of_popularity(popularity, lambda p: falling.index(p) + 1.0, len(popularity) + 1.0)


def _epc(counts: TrainCounts, _rules: Rules, _head: float) -> _Numbers | None:
    """Return 1 - p / U, the share of the users who do not have the item."""
    users = counts.train_users
    return _numbers_of_popularity(counts.users, lambda p: (users - p) / users, 1.0) if users else None


def _efd(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers | None:
    """Return log2(S / p), the self-information of an interaction with the item."""
    popularity = counts.popularity(rules)
    total = sum(popularity)
    if total == 0:
        return None
    return _numbers_of_popularity(popularity, lambda p: _log2_of_ratio(total, p), _log2_of_ratio(total, 1))


_NUMBERS: dict[str, Callable[[TrainCounts, Rules, float], _Numbers | None]] = {
    "novelty": _novelty,
    "surprisal": _surprisal,
    "epc": _epc,
    "serendipity": _serendipity,
    "efd": _efd,
    "arp": _arp,
    "popularity_rank": _popularity_rank,
    "aplt": _aplt,
}


def tail_items(popularity: Sequence[int], tail: str, head: float) -> set[int]:
    """Return the positions of the items with p > 0 that are in the tail."""
    seen = [i for i, p in enumerate(popularity) if p > 0]
    if tail == "at_most":
        return {i for i in seen if popularity[i] <= head}
    if tail == "lowest_share":
        size = max(1, len(seen) - _least_integer(head * len(seen)))
        return {*sorted(seen, key=lambda i: (popularity[i], i))[:size]}
    enough = _least_integer(head * sum(popularity))
    above = {p: sum(other for other in popularity if other > p) for p in set(popularity)}
    return {i for i in seen if above[popularity[i]] >= enough}


def _least_integer(number: float) -> int:
    """Return the least integer that is not below the number, which may have been rounded: 0.07 * 100 is above 7."""
    nearest = round(number)
    return nearest if abs(number - nearest) <= 1e-9 * max(1.0, number) else ceil(number)


def item_numbers(metric: str, counts: TrainCounts, rules: Rules, head: float = 0.8) -> ItemNumbers:
    """Return each item's number in a metric; without a divisor, all items are left out."""
    popularity = counts.users or counts.interactions
    numbers = _NUMBERS[metric](counts, rules, head)
    if numbers is None:
        return ItemNumbers([None] * len(popularity), None, are_defined=False)
    unseen = {"zero": 0.0, "rare": numbers.of_rare, "least_popular": numbers.of_least}.get(rules["unseen_items"])
    return ItemNumbers(
        [n if p else unseen for n, p in zip(numbers.of_items, popularity, strict=True)],
        unseen if rules["foreign_items"] == "count" else None,
    )
