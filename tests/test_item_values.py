"""Metrics whose relevant items count by their values: by hand, against custom metrics and the reference, and refused."""

from __future__ import annotations

import math
import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactk
from exactk import Items
from refusals import refusal, refused

PRICES = {"bread": 2.5, "cheese": 8.0, "wine": 12.5, "salt": 0.5, "bag": 0.0}
ITEMS = Items(list(PRICES), values=PRICES)
TRUTH = {"ann": ["wine", "bread"], "bob": ["salt", "cheese", "bag"], "eve": ["bread"]}
LISTS = {"ann": ["bread", "salt", "wine"], "bob": ["cheese", "bag"], "eve": ["wine"]}
BY_VALUE = "recall@2(weight=values)"
ENGINES = pytest.mark.parametrize("call", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])


def evaluate(metrics: Any, truth: Any = TRUTH, lists: Any = LISTS, items: Any = ITEMS, **options: Any) -> exactk.Report:
    report = exactk.evaluate(truth, lists, metrics, items=items, **options)
    reference = exactk.reference.evaluate(truth, lists, metrics, items=items, **options)
    assert (report.metrics, report.counts) == (reference.metrics, reference.counts)
    for name in report.metrics:  # sums of values in [0, 1] are resolved to 2^-80
        assert report[name] == pytest.approx(reference[name], rel=4e-16, abs=2.0**-78, nan_ok=True), name
    if options.get("per_user"):
        assert all(np.array_equal(report.per_user[name], reference.per_user[name], True) for name in report.metrics)
    return report


def test_hits_and_relevant_items_count_by_their_values() -> None:
    report = evaluate([BY_VALUE, "recall@3(weight=values)", "recall@2"], per_user=True)
    ann, bob = Fraction(5, 30), Fraction(16, 17)
    assert report.per_user[BY_VALUE].tolist() == [float(ann), float(bob), 0.0]
    assert report[BY_VALUE] == pytest.approx(float((ann + bob) / 3), rel=1e-15)
    assert report.per_user["recall@3(weight=values)"].tolist() == [1.0, float(bob), 0.0]
    assert report.per_user["recall@2"].tolist() == [0.5, 2 / 3, 0.0]


def test_relevant_items_worth_nothing_have_no_recall() -> None:
    worthless = {"ann": ["bag"]}
    for undefined, expected in (("zero", 0.0), ("one", 1.0)):
        assert evaluate(BY_VALUE, worthless, convention={"undefined": undefined})[BY_VALUE] == expected
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated"):
        assert math.isnan(evaluate(BY_VALUE, worthless, convention={"undefined": "skip"})[BY_VALUE])


def test_all_of_the_value_is_one_whatever_the_rounding() -> None:
    values = [0.1, 0.7, 1e16, 1e-9, 0.3, 1 / 3]
    lists = [random.Random(seed).sample(range(6), 6) for seed in range(40)]  # noqa: S311 - drawn, and not secret
    truth = [random.Random(-seed).sample(range(6), 6) for seed in range(40)]  # noqa: S311
    report = evaluate("recall(weight=values)", truth, lists, Items(6, values=values), per_user=True)
    assert report.per_user["recall(weight=values)"].tolist() == [1.0] * 40


@pytest.mark.filterwarnings("ignore:the order of ties")
def test_ties_tell_how_far_values_depend_on_them() -> None:
    values = Items(4, values=[0.5, 3.0, 0.25, 1.0])
    report = evaluate("recall@2(weight=values)", [[1, 2, 0]], np.array([[1.0, 1.0, 1.0, 2.0]]), values)
    (ties,) = report.state.counts.ties or ()
    assert (ties.dependent, ties.spread) == (1, int(2.75 / 3.75 * 1_000_000))


@ENGINES
def test_relevant_items_without_a_value_are_refused(call: Any) -> None:
    priced = Items(list(PRICES), values={"bread": 2.5, "salt": 0.5, "bag": 0.0})
    with refused("truth: relevant item without a value", "found item 'cheese' without one") as caught:
        call({"eve": ["bread"], "bob": ["salt", "cheese", "rice"], "ann": ["wine"]}, LISTS, BY_VALUE, items=priced)
    text = str(caught.value)
    assert "at row 1 (the first of 3)" in text
    assert "(user 'bob')" in text


@ENGINES
def test_only_users_who_count_need_values(call: Any) -> None:
    priced = Items(["bread"], values=[2.5])
    convention = {"missing_list": "skip"}
    graded = {"eve": {"bread": 1.0, "cheese": 0.0}, "bob": {"salt": 1.0}}
    assert call(graded, {"eve": ["bread"]}, BY_VALUE, items=priced, convention=convention)[BY_VALUE] == 1.0


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (BY_VALUE, {}, "items: expected values of items, by which recall counts them"),
        (BY_VALUE, {"items": TRUTH}, "items: expected values of items, by which recall counts them"),
        ("recall@2", {"convention": {"weight": "values"}}, "items: expected values of items"),
        ("hit_rate@2(weight=values)", {"items": ITEMS}, "hit_rate without weight='values', as it is no sum over"),
        (
            "mrr",
            {"convention": {"overrides": {"mrr": {"weight": "values"}}}},
            "reciprocal_rank without weight='values'",
        ),
        ("recall@2(weight=value)", {"items": ITEMS}, "did you mean 'values'"),
    ],
)
def test_refusals(metrics: str, options: dict[str, Any], message: str) -> None:
    assert message in str(refusal(lambda module: module.evaluate(TRUTH, LISTS, metrics, **options)))


