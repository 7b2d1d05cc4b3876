"""Spark gives the state of one evaluation, bit for bit. `make engines` runs this: it needs Java and pyspark."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession, functions

import exactk
import exactk.spark
from engines.cases import ITEMS, METRICS, USERS, Case, long_rows, page_blocks
from exactk.spark import _frames


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


class SparkCase(Case):
    """A case with its tables as data frames."""

    def __init__(self, kind: str, folder: Path, session: SparkSession, *, truth_kind: str | None = None) -> None:
        super().__init__(kind, truth_kind)
        self.folder, self.session = folder, session

    def frame(self, table: pa.Table) -> DataFrame:
        path = self.folder / f"{id(table)}.parquet"
        pq.write_table(table, path)
        return self.session.read.parquet(str(path)).repartition(3)

    def frames(self, **options: Any) -> dict[str, Any]:
        return {name: self.frame(one) if isinstance(one, pa.Table) else one for name, one in options.items()}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pyspark, about pandas
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        yield


@pytest.mark.parametrize("buckets", [8, 37])
@pytest.mark.parametrize(("kind", "truth_kind"), [("int64", "int64"), ("string", "string"), ("int64", "int32")])
def test_the_state_is_that_of_one_evaluation(
    session: SparkSession, tmp_path: Path, kind: str, truth_kind: str, buckets: int
) -> None:
    case = SparkCase(kind, tmp_path, session, truth_kind=truth_kind)
    options = {"exclude": case.exclude, "weights": case.weights, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions, **options)
    report = exactk.spark.evaluate(**of_spark, metrics=METRICS, num_buckets=buckets)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


@pytest.mark.parametrize("convention", ["replay", "trec_eval", {"ties": "expected"}])
def test_conventions(session: SparkSession, tmp_path: Path, convention: Any) -> None:
    case = SparkCase("int64", tmp_path, session)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, convention=convention)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions)
    assert exactk.spark.evaluate(**of_spark, metrics=METRICS, convention=convention).state == whole.state


def test_columns_of_the_truth_as_weights_and_groups(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("string", tmp_path, session)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, weights=case.weights, groups=case.groups)
    truth = case.truth.join(case.weights, "user_id").join(case.groups, "user_id")
    of_spark = case.frames(truth=truth, predictions=case.predictions)
    report = exactk.spark.evaluate(**of_spark, metrics=METRICS, weights="weight", groups="segment", grade="grade")
    assert report.state == whole.state


def test_arrays_of_items_and_the_structs_of_als(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("int64", tmp_path, session)
    truth, rows = case.frame(case.truth), case.frame(case.predictions)
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
    arrays = lists.select("user_id", functions.col("recommendations.item_id").alias("items"))
    best_first = case.predictions.sort_by([("user_id", "ascending"), ("score", "descending"), ("item_id", "ascending")])
    by_user: dict[int, list[int]] = {}
    for row in best_first.to_pylist():
        by_user.setdefault(row["user_id"], []).append(row["item_id"])
    assert exactk.spark.evaluate(truth, arrays, METRICS).state == exactk.evaluate(case.truth, by_user, METRICS).state


def test_a_comparison_has_the_differences_of_one_call(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("string", tmp_path, session)
    systems = {"als": case.predictions, "ease": long_rows(np.random.default_rng(5), range(USERS), 20, "string")}
    systems["ease"] = systems["ease"].append_column(
        "score", pa.array(np.random.default_rng(6).random(len(systems["ease"])))
    )
    options: dict[str, Any] = {"baseline": "als", "margin": "1%", "alternative": "greater"}
    whole = exactk.compare(case.truth, systems, METRICS, groups=case.groups, **options)
    of_spark = case.frames(truth=case.truth, groups=case.groups)
    comparison = exactk.spark.compare(systems=case.frames(**systems), metrics=METRICS, **of_spark, **options)
    assert comparison.state == whole.state
    assert comparison.differences == whole.differences
    with pytest.raises(exactk.InputError, match="test: expected a test and an interval of the sums over users"):
        exactk.spark.compare(of_spark["truth"], case.frames(**systems), METRICS, test="permutation")  # type: ignore[arg-type]


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


def test_items_reach_the_workers(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("int64", tmp_path, session)
    items = exactk.Items(train=case.exclude)
    metrics = ["novelty@10", "arp@5", "serendipity@5(serendipity_of=popularity)"]
    options: dict[str, Any] = {"items": items, "convention": {"foreign_items": "ignore", "unseen_items": "skip"}}
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions)
    assert exactk.spark.evaluate(**of_spark, metrics=metrics, **options).state == whole.state


@pytest.mark.parametrize("buckets", [1, 8, 37])
def test_tasks_add_the_counts_of_items(session: SparkSession, tmp_path: Path, buckets: int) -> None:
    case = SparkCase("string", tmp_path, session)
    catalogue = [f"i{one}" for one in range(10, ITEMS + 5)]
    items = exactk.Items(catalogue, item_groups={key: index % 3 for index, key in enumerate(catalogue)})
    metrics = ["coverage@10", "gini@10", "entropy@5", "personalization@10", "exposure@10", "ndcg@10"]
    options: dict[str, Any] = {"items": items, "convention": {"foreign_items": "ignore"}}
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions)
    report = exactk.spark.evaluate(**of_spark, metrics=metrics, num_buckets=buckets, **options)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


def test_tasks_add_many_states(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = SparkCase("int64", tmp_path, session)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    collect, collected = _frames.collect, []

    def count(frame: DataFrame) -> Any:
        states = collect(frame)
        collected.append(len(states))
        return states

    monkeypatch.setattr(_frames, "_MOST_STATES", 8)
    monkeypatch.setattr(_frames, "collect", count)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions)
    for buckets in (8, 9):
        assert exactk.spark.evaluate(**of_spark, metrics=METRICS, num_buckets=buckets).state == whole.state
    assert collected == [8, 1]


def test_states_are_kept_and_merged(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("int64", tmp_path, session)
    truth, predictions = case.frame(case.truth), case.frame(case.predictions)
    is_even = functions.col("user_id") % 2 == 0
    for name, users in (("even", is_even), ("odd", ~is_even)):
        states = exactk.spark.states(truth.where(users), predictions.where(users), METRICS, num_buckets=3)
        assert states.columns == ["bucket", "state", "facts", "error"]
        states.write.parquet(str(tmp_path / name))
    both = session.read.parquet(str(tmp_path / "even")).union(session.read.parquet(str(tmp_path / "odd")))
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    assert exactk.spark.merge(both).state == whole.state
    with pytest.raises(exactk.InputError, match=r"columns of exactk.spark.states, found no error"):
        exactk.spark.merge(both.drop("error"))
    with pytest.raises(exactk.InputError, match="frame: expected at least one state, found none"):
        exactk.spark.merge(both.limit(0))


def test_values_of_users_with_null_for_those_who_are_skipped(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("string", tmp_path, session)
    of_spark = case.frames(truth=case.truth, predictions=case.predictions)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, per_user=True)
    frame = exactk.spark.per_user(**of_spark, metrics=METRICS)
    assert frame.columns == ["user_id", *whole]
    rows = {row[0]: row[1:] for row in frame.collect()}
    expected = dict(
        zip(whole.users.tolist(), zip(*(whole.per_user[name].tolist() for name in whole), strict=True), strict=True)
    )
    assert rows == {user: tuple(None if one != one else one for one in ones) for user, ones in expected.items()}  # noqa: PLR0124 - NaN
    assert any(None in ones for ones in rows.values())
    (mean,) = frame.agg(functions.avg("`ndcg@10`")).first()
    assert mean == pytest.approx(whole["ndcg@10"], rel=1e-12)


def test_no_rows(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("int64", tmp_path, session)
    of_spark = case.frames(truth=case.truth.slice(0, 0), predictions=case.predictions.slice(0, 0))
    whole = exactk.evaluate(case.truth.slice(0, 0), case.predictions.slice(0, 0), "ndcg@5")
    assert exactk.spark.evaluate(**of_spark, metrics="ndcg@5").state == whole.state


def test_faults_name_the_user_and_what_the_types_show_needs_no_job(session: SparkSession, tmp_path: Path) -> None:
    case = SparkCase("string", tmp_path, session)
    truth, predictions = case.frame(case.truth), case.frame(case.predictions)
    repeated = predictions.union(predictions.where("user_id = 'u30'").limit(1))
    with pytest.raises(exactk.InputError, match=r"again; .* \(user 'u30'\) \(in 1 of 8 buckets\)$"):
        exactk.spark.evaluate(truth, repeated, METRICS)
    with pytest.raises(PythonException, match=r"again; .* \(user 'u30'\)"):
        exactk.spark.per_user(truth, repeated, METRICS).collect()
    tracker = session.sparkContext.statusTracker()
    session.sparkContext.setJobGroup("checks", "")
    integers = predictions.withColumn("user_id", functions.lit(1))
    for frame, message in (
        (integers, "user: expected ids of one kind"),
        (predictions.withColumn("user_id", functions.lit(1.5)), "predictions.user_id: expected keys of integers or strings, found double"),
        (predictions.withColumn("user_id", functions.col("user_id").cast("binary")), "found binary"),
        (predictions.withColumn("item_id", functions.lit(1).cast("decimal(9, 2)")), "predictions.item_id: expected .* found decimal"),
        (predictions.drop("score"), "predictions: expected a score or rank column"),
        ([1], "predictions: expected a data frame of Spark 3.4 or newer, found list"),
    ):  # fmt: skip
        with pytest.raises(exactk.ExactkError, match=message):
            exactk.spark.evaluate(truth, frame, METRICS)
    assert tracker.getJobIdsForGroup("checks") == []
    nulls = predictions.withColumn("user_id", functions.expr("nullif(user_id, 'u31')"))
    with pytest.raises(exactk.InputTypeError, match=r"predictions.user_id: expected a value in every row.*\(in 1 of 8"):
        exactk.spark.evaluate(truth, nulls, METRICS)
    with pytest.raises(exactk.InputError, match="num_buckets: expected an integer from 1 on, found 0"):
        exactk.spark.evaluate(truth, predictions, METRICS, num_buckets=0)


def test_the_page_runs(session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its code for Spark, on the frames that it speaks of."""
    case = SparkCase("int64", tmp_path, session)
    frames = case.frames(
        truth=case.truth.join(case.groups, "user_id"), predictions=case.predictions, train=case.exclude
    )
    frames["popularity"] = frames["predictions"].where("item_id % 2 = 0")
    blocks = page_blocks("Spark")
    arrays = frames["predictions"].groupBy("user_id").agg(functions.collect_list(functions.struct("item_id", "score")))
    model = SimpleNamespace(recommendForAllUsers=lambda _: arrays)
    variables = {**frames, "model": model, "exactk": exactk}
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
    frame = session.createDataFrame([("ann", "a", 0.5)], "user string, item string, score double")
    for argument, found in (
        (functions.col("item"), "pyspark.Column"),
        (pa.table({"user": []}), "pyarrow.Table"),
        (None, "NoneType"),
    ):
        with pytest.raises(
            exactk.InputTypeError, match=rf"^truth: expected a data frame of Spark 3.4 or newer, found {found}$"
        ):
            exactk.spark.evaluate(argument, frame, "mrr")
    named = frame.withColumnRenamed("user", "mrr")
    with pytest.raises(
        exactk.InputError, match=r"^user: expected a column that is not named like a value, found 'mrr'$"
    ):
        exactk.spark.per_user(named, named, "mrr", user="mrr")
