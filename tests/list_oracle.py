"""Metrics of lists and of the catalogue once more, from their formulas, on plain lists and counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Lists = Mapping[int, Sequence[int]]
Values = dict[int, float]
"""The value of each user who has one."""


class RefusedItemError(ValueError):
    """An item is recommended that the rules refuse."""


@dataclass(frozen=True)
class Catalogue:
    """The items that could be recommended, and what is known of them."""

    items: frozenset[int]
    train: Sequence[tuple[int, int]]
    features: Lists

    def popularity(self, kind: str) -> Counter[int]:
        """Return the distinct users of each item, or its rows."""
        return Counter(item for _, item in (set(self.train) if kind == "users" else self.train))

    def total(self, kind: str) -> int:
        """Return the distinct users of train, or its rows."""
        return len({user for user, _ in self.train} if kind == "users" else self.train)

    def history(self, user: int) -> set[int]:
        """Return what a user had."""
        return {item for of, item in self.train if of == user}


STANDARD = {
    "popularity": "users",
    "novelty_over": "users",
    "arp_over": "one",
    "unseen_items": "rare",
    "foreign_items": "raise",
    "list_mean_over": "list",
    "tail": "head_share",
    "list_users": "lists",
    "gini_over": "items",
    "gini_items": "catalogue",
    "entropy_base": "2",
    "entropy_over": "one",
    "list_similarity": "cosine",
    "average": "macro",
    "undefined": "zero",
    "head": "0.8",
    "least": "1",
    "distance": "cosine",
    "ild_over": "pairs",
    "serendipity_of": "features",
    "history_distance": "nearest",
    "users": "truth",
}
Rules = Mapping[str, str]


def known_items(row: Sequence[int], catalogue: Catalogue, rules: Rules) -> list[int]:
    """Return the items that count, or refuse one."""
    if rules["foreign_items"] == "raise" and not set(row) <= catalogue.items:
        raise RefusedItemError
    return [item for item in row if item in catalogue.items or rules["foreign_items"] == "count"]


# Of one number per item.


def numbers_of_items(name: str, catalogue: Catalogue, rules: Rules) -> Callable[[int], float | None]:
    """Return the number of an item; None: it is left out."""
    popularity = catalogue.popularity(rules["popularity"])
    total = catalogue.total(rules["novelty_over"])
    over = {"one": 1, "max": max(popularity.values())}.get(rules["arp_over"]) or catalogue.total(rules["arp_over"])
    tail = tail_items(catalogue, popularity, rules)
    formulas: dict[str, Callable[[int, int], float]] = {
        "novelty": lambda p, _: math.log2(total / max(p, 1)),
        "surprisal": lambda p, _: math.log2(total / max(p, 1)) / math.log2(total),
        "arp": lambda p, _: p / over,
        "popularity_rank": lambda p, _: average_rank(p, popularity) if p else 0.0,
        "aplt": lambda _, item: float(item in tail),
    }
    formula, unseen = formulas[name], rules["unseen_items"]

    def number(item: int) -> float | None:
        p = popularity[item]
        if p == 0 and unseen == "raise":
            raise RefusedItemError
        if p == 0 and unseen in {"skip", "zero"}:
            return 0.0 if unseen == "zero" else None
        return formula(p, item)

    return number


def average_rank(p: int, popularity: Counter[int]) -> float:
    """Return the average rank of a popularity among those of the items, divided by their number."""
    below = sum(other < p for other in popularity.values())
    equal = sum(other == p for other in popularity.values())
    return (below + (equal + 1) / 2) / len(popularity)


def tail_items(catalogue: Catalogue, popularity: Counter[int], rules: Rules) -> set[int]:
    """Return the items of the tail."""
    head = Fraction(rules["head"])
    if rules["tail"] == "at_most":
        return {item for item in catalogue.items if popularity[item] <= head}
    ascending = sorted(
        (item for item in catalogue.items if popularity[item]), key=lambda item: (popularity[item], item)
    )
    if rules["tail"] == "lowest_share":
        return set(ascending[: max(1, math.floor((1 - head) * len(ascending)))])
    outside = set(catalogue.items)
    needed = head * sum(popularity.values())
    for item in sorted(ascending, key=lambda item: (-popularity[item], item)):
        if needed <= 0:
            break
        outside.remove(item)
        needed -= popularity[item]
    return outside


def mean_of_list(name: str, lists: Lists, k: int, catalogue: Catalogue, rules: Rules) -> dict[int, tuple[float, float]]:
    """Return the numerator and the denominator of each user."""
    number = numbers_of_items(name, catalogue, rules)
    parts = {}
    for user, row in lists.items():
        numbers = [found for item in known_items(row[:k], catalogue, rules) if (found := number(item)) is not None]
        parts[user] = math.fsum(numbers), float(k if rules["list_mean_over"] == "cutoff" else len(numbers))
    return parts


# Of pairs of items, and of second lists.


def cosine(one: Sequence[int], other: Sequence[int]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def ild(row: Sequence[int], catalogue: Catalogue, rules: Rules) -> tuple[float, float]:
    def distance(one: Sequence[int], other: Sequence[int]) -> float:
        if rules["distance"] == "hamming":
            return sum(a != b for a, b in zip(one, other, strict=True))
        return 1 - cosine(one, other)

    pairs = list(combinations([catalogue.features[item] for item in row], 2))
    over = len(row) if rules["ild_over"] == "list" else len(pairs)
    return math.fsum(distance(*pair) for pair in pairs), float(over)


def serendipity(
    user: int, row: Sequence[int], relevant: set[int], catalogue: Catalogue, rules: Rules
) -> tuple[float, float]:
    if rules["serendipity_of"] == "popularity":
        popularity = catalogue.popularity("interactions")
        dense = {p: rank for rank, p in enumerate(sorted(set(popularity.values()), reverse=True), 1)}
        n = len(catalogue.items)

        def surprise(rank: int, item: int) -> float:
            expected = (n + 1 - dense[popularity[item]]) / n if popularity[item] else 0.0
            return max(0.0, (n + 1 - rank) / n - expected)

        terms = [surprise(rank, item) for rank, item in enumerate(row, 1) if item in relevant]
        return math.fsum(terms), float(len(row))
    history = [catalogue.features[item] for item in catalogue.history(user)]
    if not history:
        return 0.0, 0.0
    features = catalogue.features
    distances = {item: [1 - cosine(features[item], had) for had in history] for item in row}
    if rules["history_distance"] == "mean":
        distances = {item: [math.fsum(all_of_item) / len(history)] for item, all_of_item in distances.items()}
    return math.fsum(min(distances[item]) for item in row if item in relevant), float(len(row))


# Of all lists.


def coverage(counts: Counter[int], catalogue: Catalogue) -> float:
    return len(set(counts) & catalogue.items) / len(catalogue.items)


def gini(counts: Counter[int], catalogue: Catalogue, rules: Rules) -> float:
    n = len(counts) if rules["gini_items"] == "recommended" else len(catalogue.items)
    ascending = [0] * (n - len(counts)) + sorted(counts.values())
    above = sum((2 * j - n - 1) * c for j, c in enumerate(ascending, 1))
    below = (n - 1 if rules["gini_over"] == "items_less_one" else n) * counts.total()
    return above / below if below else math.nan


def entropy(counts: Counter[int], catalogue: Catalogue, rules: Rules) -> float:
    total = counts.total()
    logarithm = math.log if rules["entropy_base"] == "e" else math.log2
    terms = [-c / total * logarithm(c / total) for c in counts.values()]
    over = {"one": 1, "log_items": logarithm(len(catalogue.items)), "distinct_items": len(counts)}
    return math.fsum(terms) / over[rules["entropy_over"]] if terms else math.nan


def personalization(rows: Sequence[Sequence[int]], rules: Rules) -> float:
    pairs = list(combinations([{*row} for row in rows if row], 2))
    if not pairs:
        return math.nan
    if rules["list_similarity"] == "overlap":
        return 1 - sum(2 * len(one & other) for one, other in pairs) / sum(
            len(one) + len(other) for one, other in pairs
        )
    cosines = [len(one & other) / math.sqrt(len(one) * len(other)) for one, other in pairs]
    return 1 - math.fsum(cosines) / len(pairs)


def of_collection(name: str, lists: Lists, k: int, catalogue: Catalogue, rules: Rules) -> float:
    """Return a value of all lists; NaN: there is none."""
    rows = [known_items(row[:k], catalogue, rules) for row in lists.values()]
    counts = Counter(item for row in rows for item in row)
    formulas: dict[str, Callable[[], float]] = {
        "num_items": lambda: len(counts),
        "coverage": lambda: coverage(counts, catalogue),
        "gini": lambda: gini(counts, catalogue, rules),
        "entropy": lambda: entropy(counts, catalogue, rules),
        "personalization": lambda: personalization(rows, rules),
    }
    return formulas[name]()


COLLECTION = {"num_items", "coverage", "gini", "entropy", "personalization"}


def unexpectedness(row: Sequence[int], base: Sequence[int], k: int, rules: Rules) -> tuple[float, float]:
    over = k if rules["list_mean_over"] == "cutoff" else len(row)
    return over - len({*row} & {*base[:k]}), over


def values(
    name: str, k: int, rules: Rules, *, lists: Lists, truth: Lists, other: Lists, catalogue: Catalogue
) -> tuple[float, Values | None]:
    """Return the mean, rounded, and the users' values; or the value of all lists, and None."""
    mean, users_values = unrounded_values(name, k, rules, lists=lists, truth=truth, other=other, catalogue=catalogue)
    decimals = str(rules.get("decimals")).lower()
    return (mean if decimals == "none" else round(mean, int(decimals))), users_values


