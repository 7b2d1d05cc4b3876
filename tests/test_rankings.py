"""Values that are ranked in different ways in one call: by metric, score_dtype and negative_infinity differ."""

from __future__ import annotations

import math
import random
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from refusals import refused
from strategies import examples, score_evaluations, scores, sparse_scores
from test_reference import assert_same, report_or_error

STANDARD = exactk.conventions["standard"]
NARROW = STANDARD.replace(score_dtype="float32")
INFINITY = math.inf
CLOSE = np.array([[1.0, 1.0 + 1e-9, 0.5]])
ENGINES: list[Any] = [exactk.evaluate, exactk.reference.evaluate]


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f70_scores_are_narrowed_by_metric(evaluate: Any) -> None:
    """The relevant item scores more, and has the higher id where both are one number as float32."""
    metrics = ["precision@1", "recall@1", "reciprocal_rank@2", "reciprocal_rank"]
    overrides = {"recall": {"score_dtype": "native"}, "reciprocal_rank@k": {"score_dtype": "native"}}
    report = evaluate([[1]], CLOSE, metrics, convention=NARROW.replace(overrides=overrides), per_user=True)
    assert dict(report) == dict(zip(metrics, [0.0, 1.0, 1.0, 0.5], strict=True))
    assert {name: row.tolist() for name, row in report.per_user.items()} == {n: [v] for n, v in report.items()}
    other = evaluate([[1]], CLOSE, ["precision@1", "precision@1(score_dtype=float32)"])
    assert list(other.values()) == [1.0, 0.0]


@pytest.mark.parametrize("kind", [scores, sparse_scores], ids=["matrix", "sparse scores"])
@settings(max_examples=examples(120))
@given(data=st.data())
def test_f70_each_value_is_as_if_it_were_asked_for_alone(kind: Any, data: st.DataObject) -> None:
    """Per user, by group and weighted, in the exact sums; the reference shares the join, so each is asked for by itself."""
    evaluation = data.draw(score_evaluations(min_users=1, predictions=kind))
    ways = st.sampled_from(["", "score_dtype=float32", "score_dtype=native", "negative_infinity=exclude"])
    metrics = [
        f"{name}({way})" if way else name
        for name in ("ndcg@3", "recall@2", "num_recommended", "precision@5")
        for way in data.draw(st.lists(ways, min_size=1, max_size=3, unique=True))
    ]
    evaluation = replace(evaluation, metrics=metrics)
    together = report_or_error(evaluation, exactk.evaluate)
    if isinstance(together, exactk.InputError):
        assert_same(evaluation)
        return
    for index, name in enumerate(together.metrics):
        alone = report_or_error(replace(evaluation, metrics=[name]), exactk.evaluate)
        assert isinstance(alone, exactk.Report)
        assert together.state.totals[index] == alone.state.totals[0]
        assert np.array_equal(together.per_user[name], alone.per_user[name], equal_nan=True)
        for label, values in alone.by_group.items():
            assert np.array_equal(together.by_group[label][name], values[name], equal_nan=True)
    assert_same(evaluation)


def test_f70_shards_batches_and_systems_are_ranked_in_each_way() -> None:
    metrics = ["recall@1(score_dtype=float32)", "recall@1", "num_recommended(negative_infinity=exclude)"]
    truth = {"a": [1], "b": [0], "c": [2]}
    rows = [("a", 0, 1.0), ("a", 1, 1.0 + 1e-9), ("b", 0, -INFINITY), ("b", 1, 2.0), ("c", 2, 1.0)]
    frame = pl.DataFrame(rows, schema=["user", "item", "score"], orient="row")
    weights, groups = {"a": 1.0, "b": 2.0, "c": 1.0}, {"a": "x", "b": "y", "c": "x"}
    options: dict[str, Any] = {"weights": weights, "groups": groups, "per_user": True}
    whole = exactk.evaluate(truth, frame, metrics, **options)
    assert list(whole.values()) == [0.25, 0.5, 1.25]
    batches = exactk.Batches(lambda: [frame[:2], frame[2:]])
    report = exactk.evaluate(truth, batches, metrics, **options)
    assert report == whole
    comparison = exactk.compare(truth, {"one": frame, "other": frame}, metrics, **options)
    assert comparison.state["one"] == whole.state
    halves = [({"a": [1]}, frame[:2]), ({"b": [0], "c": [2]}, frame[2:])]
    merged = exactk.merge([exactk.evaluate(*half, metrics) for half in halves])
    assert dict(merged) == dict(exactk.evaluate(truth, frame, metrics))


