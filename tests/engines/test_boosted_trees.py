"""`exactk.ltr` in training with LightGBM, XGBoost and CatBoost: the values of a round are those of its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactk
from exactk.ltr import catboost_metric, lightgbm_feval, xgboost_metric

lightgbm: Any = pytest.importorskip("lightgbm", reason="install LightGBM, as `make engines` does")
xgboost: Any = pytest.importorskip("xgboost", reason="likewise")
catboost: Any = pytest.importorskip("catboost", reason="likewise")

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of the libraries

RNG = np.random.default_rng(0)
SIZES = RNG.integers(2, 12, 60)
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])
FEATURES = RNG.random((OFFSETS[-1], 5))
LABELS = np.clip(np.floor(4 * FEATURES[:, 0] + RNG.normal(0, 0.3, OFFSETS[-1])), 0, 3)
GROUPS = np.repeat(range(60), SIZES)
HALF = slice(0, OFFSETS[30])
METRICS = ["mrr(ties=expected,min_grade=3)", "ndcg@5(gain=exp2,ties=expected)"]


WEIGHTS = RNG.integers(1, 5, 60).astype(float)
ROW_WEIGHTS = np.repeat(WEIGHTS, SIZES)


def expected(scores: Any, end: int = 60, *, weighted: bool = False) -> list[tuple[str, float]]:
    offsets, rows = OFFSETS[: end + 1], np.arange(OFFSETS[end])
    truth = exactk.Truth(offsets, rows, LABELS[: len(rows)])
    weights = WEIGHTS[:end] if weighted else None
    return list(exactk.evaluate(truth, exactk.SparseScores(offsets, rows, scores), METRICS, weights=weights).items())


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm(weighted: bool) -> None:
    weight = ROW_WEIGHTS if weighted else None
    train = lightgbm.Dataset(FEATURES, LABELS, group=SIZES, weight=weight)
    of_half = None if weight is None else weight[HALF]
    valid = lightgbm.Dataset(FEATURES[HALF], LABELS[HALF], group=SIZES[:30], weight=of_half, reference=train)
    rounds: dict[str, Any] = {}
    model = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", "verbose": -1, "num_threads": 2},
        train,
        5,
        valid_sets=[train, valid],
        valid_names=["train", "valid"],
        feval=lightgbm_feval(METRICS),
        callbacks=[lightgbm.record_evaluation(rounds)],
    )
    for name, value in expected(model.predict(FEATURES), weighted=weighted):
        assert np.isclose(rounds["train"][name][-1], value)
    for name, value in expected(model.predict(FEATURES[HALF]), 30, weighted=weighted):
        assert np.isclose(rounds["valid"][name][-1], value)


@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost(weighted: bool) -> None:
    train, valid = xgboost.DMatrix(FEATURES, LABELS, qid=GROUPS), xgboost.DMatrix(FEATURES[HALF], LABELS[HALF])
    valid.set_group(SIZES[:30])
    if weighted:
        train.set_weight(WEIGHTS)
        valid.set_weight(WEIGHTS[:30])
    rounds: dict[str, Any] = {}
    model = xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 2},
        train,
        5,
        evals=[(train, "train"), (valid, "valid")],
        custom_metric=xgboost_metric(METRICS),
        early_stopping_rounds=3,
        maximize=True,
        evals_result=rounds,
        verbose_eval=False,
    )
    for name, value in expected(model.predict(train), weighted=weighted):
        assert np.isclose(rounds["train"][name][-1], value, atol=1e-5)
    for name, value in expected(model.predict(valid), 30, weighted=weighted):
        assert np.isclose(rounds["valid"][name][-1], value, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_catboost(weighted: bool) -> None:
    metric = catboost_metric(METRICS[1], (LABELS[HALF], GROUPS[HALF]))
    parameters = {"loss_function": "YetiRank", "eval_metric": metric, "iterations": 5, "thread_count": 2}
    model = catboost.CatBoost(parameters | dict.fromkeys(("allow_writing_files", "use_best_model", "verbose"), False))
    weight = ROW_WEIGHTS[HALF] if weighted else None
    valid = catboost.Pool(FEATURES[HALF], LABELS[HALF], group_id=GROUPS[HALF], group_weight=weight)
    model.fit(catboost.Pool(FEATURES, LABELS, group_id=GROUPS), eval_set=valid)
    rounds = model.get_evals_result()["validation"]
    (values,) = (rounds[name] for name in rounds if "NDCG:" not in name)
    assert np.isclose(values[-1], dict(expected(model.predict(valid), 30, weighted=weighted))[METRICS[1]])
