"""Evaluation of Dask data frames: exact, on the workers, without collecting rows.

Users are hashed into buckets, each bucket is evaluated by one task, and tasks add the exact sums. The values equal those
of one `exactk.evaluate` of all rows, bit for bit, whatever the partitions and the number of buckets. Any scheduler of
Dask works; the workers need exactk. Install it with ``pip install 'exactk[dask]'``.

Examples
--------
>>> import exactk.dask
>>> report = exactk.dask.evaluate(truth, predictions, ["ndcg@10", "recall@10"])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._sharded.engines import FrameFunctions
from exactk.dask import _partitions

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

__all__ = ["compare", "evaluate", "merge", "per_user", "states"]

_FUNCTIONS: FrameFunctions[DataFrame] = FrameFunctions(_partitions, __name__, "DataFrame")
evaluate = _FUNCTIONS.evaluate
compare = _FUNCTIONS.compare
states = _FUNCTIONS.states
merge = _FUNCTIONS.merge
per_user = _FUNCTIONS.per_user
