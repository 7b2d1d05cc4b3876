"""A process of its own for what must not happen in that of pytest: signals, kills, forks, limits and deadlines.

Nothing here waits for a clock: a signal is sent by an event of the call, and a deadline is a ratio of CPU times, which
do not depend on what else the machine does.
"""

from __future__ import annotations

import ctypes
import importlib
import inspect
import json
import operator
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import exactk

HERE = Path(__file__).parent
HUNG = 900  # seconds after which a child that never ends is given up; no test comes near


def run_child(function: Callable[..., object], *arguments: object, **environment: str) -> Any:
    """Call a function of a module of the tests in a process of its own, and return what it returns, as JSON."""
    command = [sys.executable, __file__, Path(inspect.getfile(function)).stem, function.__name__, json.dumps(arguments)]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)])} | environment
    child = subprocess.run(command, check=False, capture_output=True, text=True, env=variables, timeout=HUNG)  # noqa: S603 - our own
    assert (child.returncode, child.stderr) == (0, ""), f"{child.returncode}\n{child.stdout}\n{child.stderr}"
    *printed, returned = child.stdout.splitlines()
    sys.stdout.writelines(f"{line}\n" for line in printed)
    return json.loads(returned)


def raising(number: int) -> Callable[..., object]:
    """Return a callable that sends this thread a signal and runs no Python: its handler waits for someone who polls."""
    return partial(ctypes.CDLL(None)["raise"], int(number))


def call_after_signal(number: int, call: Callable[[], Any]) -> Any:
    """Call when a signal has come and no handler has run: between the two runs no Python, so that `call` has to see to it."""
    return list(map(operator.call, [raising(number), call]))[1]


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call, by all threads of the process."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def assert_ratio(what: str, measure: Callable[[], float], most: float) -> None:
    """Assert that a ratio of CPU times is at most so much; measure once more before it fails, and tell both."""
    ratios = [measure()]
    if ratios[0] > most:
        ratios.append(measure())
        sys.stdout.write(f"{what}: {ratios[0]:.2f}, then {ratios[1]:.2f}\n")
    assert ratios[-1] <= most, f"{what}: {' and '.join(f'{ratio:.2f}' for ratio in ratios)}, expected at most {most}"


def main(module: str, name: str, arguments: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in what is started in the background
    warnings.simplefilter("ignore", exactk.EvaluationWarning)
    returned = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    sys.stdout.write(f"\n{json.dumps(returned)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
