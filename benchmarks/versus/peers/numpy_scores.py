"""NumPy on scores: `argpartition`, then the best in order, then the vectorised means of lists.

NumPy has one thread, but lets others run while it selects: blocks of users, small enough for a cache,
are shared out. Without a cutoff no sort is needed, as only the ranks of relevant items count: how many
score higher. Nothing is built beforehand, and no score is looked at for being NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.versus.peers import Call
from benchmarks.versus.peers.numpy_code import Positions, means_of_positions
from benchmarks.workload import Data, Ids, Workload

BLOCK_BYTES = 2**20  # of scores


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Return the one call."""
    return {"NumPy": partial(means_at_cutoffs if workload.cutoffs else means_without_cutoff, data, workload)}


def means_at_cutoffs(data: Data, workload: Workload) -> Mapping[str, float]:
    """Select the best and evaluate them as lists."""
    depth = max(workload.cutoffs)

    def best(block: slice) -> Ids:
        scores = mask_excluded(data, block)
        positions = np.argpartition(scores, scores.shape[1] - depth, axis=1)[:, -depth:]
        order = np.argsort(np.take_along_axis(scores, positions, axis=1), axis=1)[:, ::-1]
        chosen = np.take_along_axis(positions, order, axis=1)
        return chosen if data.candidates is None else np.take_along_axis(data.candidates[block], chosen, axis=1)

    return means_of_positions(
        Data(data.indptr, data.items, map_blocks(best, data, workload)), workload, hits_by_comparison
    )


def hits_by_comparison(data: Data) -> Positions:
    """Compare each listed item with each relevant one: those are few."""
    truth = data.items.reshape(len(data.predictions), 1, -1)
    return np.flatnonzero((data.predictions[:, :, None] == truth).any(axis=2))


def means_without_cutoff(data: Data, workload: Workload) -> Mapping[str, float]:
    """Count how many items beat each relevant one."""
    truth = data.items.reshape(workload.users, workload.relevant)

    def beaten_by(block: slice) -> NDArray[np.intp]:
        scores = mask_excluded(data, block)
        bounds = np.take_along_axis(scores, truth[block], axis=1)
        counts = [np.count_nonzero(scores > bounds[:, [column]], axis=1) for column in range(workload.relevant)]
        return np.stack(counts, axis=1)

    ranks = np.sort(map_blocks(beaten_by, data, workload), axis=1) + 1
    hit_number = np.arange(1, workload.relevant + 1)
    ways: dict[str, Callable[[], Any]] = {
        "reciprocal_rank": lambda: 1 / ranks[:, 0],
        "average_precision": lambda: (hit_number / ranks).mean(axis=1),
        "ndcg": lambda: (1 / np.log2(ranks + 1)).sum(axis=1) / (1 / np.log2(hit_number + 1)).sum(),
    }
    return {metric: float(ways[metric]().mean()) for metric in workload.metrics}


def map_blocks(work: Callable[[slice], Ids], data: Data, workload: Workload) -> Ids:
    """Have threads work on blocks of users, and put what they return together."""
    size = max(1, BLOCK_BYTES // data.predictions[0].nbytes)
    blocks = [slice(begin, begin + size) for begin in range(0, workload.users, size)]
    with ThreadPoolExecutor(workload.threads) as pool:
        parts: Iterable[Ids] = pool.map(work, blocks)
        return np.concatenate(list(parts))


def mask_excluded(data: Data, block: slice) -> NDArray[Any]:
    """Return a block of scores, a copy in which those of excluded items are lowest."""
    scores = data.predictions[block]
    if data.excluded is not None:
        scores = scores.copy()
        np.put_along_axis(scores, data.excluded[block], -np.inf, axis=1)
    return scores
