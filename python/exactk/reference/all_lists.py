"""The metrics of a collection of lists, by their definitions: over items, and over all pairs of items or lists.

Each takes the items that every list recommends and the size of the catalogue, and returns an exact number, or one of 60
digits; None stands for 0 / 0.
"""

from __future__ import annotations

from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.problem import GroupCounts, ItemCounts
from exactk.reference.rules import DIGITS, discount, list_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from exactk._plan.values import TallyPlan, Value
    from exactk.reference.judge import JudgedUser, JudgedUsers
    from exactk.reference.rules import Rules

    Groups: TypeAlias = Mapping[object, object]
    Numbers: TypeAlias = Mapping[object, Fraction | None]


def count_items(users: JudgedUsers, some: Sequence[int], tally: TallyPlan) -> ItemCounts:
    """Return how many of the lists of some users have each item."""
    rules, cutoffs = tally.rules, tally.cutoffs
    counted = [user for user in some if is_counted_list(users, user, rules)]
    lists = [_counted_items(users, user, tally) for user in counted]
    tied_ranks = [users.tied_list_ranks(user, rules) for user in counted]
    if tally.counted == "ranks":
        tied_ranks = [sorted(ranks)[:1] for ranks in tied_ranks]
    catalogue = [*users.catalogue.positions]
    foreign = sorted({item for tops in lists for items in tops for item in items} - {*catalogue})
    rows = {item: row for row, item in enumerate([*catalogue, *foreign])}
    counts = np.zeros((len(rows), len(cutoffs)), np.int64)
    for tops in lists:
        for column, items in enumerate(tops):
            for item in items:
                counts[rows[item], column] += 1
    lengths = [Counter((len(tops[column]),) for tops in lists) for column in range(len(cutoffs))]
    short = [
        Counter(
            (rows[item], len(tops[column]))
            for tops in lists
            for item in tops[column]
            if cutoff is None or len(tops[column]) < cutoff
        )
        for column, cutoff in enumerate(cutoffs)
    ]
    return ItemCounts(
        counts,
        np.array(foreign, np.int64),
        [0 if tally.counted == "relevant" else sum(k in ranks for ranks in tied_ranks) for k in cutoffs],
        [_table_of(of_cutoff, 2) for of_cutoff in lengths],
        [_table_of(of_cutoff if tally.has_short_lists else {}, 3) for of_cutoff in short],
    )


def is_counted_list(users: JudgedUsers, user: int, rules: Rules) -> bool:
    """Return whether the user has a list that counts."""
    if not users.presence(user)[1] or rules["list_users"] == "lists":
        return users.presence(user)[1]
    judged = users.judged_user(user, list_rules(rules))
    is_skipped = (not judged.relevant and rules["empty_truth"] == "skip") or (
        not judged.ranking and rules["empty_list"] == "skip"
    )
    return users.is_counted(user, rules) and not is_skipped


def _counted_items(users: JudgedUsers, user: int, tally: TallyPlan) -> list[list[int]]:
    """Return the items of the list down to each cutoff, those that are relevant, or all that are."""
    rules = tally.rules
    relevant = users.relevant_items(user, rules)
    if rules["foreign_items"] == "ignore":
        relevant &= {*users.catalogue.positions}
    if tally.counted == "relevant":
        return [sorted(relevant)] * len(tally.cutoffs)
    tops = _listed_items(users, users.judged_user(user, list_rules(rules)), rules, tally.cutoffs)
    return (
        tops
        if tally.counted in {"lists", "ranks"}
        else [[item for item in items if item in relevant] for items in tops]
    )


def _listed_items(
    users: JudgedUsers, judged: JudgedUser, rules: Rules, cutoffs: Sequence[int | None]
) -> list[list[int]]:
    """Return the items of the list down to each cutoff."""
    counts_foreign = rules["foreign_items"] == "count"
    return [
        [item for _, item, _ in judged.listed(k) if counts_foreign or item in users.catalogue.positions]
        for k in cutoffs
    ]


def _table_of(counts: Mapping[Any, int], columns: int) -> NDArray[np.int64]:
    rows = [(*key, count) for key, count in sorted(counts.items())]
    return np.array(rows, np.int64).reshape(len(rows), columns)


Number = Fraction | Decimal | None

_CONTEXT = Context(prec=60)


def coverage(lists: Sequence[Sequence[object]], catalogue_size: int, _rules: Rules) -> Number:
    """Return the share of the catalogue that some list recommends."""
    return Fraction(len({*chain(*lists)}), catalogue_size) if catalogue_size else None


