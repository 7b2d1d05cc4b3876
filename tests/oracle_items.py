"""The oracle of the metrics that read the items of a list: how often items occur in train, in fractions.

Like `oracle.py`, it is written from the formulas alone, and imports nothing of the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

Item = int | str
_DIGITS = Context(prec=40)


class RefusedError(Exception):
    """The definitions give no number for this input."""


@dataclass(frozen=True)
class Catalogue:
    """The items that could be recommended, and the lists of train."""

    given: frozenset[Item] | None  # None: the items of train
    train: Sequence[Sequence[Item]]
    values: Mapping[Item, float] = field(default_factory=dict)  # of items that have one

    @cached_property
    def items(self) -> list[Item]:
        every = {item for row in self.train for item in row} if self.given is None else self.given
        return sorted(every)

    @cached_property
    def train_users(self) -> int:
        return sum(len(row) > 0 for row in self.train)

    def popularity(self, counted: str) -> dict[Item, int]:
        """Return p of every item."""
        counts: Counter[Item] = Counter()
        for row in self.train:
            counts.update(set(row) if counted == "users" else row)
        return {item: counts[item] for item in self.items}

    def divisor(self, over: str) -> int:
        """Return how many users or rows train has, as far as these are of the catalogue."""
        return self.train_users if over == "users" else sum(self.popularity("interactions").values())


def item_value(item: Item, catalogue: Catalogue) -> Fraction:
    """Return the value of a relevant item."""
    if item not in catalogue.values:
        raise RefusedError("a relevant item has no value")
    return Fraction(catalogue.values[item])


@cache
def _log2(number: int) -> Fraction:
    return Fraction(_DIGITS.divide(Decimal(number).ln(_DIGITS), Decimal(2).ln(_DIGITS)))


def item_number(
    metric: str, item: Item, catalogue: Catalogue, rules: Mapping[str, Any], head: float
) -> Fraction | None:
    """Return what the item adds to the sum over the list; None if it is left out."""
    popularity = catalogue.popularity("users" if metric == "epc" else rules["popularity"])
    if item not in popularity and rules["foreign_items"] == "raise":
        raise RefusedError("an item is not in the catalogue")
    p = popularity.get(item, 0)
    if p == 0 and (item in popularity or rules["foreign_items"] == "count") and rules["unseen_items"] == "raise":
        raise RefusedError("an item is not in train")
    if item not in popularity and rules["foreign_items"] == "ignore":
        return None
    divisor = _divisor_of_numbers(metric, catalogue, popularity, rules)
    if divisor is not None and divisor <= (metric == "surprisal"):
        return None
    seen = sorted(p for p in popularity.values() if p > 0)
    is_least_popular = p == 0 and rules["unseen_items"] == "least_popular" and len(seen) > 0
    if p == 0 and rules["unseen_items"] == "skip":
        return None
    if p == 0 and rules["unseen_items"] == "zero":
        return Fraction(0)
    if metric == "aplt":
        tail = _tail(popularity, rules["tail"], head)
        return Fraction(
            any(popularity[other] == seen[0] for other in tail) if is_least_popular else p == 0 or item in tail
        )
    return _number_of_popularity(metric, seen[0] if is_least_popular else p, divisor, seen)


def _divisor_of_numbers(
    metric: str, catalogue: Catalogue, popularity: Mapping[Item, int], rules: Mapping[str, Any]
) -> int | None:
    """Return what popularities are compared with; None if with nothing."""
    match metric:
        case "novelty" | "surprisal":
            return catalogue.divisor(rules["novelty_over"])
        case "arp":
            over = rules["arp_over"]
            highest = max(popularity.values(), default=0)
            return {"one": 1, "max": highest}.get(over, 0) or (0 if over == "max" else catalogue.divisor(over))
        case "epc":
            return catalogue.train_users
        case "efd":
            return sum(popularity.values())
    return None


def _number_of_popularity(metric: str, p: int, divisor: int | None, seen: Sequence[int]) -> Fraction:
    if metric == "popularity_rank":
        ranks = [rank for rank, other in enumerate(seen, start=1) if other == p]
        return Fraction(sum(ranks), len(ranks) * len(seen)) if p else Fraction(0)
    assert divisor is not None
    match metric:
        case "arp":
            return Fraction(p, divisor)
        case "epc":
            return 1 - Fraction(p, divisor)
    bits = _log2(divisor) - _log2(max(p, 1))
    return bits / _log2(divisor) if metric == "surprisal" else bits


def _tail(popularity: Mapping[Item, int], tail: str, head: float) -> set[Item]:
    """Return the items of train in the tail. `head` is meant as a decimal number."""
    order = [item for item, p in popularity.items() if p > 0]
    share = Fraction(str(head))
    match tail:
        case "at_most":
            return {item for item in order if popularity[item] <= share}
        case "lowest_share":
            order.sort(key=lambda item: popularity[item])
            in_head = -(-share.numerator * len(order) // share.denominator)
            return {*order[: max(1, len(order) - in_head)]}
    order.sort(key=lambda item: -popularity[item])
    outside: set[Item] = set()
    total = 0
    for item in order:
        if total >= share * sum(popularity.values()):
            outside.add(item)
        total += popularity[item]
    return outside
