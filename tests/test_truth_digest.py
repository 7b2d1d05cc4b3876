"""The digest of the truth: one for each truth, whatever its container and order, and another for any other truth."""

from __future__ import annotations

import copy
import pickle
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from exactk import _core
from exactk._plan.metrics import evaluation_metrics
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # of keys that never match

KEYS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.one_of(st.integers(-3, 9), st.sampled_from([-(2**63), 2**31, 2**62, 2**63 - 1])),
    "uint64": st.one_of(st.integers(0, 9), st.sampled_from([2**63, 2**64 - 1])),
    "str": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
    "tuple": st.tuples(st.text(max_size=3), st.integers(-3, 9), st.binary(max_size=3)),
}
ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.one_of(st.integers(0, 9), st.sampled_from([2**31, 2**62, 2**63 - 1])),
    "str": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
}
GRADES = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 5e-324, 1e100])
CONVENTION = {"negative_grades": "unjudged", "duplicate_truth": "max"}


def digest_of(truth: Any, predictions: Any = None, evaluate: Any = exactk.evaluate, **options: Any) -> int:
    """Return the digest of a truth, beside the predictions that it could have itself."""
    digest = evaluate(
        truth, copy.copy(truth) if predictions is None else predictions, "P@1", **options
    ).state.truth_digest
    assert type(digest) is int
    assert 0 <= digest < 2**128
    return digest


@st.composite
def truths(draw: st.DrawFn, *, graded: bool | None = None) -> dict[Any, Any]:
    """Draw a truth by key, with grades for all items or for none."""
    keys, items = draw(st.sampled_from([*KEYS.values()])), draw(st.sampled_from([*ITEMS.values()]))
    if draw(st.booleans()) if graded is None else graded:
        rows: Any = st.dictionaries(items, GRADES, max_size=6)
    else:
        rows = st.lists(items, max_size=6, unique=True)
    return draw(st.dictionaries(keys, rows, min_size=1, max_size=6))


def items_of(row: Any) -> dict[Any, float]:
    return {item: grade + 0.0 for item, grade in row.items()} if isinstance(row, dict) else dict.fromkeys(row, 1.0)


def lists_of(truth: dict[Any, Any]) -> dict[Any, list[Any]]:
    return {user: list(row) for user, row in truth.items()}


def meaning(truth: dict[Any, Any]) -> dict[Any, dict[Any, float]]:
    """Return the users with items, and the grade of each item."""
    return {user: items_of(row) for user, row in truth.items() if len(row)}


@pytest.mark.parametrize(
    ("truth", "digest"),
    [
        ({"ann": {"film": 1.0, "song": 2.0}, "bob": {"film": 1.0}}, 0x568DFA878F53087E753014AA1F65C798),
        ({3: [5, 9], -1: [7]}, 0x4AC89515118E8CF3F5E0FB0EECA537B4),
        ([[1, 4], [], [21]], 0x2D2CBA23FFBC1E8715D6B59EDCB3B050),
        ({("a", 7): [1]}, 0x32927DA6F7237ED267B925C4DAEEC2E8),
        ({b"\xff": [2**63 - 1]}, 0x1A0325E7819C55C6ED5CC923838F9120),
        ([[], []], 0),
    ],
)
def test_known_digests(truth: Any, digest: int) -> None:
    """States keep digests, so these never change."""
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        assert digest_of(truth, evaluate=evaluate) == digest


@settings(max_examples=examples(300))
@given(truths())
def test_the_core_has_the_digest_of_the_definition(truth: dict[Any, Any]) -> None:
    lists = lists_of(truth)
    scored = {user: dict.fromkeys(row, 0.5) for user, row in truth.items()} | {next(iter(truth)): {}}
    for predictions in (lists, scored):
        options = {"convention": CONVENTION}
        digest = digest_of(truth, predictions, **options)
        assert digest == digest_of(truth, predictions, exactk.reference.evaluate, **options)


