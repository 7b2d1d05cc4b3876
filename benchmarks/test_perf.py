"""The workloads under pytest-benchmark: for comparing two states of this code, `--benchmark-save` and `--benchmark-compare`.

`make test` does not collect this; `pytest benchmarks` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.answers import check, evaluate
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload(name: str, benchmark: BenchmarkFixture) -> None:
    workload = WORKLOADS[name]
    data = workload.build()
    check(workload, data, evaluate(workload, data))
    benchmark.extra_info["ids"] = workload.ids
    assert benchmark(evaluate, workload, data) == evaluate(workload, data)
