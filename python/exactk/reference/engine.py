"""The plain-Python engine: users one after another, policies, means and counts."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.problem import Engine, JudgedCells, Outcome
from exactk._inputs.model.lists import Rankings
from exactk._plan.fields import STRICT_TIES
from exactk._report.counts import CandidateCounts, Counts, TieCounts
from exactk._report.sums import PartColumns, Sums, SumTable
from exactk.reference.all_lists import count_groups, count_items
from exactk.reference.history_metrics import METRICS
from exactk.reference.hit_metrics import divisor
from exactk.reference.input_errors import check_inputs, rules_of_readers
from exactk.reference.judge import JudgedUsers, is_relevant, item_grades, tied_hits
from exactk.reference.refusals import refuse
from exactk.reference.rules import Rules, list_rules, of_whole_lists, resolved_rules
from exactk.reference.ties import expected_ratio
from exactk.reference.truth_digest import reference_truth_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import Problem
    from exactk._plan.item_groups import ItemGroup
    from exactk._plan.values import Value
    from exactk.reference.hit_metrics import Ratio
    from exactk.reference.judge import JudgedUser


_SCALE = 4096  # a product of three doubles is a multiple of 2^-3222
_DIGITS = Context(prec=50)
_LEAST_VALUE = 1e-5  # floor in a geometric mean, as in trec_eval: one user without a hit would make it 0
_COMPUTE = "compute"


def _checked_users(problem: Problem) -> JudgedUsers:
    """Return the users; raise InputError if the inputs break a rule."""
    users = JudgedUsers(problem)
    check_inputs(problem, users)
    return users


def _evaluate(problem: Problem) -> Outcome:
    """Evaluate by the definitions."""
    users = _checked_users(problem)
    raw_ratios = _ratios_by_value(problem, users)
    ratios = [
        [None if _leaves_out(ratio, value) else ratio for ratio in row]
        for value, row in zip(problem.values, raw_ratios, strict=True)
    ]
    per_user = np.array(
        [
            [value_of_ratio(ratio, value.rules) for ratio in row]
            for value, row in zip(problem.values, ratios, strict=True)
        ]
    ).reshape(len(problem.values), len(users))
    by_group = [
        [_sums_of_group(problem, value, ratios[i], group) for i, value in enumerate(problem.values)]
        for group in range(problem.group_count)
    ]
    by_value = list(zip(*by_group, strict=True))
    sums = list(map(Sums.over_groups, by_value))
    parts = [PartColumns.of_sums(total.scales, rows) for total, rows in zip(sums, by_value, strict=True)]
    group_sums = None if problem.groups is None else SumTable.of_parts(parts, problem.group_count)
    undefined = tuple(_undefined_users(users, *one) for one in zip(problem.values, raw_ratios, strict=True))
    counts = _problem_counts(problem, users, undefined if any(undefined) else None)
    groups = range(0 if problem.groups is None else problem.group_count)
    sets = [range(len(users)), *(_users_of_group(problem, group) for group in groups)]
    item_counts = tuple(tuple(count_items(users, some, tally) for some in sets) for tally in problem.item_tallies)
    group_counts = tuple(tuple(count_groups(users, some, value) for some in sets) for value in problem.group_tallies)
    if not problem.per_user:
        return Outcome(sums, counts, None, None, item_counts, group_counts, group_sums)
    kept = _parts_of_micro_values(problem, ratios)
    return Outcome(sums, counts, per_user, kept, item_counts, group_counts, group_sums)


def _judge_lists(problem: Problem, users: range) -> JudgedCells:
    """Judge lists by the definitions."""
    return reference_judged_lists(problem, _checked_users(problem), users)


reference_engine = Engine(_evaluate, reference_truth_digest, _judge_lists)
"""The engine of the definitions."""


def _ratios_by_value(problem: Problem, users: JudgedUsers) -> list[list[Ratio | None]]:
    """Return each value's ratios, one per user."""
    ratios: list[list[Ratio | None]] = [[] for _ in problem.values]
    for user in range(len(users)):
        for row, value in zip(ratios, problem.values, strict=True):
            row.append(_ratio_of_user(users, user, value))
        if problem.report_progress is not None:
            problem.report_progress(user + 1)
    return ratios