def num_items(lists: Sequence[Sequence[object]], _size: int, _rules: Rules) -> Number:
    """Return the number of items that some list recommends."""
    return Fraction(len({*chain(*lists)}))


def gini(lists: Sequence[Sequence[object]], catalogue_size: int, rules: Rules) -> Number:
    """Return half the mean difference of two items' counts, over their mean. Gini 1912.

    For counts that ascend with j, this is the sum of (2 j - n - 1) c_j over n T.
    """
    counts = list(Counter(chain(*lists)).values())
    if rules["gini_items"] == "catalogue":
        counts += [0] * (catalogue_size - len(counts))
    differences = sum(abs(one - other) for one, other in product(counts, repeat=2))
    items = len(counts) if rules["gini_over"] == "items" else len(counts) - 1
    divisor = 2 * items * sum(counts)
    return Fraction(differences, divisor) if divisor else None


def exposure_gini(lists: Sequence[Sequence[object]], catalogue_size: int, rules: Rules) -> Number:
    """Return half the mean difference of two items' exposures, over their mean; lists have None at ranks that do not count.

    The exposure of an item is the sum of the discounts of the ranks at which lists have it.
    """
    exposures: dict[object, Fraction] = {}
    for items in lists:
        for rank, item in enumerate(items, 1):
            if item is not None:
                exposures[item] = exposures.get(item, Fraction(0)) + Fraction(discount(rules, rank))
    numbers = list(exposures.values())
    if rules["gini_items"] == "catalogue":
        numbers += [Fraction(0)] * (catalogue_size - len(numbers))
    differences = sum(abs(one - other) for one, other in product(numbers, repeat=2))
    divisor = 2 * (len(numbers) if rules["gini_over"] == "items" else len(numbers) - 1) * sum(numbers)
    return Fraction(differences) / divisor if divisor else None


def entropy(lists: Sequence[Sequence[object]], catalogue_size: int, rules: Rules) -> Number:
    """Return -sum of q log q, where q is an item's share of all recommendations. Shannon 1948."""
    counts = Counter(chain(*lists))
    total = sum(counts.values())
    if not total:
        return None
    shares = [Decimal(count) / Decimal(total) for count in counts.values()]
    bits = -sum((_CONTEXT.multiply(share, _ln(share)) for share in shares), Decimal(0))
    if rules["entropy_over"] == "log_items":
        return _CONTEXT.divide(bits, _ln(Decimal(catalogue_size))) if catalogue_size > 1 else None
    in_base = _CONTEXT.divide(bits, _ln(Decimal(2))) if rules["entropy_base"] == "2" else bits
    return _CONTEXT.divide(in_base, Decimal(len(counts) if rules["entropy_over"] == "distinct_items" else 1))


def personalization(lists: Sequence[Sequence[object]], _size: int, rules: Rules) -> Number:
    """Return 1 - the mean similarity of two lists that have items."""
    sets = [{*items} for items in lists if items]
    if len(sets) <= 1:
        return None
    if rules["list_similarity"] == "overlap":
        shared = sum(len(one & other) for one, other in combinations(sets, 2))
        both = sum(len(one) + len(other) for one, other in combinations(sets, 2))
        return 1 - Fraction(2 * shared, both)
    cosines = [_cosine(one, other) for one, other in combinations(sets, 2)]
    mean = _CONTEXT.divide(sum(cosines, Decimal(0)), Decimal(len(cosines)))
    return _CONTEXT.subtract(Decimal(1), mean)


def _cosine(one: set[object], other: set[object]) -> Decimal:
    """Return |A & B| / sqrt(|A| |B|)."""
    return _CONTEXT.divide(Decimal(len(one & other)), Decimal(len(one) * len(other)).sqrt(_CONTEXT))


def _ln(number: Decimal) -> Decimal:
    return number.ln(_CONTEXT)


def item_recall(hits: Sequence[Sequence[object]], relevant: Sequence[Sequence[object]]) -> Number:
    """Return the mean of how many of the users to whom an item is relevant have it as a hit. Zhu et al. 2021."""
    of_items, found = Counter(chain(*relevant)), Counter(chain(*hits))
    shares = [Fraction(found[item], users) for item, users in of_items.items()]
    return sum(shares, Fraction(0)) / len(shares) if shares else None


COLLECTION_METRICS: dict[str, Callable[[Sequence[Sequence[object]], int, Rules], Number]] = {
    function.__name__: function for function in (coverage, num_items, gini, exposure_gini, entropy, personalization)
}


