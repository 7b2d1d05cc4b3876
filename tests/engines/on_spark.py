"""Data frames of Spark, for the tests of all engines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import exactk.spark

MODULE = exactk.spark
CONTAINER = r"a data frame of Spark 3\.4 or newer"
TASK_ERROR = PythonException


def session() -> SparkSession:
    """Return the session, which starts with the first call."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()


@contextmanager
def running() -> Iterator[SparkSession]:
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


def frame(table: pa.Table, partitions: int = 3) -> DataFrame:
    return session().createDataFrame(table).repartition(partitions)


def table_of(frame: DataFrame) -> pa.Table:
    return frame.toArrow()


def write(frame: DataFrame, path: Path) -> None:
    frame.write.parquet(str(path))


def read(path: Path) -> DataFrame:
    return session().read.parquet(str(path))


@contextmanager
def no_task() -> Iterator[Any]:
    """Fail if a job is run."""
    context = session().sparkContext
    context.setJobGroup("none", "")
    yield
    assert context.statusTracker().getJobIdsForGroup("none") == []
    context.setLocalProperty("spark.jobGroup.id", None)
