"""How much memory an evaluation adds: the peak of a fresh process, less what it held before.

``python -m benchmarks.memory WORKLOAD FOLDER`` loads the arrays that `Data.save` wrote and prints what
building the truth and the evaluation add. The arrays are loaded and not drawn here, because drawing
would leave memory behind that the evaluation could use again, unseen.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import exactk
from benchmarks.answers import arguments, exclude
from benchmarks.workload import Data, Workload
from benchmarks.workloads import WORKLOADS

ROOT = Path(__file__).parents[1]
ALLOWED = 64 * 2**20  # bytes, and 8 more per user and value


def measure_added(workload: Workload, folder: Path) -> dict[str, int]:
    """Return the bytes added by building the truth, and then by the evaluation."""
    command = [sys.executable, "-m", "benchmarks.memory", workload.name, str(folder)]
    added_bytes: dict[str, int] = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    return added_bytes


def allowed_bytes(workload: Workload) -> int:
    """Return how many bytes an evaluation may add."""
    return ALLOWED + 8 * workload.users * len(workload.values)


def measure_memory(workload: Workload, data: Data) -> dict[str, int]:
    """Build the truth, evaluate, and look at the memory before and after."""
    empty = resident()
    truth, predictions = arguments(data)
    excluded = exclude(data)
    before = resident()
    forget_peak()
    report = exactk.evaluate(truth, predictions, workload.values, exclude=excluded, **workload.options)
    peak = status("VmHWM")
    assert isinstance(report, exactk.Report)
    return {"truth": before - empty, "evaluation": peak - before}


def resident() -> int:
    """Return the bytes this process holds now."""
    return status("VmRSS")


def forget_peak() -> None:
    """Have the kernel count the peak from now on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def status(key: str) -> int:
    """Return a line of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    print(json.dumps(measure_memory(WORKLOADS[sys.argv[1]], Data.load(Path(sys.argv[2])))))
