"""The metrics: each returns the numerator and the denominator of one user's value.

A ratio is left undivided because what 0 / 0 means is the convention's to say, and because a micro
average sums numerators and denominators apart. Terms are added in rank order, in float64.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from exactk.reference.judge import JudgedItem, JudgedUser, counted_gain, gain, power_of_two
from exactk.reference.rules import DIGITS, Rules, discount, log2

Ratio = tuple[float, float]
Metric = Callable[[JudgedUser, int | None, Rules, float], Ratio]

METRICS: dict[str, Metric] = {}
DIRECTIONS: dict[str, str] = {}
"""Which values of a metric are better: "higher", "lower" or, where neither is, "none"."""


def register(function: Metric, direction: str = "higher") -> Metric:
    """Register a metric under its function's name."""
    METRICS[function.__name__], DIRECTIONS[function.__name__] = function, direction
    return function


undirected = partial(register, direction="none")


class Term(NamedTuple):
    """What an item of the list adds to the numerator of a metric."""

    value: float
    gain: float = math.nan  # NaN: the metric has none
    discount: float = math.nan


Terms = Callable[[JudgedUser, int | None, Rules, float], Iterator[Term]]

TERMS: dict[str, Terms] = {}
"""The terms of the items down to the cutoff, in rank order, of the metrics whose numerator is a sum over items."""


def terms_of(*metrics: str) -> Callable[[Terms], Terms]:
    """Register the terms of these metrics."""

    def decorate(terms: Terms) -> Terms:
        TERMS.update(dict.fromkeys(metrics, terms))
        return terms

    return decorate


def added(terms: Iterable[Term]) -> float:
    """Return the sum, each addition rounded; that of Python carries what is rounded off."""
    total = 0.0
    for term in terms:
        total += term.value
    return total


def divisor(over: str, user: JudgedUser, k: int | None) -> int:
    """Return the convention's divisor."""
    list_length = len(user.top(k))
    cutoff = math.inf if k is None else k
    match over:
        case "cutoff":
            return user.depth if k is None else k
        case "list":
            return list_length
        case "min_cutoff_relevant":
            return int(min(cutoff, user.relevant))
        case "min_list_relevant":
            return min(list_length, user.relevant)
        case "hits":
            return max(user.hits(k), 1)
        case _:  # relevant, all_judged
            return user.relevant


def counted_divisor(over: str, user: JudgedUser, k: int | None, rules: Rules) -> float:
    """Return the divisor, where it counts relevant items by their values: the sum of so many of the highest.

    With propensities, that is the self-normalised estimator of Swaminathan, Joachims 2015, and PSP@k of Jain et al. 2016.
    """
    if rules["weight"] == "self_normalized" and over in _OF_RANKS:
        over = "relevant"
    number = divisor(over, user, k)
    if rules["weight"] == "one" or over in _OF_RANKS:
        return number
    return math.fsum(sorted((counted_gain(item, rules) for item in user.relevant_items), reverse=True)[:number])


_OF_RANKS = {"cutoff", "list"}  # divisors that do not count relevant items


def _divides_values(field: str, rules: Rules) -> bool:
    return rules["weight"] == "self_normalized" or (rules["weight"] == "values" and rules[field] not in _OF_RANKS)


_HAS_MOST: dict[str, Callable[[Rules], bool]] = {
    "precision": partial(_divides_values, "precision_over"),
    "recall": partial(_divides_values, "recall_over"),
    "average_precision": partial(_divides_values, "ap_over"),
    "ndcg": lambda _rules: True,
}
"""Whether a metric divides what the hits have by what relevant items have, which is no less."""


def bounded(metric: str, numerator: float, denominator: float, user: JudgedUser, rules: Rules) -> Ratio:
    """Return the ratio: 1, where rounding in another order of terms alone would put it above."""
    has_most = metric in _HAS_MOST and _HAS_MOST[metric](rules) and not user.hits_repeat
    return (min(numerator, denominator) if has_most else numerator), denominator


