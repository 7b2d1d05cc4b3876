"""Frames of Dask, for the tests of all engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import exactk.dask

MODULE = exactk.dask
CONTAINER = "a data frame of Dask"
TASK_ERROR = exactk.InputError
running = nullcontext
read = dd.read_parquet


def frame(table: pa.Table, partitions: int = 3, types: Any = pd.ArrowDtype) -> Any:
    """Return the rows in random order, in partitions of odd sizes, some of them empty."""
    random = np.random.default_rng(len(table))
    table = table.take(pa.array(random.permutation(len(table))))
    cuts = sorted(random.integers(0, len(table) + 1, partitions - 1).tolist())
    whole = table.to_pandas(types_mapper=types)
    bounds = zip([0, *cuts], [*cuts, len(table)], strict=True)
    with dask.config.set({"dataframe.convert-string": False}):  # lists are columns of objects
        return dd.from_map(lambda ends: whole.iloc[ends[0] : ends[1]], list(bounds), meta=whole.iloc[:0])


def table_of(frame: Any) -> pa.Table:
    return pa.Table.from_pandas(frame.compute(), preserve_index=False)


def write(frame: Any, path: Path) -> None:
    frame.to_parquet(path)


@contextmanager
def no_task() -> Iterator[None]:
    """Fail if a task is run."""
    with dask.config.set(scheduler=lambda *_, **__: pytest.fail("a task was run")):
        yield
