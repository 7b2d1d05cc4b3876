"""Diversity within lists: values worked out by hand, laws of distances, and what is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import exactk
from refusals import refusal

ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
ROOT_HALF = math.sqrt(0.5)
VECTORS = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
TAGS = [["a", "b"], ["b", "c"], ["d"]]
MATRIX = [[0.0, 2.0, 5.0], [2.0, 0.0, 3.0], [5.0, 3.0, 0.0]]


def ild(evaluate: Any, features: Any, rules: str = "", lists: Any = ((0, 1, 2),)) -> float:
    items = exactk.Items(range(3), features=features)
    metric = f"ild{f'({rules})' if rules else ''}"
    value = evaluate(None, [list(row) for row in lists], metric, items=items)[metric]
    assert isinstance(value, float)
    return value


@ENGINES
@pytest.mark.parametrize(
    ("features", "rules", "expected"),
    [
        (VECTORS, "", (3 - 2 * ROOT_HALF) / 3),
        (VECTORS, "ild_over=list", (3 - 2 * ROOT_HALF) / 3),
        (VECTORS, "distance=dot", 1 / 3),
        (VECTORS, "distance=euclidean", (2 + math.sqrt(2)) / 3),
        (VECTORS, "distance=hamming", 4 / 3),
        (VECTORS, "distance=jaccard", (1 / 2 + 1 / 2 + 1) / 3),
        (np.array(VECTORS, np.float32), "distance=hamming", 4 / 3),
        (scipy.sparse.csr_array(VECTORS), "", (3 - 2 * ROOT_HALF) / 3),
        (TAGS, "", (1 / 2 + 1 + 1) / 3),
        (TAGS, "distance=dot", (0 + 1 + 1) / 3),
        (TAGS, "distance=jaccard", (2 / 3 + 1 + 1) / 3),
        (TAGS, "distance=hamming", (2 + 3 + 3) / 3),
        (MATRIX, "distance=matrix", 10 / 3),
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]], "", 1.0),  # a vector of zeros is similar to none
    ],
)
def test_values_by_hand(evaluate: Any, features: Any, rules: str, expected: float) -> None:
    assert ild(evaluate, features, rules) == pytest.approx(expected, abs=1e-15)


@ENGINES
@pytest.mark.parametrize(("rules", "expected"), [("", 0.0), ("undefined=one", 1.0), ("ild_over=list", 0.0)])
def test_one_item_has_no_pair(evaluate: Any, rules: str, expected: float) -> None:
    assert ild(evaluate, VECTORS, rules, [[1]]) == expected


@ENGINES
def test_equal_items_have_no_distance(evaluate: Any) -> None:
    """The rounded cosine of equal vectors may exceed 1."""
    features = np.tile(np.random.default_rng(5).standard_normal(7), (3, 1))
    for distance in ("cosine", "euclidean", "hamming"):
        assert 0 <= ild(evaluate, features, f"distance={distance}") < 1e-15
    assert ild(evaluate, features, "distance=hamming") == 0


@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean", "hamming"])
def test_narrow_and_wide_numbers_have_the_same_bits(distance: str) -> None:
    rng = np.random.default_rng(6)
    narrow = rng.standard_normal((50, 21)).astype(np.float32)
    lists = [rng.permutation(50)[:20].tolist() for _ in range(30)]
    metrics = [f"ild@{k}(distance={distance})" for k in (2, 5, 20)]
    both = (exactk.Items(50, features=one) for one in (narrow, narrow.astype(np.float64)))
    one, other = (dict(exactk.evaluate(None, lists, metrics, items=items)) for items in both)
    assert one == other


@ENGINES
def test_items_without_features(evaluate: Any) -> None:
    features = {0: [1.0, 0.0], 2: [0.0, 1.0]}
    with pytest.raises(exactk.InputError) as caught:
        ild(evaluate, features, "", [[0, 2], [1, 0], [2, 1]])
    assert (caught.value.fault.row, caught.value.fault.count) == (1, 2)
    assert ild(evaluate, features, "missing_features=skip", [[0, 1, 2]]) == 1.0
    assert ild(evaluate, features, "missing_features=skip,ild_over=list", [[0, 1, 2]]) == 0.5
    assert ild(evaluate, [["a"], [], ["b"]], "distance=jaccard,missing_features=skip") == 1.0  # no tags
    assert ild(evaluate, [["a"], [], ["b"]], "distance=hamming,missing_features=skip") == 2.0
    assert ild(evaluate, features, "", [[0, 2]]) == 1.0  # nobody has the item


@ENGINES
@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([[1, 2], [3], [3, 9]], 0.5),  # as rectools 0.19.0 returned: the last list is NaN
        ([[1, 2], [3], [9]], 1 / 3),
        ([[1, 2], [9, 8]], 1.0),
        ([[1, 2], [1, 2, 9]], 1.0),
        ([[1, 3], [1], [1, 9]], 0.0),
        ([[9]], 0.0),
    ],
)
def test_rectools_leaves_out_lists_without_a_pair_of_features(
    evaluate: Any, lists: list[list[int]], expected: float
) -> None:
    items = exactk.Items([1, 2, 3, 4, 8, 9], features={1: [0.0], 2: [1.0], 3: [0.0], 4: [1.0]})
    report = evaluate(None, lists, "ild@3(distance=hamming)", items=items, convention="rectools")
    assert report["ild@3(distance=hamming)"] == pytest.approx(expected)


def test_the_message_names_the_item_and_what_to_write() -> None:
    items = exactk.Items(["film", "song"], features={"film": [1.0]})
    with pytest.raises(exactk.InputError, match=r"item 'song' without features at row 0.*'missing_features': 'skip'"):
        exactk.evaluate(None, {"ann": ["film", "song"]}, "ild@2", items=items)


@ENGINES
def test_items_outside_the_catalogue_or_train(evaluate: Any) -> None:
    """Diversity does not read the training data."""
    items = exactk.Items([0, 1], train=[[0]], features=[[1.0, 0.0], [0.0, 1.0]])
    skip = "missing_features=skip"
    for rules in ("foreign_items=ignore", f"foreign_items=ignore,{skip}", f"foreign_items=count,{skip}"):
        values = evaluate(None, [[0, 9, 1]], f"ild({rules})", items=items, convention={"unseen_items": "raise"})
        assert [*values.values()] == [1]
    with pytest.raises(exactk.InputError, match="features"):
        evaluate(None, [[0, 9, 1]], "ild(foreign_items=count)", items=items)


REFUSED: list[tuple[Any, str, str]] = [
    (None, "cosine", "ild to have the features"),
    (VECTORS, "matrix", "a square matrix"),
    ([[0.5], [1.0], [0.0]], "jaccard", "tags, or 0 and 1"),
    (scipy.sparse.csr_array([[0.5], [1.0], [0.0]]), "jaccard", "tags, or 0 and 1"),
    (TAGS, "matrix", "a dense matrix"),
    ([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.5, 2.0, 0.0]], "matrix", "a symmetric matrix"),
    ([[0.0, 1.0, 2.0], [1.0, 0.5, 2.0], [2.0, 2.0, 0.0]], "matrix", "a symmetric matrix"),
    ([[0.0, -1.0, 2.0], [-1.0, 0.0, 2.0], [2.0, 2.0, 0.0]], "matrix", "a symmetric matrix"),
    ([[1e-200, 0.0], [1.0, 0.0], [0.0, 1.0]], "cosine", "of length 2"),
    ([[2.0**65], [1.0], [0.0]], "euclidean", "finite numbers from -2"),
]


@pytest.mark.parametrize(("features", "distance", "message"), REFUSED)
def test_features_without_such_a_distance_are_refused(features: Any, distance: str, message: str) -> None:
    assert message in str(refusal(lambda module: ild(module.evaluate, features, f"distance={distance}")))


def test_a_matrix_is_in_the_order_of_its_rows() -> None:
    """The catalogue is sorted; rows and columns stay together."""
    keys = ["c", "a", "b"]
    value = "ild(distance=matrix)"
    for features in (MATRIX, dict(zip(keys, MATRIX, strict=True))):
        items = exactk.Items(keys, features=features)
        assert exactk.evaluate(None, {"u": ["c", "b"]}, value, items=items)[value] == MATRIX[0][2]
        assert exactk.evaluate(None, {"u": ["a", "b"]}, value, items=items)[value] == MATRIX[1][2]


@pytest.mark.parametrize("average", ["macro", "micro", "geometric"])
@pytest.mark.parametrize("weights", [None, [0.5, 2.0]])
def test_reports_of_negative_distances_are_read_back(average: str, weights: list[float] | None) -> None:
    items = exactk.Items(3, features=[[2.0, 0.0], [2.0, 0.0], [-3e18, 1e10]], train=[[0], [1]])
    metrics = [f"{metric}@2(distance=dot,average={average})" for metric in ("ild", "serendipity")]
    report = exactk.evaluate([[0, 1], [1]], [[0, 1], [0, 1]], metrics, items=items, weights=weights)
    assert average == "geometric" or all(value < 0 for value in report.values())
    assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
    assert exactk.Report.from_json(report.to_json()) == report
    assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - our own
