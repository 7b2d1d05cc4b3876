"""The metrics that read the items of the list: sums of one number per item, in rank order, in float64."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from exactk.reference.hit_metrics import METRICS, divisor, register
from exactk.reference.rules import DIGITS, LN_2, discount

if TYPE_CHECKING:
    from collections.abc import Collection

    from exactk.reference.hit_metrics import Ratio
    from exactk.reference.judge import JudgedUser
    from exactk.reference.rules import Rules

__all__ = ["METRICS"]

_HEAD = 0.8  # of metrics without this parameter, which do not read it


def _numbers(
    metric: str, user: JudgedUser, k: int | None, rules: Rules, head: float = _HEAD
) -> list[tuple[int, float, bool]]:
    """Return the rank, the number and whether it is a hit of each item that counts."""
    listed = [(rank, user.catalogue.number(item, metric, rules, head), is_hit) for rank, item, is_hit in user.listed(k)]
    return [(rank, number, is_hit) for rank, number, is_hit in listed if number is not None]


def _list_mean(metric: str, user: JudgedUser, k: int | None, rules: Rules, head: float = _HEAD) -> Ratio:
    """Return the sum of the items' numbers, over their count or over the cutoff."""
    if not user.catalogue.numbers(metric, rules, head).are_defined:
        return 0.0, 0
    numbers = _numbers(metric, user, k, rules, head)
    total = 0.0
    for _rank, number, _is_hit in numbers:
        total += number
    return total, len(numbers) if rules["list_mean_over"] == "list" else divisor("cutoff", user, k)


def _discounted_hits(metric: str, user: JudgedUser, k: int | None, rules: Rules) -> Ratio:
    """Return the sum of the hits' numbers times their discounts, over the sum of all discounts."""
    total = weights = 0.0
    for rank, number, is_hit in _numbers(metric, user, k, rules):
        weight = discount(rules, rank)
        weights += weight
        total += weight * number if is_hit else 0.0
    return total, weights


@register
def novelty(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of log2(P / p). Castells, Hurley, Vargas 2022."""
    return _list_mean("novelty", user, k, rules)


@register
def surprisal(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of log2(P / p) / log2 P. Zhou et al. 2010."""
    return _list_mean("surprisal", user, k, rules)


@register
def epc(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum over hits of (1 - p / U) / log2(i + 1), over the sum of 1 / log2(i + 1). Vargas, Castells 2011."""
    return _discounted_hits("epc", user, k, rules)


@register
def efd(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum over hits of log2(S / p) / log2(i + 1), over the sum of 1 / log2(i + 1). Vargas, Castells 2011."""
    return _discounted_hits("efd", user, k, rules)


def arp(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of p. Yin et al. 2012."""
    return _list_mean("arp", user, k, rules)


def popularity_rank(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of the average rank of p among the items of train, over their number."""
    return _list_mean("popularity_rank", user, k, rules)


register(arp, "lower")
register(popularity_rank, "lower")


@register
def aplt(user: JudgedUser, k: int | None, rules: Rules, head: float) -> Ratio:
    """Share of the tail. Abdollahpouri, Burke, Mobasher 2017."""
    return _list_mean("aplt", user, k, rules, head)


@register
def ild(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean distance of the pairs of items. Ziegler et al. 2005."""
    distances = user.catalogue.distances(rules["distance"])
    items = [item for _, item, _ in user.listed(k) if user.catalogue.has_features(item, rules["distance"])]
    total = distances.sum_of_pairs([user.catalogue.positions[item] for item in items])
    pairs = len(items) * (len(items) - 1) // 2
    if rules["ild_over"] == "pairs_or_one":
        return total, pairs if len(user.top(k)) > 1 else 1
    return total, len(items) if rules["ild_over"] == "list" else pairs


def _tagged(user: JudgedUser, k: int | None) -> list[tuple[int, Collection[int]]]:
    """Return the ranks and tags of the items that have tags."""
    positions, tags = user.catalogue.positions, user.catalogue.tags
    ranked = [(rank, tags[positions[item]]) for rank, item, _ in user.listed(k) if item in positions]
    return [(rank, of_item) for rank, of_item in ranked if of_item]


@register
def tag_diversity(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Return the number of distinct tags per item. RePlay."""
    tagged = _tagged(user, k)
    over = len(tagged) if rules["list_mean_over"] == "list" else divisor("cutoff", user, k)
    return len({tag for _, of_item in tagged for tag in of_item}), over


@register
def tag_entropy(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Return the sum of q log 1 / q over tags, with q the share of a tag in the discounts of the ranks. LensKit."""
    weights: dict[int, float] = {}
    for rank, of_item in _tagged(user, k):
        for tag in of_item:
            weights[tag] = weights.get(tag, 0.0) + discount(rules, rank)
    total = entropy = 0.0
    for tag in sorted(weights):
        total += weights[tag]
    for tag in sorted(weights):
        if weights[tag]:
            logarithm = Decimal(total / weights[tag]).ln(DIGITS)
            in_base = DIGITS.divide(logarithm, LN_2) if rules["entropy_base"] == "2" else logarithm
            entropy += weights[tag] / total * float(in_base)
    return entropy, 1 if total else 0
