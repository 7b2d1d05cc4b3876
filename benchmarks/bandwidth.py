"""How fast this machine reads memory: the floor under every method, however clever.

What would fool it: pages that were never written are one page of zeros in a cache; a buffer that a large
cache holds; a loop that the processor, not the memory, limits; pages that are mapped while the clock
runs. So the buffer is random, far larger than any cache, written before, and read by a loop that waits
for nothing but memory (``cpp/reading.cpp``); the fastest reading counts, as a floor must not be too high.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import seconds

LIBRARY = Path("build/release/libexactk_reading.so")
BUFFER = 2**30  # bytes
READINGS = 15

Words = NDArray[np.int64]


def buffer() -> Words:
    """Return words that no cache holds."""
    return np.random.default_rng(0).integers(1, 2**62, BUFFER // 8, dtype=np.int64)


def bandwidth(words: Words, threads: int) -> float:
    """Return the bytes a second that so many threads read together."""
    assert read(words, threads) == np.bitwise_or.reduce(words)
    return words.nbytes / min(seconds(partial(read, words, threads)) for _ in range(READINGS))


def read(array: NDArray[Any], threads: int) -> int:
    """Read a contiguous array in whole words of eight bytes; return their bitwise or."""
    assert array.flags.c_contiguous
    bits: int = _reading_library(LIBRARY).exactk_read(array.ctypes.data, array.nbytes, threads)
    return bits


@cache
def _reading_library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path.absolute()))
    library.exactk_read.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    library.exactk_read.restype = ctypes.c_uint64
    return library
