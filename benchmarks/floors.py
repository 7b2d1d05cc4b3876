"""How far a workload is from the time in which its bytes can be read at all."""

from __future__ import annotations

from functools import partial
from itertools import cycle

from benchmarks.answers import evaluate
from benchmarks.timing import Sample, compete, turn
from benchmarks.workload import Data, Workload

BEYOND_CACHES = 2**28  # bytes of copies that are evaluated in turn


def time_from_memory(workload: Workload, data: Data) -> Sample:
    """Time a workload whose arrays no cache holds: copies of them are evaluated one after the other."""
    count = 1 + BEYOND_CACHES // workload.bytes
    copies = cycle([Data(data.indptr, data.items.copy(), data.predictions.copy()) for _ in range(count)])
    return compete({"": partial(turn, lambda: evaluate(workload, next(copies)))})[""]
