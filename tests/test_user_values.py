"""Weights and groups in every container: by the user's key, or by row where users have none."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk

if TYPE_CHECKING:
    from collections.abc import Callable

# The first appearance of the users in the truth is not their order in the weights, nor that of their keys.
TRUTH = {"bob": ["x"], "eve": ["x"], "ann": ["x"]}
PREDICTIONS = {"ann": ["x"], "bob": ["y"], "eve": ["x"]}
WEIGHTS = {"ann": 1.0, "bob": 5.0, "eve": 2.0}
GROUPS = {"ann": "few", "bob": "many", "eve": "few"}
ROWS = [[1], [1], [1]], [[2], [1], [1]]

KEYED: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "dict": dict,
    "Series": pd.Series,
    "Series, objects": lambda values: pd.Series(values, dtype=object),
    "Series, categories": lambda values: pd.Series(values).astype("category"),
    "Series, index of categories": lambda values: pd.Series(list(values.values()), pd.CategoricalIndex(list(values))),
    "Series, Arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas": lambda values: pd.DataFrame({"user": list(values), "value": list(values.values())}),
    "pandas, index": lambda values: pd.DataFrame({"user": list(values), 0: list(values.values())}).set_index("user"),
    "Polars": lambda values: pl.DataFrame({"value": list(values.values()), "query_id": list(values)}),
    "Polars, lazy": lambda values: pl.LazyFrame({"uid": list(values), "value": list(values.values())}),
    "Arrow": lambda values: pa.table({"user": list(values), "value": list(values.values())}),
}
UNKEYED: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda values: np.array(values, object),
    "Series": pd.Series,
    "Polars": pl.Series,
    "Arrow": pa.array,
    "Arrow, chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


def frame_of(lists: dict[str, list[str]]) -> pd.DataFrame:
    return pd.DataFrame({"user": list(lists), "item": [row[0] for row in lists.values()], "rank": 1})


def batches() -> exactk.Batches:
    return exactk.Batches(lambda: [frame_of(PREDICTIONS)[:2], frame_of(PREDICTIONS)[2:]])


def advised(caught: Any, argument: str, before: str, **names: Any) -> Any:
    """Return what the message says to write instead of the argument."""
    return eval(str(caught.value).partition(f"; {argument}=")[2].partition(before)[0], names)  # noqa: S307 - the hint


def evaluate(weights: Any = None, groups: Any = None, predictions: Any = None, **options: Any) -> exactk.Report:
    predictions = PREDICTIONS if predictions is None else predictions
    report = exactk.evaluate(TRUTH, predictions, "P@1", weights=weights, groups=groups, **options)
    assert isinstance(report, exactk.Report)
    return report


def groups_of(report: Any) -> dict[Any, float]:
    return {label: values["P@1"] for label, values in report.by_group.items()}


@pytest.mark.parametrize("container", KEYED)
def test_f62_values_by_key(container: str) -> None:
    weights, groups = KEYED[container](WEIGHTS), KEYED[container](GROUPS)
    for predictions in (PREDICTIONS, frame_of(PREDICTIONS), batches()):
        report = evaluate(weights, groups, predictions)
        assert report["P@1"] == 3 / 8
        assert groups_of(report) == {"few": 1.0, "many": 0.0}
    reference = exactk.reference.evaluate(TRUTH, PREDICTIONS, "P@1", weights=weights, groups=groups)
    assert reference["P@1"] == 3 / 8
    assert groups_of(reference) == {"few": 1.0, "many": 0.0}


@pytest.mark.parametrize("container", KEYED)
def test_f62_values_by_key_of_systems_and_blocks(container: str) -> None:
    weights = KEYED[container](WEIGHTS)
    both = exactk.compare(TRUTH, {"one": PREDICTIONS, "other": frame_of(TRUTH)}, "P@1", weights=weights)
    assert both["P@1"] == {"one": 3 / 8, "other": 1.0}
    blocks = (({user: TRUTH[user]}, {user: PREDICTIONS[user]}) for user in ("eve", "bob", "ann"))
    assert exactk.evaluate(None, blocks, "P@1", weights=weights)["P@1"] == 3 / 8


@pytest.mark.parametrize("container", UNKEYED)
def test_f62_values_by_row(container: str) -> None:
    weights, groups = UNKEYED[container]([5.0, 2.0, 1.0]), UNKEYED[container](["many", "few", "few"])
    report = exactk.evaluate(*ROWS, "P@1", weights=weights, groups=groups)
    assert report["P@1"] == 3 / 8
    assert groups_of(report) == {"few": 1.0, "many": 0.0}
    blocks = (([[1]], [[item]]) for item in (2, 1, 1))
    report = exactk.evaluate(None, blocks, "P@1", weights=weights, groups=groups)
    assert report["P@1"] == 3 / 8
    assert groups_of(report) == {"few": 1.0, "many": 0.0}


@pytest.mark.parametrize("container", UNKEYED)
@pytest.mark.parametrize("argument", ["weights", "groups"])
def test_f62_values_without_keys_beside_keyed_users(container: str, argument: str) -> None:
    values = UNKEYED[container]([1, 5, 2])
    message = f"{argument}: expected entries with user keys, as in the truth, found 3 entries without keys"
    labelled = exactk.Truth([0, 1, 2, 3], [1, 1, 1], users=list(TRUTH))
    cases: list[tuple[Any, Any]] = [(TRUTH, PREDICTIONS), (TRUTH, batches()), (labelled, ROWS[1])]
    for truth, predictions in [*cases, (None, iter([(TRUTH, PREDICTIONS)]))]:
        with pytest.raises(exactk.InputTypeError, match=message) as caught:
            exactk.evaluate(truth, predictions, "P@1", **{argument: values})
        if truth is not None:
            with pytest.raises(exactk.InputTypeError, match=message):
                exactk.compare(truth, {"one": predictions, "other": predictions}, "P@1", **{argument: values})
        keyed = advised(caught, argument, ", where users", **{argument: values, "users": ["ann", "bob", "eve"]})
        assert evaluate(**{argument: keyed}) == evaluate(**{argument: {"ann": 1, "bob": 5, "eve": 2}})


@pytest.mark.parametrize("container", KEYED)
def test_f62_values_with_keys_beside_rows(container: str) -> None:
    weights = KEYED[container]({"bob": 5.0, "eve": 2.0, "ann": 1.0})
    with pytest.raises(exactk.InputTypeError, match="weights: expected one entry per row") as caught:
        exactk.evaluate(*ROWS, "P@1", weights=weights)
    if container == "Polars, lazy":
        return
    of_rows = ", where users are the users of the rows"
    plain = advised(caught, "weights", of_rows, weights=weights, users=["eve", "ann", "bob"])
    assert exactk.evaluate(*ROWS, "P@1", weights=plain)["P@1"] == 6 / 8


@pytest.mark.parametrize("container", [name for name in KEYED if name not in {"dict", "Series, index of categories"}])
def test_f62_a_user_twice_or_not_at_all(container: str) -> None:
    once = KEYED[container](WEIGHTS)
    concat: Any = {pa.Table: pa.concat_tables, pl.DataFrame: pl.concat, pl.LazyFrame: pl.concat}.get(
        type(once), pd.concat
    )
    twice = concat([once, once[:1]])
    with pytest.raises(exactk.InputError, match="weights: expected each user once, found 'ann' again at row 3"):
        evaluate(twice)
    extra = KEYED[container](WEIGHTS | {"dan": 100.0})
    assert evaluate(extra)["P@1"] == 3 / 8
    with pytest.raises(exactk.InputError, match=r"weights: expected a weight for every user .*\(user 'eve'\)"):
        evaluate(KEYED[container]({"ann": 1.0, "bob": 5.0}))


@pytest.mark.parametrize("argument", ["weights", "groups"])
@pytest.mark.parametrize("key", [1.0, True, np.float64(1), np.bool_(1), Fraction(1), None, ("ann", 1.0)], ids=repr)
def test_f62_keys_that_no_user_has(key: Any, argument: str) -> None:
    """1.0 is equal to 1: a mapping would find it, and an encoded key would not."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1]})
    containers: list[Any] = [{1: [1], 2: [1]}, frame, exactk.Batches(lambda: [frame])]
    values: dict[str, Any] = {argument: {key: 1, 2: 1}}
    for predictions in containers:
        with pytest.raises(exactk.InputTypeError, match=rf"^{argument}: expected integers, strings"):
            exactk.evaluate({1: [1], 2: [1]}, predictions, "P@1", **values)


