"""The faults of a call, detected in the plainest way; the core refuses the same, and has the wording."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._engine.problem import TopKProblem
from exactk._inputs.alignment import ARGUMENT as BASE, naming_base
from exactk._inputs.base_predictions import most_items
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import CanonicalEmbeddings, SparseScores
from exactk._plan.fields import STRICT_TIES
from exactk.reference.all_lists import is_counted_list
from exactk.reference.distances import ItemDistances, check_features, check_vectors
from exactk.reference.judge import gain, is_relevant, judged_grades
from exactk.reference.ranking import check_nan, check_repeats, excluded_items, numbers_of_row, reference_ranker
from exactk.reference.refusals import refuse, refuse_any, refuse_users
from exactk.reference.rules import list_rules, resolved_rules
from exactk.reference.ties import EXPECTATIONS

if TYPE_CHECKING:
    from exactk._engine.problem import Problem
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.values import Value
    from exactk.reference.judge import JudgedUsers
    from exactk.reference.rules import Rules


_MAX_GAIN = 2.0**256
_MAX_STEPWISE_CUTOFF = 2**20  # each rank down to it is computed
_MAX_GIVEN_RANK = 2**20


def check_inputs(problem: Problem, users: JudgedUsers) -> None:
    """Raise InputError if the call breaks a rule: of several faults the one that the core names."""
    _check_counted_users(problem, users)
    _check_base_scores(problem)
    _check_plan(problem)
    _check_arrays(problem)
    _check_items(problem)
    _check_base_lists(problem)
    _check_grades(problem)
    _check_numbers(problem)
    _check_repeats(problem)
    _check_ties(problem, users)
    _check_listed_items(problem, users)
    _check_item_values(problem, users)
    _check_policies(problem, users)
    _check_item_counts(problem, users)


def _in_examined_order(problem: Problem) -> list[Value]:
    """Return the values in the order in which the core examines them: of several faults both mostly name the same."""
    return sorted(problem.values, key=lambda value: value.cutoff or math.inf)


def rules_of_readers(problem: Problem) -> list[Rules]:
    """Return the rules of each value and of each tally of items."""
    return [*(value.rules for value in problem.values), *(tally.rules for tally in problem.list_tallies)]


def _rules_of_problem(problem: Problem) -> list[Rules]:
    """Return all rules in use: those of the counts, then each value's."""
    return [problem.convention.rules(""), *rules_of_readers(problem)]


def _stored_lists(problem: Problem) -> Rankings | None:
    """Return the lists of items in the predictions, if there are any."""
    predictions = problem.predictions
    if isinstance(predictions, SparseScores):
        return predictions.lists
    return predictions if isinstance(predictions, Rankings) else None


# The plan: what no input makes right.


def _check_plan(problem: Problem) -> None:
    for value in _in_examined_order(problem):
        for fault, is_at_fault in _faults_of_value(value).items():
            if is_at_fault:
                refuse("metrics", fault)
    of_arguments = [("item_tallies", tally.rules) for tally in problem.item_tallies]
    of_arguments += [("metrics", value.rules) for value in problem.group_tallies]
    for argument, rules in (*of_arguments, ("convention", problem.convention.rules(""))):
        if _has_unjudged_hits(rules):
            refuse(argument, "relevant grades below 0 that are unjudged")
    for value in problem.group_tallies:
        if _has_faulty_discounts(value):
            refuse("metrics", "discount_table")


