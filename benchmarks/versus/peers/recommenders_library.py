"""Microsoft's recommenders: https://github.com/recommenders-team/recommenders. Frames of pandas, one thread.

A function computes one metric at one cutoff, and joins the frames anew; four of them are called, at 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from recommenders.evaluation.python_evaluation import map_at_k, ndcg_at_k, precision_at_k, recall_at_k

from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

CUTOFF = 10
FUNCTIONS = {
    "precision": precision_at_k,
    "recall": recall_at_k,
    "ndcg": ndcg_at_k,
    "average_precision": map_at_k,
}


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the frames; the truth has to have ratings."""
    assert isinstance(workload, Keyed)
    truth, predictions = (pd.DataFrame(rows.columns()) for rows in workload.long_format(data))
    truth["rating"] = 1.0
    columns = {"col_user": "user_id", "col_item": "item_id", "col_rating": "rating", "col_prediction": "score"}

    def means() -> Mapping[str, float]:
        return {
            f"{metric}@{CUTOFF}": float(function(truth, predictions, k=CUTOFF, **columns))
            for metric, function in FUNCTIONS.items()
        }

    return {"recommenders": means}
