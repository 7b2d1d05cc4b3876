"""The engine of the C++ core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk import _core
from exactk._engine.blas import core_view
from exactk._engine.problem import Outcome, Problem
from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.scores import Scores
from exactk._plan.fields import core_rules
from exactk._report.sums import Sums
from exactk._runtime.errors import input_error
from exactk._runtime.isa import requested_isa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._engine.topk import BestIndices, TopKProblem
    from exactk._inputs.model.lists import Truth
    from exactk._inputs.model.predictions import Predictions


def core_engine(problem: Problem) -> Outcome:
    """Have the C++ core evaluate."""
    _check_counted_users(problem)
    with core_view(problem.predictions, problem.candidates) as predictions:
        sums, counts, tie_dependent, tie_spread, per_user = _core.evaluate(
            problem.truth.core,
            problem.truth.grades,
            predictions,
            None if problem.exclude is None else problem.exclude.core,
            None if problem.weights is None else problem.weights.values,
            None if problem.groups is None else problem.groups.values,
            problem.group_count,
            [value.core for value in problem.values],
            core_rules(problem.convention.rules("")),
            problem.per_user,
            problem.num_threads,
            requested_isa(),
            problem.report_progress,
        )
    return Outcome([_decode_sums(*one) for one in sums], dict(counts), tie_dependent, tie_spread, per_user)


def _check_counted_users(problem: Problem) -> None:
    """Raise InputError if a user whom a value counts has no weight or group."""
    if len(problem.predictions) != len(problem.truth):  # the core refuses that
        return
    for argument, row_values in (("weights", problem.weights), ("groups", problem.groups)):
        if row_values is None or not row_values.is_missing.any():
            continue
        in_truth, in_predictions = _presence(problem.truth), _presence(problem.predictions)
        population = {
            "truth": in_truth,
            "both": in_truth & in_predictions,
            "predictions": in_predictions,
            "union": in_truth | in_predictions,
        }
        for value in problem.values:
            rows = np.flatnonzero(row_values.is_missing & population[value.rules["users"]])
            if len(rows):
                expected = f"an entry for each user whom {value.name} counts (users={value.rules['users']!r})"
                hint = f"{argument} as a mapping from user to value need one for every such user"
                raise input_error(argument, expected, "none", row=int(rows[0]), count=len(rows), hint=hint)


def _presence(rows: Truth | Predictions) -> NDArray[np.bool_]:
    present = None if isinstance(rows, (Scores, CanonicalEmbeddings)) else rows.present
    return np.ones(len(rows), np.bool_) if present is None else present


def _decode_sums(users: int, undefined: int, *sums_and_scales: bytes | int) -> Sums:
    """Read the core's integers, which come as bytes."""
    integers = (
        int.from_bytes(one, "little", signed=True) if isinstance(one, bytes) else one for one in sums_and_scales
    )
    return Sums(users, undefined, *integers)


def core_ranker(problem: TopKProblem) -> BestIndices:
    """Have the C++ core rank."""
    with core_view(problem.scores, problem.candidates) as scores:
        return _core.topk(
            scores,
            problem.k,
            None if problem.exclude is None else problem.exclude.core,
            problem.ties,
            problem.nan,
            problem.num_threads,
            requested_isa(),
            problem.report_progress,
        )
