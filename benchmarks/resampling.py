"""Permutation tests and bootstrap intervals, beside SciPy, ranx and NumPy, in seconds of the processor.

All start from the users' values, which reports keep. exactk is timed from reports to rows, which also have t intervals,
d_z, wins, ties and losses; the sums alone are timed beside. What would fool it: SciPy takes its time from how many
permutations it holds at once, so it also gets a batch that is faster than its default; ranx tests each pair in both
orders; the peers need hours for many pairs, so that they do one, and their time is multiplied; random signs that are
drawn once for several columns of a product cost less per column, so NumPy gets all columns at once.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import ThreadpoolController

import exactk
from benchmarks import results
from benchmarks.answers import WrongAnswerError
from benchmarks.comparisons import Compared, cpu_seconds
from benchmarks.machine import machine, run_description
from benchmarks.resampling_memory import measure_added
from benchmarks.results import Cell, Table, times, with_unit
from benchmarks.timing import Sample, compete, turn
from benchmarks.versus.field import BUILT, POOLS, ROOT, THREADS, interpreter, version
from benchmarks.versus.peers import LIST_PEERS
from benchmarks.workload import SEED
from exactk import _core
from exactk._inference.unit_numbers import scale_of
from exactk._runtime.threads import available_isas

FEW_FLIPS, FLIPS = 999, 9_999
PAIR = Compared(systems=2, users=10_000, metrics=("ndcg@10",))  # of many distinct differences
PAIRS = Compared(users=10_000)
LARGE = Compared(users=100_000)
LARGEST = Compared()
ROUNDS = 7
LARGE_ROUNDS = 5
SCIPY_BATCH = 100
NUMPY_FLIPS, NUMPY_BLOCK = 1_024, 256
SCIPY_RESAMPLES = 100
STANDARD_ERRORS = 5.0  # by which two Monte Carlo answers may differ
RANX = next(peer for peer in LIST_PEERS if peer.distribution == "ranx")

Floats = NDArray[np.float64]
Reports = Mapping[str, exactk.Report]

KINDS: dict[str, dict[str, Any]] = {
    "sign flips": {"test": "permutation"},
    "sign flips, max_t": {"test": "permutation", "adjust": "max_t"},
    "percentile intervals": {"interval": "percentile"},
    "BCa intervals": {"interval": "bca"},
}


def differences(reports: Reports, *, all_pairs: bool = False, **how: Any) -> exactk.results.Differences:  # noqa: ANN401 - options
    """Return the differences from the first system, or of all pairs."""
    baseline = None if all_pairs else next(iter(reports))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)  # where more flips would decide
        return exactk.compare_reports(reports, baseline=baseline, **how).differences


def columns_of(reports: Reports) -> list[Floats]:
    """Return each system's values of each metric."""
    return [np.ascontiguousarray(column) for report in reports.values() for column in report.per_user.values()]


def sums_alone(columns: Sequence[Floats], count: int, *, isa: str, threads: int, resamples: bool = False) -> None:
    """Have the core sum the columns, and nothing else."""
    users = len(columns[0])
    function = _core.resample_sums if resamples else _core.sign_flip_sums
    scales = [scale_of(1.0, users, spare_bits=3)] * len(columns)
    function(
        columns=list(columns),
        scales=scales,
        keys=np.arange(users, dtype=np.uint64),
        units=np.arange(users),
        seed=0,
        count=count,
        threads=threads,
        isa=isa,
    )


def mean_difference(system: Floats, baseline: Floats, axis: int) -> Floats:
    """Return what SciPy permutes."""
    difference: Floats = system.mean(axis=axis) - baseline.mean(axis=axis)
    return difference


def scipy_p(pair: Sequence[Floats], batch: int | None) -> float:
    """Return SciPy's p-value of a pair."""
    test = stats.permutation_test(
        pair, mean_difference, permutation_type="samples", vectorized=True, n_resamples=FEW_FLIPS, batch=batch, rng=SEED
    )
    return float(test.pvalue)


def scipy_interval(pair: Sequence[Floats], resamples: int) -> tuple[float, float]:
    """Return SciPy's percentile interval of a mean difference."""
    system, baseline = pair
    interval = stats.bootstrap(
        (system - baseline,), np.mean, n_resamples=resamples, method="percentile", rng=SEED
    ).confidence_interval
    return float(interval.low), float(interval.high)


