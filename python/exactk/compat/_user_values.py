"""Values of users straight from the engine: no report, no warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.core import core_engine
from exactk._engine.outcomes import user_rows
from exactk._engine.problem import Problem, solve
from exactk._plan.metric_strings import plan
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._plan.conventions import Convention


def user_values(
    truth: Truth,
    predictions: Predictions,
    metrics: Sequence[str],
    convention: Convention,
    num_threads: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return the value of each user, by metric string, of which each has one; NaN for those who do not count."""
    metrics = tuple(dict.fromkeys(metrics))
    values = plan(metrics, convention)
    threads = resolve_threads(num_threads)
    problem = Problem.without_options(truth, predictions, values.distinct_parts, convention, threads, per_user=True)
    rows = user_rows(problem, solve(core_engine, problem), values)
    return dict(zip(metrics, rows[: len(values)], strict=True))
