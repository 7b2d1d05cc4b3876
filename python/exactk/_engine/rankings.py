"""One ranking per way to rank: values that rank items alike share it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from exactk._engine.problem import Engine, Outcome, Problem
from exactk._inputs.model.lists import Rankings
from exactk._plan.metric_strings import as_plan
from exactk._report.counts import TieCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inputs.model.predictions import Predictions
    from exactk._report.counts import Counts

_T = TypeVar("_T")

Ranking: TypeAlias = tuple[Any, ...]
"""The values of the fields that determine how items are ranked."""


def solve(engine: Engine, problem: Problem) -> Outcome:
    """Solve the problem once for each ranking that a value needs, and join the outcomes.

    The counts are those of the convention's own ranking or, if no value uses it, of the first; those of unusual items in the
    lists that metrics read are added up, so that none of these is left out.
    """
    from exactk._engine.base_lists import check_base_order
    from exactk._inputs.model.embeddings import check_input_order

    if isinstance(problem.predictions, Rankings) and problem.predictions.ranks is None and problem.base is None:
        return engine.solve(problem)  # lists without ranks are ranked in one way
    if problem.base is None and not problem.list_tallies and as_plan(problem.values).ranks_alike:
        rules_of_all = problem.values[0].rules
        check_input_order(problem.predictions, [rules_of_all["ties"]], "predictions")
        return engine.solve(_with_ranked(problem, _ranking(problem, rules_of_all)))
    rules = [*(value.rules for value in problem.values), *(tally.rules for tally in problem.list_tallies)]
    check_input_order(problem.predictions, [one["ties"] for one in rules], "predictions")
    check_base_order(problem)
    own_ranking = _ranking(problem, problem.convention.rules(""))
    rankings = [_ranking(problem, value.rules, reads_base=value.info.reads_base) for value in problem.values]
    rankings += [_ranking(problem, tally.rules) for tally in problem.list_tallies]
    distinct = sorted(dict.fromkeys(rankings), key=lambda ranking: ranking != own_ranking)  # the others in input order
    if len(distinct) == 1:
        return engine.solve(_with_ranked(problem, distinct[0]))
    outcomes, indices = [], []
    for number, ranking in enumerate(distinct):
        indices.append([index for index, one in enumerate(rankings) if one == ranking])
        outcomes.append(engine.solve(_part(problem, ranking, indices[-1], number, len(distinct))))
    of_values, of_tallies, of_groups = zip(*(_by_kind(problem, part) for part in indices), strict=True)
    joined = _join(problem, outcomes, of_values)
    return joined._replace(
        item_counts=_in_order(of_tallies, [outcome.item_counts for outcome in outcomes]),
        group_counts=_in_order(of_groups, [outcome.group_counts for outcome in outcomes]),
    )


def _by_kind(problem: Problem, indices: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Return which values, tallies of items and tallies of groups are at these indices of all of them, one after another."""
    items = len(problem.values)
    groups = items + len(problem.item_tallies)
    return (
        [index for index in indices if index < items],
        [index - items for index in indices if items <= index < groups],
        [index - groups for index in indices if index >= groups],
    )


def _in_order(indices: Sequence[Sequence[int]], parts: Sequence[Sequence[_T]]) -> tuple[_T, ...]:
    """Return the elements of all parts by the index of each."""
    by_index = dict(zip(chain(*indices), chain(*parts), strict=True))
    return tuple(by_index[index] for index in range(len(by_index)))


def with_ranking(problem: Problem) -> Problem:
    """Return the problem of one value with its predictions as they are ranked for it."""
    from exactk._inputs.model.embeddings import check_input_order

    (value,) = problem.values
    check_input_order(problem.predictions, [value.rules["ties"]], "predictions")
    return _with_ranked(problem, _ranking(problem, value.rules))


def _ranking(problem: Problem, rules: Mapping[str, Any], *, reads_base: bool = False) -> Ranking:
    """Return the key of a ranking: of the predictions and, for what reads them, of the base predictions."""
    if problem.base is None:
        return (_ranking_of(problem.predictions, rules),)
    of_base = rules if reads_base else problem.convention.rules("")
    ranking = _ranking_of(problem.base.predictions, of_base)
    if not isinstance(problem.base.predictions, Rankings):
        ranking += of_base["ties"], of_base["nan"]
    return _ranking_of(problem.predictions, rules), ranking


