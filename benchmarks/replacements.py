"""How much faster the modules of exactk.compat are than the libraries they replace, on inputs typical of these.

``python -m benchmarks.replacements`` measures all, or those named, each in its library's environment, whose calls and
ours take turns, and notes the ratios in ``docs/benchmarks/replacements.json``. Figures are CPU times of all threads, the
lowest of the rounds: what else runs on the machine disturbs these least.
"""

from __future__ import annotations

import json
import site
import subprocess
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.machine import machine, run_description
from benchmarks.timing import compete, turn

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
RATIOS = ROOT / "docs" / "benchmarks" / "replacements.json"
sys.path.insert(0, str(ROOT / "tools"))
from golden.compat_record import load_calls, replaced_libraries  # noqa: E402 - found by the line above
from golden.record import environment  # noqa: E402


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return how much CPU time one call takes."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def measure(name: str) -> dict[str, dict[str, float]]:
    """Return the milliseconds of the library and of its replacement, and their ratio, by workload."""
    calls: Any = load_calls(name)
    library, replacement = import_module(calls.MODULE), import_module(f"exactk.compat.{name}")
    figures = {}
    for workload, prepare in calls.TYPICAL.items():
        turns = {
            side: partial(turn, prepare(module), measure=cpu_seconds)
            for side, module in (("theirs", library), ("ours", replacement))
        }
        lowest = {side: sample.low * 1e3 for side, sample in compete(turns).items()}
        figures[workload] = {
            "theirs_ms": round(lowest["theirs"], 3),
            "ours_ms": round(lowest["ours"], 3),
            "ratio": round(lowest["theirs"] / lowest["ours"], 2),
        }
    return figures


def measure_in_environment(name: str) -> dict[str, dict[str, float]]:
    """Measure in the environment of the library; what that lacks comes from the one here."""
    python = environment(load_calls(name), name)
    program = (
        f"import site, sys; sys.path.insert(0, {str(ROOT)!r}); [site.addsitedir(one) for one in {site.getsitepackages()!r}]\n"
        f"import json; from benchmarks.replacements import measure; print(json.dumps(measure({name!r})))"
    )
    process = subprocess.run([str(python), "-c", program], check=True, capture_output=True, text=True)
    figures: dict[str, dict[str, float]] = json.loads(process.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure, print and note."""
    noted = json.loads(RATIOS.read_text(encoding="utf-8")) if RATIOS.exists() else {}
    for name in sys.argv[1:] or replaced_libraries():
        figures = measure_in_environment(name)
        noted[name] = {"machine": machine(), "run": run_description(0), "workloads": figures}
        for workload, numbers in figures.items():
            print(f"{name}: {workload}: {numbers['theirs_ms']} ms, {numbers['ours_ms']} ms, {numbers['ratio']} x")
    RATIOS.write_text(json.dumps(dict(sorted(noted.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
