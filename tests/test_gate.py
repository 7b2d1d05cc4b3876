"""What a gate prints: first what does not hold, how many users would decide, and how it was tested."""

from __future__ import annotations

import re
from typing import Any

import pytest

import exactk

HITS = [[1], [2], [1]] * 20
METRICS = ["P@1", "recall@1", "mrr", "ndcg@1", "map@1"]


def gate_of(a: Any, b: Any, **claims: Any) -> exactk.results.Gate:
    return exactk.compare([[1]] * len(a), {"a": a, "b": b}, METRICS, baseline="a").check(**claims)


def test_what_fails_is_first() -> None:
    margins = {"P@1": "20%", "mrr": "20%"}
    better = {"recall@1": "20%", "map@1": 0.1}
    gate = gate_of(HITS, HITS, no_worse=margins, better=better, equivalent={"ndcg@1": 0.5})
    lines = repr(gate).splitlines()
    assert lines[0] == "<Gate fails: 3 of 5 hold>"
    # pytest shows the first 118 characters of a value that an assertion finds false.
    assert "fails: recall@1: 'b' is identical to 'a' for all 60 users" in repr(gate)[:118]
    assert [line.partition(":")[0] for line in lines[1:-1]] == ["fails", "fails", "holds", "holds", "holds"]
    assert lines[-1].startswith("one-sided t tests, not adjusted, and stricter where few users differ; ")
    assert [check.claim for check in gate] == ["better", "better", "no_worse", "no_worse", "equivalent"]
    worse = [[1]] * 10 + HITS[:50]
    undecided = gate_of(worse, HITS, no_worse={"P@1": "20%"}, better="recall@1", equivalent={"mrr": 0.9})
    statuses = [line.partition(":")[0] for line in repr(undecided).splitlines()[1:-1]]
    assert statuses == sorted(statuses, key=["fails", "undecided", "holds"].index)


@pytest.mark.parametrize("users", [2, 4])
def test_differences_without_variance_need_as_many_users_as_sign_flips_do(users: int) -> None:
    """Of 2^n sign flips one is as extreme: with five users p is 1/32. That a margin is exceeded takes more users."""
    (failure,) = gate_of([[2]] * users, [[1]] * users, better="P@1").failures
    assert "; about 5 users would show that it is, if the difference stays as it is" in failure
    assert gate_of([[2]] * 5, [[1]] * 5, better="P@1")
    (failure,) = gate_of([[2]] * users, [[1]] * users, equivalent={"P@1": 0.5}).failures
    assert "; about 11 users would show that they do, if the difference stays as it is" in failure
    assert gate_of([[2]] * 10, [[1]] * 10, equivalent={"P@1": 0.5}).status == "undecided"
    assert gate_of([[2]] * 11, [[1]] * 11, equivalent={"P@1": 0.5}).status == "fails"


def test_equal_systems_say_so_and_are_never_better() -> None:
    (failure,) = gate_of(HITS, HITS, better="P@1").failures
    assert failure == "P@1: 'b' is identical to 'a' for all 60 users, so it may not be better"
    comparison = exactk.compare([[1]] * 60, {"a": HITS, "b": HITS}, "P@1")
    message = "metric: expected a metric whose .* have a variance, found 'P@1': the same difference for every user"
    for difference in (0.01, "1%"):
        with pytest.raises(exactk.InputError, match=message):
            comparison.users_for("P@1", difference)


def test_an_undecided_claim_needs_more_users_than_there_are_and_says_what_they_would_show() -> None:
    a, b = [[2], [2], [1]], [[1], [1], [1]]
    (failure,) = gate_of(a, b, better="P@1").failures
    number = re.search(r"about (\d+) users would show that it is, ", failure)
    assert number is not None
    assert int(number[1]) > 3
    swapped = gate_of(b, a, better="P@1", no_worse={"P@1": 0.1}).failures
    assert "would show that it is not, if" in swapped[0]  # better
    assert "would show that it is, if" in swapped[1]  # worse


@pytest.mark.parametrize(
    ("differing", "text"), [(0, ""), (4, "few users: 4 differ, so the bounds are rough"), (20, "")]
)
def test_few_users_who_differ_are_told(differing: int, text: str) -> None:
    a = [[1]] * 100
    (check,) = gate_of(a, [[2]] * differing + [[1]] * (100 - differing), no_worse={"P@1": "50%"})
    assert check.status == "holds"
    assert check.text.endswith(text or f"so it is not worse by more than 50%{' (95 %)' * (not differing)}")
    systems, clusters = {"a": a, "b": [[2], [1]] * 50}, [user % 3 for user in range(100)]
    (clustered,) = exactk.compare([[1]] * 100, systems, "P@1", clusters=clusters).check(better="P@1")
    assert "; few clusters: 3, so the bounds are rough" in clustered.text


def test_a_case_that_holds_has_its_finding_in_the_junit_report() -> None:
    report = gate_of(HITS, HITS, no_worse={"P@1": "20%"}, better="mrr").to_junit()
    assert 'name="better mrr: b against a"' in report
    assert "name=\"no_worse P@1 20%: b against a\"><system-out>P@1: 'b' is identical" in report


def test_the_bounds_are_those_of_the_interval_at_twice_the_risk() -> None:
    systems = {"a": HITS, "b": [[1], [1], [1], [2]] * 15}
    (check,) = exactk.compare([[1]] * 60, systems, "P@1", baseline="a").check(no_worse={"P@1": 0.9})
    row = exactk.compare([[1]] * 60, systems, "P@1", baseline="a", confidence=0.9).differences["b", "P@1"]
    assert f"differs from 'a' by {row.low:+.2g} to {row.high:+.2g} (one-sided bounds at 95 %, 60 users)" in check.text
