"""Every value of a user is in the range that its metric declares, whatever the lists and the convention are."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import exactk
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import metrics as metric_registry
from exactk._plan.values import range_of
from strategies import Evaluation, evaluations, examples, rankings

STANDARD = exactk.conventions["standard"]


def assert_in_range(report: Any) -> None:
    for value in plan(report.metrics, report.convention, compares_lists=None):
        low, high = range_of(value)
        numbers = report.per_user[value.spelling]
        assert low < high
        assert not (numbers < low).any(), (value.spelling, numbers)
        assert not (numbers > high).any(), (value.spelling, numbers)


@settings(max_examples=examples(300))
@given(evaluations(min_users=1))
def test_values_are_in_the_range_of_their_metric(evaluation: Evaluation) -> None:
    of_users = [
        metric for metric in evaluation.metrics if not metric_registry[metric.split("@")[0].split("(")[0]].of_collection
    ]
    assume(of_users)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            report = Evaluation(evaluation.truth, evaluation.predictions, of_users, evaluation.options).run(
                per_user=True
            )
        except exactk.InputError:
            assume(False)
            raise
    assert_in_range(report)


@settings(max_examples=examples(200))
@given(
    st.integers(1, 6).flatmap(lambda users: st.tuples(rankings(users), rankings(users))), st.sampled_from(["", "@3"])
)
def test_values_of_two_lists_are_in_the_range_of_their_metric(lists: tuple[Any, Any], cutoff: str) -> None:
    metrics = [name + cutoff for name in exactk.agreement_metrics if name != "lip" or cutoff]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            report = exactk.agreement(*lists, metrics, per_user=True)
        except exactk.InputError:
            assume(False)
            raise
    assert_in_range(report)


@pytest.mark.parametrize(
    ("metric", "bounds"),
    [
        ("ndcg@10", (0, 1)),
        ("f1@10(average=of_means)", (0, 1)),
        ("recall@10(duplicate_items=count)", (0, math.inf)),
        ("num_hits@10", (0, 10)),
        ("num_hits@10(duplicate_items=count)", (0, math.inf)),
        ("num_recommended", (0, math.inf)),
        ("dcg@10", (0, math.inf)),
        ("dcg@10(min_grade=any)", (0, math.inf)),  # a negative grade has no gain
        ("ild@10", (0, math.inf)),
        ("ild@10(distance=dot)", (-math.inf, math.inf)),
        ("serendipity@10(distance=dot)", (-math.inf, math.inf)),
        ("serendipity@10(distance=dot,serendipity_of=popularity)", (0, math.inf)),
        ("kendall_tau@10", (-1, 1)),
        ("rbo@10", (0, 1)),
    ],
)  # fmt: skip
def test_ranges_that_metrics_declare(metric: str, bounds: tuple[float, float]) -> None:
    (value,) = plan([metric], STANDARD, compares_lists=None)
    assert range_of(value) == bounds


@pytest.mark.parametrize(
    ("declared", "rules", "bounds"),
    [
        (None, {}, (-math.inf, math.inf)),
        ((2, 5), {"undefined": "skip"}, (2, 5)),
        ((2, 5), {"undefined": "zero"}, (0, 5)),
        ((2, 5), {"undefined": "skip", "missing_list": "one"}, (1, 5)),
        ((-5, -2), {"undefined": "nan", "empty_truth": "zero"}, (-5, 0)),
        ((-5, math.inf), {}, (-5, math.inf)),
    ],
)  # fmt: skip
def test_ranges_of_custom_metrics_hold_what_the_convention_sets(declared: Any, rules: Any, bounds: Any) -> None:
    metric = exactk.custom("of_mine", lambda judged: np.zeros(len(judged)), k=3, range=declared)
    (value,) = plan([metric], STANDARD.replace(**rules), compares_lists=None)
    assert range_of(value) == bounds
