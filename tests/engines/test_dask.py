"""Dask: clusters, ways to shuffle and the types of pandas. test_engines.py has what holds of every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.distributed import Client

import exactk
import exactk.dask
from engines import on_dask
from engines.cases import METRICS, Case, frames, page_variables
from engines.on_dask import frame

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of other libraries


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        yield client


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_a_cluster_gives_the_same(client: Client, kind: str) -> None:
    case = Case(kind)
    options = {"exclude": case.exclude, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options, per_user=True)
    of_dask = frames(on_dask, truth=case.truth, predictions=case.predictions, **options)
    with client.as_current():
        report = exactk.dask.evaluate(**of_dask, metrics=METRICS, num_buckets=8)
        lazy = exactk.dask.per_user(**of_dask, metrics=METRICS, num_buckets=8)
        assert isinstance(lazy, dd.DataFrame)
        values = lazy.compute()
        repeated = dd.concat([of_dask["predictions"]] * 2)
        with pytest.raises(exactk.InputError, match=r"again .* \(in 8 of 8 buckets\)$"):
            exactk.dask.evaluate(of_dask["truth"], repeated, METRICS, num_buckets=8)
    assert report.state == whole.state
    assert len(values) == len(whole.users)
    assert (values.dtypes == lazy.dtypes).all()


@pytest.mark.parametrize("method", ["disk", "tasks"])
def test_any_way_to_shuffle(method: str) -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    with dask.config.set({"dataframe.shuffle.method": method}):
        report = exactk.dask.evaluate(frame(case.truth), frame(case.predictions, 5), METRICS, num_buckets=7)
    assert report.state == whole.state


def as_objects(dtype: pa.DataType) -> None:
    """Leave each column to pandas: numbers, and Python objects."""


def test_lists_of_python_objects() -> None:
    case = Case("int64")
    truth = frame(case.truth)
    whole = exactk.evaluate(case.truth, case.lists(), METRICS)
    assert exactk.dask.evaluate(truth, frame(case.lists(), 5, as_objects), METRICS).state == whole.state
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    assert exactk.dask.evaluate(truth, frame(case.structs(), 5, as_objects), METRICS).state == whole.state


def pandas_columns(table: pa.Table, kind: str) -> Any:
    """Return a frame of Dask whose keys have another type of pandas."""
    rows = table.to_pandas()
    keys = ["user_id", "item_id"]
    if kind == "object":
        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_pandas(rows.astype(dict.fromkeys(keys, object)), npartitions=4)
    if kind == "known category":
        return dd.from_pandas(rows.astype(dict.fromkeys(keys, "category")), npartitions=4)
    return dd.from_pandas(rows, npartitions=4).astype(dict.fromkeys(keys, kind))


OF_INTEGERS = ["int64", "Int64", "uint32", "object", "category", "known category"]
OF_STRINGS = ["string", "string[pyarrow]", "object", "category", "known category"]


@pytest.mark.parametrize(
    ("key", "kind"), [*(("int64", kind) for kind in OF_INTEGERS), *(("string", kind) for kind in OF_STRINGS)]
)
def test_types_of_pandas(key: str, kind: str) -> None:
    case = Case(key)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    report = exactk.dask.evaluate(frame(case.truth), pandas_columns(case.predictions, kind), METRICS)
    assert report.state == whole.state


def of_partitions(*parts: pd.DataFrame) -> Any:
    """Return a frame of Dask whose columns are those of pandas."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])


def objects(users: list[Any]) -> pd.DataFrame:
    """Return predictions whose users are Python objects."""
    return pd.DataFrame({"user": pd.Series(users, dtype=object), "item": np.ones(len(users), int), "score": 0.5})


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([[], ["a"]], "user: expected ids of one kind, found int in truth.user and str in predictions.user"),
        ([[1, "a"], [2]], "predictions.user: expected values of one type, found "),
        ([[], [1, 2], ["a"]], "predictions.user: expected int64 in every partition, found "),
        ([[1], [2.5]], "predictions.user: expected int64 in every partition, found double"),
        ([[1], [2.0]], "predictions.user: expected int64 in every partition, found double"),
        ([[1.5, 2]], "predictions.user: expected keys of integers or strings, found double"),
        ([[2**64]], "predictions.user: expected keys of integers or strings, found values that"),
        ([[1], [2**64]], "predictions.user: expected values of one type, found "),
        ([[None], []], "predictions.user: expected keys of integers or strings, found values that are all missing"),
    ],
)
def test_python_objects_of_several_kinds_are_refused(partitions: list[Any], message: str) -> None:
    truth = dd.from_pandas(pd.DataFrame({"user": [1, 2], "item": [1, 1]}), npartitions=1)
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.dask.evaluate(truth, of_partitions(*map(objects, partitions)), "ndcg@2")


def test_the_first_partition_may_have_empty_lists_alone() -> None:
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 2]})
    lists = pd.DataFrame({"user": [1, 2], "items": [[], [1, 2]]})
    of_dask = of_partitions(lists.iloc[:1], lists.iloc[1:])
    report = exactk.dask.evaluate(dd.from_pandas(truth, npartitions=1), of_dask, "mrr")
    assert report.state == exactk.evaluate(truth, lists, "mrr").state


def test_scores_of_several_widths_are_not_made_equal() -> None:
    truth = dd.from_pandas(pd.DataFrame({"user": [1, 2], "item": [1, 2]}), npartitions=1)
    narrow = pd.DataFrame({"user": [1], "item": [1], "score": np.array([0.5], np.float32)})
    wide = pd.DataFrame({"user": [2, 2], "item": [1, 2], "score": [1.0, 1.0 + 1e-12]})
    with pytest.raises(exactk.InputTypeError, match=r"predictions.score: expected float in every .* found double"):
        exactk.dask.evaluate(truth, of_partitions(narrow, wide), "mrr")


def test_columns_of_the_same_name_are_refused() -> None:
    rows = pd.DataFrame({"user": [1], "item": [1], "score": [0.5]})
    twice = dd.from_pandas(pd.concat([rows, rows[["score"]]], axis=1), npartitions=1)
    with pytest.raises(exactk.InputError, match=r"predictions: expected columns of different names, found .* score"):
        exactk.dask.evaluate(dd.from_pandas(rows[["user", "item"]], npartitions=1), twice, "mrr")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case = Case("int64")
    whole = exactk.evaluate(case.truth, case.predictions, "ndcg@10", exclude=case.exclude)
    assert page_variables("Dask", case)["report"].state == whole.state
