"""Warnings about values that may not mean what you expect."""

from __future__ import annotations

import math
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._engine.differing_users import UserFlags, warn_of_differing_users
from exactk._engine.sampled_candidates import warn_of_sampled_candidates
from exactk._engine.shared_items import FEWEST_UNKEYED_ITEMS, first_predicted, is_any_predicted, predicted_items
from exactk._inputs.keys.disjoint_keys import describe_disjoint
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.readings import NO_READINGS, Readings, lines_of_ranks
from exactk._inputs.registry import ClassifiedValue
from exactk._plan.hints import convention_option
from exactk._plan.metric_strings import as_plan, part_indices
from exactk._report.counts import count_text
from exactk._report.state import plan_of_state
from exactk._report.statistics import describe_undefined, is_undefined_set
from exactk._report.system_warnings import warn_of_systems
from exactk._report.tables import DIGITS, format_number
from exactk._report.unreached_cutoffs import warn_of_unreached_cutoffs
from exactk._runtime.errors import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._engine.sampled_candidates import CandidateRows
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.matched_mappings import DisjointItems
    from exactk._inputs.user_histories import ItemUse
    from exactk._plan.values import Value
    from exactk._report.report import Report
    from exactk._runtime.faults import Text


class EvaluatedSystem(NamedTuple):
    """A system's report, and the warnings about it."""

    report: Report
    ties: str  # a warning, or empty
    disjoint_keys: str  # likewise
    is_complete: bool  # its predictions include every item that may be ranked, not only the best
    flags: UserFlags
    exclusions: str = ""  # a warning about exclusions of other users or items, or empty
    item_without_column: str = ""  # an example of a relevant item that cannot be ranked
    candidate_rows: CandidateRows | None = None
    base: str = ""  # a warning about the base predictions, or empty
    readings: Readings = NO_READINGS
    ranks_advice: Text = lines_of_ranks(ClassifiedValue(None, None), {})  # how to write scores that may be ranks


def warn_of_evaluated_systems(
    values: Sequence[Value], systems: Mapping[str, EvaluatedSystem], ties_advice: Text
) -> None:
    """Warn about all systems, once for each kind of warning."""
    warn_of_inputs(values, systems, ties_advice)
    warn_of_unreached_cutoffs({name: system.report.state for name, system in systems.items()})


def warn_of_inputs(values: Sequence[Value], systems: Mapping[str, EvaluatedSystem], ties_advice: Text) -> None:
    """Warn about what the systems were given."""
    reports = {name: system.report for name, system in systems.items()}
    if any(system.ties or system.disjoint_keys or system.base for system in systems.values()):
        warn_of_systems({name: system.ties for name, system in systems.items()}, *ties_advice)
        warn_of_systems({name: system.disjoint_keys for name, system in systems.items()})
        warn_of_systems({name: system.base for name, system in systems.items()})
    warn_of_readings(values, systems)
    if all(system.exclusions for system in systems.values()):  # which are the same for all
        warn(next(iter(systems.values())).exclusions)
    if len(systems) > 1:
        warn_of_differing_users(values, reports, {name: system.flags for name, system in systems.items()})
    examples = {name: system.item_without_column for name, system in systems.items() if system.is_complete}
    if any(map(has_counts_to_warn_of, reports.values())):
        _warn_of_counts(reports, examples)
    warn_of_sampled_candidates(values, {name: system.candidate_rows for name, system in systems.items()})


def warn_of_readings(values: Sequence[Value], systems: Mapping[str, EvaluatedSystem]) -> None:
    """Warn of scores that may be ranks, and of lists without an irrelevant item, whose order hardly matters."""
    readings = {name: system.readings for name, system in systems.items()}
    lines = next((system.ranks_advice for system in systems.values() if system.readings.may_be_ranks), ())
    warn_of_systems({name: one.describe_ranks() for name, one in readings.items()}, *lines)
    if not all(value.info.pairwise for value in as_plan(values).readers_of_truth):
        warn_of_systems({name: one.describe_relevance() for name, one in readings.items()}, _RANK_ALL)


