"""What `import exactk` costs over NumPy, in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks.timing import Sample, compete

ROUNDS = 11
TIMED = "import time; {before}begin = time.perf_counter(); import {name}; print(time.perf_counter() - begin)"
CODE = {
    "numpy": TIMED.format(before="", name="numpy"),
    "exactk": TIMED.format(before="import numpy; ", name="exactk"),
}


def import_times() -> dict[str, Sample]:
    """Time the import of NumPy, and that of exactk after NumPy."""
    return compete({name: partial(run_isolated, code) for name, code in CODE.items()}, ROUNDS)


def run_isolated(code: str) -> float:
    """Return what an isolated interpreter prints."""
    return float(subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout)
