"""Values of users, and judged lists, straight from the engine: no report, no warnings."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.core import core_engine
from exactk._engine.outcomes import user_rows
from exactk._engine.problem import Problem, solve
from exactk._plan.metric_strings import canonical_name, plan
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import JudgedCells
    from exactk._inputs.model.lists import Rankings
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
    """Return the values of the users, by metric string, of which each has one value a user; NaN for those who do not count."""
    metrics = tuple(dict.fromkeys(metrics))
    values = plan(metrics, convention)
    threads = resolve_threads(num_threads)
    problem = Problem.without_options(truth, predictions, values.distinct_parts, convention, threads, per_user=True)
    rows = user_rows(problem, solve(core_engine, problem), values)
    by_name = dict(zip(values.names, rows[: len(values)], strict=True))
    return {metric: by_name[_name_of(metric, convention)] for metric in metrics}


@lru_cache(maxsize=1 << 10)
def _name_of(metric: str, convention: Convention) -> str:
    """Return the canonical name, which two metric strings may share."""
    return canonical_name(metric, convention)


_CELLS = 1 << 20  # users x ranks that are judged together


def judged_blocks(truth: Truth, rankings: Rankings, metric: str, convention: Convention) -> Iterator[JudgedCells]:
    """Yield what is at each rank of the lists, judged as by the metric, some users at a time."""
    depth = max(1, int(np.diff(rankings.indptr).max(initial=0)))
    name, parenthesis, rules = metric.partition("(")
    values = plan(f"{name}@{depth}{parenthesis}{rules}", convention)
    problem = Problem.without_options(truth, rankings, values, convention, resolve_threads(None))
    for begin in range(0, len(truth), size := max(1, _CELLS // depth)):
        yield core_engine.judge_lists(problem, range(begin, min(begin + size, len(truth))))


def ndcg_of_hits(lists: JudgedCells, k: int) -> NDArray[np.float64]:
    """Return nDCG by NumPy's logarithm, which libraries take: `ndcg` has correctly rounded ones, and so other last digits."""
    hits = lists.hits[:, :k]
    discounts = 1 / np.log2(np.arange(2, max(k, hits.shape[1]) + 2))
    gained: NDArray[np.float64] = np.cumsum(hits * discounts[: hits.shape[1]], axis=1)[:, -1]
    return gained / np.cumsum(discounts)[np.clip(lists.relevant, 1, k) - 1]
