"""The workloads under pytest-benchmark: for comparing two states of this code, `--benchmark-save` and `--benchmark-compare`.

No target of the Makefile runs this; `pytest benchmarks/test_perf.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.selections import answer, verify
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload(name: str, benchmark: BenchmarkFixture) -> None:
    workload = WORKLOADS[name]
    data = workload.build()
    verify(workload, data)
    benchmark.extra_info["ids"] = workload.ids
    np.testing.assert_equal(benchmark(answer, workload, data), answer(workload, data))
