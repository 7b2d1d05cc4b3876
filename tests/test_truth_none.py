"""`truth=None` where no metric reads the truth: all users of the predictions count, and none has an empty truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import exactk
from exactk._plan.metrics import evaluation_metrics

METRICS = ["list_fill@3", "user_coverage@3(least=2)"]
LISTS = {"eve": ["film", "book", "song"], "ann": ["song"], "bob": ["film", "play"]}
FRAME = pl.DataFrame({
    "user": ["eve", "eve", "ann", "bob", "bob", "eve"],
    "item": ["film", "book", "song", "film", "play", "song"],
    "score": [3.0, 2.0, 1.0, 2.0, 1.0, 1.0],
})  # fmt: skip
MATRIX = np.array([[0.5, 0.25], [0.25, 0.5]])
PREDICTIONS: dict[str, Any] = {
    "mapping": LISTS,
    "frame": FRAME,
    "grouped batches": exactk.Batches(lambda: (FRAME.sort("user")[i : i + 2] for i in (0, 2, 4))),
    "batches": exactk.Batches(lambda: (FRAME[i : i + 2] for i in (0, 2, 4))),
    "list": [["a", "b"], [], None, ["b"]],
    "scores": MATRIX,
    "keyed scores": exactk.Scores(MATRIX, users=["eve", "ann"], items=["film", "song"]),
    "embeddings": exactk.Embeddings(MATRIX, MATRIX, users=["eve", "ann"]),
    "sparse": scipy.sparse.csr_array(np.array([[0.0, 1.0], [0.5, 0.25]])),
}
ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])


def without_items(report: exactk.Report) -> Any:
    """Return a truth without items, of the users of a report."""
    users = report.users.tolist()
    return {user: [] for user in users} if isinstance(users[0], str) else [[] for _ in users]


@ENGINES
@pytest.mark.parametrize("form", PREDICTIONS)
def test_values_are_those_of_a_truth_without_items(evaluate: Any, form: str) -> None:
    predictions = PREDICTIONS[form]
    report = evaluate(None, predictions, METRICS, per_user=True)
    expected = evaluate(without_items(report), predictions, METRICS, per_user=True)
    assert report.counts["evaluated"] == dict.fromkeys(METRICS, report.counts["users"])
    assert report.counts["empty_truth"] == 0
    assert expected.counts["empty_truth"] == report.counts["users"]
    counts = expected.state.counts._replace(empty_truth=0)
    assert report.state == expected.state._replace(counts=counts)
    for name in METRICS:
        assert report.per_user[name].tolist() == expected.per_user[name].tolist()
    assert "truth" not in repr(report)
    assert exactk.Report.from_json(report.to_json()).state == report.state


def test_weights_groups_and_exclusions_are_by_user() -> None:
    weights, groups = {"ann": 1.0, "bob": 2.0, "eve": 0.5}, {"ann": "x", "bob": "y", "eve": "x"}
    options: dict[str, Any] = {"weights": weights, "groups": groups, "exclude": {"eve": ["film"], "sam": ["film"]}}
    report = exactk.evaluate(None, LISTS, "list_fill@2", **options)
    assert report["list_fill@2"] == (0.5 * 1 + 1 * 0.5 + 2 * 1) / 3.5
    assert report.by_group["x"]["list_fill@2"] == (0.5 + 0.5) / 1.5
    assert report.counts["users"] == 3  # and not sam
    for form in ("batches", "grouped batches"):
        batches = exactk.evaluate(None, PREDICTIONS[form], "list_fill@2", **options)
        assert dict(batches) == dict(report)
        assert batches.counts["users"] == 3


def test_shards_merge() -> None:
    whole = exactk.evaluate(None, LISTS, METRICS)
    shards = [exactk.evaluate(None, {user: items}, METRICS) for user, items in LISTS.items()]
    assert exactk.merge(shards).state == whole.state


def test_compared_systems_have_the_users_of_all() -> None:
    systems = {"all": LISTS, "some": {"ann": ["film", "song"], "sam": ["film"]}}
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        comparison = exactk.compare(None, systems, "list_fill@2")
    assert comparison["list_fill@2"] == {"all": 2.5 / 4, "some": 1.5 / 4}
    assert comparison.reports["some"].counts["missing_lists"] == 2
    assert comparison.reports["all"].counts["missing_truth"] == 0
    assert exactk.compare(None, {"a": [[1], [2, 3]], "b": [[1], []]}, "list_fill@2").reports["b"]["list_fill@2"] == 0.25


@pytest.mark.parametrize("predictions", [[[1]], {"ann": [1]}, exactk.Batches(lambda: iter([FRAME])), MATRIX])
@ENGINES
def test_metrics_that_need_the_truth_are_named(evaluate: Any, predictions: Any) -> None:
    with pytest.raises(exactk.InputTypeError) as caught:
        evaluate(None, predictions, ["list_fill@3", "recall@[3,5]"])
    assert str(caught.value).startswith(
        "truth: expected the relevant items of each user, which recall@3 needs, found None; None is for an iterator of "
        "(truth, predictions) blocks, and for metrics of the lists alone: "
    )
    named = str(caught.value).rpartition(": ")[2].split(", ")
    assert named == [name for name, info in evaluation_metrics.items() if not info.reads_truth]
    assert "list_fill" in named


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": {"ann": [1]}, "b": [[1]]}, {}, "expected systems that all have user keys, or none, found"),
        ({"a": [[1]], "b": [[1], [2]]}, {}, "predictions: expected 1 rows, as in the first system, found 2 in system 'b'"),
        ({"a": {"ann": [1]}, "b": {7: [1]}}, {}, "users of type str, as in the predictions, found int"),
        ({"a": {"ann": [1]}}, {"exclude": [[1]]}, "exclude: expected user keys, as in the predictions"),
        ({"a": {"ann": ["x"]}}, {"exclude": {"ann": [1]}}, "exclude: expected items of type str, as in the predictions"),
    ],
)  # fmt: skip
def test_faults_do_not_name_a_truth(systems: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.compare(None, systems, "list_fill@2", **options)
    assert message in str(caught.value)


def test_without_users_the_warning_names_no_truth() -> None:
    message = "no user was evaluated for list_fill@2: NaN; there are no users$"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate(None, {}, "list_fill@2")


def test_an_iterator_has_the_truth_of_its_blocks() -> None:
    report = exactk.evaluate(None, iter([({"ann": ["x"], "bob": []}, {"ann": ["x"]})]), ["list_fill@2", "recall@2"])
    assert report.counts["empty_truth"] == 1
    assert report["list_fill@2"] == 0.25


def test_blocks_without_a_truth() -> None:
    items = exactk.Items(4, features=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    metrics = ["ild@2", "coverage@2", "list_fill@2"]
    blocks: Any = [(None, [[0, 1], [1, 3]]), (None, [[2]])]
    whole = exactk.evaluate(None, [[0, 1], [1, 3], [2]], metrics, items=items)
    assert exactk.evaluate(None, iter(blocks), metrics, items=items) == whole
    keyed = iter([(None, {"ann": [0]}), (None, {"bob": [1, 2]})])
    of_keyed = exactk.evaluate(None, {"ann": [0], "bob": [1, 2]}, "list_fill@2")
    assert exactk.evaluate(None, keyed, "list_fill@2") == of_keyed
    compared = exactk.compare(None, iter([(None, {"a": [[0, 1]], "b": [[1, 3]]})]), "ild@2", items=items)
    assert compared["ild@2"]["a"] == 1


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(None, [[0]]), ([[1]], [[1]])], "expected None, as in earlier blocks, found the relevant items of users"),
        ([([[1]], [[1]]), (None, [[0]])], "expected the relevant items of users, as in earlier blocks, found None"),
    ],
)
def test_blocks_with_and_without_a_truth_do_not_mix(blocks: Any, message: str) -> None:
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.evaluate(None, iter(blocks), "list_fill@2")


def test_blocks_without_a_truth_that_a_metric_reads() -> None:
    blocks: Any = [(None, [[0]])]
    with pytest.raises(exactk.InputTypeError, match="which ndcg@2 needs, found None in block 0"):
        exactk.evaluate(None, iter(blocks), ["list_fill@2", "ndcg@2"])
