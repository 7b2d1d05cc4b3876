"""Measures of other libraries, by metrics and presets: what the libraries returned for inputs that have every edge.

They were recorded by hand, some with programs that are in no registry: EXACTK_DATA names the folder. A value is compared
to 1e-12, or to 2e-7 where the library computes in single precision.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import exactk

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECORDING = Path(os.environ.get("EXACTK_DATA", "."), "measures_golden.json")
pytestmark = [
    pytest.mark.skipif("EXACTK_DATA" not in os.environ, reason="needs EXACTK_DATA"),
    pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning"),
]
DOUBLE, SINGLE = 1e-12, 2e-7


@cache
def recorded(name: str) -> Any:
    return json.loads(RECORDING.read_text(encoding="utf-8"))[name]


def count_equal(ours: Sequence[float], theirs: Sequence[float | str | None], tolerance: float = DOUBLE) -> int:
    """Check that the numbers are equal, NaN to None, and return how many there are."""
    for one, other in zip(ours, theirs, strict=True):
        is_equal = math.isnan(one) if other in {None, "NaN"} else abs(one - float(other or 0)) <= tolerance
        assert is_equal, (ours, theirs)
    return len(theirs)


# trec_eval, and what contains it

IPREC = {f"iprec_at_recall_{recall:.2f}": f"interpolated_precision(recall={recall})" for recall in np.arange(11) / 10}
RPREC = {f"Rprec_mult_{fifths / 5:.2f}": f"r_precision(multiple={fifths / 5})" for fifths in range(1, 11)}
UNJUDGED = {f"unj_{k}": f"unjudged@{k}" for k in (1, 3, 5, 10, 20)}
OF_TREC_EVAL = {
    "-q -m all_trec": {
        **IPREC,
        **RPREC,
        **UNJUDGED,
        "11pt_avg": "eleven_point_precision",
        "rbp_resid": "rbp_residual(p=0.9)",
    },
    "-q -m iprec_at_recall.0.25,0.5,0.75": {
        f"iprec_at_recall_{text}": f"interpolated_precision(recall={text})" for text in ("0.25", "0.50", "0.75")
    },
    "-q -m Rprec_mult.0.35,5": {
        "Rprec_mult_0.35": "r_precision(multiple=0.35)",
        "Rprec_mult_5.00": "r_precision(multiple=5)",
    },
    "-q -m unj.1,3": UNJUDGED,
    "-q -m rbp_resid.p=0.8": {"rbp_resid_p=0.8": "rbp_residual(p=0.8)"},
}


def run_and_qrels(queries: Sequence[str]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    inputs = recorded("inputs")
    run = {query: dict(inputs[query]["run"]) for query in queries if inputs[query]["run"]}
    return {query: inputs[query]["qrels"] for query in queries if inputs[query]["qrels"]}, run


def values_of(
    queries: Sequence[str], metrics: Sequence[str], **options: Any
) -> tuple[dict[str, list[float]], exactk.Report]:
    """Return the values of each query, NaN where it has none, and the report."""
    qrels, run = run_and_qrels(queries)
    report = exactk.evaluate(qrels, run, [*metrics], per_user=True, **options)
    rows = {query: row for row, query in enumerate(report.users)}
    by_query = {
        metric: [float(report.per_user[metric][rows[query]]) if query in rows else math.nan for query in queries]
        for metric in metrics
    }
    return by_query, report


@pytest.mark.parametrize(("version", "preset", "count"), [("9.0.8", "trec_eval_9", 432), ("10.0", "trec_eval", 544)])
def test_trec_eval(version: str, preset: str, count: int) -> None:
    queries, compared = recorded("trec_eval")["queries"], 0
    for options, names in OF_TREC_EVAL.items():
        answers = recorded("trec_eval")[version].get(options, {})
        asked = {name: metric for name, metric in names.items() if name in answers}
        if not asked:
            continue
        ours, report = values_of(queries, [*asked.values()], convention=preset)
        for name, metric in asked.items():
            compared += count_equal(ours[metric], answers[name]["q"])
            compared += count_equal([report[metric]], [answers[name]["all"]])
    assert compared == count


def test_ir_measures() -> None:
    names = {f"IPrec@{recall}": f"interpolated_precision(recall={recall})" for recall in (0.0, 0.1, 0.5, 1.0)}
    names |= {
        "IPrec(rel=2)@0.5": "interpolated_precision(recall=0.5,min_grade=2)",
        "Accuracy": "pairwise_accuracy",
        "Accuracy(rel=2)": "pairwise_accuracy(min_grade=2)",
        "Accuracy@3": "pairwise_accuracy@3",
        "Accuracy@5": "pairwise_accuracy@5",
    }
    answers, compared = recorded("ir_measures"), 0
    for name, metric in names.items():
        # It ends with an error at lists of relevant items alone, which were left out of these calls.
        is_left_out = name.startswith("Accuracy") and "rel" not in name
        queries = [query for query in answers["queries"] if not (is_left_out and query in {"q09", "q11"})]
        theirs = [
            one
            for query, one in zip(answers["queries"], answers["measures"][name]["q"], strict=True)
            if query in queries
        ]
        ours, report = values_of(queries, [metric], convention="ir_measures")
        compared += count_equal(ours[metric], theirs)
        compared += count_equal([report[metric]], [answers["measures"][name]["all"]])
    assert compared == 156


# scikit-learn and torchmetrics: rows of labels and of scores


def rows_of(labels: Sequence[Sequence[int]]) -> list[list[int]]:
    return [[item for item, label in enumerate(row) if label] for row in labels]


def test_label_rankings_of_sklearn() -> None:
    data, compared = recorded("sklearn_torchmetrics_surprise")["sklearn_torchmetrics"], 0
    truth, scores = rows_of(data["y"]), np.array(data["score"])
    metrics = ["coverage_error", "label_ranking_loss"]
    report = exactk.evaluate(truth, scores, metrics, convention="sklearn", per_user=True)
    weighted = exactk.evaluate(truth, scores, metrics, convention="sklearn", weights=np.arange(1.0, 7))
    for metric in metrics:
        compared += count_equal(report.per_user[metric].tolist(), data[metric]["rows"])
        compared += count_equal([report[metric], weighted[metric]], [data[metric]["all"], data[metric]["weights 1..6"]])
    assert compared == 16


def of_row(row: Mapping[str, Any], share: str, preset: str, top_k: int | None = None) -> float:
    """Return the AUC of a row, or of its first items as if there were no others."""
    scores: NDArray[Any] = np.array(row["score"], np.float64 if preset == "sklearn" else np.float32)
    kept = np.argsort(-scores, kind="stable")[:top_k]
    truth = exactk.Truth.from_dense(np.array(row["y"])[np.newaxis, kept])
    metric = "auc" if share == "None" else f"auc(max_fpr={share})"
    return exactk.evaluate(truth, scores[np.newaxis, kept], metric, convention=preset)[metric]


def calls_of_roc() -> Iterator[tuple[Mapping[str, Any], str, float | str]]:
    for row in recorded("sklearn_torchmetrics_surprise")["sklearn_torchmetrics"]["roc_auc"].values():
        yield from ((row, call, value) for call, value in row.items() if call not in {"y", "score"})


def test_partial_areas_of_sklearn_and_torchmetrics() -> None:
    counts = {"sklearn": 0, "torchmetrics": 0}
    for row, call, value in calls_of_roc():
        library, rest = call.split(" ", 1)
        top_k = 4 if "top_k" in rest else None
        ours = of_row(row, rest.rpartition("=")[2], library, top_k)
        counts[library] += count_equal([ours], [value], DOUBLE if library == "sklearn" else SINGLE)
    assert counts == {"sklearn": 43, "torchmetrics": 86}


# RecTools and RePlay


def test_rectools() -> None:
    data, compared = recorded("rectools"), 0
    truth: dict[int, list[str]] = {}
    lists: dict[int, list[str]] = {}
    for user, item in data["interactions"]:
        truth.setdefault(user, []).append(item)
    for user, item, _ in data["reco"]:
        lists.setdefault(user, []).append(item)
    names = {
        "PAP@{k} ignore": "pap(misses={k})",
        "PartialAUC@{k} ignore": "partial_auc(misses={k})",
        "Accuracy@{k}": "accuracy@{k}(num_items=11)",
        "MCC@{k}": "mcc@{k}(num_items=11)",
    }
    for name, metric in names.items():
        for k in (1, 2, 3, 5):
            asked, answer = metric.format(k=k), data["values"][name.format(k=k)]
            report = exactk.evaluate(truth, lists, asked, convention="rectools", per_user=True)
            compared += count_equal([report[asked]], [answer["mean"]])
            ours = dict(zip(map(str, report.users), report.per_user[asked].tolist(), strict=True))
            compared += count_equal([ours[user] for user in answer["users"]], [*answer["users"].values()])
    assert compared == 96


def test_replay() -> None:
    data, compared = recorded("replay"), 0
    lists = {user: dict(row) for user, row in data["recommendations"].items()}
    for k in (1, 2, 3, 5):
        metric = f"pairwise_accuracy@{k}"
        report = exactk.evaluate(data["ground_truth"], lists, metric, convention="replay", per_user=True)
        compared += count_equal([report[metric]], [data["values"]["RocAuc | mean"][f"RocAuc@{k}"]])
        answer = data["values"]["RocAuc | per user"][f"RocAuc-PerUser@{k}"]
        ours = dict(zip(report.users, report.per_user[metric].tolist(), strict=True))
        compared += count_equal([ours[user] for user in answer], [*answer.values()])
    assert compared == 24
