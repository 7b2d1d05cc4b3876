"""Evaluation of Spark data frames: exact, on the executors, without collecting rows.

Users are hashed into buckets, each bucket is evaluated by one task, and the driver adds the exact sums, or tasks do, where
they are large or many. The values equal those of one `exactk.evaluate` of all rows, bit for bit, whatever the number of
buckets. It needs Spark 3.4 or newer, and exactk on the workers; Spark Connect works too. Install it with
``pip install 'exactk[spark]'``.

Examples
--------
>>> import exactk.spark
>>> report = exactk.spark.evaluate(truth, predictions, ["ndcg@10", "recall@10"])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._sharded.engines import FrameFunctions
from exactk.spark import _frames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["compare", "evaluate", "merge", "per_user", "states"]

_FUNCTIONS: FrameFunctions[DataFrame] = FrameFunctions(_frames, __name__, "DataFrame")
evaluate = _FUNCTIONS.evaluate
compare = _FUNCTIONS.compare
states = _FUNCTIONS.states
merge = _FUNCTIONS.merge
per_user = _FUNCTIONS.per_user
