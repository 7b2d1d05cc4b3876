"""The C++ engine."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np

from exactk import _core
from exactk._engine.problem import (
    Engine,
    GroupCounts,
    ItemCounts,
    JudgedCells,
    KeyedTruth,
    Outcome,
    Problem,
    presence_of,
)
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import MatrixScores, SparseScores
from exactk._plan.fields import core_rules
from exactk._plan.values import as_plan
from exactk._report.counts import CandidateCounts, Counts, TieCounts
from exactk._report.sums import DigitColumn, PartColumns, Sums, SumTable
from exactk._runtime.errors import input_error
from exactk._runtime.threads import requested_isa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import BestIndices, FusedRows, FusionProblem, TopKProblem
    from exactk._inputs.base_predictions import BaseLists
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.lists import CandidateItems
    from exactk._inputs.model.scores import Predictions, Scored
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Plan, TallyPlan, Value

    CoreScored: TypeAlias = _core.Scores | _core.SparseScores | _core.Embeddings
    CorePredictions: TypeAlias = _core.Lists | CoreScored


_Counts = TypeVar("_Counts")


@overload
def core_view(predictions: Scored, candidates: CandidateItems | None) -> CoreScored: ...
@overload
def core_view(predictions: Predictions, candidates: CandidateItems | None) -> CorePredictions: ...
def core_view(predictions: Predictions, candidates: CandidateItems | None) -> CorePredictions:
    """Return the core's view of the predictions, of which these items may be ranked if they are of a matrix."""
    return predictions.core_for(candidates) if isinstance(predictions, MatrixScores) else predictions.core


def _evaluate(problem: Problem) -> Outcome:
    """Evaluate with the C++ core."""
    if problem.weights is not None or problem.groups is not None:
        _check_counted_users(problem)
    plan = as_plan(problem.values)
    items: _core.Items | None
    if plan.item_groups and problem.items is not None:
        items = problem.items.core_of_groups(group.label for group in plan.item_groups)
        values = _values_of_groups(plan)
    else:
        items, values = None if problem.items is None else problem.items.core, plan.core
    given = [problem.given[value.identity] for value in plan if value.custom is not None] if plan.has_customs else []
    result = _core.evaluate(
        truth=problem.truth.core,
        grades=problem.truth.grades,
        predictions=core_view(problem.predictions, problem.candidates),
        exclude=None if problem.exclude is None else problem.exclude.core,
        items=items,
        histories=None if problem.histories is None else problem.histories.histories.core,
        history_rows=None if problem.histories is None else problem.histories.rows,
        base=None if problem.base is None else _base_lists(problem.base, problem),
        weights=None if problem.weights is None else problem.weights.values,
        groups=None if problem.groups is None else problem.groups.values,
        group_count=problem.group_count,
        values=_values_with_given(plan, values) if given else values,
        item_tallies=list(map(_core_tally, problem.item_tallies)),
        group_tallies=list(map(_core_value, problem.group_tallies)),
        given=np.concatenate(given).ravel() if given else None,
        tally_rules=_tally_rules(problem.convention),
        per_user=problem.per_user,
        threads=problem.num_threads,
        isa=requested_isa(),
        progress=problem.report_progress,
    )
    counts = _counts_of_tally(problem, result.tally)
    item_counts = _by_set(map(ItemCounts._make, result.item_tallies), problem.item_tallies)
    group_counts = _by_set(map(GroupCounts._make, result.group_tallies), problem.group_tallies)
    sums, group_sums = _sums_of_result(result.sums, problem)
    return Outcome(sums, counts, result.per_user, result.ratios, item_counts, group_counts, group_sums)


def _by_set(counts: Iterable[_Counts], tallies: Sequence[object]) -> tuple[tuple[_Counts, ...], ...]:
    """Return the counts of each tally, of all users and of each group, as the core returns one after another."""
    if not tallies:
        return ()
    in_order = [*counts]
    size = len(in_order) // len(tallies)
    return tuple(tuple(in_order[begin : begin + size]) for begin in range(0, len(in_order), size))


_core_value = attrgetter("core")


def _core_tally(tally: TallyPlan) -> _core.ItemTallyRequest:
    return _core.ItemTallyRequest(core_rules(tally.rules), tally.cutoffs, tally.has_short_lists, tally.counted)