@settings(max_examples=examples(300))
@given(truths(), truths())
def test_two_truths_have_one_digest_only_if_they_mean_the_same(one: dict[Any, Any], other: dict[Any, Any]) -> None:
    backwards = {
        user: dict(reversed(row.items())) if isinstance(row, dict) else row[::-1] for user, row in reversed(one.items())
    }
    kinds = [type(next(iter(truth))) for truth in (one, other)]
    items = {type(item) for truth in (one, other) for row in truth.values() for item in row}
    digests = [digest_of(truth, lists_of(truth), convention=CONVENTION) for truth in (one, backwards, other)]
    assert digests[0] == digests[1]
    is_same = meaning(one) == meaning(other) and (kinds[0] is kinds[1] or not meaning(one)) and len(items) < 2
    assert (digests[0] == digests[2]) == is_same


@pytest.mark.parametrize(
    "other",
    [
        {"ann": {"film": 1.0, "song": 2.0}},
        {"ann": {"film": 1.0, "song": 2.0}, "bob": {"film": 2.0}},
        {"ann": {"film": 2.0, "song": 1.0}, "bob": {"film": 1.0}},
        {"ann": {"film": 1.0}, "bob": {"film": 1.0, "song": 2.0}},
        {"bob": {"film": 1.0, "song": 2.0}, "ann": {"film": 1.0}},
        {"ann": {"film": 1.0, "song": 2.0}, "eve": {"film": 1.0}},
        {"ann": {"film": 1.0, "song": 2.0}, "bob": {"film": 1.0, "book": 0.0}},
        {"ann": {"film": 1.0, "song": 2.0}, "bob": {"film": 1.0}, "eve": {"film": 1.0}},
        {b"ann": {"film": 1.0, "song": 2.0}, b"bob": {"film": 1.0}},
        {"ann": {b"film": 1.0, b"song": 2.0}, "bob": {b"film": 1.0}},
    ],
)
def test_any_change_is_another_truth(other: Any) -> None:
    truth = {"ann": {"film": 1.0, "song": 2.0}, "bob": {"film": 1.0}}
    assert digest_of(truth) != digest_of(other, lists_of(other))


def test_keys_of_other_kinds_are_other_keys() -> None:
    users: list[Any] = [5, -1, 2**64 - 1, "5", b"5", ("5",), ("5", "5"), (5, "5"), ("5", 5), "", b"", "5\0", "\ud800"]
    digests = [digest_of({user: [1]}) for user in users]
    assert digests[3] == digests[5]  # a key of one part is that part
    assert len(set(digests)) == len(digests) - 1
    assert digest_of({0: [1]}) != digest_of([[1]])
    items: list[Any] = [5, "5", b"5", 2**63 - 1]
    assert len({digest_of({1: [item]}) for item in items}) == len(items)
    assert digest_of({1: [0]}) != digest_of({1: {0: 0.0}})
    assert digest_of({1: {0: 0.0}}) not in {0, digest_of({1: {}})}


def test_what_adds_nothing_to_a_truth() -> None:
    truth = {"ann": ["film", "song"], "bob": ["film"]}
    digest = digest_of(truth)
    assert digest_of(truth | {"eve": []}, truth) == digest
    assert digest_of(truth, truth | {"eve": ["book"]}) == digest
    assert digest_of(truth, {"ann": ["film"]}) == digest
    options: Any
    for options in (
        {"exclude": {"ann": ["song"]}},
        {"candidates": ["film", "book"]},
        {"weights": {"ann": 2.0, "bob": 1.0}},
        {"groups": {"ann": "x", "bob": "y"}},
        {"convention": {"users": "both", "empty_truth": "skip", "min_grade": 0.5}},
        {"per_user": True},
    ):
        assert digest_of(truth, **options) == digest


def test_no_grades_are_grades_of_1() -> None:
    """They are the same truth wherever there is a report: every value and count is the same."""
    metrics = [
        name if info.pairwise else f"{name}@3" for name, info in evaluation_metrics.items() if not info.parameter
    ]
    rng = np.random.default_rng(7)
    lists = {user: rng.permutation(9)[:6].tolist() for user in range(30)}
    truth = {user: rng.permutation(9)[: rng.integers(0, 5)].tolist() for user in range(30)}
    tags = {item: [f"tag {item % 4}"] for item in range(9)}
    items = exactk.Items(train=lists, item_groups={item: item % 2 for item in range(9)}, features=tags)
    graded = {user: dict.fromkeys(row, 1.0) for user, row in truth.items()}
    scores = exactk.Scores(rng.random((30, 9)), users=list(range(30)), items=list(range(9)))
    for predictions in (lists, scores):
        for convention in ({}, {"gain": "exp2"}, {"min_grade": 0.5}):
            options: Any = {"items": items, "convention": convention, "base_predictions": predictions}
            one, other = (exactk.evaluate(given, predictions, metrics, **options) for given in (truth, graded))
            assert one.state == other.state


