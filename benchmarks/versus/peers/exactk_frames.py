"""Ours from data frames, and from nothing else: users are encoded and rows grouped in each call.

Strings of pandas are Arrow's since its version 3; *pandas, objects* are Python's, as version 2 has them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

import exactk
from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload
    from exactk.typing import PredictionsLike, TruthLike


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the frames."""
    assert isinstance(workload, Keyed)
    polars = [pl.DataFrame(rows.columns()) for rows in workload.long_format(data)]
    pandas = [frame.to_pandas() for frame in polars]
    calls: dict[str, list[Any]] = {
        "exactk": polars,
        "exactk, pandas": pandas,
        "exactk, pyarrow": [frame.to_arrow() for frame in polars],
    }
    if workload.string_keys:
        calls["exactk, pandas, objects"] = [
            frame.astype(dict.fromkeys(("user_id", "item_id"), object)) for frame in pandas
        ]
    return {name: partial(means_of_frames, workload, *frames) for name, frames in calls.items()}


def means_of_frames(workload: Workload, truth: TruthLike, predictions: PredictionsLike) -> Mapping[str, float]:
    """Evaluate; the columns have usual names."""
    report = exactk.evaluate(truth, predictions, workload.values, **workload.options)
    return dict(report)
