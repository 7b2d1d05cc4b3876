from __future__ import annotations

import copy
import pickle
from types import MappingProxyType
from typing import Any

import pytest

import exactk

TRUTH = [[1, 2, 5], [3]]
SYSTEMS = {"a": [[1, 2, 8], [9, 4, 3]], "b": [[1, 7, 6], [3, 8, 6]], "c": [[9, 9], [9, 9]]}
METRICS = ["precision@[1,2,3]", "recall@[1,2,3]", "mrr"]
COMPARISON = exactk.compare(TRUTH, SYSTEMS, METRICS, convention={"duplicate_items": "first"})


def test_the_best_of_those_that_satisfy_all() -> None:
    choice = exactk.choose(COMPARISON, "precision@2", {"recall@2": 0.4})
    assert choice.best is not None
    assert str(choice.best) == "b"
    assert [str(option) for option in choice.options] == ["a", "b", "c"]
    failed = [{str(constraint): value for constraint, value in option.failed.items()} for option in choice.options]
    assert failed == [{"recall@2 >= 0.4": 1 / 3}, {}, {"recall@2 >= 0.4": 0.0}]
    assert "fails recall@2 >= 0.4: 0.3333" in repr(choice)


def test_a_choice_survives_pickles_and_copies() -> None:
    choice = exactk.choose(COMPARISON, "precision@2", {"recall@2": 0.4})
    for again in (pickle.loads(pickle.dumps(choice)), copy.deepcopy(choice)):  # noqa: S301 - our own
        assert again == choice
        assert repr(again) == repr(choice)
        assert type(again.options[0].failed) is MappingProxyType


def test_without_a_constraint_the_highest_and_of_equals_the_first() -> None:
    best = exactk.choose(COMPARISON, "precision@2").best
    assert best is not None
    assert (best.system, best.value) == ("a", 0.5)


def test_every_comparison() -> None:
    bound = COMPARISON.reports["a"]["recall@2"]
    report = {"a": COMPARISON.reports["a"]}
    for sign, passes in {">=": True, ">": False, "<=": True, "<": False}.items():
        assert bool(exactk.choose(report, "mrr", {"recall@2": (sign, bound)}).options[0].failed) != passes


def test_cutoffs_of_one_system_are_options() -> None:
    choice = exactk.choose(COMPARISON.reports["a"], "precision@[1,2,3]", {"recall@[1,2,3]": 0.3, "mrr": ("<", 1)})
    assert choice.best is not None
    assert (choice.best.cutoff, str(choice.best)) == (2, "@2")
    assert [list(map(str, option.failed)) for option in choice.options] == [["recall@1 >= 0.3"], [], []]


def test_a_constraint_at_one_cutoff_holds_for_all_options() -> None:
    choice = exactk.choose(COMPARISON, "precision@[1,3]", {"recall@3": 0.5})
    assert [(option.system, option.cutoff, bool(option.failed)) for option in choice.options] == [
        ("a", 1, False), ("a", 3, False), ("b", 1, False), ("b", 3, False), ("c", 1, True), ("c", 3, True)
    ]  # fmt: skip


def test_nobody_satisfies_all() -> None:
    choice = exactk.choose(COMPARISON, "precision@2", {"recall@2": 0.99})
    assert choice.best is None
    assert all(option.failed for option in choice.options)
    assert repr(choice).endswith("no option satisfies all")


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_what_is_not_a_number_satisfies_nothing_and_is_not_chosen() -> None:
    report = exactk.evaluate([[]], [[1]], ["P@1", "R@1"])
    assert exactk.choose(report, "P@1").best is None
    assert exactk.choose(report, "P@1", {"R@1": ("<", 2)}).options[0].failed


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (({}, "P@1"), "reports"),
        ((3, "P@1"), "reports"),
        (({"a": 3}, "P@1"), "reports"),
        ((COMPARISON, "P@5"), "optimize"),
        ((COMPARISON, "P@2", {"P@5": 0.5}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": ("=>", 0.5)}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": "0.5"}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": float("nan")}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": True}), "satisfy"),
        ((COMPARISON, "P@2", [("R@2", 0.5)]), "satisfy"),
        ((COMPARISON, "P@2", {"R@[1,2]": 0.5}), "satisfy"),
        ((COMPARISON, "P@2,R@2"), "optimize"),
        ((COMPARISON, "R@[1,2],R@2(average=micro)"), "optimize"),
        ((COMPARISON, "P@2", {"R@2,P@2": 0.5}), "satisfy"),
        ((COMPARISON, "P@[2,3]", {"R@[1,2]": 0.5}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": ([">="], 0.5)}), "satisfy"),
        ((COMPARISON, "P@2", {"R@2": 10**400}), "satisfy"),
        ((COMPARISON, "P@2", {2: 0.5}), "satisfy"),
        ((COMPARISON, "P@2", {("R@1", "R@2"): 0.5}), "satisfy"),
        (({1: COMPARISON.reports["a"]}, "P@2"), "reports"),
        ((COMPARISON, ["P@1", "R@2"]), "optimize"),
        ((COMPARISON, ("P@2", None)), "optimize"),
        ((COMPARISON, "P@2", {("R@2", None): 0.5}), "satisfy"),
        ((COMPARISON, None), "optimize"),
        ((COMPARISON, "nonsense"), "metrics"),
    ],
)
def test_what_cannot_be_asked(arguments: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.choose(*arguments)
    assert caught.value.argument == argument