# --- one digest in every container, in parts, by any engine


USERS: dict[str, list[Any]] = {
    "int": [7, -3, 2**40, 0],
    "str": ["ann", "bob", "", "eve"],
    "bytes": [b"a", b"\xff", b"", b"e"],
}
ROWS: dict[str, list[list[Any]]] = {
    "int": [[1, 4, 2**40], [4], [0], [21, 1]],
    "str": [["film", "song", "up"], ["song"], [""], ["x" * 40, "film"]],
}


def long_rows(users: list[Any], rows: list[list[Any]]) -> list[tuple[Any, Any, float]]:
    """Return rows of user, item and grade, mixed."""
    pairs = zip(users, rows, strict=True)
    listed = [(user, item, float(grade)) for user, row in pairs for grade, item in enumerate(row)]
    return [listed[index] for index in np.random.default_rng(3).permutation(len(listed))]


def frame_of(users: list[Any], rows: list[list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(long_rows(users, rows), columns=["user", "item", "grade"])


def truth_of(users: list[Any], rows: list[list[Any]]) -> exactk.Truth:
    items = [item for row in rows for item in row]
    grades = [float(grade) for row in rows for grade in range(len(row))]
    return exactk.Truth(np.cumsum([0, *map(len, rows)]), items, grades, users=users)


CONTAINERS: dict[str, Callable[[list[Any], list[list[Any]]], Any]] = {
    "mapping": lambda users, rows: {
        user: {item: float(grade) for grade, item in enumerate(row)} for user, row in zip(users, rows, strict=True)
    },
    "pandas": frame_of,
    "pandas categories": lambda users, rows: frame_of(users, rows).astype({"user": "category", "item": "category"}),
    "polars": lambda users, rows: pl.DataFrame(long_rows(users, rows), ["user", "item", "grade"], orient="row"),
    "arrow": lambda users, rows: pa.Table.from_pandas(frame_of(users, rows)),
    "truth": truth_of,
    "pickled truth": lambda users, rows: pickle.loads(pickle.dumps(truth_of(users, rows))),  # noqa: S301 - just written
    "as_truth": lambda users, rows: exactk.as_truth(frame_of(users, rows)),
}


@pytest.mark.parametrize("items", ROWS)
@pytest.mark.parametrize(
    ("container", "users"),
    [(name, users) for name in CONTAINERS for users in USERS if users != "bytes" or "truth" not in name.split()],
)
def test_one_digest_in_every_container(container: str, users: str, items: str) -> None:
    keys, rows = USERS[users], ROWS[items]
    lists = dict(zip(keys, rows, strict=True))
    expected = digest_of(CONTAINERS["mapping"](keys, rows), lists)
    truth, names = CONTAINERS[container](keys, rows), sorted({item for row in rows for item in row})
    scores = np.arange(4.0 * len(names)).reshape(4, -1)
    for predictions in (
        lists,
        {user: dict.fromkeys(row, 0.5) for user, row in reversed(lists.items())},
        exactk.Scores(scores, users=keys[::-1], items=names),
    ):
        assert digest_of(truth, predictions) == expected


def test_one_digest_of_rows_without_keys() -> None:
    matrix = np.array([[0, 3.0, 1.0, 0], [0, 0, 0, 2.0], [0, 0, 0, 0]])
    sparse = scipy.sparse.csr_matrix(matrix)
    rows = [{1: 3.0, 2: 1.0}, {3: 2.0}, {}]
    lists: Any = [[1], [2], [3]]
    expected = digest_of(rows, lists)
    assert expected == digest_of(sparse, lists)
    assert expected == digest_of(exactk.Truth(sparse.indptr, sparse.indices, sparse.data), lists)
    assert expected == digest_of(exactk.Truth.from_dense(np.where(matrix == 0, np.nan, matrix)), lists)
    assert expected == digest_of(rows[::-1], lists)  # rows of shards have other numbers
    padded = np.array([[1, 2], [3, -1], [-1, -1]])
    assert digest_of([[1, 2], [3], []], lists) == digest_of(exactk.Truth.from_padded(padded), lists)
    assert digest_of([[1, 2], [3], []], lists) == digest_of(padded, lists)
    labelled = exactk.Truth(sparse.indptr, sparse.indices, sparse.data, users=["a", "b", "c"])
    keyed, keyed_lists = (dict(zip("abc", one, strict=True)) for one in (rows, lists))
    assert digest_of(labelled, lists) == digest_of(keyed, keyed_lists)


@pytest.fixture(scope="module")
def many() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return 3,000 users with string keys, some of whom only the truth or only the predictions have."""
    rng = np.random.default_rng(7)
    truth: dict[str, Any] = {}
    for user in range(3000):
        items = [f"item {item}" for item in rng.choice(500, rng.integers(0, 9), replace=False)]
        truth[f"user {user}"] = {item: float(rng.integers(0, 4)) for item in items}
    lists = {f"user {user}": [f"item {item}" for item in rng.permutation(500)[:5]] for user in range(100, 3100)}
    return truth, lists


def test_f22_one_digest_by_threads_instructions_blocks_batches_and_shards(
    many: tuple[dict[str, Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, lists = many
    expected = digest_of(truth, lists)
    for isa in _core.isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        assert {digest_of(truth, lists, num_threads=threads) for threads in (1, 2, 7)} == {expected}
    users = sorted({*truth, *lists}, key=lambda user: zlib.crc32(user.encode()))
    parts: list[Any] = [
        tuple({user: rows[user] for user in users[begin : begin + 700] if user in rows} for rows in many)
        for begin in range(0, len(users), 700)
    ]
    assert digest_of(None, iter(parts)) == expected
    compared = exactk.compare(None, iter([(part[0], {"a": part[1], "b": part[1]}) for part in parts]), "P@1")
    whole = exactk.compare(truth, {"a": lists, "b": dict(list(lists.items())[:9])}, "P@1")
    reports = [exactk.evaluate(part[0], part[1], "P@1") for part in parts]
    merged, backwards = exactk.merge(reports), exactk.merge([one.state for one in reports[::-1]])
    for report in (merged, backwards, *compared.reports.values(), *whole.reports.values()):
        assert report.state.truth_digest == expected
    assert merged.state == exactk.evaluate(truth, lists, "P@1").state
    frames = [
        pd.DataFrame([(user, item) for user, row in part[1].items() for item in row], columns=["user", "item"]).assign(
            rank=lambda frame: frame.groupby("user").cumcount() + 1
        )
        for part in parts
    ]
    assert digest_of(truth, exactk.Batches(lambda: frames)) == expected
    is_first = frames[0]["rank"] == 1
    ungrouped = [frames[0][~is_first], frames[0][is_first], *frames[1:]]
    assert digest_of(truth, exactk.Batches(lambda: ungrouped)) == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_f22_a_large_truth_by_any_number_of_threads(threads: int) -> None:
    """Several blocks of work, and a row that is longer than all others."""
    rng = np.random.default_rng(7)
    lengths = np.concatenate([rng.integers(0, 30, 60_000), [200_000]])
    indptr, items = np.concatenate([[0], np.cumsum(lengths)]), rng.integers(0, 2**62, lengths.sum())
    truth = exactk.Truth(indptr, items)
    halves = [
        exactk.Truth(indptr[begin : end + 1] - indptr[begin], items[indptr[begin] : indptr[end]])
        for begin, end in ((0, 20_001), (20_001, len(lengths)))
    ]
    digests = [_core.truth_digest(one.core, None, None, None, threads, "") for one in (truth, *halves)]
    assert digests[0] == sum(digests[1:]) % 2**128


# --- states


def test_states_merge_without_a_digest() -> None:
    state = exactk.evaluate([[1]], [[1]], "P@1").state
    old = exactk.State.from_dict({**state.to_dict(), "truth_digest": None})
    assert exactk.State.from_bytes(old.to_bytes()) == old
    assert exactk.merge([old, state]).state.truth_digest is None
    assert exactk.merge([state, old]).state.truth_digest is None


def test_digests_outlive_json_pickles_and_merges() -> None:
    truth = {"ann": ["film"], "bob": ["song"]}
    report = exactk.evaluate(truth, {**truth}, "P@1")
    digest = report.state.truth_digest
    assert digest == digest_of({"ann": ["film"]}) + digest_of({"bob": ["song"]}) & (2**128 - 1)
    for again in (
        exactk.Report.from_json(report.to_json()).state,
        exactk.State.from_bytes(report.state.to_bytes()),
        pickle.loads(pickle.dumps(report)).state,  # noqa: S301 - just written
        report._without_users().state,
    ):
        assert (again, again.truth_digest) == (report.state, digest)
    assert f'"truth_digest": "{digest:#034x}"' in report.to_json()


# --- comparisons


def test_reports_of_different_truths_are_refused() -> None:
    truth = {"ann": ["film"], "bob": ["song"]}
    others: dict[str, Any] = {
        "another split": ({"ann": ["film"], "eve": ["song"], "joe": ["film"]}, "3 users"),
        "other grades": ({"ann": {"film": 1.0}, "bob": {"song": 2.0}}, "2 users"),
        "other keys": ({1: ["film"], 2: ["song"]}, "2 users"),
        "no keys": ([["film"], ["song"]], "2 users"),
    }
    for per_user in (False, True):
        monday = exactk.evaluate(truth, {**truth}, "P@1", per_user=per_user)
        for name, (other, users) in others.items():
            lists = {user: list(row) for user, row in other.items()} if isinstance(other, dict) else [*other]
            report = exactk.evaluate(other, lists, "P@1", per_user=per_user)
            read = exactk.Report.from_json(report.to_json())
            with pytest.raises(exactk.ExactkError) as caught:
                exactk.compare_reports({"monday": monday, "again": monday, name: read})
            if per_user and name in {"other keys", "no keys"}:
                assert str(caught.value).startswith("reports: expected user keys")
                continue
            assert isinstance(caught.value, exactk.InputError)
            assert str(caught.value) == (
                "reports: expected systems evaluated on the same truth, found one truth of 'monday' (2 users) and "
                f"another of {name!r} ({users}); they may be of different splits, or differ in grades or in keys of "
                "users: evaluate all on one truth"
            )


def test_reports_of_one_truth_compare() -> None:
    truth = {"ann": ["film"], "bob": ["song"]}
    lists = {"bob": ["song"], "ann": ["song"]}
    reports = {
        "monday": exactk.evaluate(truth, {**truth}, "P@1"),
        "tuesday": exactk.evaluate(dict(reversed(truth.items())), lists, "P@1", per_user=True),
    }
    assert exactk.compare_reports(reports)["P@1"] == {"monday": 1.0, "tuesday": 0.5}


def test_reports_without_a_digest_compare_as_before() -> None:
    truth = {"ann": ["film"], "bob": ["song"]}
    data = exactk.evaluate({"ann": ["book"], "bob": ["song"]}, truth, "P@1", per_user=True).to_dict()
    data["state"]["truth_digest"] = None
    reports = {"old": exactk.Report.from_dict(data), "new": exactk.evaluate(truth, {**truth}, "P@1", per_user=True)}
    assert exactk.compare_reports(reports)["P@1"] == {"old": 0.5, "new": 1.0}


# --- the core


def test_f01_the_core_refuses_what_is_no_truth() -> None:
    lists = _core.Lists(np.array([1, 2, 3]), np.array([0, 2, 3]), None, None, "truth")
    outside = _core.Lists(np.array([1, 2, 3]), np.array([0, 2, 4]), None, None, "truth")
    hashes = np.arange(9, dtype=np.uint64)
    calls: list[tuple[tuple[Any, ...], str]] = [
        ((outside, None, None, None, 1, ""), "rows within the items"),
        ((lists, np.ones(2), None, None, 1, ""), "one grade per item"),
        ((lists, None, hashes, None, 1, ""), "one user key per row"),
        ((lists, None, None, hashes[:3], 1, ""), "item codes below 3, found 3"),
        ((lists, None, None, None, 0, ""), "num_threads"),
    ]
    for arguments, message in calls:
        with pytest.raises(exactk.InputError, match=message):
            _core.truth_digest(*arguments)
    assert _core.truth_digest(lists, None, hashes[:2], hashes[:4], 1, "") > 0
