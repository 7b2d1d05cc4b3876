"""An error about a data frame names the frame's own row, which holds what is at fault. The number in a test's name is its row in the project's table of faults."""

from __future__ import annotations

import csv
import math
import pickle
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import exactk

Columns = dict[str, list[Any]]
NAN = math.nan
USERS = ["dan", "ann", "eve", "bob", "cid"]
RAISE_TIES = exactk.conventions["standard"].replace(ties="raise")

FRAMES: dict[str, Callable[[Columns], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, labelled": lambda columns: pd.DataFrame(columns, index=np.arange(len(columns["user"]))[::-1] + 100),
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "Arrow": pa.table,
    "Arrow, chunks": lambda columns: pa.concat_tables([pa.table(columns)[:3], pa.table(columns)[3:]]),
    "DuckDB": lambda columns: duckdb.arrow(pa.table(columns)),
}


def shuffled(seed: int, *, grouped: bool = False, **columns: list[Any]) -> Columns:
    """Return rows of all users in any order, whose items are the numbers of the rows."""
    random = np.random.default_rng(seed)
    users = np.repeat(USERS, 6) if grouped else random.permutation(np.repeat(USERS, 6))
    return {"user": users.tolist(), "item": list(range(len(users)))} | columns


def with_fault(columns: Columns, column: str, seed: int) -> tuple[Columns, Callable[[int], bool]]:
    """Return the columns with one fault, and what tells of a row whether it holds it."""
    columns = {name: list(values) for name, values in columns.items()}
    row = int(np.random.default_rng(seed).integers(6, len(columns["user"])))
    if column == "item":  # that a user has twice
        others = [one for one, user in enumerate(columns["user"]) if user == columns["user"][row] and one != row]
        columns["item"][row] = columns["item"][others[0]]
        keys = list(zip(columns["user"], columns["item"], strict=True))
        return columns, lambda one: keys.count(keys[one]) == 2
    columns[column][row] = NAN
    return columns, lambda one: math.isnan(columns[column][one])


def where(columns: Columns, user: str, name: str, replacement: Any) -> Columns:
    """Return the columns, of which one holds something else in the rows of a user."""
    pairs = zip(columns["user"], columns[name], strict=True)
    return columns | {name: [replacement if key == user else value for key, value in pairs]}


def row_of(error: exactk.ExactkError, columns: Columns, source: str = "the frame") -> int:
    """Return the row that a message names, of the user whom it names."""
    match = re.search(rf" at row (\d+) of {source}[ ;]", str(error))
    assert match is not None, str(error)
    row = int(match[1])
    assert (error.row, error.position) == (row, None)
    assert str(error).endswith((f"(user {columns['user'][row]!r})", f"(query {columns['user'][row]!r})"))
    assert "position" not in str(error)
    return row


def error_of(call: Callable[..., object], *arguments: Any, **options: Any) -> exactk.ExactkError:
    with pytest.raises(exactk.InputError) as caught:
        call(*arguments, **options)
    return caught.value


def evaluation_error(truth: Any, predictions: Any, **options: Any) -> exactk.ExactkError:
    return error_of(exactk.evaluate, truth, predictions, "ndcg@3", **options)


def scores(seed: int = 0) -> list[float]:
    return [float(score) for score in np.random.default_rng(seed).permutation(30)]


TRUTH = {user: [1, 2] for user in sorted(USERS)}  # in another order than any frame


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("column", ["item", "score"])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_f78_predictions(library: str, column: str, grouped: bool, seed: int) -> None:
    columns, is_at_fault = with_fault(shuffled(seed, grouped=grouped, score=scores(seed)), column, seed)
    make = FRAMES[library]
    truth_frame = pl.DataFrame(shuffled(seed + 10))
    predictions = exactk.as_predictions(make(columns))  # users in the order of the frame
    systems = {"good": pl.DataFrame(shuffled(1, score=scores(1))), "bad": make(columns)}
    errors = [
        *(evaluation_error(truth, make(columns)) for truth in (TRUTH, {"nobody": [1]} | TRUTH, truth_frame)),
        evaluation_error({"eve": [1], "nobody": [2]}, make(columns)),
        *(evaluation_error(truth, predictions) for truth in (TRUTH, truth_frame)),
        error_of(exactk.compare, TRUTH, systems, "ndcg@3"),
        error_of(exactk.reference.evaluate, TRUTH, make(columns), "ndcg@3"),
    ]
    assert all(is_at_fault(row_of(error, columns)) for error in errors)


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_f78_predictions_with_ranks(library: str, grouped: bool, seed: int) -> None:
    columns = shuffled(seed, grouped=grouped, rank=[0] * 30)
    for user in USERS:
        rows = np.flatnonzero(np.array(columns["user"]) == user).tolist()
        for row, rank in zip(rows, np.random.default_rng(seed).permutation(len(rows)), strict=True):
            columns["rank"][row] = int(rank) + 1
    repeated, is_at_fault = with_fault(columns, "item", seed)
    assert is_at_fault(row_of(evaluation_error(TRUTH, FRAMES[library](repeated)), repeated))
    pairs = zip(columns["user"], columns["rank"], strict=True)
    twice = columns | {"rank": [5 if pair == ("bob", 2) else pair[1] for pair in pairs]}
    row = row_of(evaluation_error(TRUTH, FRAMES[library](twice)), twice)
    assert (twice["user"][row], twice["rank"][row]) == ("bob", 5)
    nan = columns | {"rank": [NAN if row == 17 else float(rank) for row, rank in enumerate(columns["rank"])]}
    error = evaluation_error(TRUTH, FRAMES[library](nan))
    assert str(error).endswith("found NaN at row 17 of the frame")
    assert (error.row, error.position) == (17, None)


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_f78_truth_and_exclusions(library: str, grouped: bool, seed: int) -> None:
    columns, make = shuffled(seed, grouped=grouped, grade=[1.0] * 30), FRAMES[library]
    predictions = {user: [1, 2] for user in sorted(USERS)}
    for column in ("item", "grade"):
        faulty, is_at_fault = with_fault(columns, column, seed)
        assert is_at_fault(row_of(evaluation_error(make(faulty), predictions), faulty))
    row = 7 + seed
    for grade in (-1.0, math.inf, 2.0**300):
        faulty = columns | {"grade": [grade if one == row else 1.0 for one in range(30)]}
        assert row_of(evaluation_error(make(faulty), predictions), faulty) == row
        if math.isfinite(grade):  # what only a metric cannot take
            assert row_of(evaluation_error(exactk.as_truth(make(faulty)), predictions), faulty) == row
    items = [-7 if one == row else item for one, item in enumerate(columns["item"])]
    training = {"user": columns["user"], "item": items}
    error = evaluation_error({**predictions}, predictions, exclude=make(training))
    assert row_of(error, training) == row
    assert "exclude: expected item ids in [0, 2^63), found -7" in str(error)


@pytest.mark.parametrize("column", ["item", "score"])
@pytest.mark.parametrize("seed", range(3))
def test_f78_topk(column: str, seed: int) -> None:
    columns, is_at_fault = with_fault(shuffled(seed, score=scores(seed)), column, seed)
    for make in FRAMES.values():
        error = error_of(exactk.topk, make(columns), 2, {"ann": [3]})
        assert error.argument == "scores"
        assert is_at_fault(row_of(error, columns))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow", "qrels"])
@pytest.mark.parametrize("role", ["truth", "predictions"])
def test_f78_files(tmp_path: Path, suffix: str, role: str) -> None:
    value = {"truth": "grade", "predictions": "score"}[role]
    columns, is_at_fault = with_fault(shuffled(4) | {value: scores()}, "item", 4)
    path = tmp_path / f"faulty.{suffix}"
    write_rows(path, columns, value)
    other = {user: ["1", "2"] for user in USERS} if suffix == "qrels" else TRUTH
    if role == "truth":
        error = error_of(lambda: exactk.evaluate(exactk.read(path, "truth"), other, "ndcg@3"))
    else:
        error = error_of(lambda: exactk.evaluate(other, exactk.read(path, "predictions"), "ndcg@3"))
    assert is_at_fault(row_of(error, columns, "the data"))


def write_rows(path: Path, columns: Columns, value: str) -> None:
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix in {".csv", ".tsv"}:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t").writerows([list(columns), *rows])
    elif path.suffix == ".jsonl":
        pl.DataFrame(columns).write_ndjson(path)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".arrow":
        pl.DataFrame(columns).write_ipc(path)
    elif value == "grade":
        path.write_text("".join(f"{user} 0 {item} {int(grade)}\n" for user, item, grade in rows))
    else:
        path.write_text("".join(f"{user} Q0 {item} 1 {score} tag\n" for user, item, score in rows))


@pytest.mark.parametrize("column", ["item", "score"])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("sizes", [[30], [7, 0, 11, 12], [1] * 30, [0, 29, 1]])
@pytest.mark.parametrize("library", ["pandas", "Polars", "Arrow"])
def test_f78_batches(column: str, grouped: bool, sizes: list[int], library: str) -> None:
    columns, is_at_fault = with_fault(shuffled(5, grouped=grouped, score=scores()), column, 5)
    borders = np.cumsum([0, *sizes]).tolist()
    whole = FRAMES[library](columns)
    batches = exactk.Batches(lambda: (whole[begin:end] for begin, end in pairwise(borders)))
    errors = [
        evaluation_error(TRUTH, batches),
        error_of(lambda: exactk.evaluate(TRUTH, exactk.as_predictions(batches), "ndcg@3")),
        error_of(exactk.topk, batches, 2),
    ]
    for error in errors:
        row, batch = row_and_batch_of(error)
        assert row < sizes[batch]
        assert is_at_fault(borders[batch] + row)
        assert (type(error.row), error.row, error.position) == (int, row, None)
        assert str(error).endswith(f"(user {columns['user'][borders[batch] + row]!r})")


def row_and_batch_of(error: exactk.ExactkError) -> list[int]:
    match = re.search(r" at row (\d+) of batch (\d+)[ ;]", str(error))
    assert match is not None, str(error)
    return list(map(int, match.groups()))


@pytest.mark.parametrize("grouped", [True, False])
def test_f78_batches_with_ranks(grouped: bool) -> None:
    columns = shuffled(6, grouped=grouped, rank=list(range(30, 0, -1)))
    of_bob = [row for row, user in enumerate(columns["user"]) if user == "bob"]
    twice, same = where(columns, "bob", "item", 0), where(columns, "bob", "rank", 1)
    for faulty in (twice, same):
        whole = pd.DataFrame(faulty)
        batches = exactk.Batches(lambda whole=whole: iter([whole[:13], whole[13:]]))  # type: ignore[misc]
        row, batch = row_and_batch_of(evaluation_error(TRUTH, batches))
        assert row + 13 * batch in of_bob
        if faulty is twice:  # the second best of bob's, whose ranks fall
            assert row + 13 * batch == of_bob[-2]


@pytest.mark.filterwarnings("ignore:predictions. all rows are copied to a temporary file")
def test_f78_batches_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, is_at_fault = with_fault(shuffled(7, score=scores()), "score", 7)
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table(columns), path)
    monkeypatch.setattr("exactk._files.source._LARGE", 0)
    monkeypatch.setattr("exactk._files.columnar._PART_ROWS", 7)
    batches = exactk.read(path, "predictions")
    assert isinstance(batches, exactk.Batches)
    assert is_at_fault(row_of(evaluation_error(TRUTH, batches), columns, f"the data in {path}"))


