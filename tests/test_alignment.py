"""Truth, predictions of any number of systems, and exclusions: aligned by key, each copied once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk
from exactk._inputs import conversions, truth
from exactk._inputs.alignment import rows_of_users
from exactk._inputs.keys.columns import column_of_objects
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.long_format import Encoding
from exactk._inputs.model import lists
from exactk._inputs.model.rows import validated_copy

USERS = [f"user {number}" for number in range(40)]
TRUTH = {user: [f"item {number % 7}", f"item {number % 5 + 7}"] for number, user in enumerate(USERS)}
SEEN = {user: ["item 99", f"item {(number + 6) % 7}"] for number, user in enumerate([*USERS[5:], "nobody"])}


def predictions_of(system: int) -> dict[str, list[str]]:
    """Return lists of most users of the truth, and of one of the system's own."""
    users = [*USERS[system % 4 :: 2], f"only in {system}"]
    return {user: [f"item {(number * 3 + system) % 8}", "item 8", "item 11"] for number, user in enumerate(users)}


def long(rows: Mapping[str, list[Any]], value: str = "") -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"user": [], "item": []} | ({value: []} if value else {})
    for user, items in rows.items():
        for position, item in enumerate(items):
            for name, cell in zip(columns, (user, item, 1 / (position + 1)), strict=False):
                columns[name].append(cell)
    return columns


