"""The users of a problem, judged one by one."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from exactk._inputs.model.lists import Rankings
from exactk._plan.fields import fields_of
from exactk.reference.base_lists import base_ranks
from exactk.reference.judge import JudgedUser, is_relevant, item_grades, judge_user
from exactk.reference.popularity import Catalogue, TrainCounts
from exactk.reference.ranking import ScoredRow, scored_row
from exactk.reference.rules import list_rules

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk._plan.values import Value
    from exactk.reference.rules import Rules


class JudgedUsers:
    """The users of a problem, judged under the rules of each value."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._judged: dict[tuple[int, str], JudgedUser] = {}

    def __len__(self) -> int:
        return len(self._problem.truth)

    def graded_items(self, user: int) -> list[tuple[int, float]]:
        """Return the items of the user's truth with their grades."""
        truth = self._problem.truth
        items = truth.row(user).tolist()
        begin = int(truth.indptr[user])
        grades = [1.0] * len(items) if truth.grades is None else truth.grades[begin : begin + len(items)].tolist()
        return list(zip(items, grades, strict=True))

    def ranked_groups(self, user: int, rules: Rules) -> list[list[int]]:
        """Return the user's list in groups of ties, or of single items if `ties` orders them."""
        predictions = self._problem.predictions
        if isinstance(predictions, Rankings):
            return [[item] for item in predictions.row(user).tolist()]
        row = scored_row(predictions, self._problem.candidates, user)
        groups = row.ranking(self.excluded_items(user), predictions.min_score, ties=rules["ties"], nan=rules["nan"])
        return [[row.ids[i] for i in group] for group in groups]

    def given_ranks(self, user: int) -> list[int] | None:
        """Return the given ranks of the user's list."""
        predictions = self._problem.predictions
        if not isinstance(predictions, Rankings) or predictions.ranks is None:
            return None
        begin, end = predictions.indptr[user : user + 2].tolist()
        return [int(rank) for rank in predictions.ranks[begin:end].tolist()]

    def scored_row(self, user: int) -> ScoredRow | None:
        """Return the user's scored items; None if the predictions are lists."""
        predictions = self._problem.predictions
        return None if isinstance(predictions, Rankings) else scored_row(predictions, self._problem.candidates, user)

    def excluded_items(self, user: int) -> frozenset[int]:
        """Return the user's excluded items."""
        exclude = self._problem.exclude
        return frozenset() if exclude is None else frozenset(exclude.row(user).tolist())

    def history(self, user: int) -> list[int]:
        """Return the positions in the catalogue of what the user has in train; none if no metric reads it."""
        histories = self._problem.histories
        return [] if histories is None else histories.of_user(user)

    def given_ratio(self, user: int, value: Value) -> tuple[float, float]:
        """Return what the function of a custom value says of the user."""
        numerator, denominator = self._problem.given[value.identity][:, user].tolist()
        return numerator, denominator

    def judged_user(self, user: int, rules: Rules) -> JudgedUser:
        """Return the user, judged under these rules."""
        judging_rules = {name: rules[name] for name in fields_of("judging")}  # no other field may be read in judging
        key = (user, repr(judging_rules))
        if key not in self._judged:
            self._judged[key] = judge_user(
                self.graded_items(user),
                self.ranked_groups(user, judging_rules),
                self.excluded_items(user),
                judging_rules,
                self.given_ranks(user),
                self.catalogue,
                base_ranks(self._problem, user, judging_rules, self.excluded_items(user)),
                self.history(user),
            )
        return self._judged[key]

    @cached_property
    def catalogue(self) -> Catalogue:
        """The items that could be recommended; none, if no metric reads them."""
        items = self._problem.items
        if items is None:
            return Catalogue([], TrainCounts((), (), 0))
        counts = [() if numbers is None else tuple(numbers.tolist()) for numbers in (items.users, items.interactions)]
        values = () if items.item_values is None else tuple(items.item_values.tolist())
        train = TrainCounts(counts[0], counts[1], items.train_users or 0)
        return Catalogue(items.ids.tolist(), train, values, items.features)

    @cached_property
    def item_groups(self) -> dict[int, int]:
        """The code of the group of each item that has one."""
        items = self._problem.items
        if items is None or items.group_codes is None:
            return {}
        pairs = zip(items.ids.tolist(), items.group_codes.tolist(), strict=True)
        return {item: group for item, group in pairs if group >= 0}

    @property
    def item_group_count(self) -> int:
        """The number of groups of items."""
        return 0 if self._problem.items is None else len(self._problem.items.group_labels)

    def relevant_items(self, user: int, rules: Rules) -> set[int]:
        """Return the relevant items of the user's truth."""
        grades = item_grades(self.graded_items(user), {**rules, "gain": "binary"})
        return {item for item, grade in grades.items() if is_relevant(grade, rules)}

    def tied_ranks(self, user: int, rules: Rules) -> list[int]:
        """Return the first rank of each tie that contains an item of the truth."""
        truth = {item for item, _ in self.graded_items(user)}
        groups = self.ranked_groups(user, rules)
        firsts = accumulate(map(len, groups), initial=1)
        return [first for first, group in zip(firsts, groups, strict=False) if len(group) > 1 and truth & set(group)]

    def tied_list_ranks(self, user: int, rules: Rules) -> list[int]:
        """Return the ranks of the user's list whose item ties with the next one; none where lists are given."""
        if isinstance(self._problem.predictions, Rankings):
            return []
        sizes = self.judged_user(user, {**list_rules(rules), "ties": "expected"}).ties
        ends = set(accumulate(sizes))
        return [rank for rank in range(1, sum(sizes)) if rank not in ends]

    def list_may_change(self, user: int, value: Value) -> bool:
        """Return whether the order of ties may change the items above the cutoff, or their ranks if these matter."""
        tied_ranks = self.tied_list_ranks(user, value.rules)
        if value.info.discounted or value.info.reads_list_ranks:
            return any(value.cutoff is None or rank <= value.cutoff for rank in tied_ranks)
        return value.cutoff in tied_ranks

    def presence(self, user: int) -> tuple[bool, bool]:
        """Return whether the user is in the truth, and in the predictions."""
        return self._problem.truth.has(user), self._problem.predictions.has(user)

    def is_counted(self, user: int, rules: Rules) -> bool:
        """Return whether the user belongs to the population of the rules."""
        in_truth, in_predictions = self.presence(user)
        included = {
            "truth": in_truth,
            "both": in_truth and in_predictions,
            "predictions": in_predictions,
            "union": in_truth or in_predictions,
        }
        return included[rules["users"]]
