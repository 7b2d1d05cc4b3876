"""Judged lists: by the oracle's definition in every container, as the reference has them, and as metrics count them."""

from __future__ import annotations

import math
import os
import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import exactk
from exactk._options import JudgeOptions
from oracle import STRICT, User, judged_list
from oracle_cases import Case, draw_case
from strategies import Evaluation, evaluations, examples

CASES = int(os.environ.get("EXACTK_ORACLE_CASES", "10000")) // 10
CHUNKS = 20


def judge_quietly(*arguments: Any, judge: Any = exactk.judge, **options: Any) -> exactk.results.JudgedLists:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        judged = judge(*arguments, **options)
    assert isinstance(judged, exactk.results.JudgedLists)
    return judged


def check_user(judged: exactk.results.JudgedLists, row: int, user: User, rules: Any) -> None:
    expected = judged_list(user, rules)
    slots = {slot.position: slot for slot in expected.slots}
    assert judged.in_truth[row] == (user.truth is not None)
    assert judged.has_list[row] == user.has_list
    assert judged.lengths[row] == expected.length(judged.k)
    assert judged.relevant[row] == len(expected.relevant)
    for rank in range(1, judged.k + 1):
        item, grade, hit = (array[row, rank - 1] for array in (judged.items, judged.grades, judged.hits))
        slot = slots.get(rank)
        assert item in ({None, -1} if slot is None else {slot.item}), (rank, item, slot)
        assert hit == (slot is not None and slot.is_relevant)
        expected_grade = math.nan if slot is None or slot.grade is None else float(slot.grade)
        assert grade == pytest.approx(expected_grade, nan_ok=True, abs=0)


def check_case(case: Case, k: int, ties: Any) -> None:
    truth, predictions, options = case.form.build(case.users)
    convention = case.convention.replace(ties=ties)
    options = {name: option for name, option in options.items() if name in JudgeOptions.__annotations__}
    try:
        judged = judge_quietly(truth, predictions, k, convention=convention, **options)
    except exactk.InputError:
        evaluation = Evaluation(truth, predictions, [f"num_hits@{k}"], {"convention": convention, **options})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            with pytest.raises(exactk.InputError):
                evaluation.run()
        return
    keys = range(len(judged)) if judged.users is None else judged.users.tolist()
    users = {key: case.users.get(key, User(None)) for key in keys}
    if judged.users is not None:
        assert {key for key, user in case.users.items() if user.truth is not None or user.has_list} <= set(keys)
    for row, user in enumerate(users.values()):
        check_user(judged, row, user, convention.rules(""))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_lists_are_those_of_the_definition_in_every_container(chunk: int) -> None:
    checked = 0
    for number in range(chunk, CASES, CHUNKS):
        case, rng = draw_case(number), random.Random(number)  # noqa: S311 - drawn, and not secret
        if case.form.in_blocks or case.form.predictions == "batches":
            continue
        k, ties = rng.choice([1, 2, 3, 7]), rng.choice(sorted(STRICT - {"input_order"}))
        try:
            check_case(case, k, ties)
        except Exception as error:
            error.add_note(f"case {number}: k={k}, ties={ties}\n{case}")
            raise
        checked += 1
    assert checked >= CASES // CHUNKS // 3


@settings(max_examples=examples(300))
@given(evaluations())
def test_the_reference_has_the_same_lists(evaluation: Evaluation) -> None:
    options = {name: one for name, one in evaluation.options.items() if name in {"convention", "exclude"}}
    outcomes: list[Any] = []
    for judge in (exactk.judge, exactk.reference.judge):
        try:
            outcomes.append(judge_quietly(evaluation.truth, evaluation.predictions, 3, judge=judge, **options))
        except exactk.InputError as error:
            outcomes.append(error)
    core, reference = outcomes
    assert type(core) is type(reference), (core, reference)
    if isinstance(core, exactk.results.JudgedLists):
        for name in ("codes", "grades", "hits", "lengths", "relevant", "in_truth", "has_list"):
            np.testing.assert_array_equal(getattr(core, name), getattr(reference, name), err_msg=name)


