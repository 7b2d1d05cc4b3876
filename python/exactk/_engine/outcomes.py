"""What an engine found becomes a state: sums, counts, groups and tallies by their keys, and the users' values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.problem import Engine, KeyedTruth, Outcome, Problem, solve
from exactk._inputs.model.lists import Rankings
from exactk._plan.values import Plan, as_plan
from exactk._report.counts import TieCounts
from exactk._report.report import Report
from exactk._report.state import State, customs_of
from exactk._report.sums import GroupSums
from exactk._runtime.unit_names import unit_names_of_call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.problem import GroupCounts, ItemCounts
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.conventions import Convention
    from exactk._plan.values import TallyPlan, Value
    from exactk._report.state_shape import Catalogue
    from exactk._report.sums import Label
    from exactk._report.tallies import GroupTally, ItemTally, Tallies
    from exactk._report.user_table import UserTable


def user_table(
    problem: Problem, outcome: Outcome, values: tuple[Value, ...], labels: list[Label] | None
) -> UserTable | None:
    """Return what is kept of the users, with the values in the order of the request."""
    if outcome.per_user is None:
        return None
    from exactk._report.user_table import UserTable

    weights = None if problem.weights is None else np.where(problem.weights.is_missing, 0, problem.weights.values)
    groups = None if problem.groups is None else np.where(problem.groups.is_missing, -1, problem.groups.values)
    rows = user_rows(problem, outcome, values)
    return UserTable(rows, len(values), weights, groups, tuple(labels or ()))


def user_rows(problem: Problem, outcome: Outcome, values: tuple[Value, ...]) -> NDArray[np.float64]:
    """Return the values of the users in the order of the request, then those of parts, by row."""
    from exactk._report.user_table import has_part_rows, row_count

    table, ratios = outcome.per_user, outcome.ratios
    assert table is not None and ratios is not None  # noqa: S101, PT018 - the caller has asked
    indices = as_plan(values).part_indices
    if indices == [(row,) for row in range(len(table))] and not any(map(has_part_rows, values)):
        return table
    rows = np.full((row_count(values), table.shape[1]), np.nan)  # values that are computed from means have none
    micro_parts = [index for index, part in enumerate(problem.values) if part.rules["average"] == "micro"]
    part_row = len(values)
    for row, (value, parts) in enumerate(zip(values, indices, strict=True)):
        if len(parts) == 1:
            rows[row] = table[parts[0]]
        if has_part_rows(value):
            part = table[list(parts)] if len(parts) == 2 else ratios[micro_parts.index(parts[0])]
            rows[part_row : part_row + 2] = part
            part_row += 2
    return rows


def tie_range(engine: Engine, problem: Problem, value: Value) -> tuple[float, float]:
    """Return the lowest and the highest value over all orders of ties, in an evaluation of other values."""
    from exactk._report.statistics import value_of_sums

    extremes = tuple(value._replace(rules={**value.rules, "ties": ties}) for ties in ("pessimistic", "optimistic"))
    sums = solve(engine, problem._replace(values=as_plan(extremes).distinct_parts)).sums
    # Sorted, as one hit more may lower a mean over the hits (ap_over='hits').
    lowest, highest = sorted(
        value_of_sums(one, [sums[i] for i in indices], weighted=problem.weights is not None)
        for one, indices in zip(extremes, as_plan(extremes).part_indices, strict=True)
    )
    return lowest, highest


def state_of_outcome(
    problem: Problem,
    outcome: Outcome,
    values: Plan,
    labels: list[Label] | None,
    group_order: tuple[Label, ...] | None,
    truth_digest: int,
    catalogue: Catalogue | None,
) -> State:
    """Return the state of an outcome, whose values of parts are those of the plan's."""
    totals, groups = tuple(outcome.sums), None
    if labels is not None and outcome.group_sums is not None:
        table = outcome.group_sums if labels else outcome.group_sums.of_rows(slice(0)).carried()
        groups = GroupSums(labels, table)
    counts, unknown_actual, rank_gaps = outcome.counts, problem.truth.unknown_actual, _users_with_closed_gaps(problem)
    if counts.ties is not None:
        counts = counts._replace(ties=_ties_of_values(counts.ties, values, problem, outcome))
    if counts.undefined is not None:
        of_parts = counts.undefined
        of_values = [max((of_parts[part] for part in parts), default=0) for parts in values.part_indices]
        counts = counts._replace(undefined=tuple(of_values))
    if unknown_actual is not None or rank_gaps:
        counts = counts._replace(unknown_actual=unknown_actual, rank_gaps=rank_gaps)
    return State.of_values(
        values,
        problem.convention,
        problem.weights is not None,
        counts,
        totals,
        groups,
        group_order,
        problem.truth.columns.grade,
        truth_digest,
        catalogue,
        custom_metrics=customs_of(values) if values.has_customs else (),
        unit_names=unit_names_of_call(problem.convention.name),
    )


