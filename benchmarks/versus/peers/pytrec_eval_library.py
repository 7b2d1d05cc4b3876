"""pytrec_eval, in the fork that is kept alive: https://github.com/terrierteam/pytrec_eval-terrier.

trec_eval in C behind dictionaries, one thread. It has no reciprocal rank at a cutoff: that of the whole
list is the value at the last one, and the others are not computed. The evaluator is built beforehand;
the mean over users, which it leaves to the caller, is timed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytrec_eval

from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

NAMES = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "average_precision": "map_cut"}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the dictionaries, and the evaluator if they are not what is given."""
    if isinstance(workload, Keyed):
        truth_mapping, predictions = (rows.mapping() for rows in workload.long_format(data))
        return {
            "pytrec_eval": lambda: means_by_pytrec_eval(evaluator_of(truth_mapping, workload), predictions, workload)
        }
    truth = data.items.reshape(workload.users, workload.relevant).tolist()
    lists = data.predictions.tolist()
    scores = [float(score) for score in range(workload.length, 0, -1)]
    qrels = {str(user): dict.fromkeys(map(str, items), 1) for user, items in enumerate(truth)}
    run = {str(user): dict(zip(map(str, items), scores, strict=True)) for user, items in enumerate(lists)}
    evaluator = evaluator_of(qrels, workload)
    return {"pytrec_eval": lambda: means_by_pytrec_eval(evaluator, run, workload)}


def evaluator_of(qrels: Mapping[str, Any], workload: Workload) -> Any:  # noqa: ANN401 - it has no types
    """Build an evaluator of what it can compute."""
    cutoffs = ",".join(map(str, workload.cutoffs))
    return pytrec_eval.RelevanceEvaluator(qrels, {*(f"{name}.{cutoffs}" for name in NAMES.values()), "recip_rank"})


def means_by_pytrec_eval(evaluator: Any, run: Mapping[str, Any], workload: Workload) -> Mapping[str, float]:  # noqa: ANN401 - no types
    """Evaluate, and take the means."""
    users = list(evaluator.evaluate(run).values())
    names = {f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in NAMES.items() for k in workload.cutoffs}
    names[f"reciprocal_rank@{workload.length}"] = "recip_rank"
    return {ours: sum(user[theirs] for user in users) / len(users) for ours, theirs in names.items()}
