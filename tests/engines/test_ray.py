"""Ray: blocks of any kind. test_engines.py has what holds of every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import ray.data

import exactk
import exactk.ray
from engines import on_ray
from engines.cases import METRICS, Case, page_variables
from engines.on_ray import frame

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of Ray


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    with on_ray.running():
        yield


def test_many_small_blocks() -> None:
    """A user's rows are in many blocks."""
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, convention="replay")
    inputs = {"truth": frame(case.truth, 40), "predictions": frame(case.predictions, 60)}
    assert exactk.ray.evaluate(**inputs, metrics=METRICS, convention="replay", num_buckets=5).state == whole.state


@pytest.mark.parametrize("container", ["pandas", "tensors"])
def test_lists_of_items(container: str) -> None:
    case = Case("int64")
    lists = case.lists()
    if container == "pandas":
        predictions = ray.data.from_pandas([lists.slice(start, 150).to_pandas() for start in range(0, len(lists), 150)])
    else:
        pairs = pa.array([[one, one + 1] for one in range(len(lists))])
        lists = pa.table({"user_id": lists["user_id"], "items": pairs})
        users, items = (
            ray.data.from_numpy(np.array(lists[name].to_pylist())).rename_columns({"data": name})
            for name in ("user_id", "items")
        )
        predictions = users.zip(items)
    whole = exactk.evaluate(case.truth, lists, METRICS)
    assert exactk.ray.evaluate(frame(case.truth), predictions, METRICS, num_buckets=4).state == whole.state


def test_blocks_of_pandas() -> None:
    case = Case("string")
    rows = case.predictions.to_pandas()
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    predictions = ray.data.from_pandas([rows[:10], rows[10:]])
    assert exactk.ray.evaluate(frame(case.truth), predictions, METRICS, num_buckets=4).state == whole.state


def test_a_dataset_without_columns_is_refused() -> None:
    with pytest.raises(exactk.InputTypeError, match="predictions: expected a dataset with columns, found none"):
        exactk.ray.evaluate(frame(Case("int64").truth), ray.data.from_items([]), "ndcg@5")


def test_blocks_of_several_kinds_are_refused() -> None:
    truth = ray.data.from_items([{"user": 1, "item": 1}, {"user": 2, "item": 1}])
    cases: list[tuple[tuple[list[Any], ...], str]] = [
        (([1, 2], ["a"]), "predictions.user: expected int64 in every partition, found"),
        (([1, "a"],), "predictions.user: expected keys of integers or strings, found values that"),
        ((["a"], ["b"]), "user: expected ids of one kind, found int in truth.user and str in predictions.user"),
    ]
    for blocks, message in cases:
        users = [pd.Series(block, dtype=object) for block in blocks]
        predictions = ray.data.from_pandas([pd.DataFrame({"user": one, "item": 1, "score": 0.5}) for one in users])
        with pytest.raises(exactk.InputTypeError, match=message):
            exactk.ray.evaluate(truth, predictions, "ndcg@2", num_buckets=2)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ray.data.DataContext.get_current(), "default_hash_shuffle_parallelism", 4)
    read = ray.data.read_parquet
    monkeypatch.setattr(ray.data, "read_parquet", lambda path: read(str(tmp_path / path)))
    case = Case("int64")
    whole = exactk.evaluate(case.truth, case.predictions, "ndcg@10", exclude=case.exclude)
    assert page_variables("Ray", case)["report"].state == whole.state
