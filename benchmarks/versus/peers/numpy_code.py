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

Positions = NDArray[np.intp]  # of the hits in the flattened lists, ascending
CODES_UP_TO = 2**20  # ids that are small enough to be used as they are
BLOCK_IDS = 2**14  # ids of a block of users whose bitmap fits a cache
MOST_BLOCK_USERS = 1024


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Return two ways of finding the hits; what is made of the hits is the same."""
    ways: dict[str, Callable[[Data], Positions]] = {
        "NumPy, sorted keys": hits_by_sorted_keys,
        "NumPy, bitmap": hits_by_bitmap,
    }
    return {name: partial(means_of_positions, data, workload, find) for name, find in ways.items()}


def hits_by_sorted_keys(data: Data) -> Positions:
    """Look each (user, item) up among the sorted keys of the truth."""
    items, lists, num_items = _codes(data)
    offsets = np.arange(len(lists), dtype=np.int64) * num_items
    keys = items + np.repeat(offsets, np.diff(data.indptr))
    keys.sort()
    listed_keys = (lists + offsets[:, None]).reshape(-1)
    positions = np.searchsorted(keys, listed_keys)
    positions[positions == len(keys)] = 0
    return np.flatnonzero(keys[positions] == listed_keys)


def hits_by_bitmap(data: Data) -> Positions:
    """Mark the truth of a block of users in a table of users x items, and look the lists up in it."""
    items, lists, num_items = _codes(data)
    users, length = lists.shape
    block = min(max(64, BLOCK_IDS // length), MOST_BLOCK_USERS)
    offsets = np.arange(users, dtype=np.intp) % block * num_items
    keys = items + np.repeat(offsets, np.diff(data.indptr))
    table = np.zeros(block * num_items, np.bool_)
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
    """Return truth and lists as codes below a small number; arbitrary ids are looked up in the sorted truth."""
    largest = int(max(data.items.max(), data.predictions.max()))
    if largest < CODES_UP_TO:
        return data.items, data.predictions, largest + 1
    ids, items = np.unique(data.items, return_inverse=True)
    codes = np.searchsorted(ids, data.predictions.reshape(-1))
    codes[codes == len(ids)] = 0
    lists = np.where(ids[codes] == data.predictions.reshape(-1), codes, len(ids))
    return items, lists.reshape(data.predictions.shape), len(ids) + 1


def means_of_positions(data: Data, workload: Workload, find: Callable[[Data], Positions]) -> Mapping[str, float]:
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
    values = [ways[metric]().mean(axis=0) for metric in workload.metrics]
    return dict(zip(workload.values, np.concatenate(values).tolist(), strict=True))
