"""Evaluation of Ray datasets: exact, on the workers, without collecting rows.

Users are hashed into buckets, each bucket is evaluated in one call, and tasks add the exact sums. The values equal those
of one `exactk.evaluate` of all rows, bit for bit, whatever the blocks and the number of buckets. The workers need exactk.
Install it with ``pip install 'exactk[ray]'``.

Examples
--------
>>> import exactk.ray
>>> report = exactk.ray.evaluate(truth, predictions, ["ndcg@10", "recall@10"])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._sharded.engines import FrameFunctions
from exactk.ray import _datasets

if TYPE_CHECKING:
    from ray.data import Dataset

__all__ = ["compare", "evaluate", "merge", "per_user", "states"]

_FUNCTIONS: FrameFunctions[Dataset] = FrameFunctions(_datasets, __name__, "Dataset")
evaluate = _FUNCTIONS.evaluate
compare = _FUNCTIONS.compare
states = _FUNCTIONS.states
merge = _FUNCTIONS.merge
per_user = _FUNCTIONS.per_user
