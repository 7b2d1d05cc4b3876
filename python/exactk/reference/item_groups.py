"""The metrics of groups of items, by their definitions, and how often lists have items of each group."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk.reference.discounts import DIGITS, discount
from exactk.reference.item_counts import is_counted_list
from exactk.reference.rules import list_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk.reference.judged_users import JudgedUsers
    from exactk.reference.rules import Rules

    Groups: TypeAlias = Mapping[object, object]
    Numbers: TypeAlias = Mapping[object, Fraction | None]


class CountedGroups(NamedTuple):
    """Counts of lists and of items by group, in the core's form."""

    lists: int
    counts: NDArray[np.int64]  # ranks x groups, one after another
    possible: NDArray[np.int64]  # by group; none if no history is read
    tied_lists: NDArray[np.int64]  # by rank


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
                of_group[group_of[item]] += Fraction(discount(rules["discount"], rank))
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


def count_groups(users: JudgedUsers, value: Value) -> CountedGroups:
    """Return how often the users' lists have items of each group, rank by rank."""
    rules, group_of = value.rules, users.item_groups
    counts: Counter[tuple[int, int]] = Counter()
    possible: Counter[int] = Counter()
    counted = [user for user in range(len(users)) if is_counted_list(users, user, rules)]
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
    return CountedGroups(
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
