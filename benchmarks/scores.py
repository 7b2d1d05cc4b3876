"""Workloads of scores: normal ones, of which those of relevant and excluded items are higher.

No two of a user's scores are equal, for which of equal ones comes first is each library's own choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import SEED, Data, Workload

LIFT = 2  # standard deviations by which relevant and excluded items score higher


@dataclass(frozen=True)
class Scores(Workload):
    """An evaluation of scores: of every item, or of candidates."""

    cutoffs: tuple[int, ...] = (20,)
    metrics: tuple[str, ...] = ("precision", "recall", "ndcg", "average_precision")
    dtype: str = "float32"
    excluded: int = 0  # items per user that must not be recommended, none of them relevant
    num_items: int = 0  # items of which each user's candidates are drawn; 0: every item has a score

    @property
    def bytes(self) -> int:
        """What must be read once: the scores, and the ids of candidates."""
        return self.ids * (np.dtype(self.dtype).itemsize + (4 if self.num_items else 0))

    def build(self) -> Data:
        """Draw the arrays."""
        generator = np.random.default_rng(SEED)
        scores = np.empty((self.users, self.length), self.dtype)
        marked = np.empty((self.users, self.relevant + self.excluded), np.int32)
        candidates = np.empty((self.users, self.length), np.int32) if self.num_items else None
        for user, row in enumerate(scores):
            marked[user] = generator.choice(self.length, marked.shape[1], replace=False)
            generator.standard_normal(dtype=row.dtype.type, out=row)
            row[marked[user]] += LIFT
            _redraw_equal_scores(row, generator)
            if candidates is not None:
                candidates[user] = generator.choice(self.num_items, self.length, replace=False)
        if candidates is not None:
            marked = np.take_along_axis(candidates, marked, axis=1)
        indptr = np.arange(self.users + 1, dtype=np.int64) * self.relevant
        items, excluded = np.split(marked, [self.relevant], axis=1)
        return Data(indptr, items.reshape(-1), scores, candidates, excluded.copy() if self.excluded else None)


def _redraw_equal_scores(row: NDArray[Any], generator: np.random.Generator) -> None:
    """Draw equal scores again, until none are equal."""
    while True:
        ordered = np.sort(row)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if not repeated.size:
            return
        positions = np.flatnonzero(np.isin(row, repeated))
        row[positions] = generator.standard_normal(positions.size, row.dtype.type)