_RANK_ALL = ": rank all items for each user, or the relevant ones among sampled others, as all of these are hits; the truth comes first"


def describe_disjoint_keys(
    report: Report, inputs: AlignedInputs, find_disjoint_items: Callable[[], DisjointItems] | None = None
) -> str:
    """Return a warning if truth and predictions share no user or no item, most likely because their ids differ.

    `find_disjoint_items` tells that of the items, where the inputs number the items of each user for itself.
    """
    users = inputs.truth.user_vocabulary
    if users is not None and (disjoint_users := _describe_disjoint_users(users, inputs)):
        return disjoint_users
    if not has_no_hit(report):
        return ""
    examples = (find_disjoint_items or partial(_disjoint_items, inputs))()
    return describe_disjoint("item", *_SIDES, examples) if examples else ""


def _disjoint_items(inputs: AlignedInputs) -> DisjointItems:
    """Return the first item of the truth and that of the predictions, as messages show them; none if they share any."""
    is_keyed = inputs.truth.user_vocabulary is not None or inputs.item_vocabulary is not None
    if has_common_item(inputs, 1 if is_keyed else FEWEST_UNKEYED_ITEMS):
        return ()
    return inputs.item_text(int(inputs.truth.items[0])), first_predicted(inputs)


_SIDES = ("the truth", "the predictions")
_NO_PREDICTIONS = "the predictions have no users"


def _describe_disjoint_users(users: Snapshot, inputs: AlignedInputs) -> str:
    """Return a warning if no user has both truth and predictions, with the first of each side."""
    sides = inputs.truth.present, inputs.predictions.present
    if all(present is None for present in sides):  # all users have both
        return ""
    in_truth, in_predictions = (np.ones(users.size, bool) if present is None else present for present in sides)
    if (in_truth & in_predictions).any() or not in_truth.any():
        return ""
    if not in_predictions.any():
        return _NO_PREDICTIONS
    examples = users.repr_of(int(np.argmax(in_truth))), users.repr_of(int(np.argmax(in_predictions)))
    return describe_disjoint("user", *_SIDES, examples)


def describe_disjoint_keys_of_blocks(
    report: Report, *, is_keyed: bool, has_shared_items: bool, within: str = ""
) -> str:
    """Return the same text for users, keyed or not, whose predictions were read in blocks and freed.

    If items of one part of the users were not looked for in the predictions of another, `within` says so.
    """
    if is_keyed and not _has_common_user(report):
        counts = report.state.counts
        return _NO_PREDICTIONS if counts.missing_lists == counts.users else describe_disjoint("user", *_SIDES)
    return describe_disjoint("item", *_SIDES, among=within) if has_no_hit(report) and not has_shared_items else ""


def has_common_item(inputs: AlignedInputs, fewest: int = 1) -> bool:
    """Return whether an item of the truth is in any list, or one side has too few items to tell."""
    predicted = predicted_items(inputs.predictions)
    if isinstance(predicted, int) and inputs.predictions.item_vocabulary is None:  # numbers, of which there are counts
        return True
    count = predicted if isinstance(predicted, int) else len(predicted)
    return min(count, len(inputs.truth.items)) < fewest or is_any_predicted(inputs.truth.items, inputs.predictions)


def _has_common_user(report: Report) -> bool:
    counts = report.state.counts
    users_of_truth = counts.users - counts.missing_truth
    return not users_of_truth or users_of_truth > counts.missing_lists


def has_no_hit(report: Report) -> bool:
    """Return whether no value shows a hit."""
    values, totals = plan_of_state(report.state), report.state.totals
    for index in values.parts_that_show_hits:  # without the values themselves
        if totals[index].total > 0 and not totals[index].undefined:
            return False
    return not any(report[value.name] > 0 for value in values if not value.info.positive_without_hits)