def test_f78_ratings() -> None:
    columns = shuffled(8, actual=[4.0] * 30, predicted=scores())
    columns["actual"][3] = columns["predicted"][21] = NAN
    frame = pd.DataFrame(columns)
    truth, predictions = exactk.from_ratings(frame.user, frame.item, frame.actual, frame.predicted)
    error = error_of(lambda: exactk.evaluate(truth, predictions, "precision@2"))
    assert row_of(error, columns, "the ratings") == 21


@pytest.mark.parametrize("library", ["pandas", "Polars", "Arrow"])
def test_f78_a_list_in_each_row(library: str) -> None:
    columns: Columns = {"user": USERS, "item": [[1, 2], [3, 4], [5, 6], [7, 8, 7], [9]]}
    error = evaluation_error(TRUTH, FRAMES[library](columns))
    assert "found item 7 again at row 3 of the frame, position 2;" in str(error)
    assert str(error).endswith("(user 'bob')")
    assert (error.row, error.position) == (3, 2)
    again: Columns = {"user": [*USERS, "ann"], "item": [[1]] * 6}
    error = evaluation_error(TRUTH, FRAMES[library](again))
    assert str(error) == "predictions: expected each user once, found 'ann' again at row 5 of the frame"
    assert (error.row, error.position) == (5, None)


