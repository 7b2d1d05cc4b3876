"""Metrics of how much is recommended: of users whose truth does not matter, and of users without a list."""

from __future__ import annotations

import warnings

import pytest

import exactk

TRUTH = {"a": ["x"], "b": ["y", "z"], "c": [], "d": ["x"]}
LISTS = {"a": ["x", "y", "z"], "b": ["y"], "c": ["x", "y"], "e": ["x"]}  # d has no list, e is not in the truth


def values(metrics: list[str], **options: object) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lists shorter than the cutoff
        return dict(exactk.evaluate(TRUTH, LISTS, metrics, **options))  # type: ignore[arg-type]


def test_users_without_relevant_items_count() -> None:
    """The users are a, b, c and d, whose lists have 3, 1, 2 and no items."""
    expected = {
        "list_fill@2": (1 + 1 / 2 + 1 + 0) / 4,
        "list_fill@4": (3 + 1 + 2 + 0) / 16,
        "user_coverage": 3 / 4,
        "user_coverage@10(least=2)": 2 / 4,
        "user_coverage@1(least=2)": 0.0,
    }
    assert values(list(expected)) == expected
    assert values(["list_fill@2(users=predictions)"]) == {"list_fill@2(users=predictions)": (1 + 1 / 2 + 1 + 1 / 2) / 4}
    assert values(["user_coverage(users=union)"]) == {"user_coverage(users=union)": 4 / 5}


@pytest.mark.parametrize("policy", ["skip", "zero", "one", "error"])
def test_no_policy_for_the_truth_applies(policy: str) -> None:
    metrics = ["list_fill@2", "user_coverage", "list_fill@3(average=geometric)"]
    assert values(metrics, convention={"empty_truth": policy}) == values(metrics)


@pytest.mark.parametrize("policy", ["compute", "skip", "zero", "one", "error"])
def test_a_missing_list_covers_no_user_under_any_policy(policy: str) -> None:
    convention = {"missing_list": policy, "empty_list": policy}
    assert values(["user_coverage"], convention=convention) == {"user_coverage": 3 / 4}


@pytest.mark.parametrize("field", ["empty_truth=zero", "missing_list=skip", "gain=exp2"])
def test_a_field_without_effect_warns(field: str) -> None:
    with pytest.warns(exactk.EvaluationWarning, match=f"^{field.partition('=')[0]} has no effect on user_coverage"):
        exactk.evaluate([[1]], [[1]], f"user_coverage({field})")
