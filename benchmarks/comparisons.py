"""Paired t tests of ten systems against one, beside as many calls of ``scipy.stats.ttest_rel``, in seconds of the CPU.

Both start from the users' values, which reports keep. exactk also has the intervals, d_z, wins, ties and losses,
and adjusts; SciPy has t and p. What would fool it: SciPy gets the values as contiguous rows, as exactk does; a table
that a cache holds is not read from memory, so a million users have 800 MB of values.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import exactk
from benchmarks import results
from benchmarks.answers import WrongAnswerError, compare
from benchmarks.bandwidth import bandwidth, buffer
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, compete
from benchmarks.workload import SEED
from exactk._runtime.threads import available_isas

SAME = 1e-9  # relative: SciPy rounds the differences and their squares
ROUNDS = 7
TO_SCIPY = 2.0
ISA = "EXACTK_ISA"


@dataclass(frozen=True)
class Compared:
    """Systems, of which the first is the baseline, and metrics of their lists of ten."""

    systems: int = 10
    users: int = 1_000_000
    metrics: tuple[str, ...] = (
        "precision@5", "recall@5", "ndcg@5", "average_precision@5", "precision@10", "recall@10", "ndcg@10",
        "average_precision@10", "reciprocal_rank@10", "hit_rate@10",
    )  # fmt: skip

    @property
    def bytes(self) -> int:
        """What must be read once."""
        return 8 * self.systems * self.users * len(self.metrics)

    def reports(self) -> dict[str, exactk.Report]:
        """Evaluate lists that have more hits at the upper ranks, and with each further system."""
        relevant, length = 5, 10
        generator = np.random.default_rng(SEED)
        truth = exactk.Truth(
            np.arange(self.users + 1) * relevant, np.tile(np.arange(relevant, dtype=np.int32), self.users)
        )
        ease = generator.random((self.users, 1), np.float32)
        ranks = np.arange(length, dtype=np.float32)
        evaluated = {}
        for system in range(self.systems):
            appeal = ease * (0.5 + 0.005 * system) / np.sqrt(1 + ranks)
            is_hit = generator.random((self.users, length), np.float32) < appeal
            before = is_hit.cumsum(axis=1, dtype=np.int32) - is_hit
            items = np.where(is_hit & (before < relevant), before, 100 + np.arange(length, dtype=np.int32))
            evaluated[f"system {system}"] = exactk.evaluate(truth, items, self.metrics, per_user=True)
        return evaluated


def exactk_differences(reports: Mapping[str, exactk.Report]) -> exactk.results.Differences:
    """Return the differences from the first system."""
    return exactk.compare_reports(reports, baseline=next(iter(reports))).differences


def scipy_tests(tables: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return t and p of each metric and system."""
    baseline, *others = tables
    tests = {}
    for metric, system in product(tables[baseline], others):
        statistic, p = stats.ttest_rel(tables[system][metric], tables[baseline][metric])
        tests[metric, system] = float(statistic), float(p)
    return tests


def check(differences: exactk.results.Differences, tables: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> None:
    """Raise unless t and p are SciPy's, and wins, losses and d_z those of the values."""
    tests, baseline = scipy_tests(tables), next(iter(tables))
    for row in differences:
        who = f"{row.metric} of {row.system}"
        statistic, p = tests[row.metric, row.system]
        compare(who, {"t": row.statistic}, {"t": statistic}, SAME)
        if p and not math.isclose(row.p, p, rel_tol=1e-6):  # SciPy's may be too small for a double
            raise WrongAnswerError(f"{who}: p is {row.p}, not {p}")
        difference = tables[row.system][row.metric] - tables[baseline][row.metric]
        counts = {"wins": float((difference > 0).sum()), "losses": float((difference < 0).sum())}
        compare(who, {"wins": row.wins, "losses": row.losses}, counts, 0)
        compare(who, {"d_z": row.effect}, {"d_z": float(difference.mean() / difference.std(ddof=1))}, SAME)


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the processor's time for a call, on all threads."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


@contextmanager
def instructions(isa: str) -> Iterator[None]:
    """Have exactk use an instruction set."""
    before = os.environ.get(ISA)
    os.environ[ISA] = isa
    try:
        yield
    finally:
        del os.environ[ISA]
        if before is not None:
            os.environ[ISA] = before


def with_instructions(isa: str, call: Callable[[], object]) -> float:
    """Return the processor's time for a call with an instruction set."""
    with instructions(isa):
        return cpu_seconds(call)


def measure(compared: Compared, rounds: int = ROUNDS) -> dict[str, Sample]:
    """Check the answers; time exactk with each instruction set, and SciPy, in turns."""
    reports = compared.reports()
    tables = {system: dict(report.per_user) for system, report in reports.items()}
    call = partial(exactk_differences, reports)
    turns: dict[str, Callable[[], float]] = {"SciPy": partial(cpu_seconds, partial(scipy_tests, tables))}
    for isa in available_isas():
        with instructions(isa):
            check(call(), tables)
        turns[isa] = partial(with_instructions, isa, call)
    return compete(turns, rounds)


def comparison_table(compared: Compared, samples: Mapping[str, Sample], speed: float) -> Table:
    """Return a row for each instruction set, the widest first; the floor is reading the values at a speed."""
    floor = compared.bytes / speed
    peer = samples["SciPy"]
    rows: list[list[Cell]] = [
        [isa, 1e3 * ours.median, [1e3 * ours.low, 1e3 * ours.high], compared.bytes / 1e6, 1e3 * floor,
         ours.median / floor, results.times(1e3 * peer.median, peer.ratio_to(ours))]
        for isa, ours in samples.items() if isa != "SciPy"
    ][::-1]  # fmt: skip
    columns = ["instructions", "exactk, CPU ms", "lowest-highest, ms", "MB", "floor, ms", "times the floor"]
    title = f"{compared.systems - 1} pairs x {len(compared.metrics)} metrics x {compared.users:,} users"
    return Table(title, [*columns, f"{(compared.systems - 1) * len(compared.metrics)} x ttest_rel, CPU ms"], rows)


def publish_comparisons(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    speed = bandwidth(buffer(), threads=1)
    compared = Compared()
    samples = measure(compared)
    table = comparison_table(compared, samples, speed)
    results.publish("comparisons", machine(), run_description(load), [], [table])
    widest = samples[available_isas()[-1]]
    ratio = f"{samples['SciPy'].ratio_to(widest):.2f} x"
    target = ["90 x ttest_rel to exactk, CPU time", ratio, f"at least {TO_SCIPY:g} x"]
    print(Table("Comparisons", ["figure", "measured", "target"], [target]))


if __name__ == "__main__":
    publish_comparisons(os.getloadavg()[0])
