"""Ranks that are given and leave out some: closed, or kept."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._inputs.model.rows import Rows
from refusals import is_of_reference, refused
from strategies import WITHOUT_ITEMS, Evaluation, examples, gapped_lists, spell
from test_reference import report_or_error

KEEP = exactk.conventions["standard"].replace(rank_gaps="keep")
ENGINES: list[Any] = [exactk.evaluate, exactk.reference.evaluate]


def values_of(report: exactk.Report) -> list[float]:
    return [report[name] for name in report.metrics]


FILLER = 10**6  # ids from here on are in no input


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f74_a_rank_is_a_position_where_the_convention_says_so(evaluate: Any) -> None:
    frame = pd.DataFrame({"user": ["a"], "item": [1], "rank": [9]})
    metrics = ["map@1", "map@9(ap_over=cutoff)", "precision@9", "mrr@10", "recall@8", "recall@9"]
    kept = evaluate({"a": [1]}, frame, metrics, convention=KEEP)
    assert values_of(kept) == [0.0, 1 / 81, 1 / 9, 1 / 9, 0.0, 1.0]
    assert "rank_gaps" not in kept.counts
    with pytest.warns(exactk.EvaluationWarning, match="1 user has ranks with gaps, which are closed") as caught:
        closed = evaluate({"a": [1]}, frame, metrics)
    assert "convention={'rank_gaps': 'keep'} keeps each item at its rank" in str(caught[0].message)
    assert values_of(closed) == [1.0, 1 / 9, 1 / 9, 1.0, 1.0, 1.0]
    assert closed.counts["rank_gaps"] == 1
    assert evaluate({"a": [1]}, frame, "map@1", convention="rectools")["map@1"] == 0.0
    by_string = evaluate({"a": [1]}, frame, "mrr(rank_gaps=keep)")
    assert values_of(by_string) == [1 / 9]


COUNTS_OF_ITEMS = {"num_recommended", "list_fill", "user_coverage", "unjudged"}
OF_PAIRS = ["auc", "gauc", "list_auc", "label_ranking_loss", "accuracy", "mcc"]
RANKED_ALIKE = sorted({*WITHOUT_ITEMS} - {*OF_PAIRS} - COUNTS_OF_ITEMS)


@pytest.mark.parametrize("name", RANKED_ALIKE)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_f74_a_gap_is_as_an_item_that_nobody_judged(name: str, data: st.DataObject) -> None:
    """Where nothing is divided by how many items the list has."""
    lists = data.draw(gapped_lists(4))
    truth = data.draw(
        st.lists(
            st.dictionaries(st.integers(0, 12), st.sampled_from([0.0, 1.0, 2.0]), max_size=6), min_size=4, max_size=4
        )
    )
    rows: list[Any] = []
    for user in range(4):
        begin, end = lists.indptr[user : user + 2]
        ranks = [] if lists.ranks is None else lists.ranks[begin:end].tolist()
        by_rank = dict(zip(ranks, lists.row(user).tolist(), strict=True))
        filled = [by_rank.get(rank, FILLER + rank) for rank in range(1, max(by_rank, default=0) + 1)]
        rows.append(filled if lists.has(user) else None)
    exclude = data.draw(
        st.one_of(st.none(), st.lists(st.lists(st.integers(0, 12), max_size=3), min_size=4, max_size=4))
    )
    # Without a cutoff, a list ends at its last item: one that is excluded may leave a gap above it.
    text = spell(name, data.draw(st.integers(1, 9) if exclude else st.one_of(st.none(), st.integers(1, 9))))
    convention = KEEP.replace(duplicate_items="first")
    options = {"convention": convention, "exclude": exclude}
    kept, filled_up = (
        report_or_error(Evaluation(truth, one, [text], options), exactk.evaluate) for one in (lists, rows)
    )
    assert isinstance(kept, exactk.Report), kept
    assert isinstance(filled_up, exactk.Report), filled_up
    assert kept.table is not None
    assert filled_up.table is not None
    assert np.array_equal(kept.table, filled_up.table, equal_nan=True)


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
def test_f74_what_is_divided_by_the_length_of_the_list_counts_its_items(evaluate: Any) -> None:
    lists = exactk.Rankings([0, 3], [1, 2, 3], ranks=[2, 5, 6])
    metrics = ["num_recommended", "num_recommended@5", "precision@5(precision_over=list)", "precision", "judged@1"]
    report = evaluate([[2]], lists, metrics, convention=KEEP)
    assert values_of(report) == [3.0, 2.0, 1 / 2, 1 / 6, 0.0]  # without a cutoff, down to the last rank
    excluded = evaluate([[2]], lists, ["mrr", "num_recommended@5"], convention=KEEP, exclude=[[1]])
    assert values_of(excluded) == [1 / 4, 2.0]  # an excluded item moves those below it up by one


def frames() -> list[Any]:
    columns = {"user": ["b", "a", "a", "c"], "item": [7, 2, 1, 3], "rank": [1, 5, 2, 3]}
    return [
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.DataFrame(columns).lazy(),
        pl.DataFrame(columns).to_arrow(),
    ]


TRUTH = {"a": [2], "b": [7], "c": [3], "d": [9]}


@pytest.mark.parametrize("rank_gaps", ["keep", "close"])
def test_f74_every_way_in_and_batches_give_one_report(rank_gaps: str, tmp_path: Path) -> None:
    metrics = ["mrr", "precision@3", "recall@4"]
    path = tmp_path / "lists.csv"
    pl.DataFrame(frames()[1]).write_csv(path)
    batches = exactk.Batches(lambda: [frames()[1][:2], frames()[1][2:]])
    ungrouped = exactk.Batches(lambda: [frames()[1][1:2], frames()[1][:1], frames()[1][2:]])
    inputs = [*frames(), batches, ungrouped, exactk.read(path, "predictions")]
    options: dict[str, Any] = {"convention": {"rank_gaps": rank_gaps}, "exclude": {"a": [1]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        reports = [exactk.evaluate(TRUTH, predictions, metrics, **options) for predictions in inputs]
    assert all(report.state == reports[0].state for report in reports)
    expected = [(1 / 4 + 1 + 1 / 3) / 4, 2 / 3 / 4, 3 / 4] if rank_gaps == "keep" else [3 / 4, 3 / 3 / 4, 3 / 4]
    assert values_of(reports[0]) == pytest.approx(expected)
    assert reports[0].counts.get("rank_gaps", 0) == (2 if rank_gaps == "close" else 0)


def test_f74_kept_ranks_go_through_pickles_systems_groups_and_merges() -> None:
    lists: Any = exactk.as_predictions(frames()[0])
    again = pickle.loads(pickle.dumps(lists))  # noqa: S301 - just written
    assert again.ranks.tolist() == [1, 2, 5, 3]  # of b, a and c
    options: dict[str, Any] = {"convention": KEEP, "per_user": True, "groups": {"a": 0, "b": 1, "c": 1, "d": 0}}
    report = exactk.evaluate(TRUTH, again, "mrr", **options)
    assert dict(zip(report.users.tolist(), report.per_user["mrr"].tolist(), strict=True)) == {
        "a": 0.2,
        "b": 1.0,
        "c": 1 / 3,
        "d": 0.0,
    }
    states = exactk.compare(TRUTH, {"one": lists, "other": frames()[1]}, "mrr", **options).state
    assert states["one"] == states["other"] == report.state
    frame = frames()[0]
    parts = {key: frame[frame["user"] == key] for key in "abc"}
    halves = [exactk.evaluate({key: TRUTH[key]}, part, "mrr", convention=KEEP) for key, part in parts.items()]
    assert exactk.merge(halves)["mrr"] == pytest.approx((0.2 + 1 + 1 / 3) / 3)


@pytest.mark.parametrize("evaluate", ENGINES, ids=["core", "reference"])
@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([0, 1, 2], "found 0 at row 0 of the frame"),
        ([-3, 1, 2], "found -3 at row 0 of the frame"),
        ([1, 2, 2**20 + 1], "found 1048577 at row 2 of the frame"),
        ([1.0, 2.5, 3.0], "ranks without fractions, found 2.5 at row 1 of the frame"),
    ],
)
@pytest.mark.filterwarnings("ignore:predictions. the item of the lowest 'rank' comes first, though it has fractions")
def test_f74_ranks_that_are_none_are_refused_where_they_are_kept(evaluate: Any, ranks: Any, message: str) -> None:
    frame = pd.DataFrame({"user": ["a"] * 3, "item": [1, 2, 3], "rank": ranks})
    with pytest.raises(exactk.InputError, match=r"^predictions: .*rank") as caught:
        evaluate({"a": [2]}, frame, "mrr", convention=KEEP)
    assert is_of_reference(caught.value) or message in str(caught.value)
    assert message.endswith(f"at row {caught.value.row} of the frame")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        assert evaluate({"a": [2]}, frame, "mrr")["mrr"] == 0.5  # the order alone


def test_f74_ranks_from_0_say_what_to_write() -> None:
    frame = pd.DataFrame({"user": ["a"] * 3, "item": [1, 2, 3], "rank": [0, 1, 2]})
    assert exactk.evaluate({"a": [2]}, frame, "mrr")["mrr"] == 0.5  # no gap, and no warning
    with pytest.raises(exactk.InputError, match="add 1 to ranks that count from 0"):
        exactk.evaluate({"a": [2]}, frame, "mrr", convention=KEEP)


@pytest.mark.parametrize("ranks", [[1, 1], [2, 1], [1], [1, 2, 3], [2**63 - 1, 2**63 - 1]])
def test_f74_the_core_checks_given_ranks_itself(ranks: list[int]) -> None:
    lists = exactk.Rankings.from_rows(Rows(np.array([0, 2]), np.array([1, 2]), ranks=np.array(ranks)))
    with pytest.raises(exactk.InputError, match="rank"):
        exactk.evaluate([[1]], lists, "mrr", convention=KEEP)


@pytest.mark.parametrize("metric", OF_PAIRS)
def test_f74_pairs_are_counted_of_closed_ranks_alone(metric: str) -> None:
    lists = exactk.Rankings([0, 2], [1, 2], ranks=[1, 4])
    needs_items = metric in {"list_auc", "accuracy", "mcc"}
    text = f"{metric}(num_items=9" if needs_items else f"{metric}("
    for evaluate in ENGINES:
        with refused("metrics: pairs of ranks with gaps", f"{metric}: ranks without gaps"):
            evaluate([[2]], lists, spell(metric), convention=KEEP)
    closed = f"{text}{',' if needs_items else ''}rank_gaps=close)"
    with pytest.warns(exactk.EvaluationWarning, match="ranks with gaps"):
        assert len(exactk.evaluate([[2]], lists, closed, convention=KEEP)) == 1


@pytest.mark.parametrize(
    ("ranks", "found"),
    [([3, 2, 1, 1], "2 at row 0, position 1 (the first of 2)"), ([1, 2, 2, 5], "2 at row 0, position 2")],
)
def test_f74_ranks_that_do_not_ascend_are_refused_whatever_becomes_of_gaps(ranks: list[int], found: str) -> None:
    """The order of the items and that of their ranks would be two readings of one list."""
    with pytest.raises(exactk.InputError) as caught:
        exactk.Rankings([0, 3, 4], [1, 2, 3, 1], ranks=ranks)
    assert str(caught.value) == f"predictions.ranks: expected ascending ranks in each row, found {found}"
    assert exactk.Rankings([0, 2, 2, 4], [1, 2, 3, 1], ranks=[1, 5, 1, 2]).ranks is not None


def test_a_comparison_names_the_system_with_gaps() -> None:
    frames = {name: pd.DataFrame({"user": ["a"], "item": [1], "rank": [rank]}) for name, rank in (("x", 9), ("y", 1))}
    with pytest.warns(exactk.EvaluationWarning, match="closed"):
        comparison = exactk.compare({"a": [1]}, frames, "mrr")
    (line,) = (line for line in repr(comparison).splitlines() if "gaps" in line)
    assert line.endswith(": 1 in x")
