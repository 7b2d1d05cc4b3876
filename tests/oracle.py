"""The oracle: the definitions once more, in fractions, to compare the core and the reference with.

That two engines agree shows little if both follow one misreading of a definition. This one is written from the formulas
of the documentation alone: it imports nothing of the package, has no arrays, no plan and no containers, and averages
over the orders of ties by trying each of them. Its input is users, each with all that is theirs.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby, permutations, product
from typing import Any, NamedTuple

from oracle_items import (
    Catalogue,
    Item,
    RefusedError,
    check_distance,
    counted_tags,
    divides_by_zero,
    item_number,
    item_value,
    sum_of_distances,
)

Rules = Mapping[str, Any]

_DIGITS = Context(prec=40)
_LEAST_FACTOR = 1e-5  # of a geometric mean
MOST_ORDERS = 800
STRICT = {"lowest_id", "highest_id", "input_order"}
_COPY = -1  # stands for an item that is repeated in a tie and is no second hit
_NO_MERIT = 0, Fraction(0)
_LIST_MEANS = {"novelty", "surprisal", "arp", "popularity_rank", "aplt"}
_DISCOUNTED = {"epc", "efd"}  # sums over hits
_OF_PAIRS = {"ild"}
_OF_TAGS = {"tag_diversity", "tag_entropy"}
_OF_ITEMS = _LIST_MEANS | _DISCOUNTED | _OF_PAIRS | _OF_TAGS
OF_ALL_LISTS = ["coverage", "entropy", "exposure_gini", "gini", "item_recall", "num_items", "personalization"]
_READS_ITEMS = _OF_ITEMS | {"unexpectedness", *OF_ALL_LISTS}
_WITHOUT_TRUTH = _LIST_MEANS | _OF_PAIRS | _OF_TAGS | {"list_fill", "unexpectedness"}


class Parameter(NamedTuple):
    """The parameter of a metric."""

    name: str
    standard: float | None  # what it is by default; None: it must be given
    numbers: Sequence[float]  # that are drawn


PARAMETERS = {
    "fbeta": Parameter("beta", 1.0, [0.0, 0.5, 2.0, math.inf]),
    "rbp": Parameter("p", 0.8, [0.0, 0.5, 0.8]),
    "rbp_residual": Parameter("p", 0.8, [0.0, 0.5, 0.8]),
    "interpolated_precision": Parameter("recall", None, [0.0, 0.1, 0.3, 0.5, 1.0]),
    "r_precision": Parameter("multiple", 1.0, [0.0, 0.2, 0.5, 1.4, 2.0]),
    "auc": Parameter("max_fpr", 1.0, [0.1, 0.3, 0.5, 0.9]),
    "partial_auc": Parameter("misses", None, [1.0, 2.0, 3.0]),
    "pap": Parameter("misses", None, [1.0, 2.0, 3.0]),
    "accuracy": Parameter("num_items", None, [8.0, 40.0]),
    "mcc": Parameter("num_items", None, [8.0, 40.0]),
    "r_ndcg": Parameter("least_gain", 0.0, [1.0, 2.0]),
    "compatibility": Parameter("p", 0.95, [0.0, 0.5, 0.8]),
    "q_measure": Parameter("beta", 1.0, [0.0, 0.5, 10.0]),
    "insq": Parameter("t", 1.0, [0.5, 1.0, 2.5]),
    "inst": Parameter("t", 1.0, [0.5, 1.0, 2.5]),
    "bpm": Parameter("t", 1.0, [0.0, 0.5, 2.0]),
    "nerr10": Parameter("p", 0.9, [0.0, 0.5]),
    "nerr11": Parameter("t", 1.0, [0.5, 2.5]),
    "err": Parameter("max_grade", 4.0, [3.0, 4.0]),
    "list_auc": Parameter("num_items", None, [40.0]),
    "user_coverage": Parameter("least", 1.0, [1.0, 2.0, 3.0]),
    "aplt": Parameter("head", 0.8, [0.0, 0.3, 0.5, 0.8, 0.9, 1.0, 2.0]),
}


@dataclass(frozen=True)
class User:
    """Everything that is one user's."""

    truth: Sequence[tuple[Item, float]] | None  # items with grades, in input order; None: not in the truth
    ranking: Sequence[Item] | None = None  # best first
    given_ranks: Sequence[int] | None = None  # beside it, if they were given
    scores: Sequence[tuple[Item, float]] | None = None  # or items with scores, in input order
    min_score: float | None = None  # below which an item of `scores` is not ranked
    excluded: frozenset[Item] = frozenset()
    weight: float = 1.0
    group: str = ""
    base_ranking: Sequence[Item] | None = None  # of base predictions, best first
    base_scores: Sequence[tuple[Item, float]] | None = None  # or their items with scores

    @property
    def has_list(self) -> bool:
        return self.ranking is not None or self.scores is not None


@dataclass(frozen=True)
class Asked:
    """One value: a metric at a cutoff, under rules."""

    metric: str
    cutoff: int | None
    parameter: float
    rules: Rules
    catalogue: Catalogue | None = None  # for metrics of the items of the list
    group: frozenset[Item] | None = None  # the items whose relevant ones the value is of
    is_share: bool = False  # of the group in the value of all items; else the truth is cut to the group

    @property
    def reads_items(self) -> bool:
        """Return whether the value reads the items of the list, relevant or not."""
        return self.metric in _READS_ITEMS or self.is_precision_of_group

    @property
    def is_precision_of_group(self) -> bool:
        """Return whether the value divides by the items of a group in the list."""
        return self.group is not None and self.metric == "precision" and not self.is_share


@dataclass
class Answer:
    """What a value is, over all users and for each."""

    value: float
    evaluated: int
    per_user: dict[Any, float]  # NaN where a user is skipped


@dataclass(frozen=True)
class Slot:
    """What stands at one rank of a list."""

    position: int  # in the list, from 1, or the rank that was given
    rank: int  # the same, or the last of those that a tie shares
    item: Item
    grade: Fraction | None  # None: not judged, or a repetition that does not count
    is_relevant: bool
    is_pooled: bool = False  # has a negative grade, which is no judgement


@dataclass(frozen=True)
class Judged:
    """One order of a user's list, beside the user's truth."""

    slots: Sequence[Slot]
    relevant: Sequence[Fraction]  # grades of T
    nonrelevant: int
    relevant_items: Sequence[Item] = ()  # T, beside the grades

    def length(self, k: int | None) -> int:
        """Return how many items the list has down to the cutoff."""
        return sum(k is None or slot.position <= k for slot in self.slots)

    @property
    def depth(self) -> int:
        return self.slots[-1].position if self.slots else 0

    def top(self, k: int | None) -> list[Slot]:
        return [slot for slot in self.slots if k is None or slot.rank <= k]

    def hits(self, k: int | None) -> list[Slot]:
        return [slot for slot in self.top(k) if slot.is_relevant]


# One user's truth, list and orders.


def _grades(user: User, rules: Rules) -> tuple[dict[Item, Fraction], list[tuple[Item, Fraction]]]:
    """Return the grade of each item, and the items that are counted (several times, if repetitions count)."""
    grades: dict[Item, Fraction] = {}
    for item, grade in user.truth or ():
        if item not in grades:
            grades[item] = Fraction(grade)
        elif rules["duplicate_truth"] == "raise":
            raise RefusedError("an item is in the truth twice")
        elif rules["duplicate_truth"] == "max":
            grades[item] = max(grades[item], Fraction(grade))
    if rules["negative_grades"] == "unjudged":
        grades = {item: grade for item, grade in grades.items() if grade >= 0}
    given = [item for item, _ in user.truth or ()] if rules["duplicate_truth"] == "count" else list(grades)
    return grades, [(item, grades[item]) for item in given if item in grades]


