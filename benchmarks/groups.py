"""What groups of users cost beside the evaluation of their lists, in seconds of the CPU on one thread.

Two figures: merging the states of many shards, and a report of very many groups with the values of all of them read. The
time in the core is left out of the second, which has a row for one metric and one for ten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import exactk
from benchmarks.answers import WrongAnswerError
from benchmarks.comparisons import cpu_seconds
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, compete
from benchmarks.workload import SEED
from exactk import _core

LENGTH, RELEVANT = 10, 5
METRICS = [
    f"{name}@{cutoff}"
    for cutoff in (10, 5, 3, 7, 1)
    for name in ("ndcg", "recall", "precision", "map", "mrr", "hit_rate")
]
STATES, TO_MERGE = 1_000, 0.2
GROUPS, TO_REPORT = 100_000, 1.0


@dataclass(frozen=True)
class Grouped:
    """Users in groups of the same size, who follow in random order, with lists of ten."""

    users: int
    groups: int
    metrics: Sequence[str]
    seed: int = SEED

    def evaluation(self) -> Callable[[], exactk.Report]:
        """Return a function that evaluates the lists, which are made before."""
        generator = np.random.default_rng(self.seed)
        relevant = np.tile(np.arange(RELEVANT, dtype=np.int32), self.users)
        truth = exactk.Truth(np.arange(self.users + 1) * RELEVANT, relevant)
        lists = np.argsort(generator.random((self.users, 2 * LENGTH), np.float32), axis=1)[:, :LENGTH].astype(np.int32)
        groups = generator.permutation(np.arange(self.users) % self.groups)
        return lambda: exactk.evaluate(truth, lists, self.metrics, groups=groups, num_threads=1)


def shards(states: int, grouped: Grouped) -> list[exactk.State]:
    """Return the states of shards, every tenth of which has other lists."""
    distinct = [
        Grouped(grouped.users, grouped.groups, grouped.metrics, grouped.seed + i).evaluation()().state
        for i in range(10)
    ]
    return [distinct[i % 10] for i in range(states)]


def check_merged(states: Sequence[exactk.State]) -> None:
    """Raise unless the users and totals of a merge are the sums of Python's integers."""
    merged = exactk.merge(states).state
    for label, sums in (merged.groups or {}).items():
        of_states = [(state.groups or {})[label][0] for state in states]
        users, total = sum(one.users for one in of_states), sum(one.total for one in of_states)
        if (sums[0].users, sums[0].total) != (users, total):
            raise WrongAnswerError(f"group {label} has the sums {sums[0]}, not {users} users and {total}")


def report_seconds(evaluate: Callable[[], exactk.Report]) -> float:
    """Return the time of an evaluation and of reading the values of its groups, without the core."""
    in_core: list[float] = []
    solve = _core.evaluate

    def timed(**request: Any) -> object:  # noqa: ANN401 - the fields
        results: list[object] = []
        in_core.append(cpu_seconds(lambda: results.append(solve(**request))))
        return results[0]

    with patch.object(_core, "evaluate", timed):
        whole = cpu_seconds(lambda: evaluate().by_group)
    return whole - sum(in_core)


def measure(states: int = STATES, groups: int = GROUPS, rounds: int = 5) -> dict[str, Sample]:
    """Time both, in turns."""
    parts = shards(states, Grouped(200, 100, METRICS))
    check_merged(parts)
    one, ten = (Grouped(2 * groups, groups, METRICS[:count]).evaluation() for count in (1, 10))
    turns = {
        "merge": lambda: cpu_seconds(lambda: exactk.merge(parts)),
        "report of 1 metric": lambda: report_seconds(one),
        "report of 10 metrics": lambda: report_seconds(ten),
    }
    return compete(turns, rounds)


def groups_table(samples: dict[str, Sample]) -> Table:
    """Return a row per figure, with what is promised."""
    promised = {"merge": TO_MERGE, "report of 1 metric": TO_REPORT, "report of 10 metrics": TO_REPORT}
    rows: list[list[Cell]] = [
        [name, sample.low, sample.median, f"at most {promised[name]:g}"] for name, sample in samples.items()
    ]
    title = f"{STATES:,} states of 100 groups x {len(METRICS)} values; {GROUPS:,} groups of two users"
    return Table(title, ["what", "lowest, CPU s", "median, CPU s", "target"], rows)


if __name__ == "__main__":
    print(groups_table(measure()))
