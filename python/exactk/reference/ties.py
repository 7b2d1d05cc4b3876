"""The expectation of a metric over all orders of ties.

The hits' ranks within a tie are drawn without replacement: McSherry, Najork: Computing Information
Retrieval Performance Measures Efficiently in the Presence of Tied Scores, ECIR 2008. In their
notation, a tie has n items, r of them relevant, at ranks from i on, m of which are within the cutoff;
R relevant items rank above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from exactk.reference.hit_metrics import (
    METRICS,
    TERMS,
    Metric,
    Ratio,
    Term,
    added,
    bounded,
    ideal_gain,
    inverse_square,
    last_early_rank,
    mean_ndcg,
    over_log2,
)
from exactk.reference.judge import JudgedItem, JudgedUser, counted_gain, tied_hits
from exactk.reference.rules import Rules, discount


class Tie(NamedTuple):
    """A tie with relevant items that the cutoff reaches."""

    i: int
    n: int
    m: int
    r: int
    R: int
    hits: list[JudgedItem]  # the relevant items


def _reached_ties(user: JudgedUser, k: int | None) -> Iterator[Tie]:
    above = 0
    for first, size, hits in tied_hits(user):
        reached_size = size if k is None else min(size, k - first + 1)
        if hits and reached_size > 0:
            yield Tie(first, size, reached_size, len(hits), above, hits)
        above += len(hits)


Expectation = Callable[[Tie, JudgedUser, Rules, float], float]


def _expected_hits(tie: Tie, _user: JudgedUser, _rules: Rules, _: float) -> float:
    """E[h] = m r / n."""
    return tie.m * tie.r / tie.n


def _gains(tie: Tie, rules: Rules) -> float:
    total = 0.0
    for item in tie.hits:
        total += counted_gain(item, rules)
    return total


def _expected_found(tie: Tie, user: JudgedUser, rules: Rules, _: float) -> float:
    """E[h], or the expected sum of the values of the hits: m / n of that of all hits of the tie."""
    if rules["weight"] == "one":
        return _expected_hits(tie, user, rules, 0)
    return _gains(tie, rules) * tie.m / tie.n


def _expected_early_hits(tie: Tie, user: JudgedUser, rules: Rules, multiple: float) -> float:
    """E[h] among the first |T| ranks, or another multiple."""
    return _expected_hits(
        tie._replace(m=max(0, min(tie.m, last_early_rank(user, multiple) - tie.i + 1))), user, rules, 0
    )


def _expected_squared_hits(tie: Tie, _user: JudgedUser, _rules: Rules, _: float) -> float:
    """E[(R + h)^2] - R^2, for two of the m ranks are both hits with chance r (r - 1) / (n (n - 1))."""
    others = (tie.m - 1) * (tie.r - 1) / (tie.n - 1) if tie.n > 1 else 0.0
    return tie.m * tie.r / tie.n * (2 * tie.R + 1 + others)


def _hit_probability(tie: Tie, _user: JudgedUser, _rules: Rules, _: float) -> float:
    """P(h > 0) = 1 - C(n - m, r) / C(n, r), in the first tie that has hits."""
    if tie.R > 0:
        return 0.0
    none = 1.0
    for j in range(tie.r):
        none *= max(tie.n - tie.m - j, 0) / (tie.n - j)
    return 1 - none


def _expected_precisions(tie: Tie, _user: JudgedUser, rules: Rules, _: float) -> float:
    """E[sum of h(i) / i at the hits]: a rank is one with chance r / n, and the j before it hold j (r - 1) / (n - 1).

    Each hit is as likely at a rank as another, so that values count by their mean.
    """
    total = 0.0
    for j in range(tie.m):
        others = (tie.r - 1) / (tie.n - 1) if tie.n > 1 else 0.0
        total += tie.r / tie.n * (tie.R + 1 + j * others) / (tie.i + j)
    return total if rules["weight"] == "one" else total * (_gains(tie, rules) / tie.r)


def _expected_gains(tie: Tie, _user: JudgedUser, rules: Rules, _: float) -> float:
    """E[sum of the discounted gains]: the mean gain at each rank."""
    discounts = 0.0
    for j in range(tie.m):
        discounts += discount(rules, tie.i + j)
    return _gains(tie, rules) / tie.n * discounts


def _expected_blends(tie: Tie, user: JudgedUser, rules: Rules, beta: float) -> float:
    """E[sum of (h(i) + beta G(i)) / (i + beta G*(i)) at the hits]: a rank is one with chance r / n.

    Given that, the j before it hold j (r - 1) / (n - 1) hits, each with the mean gain of the tie.
    """
    gained = 0.0
    for first, _size, hits in tied_hits(user):
        if first < tie.i:
            gained += _gains(tie._replace(hits=hits), rules)
    total = 0.0
    for j in range(tie.m):
        others = j * ((tie.r - 1) / (tie.n - 1) if tie.n > 1 else 0.0)
        hits_to = tie.r / tie.n * (tie.R + 1 + others)
        gains_to = tie.r / tie.n * gained + _gains(tie, rules) / tie.n * (1 + others)
        total += (hits_to + beta * gains_to) / (tie.i + j + beta * ideal_gain(user, tie.i + j, rules))
    return total


def _expected_reciprocal_rank(tie: Tie, _user: JudgedUser, _rules: Rules, _: float) -> float:
    """E[1 / rank of the first hit]: that j ranks come before it has the chance C(n - 1 - j, r - 1) / C(n, r)."""
    if tie.R > 0:
        return 0.0
    total, chance = 0.0, tie.r / tie.n
    for j in range(min(tie.m, tie.n - tie.r + 1)):
        total += chance / (tie.i + j)
        chance *= (tie.n - j - tie.r) / max(tie.n - j - 1, 1)  # from j to j + 1
    return total


def _expected_inverse_squares(tie: Tie, _user: JudgedUser, rules: Rules, t: float) -> float:
    """E[sum of the gains over squares]: the mean gain at each rank."""
    weights = 0.0
    for j in range(tie.m):
        weights += inverse_square(tie.i + j, t)
    return _gains(tie, rules) / tie.n * weights


_LARGE = 2.0**512


def _expected_gains_behind(tie: Tie, _user: JudgedUser, _rules: Rules, _: float) -> float:
    """E[sum of 1 / log2(2 + misses above) at the hits]: with v misses among m ranks, m - v hits spread over v + 1 gaps.

    That there are v has a chance in proportion to C(n - r, v) C(r, m - v), which is made from v to v + 1.
    """
    misses, above = tie.n - tie.r, tie.i - 1 - tie.R
    weight, weights, total, discounts = 1.0, 0.0, 0.0, 0.0
    for v in range(min(misses, tie.m) + 1):
        discounts += over_log2(1, above + v)
        if v < tie.m - tie.r:
            continue
        weights += weight
        total += weight * ((tie.m - v) / (v + 1) * discounts)
        weight *= (misses - v) / (v + 1)
        weight *= (tie.m - v) / (v + 1 - (tie.m - tie.r))
        if weight >= _LARGE:
            weight, weights, total = weight / _LARGE, weights / _LARGE, total / _LARGE
    return total / weights


def expected_r_ndcg(user: JudgedUser, k: int | None, rules: Rules, least: float) -> Ratio:
    """nDCG at given ranks, of the expected gains of ties."""

    def dcg_to(rank: int) -> float:
        return added(Term(_expected_gains(tie, user, rules, 0)) for tie in _reached_ties(user, rank))

    return mean_ndcg(user, k, rules, least, dcg_to)


EXPECTATIONS: dict[str, Expectation | None] = {
    "auc": None,  # its formula already counts ties half
    "gauc": None,
    "label_ranking_loss": None,
    "precision": _expected_found,
    "recall": _expected_found,
    "fbeta": _expected_hits,
    "f1": _expected_hits,
    "num_hits": _expected_hits,
    "r_precision": _expected_early_hits,
    "hit_rate": _hit_probability,
    "average_precision": _expected_precisions,
    "set_average_precision": _expected_squared_hits,
    "dcg": _expected_gains,
    "ndcg": _expected_gains,
    "sdcg": _expected_gains,
    "q_measure": _expected_blends,
    "insq": _expected_inverse_squares,
    "reciprocal_rank": _expected_reciprocal_rank,
    "normalized_gain": _expected_gains_behind,  # of gains 1
    "r_ndcg": None,
}
"""What each tie adds to the numerator of a metric; None where the numerator is the expectation. No denominator depends on the order within ties."""


EXPECTED_RATIOS: dict[str, Metric] = {"r_ndcg": expected_r_ndcg}
"""The formulas that take the expectation of each tie where they read it."""


def expected_terms(metric: str, user: JudgedUser, k: int | None, rules: Rules, parameter: float) -> Iterator[Term]:
    """Return what each item adds to the expected numerator: the first item of a tie what the tie does."""
    expectation = EXPECTATIONS[metric]
    if expectation is None:
        yield from TERMS[metric](user, k, rules, parameter)
        return
    by_rank = {tie.i: expectation(tie, user, rules, parameter) for tie in _reached_ties(user, k)}
    yield from (Term(by_rank.get(rank, 0.0)) for rank, _ in user.counted(k))


def expected_ratio(metric: str, user: JudgedUser, k: int | None, rules: Rules, parameter: float) -> Ratio:
    """Return the expected numerator, and the denominator."""
    if metric in EXPECTED_RATIOS:
        return EXPECTED_RATIOS[metric](user, k, rules, parameter)
    numerator, denominator = METRICS[metric](user, k, rules, parameter)
    if EXPECTATIONS[metric] is not None:
        numerator = added(expected_terms(metric, user, k, rules, parameter))
    return bounded(metric, numerator, denominator, user, rules)
