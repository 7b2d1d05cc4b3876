"""irspack: https://github.com/tohtsky/irspack. C++ on dense scores, in parallel threads; one cutoff a call.

Its `Evaluator` copies blocks of scores before it hands them to a C++ core. The core is called directly,
with all scores, in their type and row-major as they are: in no other way is it faster. Its sets of
relevant items are built beforehand. What is excluded is marked in a copy, whose memory is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from irspack.evaluation._core_evaluator import EvaluatorCore
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

NAMES = {"precision": "precision", "recall": "recall", "ndcg": "ndcg", "average_precision": "map"}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the core around a sparse matrix of the truth."""
    ones = np.ones(len(data.items))
    core = EvaluatorCore(csr_matrix((ones, data.items, data.indptr), shape=data.predictions.shape), [])
    core.cache_X_as_set(workload.threads)
    evaluate = core.get_metrics_f64 if data.predictions.dtype == np.float64 else core.get_metrics_f32
    copy = None if data.excluded is None else np.empty_like(data.predictions)
    users = np.arange(workload.users)[:, None]
    (cutoff,) = workload.cutoffs

    def means() -> Mapping[str, float]:
        scores = data.predictions
        if copy is not None:
            np.copyto(copy, scores)
            copy[users, data.excluded] = -np.inf
            scores = copy
        values = evaluate(scores, cutoff, 0, workload.threads).as_dict()
        return {f"{metric}@{cutoff}": values[NAMES[metric]] for metric in workload.metrics}

    return {"irspack's core": means}