@terms_of("fbeta", "f1", "num_hits")
def hit_terms(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Iterator[Term]:
    """1 for each hit."""
    for _rank, is_hit in user.hit_flags(k):
        yield Term(float(is_hit))


@terms_of("precision", "recall")
def found_terms(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Iterator[Term]:
    """1, or its value, for each hit; the sum of values is rounded once, that of these terms after each of them."""
    for _rank, item in user.counted(k):
        is_hit = item is not None and item.relevant
        yield Term(counted_gain(item, rules) if item is not None and is_hit else 0.0)


def _found(user: JudgedUser, k: int | None, rules: Rules) -> float:
    if rules["weight"] == "one":
        return user.hits(k)
    return math.fsum(counted_gain(item, rules) for _, item in user.judged(k) if item.relevant)


@register
def precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """h / k, or the sum of the values of the hits over k."""
    over = counted_divisor(rules["precision_over"], user, k, rules)
    return bounded("precision", _found(user, k, rules), over, user, rules)


@register
def recall(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """h / |T|, or the sum of the values of the hits over that of all relevant items."""
    over = counted_divisor(rules["recall_over"], user, k, rules)
    return bounded("recall", _found(user, k, rules), over, user, rules)


@register
def fbeta(user: JudgedUser, k: int | None, rules: Rules, beta: float) -> Ratio:
    """(1 + beta^2) P R / (beta^2 P + R) = h / (a D_P + (1 - a) D_R), a = 1 / (1 + beta^2).

    The second form holds at beta = 0 and infinity too. van Rijsbergen 1979, chapter 7.
    """
    a = 1 / (1 + beta * beta)
    over_precision = divisor(rules["precision_over"], user, k)
    over_recall = divisor(rules["recall_over"], user, k)
    return user.hits(k), over_recall + a * (over_precision - over_recall)


@register
def f1(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """2 P R / (P + R)."""
    return fbeta(user, k, rules, 1.0)


@terms_of("hit_rate")
def first_hit_terms(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Iterator[Term]:
    """1 for the first hit."""
    found = False
    for _rank, is_hit in user.hit_flags(k):
        yield Term(float(is_hit and not found))
        found |= is_hit


@register
def hit_rate(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """1 if h > 0."""
    return float(user.hits(k) > 0), 1


@terms_of("average_precision")
def precision_terms(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Iterator[Term]:
    """Yield h(i) / i for each hit, times its value."""
    ranks = user.hit_ranks(k)
    for rank, item in user.counted(k):
        is_hit = item is not None and item.relevant
        precision = bisect_right(ranks, rank) / rank if is_hit else 0.0
        yield Term(precision * counted_gain(item, rules) if item is not None and is_hit else 0.0)


@register
def average_precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of the precision at each hit, over min(k, |T|). Buckley, Voorhees 2000."""
    total, over = added(precision_terms(user, k, rules, 0)), counted_divisor(rules["ap_over"], user, k, rules)
    return bounded("average_precision", total, over, user, rules)


@terms_of("average_recall")
def recall_terms(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Iterator[Term]:
    """Yield h(i) for each hit."""
    ranks = user.hit_ranks(k)
    for rank, is_hit in user.hit_flags(k):
        yield Term(float(bisect_right(ranks, rank)) if is_hit else 0.0)


@register
def average_recall(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of the recall at each hit, over min(k, |T|)."""
    total = added(recall_terms(user, k, rules, 0))
    return total, divisor(rules["ap_over"], user, k) * divisor(rules["recall_over"], user, k)


_SMOOTHING = 1e-5  # of the share of relevant items among judged ones


@terms_of("inferred_average_precision")
def inferred_precisions(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Iterator[Term]:
    """1/i + (x + y + z)/i (x + e)/(x + y + 2e) for each hit, with x hits, y others judged and z others of the pool above."""
    ranks, others, pooled = user.hit_ranks(k), 0, 0
    for (rank, item), is_pooled in zip(user.counted(k), user.pooled, strict=False):
        is_hit = item is not None and item.relevant
        hits = bisect_right(ranks, rank) - 1
        share = (hits + _SMOOTHING) / (hits + others + 2 * _SMOOTHING)
        yield Term(1 / rank + (hits + others + pooled) / rank * share if is_hit else 0.0)
        others += item is not None and not is_hit
        pooled += is_pooled


@register
def inferred_average_precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Average precision, inferred from the judged items of a pool. Yilmaz, Aslam 2006, as in trec_eval."""
    return added(inferred_precisions(user, k, rules, 0)), user.relevant


@terms_of("q_measure")
def blended_terms(user: JudgedUser, k: int | None, rules: Rules, beta: float) -> Iterator[Term]:
    """Yield (h(i) + beta G(i)) / (i + beta G*(i)) for each hit."""
    gains = [(rank, gain(item.grade, rules)) for rank, item in user.judged(k) if item.relevant]
    for rank, item in user.counted(k):
        if item is None or not item.relevant:
            yield Term(0.0)
            continue
        above = [gained for other, gained in gains if other <= rank]
        blended = (len(above) + beta * _total_of(above)) / (rank + beta * ideal_gain(user, rank, rules))
        yield Term(blended if user.hits_repeat else min(blended, 1.0))


def ideal_gain(user: JudgedUser, rank: int, rules: Rules) -> float:
    """Return the sum of the highest gains, as many as ranks."""
    return _total_of(sorted((gain(item.grade, rules) for item in user.relevant_items), reverse=True)[:rank])


def _total_of(numbers: Iterable[float]) -> float:
    return added(map(Term, numbers))


@register
def q_measure(user: JudgedUser, k: int | None, rules: Rules, beta: float) -> Ratio:
    """Sum over hits of (h(i) + beta G(i)) / (i + beta G*(i)), over min(k, |T|). Sakai 2004."""
    return added(blended_terms(user, k, rules, beta)), divisor(rules["ap_over"], user, k)


@register
def mean_precision(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Sum of the precision h(n) / n at every rank n, over k, as in elliot's MAP: h stays constant below a short list."""
    ranks, last = user.hit_ranks(k), divisor("cutoff", user, k)
    total = 0.0
    for rank in range(1, last + 1):
        total += bisect_right(ranks, rank) / rank
    return total, last


@register
def set_average_precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """P R, as in trec_eval's set_map."""
    return user.hits(k) ** 2, divisor(rules["precision_over"], user, k) * divisor(rules["recall_over"], user, k)


@terms_of("reciprocal_rank")
def reciprocal_rank_terms(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Iterator[Term]:
    """1 / rank for the first hit."""
    for (rank, _is_hit), first in zip(user.hit_flags(k), first_hit_terms(user, k, rules, 0), strict=True):
        yield Term(first.value / rank)


@register
def reciprocal_rank(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """1 / the rank of the first hit. Voorhees 1999."""
    return added(reciprocal_rank_terms(user, k, rules, 0)), 1


@terms_of("dcg", "ndcg", "sdcg")
def discounted_gains(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Iterator[Term]:
    """gain(i) / log2(i + 1)."""
    for rank, item in user.counted(k):
        gained = counted_gain(item, rules) if item is not None and item.relevant else 0.0
        weight = discount(rules, rank)
        yield Term(gained * weight, gained, weight)


@register
def dcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of gain(i) / log2(i + 1). Jarvelin, Kekalainen 2002."""
    return added(discounted_gains(user, k, rules, 0)), _whole_gain(user, rules)


def _whole_gain(user: JudgedUser, rules: Rules) -> float:
    """Return what a sum of gains is divided by: 1, or the gains of all relevant items."""
    return counted_divisor("relevant", user, None, rules) if rules["weight"] == "self_normalized" else 1


def ideal_terms(user: JudgedUser, k: int | None, rules: Rules) -> Iterator[Term]:
    """Yield the discounted gains of the ideal ranking: the highest gains first."""
    ideal_length = divisor(rules["ideal_over"], user, k)
    # A full-k ideal continues below the relevant items; it requires binary gains, which are all 1.
    best = sorted((counted_gain(item, rules) for item in user.relevant_items), reverse=True)[:ideal_length]
    gains = [1.0] * ideal_length if rules["ideal_over"] == "cutoff" else best
    for rank, highest in enumerate(gains, start=1):
        weight = discount(rules, rank)
        yield Term(highest * weight, highest, weight)


@register
def ndcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """DCG over the DCG of the ideal ranking."""
    ideal = added(ideal_terms(user, k, rules))
    gained = added(discounted_gains(user, k, rules, 0))
    return bounded("ndcg", gained, ideal, user, rules)


def _ideal_gains(user: JudgedUser, rules: Rules) -> list[float]:
    """Return the gains of the relevant items, the highest first."""
    return sorted((gain(item.grade, rules) for item in user.relevant_items), reverse=True)


Gained = Callable[[int], float]
"""DCG down to a rank."""


def ndcg_at(user: JudgedUser, rank: int, rules: Rules, gained: float) -> float:
    """Return what was gained over the DCG of the ideal ranking down to a rank, which no cutoff ends."""
    ideal = _total_of(one * discount(rules, i) for i, one in enumerate(_ideal_gains(user, rules)[:rank], start=1))
    return (gained if user.hits_repeat else min(gained, ideal)) / ideal if ideal else 0.0


def _dcg_to(user: JudgedUser, rules: Rules) -> Gained:
    return lambda rank: added(discounted_gains(user, rank, rules, 0))


def _rank_of_end(user: JudgedUser, k: int | None) -> int:
    return user.depth if k is None else min(k, user.depth)


@register
def average_ndcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of nDCG at the rank of each item with a gain, of those not found that of the whole list: trec_eval's ndcg_rel."""
    dcg_to, last = _dcg_to(user, rules), _rank_of_end(user, k)
    ranks = [rank for rank, item in user.judged(k) if item.relevant and gain(item.grade, rules) > 0]
    total = _total_of(ndcg_at(user, rank, rules, dcg_to(rank)) for rank in ranks)
    gaining = sum(one > 0 for one in _ideal_gains(user, rules))
    missed = max(gaining - len(ranks), 0)
    return total + missed * ndcg_at(user, user.relevant, rules, dcg_to(last)), gaining


def mean_ndcg(user: JudgedUser, k: int | None, rules: Rules, least: float, dcg_to: Gained) -> Ratio:
    """Return the sum of nDCG at the ranks where the ideal gains fall, and of the whole list if that is longer, and how many."""
    ideal, last = [*_ideal_gains(user, rules), 0.0], _rank_of_end(user, k)
    if ideal[0] < least:
        return 0, 1
    falls = [rank for rank, (one, below) in enumerate(pairwise(ideal), start=1) if one > below]
    values = [ndcg_at(user, rank, rules, dcg_to(min(rank, last))) for rank in falls]
    if falls and last > falls[-1] + 1:
        values.append(ndcg_at(user, falls[-1], rules, dcg_to(last)))
    return _total_of(values), len(values)


@register
def r_ndcg(user: JudgedUser, k: int | None, rules: Rules, least: float) -> Ratio:
    """Mean of nDCG at the ranks where the ideal gains fall, and of the whole list: trec_eval's Rndcg."""
    return mean_ndcg(user, k, rules, least, _dcg_to(user, rules))


def over_log2(gained: float, behind: float) -> float:
    """Return gain / log2(2 + behind), rounded once."""
    return float(DIGITS.divide(Decimal(gained), log2(2 + max(behind, 0.0))))


@terms_of("normalized_gain")
def gains_behind(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Iterator[Term]:
    """gain(i) / log2(2 + C(i) - G(i))."""
    gains = [(rank, gain(item.grade, rules)) for rank, item in user.judged(k) if item.relevant]
    for rank, item in user.counted(k):
        gained = gain(item.grade, rules) if item is not None and item.relevant else 0.0
        best = _ideal_gains(user, rules)[:rank]
        cost = _total_of(max(1.0, one) for one in best) + (rank - len(best))
        behind = cost - _total_of(one for other, one in gains if other <= rank)
        weight = over_log2(1, behind)
        yield Term(over_log2(gained, behind), gained, weight)


@register
def normalized_gain(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of gain(i) / log2(2 + C(i) - G(i)), over all gains: trec_eval's G and, of binary gains, binG."""
    total, whole = added(gains_behind(user, k, rules, 0)), _total_of(_ideal_gains(user, rules))
    return total if user.hits_repeat else min(total, whole), whole


def last_early_rank(user: JudgedUser, multiple: float) -> int:
    """Return the rank that the multiple of |T| is, as trec_eval rounds it."""
    return math.floor(multiple * user.relevant + 0.9)


@terms_of("r_precision")
def early_hit_terms(user: JudgedUser, k: int | None, _rules: Rules, multiple: float) -> Iterator[Term]:
    """1 for each hit among the first |T|, or another multiple."""
    for rank, is_hit in user.hit_flags(k):
        yield Term(float(is_hit and rank <= last_early_rank(user, multiple)))


@register
def r_precision(user: JudgedUser, k: int | None, rules: Rules, multiple: float) -> Ratio:
    """Hits among the first |T|, or another multiple, over as many."""
    return added(early_hit_terms(user, k, rules, multiple)), last_early_rank(user, multiple)


def _counted_hits(ranks: list[int]) -> list[tuple[int, int]]:
    """Return how many hits there are down to each, whose rank ties may share, and the rank."""
    return [(bisect_right(ranks, rank), rank) for rank in ranks]


@register
def interpolated_precision(user: JudgedUser, k: int | None, rules: Rules, recall: float) -> Ratio:
    """Highest h(i) / i of ranks from where the list has the recall. Salton, McGill 1983."""
    hits = recall * user.relevant
    least = math.floor(hits) + (hits % 1 >= 0.5) if rules["recall_rank"] == "round" else math.floor(hits + 0.9)
    precisions = [count / rank for count, rank in _counted_hits(user.hit_ranks(k)) if count >= least]
    return max(precisions, default=0.0), 1


@register
def eleven_point_precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Mean of the interpolated precisions at 0, 0.1, ..., 1."""
    total = 0.0
    for tenths in range(11):
        total += interpolated_precision(user, k, rules, tenths / 10)[0]
    return total / 11, 1


@terms_of("rbp")
def persistent_gains(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Iterator[Term]:
    """gain(i) p^(i - 1)."""
    weight, weighed = 1.0, 1  # and the rank of the weight
    for rank, item in user.counted(k):
        for _step in range(rank - weighed):
            weight *= p
        weighed = rank
        gained = counted_gain(item, rules) if item is not None and item.relevant else 0.0
        yield Term(gained * weight, gained, weight)


@register
def rbp(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """(1 - p) sum of gain(i) p^(i - 1), at most the highest gain. Moffat, Zobel 2008."""
    highest = max((counted_gain(item, rules) for item in user.relevant_items), default=1.0)
    gained = min((1 - p) * added(persistent_gains(user, k, rules, p)), highest)
    is_scaled = rules["rbp_over"] == "highest_gain" and rules["weight"] != "self_normalized"
    return gained, max(highest, 1.0) if is_scaled else _whole_gain(user, rules)


@undirected
def rbp_residual(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """1 - (1 - p) sum of p^(i - 1) over the judged items: what is not judged, in the list and below. Moffat, Zobel 2008."""
    judged = user.judged(k)
    if rules["residual_tail"] == "if_unjudged" and len(judged) == len(user.top(k)):
        return 0, 1
    all_gained = replace(user, ranking=tuple(item and JudgedItem(relevant=True, grade=1.0) for item in user.ranking))
    gained = (1 - p) * added(persistent_gains(all_gained, k, {**rules, "gain": "binary", "weight": "one"}, p))
    return max(1 - gained, 0.0), 1


_READER_RANKS = 1000  # that a reader of the family C/W/L can get to
Chance = Callable[[int, float, list[float]], float]
"""The chance of going on from a rank, by the gains so far and those of the items at the rank."""


def _expected_gain(user: JudgedUser, k: int | None, rules: Rules, last: int | None, chance: Chance) -> Ratio:
    """Return the sum of W(i) gain(i) and that of W(i), the chance that the reader gets to rank i of the first `last`.

    Azzopardi, Thomas, Moffat: cwl_eval, SIGIR 2019.
    """
    gains: dict[int, list[float]] = {}  # of the items at each rank
    for rank, item in user.judged(k):
        gains.setdefault(rank, []).append(gain(item.grade, rules) if item.relevant else 0.0)
    expected = ranks = gained = 0.0
    weight = 1.0
    for rank in range(1, min(last or _READER_RANKS, _READER_RANKS) + 1):
        at_rank = gains.get(rank, [])
        for one in at_rank:
            expected += weight * one
            gained += one
        ranks += weight
        weight *= chance(rank, gained, at_rank)
    return min(expected, ranks), ranks


def _dissatisfied(gains: list[float]) -> float:
    chance = 1.0
    for one in gains:
        chance *= 1 - one
    return chance


def _inverse_square_chance(left: float) -> float:
    return ((left - 1) / left) * ((left - 1) / left)


@register
def sdcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """DCG over that of gains 1 at each rank of the axis."""
    gained = discounts = 0.0
    for (rank, _item), term in zip(user.counted(k), discounted_gains(user, k, rules, 0), strict=True):
        gained += term.value if rank <= _READER_RANKS else 0.0
    for rank in range(1, min(k or _READER_RANKS, _READER_RANKS) + 1):
        discounts += discount(rules, rank)
    return min(gained, discounts), discounts


@terms_of("insq")
def inverse_square_terms(user: JudgedUser, k: int | None, rules: Rules, t: float) -> Iterator[Term]:
    """gain(i) / (i + 2t - 1)^2."""
    for rank, item in user.counted(k):
        gained = gain(item.grade, rules) if item is not None and item.relevant else 0.0
        weight = inverse_square(rank, t)
        yield Term(gained * weight, gained, weight)


def inverse_square(rank: int, t: float) -> float:
    """Return the weight of a rank in INSQ."""
    left = rank + 2 * t - 1
    return 1 / (left * left) if rank <= _READER_RANKS else 0.0


@register
def insq(user: JudgedUser, k: int | None, rules: Rules, t: float) -> Ratio:
    """Mean of the gains, weighted by 1 / (i + 2t - 1)^2 over 1000 ranks. Moffat, Scholer, Thomas 2012."""
    weights = 0.0
    for rank in range(1, _READER_RANKS + 1):
        weights += inverse_square(rank, t)
    return min(added(inverse_square_terms(user, k, rules, t)), weights), weights


@register
def inst(user: JudgedUser, k: int | None, rules: Rules, t: float) -> Ratio:
    """Return the expected gain where the reader goes on with ((i + 2t - 1 - U) / (i + 2t - U))^2. Bailey et al. 2015."""
    return _expected_gain(user, k, rules, None, lambda i, gained, _: _inverse_square_chance(i + 2 * t - gained))


@register
def bpm(user: JudgedUser, k: int | None, rules: Rules, t: float) -> Ratio:
    """Mean gain down to the rank where the gains are t, but for rounding, or to the cutoff. Zhang et al. 2017."""
    return _expected_gain(user, k, rules, k, lambda _i, gained, _gains: float(gained * (1 + 2**-40) < t))


@register
def nerr8(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Return the expected gain where the reader goes on with 1 - gain(i). Azzopardi, Mackenzie, Moffat 2021."""
    return _expected_gain(user, k, rules, k, lambda _i, _gained, gains: _dissatisfied(gains))


@register
def nerr9(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Return the expected gain where the reader goes on with i / (i + 1) (1 - gain(i))."""
    return _expected_gain(user, k, rules, k, lambda i, _gained, gains: i / (i + 1) * _dissatisfied(gains))


@register
def nerr10(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """Return the expected gain where the reader goes on with p (1 - gain(i))."""
    return _expected_gain(user, k, rules, None, lambda _i, _gained, gains: p * _dissatisfied(gains))


@register
def nerr11(user: JudgedUser, k: int | None, rules: Rules, t: float) -> Ratio:
    """Return the expected gain where the reader goes on with ((i + 2t - 1) / (i + 2t))^2 (1 - gain(i))."""
    return _expected_gain(
        user, k, rules, None, lambda i, _gained, gains: _inverse_square_chance(i + 2 * t) * _dissatisfied(gains)
    )


@register
def compatibility(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """Rank-biased overlap of the list and the ideal order, over that of the ideal order with itself.

    Items of one gain are in the order of the list, unranked ones last. Clarke, Vtyurina, Smucker 2021.
    """
    ideal_gains = [gain(item.grade, rules) for item in user.relevant_items]
    hits = [(gain(item.grade, rules), rank) for rank, item in user.judged(k) if item.relevant]
    depths = []
    for i, (gained, rank) in enumerate(hits):
        better = sum(other > gained for other in ideal_gains)
        alike = sum(other == gained for other, _rank in hits[:i])
        depths.append(max(rank, better + alike + 1))
    shared = ideal = 0.0
    weight = 1.0
    last = user.depth if k is None else min(k, user.depth)
    for depth in range(1, max(last, user.relevant) + 1):
        most = min(depth, user.relevant) if rules["compatibility_over"] == "ideal" else depth
        shared += weight * (sum(one <= depth for one in depths) / depth)
        ideal += weight * (most / depth)
        weight *= p
    return shared, ideal


@terms_of("err")
def stop_terms(user: JudgedUser, k: int | None, rules: Rules, max_grade: float) -> Iterator[Term]:
    """R(i) / i times the product of 1 - R(j) above."""
    unsatisfied = 1.0
    for rank, item in user.counted(k):
        is_hit = item is not None and item.relevant
        satisfies = gain(item.grade, rules) / power_of_two(max_grade) if item is not None and is_hit else 0.0
        yield Term(unsatisfied * satisfies / rank, satisfies, unsatisfied / rank)
        unsatisfied *= 1 - satisfies


@register
def err(user: JudgedUser, k: int | None, rules: Rules, max_grade: float) -> Ratio:
    """Sum of R(i) / i times the product of 1 - R(j) above, R = (2^grade - 1) / 2^max_grade. Chapelle et al. 2009."""
    return added(stop_terms(user, k, rules, max_grade)), 1


@terms_of("auc")
def pair_terms(user: JudgedUser, _k: int | None, _rules: Rules, max_fpr: float) -> Iterator[Term]:
    """Count the other items below each hit, and half of those that tie with it, as far as `max_fpr` of the others reach.

    Of a tie that it cuts, each hit is above an even share of the others: the ROC curve is a polygon.
    """
    flags = [is_hit for _, is_hit in user.hit_flags(None)]
    most, begin, others_above = max_fpr * (len(flags) - sum(flags)), 0, 0
    for size in user.ties:
        tied = flags[begin : begin + size]
        others = size - sum(tied)
        reached = min(max(most - others_above, 0), others)
        others_above, begin = others_above + others, begin + size
        right = max(most - others_above, 0) + (reached * reached / others / 2 if others else 0)
        yield from (Term(right if is_hit else 0.0) for is_hit in tied)


@register
def auc(user: JudgedUser, k: int | None, rules: Rules, max_fpr: float) -> Ratio:
    """Share of the pairs of a relevant and another ranked item that are in the right order, ties half.

    Hanley, McNeil 1982. Unranked relevant items are in no correctly ordered pair. Of a part of the others: the area A
    under the ROC curve, as (1 + (A - m^2 / 2) / (m - m^2 / 2)) / 2, m = `max_fpr`. McClish 1989.
    """
    right, pairs = added(pair_terms(user, k, rules, max_fpr)), user.relevant * (len(user.ranking) - user.hits(None))
    scaled, whole = right + pairs * (max_fpr * (1 - max_fpr)), pairs * (max_fpr * (2 - max_fpr))
    return (scaled if user.hits_repeat else min(scaled, whole)), whole


@register
def gauc(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """AUC times the number of items, and this number: of all that AUC compares, or of the relevant ones.

    Zhou et al.: Deep Interest Network for Click-Through Rate Prediction, KDD 2018, section 5.3.
    """
    right, pairs = auc(user, k, rules, 1)
    others = len(user.ranking) - user.hits(None) if rules["gauc_over"] == "impressions" else 0
    weight = user.relevant + others if pairs else 0
    return weight * (right / (pairs or 1)), weight


@register
def list_auc(user: JudgedUser, k: int | None, _rules: Rules, items: float) -> Ratio:
    """AUC of N items, those beyond the list in random order: a hit among them is halfway down. As in implicit.

    Pairs of a hit and a miss within the list count where the hit is above.
    """
    ranks = user.hit_ranks(k)
    hits, size = len(ranks), len(user.top(k))
    misses, others = size - hits, int(items) - user.relevant
    right = 0.0
    for rank in ranks:
        right += misses - (rank - bisect_right(ranks, rank))  # misses below the hit
    return right + (hits + user.relevant) / 2 * (others - misses), user.relevant * others


@register
def pairwise_accuracy(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Share of the pairs of a hit and a miss down to the cutoff that are in the right order; 1 for hits alone."""
    ranks, depth = user.hit_ranks(k), user.depth
    hits, misses = len(ranks), (depth if k is None else min(k, depth)) - len(ranks)
    if not hits or not misses:
        return float(hits > 0), float(hits > 0)
    return sum(misses - (rank - count) for count, rank in _counted_hits(ranks)), hits * misses


def _right_pairs(ranks: list[int], misses: float, hits: float) -> float:
    """Return, over the first hits, how many of so many first misses are below each."""
    counted = (misses - (rank - count) for count, rank in _counted_hits(ranks) if count <= hits)
    return sum(right for right in counted if right > 0)


@register
def partial_auc(user: JudgedUser, k: int | None, _rules: Rules, misses: float) -> Ratio:
    """Share of the pairs of a relevant item and one of the first misses that are in the right order. Budhiraja et al. 2020."""
    return _right_pairs(user.hit_ranks(k), misses, math.inf), misses * user.relevant


@register
def pap(user: JudgedUser, k: int | None, _rules: Rules, misses: float) -> Ratio:
    """Partial AUC of as many first hits. Budhiraja et al. 2020."""
    return _right_pairs(user.hit_ranks(k), misses, misses), misses * min(misses, user.relevant)


def label_ranking_loss(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """1 - AUC. Schapire, Singer 2000."""
    right, pairs = auc(user, k, rules, 1)
    return pairs - right, pairs


def coverage_error(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Rank of the last relevant item, if all are ranked. Schapire, Singer 2000."""
    ranks = user.hit_ranks(k)
    return (max(ranks, default=0), 1) if len(ranks) >= user.relevant else (0, 0)


register(label_ranking_loss, "lower")
register(coverage_error, "lower")


def _retrieved(user: JudgedUser, k: int | None, rules: Rules, items: float) -> float:
    return min(divisor(rules["precision_over"], user, k), items)


@register
def accuracy(user: JudgedUser, k: int | None, rules: Rules, items: float) -> Ratio:
    """Share of N items that are hits, or neither recommended nor relevant: (N - k - |T| + 2 h) / N."""
    return items - _retrieved(user, k, rules, items) - user.relevant + 2 * user.hits(k), items


@register
def mcc(user: JudgedUser, k: int | None, rules: Rules, items: float) -> Ratio:
    """(N h - k |T|) / sqrt(k |T| (N - |T|) (N - k)). Matthews 1975."""
    retrieved, hits = _retrieved(user, k, rules, items), user.hits(k)
    others = items - user.relevant
    divided = math.sqrt(retrieved * (items - retrieved) * (user.relevant * others))
    return hits * others - (retrieved - hits) * user.relevant, divided


@undirected
def judged(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Precision as if every judged item were relevant."""
    ranking = tuple(None if item is None else JudgedItem(relevant=True, grade=1.0) for item in user.ranking)
    all_relevant = replace(
        user,
        ranking=ranking,
        relevant_items=(JudgedItem(relevant=True, grade=1.0),) * (user.relevant + user.nonrelevant),
    )
    return precision(all_relevant, k, rules, 0)


@undirected
def unjudged(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Items of the list that are not judged, over k."""
    return len(user.top(k)) - len(user.judged(k)), divisor("cutoff", user, k)


@terms_of("bpref")
def preference_terms(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Iterator[Term]:
    """1 - min(n above, R, N) / min(R, N) for each hit."""
    above, most = 0, min(user.relevant, user.nonrelevant)
    for _rank, item in user.counted(k):
        is_hit = item is not None and item.relevant
        yield Term((1 - min(above, most) / most if above else 1.0) if is_hit else 0.0)
        above += item is not None and not is_hit


@register
def bpref(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum over hits of 1 - min(n above, R, N) / min(R, N), over R. Buckley, Voorhees 2004, as in trec_eval.

    R relevant and N judged non-relevant items, n of these above the hit; a hit with none above counts 1.
    """
    return added(preference_terms(user, k, rules, 0)), user.relevant


@register
def num_hits(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """h."""
    return user.hits(k), 1


@undirected
def num_relevant(user: JudgedUser, _k: int | None, _rules: Rules, _: float) -> Ratio:
    """|T|."""
    return user.relevant, 1


@undirected
def num_recommended(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """min(k, |L|)."""
    return len(user.top(k)), 1


@register
def list_fill(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """min(k, |L|) / k."""
    return len(user.top(k)), divisor("cutoff", user, k)


@register
def user_coverage(user: JudgedUser, k: int | None, _rules: Rules, least: float) -> Ratio:
    """1 if min(k, |L|) >= least."""
    return float(len(user.top(k)) >= least), 1