def _is_relevant(grade: Fraction, rules: Rules) -> bool:
    least = rules["min_grade"]
    if least == "any":
        return True
    return grade > 0 if least is None else grade >= Fraction(least)


def _sort_key(score: float) -> tuple[bool, float]:
    """Return what orders scores from the best; NaN is last."""
    return (math.isnan(score), 0.0 if math.isnan(score) else -score)


def _narrowed(score: float, rules: Rules) -> float:
    if rules["score_dtype"] == "native":
        return score
    narrow: float = struct.unpack("f", struct.pack("f", score))[0]
    return narrow


def _tie_groups(user: User, rules: Rules) -> list[list[Item]]:
    """Return the items that may be ranked, best first, with ties in input order; each once, if repeats take no rank."""
    groups = _groups_with_repeats(user, rules)
    if rules["duplicate_items"] != "collapse":
        return groups
    firsts = [
        [item for item in dict.fromkeys(group) if not any(item in above for above in groups[:i])]
        for i, group in enumerate(groups)
    ]
    return [group for group in firsts if group]


def _groups_with_repeats(user: User, rules: Rules) -> list[list[Item]]:
    if user.scores is None:
        return [[item] for item in user.ranking or () if item not in user.excluded]
    rows = [(item, _narrowed(score, rules)) for item, score in user.scores if item not in user.excluded]
    if user.min_score is not None:
        rows = [(item, score) for item, score in rows if score >= user.min_score]
    if rules["negative_infinity"] == "exclude":
        rows = [(item, score) for item, score in rows if score > -math.inf]
    rows.sort(key=lambda row: _sort_key(row[1]))
    return [[item for item, _ in group] for _, group in groupby(rows, key=lambda row: _sort_key(row[1]))]


def _orders(user: User, rules: Rules, ties: str) -> list[list[tuple[int, Item]]]:
    """Return every order of the list that counts, as (rank, item)."""
    grades, _ = _grades(user, rules)
    is_condensed = rules["unjudged"] == "remove"
    if user.given_ranks is not None and _keeps_gaps(rules):
        return [_kept_ranks(user)]
    groups = _tie_groups(user, rules)
    if is_condensed:
        groups = [[item for item in group if item in grades] for group in groups]
    if ties == "expected":
        if math.prod(math.factorial(len(group)) for group in groups) > MOST_ORDERS:
            raise NotImplementedError("too many orders to try each")
        orders = product(*(permutations(group) for group in groups))
        return [list(enumerate((item for group in order for item in group), start=1)) for order in orders]
    seen: set[Item] = set()
    order: list[tuple[int, Item]] = []
    for group in groups:
        arranged = _arrange(group, seen, grades, rules, ties)
        last = len(order) + len(group)
        order += [(last if ties == "shared" else len(order) + i + 1, item) for i, item in enumerate(arranged)]
        seen |= set(group)
    return [order]


def _keeps_gaps(rules: Rules) -> bool:
    """Return whether items stay at the ranks that were given, which is not so where repeats take no rank."""
    moves_up = rules["duplicate_items"] == "collapse" or rules["unjudged"] == "remove"
    return bool(rules["rank_gaps"] == "keep" and not moves_up)


def _kept_ranks(user: User) -> list[tuple[int, Item]]:
    """Return the list with the ranks that were given; an excluded item moves those below it up by one."""
    order, removed = [], 0
    for rank, item in zip(user.given_ranks or (), user.ranking or (), strict=True):
        if item in user.excluded:
            removed += 1
        else:
            order.append((rank - removed, item))
    return order


def _arrange(
    group: list[Item], above: set[Item], grades: Mapping[Item, Fraction], rules: Rules, ties: str
) -> list[Item]:
    """Return the tied items in their order."""
    if ties in {"lowest_id", "highest_id"}:
        return sorted(group, key=_id_order, reverse=ties == "highest_id")
    if ties in {"input_order", "raise"} or len(group) == 1:
        return group
    seen = set(above)

    def merit(item: Item) -> tuple[int, Fraction]:
        if item not in grades or (item in seen and rules["duplicate_items"] != "count"):
            return _NO_MERIT
        seen.add(item)
        if not _is_relevant(grades[item], rules):
            return 1, Fraction(0)
        return 2, _counted_gain(item, grades[item], rules)

    merits = [merit(item) for item in group]
    positions = sorted(range(len(group)), key=lambda i: merits[i], reverse=ties == "optimistic")
    return [_COPY if merits[i] == _NO_MERIT and group[i] in grades else group[i] for i in positions]


def _counted_gain(item: Item, grade: Fraction, rules: Rules) -> Fraction:
    """Return the gain of a relevant item, times its value where items count by their values."""
    value = Fraction(1) if rules["weight"] == "one" else item_value(item, rules["catalogue"])
    return value * _gain(grade, rules)


def _id_order(item: Item) -> bytes | int:
    return item.encode() if isinstance(item, str) else item


def judged_list(user: User, rules: Rules) -> Judged:
    """Return the user's list in the order that the rules give, beside the truth."""
    (order,) = _orders(user, rules, rules["ties"])
    return _judge(user, order, rules)


def _judge(user: User, order: Sequence[tuple[int, Item]], rules: Rules) -> Judged:
    grades, counted = _grades(user, rules)
    pooled = {item for item, _ in user.truth or ()} - set(grades)
    slots = []
    seen: set[Item] = set()
    for position, (rank, item) in enumerate(order, start=1):
        counts = item in grades and (item not in seen or rules["duplicate_items"] == "count")
        grade = grades[item] if counts else None
        list_rank = rank if user.scores is None else position
        is_pooled = item in pooled and (item not in seen or rules["duplicate_items"] == "count")
        slots.append(Slot(list_rank, rank, item, grade, grade is not None and _is_relevant(grade, rules), is_pooled))
        seen.add(item)
    relevant = [(item, grade) for item, grade in counted if _is_relevant(grade, rules)]
    items, grades_of_relevant = [item for item, _ in relevant], [grade for _, grade in relevant]
    return Judged(slots, grades_of_relevant, len(counted) - len(relevant), items)


# The formulas.


def _gain(grade: Fraction, rules: Rules) -> Fraction:
    """Return the gain of a relevant item."""
    if grade < 0 and rules["negative_grades"] == "zero_gain" and rules["gain"] != "binary":
        return Fraction(0)
    match rules["gain"]:
        case "binary":
            return Fraction(1)
        case "linear":
            gained = grade
        case "exp2":
            gained = _power_of_2(grade) - 1
        case "exp2_shifted":
            gained = _power_of_2(grade - Fraction(rules["min_grade"]) + 1) - 1
        case "scaled":
            low, high = map(Fraction, rules["gain_range"])
            if grade < 0:
                raise RefusedError("a grade is negative")
            gained = (min(max(grade, low), high) - low) / (high - low)
        case _:
            gained = Fraction(rules["gain_table"][int(grade)])
    if gained < 0:
        raise RefusedError("a gain is negative")
    return gained


