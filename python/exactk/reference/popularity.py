"""The metrics that read how often each recommended item occurs in train: a number per item, and its mean over a list.

An item's number is rounded once, from integers or from 50 digits. Sums are in rank order, in float64.
"""

from __future__ import annotations

from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from exactk.reference.discounts import discount
from exactk.reference.logarithms import DIGITS, log2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk.reference.judge import Rules
    from exactk.reference.metrics import Ratio


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

    of_catalogue: Sequence[float | None]
    foreign: float | None

    def of(self, position: int | None) -> float | None:
        """Return the number of an item of the catalogue, by position, or of an item outside it (None)."""
        return self.foreign if position is None else self.of_catalogue[position]


class ListedItem(NamedTuple):
    """An item of a user's list, without excluded items and without repeats that do not count."""

    rank: int
    position: int | None  # in the catalogue; None: outside it
    is_hit: bool


class _Numbers(NamedTuple):
    of_items: list[float | None]  # arbitrary where p = 0
    of_rare: float | None  # where p = 0
    of_least: float | None  # of the least popular item with p > 0, or as of_rare


def _numbers_of_popularity(
    popularity: Sequence[int], number: Callable[[int], float | None], rare_popularity: int = 0
) -> _Numbers:
    """Return the numbers of items by their popularity alone."""
    seen = [p for p in popularity if p]
    rare = number(rare_popularity)
    return _Numbers([number(p) if p else None for p in popularity], rare, number(min(seen)) if seen else rare)


def _log2_of_ratio(above: int, below: int) -> float:
    return float(DIGITS.subtract(log2(above), log2(below)))


def _novelty(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return log2(P / p), the self-information of meeting the item. Castells, Hurley, Vargas 2015."""
    occasions = counts.occasions(rules["novelty_over"])
    return _numbers_of_popularity(
        counts.popularity(rules), lambda p: _log2_of_ratio(occasions, p) if occasions else None, 1
    )


def _surprisal(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return log2(P / p) / log2 P. Zhou et al. 2010."""
    occasions = counts.occasions(rules["novelty_over"])

    def number(p: int) -> float | None:
        if occasions <= 1:  # log2 P is 0 or does not exist
            return None
        return float(DIGITS.divide(DIGITS.subtract(log2(occasions), log2(p)), log2(occasions)))

    return _numbers_of_popularity(counts.popularity(rules), number, 1)


def _arp(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return p over what the convention says. Abdollahpouri et al. 2019."""
    popularity, over = counts.popularity(rules), rules["arp_over"]
    divisor = 1 if over == "one" else max(popularity, default=0) if over == "max" else counts.occasions(over)
    return _numbers_of_popularity(popularity, lambda p: p / divisor if divisor else None)


def _popularity_rank(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return the average rank of p among items that occur in train, from the least popular, over their number."""
    popularity = counts.popularity(rules)
    seen = [p for p in popularity if p]
    return _numbers_of_popularity(
        popularity, lambda p: (2 * sum(q < p for q in seen) + seen.count(p) + 1) / (2 * len(seen)) if p else 0.0
    )


def _aplt(counts: TrainCounts, rules: Rules, head: float) -> _Numbers:
    """Return 1 for the items of the tail. Abdollahpouri et al. 2019."""
    popularity, tail = counts.popularity(rules), rules["tail"]
    in_tail = tail_items(popularity, tail, head)
    rare = float(tail != "lowest_share")  # 0 is below any count, and outside any head, but not among items with p > 0
    seen = [p for p in popularity if p]
    least_popular = {i for i, p in enumerate(popularity) if seen and p == min(seen)}
    numbers: list[float | None] = [float(i in in_tail) for i in range(len(popularity))]
    return _Numbers(numbers, rare, float(bool(in_tail & least_popular)) if seen else rare)


def _epc(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return 1 - p / U, the share of users who have not met the item. Vargas, Castells 2011."""
    users = counts.train_users
    return _numbers_of_popularity(counts.popularity(rules), lambda p: (users - p) / users if users else None)


def _efd(counts: TrainCounts, rules: Rules, _head: float) -> _Numbers:
    """Return log2(S / p), the self-information of choosing the item. Vargas, Castells 2011."""
    popularity = counts.popularity(rules)
    total = sum(popularity)
    return _numbers_of_popularity(popularity, lambda p: _log2_of_ratio(total, p) if total else None, 1)


_NUMBERS: dict[str, Callable[[TrainCounts, Rules, float], _Numbers]] = {
    "novelty": _novelty,
    "surprisal": _surprisal,
    "arp": _arp,
    "popularity_rank": _popularity_rank,
    "aplt": _aplt,
    "epc": _epc,
    "efd": _efd,
}


def tail_items(popularity: Sequence[int], tail: str, head: float) -> set[int]:
    """Return the positions of the items with p > 0 that are in the tail."""
    seen = [i for i, p in enumerate(popularity) if p > 0]
    if tail == "at_most":
        return {i for i in seen if popularity[i] <= head}
    if tail == "lowest_share":
        size = max(1, len(seen) - ceil(head * len(seen)))
        return {*sorted(seen, key=lambda i: (popularity[i], i))[:size]}
    falling = sorted(seen, key=lambda i: (-popularity[i], i))
    above = accumulate((popularity[i] for i in falling), initial=0)  # the sum over the items before
    enough = head * sum(popularity)
    return {i for i, before in zip(falling, above, strict=False) if before >= enough}


def item_numbers(metric: str, counts: TrainCounts, rules: Rules, head: float = 0.8) -> ItemNumbers:
    """Return each item's number in a metric."""
    numbers = _NUMBERS[metric](counts, rules, head)
    unseen = {"zero": 0.0, "rare": numbers.of_rare, "least_popular": numbers.of_least}.get(rules["unseen_items"])
    return ItemNumbers(
        [n if p else unseen for n, p in zip(numbers.of_items, counts.popularity(rules), strict=True)],
        unseen if rules["foreign_items"] == "count" else None,
    )


def mean_over_list(items: Sequence[ListedItem], numbers: ItemNumbers, cutoff: int, rules: Rules) -> Ratio:
    """Return the sum of the items' numbers, over their count or over the cutoff."""
    counted = [n for item in items if (n := numbers.of(item.position)) is not None]
    total = 0.0
    for number in counted:
        total += number
    return total, cutoff if rules["list_mean_over"] == "cutoff" else len(counted)


def mean_over_discounts(items: Sequence[ListedItem], numbers: ItemNumbers, rules: Rules) -> Ratio:
    """Return the sum of the hits' numbers times their discounts, over the sum of all discounts."""
    total = weights = 0.0
    for item in items:
        number = numbers.of(item.position)
        if number is not None:
            weight = discount(rules["discount"], item.rank)
            weights += weight
            total += weight * number if item.is_hit else 0.0
    return total, weights