def unrounded_values(
    name: str, k: int, rules: Rules, *, lists: Lists, truth: Lists, other: Lists, catalogue: Catalogue
) -> tuple[float, Values | None]:
    """Return the mean and the users' values; or the value of all lists, and None."""
    rules = STANDARD | {key: str(value) for key, value in rules.items()}
    if name in COLLECTION:
        users = [user for user in lists if rules["list_users"] == "lists" or truth.get(user)]
        return of_collection(name, {user: lists[user] for user in users}, k, catalogue, rules), None
    parts: dict[int, tuple[float, float]]
    match name:
        case "list_fill":
            parts = {user: (min(k, len(row)), k) for user, row in lists.items()}
        case "user_coverage":
            users = list(truth) if rules["users"] == "truth" else list(lists)
            least = int(rules["least"])
            parts = {user: (float(min(k, len(lists.get(user, ()))) >= least), 1.0) for user in users}
        case "ild":
            parts = {user: ild(row[:k], catalogue, rules) for user, row in lists.items()}
        case "serendipity":
            parts = {
                user: serendipity(user, row[:k], set(truth.get(user, ())), catalogue, rules)
                for user, row in lists.items()
            }
        case "unexpectedness":
            parts = {
                user: unexpectedness(row[:k], other[user], k, rules) for user, row in lists.items() if user in other
            }
        case _:
            parts = mean_of_list(name, lists, k, catalogue, rules)
    undefined = 0.0 if rules["undefined"] == "zero" else math.nan
    users_values = {user: above / below if below else undefined for user, (above, below) in parts.items()}
    if rules["average"] == "micro":
        below = math.fsum(part[1] for part in parts.values())
        return (math.fsum(part[0] for part in parts.values()) / below if below else math.nan), users_values
    defined = [value for value in users_values.values() if not math.isnan(value)]
    return (math.fsum(defined) / len(defined) if defined else math.nan), users_values