def test_f70_progress_counts_every_ranking_once() -> None:
    calls: list[tuple[int, int | None]] = []
    metrics = ["recall@1", "recall@1(score_dtype=float32)"]
    exactk.evaluate([[1]] * 9, np.tile(CLOSE, (9, 1)), metrics, progress=lambda *done: calls.append(done))
    assert calls[-1] == (9, 9)
    assert calls == sorted(calls)


MEASURES = {
    "precision@3": "P@3", "recall@3": "R@3", "average_precision@3": "AP@3", "average_precision": "AP",
    "ndcg@3": "nDCG@3", "ndcg": "nDCG", "hit_rate@3": "Success@3", "reciprocal_rank": "RR", "reciprocal_rank@3": "RR@3",
    "r_precision": "Rprec", "bpref": "Bpref", "set_average_precision": "SetAP", "num_recommended": "NumRet",
    "num_relevant": "NumRel", "precision": "SetP", "recall": "SetR", "judged@3": "Judged@3", "judged": "Judged",
    "rbp(p=0.8)": "RBP(rel=1,p=0.8)",
}  # fmt: skip


@pytest.mark.native  # another library's code is not ours to watch
@pytest.mark.parametrize("measure", MEASURES)
def test_f70_every_measure_is_that_of_ir_measures(measure: str) -> None:
    """Grades from -3 to 3; scores that are equal, or equal as float32 alone."""
    ir_measures = pytest.importorskip("ir_measures")
    if measure.startswith("rbp"):
        pytest.importorskip("cwl")
    generator = random.Random(70)  # noqa: S311 - the same draws each time
    documents = [f"d{i}" for i in range(8)]
    theirs = eval(MEASURES[measure], vars(ir_measures))  # noqa: S307 - our own; parse_measure fails on Python 3.14
    for _ in range(80):
        step = generator.choice([0.0, 2.0**-40])
        qrels, run = {}, {}
        for user in ("u", "v"):
            judged = generator.sample(documents, generator.randint(2, 7))
            qrels[user] = {"d9": 1} | {name: generator.choice([-3, -1, 0, 0, 1, 2, 3]) for name in judged}
            listed = generator.sample(documents, generator.randint(1, 8))
            run[user] = {name: generator.choice([1.0, 2.0]) + generator.choice([0, 1, 2]) * step for name in listed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            report: Any = exactk.evaluate(qrels, run, measure, convention="ir_measures", per_user=True)
        ours = dict(zip(report.users.tolist(), report.per_user[measure].tolist(), strict=True))
        values = {value.query_id: value.value for value in ir_measures.iter_calc([theirs], qrels, run)}
        assert ours == {user: pytest.approx(value, abs=1e-12) for user, value in values.items()}, (qrels, run)


def as_sparse_scores(values: Any) -> exactk.SparseScores:
    users, items = values.shape
    return exactk.SparseScores(np.arange(users + 1) * items, np.tile(np.arange(items), users), values.ravel())


KINDS = [np.asarray, as_sparse_scores]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("kind", KINDS, ids=["matrix", "sparse scores"])
@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f73_scores_of_minus_infinity_are_left_out(evaluate: Any, kind: Any, dtype: str) -> None:
    lowest = float(np.finfo(dtype).min)
    values = np.array([[-INFINITY, 0.5, -INFINITY, lowest], [INFINITY, -INFINITY, 1.0, 0.0]], dtype)
    metrics = ["num_recommended", "recall", "reciprocal_rank", "precision(precision_over=list)"]
    truth = [[0, 3], [0, 1]]
    ranked = evaluate(truth, kind(values), metrics, per_user=True)
    assert ranked.table.tolist() == [[4.0, 4.0], [1.0, 1.0], [0.5, 1.0], [0.5, 0.5]]
    assert ranked.counts["relevant_not_rankable"] == 0
    with pytest.warns(exactk.EvaluationWarning, match="2 relevant items .* are dropped for a score of -inf"):
        left_out = evaluate(truth, kind(values), metrics, convention={"negative_infinity": "exclude"}, per_user=True)
    assert left_out.table.tolist() == [[2.0, 3.0], [0.5, 0.5], [0.5, 1.0], [0.5, 1 / 3]]
    assert left_out.counts["relevant_not_rankable"] == 2


@pytest.mark.parametrize("kind", KINDS, ids=["matrix", "sparse scores"])
def test_f73_a_threshold_exclusions_and_candidates_hold_beside_it(kind: Any) -> None:
    values = np.array([[-INFINITY, 3.0, 2.0, 1.0]])
    convention = {"negative_infinity": "exclude"}
    one = exactk.evaluate([[2]], kind(values), "reciprocal_rank", convention=convention, exclude=[[1, 0]])
    assert one["reciprocal_rank"] == 1.0
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item is in exclude"):
        other = exactk.evaluate([[0]], kind(values), "num_recommended", convention=convention, exclude=[[0]])
    assert (other["num_recommended"], other.counts["relevant_not_rankable"]) == (3.0, 0)  # it is counted as excluded
    scored = exactk.Scores(values, min_score=1.5)
    report = exactk.evaluate([[2]], scored, "num_recommended", convention=convention)
    assert report["num_recommended"] == 2.0
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item "):
        report = exactk.evaluate([[0]], values, "num_recommended", convention=convention, candidates=[0, 1])
    assert report["num_recommended"] == 1.0


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f73_an_item_with_another_score_is_rankable(evaluate: Any) -> None:
    repeated = exactk.SparseScores([0, 4], [5, 5, 6, 6], np.array([-INFINITY, 1.0, -INFINITY, -INFINITY]))
    convention = STANDARD.replace(negative_infinity="exclude", duplicate_items="first")
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item "):
        report = evaluate([[5, 6]], repeated, "recall", convention=convention)
    assert (report["recall"], report.counts["relevant_not_rankable"]) == (0.5, 1)


@pytest.mark.parametrize("preset", ["irspack", "irspack_capped"])
def test_f73_irspack_recommends_nothing_of_minus_infinity(preset: str) -> None:
    values = np.array([[-INFINITY, 1.0, -INFINITY]])
    report = exactk.evaluate([[1]], values, ["precision@3", "ndcg@3"], convention=preset)
    assert list(report.values()) == [1.0, 1.0]


def test_f73_nan_that_is_last_is_left_out_too() -> None:
    values = np.array([[math.nan, 1.0, -INFINITY]])
    convention = STANDARD.replace(nan="last", negative_infinity="exclude")
    for evaluate in ENGINES:
        report = evaluate([[1]], values, "num_recommended", convention=convention)
        assert report["num_recommended"] == 1.0


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f73_the_error_about_nan_says_what_becomes_of_it(evaluate: Any) -> None:
    values = np.array([[math.nan, 1.0, -INFINITY]])
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (exactk.Scores(values), {}, "ranks them last"),
        (exactk.Scores(values), {"negative_infinity": "exclude"}, "drops their items"),
        (exactk.Scores(values, min_score=0.5), {}, "drops their items"),
    ]
    for predictions, convention, outcome in cases:
        with refused("predictions: NaN", outcome):
            evaluate([[1]], predictions, "num_recommended", convention=convention)
        accepted = evaluate([[1]], predictions, "num_recommended@9", convention=convention | {"nan": "last"})
        assert accepted["num_recommended@9"] == (3.0 if outcome == "ranks them last" else 1.0)


@pytest.mark.parametrize(("min_score", "outcome"), [(None, "ranks them last"), (0.5, "drops their items")])
def test_the_error_of_topk_about_nan_says_what_becomes_of_it(min_score: float | None, outcome: str) -> None:
    predictions = exactk.Scores(np.array([[math.nan, 1.0]]), min_score=min_score)
    with pytest.raises(exactk.InputError, match=f"nan='last' {outcome}"):
        exactk.topk(predictions, 2)
    kept = int((exactk.topk(predictions, 2, nan="last").items >= 0).sum())
    assert kept == (2 if outcome == "ranks them last" else 1)


def test_f73_embeddings_that_overflow_as_float32() -> None:
    users, items = np.array([[1e30]]), np.array([[1.0], [-1e30], [2.0]])
    convention = {"score_dtype": "float32", "negative_infinity": "exclude"}
    vectors = exactk.Embeddings(users, items)
    for evaluate in ENGINES:
        with pytest.warns(exactk.EvaluationWarning, match="1 relevant item "):
            report = evaluate([[1, 2]], vectors, ["num_recommended", "recall"], convention=convention)
        assert list(report.values()) == [2.0, 0.5]
