"""Files that are larger than the memory they may take: how near to reading is the evaluation, and what memory it needs.

One file is sorted by user; the other has the same rows in random order. ``python -m benchmarks.streams`` makes the files
and measures; ``python -m benchmarks.streams CALL FOLDER`` is one turn, in a fresh process, whose peak is of that call
alone. Files are in the page cache.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import exactk
from benchmarks.answers import ULPS, compare, evaluate
from benchmarks.lists import BLOCK, Lists
from benchmarks.memory import forget_peak, status
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, compete, seconds
from benchmarks.workloads import FRAME_2M

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "bench" / "data"
PARQUET_50M = replace(
    FRAME_2M,
    name="parquet_50m",
    purpose="fifty million rows of a Parquet file, sorted by user, with the truth in memory",
    users=500_000,
    relevant=10,
    cutoffs=(20,),
    metrics=("precision", "recall", "ndcg", "average_precision"),
)
ROUNDS = 5
PREDICTIONS, TRUTH, EXPECTED = "predictions.parquet", "truth.npz", "expected.json"
PART = 1 << 20  # rows that are written together


class Bounds(NamedTuple):
    """What the evaluation of a file may need."""

    to_reading: float  # time, as a multiple of that of reading the columns
    peak: float  # memory in bytes


SORTED, UNSORTED = PARQUET_50M.name, f"{PARQUET_50M.name}_unsorted"
BOUNDS = {SORTED: Bounds(1.5, 1e9), UNSORTED: Bounds(3, 1.5e9)}


class Measured(NamedTuple):
    """The times of reading a file and of its evaluation, in turns, and the highest memory of each."""

    samples: dict[str, Sample]
    peaks: dict[str, float]


def build(workload: Lists, folder: Path) -> None:
    """Draw the lists block by block, and write what is read, and what is expected."""
    folder.mkdir(parents=True, exist_ok=True)
    data = workload.build()
    expected = dict(evaluate(workload, data))
    (folder / EXPECTED).write_text(json.dumps(dict(expected)), encoding="utf-8")
    users = np.arange(workload.users)
    np.savez(folder / TRUTH, users=np.repeat(users, workload.relevant), items=data.items.astype(np.int64))
    generator = np.random.default_rng(0)
    schema = pa.schema({"user_id": pa.int64(), "item_id": pa.int64(), "score": pa.float32()})
    with pq.ParquetWriter(folder / PREDICTIONS, schema) as writer:
        for begin in range(0, workload.users, BLOCK):
            lists = data.predictions[begin : begin + BLOCK].astype(np.int64)
            scores = np.arange(workload.length, 0, -1, dtype=np.float32) - generator.random(lists.shape, np.float32) / 2
            order = generator.permuted(np.tile(np.arange(workload.length), (len(lists), 1)), axis=1)
            columns = [
                np.repeat(users[begin : begin + BLOCK], workload.length),
                np.take_along_axis(lists, order, axis=1).reshape(-1),
                np.take_along_axis(scores, order, axis=1).reshape(-1),
            ]
            writer.write_table(pa.table(columns, schema=schema))


def build_unsorted(ordered: Path, folder: Path) -> None:
    """Write the rows of a file in random order, with the same truth and the same expected values."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (TRUTH, EXPECTED):
        shutil.copy(ordered / name, folder)
    rows = pq.read_table(ordered / PREDICTIONS).combine_chunks()
    order = np.random.default_rng(0).permutation(len(rows))
    with pq.ParquetWriter(folder / PREDICTIONS, rows.schema) as writer:
        for begin in range(0, len(rows), PART):
            writer.write_table(rows.take(order[begin : begin + PART]))


def build_files() -> None:
    """Make the files, each in a folder of its name."""
    build(PARQUET_50M, FOLDER / SORTED)
    build_unsorted(FOLDER / SORTED, FOLDER / UNSORTED)


def read_file(folder: Path) -> Callable[[], object]:
    """Read the columns, and make nothing of them."""
    file = folder / PREDICTIONS
    return lambda: sum(batch.num_rows for batch in pq.ParquetFile(file).iter_batches())


def evaluate_file(folder: Path) -> Callable[[], object]:
    """Evaluate the file; the truth is in memory as columns."""
    with np.load(folder / TRUTH) as arrays:
        truth = pa.table({"user_id": arrays["users"], "item_id": arrays["items"]})
    file = folder / PREDICTIONS
    return lambda: check_report(exactk.evaluate(truth, exactk.read(file, "predictions"), PARQUET_50M.values), folder)


def check_report(report: Any, folder: Path) -> None:  # noqa: ANN401 - a report, or else there is none
    """Raise unless the values are those of the lists in memory."""
    compare(PARQUET_50M.name, report, json.loads((folder / EXPECTED).read_text(encoding="utf-8")), ULPS)


CALLS: dict[str, Callable[[Path], Callable[[], object]]] = {"reading": read_file, "exactk": evaluate_file}


def measure_call(call: str, folder: Path) -> dict[str, float]:
    """Make the call; return its seconds, and the highest memory of the process meanwhile."""
    function = CALLS[call](folder)
    forget_peak()
    return {"seconds": seconds(function), "peak": status("VmHWM")}


def measure_fresh(call: str, folder: Path, peaks: dict[str, list[float]]) -> float:
    """Measure in a process of its own; return the seconds, and note the peak."""
    command = [sys.executable, "-m", "benchmarks.streams", call, str(folder)]
    figures = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT, text=True).stdout)
    peaks.setdefault(call, []).append(figures["peak"])
    return float(figures["seconds"])


def measure_calls(folder: Path, rounds: int = ROUNDS) -> Measured:
    """Measure reading and evaluation of a file."""
    peaks: dict[str, list[float]] = {}
    samples = compete({call: partial(measure_fresh, call, folder, peaks) for call in CALLS}, rounds)
    return Measured(samples, {call: max(figures) for call, figures in peaks.items()})


def measure_files() -> dict[str, Measured]:
    """Measure each file."""
    return {name: measure_calls(FOLDER / name) for name in BOUNDS}


def stream_table(files: dict[str, Measured]) -> Table:
    """Return the table."""
    rows: list[list[Cell]] = [
        [
            f"{name}, {call}",
            sample.median,
            [sample.low, sample.high],
            sample.ratio_to(samples["reading"]),
            peaks[call] / 1e6,
        ]
        for name, (samples, peaks) in files.items()
        for call, sample in samples.items()
    ]
    columns = ["file and call", "time, s", "lowest-highest, s", "times reading", "peak, MB"]
    return Table("Files of 50 million rows", columns, rows)


def stream_promises(files: dict[str, Measured]) -> list[list[str]]:
    """Return what was promised beside what was measured."""
    promises = []
    for name, (samples, peaks) in files.items():
        to_reading, bounds = samples["exactk"].ratio_to(samples["reading"]), BOUNDS[name]
        peak, bound = (f"{figure / 1e6:.0f} MB" for figure in (peaks["exactk"], bounds.peak))
        promises.append([f"{name}, exactk to reading", f"{to_reading:.2f} x", f"at most {bounds.to_reading} x"])
        promises.append([f"{name}, peak memory", peak, f"below {bound}"])
    return promises


def main() -> None:
    """Measure, or take one turn."""
    if len(sys.argv) > 1:
        print(json.dumps(measure_call(sys.argv[1], Path(sys.argv[2]))))
        return
    build_files()
    files = measure_files()
    print(stream_table(files))
    print(Table("Files", ["figure", "measured", "target"], stream_promises(files)))


if __name__ == "__main__":
    main()
