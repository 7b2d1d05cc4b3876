"""Input errors, detected in the plainest way; the core raises the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.alignment import naming_base
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import CanonicalEmbeddings, SparseScores
from exactk._plan.fields import STRICT_TIES
from exactk._plan.values import Needs
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk.reference.all_lists import is_counted_list
from exactk.reference.base_lists import check_base_lists, check_repeats_in_base
from exactk.reference.distances import ItemDistances, check_features, check_vectors
from exactk.reference.judge import is_relevant, judged_grades
from exactk.reference.ranking import check_nan, check_repeats
from exactk.reference.rules import list_rules, resolved_rules
from exactk.reference.ties import EXPECTATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exactk._engine.problem import Problem
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.values import Value
    from exactk.reference.judge import JudgedUsers
    from exactk.reference.rules import Rules


_NO_NEEDS = Needs(popularity=False, distances=False, tags=False, history=False)
_NOUNS = {"weights": "a weight", "groups": "a group"}
_MAX_GAIN = 2.0**256
_MAX_STEPWISE_CUTOFF = 2**20  # each rank down to it is computed
_MAX_GIVEN_RANK = 2**20


def check_problem(problem: Problem) -> None:
    """Raise InputError for faults that do not depend on judging a user."""
    for value in _in_examined_order(problem):
        _check_value(value)
    _check_tallies(problem)
    _check_negative_grades("convention", problem.convention.rules(""))
    lists = _stored_lists(problem)
    if lists is not None:
        _check_lists(lists)
    _check_length("predictions", len(problem.predictions), len(problem.truth))
    if problem.exclude is not None:
        _check_length("exclude", len(problem.exclude), len(problem.truth))
    _check_weights(problem)
    _check_rank_gaps(problem, lists)
    _check_items(problem)
    _check_features(problem)
    _check_base(problem)
    for rules in _rules_of_problem(problem):
        ungraded = problem.truth.grades is None and len(problem.truth.items) > 0
        if ungraded and not is_relevant(1.0, rules):
            raise input_error("truth", f"grades with min_grade={rules['min_grade']:g}", "no grades")
    for value in _in_examined_order(problem):
        _check_gains(problem, value)
    predictions = problem.predictions
    if isinstance(predictions, CanonicalEmbeddings):
        check_vectors(predictions)
    _check_distances(problem)
    if not isinstance(predictions, CanonicalEmbeddings | Rankings) and any(
        rules["nan"] == "raise" for rules in _rules_of_readers(problem)
    ):
        check_nan(predictions, problem.candidates, "predictions")


def _check_weights(problem: Problem) -> None:
    if problem.weights is None:
        return
    _check_length("weights", len(problem.weights.values), len(problem.truth))
    violations = [
        (user, weight)
        for user, weight in enumerate(problem.weights.values.tolist())
        if weight != 0 and not 1 / _MAX_GAIN <= weight <= _MAX_GAIN
    ]
    if violations:
        user, weight = violations[0]
        raise input_error(
            "weights",
            "non-negative weights, at most 2^256 (and from 2^-256 unless 0)",
            f"{weight:g}",
            row=user,
            count=len(violations),
        )


def _stored_lists(problem: Problem) -> Rankings | None:
    """Return the lists of items in the predictions, if there are any."""
    predictions = problem.predictions
    if isinstance(predictions, SparseScores):
        return predictions.lists
    return predictions if isinstance(predictions, Rankings) else None


def _rules_of_problem(problem: Problem) -> list[Rules]:
    """Return all rules in use: those of the counts, then each value's."""
    return [problem.convention.rules(""), *_rules_of_readers(problem)]


def _rules_of_readers(problem: Problem) -> list[Rules]:
    """Return the rules of each value and of each tally of items."""
    return [*(value.rules for value in problem.values), *(tally.rules for tally in problem.list_tallies)]


def _check_tallies(problem: Problem) -> None:
    for tally in problem.item_tallies:
        _check_negative_grades("item_tallies", tally.rules)
    for value in problem.group_tallies:
        _check_negative_grades("metrics", value.rules)