class ListedUser(NamedTuple):
    """A user whose list counts."""

    listed: Sequence[tuple[int, object]]  # ranks and items
    history: Collection[object] = ()  # what the user has in train
    relevant: Collection[object] = ()


def exposure(users: Sequence[ListedUser], group_of: Groups, rules: Rules) -> Numbers:
    """Return each group's share of the discounts of all ranks at which an item of a group is. Singh, Joachims 2018."""
    of_group = dict.fromkeys(group_of.values(), Fraction(0))
    for user in users:
        for rank, item in user.listed:
            if item in group_of:
                of_group[group_of[item]] += Fraction(discount(rules, rank))
    total = sum(of_group.values())
    return {group: one / total if total else None for group, one in of_group.items()}


def rsp(users: Sequence[ListedUser], group_of: Groups, _rules: Rules) -> Numbers:
    """Return how many of the items of each group that a user does not have in train are recommended to the user."""
    return _shares([(user, {*group_of}) for user in users], group_of)


def reo(users: Sequence[ListedUser], group_of: Groups, _rules: Rules) -> Numbers:
    """Return how many of the relevant items of each group that a user does not have in train are recommended."""
    return _shares([(user, {*user.relevant}) for user in users], group_of)


def _shares(items_of_users: Sequence[tuple[ListedUser, set[object]]], group_of: Groups) -> Numbers:
    """Return each group's share of the items of all users, but for their histories, that are in their lists."""
    shares: dict[object, Fraction | None] = {}
    for group in {*group_of.values()}:
        of_users = [
            (user, {item for item in items - {*user.history} if group_of.get(item) == group})
            for user, items in items_of_users
        ]
        possible = sum(len(items) for _, items in of_users)
        listed = sum(len(items & {item for _, item in user.listed}) for user, items in of_users)
        shares[group] = Fraction(listed, possible) if possible else None
    return shares


def relative_deviation(numbers: Numbers) -> Decimal | None:
    """Return the population standard deviation of the groups' numbers over their mean; None for 0 / 0.

    Groups without a number are left out. Zhu, Wang, Caverlee 2020.
    """
    defined = [number for number in numbers.values() if number is not None]
    mean = sum(defined, Fraction(0)) / (len(defined) or 1)
    if len(defined) < 2 or not mean:
        return None
    square = sum([(number / mean - 1) * (number / mean - 1) for number in defined], Fraction(0)) / len(defined)
    return DIGITS.divide(Decimal(square.numerator), Decimal(square.denominator)).sqrt(DIGITS)


GROUP_METRICS: dict[str, Callable[[Sequence[ListedUser], Groups, Rules], Numbers]] = {
    "exposure": exposure,
    "rsp": rsp,
    "reo": reo,
}


def count_groups(users: JudgedUsers, some: Sequence[int], value: Value) -> GroupCounts:
    """Return how often the lists of some users have items of each group, rank by rank."""
    rules, group_of = value.rules, users.item_groups
    counts: Counter[tuple[int, int]] = Counter()
    possible: Counter[int] = Counter()
    counted = [user for user in some if is_counted_list(users, user, rules)]
    for user in counted:
        read = _items_read(users, user, value)
        possible.update(group_of[item] for item in read)
        for rank, item, _ in users.judged_user(user, list_rules(rules)).listed(value.cutoff):
            if item in read:
                counts[rank, group_of[item]] += 1
    groups = range(users.item_group_count)
    ranks = max((rank for rank, _ in counts), default=0)
    cells = [counts[rank, group] for rank in range(1, ranks + 1) for group in groups]
    of_groups = [possible[group] for group in groups] if value.info.reads_history else []
    tied = [users.tied_list_ranks(user, rules) for user in counted]
    tied = [[rank for rank in of_user if value.cutoff is None or rank <= value.cutoff] for of_user in tied]
    if value.info.discounted:
        tied = [of_user[:1] for of_user in tied]
    lists = Counter(rank for of_user in tied for rank in of_user)
    tied_lists = [lists[rank] for rank in range(1, max(lists, default=0) + 1)]
    return GroupCounts(
        len(counted), np.array(cells, np.int64), np.array(of_groups, np.int64), np.array(tied_lists, np.int64)
    )


def _items_read(users: JudgedUsers, user: int, value: Value) -> set[int]:
    """Return the items with a group that the metric asks about."""
    items = {*users.item_groups}
    if value.info.reads_history:
        ids = [*users.catalogue.positions]
        items -= {ids[position] for position in users.history(user)}
    if value.info.reads_truth:
        items &= users.relevant_items(user, value.rules)
    return items
