"""What bad keys, columns and frames get. The number in a test's name is its row in the project's table of faults."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import signal
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk
from children import run_child
from exactk._plan.metrics import metrics as metric_registry
from strategies import spell
from test_faults import location_of

TRUTH = {"ann": ["x"], "bob": ["y"]}
COLUMNS: dict[str, list[Any]] = {"user": ["ann", "bob"], "item": ["x", "y"], "score": [1.0, 0.5]}
LIBRARIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Arrow": pa.table,
}


def evaluate_keyed(predictions: Any, truth: Any = None, **options: Any) -> exactk.Report:
    report = exactk.evaluate(TRUTH if truth is None else truth, predictions, "precision@1", **options)
    assert isinstance(report, exactk.Report)
    return report


def refusal_of(
    message: str, predictions: Any, kind: type[exactk.ExactkError] = exactk.InputTypeError, **options: Any
) -> exactk.ExactkError:
    """Return the error that predictions get, after a look at its beginning."""
    with pytest.raises(exactk.ExactkError) as caught:
        evaluate_keyed(predictions, **options)
    assert str(caught.value).startswith(message)
    assert type(caught.value) is kind
    return caught.value


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("column", ["user", "item"])
def test_f04_a_key_that_is_missing(library: str, column: str) -> None:
    frame = LIBRARIES[library](COLUMNS | {column: ["x", None]})
    error = refusal_of(f"predictions.{column}: expected a value in every row, found ", frame)
    assert error.row == 1
    if library != "pandas":  # which has a category of strings, whatever they are kept in
        encoded = pa.table(frame)
        encoded = encoded.set_column(encoded.column_names.index(column), column, encoded[column].dictionary_encode())
        assert refusal_of(f"predictions.{column}: expected a value in every row", encoded).row == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.array([1, None], "Int64"), "a value in every row, found Int64 with 1 missing at row 1 of the frame"),
        (pd.array([1, None], "int8[pyarrow]"), "a value in every row, found int8"),
        (pd.Categorical(["x", None]), "a value in every row, found category with 1 missing at row 1 of the frame"),
        ([1, None], "integer ids, strings or bytes, found NaN in float64 at row 1 of the frame; a join"),
        (np.array([1, None], object), "a value in every row, found 1 None or NaN at row 1 of the frame"),
        (np.array([1, np.nan], object), "integer ids, strings or bytes, found NaN in float64 at row 1 of the frame; a"),
        ([1.0, 2.0], "integer ids, strings or bytes, found float64"),
        ([True, False], "integer ids, strings or bytes, found bool"),
        (np.array([True, "x"], object), "keys of one kind"),
        (
            np.array([1, "x"], object),
            "keys of one kind: integers, strings, bytes, or objects that str() tells apart, found int and str",
        ),
        (np.array(["x", b"x"], object), "keys of one kind"),
        (np.array([uuid.UUID(int=1), None], object), "a value in every row, found 1 None or NaN at row 1 of the frame"),
        (np.array(["2020", "2021"], "M8[s]"), "integer ids, strings or bytes, found datetime64"),
        ([1j, 2j], "integer ids, strings or bytes, found complex128"),
        ([["x"], 3], "a list in every row, found int at row 1 of the frame"),
    ],
)
def test_f07_columns_of_pandas_that_hold_no_keys(values: Any, message: str) -> None:
    refusal_of(f"predictions.item: expected {message}", pd.DataFrame(COLUMNS | {"item": values}))
    if message[:2] != "a " or "list" not in message:
        refusal_of(f"predictions.user: expected {message}", pd.DataFrame(COLUMNS | {"user": values}))


def test_f07_a_level_of_an_index_has_a_value_in_every_row() -> None:
    frame = pd.DataFrame(COLUMNS | {"user": ["ann", None]}).set_index(["user", "item"])
    refusal_of("predictions.user: expected a value in every row, found", frame)


def test_f07_masked_arrays_in_a_mapping() -> None:
    masked = np.ma.masked_array([1, 2], [False, True])
    error = refusal_of("predictions: expected", {"ann": masked})
    assert "found numpy.MaskedArray" in str(error)


ARROW = {
    "date": ([dt.date(2020, 1, 1)] * 2, pa.date32()),
    "timestamp": ([1, 2], pa.timestamp("us", "UTC")),
    "decimal": ([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal128(5, 2)),
    "struct": ([{"a": 1}, {"a": 2}], pa.struct([("a", pa.int8())])),
    "bool": ([True, False], pa.bool_()),
    "Arrow type tDs": ([1, 2], pa.duration("s")),
    "Arrow type +m": ([[("a", 1)], []], pa.map_(pa.string(), pa.int8())),
    "Arrow type +vl": ([[1], [2]], pa.list_view(pa.int8())),
}


@pytest.mark.parametrize("found", ARROW)
@pytest.mark.parametrize("column", COLUMNS)
def test_f07_types_of_arrow_that_are_neither_keys_nor_numbers(found: str, column: str) -> None:
    values, kind = ARROW[found]
    frame = pa.table(COLUMNS | {column: pa.array(values, kind)})
    refusal_of(f"predictions.{column}: expected integers, floats, strings or bytes, found {found}", frame)


def test_f07_runs_of_arrow() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([1, 2], ["ann", "bob"], pa.run_end_encoded(pa.int32(), pa.string()))
    refusal_of("predictions.user: expected integers, floats", pa.table(COLUMNS | {"user": runs}))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("column", ["user", "score"])
def test_f07_lists_where_each_row_has_one_value(library: str, column: str) -> None:
    """As many values as rows in all would not say which user each belongs to."""
    frame = LIBRARIES[library](COLUMNS | {column: [[1, 2], []]})
    refusal_of(f"predictions.{column}: expected a value in every row, found lists", frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_f08_scores_are_numbers(library: str) -> None:
    make = LIBRARIES[library]
    for values in (["1", "2"], [True, False], [decimal.Decimal(1), decimal.Decimal(2)]):
        error = refusal_of("predictions.score", make(COLUMNS | {"score": values}))
        assert "at row" not in str(error)
    with_nan = make(COLUMNS | {"score": [1.0, float("nan")]})
    error = refusal_of("predictions: expected scores without NaN", with_nan, exactk.InputError)
    assert str(error).endswith("(user 'bob')")
    if library == "pandas":  # where None among numbers is NaN
        return
    refusal_of("predictions.score: expected a value in every row, found", make(COLUMNS | {"score": [1.0, None]}))


@pytest.mark.parametrize("library", LIBRARIES)
def test_f03_items_out_of_range(library: str) -> None:
    make = LIBRARIES[library]
    truth, message = {"ann": [1], "bob": [2]}, "predictions: expected item ids in [0, 2^63), found "
    for values, found in ((np.array([1, -1]), "-1"), (np.array([1, 2**63], np.uint64), "9223372036854775808")):
        frame = make(COLUMNS | {"item": values})
        error = refusal_of(message + found, frame, exactk.InputError, truth=truth)
        assert location_of(error) == ("predictions", 1, None, 1)
        assert str(error).endswith("(user 'bob')")
    error = refusal_of(message, {"ann": [1, 10**5000]}, exactk.InputError, truth=truth)
    assert location_of(error)[:3] == ("predictions", 0, 1)


def test_users_may_be_any_integers_of_one_type() -> None:
    for users in ([-(2**63), 2**63 - 1, 0, -1], [2**64 - 1, 2**63, 0]):
        truth = {user: [item] for item, user in enumerate(users)}
        frame = pd.DataFrame({"user": users[::-1], "item": [*range(len(users))][::-1], "score": 1})
        report = evaluate_keyed(frame, truth, per_user=True)
        assert report["precision@1"] == 1
        assert report.users.tolist() == users
    message = "expected integers that all fit int64 or all fit uint64"
    refusal_of(f"predictions: {message}", {-1: [1]}, exactk.InputError, truth={2**63: [1]})
    message = f"predictions.user: {message}, found 18446744073709551616"
    refusal_of(message, {2**64: [1]}, exactk.InputError, truth={1: [1]})


@pytest.mark.parametrize("library", LIBRARIES)
def test_f18_kinds_that_differ(library: str) -> None:
    make = LIBRARIES[library]
    hint = "exactk.read(path, role, text_ids=True) reads ids in files as strings (TREC ids always are)"
    others: tuple[tuple[str, list[Any], str], ...] = (
        ("user", [1, 2], "int"), ("user", [b"ann", b"bob"], "bytes"), ("item", [1, 2], "int"), ("item", [b"x", b"y"], "bytes"),
    )  # fmt: skip
    for column, keys, kind in others:
        frame = make(COLUMNS | {column: keys})
        message = f"predictions: expected {column}s of type str, as in the truth, found {kind}"
        assert str(refusal_of(message, frame)).endswith(hint)
        excluded = exactk.as_exclusions(frame)
        refusal_of(message.replace("predictions", "exclude"), make(COLUMNS), exclude=excluded)


def test_f18_users_of_several_columns_are_none_of_one() -> None:
    refusal_of("predictions: expected users of type str, as in the truth, found str and int", {("ann", 1): ["x"]})


def test_f18_rows_without_keys_belong_to_no_user() -> None:
    refusal_of("predictions: expected user keys, as in the truth, found rows without user keys", [["x"], ["y"]])
    message = "truth: expected user keys, as in the data to match, found rows without user keys"
    refusal_of(message, TRUTH, truth=[["x"], ["y"]])
    refusal_of(message, [["x"], ["y"]], truth=[["x"], ["y"]], exclude=TRUTH)
    refusal_of("predictions: expected user keys", np.eye(2))


def test_f18_no_user_in_common_gets_a_warning_with_one_of_each_side() -> None:
    truth = {"bob": ["x"], "ann": ["x"]}
    message = r"no user of the truth \(such as 'bob'\) is in the predictions \(such as 'Ann'\): check"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate(truth, {"Ann": ["x"]}, "recall@1")
    systems = {"a": {"ann": ["x"], "zoe": ["x"]}, "b": {"Eve": ["x"]}}
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.compare(truth, systems, "recall@1")
    assert re.match(f"system 'b': {message}", str(caught[0].message).replace("Eve", "Ann"))
    scores = exactk.Scores(np.eye(1), users=["Ann"], items=["x"])
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate(truth, scores, "recall@1")
    with pytest.warns(exactk.EvaluationWarning, match="^the predictions have no users$"):
        exactk.evaluate(truth, {}, "recall@1")
    with pytest.warns(exactk.EvaluationWarning, match="no user of the truth"):
        exactk.evaluate(truth, {"ann": None, "Bob": ["x"]}, "recall@1")
    exactk.evaluate(truth, {"ann": None, "Bob": ["x"], "bob": ["x"]}, "recall@1")  # one is enough


def test_f18_no_item_in_common_gets_a_warning() -> None:
    message = r"no item of the truth \(such as 'x'\) is in the predictions \(such as 'X'\)"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        evaluate_keyed({"ann": ["X"], "bob": ["Y"]})
    with pytest.warns(exactk.EvaluationWarning, match=r"such as 1\) .* \(such as 101"):
        evaluate_keyed(pd.DataFrame({"user": [1], "item": [101], "score": [0.5]}), {1: [1]})
    evaluate_keyed({"ann": ["y"], "bob": ["x"]})  # no hit, but items of the truth


@pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")
@pytest.mark.filterwarnings("ignore:.* groups of items :exactk.EvaluationWarning")
@pytest.mark.parametrize("metric", exactk.metrics)
def test_no_item_in_common_gets_a_warning_by_any_metric(metric: str) -> None:
    """Some are above 0 where there is no hit; their entries of the registry say so."""
    train = {"eve": ["X"], "sam": ["Y"]} | {f"user {number}": ["Z"] for number in range(8)}
    info = metric_registry[metric]
    options: Any = {"items": train} if info.walks_list else {}
    if info.reads_groups:
        train |= {"ann": ["X"], "bob": ["X"]}
        options = {"items": exactk.Items(train=train, item_groups={"X": 1, "Y": 2, "Z": 1})}
    if info.reads_base:
        options = {"base_predictions": {"ann": ["X"], "bob": []}}
    if info.reads_features:
        train |= {"ann": ["Y"], "bob": ["Y"]}
        vectors = {"X": [1.0, 0.0], "Y": [0.0, 1.0], "Z": [0.5, 1.0]}
        features: Any = vectors if "distance" in info.own_fields else {item: [item] for item in "XYZ"}
        options = {"items": exactk.Items(train=train, features=features)}
    truth = {"ann": {"x": 1, "y": 0}, "bob": {"x": 1}}
    with pytest.warns(exactk.EvaluationWarning, match="no item of the truth"):
        report: Any = exactk.evaluate(truth, {"ann": ["X", "Z"], "bob": ["Z"]}, spell(metric), **options)
    assert (report[spell(metric)] > 0) == info.positive_without_hits


@pytest.mark.parametrize("library", LIBRARIES)
def test_f15_absent_is_not_empty(library: str) -> None:
    absent = LIBRARIES[library]({"user": ["ann"], "item": ["x"], "score": [0.5]})
    empty = pl.DataFrame({"user": ["ann", "bob"], "items": [["x"], []]}, schema_overrides={"items": pl.List(pl.String)})
    cases = (
        (absent, (1, 0)),
        (empty, (0, 1)),
        ({"ann": ["x"], "bob": []}, (0, 1)),
        ({"ann": ["x"], "bob": None}, (1, 0)),
    )
    for predictions, counts in cases:
        report = evaluate_keyed(predictions, per_user=True)
        assert report.per_user["precision@1"].tolist() == [1, 0]
        assert (report.counts["missing_lists"], report.counts["empty_predictions"]) == counts


def test_f16_users_of_the_predictions_alone() -> None:
    frame = pd.DataFrame({"user": ["cid", "bob", "ann"], "item": ["x", "y", "z"], "score": 1.0})
    report = evaluate_keyed(frame, per_user=True)
    assert report.users.tolist() == ["ann", "bob", "cid"]
    assert report.counts["missing_truth"] == 1
    np.testing.assert_array_equal(report.per_user["precision@1"], [0, 1, np.nan])


def test_f10_an_item_twice() -> None:
    frame = pd.DataFrame({"user": ["bob", "ann", "ann"], "item": ["x"] * 3, "score": [0.5, 0.5, 0.25]})
    error = refusal_of("predictions: expected each item once in a list, found item 'x' again", frame, exactk.InputError)
    assert location_of(error)[:3] == ("predictions", 2, None)  # of the first user of the truth
    assert str(error).endswith("(user 'ann')")


def test_f11_an_item_of_the_truth_twice() -> None:
    truth = pl.DataFrame({"user": ["bob", "ann", "ann"], "item": ["x"] * 3})
    message = "truth: expected each item once per user, found item 'x' again at row 2 of the frame"
    error = refusal_of(message, TRUTH, exactk.InputError, truth=truth)
    assert str(error).endswith("(user 'ann')")


def test_a_user_with_two_lists() -> None:
    frame = pl.DataFrame({"user": ["ann", "bob", "ann", "ann"], "item": [["x"], ["y"], ["z"], []]})
    message = "predictions: expected each user once, found 'ann' again at row 2 of the frame (the first of 2)"
    assert location_of(refusal_of(message, frame, exactk.InputError)) == ("predictions", 2, None, 2)
    message, lists = "predictions: expected each user once, found '1' again", {SameText(): ["x"], SameText(): ["y"]}
    refusal_of(message, lists, exactk.InputError, truth={"1": ["x"]})


class SameText:
    """Equal to nothing else, but of the same text."""

    def __str__(self) -> str:
        return "1"


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_that_are_not_there(library: str) -> None:
    make = LIBRARIES[library]
    frame = make(COLUMNS)
    without = {name: make({key: column for key, column in COLUMNS.items() if key != name}) for name in COLUMNS}
    calls: dict[str, Callable[[], object]] = {
        "predictions: expected a column for the user, such as user, ": lambda: evaluate_keyed(without["user"]),
        "predictions: expected a column for the item, such as item, ": lambda: evaluate_keyed(without["item"]),
        "predictions: expected a score or rank column, ": lambda: evaluate_keyed(without["score"]),
        "predictions: expected the user column 'who', found the columns user, item, score": lambda: evaluate_keyed(frame, user="who"),
        "predictions: expected the item column 'what'": lambda: evaluate_keyed(frame, item="what"),
        "predictions: expected the score column 'how'": lambda: evaluate_keyed(frame, score="how"),
        "predictions: expected the rank column 'how'": lambda: evaluate_keyed(frame, rank="how"),
        "truth: expected the grade column 'how'": lambda: evaluate_keyed(frame, make({"user": [], "item": []}), grade="how"),
        "user: expected distinct columns": lambda: evaluate_keyed(frame, user=["user", "user"]),
    }  # fmt: skip
    for message, call in calls.items():
        with pytest.raises(exactk.InputError, match=f"^{re.escape(message)}"):
            call()
    for given in (3, [], [None], {"user"}):
        with pytest.raises(exactk.InputTypeError, match="user: expected a column name or a sequence of column names"):
            evaluate_keyed(frame, user=given)


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_of_columns_that_leave_a_choice(library: str) -> None:
    choices = {"user": ("user_id", "user and user_id; user='user' selects it"), "item": ("docid", "item and docid")}
    for role, (name, found) in choices.items():
        frame = LIBRARIES[library](COLUMNS | {name: [1, 2]})
        refusal_of(f"predictions: expected one column for the {role}, found {found}", frame, exactk.InputError)


@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_beside_ranks(library: str) -> None:
    make = LIBRARIES[library]
    users, items = ["ann", "bob", "ann", "bob", "ann"], ["x", "y", "y", "x", "z"]
    scores, ranks = [0.5, 0.25, 0.75, 0.125, 0.5], [3, 1, 1, 2, 2]
    columns: dict[str, list[Any]] = {"user": users, "item": items, "score": scores, "rank": ranks}
    by_rank = evaluate_keyed(make({name: column for name, column in columns.items() if name != "score"}))
    agreeing = make(columns)
    assert evaluate_keyed(agreeing) == by_rank
    assert evaluate_keyed(exactk.Batches(lambda: [agreeing])) == by_rank
    sorted_rows = {name: [column[row] for row in (2, 0, 4, 1, 3)] for name, column in columns.items()}
    assert evaluate_keyed(exactk.Batches(lambda: [make(sorted_rows)])) == by_rank

    frame = make(columns | {"rank": [3, 2, 1, 1, 2]})
    message = (
        "predictions: expected scores and ranks that give the same order, or one of them, found score 0.25 ranked below "
        "score 0.125 at row 1 of the frame; score='score' or rank='rank' selects the one that orders them (user 'bob')"
    )
    refusal_of(message, frame, exactk.InputError)
    in_batch = message.replace("of the frame", "of batch 0")
    refusal_of(in_batch, exactk.Batches(lambda: [frame]), exactk.InputError)
    sorted_frame = make(sorted_rows | {"rank": [1, 3, 2, 2, 1]})
    in_block = in_batch.replace("row 1", "row 3")
    refusal_of(in_block, exactk.Batches(lambda: [sorted_frame]), exactk.InputError)
    assert evaluate_keyed(frame, score="score") == evaluate_keyed(make(columns), score="score")
    assert evaluate_keyed(frame, rank="rank")["precision@1"] != by_rank["precision@1"]
    missing = make(columns | {"score": [0.5, 0.25, float("nan"), 0.125, 0.5]})
    message = message.partition("found")[0] + "found score 0.5 ranked below score nan"
    refusal_of(message, missing, exactk.InputError)


def test_columns_of_one_name() -> None:
    names = ["user", "user", "item", "score"]
    table = pa.table([["ann"], ["bob"], ["x"], [1.0]], names)
    for frame in (table, pd.DataFrame([["ann", "bob", "x", 1.0]], columns=names)):
        error = refusal_of("predictions: expected one column for the user, found", frame, exactk.InputError)
        assert str(error).endswith("found user and user")
    refusal_of("predictions: expected one column 'user', found 2", table, exactk.InputError, user="user")


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([1, 2, 2], "distinct ranks, found 2 twice at row 1 of the frame (user 'ann')"),
        ([1.0, 2.5, 2.5], "distinct ranks, found 2.5 twice at row 1 of the frame (user 'ann')"),
        ([1.0, 0.0, -0.0], "distinct ranks, found"),
        ([1.0, 2.0, float("nan")], "ranks without NaN, found NaN at row 2 of the frame"),
    ],
)
@pytest.mark.filterwarnings("ignore:predictions. the item of the lowest 'rank' comes first, though it has fractions")
def test_ranks_that_order_nothing(ranks: list[Any], message: str) -> None:
    frame = pd.DataFrame({"user": ["bob", "ann", "ann"], "item": ["y", "x", "z"], "rank": ranks})
    refusal_of(f"predictions: expected {message}", frame, exactk.InputError)
    assert len(exactk.as_predictions(frame[:2])) == 2


@pytest.mark.filterwarnings("ignore:predictions. the item of the lowest 'rank' comes first, though it has fractions")
def test_ranks_of_any_numbers() -> None:
    users, items = ["ann", "bob", "ann", "ann"], ["y", "y", "x", "z"]
    for ranks in ([3, 1, 1, 2], [9.5, 1.0, -np.inf, 2.25], np.array([2**63 - 1, 0, 7, 8], np.uint64), [0, 0, -5, -4]):
        for make in LIBRARIES.values():
            frame = make({"user": users, "item": items, "rank": ranks})
            predictions = exactk.as_predictions(frame)
            assert isinstance(predictions, exactk.Rankings)
            assert predictions.item_vocabulary is not None
            assert predictions.item_vocabulary.array[predictions.row(0)].tolist() == ["x", "z", "y"]
    frame = pd.DataFrame({"user": users, "item": items, "rank": np.array([1, 1, 2, 2**64 - 1], np.uint64)})
    message = "predictions.rank: expected ranks below 2^63, found 18446744073709551615 at row 3 of the frame"
    refusal_of(message, frame, exactk.InputError)
    refusal_of("predictions.rank: expected numbers, found str", frame.astype({"rank": str}))


def test_weights_and_groups_by_key() -> None:
    predictions = {"bob": ["y"], "ann": ["z"]}
    assert evaluate_keyed(predictions, weights={"bob": 3.0, "ann": 1.0, "nobody": 9.0})["precision@1"] == 0.75
    groups = evaluate_keyed(predictions, groups={"bob": "b", "ann": "a"}).by_group
    assert {group: values["precision@1"] for group, values in groups.items()} == {"a": 0, "b": 1}
    for argument, name, values, row in (("weights", "a weight", {"ann": 1.0}, 1), ("groups", "a group", {"bob": 1}, 0)):
        message = f"{argument}: expected {name} for every user in the mean of precision@1 (users='truth'), found none at row {row}"
        refusal_of(message, predictions, exactk.InputError, **{argument: values})
    # Users of the predictions alone count for nothing, and need neither.
    assert evaluate_keyed(predictions | {"cid": ["x"]}, weights={"bob": 3.0, "ann": 1.0})["precision@1"] == 0.75
    refusal_of("weights: expected one entry per row, as users have no", [[1]], truth=[[1]], weights={0: 1.0})
    keys = {uuid.UUID(int=1): ["x"], uuid.UUID(int=2): ["y"]}
    weights = {uuid.UUID(int=2): 3.0, uuid.UUID(int=1): 1.0}
    predictions_of_uuids = {uuid.UUID(int=2): ["y"], uuid.UUID(int=1): ["z"]}
    assert evaluate_keyed(predictions_of_uuids, keys, weights=weights)["precision@1"] == 0.75


def test_messages_say_which_user_of_the_truth() -> None:
    truth = pd.DataFrame({"user": ["bob", "ann", "bob"], "item": ["x", "x", "y"], "grade": [1.0, 1.0, np.nan]})
    message = "truth: expected finite grades, found nan at row 2 of the frame"
    error = refusal_of(message, TRUTH, exactk.InputError, truth=truth)
    assert str(error).endswith("(user 'bob')")
    message = "expected item ids in [0, 2^63), found -7 at row 1, position 0; convert the ids of all inputs"
    sound, faulty = {"bob": [3]}, {"bob": [3], "ann": [-7]}
    refusal_of(f"truth: {message}", TRUTH, exactk.InputError, truth=faulty)
    refusal_of(f"exclude: {message}", {**sound}, exactk.InputError, truth=sound, exclude=faulty)


def test_objects_that_are_no_items_are_not_shown_whole() -> None:
    message = "predictions: expected integer ids, found list [0, 1, 2, 3, 4, 5, ...] at row 0"
    error = refusal_of(message, [[list(range(10**5))]], truth=[[1]])
    assert len(str(error)) < 200
    error = refusal_of("predictions: expected ids of one kind", {"ann": [uuid.UUID(int=1), None]})
    assert location_of(error)[:3] == ("predictions", 0, 1)


def test_f20_containers_that_hold_themselves() -> None:
    row: list[Any] = [[1]]
    row.append(row)
    refusal_of("truth: expected integer ids, found list", [[1]], truth=row)
    users: dict[Any, Any] = {}
    users["ann"] = users
    refusal_of("truth: expected numbers as grades, found dict", TRUTH, truth=users)


def test_rows_of_a_struct_that_are_not_there() -> None:
    """What its columns have in these rows means nothing."""
    table = pa.table(COLUMNS)
    struct = pa.StructArray.from_arrays(
        [table[name].chunk(0) for name in COLUMNS], list(COLUMNS), mask=pa.array([False, True])
    )
    chunks = pa.chunked_array([struct.slice(0, 1), struct.slice(0, 1), struct.slice(1)])
    error = refusal_of("predictions: expected rows without null, found null at position 2", chunks)
    assert error.position == 2
    assert evaluate_keyed(chunks.slice(0, 1))["precision@1"] == 0.5


def ctrl_c_while_a_frame_is_read() -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        for row in range(10**6):
            yield pa.record_batch({"user": [f"user {row}"], "item": ["x"], "score": [1.0]})
            if row == 2000:
                signal.raise_signal(signal.SIGINT)

    schema = next(rows()).schema
    with pytest.raises(KeyboardInterrupt):
        evaluate_keyed(pa.RecordBatchReader.from_batches(schema, rows()))


@pytest.mark.native
def test_f25_ctrl_c_while_a_frame_is_read() -> None:
    run_child(ctrl_c_while_a_frame_is_read)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_is_one_thing(library: str) -> None:
    frame = LIBRARIES[library]({"user": ["ann"], "item": ["x"], "score": [0.5]})
    for options in ({"item": "user", "user": "user"}, {"user": ["user", "item"], "item": "item"}):
        with pytest.raises(exactk.InputError, match=r"expected distinct columns for .*, found '(user|item)' for two"):
            exactk.as_predictions(frame, **options)
    for options in ({"item": "user"}, {"user": "item"}):  # a named column has no other role
        (name,) = options.values()
        with pytest.raises(exactk.InputError, match=f"expected a column for the {name}, .*with {name}='NAME'"):
            exactk.as_predictions(frame, **options)


def test_frames_without_rows() -> None:
    empty = pd.DataFrame({"user": [], "item": []})
    with pytest.raises(exactk.InputTypeError, match=r"found an empty float64 column; .astype..int64.. gives it a type"):
        exactk.evaluate(empty, [[1]], "recall@1")
    assert len(exactk.as_truth(empty.astype("int64"))) == 0
