"""How many instructions an id costs: the one figure that a busy machine does not change.

``python -m benchmarks.instructions`` has valgrind's callgrind count two fresh processes, one of which
evaluates `lists_100` more often, on one thread; the difference is that of the calls alone, building the
truth and the Python layer included. A processor without AVX-512 is what valgrind simulates, so that code
chosen by the processor is that for AVX2; and instructions are not time, as they wait for memory or not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.answers import evaluate
from benchmarks.workload import Workload
from benchmarks.workloads import LISTS_100

ROOT = Path(__file__).parents[1]
FEW, MANY = 1, 4
MEASURED = {
    "lists_100": replace(LISTS_100, threads=1),
    "lists_100_wide": replace(LISTS_100, threads=1, wide=True),
}


def instructions(name: str) -> float:
    """Return the instructions an id of one more evaluation."""
    more = count_instructions(name, MANY) - count_instructions(name, FEW)
    return more / (MANY - FEW) / MEASURED[name].ids


def count_instructions(name: str, calls: int) -> int:
    """Return the instructions of a process that evaluates so often."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [sys.executable, "-m", "benchmarks.instructions", name, str(calls)]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    match = re.search(r"Collected : (\d+)", finished.stderr)
    assert match, finished.stderr
    return int(match[1])


def repeat(workload: Workload, calls: int) -> None:
    """Evaluate; this is what is counted."""
    data = workload.build()
    for _ in range(calls):
        evaluate(workload, data)


if __name__ == "__main__":
    if sys.argv[1:]:
        repeat(MEASURED[sys.argv[1]], int(sys.argv[2]))
    else:
        for name in MEASURED:
            print(f"{name}: {instructions(name):.1f} instructions an id")
