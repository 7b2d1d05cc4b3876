"""What is usually written where there is no library: a join, and hits counted by user. It ranks nothing.

So it is no evaluation: it is what grouping the rows costs in Polars, with as many threads as ours, or in
pandas, which has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import polars as pl

from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the frames."""
    assert isinstance(workload, Keyed)
    truth, predictions = (pl.DataFrame(rows.columns()) for rows in workload.long_format(data))
    pandas_truth, pandas_predictions = truth.to_pandas(), predictions.to_pandas()
    recall = f"recall@{workload.length}"  # of the whole list, which needs no ranks
    divisor = workload.relevant * workload.users

    def by_polars() -> Mapping[str, float]:
        joined = predictions.join(truth, on=["user_id", "item_id"])
        hits = joined.group_by("user_id").agg(pl.len().alias("hits"))
        return {recall: float(hits["hits"].sum()) / divisor}

    def by_pandas() -> Mapping[str, float]:
        joined: pd.DataFrame = pandas_predictions.merge(pandas_truth, on=["user_id", "item_id"])
        return {recall: float(joined.groupby("user_id").size().sum()) / divisor}

    return {"Polars, hits alone": by_polars, "pandas, hits alone": by_pandas}
