"""A choice names the systems that are not significantly worse than the best, or says why that was not tested."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._runtime import optional
from strategies import examples

USERS = 60
TRUTH = [[1]] * USERS


def lists(hits: int) -> list[list[int]]:
    """Return lists of which so many have a hit."""
    return [[1]] * hits + [[2]] * (USERS - hits)


SYSTEMS = {"a": lists(30), "b": lists(33), "c": lists(5), "d": lists(29)}


def compared(**options: Any) -> exactk.Comparison:
    return exactk.compare(TRUTH, SYSTEMS, ["P@1", "recall@1"], **options)


def reports(**options: Any) -> dict[str, exactk.Report]:
    return {name: exactk.evaluate(TRUTH, one, "P@1", **options) for name, one in SYSTEMS.items()}


def tied(choice: exactk.results.Choice) -> list[str]:
    return [option.system for option in choice.tied]


def test_the_choice_says_which_systems_are_tied() -> None:
    choice = exactk.choose(compared(), "precision@1")
    assert str(choice.best) == "b"
    assert tied(choice) == ["a", "d"]
    assert choice.untested == ""
    assert repr(choice).splitlines()[-2:] == ["best: b", "tied with: a, d (not significantly worse)"]
    assert choice.tied == tuple(option for option in choice.options if option.system in "ad")


def test_a_winner_that_is_better_than_all_is_not_tied() -> None:
    choice = exactk.choose(exactk.compare(TRUTH, {"a": lists(5), "b": lists(40)}, "P@1"), "P@1")
    assert (choice.tied, choice.untested) == ((), "")
    assert repr(choice).endswith("best: b")


@settings(max_examples=examples(100))
@given(st.lists(st.lists(st.integers(1, 5), min_size=12, max_size=12), min_size=2, max_size=4))
def test_ties_are_those_of_the_comparison_with_the_best(hits: list[list[int]]) -> None:
    truth = [list(range(10))] * 12
    systems = {
        f"s{i}": [[*range(count), *range(100, 110 - count)] for count in one] for i, one in enumerate([[1] * 12, *hits])
    }
    comparison = exactk.compare(truth, systems, "P@10")
    choice = exactk.choose(comparison, "P@10")
    assert choice.best is not None
    assert comparison["P@10"][choice.best.system] == max(comparison["P@10"].values())
    against_best = exactk.compare(truth, systems, "P@10", baseline=choice.best.system).differences
    assert tied(choice) == [row.system for row in against_best if row.p_adjusted > 0.05]


def test_only_systems_that_satisfy_all_are_tied() -> None:
    choice = exactk.choose(compared(), "P@1", {"recall@1": ("<=", 0.5)})
    assert str(choice.best) == "a"
    assert tied(choice) == ["d"]
    assert exactk.choose(compared(), "P@1", {"recall@1": 2}).tied == ()


def test_reports_are_tested_by_their_users() -> None:
    assert tied(exactk.choose(reports(per_user=True), "P@1")) == ["a", "d"]
    choice = exactk.choose(reports(), "P@1")
    assert (choice.tied, choice.untested) == ((), "the reports lack the users' values; per_user=True keeps them")
    last = "best: b\nwhether it is significantly better was not tested: the reports lack the users' values; per_user=True keeps them"
    assert repr(choice).endswith(last)


def test_reports_that_do_not_compare_are_chosen_from_all_the_same() -> None:
    some = reports(per_user=True) | {"a": exactk.evaluate(TRUTH[:50], SYSTEMS["a"][:50], "P@1", per_user=True)}
    choice = exactk.choose(some, "P@1")
    assert str(choice.best) == "a"
    assert choice.untested.startswith("reports: expected as many users in all reports")


@pytest.mark.parametrize(
    ("options", "untested"),
    [
        ({"baseline": "b"}, ""),
        ({"baseline": "a"}, "the comparison lacks pairs with 'b'; baseline='b' adds them"),
        ({"baseline": "a", "per_user": True}, ""),
        (
            {"baseline": "a", "per_user": True, "clusters": [user // 2 for user in range(USERS)]},
            "the comparison lacks pairs with 'b'; baseline='b' adds them",
        ),
        (
            {"runs": {"mean": ["a", "b"]}},
            "the comparison lacks pairs with 'b'; with runs= it has those of the means over runs",
        ),
        ({"runs": {"mean": ["a", "b"]}, "per_user": True}, ""),
        ({"clusters": [user // 2 for user in range(USERS)]}, ""),
        ({"test": "wilcoxon", "alternative": "greater", "adjust": "none", "margin": "99%"}, ""),
    ],
)
def test_the_pairs_of_a_comparison_are_enough(options: dict[str, Any], untested: str) -> None:
    choice = exactk.choose(compared(**options), "P@1")
    assert choice.untested == untested
    assert tied(choice) == ([] if untested else ["a", "d"])


def test_the_confidence_is_that_of_the_comparison() -> None:
    systems = {"a": lists(20), "b": lists(26)}
    by_confidence = {
        confidence: tied(exactk.choose(exactk.compare(TRUTH, systems, "P@1", confidence=confidence), "P@1"))
        for confidence in (0.95, 0.999)
    }
    assert by_confidence == {0.95: [], 0.999: ["a"]}


def test_systems_are_tied_at_the_cutoff_of_the_best_option() -> None:
    truth = [[1, 2]] * USERS
    first = [[1, 2]] * 40 + [[3, 4]] * 20
    systems = {"a": first, "b": [[1, 3]] * 41 + [[3, 4]] * 19}
    comparison = exactk.compare(truth, systems, "precision@[1,2]")
    choice = exactk.choose(comparison, "precision@[1,2]")
    assert str(choice.best) == "b @1"
    assert list(map(str, choice.tied)) == ["a @1"]
    alone = exactk.choose(comparison.reports["a"], "precision@[1,2]")
    assert (alone.tied, alone.untested) == ((), "")


def test_one_user_decides_nothing() -> None:
    assert tied(exactk.choose(exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "P@1"), "P@1")) == ["b"]


def test_without_scipy_the_choice_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compared()
    expected = exactk.choose(comparison, "P@1")
    monkeypatch.setattr(optional, "has", lambda library: library != "scipy")
    choice = exactk.choose(comparison, "P@1")
    assert (choice.best, choice.options, choice.tied) == (expected.best, expected.options, ())
    assert choice.untested == "the test needs scipy: pip install 'exactk[compare]'"


def test_names_of_tied_systems_are_printable() -> None:
    comparison = exactk.compare(TRUTH, {"a\nb": lists(30), "c\x1b": lists(31)}, "P@1")
    assert repr(exactk.choose(comparison, "P@1")).splitlines()[-2:] == [
        r"best: c\x1b",
        r"tied with: a\nb (not significantly worse)",
    ]
