"""What is said of embeddings: how near the speed of multiplying, how far from the peers, what memory they need.

``python -m benchmarks.factor_tables`` measures these alone, and writes them into the README.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

import rich.console

from benchmarks import memory, tables
from benchmarks.factors import Embedded
from benchmarks.lines import Line, milliseconds, peer_notes
from benchmarks.machine import description
from benchmarks.scaling import series_table, time_workloads
from benchmarks.tables import Table
from benchmarks.versus.field import BUILT, Field
from benchmarks.versus.peers import FACTOR_PEERS
from benchmarks.workloads import EMBEDDED, FACTORS_10M, FACTORS_100K, HALVES

CALLS = [call for peer in FACTOR_PEERS for call in peer.calls]
FAISS, IMPLICIT = "FAISS, search alone", "implicit"
TO_PRODUCTS = 1.2  # of factors_100k
TO_FAISS = 0.9  # of all that it takes part in
TO_IMPLICIT = 3
ROUNDS = 5  # a call of some peers takes seconds
WIDTH = 200  # characters of a terminal that does not break the lines


def publish_factors(console: rich.console.Console, note: str) -> None:
    """Measure, print, and write into the README; the note says where."""
    lines, figures = measure_factors(console)
    shown_tables = [
        factors_table(lines),
        Table("Embeddings, what is promised", ["figure", "measured", "promised"], [*factor_promises(lines), *figures]),
        series_table("users and items", FACTORS_100K.name, time_workloads(HALVES)),
    ]
    for table in shown_tables:
        table.show(console)
    notes = [note, *peer_notes(FACTOR_PEERS, lines)]
    console.print(*notes, sep="\n")
    sections = [table.markdown() for table in shown_tables]
    tables.write("\n\n".join(["\n".join(f"- {note}" for note in notes), *sections]), of=" of embeddings")


def measure_factors(console: rich.console.Console) -> tuple[list[Line], list[list[str]]]:
    """Measure the workloads, of which one is in memory at a time, and the memory that evaluations add."""
    lines, figures = [], []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in EMBEDDED.values():
            console.print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build(), ROUNDS)))
            if workload in (FACTORS_100K, FACTORS_10M):
                figures.append(memory_figure(workload))
            shutil.rmtree(BUILT / "data")
    return lines, figures


def memory_figure(workload: Embedded) -> list[str]:
    """Return what an evaluation adds to the memory of a process that holds the factors."""
    added_megabytes = memory.measure_added(workload, BUILT / "data" / workload.name)["evaluation"] / 1e6
    each = f"{added_megabytes / workload.threads:.0f} MB a thread, beside {workload.bytes / 1e6:.0f} MB of factors"
    return [f"memory that {workload.name} adds, evaluating", f"{added_megabytes:.0f} MB: {each}", ""]


def factors_table(lines: list[Line]) -> Table:
    """Return the table of workloads: ours, the products alone, the peers."""
    columns = ["workload", "exactk", "lowest-highest", "GFLOP", "products", "GFLOP/s", "to products", *CALLS]
    rows = [
        [
            line.workload.name,
            milliseconds(line.ours.median),
            line.span(),
            f"{operations(line) / 1e9:.0f}",
            milliseconds(line.products.median),
            f"{operations(line) / line.products.median / 1e9:.0f}",
            f"{line.ours.ratio_to(line.products):.2f} x",
            *(line.peer(call) for call in CALLS),
        ]
        for line in lines
    ]
    return Table("Embeddings, in milliseconds, and how many times exactk's they are", columns, rows)


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
    publish_factors(rich.console.Console(width=WIDTH), description(os.getloadavg()[0]))
