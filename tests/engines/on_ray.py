"""Datasets of Ray, for the tests of all engines."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import ray
import ray.data

import exactk.ray

MODULE = exactk.ray
CONTAINER = "a dataset of Ray"
TASK_ERROR = ray.exceptions.RayTaskError
no_task = nullcontext  # Ray does not tell of its tasks


@contextmanager
def running() -> Iterator[None]:
    with warnings.catch_warnings(action="ignore"):
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


def frame(table: pa.Table, blocks: int = 3) -> Any:
    """Return the rows in random order, in blocks of odd sizes, some of them empty."""
    random = np.random.default_rng(len(table))
    table = table.take(pa.array(random.permutation(len(table))))
    cuts = sorted(random.integers(0, len(table) + 1, blocks - 1).tolist())
    bounds = zip([0, *cuts], [*cuts, len(table)], strict=True)
    return ray.data.from_arrow([table.slice(start, end - start) for start, end in bounds])


def table_of(dataset: Any) -> pa.Table:
    return pa.concat_tables(ray.get(dataset.to_arrow_refs()), promote_options="default")


def write(dataset: Any, path: Path) -> None:
    dataset.write_parquet(str(path))


def read(path: Path) -> Any:
    return ray.data.read_parquet(str(path))