def _values_of_groups(plan: Plan) -> list[_core.PlannedValue]:
    """Return the values for the core, in which a group of items is its bit."""
    return [
        value.core if value.item_group is None else _value_of_group(value, plan.item_groups.index(value.item_group))
        for value in plan
    ]


def _value_of_group(value: Value, bit: int) -> _core.PlannedValue:
    rules = core_rules(value.rules)
    if value.is_precision_of_group:
        return _core.PlannedValue(value.info.name, value.cutoff, bit, rules)
    return _core.PlannedValue(value.metric, value.cutoff, value.parameter, rules, bit, value.is_share)


def _values_with_given(values: Sequence[Value], of_core: Sequence[_core.PlannedValue]) -> list[_core.PlannedValue]:
    """Return the values for the core, which finds the numbers of custom ones by their row."""
    rows = count()
    return [
        planned
        if value.custom is None
        else _core.PlannedValue(_GIVEN[value.custom.of], value.cutoff, next(rows), core_rules(value.rules))
        for value, planned in zip(values, of_core, strict=True)
    ]


def _base_lists(base: BaseLists, problem: Problem) -> _core.Lists | None:
    """Return the base lists down to the last rank that a value reads, ranked by the core."""
    readers = as_plan(problem.values).readers_of_base
    if not readers:
        return None
    from exactk._inputs.alignment import ARGUMENT, naming_base
    from exactk._inputs.base_predictions import most_items

    predictions = base.predictions
    if isinstance(predictions, Rankings):
        arrays = (predictions.items, predictions.indptr, predictions.lengths, predictions.present)
        if predictions.ranks is None:
            return _core.Lists(*arrays, ARGUMENT)
        with naming_base():
            return _core.Lists(*arrays, predictions.with_core_ranks().ranks, ARGUMENT)
    cutoffs = [value.cutoff for value in readers]
    depth = most_items(predictions) if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    rules = readers[0].rules  # by which all of them rank
    with naming_base():
        best, _ = _core.topk(
            scores=core_view(predictions, base.candidates),
            k=max(1, min(depth, most_items(predictions))),
            exclude=None if base.exclude is None else base.exclude.core,
            ties=rules["ties"],
            nan=rules["nan"],
            threads=problem.num_threads,
            isa=requested_isa(),
        )
    is_item = best >= 0
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_item.sum(axis=1), dtype=np.int64)])
    items: NDArray[np.int64] = best[is_item]
    if isinstance(predictions, SparseScores):
        items = predictions.items[items].astype(np.int64)
    return _core.Lists(base.to_ids(items), indptr, None, predictions.present, ARGUMENT)


_GIVEN = {"judged": "given", "lists": "given_of_lists"}


@lru_cache(maxsize=64)  # like plans
def _tally_rules(convention: Convention) -> _core.Rules:
    """Return the rules of the counts."""
    return core_rules(convention.rules(""))


def _check_counted_users(problem: Problem) -> None:
    """Raise InputError if a user who counts has no weight or group."""
    if len(problem.predictions) != len(problem.truth):  # the core refuses that
        return
    for argument, row_values in (("weights", problem.weights), ("groups", problem.groups)):
        if row_values is None or not row_values.is_missing.any():
            continue
        in_truth, in_predictions = presence_of(problem.truth), presence_of(problem.predictions)
        population = {
            "truth": in_truth,
            "both": in_truth & in_predictions,
            "predictions": in_predictions,
            "union": in_truth | in_predictions,
        }
        for value in problem.values:
            rows = np.flatnonzero(row_values.is_missing & population[value.rules["users"]])
            if len(rows):
                noun = "a weight" if argument == "weights" else "a group"
                expected = f"{noun} for every user in the mean of {value.spelling} (users={value.rules['users']!r})"
                raise input_error(argument, expected, "none", row=int(rows[0]), count=len(rows))
        for tally in problem.list_tallies:  # of groups alone, as all lists together have no weights
            rule = "users" if tally.rules["list_users"] == "users" else "lists"
            counted = population[tally.rules["users"]] if rule == "users" else True
            rows = np.flatnonzero(row_values.is_missing & in_predictions & counted)
            if len(rows):
                expected = f"a group for every user whose list counts in a metric of all lists (list_users={rule!r})"
                raise input_error(argument, expected, "none", row=int(rows[0]), count=len(rows))


