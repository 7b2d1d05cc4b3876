"""The users with the worst values, and with the largest losses."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import exactk

TRUTH = {"d": ["x"], "c": ["x"], "b": ["x"], "a": ["x"], "e": []}
LISTS = {"d": ["x"], "c": ["y", "x"], "b": ["y"], "a": ["y"], "e": ["x"]}
BETTER = {"d": ["y", "x"], "c": ["y", "x"], "b": ["x"], "a": ["y"], "e": ["x"]}


def report(metrics: Any = ("mrr", "lip@1"), **options: Any) -> exactk.Report:
    return exactk.evaluate(TRUTH, LISTS, metrics, **{"per_user": True, **options})


def test_the_worst_come_first_and_equals_in_the_order_of_their_keys() -> None:
    worst = report("mrr").worst("mrr", 3)
    assert worst.users.tolist() == ["a", "b", "c"]
    assert worst.values["mrr"].tolist() == [0, 0, 0.5]
    assert repr(worst) == "user     mrr\na     0.0000\nb     0.0000\nc     0.5000\nthe worst 3 of 4 users"
    first = report("mrr").worst("reciprocal_rank", n=1)
    assert first.users.tolist() == ["a"]
    assert first.note == "the worst 1 of 4 users; 1 other has the value of the last"
    assert len(report("mrr").worst("mrr")) == 4  # the user without relevant items has no value


def test_where_low_values_are_better_the_highest_are_the_worst() -> None:
    metric = "arp@2"
    assert exactk.metrics["arp"].direction == "lower"
    items = exactk.Items(train={"t": ["x", "x2", "y"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = exactk.evaluate(TRUTH, LISTS, metric, items=items, per_user=True)
    worst = one.worst(metric)
    values = worst.values[metric].tolist()
    assert values == sorted(values, reverse=True)


def test_users_without_keys_and_exports() -> None:
    worst = exactk.evaluate([[1], [2], [3]], [[1], [9], [9]], "P@1", per_user=True).worst("P@1", n=2)
    assert worst.users.tolist() == [1, 2]
    assert worst.to_pandas().to_dict("list") == {"user": [1, 2], "P@1": [0.0, 0.0]}
    assert worst.to_csv() == "user,P@1\n1,0.0\n2,0.0\n"
    assert "The worst 2 of 3 users" in worst.to_markdown(digits=1)


def test_losses_against_a_baseline() -> None:
    comparison = exactk.compare(TRUTH, {"old": BETTER, "new": LISTS}, "mrr", baseline="old", per_user=True)
    worst = comparison.worst("mrr")
    assert worst.users.tolist() == ["b"]
    assert {name: values.tolist() for name, values in worst.values.items()} == {
        "old": [1.0],
        "new": [0.0],
        "difference": [-1.0],
    }
    assert worst.note == "the largest losses of new against old in mrr: 1 of 4 users lose"
    assert comparison.worst("mrr", "old", baseline="new").users.tolist() == ["d"]
    assert len(comparison.worst("mrr", "old", baseline="new", n=1)) == 1


def test_of_two_systems_the_first_is_the_baseline() -> None:
    comparison = exactk.compare(TRUTH, {"old": BETTER, "new": LISTS}, "mrr", per_user=True)
    assert [*comparison.worst("mrr").values] == ["old", "new", "difference"]
    assert [*comparison.worst("mrr", "old").values] == ["new", "old", "difference"]
    with pytest.raises(exactk.InputError, match="system: expected one of 'new', found 'none'"):
        comparison.worst("mrr", "none")


def test_losses_that_equal_the_last() -> None:
    truth = {user: ["x"] for user in "abcd"}
    best, others = dict(truth), {"a": ["y"], "b": ["x"], "c": ["y"], "d": ["y"]}
    comparison = exactk.compare(truth, {"old": best, "new": others}, "mrr", per_user=True)
    assert comparison.worst("mrr", n=1).note.endswith(": 3 of 4 users lose; 2 others lose as much as the last")
    assert comparison.worst("mrr", n=2).note.endswith("; 1 other loses as much as the last")
    assert comparison.worst("mrr", n=3).note.endswith("3 of 4 users lose")


def test_what_could_be_several_systems_must_be_named() -> None:
    systems = {"a": LISTS, "b": BETTER, "c": LISTS}
    comparison = exactk.compare(TRUTH, systems, "mrr", per_user=True)
    with pytest.raises(exactk.InputError, match="baseline: expected one of 'a', 'b', 'c', found None; baseline='a'"):
        comparison.worst("mrr")
    with pytest.raises(exactk.InputError, match="system: expected one of 'a', 'c', found None; system='a'"):
        comparison.worst("mrr", baseline="b")
    with pytest.raises(exactk.InputError, match="system: expected one of 'a', 'c', found 'b'"):
        comparison.worst("mrr", "b", baseline="b")
    assert comparison.worst("mrr", "c", baseline="b").users.tolist() == ["b"]
    with pytest.raises(exactk.InputError, match="comparison: expected two systems or more, found one"):
        exactk.compare(TRUTH, {"a": LISTS}, "mrr", per_user=True).worst("mrr")


@pytest.mark.parametrize(
    ("metric", "n", "message"),
    [
        ("ndcg@10", 10, "metric: expected one of mrr"),
        ("mrr", 0, "n: expected a number of users, found 0"),
        ("mrr", 1.5, "n: expected an integer, found 1.5"),
        ("mrr", True, "n: expected an integer, found True"),
        ("num_recommended@1", 1, "metric: expected a metric whose values are better if they are higher, or lower"),
    ],
)
def test_faults(metric: str, n: Any, message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        report(["mrr", "num_recommended@1"]).worst(metric, n)
    comparison = exactk.compare(TRUTH, {"old": BETTER, "new": LISTS}, ["mrr", "num_recommended@1"], per_user=True)
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        comparison.worst(metric, "new", baseline="old", n=n)


@pytest.mark.parametrize("name", ["user", "difference"])
def test_two_columns_of_one_name_are_refused(name: str) -> None:
    comparison = exactk.compare(TRUTH, {name: BETTER, "new": LISTS}, "mrr", per_user=True)
    with pytest.raises(exactk.InputError, match=f"two columns '{name}'; rename the user columns or the unit"):
        comparison.worst("mrr", "new", baseline=name)
    with pytest.raises(exactk.InputError, match="two columns 'mrr'"):
        report("mrr", unit_names=("mrr", "item")).worst("mrr")


def test_values_of_users_are_needed() -> None:
    with pytest.raises(exactk.InputError, match="the users' values, found none; per_user=True keeps them"):
        report("mrr", per_user=False).worst("mrr")
    comparison = exactk.compare(TRUTH, {"old": BETTER, "new": LISTS}, "mrr", baseline="old")
    with pytest.raises(exactk.InputError, match="the users' values, found none; per_user=True keeps them"):
        comparison.worst("mrr")
    coverage = exactk.evaluate(TRUTH, LISTS, "coverage@2", items=exactk.Items(["x", "y"]), per_user=True)
    with pytest.raises(exactk.InputError, match="a metric of users, found 'coverage@2', which all lists"):
        coverage.worst("coverage@2")


def test_many_users_are_those_of_a_sort() -> None:
    rng = np.random.default_rng(2)
    truth, lists = rng.integers(0, 9, (500, 1)), np.argsort(rng.random((500, 9)), axis=1)
    one = exactk.evaluate(truth, lists, "mrr", per_user=True)
    values = one.per_user["mrr"].tolist()
    expected = sorted((value, row) for row, value in enumerate(values) if not math.isnan(value))
    assert one.worst("mrr", 40).users.tolist() == [row for _, row in expected[:40]]
