"""What is said of containers: how far from the peers that read the same, and how near to reading large files.

``python -m benchmarks.keyed_tables`` measures these alone, and writes them into the results.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

from benchmarks import results, streams
from benchmarks.lines import OUR_COLUMNS, Line, peer_notes
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
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


def publish_keyed(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    lines = measure_keyed()
    streams.build_files()
    files = streams.measure_files()
    shutil.rmtree(BUILT / "data")
    tables = [keyed_table(lines), streams.stream_table(files)]
    results.publish("containers", machine(), run_description(load), peer_notes(KEYED_PEERS, lines), tables)
    targets = [*keyed_promises(lines), *streams.stream_promises(files)]
    print(Table("Containers", ["figure", "measured", "target"], targets))


def measure_keyed() -> list[Line]:
    """Measure the workloads."""
    lines = []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in KEYED.values():
            print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build(), ROUNDS)))
    return lines


def keyed_table(lines: list[Line]) -> Table:
    """Return the table of workloads: ours, the peers."""
    rows: list[list[Cell]] = [
        [
            *line.our_cells(),
            1e9 * line.ours.median / line.workload.ids,
            *(line.peer(call) for call in CALLS),
        ]
        for line in lines
    ]
    return Table("Containers", [*OUR_COLUMNS, "ns per id", *CALLS], rows)


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
    publish_keyed(os.getloadavg()[0])