def _check_value(value: Value) -> None:
    info, rules = value.info, resolved_rules(value)
    if rules["average"] == "micro":
        if not info.micro:
            raise input_error("metrics", f"{value.metric}: average='macro'", "'micro'")
        if {rules["empty_truth"], rules["empty_list"], rules["missing_list"]} & {"zero", "one"}:
            raise input_error("metrics", f"{value.metric}: compute, skip or error with average='micro'", "zero or one")
    _check_tie_rules(value)
    _check_item_fields(value)
    if rules["weight"] == "values" and rules["recall_over"] != "relevant":
        raise input_error("metrics", f"{value.metric}: recall_over='relevant' with weight='values'", "another divisor")
    _check_negative_grades("metrics", rules)
    if info.uses_gains:
        _check_gain_fields(value.metric, rules)
    if info.every_rank and (value.cutoff or 0) > _MAX_STEPWISE_CUTOFF:
        raise input_error("metrics", f"{value.metric}: a cutoff up to 1048576, or none", str(value.cutoff))
    if info.uses_ideal and rules["ideal_over"] == "cutoff":
        if value.cutoff is None or value.cutoff > _MAX_STEPWISE_CUTOFF:
            raise input_error(
                "metrics", f"{value.metric}: a cutoff up to 1048576 with ideal_over='cutoff'", str(value.cutoff)
            )
        if rules["gain"] != "binary":
            raise input_error("metrics", f"{value.metric}: gain='binary' with ideal_over='cutoff'", repr(rules["gain"]))


def _check_item_fields(value: Value) -> None:
    """Raise InputError if the value divides by fewer users than an item may have, or has a share above 1."""
    info, rules = value.info, value.rules
    if "tail" in info.own_fields and rules["tail"] != "at_most" and value.parameter > 1:
        raise input_error("metrics", f"{value.metric}: head in [0, 1] unless tail='at_most'", f"{value.parameter:g}")
    by_users = "novelty_over" in info.own_fields and rules["novelty_over"] == "users"
    if by_users and rules["popularity"] == "interactions":
        expected = f"{value.metric}: novelty_over='interactions' with popularity='interactions'"
        raise input_error("metrics", expected, "'users', of whom one may have several rows")


def _check_weight(value: Value, items: CanonicalItems | None) -> None:
    """Raise InputError if items count by their values, and there are none."""
    if resolved_rules(value)["weight"] == "values" and (items is None or items.item_values is None):
        raise input_error("items", f"values of items, by which {value.metric} counts them", "none")


def _in_examined_order(problem: Problem) -> list[Value]:
    """Return the values in the order in which the core examines them: of several faults both mostly name the same."""
    return sorted(problem.values, key=lambda value: value.cutoff or math.inf)


def _check_items(problem: Problem) -> None:
    """Raise InputError if a value needs more of the items, or an order of the list."""
    for value in _in_examined_order(problem):
        _check_weight(value, problem.items)
        if value.info.walks_list:
            _check_walk(problem, value)
        if value.info.reads_list:
            _check_list_ties(problem, f"{value.metric}: ties", value.rules)
    for tally in problem.list_tallies:
        if problem.items is None:
            raise input_error("items", "a catalogue", "none")
        _check_list_ties(problem, "metrics of all lists: ties", tally.rules)


def _check_walk(problem: Problem, value: Value) -> None:
    """Raise InputError if the items lack what the value reads of each item of a list."""
    rules, items = value.rules, problem.items
    if items is None:
        raise input_error("items", f"{value.metric} to have a catalogue", "none")
    needs = value.needs
    _check_features_and_histories(problem, value)
    counts = items.users if rules["popularity"] == "users" else items.interactions
    over = [rules[field] for field in ("novelty_over", "arp_over") if field in value.info.own_fields]
    lacks_interactions = "interactions" in (rules["popularity"], *over) and items.interactions is None
    if needs.popularity and lacks_interactions and items.users is not None:
        found = "popularity=, which has the users of each item alone"
        raise input_error("items", f"{value.metric} to have the interactions with items", found)
    if needs.popularity and (counts is None or lacks_interactions):
        raise input_error("items", f"{value.metric} to have the popularity of items", "none")
    if needs.popularity and items.train_users is None and _divides_by_users(value):
        raise input_error("items", f"{value.metric} to have the number of users in train", "none")


def _check_list_ties(problem: Problem, ties: str, rules: Rules) -> None:
    """Raise InputError if lists whose items are read are in no one order."""
    if not isinstance(problem.predictions, Rankings) and rules["ties"] not in (*STRICT_TIES, "raise"):
        raise input_error("metrics", f"{ties} in one order", repr(rules["ties"]))