def test_f62_users_of_several_columns() -> None:
    columns, user = {"site": ["a", "a", "b"], "session": [1, 2, 1]}, ["site", "session"]
    truth = pd.DataFrame(columns | {"item": [1, 1, 1]})
    predictions = pd.DataFrame(columns | {"item": [2, 1, 1], "rank": 1})
    weights = pd.DataFrame(columns | {"weight": [5.0, 2.0, 1.0]})[::-1]
    by_index = weights.set_index(user)["weight"]
    for container in (weights, by_index, by_index.to_dict(), pl.DataFrame(weights), weights.set_index(user)):
        report = exactk.evaluate(truth, predictions, "P@1", weights=container, user=user)
        assert report["P@1"] == 3 / 8


def test_f62_frames_of_other_columns() -> None:
    frame = pd.DataFrame({"user": list(WEIGHTS), "weight": WEIGHTS.values(), "age": 3})
    message = "weights: expected one column besides user, found weight and age"
    with pytest.raises(exactk.InputError, match=message) as caught:
        evaluate(frame)
    assert evaluate(advised(caught, "weights", "\n", weights=frame))["P@1"] == 3 / 8
    wrong: list[tuple[Any, str]] = [
        (frame[["user"]], r"weights: expected one column besides user, found none$"),
        (frame[["weight"]], "weights: expected a column for the user"),
        (
            frame[["user"]].assign(weight=pd.Series([[1.0]] * 3)),
            r"weights\.weight: expected a value in every row, found lists",
        ),
        (pd.Series({0.5: 1.0, 1.5: 2.0}), r"weights\.user: expected integer ids, strings or bytes"),
    ]
    for weights, message in wrong:
        with pytest.raises(exactk.ExactkError, match=message):
            evaluate(weights)
    with pytest.raises(exactk.InputTypeError, match="groups"):
        evaluate(groups=pd.Series({"ann": "few", "bob": None, "eve": "few"}))


