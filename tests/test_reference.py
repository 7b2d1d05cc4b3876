"""The core against the reference: values, counts and errors."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from refusals import assert_refused_alike
from strategies import (
    EVALUATIONS,
    OF_COLLECTION,
    OF_ITEMS,
    WITHOUT_ITEMS,
    Evaluation,
    drawn_items,
    examples,
    is_of_collection,
    spellings,
)


def is_close(core: float, reference: float) -> bool:
    """Return whether two values are NaN alike, or differ by at most 2 ulp or 2^-78."""
    if math.isnan(core) or math.isnan(reference):
        return math.isnan(core) and math.isnan(reference)
    return abs(core - reference) <= max(2 * math.ulp(reference), 2.0**-78)


def report_or_error(evaluation: Evaluation, evaluate: Any) -> exactk.Report | exactk.InputError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            return evaluation.run(evaluate, per_user=True)
        except exactk.InputError as error:
            return error


def assert_same(evaluation: Evaluation) -> None:
    core, reference = (
        report_or_error(evaluation, evaluate) for evaluate in (exactk.evaluate, exactk.reference.evaluate)
    )
    if isinstance(reference, exactk.InputError) or isinstance(core, exactk.InputError):
        assert_refused_alike(core, reference)
        return
    assert core.metrics == reference.metrics
    assert core.counts == reference.counts
    for name in core.metrics:
        assert is_close(core[name], reference[name]), name
        if is_of_collection(name):  # no user has it
            continue
        pairs = zip(core.per_user[name].tolist(), reference.per_user[name].tolist(), strict=True)
        assert all(is_close(core_value, reference_value) for core_value, reference_value in pairs), name
        # A variance is resolved to 2^-80, its root to 2^-40, and less by cancellation.
        spread = (core.standard_deviation[name], reference.standard_deviation[name])
        assert math.isclose(*spread, rel_tol=1e-9, abs_tol=2**-38) or (
            math.isnan(spread[0]) and math.isnan(spread[1])
        ), name
    assert list(core.by_group) == list(reference.by_group)
    for label, values in core.by_group.items():
        assert all(is_close(values[name], reference.by_group[label][name]) for name in core.metrics)


@pytest.mark.parametrize("kind", EVALUATIONS)
@settings(max_examples=examples(600))
@given(data=st.data())
def test_core_equals_reference(kind: str, data: st.DataObject) -> None:
    assert_same(data.draw(EVALUATIONS[kind]()))


@pytest.mark.parametrize("kind", EVALUATIONS)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_every_metric_equals_its_reference(kind: str, data: st.DataObject) -> None:
    evaluation = data.draw(EVALUATIONS[kind](min_users=1))
    cutoffs = data.draw(st.lists(st.one_of(st.integers(1, 12), st.integers(1, 45)), min_size=1, max_size=3))
    options = evaluation.options | {"items": data.draw(drawn_items())}
    if data.draw(st.booleans()):  # calibration has tags alone
        options["items"] = replace(options["items"], features="tags")
        options["convention"] = options["convention"].replace(missing_features="skip")
    for family in (WITHOUT_ITEMS, OF_ITEMS, OF_COLLECTION):
        metrics = [text for name in family for text in spellings(name, cutoffs)]
        assert_same_in_parts(replace(evaluation, metrics=metrics, options=options), data, depth=2)


def assert_same_in_parts(evaluation: Evaluation, data: st.DataObject, depth: int) -> None:
    """Compare all metrics at once; where one is refused, each half, and at last some of the metrics one by one."""
    metrics = evaluation.metrics
    if len(metrics) < 2 or not isinstance(report_or_error(evaluation, exactk.evaluate), exactk.InputError):
        assert_same(evaluation)
        return
    half = -(-len(metrics) // 2)
    parts = [metrics[:half], metrics[half:]]
    if not depth:
        parts = [[metric] for metric in data.draw(st.lists(st.sampled_from(metrics), min_size=1, max_size=10))]
    for part in parts:
        assert_same_in_parts(replace(evaluation, metrics=part), data, depth - 1)


@pytest.mark.parametrize("kind", [
    *("log2", "log2_floored", "inverse", "none", "table,discount_table=[1,0.5,0.1]", "log,discount_base=10"),
    *("log,discount_base=1.001", "log_floored,discount_base=10", "log_floored,discount_base=2.718281828459045"),
    *("power,discount_power=0", "power,discount_power=0.5", "power,discount_power=1", "power,discount_power=3.7"),
    *("power,discount_power=16", "geometric", "geometric,discount_persistence=0.001"),
    *("geometric,discount_persistence=0.9999", "geometric,discount_persistence=1"),
])  # fmt: skip
def test_discounts_are_correctly_rounded(kind: str) -> None:
    """DCG of a single hit at a rank is the rank's discount."""
    ranks = [*range(1, 70), 255, 256, 257, 1000, 1024, 4097]
    predictions = [[*range(1, rank), 0] for rank in ranks]
    metric = f"dcg(discount={kind})"
    core, reference = (
        evaluate([[0]] * len(ranks), predictions, metric, per_user=True).per_user[metric]
        for evaluate in (exactk.evaluate, exactk.reference.evaluate)
    )
    assert core.tolist() == reference.tolist()


