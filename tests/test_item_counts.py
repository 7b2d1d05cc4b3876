"""How often each item is recommended, relevant and hit, and the mean of what each item's users get of it."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk.reference.all_lists import item_recall
from strategies import examples
from tallies import tally_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._report.tallies import ItemTally

TRUTH = {"ann": ["a", "b", "x"], "bob": ["a"], "cy": ["x", "y", "z"], "dee": ["b", "q"]}
LISTS = {
    "ann": ["a", "x", "p", "b"],
    "bob": ["p", "a", "b", "q"],
    "cy": ["a", "y", "b", "x"],
    "dee": ["p", "a", "x", "q"],
}
ITEMS = exactk.Items(list("abpqxyz"))
METRICS = ["item_recall@3", "coverage@3"]
GROUPS = {"ann": "new", "bob": "new", "cy": "old", "dee": "old"}
IGNORING = {"foreign_items": "ignore"}
COUNTS = {
    "a": (2, 4, 2),
    "b": (2, 2, 0),
    "p": (0, 3, 0),
    "q": (1, 0, 0),
    "x": (2, 2, 1),
    "y": (1, 1, 1),
    "z": (1, 0, 0),
}
"""Of each item: the users to whom it is relevant, whose first 3 items have it, and both."""


def counts_of(report: exactk.Report, *columns: str) -> dict[Any, tuple[float, ...]]:
    """Return the columns' numbers by item, of a table with one cutoff."""
    table = report.columns("per_item")
    return dict(zip(table["item"].tolist(), zip(*(table[name].tolist() for name in columns), strict=True), strict=True))


def test_counts_by_hand() -> None:
    report = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS)
    assert counts_of(report, "relevant", "recommended", "hits") == COUNTS
    assert report["item_recall@3"] == float(Fraction(5, 2) / 6)
    table = report.per_item
    assert np.array_equal(table["recall"], [1, 0, math.nan, 0, 0.5, 1, 0], equal_nan=True)
    assert np.array_equal(table["precision"], [0.5, 0, 0, math.nan, 0.5, 1, math.nan], equal_nan=True)
    assert set(table["k"]) == {3}
    assert not table["hits"].flags.writeable
    assert "| a | 3 | 4 | 2 | 2 | 1.0000 | 0.5000 |" in report.to_markdown(table="per_item")


def test_a_row_for_each_cutoff() -> None:
    """What is not counted at a cutoff is missing there."""
    table = exactk.evaluate(TRUTH, LISTS, ["item_recall@[1,3]", "coverage@3"], items=ITEMS).columns("per_item")
    assert table["k"][:4] == [1, 3, 1, 3]
    assert table["hits"][:4].tolist() == [1, 2, 0, 0]
    assert np.array_equal(table["recommended"][:4], [math.nan, 4, math.nan, 2], equal_nan=True)


def test_cutoffs_are_integers_beside_the_whole_list() -> None:
    report = exactk.evaluate(TRUTH, LISTS, ["item_recall@3", "item_recall"], items=ITEMS)
    column = report.to_pandas("per_item")["k"]
    assert str(column.dtype) == "Int64"
    assert column.isna().tolist()[:2] == [False, True]


@pytest.mark.parametrize(
    ("metric", "columns"),
    [("gini@3", ["item", "k", "recommended"]), ("item_recall@3", ["item", "k", "relevant", "hits", "recall"])],
)
def test_columns_of_what_is_counted(metric: str, columns: list[str]) -> None:
    report = exactk.evaluate(TRUTH, LISTS, metric, items=ITEMS)
    assert [*report.columns("per_item")] == columns
    assert [*report.per_item] == columns


def test_no_table_without_such_a_metric() -> None:
    report = exactk.evaluate(TRUTH, LISTS, "recall@3")
    assert dict(report.per_item) == {}
    with pytest.raises(
        exactk.InputError, match="expected a metric that counts items, found none; item_recall@k counts"
    ):
        report.to_pandas("per_item")


def test_items_counted_in_two_ways_have_no_table() -> None:
    report = exactk.evaluate(TRUTH, LISTS, ["num_items@3", "num_items@3(foreign_items=count)"], items=ITEMS)
    with pytest.raises(exactk.InputError, match="expected items that all metrics count in one way, found 2 ways"):
        report.columns("per_item")


def test_metrics_cannot_be_chosen_in_a_table_of_items() -> None:
    report = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS)
    with pytest.raises(exactk.InputError, match="metrics: expected None in this table"):
        report.to_markdown(table="per_item", metrics="coverage@3")


def test_systems_of_a_comparison_are_stacked() -> None:
    table = exactk.compare(
        TRUTH, {"one": LISTS, "two": {user: [*items] for user, items in TRUTH.items()}}, METRICS, items=ITEMS
    ).to_pandas("per_item")
    (row,) = table.query("system == 'two' and item == 'x'")[["recommended", "relevant", "hits"]].to_numpy().tolist()
    assert row == [2, 2, 2]
    assert len(table) == 7 + 6


def test_groups_of_users_add_up() -> None:
    report = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS, groups=GROUPS)
    assert report.by_group["new"]["item_recall@3"] == float((Fraction(2, 2) + 0 + Fraction(1, 1)) / 3)  # a, b, x
    assert report.by_group["old"]["item_recall@3"] == float((0 + 0 + 0 + Fraction(1, 1) + 0) / 5)  # b, q, x, y, z
    assert counts_of(report, "relevant", "recommended", "hits") == COUNTS