def test_f78_faults_of_a_user_name_the_user_alone() -> None:
    frame = pd.DataFrame(shuffled(9, score=scores()))
    options: list[dict[str, Any]] = [
        {"weights": {user: 1.0 for user in USERS if user != "bob"}},
        {"weights": {user: -1.0 if user == "bob" else 1.0 for user in USERS}},
        {"groups": {user: 1 for user in USERS if user != "bob"}},
    ]
    for option in options:
        for truth in (TRUTH, pl.DataFrame(shuffled(9))):
            error = evaluation_error(truth, frame, **option)
            assert str(error).endswith("(user 'bob')")
            assert "at row" not in str(error)
            assert (error.row, error.position) == (None, None)
    tied = frame.assign(score=frame.score.where(frame.user != "bob", 1.0))
    truth = {user: frame[frame.user == user].item.tolist() for user in USERS}
    for error in (
        evaluation_error(truth, tied, convention=RAISE_TIES),
        error_of(exactk.topk, tied, 2, ties="raise"),
    ):
        assert str(error).endswith("(user 'bob')")
        assert "at row" not in str(error)


def test_f78_other_containers_have_rows_and_positions() -> None:
    truth = {"ann": [1], "bob": [2]}
    error = evaluation_error(truth, {"bob": [3, 4, 3], "ann": [1]})
    assert "found item 3 again at row 1, position 2;" in str(error)
    assert str(error).endswith("(user 'bob')")
    assert (error.row, error.position) == (1, 2)
    error = evaluation_error([[1], [2]], [[1], [3, 4, 3]])
    assert "found item 3 again at row 1, position 2;" in str(error)
    assert "(user" not in str(error)


