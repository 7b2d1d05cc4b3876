"""Judging: from one user's list to the ranking that the formulas use, user by user."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from exactk._inputs.model.lists import Rankings
from exactk._plan.fields import fields_of
from exactk.reference.base_lists import base_ranks
from exactk.reference.popularity import Catalogue, TrainCounts
from exactk.reference.ranking import ScoredRow, excluded_items, numbers_of_row, scored_row
from exactk.reference.rules import list_rules, of_whole_lists

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet

    from exactk._engine.problem import Problem
    from exactk._plan.item_groups import ItemGroup
    from exactk._plan.values import Value
    from exactk.reference.rules import Rules


_DIGITS = Context(prec=40)


class JudgedUsers:
    """The users of a problem, judged under the rules of each value."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._judged: dict[tuple[object, ...], JudgedUser] = {}

    def __len__(self) -> int:
        return len(self._problem.truth)

    def graded_items(self, user: int) -> list[tuple[int, float]]:
        """Return the items of the user's truth with their grades."""
        truth = self._problem.truth
        items = truth.row(user).tolist()
        grades = [1.0] * len(items) if truth.grades is None else numbers_of_row(truth, truth.grades, user)
        return list(zip(items, grades, strict=True))

    def listed_items(self, user: int) -> list[int]:
        """Return the items of the user's list as they are given."""
        assert isinstance(self._problem.predictions, Rankings)  # noqa: S101 - for the type checker
        items: list[int] = self._problem.predictions.row(user).tolist()
        return items

    def ranked_groups(self, user: int, rules: Rules) -> list[list[int]]:
        """Return the user's list in groups of ties, or of single items if `ties` orders them."""
        predictions = self._problem.predictions
        if isinstance(predictions, Rankings):
            groups = [[item] for item in predictions.row(user).tolist()]
        else:
            row = scored_row(predictions, self._problem.candidates, user)
            ranked = row.ranking(self.excluded_items(user), predictions.min_score, ties=rules["ties"], nan=rules["nan"])
            groups = [[row.ids[i] for i in group] for group in ranked]
        return without_repeats(groups) if rules["duplicate_items"] == "collapse" else groups

    def given_ranks(self, user: int) -> list[int] | None:
        """Return the given ranks of the user's list."""
        predictions = self._problem.predictions
        if not isinstance(predictions, Rankings) or predictions.ranks is None:
            return None
        return numbers_of_row(predictions, predictions.ranks, user)

    def scored_row(self, user: int) -> ScoredRow | None:
        """Return the user's scored items; None if the predictions are lists."""
        predictions = self._problem.predictions
        return None if isinstance(predictions, Rankings) else scored_row(predictions, self._problem.candidates, user)

    def excluded_items(self, user: int) -> frozenset[int]:
        """Return the user's excluded items."""
        return excluded_items(self._problem.exclude, user)

    def history(self, user: int) -> list[int]:
        """Return the positions in the catalogue of what the user has in train; none if no metric reads it."""
        histories = self._problem.histories
        return [] if histories is None else histories.of_user(user)

    def given_ratio(self, user: int, value: Value) -> tuple[float, float]:
        """Return what the function of a custom value says of the user."""
        numerator, denominator = self._problem.given[value.identity][:, user].tolist()
        return numerator, denominator

    def judged_user(self, user: int, rules: Rules, value: Value | None = None) -> JudgedUser:
        """Return the user, judged under these rules; for a value of a group of items, by the items of the group alone.

        The truth is cut to the group or, for the share that the group has in a value, only its items are hits.
        """
        judging_rules = {name: rules[name] for name in fields_of("judging")}  # no other field may be read in judging
        group, is_share = None if value is None else value.item_group, value is not None and value.is_share
        if value is not None and value.is_precision_of_group:  # which asks for the groups of the list itself
            group = None
        key = (user, repr(judging_rules), group, is_share)
        if key not in self._judged:
            truth, hits = self.graded_items(user), None
            if group is not None:
                of_group = [pair for pair in truth if self.is_in_group(pair[0], group)]
                truth, hits = (truth, {item for item, _ in of_group}) if is_share else (of_group, None)
            self._judged[key] = judge_user(
                truth,
                self.ranked_groups(user, judging_rules),
                self.excluded_items(user),
                judging_rules,
                self.given_ranks(user),
                self.catalogue,
                base_ranks(self._problem, user, judging_rules, self.excluded_items(user)),
                self.history(user),
                hits,
            )
        return self._judged[key]

    @cached_property
    def _labels(self) -> dict[int, set[int | str]]:
        """The groups of each item: its group or, where there are no groups, its tags."""
        items = self._problem.items
        assert items is not None  # noqa: S101 - of values of groups
        if items.group_codes is not None:
            codes = [[code] if code >= 0 else [] for code in items.group_codes.tolist()]
            names = items.group_labels
        else:
            assert items.features is not None and items.features.tags is not None  # noqa: S101, PT018 - likewise
            codes, names = items.features.columns_by_item(), items.features.tags
        return {item: {names[code] for code in some} for item, some in zip(items.ids.tolist(), codes, strict=True)}

    def is_in_group(self, item: int, group: ItemGroup) -> bool:
        """Return whether an item is in a group of items; items outside the catalogue are in none."""
        labels = self._labels.get(item, set())
        return not labels if group.label is None else group.label in labels

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

    def policy(self, user: int, value: Value) -> tuple[str, str]:
        """Return how the user as a whole is treated, and the policy that decides it."""
        info, rules = value.info, value.rules
        if not self.is_counted(user, rules):
            return "skip", "users"
        # Gains do not matter, and a gain table may lack some.
        judged = self.judged_user(user, {**of_whole_lists(rules), "gain": "binary", "weight": "one"}, value)
        if info.reads_truth and judged.relevant == 0 and rules["empty_truth"] != "compute":
            return rules["empty_truth"], "empty_truth"
        if info.counts_missing_lists:
            return "compute", ""
        if not self.presence(user)[1]:
            return rules["missing_list"], "missing_list"
        if not judged.ranking:
            return rules["empty_list"], "empty_list"
        return "compute", ""


