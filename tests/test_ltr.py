"""`exactk.ltr` with objects that have the methods of the libraries; tests/engines has the libraries themselves."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import exactk
from exactk.ltr import catboost_metric, lightgbm_feval, xgboost_callback, xgboost_metric

RNG = np.random.default_rng(0)
SIZES = [3, 7, 1, 12, 4]
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])
LABELS = RNG.integers(0, 4, OFFSETS[-1]).astype(np.float32)
SCORES = RNG.random(OFFSETS[-1])
METRICS = ["ndcg@3(gain=exp2)", "mrr(min_grade=2)", "recall@5"]
EXPECTED = exactk.evaluate(
    exactk.Truth(OFFSETS, np.arange(len(LABELS)), LABELS.astype(float)),
    exactk.SparseScores(OFFSETS, np.arange(len(LABELS)), SCORES),
    METRICS,
)


class Data:
    """As ``lightgbm.Dataset`` and ``xgboost.DMatrix``."""

    def __init__(self, labels: Any = LABELS, sizes: Any = SIZES, weight: Any = None) -> None:
        self.labels, self.sizes, self.weight = labels, sizes, weight

    def get_label(self) -> Any:
        return self.labels

    def get_group(self) -> Any:
        return self.sizes

    def get_weight(self) -> Any:
        return self.weight

    def get_uint_info(self, name: str) -> Any:
        assert name == "group_ptr"
        return np.array([] if self.sizes is None else np.concatenate([[0], np.cumsum(self.sizes)]), np.uint32)


def test_the_values_are_those_of_evaluate() -> None:
    for name, value, is_higher_better in lightgbm_feval(METRICS)(SCORES, Data()):
        assert (value, is_higher_better) == (EXPECTED[name], True)
    assert lightgbm_feval(METRICS)(LABELS, SCORES, None, SIZES) == lightgbm_feval(METRICS)(SCORES, Data())
    assert xgboost_metric(METRICS)(SCORES, Data()) == list(EXPECTED.items())
    groups = np.repeat([5, 3, 9, 1, 0], SIZES)
    metric = catboost_metric(METRICS[0], (LABELS, groups))
    error, weight = metric.evaluate([SCORES], LABELS.astype(np.float64), None)
    assert metric.get_final_error(error, weight) == EXPECTED[METRICS[0]]
    assert metric.is_max_optimal()
    assert str(metric) == METRICS[0]


WEIGHTS = np.array([1, 2, 0.5, 0, 4], np.float32)


@pytest.mark.parametrize("weight", [WEIGHTS, np.repeat(WEIGHTS, SIZES)], ids=["by group", "by row"])
def test_weights_of_the_data_set_weight_its_groups(weight: Any) -> None:
    truth = exactk.Truth(OFFSETS, np.arange(len(LABELS)), LABELS.astype(float))
    scores = exactk.SparseScores(OFFSETS, np.arange(len(LABELS)), SCORES)
    weighted = list(exactk.evaluate(truth, scores, METRICS, weights=WEIGHTS.astype(float)).items())
    assert dict(weighted) != EXPECTED
    data = Data(weight=weight)
    assert [(name, value) for name, value, _ in lightgbm_feval(METRICS)(SCORES, data)] == weighted
    of_class = lightgbm_feval(METRICS)(LABELS, SCORES, weight, SIZES)  # as LGBMRanker calls it
    assert [(name, value) for name, value, _ in of_class] == weighted
    assert xgboost_metric(METRICS)(SCORES, data) == weighted
    metric = catboost_metric(METRICS[0], (LABELS, np.repeat(range(5), SIZES)))
    assert metric.get_final_error(*metric.evaluate([SCORES], LABELS, weight)) == weighted[0][1]
    assert metric.get_final_error(*metric.evaluate([SCORES], LABELS, None)) == EXPECTED[METRICS[0]]


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (np.arange(27), "expected equal weights in a group, found 0 and 1 in group 0; write np.repeat"),
        ([1, 2], r"expected one per group \(5\) or one per row \(27\), found 2"),
    ],
)
def test_weights_are_those_of_groups(weight: Any, expected: str) -> None:
    for function in (lightgbm_feval, xgboost_metric):
        with pytest.raises(exactk.InputError, match=expected):
            function(METRICS)(SCORES, Data(weight=weight))
    with pytest.raises(exactk.InputError, match=expected):
        catboost_metric("mrr", (LABELS, np.repeat(range(5), SIZES))).evaluate([SCORES], LABELS, weight)


def test_names_differ_from_those_of_built_in_metrics() -> None:
    metrics = ["ndcg@3", "map@[1,5]", "auc", "ndcg@3(gain=exp2, ties=expected)", "mrr@3"]
    names = ["ndcg@3_exactk", "map@1_exactk", "map@5_exactk", "auc_exactk", "ndcg@3(gain=exp2,ties=expected)", "mrr@3"]
    assert [name for name, _, _ in lightgbm_feval(metrics)(SCORES, Data())] == names
    assert [name for name, _ in xgboost_metric(metrics)(SCORES, Data())] == names


def test_nan_is_warned_of() -> None:
    nothing = np.zeros_like(LABELS)
    for function in (lightgbm_feval, xgboost_metric):
        with (
            pytest.warns(exactk.EvaluationWarning, match="no user was evaluated"),
            pytest.warns(
                exactk.EvaluationWarning, match="^mrr: NaN in the first round, which early stopping would keep"
            ),
        ):
            function("mrr")(SCORES, Data(nothing))
    metric = catboost_metric("mrr", (nothing, np.repeat(range(5), SIZES)))
    with (
        pytest.warns(exactk.EvaluationWarning),
        pytest.raises(exactk.InputError, match="mrr: expected a value in each round, found NaN"),
    ):
        metric.evaluate([SCORES], nothing, None)


def test_what_xgboost_does_not_evaluate_is_refused() -> None:
    with pytest.raises(exactk.InputError, match=r"expected a DMatrix per name; write .*xgboost\.DMatrix"):
        xgboost_callback("mrr", {"valid": Data()})
    with pytest.raises(exactk.InputError, match=r"expected a DMatrix, found arrays: .*; write callbacks="):
        xgboost_metric("mrr")(LABELS[:3], SCORES[:3])


def test_lower_may_be_better() -> None:
    assert not catboost_metric("arp").is_max_optimal()


@pytest.mark.parametrize("sizes", [None, [3, 4]])
def test_groups_are_missing(sizes: Any) -> None:
    for function in (lightgbm_feval, xgboost_metric):
        with pytest.raises(exactk.InputError, match="expected groups of 27 rows in all, found"):
            function(METRICS)(SCORES, Data(sizes=sizes))


def test_metrics_are_checked_at_once() -> None:
    for function in (lightgbm_feval, xgboost_metric, catboost_metric):
        with pytest.raises(exactk.InputError, match="ndgc"):
            function("ndgc@3")


def test_catboost_data_sets_are_told_apart_by_their_labels() -> None:
    groups = np.repeat(range(5), SIZES)
    with pytest.raises(exactk.InputError, match="cannot be told apart"):
        catboost_metric("mrr", (LABELS, groups), (LABELS, groups))
    with pytest.raises(exactk.InputError, match="a group in two places"):
        catboost_metric("mrr", ([0, 1, 1], [1, 2, 1]))
    metric = catboost_metric("mrr", (LABELS, groups))
    with pytest.warns(exactk.EvaluationWarning, match=f"mrr is 0 for a data set of {len(LABELS)} rows"):
        assert metric.evaluate([SCORES], LABELS[::-1], None) == (0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric.evaluate([SCORES], LABELS[::-1], None) == (0, 1)


def test_warnings_are_shown_once_for_a_data_set() -> None:
    feval, data = lightgbm_feval("ndcg@3"), Data()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        feval(np.zeros(len(LABELS)), data)
        first = len(caught)
        feval(np.zeros(len(LABELS)), data)
    assert first == len(caught) > 0


def test_a_metric_of_catboost_is_pickled_and_copied_with_its_model() -> None:
    metric = catboost_metric("mrr", (LABELS, np.repeat(np.arange(len(SIZES)), SIZES)))
    expected = metric.evaluate([SCORES], LABELS, None)
    for copied in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):  # noqa: S301 - its own
        assert copied.evaluate([SCORES], LABELS, None) == expected
