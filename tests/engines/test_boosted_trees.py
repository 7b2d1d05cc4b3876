"""`exactk.ltr` in training with LightGBM, XGBoost and CatBoost: the values of a round are those of its scores."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import exactk
from exactk.ltr import catboost_metric, lightgbm_feval, xgboost_callback, xgboost_metric

lightgbm: Any = pytest.importorskip("lightgbm", reason="install LightGBM, as `make engines` does")
xgboost: Any = pytest.importorskip("xgboost", reason="likewise")
catboost: Any = pytest.importorskip("catboost", reason="likewise")
catboost_utils: Any = pytest.importorskip("catboost.utils", reason="likewise")

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
        {"objective": "lambdarank", "metric": "None", "verbose": -1, "num_threads": 1},
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
        {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1},
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
    parameters = {"loss_function": "YetiRank", "eval_metric": metric, "iterations": 5, "thread_count": 1}
    model = catboost.CatBoost(parameters | dict.fromkeys(("allow_writing_files", "use_best_model", "verbose"), False))
    weight = ROW_WEIGHTS[HALF] if weighted else None
    valid = catboost.Pool(FEATURES[HALF], LABELS[HALF], group_id=GROUPS[HALF], group_weight=weight)
    model.fit(catboost.Pool(FEATURES, LABELS, group_id=GROUPS), eval_set=valid)
    rounds = model.get_evals_result()["validation"]
    (values,) = (rounds[name] for name in rounds if "NDCG:" not in name)
    assert np.isclose(values[-1], dict(expected(model.predict(valid), 30, weighted=weighted))[METRICS[1]])


GRADES = np.clip(np.floor(5 * (FEATURES[:, 0] + RNG.normal(0, 0.4, OFFSETS[-1])) - 2), 0, 3)
GRADES[RNG.integers(OFFSETS[:-1], OFFSETS[1:])] = 3  # all groups have a relevant row: see the last test

LAST_BITS = 2**-51  # the libraries round each addition

BUILT_IN = {
    "ndcg@5": "ndcg@5(gain=exp2,ties=input_order)",
    "map@5": "map@5(ap_over=min_cutoff_relevant,ties=input_order)",
}


def lightgbm_rounds(metrics: Any, weight: Any = None, **options: Any) -> tuple[Any, Any]:
    ranker = lightgbm.LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1, **options)
    ranker.fit(
        FEATURES,
        GRADES,
        group=SIZES,
        sample_weight=weight,
        eval_set=[(FEATURES[HALF], GRADES[HALF])],
        eval_group=[SIZES[:30]],
        eval_sample_weight=None if weight is None else [weight[HALF]],
        eval_at=(5,),
        eval_metric=lightgbm_feval(metrics),
    )
    return ranker, ranker.evals_result_["valid_0"]


@pytest.mark.parametrize("weight", [None, ROW_WEIGHTS], ids=["plain", "weighted"])
def test_lgbmranker_has_the_values_of_its_own_metrics(weight: Any) -> None:
    _, rounds = lightgbm_rounds(list(BUILT_IN.values()), weight, metric=["ndcg", "map"])
    for name, ours in BUILT_IN.items():
        np.testing.assert_allclose(rounds[ours], rounds[name], rtol=0, atol=LAST_BITS)


def test_lgbmranker_keeps_metrics_of_one_name_apart() -> None:
    ranker, rounds = lightgbm_rounds("ndcg@5")
    assert {name: len(values) for name, values in rounds.items()} == {"ndcg@5": 10, "ndcg@5_exactk": 10}
    assert rounds["ndcg@5"] != rounds["ndcg@5_exactk"]  # another gain
    assert ranker.best_score_["valid_0"] == {name: values[-1] for name, values in rounds.items()}


def xgboost_rounds(metrics: Any, labels: Any = GRADES, weight: Any = None, **options: Any) -> tuple[Any, Any, Any]:
    of_half = None if weight is None else weight[:30]
    valid = xgboost.DMatrix(FEATURES[HALF], labels[HALF], qid=GROUPS[HALF], weight=of_half)
    callback = xgboost_callback(metrics, {"validation_0": valid, "other": valid})
    callbacks = [callback, *options.pop("callbacks", [])]
    ranker = xgboost.XGBRanker(n_estimators=10, objective="rank:ndcg", n_jobs=1, callbacks=callbacks, **options)
    ranker.fit(
        FEATURES,
        labels,
        qid=GROUPS,
        sample_weight=weight,
        eval_set=[(FEATURES[HALF], labels[HALF])],
        eval_qid=[GROUPS[HALF]],
        sample_weight_eval_set=None if of_half is None else [of_half],
        verbose=False,
    )
    rounds = ranker.evals_result()
    assert rounds["other"] == {name: rounds["validation_0"][name] for name in rounds["other"]}
    return ranker, rounds["validation_0"], valid


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_xgbranker_has_the_values_of_its_own_metrics(weight: Any, name: str) -> None:
    labels = GRADES if name == "ndcg@5" else (GRADES == 3).astype(float)  # its MAP takes 0 and 1 alone
    _, rounds, _ = xgboost_rounds(BUILT_IN[name], labels, weight, eval_metric=name)
    np.testing.assert_allclose(rounds[BUILT_IN[name]], rounds[name], rtol=0, atol=LAST_BITS)


def test_xgbranker_stops_early_as_it_is_asked() -> None:
    metrics = ["recall@1(min_grade=3)", "mrr(min_grade=3)"]
    without = xgboost.XGBRanker(n_estimators=10, objective="rank:ndcg", eval_metric="ndcg@5", early_stopping_rounds=2)
    without.fit(
        FEATURES, GRADES, qid=GROUPS, eval_set=[(FEATURES[HALF], GRADES[HALF])], eval_qid=[GROUPS[HALF]], verbose=False
    )
    ranker, rounds, _ = xgboost_rounds(metrics, eval_metric="ndcg@5", early_stopping_rounds=2)
    assert list(rounds) == [*metrics, "ndcg@5"]
    assert ranker.best_iteration == without.best_iteration
    stop = xgboost.callback.EarlyStopping(rounds=9, data_name="validation_0", metric_name=metrics[0], maximize=True)
    ranker, rounds, _ = xgboost_rounds(metrics, eval_metric="ndcg@5", callbacks=[stop])
    assert ranker.best_iteration == np.argmax(rounds[metrics[0]]) > 0


def test_xgbranker_passes_single_groups_to_a_metric() -> None:
    ranker = xgboost.XGBRanker(n_estimators=2, eval_metric=xgboost_metric("mrr"))
    with pytest.raises(exactk.InputError, match=r"write callbacks=\[xgboost_callback"):
        ranker.fit(FEATURES, GRADES, qid=GROUPS, eval_set=[(FEATURES, GRADES)], eval_qid=[GROUPS])


def test_cross_validation_of_the_libraries() -> None:
    of_fold = GROUPS % 3
    folds = [(np.flatnonzero(of_fold != fold), np.flatnonzero(of_fold == fold)) for fold in range(3)]
    parameters = {"objective": "lambdarank", "metric": "None", "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(FEATURES, GRADES, group=SIZES, weight=ROW_WEIGHTS)
    rounds = lightgbm.cv(parameters, data, 3, folds=folds, feval=lightgbm_feval("ndcg@5"))
    assert [len(rounds[f"valid ndcg@5_exactk-{name}"]) for name in ("mean", "stdv")] == [3, 3]
    parameters = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1}
    matrix = xgboost.DMatrix(FEATURES, GRADES, qid=GROUPS)
    metric = xgboost_metric("ndcg@5(gain=exp2, ties=expected)")
    rounds = xgboost.cv(parameters, matrix, 3, custom_metric=metric, as_pandas=False)
    assert len(rounds["test-ndcg@5(gain=exp2,ties=expected)-mean"]) == 3
    with pytest.raises(exactk.InputError, match=r"found folds of xgboost\.cv; write custom_metric"):
        xgboost.cv(parameters, matrix, 3, callbacks=[xgboost_callback("mrr", {"all": matrix})])


def test_xgbranker_is_copied_and_pickled_with_its_callback() -> None:
    ranker, rounds, valid = xgboost_rounds("mrr(min_grade=3)")
    other = copy.deepcopy(ranker).fit(FEATURES, GRADES, qid=GROUPS, verbose=False)
    assert other.evals_result_["validation_0"]["mrr(min_grade=3)"] == rounds["mrr(min_grade=3)"]
    pickled = pickle.loads(pickle.dumps(ranker))  # noqa: S301 - its own
    assert np.array_equal(pickled.predict(FEATURES[HALF]), ranker.predict(FEATURES[HALF]))
    with pytest.raises(exactk.InputError, match="data: expected a DMatrix to evaluate, found none"):
        pickled.fit(FEATURES, GRADES, qid=GROUPS)
    booster = xgboost.train({"objective": "rank:ndcg"}, valid, 3, callbacks=[xgboost_callback("mrr", {"valid": valid})])
    assert booster.num_boosted_rounds() == 3


@pytest.mark.parametrize("weight", [None, ROW_WEIGHTS[HALF]], ids=["plain", "weighted"])
def test_catboostranker_has_the_values_of_its_own_metric(weight: Any) -> None:
    metric = catboost_metric("ndcg@5(gain=exp2,ties=pessimistic)", (GRADES[HALF], GROUPS[HALF]))
    ranker = catboost.CatBoostRanker(
        iterations=10,
        eval_metric=metric,
        custom_metric=["NDCG:top=5;type=Exp"],
        verbose=False,
        allow_writing_files=False,
        thread_count=1,
    )
    valid = catboost.Pool(FEATURES[HALF], GRADES[HALF], group_id=GROUPS[HALF], group_weight=weight)
    ranker.fit(FEATURES, GRADES, group_id=GROUPS, eval_set=valid)
    rounds = ranker.get_evals_result()["validation"]
    np.testing.assert_allclose(rounds["catboost_metric"], rounds["NDCG:top=5;type=Exp"], rtol=0, atol=LAST_BITS)


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_without_relevant_rows(weighted: bool) -> None:
    """LightGBM and XGBoost add 1 for them whatever their weight, and divide by all weights; exactk and CatBoost weight it."""
    labels, sizes, weights = np.array([0.0, 2, 0, 1, 0, 0, 0, 1]), np.array([4, 2, 2]), np.array([1.0, 2, 4])
    groups, scores = np.repeat(range(3), sizes), -np.arange(8.0)
    of_rows = np.repeat(weights, sizes)
    matrix = xgboost.DMatrix(
        np.zeros((8, 1)), labels, qid=groups, base_margin=scores, weight=weights if weighted else None
    )
    text = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": "ndcg@3", "base_score": 0}, [matrix]).eval(
        matrix, "valid"
    )
    by_catboost = catboost_utils.eval_metric(
        labels, scores, "NDCG:top=3;type=Exp", group_id=groups, group_weight=of_rows if weighted else None
    )
    data = lightgbm.Dataset(
        np.zeros((8, 1)), labels, group=sizes, init_score=scores, weight=of_rows if weighted else None
    )
    rounds: dict[str, Any] = {}
    lightgbm.train(
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": 3, "verbose": -1},
        data,
        1,
        valid_sets=[data],
        feval=lightgbm_feval("ndcg@3(gain=exp2,empty_truth=one)"),
        callbacks=[lightgbm.record_evaluation(rounds)],
    )
    (by_lightgbm,), (ours,) = rounds["training"].values()
    plain = (0.521296 + 1 + 0.630930) / 3
    assert [ours, *by_catboost] == pytest.approx([0.720716 if weighted else plain] * 2, abs=1e-6)
    assert [by_lightgbm, float(text.split(":")[1])] == pytest.approx([0.577859 if weighted else plain] * 2, abs=1e-6)
