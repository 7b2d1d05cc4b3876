"""Calls on ten users, as a loop makes them: microseconds of the CPU for a call.

``python -m benchmarks.small_calls`` prints the table. Targets are those of a machine that does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import exactk
from benchmarks.comparisons import cpu_seconds
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, compete
from benchmarks.workload import SEED

USERS, LENGTH, RELEVANT, ITEMS = 10, 20, 5, 40
NAMES = ("precision", "recall", "ndcg", "map", "mrr", "hit_rate")
ONE, THIRTY = "ndcg@10", [f"{name}@[1,3,5,10,20]" for name in NAMES]
CALLS, ROUNDS = 20, 200  # of each contestant in a turn, and turns
TARGETS = {"one value": 40, "one value, NumPy": 40, "thirty values": 80, "thirty values, NumPy": 80, "recall_at_k": 60}


def calls() -> dict[str, Callable[[], object]]:
    """Return the calls, whose inputs are made before."""
    generator = np.random.default_rng(SEED)
    lists, relevant = (
        np.array([generator.permutation(ITEMS)[:size] for _ in range(USERS)]) for size in (LENGTH, RELEVANT)
    )
    truth, rankings = exactk.as_truth(relevant), exactk.as_predictions(lists)
    return {
        "one value": partial(exactk.evaluate, truth, rankings, ONE),
        "one value, NumPy": partial(exactk.evaluate, relevant, lists, ONE),
        "thirty values": partial(exactk.evaluate, truth, rankings, THIRTY),
        "thirty values, NumPy": partial(exactk.evaluate, relevant, lists, THIRTY),
        "recall_at_k": partial(exactk.recall_at_k, relevant.tolist(), lists.tolist(), 10),
    }


def repeat(call: Callable[[], Any]) -> None:
    """Call several times."""
    for _ in range(CALLS):
        call()


def measure(rounds: int = ROUNDS) -> dict[str, Sample]:
    """Time the calls in turns."""
    return compete({name: partial(cpu_seconds, partial(repeat, call)) for name, call in calls().items()}, rounds)


def small_table(samples: dict[str, Sample]) -> Table:
    """Return a row per call, with what is promised."""
    rows: list[list[Cell]] = [
        [name, 1e6 * sample.low / CALLS, 1e6 * sample.median / CALLS, f"at most {TARGETS[name]}"]
        for name, sample in samples.items()
    ]
    title = f"Calls on {USERS} users with lists of {LENGTH}"
    return Table(title, ["call", "lowest, CPU us", "median, CPU us", "target"], rows)


if __name__ == "__main__":
    print(small_table(measure()))
