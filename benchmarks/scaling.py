"""Whether time grows as the work does, and falls as the cores do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchmarks.answers import check, evaluate
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, compete, turn
from benchmarks.workload import Data, Workload
from benchmarks.workloads import DENSE_CUTS, DENSE_MASKED, DENSE_UNCUT, LONGER_LISTS, MORE_USERS

Series = list[tuple[Workload, Sample]]


def series() -> dict[str, Series]:
    """Time more users, longer lists, and more threads; each series in turns."""
    large = MORE_USERS[-1]
    threads = [replace(large, name=f"threads x {count}", threads=count) for count in thread_counts()]
    return {
        "users": time_workloads(MORE_USERS),
        "list length": time_workloads(LONGER_LISTS),
        "threads": time_workloads(threads),
    }


def kinds_of_scores() -> Series:
    """Time the same scores cut at several cutoffs, with items excluded, and not cut at all, in turns."""
    return time_workloads((*DENSE_CUTS, DENSE_MASKED, DENSE_UNCUT))


def thread_counts() -> list[int]:
    """Return 1, 2, 4 ... and as many threads as there are cores to run on."""
    cores = len(os.sched_getaffinity(0))
    return [count for count in (2**power for power in range(cores.bit_length())) if count < cores] + [cores]


def series_table(what: str, of: str, measurements: Series) -> Table:
    """Return a series: the time a unit of work, which stays the same where time is linear."""
    columns = [f"{of} with", "exactk, ms", "ns per id", "relative, per thread and id"]
    per_id = [1e9 * sample.median / workload.ids for workload, sample in measurements]
    first = measurements[0][0].threads * per_id[0]
    rows: list[list[Cell]] = [
        [workload.name, 1e3 * sample.median, each, workload.threads * each / first]
        for (workload, sample), each in zip(measurements, per_id, strict=True)
    ]
    return Table(f"Scaling with {what}", columns, rows)


def time_workloads(workloads: Sequence[Workload]) -> Series:
    """Check and time each workload."""
    built: dict[Workload, Data] = {}
    for workload in workloads:
        if workload.array_description not in built:
            built[workload.array_description] = workload.build()
        data = built[workload.array_description]
        check(workload, data, evaluate(workload, data))
    calls = {w.name: partial(evaluate, w, built[w.array_description]) for w in workloads}
    samples = compete({name: partial(turn, call) for name, call in calls.items()})
    return [(workload, samples[workload.name]) for workload in workloads]