def describe_item_without_column(report: Report, inputs: AlignedInputs) -> str:
    """Return a relevant item that has no column in dense scores, as an example; empty if there is none."""
    truth, scores = inputs.truth, inputs.predictions
    if not report.state.counts.relevant_not_rankable or isinstance(scores, (Rankings, SparseScores)):
        return ""
    columns = scores.item_count
    for position in np.flatnonzero(truth.items >= columns):
        user = int(np.searchsorted(truth.indptr, position, side="right")) - 1
        is_scored = scores.present is None or scores.present[user]
        if is_scored and (truth.grades is None or _is_relevant(truth.grades[position], report.convention.min_grade)):
            item = inputs.item_text(int(truth.items[position]))
            beyond = f", beyond columns 0 to {columns - 1}" if columns and inputs.item_vocabulary is None else ""
            return f" (such as item {item}{beyond})"
    return ""


def _is_relevant(grade: float, min_grade: float | str | None) -> bool:
    return grade > 0 if min_grade is None else min_grade == "any" or grade >= float(min_grade)


_MANY_TIED_USERS = 0.01  # share of users
_SMALLEST_SPREAD = 50  # change of a mean, in millionths; less does not show in four decimals


def describe_ties(report: Report, tie_range: Callable[[Value], tuple[float, float]] | None) -> str:
    """Return a warning if the order of ties affects many users' values, with its effect on the first value."""
    values = _tied_values(report)
    if not values:
        return ""
    first, dependent = values[0]
    users = f"{dependent} of {report.state.counts.users} users"
    order = f"ties={first.rules['ties']!r}"
    if first.info.reads_list:
        other = "lowest_id" if first.rules["ties"] == "highest_id" else "highest_id"
        message = f"items of equal score at the cutoff: their order may change {first.spelling} for {users}"
        message += f" ({order} in use; ties={other!r} is another order)"
    elif tie_range is None:
        message = f"the order of ties changes {first.spelling} for {users}"
        message += f" ({order} in use)"
    else:
        message = f"the order of ties changes {first.spelling} for {users}"
        lowest, highest = tie_range(first)
        message += f": {report[first.name]:.4f} with {order}, {lowest:.4f} to {highest:.4f} with other orders"
    if len(values) > 1:
        message += f" (the first of {len(values)} such values)"
    return message


def _tied_values(report: Report) -> list[tuple[Value, int]]:
    """Return the values that the order of ties may change much, each with the number of users whose value it is."""
    counts = report.state.counts
    if counts.ties is None or not any(ties.dependent for ties in counts.ties):
        return []
    evaluated = report.counts["evaluated"]
    return [
        (value, ties.dependent)
        for value, ties in zip(plan_of_state(report.state), counts.ties, strict=True)
        if ties.dependent > _MANY_TIED_USERS * counts.users and ties.spread >= _SMALLEST_SPREAD * evaluated[value.name]
    ]


def tie_bounds(report: Report) -> Text:
    """Return how to compute the values under other orders of ties."""
    if any(value.info.reads_list for value, _ in _tied_values(report)[:1]):
        return ()
    lowest, highest = (convention_option(report.convention, ties=ties) for ties in ("pessimistic", "optimistic"))
    return ("; ", lowest, " and ", highest, " show the range of its mean")


def has_counts_to_warn_of(report: Report) -> bool:
    """Return whether there may be a warning about counts; most often there is none."""
    state, plan = report.state, plan_of_state(report.state)
    counts = state.counts
    return (
        state.weighted
        or plan.walks_lists
        or plan.of_collections
        or not all(map(_USERS, state.totals))
        or bool(counts.undefined or counts.rank_gaps or counts.relevant_excluded or counts.relevant_not_rankable)
    )


_USERS = attrgetter("users")


