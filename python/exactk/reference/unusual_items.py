"""The recommended items that are outside the catalogue, or not in train."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk.reference.rules import list_rules

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk.reference.judged_users import JudgedUsers
    from exactk.reference.rules import Rules


def count_unusual_items(problem: Problem, users: JudgedUsers) -> dict[str, int]:
    """Return how many items at the ranks that a metric reads are unusual, each once per user; nothing if none reads lists."""
    read = _read_lists(problem)
    if not read:
        return {}
    foreign = unseen = 0
    for user in range(len(users)):
        items = {
            item for rules, cutoff in read for _, item, _ in users.judged_user(user, list_rules(rules)).listed(cutoff)
        }
        foreign += sum(item not in users.catalogue.positions for item in items)
        unseen += sum(users.catalogue.is_unseen(item) for item in items)
    counts = {"foreign_recommended": foreign}
    return counts | {"unseen_recommended": unseen} if problem.knows_train else counts


def _read_lists(problem: Problem) -> list[tuple[Rules, int | None]]:
    """Return the rules and the cutoff of each list that a metric reads."""
    of_users = [(value.rules, value.cutoff) for value in problem.values if value.info.walks_list]
    of_all = [(tally.rules, tally.last_cutoff) for tally in problem.list_tallies]
    return [*of_users, *of_all]
