"""implicit: https://github.com/benfred/implicit. Its `ranking_metrics_at_k` of a factorisation, which is given its factors.

The sparse matrices are built beforehand. BLAS has one thread, as implicit asks for: it has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from implicit.als import AlternatingLeastSquares
from implicit.evaluation import ranking_metrics_at_k
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Ids, Workload

NAMES = {"precision": "precision", "ndcg": "ndcg", "average_precision": "map"}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the model, and the matrices of what is excluded and of what is relevant."""
    assert data.factors is not None
    assert data.excluded is not None
    threadpool_limits(1, "blas")
    model = AlternatingLeastSquares(factors=data.predictions.shape[1], use_gpu=False, num_threads=workload.threads)
    model.user_factors, model.item_factors = data.predictions, data.factors
    shape = len(data.predictions), len(data.factors)
    train = _matrix(data.excluded, shape)
    test = _matrix(data.items.reshape(workload.users, workload.relevant), shape)
    (cutoff,) = workload.cutoffs

    def means() -> Mapping[str, float]:
        values = ranking_metrics_at_k(model, train, test, K=cutoff, show_progress=False, num_threads=workload.threads)
        return {f"{metric}@{cutoff}": values[name] for metric, name in NAMES.items()}

    return {"implicit": means}


def _matrix(rows: Ids, shape: tuple[int, int]) -> csr_matrix:
    indptr = np.arange(len(rows) + 1) * rows.shape[1]
    return csr_matrix((np.ones(rows.size, np.float32), rows.reshape(-1), indptr), shape=shape)
