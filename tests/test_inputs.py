"""One input in every container gives one report."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import exactk
from rankings import rankings_of

TRUTH = [[1, 4], [], [2]]
LISTS = [[4, 2, 1], [3], []]
METRICS = ["precision@2", "recall", "ndcg@2"]


def pad_rows(rows: list[list[int]], dtype: Any = np.int64) -> np.ndarray[Any, Any]:
    width = max(map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], dtype)


TRUTHS: dict[str, Any] = {
    "lists": TRUTH,
    "tuples": [tuple(row) for row in TRUTH],
    "sets": [set(row) for row in TRUTH],
    "grades of 1": [dict.fromkeys(row, 1) for row in TRUTH],
    "arrays": [np.array(row, np.int32) for row in TRUTH],
    "arrays of different dtypes": [np.array([1, 4], np.int8), [], np.array([2], np.uint64)],
    "ranges and deques": [deque([1, 4]), range(0), range(2, 3)],
    "padded": pad_rows(TRUTH),
    "padded int16": pad_rows(TRUTH, np.int16),
    "multi-hot": np.array([[0, 1, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]], bool),
    "CSR": exactk.Truth([0, 2, 2, 3], [1, 4, 2]),
    "CSR uint64": exactk.Truth(np.array([0, 2, 2, 3], np.uint32), np.array([1, 4, 2], np.uint64)),
}
RANKINGS: dict[str, Any] = {
    "lists": LISTS,
    "arrays": [np.array(row, np.uint32) for row in LISTS],
    "NumPy integers": [[np.int64(item) for item in row] for row in LISTS],
    "padded": pad_rows(LISTS),
    "padded int32": pad_rows(LISTS, np.int32),
    "CSR": exactk.Rankings([0, 3, 4, 4], [4, 2, 1, 3]),
    "CSR int32": exactk.Rankings(np.array([0, 3, 4, 4], np.int32), np.array([4, 2, 1, 3], np.int32)),
    "CSR uint32": exactk.Rankings(np.array([0, 3, 4, 4], np.uint64), np.array([4, 2, 1, 3], np.uint32)),
    "CSR uint64": exactk.Rankings([0, 3, 4, 4], np.array([4, 2, 1, 3], np.uint64)),
}


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("rankings", RANKINGS)
def test_containers(truth: str, rankings: str) -> None:
    expected = exactk.evaluate(TRUTH, LISTS, METRICS, per_user=True)
    assert exactk.evaluate(TRUTHS[truth], RANKINGS[rankings], METRICS, per_user=True) == expected


@pytest.mark.parametrize("exclude", [name for name in TRUTHS if name != "grades of 1"])
def test_exclude(exclude: str) -> None:
    """Taking the truth out leaves no hit."""
    with pytest.warns(exactk.EvaluationWarning, match="3 relevant items"):
        report = exactk.evaluate(
            [*TRUTH], LISTS, ["num_hits", "num_recommended"], exclude=TRUTHS[exclude], per_user=True
        )
    assert report.per_user["num_hits"].tolist()[::2] == [0, 0]
    assert report.per_user["num_recommended"].tolist()[::2] == [1, 0]
    assert report.counts["excluded_recommended"] == 2


def test_immutable_and_picklable() -> None:
    truth = exactk.Truth([0, 2, 3], [1, 4, 21], [1.0, 2.0, 3.0], users=["a", "b"])
    with pytest.raises(AttributeError):
        truth.items = np.arange(3)  # type: ignore[misc]
    rankings = rankings_of(pad_rows([[1, 2], [21]]))
    again, lists = pickle.loads(pickle.dumps((truth, rankings)))  # noqa: S301 - just written
    assert exactk.evaluate(again, lists, "ndcg@2") == exactk.evaluate(truth, [[1, 2], [21]], "ndcg@2")


def test_rankings_are_viewed_and_truth_is_copied() -> None:
    items = np.array([4, 2, 1, 3], np.int32)
    rankings = exactk.Rankings([0, 3, 4, 4], items)
    assert np.shares_memory(rankings.items, items)
    matrix = np.array([[4, 2], [1, 3]])
    assert np.shares_memory(rankings_of(matrix).items, matrix)
    truth = exactk.Truth([0, 3, 4, 4], items)
    assert not np.shares_memory(truth.items, items)
    for array in (rankings.items, rankings.indptr, truth.items, truth.indptr):
        assert not array.flags.writeable
    assert items.flags.writeable


def test_present_tells_a_missing_list_from_an_empty_one() -> None:
    rankings = exactk.Rankings([0, 1, 1], [1], present=[True, False])
    report = exactk.evaluate([[1], [1]], rankings, "recall@1(missing_list=skip)")
    assert list(report.values()) == [1.0]
    with pytest.raises(exactk.InputError, match="no items where present is False"):
        exactk.evaluate([[1], [1]], exactk.Rankings([0, 1, 2], [1, 1], present=[True, False]), "P@1")


def test_blocks_must_be_pairs_of_equal_size() -> None:
    one, two = [[1]], [[1], [2]]
    wrong: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("predictions", None, (one, two), {}),
        ("truth", one, (one, [*one]), {}),
        ("weights", None, (one, [*one]), {"weights": [1.0, 2.0]}),
        ("exclude", None, (two, [*two]), {"exclude": [[9]]}),
    ]
    for argument, truth, block, options in wrong:
        with pytest.raises(exactk.InputError, match=argument):
            exactk.evaluate(truth, iter([block]), "P@1", **options)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: exactk.evaluate(TRUTH, np.ones((3, 2), bool), "P@1"), TypeError, "multi-hot"),
        (lambda: exactk.Truth(cast("Any", "ab"), [1]), TypeError, "a NumPy array"),
        (lambda: exactk.Truth(cast("Any", [[0], [1, 2]]), [1]), ValueError, "rectangular"),
        (lambda: exactk.Truth([0, 2**70], [1]), TypeError, "object"),
        (lambda: exactk.Truth(cast("Any", [[0, 1]]), [1]), TypeError, "dimension"),
        (lambda: exactk.Truth([0, 1], [1], present=[1]), TypeError, "bool"),
        (lambda: exactk.as_truth([{1: 1.0}, [2]]), TypeError, "a mapping"),
        (lambda: exactk.as_truth([{1: "a"}]), TypeError, "numbers"),
        (lambda: exactk.metrics.rbp.with_(p="half"), TypeError, "a number"),  # type: ignore[arg-type]
        (lambda: exactk.metrics.list_auc.with_(num_items=10**400), ValueError, "float64 holds, found a larger"),
        (lambda: exactk.Comparison({}), ValueError, "at least one"),
        (lambda: exactk.State.from_bytes("text"), TypeError, "bytes"),  # type: ignore[arg-type]
    ],
)
def test_containers_that_are_none(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=message) as caught:
        call()
    assert isinstance(caught.value, kind)


def test_a_gain_table_may_be_an_array() -> None:
    convention = exactk.conventions["standard"].replace(gain="table", gain_table=np.array([0.0, 2.0]))
    assert convention.gain_table == (0.0, 2.0)


def test_exclude_is_cut_as_the_blocks_come() -> None:
    exclude = exactk.as_exclusions([[7], [3], [9]])
    whole = exactk.evaluate(TRUTH, LISTS, METRICS, exclude=exclude)
    blocks = ((TRUTH[user : user + 1], LISTS[user : user + 1]) for user in range(3))
    assert exactk.evaluate(None, blocks, METRICS, exclude=exclude) == whole
    assert exactk.evaluate(TRUTH, LISTS, METRICS, exclude=pickle.loads(pickle.dumps(exclude))) == whole  # noqa: S301 - just written


def test_users_of_several_kinds_are_not_joined() -> None:
    with_keys = exactk.evaluate(exactk.Truth([0, 1], [1], users=["a"]), [[1]], "P@1", per_user=True)
    without_keys = exactk.evaluate([[1]], [[1]], "P@1", per_user=True)
    with pytest.raises(exactk.StateMismatchError, match="user keys"):
        exactk.merge([with_keys, without_keys])
    assert with_keys != without_keys
    assert repr(with_keys.per_user) == "{'P@1': array([1.])}"


def test_floats_in_place_of_ids() -> None:
    scores: Any = [[0.5, 0.25], [0.125, 0.75]]
    with pytest.raises(exactk.InputTypeError, match=r"; predictions=exactk.Scores\(predictions\) if these are scores"):
        exactk.evaluate([[0], [1]], scores, "recall@1")
    assert exactk.evaluate([[0], [1]], exactk.Scores(scores), "recall@1")["recall@1"] == 1
    truth: Any = [[1.0], [2.0, 3.0]]
    with pytest.raises(exactk.InputTypeError, match=r"found float 1.0 at row 0, position 0; truth=") as caught:
        exactk.evaluate(truth, [[1], [2]], "recall@1")
    assert eval(str(caught.value).partition("; truth=")[2], {"truth": truth}) == [[1], [2, 3]]  # noqa: S307
    predictions: Any = {"a": [1.0]}
    with pytest.raises(exactk.InputTypeError, match=r"found float 1.0 at row 0, position 0; predictions=") as caught:
        exactk.evaluate({"a": [1]}, predictions, "recall@1")
    assert eval(str(caught.value).partition("; predictions=")[2], {"predictions": predictions}) == {"a": [1]}  # noqa: S307


@pytest.mark.parametrize(
    ("metrics", "meant"),
    [({"ndcg": 10}, ["ndcg@10"]), ({"ndcg": [5, 10], "mrr": (10,)}, ["ndcg@5", "ndcg@10", "mrr@10"])],
)
def test_metrics_are_no_mapping(metrics: Any, meant: list[str]) -> None:
    with pytest.raises(exactk.InputTypeError, match="metrics: expected a metric string or a list of them") as caught:
        exactk.evaluate([[1]], [[1]], metrics)
    hint = str(caught.value).partition("; metrics=")[2].removesuffix(" adds the cutoffs")
    assert eval(hint, {"metrics": metrics}) == meant  # noqa: S307