def _check_features_and_histories(problem: Problem, value: Value) -> None:
    """Raise InputError if a value needs more of the items' features, or of what users have in train."""
    needs, items = value.needs, problem.items
    features = None if items is None else items.features
    if (needs.distances or needs.tags) and features is None:
        raise input_error("items", f"{value.metric} to have the features of items", "none")
    if needs.tags and features is not None and features.tags is None:
        raise input_error("items.features", f"{value.metric} to have the tags of items", "vectors")
    if needs.history and problem.histories is None:
        raise input_error("items", f"{value.metric} to have what each user has in train", "none")


def _check_features(problem: Problem) -> None:
    """Raise InputError if features that a value reads are malformed."""
    features = None if problem.items is None else problem.items.features
    if features is not None and any(value.needs.distances or value.needs.tags for value in problem.values):
        check_features(features)


def _check_distances(problem: Problem) -> None:
    """Raise InputError if the features of items have no such distance."""
    features = None if problem.items is None else problem.items.features
    for value in problem.values:
        if features is not None and value.needs.distances:
            ItemDistances(features, value.rules["distance"])


def _check_base(problem: Problem) -> None:
    """Raise InputError if the base lists are malformed, missing, or not one per user."""
    if problem.base is not None and isinstance(problem.base.predictions, Rankings):
        with naming_base():
            _check_lists(problem.base.predictions)
    check_base_lists(problem)


def _divides_by_users(value: Value) -> bool:
    fields = value.info.own_fields
    over = next((value.rules[field] for field in ("novelty_over", "arp_over") if field in fields), None)
    return over == "users" or "popularity" not in fields


def _check_negative_grades(argument: str, rules: Rules) -> None:
    if rules["negative_grades"] == "unjudged" and is_relevant(-math.ulp(0.0), rules):
        expected = "min_grade of 0 or more with negative_grades='unjudged'"
        raise input_error(argument, expected, repr(rules["min_grade"]))


def _check_gain_fields(metric: str, rules: Rules) -> None:
    violations = [gain for gain in rules["gain_table"] if not 0 <= gain <= _MAX_GAIN]
    if violations:
        raise input_error("metrics", f"{metric}: gain_table of numbers from 0 to 2^256", str(violations[0]))
    if rules["gain"] == "table" and not rules["gain_table"]:
        raise input_error("metrics", f"{metric}: a gain_table with gain='table'", "none")
    if rules["gain"] == "exp2_shifted" and not isinstance(rules["min_grade"], float):
        raise input_error("metrics", f"{metric}: a number as min_grade with gain='exp2_shifted'", "none")


def _check_tie_rules(value: Value) -> None:
    info = value.info
    if info.pairwise and value.cutoff is not None:
        raise input_error("metrics", f"{value.metric}: no cutoff", str(value.cutoff))
    if value.rules["ties"] == "expected":
        if value.custom is None and value.metric not in EXPECTATIONS:
            raise input_error("metrics", f"{value.metric}: ties other than 'expected'", "'expected'")
        if info.averages_precisions and value.rules["ap_over"] == "hits":
            raise input_error("metrics", f"{value.metric}: ap_over other than 'hits' with ties='expected'", "'hits'")


def _check_length(argument: str, length: int, users: int) -> None:
    if length != users:
        raise input_error(argument, f"{plural(users, 'row')}, one per user of the truth", str(length))


def _check_lists(rankings: Rankings) -> None:
    indptr = rankings.indptr.tolist()
    if not indptr:
        raise input_error("predictions", "indptr with one more offset than rows", "0")
    if indptr[0] != 0:
        raise input_error("predictions", "indptr to begin at 0", str(indptr[0]), position=0)
    for i in range(1, len(indptr)):
        if indptr[i] < indptr[i - 1]:
            raise input_error("predictions", "indptr not to decrease", str(indptr[i]), position=i)
    if indptr[-1] != len(rankings.items):
        expected = f"indptr to end at the number of items, {len(rankings.items)}"
        raise input_error("predictions", expected, str(indptr[-1]), position=len(indptr) - 1)
    for user in range(len(rankings)):
        if not rankings.has(user) and len(rankings.row(user)) > 0:
            raise input_error("predictions", "no items where present is False", "items", row=user)
    _check_ranks(rankings)
    violations = [
        (user, position, item)
        for user in range(len(rankings))
        for position, item in enumerate(rankings.row(user).tolist())
        if not 0 <= item < 2**63
    ]
    if violations:
        user, position, item = violations[0]
        raise input_error(
            "predictions", "item ids in [0, 2^63)", str(item), row=user, position=position, count=len(violations)
        )


