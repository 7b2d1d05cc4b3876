"""Systems that are compared on different users, and what their reports say, are told."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk

TRUTH = {"ann": [1], "bob": [2], "cy": [3]}
ALL = {"ann": [1], "bob": [2], "cy": [9]}
USERS: dict[str, Any] = {"unit_names": ("user", "item")}


def compare(systems: dict[str, Any], metrics: Any = "P@1", truth: Any = TRUTH, **options: Any) -> tuple[Any, list[str]]:
    """Return the comparison, and what is warned of users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison = exactk.compare(truth, systems, metrics, **options)
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
        "metric     all     half    most",
        "P@1     0.6667*  0.3333  0.6667*",
        "skipped users: 1",
        "users without predictions: 2 in half, 1 in most",
        "users not in the truth: 1 in most",
        "convention standard; 4 users; * best",
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
    assert "users with empty lists: 1 in b\n" in repr(comparison)
    assert not compare({"a": ALL})[1]
    assert not compare({"a": [[1], [2]], "b": np.ones((2, 3))}, truth=[[1], [2]])[1]


def test_f65_counts_stand_in_every_table_if_asked_for() -> None:
    comparison, _ = compare({"a": ALL, "b": {"ann": [1]}})
    assert "| users without predictions | 0 | 2 |  |  |" in comparison.to_markdown(diagnostics=True)
    assert "users without predictions & 0 & 2 &  &  " in comparison.to_latex(diagnostics=True)
    assert "users without" not in comparison.to_markdown() + comparison.to_latex()
    assert "users without predictions" in repr(exactk.Comparison.from_json(comparison.to_json()))


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize(
    "evaluate_options", [{"convention": {"users": "both"}}, {"convention": {"missing_list": "skip"}}]
)
def test_f75_means_over_different_users(per_user: bool, evaluate_options: dict[str, Any]) -> None:
    comparison, messages = compare(
        {"all": ALL, "half": {"ann": [1]}}, ["P@1", "mrr"], per_user=per_user, **evaluate_options
    )
    assert messages == [
        (
            "means over different users are compared: P@1 averages 3 users in 'all', 1 user in 'half', 1 of them in all systems, "
            "and 1 more values"
        )
    ]
    assert bool(comparison.reports["all"].per_user) == per_user
    if per_user:
        with pytest.warns(exactk.EvaluationWarning, match=re.escape(messages[0])):
            exactk.compare_reports(comparison.reports)
    assert "\nskipped users: 2 in half\n" in repr(comparison)


def test_f75_as_many_users_may_be_others() -> None:
    _, messages = compare(
        {"a": {"ann": [1], "bob": [2]}, "b": {"bob": [2], "cy": [3]}}, convention="trec_eval", **USERS
    )
    assert messages == [
        "means over different users are compared: P@1 averages 2 users in 'a', 2 users in 'b', 1 of them in all systems"
    ]


def test_f75_values_that_are_undefined_for_some() -> None:
    systems = {"a": {**ALL, "ann": []}, "b": {**ALL, "bob": []}}
    _, messages = compare(systems, "P@1", convention={"undefined": "skip", "precision_over": "list"})
    assert messages == [
        "means over different users are compared: P@1 averages 2 users in 'a', 2 users in 'b', 1 of them in all systems"
    ]
    assert not compare(systems, "P@1")[1]


def test_f75_users_without_a_ratio_are_in_the_sums_of_all_systems() -> None:
    systems = {"a": [[1]] * 40, "b": [[2]] * 40}
    convention = {"empty_truth": "compute", "undefined": "skip"}
    truth = [[1]] * 20 + [[]] * 20
    assert not compare(systems, "recall@1(average=micro)", truth, convention=convention)[1]
    reports = {
        name: exactk.evaluate(truth, lists, "recall@1(average=micro)", convention=convention, per_user=True)
        for name, lists in systems.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exactk.compare_reports(reports)


def test_f75_values_made_of_means() -> None:
    systems = {"all": ALL, "half": {"ann": [1]}}
    _, messages = compare(systems, "f1@1(average=of_means)", convention={"users": "both"})
    assert messages == [
        "means over different users are compared: f1@1(average=of_means) averages 3 users in 'all', 1 user in 'half'"
    ]


def test_f75_users_without_predictions_may_be_misses_of_one_value_and_left_out_of_another() -> None:
    systems = {"all": ALL, "half": {"ann": [1]}}
    coverage, means = compare(systems, ["P@1", "mrr(users=both)"])[1]
    assert coverage.endswith("of 3 users with predictions in some system, 'half' has none for 2")
    assert means.startswith("means over different users are compared: mrr(users=both) averages 3 users in 'all'")


def test_f65_systems_that_look_like_parts_of_one_are_told_once() -> None:
    for convention in ("standard", "trec_eval"):
        (message,) = compare({"a": {"ann": [1]}, "b": {"bob": [2], "cy": [3]}}, convention=convention, **USERS)[1]
        assert message.endswith(
            "; no user has predictions in two systems: if they are parts of one system, concatenate them"
        )


def test_f65_each_warning_is_told_once_and_names_its_systems() -> None:
    """Of gaps, exclusions, keys, and users and weights that leave nothing to average."""
    ranks = {"a": [1, 3, 1, 1], "b": [1, 2, 2, 1], "c": [1, 2, 1, 1]}
    frame = pd.DataFrame({"user": ["ann", "ann", "bob", "cy"], "item": [1, 7, 2, 3]})
    systems: dict[str, Any] = {name: frame.assign(rank=of_system) for name, of_system in ranks.items()}
    gaps = r"systems 'a' and 'b': 1 user has ranks with gaps, which are closed: .*; convention=\{.*\} keeps .*"
    assert_warns_once(gaps, TRUTH, systems)
    systems["b"] = frame.assign(rank=[1, 3, 2, 1])
    gaps = "system 'a': 1 user has ranks with gaps; system 'b': 2 users have ranks with gaps, which are closed: .*"
    assert_warns_once(gaps, TRUTH, systems)
    systems = {"a": ALL, "b": ALL}
    excluded = "all systems: 1 relevant item is in exclude and counts as a miss"
    assert_warns_once(excluded, TRUTH, systems, exclude={"ann": [1]})
    assert_warns_once(
        "all systems: no user was evaluated for P@1: NaN; 1 user without relevant items", {"ann": []}, systems
    )
    assert_warns_once("all systems: all weights are 0 for .*", TRUTH, systems, weights=dict.fromkeys(TRUTH, 0.0))
    assert_warns_once("all systems: no user of the truth .*", TRUTH, {"a": {"eve": [1]}, "b": {"eve": [1]}})
    items = r"system 'a': no item .*such as 8\): .*; system 'b': no item .*such as 9\).*"
    assert_warns_once(items, TRUTH, {"a": {"ann": [8]}, "b": {"ann": [9]}})


def assert_warns_once(pattern: str, truth: Any, systems: Any, **options: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exactk.compare(truth, systems, "P@1", **options)
    assert [bool(re.fullmatch(pattern, str(one.message))) for one in caught] == [True], [
        str(one.message) for one in caught
    ]


def test_f65_a_count_of_ties_names_its_metric_as_it_is() -> None:
    scores = np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        table = repr(exactk.compare([[0], [1]], {"one": scores, "other": scores + 1}, "rbp(p=0.7)"))
    assert "\ntie dependent rbp(p=0.7): 1\n" in table
    assert "spread" not in table
