"""Unexpectedness: the lists beside those of base predictions, in any container."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import exactk
from rankings import rankings_of
from refusals import refusal, refused

ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
METRICS = ["unexpectedness@2", "unexpectedness"]
TRUTH = {"ann": ["a"], "bob": ["b"], "eve": ["c"]}
LISTS = {"ann": ["a", "b", "c"], "bob": ["b", "d"], "eve": ["e", "a"]}
BASE = {"zed": ["z"], "bob": ["d", "e"], "ann": ["c", "x", "a"]}
# At 2: {a, b} beside {c, x}; {b, d} beside {d, e}; no base list. Whole lists: 1 of 3, 1 of 2 and none are shared but 2 of ann's.
AT_2 = {"ann": 1.0, "bob": 0.5, "eve": 1.0}
WHOLE = {"ann": 1 / 3, "bob": 0.5, "eve": 1.0}
NO_BASE = "1 user has predictions and no base predictions"


def values(report: exactk.Report, metric: str) -> dict[Any, float]:
    assert report.users is not None
    return dict(zip(report.users.tolist(), report.per_user[metric].tolist(), strict=True))


@ENGINES
@pytest.mark.filterwarnings("ignore:1 user has predictions and no base")
@pytest.mark.parametrize(
    "container", ["lists", "ranks", "polars", "rankings", "scores", "scored frame", "matrix", "batches"]
)
def test_base_predictions_in_any_container(evaluate: Any, container: str) -> None:
    rows = [(user, item, rank) for user, row in BASE.items() for rank, item in enumerate(row, 1)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rank"]).sample(frac=1, random_state=3)
    scored = pl.from_pandas(frame.assign(score=-frame["rank"]).drop(columns="rank"))
    items = ["x", "e", "d", "c", "b", "a", "z"]
    matrix = np.array([[-BASE[user].index(item) if item in BASE[user] else -9.0 for item in items] for user in BASE])
    base: Any = {
        "lists": BASE,
        "ranks": frame,
        "polars": pl.from_pandas(frame),
        "rankings": rankings_of(BASE),
        "scores": {user: {item: -rank for rank, item in enumerate(row)} for user, row in BASE.items()},
        "scored frame": scored,
        "matrix": exactk.Scores(matrix, min_score=-8, users=list(BASE), items=items),
        "batches": exactk.Batches(lambda: (scored[i : i + 2] for i in range(0, len(scored), 2))),
    }[container]
    for truth in (TRUTH, None):
        report = evaluate(truth, LISTS, METRICS, base_predictions=base, per_user=True)
        assert values(report, METRICS[0]) == AT_2
        assert values(report, METRICS[1]) == pytest.approx(WHOLE)


@ENGINES
def test_predictions_by_column_beside_base_predictions_by_key(evaluate: Any) -> None:
    """Their ids are the columns; those of the base are others, and some of its items have no column."""
    scores = exactk.Scores(np.array([[3.0, 2, 1], [1, 2, 3]]), users=["ann", "bob"], items=["c", "a", "b"])
    truth = {"bob": ["a"], "ann": ["b"]}
    base = {"bob": {"y": 9.0, "a": 5.0, "c": 5.0, "b": 7.0}, "ann": {"x": 3.0, "y": 2.0, "z": 1.0, "c": 0.0}}
    names = ["unexpectedness@2", "unexpectedness@3", "unexpectedness"]
    report = evaluate(truth, scores, names, base_predictions=base, per_user=True)
    assert values(report, "unexpectedness@2") == {"bob": 0.5, "ann": 1.0}  # {b, a} beside {y, b}
    assert values(report, "unexpectedness@3") == {"bob": 1 / 3, "ann": 1.0}  # of the tied ones, a is before c
    assert values(report, "unexpectedness") == {"bob": 0.0, "ann": 2 / 3}
    matrix = np.array([[5.0, 1, 5, 2], [0, 1, 2, 3]])
    as_columns = exactk.Scores(matrix, users=["bob", "ann"], items=["c", "z", "a", "b"])
    report = evaluate(truth, scores, "unexpectedness@2", base_predictions=as_columns, per_user=True)
    assert values(report, "unexpectedness@2") == {"bob": 0.5, "ann": 0.5}
    numbered = exactk.Scores(scores.values, users=[1, 2], items=[30, 10, 20])
    base_of_numbers = {2: [20, 99], 1: [7, 30, 10]}
    report = evaluate({2: [10], 1: [20]}, numbered, names, base_predictions=base_of_numbers, per_user=True)
    assert values(report, "unexpectedness@2") == {2: 0.5, 1: 0.5}
    by_number = exactk.Scores(np.array([[3.0, 2, 1]]), users=[2], items=[20, 40, 10])
    report = evaluate({2: [10]}, {2: [10, 20]}, "unexpectedness@2", base_predictions=by_number, per_user=True)
    assert values(report, "unexpectedness@2") == {2: 0.5}


@ENGINES
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_exclusions_and_candidates_apply_to_both(evaluate: Any) -> None:
    lists, scores = [[5, 1, 2, 3]], np.array([[0.0, 9, 8, 7, 6, 1]])
    options: dict[str, Any] = {"exclude": [[1]], "candidates": [1, 2, 3, 4, 5]}
    for base in (scores, [[1, 0, 2, 3, 4]], exactk.Embeddings(scores, np.eye(6))):
        report = evaluate([[5]], lists, [f"unexpectedness@{k}" for k in (1, 2, 3)], base_predictions=base, **options)
        assert [*report.values()] == [1, 0.5, 1 / 3]  # 5, 2, 3 beside 2, 3, 4


@ENGINES
def test_the_base_is_ranked_by_the_rules_of_each_value(evaluate: Any) -> None:
    base, lists = np.array([[1.0, 1.0, 0.5]]), [[0]]
    metrics = ["unexpectedness@1", "unexpectedness@1(ties=highest_id)", "precision@1(ties=optimistic)"]
    assert [*evaluate([[0]], lists, metrics, base_predictions=base).values()] == [0, 1, 1]
    ranked = pd.DataFrame({"user": [0, 0], "item": [5, 0], "rank": [1, 3]})
    gaps = ["unexpectedness@2", "unexpectedness@2(rank_gaps=keep)"]
    assert [*evaluate({0: [0]}, {0: [0]}, gaps, base_predictions=ranked).values()] == [0, 1]
    nan = np.array([[np.nan, 1.0]])
    assert evaluate([[0]], lists, "unexpectedness@1(nan=last)", base_predictions=nan)["unexpectedness@1(nan=last)"] == 1
    with refused("base_predictions: NaN", "scores without NaN.* at row 0, position 0"):
        evaluate([[0]], lists, "unexpectedness@1", base_predictions=nan)
    with pytest.raises(exactk.InputError, match=r"^metrics: .*unexpectedness@1\(ties=optimistic\): ties of"):
        evaluate([[0]], lists, "unexpectedness@1(ties=optimistic)", base_predictions=base)


def test_blocks_and_shards_have_the_rows_of_the_base() -> None:
    lists, base = [[1, 2, 3], [4, 5], [2]], [[2, 9], [5, 4, 3], [1]]
    whole = exactk.evaluate([*lists], lists, METRICS, base_predictions=base)
    parts = [slice(1), slice(1, 3)]
    blocks = iter([(lists[part], lists[part]) for part in parts])
    assert dict(exactk.evaluate(None, blocks, METRICS, base_predictions=base)) == dict(whole)
    shards = [exactk.evaluate(lists[part], lists[part], METRICS, base_predictions=base[part]) for part in parts]
    assert exactk.merge(shards).state.totals == whole.state.totals


def test_candidates_by_key_apply_to_the_base_of_batches() -> None:
    frame = pl.DataFrame({"user": ["u", "u", "v"], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    options = {"base_predictions": {"u": ["a", "c"], "v": ["b"]}, "candidates": {"u": ["a", "b"], "v": ["a"]}}
    batches = exactk.Batches(lambda: iter(frame.iter_slices(2)))
    whole = exactk.evaluate({"u": ["a"], "v": ["b"]}, frame, "unexpectedness@2", **options)  # type: ignore[arg-type]
    of_batches = exactk.evaluate({"u": ["a"], "v": ["b"]}, batches, "unexpectedness@2", **options)  # type: ignore[arg-type]
    assert of_batches.state == whole.state
    assert whole["unexpectedness@2"] == 0.75  # b of two items, and a, as the base of v has no candidate


@pytest.mark.parametrize("call", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_lists_without_items_beside_scores_of_text_keys(call: Any) -> None:
    base = exactk.Scores(np.array([[0.5, 0.2]]), users=["u"], items=["a", "b"])
    assert call(None, {"u": []}, "unexpectedness@2", base_predictions=base)["unexpectedness@2"] == 0
    with pytest.raises(exactk.InputTypeError, match="expected items of type int, as in the predictions, found str"):
        call(None, {"u": [5]}, "unexpectedness@2", base_predictions=base)


@pytest.mark.parametrize("call", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_a_cutoff_far_below_the_end_of_the_base(call: Any) -> None:
    base = exactk.Scores(np.array([[0.5, 0.2]]))
    assert call(None, [[1, 2]], "unexpectedness@2147483647", base_predictions=base)["unexpectedness@2147483647"] == 0.5


def test_compare_reads_the_same_base_for_all_systems() -> None:
    systems = {"a": [[1, 2], [3]], "b": [[4], [5]]}
    comparison = exactk.compare([[1], [2]], systems, "unexpectedness@2", base_predictions=[[1], [3]])
    assert comparison["unexpectedness@2"] == {"a": 0.25, "b": 1.0}
    assert exactk.metrics.unexpectedness([[1]], [[1, 2]], k=2, base_predictions=[[2]]) == 0.5


BAD: list[tuple[Any, type[exactk.ExactkError], str]] = [
    (
        None,
        exactk.InputTypeError,
        "base_predictions: expected other predictions of the same users, which unexpectedness@2 needs",
    ),
    ([[1]], exactk.InputError, "base_predictions: expected 2 rows, one per user of the (truth|predictions), found 1"),
    ([[1], [2, 2]], exactk.InputError, "base_predictions: expected each item once"),
    ([[1], [-2]], exactk.InputError, "base_predictions: "),
    ([["a"], ["b"]], exactk.InputTypeError, "base_predictions: expected items of type int"),
    ({"ann": [1]}, exactk.InputTypeError, "user keys"),
    (3, exactk.InputTypeError, "base_predictions: "),
    (iter([[1], [2]]), exactk.InputTypeError, "base_predictions: expected predictions in a container"),
    ("no such file.csv", exactk.InputError, "base_predictions: "),
]


@pytest.mark.parametrize("truth", [[[1], [2]], None], ids=["truth", "no truth"])
@pytest.mark.parametrize(("base", "error", "message"), BAD)
def test_base_predictions_that_cannot_be(truth: Any, base: Any, error: Any, message: str) -> None:
    caught = refusal(lambda module: module.evaluate(truth, [[1, 2], [3]], "unexpectedness@2", base_predictions=base))
    assert isinstance(caught, error)
    assert re.search(message, str(caught))


def test_base_predictions_that_no_metric_reads_are_told() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="base_predictions has no effect on the requested metrics"):
        exactk.evaluate([[1]], [[1]], "ndcg@2", base_predictions=[[1]])


def test_pieces_need_a_base_in_lists() -> None:
    blocks = iter([([[1]], [[1]])])
    message = r"base_predictions: expected lists, or items with scores.*exactk.topk"
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.evaluate(None, blocks, "unexpectedness@1", base_predictions=np.ones((1, 3)))
    with pytest.raises(exactk.InputError, match=r"base_predictions: expected one entry per user \(1\)"):
        exactk.evaluate(None, iter([([[1]], [[1]])]), "unexpectedness@1", base_predictions=[[1], [2]])


def test_users_without_base_predictions_are_told() -> None:
    with pytest.warns(exactk.EvaluationWarning, match=NO_BASE):
        exactk.evaluate(TRUTH, LISTS, METRICS, base_predictions=BASE)
    with pytest.warns(exactk.EvaluationWarning, match="no user of base_predictions"):
        exactk.evaluate(TRUTH, LISTS, METRICS, base_predictions={"zed": ["a"]})
    with pytest.warns(exactk.EvaluationWarning, match="no item of base_predictions"):
        exactk.evaluate(TRUTH, LISTS, METRICS, base_predictions={user: ["A"] for user in TRUTH})


@pytest.mark.parametrize(
    ("truth", "lists", "base", "message"),
    [
        ([[1]], [[0]], np.array([[0.1, math.nan]]), "; convention={'nan': 'last'} ranks them last"),
        ({"u": ["a"]}, {"u": ["a"]}, [["a"]], "; base_predictions=dict(zip(users, base_predictions)) adds them"),
        (
            None,
            {"u": ["a"]},
            [["a"]],
            "as in the predictions, found rows without user keys; base_predictions=dict(zip(",
        ),
        (None, [["a"]], [["a"], ["b"]], "expected 1 row, one per user of the predictions, found 2"),
        ([["a"]], [["a"]], [["a"], ["b"]], "expected 1 row, one per user of the truth, found 2"),
    ],
)
def test_hints_say_what_to_write(truth: Any, lists: Any, base: Any, message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=f"^base_predictions: .*{re.escape(message)}"):
        exactk.evaluate(truth, lists, "unexpectedness", base_predictions=base)


@ENGINES
def test_a_tie_of_base_scores_below_every_cutoff_is_none(evaluate: Any) -> None:
    base = np.array([[3.0, 2.0, 1.0, 1.0]])
    metrics = [f"unexpectedness@{k}(ties=raise)" for k in (1, 2)]
    assert [*evaluate([[0]], [[0, 3]], metrics, base_predictions=base).values()] == [0, 0.5]
    for beyond in ("unexpectedness@3(ties=raise)", "unexpectedness(ties=raise)"):
        with refused("base_predictions: tie among the best items", "a tie"):
            evaluate([[0]], [[0, 3]], [*metrics, beyond], base_predictions=base)


@ENGINES
def test_a_repeat_is_no_item_of_the_list_where_the_first_one_counts(evaluate: Any) -> None:
    """Of the list 0, 0, 1 the base has 1: half of the two items is unexpected, or two of three."""
    metrics = [f"unexpectedness@3(duplicate_items={choice})" for choice in ("first", "count")]
    assert [*evaluate([[0]], [[0, 0, 1]], metrics, base_predictions=[[1, 2, 5]]).values()] == [1 / 2, 2 / 3]


@ENGINES
def test_repeats_of_the_base_list_are_refused_by_what_reads_it_alone(evaluate: Any) -> None:
    names = ["unexpectedness@2(duplicate_items=first)", "mrr"]
    report = evaluate([[0, 1]], [[0, 2]], names, base_predictions=[[0, 0, 3]])
    assert [*report.values()] == [0.5, 1.0]
    with pytest.raises(exactk.InputError, match="base_predictions: "):
        evaluate([[0, 1]], [[0, 2]], ["unexpectedness@2", "mrr(duplicate_items=first)"], base_predictions=[[0, 0, 3]])