def _faults_of_value(value: Value) -> dict[str, bool]:
    """Return which of the faults of a value it has, in the order in which the core looks for them."""
    info, rules = value.info, resolved_rules(value)
    is_micro = rules["average"] == "micro"
    is_expected = value.rules["ties"] == "expected"
    counts_users = "novelty_over" in info.own_fields and rules["novelty_over"] == "users"
    fills_ideal = info.uses_ideal and rules["ideal_over"] == "cutoff"
    has_values = rules["weight"] != "one"
    whole_users = {rules["empty_truth"], rules["empty_list"], rules["missing_list"]}
    return {
        "expected ties of a part of the ROC curve": is_expected and value.is_of_curve,
        "relevant grades below 0 that are unjudged": _has_unjudged_hits(rules),
        "micro average": is_micro and not info.micro and rules["weight"] != "self_normalized",
        "users with 0 or 1 in a micro average": is_micro and bool(whole_users & {"zero", "one"}),
        "cutoff of pairs": info.pairwise and value.cutoff is not None,
        "expected ties": is_expected and value.custom is None and info.name not in EXPECTATIONS,
        "expected ties of other gains than 1": is_expected and info.expects_unit_gains and rules["gain"] != "binary",
        "expected ties in a mean over hits": is_expected and info.averages_precisions and rules["ap_over"] == "hits",
        "head above 1": "tail" in info.own_fields and rules["tail"] != "at_most" and value.parameter > 1,
        "users of interactions": counts_users and rules["popularity"] == "interactions",
        "discount_table": _has_faulty_discounts(value),
        "share of a mean over hits": value.is_share and info.averages_precisions and rules["ap_over"] == "hits",
        "gain out of range": info.uses_gains and any(not 0 <= gain <= _MAX_GAIN for gain in rules["gain_table"]),
        "no gain_table": info.uses_gains and rules["gain"] == "table" and not rules["gain_table"],
        "no gain_range": info.uses_gains and rules["gain"] == "scaled" and not _is_range(rules["gain_range"]),
        "no min_grade to shift by": info.uses_gains
        and rules["gain"] == "exp2_shifted"
        and not isinstance(rules["min_grade"], float),
        "cutoff too large": info.every_rank and (value.cutoff or 0) > _MAX_STEPWISE_CUTOFF,
        "cutoff of the ideal": fills_ideal and (value.cutoff or math.inf) > _MAX_STEPWISE_CUTOFF,
        "gains of the ideal": fills_ideal and rules["gain"] != "binary",
        "values of items over hits": has_values and info.averages_precisions and rules["ap_over"] == "hits",
        "values of items under a full ideal": has_values and fills_ideal,
    }


def _is_range(grades: tuple[float, ...]) -> bool:
    return len(grades) == 2 and grades[0] < grades[1]


def _has_faulty_discounts(value: Value) -> bool:
    table = value.rules["discount_table"]
    falls = len(table) > 0 and table[0] > 0 and all(below <= above for above, below in pairwise(table))
    return value.info.discounted and value.rules["discount"] == "table" and not falls


def _has_unjudged_hits(rules: Rules) -> bool:
    return rules["negative_grades"] == "unjudged" and is_relevant(-math.ulp(0.0), rules)


# Arrays: lists, weights, and one row per user.


def _check_arrays(problem: Problem) -> None:
    lists = _stored_lists(problem)
    if lists is not None:
        _check_lists("predictions", lists)
    _check_length("predictions", problem, len(problem.predictions))
    if problem.exclude is not None:
        _check_length("exclude", problem, len(problem.exclude))
    if problem.weights is not None:
        weights = problem.weights.values.tolist()
        is_wrong = [weight != 0 and not 1 / _MAX_GAIN <= weight <= _MAX_GAIN for weight in weights]
        refuse_users("weights", "weight out of range", np.flatnonzero(is_wrong).tolist())
    counts_pairs = any(value.info.pairwise or value.info.takes_item_count for value in problem.values)
    if counts_pairs and lists is not None and lists.ranks is not None:
        refuse("metrics", "pairs of ranks with gaps")


def _check_length(argument: str, problem: Problem, length: int) -> None:
    if length != len(problem.truth):
        refuse(argument, "another number of users")


def _check_lists(argument: str, lists: Rankings) -> None:
    offsets = lists.indptr.tolist()
    wrong = [i for i, (offset, last) in enumerate(zip(offsets, [0, *offsets], strict=False)) if offset < last]
    wrong = [0] if offsets[0] != 0 else wrong
    if wrong or offsets[-1] != len(lists.items):
        refuse(argument, "offsets", position=[*wrong, len(offsets) - 1][0])
    for user in range(len(lists)):
        if not lists.has(user) and len(lists.row(user)) > 0:
            refuse(argument, "items of a missing user", row=user)
        last = 0
        for position, rank in enumerate([] if lists.ranks is None else numbers_of_row(lists, lists.ranks, user)):
            if not last < rank <= _MAX_GIVEN_RANK:
                refuse(argument, "rank", row=user, position=position)
            last = rank
    rows = enumerate(lists.row(user).tolist() for user in range(len(lists)))
    cells = [(user, i) for user, row in rows for i, item in enumerate(row) if not 0 <= item < 2**63]
    refuse_any(argument, "item id out of range", cells)


