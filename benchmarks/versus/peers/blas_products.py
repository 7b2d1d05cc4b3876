"""No contestant: the factors are multiplied, in turns with those who rank by the products, and nothing is made of them."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.products import fastest_shape, multiply
from benchmarks.versus.peers import Call
from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Choose the shape of tile, and return a call that computes no value."""
    assert data.factors is not None
    users, items = data.predictions, data.factors
    shape = fastest_shape(users, items, workload.threads)

    def products() -> Mapping[str, float]:
        multiply(users, items, shape, workload.threads)
        return {}

    return {"products": products}
