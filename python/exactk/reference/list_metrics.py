"""The metrics that compare two lists, from their formulas on plain lists. Terms are added in float64, by depth.

A judged user holds both lists: the truth has the items of the one list with their ranks as grades, and the ranking is
the other list.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations
from typing import TYPE_CHECKING

from exactk._report.drift import ListChanges
from exactk.reference.history_metrics import METRICS
from exactk.reference.hit_metrics import undirected

if TYPE_CHECKING:
    from exactk._agreement import FirstItems
    from exactk.reference.hit_metrics import Ratio
    from exactk.reference.judge import JudgedUser
    from exactk.reference.rules import Rules

__all__ = ["METRICS"]


def _two_lists(user: JudgedUser, k: int | None) -> tuple[list[int], list[int]]:
    """Return the first k items of both lists, A and B: an item's name is its rank in the one list, or below 0."""
    one = sorted(int(grade) for grade in user.relevant_grades if k is None or grade <= k)
    other = [-rank if item is None else int(item.grade) for rank, item in enumerate(user.top(k), start=1)]
    return one, other


@undirected
def overlap(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Return |A & B| / max(|A|, |B|). Fagin, Kumar, Sivakumar 2003."""
    one, other = _two_lists(user, k)
    return len({*one} & {*other}), max(len(one), len(other))


@undirected
def jaccard(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """Return |A & B| / |A | B|."""
    one, other = _two_lists(user, k)
    return len({*one} & {*other}), len({*one} | {*other})


@undirected
def rbo(user: JudgedUser, k: int | None, rules: Rules, p: float) -> Ratio:
    """Sum of p^(d - 1) times the overlap at depth d, over the sum of p^(d - 1). Webber, Moffat, Zobel 2010, equation 32.

    Below the shorter list, its items that have no match so far are expected to match at the rate of those that it has;
    below both, the overlap is that at their end. Truncated: only depths down to k, without expectations.
    """
    one, other = _two_lists(user, k)
    shorter, longer = sorted((len(one), len(other)))
    if longer == 0:
        return 0.0, 0.0
    extrapolates = rules["rbo_over"] == "extrapolated"
    last = longer if extrapolates or k is None else k
    common = len({*one[:shorter]} & {*other[:shorter]})
    total, weights, weight, agreement = 0.0, 0.0, 1.0, 0.0
    for depth in range(1, last + 1):
        expected = float(len({*one[:depth]} & {*other[:depth]}))
        if extrapolates and common > 0 and depth > shorter:
            expected += common * (depth - shorter) / shorter
        agreement = expected / depth
        total += weight * agreement
        weights += weight
        weight *= p
    if extrapolates:
        rest = weight / (1 - p)
        total += rest * agreement
        weights += rest
    return total, weights


@undirected
def kendall_tau(user: JudgedUser, k: int | None, _rules: Rules, _: float) -> Ratio:
    """(Concordant - discordant pairs) / pairs of the items of A & B. Kendall 1938."""
    one, other = _two_lists(user, k)
    ranks = [item for item in other if item in {*one}]
    pairs = list(combinations(ranks, 2))  # first the item that other ranks higher
    return sum(1 if above < below else -1 for above, below in pairs), len(pairs)


@undirected
def lip(user: JudgedUser, k: int | None, _rules: Rules, _p: float) -> Ratio:
    """max(0, lowest rank in one of the items of B that one has - k). LensKit's least_item_promoted, with ranks from 1."""
    _, other = _two_lists(user, k)
    ranks = [item for item in other if item > 0]
    cutoff = user.depth if k is None else k
    return max(0, max(ranks, default=0) - cutoff), 1 if ranks else 0


def changes_of_lists(one: FirstItems, other: FirstItems) -> ListChanges:
    """Return what changed between lists of the same users, counted user by user and item by item."""
    before, after = (
        [lists.items[begin:end].tolist() for begin, end in zip(lists.offsets, lists.offsets[1:], strict=False)]
        for lists in (one, other)
    )
    shown, shown_after = Counter(chain.from_iterable(before)), Counter(chain.from_iterable(after))
    entries, entries_after = shown.total(), shown_after.total()
    new, lost = shown_after.keys() - shown.keys(), shown.keys() - shown_after.keys()
    return ListChanges(
        users=len(before),
        changed_users=sum(items != others for items, others in zip(before, after, strict=True)),
        entries=(entries, entries_after),
        new_items=len(new),
        lost_items=len(lost),
        new_entries=sum(shown_after[item] for item in new),
        lost_entries=sum(shown[item] for item in lost),
        shift=sum(
            abs(shown_after[item] * entries - shown[item] * entries_after) for item in shown.keys() | shown_after.keys()
        ),
    )