def _with_ranked(problem: Problem, ranking: Ranking) -> Problem:
    """Return the problem with its predictions as they are ranked."""
    predictions = _ranked(problem.predictions, ranking[0])
    if problem.base is not None:
        base = problem.base._replace(predictions=_ranked(problem.base.predictions, ranking[1][:2]))
        return problem._replace(predictions=predictions, base=base)
    return problem if predictions is problem.predictions else problem._replace(predictions=predictions)


def _ranking_of(predictions: Predictions, rules: Mapping[str, Any]) -> Ranking:
    """Return how the ranks of lists, or scores, are treated."""
    if isinstance(predictions, Rankings):
        return () if predictions.ranks is None else (rules["rank_gaps"],)
    return rules["score_dtype"], rules["negative_infinity"]


def _ranked(predictions: Predictions, ranking: Ranking) -> Predictions:
    """Return the predictions with their ranks or scores as they count."""
    if isinstance(predictions, Rankings):
        return predictions.with_core_ranks() if "keep" in ranking else predictions.without_ranks()
    score_dtype, negative_infinity = ranking
    if score_dtype == "float32":
        predictions = predictions.with_float32_scores()
    if negative_infinity == "exclude":
        predictions = predictions.without_negative_infinity()
    return predictions


def _part(problem: Problem, ranking: Ranking, indices: list[int], number: int, count: int) -> Problem:
    """Return the problem for the values and tallies of one ranking, as one of several parts of the progress."""
    users = len(problem.truth)
    values, item_tallies, group_tallies = _by_kind(problem, indices)
    return _with_ranked(problem, ranking)._replace(
        values=tuple(problem.values[index] for index in values),
        item_tallies=tuple(problem.item_tallies[index] for index in item_tallies),
        group_tallies=tuple(problem.group_tallies[index] for index in group_tallies),
        report_progress=lambda done: problem.report_progress((number * users + done) // count),
    )


def _join(problem: Problem, outcomes: list[Outcome], indices: Sequence[list[int]]) -> Outcome:
    """Return the outcome of all values from those of the values at the given indices."""
    from exactk._report.sum_table import SumTable

    size = len(problem.values)
    micro = [index for index, value in enumerate(problem.values) if value.rules["average"] == "micro"]
    counts = [outcome.counts for outcome in outcomes]
    joined_counts = counts[0]._replace(
        longest_list=max(one.longest_list for one in counts),  # each to its own cutoffs
        candidates=next((one.candidates for one in counts if one.candidates is not None), None),
        foreign_recommended=_sum_of_present([one.foreign_recommended for one in counts]),
        unseen_recommended=_sum_of_present([one.unseen_recommended for one in counts]),
        ties=_join_ties(counts, indices, size),
        undefined=_join_undefined(counts, indices, size),
    )
    per_user = ratios = None
    if problem.per_user:
        per_user, ratios = np.empty((size, len(problem.truth))), np.empty((len(micro), 2, len(problem.truth)))
        for outcome, part in zip(outcomes, indices, strict=True):
            per_user[part] = outcome.per_user
            ratios[[micro.index(index) for index in part if index in micro]] = outcome.ratios
    sums = _in_order(indices, [one.sums for one in outcomes])
    tables = [one.group_sums for one in outcomes if one.group_sums is not None]
    parts = _in_order(indices, [table.parts() for table in tables]) if tables else ()
    group_sums = SumTable.of_parts(parts, problem.group_count) if tables else None
    return Outcome([*sums], joined_counts, per_user, ratios, group_sums=group_sums)


def _sum_of_present(counts: list[int | None]) -> int | None:
    present = [count for count in counts if count is not None]
    return sum(present) if present else None


def _join_undefined(counts: list[Counts], indices: Sequence[list[int]], size: int) -> tuple[int, ...] | None:
    """Return how many users have 0 / 0, of all values."""
    joined = [0] * size
    for one, part in zip(counts, indices, strict=True):
        for index, users in zip(part, one.undefined or (), strict=False):
            joined[index] = users
    return tuple(joined) if any(joined) else None


def _join_ties(counts: list[Counts], indices: Sequence[list[int]], size: int) -> tuple[TieCounts, ...] | None:
    """Return the ties of all values."""
    if all(one.ties is None for one in counts):
        return None
    ties = dict.fromkeys(range(size), TieCounts(0, 0))
    for one, part in zip(counts, indices, strict=True):
        if one.ties is not None:
            ties.update(zip(part, one.ties, strict=True))
    return tuple(ties.values())