def test_f62_an_index_that_numbers_rows_names_nobody() -> None:
    truth, predictions = {2: [1], 0: [1], 1: [1]}, {0: [1], 1: [1], 2: [2]}
    weights = pd.DataFrame({"user": [2, 0, 1], "weight": [5.0, 2.0, 1.0]})
    assert exactk.evaluate(truth, predictions, "P@1", weights=weights)["P@1"] == 3 / 8
    assert exactk.evaluate(truth, predictions, "P@1", weights=weights.set_index("user")["weight"])["P@1"] == 3 / 8
    with pytest.raises(exactk.InputTypeError, match="weights: expected entries with user keys"):
        exactk.evaluate(truth, predictions, "P@1", weights=weights["weight"])


NO_GROUPS: dict[str, Any] = {
    "intervals": pd.cut(pd.Series([1, 5, 99], index=["ann", "bob", "eve"]), [0, 4, 9]),
    "mapping of intervals": dict.fromkeys(["ann", "bob", "eve"], pd.Interval(0, 1)),
    "NaN among strings": pd.Series({"ann": "few", "bob": math.nan, "eve": "few"}),
    "NaN among numbers": pd.Series({"ann": 1.0, "bob": math.nan, "eve": 2.0}),
    "nullable": pd.Series({"ann": 1, "bob": pd.NA, "eve": 2}, dtype="Int64"),
    "None": {"ann": "few", "bob": None, "eve": "few"},
    "flags": pd.Series({"ann": True, "bob": False, "eve": True}),
    "dates": pd.Series(["2026-01-01"] * 3, ["ann", "bob", "eve"], "M8[ns]"),
    "dates in microseconds": pd.Series(["2026-01-01"] * 3, ["ann", "bob", "eve"], "M8[us]"),
    "time spans": pd.Series([1, 2, 1], ["ann", "bob", "eve"], "m8[ns]"),
    "frame": pd.DataFrame({"user": ["ann", "bob", "eve"], "a group": [1.5, 2.5, 1.5]}),
    "Polars": pl.DataFrame({"user": ["ann", "bob", "eve"], "a group": [1.5, 2.5, 1.5]}),
}


@pytest.mark.parametrize("case", NO_GROUPS)
def test_f62_groups_that_are_no_labels_are_answered_with_what_to_write(case: str) -> None:
    groups = NO_GROUPS[case]
    with pytest.raises(exactk.InputTypeError, match=r"^groups: expected integers or strings, found ") as caught:
        evaluate(groups=groups)
    evaluate(groups=advised(caught, "groups", " converts them to strings", groups=groups))