def _check_counted_users(problem: Problem, users: JudgedUsers) -> None:
    """Refuse users who count and have no weight or no group."""
    if len(problem.predictions) != len(problem.truth):  # another check reports that
        return
    for argument, given in (("weights", problem.weights), ("groups", problem.groups)):
        missing = [] if given is None else np.flatnonzero(given.is_missing).tolist()
        for value in problem.values:
            counted = [user for user in missing if users.is_counted(user, value.rules)]
            refuse_users(argument, "user without one", counted)
        for tally in problem.list_tallies:
            with_list = [user for user in missing if users.presence(user)[1]]
            all_count = tally.rules["list_users"] == "lists"
            counted = [user for user in with_list if all_count or users.is_counted(user, tally.rules)]
            refuse_users(argument, "user without one", counted)


# What values need of the items.


def _check_items(problem: Problem) -> None:
    """Refuse values that need more of the items, or an order of the list."""
    items = problem.items
    for value in _in_examined_order(problem):
        if resolved_rules(value)["weight"] != "one" and (items is None or items.item_values is None):
            refuse("items", "no values of items")
        if value.info.walks_list:
            _check_walk(problem, value)
        if value.info.reads_list or value.is_share:
            _check_list_order(problem, value.rules)
    for tally in problem.list_tallies:
        if items is None:
            refuse("items", "no catalogue")
        _check_list_order(problem, tally.rules)
    features = None if items is None else items.features
    if features is not None and any(value.needs.distances or value.needs.tags for value in problem.values):
        check_features(features)


def _check_walk(problem: Problem, value: Value) -> None:
    """Refuse a value if the items lack what it reads of each item of a list."""
    items, needs = problem.items, value.needs
    if items is None:
        refuse("items", "no catalogue")
    if (needs.distances or needs.tags) and items.features is None:
        refuse("items", "no features")
    if needs.tags and items.features is not None and items.features.tags is None:
        refuse("items.features", "no tags")
    if needs.history and problem.histories is None:
        refuse("items", "no histories")
    if needs.popularity:
        _check_popularity(items, value)


def _check_popularity(items: CanonicalItems, value: Value) -> None:
    rules, fields = value.rules, value.info.own_fields
    over = [rules[field] for field in ("novelty_over", "arp_over") if field in fields]
    lacks_interactions = "interactions" in (rules["popularity"], *over) and items.interactions is None
    if lacks_interactions and items.users is not None:
        refuse("items", "no interactions")
    if (items.users if rules["popularity"] == "users" else items.interactions) is None or lacks_interactions:
        refuse("items", "no popularity")
    divides_by_users = over[:1] == ["users"] or "popularity" not in fields
    if items.train_users is None and divides_by_users:
        refuse("items", "no number of users in train")


def _check_list_order(problem: Problem, rules: Rules) -> None:
    """Refuse lists whose items are read if they are in no one order."""
    if not isinstance(problem.predictions, Rankings) and rules["ties"] not in (*STRICT_TIES, "raise"):
        refuse("metrics", "no order of ties")


# Base predictions.


def _check_base_scores(problem: Problem) -> None:
    """Refuse scores of base predictions that cannot be ranked, whatever else is wrong."""
    readers = [value for value in problem.values if value.info.reads_base]
    if not readers or problem.base is None or isinstance(problem.base.predictions, Rankings):
        return
    base, scores, rules = problem.base, problem.base.predictions, readers[0].rules
    depth = max(1, min(max(value.cutoff or math.inf for value in readers), most_items(scores)))
    with naming_base():
        reference_ranker(TopKProblem(scores, int(depth), base.exclude, base.candidates, rules["ties"], rules["nan"], 1))