@pytest.mark.parametrize("isa", exactk._core.isas())
@pytest.mark.parametrize("num_threads", [1, 3])
def test_metrics_count_the_same_hits(isa: str, num_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXACTK_ISA", isa)
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 50, (300, 200)).astype(np.float32)  # with many ties
    truth = [np.flatnonzero(row) for row in rng.random((300, 200)) < 0.1]
    exclude = [np.flatnonzero(row) for row in rng.random((300, 200)) < 0.2]
    judged = judge_quietly(truth, scores, 10, exclude=exclude, num_threads=num_threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = exactk.evaluate(truth, scores, ["num_hits@10", "ndcg@10"], exclude=exclude, per_user=True)
    assert judged.hits.sum(axis=1).tolist() == report.per_user["num_hits@10"].tolist()
    discounts = 1 / np.log2(np.arange(2, 12))
    ideal = np.array([discounts[: min(10, count)].sum() for count in judged.relevant])
    np.testing.assert_allclose((judged.hits * discounts).sum(axis=1) / ideal, report.per_user["ndcg@10"], rtol=1e-12)
    best = exactk.topk(scores, 10, exclude=exclude)
    assert judged.items.tolist() == best.items.tolist()


def test_blocks_are_the_whole() -> None:
    rng = np.random.default_rng(5)
    truth = {f"u{i}": rng.integers(0, 30, 4).tolist() for i in range(57)}
    lists = {f"u{i}": rng.permutation(30)[:9].tolist() for i in range(3, 60)}
    convention = {"duplicate_truth": "first"}
    whole = exactk.judge(truth, lists, 5, convention=convention)
    for size in (1, 7, 56, 57, 1000):
        blocks = list(exactk.judge(truth, lists, 5, block_users=size, convention=convention))
        assert [block.first_user for block in blocks] == list(range(0, 60, size))
        for name in ("items", "grades", "hits", "lengths", "relevant", "in_truth", "has_list", "users"):
            of_blocks = np.concatenate([getattr(block, name) for block in blocks])
            np.testing.assert_array_equal(of_blocks, getattr(whole, name))
    assert whole.in_truth.sum() == 57
    assert whole.has_list.sum() == 57


def test_no_users() -> None:
    judged = exactk.judge([], [], 3)
    assert (len(judged), judged.codes.shape, judged.k) == (0, (0, 3), 3)
    assert [len(block) for block in exactk.judge([], [], 3, block_users=5)] == [0]
    assert repr(judged) == "judged lists of 0 users at k=3: 0 items, 0 hits"


def test_arrays_cannot_be_written_to() -> None:
    judged = exactk.judge({"a": ["x"]}, {"a": ["x"]}, 1)
    for name in ("codes", "items", "grades", "hits", "lengths", "relevant", "in_truth", "has_list"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(judged, name)[0] = 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1]], [[1]], 0), {}, "k: expected a cutoff in"),
        (([[1]], [[1]], 2.0), {}, "k: expected an integer"),
        (([[1]], [[1, 1]], 2), {}, "predictions: expected each item once in a list, found item 1 again at row 0, pos"),
        (([[1]], np.array([[0.5, 0.5]]), 2), {"convention": {"ties": "optimistic"}}, "convention: expected ties of 'l"),
        ((iter([]), iter([([[1]], [[1]])]), 2), {}, "predictions: expected the predictions of all users"),
        ((None, [[1]], 2), {}, "truth: expected the relevant items of each user, found None"),
        (([[1]], [[1], [2]], 2), {}, "predictions: expected"),
    ],
)
def test_faults(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        exactk.judge(*arguments, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("size", "message"), [(0, "at least 1, found 0"), (2.5, "an integer, found 2.5"), (True, "an integer")]
)
def test_faults_of_blocks_come_with_the_call(size: Any, message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        exactk.judge([[1]], [[1]], 1, block_users=size)
    with pytest.raises(exactk.InputError, match="each item once"):
        exactk.judge([[1]], [[1, 1]], 1, block_users=5)


def test_disjoint_ids_warn() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no item of the truth"):
        exactk.judge({"a": ["x"]}, {"a": ["y"]}, 1)


def test_progress_counts_users() -> None:
    calls: list[tuple[int, int | None]] = []
    exactk.judge([[1]] * 10, [[1]] * 10, 1, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (10, 10)


def test_a_kept_block_keeps_its_own_users_alone() -> None:
    truth = {f"u{i}": [1] for i in range(1000)}
    (first, *_) = exactk.judge(truth, {user: [1, 2] for user in truth}, 1, block_users=10)
    assert first.users is not None
    for array in (first.users, first.in_truth, first.has_list):
        assert array.base is None or len(array.base) == 10


def test_the_list_of_one_user() -> None:
    judged = exactk.judge({"ann": ["x", "y"], "bob": ["y"]}, {"bob": ["z", "y"], "ann": ["x"]}, 2)
    assert judged["bob"].items.tolist() == [["z", "y"]]
    assert judged["bob"].hits.tolist() == [[False, True]]
    assert judged["ann"].to_pandas().to_dict("list") == {
        "user": ["ann"], "rank": [1], "item": ["x"], "grade": [1.0], "hit": [True],
    }  # fmt: skip
    assert [*judged] == ["ann", "bob"]
    assert ("ann" in judged, "eve" in judged, ["ann"] in judged) == (True, False, False)
    for absent in ("eve", 0, ["bob"]):
        with pytest.raises(KeyError, match="no list of user"):
            judged[absent]
    blocks = list(exactk.judge([[1], [2], [3]], [[1], [3], [3]], 1, block_users=2))
    assert blocks[1][2].hits.tolist() == [[True]]
    assert blocks[1][2].first_user == 2
    assert [[*block] for block in blocks] == [[0, 1], [2]]
    with pytest.raises(KeyError, match="no list of user 1"):
        blocks[1][1]
    with pytest.raises(KeyError, match="no list of user True"):
        blocks[0][True]


def test_items_without_a_grade() -> None:
    truth = {"ann": {"x": 1.0, "y": 0.0}, "bob": {"z": 1.0}, "eve": {"x": 1.0}}
    lists = {"ann": ["u", "y", "v", "w"], "bob": ["z"], "dan": ["x"], "eve": ["x", "v", "x", "v"]}
    judged = exactk.judge(truth, lists, 3, convention={"duplicate_items": "first"})
    assert judged.unjudged_items() == {"ann": ["u", "v"], "eve": ["v"], "dan": ["x"]}
    assert exactk.judge([[1], [2]], [[1], [5, 2]], 2).unjudged_items() == {1: [5]}
    assert exactk.judge([[1]], [[1]], 1).unjudged_items() == {}


def test_warnings_speak_of_hits() -> None:
    message = r"^the order of ties changes the number of hits for 2 of 2 users \(ties='lowest_id' in use\)$"
    with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
        exactk.judge([[1], [0]], np.zeros((2, 4)), 2)
    assert len(caught) == 1


def test_lists_shorter_than_k_are_no_reason_to_warn() -> None:
    exactk.judge([[1], [2]], [[1], [3]], 20)
    exactk.evaluate([[1], [2]], [[1], [3]], ["list_fill@20", "user_coverage@20"])


def test_errors_name_no_metrics() -> None:
    with pytest.raises(exactk.InputError, match=r"^convention: expected min_grade of 0 or more"):
        exactk.judge([{1: 1.0}], [[1]], 2, convention={"negative_grades": "unjudged", "min_grade": "any"})


EMPTY = pd.DataFrame(columns=["user", "item"])


@pytest.mark.parametrize(
    "empty", [EMPTY, EMPTY.astype({"user": "int64", "item": "string"}), exactk.as_exclusions(EMPTY)]
)
def test_empty_columns_of_text_make_no_keys_of_integers(empty: Any) -> None:
    """As of an ordinary frame of nothing to exclude."""
    truth, lists = {1: [3]}, {1: [3, 9]}
    assert exactk.evaluate(truth, lists, "recall@2", exclude=empty)["recall@2"] == 1.0
    assert exactk.judge(truth, lists, 2, exclude=empty).items.tolist() == [[3, 9]]
    assert exactk.topk({1: {3: 1.0, 9: 2.0}}, k=2, exclude=empty).items.tolist() == [[9, 3]]
    values = exactk.compare(truth, {"a": lists, "b": {1: [9, 8, 3]}}, "recall@2", exclude=empty)["recall@2"]
    assert values == {"a": 1.0, "b": 0.0}


def test_an_empty_truth_of_text_columns() -> None:
    assert judge_quietly(EMPTY, {1: [3, 9]}, 2).items.tolist() == [[3, 9]]
    with pytest.raises(exactk.InputError, match="found item 0 again"):
        exactk.evaluate(EMPTY, {1: [0, 0]}, "recall@2")