def test_other_metrics_of_the_convention_do_not_read_values() -> None:
    metrics = ["recall@2", "hit_rate@2", "f1@2", "f1@2(average=of_means)"]
    message = r"weight has an effect on precision, .* alone, and none on hit_rate@2, f1@2, f1@2\(average=of_means\)"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        valued = evaluate(metrics, convention={"weight": "values"})
    plain = exactk.evaluate(TRUTH, LISTS, metrics)
    assert [valued[name] == plain[name] for name in metrics] == [False, True, True, True]


# Propensities: values are 1 / p. The fractions are by hand, from the estimators' formulas; those that are not fractions from
# napkinxc 0.7.2, where it has them: its psp, psp normalized and psdcg normalized are the first, the fourth and the sixth.
WEIGHTS = Items(range(1, 8), values={1: 2, 2: 4, 3: 8, 4: 5, 5: 1, 6: 1, 7: 1})
OF_PROPENSITIES: dict[str, float] = {
    "precision@2(weight=values)": 7 / 3,
    "recall@2(weight=values)": 13 / 21,
    "recall@2(weight=values,average=micro)": 14 / 25,
    "recall@2(weight=values,average=micro,recall_over=min_cutoff_relevant)": 14 / 23,
    "ndcg@2(weight=values)": 0.570170,
    "ndcg@2(weight=values,average=micro)": 0.602520,
    "map@2(weight=values,ap_over=relevant)": 19 / 42,
    "map@2(weight=values,ap_over=relevant,average=micro)": 12 / 25,
    "dcg@2(weight=values)": 4.174573,
    "dcg@2(weight=self_normalized)": 0.496024,
    "dcg@2(weight=self_normalized,average=micro)": 0.500949,
    "rbp@2(p=0.8,weight=self_normalized)": 0.110476,
    "precision@2(weight=self_normalized)": 13 / 21,
    "map@2(weight=self_normalized,ap_over=cutoff)": 19 / 42,
}


def test_inverse_propensities_give_the_estimators_values() -> None:
    truth, lists = [[1, 4], [2], [1, 2, 3]], [[1, 2, 6, 7], [3, 2, 6], [3, 5, 6]]
    report = evaluate([*OF_PROPENSITIES], truth, lists, WEIGHTS)
    assert dict(report.items()) == pytest.approx(OF_PROPENSITIES, abs=5e-7)


def test_a_discount_above_1_may_make_a_share_larger() -> None:
    items, name = Items([1, 2], values={1: 2.0, 2: 4.0}), "dcg(discount=log,discount_base=10,weight=self_normalized)"
    report = evaluate(name, [[1, 2]], [[1, 2]], items, per_user=True)
    assert report[name] == pytest.approx((2 / math.log10(2) + 4 / math.log10(3)) / 6)


def test_a_share_of_items_without_worth_is_what_undefined_says() -> None:
    items = Items([1, 2], values={1: 0.0, 2: 0.0})
    name = "rbp(weight=self_normalized,undefined=one)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(name, [[1, 2]], [[1, 2]], items)[name] == 1.0


def test_values_multiply_the_gains_of_grades() -> None:
    truth = [{1: 1.0, 4: 3.0}, {2: 2.0}]
    report = evaluate(
        ["dcg@2(weight=values,discount=none)", "recall@2(weight=values)"], truth, [[4, 2], [1, 2]], WEIGHTS
    )
    assert [*report.values()] == [(3 * 5 + 2 * 4) / 2, (5 / 7 + 1) / 2]


def test_a_tie_counts_its_hits_by_their_mean() -> None:
    scores, truth = np.array([[0.5, 0.5, 0.5, 0.1]]), [[0, 1]]
    metrics = ["precision@2", "recall@2", "map@2(ap_over=relevant)", "dcg@2(discount=none)", "ndcg@2(discount=none)"]
    weighted = [f"{one[:-1]},weight=values)" if one[-1] == ")" else f"{one}(weight=values)" for one in metrics]
    report = evaluate(weighted, truth, scores, Items(4, values=[1.0, 3.0, 1.0, 1.0]), convention={"ties": "expected"})
    # In the six orders: both hits, worth 1 and 3, are within the cutoff (twice), or one of them is, at either rank.
    assert report[weighted[0]] == pytest.approx((4 + 4 + 1 + 1 + 3 + 3) / 6 / 2)
    assert report[weighted[1]] == pytest.approx((4 + 4 + 1 + 1 + 3 + 3) / 6 / 4)
    precisions = [1 + 3, 1 + 3, 1, 1 / 2, 3, 3 / 2]
    assert report[weighted[2]] == pytest.approx(sum(precisions) / 6 / 4)
    assert report[weighted[3]] == report[weighted[4]] * 4 == pytest.approx(16 / 6)


@pytest.mark.parametrize("wrong", [-1.0, math.inf, 1e80])
def test_values_out_of_range_are_refused(wrong: float) -> None:
    with pytest.raises(exactk.InputError, match=r"values: expected numbers from 0 to 2\^256, found .* of item 'salt'"):
        Items(list(PRICES), values={"wine": 1.0, "salt": wrong})


def test_items_without_a_value_are_left_out() -> None:
    with pytest.raises(exactk.InputError, match=r"values: .* found nan of item 'salt' at position 1; leave out"):
        Items(["bread", "salt"], values={"bread": 1.0, "salt": math.nan})


def test_no_value_at_all_is_no_error() -> None:
    assert len(Items(["bread"], values={})) == len(Items(["bread"], popularity={})) == 1