def shuffled(columns: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(columns).sample(frac=1, random_state=1)


CONTAINERS: dict[str, Callable[[dict[str, list[Any]], str], Any]] = {
    "dict": lambda rows, _: rows,
    "pandas": lambda rows, value: shuffled(long(rows, value)),
    "Polars": lambda rows, value: pl.DataFrame(long(rows, value)),
    "Arrow": lambda rows, value: pa.table(long(rows, value)),
}


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the containers that are built, and the rows that are validated."""
    counts: Counter[str] = Counter()
    freeze = lists.Lists._freeze

    def counting_freeze(self: lists.Lists, *given: Any) -> None:
        counts[type(self).__name__] += 1
        freeze(self, *given)

    def counting_validate(rows: Any, argument: str) -> Any:
        counts[f"validated {argument}"] += 1
        return validated_copy(rows, argument)

    monkeypatch.setattr(lists.Lists, "_freeze", counting_freeze)
    for module in (lists, conversions, truth):
        monkeypatch.setattr(module, "validated_copy", counting_validate)
    return counts


ONE_EACH = {"Truth": 1, "validated truth": 1, "Rankings": 1}
EXCLUSIONS = {"Exclusions": 1, "validated exclude": 1}


@pytest.mark.parametrize("container", CONTAINERS)
def test_one_call_copies_each_input_once(container: str, copies: Counter[str]) -> None:
    make = CONTAINERS[container]
    truth, predictions, seen = make(TRUTH, ""), make(predictions_of(0), "score"), make(SEEN, "")
    exactk.evaluate(truth, predictions, "ndcg@3")
    # A mapping of strings also has items with numbers of each user, beside the hashes, of which the digest is made.
    assert copies == (ONE_EACH | {"Truth": 2} if container == "dict" else ONE_EACH)
    copies.clear()
    exactk.evaluate(truth, predictions, "ndcg@3", exclude=seen)
    assert copies == ONE_EACH | EXCLUSIONS


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_comparison_copies_the_truth_and_the_exclusions_once(container: str, copies: Counter[str]) -> None:
    make = CONTAINERS[container]
    systems = {str(system): make(predictions_of(system), "score") for system in range(5)}
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        exactk.compare(make(TRUTH, ""), systems, "ndcg@3", exclude=make(SEEN, ""))
    assert copies == ONE_EACH | EXCLUSIONS | {"Rankings": 5}


def test_containers_without_keys_are_taken_as_they_are(copies: Counter[str]) -> None:
    truth, rankings = exactk.Truth([0, 2], [1, 2]), exactk.Rankings([0, 2], [2, 3])
    seen = exactk.Exclusions([0, 1], [3])
    copies.clear()
    exactk.evaluate(truth, rankings, "ndcg@2", exclude=seen)
    assert copies == {}
    exactk.evaluate(truth, [[2, 3]], "ndcg@2", exclude=[[3]])
    assert copies == {"Rankings": 1} | EXCLUSIONS


def test_f57_a_thousand_systems_are_compared() -> None:
    """Each system has a user of its own: all are evaluated on the users of all, in the order in which they come."""
    systems = {f"system {number}": predictions_of(number) for number in range(1000)}
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        comparison = exactk.compare(TRUTH, systems, ["ndcg@3", "recall@3"])
    users = [*USERS, *(f"only in {number}" for number in range(1000))]
    for number in (0, 63, 64, 999):
        name = f"system {number}"
        predictions: Any = predictions_of(number)
        alone = exactk.evaluate(TRUTH, predictions, ["ndcg@3", "recall@3"])
        assert comparison["ndcg@3"][name] == alone["ndcg@3"]
        assert comparison["recall@3"][name] == alone["recall@3"]
        assert comparison.reports[name].users.tolist() == users
        assert comparison.reports[name].counts["missing_lists"] == alone.counts["missing_lists"]


@pytest.mark.parametrize("container", ["pandas", "Arrow"])
def test_f57_systems_that_were_converted_before_are_compared(container: str) -> None:
    """Each has a vocabulary of its own, whose codes differ."""
    make = CONTAINERS[container]
    frames = {str(number): make(predictions_of(number), "score") for number in range(70)}
    systems = {name: exactk.as_predictions(frame) for name, frame in frames.items()}
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        comparison = exactk.compare(exactk.as_truth(TRUTH), systems, "ndcg@3", exclude=exactk.as_exclusions(SEEN))
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        expected = exactk.compare(TRUTH, frames, "ndcg@3", exclude=SEEN)
    assert comparison["ndcg@3"] == expected["ndcg@3"]
    assert min(comparison["ndcg@3"].values()) > 0
    assert np.array_equal(comparison.reports["69"].users, expected.reports["69"].users)


def test_a_truth_that_is_kept_gets_no_keys_of_a_call() -> None:
    truth: Any = exactk.as_truth(TRUTH)
    for system in range(3):
        predictions: Any = predictions_of(system)
        report = exactk.evaluate(truth, predictions, "ndcg@3", exclude=SEEN)
        assert report.users.tolist() == [*USERS, f"only in {system}"]
    assert len(truth.user_vocabulary.vocabulary) == len(USERS)
    assert len(truth.item_vocabulary.vocabulary) == len({item for row in TRUTH.values() for item in row})


def test_users_of_the_exclusions_alone_are_no_users() -> None:
    predictions: Any = predictions_of(1)
    for seen in (SEEN, pl.DataFrame(long(SEEN)), exactk.as_exclusions(SEEN)):
        report = exactk.evaluate(TRUTH, predictions, "ndcg@3", exclude=seen)
        assert report.users.tolist() == [*USERS, "only in 1"]


def test_labels_are_keys_beside_systems_with_keys() -> None:
    """The users of each system follow the truth's rows in all of them, also beside a system that is matched by row."""
    truth = exactk.Truth([0, 1, 2], [1, 2], users=["ann", "bob"])
    systems: dict[str, Any] = {"a": {"bob": [2], "eve": [1]}, "b": {"joe": [2], "ann": [1]}, "c": [[1], [2]]}
    with pytest.warns(exactk.EvaluationWarning, match="systems cover different users"):
        comparison = exactk.compare(truth, systems, "recall@1", per_user=True)
    for name, recalls in {"a": [0, 1], "b": [1, 0], "c": [1, 1]}.items():
        report = comparison.reports[name]
        assert report.users.tolist() == ["ann", "bob", "eve", "joe"]
        assert report.per_user["recall@1"][:2].tolist() == recalls


def vocabulary_of(*columns: list[Any]) -> Vocabulary:
    encoded = [column_of_objects(column, "keys") for column in columns]
    names = [f"part {part}" for part in range(len(columns))]
    vocabulary = Vocabulary.of_kinds([column.kind for column in encoded], names)
    vocabulary.encode(encoded, "keys")
    return vocabulary


@pytest.mark.parametrize("columns", [[["b", "a"]], [[7, -1]], [["b", "a"], [1, 1], [2, 3]]])
def test_a_snapshot_stays_as_it_is(columns: list[list[Any]]) -> None:
    vocabulary = vocabulary_of(*columns)
    snapshot, expected = vocabulary.snapshot(), vocabulary_of(*columns).snapshot()
    longer = [["much longer" if isinstance(column[0], str) else 2**40, column[0]] for column in columns]
    vocabulary.encode([column_of_objects(column, "keys") for column in longer], "keys")
    assert len(vocabulary) > len(snapshot) == len(expected)
    assert snapshot.array.dtype == expected.array.dtype
    assert snapshot.array.tolist() == expected.array.tolist()
    assert [part.tolist() for part in snapshot.by_part] == [part.tolist() for part in expected.by_part]
    if len(columns) == 1:
        assert snapshot.positions_in_key_order().tolist() == expected.positions_in_key_order().tolist() == [1, 0]
    for copy in (snapshot.copy(), vocabulary.snapshot().copy()):
        before = copy.snapshot()
        copy.encode([column_of_objects([column[0]], "keys") for column in longer], "keys")
        assert before.array[: len(snapshot)].tolist() == expected.array.tolist()
    assert vocabulary.snapshot().array[: len(snapshot)].tolist() == expected.array.tolist()


@pytest.mark.parametrize("container", [exactk.Exclusions, exactk.Truth, exactk.Rankings])
def test_labels_that_repeat_are_no_keys_of_exclusions_by_row(container: Callable[..., Any]) -> None:
    truth = exactk.Truth([0, 1, 2], [1, 2], users=["a", "a"])
    report: Any = exactk.evaluate(truth, [[5, 1], [3]], "recall@1", exclude=container([0, 1, 2], [5, 6]))
    assert report["recall@1"] == 0.5


MANY_SEEN: Any = exactk.as_exclusions({user: [f"{user} {number}" for number in range(50)] + ["b"] for user in USERS})


def test_a_block_adds_only_the_items_that_its_users_exclude() -> None:
    """Exclusions that are kept may name far more items than any block."""
    encoding = Encoding()
    encoding.users.of_kinds(["str"]).encode([column_of_objects([*USERS[:2], "new"], "truth")], "truth")
    encoding.items.of_kinds(["str"]).encode([column_of_objects(["a", "b"], "truth")], "truth")
    rows: Any = rows_of_users(MANY_SEEN.rows(), "exclude", encoding)
    keys = rows.item_vocabulary.array[rows.items]
    excluded = [keys[begin:end].tolist() for begin, end in pairwise(rows.indptr.tolist())]
    assert excluded == [[f"{user} {number}" for number in range(50)] + ["b"] for user in USERS[:2]] + [[]]
    assert len(rows.item_vocabulary) == 102


def test_blocks_beside_exclusions_that_are_kept_are_the_whole() -> None:
    truth = {user: ["a", "c"] for user in USERS}
    lists = {user: ["b", f"{user} 3", "a"] for user in USERS}
    blocks = (({user: truth[user]}, {user: lists[user]}, MANY_SEEN) for user in USERS)
    in_blocks = exactk.evaluate(None, blocks, ["recall@1", "ndcg"])
    whole = exactk.evaluate(truth, lists, ["recall@1", "ndcg"], exclude=MANY_SEEN)
    assert (dict(in_blocks), in_blocks.counts) == (dict(whole), whole.counts)
    assert whole["recall@1"] == 0.5
