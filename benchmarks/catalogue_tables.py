"""Metrics of lists and of the catalogue, beside libraries that have some of them, from the same data frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import exactk
from benchmarks import results
from benchmarks.answers import compare
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample, turn
from benchmarks.versus.catalogue_peers import K, Values, frames
from benchmarks.versus.field import POOLS, ROOT, interpreter, version
from benchmarks.versus.peers import Peer

USERS, ITEMS, LENGTH, RELEVANT, TRAINED = 20_000, 10_000, 20, 10, 30
ROUNDS, THREADS = 3, 2
PROMISED = 20  # times as fast as each
SAME = 1e-9  # relative


@dataclass(frozen=True)
class Contestant:
    """A library: the name of its function in `catalogue_peers`, and the fields under which ours are its answers."""

    name: str
    module: str
    peer: Peer
    convention: str
    frame: str
    fields: dict[str, str] = field(default_factory=dict)


CONTESTANTS = (
    Contestant(
        "RecTools",
        "rectools",
        Peer("rectools_library", (), "rectools", ("rectools>=0.19",), ()),
        "rectools",
        "pandas",
        {"ndcg": "ideal_over=min_cutoff_relevant"},
    ),
    Contestant(
        "RePlay",
        "replay",
        Peer("replay_library", (), "replay-rec", ("replay-rec==0.22.0", "polars>=1.44", "pyarrow>=15"), ()),
        "replay",
        "polars",
    ),
    Contestant(
        "recommenders",
        "recommenders",
        Peer("recommenders_library", (), "recommenders", ("recommenders==1.2.1",), ()),
        "recommenders",
        "pandas",
    ),
    Contestant(
        "Evidently",
        "evidently",
        Peer("evidently_library", (), "evidently", ("evidently==0.7.23",), ()),
        "evidently",
        "pandas",
    ),
)


def draw_arrays(users: int = USERS) -> dict[str, np.ndarray[Any, Any]]:
    """Draw lists, truth and train: some items are frequent, and no list has an item that its user has in train."""
    generator = np.random.default_rng(7)
    rarity = np.arange(1, ITEMS + 1, dtype=np.float32) ** 0.8

    def draw(count: int) -> np.ndarray[Any, Any]:
        blocks = (generator.exponential(size=(min(_BLOCK, users - begin), ITEMS)) for begin in range(0, users, _BLOCK))
        return np.concatenate([np.argpartition(block * rarity, count, axis=1)[:, :count] for block in blocks])

    shown_and_had = generator.permuted(draw(LENGTH + TRAINED), axis=1)
    return {"lists": shown_and_had[:, :LENGTH], "truth": draw(RELEVANT), "train": shown_and_had[:, LENGTH:]}


_BLOCK = 500  # users whose keys are in memory at a time


def answers_and_seconds(contestant: Contestant, path: Path) -> tuple[Values, Sample]:
    """Run a library in its environment."""
    command = [
        str(interpreter(contestant.peer)),
        "-m",
        "benchmarks.versus.catalogue_peers",
        contestant.module,
        str(path),
        str(ROUNDS),
    ]
    environment = os.environ | dict.fromkeys(POOLS, str(THREADS))
    finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    answer = json.loads(finished.stdout.splitlines()[-1])
    return answer["values"], Sample(tuple(answer["seconds"]))


def our_answers_and_seconds(
    contestant: Contestant, arrays: dict[str, Any], metrics: list[str]
) -> tuple[Values, Sample]:
    """Evaluate the same metrics, from frames of the same library."""
    import pandas as pd  # noqa: PLC0415 - only for frames
    import polars as pl  # noqa: PLC0415

    make: Any = pl.DataFrame if contestant.frame == "polars" else pd.DataFrame
    lists, truth, train = frames(arrays, ("user", "item", "rank"), make)
    strings = [f"{m}@{K}({contestant.fields[m]})" if m in contestant.fields else f"{m}@{K}" for m in metrics]

    def call() -> exactk.Report:
        return exactk.evaluate(
            truth, lists, strings, items=train, convention=contestant.convention, num_threads=THREADS
        )

    values = dict(zip(metrics, call().values(), strict=True))
    return values, Sample(tuple(turn(call) for _ in range(ROUNDS)))


def measure_contestants() -> tuple[list[str], Table, bool]:
    """Return what the libraries are, their times beside ours, and whether each takes as many times as promised."""
    arrays, rows, notes, is_kept = draw_arrays(), list[list[Cell]](), [], True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, allow_pickle=False, **arrays)
        for contestant in CONTESTANTS:
            values, theirs = answers_and_seconds(contestant, path)
            our_values, ours = our_answers_and_seconds(contestant, arrays, list(values))
            compare(contestant.name, our_values, values, SAME)
            ratio = theirs.median / ours.median
            is_kept = is_kept and ratio >= PROMISED
            rows.append(
                [contestant.name, ", ".join(values), contestant.frame, 1e3 * theirs.median, 1e3 * ours.median, ratio]
            )
            notes.append(f"{contestant.name} {version(contestant.peer)}")
    columns = ["library", f"values at {K}", "frames", "library, ms", "exactk, ms", "times"]
    title = f"{USERS:,} users, lists of {LENGTH}, {ITEMS:,} items, {USERS * TRAINED:,} rows of train"
    return notes, Table(title, columns, rows), is_kept


def publish_catalogue_metrics(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    notes, table, is_kept = measure_contestants()
    results.publish("catalogue", machine(), run_description(load), notes, [table])
    print(f"at least {PROMISED} times as fast as each: {'yes' if is_kept else 'NO'}", file=sys.stderr)


if __name__ == "__main__":
    publish_catalogue_metrics(os.getloadavg()[0])