TRUTH = exactk.Truth([0, 2, 3], [1, 4, 21])
GRADED = exactk.Truth([0, 2, 3], [1, 4, 21], [1.0, 2.5, 3.0])
LISTS = exactk.Rankings([0, 3, 5], [4, 2, 1, 3, 21])


@pytest.mark.parametrize(
    "lists",
    [
        exactk.Rankings([1, 3, 5], [4, 2, 1, 3, 21]),
        exactk.Rankings([0, 5, 3], [4, 2, 1, 3, 21]),
        exactk.Rankings([0, 3, 4], [4, 2, 1, 3, 21]),
        exactk.Rankings([0, 5], [4, 2, 1, 3, 21]),
        exactk.Rankings([0, 3, 5], [4, 2, 1, 3, -21]),
        exactk.Rankings([0, 3, 5], [4, 2, 1, 3, 21], present=[True, False]),
    ],
    ids=["not from 0", "decreasing", "too short", "another number of users", "negative", "items of nobody"],
)
def test_lists_are_refused_alike(lists: exactk.Rankings) -> None:
    evaluation = Evaluation(TRUTH, lists, ["recall@3"])
    assert isinstance(report_or_error(evaluation, exactk.evaluate), exactk.InputError)
    assert_same(evaluation)


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ("ndcg", {"ideal_over": "cutoff", "gain": "binary"}),
        ("ndcg@1048577", {"ideal_over": "cutoff", "gain": "binary"}),
        ("ndcg@3", {"ideal_over": "cutoff"}),
        ("ndcg@3", {"gain": "table", "gain_table": (0.0,)}),
        ("ndcg@3", {"gain": "table"}),
        ("ndcg@3", {"gain": "exp2_shifted"}),
        ("hit_rate@3", {"average": "micro"}),
        ("recall@3", {"average": "micro", "empty_truth": "one"}),
        ("recall@3", {"min_grade": 1.5}),
    ],
)
def test_rules_are_refused_alike(metric: str, fields: dict[str, Any]) -> None:
    convention = exactk.conventions["standard"].replace(**fields)
    evaluation = Evaluation(TRUTH, LISTS, [metric], {"convention": convention})
    assert isinstance(report_or_error(evaluation, exactk.evaluate), exactk.InputError)
    assert_same(evaluation)


@pytest.mark.parametrize("name", ["weights", "groups"])
def test_arrays_of_another_number_of_users_are_refused_alike(name: str) -> None:
    assert_same(Evaluation(TRUTH, LISTS, ["recall"], {name: np.ones(3, np.int64)}))


def test_exponential_gains_of_grades_between_whole_ones() -> None:
    assert_same(
        Evaluation(GRADED, LISTS, ["ndcg@3(gain=exp2)", "dcg(gain=exp2)", "dcg(gain=exp2_shifted,min_grade=0.3)"])
    )
