"""ranx: https://github.com/AmenRa/ranx. Numba, in parallel threads.

Its documentation evaluates a `Qrels` and a `Run`. `evaluate` also takes what they turn themselves into
at each call, Numba's typed lists; given those, it is faster than in any other way. Both are timed. That
a `Run` keeps each user's scores is turned off, as it costs a loop in Python. Where mappings are what is
evaluated, both structures are built in each call.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ranx import Qrels, Run, evaluate

from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

NAMES = {"average_precision": "map", "reciprocal_rank": "mrr"}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the dictionaries that its documentation recommends, and Numba's structures from them."""
    if isinstance(workload, Keyed):
        truth_mapping, predictions = (rows.mapping() for rows in workload.long_format(data))
        return {"ranx": lambda: means_by_ranx(Qrels(truth_mapping), Run(predictions), workload)}
    truth = data.items.reshape(workload.users, workload.relevant).tolist()
    lists = data.predictions.tolist()
    scores = [float(score) for score in range(workload.length, 0, -1)]
    qrels = Qrels({str(user): dict.fromkeys(map(str, items), 1) for user, items in enumerate(truth)})
    run = Run({str(user): dict(zip(map(str, items), scores, strict=True)) for user, items in enumerate(lists)})
    return {
        "ranx": partial(means_by_ranx, qrels, run, workload),
        "ranx, typed lists": partial(means_by_ranx, qrels.to_typed_list(), run.to_typed_list(), workload),
    }


def means_by_ranx(qrels: Any, run: Any, workload: Workload) -> Mapping[str, float]:  # noqa: ANN401 - it has no types
    """Evaluate, with as many threads as ours."""
    names = [f"{NAMES.get(metric, metric)}@{cutoff}" for metric in workload.metrics for cutoff in workload.cutoffs]
    values = evaluate(qrels, run, names, threads=workload.threads, save_results_in_run=False)
    return {ours: float(values[theirs]) for ours, theirs in zip(workload.values, names, strict=True)}
