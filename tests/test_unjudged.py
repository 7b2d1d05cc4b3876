"""Lists without their unjudged items: what trec_eval -J says, and that it is the evaluation of the judged items alone."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk.reference import evaluate as reference_evaluate, judge as reference_judge

QRELS: dict[str, dict[str, float]] = {"q1": {"a": 2, "b": 0, "c": 1, "d": 1, "n": -1}, "q2": {"x": 1, "y": 0}}
RUN: dict[str, dict[str, float]] = {
    "q1": {"u1": 9, "n": 8.5, "a": 8, "u2": 7, "b": 6, "c": 5, "u3": 3},
    "q2": {"v": 2, "y": 2, "x": 2},
}
CONDENSED = exactk.conventions["pytrec_eval"].replace(unjudged="remove")
# By trec_eval -J, whose grades below 0 are not judged: the values of q1 and q2.
GOLDEN = {
    "precision@2": (0.5, 0.5),
    "ndcg@3": (0.7984848581, 0.6309297536),
    "average_precision": (0.5555555556, 0.5),
    "average_precision@2": (0.3333333333, 0.5),
    "reciprocal_rank": (1, 0.5),
    "recall@3": (0.6666666667, 1),
    "r_precision": (0.6666666667, 0),
    "precision": (0.6666666667, 0.5),
    "hit_rate@1": (1, 0),
    "num_recommended": (3, 2),
}
of_both_engines = pytest.mark.parametrize("evaluate", [exactk.evaluate, reference_evaluate], ids=["core", "reference"])


@of_both_engines
def test_condensed_lists_have_the_values_of_trec_eval(evaluate: Any) -> None:
    report = evaluate(QRELS, RUN, list(GOLDEN), convention=CONDENSED, per_user=True)
    for metric, expected in GOLDEN.items():
        assert report.per_user[metric].tolist() == pytest.approx(expected, abs=1e-10)


@of_both_engines
def test_candidates_that_are_judged_differ_where_grades_are_negative(evaluate: Any) -> None:
    """An item of a negative grade is judged unless the convention says otherwise, and keeps its rank."""
    kept = exactk.conventions["trec_eval"].replace(unjudged="remove", negative_grades="zero_gain")
    report = evaluate(QRELS, RUN, "ndcg@3", convention=kept, per_user=True)
    gain = 2 / np.log2(3)  # n, a, b
    assert report.per_user["ndcg@3"][0] == pytest.approx(gain / (2 + 1 / np.log2(3) + 1 / 2))


@of_both_engines
def test_what_counts_unjudged_items_reads_whole_lists(evaluate: Any) -> None:
    metrics = ["judged@3", "list_fill@7", "user_coverage@7(least=7)", "precision@3"]
    whole, condensed = (
        evaluate(QRELS, RUN, metrics, convention=convention, per_user=True)
        for convention in (CONDENSED.replace(unjudged="keep"), CONDENSED)
    )
    for metric in metrics[:-1]:
        assert np.array_equal(whole.per_user[metric], condensed.per_user[metric])
    assert whole["precision@3"] < condensed["precision@3"]
    assert {**whole.counts, "ties": None} == {**condensed.counts, "ties": None}


def test_a_metric_that_reads_whole_lists_warns_of_the_field() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="unjudged has no effect on judged: leave it out"):
        exactk.evaluate(QRELS, RUN, "judged@3(unjudged=remove)", convention="pytrec_eval")


@of_both_engines
def test_a_list_of_unjudged_items_is_no_empty_list(evaluate: Any) -> None:
    truth, lists = {"q1": ["a"], "q2": ["b"], "q3": ["a"]}, {"q1": ["x", "y"], "q2": [], "q3": ["x", "a"]}
    convention = {"unjudged": "remove", "empty_list": "skip"}
    report = evaluate(truth, lists, "precision@2", convention=convention, per_user=True)
    assert report.per_user["precision@2"].tolist() == pytest.approx([0, np.nan, 0.5], nan_ok=True)
    metric = "precision@2(precision_over=list,undefined=one)"
    assert evaluate(truth, lists, metric, convention=convention)[metric] == 1


@pytest.mark.parametrize("judge", [exactk.judge, reference_judge], ids=["core", "reference"])
def test_judged_lists_are_those_that_are_evaluated(judge: Any) -> None:
    judged = judge(QRELS, RUN, 3, convention=CONDENSED)
    assert judged.items.tolist() == [["a", "b", "c"], ["y", "x", None]]
    assert judged.hits.tolist() == [[True, False, True], [False, True, False]]
    assert judged.grades[0].tolist() == [2, 0, 1]
    assert judged.lengths.tolist() == [3, 2]
    lists = {"q": ["x", "a", "b", "a"]}
    repeated = {"unjudged": "remove", "duplicate_items": "first"}
    judged = judge({"q": ["a", "b"]}, lists, 3, convention=repeated)
    assert (judged.items.tolist(), judged.hits.tolist()) == ([["a", "b", "a"]], [[True, True, False]])


def test_metrics_of_ones_own_get_the_lists_that_are_evaluated() -> None:
    def first_is_judged(judged: exactk.results.JudgedLists) -> Any:
        return ~np.isnan(judged.grades[:, 0])

    def items(judged: exactk.results.JudgedLists) -> Any:
        return judged.lengths

    metrics = [
        exactk.custom("first_is_judged", first_is_judged, k=3), exactk.custom("items", items, k=9, of="lists"),
        exactk.custom("judged_items", items, k=9),
    ]  # fmt: skip
    report = exactk.evaluate(QRELS, RUN, metrics, convention=CONDENSED)
    assert list(report.values()) == [1, 5, 2.5]
    whole = exactk.evaluate(QRELS, RUN, metrics, convention="pytrec_eval")
    assert list(whole.values()) == [0.5, 5, 5]


def test_a_page_shows_the_lists_that_are_evaluated() -> None:
    report = exactk.evaluate(QRELS, RUN, ["precision@1", "ndcg@3"], convention=CONDENSED, per_user=True)
    page = report.to_html(lists=exactk.judge(QRELS, RUN, 3, convention=CONDENSED))
    assert "u1" not in page
    with pytest.raises(exactk.InputError, match="lists"):
        report.to_html(lists=exactk.judge(QRELS, RUN, 3, convention="pytrec_eval"))


FORMS: dict[str, Any] = {
    "scores": lambda run: run,
    "lists": lambda run: {query: sorted(items, key=lambda item: (-items[item], item)) for query, items in run.items()},
}


def drawn(rng: random.Random) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    items = [f"d{i:02}" for i in range(12)]
    truth = {f"q{i}": {item: rng.choice([0.0, 1.0, 2.0, 3.0]) for item in rng.sample(items, 6)} for i in range(4)}
    run = {query: {item: float(rng.randrange(6)) for item in rng.sample(items, rng.randrange(10))} for query in truth}
    return truth, run


def judged_alone(truth: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {query: {item: run[query][item] for item in run[query] if item in truth[query]} for query in run}


METRICS = ["precision@3", "recall@3", "ndcg@5", "average_precision@4", "reciprocal_rank", "rbp", "err@4(max_grade=3)"]


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ties", ["lowest_id", "highest_id", "optimistic", "pessimistic", "shared", "expected"])
def test_condensed_lists_are_lists_of_the_judged_items_alone(form: str, ties: str) -> None:
    rng = random.Random(7)  # noqa: S311 - no secret
    metrics = METRICS if ties != "expected" else METRICS[:5]
    for _ in range(30):
        truth, run = drawn(rng)
        exclude = {query: rng.sample(sorted(items), min(2, len(items))) for query, items in run.items()}
        alone = FORMS[form](judged_alone(truth, run))
        options: dict[str, Any] = {"exclude": exclude, "per_user": True}
        expected = exactk.evaluate(truth, alone, metrics, convention={"ties": ties}, **options)
        condensed = {"ties": ties, "unjudged": "remove"}
        report = exactk.evaluate(truth, FORMS[form](run), metrics, convention=condensed, **options)
        for metric in metrics:
            assert np.array_equal(report.per_user[metric], expected.per_user[metric], equal_nan=True)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_condensed_vectors_and_matrices_rank_all_of_the_truth() -> None:
    """However deep it is: what is above may all be removed."""
    rng = np.random.default_rng(7)
    users, items = rng.normal(size=(9, 8)).astype(np.float32), rng.normal(size=(30_000, 8)).astype(np.float32)
    truth = [{int(item): 1.0 for item in rng.choice(30_000, 4, replace=False)} for _ in users]
    metrics = ["reciprocal_rank@2", "precision@2", "ndcg@2"]
    for predictions in (exactk.Embeddings(users, items), exactk.Scores(users @ items.T)):
        report = exactk.evaluate(truth, predictions, metrics, convention={"unjudged": "remove"})
        assert [report[metric] for metric in metrics] == [1, 1, 1]
    tied = [[0.0] * 9 + [1.0] * 3]
    with pytest.raises(exactk.InputError, match="ties"):
        exactk.evaluate([[1]], exactk.Scores(tied), "precision@1", convention={"unjudged": "remove", "ties": "raise"})


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_ranks_that_move_up_have_no_gaps_to_keep() -> None:
    ranks = pd.DataFrame({"query": ["q", "q"], "document": ["b", "a"], "rank": [2, 7]})
    convention = {"rank_gaps": "keep", "unjudged": "remove"}
    with pytest.raises(exactk.InputError, match="ranks without gaps, as unjudged='remove' makes new ones"):
        exactk.evaluate({"q": {"a": 1, "b": 0}}, ranks, "mrr", convention=convention)
    closed = {**convention, "rank_gaps": "close"}
    assert exactk.evaluate({"q": {"a": 1, "b": 0}}, ranks, "mrr", convention=closed)["mrr"] == 0.5


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_trec_eval_agrees() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(8)  # noqa: S311 - no secret
    names = {
        "map": "average_precision",
        "P_5": "precision@5",
        "ndcg": "ndcg",
        "ndcg_cut_5": "ndcg@5",
        "bpref": "bpref",
        "Rprec": "r_precision",
        "recip_rank": "reciprocal_rank",
        "recall_5": "recall@5",
        "num_ret": "num_ret",
        "success_1": "hit_rate@1",
        "set_P": "precision",
        "map_cut_5": "average_precision@5",
    }
    for _ in range(50):
        truth, run = drawn(rng)
        grades = {
            query: {item: int(grade) - rng.randrange(2) for item, grade in truth[query].items()} for query in truth
        }
        run = {query: items for query, items in run.items() if items}
        evaluator = pytrec_eval.RelevanceEvaluator(grades, pytrec_eval.supported_measures, judged_docs_only_flag=True)
        theirs = evaluator.evaluate(run)
        ours = exactk.evaluate(grades, run, list(names.values()), convention=CONDENSED, per_user=True)
        for query, values in theirs.items():
            row = list(ours.users).index(query)
            for name, metric in names.items():
                assert ours.per_user[metric][row] == pytest.approx(values[name], abs=1e-12), (name, query)
