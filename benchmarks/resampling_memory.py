"""How much memory a permutation test adds to a process that has the reports: its peak, less what it held before.

``python -m benchmarks.resampling_memory FILE`` loads the reports that were pickled there, and prints the bytes, the
seconds and those of the processor. They are loaded, because evaluation would leave memory behind that the test could
use again, unseen.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import exactk
from benchmarks.memory import ROOT, forget_peak, resident, status


def measure_added(reports: Mapping[str, exactk.Report], file: Path) -> dict[str, float]:
    """Return what a permutation test of all systems against the first takes, by a fresh process."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        pickle.dump(dict(reports), stream, protocol=5)
    command = [sys.executable, "-m", "benchmarks.resampling_memory", str(file)]
    added: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    file.unlink()
    return added


def measure(reports: Mapping[str, exactk.Report]) -> dict[str, float]:
    """Look at the memory before and after, and at the clock."""
    few = exactk.evaluate([[1]] * 30, [[1]] * 30, "precision@1", per_user=True)
    test({"one": few, "other": few})  # imports what it needs
    before = resident()
    forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    test(reports)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"bytes": status("VmHWM") - before, "seconds": wall, "cpu_seconds": cpu}


def test(reports: Mapping[str, exactk.Report]) -> exactk.results.Differences:
    """Compare all systems with the first."""
    return exactk.compare_reports(reports, baseline=next(iter(reports)), test="permutation").differences


if __name__ == "__main__":
    print(json.dumps(measure(pickle.loads(Path(sys.argv[1]).read_bytes()))))  # noqa: S301 - our own
