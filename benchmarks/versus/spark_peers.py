"""The evaluators of RePlay and recommenders on Spark, and ours, in one session, from the same Parquet files."""

from __future__ import annotations

import json
import os
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.timing import compete, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, float]
    Call = Callable[[], Values]

Metrics: TypeAlias = dict[str, tuple[int, ...]]  # to cutoffs

BUCKETS, ROUNDS = 8, 3
REPLAY: Metrics = {
    "precision": (5, 10),
    "recall": (5, 10),
    "ndcg": (5, 10),
    "map": (10,),
    "mrr": (10,),
    "hit_rate": (10,),
}
RECOMMENDERS: Metrics = {"precision": (5, 10), "recall": (5, 10), "ndcg": (5, 10), "map": (5, 10)}
# rows of Spark have no order, and its evaluator leaves out users without lists in nDCG too, unlike the functions for pandas
WITHOUT_ORDER = {"base": "recommenders", "ties": "raise", "ndcg.users": "both"}


def strings(metrics: Metrics) -> list[str]:
    """Return the metrics as exactk spells them."""
    return [f"{metric}@{k}" for metric, cutoffs in metrics.items() for k in cutoffs]


def replay(truth: Any, lists: Any) -> Call:  # noqa: ANN401 - data frames of Spark
    """RePlay: all metrics in one call."""
    from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall

    metrics = {"precision": Precision, "recall": Recall, "ndcg": NDCG, "map": MAP, "mrr": MRR, "hit_rate": HitRate}
    evaluate = OfflineMetrics(
        [metrics[metric](list(cutoffs)) for metric, cutoffs in REPLAY.items()],
        query_column="user_id",
        item_column="item_id",
        rating_column="score",
    )

    def values() -> Values:
        found = evaluate(lists, truth)
        spelled = {f"{metric}@{k}": f"{metrics[metric].__name__}@{k}" for metric, ks in REPLAY.items() for k in ks}
        return {ours: found[theirs] for ours, theirs in spelled.items()}

    return values


def recommenders(truth: Any, lists: Any) -> Call:  # noqa: ANN401 - data frames of Spark
    """recommenders: an evaluator per cutoff, which computes each value when it is asked."""
    from pyspark.sql import functions
    from recommenders.evaluation.spark_evaluation import SparkRankingEvaluation

    names = {"precision": "precision_at_k", "recall": "recall_at_k", "ndcg": "ndcg_at_k", "map": "map_at_k"}
    rated = truth.withColumn("rating", functions.lit(1.0))

    def values() -> Values:
        evaluators = {
            k: SparkRankingEvaluation(rated, lists, k, "top_k", "user_id", "item_id", "rating", "score")
            for k in (5, 10)
        }
        return {
            f"{metric}@{k}": getattr(evaluators[k], names[metric])() for metric, ks in RECOMMENDERS.items() for k in ks
        }

    return values


def exactk_on_spark(metrics: Metrics, convention: Any, truth: Any, lists: Any) -> Values:  # noqa: ANN401 - as above
    """exactk on Spark: all values in one call."""
    import exactk.spark

    report = exactk.spark.evaluate(truth, lists, strings(metrics), convention=convention, num_buckets=BUCKETS)
    return {value.partition("(")[0]: number for value, number in report.items()}


def exactk_in_memory(metrics: Metrics, convention: Any, truth: Any, lists: Any) -> Values:  # noqa: ANN401 - as above
    """exactk on the same rows as tables in memory, in one thread."""
    import exactk

    report = exactk.evaluate(truth, lists, strings(metrics), convention=convention, num_threads=1)
    return {value.partition("(")[0]: number for value, number in report.items()}


def calls(folder: Path) -> dict[str, Call]:
    """Return what is timed, by name."""
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", str(BUCKETS))
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "100000").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    paths = [str(folder / f"{name}.parquet") for name in ("truth", "lists")]
    truth, lists = map(session.read.parquet, paths)
    tables = list(map(pq.read_table, paths))
    return {
        "RePlay": replay(truth, lists),
        "exactk for RePlay": partial(exactk_on_spark, REPLAY, "replay", truth, lists),
        "exactk for RePlay, in memory": partial(exactk_in_memory, REPLAY, "replay", *tables),
        "recommenders": recommenders(truth, lists),
        "exactk for recommenders": partial(exactk_on_spark, RECOMMENDERS, WITHOUT_ORDER, truth, lists),
        "exactk for recommenders, in memory": partial(exactk_in_memory, RECOMMENDERS, WITHOUT_ORDER, *tables),
    }


def main(folder: str) -> None:
    """Print the values and the seconds of each call, as a line of JSON."""
    warnings.simplefilter("ignore")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what Spark prints goes where it does no harm
        timed = calls(Path(folder))
        values = {name: call() for name, call in timed.items()}
        samples = compete({name: partial(seconds, call) for name, call in timed.items()}, ROUNDS)
        times = {name: sample.rounds for name, sample in samples.items()}
        print(json.dumps({"values": values, "seconds": times}), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
