"""The metrics: each returns the numerator and the denominator of one user's value.

A ratio is left undivided because what 0 / 0 means is the convention's to say, and because a micro
average sums numerators and denominators apart. Terms are added in rank order, in float64.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from exactk.reference.judge import JudgedItem, JudgedUser, gain, power_of_two, tied_hits
from exactk.reference.rules import Rules, discount

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


@register
def precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """h / k."""
    return user.hits(k), divisor(rules["precision_over"], user, k)


@register
def recall(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """h / |T|, or the sum of the values of the hits over that of all relevant items."""
    if rules["weight"] == "values":
        found = math.fsum(item.value for _, item in user.judged(k) if item.relevant)
        return found, math.fsum(item.value for item in user.relevant_items)
    return user.hits(k), divisor(rules["recall_over"], user, k)


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


@register
def hit_rate(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """1 if h > 0."""
    return float(user.hits(k) > 0), 1


@register
def average_precision(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of the precision at each hit, over min(k, |T|). Buckley, Voorhees 2000."""
    total = 0.0
    ranks = user.hit_ranks(k)
    for rank in ranks:
        total += bisect_right(ranks, rank) / rank  # h(i) / i
    return total, divisor(rules["ap_over"], user, k)


@register
def average_recall(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of the recall at each hit, over min(k, |T|)."""
    ranks = user.hit_ranks(k)
    total = sum(bisect_right(ranks, rank) for rank in ranks)  # h(i)
    return total, divisor(rules["ap_over"], user, k) * divisor(rules["recall_over"], user, k)


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


@register
def reciprocal_rank(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """1 / the rank of the first hit. Voorhees 1999."""
    ranks = user.hit_ranks(k)
    return 1 / ranks[0] if ranks else 0.0, 1


@register
def dcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """Sum of gain(i) / log2(i + 1). Jarvelin, Kekalainen 2002."""
    total = 0.0
    for rank, item in user.judged(k):
        if item.relevant:
            total += gain(item.grade, rules) * discount(rules["discount"], rank)
    return total, 1


@register
def ndcg(user: JudgedUser, k: int | None, rules: Rules, _: float) -> Ratio:
    """DCG over the DCG of the ideal ranking: the highest gains first."""
    ideal_length = divisor(rules["ideal_over"], user, k)
    # A full-k ideal continues below the relevant items; it requires binary gains, which are all 1.
    best = sorted((gain(grade, rules) for grade in user.relevant_grades), reverse=True)[:ideal_length]
    gains = [1.0] * ideal_length if rules["ideal_over"] == "cutoff" else best
    ideal = 0.0
    for rank, highest in enumerate(gains, start=1):
        ideal += highest * discount(rules["discount"], rank)
    gained, _ = dcg(user, k, rules, 0)
    # No ranking exceeds the ideal, except by rounding of a different order of terms.
    return (gained if user.hits_repeat else min(gained, ideal)), ideal


@register
def r_precision(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Hits among the first |T|, over |T|."""
    return sum(rank <= user.relevant for rank in user.hit_ranks(k)), user.relevant


@register
def rbp(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """(1 - p) sum of gain(i) p^(i - 1), at most the highest gain. Moffat, Zobel 2008."""
    total, weight = 0.0, 1.0
    weighed = 1  # the rank of the weight
    for rank, item in user.judged(k):
        for _step in range(rank - weighed):
            weight *= p
        weighed = rank
        if item.relevant:
            total += gain(item.grade, rules) * weight
    highest = max((gain(grade, rules) for grade in user.relevant_grades), default=1.0)
    return min((1 - p) * total, highest), 1


@register
def err(user: JudgedUser, k: int | None, rules: Rules, max_grade: float) -> Ratio:
    """Sum of R(i) / i times the product of 1 - R(j) above, R = (2^grade - 1) / 2^max_grade. Chapelle et al. 2009."""
    total, unsatisfied = 0.0, 1.0
    for rank, item in user.judged(k):
        if item.relevant:
            satisfies = gain(item.grade, rules) / power_of_two(max_grade)
            total += unsatisfied * satisfies / rank
            unsatisfied *= 1 - satisfies
    return total, 1


@register
def auc(user: JudgedUser, _k: int | None, _rules: Rules, _: float) -> Ratio:
    """Share of the pairs of a relevant and another ranked item that are in the right order, ties half.

    Hanley, McNeil 1982. Unranked relevant items are in no correctly ordered pair.
    """
    others_below = len(user.ranking) - user.hits(None)
    pairs, right = user.relevant * others_below, 0.0
    for _rank, size, hits in tied_hits(user):
        others = size - len(hits)
        others_below -= others
        right += len(hits) * (others_below + others / 2)
    return right, pairs


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


@register
def bpref(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Sum over hits of 1 - min(n above, R, N) / min(R, N), over R. Buckley, Voorhees 2004, as in trec_eval.

    R relevant and N judged non-relevant items, n of these above the hit; a hit with none above counts 1.
    """
    total, above = 0.0, 0
    for _rank, item in user.judged(k):
        if not item.relevant:
            above += 1
        elif above == 0:
            total += 1
        else:
            most = min(user.relevant, user.nonrelevant)
            total += 1 - min(above, most) / most
    return total, user.relevant


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
