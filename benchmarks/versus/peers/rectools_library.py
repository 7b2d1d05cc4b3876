"""RecTools: https://github.com/MobileTeleSystems/RecTools. Data frames, one thread.

Its documentation computes many metrics at once by `calc_metrics`, which joins the frames once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the data frames, and one metric per value."""
    users = np.arange(workload.users)
    lists = pd.DataFrame(
        {
            Columns.User: np.repeat(users, workload.length),
            Columns.Item: data.predictions.reshape(-1),
            Columns.Rank: np.tile(np.arange(1, workload.length + 1), workload.users),
        }
    )
    truth = pd.DataFrame({Columns.User: np.repeat(users, workload.relevant), Columns.Item: data.items})
    makers = {
        "precision": Precision,
        "recall": Recall,
        "ndcg": lambda k: NDCG(k=k, divide_by_achievable=True),
        "average_precision": MAP,
        "reciprocal_rank": MRR,
    }
    metrics = {f"{metric}@{k}": makers[metric](k=k) for metric in workload.metrics for k in workload.cutoffs}

    def means() -> Mapping[str, float]:
        values = calc_metrics(metrics, reco=lists, interactions=truth)
        return {name: float(value) for name, value in values.items()}

    return {"RecTools": means}
