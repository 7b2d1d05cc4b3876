"""FAISS: https://github.com/facebookresearch/faiss. The exact search of its flat index, by inner products.

The index is built beforehand, of normalised vectors where cosines are computed; it excludes nothing and
computes no metric. A vector is its own nearest: one more is searched for, and the first dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import faiss

from benchmarks.factors import Neighbors

if TYPE_CHECKING:
    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Ids, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the index."""
    faiss.omp_set_num_threads(workload.threads)
    assert data.factors is not None
    queries, vectors, itself = data.predictions, data.factors, int(isinstance(workload, Neighbors))
    if itself:
        queries = vectors = queries.copy()
        faiss.normalize_L2(vectors)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def search() -> Ids:
        ids: Ids = index.search(queries, max(workload.cutoffs) + itself)[1]
        return ids[:, itself:]

    return {"FAISS, search alone": search}
