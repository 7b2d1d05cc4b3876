"""No contestant: the scores are read, in turns with those who evaluate them, and nothing is made of them."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.bandwidth import read
from benchmarks.versus.peers import Call
from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Return a call that reads all that `workload.bytes` counts, and computes no value."""

    def reading() -> Mapping[str, float]:
        for array in (data.predictions, data.candidates):
            if array is not None:
                read(array, workload.threads)
        return {}

    return {"reading": reading}
