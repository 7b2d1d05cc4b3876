"""Repeated items that take no rank: every evaluation is the one of the lists without the later copies."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from strategies import examples
from test_containers import FRAMES, KINDS, METRICS, RANKED, SCORED, SEQUENCES, LongFormat

ENGINES: dict[str, Any] = {"core": exactk.evaluate, "reference": exactk.reference.evaluate}
COLLAPSE: dict[str, Any] = {"convention": {"duplicate_items": "collapse"}}
NAN, INFINITY = math.nan, math.inf

evaluated = pytest.mark.parametrize("evaluate", ENGINES.values(), ids=ENGINES)


@evaluated
def test_golden_values_of_chunks_as_their_documents(evaluate: Any) -> None:
    truth, lists = [["B", "D"]], [list("AABCBD")]
    metrics = ["P@3", "recall@3", "ndcg@3", "average_precision@3", "mrr"]
    expected = [1 / 3, 0.5, 0.3868528072, 0.25, 0.5]
    report = evaluate(truth, lists, metrics, **COLLAPSE)
    assert list(report.values()) == pytest.approx(expected, abs=1e-10)
    assert report.counts["duplicates"] == 2
    kept = evaluate(truth, lists, ["ndcg@3", "average_precision@3", "mrr"], convention={"duplicate_items": "first"})
    assert list(kept.values()) == pytest.approx([0.3065735964, 0.1666666667, 1 / 3], abs=1e-10)


@evaluated
def test_the_highest_score_of_an_item_counts(evaluate: Any) -> None:
    scores = exactk.SparseScores([0, 6], [1, 1, 2, 3, 2, 4], [0.9, 0.8, 0.6, 0.65, 0.7, 0.1])
    judged = exactk.judge([[2]], scores, k=5, **COLLAPSE)
    assert judged.items.tolist() == [[1, 2, 3, 4, -1]]
    report = evaluate([[2]], scores, ["mrr", "num_recommended"], **COLLAPSE)
    assert list(report.values()) == [0.5, 4.0]
    assert report.counts["candidates"] == {"min": 4, "mean": 4, "max": 4}


@evaluated
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([NAN, 0.5, 0.7, NAN], [2, 1]),  # NaN is below every score, and an item with another one is not last
        ([NAN, NAN, 0.7, NAN], [2, 1]),
        ([-INFINITY, NAN, NAN, NAN], [1, 2]),
    ],
)
def test_nan_is_the_lowest_score_or_refused(evaluate: Any, scores: list[float], expected: list[int]) -> None:
    sparse = exactk.SparseScores([0, 4], [1, 1, 2, 2], scores)
    ranked = [
        evaluate([[item]], sparse, "mrr", convention={"duplicate_items": "collapse", "nan": "last"})["mrr"]
        for item in expected
    ]
    assert ranked == [1, 0.5]
    with pytest.raises(exactk.InputError, match="NaN"):
        evaluate([[1]], sparse, "mrr", **COLLAPSE)


@evaluated
def test_equal_scores_of_one_item_are_no_tie(evaluate: Any) -> None:
    scores = exactk.SparseScores([0, 4], [1, 2, 1, 2], [0.5, 0.5, 0.9, 0.1])
    report = evaluate([[1]], scores, "mrr", convention={"duplicate_items": "collapse", "ties": "raise"})
    assert report["mrr"] == 1.0
    tied = exactk.SparseScores([0, 4], [1, 2, 1, 2], [0.5, 0.5, 0.2, 0.5])
    assert evaluate([[1]], tied, "mrr", convention={"duplicate_items": "collapse", "ties": "expected"})["mrr"] == 0.75
    by_order = {"duplicate_items": "collapse", "ties": "input_order"}
    assert (
        evaluate([[2]], exactk.SparseScores([0, 3], [1, 2, 1], [0.1, 0.5, 0.5]), "mrr", convention=by_order)["mrr"] == 1
    )


@evaluated
def test_each_value_treats_repeats_by_its_own_rules(evaluate: Any) -> None:
    choices = ["collapse", "first", "count"]
    metrics = [f"recall@3(duplicate_items={choice})" for choice in choices]
    report = evaluate([[1, 2]], [[1, 1, 3, 2]], metrics)
    assert list(report.values()) == [1.0, 0.5, 1.0]
    for metric in metrics:
        assert evaluate([[1, 2]], [[1, 1, 3, 2]], metric)[metric] == report[metric]
    with pytest.raises(exactk.InputError, match=r"each item once in a list|repeated item"):
        evaluate([[1, 2]], [[1, 1, 3, 2]], ["recall@3", *metrics])


@evaluated
def test_gaps_that_are_kept_contradict_new_ranks(evaluate: Any) -> None:
    convention = {"duplicate_items": "collapse", "rank_gaps": "keep"}

    def ranks(*numbers: int) -> pd.DataFrame:
        return pd.DataFrame({"user": [0] * len(numbers), "item": [1, 1, 2][: len(numbers)], "rank": numbers})

    truth = {0: [2]}
    assert evaluate(truth, ranks(1, 2, 3), "mrr", convention=convention)["mrr"] == 0.5
    with pytest.raises(exactk.InputError, match=r"predictions: expected ranks without gaps.*'rank_gaps': 'close'"):
        evaluate(truth, ranks(1, 2, 4), "mrr", convention=convention)
    with pytest.warns(exactk.EvaluationWarning, match="gaps"):
        assert evaluate(truth, ranks(1, 2, 4), "mrr", **COLLAPSE)["mrr"] == 0.5
    base = ranks(1, 2, 4)
    with pytest.raises(exactk.InputError, match=r"^base_predictions: expected ranks without gaps"):
        evaluate(truth, ranks(1, 2, 3), "unexpectedness", base_predictions=base, convention=convention)


@evaluated
def test_base_lists_are_collapsed_too(evaluate: Any) -> None:
    options = {"base_predictions": [[9, 9, 8, 7]], **COLLAPSE}
    assert evaluate([[1]], [[7, 8, 8, 6]], "unexpectedness@2", **options)["unexpectedness@2"] == 0.5
    assert evaluate([[1]], [[7, 8, 8, 6]], "unexpectedness@3", **options)["unexpectedness@3"] == 1 / 3


def by_hand(rows: list[Any]) -> list[Any]:
    """Return the rows without all but the best copy of each item: the first one of lists, the highest score of others."""
    collapsed = []
    for row in rows:
        if row is None or not row or not isinstance(row[0], tuple):
            collapsed.append(None if row is None else list(dict.fromkeys(row)))
            continue
        best: dict[int, tuple[float, int]] = {}
        for position, (item, score) in enumerate(row):
            if item not in best or score > best[item][0]:
                best[item] = score, position
        kept = sorted((position, item, score) for item, (score, position) in best.items())
        collapsed.append([(item, score) for _, item, score in kept])
    return collapsed


def container(rows: list[Any]) -> Any:
    if not any(isinstance(row[0], tuple) for row in rows if row):
        return rows
    pairs = [pair for row in rows for pair in row or ()]
    indptr = np.cumsum([0, *(len(row or ()) for row in rows)])
    items, scores = [item for item, _ in pairs], [score for _, score in pairs]
    return exactk.SparseScores(indptr, np.array(items, np.int64), np.array(scores, np.float64))


ITEMS = exactk.Items(8, train=[[0, 1, 2, 3], [4, 5, 0], [6, 7, 0]], item_groups=dict.fromkeys(range(4), "a") | {4: "b"})
EVERYTHING = [
    "ndcg@3",
    "recall@2",
    "average_precision",
    "mrr",
    "auc",
    "bpref",
    "P@2",
    "num_hits",
    "rbp@4",
    "list_fill@3",
]
OF_LISTS = ["novelty@2", "arp@3", "epc@3", "coverage@2", "gini@2", "personalization@2", "exposure@2", "list_fill@4"]


@st.composite
def repeated_rows(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    users = draw(st.integers(1, 4))
    items = st.integers(0, 7)
    element: Any = items
    if draw(st.booleans()):
        element = st.tuples(items, st.sampled_from([-INFINITY, -1.0, 0.0, 0.5, 0.5, 2.0]))
    rows = st.lists(element, max_size=9)
    truth = st.dictionaries(items, st.sampled_from([0.0, 1.0, 2.0]), max_size=4)
    return draw(st.lists(truth, min_size=users, max_size=users)), draw(st.lists(rows, min_size=users, max_size=users))


@evaluated
@settings(max_examples=examples(200))
@given(rows=repeated_rows(), data=st.data())
def test_collapsed_lists_are_those_without_repeats(
    evaluate: Any, rows: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    truth, predictions = rows
    has_scores = any(isinstance(row[0], tuple) for row in predictions if row)
    ties = data.draw(st.sampled_from(["lowest_id", "highest_id", "input_order", "expected", "shared", "optimistic"]))
    options: dict[str, Any] = {"per_user": True}
    if data.draw(st.booleans()):
        options["exclude"] = data.draw(
            st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=len(truth), max_size=len(truth))
        )
    if data.draw(st.booleans()) and not has_scores:
        options["candidates"] = [0, 1, 2, 3, 5]
    if ties in {"expected", "shared", "optimistic"}:
        metrics = ["ndcg@3", "recall@2", "average_precision", "mrr", "P@2", "auc"]
    else:
        metrics = EVERYTHING
        if data.draw(st.booleans()):
            metrics, options["items"] = [*EVERYTHING, *OF_LISTS], ITEMS
    fields = {"ties": ties, "negative_infinity": data.draw(st.sampled_from(["rank", "exclude"]))}

    def outcome(lists: Any, **changes: str) -> tuple[str, dict[str, Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            report = evaluate(truth, lists, metrics, convention={**fields, **changes}, **options)
        return repr((dict(report), [row.tolist() for row in report.per_user.values()])), dict(report.counts)

    values, counts = outcome(container(predictions), duplicate_items="collapse")
    expected_values, expected_counts = outcome(container(by_hand(predictions)))
    assert values == expected_values
    kept = set(options.get("candidates", range(8)))
    ranked = [[item[0] if has_scores else item for item in row] for row in predictions]
    rows_of_candidates = [[item for item in row if item in kept] for row in ranked]
    removed = sum(len(row) - len(set(row)) for row in rows_of_candidates)
    assert repr(counts) == repr(expected_counts | {"duplicates": removed})


def repeated(data: LongFormat) -> LongFormat:
    """Return rows with copies of some items: with lower scores, or at later ranks."""
    users, items, values = list(data.users), list(data.items), list(data.values)
    for user in dict.fromkeys(data.users):
        of_user = [i for i, one in enumerate(data.users) if one == user]
        users += [user, user]
        items += [data.items[of_user[0]], data.items[of_user[-1]]]
        values += [-5.0, -6.0] if data.role == "score" else [20, 21]
    return LongFormat(users, items, values, data.role)


TRUTH = {0: [1, 4], 1: [2], 2: [4], 3: [7, 1]}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("frame", [frame for frame, (kinds, _) in FRAMES.items() if "int" in kinds])
@pytest.mark.parametrize("data", [SCORED, RANKED], ids=["scores", "ranks"])
def test_in_every_frame(frame: str, data: LongFormat) -> None:
    build = FRAMES[frame][1]
    plain = exactk.evaluate(TRUTH, build(data.columns), METRICS, per_user=True)
    values = repeated(data)
    report = exactk.evaluate(TRUTH, build(values.columns), METRICS, per_user=True, **COLLAPSE)
    assert {name: row.tolist() for name, row in report.per_user.items()} == {
        name: row.tolist() for name, row in plain.per_user.items()
    }
    assert report.counts["duplicates"] == 8


@pytest.mark.parametrize("row", [name for name in SEQUENCES if name != "keys"])
@pytest.mark.parametrize("kind", ["int", "str"])
def test_in_every_sequence(row: str, kind: str) -> None:
    if (row, kind) == ("arrays of another library", "str"):
        return  # which hold no text
    key_of, build = KINDS[kind], SEQUENCES[row]
    lists: dict[int, list[int]] = {0: [1, 1, 4, 2, 4], 1: [5, 2, 5, 5], 2: [9, 4], 3: [3, 3, 3, 1]}
    truth = {user: list(map(key_of, items)) for user, items in TRUTH.items()}
    once = {user: [*dict.fromkeys(map(key_of, items))] for user, items in lists.items()}
    report = exactk.evaluate(
        truth, {user: build(list(map(key_of, items))) for user, items in lists.items()}, METRICS, **COLLAPSE
    )
    assert dict(report) == dict(exactk.evaluate(truth, once, METRICS))
    assert report.counts["duplicates"] == 6


def test_in_files(tmp_path: Path) -> None:
    qrels, run = tmp_path / "a.qrels", tmp_path / "b.run"
    qrels.write_text("q 0 B 1\nq 0 D 1\n")
    chunks = [("A", 0.9), ("A", 0.8), ("B", 0.7), ("C", 0.65), ("B", 0.6), ("D", 0.1)]
    run.write_text("".join(f"q Q0 {item} {rank} {score} x\n" for rank, (item, score) in enumerate(chunks, 1)))
    assert exactk.evaluate(qrels, run, "mrr", **COLLAPSE)["mrr"] == 0.5
    lines = "".join(f"q,{item},{rank}\n" for rank, (item, _) in enumerate(chunks, 1))
    (tmp_path / "c.csv").write_text("user,item,rank\n" + lines)
    (tmp_path / "truth.csv").write_text("user,item\nq,B\nq,D\n")
    report = exactk.evaluate(tmp_path / "truth.csv", tmp_path / "c.csv", "P@3", **COLLAPSE)
    assert report["P@3"] == 1 / 3


def test_in_blocks_updates_and_merged_states() -> None:
    rng = np.random.default_rng(0)
    users, metrics = 60, ["ndcg@3", "recall@2", "mrr", "coverage@2", "novelty@2"]
    lists = rng.integers(0, 8, (users, 7))
    truth = [[int(one)] for one in rng.integers(0, 8, users)]
    options: dict[str, Any] = {
        "items": ITEMS,
        "convention": exactk.conventions["standard"].replace(duplicate_items="collapse"),
    }
    once = [[*dict.fromkeys(row)] for row in lists.tolist()]
    whole = exactk.evaluate(truth, once, metrics, items=ITEMS)
    evaluator = exactk.Evaluator(metrics, **options)
    parts = []
    for begin in range(0, users, 17):
        some = slice(begin, begin + 17)
        evaluator.update(truth[some], lists[some])
        parts.append(exactk.evaluate(truth[some], lists[some], metrics, **options))
    pairs = ((truth[i : i + 17], lists[i : i + 17]) for i in range(0, users, 17))
    blocks = exactk.evaluate(None, pairs, metrics, **options)
    for report in (exactk.evaluate(truth, lists, metrics, **options), evaluator.compute(), exactk.merge(parts), blocks):
        assert dict(report) == dict(whole)
        assert report.counts["duplicates"] == lists.size - sum(map(len, once))


@pytest.mark.filterwarnings("ignore:.* relevant items have no column")
@pytest.mark.parametrize("has_scores", [False, True])
def test_of_many_users_whose_short_lists_are_matched_at_once(has_scores: bool) -> None:
    rng = np.random.default_rng(1)
    users, metrics = 400, ["ndcg@3", "recall@2", "mrr", "P@5"]
    lists = [rng.integers(0, 30, rng.integers(1, 9)).tolist() for _ in range(users)]
    truth = [rng.choice(30, 3, replace=False).tolist() for _ in range(users)]
    rows: list[Any] = lists
    if has_scores:
        rows = [
            [(item, float(score)) for item, score in zip(row, rng.integers(0, 9, 9), strict=False)] for row in lists
        ]
    report = exactk.evaluate(truth, container(rows), metrics, **COLLAPSE)
    assert dict(report) == dict(exactk.evaluate(truth, container(by_hand(rows)), metrics))
    assert report.counts["duplicates"] == sum(len(row) - len(set(row)) for row in lists) > 0


def test_without_repeats_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = exactk.evaluate([[1], [2]], [[1, 3], [3, 2]], "recall@2", **COLLAPSE)
    assert str(report).endswith("2 users")


def test_systems_of_a_comparison_are_collapsed() -> None:
    comparison = exactk.compare([[1], [2]], {"a": [[3, 3, 1], [2]], "b": [[1], [4, 4]]}, "mrr", **COLLAPSE)
    assert comparison["mrr"] == {"a": 0.75, "b": 0.5}