def _check_base_lists(problem: Problem) -> None:
    """Refuse base lists that are malformed, or not one per user."""
    if problem.base is None:
        return
    if isinstance(problem.base.predictions, Rankings):
        _check_lists(BASE, problem.base.predictions)
    if any(value.info.reads_base for value in problem.values):
        _check_length(BASE, problem, len(problem.base.predictions))


# Grades and other numbers.


def _check_grades(problem: Problem) -> None:
    truth = problem.truth
    if truth.grades is None and len(truth.items) and not all(is_relevant(1.0, r) for r in _rules_of_problem(problem)):
        refuse("truth", "no grades")
    for value in _in_examined_order(problem):
        if not value.info.uses_gains:
            continue
        if truth.grades is None:
            if not _has_gain(1.0, value):
                refuse("truth", "grade without a gain")
            _check_products(problem, value, [1.0])
            continue
        cells = [
            (user, position)
            for user in range(len(truth))
            for position, grade in enumerate(numbers_of_row(truth, truth.grades, user))
            if (grade >= 0 or value.rules["negative_grades"] == "raise") and not _has_gain(grade, value)
        ]
        refuse_any("truth", "grade without a gain", cells)
        _check_products(problem, value, truth.grades.tolist())


def _check_products(problem: Problem, value: Value, grades: list[float]) -> None:
    """Refuse gains that are too large beside values of items."""
    rules, items = resolved_rules(value), problem.items
    if rules["weight"] == "one" or items is None or items.item_values is None:
        return
    gains = [gain(grade, rules) for grade in grades if is_relevant(grade, rules)]
    values = [one for one in items.item_values.tolist() if not math.isnan(one)]
    if max(gains, default=0) * max(values, default=0) > _MAX_GAIN:
        refuse("items", "values times gains out of range")


def _has_gain(grade: float, value: Value) -> bool:
    rules = resolved_rules(value)
    has_gain = _is_gained_by(grade, value, rules)
    is_unbounded = not has_gain or not value.info.gains_to_one or not is_relevant(grade, rules)
    return has_gain and (is_unbounded or gain(grade, rules) <= 1)


def _is_gained_by(grade: float, value: Value, rules: Rules) -> bool:  # noqa: PLR0911 - a gain a case
    if value.info.takes_max_grade:
        return 0 <= grade <= value.parameter
    match rules["gain"]:
        case "binary":
            return True
        case "linear":
            return 0 <= grade <= _MAX_GAIN
        case "exp2":
            return 0 <= grade <= math.log2(_MAX_GAIN)
        case "exp2_shifted":  # only relevant items need a gain
            return bool(grade - rules["min_grade"] <= math.log2(_MAX_GAIN) - 1)
        case "scaled":
            return grade >= 0
        case _:  # table
            return grade in range(len(rules["gain_table"]))


def _check_numbers(problem: Problem) -> None:
    predictions = problem.predictions
    if isinstance(predictions, CanonicalEmbeddings):
        check_vectors(predictions)
    for value in problem.values:
        if problem.items is not None and problem.items.features is not None and value.needs.distances:
            ItemDistances(problem.items.features, value.rules["distance"])
    refuses_nan = any(rules["nan"] == "raise" for rules in rules_of_readers(problem))
    if refuses_nan and not isinstance(predictions, CanonicalEmbeddings | Rankings):
        check_nan(predictions, problem.candidates, "predictions")


# Users: the most severe kind of fault first, at its first user.


def _check_repeats(problem: Problem) -> None:
    all_rules, truth = rules_of_readers(problem), problem.truth
    if any(rules["duplicate_truth"] == "raise" for rules in all_rules):
        check_repeats("truth", (truth.row(user).tolist() for user in range(len(truth))))
    of_base = [value.rules for value in problem.values if value.info.reads_base]
    base = problem.base.predictions if problem.base is not None else None
    for argument, lists, readers in (
        ("predictions", _stored_lists(problem), all_rules),
        (BASE, base if isinstance(base, Rankings) else None, of_base),
    ):
        if lists is not None and any(rules["duplicate_items"] == "raise" for rules in readers):
            check_repeats(argument, map(np.ndarray.tolist, map(lists.row, range(len(lists)))))
    if any(r["ties"] == "expected" and r["duplicate_items"] == "first" for r in map(resolved_rules, problem.values)):
        _check_tied_repeats(problem)


