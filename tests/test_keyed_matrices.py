"""Scores and embeddings whose users and items have keys: the core agrees with the reference, and faults are named."""

from __future__ import annotations

import pickle
import re
import uuid
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from strategies import examples
from test_keyed_faults import SameText

USERS, ITEMS = ["eve", "bob", "ann"], ["song", "film", "book", "game"]
VALUES = np.array([[0.5, 0.25, 0.75, 0.5], [0.125, 0.5, 0.5, 0.25], [0.25, 1.0, 0.5, 0.75]])
SCORES = exactk.Scores(VALUES, users=USERS, items=ITEMS)
TRUTH = {"ann": {"book": 2.0, "film": 1.0}, "bob": {"song": 1.0}, "kim": {"film": 1.0}}


def outcome(call: Any) -> Any:
    """Return what tells one call from another: values, counts and users, or the error."""
    try:
        report = call()
    except exactk.ExactkError as error:
        return type(error), str(error), error.row, error.position, error.count
    return report.metrics, report.per_user, report.users.tolist(), report.counts


@st.composite
def calls(draw: st.DrawFn) -> tuple[Any, Any, dict[str, Any]]:
    """Draw a truth by key, scores with keys, and options."""
    users = draw(st.permutations([f"user {number}" for number in range(6)]))
    items = draw(st.permutations([f"item {number}" for number in range(7)]))
    rows, columns = users[: draw(st.integers(0, 5))], items[: draw(st.integers(1, 6))]
    numbers = [0.0, 0.25, 0.5, 1.0, *draw(st.sampled_from([[], [], [np.nan], [np.inf]]))]
    values = np.array(draw(st.lists(st.lists(st.sampled_from(numbers), min_size=len(columns), max_size=len(columns)),
                                    min_size=len(rows), max_size=len(rows)))).reshape(len(rows), len(columns))  # fmt: skip
    row_of_items = st.lists(st.sampled_from(sorted(items)), max_size=4, unique=True)
    truth = draw(st.dictionaries(st.sampled_from(sorted(users)), row_of_items, max_size=5))
    options: dict[str, Any] = {"convention": {
        "ties": draw(st.sampled_from(["lowest_id", "highest_id", "input_order", "expected", "raise"])),
        "nan": draw(st.sampled_from(["raise", "last"])),
        "users": draw(st.sampled_from(["truth", "both", "union"])),
        "missing_list": draw(st.sampled_from(["compute", "skip", "error"])),
    }}  # fmt: skip
    if draw(st.booleans()):
        options["exclude"] = draw(st.dictionaries(st.sampled_from(sorted(users)), row_of_items, max_size=4))
    if draw(st.integers(0, 2)) == 0:
        options["candidates"] = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=4))
    if draw(st.booleans()):
        options["weights"] = dict.fromkeys(users, 2.0)
    predictions: Any = exactk.Scores(values, users=rows, items=columns)
    if draw(st.integers(0, 2)) == 0:
        predictions = exactk.Embeddings(values, np.eye(len(columns)), users=rows, items=columns)
    return truth, predictions, options


@settings(max_examples=examples(300))
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@given(call=calls())
def test_the_core_agrees_with_the_reference(call: tuple[Any, Any, dict[str, Any]]) -> None:
    truth, predictions, options = call
    metrics = ["recall@2", "ndcg@3", "reciprocal_rank"]
    core, reference = (
        outcome(lambda: evaluate(truth, predictions, metrics, per_user=True, **options))  # noqa: B023 - called at once
        for evaluate in (exactk.evaluate, exactk.reference.evaluate)
    )
    if isinstance(core[0], type):
        assert core[0] is reference[0]
        assert core[2] == reference[2]
        return
    for name, values in core[1].items():
        np.testing.assert_allclose(values, reference[1][name], rtol=1e-14)
    assert core[2:] == reference[2:]


@pytest.mark.parametrize("predictions", [
    SCORES, exactk.Embeddings(VALUES, np.eye(4), users=USERS, items=ITEMS, candidates=dict.fromkeys(USERS, ITEMS)),
], ids=["scores", "embeddings"])  # fmt: skip
def test_pickles_keep_the_keys(predictions: Any) -> None:
    loaded = pickle.loads(pickle.dumps(predictions))  # noqa: S301 - our own
    assert (loaded.users.tolist(), loaded.items.tolist()) == (USERS, ITEMS)
    assert exactk.evaluate(TRUTH, loaded, "ndcg@2") == exactk.evaluate(TRUTH, predictions, "ndcg@2")


def scores(values: Any = VALUES, **keys: Any) -> exactk.Scores:
    return exactk.Scores(values, **keys)


def evaluate(truth: Any = TRUTH, predictions: Any = SCORES, metric: str = "recall@1", **options: Any) -> Any:
    return exactk.evaluate(truth, predictions, metric, **options)


