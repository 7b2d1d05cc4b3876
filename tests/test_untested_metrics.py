"""Metrics of all lists together in comparisons and tables of users: no user has a value, so no test has a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import exactk

USERS = range(30)
TRUTH = {user: [user % 5, 7] for user in USERS}
SYSTEMS = {
    "a": {user: [user % 5, user % 7 + 5, 13] for user in USERS},
    "b": {user: [1, 2, user % 3 + 10] for user in USERS},
}
ITEMS = exactk.Items(15)
METRICS = ["coverage@3", "ndcg@3", "gini@3"]
BOTH = exactk.compare(TRUTH, SYSTEMS, METRICS, items=ITEMS, per_user=True)
ALONE = exactk.compare(TRUTH, SYSTEMS, "coverage@3", items=ITEMS, per_user=True)
GROUPLESS = "no rows: only metrics of which users have values are tested"


def test_differences_have_rows_of_the_other_metrics_alone() -> None:
    assert [row.metric for row in BOTH.differences] == ["ndcg@3"]
    assert "coverage" not in str(BOTH.differences)
    assert "without a p-value" not in BOTH.to_latex()
    assert BOTH["coverage@3"] == {"a": 13 / 15, "b": 5 / 15}
    with pytest.raises(KeyError, match="the metrics are 'ndcg@3'"):
        BOTH.differences["b", "a", "coverage@3"]


def test_a_comparison_without_other_metrics_has_no_differences() -> None:
    assert len(ALONE.differences) == 0
    assert GROUPLESS in str(ALONE.differences)
    assert GROUPLESS[1:] in ALONE.differences.to_markdown()
    with pytest.raises(KeyError, match="users have no values of the metrics"):
        ALONE.differences["b", "coverage@3"]


CLAIMS: dict[str, Callable[[], object]] = {
    "better": lambda: BOTH.check(better="coverage@3"),
    "no_worse": lambda: BOTH.check(no_worse={"coverage@3": 0.1}),
    "no_worse, without a margin": lambda: BOTH.check(no_worse="coverage@3"),
    "equivalent": lambda: BOTH.check(equivalent={"gini@3": "10%"}),
    "margin": lambda: exactk.compare(TRUTH, SYSTEMS, METRICS, items=ITEMS, margin={"coverage@3": 0.1}),
    "metric": lambda: BOTH.users_for("coverage@3", 0.1),
    "metric, of ranks": lambda: BOTH.ranks("coverage@3"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_that_no_test_can_decide_are_refused(claim: str) -> None:
    with pytest.raises(exactk.InputError, match="a metric of which each user has a value") as refusal:
        CLAIMS[claim]()
    assert str(refusal.value).startswith(f"{claim.partition(',')[0]}: ")
    assert "which all lists together have; comparison['" in str(refusal.value)


def test_claims_about_the_other_metrics_hold_beside_them() -> None:
    assert BOTH.check(no_worse={"ndcg@3": 0.9}).status == "holds"
    margin = exactk.compare(TRUTH, SYSTEMS, METRICS, items=ITEMS, margin=0.9)
    assert [row.verdict for row in margin.differences] == ["equivalent"]


def test_the_best_system_by_such_a_metric_is_not_called_tied() -> None:
    choice = exactk.choose(BOTH, "coverage@3")
    assert (choice.best and choice.best.system, choice.tied) == ("a", ())
    assert choice.untested == "users have no values of coverage@3, which all lists together have"
    assert exactk.choose(BOTH, "ndcg@3", {"coverage@3": 0.1}).untested == ""


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_tables_of_users_leave_them_out(average: str) -> None:
    recall = f"recall@3(average={average})" if average == "micro" else "recall@3"
    report = exactk.evaluate(TRUTH, SYSTEMS["a"], ["coverage@3", recall, "gini@3"], items=ITEMS, per_user=True)
    assert list(report.per_user) == [recall]
    assert report.columns("per_user").keys() == {"user", recall}
    long: Any = report.columns("per_user", wide=False)
    assert {metric.partition("(")[0] for metric in long["metric"]} == {"recall"}
    assert list(long["value"]) == report.per_user[recall].tolist()
    with pytest.raises(KeyError, match=r"'coverage@3' is not among 'recall@3"):
        report.per_user["coverage@3"]
    assert exactk.Report.from_json(report.to_json()) == report
    assert BOTH.columns("per_user").keys() == {"system", "user", "ndcg@3"}


def test_a_report_of_such_metrics_alone_has_users_and_no_values() -> None:
    report = exactk.evaluate(TRUTH, SYSTEMS["a"], "coverage@3", items=ITEMS, per_user=True)
    assert dict(report.per_user) == {}
    assert report.columns("per_user").keys() == {"user"}
    with pytest.raises(KeyError, match="all lists together have it, not users"):
        report.per_user["coverage@3"]
    assert exactk.Report.from_json(report.to_json()) == report
    assert exactk.Comparison.from_json(ALONE.to_json()) == ALONE