def _check_tied_repeats(problem: Problem) -> None:
    """Refuse an item of the truth that is repeated within a tie: an expectation has each item equally likely at every rank."""
    scores = problem.predictions
    if not isinstance(scores, SparseScores):
        return
    cells: list[tuple[int | None, int | None]] = []
    for user in range(len(scores)):
        judged = set(problem.truth.row(user).tolist()) - excluded_items(problem.exclude, user)
        seen = set()
        row = zip(scores.lists.row(user).tolist(), numbers_of_row(scores.lists, scores.scores, user), strict=True)
        for position, (item, score) in enumerate(row):
            is_ranked = scores.min_score is None or score >= scores.min_score
            pair = (item, None if math.isnan(score) else score)
            if is_ranked and item in judged and pair in seen:
                cells.append((user, position))
            seen.add(pair)
    refuse_any("predictions", "repeated item within a tie", cells)


def _last_rank(value: Value) -> float:
    """Return the last rank whose item the value may read."""
    is_condensed = value.info.may_condense and value.rules["unjudged"] == "remove"
    return math.inf if is_condensed or value.cutoff is None else value.cutoff


def _check_ties(problem: Problem, users: JudgedUsers) -> None:
    """Refuse ties that the rules refuse: with an item of the truth, and in a list whose items a metric reads."""
    judging = [one for one in problem.values if one.rules["ties"] == "raise" and not one.info.reads_list]
    if judging:  # ties are the same under all rules, except for NaN, which was refused before or is last under all
        last, rules = max(_last_rank(value) for value in judging), judging[0].rules
        tied = [user for user in range(len(users)) if any(rank <= last for rank in users.tied_ranks(user, rules))]
        refuse_users("predictions", "tie with an item of the truth", tied)
    reading = [one for one in _readers(problem) if one.rules["ties"] == "raise"]
    if reading:
        ranks = [min(users.tied_list_ranks(user, reading[0].rules), default=math.inf) for user in range(len(users))]
        tied = [
            user
            for user, rank in enumerate(ranks)
            if rank < math.inf and any(rank <= (one.cutoff or math.inf) and one.reads(users, user) for one in reading)
        ]
        refuse_users("predictions", "tie in a list", tied)


class _Reader(NamedTuple):
    """What reads the items of lists: a value, or a tally of items."""

    rules: Rules
    cutoff: int | None
    value: Value | None = None

    def reads(self, users: JudgedUsers, user: int) -> bool:
        """Return whether it reads the list of a user."""
        if self.value is None:
            return is_counted_list(users, user, self.rules)
        return users.policy(user, self.value)[0] == "compute"

    def to_last_cutoff(self, others: list[_Reader]) -> _Reader:
        """Return it at the last cutoff of the values that the core computes together, which differ in the cutoff alone."""
        if self.value is None:
            return self
        cutoffs = [one.cutoff or math.inf for one in others if one.value and _is_computed_with(self.value, one.value)]
        return self._replace(cutoff=None if math.inf in cutoffs else int(max(cutoffs)))


def _is_computed_with(value: Value, other: Value) -> bool:
    rules, others = ({**one.rules, "decimals": None} for one in (value, other))
    computed = (value.metric, value.parameter, value.item_group, rules)
    return computed == (other.metric, other.parameter, other.item_group, others)


def _readers(problem: Problem) -> list[_Reader]:
    """Return what reads the items of lists, in the order in which the core examines it."""
    values = [value for value in _in_examined_order(problem) if value.info.reads_list]
    of_users = [_Reader(value.rules, value.cutoff, value) for value in values]
    return [*of_users, *(_Reader(tally.rules, tally.last_cutoff) for tally in problem.list_tallies)]


_FOREIGN, _UNSEEN, _WITHOUT_FEATURES = "item outside the catalogue", "item not in train", "item without features"


