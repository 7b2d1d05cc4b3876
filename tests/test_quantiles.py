"""Quantiles of the users' values: medians of reports."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import exactk

TRUTH = {"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"], "e": []}
LISTS = {"a": ["x"], "b": ["y", "x"], "c": ["y", "z", "w", "x"], "d": ["y"], "e": ["x"]}
GROUPS = {"a": "new", "b": "new", "c": "old", "d": "old", "e": "old"}


def report(metrics: Any = "mrr", **options: Any) -> exactk.Report:
    return exactk.evaluate(TRUTH, LISTS, metrics, **{"per_user": True, **options})


def test_quantiles_are_interpolated() -> None:
    found = report()  # 1, 1/2, 1/4 and 0; e has no value
    assert [found.quantile("MRR", q) for q in (0, 0.25, 0.5, 0.75, 1)] == [0, 0.1875, 0.375, 0.625, 1]
    assert found.quantile("mrr") == 0.375
    assert math.isnan(
        report(convention={"empty_truth": "skip"}, groups=GROUPS | {"e": "none"}).quantile("mrr", group="none")
    )


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.floats(0, 1))
def test_quantiles_are_those_of_numpy_correctly_rounded(ranks: list[int], q: float) -> None:
    found = exactk.evaluate([[0]] * len(ranks), [[*range(1, rank), 0] for rank in ranks], "mrr", per_user=True)
    values = sorted(1 / rank for rank in ranks)
    assert found.quantile("mrr", q) == pytest.approx(np.quantile(values, q), rel=1e-14)
    position = Fraction(q) * (len(ranks) - 1)
    low = math.floor(position)
    pair = [Fraction(value) for value in (values[low], values[min(low + 1, len(ranks) - 1)])]
    assert found.quantile("mrr", q) == float(pair[0] * (low + 1 - position) + pair[1] * (position - low))


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_quantiles_of_groups_and_of_merged_reports() -> None:
    found = report(groups=GROUPS)
    assert [found.quantile("mrr", group=group) for group in ("new", "old")] == [0.75, 0.125]
    parts = [
        exactk.evaluate({user: TRUTH[user]}, {user: LISTS[user]}, "mrr", per_user=True, groups={user: GROUPS[user]})
        for user in TRUTH
    ]
    merged = exactk.merge(parts)
    assert merged.quantile("mrr") == 0.375
    assert merged.quantile("mrr", group="old") == 0.125
    assert exactk.Report.from_json(found.to_json()).quantile("mrr", 0.9) == found.quantile("mrr", 0.9)


WEIGHTS = dict.fromkeys(TRUTH, 2.0)
REFUSED: dict[str, tuple[dict[str, Any], tuple[Any, ...], dict[str, Any], str]] = {
    "other metric": ({}, ("P@1",), {}, "metric: expected one of mrr, found 'P@1'"),
    "of all lists": (
        {"metrics": "gini@2"},
        ("gini@2",),
        {},
        "metric: expected a metric of which users have values, found 'gini@2'",
    ),
    "of means": (
        {"metrics": "f1@2(average=of_means)"},
        ("f1@2(average=of_means)",),
        {},
        "metric: expected a metric of which users have values, found 'f1@2(average=of_means)'",
    ),
    "not kept": (
        {"per_user": False},
        ("mrr",),
        {},
        "report: expected the users' values, found none; per_user=True keeps them",
    ),
    "weights": (
        {"weights": WEIGHTS},
        ("mrr",),
        {},
        "report: expected users with equal weights, found weights; report.per_user has the values: definitions of weighted quantiles differ",
    ),
    "percentage": ({}, ("mrr", 75), {}, "q: expected a share of the users, from 0 to 1, found 75; q=0.75 is 75 %"),
    "negative": ({}, ("mrr", -0.1), {}, "q: expected a share of the users, from 0 to 1, found -0.1"),
    "text": ({}, ("mrr", "0.5"), {}, "q: expected a number such as 0.5, found '0.5'"),
    "no number": ({}, ("mrr", math.nan), {}, "q: expected a share of the users, from 0 to 1, found nan"),
    "no groups": ({}, ("mrr",), {"group": "new"}, "group: expected no groups, found 'new'"),
    "group": ({"groups": GROUPS}, ("mrr",), {"group": "x"}, "group: expected one of 'new', 'old', found 'x'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_quantile(case: str) -> None:
    options, arguments, keywords, message = REFUSED[case]
    items = {"items": exactk.Items(list("xyzw"))} if "gini@2" in arguments else {}
    found = report(**options, **items)
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        found.quantile(*arguments, **keywords)
    assert str(caught.value) == message
