"""`Report.disparity`: how unequal a value is between groups, against the definitions in fractions over all pairs."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._report.statistics import DisparityMeasure, disparity_of_groups
from strategies import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

MEASURES: tuple[DisparityMeasure, ...] = get_args(DisparityMeasure)
VALUES = st.floats(2**-60, 2**60) | st.sampled_from([0.0, 0.1, 0.3, 1.0])


def expected_disparity(values: Sequence[float], how: str) -> Fraction:
    """Return the disparity by its definition; of a coefficient of variation, the square."""
    exact = [Fraction(value) for value in values]
    if how == "range":
        return max(exact) - min(exact)
    if how == "ratio":
        return min(exact) / max(exact) if any(exact) else Fraction(1)
    if how == "mad":
        differences = [abs(one - other) for one, other in combinations(exact, 2)]
        return Fraction(sum(differences)) / len(differences)
    mean = Fraction(sum(exact)) / len(exact)
    squares = Fraction(sum((value - mean) ** 2 for value in exact)) / len(exact)
    return squares / mean**2 if mean else Fraction(0)


def disparity_of(values: Sequence[float], how: str) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return disparity_of_groups(dict(enumerate(values)), how, "metric")


@pytest.mark.parametrize("how", MEASURES)
@settings(max_examples=examples(200))
@given(st.data())
def test_it_is_what_the_definition_says(how: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES, min_size=2, max_size=8))
    expected, result = expected_disparity(values, how), disparity_of(values, how)
    if how == "cv":
        assert result == pytest.approx(math.sqrt(expected), rel=1e-15)
    else:
        assert result == float(expected)
    assert disparity_of(data.draw(st.permutations(values)), how) == result
    doubled = disparity_of([2 * value for value in values], how)
    assert doubled == (result if how in {"ratio", "cv"} else 2 * result)


@pytest.mark.parametrize(
    ("how", "values", "expected"),
    [
        ("range", [0.5, 0.25, 1.0], 0.75),
        ("ratio", [0.5, 0.25, 1.0], 0.25),
        ("mad", [0.5, 0.25, 1.0], 0.5),
        ("cv", [0.5, 1.5], 0.5),
        ("ratio", [0.0, 0.5], 0.0),
        ("ratio", [5e-324, 1e-323], 0.5),
        ("cv", [5e-324, 1.5e-323], 0.5),
        ("range", [-0.5, 0.5], 1.0),
        ("mad", [-0.5, 0.5, 0.5], 2 / 3),
    ],
)
def test_by_hand(how: str, values: list[float], expected: float) -> None:
    assert disparity_of(values, how) == expected


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("count", [2, 3, 10])
def test_equal_groups_have_no_disparity(value: float, count: int) -> None:
    assert {how: disparity_of([value] * count, how) for how in MEASURES} == {"range": 0, "ratio": 1, "mad": 0, "cv": 0}


@pytest.mark.parametrize("how", ["ratio", "cv"])
def test_negative_values_cannot_be_divided_by(how: str) -> None:
    message = f"no negative value in any group for how='{how}', found -0.5 in group 'b'; how='range'"
    with pytest.raises(exactk.InputError, match=message):
        disparity_of_groups({"a": 0.5, "b": -0.5}, how, "metric")


TRUTH = {"ann": ["tea"], "bob": ["milk", "rice"], "cy": ["bread"], "dee": ["tea", "milk"], "eve": []}
LISTS = {"ann": ["tea", "rice"], "bob": ["milk", "tea"], "cy": ["tea", "milk"], "dee": ["rice", "tea"], "eve": ["tea"]}
GROUPS = {"ann": "new", "bob": "new", "cy": "old", "dee": "old", "eve": "gone"}
USERS = [user for user in TRUTH if user != "eve"]


def evaluate(users: Sequence[str] = USERS, **options: Any) -> exactk.Report:
    truth, lists, groups = ({user: values[user] for user in users} for values in (TRUTH, LISTS, GROUPS))
    return exactk.evaluate(truth, lists, ["recall@2", "mrr"], groups=groups, **options)


def test_of_a_report() -> None:
    report = evaluate()
    assert {group: values["recall@2"] for group, values in report.by_group.items()} == {"new": 0.75, "old": 0.25}
    assert [report.disparity("R@2", how) for how in ("range", "ratio", "mad", "cv")] == [0.5, 0.25 / 0.75, 0.5, 0.5]
    assert report.disparity("R@2") == report.disparity("recall@2", how="range")
    assert exactk.Report.from_json(report.to_json()).disparity("mrr", "mad") == report.disparity("mrr", "mad") == 0.75


def test_groups_are_compared_by_their_weighted_values() -> None:
    weights = {"ann": 1.0, "bob": 3.0, "cy": 2.0, "dee": 6.0}
    report = evaluate(weights=weights)
    new, old = (1.0 * 1.0 + 3.0 * 0.5) / 4.0, (2.0 * 0.0 + 6.0 * 0.5) / 8.0
    assert report.disparity("recall@2") == new - old


@pytest.mark.filterwarnings("error")
def test_groups_without_a_value_are_left_out_with_a_warning() -> None:
    report = evaluate([*USERS, "eve"])
    message = "^1 of 3 groups has no value of recall@2 and is left out, such as 'gone'$"
    with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
        assert report.disparity("recall@2") == 0.5
    assert caught[0].filename == __file__
    with pytest.warns(exactk.EvaluationWarning, match="2 of 4 groups have no value of metric and are left out, such"):
        assert disparity_of_groups({1: math.nan, 2: 0.5, 3: math.nan, 4: 0.5}, "ratio", "metric") == 1.0


@pytest.mark.parametrize("how", MEASURES)
@pytest.mark.filterwarnings("error")
def test_fewer_than_two_groups_have_no_disparity(how: DisparityMeasure) -> None:
    message = "only one group has a value of mrr: the disparity is NaN$"
    with pytest.warns(exactk.EvaluationWarning, match=f"^{message}"):
        assert math.isnan(evaluate(["ann", "bob"]).disparity("mrr", how))
    left_out = "1 of 2 groups has no value of mrr and is left out, such as 'gone'"
    with pytest.warns(exactk.EvaluationWarning, match=f"^{left_out}; {message}"):
        assert math.isnan(evaluate(["dee", "eve"]).disparity("mrr", how))
    with pytest.warns(exactk.EvaluationWarning, match="; no group has a value of metric: the disparity is NaN"):
        assert math.isnan(disparity_of_groups({"a": math.nan}, how, "metric"))


def test_what_is_refused() -> None:
    report = evaluate()
    arguments: tuple[Any, ...]
    for arguments, message in (
        (("recall@3",), "metric: expected one of recall@2, mrr, found 'recall@3'"),
        (("recall@2", "max"), "how: expected one of 'range', 'ratio', 'mad', 'cv', found 'max'"),
        (("recall@2", "rang"), "did you mean 'range'"),
        (("recall@2", None), "how: expected one of 'range', 'ratio', 'mad', 'cv', found None"),
    ):
        with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
            report.disparity(*arguments)
    whole = exactk.evaluate(TRUTH, LISTS, "recall@2")
    with pytest.raises(exactk.InputError, match="report: expected groups, which groups= names, found none"):
        whole.disparity("recall@2")
