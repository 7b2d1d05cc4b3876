"""Workloads of ranked lists: items have a mild skew of popularity, hits are likelier at the upper ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.workload import SEED, Data, Ids, Workload

Draw = Callable[[int], Ids]

BLOCK = 20_000  # users that are drawn together: a larger workload begins with the users of a smaller one


@dataclass(frozen=True)
class Lists(Workload):
    """An evaluation of ranked lists."""

    cutoffs: tuple[int, ...] = (1, 5, 10, 20, 50, 100)
    metrics: tuple[str, ...] = ("precision", "recall", "ndcg", "average_precision", "reciprocal_rank")
    num_items: int = 50_000
    hit_share: float = 0.2  # the expected share of the relevant items that is recommended on purpose
    wide: bool = False  # arbitrary ids below 2^63 instead of small ones

    @property
    def bytes(self) -> int:
        """What must be read and written once: ids, truth and per-user values."""
        width = 8 if self.wide else 4
        table = 8 * self.users * len(self.values) if self.per_user else 0
        return width * self.users * (self.length + self.relevant) + table

    def build(self) -> Data:
        """Draw the arrays."""
        item_ids = self._item_ids()
        indptr = np.arange(self.users + 1, dtype=np.int64) * self.relevant
        items = np.empty((self.users, self.relevant), item_ids.dtype)
        predictions = np.empty((self.users, self.length), item_ids.dtype)
        for begin, truth, lists in self._blocks():
            items[begin : begin + BLOCK] = item_ids[truth]
            predictions[begin : begin + BLOCK] = item_ids[lists]
        return Data(indptr, items.reshape(-1), predictions)

    def _item_ids(self) -> Ids:
        """Return the ids of the items: a popular one has no small id."""
        generator = np.random.default_rng(SEED)
        if not self.wide:
            return generator.permutation(self.num_items).astype(np.int32)
        item_ids = np.unique(generator.integers(2**63, size=self.num_items + self.num_items // 8, dtype=np.int64))
        return generator.permutation(item_ids)[: self.num_items]

    def _blocks(self) -> Iterator[tuple[int, Ids, Ids]]:
        """Draw items with a mild skew of popularity, and hits that are likelier at the upper ranks."""
        for begin in range(0, self.users, BLOCK):
            generator = np.random.default_rng([SEED, begin])

            def draw(count: int, generator: np.random.Generator = generator) -> Ids:
                popularity = generator.random(count, np.float32) ** 2
                return np.minimum(popularity * self.num_items, self.num_items - 1).astype(np.int32)

            users = min(BLOCK, self.users - begin)
            lists = _without_repeats(draw(users * self.length).reshape(users, self.length), draw)
            truth = draw(users * self.relevant).reshape(users, self.relevant)
            row, position = np.nonzero(generator.random(truth.shape, np.float32) < self.hit_share)
            rank = (generator.random(row.size) ** 2 * self.length).astype(np.intp)
            truth[row, position] = lists[row, rank]
            yield begin, _without_repeats(truth, draw), lists


def _without_repeats(rows: Ids, draw: Draw) -> Ids:
    """Return the rows with every repeated item drawn again, until no row has one."""
    rows = rows.copy()
    remaining = np.arange(len(rows))
    while remaining.size:
        drawn = rows[remaining]
        order = np.argsort(drawn, axis=1, kind="stable")  # other kinds differ from one CPU to the next
        ordered = np.take_along_axis(drawn, order, axis=1)
        row, position = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        rows[remaining[row], order[row, position + 1]] = draw(row.size)
        remaining = remaining[np.unique(row)]
    return rows
