"""Typical calls and what type checkers make of them: mypy and pyright read this file, and pytest runs it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, assert_type, get_args, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.typing import NDArray

import exactk
import exactk.typing as types
from exactk.typing import ConventionLike, ExclusionsLike, MetricsLike, PredictionsLike, TruthLike, WeightsLike
from rankings import rankings_of

TRUTH = {"ann": ["film", "song"], "bob": ["film"]}
RANKED = {"ann": ["song", "book"], "bob": ["film"]}
SCORES = np.array([[0.5, 0.25, 1.0], [0.1, 0.7, 0.2]])
FRAME = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["film", "song", "film"]})
RANKED_FRAME = FRAME.assign(score=[0.5, 0.25, 1.0])


def test_custom_metrics() -> None:
    def hits(judged: exactk.results.JudgedLists) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return judged.lengths, judged.relevant

    metric = exactk.custom("hits_per_item", hits, k=2, range=(0, 2), average="micro")
    assert_type(metric, exactk.results.CustomMetric)
    assert_type(exactk.evaluate(TRUTH, RANKED, metric), exactk.Report)
    assert_type(exactk.evaluate(TRUTH, RANKED, ["recall@2", metric]), exactk.Report)
    several: MetricsLike = (metric, "mrr")
    assert_type(exactk.compare(TRUTH, {"a": RANKED}, several), exactk.Comparison)


def test_containers() -> None:
    evaluate = exactk.evaluate
    assert_type(evaluate([[1, 4], [21]], [[4, 2], [3, 21]], "recall@2"), exactk.Report)
    assert_type(evaluate([{1, 4}, None], [(4, 2), range(3)], "recall@2"), exactk.Report)
    assert_type(evaluate([{1: 3.0, 4: 1.0}], [{4: 0.5, 2: 0.25}], "ndcg@2"), exactk.Report)
    assert_type(evaluate([[(1, 3.0), (4, 1.0)]], [[(4, 0.5), (2, 0.25)]], "ndcg@2"), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "recall@2"), exactk.Report)
    assert_type(evaluate({"ann": {"film": 3.0}}, {"ann": {"film": 0.5}}, "ndcg@1"), exactk.Report)
    assert_type(evaluate({"ann": {"film"}}, {"ann": ("film", "song")}, "recall@1"), exactk.Report)
    assert_type(evaluate(np.array([[1, 4], [2, -1]]), np.array([[4, 2], [3, 2]]), "recall@2"), exactk.Report)
    assert_type(evaluate(np.eye(2, 3) > 0, SCORES, "recall@1"), exactk.Report)
    assert_type(evaluate([[0], [1]], exactk.Scores(SCORES, min_score=0.2), "recall@1"), exactk.Report)
    assert_type(evaluate(FRAME, RANKED_FRAME, "recall@1", user="user", item="item"), exactk.Report)
    columns = {"user": [1], "item": [2]}
    assert_type(evaluate(pl.DataFrame(columns), pl.LazyFrame({**columns, "score": [1]}), "mrr"), exactk.Report)
    assert_type(evaluate(pa.table(columns), pa.table({**columns, "rank": [1]}), "mrr"), exactk.Report)
    assert_type(evaluate(scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csr_array(np.eye(2)), "mrr"), exactk.Report)
    assert_type(evaluate([[0], [1]], exactk.topk(SCORES, 2), "recall@2"), exactk.Report)
    assert_type(evaluate([[0], [1]], exactk.Embeddings(SCORES, np.eye(3), "cosine"), "recall@2"), exactk.Report)
    keyed = exactk.Scores(SCORES, users=["ann", "bob"], items=["film", "song", "book"])
    assert_type(evaluate(TRUTH, keyed, "recall@1"), exactk.Report)
    assert_type(evaluate(FRAME.groupby("user")["item"].agg(list), RANKED, "recall@1"), exactk.Report)
    assert_type(evaluate(exactk.Truth([0, 1], [4]), exactk.Rankings([0, 2], [4, 2]), "mrr"), exactk.Report)
    assert_type(evaluate([[7]], exactk.SparseScores([0, 2], [7, 9], [1, 3]), "mrr"), exactk.Report)
    assert_type(evaluate(FRAME, exactk.Batches(lambda: [RANKED_FRAME]), "mrr"), exactk.Report)
    evaluator = exactk.Evaluator(["ndcg@2", "mrr"], convention="ranx")
    assert_type(evaluator.update(FRAME, RANKED_FRAME, exclude={"ann": ["book"]}), None)
    assert_type((evaluator.compute(), evaluator.state), tuple[exactk.Report, exactk.State])
    assert_type(evaluate(None, RANKED, "novelty@2(foreign_items=count)", items=TRUTH), exactk.Report)
    items = exactk.Items(["film", "song", "book"], train=FRAME, values=[1.0, 2.5, 3.0], item_groups={"film": "new"})
    assert_type(evaluate(None, RANKED, "arp@2", items=items), exactk.Report)
    assert_type(exactk.Items(pd.Index(["film"]), popularity=pd.Series({"film": 2}), train_users=3), exactk.Items)
    assert_type(exactk.Items(10, popularity=np.arange(10)).popularity, NDArray[np.int64] | None)


def blocks() -> Iterator[tuple[list[list[int]], list[list[int]]]]:
    yield [[1]], [[1, 2]]
    yield [[3]], [[2, 3]]


def test_options() -> None:
    evaluate = exactk.evaluate
    assert_type(evaluate(None, blocks(), ["mrr", "recall@2"]), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, (f"recall@{k}" for k in (1, 2))), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr,recall@2", convention="ranx"), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", convention={"base": "ranx", "ndcg.gain": "exp2"}), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", convention=exactk.conventions["ranx"]), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", exclude={"ann": ["book"]}, num_threads=2), exactk.Report)
    assert_type(evaluate([[0], [1]], SCORES, "mrr", exclude=[[1], []], candidates=[0, 1]), exactk.Report)
    assert_type(evaluate([[0], [1]], SCORES, "mrr", candidates=[[0, 1], [1, 2]]), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", weights={"ann": 1, "bob": 2.5}), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", weights=pd.Series({"ann": 1.0, "bob": 2.5})), exactk.Report)
    assert_type(evaluate([[0], [1]], SCORES, "mrr", weights=np.ones(2), groups=["a", "b"]), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", groups={"ann": "new", "bob": "old"}, per_user=True), exactk.Report)
    assert_type(evaluate(TRUTH, RANKED, "mrr", progress=lambda done, total: (done, total)), exactk.Report)


def test_reports() -> None:
    report = exactk.evaluate(TRUTH, RANKED, ["recall@2", "mrr"], per_user=True, groups={"ann": "new", "bob": "old"})
    assert_type(report["recall@2"], float)
    assert_type(report.standard_deviation["mrr"], float)
    assert_type(report.per_user["mrr"], NDArray[np.float64])
    assert_type(report.users, NDArray[Any])
    assert_type(report.by_group["new"]["mrr"], float)
    assert_type(report.counts, Mapping[str, Any])
    assert_type(report.convention, exactk.Convention)
    assert_type(report.state, exactk.State)
    assert_type(report.to_dict(), dict[str, Any])
    assert_type(exactk.Report.from_json(report.to_json()), exactk.Report)
    assert_type(exactk.merge([report, report.state]), exactk.Report)
    assert_type(exactk.choose(report, "recall@2", {"mrr": 0.5}).best is None, bool)


def test_functions() -> None:
    assert_type(exactk.ndcg_at_k(TRUTH, RANKED, k=2), float)
    assert_type(exactk.average_precision_at_k(TRUTH, RANKED, k=2, convention="trec_eval"), float)
    assert_type(exactk.reciprocal_rank_at_k([[1]], [[1, 2]], 2, exclude=[[3]]), float)
    assert_type(exactk.fbeta_at_k(FRAME, RANKED_FRAME, 2, beta=2), float)
    assert_type(exactk.auc([[0], [1]], SCORES), float)
    best = exactk.topk(SCORES, k=2, exclude=[[2], []], ties="highest_id", nan="last")
    assert_type(best.items, NDArray[Any])
    assert_type(exactk.topk({"ann": {"film": 0.5}}, 1).scores, NDArray[Any])
    assert_type(exactk.neighbors(SCORES, 1, similarity="euclidean"), exactk.results.TopK)
    assert_type(exactk.as_truth(FRAME), exactk.Truth)
    assert_type(rankings_of([[4, 2]]), exactk.Rankings)
    assert_type(exactk.as_exclusions([[4, 2]]), exactk.Exclusions | None)
    assert_type(exactk.Truth.from_dense([[3, 0, 1]]), exactk.Truth)
    assert_type(exactk.Truth.from_frame(FRAME, user="user", item="item"), exactk.Truth)
    ratings = exactk.from_ratings(["ann", "bob"], [7, 5], [2, 5.0], pd.Series([4.9, 4.5]))
    assert_type(ratings, tuple[exactk.Truth, exactk.SparseScores])
    assert_type(exactk.reference.evaluate(TRUTH, RANKED, "mrr", convention="ranx"), exactk.Report)


def test_comparisons() -> None:
    comparison = exactk.compare(TRUTH, {"one": RANKED, "other": pd.DataFrame(RANKED_FRAME)}, ["mrr", "recall@2"])
    assert_type(comparison, exactk.Comparison)
    assert_type(exactk.compare([[0], [1]], {"a": SCORES, "b": [[1], [2]]}, convention="ranx"), exactk.Comparison)
    assert_type(exactk.compare(None, iter([([[1]], {"a": [[1]], "b": [[2]]})]), "mrr"), exactk.Comparison)
    assert_type(comparison["mrr"]["one"], float)
    assert_type(comparison.reports["one"], exactk.Report)
    assert_type(comparison.best("mrr"), tuple[str, ...])
    assert_type(exactk.compare_reports({"a": comparison.reports["one"]}), exactk.Comparison)
    assert_type(exactk.reference.compare(TRUTH, {"one": RANKED}, "mrr"), exactk.Comparison)
    runs = {"a": ["a-1", "a-2"]}
    systems = {"a-1": RANKED, "a-2": RANKED, "b": RANKED}
    of_runs = exactk.compare(TRUTH, systems, "mrr", runs=runs)
    assert_type(of_runs.differences["b", "a", "mrr"].degrees_of_freedom, float)
    assert_type(exactk.compare_reports(of_runs.reports, runs={"a": ("a-1", "a-2")}), exactk.Comparison)
    assert_type(exactk.reference.compare(TRUTH, systems, "mrr", runs=runs), exactk.Comparison)


def test_conventions() -> None:
    ranx = exactk.conventions["ranx"]
    assert_type(ranx, exactk.Convention)
    assert_type([name for name in exactk.conventions if "trec" in name], list[str])
    assert_type(ranx.replace(ties="expected", min_grade="any", gain_table=[0, 1], name="mine"), exactk.Convention)
    assert_type(exactk.Convention(nan="last", overrides={"ndcg": {"gain": "exp2"}}), exactk.Convention)
    assert_type(ranx.diff({"base": "standard", "nan": "last"}), dict[str, tuple[Any, Any]])
    assert_type(ranx.min_grade, float | Literal["any"] | None)
    assert_type(exactk.metrics["ndcg"].summary, str)
    result = exactk.matching_conventions(TRUTH, RANKED, {"map@10": 0.75, "mrr": "1.0"})
    assert_type(result.names, tuple[str, ...])
    assert_type(result.rows[0].numbers["mrr"], float)


def test_metrics_are_objects() -> None:
    metrics, lists = exactk.metrics, exactk.agreement_metrics
    assert_type(metrics.ndcg @ 10, str)
    assert_type(metrics.recall @ [5, 10], str)
    assert_type(metrics.map @ 10, str)
    assert_type(metrics.fbeta.with_(beta=2) @ 10, str)
    assert_type(metrics.ndcg.with_(gain="exp2", min_grade=3) @ range(1, 3), str)
    assert_type(metrics.ndcg(TRUTH, RANKED, 2), float)
    assert_type(metrics.recall(FRAME, RANKED_FRAME, k=2, convention="ranx"), float)
    assert_type(metrics.auc([[0], [1]], SCORES), float)
    assert_type(metrics.ndcg.summary, str)
    assert_type(metrics["ndcg"].name, str)
    assert_type([one.direction for one in metrics.values()], list[str])
    assert_type(lists.rbo.with_(p=0.8) @ 10, str)
    assert_type(lists.overlap(RANKED, RANKED, k=2), float)
    assert_type(exactk.evaluate(TRUTH, RANKED, metrics.ndcg @ 2), exactk.Report)
    assert_type(exactk.evaluate(TRUTH, RANKED, [metrics.ndcg @ 2, "recall@2", metrics.mrr]), exactk.Report)
    assert_type(exactk.evaluate(TRUTH, RANKED, metrics.mrr), exactk.Report)
    mixed: MetricsLike = [metrics.ndcg @ 2, metrics.mrr]
    assert_type(exactk.compare(TRUTH, {"a": RANKED, "b": RANKED}, mixed), exactk.Comparison)
    goals = {metrics.ndcg @ 2: 0.5}
    assert_type(goals, dict[str, float])
    assert_type(exactk.evaluate(TRUTH, RANKED, list(goals))[metrics.ndcg @ 2], float)


def test_wrappers_take_the_public_types() -> None:
    def quality(
        truth: TruthLike,
        predictions: PredictionsLike,
        metrics: MetricsLike = "ndcg@10",
        convention: ConventionLike = "ranx",
        exclude: ExclusionsLike | None = None,
        weights: WeightsLike | None = None,
    ) -> exactk.Report:
        return exactk.evaluate(truth, predictions, metrics, convention=convention, exclude=exclude, weights=weights)

    assert_type(quality(FRAME, RANKED_FRAME, convention={"nan": "last"}), exactk.Report)
    assert_type(quality(TRUTH, exactk.as_predictions(RANKED), exclude={"ann": ["book"]}), exactk.Report)


def test_paths(tmp_path: Path) -> None:
    qrels, run, weights = tmp_path / "test.qrels", str(tmp_path / "bm25.run"), tmp_path / "weights.csv"
    texts = {qrels: "q1 0 d1 1\n", Path(run): "q1 Q0 d1 1 9.5 bm25\n", weights: "query,weight\nq1,2\n"}
    for path, text in texts.items():
        path.write_text(text)
    assert_type(exactk.evaluate(qrels, run, "mrr", weights=weights), exactk.Report)
    assert_type(exactk.compare(str(qrels), {"bm25": run}, "mrr"), exactk.Comparison)
    assert_type(exactk.as_truth(qrels), exactk.Truth)
    assert_type(exactk.topk(run, 1), exactk.results.TopK)


def test_type_checkers_refuse_wrong_arguments() -> None:
    """Each comment is an error of the type checker if the call is none."""
    for call in (
        lambda: exactk.evaluate(3, RANKED, "mrr"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.evaluate([1, 2], [[1], [2]], "mrr"),  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
        lambda: exactk.evaluate(TRUTH, 0.5, "mrr"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.evaluate(TRUTH, RANKED, 10),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.evaluate(TRUTH, RANKED, "mrr", convention=3),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.evaluate(TRUTH, RANKED, "mrr", threads=2),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.compare(TRUTH, RANKED_FRAME, "mrr"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.compare(TRUTH, {"one": 3}, "mrr"),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
        lambda: exactk.compare(TRUTH, {"a": RANKED, "b": RANKED}, "mrr", runs=["a", "b"]),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.topk(SCORES, 1, ties="expected"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.topk(SCORES, 1, nan="first"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.conventions["ranx"].replace(gain="cubic"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.Convention(nan="first"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.Embeddings(SCORES, SCORES, "jaccard"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.average_precision_at_k(TRUTH, RANKED, "10"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.reference.topk(SCORES, 1, nan="first"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.metrics.ndgc @ 10,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        lambda: exactk.metrics.ndcg @ "10",  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]
        lambda: exactk.metrics.ndcg @ 1.5,  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]
        lambda: exactk.metrics.ndcg @ ["10"],  # type: ignore[list-item]  # pyright: ignore[reportOperatorIssue]
        lambda: exactk.metrics.fbeta.with_(bta=2),  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        lambda: exactk.metrics.fbeta.with_(beta="2"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.metrics.ndcg.with_(gain="cubic"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.metrics.ndcg(TRUTH),  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        lambda: exactk.metrics.ndcg(TRUTH, RANKED, "10"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: exactk.metrics.ndcg(TRUTH, RANKED, groups={}),  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        lambda: exactk.agreement_metrics.ndcg @ 10,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    ):
        with pytest.raises((exactk.ExactkError, TypeError, AttributeError)):
            call()
    with pytest.raises(AttributeError):
        exactk.evalute  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


def test_the_literals_are_those_of_the_registries() -> None:
    assert get_args(types.PresetName) == tuple(exactk.conventions)
    hints = get_type_hints(types.FieldChanges)
    assert set(hints) == {*exactk.conventions["standard"].to_dict()}
    assert hints["ties"] is types.Ties


def test_every_public_argument_has_a_type() -> None:
    for name in exactk.__all__:
        call = getattr(exactk, name)
        if callable(call) and not (isinstance(call, type) and issubclass(call, Exception)):
            for parameter in inspect.signature(call).parameters.values():
                assert str(parameter.annotation).partition(" ")[0] not in {"object", "Any", str(parameter.empty)}, name


def test_every_type_is_listed() -> None:
    assert sorted(types.__all__) == sorted(set(types.__all__))
    assert all(hasattr(types, name) for name in types.__all__)
