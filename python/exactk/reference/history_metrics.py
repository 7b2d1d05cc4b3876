"""The metrics that compare the list with what the user has in train, or with other predictions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from exactk.reference.hit_metrics import divisor, register
from exactk.reference.item_metrics import METRICS
from exactk.reference.rules import DIGITS, discount

if TYPE_CHECKING:
    from exactk.reference.hit_metrics import Ratio
    from exactk.reference.judge import JudgedUser
    from exactk.reference.rules import Rules

__all__ = ["METRICS"]


@register
def serendipity(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean over the list of the distance of each hit from the history. Zhang et al. 2012."""
    if rules["serendipity_of"] == "popularity":
        return _serendipity_of_popularity(user, k, rules)
    distances = user.catalogue.distances(rules["distance"])
    history = [item for item in user.history if distances.has_features(item)]
    listed = [
        (user.catalogue.positions[item], is_hit)
        for _rank, item, is_hit in user.listed(k)
        if user.catalogue.has_features(item, rules["distance"])
    ]
    if not history:
        return 0.0, 0.0
    total = 0.0
    for item, is_hit in listed:
        if is_hit:
            from_items = [distances.between(item, other) for other in history]
            is_mean = rules["history_distance"] == "mean"
            total += _sum(from_items) / len(from_items) if is_mean else min(from_items)
    return total, _list_divisor(len(listed), user, k, rules)


def _serendipity_of_popularity(user: JudgedUser, k: int | None, rules: Rules) -> Ratio:
    """Return the sum of the ranks by which hits are above their rank by popularity, over items of list and catalogue."""
    listed = [
        (rank, rank_of_item, is_hit)
        for rank, item, is_hit in user.listed(k)
        if (rank_of_item := user.catalogue.number(item, "serendipity", rules, 0.0)) is not None
    ]
    total = sum(max(0.0, rank_of_item - rank) for rank, rank_of_item, is_hit in listed if is_hit)
    return total, _list_divisor(len(listed), user, k, rules) * len(user.catalogue.positions)


def _list_divisor(items: int, user: JudgedUser, k: int | None, rules: Rules) -> int:
    return items if rules["list_mean_over"] == "list" else divisor("cutoff", user, k)


def calibration(user: JudgedUser, k: int | None, rules: Rules, alpha: float) -> Ratio:
    """Divergence of the list's tags, each item spread evenly over its own, from those of the history. Steck 2018."""
    tags = user.catalogue.tags
    of_history = [tags[item] for item in user.history if tags[item]]
    positions = user.catalogue.positions
    of_list = [(rank, tags[positions[item]]) for rank, item, _ in user.listed(k) if item in positions]
    weighted = [(discount(rules, rank), of_item) for rank, of_item in of_list if of_item]
    if not of_history or not weighted:
        return 0.0, 0.0
    weight = _sum([weight for weight, _ in weighted])
    divergence = 0.0
    for tag in sorted({tag for of_item in of_history for tag in of_item}):
        p = _sum([1 / len(of_item) for of_item in of_history if tag in of_item]) / len(of_history)
        q = _sum([weight / len(of_item) for weight, of_item in weighted if tag in of_item]) / weight
        divergence += p * float(Decimal(p / ((1 - alpha) * q + alpha * p)).ln(DIGITS))
    return max(0.0, divergence), 1


def _sum(numbers: list[float]) -> float:
    """Return the sum in this order, rounded after each addition, which Python's `sum` does not promise."""
    total = 0.0
    for number in numbers:
        total += number
    return total


register(calibration, "lower")


@register
def unexpectedness(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """|L - B| / |L|, for the base list B down to the same cutoff. Adamopoulos, Tuzhilin 2014."""
    items = [item for _rank, item, _is_hit in user.listed(k)]
    base = {item for item, rank in user.base_ranks.items() if k is None or rank <= k}
    over = len(items) if rules["list_mean_over"] == "list" else divisor("cutoff", user, k)
    return (over - sum(item in base for item in items) if items else 0.0), over