def _warn_of_counts(reports: Mapping[str, Report], examples: Mapping[str, str]) -> None:
    """Warn of counts that make a system's values misleading.

    The examples are of items without a column, by each system that gives all items. If a system gives only its best
    items, as is usual in long format, missing items are no reason to warn.
    """
    warn_of_systems({system: _describe_values_without_users(report) for system, report in reports.items()})
    plans = [plan_of_state(report.state) for report in reports.values()]
    if any(values.walks_lists or values.of_collections for values in plans):
        warn_of_systems({system: _describe_empty_lists_at_best(report) for system, report in reports.items()})
        warn_of_systems({system: _describe_groups_left_out(report) for system, report in reports.items()})
        warn_of_systems({system: _describe_groups_of_nothing(report) for system, report in reports.items()})
    warn_of_systems({system: describe_undefined(report.state) for system, report in reports.items()})
    warn_of_systems({system: describe_values_without_weight(report) for system, report in reports.items()})
    gaps = _describe_count(reports, "rank_gaps", "user has ranks with gaps", "users have ranks with gaps")
    if any(gaps.values()):
        keep_gaps = convention_option(next(iter(reports.values())).convention, rank_gaps="keep")
        closed = ", which are closed: only the order counts; "
        warn_of_systems(gaps, closed, keep_gaps, " keeps each item at its rank")
    excluded = _describe_count(
        reports,
        "relevant_excluded",
        "relevant item is in exclude and counts as a miss",
        "relevant items are in exclude and count as misses",
    )
    warn_of_systems(excluded)
    complete_reports = {system: reports[system] for system in examples}
    have_candidates = any(report.state.counts.candidates is not None for report in complete_reports.values())
    not_rankable = _describe_count(
        complete_reports,
        "relevant_not_rankable",
        f"relevant item has no column in the scores{', is not among the candidates' if have_candidates else ''}, "
        "or is dropped for a score of -inf or NaN, and counts as a miss",
        f"relevant items have no column in the scores{', are not among the candidates' if have_candidates else ''}, "
        "or are dropped for a score of -inf or NaN, and count as misses",
    )
    warn_of_systems(
        {system: not_rankable[system] + examples[system] if not_rankable.get(system) else "" for system in reports}
    )


def _describe_count(reports: Mapping[str, Report], name: str, one: str, many: str) -> dict[str, str]:
    """Return each system's count with a text for one and a text for several; empty for 0."""
    counts = {system: getattr(report.state.counts, name) for system, report in reports.items()}
    return {system: f"{count} {one if count == 1 else many}" if count else "" for system, count in counts.items()}


def _describe_values_without_users(report: Report) -> str:
    names = [name for name, users in report.counts["evaluated"].items() if users == 0]
    return f"no user was evaluated for {', '.join(names)}: NaN{_reason_of_no_users(report)}" if names else ""


def warn_of_item_use(values: Sequence[Value], use: ItemUse, systems: int) -> None:
    """Warn if the catalogue has no item of the lists, train no user, or if users without items in train count as the best."""
    if any(use.examples) and not use.has_catalogue_item:
        warn(describe_disjoint("item", "the catalogue", "the predictions", use.examples))
    if not use.evaluated:
        if use.without_items:
            of, others = "train with items of the catalogue", "the truth or the predictions"
            warn(describe_disjoint("user", of, others, use.user_examples))
        return
    count = use.without_items // systems
    for value in values:
        is_of_users = value.needs.history and not value.info.of_collection
        is_zero = value.rules["undefined"] == "zero" and "undefined" not in value.spelling
        if count and is_of_users and value.info.direction == "lower" and is_zero:
            kind = "item with features" if use.need_features else "item"
            have = (
                f"user has no {kind} in train and counts" if count == 1 else f"users have no {kind} in train and count"
            )
            warn(f"{count} {have} as 0, the best value, in {value.spelling}; undefined=skip leaves them out")
            return


