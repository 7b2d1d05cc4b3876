"""What must hold of every metric, whatever its formula."""

from __future__ import annotations

import math
import random
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import exactk
from exactk._plan.metrics import evaluation_metrics
from strategies import DrawnItems, Evaluation, evaluations, examples, reads_history, spellings, without_digest
from test_reference import report_or_error

BINARY = ["precision", "recall", "f1", "hit_rate", "average_precision", "average_recall", "reciprocal_rank", "ndcg"]
BINARY += ["dcg", "r_precision", "rbp", "judged", "bpref", "num_hits"]


def run_if_legal(evaluation: Evaluation, **more: Any) -> exactk.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            return evaluation.run(**more)
        except exactk.InputError:
            assume(False)
            raise


def reorder(rows: Any, order: list[int]) -> Any:
    return rows[order] if isinstance(rows, np.ndarray) else [rows[i] for i in order]


@settings(max_examples=examples(200))
@given(evaluations(min_users=1), st.randoms(use_true_random=False))
def test_the_order_of_users_means_nothing(evaluation: Evaluation, rng: random.Random) -> None:
    order = list(range(len(evaluation.truth)))
    rng.shuffle(order)
    of_users = {"exclude", "weights", "groups", "base_predictions"}
    options = {
        name: reorder(option, order) if name in of_users else option for name, option in evaluation.options.items()
    }
    other = Evaluation(
        reorder(evaluation.truth, order), reorder(evaluation.predictions, order), evaluation.metrics, options
    )
    if not any(map(reads_history, evaluation.metrics)):
        assert run_if_legal(evaluation) == run_if_legal(other)
        return
    items = options["items"]
    evaluation = replace(evaluation, options=evaluation.options | {"items": items.of_users(sorted(order))})
    options["items"] = items.of_users(order)
    assert without_digest(run_if_legal(evaluation)) == without_digest(run_if_legal(other))


@settings(max_examples=examples(200))
@given(evaluations(min_users=1), st.randoms(use_true_random=False))
def test_the_ids_of_items_mean_nothing(evaluation: Evaluation, rng: random.Random) -> None:
    new_ids: dict[int, int] = {}

    def relabel_row(row: Any) -> Any:
        if row is None:
            return None
        row_ids = [
            new_ids.setdefault(item, len(new_ids) * 1_000_003 % 2**40 + rng.randrange(7) * 2**41) for item in row
        ]
        return dict(zip(row_ids, row.values(), strict=True)) if isinstance(row, dict) else row_ids

    options = dict(evaluation.options)
    if "items" in options:  # of equally popular items, those with low ids are in the head
        items = options["items"]
        beside = [row for name in ("exclude", "base_predictions") for row in options.get(name) or []]
        rows = [*evaluation.truth, *evaluation.predictions, *items.train, *beside]
        ids = sorted({item for row in [*rows, items.catalogue] for item in row or ()})
        new_ids.update(zip(ids, sorted(rng.sample(range(2**62), len(ids))), strict=True))
        listed = None if items.catalogue is None else relabel_row(items.catalogue)
        values = {new_ids[item]: value for item, value in items.values.items()}
        options["items"] = DrawnItems(listed, [relabel_row(row) for row in items.train], values)
    for name in ("exclude", "base_predictions"):
        if options.get(name) is not None:
            options[name] = [relabel_row(row) for row in options[name]]
    other = Evaluation(
        [relabel_row(row) for row in evaluation.truth],
        [relabel_row(row) for row in evaluation.predictions],
        evaluation.metrics,
        options,
    )
    assert without_digest(run_if_legal(evaluation)) == without_digest(run_if_legal(other))


@settings(max_examples=examples(100))
@given(evaluations(min_users=1), st.randoms(use_true_random=False))
def test_f12_the_order_of_the_truth_means_nothing(evaluation: Evaluation, rng: random.Random) -> None:
    def shuffle_row(row: Any) -> Any:
        if row is None:
            return None
        if isinstance(row, dict):
            return dict(rng.sample(list(row.items()), len(row)))
        return rng.sample(row, len(row))

    assume(evaluation.options["convention"].duplicate_truth != "first")
    assert run_if_legal(evaluation) == run_if_legal(
        replace(evaluation, truth=[shuffle_row(row) for row in evaluation.truth])
    )


@pytest.mark.parametrize("metric", BINARY)
@settings(max_examples=examples(100))
@given(st.lists(st.booleans(), max_size=6), st.lists(st.booleans(), max_size=6), st.integers(1, 12), st.integers(0, 3))
def test_a_hit_moved_up_lowers_nothing(metric: str, above: list[bool], below: list[bool], k: int, missed: int) -> None:
    """Swap a hit with the non-relevant item just above it."""
    relevance = [*above, False, True, *below]
    position = len(above)
    ranking = list(range(len(relevance)))
    better = ranking.copy()
    better[position], better[position + 1] = better[position + 1], better[position]
    truth = {item: float(relevant) for item, relevant in enumerate(relevance)} | {100 + i: 1.0 for i in range(missed)}
    before, after = (exactk.evaluate([truth], [r], [f"{metric}@{k}", metric]) for r in (ranking, better))
    for name in before.metrics:
        assert after[name] >= before[name]


@settings(max_examples=examples(300))
@given(evaluations(min_users=1))
def test_f10_values_stay_within_0_and_1(evaluation: Evaluation) -> None:
    assume(evaluation.options["convention"].duplicate_items != "count")
    for name in (name for name, info in evaluation_metrics.items() if info.unit_range):
        report = report_or_error(replace(evaluation, metrics=spellings(name, 3)), exactk.evaluate)
        if isinstance(report, exactk.Report):
            assert all(0 <= value <= 1 for value in report.values() if not math.isnan(value)), name


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "average_precision", "ndcg", "r_precision", "bpref"])
def test_a_perfect_ranking_is_1(metric: str) -> None:
    truth = [[3, 1, 2], [5, 6, 7]]
    assert (
        exactk.evaluate(truth, [*truth], [f"{metric}@3", metric]).items() == {f"{metric}@3": 1.0, metric: 1.0}.items()
    )


@settings(max_examples=examples(100))
@given(evaluations(min_users=1), st.data())
def test_f15_taking_a_users_list_away_raises_no_mean(evaluation: Evaluation, data: st.DataObject) -> None:
    user = data.draw(st.integers(0, len(evaluation.truth) - 1))
    metrics = data.draw(st.lists(st.sampled_from([*BINARY, "recall@3", "ndcg@2"]), min_size=1, max_size=4))
    without = [None if i == user else row for i, row in enumerate(evaluation.predictions)]
    graded = [None if row is None else dict.fromkeys(row, 1.0) for row in evaluation.truth]
    full, less = (run_if_legal(Evaluation(graded, lists, metrics)) for lists in (evaluation.predictions, without))
    assert all(less[name] <= full[name] for name in full.metrics if full[name] == full[name])
