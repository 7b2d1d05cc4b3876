"""The workloads: named, seeded, and each with what it is for.

A workload is a description; `Workload.build` draws its arrays, the same for the same description on
every machine. The README beside this file says what would fool each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer[Any]]
Draw = Callable[[int], Ids]

SEED = 20_260_901
BLOCK = 20_000  # users that are drawn together: a larger workload begins with the users of a smaller one
METRICS = ("precision", "recall", "ndcg", "average_precision", "reciprocal_rank")


@dataclass(frozen=True)
class Data:
    """The arrays of one evaluation: the truth in CSR form, the recommended ids one row a user."""

    indptr: NDArray[np.int64]
    items: Ids
    predictions: Ids

    def rows(self, users: NDArray[np.intp]) -> Data:
        """Return some users, all of whom have the same number of relevant items."""
        relevant = int(self.indptr[1])
        indptr = np.arange(len(users) + 1, dtype=np.int64) * relevant
        return Data(indptr, self.items.reshape(-1, relevant)[users].reshape(-1), self.predictions[users])

    def save(self, folder: Path) -> None:
        """Write the arrays for other processes."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in vars(self).items():
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def load(cls, folder: Path) -> Data:
        """Read what `save` wrote."""
        return cls(*(np.load(folder / f"{name}.npy") for name in ("indptr", "items", "predictions")))


@dataclass(frozen=True)
class Workload:
    """One evaluation, described. Building it twice gives the same arrays."""

    name: str
    purpose: str
    users: int
    length: int  # recommended items a user
    relevant: int  # relevant items a user
    cutoffs: tuple[int, ...] = (1, 5, 10, 20, 50, 100)
    metrics: tuple[str, ...] = METRICS
    catalogue: int = 50_000
    found: float = 0.2  # the expected share of the relevant items that is recommended on purpose
    wide: bool = False  # arbitrary ids below 2^63 instead of small ones
    per_user: bool = False
    threads: int = 2

    @property
    def values(self) -> tuple[str, ...]:
        """The canonical names of what is computed, metric by metric."""
        return tuple(f"{metric}@{cutoff}" for metric in self.metrics for cutoff in self.cutoffs)

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `metrik.evaluate`."""
        return {"per_user": self.per_user, "num_threads": self.threads}

    @property
    def ids(self) -> int:
        """How many ids are recommended: what nanoseconds an id are over."""
        return self.users * self.length

    @property
    def bytes(self) -> int:
        """What must be read and written once, whatever the method: ids, truth and per-user values."""
        width = 8 if self.wide else 4
        table = 8 * self.users * len(self.values) if self.per_user else 0
        return width * self.users * (self.length + self.relevant) + table

    def build(self) -> Data:
        """Draw the arrays."""
        names = self._names()
        indptr = np.arange(self.users + 1, dtype=np.int64) * self.relevant
        items = np.empty((self.users, self.relevant), names.dtype)
        predictions = np.empty((self.users, self.length), names.dtype)
        for begin, truth, lists in self._blocks():
            items[begin : begin + BLOCK] = names[truth]
            predictions[begin : begin + BLOCK] = names[lists]
        return Data(indptr, items.reshape(-1), predictions)

    def _names(self) -> Ids:
        """Return what the items are called: a popular one has no small id."""
        generator = np.random.default_rng(SEED)
        if not self.wide:
            return generator.permutation(self.catalogue).astype(np.int32)
        names = np.unique(generator.integers(2**63, size=self.catalogue + self.catalogue // 8, dtype=np.int64))
        return generator.permutation(names)[: self.catalogue]

    def _blocks(self) -> Iterator[tuple[int, Ids, Ids]]:
        """Draw items with a mild skew of popularity, and hits that are likelier at the upper ranks."""
        for begin in range(0, self.users, BLOCK):
            generator = np.random.default_rng([SEED, begin])

            def draw(count: int, generator: np.random.Generator = generator) -> Ids:
                popularity = generator.random(count, np.float32) ** 2
                return np.minimum(popularity * self.catalogue, self.catalogue - 1).astype(np.int32)

            users = min(BLOCK, self.users - begin)
            lists = _without_repeats(draw(users * self.length).reshape(users, self.length), draw)
            truth = draw(users * self.relevant).reshape(users, self.relevant)
            row, place = np.nonzero(generator.random(truth.shape, np.float32) < self.found)
            rank = (generator.random(row.size) ** 2 * self.length).astype(np.intp)
            truth[row, place] = lists[row, rank]
            yield begin, _without_repeats(truth, draw), lists


def _without_repeats(rows: Ids, draw: Draw) -> Ids:
    """Return the rows with every repeated item drawn again, until no row has one."""
    rows = rows.copy()
    unsettled = np.arange(len(rows))
    while unsettled.size:
        drawn = rows[unsettled]
        order = np.argsort(drawn, axis=1, kind="stable")  # other kinds differ from one CPU to the next
        ordered = np.take_along_axis(drawn, order, axis=1)
        row, place = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        rows[unsettled[row], order[row, place + 1]] = draw(row.size)
        unsettled = unsettled[np.unique(row)]
    return rows


LISTS_100 = Workload(
    "lists_100",
    "the usual offline evaluation: each user's hundred best, five metrics at six cutoffs",
    users=20_000,
    length=100,
    relevant=20,
)
MILLION = replace(
    LISTS_100,
    name="million",
    purpose="far beyond the caches, with a table of per-user values: bandwidth and memory",
    users=1_000_000,
    per_user=True,
)
WORKLOADS = {
    workload.name: workload
    for workload in (
        LISTS_100,
        replace(
            LISTS_100,
            name="lists_100_wide",
            purpose="the same lists under arbitrary 64-bit ids, where no table over the ids is possible",
            wide=True,
        ),
        replace(
            LISTS_100,
            name="lists_100_per_user",
            purpose="the same lists with each user's values kept: what writing them costs",
            per_user=True,
        ),
        Workload(
            "lists_1000",
            "long lists: the cost an id, with that of a user spread over a thousand of them",
            users=2_000,
            length=1_000,
            relevant=100,
            cutoffs=(1, 10, 100, 1_000),
        ),
        Workload(
            "truth_5000",
            "few users with a huge truth: whether a long truth is looked up or walked",
            users=200,
            length=1_000,
            relevant=5_000,
            cutoffs=(10, 100, 1_000),
        ),
        Workload(
            "leave_one_out",
            "millions of users with one relevant item and ten ids each: the cost of a user",
            users=2_000_000,
            length=10,
            relevant=1,
            cutoffs=(1, 5, 10),
            metrics=("recall", "ndcg", "reciprocal_rank"),
            found=0.3,
        ),
        MILLION,
    )
}
FACTORS = (1, 2, 4, 8)
MORE_USERS = tuple(replace(LISTS_100, name=f"users x {n}", users=n * LISTS_100.users) for n in FACTORS)
LONGER_LISTS = tuple(replace(LISTS_100, name=f"length x {n}", length=n * LISTS_100.length) for n in FACTORS)
