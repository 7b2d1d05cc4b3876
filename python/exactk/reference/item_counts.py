"""How many lists have each item, counted one list after another."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk.reference.rules import list_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk.reference.judge import JudgedUser
    from exactk.reference.judged_users import JudgedUsers
    from exactk.reference.rules import Rules


class CountedLists(NamedTuple):
    """Counts of items and of lists, in the core's order and form."""

    counts: NDArray[np.int64]  # items x cutoffs: first those of the catalogue, then the foreign ones
    foreign_ids: NDArray[np.int64]  # ascending
    tied_lists: list[int]  # per cutoff: lists whose items above it the order of ties decides
    list_lengths: list[NDArray[np.int64]]  # per cutoff: rows of (items of a list, such lists)
    short_lists: list[NDArray[np.int64]]  # per cutoff: rows of (row of an item, length, lists), for lengths below it


def count_items(
    users: JudgedUsers, rules: Rules, cutoffs: Sequence[int | None], *, has_short_lists: bool
) -> CountedLists:
    """Return how many of the users' lists have each item."""
    lists = [
        _listed_items(users, users.judged_user(user, list_rules(rules)), rules, cutoffs)
        for user in range(len(users))
        if is_counted_list(users, user, rules)
    ]
    tied_ranks = [
        users.tied_list_ranks(user, rules) for user in range(len(users)) if is_counted_list(users, user, rules)
    ]
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
    return CountedLists(
        counts,
        np.array(foreign, np.int64),
        [sum(cutoff in ranks for ranks in tied_ranks) for cutoff in cutoffs],
        [_table_of(of_cutoff, 2) for of_cutoff in lengths],
        [_table_of(of_cutoff if has_short_lists else {}, 3) for of_cutoff in short],
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