@pytest.mark.parametrize("candidates", [
    ITEMS[:3], {"bob": ITEMS[1:], "kim": [], "eve": ["game", "song"], "ann": ITEMS[2:]},
], ids=["for all", "by key"])  # fmt: skip
@pytest.mark.filterwarnings("ignore:[12] relevant items?")
def test_blocks_of_keyed_scores(candidates: Any) -> None:
    weights = {"ann": 1.0, "bob": 3.0, "kim": 2.0, "eve": 1.0}
    options = {"candidates": candidates, "exclude": {"ann": ["film"]}, "weights": weights, "per_user": True}
    whole = evaluate(**options)
    blocks = [
        ({"ann": TRUTH["ann"]}, scores(VALUES[2:, ::-1], users=["ann"], items=ITEMS[::-1])),
        ({"bob": TRUTH["bob"], "kim": TRUTH["kim"]}, scores(VALUES[:2], users=USERS[:2], items=ITEMS)),
    ]
    assert evaluate(None, iter(blocks), **options) == whole


def test_blocks_of_scores_with_item_keys_alone() -> None:
    """Candidates and exclusions of all blocks are then by row."""
    candidates, exclude = [["song"], ["film", "book"], ["song", "game"]], [["song"], [], ["film"]]
    keyed = [scores(VALUES[:2], items=ITEMS), scores(VALUES[2:, ::-1], items=ITEMS[::-1])]
    truth = [["film"], ["film"], ["song"]]
    options: dict[str, Any] = {"candidates": candidates, "exclude": exclude}
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item"):
        whole = evaluate(truth, scores(items=ITEMS), **options)
    with pytest.warns(exactk.EvaluationWarning, match="1 relevant item"):
        assert evaluate(None, iter([(truth[:2], keyed[0]), (truth[2:], keyed[1])]), **options) == whole