@pytest.mark.parametrize(
    "groups", [[1.5, 2.5, 1.5], np.array([True, False, True]), pl.Series([1.5, 2.5, 1.5])], ids=repr
)
def test_f62_groups_by_row_too(groups: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"; groups=list\(map\(str, groups\)\) converts them to strings$"):
        exactk.evaluate(*ROWS, "P@1", groups=groups)
    exactk.evaluate(*ROWS, "P@1", groups=list(map(str, groups)))


@pytest.mark.parametrize("argument", ["weights", "groups"])
def test_f62_what_holds_no_values_is_answered_with_what_does(argument: str) -> None:
    expected = f"^{argument}: expected a mapping from user to value, a Series, a data frame, the path of a file, or an"
    with pytest.raises(exactk.InputTypeError, match=rf"{expected}.*, found generator; {argument}=list\({argument}\)$"):
        evaluate(**{argument: (1 for _ in range(3))})
    for container in ({1}, 3, "age"):
        with pytest.raises(exactk.InputTypeError, match=expected):
            evaluate(**{argument: container})
    truth = pd.DataFrame({"client": ["ann", "bob", "eve"], "item": ["x", "y", "x"], "age": [30, 50, 30]})
    with pytest.raises(exactk.InputTypeError, match=f"{expected}.*, found 'age'; ") as caught:
        evaluate_by_client(truth, **{argument: "age"})
    values = advised(caught, argument, " if it is ", truth=truth)
    assert values.to_dict() == {"ann": 30, "bob": 50, "eve": 30}
    evaluate_by_client(truth[["client", "item"]], **{argument: values})


def evaluate_by_client(truth: pd.DataFrame, weights: Any = None, groups: Any = None) -> None:
    exactk.evaluate(truth, PREDICTIONS, "P@1", user="client", weights=weights, groups=groups)


def test_groups_do_not_lose_characters() -> None:
    """NumPy's strings drop trailing NUL characters, so two groups would become one."""
    with pytest.raises(exactk.InputError, match="groups: expected strings without NUL at the end"):
        exactk.evaluate([[1], [2]], [[1], [2]], "recall@1", groups=["a", "a\0"])


@pytest.mark.parametrize("make", [dict, pd.Series])
def test_a_mapping_from_group_is_turned_round(make: Any) -> None:
    groups = make({"new": ["ann"], "old": ["bob", "eve"]})
    truth = {"ann": [1], "bob": [2], "eve": [3]}
    with pytest.raises(exactk.InputTypeError, match="groups: expected integers or strings, found list; ") as caught:
        exactk.evaluate(truth, {**truth}, "recall@1", groups=groups)
    by_user = advised(caught, "groups", " if these are the users of each group", groups=groups)
    assert by_user == {"ann": "new", "bob": "old", "eve": "old"}


@pytest.mark.parametrize(
    "groups",
    [
        {1: "x", "a": "g", 2: "h", "b": "h", ("a", 1): "y", "c": "g"},
        {("a", 1): "x", "c": "g", "b": "h", ("c", 2): "x", "a": "g"},
        {"c": "x", "b": "h", "a": "g", b"a": "x", 7: "x", "c ": "y"} | {"c": "g"},
    ],
)
def test_users_of_other_kinds_in_a_mapping_of_groups_move_no_value(groups: dict[Any, str]) -> None:
    truth = {"a": [1], "b": [2], "c": [3]}
    lists = {"a": [1], "b": [1], "c": [3]}
    report = exactk.evaluate(truth, lists, "P@1", groups=groups)
    assert groups_of(report) == {"g": 1.0, "h": 0.0}


def test_of_users_that_text_makes_equal_the_last_value_counts() -> None:
    day = date(2020, 1, 1)
    truth = {day: [1]}
    for groups, label in (({day: "g", "2020-01-01": "h"}, "h"), ({"2020-01-01": "h", day: "g"}, "g")):
        assert list(exactk.evaluate(truth, {**truth}, "P@1", groups=groups).by_group) == [label]


def test_parts_of_other_kinds_are_other_users() -> None:
    truth = {("a", 1): [1], ("b", 2): [1]}
    groups = {("a", 1): "g", ("b", "2"): "h", ("b", 2): "i"}
    assert list(exactk.evaluate(truth, {**truth}, "P@1", groups=groups).by_group) == ["g", "i"]
