"""What users have in train: the rows of `exactk.Items(train=...)`, matched with the users of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import exactk
from captured_problems import evaluate
from core_rules import core_rules
from exactk import _core
from exactk._engine.problem import Problem
from exactk._engine.request import Request

TRAIN = {"eve": ["song", "film", "song"], "ann": ["film"], "sam": ["opera", "book"], "joe": []}
CATALOGUE = ["song", "film", "book", "play"]  # nobody had a play, and an opera is none of them
HISTORIES = {"eve": ["film", "song"], "ann": ["film"], "sam": ["book"], "joe": []}
TRUTH = {"ann": ["book"], "joe": ["song"], "eve": ["film"]}
LISTS = {"sam": ["song"], "eve": ["book", "film"], "kim": ["film"], "ann": ["book"]}


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """Return the problems that the engine gets, for metrics that all read histories."""
    monkeypatch.setattr("exactk._inputs.metric_inputs.reads_items", lambda _: True)
    monkeypatch.setattr(Request, "histories", property(lambda self: self.items.histories))
    return []


def histories_of(problem: Problem, items: exactk.Items) -> list[list[Any]]:
    """Return what each user of the problem has in train."""
    histories = problem.histories
    assert histories is not None
    return [items.keys[histories.of_user(user)].tolist() for user in range(len(problem.truth))]


def frame(lists: dict[Any, list[Any]]) -> pl.DataFrame:
    rows = [(user, item, rank) for user, items in lists.items() for rank, item in enumerate(items, 1)]
    return pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")


TRAINS: dict[str, Callable[[], Any]] = {
    "mapping": lambda: TRAIN,
    "polars": lambda: frame(TRAIN).drop("rank"),
    "pandas": lambda: frame(TRAIN).drop("rank").to_pandas().sample(frac=1, random_state=3),
    "Truth": lambda: exactk.as_truth({user: list(dict.fromkeys(row)) for user, row in TRAIN.items()}),
    "Truth with labels": lambda: exactk.Truth(
        [0, 3, 4, 6], ["song", "film", "song", "film", "opera", "book"], users=["eve", "ann", "sam"]
    ),
    "Series": lambda: pd.Series(TRAIN),
}


@pytest.mark.parametrize("form", TRAINS)
def test_histories_are_those_of_the_users(problems: list[Problem], form: str) -> None:
    items = exactk.Items(CATALOGUE, train=TRAINS[form]())
    report = evaluate(problems, TRUTH, LISTS, items)
    assert report.users is not None
    assert report.users.tolist() == ["ann", "joe", "eve", "sam", "kim"]
    assert histories_of(problems[0], items) == [HISTORIES.get(user, []) for user in report.users.tolist()]


def test_items_of_train_are_the_catalogue(problems: list[Problem]) -> None:
    evaluate(problems, TRUTH, LISTS, TRAIN)
    assert histories_of(problems[0], exactk.Items(train=TRAIN))[2:4] == [["film", "song"], ["book", "opera"]]


def test_rows_of_blocks_by_position(problems: list[Problem]) -> None:
    train = [[3, 1], [1], [], [2, 2]]
    items = exactk.Items(train=train)
    evaluate(problems, None, iter([([[1], [2]], [[1], [1]]), ([[3], []], [[1], [2]])]), items)
    found = [history for problem in problems for history in histories_of(problem, items)]
    assert found == [[1, 3], [1], [], [2]]
    with pytest.raises(exactk.InputError, match=r"train: expected one entry per user \(3\), found 4"):
        evaluate(problems, None, iter([([[1], [2]], [[1], [1]]), ([[3]], [[1]])]), items)
    with pytest.raises(exactk.InputError, match=r"train: expected one entry per user \(at least 5\), found 4"):
        evaluate(problems, None, iter([([[1]] * 5, [[1]] * 5)]), items)


def test_rows_by_position(problems: list[Problem]) -> None:
    train = [[3, 1], [1, 9], [], [2, 2]]
    items = exactk.Items([1, 2, 3], train=train)
    evaluate(problems, [[1]] * 4, [[1]] * 4, items)
    assert histories_of(problems[0], items) == [[1, 3], [1], [], [2]]
    evaluate(problems, exactk.Truth([0, 1, 2, 3, 4], [1] * 4, users=["a", "b", "c", "d"]), [[1]] * 4, items)
    assert histories_of(problems[1], items) == [[1, 3], [1], [], [2]]


REFUSED: dict[str, tuple[Any, Any, Any, str]] = {
    "rows": ([[1]] * 3, [[1]] * 3, [[1], [2]], r"train: expected one row per user \(3\), found 2"),
    "keyed users": ({7: [1]}, {7: [1]}, [[1]], "train: expected user keys, as in the truth, found rows without user"),
    "keyed train": ([[1]], [[1]], {7: [1]}, "truth: expected user keys, as in train, found rows without user keys"),
    "kinds": ({7: [1]}, {7: [1]}, {"7": [1]}, "train: expected users of type int, as in the truth, found str"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_rows_that_have_no_users_are_refused(problems: list[Problem], case: str) -> None:
    truth, lists, train, message = REFUSED[case]
    with pytest.raises(exactk.ExactkError, match=message):
        evaluate(problems, truth, lists, exactk.Items(train=train))


def test_users_of_another_kind_in_batches(problems: list[Problem]) -> None:
    batches = exactk.Batches(lambda: iter([frame({7: [1]})]))
    with pytest.raises(exactk.InputTypeError, match="train: expected users of type int, as in the truth, found str"):
        evaluate(problems, {7: [1]}, batches, exactk.Items(train={"7": [1]}))


def test_states_of_other_histories_do_not_merge(problems: list[Problem]) -> None:
    """Popularity is the same, but not who had what; in which order users come does not matter."""
    train, exchanged = {"ann": ["film"], "eve": ["song"]}, {"ann": ["song"], "eve": ["film"]}
    report = evaluate(problems, TRUTH, LISTS, train)
    again = evaluate(problems, TRUTH, LISTS, dict(reversed(train.items())))
    assert again.state.catalogue == report.state.catalogue
    other = evaluate(problems, TRUTH, LISTS, exchanged)
    with pytest.raises(exactk.StateMismatchError):
        exactk.merge([report, other])


INVALID: dict[str, tuple[list[int], list[int], list[int] | None]] = {
    r"histories\.rows: expected rows of train from -1 to 0, found 1 at row 1": ([0, 1], [0], [0, 1]),
    r"histories\.rows: expected rows of train from -1 to 0, found -2 at row 0": ([0, 1], [0], [-2, 0]),
    r"expected rows of train from -1 to -1, found 0": ([], [], [0, -1]),
    r"histories\.rows: expected one per user \(2\), found 1": ([0, 1], [0], [0]),
    r"histories\.rows: expected one per user \(2\), found 0": ([0, 1], [0], None),
    r"histories\.indptr: expected ascending offsets up to 1, found 3 at row 1": ([0, 3], [0], [-1, 0]),
    r"histories\.indptr: expected .* found -1 at row 0": ([-1, 1], [0], [0, -1]),
    r"histories\.indptr: expected .* found 0 at row 0": ([1, 0], [0], [0, -1]),
    r"histories\.items: expected ascending positions .*, found 0 at row 0": ([0, 2], [1, 0], [0, 0]),
    r"histories\.items: expected ascending positions .*, found 1 at row 0": ([0, 2], [1, 1], [0, 0]),
    r"ascending positions in the catalogue of 3 items, found 3 at row 0": ([0, 1], [3], [0, 0]),
}
"""The offsets and items of train, and the row of each user, by the error."""


@pytest.mark.parametrize("message", INVALID)
def test_the_core_refuses_histories(message: str) -> None:
    lists = _core.Lists(np.array([0, 1]), np.array([0, 1, 2]), None, None, "x")
    value = _core.PlannedValue("recall", 3, 0, core_rules())
    items = _core.Items(ids=np.arange(3))

    def evaluate_with(indptr: list[int], items_of_train: list[int], rows: list[int] | None) -> None:
        _core.evaluate(
            truth=lists,
            predictions=lists,
            items=items,
            histories=_core.Histories(np.array(indptr, np.int64), np.array(items_of_train, np.uint32)),
            history_rows=None if rows is None else np.array(rows),
            values=[value],
            tally_rules=core_rules(),
            threads=2,
        )

    with pytest.raises(exactk.InputError, match=message):
        evaluate_with(*INVALID[message])
    evaluate_with([0, 2], [0, 2], [-1, 0])