NAN = np.where(VALUES == 0.125, np.nan, VALUES)
VECTORS = np.eye(4)
FRAME: Any = pd.DataFrame(VALUES)
FAULTS: dict[str, tuple[Any, str]] = {
    "too few users": (lambda: scores(users=["ann"]), r"users: expected one key per row \(3\), found 1"),
    "too few items": (lambda: scores(items=ITEMS[:2]), r"items: expected one key per column \(4\), found 2"),
    "a user twice": (lambda: scores(users=["ann", "bob", "ann"]), "users: expected distinct keys, found 'ann' again at position 2"),
    "long format": (
        lambda: exactk.Scores(pd.DataFrame({"user_id": [1, 2], "movieId": [3, 4], "score": [0.5, 0.25]})),
        "values: expected users in the index and items in the columns, found the columns user_id, movieId, score; a frame",
    ),
    "a row twice": (
        lambda: exactk.evaluate({"ann": ["x"]}, pd.DataFrame({"x": [0.5, 0.25]}, index=["ann", "ann"])),
        "predictions.users: expected distinct keys, found 'ann' again at position 1",
    ),
    "items twice": (lambda: scores(items=[1, 2, 1, 2]), r"items: .* found 1 again at position 2 \(the first of 2\)"),
    "floats": (
        lambda: scores(users=[1.5, 2.5, 3.5]), r"users: expected integer ids, strings or bytes, found float64; \.astype\(int\)"
    ),
    "NaN": (lambda: scores(users=[1.0, np.nan, 2.0]), "users: .* found NaN in float64 at position 1"),
    "None": (lambda: scores(users=["a", None, "b"]), "users: expected a value in every row"),
    "flags": (lambda: scores(users=[True, False, True]), "users: expected keys of one kind"),
    "dates": (
        lambda: scores(users=pd.date_range("2026-01-01", periods=3)),
        r"users: .* found datetime64\[[a-z]+\]; \.astype\(str\) makes strings",
    ),
    "a generator": (lambda: scores(users=iter(USERS)), r"users: .* found list_iterator; users=list\(users\)"),
    "a set of keys": (lambda: scores(items=set(ITEMS)), "items: expected a list, .*, found set; a set has no order"),
    "a map of keys": (lambda: scores(items=dict.fromkeys(ITEMS, 0)), r"items: .*, found dict; items=sorted\(items, key=items\.get\) if"),
    "a frame of keys": (lambda: scores(users=pd.DataFrame({"user": USERS})), r"users: .*, found DataFrame; users=frame\[name\]"),
    "items of another kind beside columns": (
        lambda: evaluate([[1], [2], [3]], VALUES, exclude=[["a"], ["b"], ["c"]]),
        "exclude: expected items of type int, as in the truth, found str",
    ),
    "a missing date": (
        lambda: evaluate(pd.DataFrame({"user": [pd.Timestamp("2026-01-01").date(), pd.NaT], "item": ["film", "song"]}, dtype=object)),
        "truth.user: expected a value in every row, found 1 None or NaN at row 1 of the frame",
    ),
    "a missing item": (
        lambda: evaluate({"ann": [uuid.UUID(int=1), pd.NA]}), "truth: .* found NAType <NA> and another kind at row 0, position 1"
    ),
    "decimals": (
        lambda: evaluate(pd.DataFrame({"user": ["ann"], "item": ["film"], "grade": [Decimal(1)]})),
        r"truth.grade: expected numbers, found Decimal; .astype\(float\) converts them",
    ),
    "weights of decimals": (
        lambda: evaluate([[1]], [[1]], weights=[Decimal(1)]), "weights: expected integers or floats of at most 64 bits, found objects of type Decimal"
    ),
    "an Arrow array of items": (
        lambda: evaluate(pa.array(["film", "song"]), [["film"], ["song"]]),
        r"truth: expected a Series of lists, found one of string; truth=\[\[item\] for item in truth\] has a list for each user",
    ),
    "levels of other names": (
        lambda: evaluate(exclude=pd.Series([1], pd.MultiIndex.from_tuples([("ann", "film")], names=["member", "sku"]), name="size")),
        r"exclude: expected a column for the user, .*; name it, for example with user='member'",
    ),
    "items by users of several parts": (
        lambda: evaluate(pd.Series([1, 2], pd.MultiIndex.from_tuples([("ann", 1), ("bob", 2)], names=["user", "visit"]))),
        r"truth: expected a level of the index for the item, found the levels \['user', 'visit'\]; item='visit' names it, or truth=truth.reset_index\(\)",
    ),
    "users of several parts alone": (
        lambda: evaluate(pd.Series([1, 2], pd.MultiIndex.from_tuples([("ann", 1), ("bob", 2)], names=["user", "visit"])), user=["user", "visit"]),
        r"truth: expected a level of the index for the item, .*; truth=truth.reset_index\(\) is a data frame, if the values are the items",
    ),
    "vectors in a frame": (
        lambda: exactk.Embeddings(FRAME, VALUES),
        r"embeddings.user_vectors: expected a NumPy array, found DataFrame; \.to_numpy\(\) makes one",
    ),
    "a sparse matrix of scores": (
        lambda: scores(scipy.sparse.csr_array(VALUES)), r"values: expected a NumPy array, found csr_array; \.toarray\(\) makes one"
    ),
    "scores in a list of arrays": (
        lambda: evaluate([[1], [2], [3]], list(VALUES)),
        r"predictions: expected integer ids, found float64 at row 0; predictions=exactk\.Scores\(predictions\) if these are",
    ),
    "pairs in a matrix": (  # .tolist() would make a user's list of each
        lambda: evaluate(np.array([["ann", "film"]]), [["film"]]), "columns=.'user', 'item'.. pairs of users and items$"
    ),
    "a frame for each user": (
        lambda: evaluate(dict(list(pd.DataFrame({"user": ["ann"], "item": ["film"]}).groupby("user")))),
        r"truth: expected a sequence of ids, found a data frame at row 0",
    ),
    "scores by user and item": (
        lambda: evaluate(predictions={("ann", "film"): 0.5}),
        r"predictions: expected the items of each user, .*; pandas\.Series\(predictions\) has a value for each user and item",
    ),
    "a Series of scores for each user": (
        lambda: evaluate(predictions={"ann": pd.Series({"film": 0.5})}), r"predictions: .*; row\.to_dict\(\) has the scores of a row"
    ),
    "an array of scores for each user": (
        lambda: evaluate(predictions={"ann": np.array([0.5])}), r"found float64 at row 0; predictions=exactk\.Scores\(list\(predictions\.values\(\)\), users=list\(predictions\)\)"
    ),
    "rows of a frame": (
        lambda: evaluate([["film"]], [("ann", "film", 1.0)]), r"predictions: expected strings as ids, found float 1\.0 at row 0, position 2; predictions=pd\.DataFrame"
    ),
    "a matrix of keys": (lambda: scores(items=np.ones((2, 2), int)), r"expected a sequence of keys, found an array of shape"),
    "negative items": (lambda: scores(items=[3, -1, 5, 6]), r"items: expected item ids in \[0, 2\^63\), found -1 at position 1"),
    "items of several parts": (lambda: scores(items=[(1, "a"), (2, "a"), (3, "a"), (4, "b")]), "items: .* found tuples of 2"),
    "users of vectors": (lambda: exactk.Embeddings(VALUES, VECTORS, users=["ann"]), r"embeddings.users: .* user vector \(3\), found 1"),
    "items of vectors": (lambda: exactk.Embeddings(VALUES, VECTORS, items=["a"] * 4), "embeddings.items: expected distinct keys"),
    "items of neighbors": (lambda: exactk.neighbors(VECTORS, 2, items=["a"]), r"items: expected one key per vector \(4\), found 1"),
    "users of grades": (lambda: exactk.Truth.from_dense(VALUES, users=["ann"]), r"truth.users: .* one key per row \(3\), found 1"),
    "users of rows": (lambda: exactk.SparseScores([0, 1], [4], [0.5], users=["ann", "bob"]), r"one key per row \(1\), found 2"),
    "a truth by row": (lambda: evaluate([["film"]]), r"truth: .* user keys, .*; truth=dict\(zip\(users, truth\)\) adds user keys"),
    "a truth of columns": (
        lambda: evaluate(np.ones((3, 4), bool)),
        r"truth: expected user keys, .*; exactk\.Truth\.from_dense\(matrix, users=users, items=items\), or",
    ),
    "a truth of columns beside items": (
        lambda: evaluate(scipy.sparse.csr_array(np.eye(3, 4)), scores(items=[1, 2, 3, 4])),
        r"truth: expected item keys, as in the scores, found column numbers of a matrix; exactk\.Truth\.from_dense",
    ),
    "grades of columns beside items": (
        lambda: evaluate(exactk.Truth.from_dense(np.eye(3, 4)), scores(items=[1, 2, 3, 4])),
        "truth: expected item keys, as in the scores, found column numbers of a matrix",
    ),
    "exclude of columns beside items": (
        lambda: evaluate([[1], [2], [3]], scores(items=[1, 2, 3, 4]), exclude=np.eye(3, 4, dtype=bool)),
        "exclude: expected item keys, as in the scores, found column numbers of a matrix",
    ),
    "candidates of columns beside items": (
        lambda: evaluate([[1], [2], [3]], scores(items=[1, 2, 3, 4]), candidates=scipy.sparse.csr_array(np.eye(3, 4))),
        "candidates: expected item keys, as in the scores, found column numbers of a matrix",
    ),
    "exclude by row": (
        lambda: evaluate(exclude=[["film"]]), r"exclude: expected user keys, .*; exclude=dict\(zip\(users, exclude\)\) adds them"
    ),
    "weights by row": (lambda: evaluate(weights=[1.0, 2.0, 3.0]), "weights: expected entries with user keys"),
    "candidates by row": (
        lambda: evaluate(candidates=[["film"], ["song"], ["book"]]),
        r"candidates: expected user keys, .*; candidates=dict\(zip\(users, candidates\)\) adds them",
    ),
    "scores by row": (
        lambda: evaluate(predictions=VALUES),
        r"predictions: expected user keys, .*; predictions=exactk\.Scores\(predictions, users=users\) adds",
    ),
    "vectors by row": (
        lambda: evaluate(predictions=exactk.Embeddings(VALUES, VECTORS)),
        r"predictions: expected user keys, .*exactk\.Embeddings\(user_vectors, item_vectors, users=users\) adds",
    ),
    "columns by number": (
        lambda: evaluate(predictions=scores(users=USERS)),
        r"predictions: expected items of type str, .*; predictions=exactk\.Scores\(predictions, items=items\) adds",
    ),
    "users of another kind": (
        lambda: evaluate(predictions=scores(users=[1, 2, 3], items=ITEMS)), "predictions: expected users of type str, as in the truth, found int"
    ),
    "items of another kind": (
        lambda: evaluate(predictions=scores(users=USERS, items=[1, 2, 3, 4])), "predictions: expected items of type str, as in the truth, found int"
    ),
    "a candidate without a column": (
        lambda: evaluate(candidates=["film", "play", "opera"]),
        r"candidates: expected items that have scores, found item 'play' at position 1 \(the first of 2\)",
    ),
    "a user's candidate without a column": (
        lambda: evaluate(candidates={"eve": ["film"], "bob": ["song", "play"], "ann": ["book"]}),
        r"candidates: expected items that have scores, found item 'play' at row 1, position 1 \(user 'bob'\)",
    ),
    "a user without candidates": (
        lambda: evaluate(candidates={"ann": ["film"], "bob": ["song"]}),
        r"candidates: expected candidates of every user with scores, found none at row [0-9] \(user 'eve'\)",
    ),
    "candidates of another kind": (
        lambda: evaluate(candidates=[1, 2]), "candidates: expected items of type str, as in the scores, found int"
    ),
    "candidates of users of another kind": (
        lambda: evaluate(candidates={1: ["film"]}), "candidates: expected users of type str, as in the scores, found int"
    ),
    "keys of candidates alone": (
        lambda: exactk.topk(VALUES, 1, candidates=["film"]),
        r"candidates: expected column numbers, .* exactk\.Scores\(values, items=items\) has keys",
    ),
    "keys of users of candidates alone": (
        lambda: exactk.topk(VALUES, 1, candidates={"ann": [1]}),
        r"candidates: expected column numbers, .* exactk\.Scores\(values, users=users\) has keys",
    ),
    "NaN scores": (
        lambda: evaluate(predictions=scores(NAN, users=USERS, items=ITEMS)),
        r"^predictions: .*, found NaN at row 1, position 0; .* \(user 'bob', item 'song'\)$",
    ),
    "NaN scores of topk": (
        lambda: exactk.topk(scores(NAN, users=USERS, items=ITEMS), 1),
        r"^scores: .*, found NaN at row 1, position 0; .* \(user 'bob', item 'song'\)$",
    ),
    "NaN in a user vector": (
        lambda: evaluate(predictions=exactk.Embeddings(NAN, VECTORS, users=USERS, items=ITEMS)),
        r"^embeddings.user_vectors: expected finite numbers, found nan at position 0 \(user 'bob'\)$",
    ),
    "NaN in an item vector": (
        lambda: evaluate(predictions=exactk.Embeddings(VALUES, np.diag([1.0, 1.0, np.inf, 1.0]), users=USERS, items=ITEMS)),
        r"^embeddings.item_vectors: expected finite numbers, found .* at row 2, position [0-9] .*\(item 'book'\)$",
    ),
    "a frame of strings": (
        lambda: exactk.Scores(pd.DataFrame({"film": ["a"]})), "expected columns of numbers, one for each item, found column 'film'"
    ),
    "a frame of Polars": (lambda: exactk.Scores(pl.DataFrame({"film": [0.5]})), "expected an array or .*; .*users=users, items=matrix.columns"),
    "one number for each user": (
        lambda: evaluate(truth=pd.Series([0.5, 1.5], USERS[:2])), "truth.item: expected integer ids, strings or bytes, found float64"
    ),
    "an item for each user": (
        lambda: evaluate(predictions=pd.Series(ITEMS[:3], USERS)), r"; predictions=predictions\.groupby\(predictions\.index\)\.agg\(list\)"
    ),
    "a user of a Series twice": (
        lambda: evaluate(truth=pd.Series(["film", "song"], ["ann", "ann"])),
        r"truth: expected each user once, found 'ann' again at row 1; truth=truth\.groupby\(truth\.index\)\.agg\(list\)",
    ),
    "a level without a name": (
        lambda: evaluate(truth=pd.Series([1.0], pd.MultiIndex.from_tuples([("ann", "film")], names=["user", None]))),
        r"truth: expected an index with levels for .*; truth=truth\.rename_axis\(\['user', 'item'\]\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_keys(case: str) -> None:
    call, message = FAULTS[case]
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        call()


@pytest.mark.filterwarnings("ignore:1 relevant item has no column")
def test_items_that_the_scores_lack_are_warned_about() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no item of the truth .such as 'play'. .* .such as 'song'."):
        report = exactk.evaluate({"ann": ["play"]}, SCORES, "recall@1")
    assert report.counts["relevant_not_rankable"] == 1


def test_exclude_self_with_keys() -> None:
    """Whatever the order of the keys and of the truth, nobody is recommended to itself."""
    vectors, keys = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), ["c", "a", "b"]
    model = exactk.Embeddings(vectors, vectors, exclude_self=True, users=keys, items=keys)
    best = exactk.topk(model, 3)
    assert best.items.tolist() == [["a", "b", None], ["c", "b", None], ["a", "c", None]]
    truth = {"b": ["a"], "x": ["a"], "c": ["c"]}
    for call in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.warns(exactk.EvaluationWarning, match="1 relevant item is in exclude"):
            report = call(truth, model, "recall@1", per_user=True, exclude={"x": ["b"], "a": ["c"]})
        assert report.per_user["recall@1"].tolist()[:3] == [1.0, 0.0, 0.0]


KEYED_BY_NUMBER = exactk.Scores(VALUES, users=USERS, items=[1, 2, 3, 4])
"""Of which the values of a Series could be taken for items."""


@pytest.mark.parametrize("names", [["user", "item"], ["item", "user"], [None, None]], ids=str)
def test_candidates_in_a_series_by_user_and_item(names: list[str | None]) -> None:
    """As of ``groupby(["user", "item"]).size()``: the numbers are no items."""
    allowed = {"eve": [2, 3], "bob": [1, 4], "ann": [1, 3]}
    pairs = [(user, item)[:: -1 if names[0] == "item" else 1] for user, items in allowed.items() for item in items]
    sizes = pd.Series([1] * len(pairs), pd.MultiIndex.from_tuples(pairs, names=names))
    assert exactk.topk(KEYED_BY_NUMBER, 4, candidates=sizes).items.tolist() == [
        [3, 2, -1, -1], [4, 1, -1, -1], [3, 1, -1, -1],
    ]  # fmt: skip
    truth = {"ann": [1, 2], "eve": [3]}
    for evaluate_ in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.warns(exactk.EvaluationWarning, match="1 relevant item"):
            report = evaluate_(truth, KEYED_BY_NUMBER, "recall@2", candidates=sizes)
        assert report["recall@2"] == 0.75


def test_candidates_take_the_names_of_columns() -> None:
    frame = pd.DataFrame({"member": ["ann", "bob", "eve"], "sku": ["film", "song", "game"]})
    names: dict[str, Any] = {"user": "member", "item": "sku"}
    assert exactk.topk(SCORES, 1, candidates=frame, **names).items.tolist() == [["game"], ["song"], ["film"]]
    for candidates in (frame, frame.assign(n=1).set_index(["member", "sku"])["n"]):
        assert evaluate({"ann": ["film"], "bob": ["song"]}, candidates=candidates, **names)["recall@1"] == 1
    vectors = partial(exactk.Embeddings, VALUES, np.eye(4), users=USERS, items=ITEMS)
    message = r"candidates=exactk\.as_exclusions\(candidates, user='member'\) names it"
    with pytest.raises(exactk.InputError, match=message):
        vectors(candidates=frame)
    assert exactk.topk(vectors(candidates=exactk.as_exclusions(frame, **names)), 1).items.tolist() == [
        ["game"],
        ["song"],
        ["film"],
    ]


TRAIN = {"bob": [2], "eve": [0]}
"""As many users as the matrix has rows, in another order."""


@pytest.mark.parametrize("topk", [exactk.topk, exactk.reference.topk], ids=["core", "reference"])
@pytest.mark.parametrize(
    ("scores_", "call"),
    [
        (VALUES[:2], "exactk.Scores(scores, {0}={0})"),
        (exactk.Embeddings(VALUES[:2], np.eye(4)), "exactk.Embeddings(user_vectors, item_vectors, {0}={0})"),
        (exactk.SparseScores([0, 2, 4], [0, 2, 0, 2], [0.5, 0.25, 0.5, 0.25]), "exactk.SparseScores(indptr, items, scores, {0}={0})"),
    ],
    ids=["array", "embeddings", "sparse"],
)  # fmt: skip
def test_exclusions_by_user_do_not_match_rows(topk: Any, scores_: Any, call: str) -> None:
    """They were taken in their own order, whatever their users."""
    indptr, items, users = [0, 1, 2], [2, 0], list(TRAIN)
    by_user: list[Any] = [
        TRAIN, pd.Series(TRAIN), pd.DataFrame({"user": users, "item": items}), exactk.Truth(indptr, items, users=users),
        exactk.Exclusions(indptr, items, users=users), exactk.topk(exactk.Scores(VALUES[:2], users=users), 1),
        {1: [2], 0: [0]},
    ]  # fmt: skip
    message = (
        f"exclude: expected rows without user keys, as in the scores, found user keys; scores={call.format('users')}"
    )
    for exclude in by_user:
        with pytest.raises(exactk.InputTypeError, match=re.escape(message)):
            topk(scores_, 1, exclude=exclude)
    if isinstance(scores_, exactk.SparseScores):
        return
    message = f"exclude: expected column or row numbers, as in the scores, found items of type str; scores={call.format('items')}"
    for exclude in ([["film"], ["song"]], exactk.Exclusions(indptr, ["film", "song"])):
        with pytest.raises(exactk.InputTypeError, match=re.escape(message)):
            topk(scores_, 1, exclude=exclude)


def test_errors_of_topk_name_no_truth() -> None:
    for exclude in ([["film"]] * 3, {1: ["film"]}, {"ann": [1]}):
        with pytest.raises(exactk.InputTypeError, match=r"^exclude: expected .*, as in the scores, found"):
            exactk.topk(SCORES, 1, exclude=exclude)


TRUTH_BY_LABEL = exactk.Truth([0, 1, 2], [1, 2], users=["ann", "bob"])
SEEN = {"bob": [5], "ann": [6]}


@pytest.mark.parametrize("predictions", [[[5, 1], [6, 2]], {"bob": [6, 2], "ann": [5, 1]}], ids=["rows", "keys"])
def test_a_truth_as_exclusions_keeps_its_users(predictions: Any) -> None:
    """It was matched by row, as if it had none."""
    seen = exactk.Truth([0, 1, 2], [5, 6], users=list(SEEN))
    for evaluate_ in (exactk.evaluate, exactk.reference.evaluate):
        reports = [evaluate_(TRUTH_BY_LABEL, predictions, "recall@1", exclude=exclude) for exclude in (SEEN, seen)]
        assert reports[0] == reports[1]
        assert reports[0]["recall@1"] == 0
    items = exactk.Scores(VALUES[:2], users=["ann", "bob"], items=[5, 6, 7, 8])
    for argument in ("exclude", "candidates"):
        restrictions: list[dict[str, Any]] = [{argument: SEEN}, {argument: seen}]
        best = [exactk.topk(items, 2, **restriction).items.tolist() for restriction in restrictions]
        assert best[0] == best[1]


def test_a_matrix_of_flags_by_key_is_a_restriction() -> None:
    """The hint of each error is what it takes."""
    counts = pd.DataFrame([[1, 0, 0, 2], [0, 3, 0, 0]], ["ann", "bob"], ITEMS)
    expected = exactk.topk(SCORES, 2, exclude={"ann": ["song", "game"], "bob": ["film"]})
    for exclude, hint in ((counts, "exclude > 0"), (counts > 0, "exclude")):
        with pytest.raises(exactk.InputError) as caught:
            exactk.topk(SCORES, 2, exclude=exclude)
        code = f"exactk.Truth.from_dense({hint})"
        assert f"; exclude={code} " in str(caught.value)
        best = exactk.topk(SCORES, 2, exclude=eval(code, {"exactk": exactk, "exclude": exclude}))  # noqa: S307 - our own
        assert best.items.tolist() == expected.items.tolist()
    with pytest.raises(exactk.InputError, match=r"truth=exactk\.Truth\.from_dense\(truth\) reads its index"):
        evaluate(counts > 0)


def test_keys_of_several_parts_from_a_result() -> None:
    users = [("ann", 1), ("bob", 2)]
    best = exactk.topk(exactk.Scores(VALUES[:2], users=users, items=ITEMS), 1)
    assert best.users is not None
    again = exactk.Scores(VALUES[:2], users=best.users, items=ITEMS)
    assert exactk.topk(again, 1).users.tolist() == users  # type: ignore[union-attr]


LISTS = [["film", "song"], ["song"]]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
@pytest.mark.parametrize("first", [0, 2], ids=["before the lists", "after them"])
def test_missing_lists_of_a_series(missing: Any, first: int) -> None:
    """As ``groupby().agg(list).reindex(users)`` leaves them: the user has no list."""
    users, rows = ["ann", "bob"], list(LISTS)
    users.insert(first, "eve")
    rows.insert(first, missing)
    predictions = pd.Series(rows, users, dtype=object)
    arrow = predictions.astype(pd.ArrowDtype(pa.list_(pa.string())))
    truth = {"ann": ["song"], "bob": ["song"], "eve": ["film"]}
    expected = exactk.evaluate(truth, dict(zip(["ann", "bob"], LISTS, strict=True)), "mrr")
    assert expected["mrr"] == 0.5
    as_rows = pa.array(predictions.where(predictions.notna(), None).tolist())
    in_order = [truth[user] for user in users]
    assert exactk.evaluate(in_order, as_rows, "mrr") == exactk.evaluate(in_order, pl.Series(as_rows), "mrr")
    for series in (predictions, arrow):
        assert exactk.evaluate(truth, series, "mrr") == expected
        assert exactk.evaluate(series, truth, "mrr").counts["missing_truth"] == 1
        with pytest.warns(exactk.EvaluationWarning, match="2 relevant items are in exclude"):
            exactk.evaluate(truth, {**truth}, "mrr", exclude=series)


def test_the_best_items_keep_their_users() -> None:
    best = exactk.topk(SCORES, 2)
    halved = best._replace(scores=best.scores / 2)
    assert halved.users is best.users
    assert halved.scores[0, 0] == best.scores[0, 0] / 2
    assert exactk.evaluate(TRUTH, halved, "ndcg@2") == exactk.evaluate(TRUTH, best, "ndcg@2")


@pytest.mark.parametrize("name", ["item", "rank", "score"])
def test_no_part_of_a_user_is_replaced_in_a_frame(name: str) -> None:
    frame = pd.DataFrame({name: ["ann"], "session": [1], "sku": ["film"], "value": [0.5]})
    best = exactk.topk(frame, 1, user=[name, "session"], item="sku", score="value")
    for convert in (best.to_pandas, best.to_polars):
        with pytest.raises(exactk.InputError, match=f"expected distinct column names, found two columns '{name}'"):
            convert()


def test_the_best_items_of_nobody() -> None:
    for topk in (exactk.topk, exactk.reference.topk):
        assert topk({}, 2).items.shape == (0, 2)
        assert topk({"ann": []}, 2).items.tolist() == [[-1, -1]]


@pytest.mark.parametrize(
    "rows", [np.array([["film", "song", "book"]]), np.array([None, *LISTS], object)[1:]], ids=["matrix", "lists"]
)
def test_arrays_of_keys_say_what_reads_them(rows: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"; truth=truth\.tolist\(\) reads"):
        evaluate(rows, rows.copy())
    assert evaluate(rows.tolist(), rows.tolist())["recall@1"] in {1 / 3, 0.75}


COLUMN = pd.Series(ITEMS)


@pytest.mark.parametrize("keys", [
    COLUMN.unique(), COLUMN.astype("category").unique(), pd.array(ITEMS, dtype=object),
], ids=lambda keys: type(keys).__name__)  # fmt: skip
def test_arrays_of_pandas_are_keys(keys: Any) -> None:
    """As ``frame["item"].unique()`` returns them."""
    scores_ = exactk.Scores(VALUES, users=pd.Series(USERS).unique(), items=keys)
    assert scores_.items is not None
    assert scores_.items.tolist() == ITEMS
    assert exactk.topk(scores_, 1, candidates=keys[1:3]).items.tolist() == [["book"], ["book"], ["film"]]
    assert exactk.Truth([0, 1], [4], users=keys[:1]).users.tolist() == ["song"]  # type: ignore[union-attr]


@pytest.mark.parametrize("users", [
    pd.Series(["ann", "bob"]), pd.Index(["ann", "bob"]), np.array(["ann", "bob"], object), pl.Series(["ann", "bob"]), ("ann", "bob"),
], ids=["Series", "Index", "objects", "Polars", "tuple"])  # fmt: skip
def test_users_of_a_truth_in_any_sequence(users: Any) -> None:
    truth = exactk.Truth([0, 1, 2], [4, 7], users=users)
    assert exactk.evaluate(truth, {"bob": [7], "ann": [3]}, "recall@1", per_user=True).per_user["recall@1"].tolist() == [0, 1]  # fmt: skip
    loaded = pickle.loads(pickle.dumps(truth))  # noqa: S301 - our own
    assert loaded.users.tolist() == ["ann", "bob"]


def test_users_of_a_truth_keep_every_character() -> None:
    """NumPy's strings drop trailing NUL characters."""
    truth = exactk.Truth([0, 1, 2], [4, 7], users=["a\0", "a"])
    for one in (truth, pickle.loads(pickle.dumps(truth))):  # noqa: S301 - our own
        assert exactk.evaluate(one, {"a": [4], "a\0": [4]}, "recall@1")["recall@1"] == 0.5


def test_uuids_may_be_items_of_pairs() -> None:
    first, second = uuid.UUID(int=1), uuid.UUID(int=2)
    predictions: Any = {"ann": [(second, 0.5), (first, 0.75)], "bob": {first: 0.5}}
    assert exactk.evaluate({"ann": [(first, 2.0)], "bob": [(second, 1.0)]}, predictions, "mrr")["mrr"] == 0.5


def test_items_that_their_text_does_not_tell_apart() -> None:
    one, other = SameText(), SameText()
    message = r"predictions: expected items that str\(\) tells apart, found '1' again at .*position 1"
    for items in ({one: 0.5, other: 0.75}, [(one, 0.5), (other, 0.75)]):
        with pytest.raises(exactk.InputError, match=message):
            exactk.evaluate({"ann": ["1"]}, {"ann": items}, "recall@1")


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_blocks_without_excluded_items_of_bytes() -> None:
    """None of the exclusions are of the block's users."""
    blocks = [({"ann": [b"film"]}, {"ann": [b"song", b"film"]}), ({"bob": [b"film"]}, {"bob": [b"film"]})]
    exclude = {"ann": [b"song"], "kim": [b"film"]}
    assert exactk.evaluate(None, iter(blocks), "recall@1", exclude=exclude)["recall@1"] == 1


def test_uuids_and_dates_are_keys_by_their_text() -> None:
    users = [uuid.UUID(int=number) for number in range(3)]
    days = [pd.Timestamp(f"2026-01-0{day}").date() for day in (1, 2, 3, 4)]
    keyed = exactk.Scores(VALUES, users=users, items=days)
    assert exactk.evaluate({users[2]: [days[1]], users[0]: [days[2]]}, keyed, "recall@1")["recall@1"] == 1
    assert exactk.topk(keyed, 1).items[0, 0] == "2026-01-03"


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_systems_may_have_rows_and_columns_of_their_own() -> None:
    """Each system has some of the users and items, in an order of its own."""
    rows = {user: dict(zip(ITEMS, row, strict=True)) for user, row in zip(USERS, VALUES.tolist(), strict=True)}
    systems: dict[str, Any] = {
        "scores": SCORES,
        "rows": rows,
        "others": scores(VALUES[:2, :3], users=["kim", "ann"], items=["game", "film", "book"]),
        "vectors": exactk.Embeddings(VALUES, np.eye(4), users=USERS, items=ITEMS),
        "frame": pd.DataFrame(VALUES, USERS, ITEMS).iloc[::-1, [2, 0, 3, 1]],
        "best": exactk.topk(SCORES, 4),
    }
    options: dict[str, Any] = {"exclude": {"ann": ["game"]}, "per_user": True, "convention": {"users": "union"}}
    comparison = exactk.compare(TRUTH, systems, ["ndcg@2", "recall@1"], **options)
    for name, system in systems.items():
        alone = exactk.evaluate(TRUTH, system, ["ndcg@2", "recall@1"], **options)
        report = comparison.reports[name]
        users = [report.users.tolist().index(user) for user in alone.users.tolist()]
        for metric in report.metrics:
            np.testing.assert_array_equal(report.per_user[metric][users], alone.per_user[metric])
    values = comparison["ndcg@2"]
    assert len({values[name] for name in ("scores", "rows", "vectors", "frame", "best")}) == 1
    assert values["others"] != values["scores"]
