"""Systems that are compared on different users, and what their reports say, are told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import exactk

TRUTH = {"ann": [1], "bob": [2], "cy": [3]}
ALL = {"ann": [1], "bob": [2], "cy": [9]}


def compare(systems: dict[str, Any], metrics: Any = "P@1", truth: Any = TRUTH, **options: Any) -> tuple[Any, list[str]]:
    """Return the comparison, and what is warned of users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison = exactk.evaluate(truth, systems, metrics, **options)
    return comparison, [str(one.message) for one in caught if "different users" in str(one.message)]


def test_f65_systems_that_cover_different_users() -> None:
    comparison, messages = compare({"all": ALL, "half": {"ann": [1]}, "most": {"bob": [2], "cy": [3], "eve": [4]}})
    assert messages == [
        (
            "systems cover different users: of 3 users with predictions in some system, "
            "'half' has none for 2, 'most' has none for 1"
        )
    ]
    assert repr(comparison).splitlines() == [
        "metric                  all    half    most  evaluated  skipped",
        "precision@1          0.6667  0.3333  0.6667          3        1",
        "missing predictions       0       2       1",
        "missing truth             0       0       1",
        "convention standard; 4 users",
    ]


def test_f65_users_outside_the_truth_count_where_the_convention_counts_them() -> None:
    systems = {"all": ALL, "more": {**ALL, "eve": [4]}}
    assert not compare(systems)[1]
    message, _ = compare(systems, convention={"users": "union", "empty_truth": "zero"})[1]
    assert message.startswith("systems cover different users: of 4 users")
    assert message.endswith("'all' has none for 1")


def test_f65_systems_of_the_same_users_are_compared_in_silence() -> None:
    comparison, messages = compare({"a": ALL, "b": {**ALL, "ann": []}})
    assert not messages
    assert "empty predictions       0       1" in repr(comparison).replace("  ", "  ")
    assert not compare({"a": ALL})[1]
    assert not compare({"a": [[1], [2]], "b": np.ones((2, 3))}, truth=[[1], [2]])[1]


def test_f65_counts_stand_in_every_table() -> None:
    comparison, _ = compare({"a": ALL, "b": {"ann": [1]}})
    assert "| missing predictions | 0 | 2 |  |  |" in comparison.to_markdown()
    assert "missing predictions & 0 & 2 &  &  " in comparison.to_latex()
    assert "missing predictions" in repr(exactk.Comparison.from_json(comparison.to_json()))


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize(
    "evaluate_options", [{"convention": {"users": "both"}}, {"convention": {"missing_list": "skip"}}]
)
def test_f75_means_over_different_users(per_user: bool, evaluate_options: dict[str, Any]) -> None:
    comparison, messages = compare(
        {"all": ALL, "half": {"ann": [1]}}, ["P@1", "mrr"], per_user=per_user, **evaluate_options
    )
    assert messages[1:] == [
        (
            "means over different users are compared: precision@1 is over 3 in 'all', 1 in 'half', of whom 1 in all, "
            "and 1 more values"
        )
    ]
    assert bool(comparison["all"].per_user) == per_user
    assert "3/1      0/2" in repr(comparison)


def test_f75_as_many_users_may_be_others() -> None:
    _, messages = compare({"a": {"ann": [1], "bob": [2]}, "b": {"bob": [2], "cy": [3]}}, convention="trec_eval")
    assert messages[1] == (
        "means over different users are compared: precision@1 is over 2 in 'a', 2 in 'b', of whom 1 in all"
    )


def test_f75_values_that_are_undefined_for_some() -> None:
    systems = {"a": {**ALL, "ann": []}, "b": {**ALL, "bob": []}}
    _, messages = compare(systems, "P@1", convention={"undefined": "skip", "precision_over": "list"})
    assert messages == [
        "means over different users are compared: precision@1 is over 2 in 'a', 2 in 'b', of whom 1 in all"
    ]
    assert not compare(systems, "P@1")[1]


def test_f75_values_made_of_means() -> None:
    systems = {"all": ALL, "half": {"ann": [1]}}
    _, messages = compare(systems, "f1@1(average=of_means)", convention={"users": "both"})
    assert (
        messages[1] == "means over different users are compared: f1@1(average=of_means) is over 3 in 'all', 1 in 'half'"
    )


def test_f65_a_count_of_ties_names_its_metric_as_it_is() -> None:
    scores = np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        table = repr(exactk.evaluate([[0], [1]], {"one": scores, "other": scores + 1}, "rbp(p=0.7)"))
    assert "tie dependent rbp(p=0.7)  " in table
    assert "spread" not in table
