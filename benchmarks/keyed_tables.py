"""What is said of containers: how far from the peers that read the same, and how near to reading a file.

``python -m benchmarks.keyed_tables`` measures these alone, and writes them into the README.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

import rich.console

from benchmarks import streams, tables
from benchmarks.lines import Line, milliseconds, peer_notes
from benchmarks.machine import description
from benchmarks.streams import PARQUET_50M, PEAK, TO_READING
from benchmarks.tables import Table
from benchmarks.versus.field import BUILT, Field
from benchmarks.versus.peers import KEYED_PEERS, OURS, OURS_KEYED
from benchmarks.workloads import FRAME_2M, KEYED

CALLS = [call for peer in (*OURS_KEYED, *KEYED_PEERS) for call in peer.calls if call != OURS.calls[0]]
POLARS = "Polars, hits alone"
PROMISED = (
    ("frame_2m", "RePlay", 20),
    ("frame_2m", "recommenders", 60),
    ("frame_2m", POLARS, 1.5),
    ("dict_20k", "pytrec_eval", 4),
    ("dict_20k", "ranx", 20),
)
STRINGS_TO_INTEGERS = 3
ROUNDS = 5  # a call of some peers takes seconds
WIDTH = 250  # characters of a terminal that does not break the lines


def publish_keyed(console: rich.console.Console, note: str) -> None:
    """Measure, print, and write into the README; the note says where."""
    lines = measure_keyed(console)
    streams.build(PARQUET_50M, streams.FOLDER)
    samples, peaks = streams.measure_calls(streams.FOLDER)
    shutil.rmtree(BUILT / "data")
    to_reading = samples["exactk"].ratio_to(samples["reading"])
    figures = [
        *keyed_promises(lines),
        [f"{PARQUET_50M.name}, exactk to reading", f"{to_reading:.2f} x", f"at most {TO_READING} x"],
        [f"{PARQUET_50M.name}, peak memory", f"{peaks['exactk'] / 1e6:.0f} MB", f"below {PEAK / 1e6:.0f} MB"],
    ]
    shown_tables = [
        keyed_table(lines),
        streams.stream_table(samples, peaks),
        Table("Containers, what is promised", ["figure", "measured", "promised"], figures),
    ]
    for table in shown_tables:
        table.show(console)
    notes = [note, *peer_notes(KEYED_PEERS, lines)]
    console.print(*notes, sep="\n")
    sections = [table.markdown() for table in shown_tables]
    tables.write("\n\n".join(["\n".join(f"- {note}" for note in notes), *sections]), of=" of containers")


def measure_keyed(console: rich.console.Console) -> list[Line]:
    """Measure the workloads."""
    lines = []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in KEYED.values():
            console.print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build(), ROUNDS)))
    return lines


def keyed_table(lines: list[Line]) -> Table:
    """Return the table of workloads: ours, the peers."""
    rows = [
        [
            line.workload.name,
            milliseconds(line.ours.median),
            line.span(),
            f"{1e9 * line.ours.median / line.workload.ids:.0f}",
            *(line.peer(call) for call in CALLS),
        ]
        for line in lines
    ]
    columns = ["workload", "exactk", "lowest-highest", "ns an id", *CALLS]
    return Table("Containers, in milliseconds, and how many times exactk's they are", columns, rows)


def keyed_promises(lines: list[Line]) -> list[list[str]]:
    """Return what was promised beside what was measured."""
    by_name = {line.workload.name: line for line in lines}
    strings_to_integers = by_name["frame_2m_names"].ours.median / by_name[FRAME_2M.name].ours.median
    return [
        *(
            [f"{name}, {call} to exactk", f"{by_name[name].ratio(call):.3g} x", f"at least {least} x"]
            for name, call, least in PROMISED
        ),
        ["frame_2m_names to frame_2m", f"{strings_to_integers:.2f} x", f"at most {STRINGS_TO_INTEGERS} x"],
    ]


if __name__ == "__main__":
    publish_keyed(rich.console.Console(width=WIDTH), description(os.getloadavg()[0]))
