"""Metrics of lists and of the catalogue, beside libraries that have some of them, from the same data frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import exactk
from benchmarks import results
from benchmarks.answers import compare
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
from benchmarks.timing import compete, turn
from benchmarks.versus.catalogue_peers import K, Values, frames
from benchmarks.versus.field import POOLS, ROOT, interpreter, version
from benchmarks.versus.peers import Peer

if TYPE_CHECKING:
    from collections.abc import Callable

Call: TypeAlias = "Callable[[], exactk.Report]"

USERS, ITEMS, LENGTH, RELEVANT, TRAINED = 20_000, 10_000, 20, 10, 30
ROUNDS, THREADS = 7, 2
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
        Peer("evidently_library", (), "evidently", ("evidently==0.7.23", "pandas<3"), ()),
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


class Library:
    """A library in its environment: its answers, and turns that it takes when it is asked."""

    def __init__(self, contestant: Contestant, path: Path) -> None:
        command = [
            str(interpreter(contestant.peer)),
            "-m",
            "benchmarks.versus.catalogue_peers",
            contestant.module,
            str(path),
        ]
        environment = os.environ | dict.fromkeys(POOLS, str(THREADS))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=environment
        )
        self.values: Values = json.loads(self._read())

    def turn(self) -> float:
        """Return the seconds that a call takes."""
        assert self._process.stdin
        print(file=self._process.stdin, flush=True)
        return float(self._read())

    def stop(self) -> None:
        """End the process, as the end of its input does."""
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()


def our_calls(contestant: Contestant, arrays: dict[str, Any], metrics: list[str]) -> tuple[Call, Call]:
    """Return calls of ours for the same values from frames of the same library: train read once, and in each call."""
    import pandas as pd  # noqa: PLC0415 - only for frames
    import polars as pl  # noqa: PLC0415

    make: Any = pl.DataFrame if contestant.frame == "polars" else pd.DataFrame
    lists, truth, train = frames(arrays, ("user", "item", "rank"), make)
    strings = [f"{m}@{K}({contestant.fields[m]})" if m in contestant.fields else f"{m}@{K}" for m in metrics]

    def call(items: Any) -> exactk.Report:  # noqa: ANN401 - Items, or a frame
        return exactk.evaluate(
            truth, lists, strings, items=items, convention=contestant.convention, num_threads=THREADS
        )

    return partial(call, exactk.Items(train=train)), partial(call, train)


def measure_contestant(contestant: Contestant, arrays: dict[str, Any], path: Path) -> tuple[list[Cell], bool]:
    """Return the row of a library: its time beside ours, in turns; and whether it takes as many times as promised."""
    library = Library(contestant, path)
    try:
        once, each = our_calls(contestant, arrays, list(library.values))
        compare(contestant.name, dict(zip(library.values, once().values(), strict=True)), library.values, SAME)
        turns: dict[str, Callable[[], float]] = {
            "library": library.turn,
            "once": partial(turn, once),
            "each": partial(turn, each),
        }
        samples = compete(turns, ROUNDS)
    finally:
        library.stop()
    theirs, ours, ours_with_train = (samples[name] for name in turns)
    times = theirs.ratio_to(ours)
    cells: list[Cell] = [contestant.name, ", ".join(library.values), contestant.frame]
    cells += [1e3 * theirs.median, 1e3 * ours.median, times]
    cells += [1e3 * ours_with_train.median, theirs.ratio_to(ours_with_train)]
    return cells, times >= PROMISED


def measure_contestants() -> tuple[list[str], Table, bool]:
    """Return what the libraries are, their times beside ours, and whether each takes as many times as promised."""
    arrays, rows, notes, is_kept = draw_arrays(), list[list[Cell]](), [], True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, allow_pickle=False, **arrays)
        for contestant in CONTESTANTS:
            row, is_fast = measure_contestant(contestant, arrays, path)
            rows.append(row)
            is_kept = is_kept and is_fast
            notes.append(f"{contestant.name} {version(contestant.peer)}")
    columns = ["library", f"values at {K}", "frames", "library, ms", "exactk, ms", "times"]
    columns += ["with train, ms", "times"]
    title = f"{USERS:,} users, lists of {LENGTH}, {ITEMS:,} items, {USERS * TRAINED:,} rows of train"
    return notes, Table(title, columns, rows), is_kept


def publish_catalogue_metrics(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    notes, table, is_kept = measure_contestants()
    notes.append("exactk: with exactk.Items(train=...) built once; with train: given as a frame in each call")
    results.publish("catalogue", machine(), run_description(load), notes, [table])
    print(f"at least {PROMISED} times as fast as each: {'yes' if is_kept else 'NO'}", file=sys.stderr)


if __name__ == "__main__":
    publish_catalogue_metrics(os.getloadavg()[0])