def _power_of_2(exponent: Fraction) -> Fraction:
    if exponent.denominator == 1:
        return Fraction(2) ** int(exponent)
    number = Decimal(exponent.numerator) / Decimal(exponent.denominator)
    return Fraction(_DIGITS.power(2, number))


def _discount(rules: Rules, rank: int) -> Fraction:
    kind, table = rules["discount"], rules["discount_table"]
    if kind == "table":
        return Fraction(table[rank - 1]) if rank <= len(table) else Fraction(0)
    if kind in ("none", "inverse"):
        return Fraction(1, rank if kind == "inverse" else 1)
    if kind == "power":
        return _inverse_power(rank, rules["discount_power"])
    if kind == "geometric":
        return Fraction(rules["discount_persistence"]) ** (rank - 1)
    base = 2 if kind.startswith("log2") else rules["discount_base"]
    if kind.endswith("floored"):
        return min(Fraction(1), _ratio_of_logarithms(base, rank)) if rank > 1 else Fraction(1)
    return _ratio_of_logarithms(base, rank + 1)


@cache
def _inverse_power(rank: int, exponent: float) -> Fraction:
    return Fraction(_DIGITS.exp(_DIGITS.multiply(-Decimal(exponent), _DIGITS.ln(Decimal(rank)))))


@cache
def _ratio_of_logarithms(base: float, number: int) -> Fraction:
    """1 / log of the number to the base."""
    return Fraction(_DIGITS.divide(_DIGITS.ln(Decimal(base)), _DIGITS.ln(Decimal(number))))


def _divisor(over: str, judged: Judged, k: int | None) -> int:
    length, relevant = judged.length(k), len(judged.relevant)
    cutoff = judged.depth if k is None else k
    return {
        "cutoff": cutoff,
        "list": length,
        "relevant": relevant,
        "all_judged": relevant,
        "min_cutoff_relevant": relevant if k is None else min(k, relevant),
        "min_list_relevant": min(length, relevant),
        "hits": max(len(judged.hits(k)), 1),
    }[over]


