"""``make bench``: measure everything, print it, and write it into the README."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack

from rich.console import Console

from benchmarks import factor_tables, keyed_tables, loops, memory, tables
from benchmarks.bandwidth import bandwidth, buffer
from benchmarks.floors import time_from_memory
from benchmarks.imports import import_times
from benchmarks.lines import Line, milliseconds, peer_notes
from benchmarks.machine import description
from benchmarks.scaling import kinds_of_scores, series, series_table, thread_counts
from benchmarks.score_tables import kinds_table, score_promises, scores_table
from benchmarks.stages import TRUTH, VALIDATION, WHOLE, repeats_share, stages
from benchmarks.tables import Table
from benchmarks.versus.field import BUILT, Field
from benchmarks.versus.peers import LIST_PEERS, SCORE_PEERS
from benchmarks.workload import Data
from benchmarks.workloads import LISTS, LISTS_100, MILLION, SCORES

WIDTH = 250  # characters: the table is wide, and a terminal that is not breaks its lines
LIST_CALLS = [call for peer in LIST_PEERS for call in peer.calls]


def main() -> None:
    """Measure, print, write."""
    began, load = time.perf_counter(), os.getloadavg()[0]
    console = Console(width=WIDTH)
    words = buffer()
    speeds = {count: bandwidth(words, count) for count in thread_counts()}
    del words
    list_lines, figures = measure_lists(console)
    score_lines = measure_scores(console)
    kinds = kinds_of_scores()
    figures = [*bandwidths(speeds), *figures, *import_figures(), *score_promises(score_lines, kinds)]
    shown_tables = [
        workload_table(list_lines, speeds),
        scores_table(score_lines),
        kinds_table(kinds),
        Table("Parts, and what else is promised", ["figure", "measured", "promised"], figures),
        *(series_table(what, LISTS_100.name, measurements) for what, measurements in series().items()),
    ]
    for table in shown_tables:
        table.show(console)
    notes = [description(load), *peer_notes((*LIST_PEERS, *SCORE_PEERS), [*list_lines, *score_lines])]
    loops.publish_loops(console, notes[0])
    factor_tables.publish_factors(console, notes[0])
    keyed_tables.publish_keyed(console, notes[0])
    console.print(*notes, f"{time.perf_counter() - began:.0f} s", sep="\n")
    sections = [table.markdown() for table in shown_tables]
    tables.write("\n\n".join(["\n".join(f"- {note}" for note in notes), *sections]))


def measure_lists(console: Console) -> tuple[list[Line], list[list[str]]]:
    """Measure the workloads of lists, and what is measured beside them."""
    lines, figures = [], []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in LISTS.values():
            console.print(f"{workload.name}: {workload.purpose}")
            data = workload.build()
            lines.append(Line(workload, field.play(workload, data), time_from_memory(workload, data)))
            if workload is LISTS_100:
                figures += stage_figures(data)
            if workload is MILLION:
                figures += memory_figures()
    shutil.rmtree(BUILT / "data")
    return lines, figures


def measure_scores(console: Console) -> list[Line]:
    """Measure the workloads of scores, of which one is in memory at a time."""
    lines = []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in SCORES.values():
            console.print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build())))
            shutil.rmtree(BUILT / "data")
    return lines


def workload_table(lines: list[Line], speeds: dict[int, float]) -> Table:
    """Return the table of workloads: ours, the floor, the peers."""
    columns = ["workload", "exactk", "lowest-highest", "ns an id", "from memory", "MB", "floor", "above floor"]
    rows = [exactk_cells(line, speeds) + [line.peer(call) for call in LIST_CALLS] for line in lines]
    return Table("Lists, in milliseconds, and how many times exactk's they are", [*columns, *LIST_CALLS], rows)


def exactk_cells(line: Line, speeds: dict[int, float]) -> list[str]:
    """Return our cells of a line."""
    assert line.from_memory
    floor = line.workload.bytes / max(speeds.values())
    return [
        line.workload.name,
        milliseconds(line.ours.median),
        line.span(),
        f"{1e9 * line.ours.median / line.workload.ids:.2f}",
        milliseconds(line.from_memory.median),
        f"{line.workload.bytes / 1e6:.1f}",
        milliseconds(floor),
        f"{line.from_memory.median / floor:.1f} x",
    ]


def bandwidths(speeds: dict[int, float]) -> list[list[str]]:
    """Return what the floors are reckoned with."""
    return [[f"memory read by {count} threads", f"{speed / 1e9:.1f} GB/s", ""] for count, speed in speeds.items()]


def stage_figures(data: Data) -> list[list[str]]:
    """Return the shares of stages of lists_100 on one thread."""
    timed = stages(data)
    whole = timed[WHOLE]
    return [
        ["lists_100 on one thread", f"{milliseconds(whole.median)} ms", ""],
        ["of it, building Truth", f"{timed[TRUTH].ratio_to(whole):.1%}", ""],
        ["of it, validation but for repeated ids", f"{timed[VALIDATION].ratio_to(whole):.1%}", "below 10%"],
        ["of it, finding repeated ids", f"{repeats_share(data, timed):.1%}", ""],
    ]


def memory_figures() -> list[list[str]]:
    """Return what evaluating `million` adds to the memory of a process."""
    added_bytes = memory.measure_added(MILLION, BUILT / "data" / MILLION.name)
    bound = f"at most {memory.allowed_bytes(MILLION) / 1e6:.0f} MB"
    return [
        ["memory that million adds, building Truth", f"{added_bytes['truth'] / 1e6:.0f} MB", ""],
        ["memory that million adds, evaluating", f"{added_bytes['evaluation'] / 1e6:.0f} MB", bound],
    ]


def import_figures() -> list[list[str]]:
    """Return what imports cost."""
    samples = import_times()
    return [
        ["import numpy", f"{milliseconds(samples['numpy'].median)} ms", ""],
        ["import exactk after it", f"{milliseconds(samples['exactk'].median)} ms", "below 50 ms"],
    ]


if __name__ == "__main__":
    main()