def _parts_of_micro_values(problem: Problem, ratios: list[list[Ratio | None]]) -> NDArray[np.float64]:
    """Return the micro values' numerators and denominators, NaN for users who are left out of the sums."""
    left_out = (math.nan, math.nan)
    rows = [
        [ratio or left_out for ratio in row]
        for value, row in zip(problem.values, ratios, strict=True)
        if value.rules["average"] == "micro"
    ]
    return np.array(rows, np.float64).reshape(len(rows), len(problem.truth), 2).transpose(0, 2, 1)


def _ratio_of_user(users: JudgedUsers, user: int, value: Value) -> Ratio | None:
    """Return one user's numerator and denominator; None where the value skips the user."""
    policy, _ = users.policy(user, value)
    match policy:
        case "skip":
            return None
        case "zero":
            return 0.0, 1.0
        case "one":
            return 1.0, 1.0
    if value.custom is not None:
        return users.given_ratio(user, value)
    return _computed_ratio(users, user, value)


def _computed_ratio(users: JudgedUsers, user: int, value: Value) -> Ratio:
    """Return the numerator and denominator of a user whom the value does not skip."""
    rules = resolved_rules(value)
    judged = users.judged_user(user, rules, value)
    if value.is_precision_of_group and value.item_group is not None:
        return _precision_of_group(users, judged, value.item_group, value.cutoff)
    if value.is_share and value.info.averages_precisions:
        return _share_of_precisions(judged, users.judged_user(user, rules), value.cutoff, rules)
    return ratio_of_judged(judged, value, rules)


def _precision_of_group(users: JudgedUsers, judged: JudgedUser, group: ItemGroup, k: int | None) -> Ratio:
    """h_g / n_g: hits among the items of the group in the list, each once."""
    hits = [is_hit for _, item, is_hit in judged.listed(k) if users.is_in_group(item, group)]
    return float(sum(hits)), float(len(hits))


def _share_of_precisions(share: JudgedUser, whole: JudgedUser, k: int | None, rules: Rules) -> Ratio:
    """Sum of h(i) / i at the hits of the group, where h counts all hits, over the divisor of average precision."""
    total = 0.0
    for rank in share.hit_ranks(k):
        total += whole.hits(rank) / rank
    return total, float(divisor(rules["ap_over"], whole, k))


def ratio_of_judged(judged: JudgedUser, value: Value, rules: Rules) -> Ratio:
    """Return the numerator and the denominator of a judged user."""
    metric = expected_ratio if rules["ties"] == "expected" else _ratio
    numerator, denominator = metric(value.metric, judged, value.cutoff, rules, value.parameter)
    return float(numerator), float(denominator)


def _ratio(metric: str, judged: JudgedUser, k: int | None, rules: Rules, parameter: float) -> Ratio:
    return METRICS[metric](judged, k, rules, parameter)


def _leaves_out(ratio: Ratio | None, value: Value) -> bool:
    is_undefined = ratio is not None and ratio[1] == 0
    is_mean = value.rules["average"] != "micro" or value.info.weighs_users
    return is_undefined and value.rules["undefined"] == "skip" and is_mean


def _undefined_users(users: JudgedUsers, value: Value, ratios: Sequence[Ratio | None]) -> int:
    """Return how many users have 0 / 0 although they have a list and, if the value reads the truth, relevant items."""
    undefined = [user for user, ratio in enumerate(ratios) if ratio is not None and ratio[1] == 0]
    judged = [users.judged_user(user, of_whole_lists(resolved_rules(value)), value) for user in undefined]
    return sum(bool(one.ranking) and (one.relevant > 0 or not value.info.reads_truth) for one in judged)


def value_of_ratio(ratio: Ratio | None, rules: Rules) -> float:
    """Return the value of a user, NaN for one who is skipped."""
    if ratio is None:
        return math.nan
    numerator, denominator = ratio
    if denominator == 0:
        return {"zero": 0.0, "one": 1.0}.get(rules["undefined"], math.nan)
    return numerator / denominator


def _scaled_product(*factors: float) -> int:
    """Return the exact product of the factors as a multiple of 2^-4096."""
    product = math.prod(map(Fraction, factors), start=Fraction(1))
    return product.numerator * (1 << _SCALE) // product.denominator


