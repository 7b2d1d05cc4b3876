"""`items=` of an evaluation: the catalogue has the ids under which the call's lists have these items."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import exactk
from captured_problems import evaluate
from exactk._engine.problem import Problem

CATALOGUE = ["song", "film", "book", "play"]  # no one is recommended a play
LISTS = {"ann": ["song", "book"], "bob": ["film", "radio"]}
TRUTH = {"bob": ["film"], "ann": ["book", "opera"]}
TRAIN = {"eve": ["film", "film", "book"], "ann": ["film"], "sam": ["opera"]}
ID_OF_KEY = {"book": 7, "film": 3, "opera": 90, "play": 11, "radio": 1, "song": 12}
SCORES = np.array([[0.5, 0.25, 0.125], [0.125, 0.5, 0.25]])


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """Return the problems that the engine gets, for metrics that all read items."""
    monkeypatch.setattr("exactk._inputs.metric_inputs.reads_items", lambda _: True)
    return []


def table_of(problem: Problem) -> Any:
    return problem.items


def ids_of(lists: dict[Any, list[str]]) -> list[list[int]]:
    return [[ID_OF_KEY[item] for item in lists[user]] for user in ("ann", "bob")]


def frame(lists: dict[str, list[str]], **columns: list[float]) -> pl.DataFrame:
    rows = [(user, item) for user, items in lists.items() for item in items]
    return pl.DataFrame({"user": [row[0] for row in rows], "item": [row[1] for row in rows], **columns})


def test_integers_are_ids(problems: list[Problem]) -> None:
    truth, lists = [[ID_OF_KEY["book"]], [ID_OF_KEY["film"]]], ids_of(LISTS)
    catalogue = [ID_OF_KEY[item] for item in CATALOGUE]
    for items in (exactk.Items(catalogue), exactk.Items(train=[catalogue]), [catalogue[:1], catalogue[1:]]):
        for predictions in (lists, exactk.Scores(np.ones((2, 13))), scipy.sparse.csr_array(np.ones((2, 13)))):
            evaluate(problems, truth, predictions, items, convention={"ties": "expected"})
            assert table_of(problems[-1]).ids.tolist() == sorted(catalogue)


def test_integer_keys_of_columns_are_matched(problems: list[Problem]) -> None:
    scores = exactk.Scores(SCORES, users=["ann", "bob"], items=[12, 3, 7])
    truth = {"ann": [12], "bob": [3]}
    evaluate(problems, truth, scores, exactk.Items([3, 5, 7, 12]))
    assert table_of(problems[0]).ids.tolist() == [1, 3, 2, 0]
    for columns in (exactk.Items(3), exactk.Items(train=scipy.sparse.csr_array(np.eye(3)))):
        with pytest.raises(exactk.InputTypeError, match="items: expected item keys, as in the predictions"):
            evaluate(problems, truth, scores, columns)


@pytest.mark.filterwarnings("ignore:no user was evaluated")
def test_items_without_lists_have_some_ids(problems: list[Problem]) -> None:
    evaluate(problems, {}, {}, exactk.Items(["b", "a"]))
    assert table_of(problems[0]).ids.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("truth", "predictions", "items", "message"),
    [
        (TRUTH, LISTS, exactk.Items([1, 2]), "items: expected items of type str, as in the predictions, found int"),
        (TRUTH, LISTS, exactk.Items(5), "items: expected item keys, as in the predictions, found a number of items"),
        ([[1]], [[1]], exactk.Items(["a"]), "items: expected items of type int, as in the predictions, found str"),
        ([[1]], SCORES[:1], exactk.Items(["a"]), "exactk.Scores(values, items=items) and exactk.Embeddings"),
        ([[1]], [[1]], 5, "exactk.Items(n) has the ids 0 to n - 1"),
        ([[1]], [[1]], ["a", "b"], "found str at row 0; exactk.Items(items) reads them as a catalogue"),
        ([[1]], [[1]], np.array([1, 2]), "found shape (2,); exactk.Items(items) reads them as a catalogue"),
        ([[1]], [[1]], pd.DataFrame({"a": [1], "b": [2]}), "items: expected a column for the user"),
        ([[1]], [[1]], {"ann": [-1]}, "items: expected item ids in [0, 2^63), found -1"),
    ],
)
def test_faults_name_items(problems: list[Problem], truth: Any, predictions: Any, items: Any, message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        evaluate(problems, truth, predictions, items)
    assert message in str(caught.value)


def test_interactions_are_read_by_the_names_of_columns(problems: list[Problem]) -> None:
    train = pd.DataFrame({"who": ["eve", "eve", "sam"], "what": ["film", "book", "film"]})
    named = frame(LISTS).rename({"user": "who", "item": "what"}).with_columns(rank=pl.Series([1, 2, 1, 2]))
    evaluate(problems, TRUTH, named, train, user="who", item="what", rank="rank")
    assert table_of(problems[0]).users.tolist() == [1, 2]


def test_only_states_of_the_same_items_merge(problems: list[Problem]) -> None:
    items = exactk.Items(CATALOGUE, train=TRAIN)
    report = evaluate(problems, TRUTH, LISTS, items)
    shards = [evaluate(problems, {user: TRUTH[user]}, {user: LISTS[user]}, items) for user in TRUTH]
    assert exactk.merge(shards).state == report.state
    assert exactk.merge([exactk.State.from_bytes(one.state.to_bytes()) for one in shards]).state == report.state
    different = {
        "values of other items: 4 items and 3 items": exactk.Items(CATALOGUE[1:], train=TRAIN),
        "4 items and 4 items, whose keys, train, popularity, features, groups or values differ": exactk.Items(CATALOGUE),
        "4 items and the 3 items of train": TRAIN,
    }  # fmt: skip
    for message, others in different.items():
        other = evaluate(problems, TRUTH, LISTS, others)
        with pytest.raises(exactk.StateMismatchError, match=message):
            exactk.merge([report.state, other.state])
        with pytest.raises(exactk.StateMismatchError, match=message):
            exactk.compare_reports({"a": report, "b": other})
    state = report.state._replace(catalogue=None)
    with pytest.raises(exactk.StateMismatchError, match="items in only one of them"):
        exactk.merge([report.state, state])


def test_the_report_says_what_the_catalogue_is(problems: list[Problem]) -> None:
    of_train = evaluate(problems, TRUTH, LISTS, TRAIN)
    given = evaluate(problems, TRUTH, LISTS, exactk.Items(["film", "book", "opera"], train=TRAIN))
    counted = evaluate(problems, TRUTH, LISTS, exactk.Items(popularity={"film": 1}))
    assert "convention standard; catalogue: the 3 items of train; " in repr(of_train)
    assert "convention standard; catalogue: 3 items; " in repr(given)
    assert "convention standard; catalogue: the 1 item of popularity; " in repr(counted)
    assert of_train.state.catalogue is not None
    assert of_train.state.catalogue.source == "train"
    # Equal items are the same, wherever they come from.
    merged = exactk.merge([given.state, of_train.state])
    assert merged.state.catalogue == given.state.catalogue
    assert exactk.merge([of_train.state, given.state]).state == merged.state


def test_states_with_items_make_round_trips(problems: list[Problem]) -> None:
    report = evaluate(problems, TRUTH, LISTS, TRAIN)
    state = report.state
    assert exactk.State.from_bytes(state.to_bytes()) == state
    assert exactk.Report.from_json(report.to_json()).state == state
    assert pickle.loads(pickle.dumps(state)) == state  # noqa: S301 - our own
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"source": "nowhere"}, r"catalogue\.source: expected one of 'catalogue', 'train', 'popularity'"),
        *(({"size": size}, "") for size in (0, "3")), *(({"digest": digest}, "") for digest in (None, 7)),
        ({"source": []}, ""), ({"further": 1}, ""),
    ]  # fmt: skip
    for changes, message in wrong:
        broken = state.to_dict()
        broken["catalogue"] |= changes
        with pytest.raises(exactk.InputError, match=message or r"expected the output of State\.to_dict"):
            exactk.State.from_dict(broken)


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_states_of_other_versions_are_refused_with_a_sentence(version: int) -> None:
    data = exactk.evaluate([[1]], [[1]], "ndcg@1").state.to_bytes()
    prefix = b"exactk-state\n"
    assert data[len(prefix)] == 4
    other = prefix + version.to_bytes(4, "little") + data[len(prefix) + 4 :]
    message = (
        f"state: expected version 4, found version {version}; states of other versions cannot be read: evaluate again"
    )
    with pytest.raises(exactk.InputError) as caught:
        exactk.State.from_bytes(other)
    assert str(caught.value) == message


USES: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda items: exactk.evaluate([[1]], [[1]], ["ndcg@1", "recall@1"], items=items),
    "function": lambda items: exactk.ndcg_at_k([[1]], [[1]], k=1, items=items),
    "compare": lambda items: exactk.compare([[1]], {"a": [[1]], "b": [[1]]}, "ndcg@1", items=items),
    "reference": lambda items: exactk.reference.evaluate([[1]], [[1]], "ndcg@1", items=items),
    "matching": lambda items: exactk.matching_conventions([[1]], [[1]], {"ndcg@1": 1.0}, items=items),
}


@pytest.mark.parametrize("use", USES)
def test_items_that_no_metric_reads_are_a_warning(use: str) -> None:
    with pytest.warns(exactk.EvaluationWarning, match="items has no effect on the requested metrics: leave it out"):
        USES[use](exactk.Items(5))
    with pytest.raises(exactk.InputTypeError):
        USES[use](5)  # checked all the same


@pytest.mark.parametrize("form", ["file", "frame"])
def test_items_without_users_are_a_catalogue(tmp_path: Path, form: str) -> None:
    frame = pd.DataFrame({"item": ["a", "b"]})
    frame.to_csv(tmp_path / "items.csv", index=False)
    value: Any = frame if form == "frame" else tmp_path / "items.csv"
    message = r"^items: .*; exactk\.Items\(path\) or exactk\.Items\(frame\[name\]\) has a"
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate([["a"]], [["a"]], "coverage", items=value)
