"""Spark: sessions, its own types and columns. test_engines.py has what holds of every engine. It needs Java."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession, functions

import exactk
import exactk.spark
from engines import on_spark
from engines.cases import METRICS, Case, frames, page_blocks
from engines.on_spark import frame
from exactk._sharded import engines
from exactk.spark import _frames

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of pyspark


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with on_spark.running() as running:
        yield running


@pytest.mark.usefixtures("session")
def test_structs_of_als() -> None:
    case = Case("int64")
    truth, rows = frame(case.truth), frame(case.predictions)
    structs = rows.select(
        functions.col("user_id").cast("int"),
        functions.struct(
            (-functions.col("score")).alias("order"),
            functions.col("item_id").cast("int").alias("item_id"),
            functions.col("score").alias("rating"),
        ).alias("one"),
    )
    lists = structs.groupBy("user_id").agg(functions.sort_array(functions.collect_list("one")).alias("recommendations"))
    of_als = lists.withColumn(
        "recommendations",
        functions.transform("recommendations", lambda one: functions.struct(one["item_id"], one["rating"])),
    )
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    assert exactk.spark.evaluate(truth, of_als, METRICS).state == whole.state


_CONNECT = """
import exactk, exactk.spark, warnings
from pyspark.sql import SparkSession
warnings.simplefilter("ignore")
session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()
assert "connect" in type(session).__module__
rows = [("ann", "a", 0.5), ("ann", "b", 0.5), ("bob", "a", 0.25)]
frame = session.createDataFrame(rows, "user string, item string, score double")
report = exactk.spark.evaluate(frame.drop("score"), frame, "ndcg@5")
print(report["ndcg@5"], exactk.spark.merge(exactk.spark.states(frame.drop("score"), frame, "ndcg@5")).state == report.state)
print(exactk.spark.per_user(frame.drop("score"), frame, "ndcg@5").orderBy("user").collect()[0][0])
print(list(exactk.spark.compare(frame.drop("score"), {"one": frame, "other": frame}, "ndcg@5")["ndcg@5"]))
"""


def test_spark_connect() -> None:
    """In a process of its own, as a process has sessions of one kind."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", _CONNECT]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert process.stdout.splitlines() == ["1.0 True", "ann", "['one', 'other']"]


@pytest.mark.usefixtures("session")
def test_tasks_add_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("int64")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    collect, collected = _frames.collect, []

    def count(frame: DataFrame, tasks: int | None) -> Any:
        states = collect(frame, tasks)
        collected.append(len(states))
        return states

    monkeypatch.setattr(engines, "_MOST_STATES", 8)
    monkeypatch.setattr(_frames, "collect", count)
    of_spark = frames(on_spark, truth=case.truth, predictions=case.predictions)
    for buckets in (8, 9):
        assert exactk.spark.evaluate(**of_spark, metrics=METRICS, num_buckets=buckets).state == whole.state
    assert collected == [8, 1]


@pytest.mark.usefixtures("session")
def test_types_of_spark_that_are_no_keys() -> None:
    case = Case("string")
    truth, predictions = frame(case.truth), frame(case.predictions)
    for column, kind in (("user_id", "binary"), ("item_id", "decimal")):
        changed = predictions.withColumn(column, functions.lit(1).cast("string").cast(kind))
        with on_spark.no_task(), pytest.raises(exactk.InputTypeError, match=f"{column}: expected .* found {kind}"):
            exactk.spark.evaluate(truth, changed, METRICS)


@pytest.mark.usefixtures("session")
def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its code for Spark, on the frames that it speaks of."""
    case = Case("int64")
    truth = case.truth.join(case.groups, "user_id")
    variables = frames(on_spark, truth=truth, predictions=case.predictions, train=case.exclude)
    predictions = variables["predictions"]
    variables["popularity"] = predictions.where("item_id % 2 = 0")
    arrays = predictions.groupBy("user_id").agg(functions.collect_list(functions.struct("item_id", "score")))
    variables["exactk"] = exactk
    variables["model"] = SimpleNamespace(recommendForAllUsers=lambda _: arrays)
    blocks = page_blocks("Spark")
    for block in blocks:
        exec(block, variables)  # noqa: S102 - the page is our own
    whole = exactk.evaluate(case.truth, case.predictions, "ndcg@10")
    assert variables["report"].state == whole.state
    assert len(blocks) == 5
    assert "ndcg@10" in capsys.readouterr().out


_OTHER_PYTHON = """
import exactk.spark
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = session.createDataFrame([(1, 2, 0.5)], "user long, item long, score double")
try:
    exactk.spark.evaluate(frame.drop("score"), frame, "ndcg@5")
except ImportError as error:
    print(error)
"""


def test_workers_without_exactk_are_found_first(tmp_path: Path) -> None:
    """A Python that has pyspark and pyarrow, but no exactk: one whose metadata is hidden."""
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text(
        "import importlib.metadata as metadata\n"
        "def version(name, found=metadata.version):\n"
        "    if name == 'exactk': raise metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "metadata.version = version\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {**os.environ, "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", _OTHER_PYTHON]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own
    assert "the workers' Python has no exactk, and the driver has exactk" in output
    assert "PYSPARK_PYTHON" in output


def test_columns_that_spark_cannot_tell_apart(session: SparkSession) -> None:
    """As after a join: names that differ in case alone, and columns of the same name that are not read."""
    columns = ["user", "item", "`Item", "Item", "a.b", "note", "note"]
    truth = session.createDataFrame([("ann", "a", "", "b", "", "", ""), ("bob", "a", "", "c", "", "", "")]).toDF(
        *columns
    )
    lists = session.createDataFrame([("ann", "a", 0.5), ("bob", "c", 0.5)], "User string, ITEM string, `s.c``r` double")
    for item, value in (("item", 0.5), ("Item", 0.5)):
        of_lists = lists.toDF("user", item, "s.c`r")
        assert exactk.spark.evaluate(truth, of_lists, "recall@1", item=item, score="s.c`r")["recall@1"] == value


def test_what_is_no_frame_of_spark(session: SparkSession) -> None:
    rows = session.createDataFrame([("ann", "a", 0.5)], "user string, item string, score double")
    found = {"pyspark.Column": functions.col("item"), "pyarrow.Table": pa.table({"user": []}), "NoneType": None}
    for name, truth in found.items():
        message = rf"^truth: expected a data frame of Spark 3.4 or newer, found {name}$"
        with pytest.raises(exactk.InputTypeError, match=message):
            exactk.spark.evaluate(truth, rows, "mrr")
    named = rows.withColumnRenamed("user", "mrr")
    message = "^user: expected a column that is not named like a value, found 'mrr'$"
    with pytest.raises(exactk.InputError, match=message):
        exactk.spark.per_user(named, named, "mrr", user="mrr")
