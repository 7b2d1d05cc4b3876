"""The engine of the C++ core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk import _core
from exactk._engine.blas import core_view
from exactk._engine.problem import Outcome, Problem
from exactk._plan.metric_strings import core_rules
from exactk._report.state import Sums
from exactk._runtime.isa import requested_isa

if TYPE_CHECKING:
    from exactk._engine.topk import BestIndices, TopKProblem


def core_engine(problem: Problem) -> Outcome:
    """Have the C++ core evaluate."""
    with core_view(problem.predictions, problem.candidates) as predictions:
        sums, counts, per_user = _core.evaluate(
            problem.truth.core,
            problem.truth.grades,
            predictions,
            None if problem.exclude is None else problem.exclude.core,
            problem.weights,
            problem.groups,
            problem.group_count,
            [value.core for value in problem.values],
            core_rules(problem.convention.rules("")),
            problem.per_user,
            problem.num_threads,
            requested_isa(),
            problem.report_progress,
        )
    return Outcome([_decode_sums(*one) for one in sums], dict(counts), per_user)


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