def _check_ranks(rankings: Rankings) -> None:
    if rankings.ranks is None:
        return
    for user in range(len(rankings)):
        last = 0
        for position, rank in enumerate(rankings.ranks[rankings.indptr[user] : rankings.indptr[user + 1]].tolist()):
            if not last < rank <= _MAX_GIVEN_RANK:
                raise input_error(
                    "predictions",
                    f"ranks from 1 to {_MAX_GIVEN_RANK}, ascending",
                    str(rank),
                    row=user,
                    position=position,
                )
            last = rank


def _counts_pairs(value: Value) -> bool:
    info = value.info
    return info.pairwise or info.takes_item_count


def _check_rank_gaps(problem: Problem, lists: Rankings | None) -> None:
    """Raise InputError if a value counts pairs of items by rank, and ranks have gaps."""
    metrics = [value.metric for value in problem.values if _counts_pairs(value)]
    if metrics and lists is not None and lists.ranks is not None:
        raise input_error("metrics", f"{metrics[0]}: ranks without gaps", "rank_gaps='keep'")


def _has_gain(grade: float, value: Value) -> bool:
    rules = resolved_rules(value)
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
        case _:  # table
            return grade in range(len(rules["gain_table"]))


def _check_gains(problem: Problem, value: Value) -> None:
    if not value.info.uses_gains:
        return
    truth = problem.truth
    if truth.grades is None:
        if not _has_gain(1.0, value):
            raise input_error("truth", "grades that have gains", "grade 1")
        return
    violations = [
        (user, position, grade)
        for user in range(len(truth))
        for position, grade in enumerate(truth.grades[truth.indptr[user] : truth.indptr[user + 1]].tolist())
        if (grade >= 0 or value.rules["negative_grades"] == "raise") and not _has_gain(grade, value)
    ]
    if violations:
        user, position, grade = violations[0]
        raise input_error(
            "truth", "grades that have gains", f"grade {grade:g}", row=user, position=position, count=len(violations)
        )


def check_counted_users(problem: Problem, is_counted: Callable[[int, Rules], bool]) -> None:
    """Raise InputError if a user who counts has no weight or no group."""
    if len(problem.predictions) != len(problem.truth):  # another check reports that
        return
    for argument, given in (("weights", problem.weights), ("groups", problem.groups)):
        missing = [] if given is None else np.flatnonzero(given.is_missing).tolist()
        for value in problem.values:
            broken = [user for user in missing if is_counted(user, value.rules)]
            if broken:
                expected = f"{_NOUNS[argument]} for every user in the mean of {value.spelling}"
                raise input_error(argument, expected, "none", row=broken[0], count=len(broken))


def check_user_faults(problem: Problem, policy: Callable[[int, Value], tuple[str, str]], users: JudgedUsers) -> None:
    """Raise InputError if users' lists violate a rule: the most severe kind first, at its first user."""
    all_rules = _rules_of_readers(problem)
    if any(rules["duplicate_truth"] == "raise" for rules in all_rules):
        check_repeats("truth", (problem.truth.row(user).tolist() for user in range(len(problem.truth))))
    lists = _stored_lists(problem)
    if lists is not None and any(rules["duplicate_items"] == "raise" for rules in all_rules):
        check_repeats("predictions", (lists.row(user).tolist() for user in range(len(lists))))
    if any(rules["duplicate_items"] == "raise" for rules in all_rules):
        check_repeats_in_base(problem)
    _check_tied_repeats(problem)
    _check_tied_users(problem, users.tied_ranks)
    _check_tied_lists(problem, policy, users)
    _check_listed_items(problem, policy, users)
    _check_item_values(problem, policy, users)
    for kind, argument in (("empty_truth", "truth"), ("missing_list", "predictions"), ("empty_list", "predictions")):
        broken = [
            user
            for user in range(len(problem.truth))
            if any(policy(user, value) == ("error", kind) for value in problem.values)
        ]
        if broken:
            raise input_error(argument, f"no user for {kind}='error'", "a user", row=broken[0], count=len(broken))