def _users_of_group(problem: Problem, group: int) -> list[int]:
    """Return the users of one group, or all users if there are no groups."""
    users = range(len(problem.truth))
    return [user for user in users if problem.groups is None or problem.groups.values[user] == group]


def _sums_of_group(problem: Problem, value: Value, ratios: list[Ratio | None], group: int) -> Sums:
    """Return one value's sums over one group: of values (macro), logarithms (geometric) or both parts (micro)."""
    average = value.rules["average"]
    users = undefined = total = squares = weight_sum = 0
    for user in _users_of_group(problem, group):
        if (ratio := ratios[user]) is None:
            continue
        users += 1
        weight = 1.0 if problem.weights is None else float(problem.weights.values[user])
        if average == "micro":
            total += _scaled_product(weight, ratio[0])
            weight_sum += _scaled_product(weight, ratio[1])
            continue
        number = value_of_ratio(ratio, value.rules)
        if math.isnan(number):
            undefined += 1
            continue
        if average == "geometric":
            number = float(Decimal(max(number, _LEAST_VALUE)).ln(_DIGITS))
        total += _scaled_product(weight, number)
        squares += _scaled_product(weight, number, number)
        weight_sum += _scaled_product(weight)
    return Sums(users, undefined, total, _SCALE, squares, _SCALE, weight_sum, _SCALE)


_COUNTED_USERS_AND_ITEMS = (
    *("empty_truth", "empty_predictions", "missing_lists", "missing_truth", "duplicates"),
    *("excluded_recommended", "relevant_excluded", "relevant_not_rankable", "longest_list"),
)


def _problem_counts(problem: Problem, users: JudgedUsers, undefined: tuple[int, ...] | None) -> Counts:
    # A NaN that a value refuses has been refused by now.
    whole, collapses = of_whole_lists(problem.convention.rules("")), collapses_repeats(problem)
    repeats = "collapse" if collapses else "first"
    rules: Rules = {**whole, "gain": "binary", "weight": "one", "nan": "last", "duplicate_items": repeats}
    counts = dict.fromkeys(_COUNTED_USERS_AND_ITEMS, 0)
    cutoffs = [value.cutoff for value in problem.values] + [tally.last_cutoff for tally in problem.list_tallies]
    deepest = max(math.inf if cutoff is None else cutoff for cutoff in cutoffs)
    for user in range(len(users)):
        in_truth, in_predictions = users.presence(user)
        judged, excluded = users.judged_user(user, rules), users.excluded_items(user)
        ranking = list(chain.from_iterable(users.ranked_groups(user, rules)))
        row = users.scored_row(user)
        items = users.listed_items(user) if row is None else row.ids
        counts["empty_truth"] += in_truth and judged.relevant == 0
        counts["empty_predictions"] += in_predictions and not judged.ranking
        counts["missing_lists"] += in_truth and not in_predictions
        counts["missing_truth"] += in_predictions and not in_truth
        counts["duplicates"] += len(items) - len(set(items))
        counts["excluded_recommended"] += sum(item in excluded for item in ranking)
        grades = item_grades(users.graded_items(user), rules)
        relevant = [item for item, grade in grades.items() if is_relevant(grade, rules)]
        counts["relevant_excluded"] += sum(item in excluded for item in relevant)
        if in_predictions:
            counts["longest_list"] = max(counts["longest_list"], int(min(judged.depth, deepest)))
        if row is not None and not isinstance(problem.predictions, Rankings) and in_predictions:
            left_out = row.masked_items(problem.predictions.min_score) - excluded
            counts["relevant_not_rankable"] += sum(item not in row.ids or item in left_out for item in relevant)
    ties = (
        None if isinstance(problem.predictions, Rankings) else [_tie_counts(users, value) for value in problem.values]
    )
    return Counts(
        users=len(users),
        **counts,
        candidates=_candidate_counts(problem, users),
        **count_unusual_items(problem, users),
        ties=None if ties is None else tuple(ties),
        undefined=undefined,
    )


