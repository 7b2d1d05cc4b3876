"""Predictions in batches: cut anywhere, the report is that of the whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk
from strategies import in_pairs
from warned import result_and_warnings

METRICS = ["ndcg@10", "recall@[5,10]", "auc", "num_hits@5"]
USERS, LENGTH = 120, 9


class BatchCase:
    """Users with integers or strings as keys, with lists, truth and exclude that overlap in part."""

    def __init__(self, *, string_keys: bool, ranked: bool = False) -> None:
        random = np.random.default_rng(7)
        user, item = ("user {}".format, "item {}".format) if string_keys else (int, int)
        users = np.repeat(random.permutation(USERS), LENGTH)
        items = np.concatenate([random.choice(60, LENGTH, replace=False) for _ in range(USERS)])
        ranks, scores = np.tile(np.arange(LENGTH)[::-1], USERS), random.integers(0, 9, USERS * LENGTH) / 8
        order = {"rank": ranks} if ranked else {"score": scores}
        self.frame = pl.DataFrame({"user": map(user, users), "item": map(item, items), **order})
        self.truth = {
            user(u): {item(i): int(i) % 3 for i in random.choice(70, 5, replace=False)}
            for u in random.permutation(USERS + 20)[:100]
        }
        self.options: dict[str, Any] = {
            "exclude": {user(u): [item(i) for i in random.choice(60, 3)] for u in random.permutation(USERS + 40)[:90]},
            "weights": {key: 1 + index % 5 for index, key in enumerate(self.truth)},
            "groups": {key: index % 3 for index, key in enumerate(self.truth)},
            "per_user": True,
        }

    def evaluate(self, predictions: Any, call: Callable[..., Any] = exactk.evaluate, **options: Any) -> Any:
        """Return the report, or what another call gives, without warnings."""
        return result_and_warnings(partial(call, self.truth, predictions, METRICS, **self.options, **options))[0]


def cut(frame: pl.DataFrame, size: int) -> exactk.Batches:
    def parts() -> Iterator[pl.DataFrame]:
        return (frame[begin : begin + size] for begin in range(0, len(frame), size))

    return exactk.Batches(parts)


@pytest.mark.parametrize(
    ("size", "string_keys", "ranked"), in_pairs([1, 7, LENGTH, 97, 2000], [False, True], [False, True])
)
def test_f38_users_cut_by_borders(*, string_keys: bool, ranked: bool, size: int) -> None:
    case = BatchCase(string_keys=string_keys, ranked=ranked)
    assert case.evaluate(cut(case.frame, size)) == case.evaluate(case.frame)


@pytest.mark.parametrize("string_keys", [False, True])
def test_f38_rows_in_any_order_are_read_whole(*, string_keys: bool) -> None:
    case = BatchCase(string_keys=string_keys)
    shuffled = case.frame.sample(fraction=1, shuffle=True, seed=3)
    report, whole = case.evaluate(cut(shuffled, 100)), case.evaluate(case.frame)
    assert report.state == whole.state
    assert dict(zip(report.users.tolist(), report.per_user["ndcg@10"], strict=True)) == pytest.approx(
        dict(zip(whole.users.tolist(), whole.per_user["ndcg@10"], strict=True)), nan_ok=True
    )


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f44_a_part_of_a_list_is_not_refused_for_what_the_whole_has_not() -> None:
    """The first rows of ann look like all of them: a tie at rank 1, or nothing that is not excluded."""
    frame = pl.DataFrame(
        {"user": ["ann", "ann", "bob", "ann"], "item": ["a", "b", "a", "c"], "score": [1.0, 1.0, 2.0, 3.0]}
    )
    truth = {"ann": ["a"], "bob": ["a"]}
    tied: dict[str, Any] = {"convention": {"ties": "raise"}}
    excluded: dict[str, Any] = {"convention": {"empty_list": "error"}, "exclude": {"ann": ["a", "b"]}}
    for options in (tied, excluded):
        whole = exactk.evaluate(truth, frame, "recall@1", **options)
        for size in (1, 2, 3):
            assert exactk.evaluate(truth, cut(frame, size), "recall@1", **options).state == whole.state
        with pytest.raises(exactk.InputError, match=r"\(user 'ann'\)"):
            exactk.evaluate(truth, cut(frame[:3], 2), "recall@1", **options)


def test_batches_are_read_once_and_let_go() -> None:
    case = BatchCase(string_keys=False)
    read = []

    def parts() -> Iterator[pl.DataFrame]:
        for begin in range(0, len(case.frame), 50):
            read.append(begin)
            yield case.frame[begin : begin + 50]

    case.evaluate(exactk.Batches(parts))
    assert read == list(range(0, len(case.frame), 50))


def test_several_systems_in_batches() -> None:
    case = BatchCase(string_keys=True)
    whole = case.evaluate(case.frame)
    for others in ({}, {"whole": case.frame}):
        reports = case.evaluate({"batches": cut(case.frame, 50), **others}, exactk.compare).reports
        assert list(reports.values()) == [whole] * len(reports)


def test_no_batch_at_all() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="^the predictions have no users$"):
        report = exactk.evaluate({"ann": [1]}, exactk.Batches(list), "recall@5")
    assert (report["recall@5"], report.counts["missing_lists"]) == (0, 1)


def test_batches_that_do_not_belong_together() -> None:
    others: list[tuple[dict[str, Any], type[exactk.ExactkError], str]] = [
        ({"user": [2], "item": [2], "rank": [1]}, exactk.InputError, "batches with the same columns"),
        ({"user": [2], "item": ["a"], "score": [1.0]}, exactk.InputError, "batches with the same columns"),
        ({"user": ["a"], "item": [2], "score": [1.0]}, exactk.InputTypeError, "type int, as in the truth, found str"),
    ]
    for other, error, message in others:
        frames = [pl.DataFrame({"user": [1], "item": [2], "score": [0.5]}), pl.DataFrame(other)]
        with pytest.raises(error, match=message):
            exactk.evaluate({1: [2]}, exactk.Batches(frames.copy), "recall@5")
    with pytest.raises(exactk.InputTypeError, match="callable"):
        exactk.Batches([])  # type: ignore[arg-type]


def test_weights_of_users_who_are_not_in_the_truth() -> None:
    case = BatchCase(string_keys=False)
    with pytest.raises(exactk.InputError, match="weights: expected a weight for every user in the mean of ndcg@10"):
        case.evaluate(cut(case.frame, 50), convention=exactk.conventions["standard"].replace(users="union"))


def test_batches_without_rows_may_be_of_other_types() -> None:
    frame = pl.DataFrame({"user": [1, 1], "item": [5, 6], "score": [2**53 + 1, 2**53]})
    for dtype in (pl.String, pl.Null):
        empty = pl.DataFrame(schema=dict.fromkeys(frame.columns, dtype))
        assert exactk.evaluate({1: [5]}, exactk.Batches([empty, frame, empty].copy), "P@1")["P@1"] == 1


def test_rows_that_are_arrays_of_strings_or_columns() -> None:
    rows = {"ann": np.array(["a", "b"]), "bob": pl.Series(["c"]), "eve": np.array(["d"], object)}
    assert exactk.evaluate({"ann": ["b"], "bob": ["c"], "eve": ["d"]}, rows, "mrr")["mrr"] == pytest.approx(2.5 / 3)


def test_f38_a_user_in_two_parts_is_refused() -> None:
    def block(user: str) -> tuple[Any, Any]:
        return {user: ["x"]}, {user: ["x"]}

    assert exactk.evaluate(None, iter([block("ann"), block("bob")]), "recall@5").counts["users"] == 2
    with pytest.raises(exactk.StateMismatchError, match="expected each user in one block, found 'ann' in several; "):
        exactk.evaluate(None, iter([block("ann"), block("bob"), block("ann")]), "recall@5")
    report = exactk.evaluate(*block("ann"), "recall@5")
    with pytest.raises(exactk.StateMismatchError, match="found 'ann' in several; "):
        exactk.merge([report, report])


def test_a_user_of_the_predictions_alone_is_in_its_part() -> None:
    """Parts of the truth, each with all predictions."""
    lists = {"ann": ["x"], "bob": ["y"], "cy": ["z"]}
    parts = [exactk.evaluate({user: lists[user]}, lists, "recall@5") for user in lists]
    hint = "users of the predictions count too: split truth and predictions by user"
    with pytest.raises(exactk.StateMismatchError, match=f"in one part, found '.*' in several; {hint}$"):
        exactk.merge(parts)


def test_merged_reports_have_the_users_in_the_order_of_the_parts() -> None:
    lists = {"ann": ["x", "y"], "bob": ["y"], "cy": ["w", "z", "y"]}
    truth = {user: ["y"] for user in lists}
    whole = exactk.evaluate(truth, lists, "mrr")
    ann, bob, cy = (exactk.evaluate({user: truth[user]}, {user: lists[user]}, "mrr") for user in lists)
    assert exactk.merge([ann, bob, cy]) == whole
    other = exactk.merge([cy, ann, bob])
    assert other.users.tolist() == ["cy", "ann", "bob"]
    assert other != whole
    assert (other.state, dict(other)) == (whole.state, dict(whole))


def test_batches_without_rows_change_nothing() -> None:
    columns = {"user": pl.Categorical, "item": pl.Categorical, "score": pl.Float32}
    frame = pl.DataFrame({"user": ["ann", "bob"], "item": ["x", "y"], "score": [0.5, 0.25]}, schema_overrides=columns)
    parts, truth = [frame[:0], frame[:1], frame[:0], frame[1:], frame[:0]], {"ann": ["x"], "bob": ["x"]}
    expected = exactk.evaluate(truth, frame, "recall@5")
    assert exactk.evaluate(truth, exactk.Batches(parts.__iter__), "recall@5") == expected


def test_f05_batches_of_several_types_are_joined_exactly() -> None:
    def evaluate(column: str, *values: np.generic) -> float:
        rows = [{"user": "ann", "item": index, "score": index, column: value} for index, value in enumerate(values)]
        frames = [pl.DataFrame({name: np.array([value]) for name, value in row.items()}) for row in rows]
        return exactk.evaluate({"ann": [1]}, exactk.Batches(frames.__iter__), "recall@1")["recall@1"]

    assert evaluate("item", np.uint64(2), np.int64(1)) == 1
    with pytest.raises(exactk.InputError, match=r"predictions.item: .* found 9223372036854775808 in one batch and int"):
        evaluate("item", np.uint64(2**63), np.int64(1))
    assert evaluate("score", np.int64(2**53), np.float64(2.0**53 + 2)) == 1
    with pytest.raises(exactk.InputError, match=r"predictions.score: expected integers from -2\^53 to 2\^53"):
        evaluate("score", np.int64(2**53 + 1), np.float64(2.0**53))


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("users", [["eve", "bob", "ann", "ann"], ["ann", "eve", "bob", "ann"]])  # together, or not
def test_faults_in_batches_name_the_user(users: list[str], size: int) -> None:
    def assert_refused(message: str, items: list[str], **order: Any) -> None:
        frame = pl.DataFrame({"user": users, "item": items, **order})
        with pytest.raises(exactk.InputError, match=message):
            exactk.evaluate({"ann": ["z"], "bob": ["x"]}, cut(frame, size), "recall@5")

    alike = ["x" if user == "ann" else "y" for user in users]
    assert_refused(r"found item 'x' again .*\(user 'ann'\)", alike, rank=[1, 2, 3, 4])
    assert_refused(r"found item 'x' again .*\(user 'ann'\)", alike, score=[1, 2, 3, 4])
    assert_refused(r"distinct ranks, found 1 twice .*\(user 'ann'\)", ["a", "b", "c", "d"], rank=[1, 1, 1, 1])
    assert_refused(
        r"found NaN .*\(user 'bob'\)", ["a", "b", "c", "d"], score=[0.0 if user != "bob" else np.nan for user in users]
    )


def test_weights_and_groups_of_users_whom_only_batches_name() -> None:
    frame = pl.DataFrame({"user": ["eve", "bob"], "item": [1, 2], "rank": [1, 1]})
    truth = {"bob": [2], "ann": [1]}
    options: dict[str, Any] = {"convention": {"users": "union", "empty_truth": "compute"}}
    options |= {"weights": {"ann": 1, "bob": 2, "eve": 4}, "groups": {"bob": 0, "ann": 1, "eve": 2}}
    report = exactk.evaluate(truth, cut(frame, 1), "recall@5", **options)
    assert report == exactk.evaluate(truth, frame, "recall@5", **options)
    assert (report["recall@5"], set(report.by_group)) == (2 / 7, {0, 1, 2})


def _frame(users: str) -> pl.DataFrame:
    return pl.DataFrame({"user": list(users), "item": [1] * len(users), "rank": range(1, len(users) + 1)})


@pytest.mark.parametrize("frames", [["aab", "bcc", "dda"], ["ab", "a"]], ids=["of several users", "of one"])
@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_batches_that_can_be_read_only_once(frames: list[str], evaluate: Any) -> None:
    """Users whose rows are apart need a second reading, which found what the first had left."""
    truth = {user: [2] for user in "abcd"}
    arrow = pa.concat_tables([_frame(users).to_arrow() for users in frames]).to_reader()
    for once in (iter(map(_frame, frames)), arrow):
        with pytest.raises(
            exactk.InputError, match="source: expected frames anew in each call, found an iterator that"
        ):
            evaluate(truth, exactk.Batches(itertools.repeat(once).__next__), "recall@1")
    rest = map(_frame, frames)
    batches = exactk.Batches(lambda: (frame for frame in rest))
    with pytest.raises(exactk.InputError, match="source: expected the same frames in each call, found "):
        evaluate(truth, batches, "recall@1")


def test_batches_that_were_read_before() -> None:
    frames = iter([_frame("a")])
    batches = exactk.Batches(lambda: frames)
    assert exactk.evaluate({"a": [1]}, batches, "recall@1")["recall@1"] == 1
    with pytest.raises(exactk.InputError, match="source: expected frames anew in each call"):
        exactk.evaluate({"a": [1]}, batches, "recall@1")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: None, "found NoneType"),
        (lambda: pd.DataFrame({"user": ["a"]}), r"found DataFrame; exactk\.Batches\(lambda: \[frame\]\) has one"),
        (lambda: _frame("a"), r"found one that returns Series"),
        (lambda: [{"a": [1]}], "found one that returns dict in batch 0"),
    ],
    ids=["None", "a frame", "a frame of Polars", "mappings"],
)
def test_batches_are_data_frames(source: Any, message: str) -> None:
    with pytest.raises(exactk.InputTypeError, match=f"source: expected a callable that returns data frames, {message}"):
        exactk.evaluate({"a": [1]}, exactk.Batches(source), "recall@1")


RUNS = [
    np.repeat(np.arange(500), 100),
    np.concatenate([np.repeat(np.arange(500), 100), np.random.default_rng(1).integers(0, 900, 30_000)]),
    np.concatenate([np.random.default_rng(1).integers(0, 900, 3000), np.repeat(np.arange(500), 1000)]),
    np.repeat(np.random.default_rng(2).integers(-(2**62), 2**62, 300), np.random.default_rng(3).integers(1, 400, 300)),
    np.repeat(np.random.default_rng(4).integers(0, 40, 5000), 9).astype(np.uint64),
    np.array([7, 7, 7]),
]


@pytest.mark.parametrize("column", RUNS)
def test_codes_of_runs_of_equal_keys_are_in_order_of_appearance(column: Any) -> None:
    codes: dict[int, int] = {}
    expected = [codes.setdefault(key, len(codes)) for key in column.tolist()]
    vocabulary = exactk._core.Vocabulary(True)
    assert vocabulary.encode_integers(column, 1, "keys").tolist() == expected
    assert vocabulary.as_integers(len(vocabulary)).tolist() == list(codes)


KEY_RANGES = [(0, 900), (700, 1500), (-400, 100), (0, 2**40), (2**63 - 500, 2**63 - 1), (500, 5000)]


def test_codes_of_columns_in_turn_are_in_order_of_appearance() -> None:
    vocabulary, codes = exactk._core.Vocabulary(True), dict[int, int]()
    generator, copies = np.random.default_rng(5), []
    for low, high in KEY_RANGES * 3:
        column = generator.integers(low, high, 1000)
        copies.append((vocabulary.copy(), dict(codes)))
        for one, expected in [(vocabulary, codes), *copies[::5]]:
            encoded = one.encode_integers(column, 1, "keys").tolist()
            assert encoded == [expected.setdefault(key, len(expected)) for key in column.tolist()]
            assert one.as_integers(len(one)).tolist() == list(expected)


def test_only_reports_and_states_merge() -> None:
    parts: Any = [exactk.evaluate([[1]], [[1]], "mrr"), {"mrr": 1.0}]
    with pytest.raises(exactk.InputTypeError, match=r"parts: expected reports and states, .*, found dict"):
        exactk.merge(parts)