def _check_listed_items(problem: Problem, policy: Callable[[int, Value], tuple[str, str]], users: JudgedUsers) -> None:
    """Raise InputError if a list has items outside the catalogue, or not in train, and the rules refuse these."""
    all_values = [value for value in problem.values if value.info.walks_list]
    computed = {
        user: [value for value in all_values if policy(user, value)[0] == "compute"]
        for user in range(len(problem.truth))
    }
    for refused, expected, may_refuse in (
        (_refused_foreign, "items of the catalogue", lambda _: True),
        (_refused_unseen, "items that are in train", lambda needs: needs.popularity),
        (_refused_without_features, "items with features", lambda needs: needs.distances or needs.tags),
    ):
        values = [value for value in all_values if may_refuse(value.needs)]
        broken = [
            user
            for user, of_user in computed.items()
            if any(
                refused(users, user, value.rules, value.cutoff, value.needs)
                for value in of_user
                if may_refuse(value.needs)
            )
            or any(
                refused(users, user, tally.rules, tally.last_cutoff, _NO_NEEDS)
                for tally in problem.list_tallies
                if refused is _refused_foreign and is_counted_list(users, user, tally.rules)
            )
        ]
        if broken:
            # The core computes values together that differ in the cutoff alone, those with a low cutoff first.
            ordered = sorted(values, key=lambda value: value.cutoff or math.inf)
            runs = [(value.rules, _last_cutoff(value, values), value.needs) for value in ordered]
            if refused is not _refused_without_features:
                runs += [(tally.rules, tally.last_cutoff, _NO_NEEDS) for tally in problem.list_tallies]
            count = sum(next(filter(None, (refused(users, user, *run) for run in runs))) for user in broken)
            rules, cutoff, needs = next(run for run in runs if refused(users, broken[0], *run))
            is_recommended = refused(users, broken[0], rules, cutoff, needs._replace(history=False)) > 0
            argument = "predictions" if is_recommended else "train"
            raise input_error(argument, expected, "other items", row=broken[0], count=count)


def _check_item_values(problem: Problem, policy: Callable[[int, Value], tuple[str, str]], users: JudgedUsers) -> None:
    """Raise InputError if a relevant item counts by its value, and has none."""
    broken: dict[int, list[int]] = {}
    for value in _in_examined_order(problem):
        rules = resolved_rules(value)
        for user in range(len(problem.truth)) if rules["weight"] == "values" else ():
            if policy(user, value)[0] != "compute":
                continue
            grades = judged_grades(users.graded_items(user), rules)
            without = [
                item for item in grades if is_relevant(grades[item], rules) and math.isnan(users.catalogue.value(item))
            ]
            if without:
                broken.setdefault(user, without)
    if broken:
        user, expected = min(broken), "relevant items that have a value (weight='values')"
        count = sum(map(len, broken.values()))
        raise input_error("truth", expected, "an item without one", row=user, count=count)


def _last_cutoff(value: Value, values: list[Value]) -> int | None:
    """Return the last cutoff of the metric under these rules."""
    rules = {**value.rules, "decimals": None}
    others = [other for other in values if other.metric == value.metric and {**other.rules, "decimals": None} == rules]
    cutoffs = [other.cutoff for other in others if other.parameter == value.parameter]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)


def _refused_foreign(users: JudgedUsers, user: int, rules: Rules, cutoff: int | None, _: Needs) -> int:
    """Return the number of items outside the catalogue, if the rules refuse these."""
    return len(_foreign_items(users, user, rules, cutoff)) if rules["foreign_items"] == "raise" else 0


def _refused_unseen(users: JudgedUsers, user: int, rules: Rules, cutoff: int | None, _: Needs) -> int:
    """Return the number of items that are not in train, if the rules refuse these; foreign items only if they count."""
    if rules["unseen_items"] != "raise":
        return 0
    foreign = _foreign_items(users, user, rules, cutoff) if rules["foreign_items"] == "count" else []
    return len(foreign) + sum(map(users.catalogue.is_unseen, _items_of_list(users, user, rules, cutoff)))