def ratios_over_ties(users: JudgedUsers, user: int, value: Value, rules: Rules) -> list[Ratio]:
    """Return the ratios of a user with the relevant items of each tie first, and last."""
    orders = [{**rules, "ties": ties} for ties in ("optimistic", "pessimistic")]
    return [
        METRICS[value.metric](users.judged_user(user, order, value), value.cutoff, rules, value.parameter)
        for order in orders
    ]


def collapses_repeats(problem: Problem) -> bool:
    """Return whether repeated items take no rank, which holds for all values of a problem or for none."""
    return any(rules["duplicate_items"] == "collapse" for rules in rules_of_readers(problem))


_MILLION = 1_000_000


def _tie_counts(users: JudgedUsers, value: Value) -> TieCounts:
    spreads = [_tie_spread(users, user, value) for user in range(len(users))]
    dependent = [spread for spread in spreads if spread is not None]
    return TieCounts(len(dependent), sum(dependent))


def _tie_spread(users: JudgedUsers, user: int, value: Value) -> int | None:
    """Return how far the order of ties can change the user's value, in millionths; None if it changes nothing.

    The extremes are the order with relevant items first and the order with them last, except for means over hits, which
    fall both when a hit comes later and when one more hit comes late.
    """
    rules = resolved_rules(value)
    if value.custom is not None:  # its values depend on other items of a tie too
        return None
    if value.info.reads_list:
        is_computed = users.policy(user, value)[0] == _COMPUTE
        return _MILLION if is_computed and users.list_may_change(user, value) else None
    if rules["ties"] not in STRICT_TIES or users.policy(user, value)[0] != _COMPUTE:
        return None
    if value.info.averages_precisions and (rules["ap_over"] == "hits" or value.is_share):
        ties = tied_hits(users.judged_user(user, {**rules, "ties": "expected"}, value))
        last = math.inf if value.cutoff is None else value.cutoff
        if any(len(hits) in range(1, size) and first < last for first, size, hits in ties):
            return _MILLION
    ratios = ratios_over_ties(users, user, value, rules)
    best, worst = (value_of_ratio(ratio, rules) for ratio in ratios)
    is_changed = ratios[0] != ratios[1] and (rules["average"] == "micro" or best != worst)
    if not is_changed or math.isnan(best) or math.isnan(worst):
        return None
    return int(min(abs(best - worst), 1000) * _MILLION)


def _candidate_counts(problem: Problem, users: JudgedUsers) -> CandidateCounts | None:
    """Count the candidates, less exclusions, of the users who are present in the predictions."""
    if not problem.has_candidates:
        return None
    sizes = []
    for user in range(len(users)):
        row = users.scored_row(user)
        assert row is not None  # noqa: S101 - for the type checker
        if users.presence(user)[1]:
            excluded = users.excluded_items(user)
            items = set(row.ids) if collapses_repeats(problem) else row.ids
            sizes.append(sum(item not in excluded for item in items))
    return CandidateCounts(len(sizes), sum(sizes), min(sizes, default=0), max(sizes, default=0))


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


_ORDERS = ("lowest_id", "highest_id", "input_order", "raise")


def reference_judged_lists(problem: Problem, judged_users: JudgedUsers, users: range) -> JudgedCells:
    """Return the cells of these users, by the rules and the cutoff of the problem's only value."""
    (value,) = problem.values
    rules, k = resolved_rules(value), value.cutoff
    assert k is not None  # noqa: S101 - for the type checker
    if not isinstance(problem.predictions, Rankings) and rules["ties"] not in _ORDERS:
        refuse("convention", "no order of ties")
    shape = (len(users), k)
    cells = JudgedCells(
        np.full(shape, -1, np.int64),
        np.full(shape, math.nan),
        np.zeros(shape, np.bool_),
        np.zeros(len(users), np.int64),
        np.zeros(len(users), np.int64),
    )
    for row, user in enumerate(users):
        judged = judged_users.judged_user(user, rules)
        for rank, item, judgement in zip(judged.list_ranks, judged.items, judged.ranking, strict=True):
            if rank > k:
                break
            cells.items[row, rank - 1] = item
            if judgement is not None:
                cells.grades[row, rank - 1] = judgement.grade
                cells.hits[row, rank - 1] = judgement.relevant
        cells.lengths[row], cells.relevant[row] = len(judged.top(k)), judged.relevant
    return cells
