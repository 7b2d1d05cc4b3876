"""What is said of embeddings: how near the speed of multiplying, how far from the peers, what memory they need.

``python -m benchmarks.factor_tables`` measures these alone, and writes them into the results.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

from benchmarks import memory, results
from benchmarks.factors import Embedded
from benchmarks.lines import OUR_COLUMNS, Line, peer_notes
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table, with_unit
from benchmarks.scaling import series_table, time_workloads
from benchmarks.versus.field import BUILT, Field
from benchmarks.versus.peers import FACTOR_PEERS
from benchmarks.workloads import EMBEDDED, FACTORS_10M, FACTORS_100K, HALVES

CALLS = [call for peer in FACTOR_PEERS for call in peer.calls]
FAISS, IMPLICIT = "FAISS, search alone", "implicit"
TO_PRODUCTS = 1.2  # of factors_100k
TO_FAISS = 0.9  # of all that it takes part in
TO_IMPLICIT = 3
ROUNDS = 5  # a call of some peers takes seconds


def publish_factors(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    lines, figures = measure_factors()
    tables = [
        factors_table(lines),
        Table("Memory", ["figure", "measured"], figures),
        series_table("users and items", FACTORS_100K.name, time_workloads(HALVES)),
    ]
    results.publish("embeddings", machine(), run_description(load), peer_notes(FACTOR_PEERS, lines), tables)
    print(Table("Embeddings", ["figure", "measured", "target"], factor_promises(lines)))


def measure_factors() -> tuple[list[Line], list[list[Cell]]]:
    """Measure the workloads, of which one is in memory at a time, and the memory that evaluations add."""
    lines, figures = [], []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in EMBEDDED.values():
            print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build(), ROUNDS)))
            if workload in (FACTORS_100K, FACTORS_10M):
                figures += memory_figures(workload)
            shutil.rmtree(BUILT / "data")
    return lines, figures


def memory_figures(workload: Embedded) -> list[list[Cell]]:
    """Return what an evaluation adds to the memory of a process that holds the factors."""
    added_megabytes = memory.measure_added(workload, BUILT / "data" / workload.name)["evaluation"] / 1e6
    return [
        [f"memory added by evaluating {workload.name}", with_unit(added_megabytes, "MB")],
        ["the same, per thread", with_unit(added_megabytes / workload.threads, "MB")],
        ["size of its factors", with_unit(workload.bytes / 1e6, "MB")],
    ]


def factors_table(lines: list[Line]) -> Table:
    """Return the table of workloads: ours, the products alone, the peers."""
    columns = [*OUR_COLUMNS, "GFLOP", "products, ms", "GFLOP/s", "times products", *CALLS]
    rows: list[list[Cell]] = [
        [
            *line.our_cells(),
            operations(line) / 1e9,
            1e3 * line.products.median,
            operations(line) / line.products.median / 1e9,
            line.ours.ratio_to(line.products),
            *(line.peer(call) for call in CALLS),
        ]
        for line in lines
    ]
    return Table("Embeddings", columns, rows)


def operations(line: Line) -> int:
    """Return the multiplications and additions that a line is about."""
    assert isinstance(line.workload, Embedded)
    return line.workload.operations


def factor_promises(lines: list[Line]) -> list[list[str]]:
    """Return what was promised of embeddings beside what was measured."""
    first = next(line for line in lines if line.workload is FACTORS_100K)
    return [
        [
            f"{FACTORS_100K.name}, exactk to products",
            f"{first.ours.ratio_to(first.products):.2f} x",
            f"at most {TO_PRODUCTS} x",
        ],
        [f"{FACTORS_100K.name}, {IMPLICIT} to exactk", f"{first.ratio(IMPLICIT):.3g} x", f"at least {TO_IMPLICIT} x"],
        *(
            [f"{line.workload.name}, exactk to {FAISS}", f"{1 / line.ratio(FAISS):.2f} x", f"at most {TO_FAISS} x"]
            for line in lines
            if FAISS in line.results
        ),
    ]


if __name__ == "__main__":
    publish_factors(os.getloadavg()[0])