def _sums_of_result(sums: _core.Sums, problem: Problem) -> tuple[list[Sums], SumTable | None]:
    """Return the sums of each value over all users, and those of each group."""
    if problem.groups is None:
        return list(map(Sums._make, sums.rows)), None
    parts = []
    for value in range(len(problem.values)):
        users, undefined, *digits, scales = sums.columns(value)
        columns = [*map(DigitColumn.of_counts, (users, undefined)), *(DigitColumn(0, one) for one in digits)]
        parts.append(PartColumns.of_columns(scales, columns))
    table = SumTable.of_parts(parts, problem.group_count)
    (totals,) = table.total().sums()
    return list(totals), table


def _counts_of_tally(problem: Problem, tally: _core.Tally) -> Counts:
    candidates = None
    if problem.has_candidates:
        users, fewest = tally.candidate_users, tally.fewest_candidates
        candidates = CandidateCounts(users, tally.candidates, fewest if users else 0, tally.most_candidates)
    foreign = unseen = ties = None
    if problem.reads_lists:
        foreign, unseen = tally.foreign_recommended, tally.unseen_recommended if problem.knows_train else None
    if not isinstance(problem.predictions, Rankings):
        ties = tuple(map(TieCounts, tally.tie_dependent, tally.tie_spread))
    undefined = tuple(tally.undefined)
    last = undefined if any(undefined) else None
    return Counts(len(problem.truth), *tally.counts, candidates, None, 0, foreign, unseen, ties, last)


_FEW_ITEMS = 1000  # in less time than it takes to read the environment


def _truth_digest(keyed: KeyedTruth, num_threads: int) -> int:
    """Return the digest of the truth."""
    truth, items = keyed.truth, None if keyed.items is None else keyed.items.hashes
    if items is not None and keyed.item_ids is not None:
        by_id = np.empty_like(items)
        by_id[keyed.item_ids] = items
        items = by_id
    users = _user_hashes(keyed.users)
    isa = requested_isa() if len(truth.items) > _FEW_ITEMS else "scalar"
    return _core.truth_digest(truth.core, truth.grades, users, items, num_threads, isa)


def _user_hashes(users: Snapshot | NDArray[Any] | None) -> NDArray[np.uint64] | None:
    """Return the hash of each row's user."""
    if users is None:
        return None
    from exactk._inputs.keys.key_lists import encode_row_keys
    from exactk._inputs.keys.vocabulary import Snapshot

    if isinstance(users, Snapshot):
        return users.hashes
    keys, codes = encode_row_keys(users, "truth.users", len(users), "row")
    return keys.hashes[codes]


def _judge_lists(problem: Problem, users: range) -> JudgedCells:
    """Judge lists with the C++ core."""
    return JudgedCells(
        *_core.judge_lists(
            truth=problem.truth.core,
            grades=problem.truth.grades,
            predictions=core_view(problem.predictions, problem.candidates),
            exclude=None if problem.exclude is None else problem.exclude.core,
            value=problem.values[0].core,
            first_user=users.start,
            user_count=len(users),
            threads=problem.num_threads,
            isa=requested_isa(),
            progress=problem.report_progress,
        )
    )


core_engine = Engine(_evaluate, _truth_digest, _judge_lists)
"""The C++ engine."""


def core_fuser(problem: FusionProblem) -> FusedRows:
    """Fuse with the C++ core."""
    return _core.fuse(
        systems=[system.core for system in problem.systems],
        weights=problem.weights,
        lows=problem.lows,
        method=problem.method,
        norm=problem.norm,
        missing=problem.missing,
        rank_constant=problem.rank_constant,
        persistence=problem.persistence,
        power=problem.power,
        depth=problem.depth,
        k=problem.k,
        ties=problem.ties,
        nan=problem.nan,
        threads=problem.num_threads,
        isa=requested_isa(),
        progress=problem.report_progress,
    )


def core_ranker(problem: TopKProblem) -> BestIndices:
    """Rank with the C++ core."""
    return _core.topk(
        scores=core_view(problem.scores, problem.candidates),
        k=problem.k,
        exclude=None if problem.exclude is None else problem.exclude.core,
        ties=problem.ties,
        nan=problem.nan,
        threads=problem.num_threads,
        isa=requested_isa(),
        progress=problem.report_progress,
    )