def _check_listed_items(problem: Problem, users: JudgedUsers) -> None:
    """Refuse items of lists outside the catalogue, not in train, or without features, where the rules do."""
    readers = [one for one in _readers(problem) if one.value is None or one.value.info.walks_list]
    counting = [one.to_last_cutoff(readers) for one in readers]
    for fault in (_FOREIGN, _UNSEEN, _WITHOUT_FEATURES):
        broken = [
            user
            for user in range(len(users))
            if any(one.reads(users, user) and any(_refused(users, user, one, fault)) for one in readers)
        ]
        counts = [next(filter(any, (_refused(users, user, one, fault) for one in counting))) for user in broken]
        if broken:
            argument = "predictions" if counts[0][0] else "train"
            refuse(argument, fault, row=broken[0], count=sum(map(sum, counts)))


def _refused(users: JudgedUsers, user: int, reader: _Reader, fault: str) -> tuple[int, int]:
    """Return how many items of the user's list, and of the history, have a fault that the rules refuse.

    Foreign items are unseen and without features, if they count.
    """
    rules, catalogue = reader.rules, users.catalogue
    judged = users.judged_user(user, list_rules(rules))
    ranked = zip(judged.list_ranks, judged.items, strict=True)
    listed = [item for rank, item in ranked if reader.cutoff is None or rank <= reader.cutoff]
    positions = [catalogue.positions[item] for item in listed if item in catalogue.positions]
    foreign = len(listed) - len(positions)
    if fault == _FOREIGN:
        return foreign if rules["foreign_items"] == "raise" else 0, 0
    needs, counted = reader.value and reader.value.needs, foreign if rules["foreign_items"] == "count" else 0
    if fault == _UNSEEN and needs and needs.popularity and rules["unseen_items"] == "raise":
        return counted + sum(map(catalogue.is_unseen, listed)), 0
    if (
        fault == _WITHOUT_FEATURES
        and needs
        and rules["missing_features"] == "raise"
        and (needs.distances or needs.tags)
    ):
        has_features = catalogue.has_tags if needs.tags else catalogue.distances(rules["distance"]).has_features
        history = users.history(user) if needs.history else []
        missing, of_history = (sum(not has_features(one) for one in items) for items in (positions, history))
        # What a message counts is in one argument: the history is looked at where the list has no fault.
        return (counted + missing, 0) if counted + missing else (0, of_history)
    return 0, 0


def _check_item_values(problem: Problem, users: JudgedUsers) -> None:
    """Refuse a relevant item that counts by its value, and has none."""
    broken: dict[int, int] = {}
    for value in _in_examined_order(problem):
        rules = resolved_rules(value)
        for user in range(len(users)) if rules["weight"] != "one" else ():
            truth = users.graded_items(user)
            if value.item_group is not None and not value.is_share:
                truth = [pair for pair in truth if users.is_in_group(pair[0], value.item_group)]
            grades = judged_grades(truth, rules)
            without = sum(
                is_relevant(grade, rules) and math.isnan(users.catalogue.value(item)) for item, grade in grades.items()
            )
            if without and users.policy(user, value)[0] == "compute":
                broken.setdefault(user, without)
    if broken:
        refuse("truth", "relevant item without a value", row=min(broken), count=sum(broken.values()))


def _check_policies(problem: Problem, users: JudgedUsers) -> None:
    for kind, argument in (("empty_truth", "truth"), ("missing_list", "predictions"), ("empty_list", "predictions")):
        broken = [
            user
            for user in range(len(users))
            if any(users.policy(user, value) == ("error", kind) for value in problem.values)
        ]
        refuse_users(argument, kind, broken)


def _check_item_counts(problem: Problem, users: JudgedUsers) -> None:
    """Refuse users who have more relevant items and misses than the stated number of items."""

    def has_too_many(user: int, value: Value) -> bool:
        judged = users.judged_user(user, resolved_rules(value))
        misses = len(judged.top(value.cutoff)) - judged.hits(value.cutoff)
        return users.policy(user, value)[0] == "compute" and judged.relevant + misses > value.parameter

    list_aucs = [value for value in problem.values if value.info.takes_item_count]
    broken = [user for user in range(len(users)) if any(has_too_many(user, value) for value in list_aucs)]
    refuse_users("metrics", "too few items", broken)
