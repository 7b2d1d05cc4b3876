"""``make bench``: measure everything, print it, and write it into ``docs/benchmarks/results``."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack

from benchmarks import catalogue_tables, comparisons, factor_tables, keyed_tables, loops, memory, resampling, results
from benchmarks.bandwidth import bandwidth, buffer
from benchmarks.floors import time_from_memory
from benchmarks.imports import import_times
from benchmarks.lines import OUR_COLUMNS, Line, peer_notes
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table, share, with_unit
from benchmarks.scaling import kinds_of_scores, series, series_table, thread_counts
from benchmarks.score_tables import kinds_table, score_promises, scores_table
from benchmarks.shapes import shapes_table
from benchmarks.stages import TRUTH, VALIDATION, WHOLE, repeats_share, stages
from benchmarks.timing import Sample
from benchmarks.versus.field import BUILT, Field
from benchmarks.versus.peers import LIST_PEERS, SCORE_PEERS
from benchmarks.workload import Data
from benchmarks.workloads import LISTS, LISTS_100, MILLION, SCORES

LIST_CALLS = [call for peer in LIST_PEERS for call in peer.calls]


def main() -> None:
    """Measure, print, write."""
    began, load = time.perf_counter(), os.getloadavg()[0]
    words = buffer()
    speeds = {count: bandwidth(words, count) for count in thread_counts()}
    del words
    list_lines, figures, targets = measure_lists()
    score_lines = measure_scores()
    kinds = kinds_of_scores()
    imports = import_times()
    figures = [*bandwidths(speeds), *figures, *import_figures(imports)]
    tables = [
        workload_table(list_lines, speeds),
        scores_table(score_lines),
        kinds_table(kinds),
        shapes_table(),
        Table("Parts", ["figure", "measured"], figures),
        *(series_table(what, LISTS_100.name, measurements) for what, measurements in series().items()),
    ]
    notes = peer_notes((*LIST_PEERS, *SCORE_PEERS), [*list_lines, *score_lines])
    results.publish("lists and scores", machine(), run_description(load), notes, tables)
    import_target = ["import exactk after numpy", f"{1e3 * imports['exactk'].median:.3g} ms", "below 50 ms"]
    print(
        Table(
            "Lists and scores",
            ["figure", "measured", "target"],
            [*targets, import_target, *score_promises(score_lines, kinds)],
        )
    )
    loops.publish_loops(load)
    factor_tables.publish_factors(load)
    keyed_tables.publish_keyed(load)
    catalogue_tables.publish_catalogue_metrics(load)
    comparisons.publish_comparisons(load)
    resampling.publish_resampling(load)
    print(f"{time.perf_counter() - began:.0f} s")


def measure_lists() -> tuple[list[Line], list[list[Cell]], list[list[str]]]:
    """Measure the workloads of lists, and what is measured beside them; return also what has a target."""
    lines: list[Line] = []
    figures: list[list[Cell]] = []
    targets: list[list[str]] = []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in LISTS.values():
            print(f"{workload.name}: {workload.purpose}")
            data = workload.build()
            lines.append(Line(workload, field.play(workload, data), time_from_memory(workload, data)))
            if workload is LISTS_100:
                timed = stages(data)
                figures += stage_figures(data, timed)
                validation = timed[VALIDATION].ratio_to(timed[WHOLE])
                targets.append(["lists_100, validation but for repeated ids", f"{validation:.1%}", "below 10%"])
            if workload is MILLION:
                added_bytes = memory.measure_added(MILLION, BUILT / "data" / MILLION.name)
                figures += memory_figures(added_bytes)
                bound = f"at most {memory.allowed_bytes(MILLION) / 1e6:.0f} MB"
                targets.append(["million, memory added", f"{added_bytes['evaluation'] / 1e6:.0f} MB", bound])
    shutil.rmtree(BUILT / "data")
    return lines, figures, targets


def measure_scores() -> list[Line]:
    """Measure the workloads of scores, of which one is in memory at a time."""
    lines = []
    with ExitStack() as stack:
        field = Field(stack)
        for workload in SCORES.values():
            print(f"{workload.name}: {workload.purpose}")
            lines.append(Line(workload, field.play(workload, workload.build())))
            shutil.rmtree(BUILT / "data")
    return lines


def workload_table(lines: list[Line], speeds: dict[int, float]) -> Table:
    """Return the table of workloads: ours, the floor, the peers."""
    columns = [*OUR_COLUMNS, "ns per id", "from memory, ms", "MB", "floor, ms", "times the floor"]
    rows = [exactk_cells(line, speeds) + [line.peer(call) for call in LIST_CALLS] for line in lines]
    return Table("Lists", [*columns, *LIST_CALLS], rows)


def exactk_cells(line: Line, speeds: dict[int, float]) -> list[Cell]:
    """Return our cells of a line."""
    assert line.from_memory
    floor = line.workload.bytes / max(speeds.values())
    return [
        *line.our_cells(),
        1e9 * line.ours.median / line.workload.ids,
        1e3 * line.from_memory.median,
        line.workload.bytes / 1e6,
        1e3 * floor,
        line.from_memory.median / floor,
    ]


def bandwidths(speeds: dict[int, float]) -> list[list[Cell]]:
    """Return what the floors are reckoned with."""
    return [
        [f"memory read by {count} thread{'s' * (count > 1)}", with_unit(speed / 1e9, "GB/s")]
        for count, speed in speeds.items()
    ]


def stage_figures(data: Data, timed: dict[str, Sample]) -> list[list[Cell]]:
    """Return the shares of stages of lists_100 on one thread."""
    whole = timed[WHOLE]
    return [
        ["lists_100 on one thread", with_unit(1e3 * whole.median, "ms")],
        ["building Truth, of that", share(timed[TRUTH].ratio_to(whole))],
        ["validation except repeated ids, of that", share(timed[VALIDATION].ratio_to(whole))],
        ["finding repeated ids, of that", share(repeats_share(data, timed))],
    ]


def memory_figures(added_bytes: dict[str, int]) -> list[list[Cell]]:
    """Return what evaluating `million` adds to the memory of a process."""
    return [
        ["memory added by building the Truth of million", with_unit(added_bytes["truth"] / 1e6, "MB")],
        ["memory added by evaluating million", with_unit(added_bytes["evaluation"] / 1e6, "MB")],
    ]


def import_figures(samples: dict[str, Sample]) -> list[list[Cell]]:
    """Return what imports cost."""
    return [
        ["import numpy", with_unit(1e3 * samples["numpy"].median, "ms")],
        ["import exactk, after numpy", with_unit(1e3 * samples["exactk"].median, "ms")],
    ]


if __name__ == "__main__":
    main()
