"""NumPy, as one writes it who knows NumPy well: no loop over users, everything at every cutoff at once.

Nothing is built beforehand, as nothing is with exactk. Repeated ids are not looked for, nor is anything
else validated: that much less is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.versus.peers import Call
from benchmarks.workload import Data, Ids, Workload

Places = NDArray[np.intp]  # of the hits in the flattened lists, ascending
CODES_UP_TO = 2**20  # ids that are small enough to be used as they are
BLOCK_IDS = 2**14  # ids of a block of users whose bitmap fits a cache
MOST_BLOCK_USERS = 1024


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Return two ways of finding the hits; what is made of the hits is the same."""
    ways: dict[str, Callable[[Data], Places]] = {"NumPy, sorted keys": by_sorted_keys, "NumPy, bitmap": by_bitmap}
    return {name: partial(means, data, workload, find) for name, find in ways.items()}


def by_sorted_keys(data: Data) -> Places:
    """Look each (user, item) up among the sorted keys of the truth."""
    items, lists, catalogue = _codes(data)
    offsets = np.arange(len(lists), dtype=np.int64) * catalogue
    keys = items + np.repeat(offsets, np.diff(data.indptr))
    keys.sort()
    sought = (lists + offsets[:, None]).reshape(-1)
    found = np.searchsorted(keys, sought)
    found[found == len(keys)] = 0
    return np.flatnonzero(keys[found] == sought)


def by_bitmap(data: Data) -> Places:
    """Mark the truth of a block of users in a table of users x items, and look the lists up in it."""
    items, lists, catalogue = _codes(data)
    users, length = lists.shape
    block = min(max(64, BLOCK_IDS // length), MOST_BLOCK_USERS)
    offsets = np.arange(users, dtype=np.intp) % block * catalogue
    keys = items + np.repeat(offsets, np.diff(data.indptr))
    table = np.zeros(block * catalogue, np.bool_)
    hits = np.empty((users, length), np.bool_)
    for begin in range(0, users, block):
        end = min(begin + block, users)
        marked = keys[data.indptr[begin] : data.indptr[end]]
        table[marked] = True
        # mode="clip" spares a buffer; no index is out of range
        np.take(table, lists[begin:end] + offsets[: end - begin, None], out=hits[begin:end], mode="clip")
        table[marked] = False
    return np.flatnonzero(hits)


def _codes(data: Data) -> tuple[Ids, Ids, int]:
    """Return truth and lists as numbers below a small one; arbitrary ids are looked up in the sorted truth."""
    largest = int(max(data.items.max(), data.predictions.max()))
    if largest < CODES_UP_TO:
        return data.items, data.predictions, largest + 1
    known, items = np.unique(data.items, return_inverse=True)
    places = np.searchsorted(known, data.predictions.reshape(-1))
    places[places == len(known)] = 0
    lists = np.where(known[places] == data.predictions.reshape(-1), places, len(known))
    return items, lists.reshape(data.predictions.shape), len(known) + 1


def means(data: Data, workload: Workload, find: Callable[[Data], Places]) -> Mapping[str, float]:
    """Return all means: each hit falls into a cell (user, first cutoff that reaches it), cells are summed."""
    users, length = data.predictions.shape
    cutoffs = np.array(workload.cutoffs)
    relevant = np.diff(data.indptr)[:, None].astype(np.float64)
    user, rank = np.divmod(find(data), length)
    first = np.searchsorted(user, np.arange(users + 1))  # of the user's hits
    cell = user * len(cutoffs) + np.searchsorted(cutoffs, rank + 1)

    def up_to_cutoffs(weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        sums = np.bincount(cell, weights, users * len(cutoffs)).reshape(users, len(cutoffs))
        return np.cumsum(sums, axis=1)

    discounts = 1 / np.log2(np.arange(2, length + 2))
    hits = up_to_cutoffs()
    ceiling = np.minimum(cutoffs, relevant)
    hit_number = np.arange(1, len(user) + 1) - first[user]
    best_rank = np.full((users, 1), np.inf)
    with_hits = first[1:] > first[:-1]
    best_rank[with_hits, 0] = rank[first[:-1][with_hits]] + 1
    ways: dict[str, Callable[[], NDArray[np.float64]]] = {
        "precision": lambda: hits / cutoffs,
        "recall": lambda: hits / relevant,
        "ndcg": lambda: up_to_cutoffs(discounts[rank]) / np.cumsum(discounts)[ceiling.astype(np.intp) - 1],
        "average_precision": lambda: up_to_cutoffs(hit_number / (rank + 1)) / ceiling,
        "reciprocal_rank": lambda: np.where(best_rank <= cutoffs, 1 / best_rank, 0),
    }
    numbers = [ways[metric]().mean(axis=0) for metric in workload.metrics]
    return dict(zip(workload.values, np.concatenate(numbers).tolist(), strict=True))
