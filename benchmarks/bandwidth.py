"""How fast this machine reads memory: the floor under every method, however clever.

What would fool it: pages that were never written are one page of zeros in a cache; a buffer that a large
cache holds; a reduction that the processor, not the memory, limits; pages that are mapped while the clock
runs. So the buffer is random, far larger than any cache, written before, and read by reductions whose
work differs; the fastest counts, as a floor must not be too high.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import seconds

BUFFER = 2**30  # bytes
CHUNK = 2**20  # numbers a call: long enough to hide the call, short enough to share the interpreter
READINGS = 5

Numbers = NDArray[np.int64]
REDUCTIONS: tuple[Callable[[Numbers], Any], ...] = (
    np.maximum.reduce,
    np.bitwise_or.reduce,
    lambda numbers: np.add.reduce(numbers.view(np.float64)),
)


def buffer() -> Numbers:
    """Return numbers, finite as float64 too, that no cache holds."""
    return np.random.default_rng(0).integers(1, 2**62, BUFFER // 8, dtype=np.int64)


def bandwidth(numbers: Numbers, threads: int) -> float:
    """Return the bytes a second that so many threads read together."""
    shares = np.array_split(numbers, threads)
    with ThreadPoolExecutor(threads) as pool:
        times = [
            seconds(lambda: list(pool.map(partial(_read, reduction), shares)))  # noqa: B023 - called at once
            for reduction in REDUCTIONS
            for _ in range(READINGS)
        ]
    return numbers.nbytes / min(times)


def _read(reduction: Callable[[Numbers], Any], numbers: Numbers) -> None:
    for begin in range(0, len(numbers), CHUNK):
        reduction(numbers[begin : begin + CHUNK])
