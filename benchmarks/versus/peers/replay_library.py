"""RePlay: https://github.com/sb-ai-lab/RePlay. Frames of Polars, whose threads it shares.

Its documentation computes many metrics at once by `OfflineMetrics`, which joins the frames once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from replay.metrics import MAP, MRR, NDCG, OfflineMetrics, Precision, Recall

from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

KINDS = {"precision": Precision, "recall": Recall, "ndcg": NDCG, "average_precision": MAP, "reciprocal_rank": MRR}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the frames, and the metrics."""
    assert isinstance(workload, Keyed)
    truth, predictions = (pl.DataFrame(rows.columns()) for rows in workload.long_format(data))
    metrics = OfflineMetrics(
        [KINDS[metric](list(workload.cutoffs)) for metric in workload.metrics],
        query_column="user_id",
        item_column="item_id",
        rating_column="score",
    )

    def means() -> Mapping[str, float]:
        values = metrics(predictions, truth)
        return {
            f"{metric}@{cutoff}": float(values[f"{KINDS[metric].__name__}@{cutoff}"])
            for metric in workload.metrics
            for cutoff in workload.cutoffs
        }

    return {"RePlay": means}
