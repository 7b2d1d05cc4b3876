"""`exactk.spark` beside the Spark evaluators of RePlay and recommenders. It needs Java."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results
from benchmarks.answers import compare
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
from benchmarks.timing import Sample
from benchmarks.versus.field import ROOT, interpreter, version
from benchmarks.versus.peers import Peer
from benchmarks.versus.spark_peers import BUCKETS

USERS, ITEMS = 150_000, 20_000
RELEVANT, LISTED = 6, 23  # per user, on average
PROMISED = 4  # times as fast as RePlay
SAME = 1e-9  # relative
SPARK = Peer("spark_library", (), "pyspark", ("pyspark==4.3.0", "replay-rec==0.22.0", "recommenders==1.2.1"), ())
PEERS = {"RePlay": "replay-rec", "recommenders": "recommenders"}


def draw_rows(generator: np.random.Generator, users: np.ndarray[Any, Any], mean: int) -> dict[str, Any]:
    """Return the rows of these users in any order: popular items are frequent, and no user has an item twice."""
    counts = generator.poisson(mean, len(users))
    items = (generator.random(counts.sum()) ** 2 * ITEMS).astype(np.int64)
    rows = generator.permutation(np.unique(np.repeat(users, counts) * ITEMS + items))
    return {"user_id": rows // ITEMS, "item_id": rows % ITEMS}


def write_rows(folder: Path) -> tuple[int, int]:
    """Write the truth and the lists, whose scores differ, as Parquet; return how many rows they have."""
    import pyarrow as pa  # noqa: PLC0415 - only for files
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    generator = np.random.default_rng(1)
    users = np.arange(USERS)
    truth = draw_rows(generator, users[generator.random(USERS) > 0.03], RELEVANT)
    lists = draw_rows(generator, users[generator.random(USERS) > 0.02], LISTED)
    lists["score"] = generator.permutation(len(lists["user_id"])).astype(float)
    pq.write_table(pa.table(truth), folder / "truth.parquet")
    pq.write_table(pa.table(lists), folder / "lists.parquet")
    return len(truth["user_id"]), len(lists["user_id"])


def measure_spark() -> tuple[list[str], Table, bool]:
    """Return who takes part, the times, and whether RePlay takes as many times as promised."""
    with tempfile.TemporaryDirectory() as folder:
        rows = write_rows(Path(folder))
        answers = run_in_session(Path(folder))
    samples = {name: Sample(tuple(rounds)) for name, rounds in answers["seconds"].items()}
    table_rows, is_kept = list[list[Cell]](), True
    for peer in PEERS:
        ours, in_memory = f"exactk for {peer}", f"exactk for {peer}, in memory"
        values = answers["values"]
        compare(peer, values[ours], values[peer], SAME)
        compare(peer, values[ours], values[in_memory], 0)
        times = samples[peer].ratio_to(samples[ours])
        is_kept = is_kept and (peer != "RePlay" or times >= PROMISED)
        seconds = [samples[name].median for name in (peer, ours)]
        table_rows.append([peer, str(len(values[peer])), *seconds, times, samples[in_memory].median])
    title = f"{USERS:,} users, {rows[0]:,} rows of truth, {rows[1]:,} of predictions, local[2], {BUCKETS} buckets"
    columns = ["library", "values", "library, s", "exactk.spark, s", "times", "exactk, tables in memory, s"]
    notes = [f"{name} {version(replace(SPARK, distribution=distribution))}" for name, distribution in PEERS.items()]
    return [*notes, f"pyspark {version(SPARK)}"], Table(title, columns, table_rows), is_kept


def run_in_session(folder: Path) -> dict[str, Any]:
    """Return the values and the seconds of each call, in one Spark session whose Python also finds exactk."""
    python = interpreter(SPARK)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [str(python), "-m", "benchmarks.versus.spark_peers", str(folder)]
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    ours = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "exactk.pth").write_text(ours, encoding="utf-8")
    finished = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=environment
    )
    answers: dict[str, Any] = json.loads(finished.stdout)
    return answers


if __name__ == "__main__":
    load = os.getloadavg()[0]
    notes, table, is_kept = measure_spark()
    results.publish("spark", machine(), run_description(load), notes, [table])
    print(f"at least {PROMISED} times as fast as RePlay: {'yes' if is_kept else 'NO'}", file=sys.stderr)
