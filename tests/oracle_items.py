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
from itertools import combinations
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
    item_groups: Mapping[Item, str] = field(default_factory=dict)  # likewise
    # Numbers or tags of items, or their distances from the items in the order of the mapping. Empty: no features.
    features: Mapping[Item, Sequence[float] | frozenset[str]] = field(default_factory=dict)

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
        least_in_tail = any(popularity[other] == seen[0] for other in tail)
        return Fraction(least_in_tail if is_least_popular else p == 0 or item in tail)
    return _number_of_popularity(metric, seen[0] if is_least_popular else p, divisor, seen)


def divides_by_zero(metric: str, catalogue: Catalogue, rules: Mapping[str, Any]) -> bool:
    """Return whether no item has a number."""
    popularity = catalogue.popularity("users" if metric == "epc" else rules["popularity"])
    divisor = _divisor_of_numbers(metric, catalogue, popularity, rules)
    return divisor is not None and divisor <= (metric == "surprisal")


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
    counts = popularity.values()
    levels = {p for p in counts if sum(q for q in counts if q > p) >= share * sum(counts)}
    return {item for item in order if popularity[item] in levels}


def sum_of_distances(items: Sequence[Item], catalogue: Catalogue, rules: Mapping[str, Any]) -> tuple[Fraction, int]:
    """Return the sum of the distances of all pairs of the items, and the number of items that count."""
    counted = []
    for item in items:
        if item not in catalogue.items and rules["foreign_items"] == "raise":
            raise RefusedError("an item is not in the catalogue")
        if item not in catalogue.items and rules["foreign_items"] == "ignore":
            continue
        if not _has_features(item, catalogue, rules["distance"]):
            if rules["missing_features"] == "raise":
                raise RefusedError("an item has no features")
            continue
        counted.append(item)
    distances = (distance_of(*pair, catalogue, rules["distance"]) for pair in combinations(counted, 2))
    return sum(distances, Fraction(0)), len(counted)


def counted_tags(item: Item, catalogue: Catalogue, rules: Mapping[str, Any]) -> set[object]:
    """Return the tags of an item that counts; none of one that does not."""
    if item not in catalogue.items and rules["foreign_items"] == "raise":
        raise RefusedError("an item is not in the catalogue")
    if item not in catalogue.items and rules["foreign_items"] == "ignore":
        return set()
    tags: set[object] = {*catalogue.features.get(item, ())}
    if not tags and rules["missing_features"] == "raise":
        raise RefusedError("an item has no tags")
    return tags


def check_distance(catalogue: Catalogue, distance: str) -> None:
    """Raise RefusedError if the features have no such distance, whichever items are recommended."""
    features = catalogue.features
    if not features:
        raise RefusedError("there are no features")
    is_tags = any(isinstance(one, frozenset) for one in features.values())
    if distance == "jaccard" and not is_tags and any({*one} - {0, 1} for one in features.values()):
        raise RefusedError("numbers are no tags")
    if distance == "matrix":
        if is_tags or any(len(one) != len(features) for one in features.values()):
            raise RefusedError("the features are no matrix")
        if any(_entry(a, b, catalogue) != _entry(b, a, catalogue) for a in features for b in features):
            raise RefusedError("the matrix is not symmetric")
        if any(_entry(a, b, catalogue) < 0 or (a == b and _entry(a, b, catalogue)) for a in features for b in features):
            raise RefusedError("an entry is no distance")


def _has_features(item: Item, catalogue: Catalogue, distance: str) -> bool:
    features = catalogue.features.get(item)
    if isinstance(features, frozenset):
        return len(features) > 0
    return features is not None and (distance != "jaccard" or any(features))


def _entry(item: Item, other: Item, catalogue: Catalogue) -> Fraction:
    row = catalogue.features[item]
    assert not isinstance(row, frozenset)
    return Fraction(row[list(catalogue.features).index(other)])


def distance_of(item: Item, other: Item, catalogue: Catalogue, distance: str) -> Fraction:
    if distance == "matrix":
        return _entry(item, other, catalogue)
    one, two = (_vector(each, catalogue) for each in (item, other))
    columns = {*one, *two}
    product = sum((one[column] * two[column] for column in one.keys() & two.keys()), Fraction(0))
    match distance:
        case "dot":
            return 1 - product
        case "cosine":
            square = sum(x * x for x in one.values()) * sum(x * x for x in two.values())
            return 1 - (product / _square_root(square) if square else Fraction(0))
        case "euclidean":
            return _square_root(sum(((one.get(c, 0) - two.get(c, 0)) ** 2 for c in columns), Fraction(0)))
        case "hamming":
            return Fraction(sum(one.get(c, 0) != two.get(c, 0) for c in columns))
    tags = [{column for column, number in vector.items() if number} for vector in (one, two)]
    return 1 - Fraction(len(tags[0] & tags[1]), len(tags[0] | tags[1]))


def _vector(item: Item, catalogue: Catalogue) -> dict[Any, Fraction]:
    features = catalogue.features[item]
    if isinstance(features, frozenset):
        return dict.fromkeys(features, Fraction(1))
    return {column: Fraction(number) for column, number in enumerate(features)}


def _square_root(number: Fraction | int) -> Fraction:
    exact = Fraction(number)
    return Fraction(_DIGITS.sqrt(_DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))))