def evaluate_plainly(
    engine: Engine, inputs: AlignedInputs, keyed: KeyedTruth, values: Plan, convention: Convention, num_threads: int
) -> tuple[Problem, Report]:
    """Return the evaluation of nothing but the truth and predictions, and its report."""
    problem = Problem.without_options(inputs.truth, inputs.predictions, values.distinct_parts, convention, num_threads)
    outcome = solve(engine, problem)
    digest = engine.truth_digest(keyed, num_threads)
    return problem, Report(state_of_outcome(problem, outcome, values, None, None, digest, None), inputs.users)


def _ties_of_values(
    ties: tuple[TieCounts, ...], values: Plan, problem: Problem, outcome: Outcome
) -> tuple[TieCounts, ...]:
    """Return the ties of each value, whose parts depend on the same orders."""
    if values.only_parts is not None:
        return tuple(ties[index] for index in values.only_parts)
    from exactk._plan.values import counts_ranks, group_tally_index, tally_index

    def ties_of(value: Value, indices: tuple[int, ...]) -> TieCounts:
        if value.info.reads_groups:
            counts = outcome.group_counts[group_tally_index(value, problem.group_tallies)]
            return TieCounts.of_lists(counts[0].tied(value))
        if value.info.of_collection:
            index, column = tally_index(value, problem.item_tallies)
            tied = outcome.item_counts[index][0].tied_lists
            return TieCounts.of_lists(sum(tied[: column + 1]) if counts_ranks(value.info) else tied[column])
        parts = [ties[i] for i in indices]
        return TieCounts(
            max((one.dependent for one in parts), default=0), max((one.spread for one in parts), default=0)
        )

    return tuple(map(ties_of, values, as_plan(values).part_indices))


def _users_with_closed_gaps(problem: Problem) -> int:
    """Return the number of users whose rank gaps a value closes."""
    if not isinstance(problem.predictions, Rankings) or not as_plan(problem.values).closes_rank_gaps:
        return 0
    return problem.predictions.users_with_rank_gaps


def tallies_of_outcome(
    problem: Problem, outcome: Outcome, items: CanonicalItems, inputs: AlignedInputs
) -> list[Tallies]:
    """Return the tallies of all users, then, if they have groups, of each."""
    from exactk._report.tallies import Tallies

    of_plans = [
        [_tally_of_items(plan, counts, items, inputs) for counts in sets]
        for plan, sets in zip(problem.item_tallies, outcome.item_counts, strict=True)
    ]
    of_groups = [[_tally_of_groups(counts, items) for counts in sets] for sets in outcome.group_counts]
    sets = range(len([*outcome.item_counts, *outcome.group_counts][0]))
    return [
        Tallies(tuple(tallies[index] for tallies in of_plans), tuple(tallies[index] for tallies in of_groups))
        for index in sets
    ]


def _tally_of_groups(counted: GroupCounts, items: CanonicalItems) -> GroupTally:
    """Return the tally by the labels of the groups, which ascend."""
    from exactk._report.tallies import GroupTally

    assert items.group_codes is not None  # noqa: S101 - the caller has checked
    groups = len(items.group_labels)
    sizes = np.bincount(items.group_codes[items.group_codes >= 0], minlength=groups).astype(np.int64)
    counts = np.ascontiguousarray(counted.counts.reshape(-1, groups).T)
    possible = counted.possible if len(counted.possible) else None
    return GroupTally(items.group_labels, sizes, counted.lists, counts, possible)


def _tally_of_items(plan: TallyPlan, counted: ItemCounts, items: CanonicalItems, inputs: AlignedInputs) -> ItemTally:
    """Return the tally of the lists, by the keys of the catalogue and those of the foreign items."""
    from exactk._report.tallies import item_tally

    keys = items.keys.array
    if len(counted.foreign_ids):
        keys = np.concatenate([keys, _keys_of_ids(counted.foreign_ids, inputs)])
    by_key: Any = keys
    listed = np.flatnonzero(counted.counts[:, -1] > 0)
    if items.keys.integers is None and len(listed):  # only of these, as a block of users lists few of a large catalogue
        by_key = dict(zip(listed.tolist(), keys[listed].tolist(), strict=True))
    short_lists = counted.short_lists if plan.has_short_lists else None
    return item_tally(plan.cutoffs, by_key, counted.counts, counted.list_lengths, short_lists)


def _keys_of_ids(ids: NDArray[np.int64], inputs: AlignedInputs) -> NDArray[Any]:
    """Return the keys of items of the call."""
    if inputs.item_vocabulary is None:
        return ids
    keys = inputs.item_vocabulary.array
    if inputs.item_ids is None:
        return keys[ids]
    by_id = np.empty(len(keys), np.int64)
    by_id[inputs.item_ids] = np.arange(len(keys))
    return keys[by_id[ids]]
