"""Lists of other shapes than the usual: what an id costs on one thread where a short way may not be taken, or pays less."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import exactk
from benchmarks.comparisons import cpu_seconds
from benchmarks.results import Cell, Table
from benchmarks.timing import compete
from benchmarks.workload import SEED, Data
from benchmarks.workloads import LISTS_100

ONE = ["ndcg@10"]
THIRTY = list(LISTS_100.values)
FIRST = {"convention": {"duplicate_items": "first"}}
HUGE = 1_000_000  # items of one user


@dataclass(frozen=True)
class Shaped:
    """Truth and lists, and the options that they need."""

    truth: exactk.Truth
    lists: exactk.Rankings
    options: dict[str, Any] = field(default_factory=dict)

    def seconds(self, metrics: list[str]) -> float:
        """Return the CPU time of an evaluation on one thread."""
        return cpu_seconds(lambda: exactk.evaluate(self.truth, self.lists, metrics, num_threads=1, **self.options))


def shaped(data: Data, keep: NDArray[np.bool_] | None = None, grades: NDArray[np.float64] | None = None) -> Shaped:
    """Return the arrays of a workload; `keep` marks the items of the lists that are kept."""
    users, length = data.predictions.shape
    lengths = np.full(users, length) if keep is None else keep.sum(axis=1)
    items = data.predictions.reshape(-1) if keep is None else data.predictions[keep]
    lists = exactk.Rankings(np.concatenate([[0], np.cumsum(lengths)]), items)
    return Shaped(exactk.Truth(data.indptr, data.items, grades), lists)


def usual() -> Shaped:
    """Return the usual lists."""
    return shaped(LISTS_100.build())


def wider() -> Shaped:
    """Return ids of 64 bits, as NumPy makes them."""
    data = LISTS_100.build()
    return shaped(replace(data, items=data.items.astype(np.int64), predictions=data.predictions.astype(np.int64)))


def short() -> Shaped:
    """Return many users with short lists."""
    return shaped(replace(LISTS_100, users=100_000, length=20, relevant=10).build())


def uneven() -> Shaped:
    """Return lists of 1 to 199 items, of which some are not short."""
    data = replace(LISTS_100, length=199).build()
    lengths = np.random.default_rng(SEED).integers(1, 200, len(data.predictions))
    return shaped(data, np.arange(199) < lengths[:, None])


def without_truth() -> Shaped:
    """Return three of a hundred users without relevant items."""
    data = LISTS_100.build()
    keep = np.repeat(np.random.default_rng(SEED).random(LISTS_100.users) >= 0.03, LISTS_100.relevant)
    lengths = keep.reshape(-1, LISTS_100.relevant).sum(axis=1)
    return shaped(replace(data, indptr=np.concatenate([[0], np.cumsum(lengths)]), items=data.items[keep]))


def long_truths() -> Shaped:
    """Return truths of 300 items of 64 bits, which are not short."""
    return shaped(replace(LISTS_100, users=5_000, relevant=300, wide=True).build())


def repeated(share: float) -> Shaped:
    """Return lists of which some have an item twice."""
    data = LISTS_100.build()
    chosen = np.flatnonzero(np.random.default_rng(SEED).random(LISTS_100.users) < share)
    data.predictions[chosen, 50] = data.predictions[chosen, 3]
    return replace(shaped(data), options=FIRST)


def graded() -> Shaped:
    """Return a truth with grades from 1 to 3."""
    data = LISTS_100.build()
    return shaped(data, grades=np.random.default_rng(SEED).integers(1, 4, len(data.items)).astype(np.float64))


def huge_user() -> Shaped:
    """Return a user with a million items and 100,000 relevant ones, before users with few."""
    data = replace(LISTS_100, users=2_000).build()
    first = np.random.default_rng(SEED).permutation(2 * HUGE).astype(np.int32)
    truth = exactk.Truth(
        np.concatenate([[0], data.indptr + HUGE // 10]), np.concatenate([first[: HUGE // 10] * 2 % HUGE, data.items])
    )
    offsets = HUGE + np.arange(len(data.predictions) + 1) * LISTS_100.length
    lists = exactk.Rankings(
        np.concatenate([[0], offsets]), np.concatenate([first[:HUGE], data.predictions.reshape(-1)])
    )
    return Shaped(truth, lists, {"convention": {"duplicate_truth": "first"}})


SHAPES: dict[str, Callable[[], Shaped]] = {
    LISTS_100.name: usual,
    "64-bit ids": wider,
    "lists of 20": short,
    "lists of 1 to 199": uneven,
    "3% of the users without truth": without_truth,
    "truths of 300": long_truths,
    "half of the lists with a repeated id": partial(repeated, 0.5),
    "all lists with a repeated id": partial(repeated, 1),
    "grades": graded,
    "one huge user": huge_user,
}


def shapes_table() -> Table:
    """Measure each shape, for one value and for thirty."""
    rows: list[list[Cell]] = []
    for name, make in SHAPES.items():
        shape = make()
        calls = {metrics[-1]: partial(shape.seconds, metrics) for metrics in (ONE, THIRTY)}
        ids = len(shape.lists.items)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)  # that lists end above a cutoff
            samples = compete(calls).values()
        rows.append([name, *(1e9 * figure / ids for sample in samples for figure in (sample.low, sample.median))])
    columns = ["shape", "one value, least", "median", "thirty values, least", "median"]
    return Table("Lists of other shapes, nanoseconds of the CPU an id of the lists, on one thread", columns, rows)