@dataclass(frozen=True)
class JudgedItem:
    """A judged item at a rank."""

    relevant: bool
    grade: float
    value: float = math.nan  # NaN: none


@dataclass(frozen=True)
class JudgedUser:
    """One user as the metrics see it: L, the ranking, and T, the relevant items."""

    ranking: tuple[JudgedItem | None, ...]  # best first; None where the item is not judged
    list_ranks: tuple[int, ...]  # parallel to ranking: 1, 2, 3, ..., or the given ranks
    ranks: tuple[int, ...]  # the same, or several times the last of those that a tie shares
    ties: tuple[int, ...]  # sizes of the ties, best first
    relevant_items: tuple[JudgedItem, ...]  # T
    nonrelevant: int  # judged items that are not relevant
    pooled: tuple[bool, ...]  # parallel to ranking: an item with a negative grade that is no judgement
    hits_repeat: bool  # an item of T counts at more than one rank
    items: tuple[int, ...]  # ids, parallel to ranking
    repeats: tuple[bool, ...]  # parallel to ranking: an item that does not count again
    catalogue: Catalogue  # what is known of the items
    base_ranks: Mapping[int, int]  # the rank of each item of the base list
    history: tuple[int, ...]  # positions in the catalogue of what the user has in train

    @property
    def relevant(self) -> int:
        """|T|."""
        return len(self.relevant_items)

    @property
    def relevant_grades(self) -> tuple[float, ...]:
        """The grades of T."""
        return tuple(item.grade for item in self.relevant_items)

    @property
    def depth(self) -> int:
        """The rank of the list's last item."""
        return self.list_ranks[-1] if self.list_ranks else 0

    def top(self, k: int | None) -> tuple[JudgedItem | None, ...]:
        """Return the ranking down to the cutoff."""
        return self.ranking if k is None else self.ranking[: bisect_right(self.list_ranks, k)]

    def counted(self, k: int | None) -> list[tuple[int, JudgedItem | None]]:
        """Return the rank of each item down to the cutoff, from 1, and the item if it is judged."""
        last = len(self.ranks) if k is None else bisect_right(self.ranks, k)
        return [*zip(self.ranks[:last], self.ranking[:last], strict=True)]

    def judged(self, k: int | None) -> list[tuple[int, JudgedItem]]:
        """Return the judged items down to the cutoff with their ranks."""
        return [(rank, item) for rank, item in self.counted(k) if item is not None]

    def hit_flags(self, k: int | None) -> list[tuple[int, bool]]:
        """Return the rank of each item down to the cutoff, and whether it is a hit."""
        return [(rank, item is not None and item.relevant) for rank, item in self.counted(k)]

    def listed(self, k: int | None) -> list[tuple[int, int, bool]]:
        """Return the rank and id of each item down to the cutoff, without repeats, and whether it is a hit."""
        ranked = zip(self.list_ranks, self.items, self.ranking, self.repeats, strict=True)
        return [
            (rank, item, judgement is not None and judgement.relevant)
            for rank, item, judgement, is_repeat in ranked
            if not is_repeat and (k is None or rank <= k)
        ]

    def hit_ranks(self, k: int | None) -> list[int]:
        """Return the ranks of the relevant items down to the cutoff."""
        return [rank for rank, item in self.judged(k) if item.relevant]

    def hits(self, k: int | None) -> int:
        """h(k)."""
        return len(self.hit_ranks(k))