@pytest.mark.parametrize("block", [1, 3])
def test_parts_add_up(block: int) -> None:
    whole = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS)
    users = [*TRUTH]
    parts = [
        exactk.evaluate({u: TRUTH[u] for u in some}, {u: LISTS[u] for u in some}, METRICS, items=ITEMS)
        for some in (users[:block], users[block:])
    ]
    merged = exactk.merge(parts)
    assert counts_of(merged, "relevant", "recommended", "hits") == COUNTS
    assert merged["item_recall@3"] == whole["item_recall@3"]
    assert exactk.Report.from_json(merged.to_json()) == merged


def test_undefined_without_relevant_items() -> None:
    """No item is relevant: 0 / 0; no list: no number."""
    lists = {"ann": ["a"], "bob": ["film"]}
    report = exactk.evaluate(
        {"ann": [], "bob": ["film"]}, lists, "item_recall@1(undefined=nan)", items=ITEMS, convention=IGNORING
    )
    assert math.isnan(*report.values())


def test_relevant_items_outside_the_catalogue_are_misses() -> None:
    """No list may have them, unless foreign_items says so; it may leave them out of both."""
    truth, some = {**TRUTH, "dee": ["b", "ghost"]}, exactk.Items(list("abpqxyz"))
    values = {
        rule: exactk.evaluate(truth, LISTS, "item_recall@3", items=some, convention={"foreign_items": rule})
        for rule in ("raise", "count", "ignore")
    }
    assert [report["item_recall@3"] for report in values.values()] == [2.5 / 6, 2.5 / 6, 2.5 / 5]
    assert counts_of(values["raise"], "relevant", "hits")["ghost"] == (1, 0)
    assert exactk.Report.from_json(values["raise"].to_json()) == values["raise"]
    found = exactk.evaluate(
        truth, {**LISTS, "dee": ["ghost"]}, METRICS[:1], items=some, convention={"foreign_items": "count"}
    )
    assert counts_of(found, "relevant", "hits")["ghost"] == (1, 1)


def test_repeats_that_count_are_refused() -> None:
    with pytest.raises(
        exactk.InputError, match="item_recall@3: duplicate_items of 'collapse', 'first' or 'raise', found 'count'"
    ):
        exactk.evaluate(TRUTH, LISTS, "item_recall@3", items=ITEMS, convention={"duplicate_items": "count"})


def _with_tally(state: exactk.State, counted: str, tally: ItemTally) -> exactk.State:
    index = [plan.counted for plan in exactk.Report(state)._plan.item_tallies].index(counted)  # type: ignore[arg-type]
    return state._replace(item_tallies=(*state.item_tallies[:index], tally, *state.item_tallies[index + 1 :]))


def test_states_whose_hits_are_not_relevant_are_refused() -> None:
    state = exactk.evaluate(TRUTH, LISTS, METRICS, items=ITEMS).state
    of_lists = exactk.evaluate(TRUTH, LISTS, "coverage@3", items=ITEMS).state.item_tallies[0]
    with pytest.raises(exactk.InputError, match="hits of items that are as often relevant"):
        exactk.State.from_bytes(_with_tally(state, "hits", of_lists).to_bytes())


def test_states_with_relevant_items_of_other_lists_are_refused() -> None:
    state = exactk.evaluate(TRUTH, LISTS, "item_recall@3", items=ITEMS).state
    of_none = tally_of([[*"abqxyz"]] * 2, (None,), has_short_lists=False)
    with pytest.raises(exactk.InputError, match="relevant items of 4 lists, found 2"):
        exactk.State.from_bytes(_with_tally(state, "relevant", of_none).to_bytes())


ROWS = st.lists(st.lists(st.integers(0, 7), unique=True, max_size=6), min_size=1, max_size=6)


@settings(max_examples=examples(300))
@given(
    ROWS,
    ROWS,
    st.integers(1, 6),
    st.sampled_from(["lists", "users"]),
    st.sampled_from(["ignore", "count"]),
    st.sampled_from([exactk.evaluate, exactk.reference.evaluate]),
)
def test_counts_are_those_of_the_lists(
    truth: list[list[int]],
    lists: list[list[int]],
    k: int,
    list_users: str,
    foreign: str,
    evaluate: Callable[..., exactk.Report],
) -> None:
    users = min(len(truth), len(lists))
    truth, lists, catalogue = truth[:users], lists[:users], {*range(6 if foreign == "ignore" else 8)}
    rules = {"list_users": list_users, "foreign_items": foreign}
    with warnings.catch_warnings(action="ignore", category=exactk.EvaluationWarning):
        report = evaluate(truth, lists, [f"item_recall@{k}", f"num_items@{k}"], items=exactk.Items(6), convention=rules)
    counted = [list_users == "lists" or bool(items) for items in truth]
    of_users = [
        (set(t) & catalogue, set(row[:k]) & catalogue) for t, row, c in zip(truth, lists, counted, strict=True) if c
    ]
    relevant = Counter(item for items, _ in of_users for item in items)
    recommended = Counter(item for _, items in of_users for item in items)
    hits = Counter(item for items, listed in of_users for item in items & listed)
    expected = {i: (relevant[i], recommended[i], hits[i]) for i in sorted({*relevant, *recommended})}
    assert counts_of(report, "relevant", "recommended", "hits") == expected
    value = item_recall([[*(one & two)] for one, two in of_users], [[*one] for one, _ in of_users])
    if value is None or not of_users:
        assert report[f"item_recall@{k}"] == 0 or math.isnan(report[f"item_recall@{k}"])
    else:
        assert report[f"item_recall@{k}"] == float(value)