def _ratio(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:  # noqa: C901, PLR0911, PLR0912, PLR0915 - a formula a case
    """Return a value's numerator and denominator: what is summed apart in a micro average."""
    k, rules = asked.cutoff, asked.rules
    top, all_hits = judged.top(k), judged.hits(k)
    hits = [slot for slot in all_hits if not asked.is_share or slot.item in (asked.group or ())]
    h, t = len(hits), len(judged.relevant)
    over_precision, over_recall, over_ap = (
        _counted_divisor(rules[over], judged, k, rules) for over in ("precision_over", "recall_over", "ap_over")
    )
    whole = _counted_divisor("relevant", judged, k, rules) if rules["weight"] == "self_normalized" else Fraction(1)

    def hits_to(rank: int) -> int:
        return sum(slot.rank <= rank for slot in all_hits)

    if asked.is_precision_of_group:
        return _precision_of_group(asked, judged)
    match asked.metric:
        case "precision":
            return _sum_of_gains(hits, rules), over_precision
        case "recall":
            return _sum_of_gains(hits, rules), over_recall
        case "f1" | "fbeta":
            beta = 1.0 if asked.metric == "f1" else asked.parameter
            a = Fraction(0) if math.isinf(beta) else 1 / (1 + Fraction(beta) ** 2)
            return Fraction(h), a * over_precision + (1 - a) * over_recall
        case "hit_rate":
            return Fraction(h > 0), Fraction(1)
        case "average_precision":
            precisions = (Fraction(hits_to(slot.rank), slot.rank) * _slot_gain(slot, rules) for slot in hits)
            return sum(precisions, Fraction(0)), over_ap
        case "average_recall":
            return Fraction(sum(hits_to(slot.rank) for slot in hits)), over_ap * over_recall
        case "mean_precision":
            last = judged.depth if k is None else k
            return sum((Fraction(hits_to(n), n) for n in range(1, last + 1)), Fraction(0)), Fraction(last)
        case "set_average_precision":
            return Fraction(h * h), over_precision * over_recall
        case "reciprocal_rank":
            return (Fraction(1, min(slot.rank for slot in hits)) if hits else Fraction(0)), Fraction(1)
        case "dcg":
            return _discounted(hits, rules), whole
        case "ndcg":
            return _discounted(hits, rules), _ideal(judged, k, rules)
        case "r_precision":
            last = math.floor(asked.parameter * t + 0.9)
            return Fraction(sum(slot.rank <= last for slot in hits)), Fraction(last)
        case "interpolated_precision":
            return _interpolated(asked.parameter, judged, k, rules), Fraction(1)
        case "eleven_point_precision":
            points = [_interpolated(tenths / 10, judged, k, rules) for tenths in range(11)]
            return sum(points, Fraction(0)) / 11, Fraction(1)
        case "rbp_residual":
            p, ranks = Fraction(asked.parameter), [slot.rank for slot in top if slot.grade is not None]
            if rules["residual_tail"] == "if_unjudged" and len(ranks) == judged.length(k):
                return Fraction(0), Fraction(1)
            return max(1 - (1 - p) * sum((p ** (rank - 1) for rank in ranks), Fraction(0)), Fraction(0)), Fraction(1)
        case "unjudged":
            unjudged = judged.length(k) - sum(slot.grade is not None for slot in top)
            return Fraction(unjudged), Fraction(_divisor("cutoff", judged, k))
        case "rbp":
            p = Fraction(asked.parameter)
            total = sum((_slot_gain(slot, rules) * p ** (slot.rank - 1) for slot in hits), Fraction(0))
            most = max(_relevant_gains(judged, rules), default=Fraction(1))
            is_scaled = rules["rbp_over"] == "highest_gain" and rules["weight"] != "self_normalized"
            return min((1 - p) * total, most), max(most, Fraction(1)) if is_scaled else whole
        case "err":
            total, unsatisfied = Fraction(0), Fraction(1)
            for slot in hits:
                satisfies = _gain(_grade(slot), {**rules, "gain": "exp2"}) / _power_of_2(Fraction(asked.parameter))
                total += unsatisfied * satisfies / slot.rank
                unsatisfied *= 1 - satisfies
            return total, Fraction(1)
        case "inferred_average_precision":
            return _inferred(judged, hits), Fraction(t)
        case "average_ndcg":
            return _average_ndcg(judged, hits, k, rules)
        case "r_ndcg":
            return _ndcg_of_levels(asked, judged)
        case "normalized_gain":
            return _gains_behind(judged, hits, rules), sum(_relevant_gains(judged, rules), Fraction(0))
        case "q_measure":
            return _q_measure(asked, judged, hits), over_ap
        case "compatibility":
            return _compatibility(asked, judged, hits)
        case metric if metric in _READERS:
            return _expected_gain(asked, hits)
        case "list_auc":
            items, misses = int(asked.parameter), judged.length(k) - h
            if t + misses > items:
                raise RefusedError("more items than there are")
            right = sum((misses - (slot.rank - hits_to(slot.rank)) for slot in hits), 0)
            return right + Fraction(h + t, 2) * (items - t - misses), Fraction(t * (items - t))
        case "pairwise_accuracy":
            misses = (judged.depth if k is None else min(k, judged.depth)) - h
            misses_above = sum(slot.rank - hits_to(slot.rank) for slot in hits)
            if not h or not misses:
                return Fraction(h > 0), Fraction(h > 0)
            return Fraction(h * misses - misses_above), Fraction(h * misses)
        case "partial_auc" | "pap":
            first_misses = int(asked.parameter)
            first_hits = first_misses if asked.metric == "pap" else len(judged.slots) + t
            counted = [slot.rank for slot in hits if hits_to(slot.rank) <= first_hits]
            right_pairs = sum(max(0, first_misses - rank + hits_to(rank)) for rank in counted)
            return Fraction(right_pairs), Fraction(first_misses * min(first_hits, t))
        case "coverage_error":
            return (Fraction(max([slot.rank for slot in hits], default=0)), Fraction(1)) if h >= t else _UNDEFINED
        case "accuracy" | "mcc":
            return _of_confusion(asked, judged)
        case "auc" if asked.parameter < 1:
            return _partial_area(asked.parameter, judged, [[slot] for slot in _misses_first(judged)])
        case "auc" | "gauc" | "label_ranking_loss":
            others = len(judged.slots) - len(judged.hits(None))
            below = [sum(not o.is_relevant and o.rank > slot.rank for o in judged.slots) for slot in judged.hits(None)]
            right_ones, pairs = Fraction(sum(below)), Fraction(t * others)
            if asked.metric == "label_ranking_loss":
                return pairs - right_ones, pairs
            if asked.metric == "auc" or not pairs:
                return right_ones, pairs
            size = Fraction(t + others if rules["gauc_over"] == "impressions" else t)
            return size * right_ones / pairs, size
        case "judged":
            all_judged = Judged([], [Fraction(1)] * (t + judged.nonrelevant), 0)
            length = judged.length(k)
            denominator = {
                "cutoff": judged.depth if k is None else k,
                "list": length,
                "min_cutoff_relevant": _divisor("min_cutoff_relevant", all_judged, k),
                "min_list_relevant": min(length, len(all_judged.relevant)),
            }[rules["precision_over"]]
            return Fraction(sum(slot.grade is not None for slot in top)), Fraction(denominator)
        case "bpref":
            return _bpref(judged, top), Fraction(t)
        case "num_hits":
            return Fraction(h), Fraction(1)
        case "num_relevant":
            return Fraction(t), Fraction(1)
        case "num_recommended":
            return Fraction(judged.length(k)), Fraction(1)
        case "list_fill":
            return Fraction(judged.length(k)), Fraction(judged.depth if k is None else k)
        case "user_coverage":
            return Fraction(judged.length(k) >= asked.parameter), Fraction(1)
    if asked.metric in _OF_ITEMS:
        return _ratio_of_items(asked, judged)
    raise NotImplementedError(asked.metric)


_UNDEFINED = Fraction(0), Fraction(0)


def _interpolated(recall: float, judged: Judged, k: int | None, rules: Rules) -> Fraction:
    """Return the highest precision of the ranks where the list has the recall."""
    number = recall * len(judged.relevant)
    least = math.floor(number + 0.9) if rules["recall_rank"] == "plus_0.9" else math.floor(2 * number + 1) // 2
    precisions = [Fraction(len(judged.hits(slot.rank)), slot.rank) for slot in judged.hits(k)]
    reached = [len(judged.hits(slot.rank)) >= least for slot in judged.hits(k)]
    return max((one for one, is_reached in zip(precisions, reached, strict=True) if is_reached), default=Fraction(0))


def _of_confusion(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:
    """Return accuracy, or the correlation, of the four counts."""
    items, found, t = int(asked.parameter), len(judged.hits(asked.cutoff)), len(judged.relevant)
    if t + judged.length(asked.cutoff) - found > items:
        raise RefusedError("more items than there are")
    positives = min(_divisor(asked.rules["precision_over"], judged, asked.cutoff), items)
    wrong, missed = positives - found, t - found
    neither = items - found - wrong - missed
    if asked.metric == "accuracy":
        return Fraction(found + neither), Fraction(items)
    product = (found + wrong) * (found + missed) * (neither + wrong) * (neither + missed)
    return Fraction(found * neither - wrong * missed), Fraction(math.sqrt(product))


def _misses_first(judged: Judged) -> list[Slot]:
    """Return the slots, of those that share a rank the hits last."""
    return sorted(judged.slots, key=lambda slot: (slot.rank, slot.is_relevant))


def _steps(judged: Judged) -> list[list[Slot]]:
    """Return the slots, those that share a rank together."""
    return [[*step] for _, step in groupby(judged.slots, key=lambda slot: slot.rank)]


def _partial_area(m: float, judged: Judged, steps: Sequence[Sequence[Slot]]) -> tuple[Fraction, Fraction]:
    """Return the scaled area under the polygon of these steps, up to a false positive rate of m: McClish 1989."""
    others = sum(not slot.is_relevant for slot in judged.slots)
    last, at, height, area = Fraction(m) * others, Fraction(0), 0, Fraction(0)
    for step in steps:
        rise, width = sum(slot.is_relevant for slot in step), sum(not slot.is_relevant for slot in step)
        reached = max(Fraction(0), min(Fraction(width), last - at))
        if width:
            area += height * reached + Fraction(rise, width) * reached * reached / 2
        at, height = at + width, height + rise
    pairs = len(judged.relevant) * others
    if not pairs:
        return _UNDEFINED
    least, most = Fraction(m) ** 2 / 2, Fraction(m)
    return (1 + (area / pairs - least) / (most - least)) / 2 * pairs, Fraction(pairs)


def _precision_of_group(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:
    """Return how many items of the group in the list are relevant, and how many there are."""
    assert asked.group is not None
    slots = [slot for slot in judged.slots if asked.cutoff is None or slot.position <= asked.cutoff]
    of_group = [slot for slot in slots if slot.item in asked.group]
    items = [slot.item for slot in of_group]
    count = len(items if asked.rules["duplicate_items"] == "count" else set(items))
    return Fraction(sum(slot.is_relevant for slot in of_group)), Fraction(count)


def _base_user(user: User) -> User:
    """Return the user with the base predictions in place of the predictions."""
    return replace(user, ranking=user.base_ranking, scores=user.base_scores, given_ranks=None, min_score=None)


def _unexpectedness(user: User, asked: Asked, judged: Judged, ties: str) -> tuple[Fraction, Fraction]:
    """Return how many items the base list lacks, and what that is divided by."""
    rules, k = asked.rules, asked.cutoff
    (order,) = _orders(_base_user(user), rules, ties)
    base = {item for position, (_, item) in enumerate(order, start=1) if k is None or position <= k}
    items = [slot.item for slot in judged.slots if k is None or slot.position <= k]
    if rules["duplicate_items"] == "first":
        items = list(dict.fromkeys(items))
    divisor = len(items) if rules["list_mean_over"] == "list" else _divisor("cutoff", judged, k)
    missing_ranks = divisor - len(items)  # which are no item of the base list
    return Fraction(sum(item not in base for item in items) + missing_ranks if items else 0), Fraction(divisor)


def _ratio_of_items(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:
    """Return the sum of the numbers of the items, or of the hits, and what it is divided by."""
    assert asked.catalogue is not None
    rules, top = asked.rules, judged.top(asked.cutoff)
    if asked.metric in _OF_PAIRS:
        items = [slot.item for slot in top if slot.item != _COPY]
        if rules["duplicate_items"] != "count":
            items = list(dict.fromkeys(items))
        total, n = sum_of_distances(items, asked.catalogue, rules)
        if rules["ild_over"] == "pairs_or_one" and len(top) < 2:
            return total, Fraction(1)
        return total, Fraction(n if rules["ild_over"] == "list" else n * (n - 1) // 2)
    if asked.metric in _OF_TAGS:
        return _ratio_of_tags(asked, judged)
    numbers = [item_number(asked.metric, slot.item, asked.catalogue, rules, asked.parameter) for slot in top]
    is_repeat = [slot.item == _COPY or any(slot.item == above.item for above in top[:i]) for i, slot in enumerate(top)]
    counted = [
        (slot, number)
        for slot, number, repeats in zip(top, numbers, is_repeat, strict=True)
        if number is not None and (not repeats or rules["duplicate_items"] == "count")
    ]
    if asked.metric in _LIST_MEANS:
        if divides_by_zero(asked.metric, asked.catalogue, rules):
            return Fraction(0), Fraction(0)
        divisor = len(counted) if rules["list_mean_over"] == "list" else _divisor("cutoff", judged, asked.cutoff)
        return sum((number for _, number in counted), Fraction(0)), Fraction(divisor)
    weights = [_discount(rules, slot.rank) for slot, _ in counted]
    hits = [weight * number * slot.is_relevant for weight, (slot, number) in zip(weights, counted, strict=True)]
    return sum(hits, Fraction(0)), sum(weights, Fraction(0))


def _ratio_of_tags(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:
    """Return how many tags there are per item, or the entropy of their weights."""
    assert asked.catalogue is not None
    rules, ranks = asked.rules, dict[Item, list[int]]()
    for slot in judged.top(asked.cutoff):
        if slot.item != _COPY:
            ranks.setdefault(slot.item, []).append(slot.rank)
    if rules["duplicate_items"] != "count":
        ranks = {item: of_item[:1] for item, of_item in ranks.items()}
    weights: dict[object, Fraction] = {}
    items = 0
    for item, of_item in ranks.items():
        if tags := counted_tags(item, asked.catalogue, rules):
            items += len(of_item)
            for tag in tags:
                weights[tag] = weights.get(tag, Fraction(0)) + sum(_discount(rules, rank) for rank in of_item)
    if asked.metric == "tag_diversity":
        divisor = items if rules["list_mean_over"] == "list" else _divisor("cutoff", judged, asked.cutoff)
        return Fraction(len(weights)), Fraction(divisor)
    total = sum(weights.values(), Fraction(0))
    base = math.log(2) if rules["entropy_base"] == "2" else 1
    shares = [float(weight / total) for weight in weights.values() if weight]
    return Fraction(-math.fsum(share * math.log(share) for share in shares) / base), Fraction(1 if total else 0)


def _grade(slot: Slot) -> Fraction:
    assert slot.grade is not None
    return slot.grade


def _slot_gain(slot: Slot, rules: Rules) -> Fraction:
    return _counted_gain(slot.item, _grade(slot), rules)


def _relevant_gains(judged: Judged, rules: Rules) -> list[Fraction]:
    """Return the gains of all relevant items, the highest first."""
    pairs = zip(judged.relevant_items, judged.relevant, strict=True)
    return sorted((_counted_gain(item, grade, rules) for item, grade in pairs), reverse=True)


def _sum_of_gains(hits: Sequence[Slot], rules: Rules) -> Fraction:
    return sum((_slot_gain(slot, rules) for slot in hits), Fraction(0))


def _counted_divisor(over: str, judged: Judged, k: int | None, rules: Rules) -> Fraction:
    """Return the divisor, where it counts relevant items by what these count."""
    counts_ranks = over in {"cutoff", "list"}
    if counts_ranks and rules["weight"] == "self_normalized":
        over, counts_ranks = "relevant", False
    number = _divisor(over, judged, k)
    if rules["weight"] == "one" or counts_ranks:
        return Fraction(number)
    return sum(_relevant_gains(judged, rules)[:number], Fraction(0))


def _discounted(hits: Sequence[Slot], rules: Rules) -> Fraction:
    return sum((_slot_gain(slot, rules) * _discount(rules, slot.rank) for slot in hits), Fraction(0))


def _ideal(judged: Judged, k: int | None, rules: Rules) -> Fraction:
    """Return the DCG of the relevant items in their best order; of as many ones as k, if the ideal fills the cutoff."""
    length = _divisor(rules["ideal_over"], judged, k)
    best = _relevant_gains(judged, rules)[:length]
    if rules["ideal_over"] == "cutoff":
        best = [Fraction(1)] * length
    return sum((gained * _discount(rules, i) for i, gained in enumerate(best, start=1)), Fraction(0))


def _inferred(judged: Judged, hits: Sequence[Slot]) -> Fraction:
    total, least = Fraction(0), Fraction(1e-5)
    for slot in hits:
        above = judged.slots[: judged.slots.index(slot)]
        x = sum(other.rank <= slot.rank for other in hits) - 1
        y = sum(other.grade is not None and not other.is_relevant for other in above)
        z = sum(other.is_pooled for other in above)
        total += Fraction(1, slot.rank) + Fraction(x + y + z, slot.rank) * (x + least) / (x + y + 2 * least)
    return total


def _ndcg_to(judged: Judged, ideal_rank: int, rank: int, rules: Rules) -> Fraction:
    best = [gained * _discount(rules, i) for i, gained in enumerate(_relevant_gains(judged, rules), start=1)]
    ideal = sum(best[:ideal_rank], Fraction(0))
    return _discounted(judged.hits(rank), rules) / ideal if ideal else Fraction(0)


def _average_ndcg(judged: Judged, hits: Sequence[Slot], k: int | None, rules: Rules) -> tuple[Fraction, Fraction]:
    ranks = [slot.rank for slot in hits if _slot_gain(slot, rules) > 0]
    total = sum((_ndcg_to(judged, rank, rank, rules) for rank in ranks), Fraction(0))
    gaining = sum(gained > 0 for gained in _relevant_gains(judged, rules))
    last = judged.depth if k is None else k
    return total + max(gaining - len(ranks), 0) * _ndcg_to(judged, gaining, last, rules), Fraction(gaining)


def _ndcg_of_levels(asked: Asked, judged: Judged) -> tuple[Fraction, Fraction]:
    """Return the sum of nDCG at the end of each level of gains, and perhaps of the whole list, and their number."""
    gains = [gained for gained in _relevant_gains(judged, asked.rules) if gained > 0]
    if max(gains, default=Fraction(0)) < asked.parameter:
        return Fraction(0), Fraction(1)
    last = judged.depth if asked.cutoff is None else min(judged.depth, asked.cutoff)
    ends = [sum(other >= gained for other in gains) for gained in set(gains)]
    values = [_ndcg_to(judged, end, min(end, last), asked.rules) for end in ends]
    if gains and last > len(gains) + 1:
        values.append(_ndcg_to(judged, len(gains), last, asked.rules))
    return sum(values, Fraction(0)), Fraction(len(values))


def _gains_behind(judged: Judged, hits: Sequence[Slot], rules: Rules) -> Fraction:
    total, best = Fraction(0), _relevant_gains(judged, rules)
    for slot in hits:
        gained = _sum_of_gains([other for other in hits if other.rank <= slot.rank], rules)
        cost = sum((max([Fraction(1), *best[i : i + 1]]) for i in range(slot.rank)), Fraction(0))
        number = _decimal(2 + max(cost - gained, Fraction(0)))
        total += _slot_gain(slot, rules) * Fraction(_DIGITS.divide(_DIGITS.ln(Decimal(2)), _DIGITS.ln(number)))
    return total


def _q_measure(asked: Asked, judged: Judged, hits: Sequence[Slot]) -> Fraction:
    total, beta = Fraction(0), Fraction(asked.parameter)
    best = _relevant_gains(judged, asked.rules)
    for slot in hits:
        above = [other for other in hits if other.rank <= slot.rank]
        blended = len(above) + beta * _sum_of_gains(above, asked.rules)
        total += blended / (slot.rank + beta * sum(best[: slot.rank], Fraction(0)))
    return total


def _compatibility(asked: Asked, judged: Judged, hits: Sequence[Slot]) -> tuple[Fraction, Fraction]:
    """Return the overlap of the list and the ideal order at every depth, and that of the ideal order with itself."""
    rules, gains = asked.rules, _relevant_gains(judged, asked.rules)
    depths = []
    for i, slot in enumerate(hits):
        gained = _slot_gain(slot, rules)
        same = sum(_slot_gain(other, rules) == gained for other in hits[:i])
        depths.append(max(slot.rank, sum(gain > gained for gain in gains) + same + 1))
    length = judged.depth if asked.cutoff is None else min(asked.cutoff, judged.depth)
    shared = ideal = Fraction(0)
    for d in range(1, max(length, len(gains)) + 1):
        weight = Fraction(asked.parameter) ** (d - 1)
        shared += weight * Fraction(sum(depth <= d for depth in depths), d)
        ideal += weight * Fraction(min(d, len(gains)) if rules["compatibility_over"] == "ideal" else d, d)
    return shared, ideal


def _expected_gain(asked: Asked, hits: Sequence[Slot]) -> tuple[Fraction, Fraction]:
    """Return the gains and ranks that a reader of C/W/L sees, who may go down to rank 1000; in 40 digits."""
    gains: dict[int, list[Fraction]] = {}
    for slot in hits:
        gains.setdefault(slot.rank, []).append(_gain(_grade(slot), asked.rules))
    ends = asked.metric in {"sdcg", "bpm", "nerr8", "nerr9"}
    last = min(asked.cutoff if ends and asked.cutoff else 1000, 1000)
    expected, ranks, weight, gained = Decimal(0), Decimal(0), Decimal(1), Fraction(0)
    with localcontext(_DIGITS):
        for i in range(1, last + 1):
            at_rank, gained = gains.get(i, []), gained + sum(gains.get(i, []))
            expected += weight * _decimal(sum(at_rank, Fraction(0)))
            ranks += weight
            weight *= _chance(asked, i, gained, _decimal(math.prod((1 - gain for gain in at_rank), start=Fraction(1))))
    return Fraction(expected), Fraction(ranks)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _chance(asked: Asked, i: int, gained: Fraction, unsatisfied: Decimal) -> Decimal:  # noqa: PLR0911 - a reader a case
    """Return the chance of going on from rank i."""
    number = Fraction(asked.parameter)
    match asked.metric:
        case "sdcg":
            above, below = (_discount(asked.rules, rank) for rank in (i, i + 1))
            return _decimal(below / above) if above else Decimal(0)
        case "inst":
            return _decimal(1 - 1 / (i + 2 * number - gained)) ** 2
        case "bpm":
            return Decimal(gained < number)
        case "nerr8":
            return unsatisfied
        case "nerr9":
            return Decimal(i) / Decimal(i + 1) * unsatisfied
        case "nerr10":
            return _decimal(number) * unsatisfied
    return _decimal(1 - 1 / (i + 2 * number)) ** 2 * (1 if asked.metric == "insq" else unsatisfied)


def _bpref(judged: Judged, top: Sequence[Slot]) -> Fraction:
    total, above = Fraction(0), 0
    least = min(len(judged.relevant), judged.nonrelevant)
    for slot in top:
        if slot.is_relevant:
            total += 1 if above == 0 else 1 - Fraction(min(above, least), least)
        else:
            above += slot.grade is not None
    return total


# Users, one after another, and their mean.


def _user_ratio(user: User, asked: Asked) -> tuple[Fraction, Fraction] | None:
    """Return a user's numerator and denominator; None if the user is skipped."""
    rules = asked.rules
    if asked.group is not None and not asked.is_share and not asked.is_precision_of_group and user.truth is not None:
        user = replace(user, truth=[pair for pair in user.truth if pair[0] in asked.group])
    counts = {
        "truth": user.truth is not None,
        "both": user.truth is not None and user.has_list,
        "predictions": user.has_list,
        "union": user.truth is not None or user.has_list,
    }[rules["users"]]
    if not counts:
        return None
    policy = "compute"
    _, counted = _grades(user, rules)
    is_empty = not any(_is_relevant(grade, rules) for _, grade in counted)
    if asked.metric == "user_coverage":  # says itself what a user without a list is
        policy = "compute"
    elif is_empty and rules["empty_truth"] != "compute" and asked.metric not in _WITHOUT_TRUTH:
        policy = rules["empty_truth"]
    elif not user.has_list:
        policy = rules["missing_list"]
    elif not any(_tie_groups(user, rules)):
        policy = rules["empty_list"]
    if policy == "error":
        raise RefusedError("a user is empty")
    if policy == "skip":
        return None
    if policy in {"zero", "one"}:
        return Fraction(policy == "one"), Fraction(1)
    return _computed_ratio(user, asked)


def _condenses(asked: Asked) -> bool:
    """Return whether the value is of the list without the items that are not judged."""
    reads_whole_lists = asked.metric in _WITHOUT_TRUTH | _READS_ITEMS | {
        "judged",
        "user_coverage",
        "unjudged",
        "rbp_residual",
    }
    return asked.rules["unjudged"] == "remove" and not reads_whole_lists and not asked.is_precision_of_group


_OF_ITEM_PAIRS = {"auc", "gauc", "label_ranking_loss"}
_READERS = {"sdcg", "insq", "inst", "bpm", "nerr8", "nerr9", "nerr10", "nerr11"}
_GAINED = {"compatibility", "q_measure", "dcg", "ndcg", "rbp", *_READERS}
_GAINED |= {"average_ndcg", "r_ndcg", "normalized_gain"}

WEIGHTED = {"precision", "recall", "average_precision", "dcg", "ndcg", "rbp"}
"""The metrics whose relevant items may count by their values."""


def _computed_ratio(user: User, asked: Asked) -> tuple[Fraction, Fraction] | None:
    if not _condenses(asked):
        asked = replace(asked, rules={**asked.rules, "unjudged": "keep"})
    rules, ties = asked.rules, asked.rules["ties"]
    gain = "exp2" if asked.metric == "err" else rules["gain"] if asked.metric in _GAINED else "binary"
    weight = rules["weight"] if asked.metric in WEIGHTED else "one"
    rules = {**rules, "gain": gain, "weight": weight, "catalogue": asked.catalogue}
    asked = replace(asked, rules=rules)
    is_polygon = asked.metric == "auc" and asked.parameter < 1 and ties in STRICT
    if is_polygon:  # and no mean over orders
        ties = "shared"
    elif asked.metric in _OF_ITEM_PAIRS and ties in STRICT:
        ties = "expected"
    if asked.reads_items and ties == "raise":
        _refuse_any_tie(user, asked)
    orders = [_judge(user, order, rules) for order in _orders(user, rules, ties)]
    if asked.metric == "unexpectedness":
        ratios = [_unexpectedness(user, asked, judged, ties) for judged in orders]
    elif is_polygon:
        ratios = [_partial_area(asked.parameter, judged, _steps(judged)) for judged in orders]
    else:
        ratios = [_ratio(asked, judged) for judged in orders]
    denominators = {denominator for _, denominator in ratios}
    assert len(denominators) == 1, "no order changes what is divided by"
    denominator = denominators.pop()
    numerator = sum((numerator for numerator, _ in ratios), Fraction(0)) / len(ratios)
    is_mean = rules["average"] != "micro" or asked.metric == "gauc"
    if denominator == 0 and rules["undefined"] == "skip" and is_mean:
        return None
    return numerator, denominator


def _number(ratio: tuple[Fraction, Fraction], rules: Rules) -> float:
    numerator, denominator = ratio
    if denominator == 0:
        return {"zero": 0.0, "one": 1.0}.get(rules["undefined"], math.nan)
    return float(numerator / denominator)


def _refuse_values_over_counts(asked: Asked) -> None:
    rules = asked.rules
    if asked.metric in WEIGHTED and rules["weight"] != "one":
        if asked.metric == "ndcg" and rules["ideal_over"] == "cutoff":
            raise RefusedError("an ideal list that goes on past the relevant items has ones")
        if asked.metric == "average_precision" and rules["ap_over"] == "hits":
            raise RefusedError("hits are counted, not weighed")


def _refuse_features(asked: Asked) -> None:
    """Raise RefusedError if the items do not have what the metric reads of them."""
    if asked.metric not in _OF_PAIRS | _OF_TAGS:
        return
    assert asked.catalogue is not None
    if asked.metric in _OF_PAIRS:
        check_distance(asked.catalogue, asked.rules["distance"])
    elif not any(isinstance(one, frozenset) for one in asked.catalogue.features.values()):
        raise RefusedError("there are no tags")


def _refuse_without_meaning(asked: Asked) -> None:
    """Raise RefusedError where the rules say nothing of this metric."""
    rules = asked.rules
    policies = {rules["empty_truth"], rules["empty_list"], rules["missing_list"]}
    if rules["average"] == "micro" and policies & {"zero", "one"}:
        raise RefusedError("a user's value has no part in a ratio of sums")
    if (
        asked.metric == "ndcg"
        and rules["ideal_over"] == "cutoff"
        and (asked.cutoff is None or rules["gain"] != "binary")
    ):
        raise RefusedError("an ideal list that goes on past the relevant items has ones, down to a cutoff")
    least = rules["min_grade"]
    if rules["negative_grades"] == "unjudged" and (least == "any" or (least or 0) < 0):
        raise RefusedError("items that are not judged would be relevant")
    counts_rows = rules["popularity"] == "interactions" and rules["novelty_over"] == "users"
    if counts_rows and asked.metric in {"novelty", "surprisal"}:
        raise RefusedError("a user may have an item more than once")
    _refuse_values_over_counts(asked)
    if asked.metric == "auc" and asked.parameter < 1 and rules["ties"] == "expected":
        raise RefusedError("a polygon is no mean over orders")
    if asked.metric == "normalized_gain" and rules["ties"] == "expected" and rules["gain"] != "binary":
        raise RefusedError("the mean over orders is of gains 1 alone")
    if asked.metric == "aplt" and rules["tail"] != "at_most" and asked.parameter > 1:
        raise RefusedError("a share is at most 1")
    _refuse_features(asked)
    if asked.metric in {"average_precision", "q_measure"} and (rules["ap_over"], rules["ties"]) == ("hits", "expected"):
        raise RefusedError("the order changes what is divided by")
    _refuse_groups_without_meaning(asked)


def _refuse_groups_without_meaning(asked: Asked) -> None:
    if asked.is_precision_of_group and asked.rules["ties"] == "expected":
        raise RefusedError("which items are in the list depends on the order")
    if asked.is_share and asked.metric == "average_precision" and asked.rules["ap_over"] == "hits":
        raise RefusedError("hits of other groups are divided by")


def _refuse_invalid(user: User, asked: Asked) -> None:
    """Raise RefusedError for what no list, scores or truth may hold, whether the user counts or not."""
    rules = asked.rules
    items = [item for item, _ in user.scores or ()] if user.ranking is None else user.ranking
    if rules["duplicate_items"] == "raise" and len(set(items)) < len(items):
        raise RefusedError("an item is in the list twice")
    _refuse_unreadable_lists(user, asked)
    if asked.metric == "unexpectedness" and rules["ties"] == "raise":
        _refuse_any_tie(_base_user(user), asked)
    if rules["nan"] == "raise" and any(math.isnan(score) for _, score in user.scores or ()):
        raise RefusedError("a score is NaN")
    expects = rules["ties"] == "expected" or (asked.metric in _OF_ITEM_PAIRS and rules["ties"] in STRICT)
    given = {item for item, _ in user.truth or ()}
    repeats = any(group.count(item) > 1 for group in _tie_groups(user, rules) for item in given & set(group))
    if expects and repeats and rules["duplicate_items"] == "first":
        raise RefusedError("which of the copies counts depends on the order")
    _refuse_gaps(user.given_ranks or (), rules)
    ranks = user.given_ranks if _keeps_gaps(rules) else None
    if ranks and ranks[0] < 1:
        raise RefusedError("there is no rank 0")
    if (
        ranks
        and asked.metric in {*_OF_ITEM_PAIRS, "list_auc", "accuracy", "mcc"}
        and list(ranks) != list(range(1, len(ranks) + 1))
    ):
        raise RefusedError("pairs are not counted across gaps")
    has_gains = asked.metric == "err" or (asked.metric in _GAINED and rules["gain"] in {"linear", "exp2", "scaled"})
    if has_gains and rules["negative_grades"] == "raise" and any(grade < 0 for _, grade in user.truth or ()):
        raise RefusedError("a grade is negative")
    _grades(user, rules)
    first = 1
    is_strict = rules["ties"] == "raise" and asked.metric not in _OF_ITEMS and not asked.is_precision_of_group
    for group in _tie_groups(user, rules) if is_strict else ():
        if (
            len(group) > 1
            and given & set(group)
            and (asked.cutoff is None or first <= asked.cutoff or _condenses(asked))
        ):
            raise RefusedError("an item of the truth is in a tie")
        first += len(group)


def _refuse_gaps(ranks: Sequence[int], rules: Rules) -> None:
    """Raise RefusedError for gaps that are to be kept where repeats take no rank."""
    is_refused = rules["rank_gaps"] == "keep" and not _keeps_gaps(rules)
    if is_refused and any(below > rank + 1 for rank, below in zip([0, *ranks], ranks, strict=False)):
        raise RefusedError("gaps are kept, and new ranks are given")


def _refuse_any_tie(user: User, asked: Asked) -> None:
    """Raise RefusedError if any items tie at a rank that counts."""
    first = 1
    for group in _tie_groups(user, asked.rules):
        if len(group) > 1 and (asked.cutoff is None or first <= asked.cutoff):
            raise RefusedError("items are in a tie")
        first += len(group)


def _refuse_unreadable_lists(user: User, asked: Asked) -> None:
    """Raise RefusedError for lists whose items a metric cannot read: the user's, or the base list."""
    rules, scores = asked.rules, [user.scores]
    if asked.metric == "unexpectedness":
        scores.append(user.base_scores)
        base = user.base_ranking or ()
        if rules["duplicate_items"] == "raise" and len(set(base)) < len(base):
            raise RefusedError("an item is in the base list twice")
    if (
        (asked.reads_items or asked.is_share)
        and any(one is not None for one in scores)
        and rules["ties"] not in {*STRICT, "raise"}
    ):
        raise RefusedError("which items are above a rank depends on the order of ties")


def answer(users: Mapping[Any, User], asked: Asked) -> Answer:
    """Return the mean over the users that count, not rounded, how many they are, and each user's value."""
    rules = asked.rules
    _refuse_without_meaning(asked)
    for user in users.values():
        _refuse_invalid(user, asked)
    if asked.metric in OF_ALL_LISTS:
        return _answer_of_lists(users, asked)
    ratios = {key: _user_ratio(user, asked) for key, user in users.items()}
    counted = [(users[key], ratio) for key, ratio in ratios.items() if ratio is not None]
    per_user = {key: math.nan if ratio is None else _number(ratio, rules) for key, ratio in ratios.items()}
    return Answer(_mean(counted, rules), len(counted), per_user)


def _answer_of_lists(users: Mapping[Any, User], asked: Asked) -> Answer:
    """Return what all lists together have, and how many they are."""
    assert asked.catalogue is not None
    ranked = [_counted_ranks(user, asked) for user in users.values() if _has_counted_list(user, asked.rules)]
    lists = [[item for _, item in row] for row in ranked]
    if not lists:
        return Answer(math.nan, 0, {})
    number: Fraction | float | None
    if asked.metric == "item_recall":
        number = _item_recall([user for user in users.values() if _has_counted_list(user, asked.rules)], lists, asked)
    elif asked.metric == "exposure_gini":
        number = _gini_of_exposures(ranked, asked)
    else:
        number = _number_of_lists(asked, lists, len(asked.catalogue.items))
    if number is None:
        number = {"zero": 0.0, "one": 1.0}.get(asked.rules["undefined"], math.nan)
    return Answer(float(number), len(lists), {})


def _has_counted_list(user: User, rules: Rules) -> bool:
    if not user.has_list or rules["list_users"] == "lists":
        return user.has_list
    is_in_mean = user.truth is not None or rules["users"] in {"predictions", "union"}
    has_relevant = any(_is_relevant(grade, rules) for _, grade in _grades(user, rules)[1])
    is_skipped = (not has_relevant and rules["empty_truth"] == "skip") or (
        not any(_tie_groups(user, rules)) and rules["empty_list"] == "skip"
    )
    return is_in_mean and not is_skipped


def _counted_items(user: User, asked: Asked) -> list[Item]:
    """Return the items that a list has down to the cutoff, as far as they count."""
    return [item for _, item in _counted_ranks(user, asked)]


def _counted_ranks(user: User, asked: Asked) -> list[tuple[int, Item]]:
    """Return the ranks and items of a list down to the cutoff, as far as they count."""
    assert asked.catalogue is not None
    rules = {**asked.rules, "unjudged": "keep"}
    (order,) = _orders(user, rules, rules["ties"])
    ranked = [(rank, item) for rank, item in order if asked.cutoff is None or rank <= asked.cutoff]
    if rules["foreign_items"] == "raise" and not {item for _, item in ranked} <= set(asked.catalogue.items):
        raise RefusedError("an item is outside the catalogue")
    ranked = [one for one in ranked if rules["foreign_items"] == "count" or one[1] in asked.catalogue.items]
    if rules["duplicate_items"] == "count":
        return ranked
    first_ranks = {item: rank for rank, item in reversed(ranked)}
    return [(rank, item) for rank, item in ranked if first_ranks[item] == rank]


def _gini_of_exposures(lists: Sequence[Sequence[tuple[int, Item]]], asked: Asked) -> Fraction | None:
    """Return the Gini index of the items' sums of discounts; None for 0 / 0."""
    assert asked.catalogue is not None
    exposures = dict.fromkeys(asked.catalogue.items, Fraction(0))
    for ranked in lists:
        for rank, item in ranked:
            exposures[item] = exposures.get(item, Fraction(0)) + _discount(asked.rules, rank)
    differences = sum((abs(one - other) for one, other in combinations(exposures.values(), 2)), Fraction(0))
    divisor = len(exposures) * sum(exposures.values(), Fraction(0))
    return differences / divisor if divisor else None


def _item_recall(users: Sequence[User], lists: Sequence[Sequence[Item]], asked: Asked) -> Fraction | None:
    """Return the mean over relevant items of the share of their users whose list has them; None for 0 / 0."""
    assert asked.catalogue is not None
    found: dict[Item, list[bool]] = {}
    for user, listed in zip(users, lists, strict=True):
        relevant = {item for item, grade in _grades(user, asked.rules)[1] if _is_relevant(grade, asked.rules)}
        for item in relevant:
            if asked.rules["foreign_items"] != "ignore" or item in asked.catalogue.items:
                found.setdefault(item, []).append(item in listed)
    return sum((Fraction(sum(of), len(of)) for of in found.values()), Fraction(0)) / len(found) if found else None


def _number_of_lists(asked: Asked, lists: Sequence[Sequence[Item]], size: int) -> Fraction | float | None:
    """Return a metric of lists in a catalogue of this size; None for 0 / 0."""
    listed = Counter(item for items in lists for item in items)
    total = sum(listed.values())
    match asked.metric:
        case "coverage":
            return Fraction(len(listed), size)
        case "num_items":
            return Fraction(len(listed))
        case "gini":
            counts = [*listed.values(), *[0] * (size - len(listed))]
            differences = sum(abs(one - other) for one, other in product(counts, repeat=2))
            return Fraction(differences, 2 * size * total) if total else None
        case "entropy":
            base = 2 if asked.rules["entropy_base"] == "2" else math.e
            return math.fsum(one / total * math.log(total / one, base) for one in listed.values()) if total else None
    pairs = list(combinations([set(items) for items in lists if items], 2))
    cosines = [len(one & other) / math.sqrt(len(one) * len(other)) for one, other in pairs]
    return 1 - math.fsum(cosines) / len(pairs) if pairs else None


def groups(users: Mapping[Any, User], asked: Asked) -> dict[str, float]:
    """Return the value of each group: that of its users alone."""
    return {
        group: answer({key: user for key, user in users.items() if user.group == group}, asked).value
        for group in {user.group for user in users.values()}
    }


def _mean(counted: Sequence[tuple[User, tuple[Fraction, Fraction]]], rules: Rules) -> float:
    if rules["average"] == "micro":
        above = sum((Fraction(user.weight) * ratio[0] for user, ratio in counted), Fraction(0))
        below = sum((Fraction(user.weight) * ratio[1] for user, ratio in counted), Fraction(0))
        if not counted:
            return math.nan
        undefined = {"zero": 0.0, "one": 1.0}.get(rules["undefined"], math.nan)
        return undefined if below == 0 else float(above / below)
    numbers = [(Fraction(user.weight), _number(ratio, rules)) for user, ratio in counted]
    if any(math.isnan(number) for _, number in numbers):
        return math.nan
    total = sum((weight for weight, _ in numbers), Fraction(0))
    if total == 0:
        return math.nan
    if rules["average"] == "geometric":
        logarithms = (weight * Fraction(math.log(max(number, _LEAST_FACTOR))) for weight, number in numbers)
        return math.exp(sum(logarithms, Fraction(0)) / total)
    return float(sum((weight * Fraction(number) for weight, number in numbers), Fraction(0)) / total)
