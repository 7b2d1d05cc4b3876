"""Items with numbers as pairs, pairs that are read as lists, blocks with exclusions, and what is one item short."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import exactk

TRUTH = {"ann": ["film"], "bob": ["song"]}
SCORED = {"ann": {"film": 0.5, "book": 0.75}, "bob": {"song": 1, "film": 0.5}}
PAIRS = {user: list(row.items()) for user, row in SCORED.items()}
METRICS = ["mrr", "ndcg@1", "recall@2"]


def values_of(truth: Any, predictions: Any, **options: Any) -> dict[str, float]:
    report = exactk.evaluate(truth, predictions, METRICS, **options)
    assert isinstance(report, exactk.Report)
    return dict(report)


@pytest.mark.parametrize("make", [list, tuple, set, lambda row: [(item, np.float32(score)) for item, score in row]])
def test_f67_pairs_are_items_with_scores(make: Any) -> None:
    pairs = {user: make(row) for user, row in PAIRS.items()}
    expected = values_of(TRUTH, SCORED)
    assert expected["mrr"] == 0.75
    assert values_of(TRUTH, pairs) == expected
    assert values_of(list(TRUTH.values()), list(pairs.values())) == expected
    assert isinstance(exactk.as_predictions(pairs), exactk.SparseScores)
    both = exactk.compare(TRUTH, {"one": SCORED, "other": pairs}, METRICS)
    assert both.reports["one"] == both.reports["other"]
    assert exactk.topk(pairs, 1).items.tolist() == exactk.topk(SCORED, 1).items.tolist()


def test_f67_pairs_of_integers() -> None:
    pairs = [[(7, 5), (9, 1)], None, [], [(3, 2)]]
    expected = values_of([[9], [], [], [3]], [{7: 5, 9: 1}, None, {}, {3: 2}])
    assert values_of([[9], [], [], [3]], pairs) == expected
    scored = exactk.as_predictions({0: [(7, 5), (9, 1)]})
    assert isinstance(scored, exactk.SparseScores)


def test_f67_pairs_are_items_with_grades_in_the_truth() -> None:
    graded: dict[str, list[tuple[str, float]]] = {"ann": [("film", 2.0), ("book", 0.0)], "bob": [("song", 1)]}
    expected = values_of({user: dict(row) for user, row in graded.items()}, SCORED)
    assert values_of(graded, SCORED) == expected
    assert values_of(list(graded.values()), list(SCORED.values())) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([("film", 0.5), "book"], r"an \(item, score\) tuple, like the first item, found 'book' at row 1, position 1"),
        ([("film", 0.5), ("book", "x")], r"an \(item, score\) tuple.* at row 1, position 1"),
        ([("film", 0.5), (["x"], 0.5)], r"an \(item, score\) tuple.* at row 1, position 1"),
        ([("film", 0.5), ("book", 1, 2)], r"an \(item, score\) tuple.* at row 1, position 1"),
        ([("film", 0.5), ("film", 1)], "distinct items, found 'film' again at row 1, position 1"),
    ],
)
def test_f67_malformed_pairs(row: list[Any], message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=f"predictions: expected {message}"):
        values_of(list(TRUTH.values()), [[("film", 1.0)], row])
    with pytest.raises(exactk.InputTypeError, match="exclude: expected integer ids, found tuple"):
        values_of([[1]], [[1]], exclude=[[(1, 0.5)]])


@pytest.mark.parametrize("second", [0.5, 2])
@pytest.mark.parametrize("keyed", [True, False])
def test_repeated_pairs_are_told_how_scores_may_repeat(second: float, keyed: bool) -> None:
    pairs: list[tuple[str, float]] = [("book", 3), ("book", second), ("film", 1)]
    predictions: Any = {"ann": pairs} if keyed else [pairs]
    truth: Any = {"ann": ["film"]} if keyed else pd.DataFrame({"user": [0], "item": ["film"]})
    convention: Any = {"duplicate_items": "collapse"}
    with pytest.raises(exactk.InputError, match="may repeat items") as caught:
        exactk.evaluate(truth, predictions, "mrr", convention=convention)
    assert ("of two parts" in str(caught.value)) == (second == 2)
    way = re.search(r"predictions=(pd\.DataFrame.*\]\)) may repeat", str(caught.value))
    assert way is not None
    frame = eval(way[1], {"pd": pd, "predictions": predictions})  # noqa: S307
    assert dict(exactk.evaluate(truth, frame, "mrr", convention=convention)) == {"mrr": 0.5}


def test_f67_pairs_of_strings_on_both_sides_warn() -> None:
    truth, predictions = [("ann", "x"), ("bob", "y"), ("ann", "z")], [("ann", "x"), ("bob", "z"), ("ann", "y")]
    message = "each pair of strings is read as one user's list of two items; for pairs of users and items, write truth=pd.DataFrame"
    with pytest.warns(exactk.EvaluationWarning, match=re.escape(message)) as caught:
        values_of(truth, predictions)
    assert len(caught) == 1
    lines = str(caught[0].message).partition("users and items, write ")[2]
    hinted = eval(f"dict({lines})", {"pd": pd, "truth": truth, "predictions": predictions})  # noqa: S307
    by_user = {"truth": {"ann": ["x", "z"], "bob": ["y"]}, "predictions": {"ann": ["x", "y"], "bob": ["z"]}}
    assert values_of(**hinted) == values_of(**by_user)
    values_of([list(row) for row in truth], predictions)
    values_of([(1, 2)], [(1, 2)])


def test_f67_pairs_of_integers_warn_if_the_first_ones_are_in_groups() -> None:
    truth, predictions = [(1, 10), (1, 11), (2, 12)], [(1, 10), (1, 13), (2, 12)]
    with pytest.warns(exactk.EvaluationWarning, match="each pair of integers is read as one user's list of two items"):
        values_of(truth, predictions)
    for lists in (
        [(1, 10), (2, 11), (3, 12)],  # no user repeats
        [(1, 10), (2, 11), (1, 12)],  # not grouped
        [(1, 10), (1, 10), (1, 10)],  # a constant model
        [(1, 10), (1, 11), (2, 12, 13)],
        [[1, 10], [1, 11], [2, 12]],
    ):
        values_of(truth, lists)
        values_of(lists, predictions)


TRIPLES = {
    "truth": [(1, 10, 3), (1, 11, 4), (2, 12, 5)],
    "predictions": [(1, 10, 3), (1, 13, 9), (2, 12, 8)],
}


@pytest.mark.parametrize("make", [list, np.array, pd.Series])
@pytest.mark.parametrize("width", [2, 3])
def test_f67_rows_of_users_warn_in_each_container(make: Any, width: int) -> None:
    arguments = {name: make([row[:width] for row in rows]) for name, rows in TRIPLES.items()}
    with pytest.warns(
        exactk.EvaluationWarning, match=r"^each .* is read as one user's list of (two|three) items"
    ) as caught:
        values_of(**arguments)
    (text,) = [str(one.message) for one in caught if "each " in str(one.message)]
    hinted = eval(f"dict({text.partition(', write ')[2]})", {"pd": pd, **arguments})  # noqa: S307 - the hint
    pairs = {"ordered": {1: [10, 13], 2: [12]}, "scored": {1: {10: 3, 13: 9}, 2: {12: 8}}}
    assert values_of(**hinted) == values_of({1: [10, 11], 2: [12]}, pairs["ordered" if width == 2 else "scored"])


@pytest.mark.parametrize("make", [tuple, list])
@pytest.mark.parametrize("keys", [str, int])
def test_f67_rows_of_users_with_numbers_that_are_no_ids_are_refused_with_the_line(make: Any, keys: Any) -> None:
    ids = {
        argument: [make((keys(user), keys(item), value / 2)) for user, item, value in rows]
        for argument, rows in TRIPLES.items()
    }
    arguments = dict(ids)
    for argument in ids:
        with pytest.raises(
            exactk.InputTypeError, match=f"^{argument}: .* if each is a user, an item and a number$"
        ) as caught:
            values_of(**arguments)
        line = str(caught.value).rpartition("; ")[2].partition(" if each is")[0]
        arguments |= eval(f"dict({line})", {"pd": pd, **arguments})  # noqa: S307 - the hint
    by_user = {keys(1): {keys(10): 3.0, keys(13): 9.0}, keys(2): {keys(12): 8.0}}
    assert values_of(**arguments) == values_of({keys(1): [keys(10), keys(11)], keys(2): [keys(12)]}, by_user)


BY_USER = {"ann": ["film", "song"], "bob": ["film"]}
ONE_ARGUMENT: dict[str, Any] = {
    "train": lambda pairs: exactk.Items(["film", "song"], train=pairs).table.digest,
    "items": lambda pairs: exactk.evaluate(None, BY_USER, "arp", items=pairs),
    "exclude": exactk.as_exclusions,
    "base_predictions": lambda pairs: exactk.evaluate(None, {**BY_USER}, "unexpectedness", base_predictions=pairs),
}


@pytest.mark.parametrize("argument", ONE_ARGUMENT)
def test_pairs_of_one_argument_warn(argument: str) -> None:
    call = ONE_ARGUMENT[argument]
    pairs = [("ann", "film"), ("ann", "song"), ("bob", "film")]
    message = f"^{argument}: each pair of strings is read as one user's list of two items; for pairs of users and items, write "
    with pytest.warns(exactk.EvaluationWarning, match=message) as caught, contextlib.suppress(exactk.InputTypeError):
        call(pairs)  # lists without user keys beside others are an error, too
    (warning,) = [str(one.message) for one in caught if "each pair" in str(one.message)]
    code = warning.partition("users and items, write ")[2]
    hinted = eval(f"dict({code})", {"pd": pd, argument: pairs})[argument]  # noqa: S307
    assert repr(call(hinted)) == repr(call(BY_USER))


def test_pairs_of_exclude_warn_in_each_function() -> None:
    pairs = [(1, 10), (1, 11), (2, 12)]
    with pytest.warns(exactk.EvaluationWarning, match="^exclude: each pair of integers is read"):
        values_of([[5], [6], [7]], [[5], [6], [7]], exclude=pairs)
    with pytest.warns(exactk.EvaluationWarning, match="^exclude: each pair of integers is read"):
        exactk.topk(np.eye(3, 13), 2, pairs)


@pytest.mark.parametrize("argument", ONE_ARGUMENT)
def test_lists_of_one_argument_do_not_warn(argument: str) -> None:
    for lists in ([["film", "song"], ["song", "film"]], [("film", "song", "book"), ("song", "film")]):
        with contextlib.suppress(exactk.InputTypeError):
            ONE_ARGUMENT[argument](lists)


def test_f76_blocks_with_exclusions() -> None:
    truth, lists, exclude = [[1], [2], [3]], [[9, 1], [9, 2], [8, 3]], [[9], [], [8]]
    expected = values_of(truth, lists, exclude=exclude)
    assert expected["mrr"] == 5 / 6
    blocks = [(truth[:2], lists[:2], exclude[:2]), (truth[2:], lists[2:], exclude[2:])]
    assert values_of(None, iter(blocks)) == expected
    keyed = [({"a": [1]}, {"a": [9, 1]}, {"a": [9]}), ({"b": [3]}, {"b": [8, 3]}, {})]
    assert values_of(None, iter(keyed))["mrr"] == 0.75
    with pytest.raises(exactk.InputError, match="exclude: expected None with blocks of"):
        values_of(None, iter(blocks), exclude=exclude)
    with pytest.raises(exactk.InputError, match=r"exclude: expected one entry per user \(1\), found 2"):
        values_of(None, iter([([[1]], [[1]], [[], []])]))
    with pytest.raises(exactk.InputError, match="exclude: expected ids or flags"):
        values_of(None, iter([([{0: 1.0}], np.array([[0.5, 0.25]]), np.array([[0, 1]]))]))
    for block in (([[1]],), ([[1]], [[1]], None, None), [[1]]):
        with pytest.raises(exactk.InputTypeError, match="predictions: expected an iterator of"):
            values_of(None, iter([block]))


def test_f76_what_is_no_list_says_so() -> None:
    for make in (iter, lambda rows: dict(enumerate(rows)).values(), tuple):
        with pytest.raises(exactk.InputTypeError, match=r"truth: .*; truth=list\(truth\)$"):
            values_of(make([[1], [2]]), [[1], [2]])
    with pytest.raises(exactk.InputTypeError, match=r"; predictions=list\(predictions\)$"):
        values_of([[1], [2]], {"a": [1], "b": [2]}.values())
    with pytest.raises(exactk.InputError, match=r"truth: expected None with an iterator.*; predictions=list\("):
        values_of([[1]], (row for row in [[1]]))


@pytest.mark.filterwarnings("ignore:no list has an item")
@pytest.mark.parametrize("item", ["film", b"bytes", 7, np.int64(7)])
def test_f76_one_item_for_each_user(item: Any) -> None:
    one, lists = {"ann": None, "bob": item}, {"ann": None, "bob": [item]}
    assert values_of(one, {"bob": [item]}) == values_of(lists, {"bob": [item]})
    with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
        assert exactk.evaluate({"bob": item}, {"bob": [item]}, "recall", exclude={"bob": item})["recall"] == 0
    with pytest.raises(exactk.InputTypeError, match=r"predictions: .* items of each user, found a single") as caught:
        values_of(lists, one)
    hint = str(caught.value).partition("; predictions=")[2]
    assert eval(hint, {"predictions": {"bob": item}}) == {"bob": [item]}  # noqa: S307


@pytest.mark.parametrize("value", [0.5, True, np.float64(2), np.bool_(True)])
def test_f76_one_number_that_is_no_item(value: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match="truth: expected the items of each user, found a single item"):
        values_of({"ann": 7, "bob": value}, {"bob": [7]})


@pytest.mark.parametrize("column", ["user", "item"])
def test_f77_float_ids_after_a_join(column: str) -> None:
    frame = pd.DataFrame({"user": [1, 2, 3, 4], "item": [5, 6, 7, 8]})
    frame[column] = frame[column].where(frame[column] % 2 == 1)
    message = (
        f"truth.{column}: expected integer ids, strings or bytes, found NaN in float64 at row 1 of the frame "
        "(the first of 2); a join leaves NaN where nothing matches: .dropna() drops these rows; "
        ".astype('Int64') converts the others to ids"
    )
    for build in (pd.DataFrame, lambda frame: pl.DataFrame(frame.to_dict("list"))):
        with pytest.raises(exactk.InputTypeError, match=f"^{re.escape(message)}$"):
            exactk.as_truth(build(frame))
    assert len(exactk.as_truth(frame.dropna().astype({column: "Int64"}))) == 2
    whole = pd.DataFrame({"user": [1.0, 2.0], "item": [5, 6]})
    with pytest.raises(exactk.InputTypeError, match=r"found float64; \.astype\(int\) converts whole numbers to ids"):
        exactk.as_truth(whole)
    assert len(exactk.as_truth(whole.astype(int))) == 2
