"""What is said of the workloads of scores: how near the speed of memory, how far from the peers."""

from __future__ import annotations

from benchmarks.lines import OUR_COLUMNS, Line
from benchmarks.results import Cell, Table, share as share_cell
from benchmarks.scaling import Series
from benchmarks.versus.peers import SCORE_PEERS
from benchmarks.workloads import DENSE_20K, DENSE_CUTS, DENSE_MASKED, DENSE_UNCUT

CALLS = [call for peer in SCORE_PEERS for call in peer.calls]
TOPK, CORE = "torch.topk alone", "irspack's core"
PROMISED_RATIOS = (
    ("dense_20k", TOPK, 5),
    ("dense_20k", CORE, 12),
    ("dense_20k_100", TOPK, 2.5),
    ("dense_1m", TOPK, 5),
    ("dense_5k", TOPK, 4),
)
PROMISED_SHARES = (("dense_20k", 0.45), ("dense_20k_100", 0.25))
PROMISED_KINDS = ((DENSE_MASKED.name, 1.4), (DENSE_UNCUT.name, 3))


def scores_table(lines: list[Line]) -> Table:
    """Return the table of workloads: ours, the speed of reading beside it, the peers."""
    columns = [*OUR_COLUMNS, "MB", "GB/s", "reading, GB/s", "share of reading", *CALLS]
    rows: list[list[Cell]] = [
        [
            *line.our_cells(),
            line.workload.bytes / 1e6,
            line.workload.bytes / line.ours.median / 1e9,
            line.workload.bytes / line.reading.median / 1e9,
            share_cell(share(line)),
            *(line.peer(call) for call in CALLS),
        ]
        for line in lines
    ]
    return Table("Scores", columns, rows)


def share(line: Line) -> float:
    """Return which part of the speed of reading is ours, by rounds."""
    return line.reading.ratio_to(line.ours)


def kinds_table(kinds: Series) -> Table:
    """Return what the cutoff changes, and what else is asked of the same scores."""
    columns = ["dense_20k", "exactk, ms", "GB/s", f"relative to cutoff {DENSE_20K.cutoffs[0]}"]
    rows: list[list[Cell]] = [
        [workload.name, 1e3 * sample.median, workload.bytes / sample.median / 1e9, ratio]
        for (workload, sample), ratio in zip(kinds, to_dense_20k(kinds).values(), strict=True)
    ]
    return Table("The same scores, cut elsewhere", columns, rows)


def to_dense_20k(kinds: Series) -> dict[str, float]:
    """Return the time of each to that of dense_20k, by rounds."""
    usual = next(workload.name for workload in DENSE_CUTS if workload.cutoffs == DENSE_20K.cutoffs)
    samples = {workload.name: sample for workload, sample in kinds}
    return {name: sample.ratio_to(samples[usual]) for name, sample in samples.items()}


def score_promises(lines: list[Line], kinds: Series) -> list[list[str]]:
    """Return what was promised of scores beside what was measured."""
    by_name = {line.workload.name: line for line in lines}
    ratios = to_dense_20k(kinds)
    return [
        *(
            [f"{name}, {call} to exactk", f"{by_name[name].ratio(call):.3g} x", f"at least {least} x"]
            for name, call, least in PROMISED_RATIOS
        ),
        *(
            [f"{name}, share of the speed of reading", f"{share(by_name[name]):.0%}", f"at least {least:.0%}"]
            for name, least in PROMISED_SHARES
        ),
        *([f"{name} to dense_20k", f"{ratios[name]:.2f} x", f"at most {most} x"] for name, most in PROMISED_KINDS),
    ]
