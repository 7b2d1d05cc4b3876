"""The counts of recommended items that are outside the catalogue, or not in train."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk.reference import evaluate as reference_evaluate
from strategies import examples

ITEMS = exactk.Items([1, 2, 3, 4], train=[[1], [1, 2]])
TRUTH: list[Any] = [[1], [2], [3]]
LISTS: list[Any] = [[1, 9, 3], [9, 4], [8, 3, 4]]
METRICS = ["novelty@1", "arp@2", "coverage@2", "recall@3"]
IGNORE = {"foreign_items": "ignore"}
ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, reference_evaluate], ids=["core", "reference"])


def unusual(report: exactk.Report) -> tuple[int | None, int | None]:
    return report.counts.get("foreign_recommended"), report.counts.get("unseen_recommended")


@ENGINES
@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (["recall@3"], (None, None)),  # reads no items
        (["novelty@1"], (2, 0)),
        (["novelty@1", "recall@3"], (2, 0)),
        (["coverage@2"], (3, 2)),
        (METRICS, (3, 2)),
        (["novelty"], (3, 4)),
        (["novelty@1", "novelty@2(foreign_items=count)", "arp@1(duplicate_items=count)"], (3, 2)),
    ],
)
def test_the_ranks_that_are_read_count(evaluate: Any, metrics: list[str], expected: tuple[Any, Any]) -> None:
    items = {} if metrics == ["recall@3"] else {"items": ITEMS}
    assert unusual(evaluate(TRUTH, LISTS, metrics, convention=IGNORE, **items)) == expected


@ENGINES
def test_each_item_counts_once_per_user(evaluate: Any) -> None:
    lists = [[9, 9, 3, 3, 7], [9, 4, 9]]
    for duplicates in ("first", "count"):
        convention = {**IGNORE, "duplicate_items": duplicates}
        assert unusual(evaluate([[1], [2]], lists, "arp", items=ITEMS, convention=convention)) == (3, 2)
    excluded = evaluate([[1], [2]], [[9, 3, 7], [9, 4]], "arp@2", items=ITEMS, convention=IGNORE, exclude=[[9], []])
    assert unusual(excluded) == (2, 2)


@ENGINES
@pytest.mark.filterwarnings("ignore:items of equal score")
def test_lists_that_metrics_order_otherwise_count_together(evaluate: Any) -> None:
    """Items 0, 5 and 6 have the highest score."""
    scores = np.array([[1, 0, 0, 0, 0, 1, 1]], np.float32)
    metrics = ["novelty@1(ties=lowest_id)", "novelty@1(ties=highest_id)", "coverage@2(ties=highest_id)"]
    counts = [unusual(evaluate([[1]], scores, metrics[:n], items=ITEMS, convention=IGNORE))[0] for n in (1, 2, 3)]
    assert counts == [1, 2, 3]


@ENGINES
@pytest.mark.filterwarnings("ignore:items of equal score")
def test_nothing_is_left_out_where_metrics_rank_otherwise(evaluate: Any) -> None:
    """Item 9 is the first only where 0.1 is as much as its float32."""
    scores = exactk.SparseScores([0, 2], np.array([9, 1]), np.array([0.1, np.float64(np.float32(0.1))]))
    metrics = ["novelty@1", "novelty@1(score_dtype=float32,ties=highest_id)", "recall@1(score_dtype=float32)"]
    counts = [unusual(evaluate([[1]], scores, metrics[:n], items=ITEMS, convention=IGNORE)) for n in (1, 2, 3)]
    assert counts == [(0, 0), (1, 0), (1, 0)]


@ENGINES
def test_without_popularity_no_item_is_known_not_to_be_in_train(evaluate: Any) -> None:
    report = evaluate(TRUTH, LISTS, "num_items@2", items=exactk.Items([1, 2, 3, 4]), convention=IGNORE)
    assert unusual(report) == (3, None)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # for drawn lists without hits
@settings(max_examples=examples(200))
@given(
    st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), min_size=1, max_size=300),
    st.sets(st.integers(0, 9), min_size=1),
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_counts_by_definition_whatever_the_threads_and_shards(
    lists: list[list[int]], catalogue: set[int], cutoffs: list[int], threads: int
) -> None:
    popular = sorted(catalogue)[::2]
    items = exactk.Items(sorted(catalogue), train=[popular])
    read = [{*items_of_user[: max(cutoffs)]} for items_of_user in lists]
    foreign = sum(len(one - catalogue) for one in read)
    unseen = sum(len(one & (catalogue - {*popular})) for one in read)
    metrics = [f"{name}@{cutoff}" for name, cutoff in zip(("arp", "coverage", "novelty"), cutoffs, strict=False)]
    options: Any = {"items": items, "convention": IGNORE, "num_threads": threads}
    truth = {user: [1] for user in range(len(lists))}
    whole = exactk.evaluate(truth, dict(enumerate(lists)), metrics, **options)
    assert unusual(whole) == (foreign, unseen)
    parts = [range(shard, len(lists), 3) for shard in range(min(3, len(lists)))]
    merged = exactk.merge([
        exactk.evaluate({user: [1] for user in part}, {user: lists[user] for user in part}, metrics, **options)
        for part in parts
    ])  # fmt: skip
    assert unusual(merged) == (foreign, unseen)
    assert exactk.Report.from_json(merged.to_json()).counts == merged.counts


def test_the_report_says_what_is_left_out() -> None:
    report = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS, convention=IGNORE)
    assert "3 recommended items outside the catalogue, 2 recommended items not in train" in str(report)
    report = exactk.evaluate([[1]], [[9, 3]], "novelty", items=ITEMS, convention=IGNORE)
    assert "1 recommended item outside the catalogue, 1 recommended item not in train" in str(report)
    usual = exactk.evaluate([[1]], [[1, 2]], "novelty", items=ITEMS)
    assert unusual(usual) == (0, 0)
    assert "recommended item" not in str(usual)


def test_a_comparison_has_a_line_for_each_count() -> None:
    systems = {"a": LISTS, "b": [[1], [1], [2]]}
    rows = str(exactk.compare(TRUTH, systems, "novelty@2", items=ITEMS, convention=IGNORE)).splitlines()
    assert "recommended items outside the catalogue: 3 in a" in rows
    assert "recommended items not in train: 2 in a" in rows


@pytest.mark.filterwarnings("ignore:.*gaps")
def test_counts_of_shards_add_up_whether_or_not_their_lists_have_gaps() -> None:
    metrics = ["novelty", "novelty(rank_gaps=keep)"]
    rows = {"user": [0, 0, 1, 1], "item": [9, 1, 8, 1], "rank": [1, 3, 1, 2]}

    def of_users(*users: int) -> exactk.Report:
        lists = {
            name: [one for one, user in zip(column, rows["user"], strict=True) if user in users]
            for name, column in rows.items()
        }
        return exactk.evaluate(
            {user: [1] for user in users}, pd.DataFrame(lists), metrics, items=ITEMS, convention=IGNORE
        )

    whole = of_users(0, 1)
    assert exactk.merge([of_users(0), of_users(1)]).counts == whole.counts
    assert whole.counts["foreign_recommended"] == 4  # of each user once in each ranking