def without_repeats(groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return each item once, in the first group that has it."""
    seen: set[int] = set()
    first = []
    for group in groups:
        first.append([item for item in dict.fromkeys(group) if item not in seen])
        seen.update(group)
    return [group for group in first if group]


def tied_hits(user: JudgedUser) -> Iterator[tuple[int, int, list[JudgedItem]]]:
    """Return each tie's first rank, its size and its relevant items, best first."""
    begin = 0
    for size in user.ties:
        items = user.ranking[begin : begin + size]
        yield user.list_ranks[begin], size, [item for item in items if item is not None and item.relevant]
        begin += size


@cache
def power_of_two(exponent: float) -> float:
    """Return 2^exponent, rounded once; libraries of C round it in different ways."""
    if exponent == int(exponent):
        return math.ldexp(1.0, int(exponent))
    return float(_DIGITS.power(2, Decimal(exponent)))


def gain(grade: float, rules: Rules) -> float:  # noqa: PLR0911 - a gain a case
    """Return the gain of a relevant item."""
    if grade < 0 and rules["gain"] != "binary" and rules["negative_grades"] == "zero_gain":
        return 0.0
    match rules["gain"]:
        case "binary":
            return 1.0
        case "linear":
            return grade
        case "exp2":
            return power_of_two(grade) - 1
        case "exp2_shifted":
            return power_of_two(grade - rules["min_grade"] + 1) - 1
        case "scaled":
            low, high = rules["gain_range"]
            return float((min(max(grade, low), high) - low) / (high - low))
        case _:  # table
            return float(rules["gain_table"][int(grade)])


def counted_gain(item: JudgedItem, rules: Rules) -> float:
    """Return the gain of a relevant item: that of its grade, times its value if items count by their values."""
    of_grade = gain(item.grade, rules)
    return of_grade if rules["weight"] == "one" else item.value * of_grade


def is_relevant(grade: float, rules: Rules) -> bool:
    """Return whether the grade makes an item relevant."""
    match rules["min_grade"]:
        case None:
            return grade > 0
        case "any":
            return True
        case least:
            return bool(grade >= least)


def item_grades(truth: Sequence[tuple[int, float]], rules: Rules) -> dict[int, float]:
    """Return the grade of each item of the truth: if it is repeated, its first or highest grade."""
    grades: dict[int, float] = {}
    for item, grade in truth:
        if item not in grades or rules["duplicate_truth"] == "max":
            grades[item] = max(grade, grades.get(item, grade))
    return grades


def judged_grades(truth: Sequence[tuple[int, float]], rules: Rules) -> dict[int, float]:
    """Return the grade of each judged item: including negative grades, unless these mean unjudged."""
    grades = item_grades(truth, rules)
    if rules["negative_grades"] != "unjudged":
        return grades
    return {item: grade for item, grade in grades.items() if not grade < 0}


def judge_user(
    truth: Sequence[tuple[int, float]],
    groups: Sequence[Sequence[int]],
    excluded: frozenset[int],
    rules: Rules,
    given_ranks: Sequence[int] | None,
    catalogue: Catalogue,
    base_ranks: Mapping[int, int],
    history: Sequence[int] = (),
    possible_hits: AbstractSet[int] | None = None,
) -> JudgedUser:
    """Judge a user's list, in which ties are together; `truth` has (item, grade) pairs, perhaps repeated.

    If only some items may be hits, the others are in the list as if they were not relevant.
    """
    grades = judged_grades(truth, rules)
    pooled = {item for item, _ in truth} - set(grades)
    if rules["unjudged"] == "remove":  # a condensed list: Sakai 2007
        groups, given_ranks = [[item for item in group if item in grades] for group in groups], None
    in_truth = {
        item: JudgedItem(is_relevant(grade, rules), grade, catalogue.value(item)) for item, grade in grades.items()
    }
    items = {
        item: one if possible_hits is None or item in possible_hits else replace(one, relevant=False)
        for item, one in in_truth.items()
    }
    sizes = [len(group) for group in groups if not excluded.issuperset(group)]  # excluded items are in no tie
    if rules["ties"] in {"optimistic", "pessimistic", "shared"}:
        groups = [[item] for item in _arrange_ties(groups, excluded, items, rules)]
    ranking = list(chain.from_iterable(groups))
    counted = [item for item, _ in truth if item in grades] if rules["duplicate_truth"] == "count" else list(grades)
    remaining = [item for item in ranking if item not in excluded]
    repeats = _repeats(remaining, rules)
    hits = [item for item in ranking if item in in_truth and item not in excluded and in_truth[item].relevant]
    list_ranks = _remaining_ranks(ranking, given_ranks or range(1, len(ranking) + 1), excluded)
    return JudgedUser(
        ranking=tuple(
            None if is_repeat else items.get(item) for item, is_repeat in zip(remaining, repeats, strict=True)
        ),
        list_ranks=tuple(list_ranks),
        ranks=tuple(_ranks_of_groups(sizes, list_ranks, rules)),
        ties=tuple(len(group) for group in groups if not excluded.issuperset(group)),
        relevant_items=tuple(in_truth[item] for item in counted if in_truth[item].relevant),
        nonrelevant=sum(not in_truth[item].relevant for item in counted),
        pooled=tuple(item in pooled and not is_repeat for item, is_repeat in zip(remaining, repeats, strict=True)),
        hits_repeat=rules["duplicate_items"] == "count" and len(hits) > len(set(hits)),
        items=tuple(remaining),
        repeats=tuple(repeats),
        catalogue=catalogue,
        base_ranks=base_ranks,
        history=tuple(history),
    )


_REPEATED_ITEM = -1  # no item has this id


def _arrange_ties(
    groups: Sequence[Sequence[int]], excluded: frozenset[int], items: Mapping[int, JudgedItem], rules: Rules
) -> Iterator[int]:
    """Yield the items, each tie by its items' gains: the highest first or last, and those not judged at the other end.

    In a tie that shares a rank, the relevant items are last. A repeated item that is not a second hit counts as not judged.
    """

    def merit(item: int) -> tuple[int, float]:
        if item not in items:
            return 0, 0.0
        if not items[item].relevant:
            return 1, 0.0
        return 2, counted_gain(items[item], rules)

    seen: set[int] = set()
    for group in groups:
        tied = []
        for item in group:
            is_no_hit = item in seen and item not in excluded and rules["duplicate_items"] != "count"
            tied.append(_REPEATED_ITEM if is_no_hit else item)
            seen.add(item)
        yield from sorted(tied, key=merit, reverse=rules["ties"] == "optimistic")


def _remaining_ranks(ranking: Sequence[int], ranks: Sequence[int], excluded: frozenset[int]) -> list[int]:
    """Return the ranks of the items that are not excluded: each excluded item moves those below it up by one."""
    above = accumulate((item in excluded for item in ranking), initial=0)
    return [rank - removed for item, rank, removed in zip(ranking, ranks, above, strict=False) if item not in excluded]


def _ranks_of_groups(sizes: Sequence[int], list_ranks: Sequence[int], rules: Rules) -> Iterator[int]:
    """Yield the rank of each item of the list, given the sizes of its ties."""
    end = 0
    for size in sizes:
        begin, end = end, end + size
        yield from [list_ranks[end - 1]] * size if rules["ties"] == "shared" else list_ranks[begin:end]


def _repeats(items: Sequence[int], rules: Rules) -> list[bool]:
    """Return which items of a list do not count, as they have occurred before; they keep their ranks."""
    if rules["duplicate_items"] == "count":
        return [False] * len(items)
    first: dict[int, int] = {_REPEATED_ITEM: -1}
    return [first.setdefault(item, rank) != rank for rank, item in enumerate(items)]