def numpy_sums(columns: NDArray[np.float32], flips: int) -> NDArray[np.float32]:
    """Return signed sums as they are written by hand: random bits, and products in single precision."""
    generator = np.random.default_rng(SEED)
    users = columns.shape[1]
    totals = columns.sum(axis=1, keepdims=True)
    blocks = []
    with _pools().limit(limits=1, user_api="blas"):
        for _ in range(0, flips, NUMPY_BLOCK):
            bits = np.unpackbits(generator.integers(0, 256, (users, NUMPY_BLOCK // 8), np.uint8), axis=1)
            blocks.append(2 * (columns @ bits.astype(np.float32)) - totals)
    return np.concatenate(blocks, axis=1)


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def ranx_tests(pair: Sequence[Floats], folder: Path) -> Iterator[Callable[[], tuple[float, float]]]:
    """Yield a function that has ranx test the pair: p and CPU seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pair.npy"
    np.save(file, np.stack(pair))
    command = [str(interpreter(RANX)), "-m", "benchmarks.versus.fisher_library", str(file), str(FEW_FLIPS)]
    environment = os.environ | dict.fromkeys(POOLS, str(THREADS))
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )

    def test() -> tuple[float, float]:
        assert process.stdin
        assert process.stdout
        print(file=process.stdin, flush=True)
        p, seconds = json.loads(process.stdout.readline())
        return p, seconds

    try:
        yield test
    finally:
        process.communicate()
        file.unlink()


def check_p(found: float, other: float, flips: int) -> None:
    """Raise unless two p-values from random flips are those of one test."""
    error = math.sqrt(2 * max(found * (1 - found), 1 / flips) / flips)
    if abs(found - other) > STANDARD_ERRORS * error:
        raise WrongAnswerError(f"p is {found}, not {other}")


def check_interval(found: tuple[float, float], other: tuple[float, float]) -> None:
    """Raise unless bounds differ by less than a third of the interval: SciPy's few resamples say no more."""
    if max(abs(one - another) for one, another in zip(found, other, strict=True)) > (other[1] - other[0]) / 3:
        raise WrongAnswerError(f"the interval is {found}, not {other}")


def first_pair(reports: Reports) -> list[Floats]:
    """Return the values of the second system and of the first, in the last metric."""
    baseline, system = list(reports.values())[:2]
    return [np.ascontiguousarray(report.per_user[report.metrics[-1]]) for report in (system, baseline)]


def measure_tests(
    pair: Compared, pairs: Compared, rounds: int = ROUNDS, *, with_ranx: bool = True
) -> dict[str, Sample]:
    """Time tests of one pair and of all pairs, and the peers' of one pair, in turns; after a look at the p-values."""
    one, many = pair.reports(), pairs.reports()
    values = first_pair(one)
    how: dict[str, Any] = {"test": "permutation", "permutations": FEW_FLIPS}
    p = differences(one, **how)[-1].p
    check_p(p, scipy_p(values, SCIPY_BATCH), FEW_FLIPS)
    isa = available_isas()[-1]

    def cpu(call: Callable[[], object]) -> Callable[[], float]:
        return partial(turn, call, measure=cpu_seconds)

    turns = {
        "one pair": cpu(partial(differences, one, **how)),
        "one pair, sums": cpu(partial(sums_alone, columns_of(one), FEW_FLIPS, isa=isa, threads=THREADS)),
        "all pairs": cpu(partial(differences, many, all_pairs=True, **how)),
        "all pairs, sums": cpu(partial(sums_alone, columns_of(many), FEW_FLIPS, isa=isa, threads=THREADS)),
        "SciPy": cpu(partial(scipy_p, values, None)),
        "SciPy, batch": cpu(partial(scipy_p, values, SCIPY_BATCH)),
    }
    if not with_ranx:
        return compete(turns, rounds)
    with ranx_tests(values, BUILT / "data") as ranx:
        check_p(p, ranx()[0], FEW_FLIPS)
        return compete({**turns, "ranx": lambda: ranx()[1]}, rounds)


def tests_table(samples: Mapping[str, Sample], pairs: Compared) -> Table:
    """Return a row for one pair, and one for all pairs, for which the peers' times are multiplied."""
    tests = pairs.systems * (pairs.systems - 1) // 2 * len(pairs.metrics)
    counts = {"SciPy": tests, "SciPy, batch": tests, "ranx": 2 * tests}
    rows: list[list[Cell]] = []
    for name, text in (("one pair", "one pair, one metric"), ("all pairs", f"all pairs and metrics: {tests} tests")):
        ours, sums = samples[name], samples[f"{name}, sums"]
        row: list[Cell] = [text, 1e3 * ours.median, [1e3 * ours.low, 1e3 * ours.high], 1e3 * sums.median]
        for peer, count in counts.items():
            factor = count if name == "all pairs" else 1
            sample = samples.get(peer)
            row.append(None if sample is None else times(1e3 * factor * sample.median, factor * sample.ratio_to(ours)))
        rows.append(row)
    peers = ["permutation_test", f"permutation_test, batch={SCIPY_BATCH}", "ranx fisher"]
    columns = [
        "tests",
        "exactk, CPU ms",
        "lowest-highest, ms",
        "sums alone, CPU ms",
        *(f"{one}, CPU ms" for one in peers),
    ]
    return Table(f"Permutation tests: {pairs.users:,} users, {FEW_FLIPS} flips", columns, rows)


@dataclass
class Clocked:
    """A call that is timed by two clocks: a turn has the processor's seconds, and keeps those of the wall."""

    call: Callable[[], object]
    walls: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        """Return the processor's time for a call."""
        begin = time.perf_counter()
        cpu = cpu_seconds(self.call)
        self.walls.append(time.perf_counter() - begin)
        return cpu

    @property
    def wall(self) -> Sample:
        """The seconds of the wall."""
        return Sample(tuple(self.walls))


@dataclass
class Kind:
    """How long a kind of resampling took: on all threads, and the whole call on one."""

    cpu: Sample
    wall: Sample
    one_thread: Sample  # of the wall


def measure_kinds(large: Compared, rounds: int = LARGE_ROUNDS) -> tuple[dict[str, Kind], dict[str, Sample]]:
    """Time each kind on one and on all threads, and the peers, in turns; return the kinds, and the peers' CPU seconds."""
    reports = large.reports()
    pair, columns = first_pair(reports), np.array(columns_of(reports), np.float32)
    row = next(one for one in differences(reports, interval="percentile") if one.metric == large.metrics[-1])
    check_interval((row.low, row.high), scipy_interval(pair, SCIPY_RESAMPLES))
    clocks = {
        (name, threads): Clocked(partial(differences, reports, num_threads=threads, **how))
        for name, how in KINDS.items()
        for threads in (1, THREADS)
    }
    turns: dict[str, Callable[[], float]] = {f"{name}, {threads}": clock for (name, threads), clock in clocks.items()}
    turns["NumPy"] = partial(cpu_seconds, partial(numpy_sums, columns, NUMPY_FLIPS))
    turns["SciPy"] = partial(cpu_seconds, partial(scipy_interval, pair, SCIPY_RESAMPLES))
    samples = compete(turns, rounds)
    kinds = {
        name: Kind(samples[f"{name}, {THREADS}"], clocks[name, THREADS].wall, clocks[name, 1].wall) for name in KINDS
    }
    return kinds, {name: samples[name] for name in ("NumPy", "SciPy")}


def kinds_table(large: Compared, kinds: Mapping[str, Kind], peers: Mapping[str, Sample]) -> Table:
    """Return a row for each kind; the peers' times are multiplied up to all flips, resamples, pairs and metrics."""
    factors = {
        "NumPy": FLIPS / NUMPY_FLIPS,
        "SciPy": FLIPS / SCIPY_RESAMPLES * (large.systems - 1) * len(large.metrics),
    }
    flips = kinds["sign flips"].cpu
    rows: list[list[Cell]] = []
    for name, kind in kinds.items():
        peer = {"sign flips": "NumPy", "percentile intervals": "SciPy"}.get(name)
        cells: list[Cell] = [None, None]
        if peer:
            cells[["NumPy", "SciPy"].index(peer)] = times(
                factors[peer] * peers[peer].median, factors[peer] * peers[peer].ratio_to(kind.cpu)
            )
        to_flips, speedup = kind.cpu.ratio_to(flips), kind.one_thread.ratio_to(kind.wall)
        rows.append([name, kind.cpu.median, [kind.cpu.low, kind.cpu.high], to_flips, kind.wall.median, speedup, *cells])
    columns = ["kind", "exactk, CPU s", "lowest-highest, s", "to sign flips", f"{THREADS} threads, s"]
    columns += ["one thread to these", "NumPy, bits and SGEMM, CPU s", "bootstrap, CPU s"]
    title = f"{large.systems - 1} pairs x {len(large.metrics)} metrics x {large.users:,} users, {FLIPS:,} draws"
    return Table(title, columns, rows)


def measure_sums(users: int = 20_000, count: int = 2_048, rounds: int = ROUNDS) -> dict[str, dict[str, Sample]]:
    """Return the seconds of the sums alone on one thread, by instruction set and kind."""
    columns = list(np.random.default_rng(SEED).random((100, users)))
    turns = {
        f"{isa}, {kind}": partial(
            cpu_seconds,
            partial(sums_alone, columns, count, isa=isa, threads=1, resamples=kind == "resamples"),
        )
        for isa in available_isas()
        for kind in ("flips", "resamples")
    }
    samples = compete(turns, rounds)
    return {isa: {kind: samples[f"{isa}, {kind}"] for kind in ("flips", "resamples")} for isa in available_isas()}


def sums_table(measured: dict[str, dict[str, Sample]], users: int = 20_000, count: int = 2_048) -> Table:
    """Return a row for each instruction set, the widest first."""
    per = 1e12 / (users * count * 100)
    rows: list[list[Cell]] = []
    for isa, kinds in reversed(measured.items()):
        flips, resamples = kinds["flips"], kinds["resamples"]
        rows.append([isa, per * flips.median, per * resamples.median, resamples.ratio_to(flips)])
    columns = ["instructions", "sign flips, ps", "resamples, ps", "resamples to sign flips"]
    return Table("Sums alone, one thread: picoseconds per user, draw and column", columns, rows)


def publish_resampling(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    tests = measure_tests(PAIR, PAIRS)
    kinds, peers = measure_kinds(LARGE)
    sums = measure_sums()
    largest = measure_added(LARGEST.reports(), BUILT / "data" / "reports.pickle")
    figures: list[list[Cell]] = [
        ["seconds, 2 threads", with_unit(largest["seconds"], "s")],
        ["of the processor", with_unit(largest["cpu_seconds"], "s")],
        ["memory added to that of the reports", with_unit(largest["bytes"] / 2**20, "MiB")],
    ]
    tables = [
        tests_table(tests, PAIRS),
        kinds_table(LARGE, kinds, peers),
        sums_table(sums),
        Table(f"Sign flips of {LARGEST.users:,} users, {FLIPS:,} flips", ["figure", "measured"], figures),
    ]
    notes = [f"ranx {version(RANX)}", f"SciPy {scipy.__version__}"]
    results.publish("resampling", machine(), run_description(load), notes, tables)
    print(Table("Resampling", ["figure", "measured", "target"], promises(tests, kinds, peers, largest)))


def promises(
    tests: Mapping[str, Sample], kinds: Mapping[str, Kind], peers: Mapping[str, Sample], largest: Mapping[str, float]
) -> list[list[str]]:
    """Return what was measured beside its target."""
    count = PAIRS.systems * (PAIRS.systems - 1) // 2 * len(PAIRS.metrics)
    flips, percentile, bca = (kinds[name] for name in ("sign flips", "percentile intervals", "BCa intervals"))
    draws = FLIPS / SCIPY_RESAMPLES * (LARGE.systems - 1) * len(LARGE.metrics)

    def ratio(name: str, factor: int, ours: str) -> str:
        return f"{factor * tests[name].ratio_to(tests[ours]):,.0f} x"

    return [
        ["permutation_test to one pair", ratio("SciPy", 1, "one pair"), "at least 300 x"],
        ["ranx fisher to one pair", ratio("ranx", 1, "one pair"), "at least 150 x"],
        [f"{count} x permutation_test to all pairs", ratio("SciPy", count, "all pairs"), "at least 20,000 x"],
        [f"{2 * count} x ranx fisher to all pairs", ratio("ranx", 2 * count, "all pairs"), "at least 20,000 x"],
        ["100,000 users, 9,999 flips", f"{flips.wall.median:.2f} s", "at most 2 s"],
        ["NumPy to flips", f"{FLIPS / NUMPY_FLIPS * peers['NumPy'].ratio_to(flips.cpu):.2f} x", "at least 1.3 x"],
        ["one thread to two, flips", f"{flips.one_thread.ratio_to(flips.wall):.2f} x", "at least 1.8 x"],
        ["percentile to flips", f"{percentile.cpu.ratio_to(flips.cpu):.2f} x", "at most 2.5 x"],
        ["BCa to percentile", f"{bca.cpu.ratio_to(percentile.cpu):.2f} x", "at most 1.1 x"],
        ["SciPy's percentile to ours", f"{draws * peers['SciPy'].ratio_to(percentile.cpu):,.0f} x", "at least 300 x"],
        ["a million users, 9,999 flips", f"{largest['seconds']:.1f} s", "at most 20 s"],
        ["memory added by that", f"{largest['bytes'] / 2**20:.0f} MiB", "at most 64 MiB"],
    ]


if __name__ == "__main__":
    publish_resampling(os.getloadavg()[0])
