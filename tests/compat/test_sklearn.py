"""`exactk.compat.sklearn` beside scikit-learn itself: scorers, classes of exceptions, and inputs that sort or rank by the engine."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn import exceptions, metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.utils._param_validation import InvalidParameterError

from exactk.compat import sklearn as replacement
from strategies import in_pairs

RANKINGS = ("label_ranking_average_precision_score", "label_ranking_loss", "coverage_error")
SHAPES = ((700, 40), (30, 1500))


def assert_alike(name: str, *arguments: Any, tolerance: float = 1e-12, **options: Any) -> None:
    expected, found = (getattr(module, name)(*arguments, **options) for module in (metrics, replacement))
    assert found == pytest.approx(expected, rel=tolerance), (name, options)


def one_hot(labels: Any, scores: Any, function: Any, **options: Any) -> float:
    return float(function(np.eye(scores.shape[1])[labels], scores, **options))


@pytest.mark.parametrize("make_scorer", [metrics.make_scorer, replacement.make_scorer], ids=["theirs", "ours"])
def test_scorers_score_as_those_of_the_library(make_scorer: Any) -> None:
    generator = np.random.default_rng(1)
    features, labels = generator.random((120, 4)), np.arange(120) % 3
    scorers = {
        f"{name} {number}": maker(one_hot, response_method="predict_proba", function=getattr(module, name), k=2)
        for name in ("ndcg_score", "dcg_score")
        for number, (maker, module) in enumerate(((metrics.make_scorer, metrics), (make_scorer, replacement)))
    }
    for number, module in enumerate((metrics, replacement)):
        scorers[f"top {number}"] = module.get_scorer("top_k_accuracy")
    found = cross_validate(LogisticRegression(), features, labels, scoring=scorers, cv=3)
    for name in ("ndcg_score", "dcg_score", "top"):
        assert found[f"test_{name} 1"] == pytest.approx(found[f"test_{name} 0"], abs=1e-12)


def test_other_scorers_are_those_of_the_library() -> None:
    assert repr(replacement.get_scorer("accuracy")) == repr(metrics.get_scorer("accuracy"))
    assert replacement.get_scorer(None) is None
    with pytest.raises(ValueError, match="valid"):
        replacement.get_scorer("no_scorer")


def test_exceptions_and_warnings_are_those_of_the_library() -> None:
    with pytest.raises(InvalidParameterError):
        replacement.ndcg_score([[1, 0]], [[1, 0]], k=0)
    with pytest.warns(exceptions.UndefinedMetricWarning):
        replacement.top_k_accuracy_score([0, 1], [0.25, 0.75], k=2)


@pytest.mark.parametrize(
    ("shape", "has_ties", "dtype"), in_pairs(SHAPES, [False, True], ["float64", "float32", "int64", "uint8", "float16"])
)
def test_gains_of_many_labels(shape: tuple[int, int], dtype: str, has_ties: bool) -> None:
    generator = np.random.default_rng(2)
    scores = np.argsort(generator.random(shape)) % 250 if has_ties else np.argsort(generator.random(shape))
    scores = (scores - (0 if dtype == "uint8" else 20)).astype(dtype)
    gains = generator.integers(0, 4, shape)
    weights = generator.random(shape[0])
    for k in (None, 1, 10, 60):
        for name in ("ndcg_score", "dcg_score"):
            assert_alike(name, gains, scores, k=k, sample_weight=weights)
        if not has_ties and dtype in {"float64", "float32", "int64"}:
            assert_alike("ndcg_score", gains, scores, k=k, ignore_ties=True)


@pytest.mark.parametrize(
    ("shape", "share", "name", "dtype"),
    in_pairs(SHAPES, [0.02, 0.6], RANKINGS, ["float64", "float32", "int64", "uint8"]),
)
def test_indicators_of_many_labels(shape: tuple[int, int], share: float, name: str, dtype: str) -> None:
    generator = np.random.default_rng(3)
    scores, labels = generator.integers(0, 100, shape).astype(dtype), (generator.random(shape) < share).astype(int)
    labels[0], labels[1] = 0, 1
    assert_alike(name, labels, scores, tolerance=1e-6 if dtype == "float32" else 1e-12)  # SciPy 1.18 ranks in float32


def test_samples_beyond_a_block() -> None:
    """Scores are sorted in blocks of samples."""
    generator = np.random.default_rng(4)
    scores, labels = generator.integers(0, 50, (900, 400)) / 4, (generator.random((900, 400)) < 0.4).astype(int)
    for name in (*RANKINGS, "ndcg_score"):
        assert_alike(name, labels, scores)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_repeated_labels_are_refused(dtype: type) -> None:
    labels = csr_matrix((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 3))
    for name in RANKINGS[:2]:
        with pytest.raises(ValueError, match="twice"):
            getattr(replacement, name)(labels, np.ones((2, 3), dtype))


def test_classes_of_other_scores_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = replacement.top_k_accuracy_score([0, 2], np.array([[3, 3, 1], [1, 1, 1]]), k=1, labels=[0, 1, 2])
    assert value == metrics.top_k_accuracy_score([0, 2], [[3, 3, 1], [1, 1, 1]], k=1, labels=[0, 1, 2])


@pytest.mark.parametrize("k", [np.uint8(255), np.int8(127), np.int8(3), True])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_cutoffs_of_small_types_do_not_overflow(name: str, k: Any) -> None:
    generator = np.random.default_rng(5)
    scores, gains = generator.random((4, 300)), generator.integers(0, 3, (4, 300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = getattr(replacement, name)(gains, scores, k=k)
    assert found == pytest.approx(getattr(metrics, name)(gains, scores, k=k), rel=1e-12)


@pytest.mark.parametrize("log_base", [np.inf, np.nan])
def test_a_base_that_is_no_finite_number_is_refused(log_base: float) -> None:
    for module in (metrics, replacement):
        with pytest.raises(InvalidParameterError, match="log_base"):
            module.dcg_score([[1, 0]], [[1, 0]], log_base=log_base)


@pytest.mark.parametrize("weights", [pd.Series([1.0, 2, 3], index=[2, 0, 1]), np.array([1, 2, 3], object)])
def test_weights_are_taken_as_the_library_takes_them(weights: Any) -> None:
    """It asks a Series for labels."""
    labels, scores = [[1, 0, 1], [0, 1, 0], [1, 0, 0]], [[3, 2, 1], [3, 2, 1], [1, 2, 3]]
    assert_alike("label_ranking_average_precision_score", labels, scores, sample_weight=weights)


def test_weights_without_a_label_of_the_samples_are_refused_as_there() -> None:
    weights = pd.Series([1.0, 2.0], index=[7, 8])
    for module in (metrics, replacement):
        with pytest.raises(KeyError):
            module.label_ranking_average_precision_score([[1, 0], [0, 1]], [[1, 2], [1, 2]], sample_weight=weights)


@pytest.mark.parametrize("name", [*RANKINGS, "ndcg_score", "dcg_score"])
def test_missing_numbers_of_pandas_are_a_value_error(name: str) -> None:
    labels = pd.DataFrame({"a": [1, 0], "b": [0, 1]})
    missing = [labels.astype(dtype).mask(labels > 0) for dtype in ("Int64", "Float64")]
    for gains, scores in ((missing[0], labels), (labels, missing[1])):
        for module in (metrics, replacement):
            with pytest.raises(ValueError, match="NaN"):
                getattr(module, name)(gains, scores)


def test_scores_may_be_lists_of_arrays_of_objects() -> None:
    gains, scores = np.array([[1, 0, 2], [0, 1, 3]]), np.array([[3, 1, 2], [1, 2, 3]])
    assert_alike("ndcg_score", gains, list(scores.astype(object)))


def test_classes_may_be_dates() -> None:
    days, scores = np.array(["2026-01-03", "2026-01-01", "2026-01-02"], "M8[D]"), np.eye(3)
    assert_alike("top_k_accuracy_score", days, scores, k=1)