def _refused_without_features(users: JudgedUsers, user: int, rules: Rules, cutoff: int | None, needs: Needs) -> int:
    """Return the number of items without features in list and history, if refused; foreign items only if they count."""
    if rules["missing_features"] != "raise":
        return 0
    foreign = _foreign_items(users, user, rules, cutoff)
    items = [item for item in _items_of_list(users, user, rules, cutoff) if item not in foreign]
    positions = [users.catalogue.positions[item] for item in items] + (users.history(user) if needs.history else [])
    kept = users.catalogue.tags if needs.tags else users.catalogue.distances(rules["distance"])
    has_features = (lambda one: bool(kept[one])) if isinstance(kept, list) else kept.has_features
    missing = sum(not has_features(position) for position in positions)
    return missing + (len(foreign) if rules["foreign_items"] == "count" else 0)


def _foreign_items(users: JudgedUsers, user: int, rules: Rules, cutoff: int | None) -> list[int]:
    return [item for item in _items_of_list(users, user, rules, cutoff) if item not in users.catalogue.positions]


def _items_of_list(users: JudgedUsers, user: int, rules: Rules, cutoff: int | None) -> list[int]:
    judged = users.judged_user(user, list_rules(rules))
    ranked = zip(judged.list_ranks, judged.items, strict=True)
    return [item for rank, item in ranked if cutoff is None or rank <= cutoff]


def _check_tied_repeats(problem: Problem) -> None:
    """Raise InputError if an item of the truth is repeated within a tie, and only its first rank counts.

    The expectations assume that each item of a tie is equally likely at every rank.
    """
    all_rules = [resolved_rules(value) for value in problem.values]
    is_asked = any(rules["ties"] == "expected" and rules["duplicate_items"] == "first" for rules in all_rules)
    scores = problem.predictions
    if not is_asked or not isinstance(scores, SparseScores):
        return
    repeats = []
    for user in range(len(scores)):
        excluded = [] if problem.exclude is None else problem.exclude.row(user).tolist()
        judged = set(problem.truth.row(user).tolist()) - set(excluded)
        seen = set()
        begin, end = int(scores.indptr[user]), int(scores.indptr[user + 1])
        row = zip(scores.items[begin:end].tolist(), scores.scores[begin:end].tolist(), strict=True)
        for position, (item, score) in enumerate(row):
            is_ranked = scores.min_score is None or score >= scores.min_score
            pair = (item, None if math.isnan(score) else score)
            if is_ranked and item in judged and pair in seen:
                repeats.append((user, position))
            seen.add(pair)
    if repeats:
        (user, position), expected = repeats[0], "each item once within a tie"
        raise input_error("predictions", expected, "an item again", row=user, position=position, count=len(repeats))


def _check_tied_lists(problem: Problem, policy: Callable[[int, Value], tuple[str, str]], users: JudgedUsers) -> None:
    """Raise InputError if items tie in a list that a metric reads, and the rules refuse ties."""
    values: list[Value] = [v for v in problem.values if v.info.reads_list and v.rules["ties"] == "raise"]
    tallies = [tally for tally in problem.list_tallies if tally.rules["ties"] == "raise"]

    def cutoffs(user: int) -> Iterator[float]:
        yield from (value.cutoff or math.inf for value in values if policy(user, value)[0] == "compute")
        yield from (t.last_cutoff or math.inf for t in tallies if is_counted_list(users, user, t.rules))

    rules = next(iter([*(value.rules for value in values), *(tally.rules for tally in tallies)]), None)
    if rules is None:
        return
    firsts = {user: min(users.tied_list_ranks(user, rules), default=None) for user in range(len(problem.truth))}
    tied = [u for u, first in firsts.items() if first is not None and first <= max(cutoffs(u), default=0)]
    if tied:
        raise input_error("predictions", "no tie in a list that a metric reads", "a tie", row=tied[0], count=len(tied))


def _check_tied_users(problem: Problem, tied_ranks: Callable[[int, Rules], list[int]]) -> None:
    readers = [(value.rules, value.cutoff) for value in problem.values if not value.info.reads_list]
    cutoffs = [cutoff or math.inf for rules, cutoff in readers if rules["ties"] == "raise"]
    if not cutoffs:
        return
    # Ties are the same under all rules, except for NaN, which was refused before or is last under all.
    rules = next(rules for rules, _ in readers if rules["ties"] == "raise")
    tied = [user for user in range(len(problem.truth)) if any(rank <= max(cutoffs) for rank in tied_ranks(user, rules))]
    if tied:
        raise input_error(
            "predictions", "no tie with an item of the truth (ties='raise')", "a tie", row=tied[0], count=len(tied)
        )
