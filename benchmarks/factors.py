"""Workloads of embeddings: normal factors, whose products are the scores, or say who is near whom.

A user's relevant and excluded items are the best of some that are drawn, as a model that was trained
with them would have it. They are found by rounded factors, whose products are whole numbers: exact, in
whatever order a BLAS adds them up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import SEED, Data, Ids, Workload

Vectors = NDArray[np.float32]

BLOCK = 64  # users who share the items of which theirs are the best
STEPS = 4  # of a rounded factor, in a standard deviation


@dataclass(frozen=True)
class Embedded(Workload):
    """A workload whose work is the products of vectors, each with each."""

    dimensions: int = 64

    @property
    def bytes(self) -> int:
        """The vectors of users and of items."""
        return 4 * self.dimensions * (self.users + self.length)

    @property
    def operations(self) -> int:
        """The multiplications and additions of all products."""
        return 2 * self.dimensions * self.ids


@dataclass(frozen=True)
class Factors(Embedded):
    """An evaluation of factors of users and items."""

    cutoffs: tuple[int, ...] = (20,)
    metrics: tuple[str, ...] = ("precision", "recall", "ndcg", "average_precision")
    excluded: int = 50  # items per user that must not be recommended, none of them relevant
    sampled: int = 20_000  # items of which a user's relevant and excluded ones are the best

    def build(self) -> Data:
        """Draw the arrays."""
        generator = np.random.default_rng(SEED)
        users, items = (
            generator.standard_normal((count, self.dimensions), np.float32) for count in (self.users, self.length)
        )
        marked = np.empty((self.users, self.relevant + self.excluded), np.int32)
        for begin in range(0, self.users, BLOCK):
            block = slice(begin, begin + BLOCK)
            pool = generator.choice(self.length, self.sampled, replace=False)
            marked[block] = pool[_best_positions(users[block], items[pool], marked.shape[1])]
        generator.permuted(marked, axis=1, out=marked)
        indptr = np.arange(self.users + 1, dtype=np.int64) * self.relevant
        relevant, excluded = np.split(marked, [self.relevant], axis=1)
        return Data(indptr, relevant.reshape(-1), users, excluded=excluded.copy(), factors=items)


@dataclass(frozen=True)
class Neighbors(Embedded):
    """The search for the nearest of all vectors to each, by the cosine, itself left out. Its depth is the cutoff."""

    cutoffs: tuple[int, ...] = (300,)
    metrics: tuple[str, ...] = ()

    def build(self) -> Data:
        """Draw the vectors; nobody has relevant items."""
        vectors = np.random.default_rng(SEED).standard_normal((self.users, self.dimensions), np.float32)
        indptr = np.zeros(self.users + 1, np.int64)
        return Data(indptr, np.empty(0, np.int32), vectors, factors=vectors)


def _best_positions(users: Vectors, items: Vectors, count: int) -> Ids:
    """Return the positions of each user's best items, in a fixed order. Of equal ones a later is the better."""
    scores = np.rint(STEPS * users) @ np.rint(STEPS * items).T
    assert abs(scores).max() < np.iinfo(np.int32).max / len(items)
    keys = scores.astype(np.int32)
    keys *= len(items)
    keys += np.arange(len(items), dtype=np.int32)
    keys.partition(keys.shape[1] - count, axis=1)
    positions: Ids = np.sort(keys[:, -count:], axis=1) % len(items)
    return positions