def test_f78_a_pickle_has_no_frame() -> None:
    columns, _ = with_fault(shuffled(2, score=scores()), "score", 2)
    predictions = pickle.loads(pickle.dumps(exactk.as_predictions(pd.DataFrame(columns))))  # noqa: S301 - its own
    error = evaluation_error(TRUTH, predictions)
    assert re.search(r" at row \d, position \d; .*\(user '", str(error))


@pytest.mark.parametrize("container", FRAMES)
@pytest.mark.parametrize("missing", [None, NAN], ids=["null", "NaN"])
@pytest.mark.parametrize("column", ["user", "item"])
def test_f78_a_missing_key_names_its_row(container: str, missing: Any, column: str) -> None:
    columns: Columns = {"user": [1, 1, 2, 2, 3], "item": [4, 5, 4, 5, 6], "rank": [1, 2, 1, 2, 1]}
    whole = {name: values[:2] for name, values in columns.items()}
    columns[column] = [float(key) for key in columns[column]] if missing is NAN else list(columns[column])
    columns[column][3] = missing
    for argument, convert in (("truth", exactk.as_truth), ("predictions", exactk.as_predictions)):
        message = rf"^{argument}\.{column}: .* at row 3 of the frame(;|$)"
        with pytest.raises(exactk.InputTypeError, match=message) as caught:
            convert(FRAMES[container](columns))
        assert (caught.value.row, caught.value.position) == (3, None)
    parts = [whole, {name: values[2:] for name, values in columns.items()}]
    batches = exactk.Batches(lambda: [FRAMES[container](part) for part in parts])
    with pytest.raises(exactk.InputTypeError, match=r" at row 1 of the frame.* in batch 1") as caught:
        exactk.evaluate({1: [4]}, batches, "recall")
    assert (caught.value.row, caught.value.position) == (1, None)