def _describe_groups_left_out(report: Report) -> str:
    """Return a warning if a value leaves out groups of items, as there is nothing of them to recommend."""
    for value in plan_of_state(report.state):
        if not (value.info.reads_groups and value.info.reads_history and report.counts["evaluated"][value.name]):
            continue
        numbers = {label: row[value.name] for label, row in report.by_item_group.items()}
        lacking = [label for label, number in numbers.items() if math.isnan(number)]
        if lacking:
            kind = "relevant item" if value.info.reads_truth else "item"
            has, is_ = ("has", "is") if len(lacking) == 1 else ("have", "are")
            groups = f"{len(lacking)} of {len(numbers)} groups of items"
            return f"{groups} {has} no {kind} outside train for {value.spelling} and {is_} left out, such as {lacking[0]!r}"
    return ""


def _describe_groups_of_nothing(report: Report) -> str:
    """Return a warning if a value of groups of items is 0 / 0, which counts as the best."""
    for value in plan_of_state(report.state):
        if not value.info.reads_groups or value.rules["undefined"] != "zero":
            continue
        if is_undefined_set(value, report.convention):
            continue
        if not report.counts["evaluated"][value.name]:
            continue
        numbers = [row[value.name] for row in report.by_item_group.values()]
        defined = [number for number in numbers if not math.isnan(number)]
        if len(defined) < 2 or not any(defined):
            recommended = "relevant item of a group" if value.info.reads_truth else "item of a group"
            reason = f"no {recommended} is recommended" if not any(defined) else "one group alone has such items"
            return f"{value.spelling} is 0 / 0 and counts as 0, the best value: {reason}; undefined=nan makes it NaN"
    return ""


def _describe_empty_lists_at_best(report: Report) -> str:
    """Return a warning if lists without items have 0 where lower values are better."""
    for value in plan_of_state(report.state):
        users = _users_of_empty_lists(report, value)
        is_zero = value.rules["undefined"] == "zero" and not is_undefined_set(value, report.convention)
        if users and value.info.direction == "lower" and is_zero:
            have = (
                "user has no item in the list and counts"
                if users == 1
                else "users have no item in their lists and count"
            )
            return f"{users} {have} as 0, the best value, in {value.spelling}; undefined=skip leaves them out"
    return ""


def _users_of_empty_lists(report: Report, value: Value) -> int:
    """Return how many users without items in their lists a mean over the list counts."""
    if not value.info.walks_list or value.info.of_collection:
        return 0
    counts, rules = report.state.counts, value.rules
    empty = counts.empty_predictions if rules["empty_list"] == "compute" else 0
    missing = counts.missing_lists if rules["missing_list"] == "compute" else 0
    return empty + (missing if rules["users"] in {"truth", "union"} else 0)


def _reason_of_no_users(report: Report) -> str:
    """Return what the counts tell of the truth."""
    counts = report.state.counts
    if not counts.users:
        return "; there are no users"
    if counts.missing_truth == counts.users:
        return "; the truth has no users"
    return f"; {count_text('empty_truth', counts.empty_truth)}" if counts.empty_truth else ""


def describe_values_without_weight(report: Report) -> str:
    if not report.state.weighted:
        return ""
    names = _weightless_values(report)
    is_micro = {
        name: value.rules["average"] == "micro" for name, value in zip(report, plan_of_state(report.state), strict=True)
    }
    ratios = [f"{name} ({format_number(report[name], DIGITS)})" for name in names if is_micro[name]]
    means = [name for name in names if not is_micro[name]]
    texts = [f"all weights are 0 for {', '.join(means)}: NaN"] if means else []
    texts += [f"all weights or divisors are 0 for {', '.join(ratios)}"] if ratios else []
    return "; ".join(texts)


def _weightless_values(report: Report) -> list[str]:
    """Return the values whose users all have weight 0."""
    totals, indices = report.state.totals, part_indices(plan_of_state(report.state))
    parts = {name: [totals[i] for i in row] for name, row in zip(report, indices, strict=True)}
    return [name for name, sums in parts.items() if any(part.users and not part.weight for part in sums)]
