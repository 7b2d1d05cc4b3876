"""NumPy: the products of factors, a block of users at a time, and nothing made of them: less than anyone can do with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.versus.peers import Call
from benchmarks.workload import Data, Workload

BLOCK = 512  # users


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Return a call that computes no value; the memory of a block is kept."""
    assert data.factors is not None
    users, items = data.predictions, data.factors
    memory = np.empty((BLOCK, len(items)), np.float32)

    def products() -> Mapping[str, float]:
        for begin in range(0, workload.users, BLOCK):
            block = users[begin : begin + BLOCK]
            np.matmul(block, items.T, out=memory[: len(block)])
        return {}

    return {"NumPy, products alone": products}