@pytest.mark.parametrize("container", FRAMES)
@pytest.mark.parametrize("name", ["item", "grade"])
def test_f78_a_missing_key_in_a_list_names_its_row_and_position(container: str, name: str) -> None:
    columns: Columns = {"user": ["ann", "bob", "cid"], "item": [[1, 2], [], [3, 4]], "grade": [[1, 2], [], [3, 4]]}
    columns[name] = [[1, 2], [], [3, None]]
    message = rf"^truth\.{name}: .* at row 2 of the frame, position 1(;|$)"
    with pytest.raises(exactk.InputTypeError, match=message) as caught:
        exactk.as_truth(FRAMES[container](columns))
    assert (caught.value.row, caught.value.position) == (2, 1)


def test_f78_a_missing_key_in_a_file_names_its_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": ["ann", None], "item": [1, 2]}), tmp_path / "truth.parquet")
    message = r"with 1 null at row 1 of the data.* in .*truth\.parquet"
    with pytest.raises(exactk.InputTypeError, match=message) as caught:
        exactk.read(tmp_path / "truth.parquet", "truth")
    assert caught.value.row == 1


def test_f78_a_user_who_is_missing_is_in_no_row() -> None:
    """A row for each user with a list; a user of the other argument comes after them."""
    frame = pl.DataFrame({"user": ["a", "b"], "item": [["x"], ["y"]]})
    convention = {"users": "union", "empty_truth": "error", "missing_list": "error"}
    lists = {"a": ["x"], "zed": ["x"], "b": ["x"]}
    calls: tuple[tuple[str, Any, Any], ...] = (
        ("truth", frame, lists), ("truth", exactk.as_truth(frame), lists), ("predictions", lists, frame),
    )  # fmt: skip
    for argument, truth, predictions in calls:
        with pytest.raises(exactk.InputError, match=r"found (none|no list) \(user 'zed'\)") as caught:
            exactk.evaluate(truth, predictions, "recall@1", convention=convention)
        assert (caught.value.argument, caught.value.row) == (argument, None)


@pytest.mark.parametrize(
    ("truth", "predictions", "item"),
    [([["q"], ["x", "x"]], [["y"], ["y"]], "x"), ([["q"], ["x"]], [["y"], ["y", "y"]], "y")],
)
def test_f78_items_have_keys_where_users_have_none(truth: Any, predictions: Any, item: str) -> None:
    with pytest.raises(exactk.InputError, match=f"found item '{item}' again at row 1, position 1"):
        exactk.evaluate(truth, predictions, "recall@1")


def test_a_user_column_that_is_no_text_is_refused_under_an_index_of_two_levels() -> None:
    rows = pd.Series([1.0, 2.0], pd.MultiIndex.from_tuples([("ann", "x"), ("bob", "y")], names=["user", "item"]))
    with pytest.raises(exactk.InputTypeError, match="user: expected a column name"):
        exactk.evaluate(rows, {"ann": ["x"]}, "recall@1", user=5)  # type: ignore[arg-type]
