"""The short ways give what the long way gives: the same bits, warnings and errors."""

from __future__ import annotations

import random
from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import exactk
from exactk import _core
from exactk._engine.core import core_engine
from exactk._engine.fold import evaluate_with_engine
from exactk._engine.short_ways import evaluate_shortly
from exactk._engine.systems import ONE_SYSTEM
from exactk._evaluate import DEFAULTS
from rankings import rankings_of
from strategies import SHARE
from warned import result_and_warnings

METRICS: tuple[Any, ...] = (
    "ndcg@10", ["precision@[1,3,5]", "recall@3", "map@5", "mrr", "f1@3(average=of_means)"],
    ("err@5(max_grade=3)", "dcg", "hit_rate@2", "r_precision"), ["auc", "fbeta@2(beta=2)", "bpref"],
    "precision@3(average=micro)", "recall@2(empty_truth=one)", "recall@2(weight=values)", "list_fill@5", "coverage@3",
    "unexpectedness@3", exactk.custom("hits_of_mine", lambda judged: judged.hits.sum(axis=1), k=3), "no_such_metric",
    [], 3,
)  # fmt: skip
CONVENTIONS: tuple[Any, ...] = (
    "standard", "trec_eval", "no_such_convention", {"empty_truth": "zero"}, {"users": "union"},
    {"users": "truth", "missing_list": "skip"}, {"gain": "exp2", "min_grade": 2}, {"duplicate_items": "count"},
    {"novelty_over": "users"},
)  # fmt: skip


UNUSUAL_ROWS: tuple[Any, ...] = (
    None, [], [2, 2], [-1, 3], [0.5], ["a"], (1, 2), {4: 1.0}, {1, 2}, "", "a", 3, [2**63], [True], [np.int64(1)],
)  # fmt: skip


def draw_lists(draw: random.Random, users: int, items: int) -> list[Any]:
    """Return lists, of which one may be faulty or of another type."""
    rows: list[Any] = [draw.sample(range(items), draw.randrange(min(items, 7))) for _ in range(users)]
    if rows and draw.random() < 0.3:
        rows[draw.randrange(users)] = draw.choice(UNUSUAL_ROWS)
    return rows


SIGNED: tuple[Any, ...] = (np.int32, np.int64)
UNUSUAL: tuple[Any, ...] = (np.uint32, np.uint64, np.dtype(">i4"))


def draw_matrix(draw: random.Random, users: int, items: int, dtypes: tuple[Any, ...] = SIGNED) -> Any:
    """Return ids, some rows of which may be padded, or as an unsigned number that looks like it."""
    width = draw.randrange(1, 5)
    ids = [draw.sample(range(items), width) for _ in range(users)]
    matrix = np.array(ids, draw.choice(dtypes)).reshape(users, width)
    if draw.random() < 0.5:
        matrix[: draw.randrange(users + 1), -1] = np.array(-1).astype(matrix.dtype)
    return matrix


def draw_scores(draw: random.Random, users: int, items: int) -> Any:
    """Return scores, which may tie or be faulty, in one of many types and layouts."""
    dtype = np.dtype(draw.choice(["f4", "f8", "f8", "f2", ">f4", "i8"]))
    columns = min(items, 40)
    values = np.array([[draw.choice([0, 1, 2, draw.random()]) for _ in range(columns)] for _ in range(users)], dtype)
    values = values.reshape(users, columns)
    if users and dtype.kind == "f" and draw.random() < 0.3:
        values[draw.randrange(users), draw.randrange(columns)] = draw.choice([np.nan, np.inf, -np.inf])
    return draw.choice([values, values, np.asfortranarray(values), values[:, ::-1], values[1:], values.tolist()])


def draw_score_object(draw: random.Random, users: int, items: int) -> Any:
    """Return scores with a least score, or with keys, or without."""
    values = np.array(draw_scores(draw, users, items), np.float32).reshape(-1, min(items, 40))
    options = [{}, {"min_score": 0.5}, {"users": range(len(values))}, {"items": range(values.shape[1])}]
    return exactk.Scores(values, **draw.choice(options))  # type: ignore[arg-type]


DRAW: dict[str, Any] = {
    "lists": draw_lists,
    "tuples": lambda draw, users, items: [
        tuple(row) if isinstance(row, list) else row for row in draw_lists(draw, users, items)
    ],
    "arrays": lambda draw, users, items: [np.array(draw.sample(range(items), 2)) for _ in range(users)],
    "keys": lambda draw, users, items: [
        [f"item {item}" for item in draw.sample(range(items), 2)] for _ in range(users)
    ],
    "values": lambda draw, users, items: [
        {item: draw.choice([0, 1, 2, 3]) for item in draw.sample(range(items), 3)} for _ in range(users)
    ],
    "matrix": draw_matrix,
    "unusual matrix": lambda draw, users, items: draw_matrix(draw, users, items, UNUSUAL),
    "truth": lambda *arguments: exactk.as_truth(draw_matrix(*arguments)),
    "graded": lambda *arguments: exactk.as_truth(DRAW["values"](*arguments)),
    "rankings": lambda *arguments: rankings_of(draw_matrix(*arguments)),
    "scores": draw_scores,
    "score object": draw_score_object,
}
OF_TRUTH = ("lists", "matrix", "truth", "graded", "unusual matrix")
OF_PREDICTIONS = ("lists", "matrix", "rankings", "scores", "score object", "unusual matrix")


def evaluate_long(*given: Any, convention: Any) -> exactk.Report:
    """Return the report that the long way gives."""
    options = {**DEFAULTS, "convention": convention}
    return evaluate_with_engine(core_engine, ONE_SYSTEM, *given, **options).report


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Has an entry for each evaluation of the core."""
    done: list[None] = []
    evaluate = _core.evaluate

    def counted(**request: Any) -> Any:
        done.append(None)
        return evaluate(**request)

    monkeypatch.setattr(_core, "evaluate", counted)
    return done


def outcome_of(way: Any, *given: Any, convention: Any = "standard") -> tuple[Any, list[str]]:
    """Return the report or the error of a call, and its warnings."""

    def outcome() -> tuple[Any, ...]:
        try:
            report = way(*given, convention=convention)
        except Exception as error:  # noqa: BLE001 - compared
            return type(error), str(error)
        return report.state.to_bytes(), dict(report.counts), str(dict(report)), report.users.tolist()

    return result_and_warnings(outcome)


def outcome_of_both(*given: Any, convention: Any) -> tuple[Any, list[str]]:
    expected = outcome_of(evaluate_long, *given, convention=convention)
    assert outcome_of(exactk.evaluate, *given, convention=convention) == expected
    return expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(max(4, round(12 * SHARE))))
def test_both_ways_give_the_same(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secrets
    short = 0
    for _ in range(120):
        users, items = draw.choice([0, 1, 2, 5]), draw.choice([7, 9, 40, 2000])
        kinds = (OF_TRUTH, OF_PREDICTIONS) if draw.random() < 0.8 else (tuple(DRAW), tuple(DRAW))
        truth, predictions = (DRAW[draw.choice(kind)](draw, users, items) for kind in kinds)
        metrics = draw.choice(METRICS[:4]) if draw.random() < 0.7 else draw.choice(METRICS)
        convention = draw.choice(CONVENTIONS) if draw.random() < 0.4 else "standard"

        expected = outcome_of_both(truth, predictions, metrics, convention=convention)
        try:
            short += evaluate_shortly(truth, predictions, metrics, convention, None) is not None
        except Exception as error:  # noqa: BLE001 - compared
            assert expected[0] == (type(error), str(error))  # noqa: PT017 - that of both
    assert short > 20


SCORES: dict[str, Any] = {  # how a score is drawn
    "distinct": random.Random.random,
    "integers": lambda draw: draw.randrange(100),
    "few": lambda draw: draw.choice([0.5, 0.25, 0.0, -0.0]),
    "some": lambda draw: draw.choice([0.5, draw.random()]),
    "near": lambda draw: 1 + draw.randrange(4) * 1e-9,  # equal as float32
    "infinite": lambda draw: draw.choice([float("inf"), -float("inf"), draw.random()]),
    "NaN": lambda draw: draw.choice([float("nan"), -float("nan"), draw.random()]),  # equal, with different bits
}


class Caseless(str):
    """Strings that are equal to others."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(self.lower())


UNUSUAL_SCORES: tuple[Any, ...] = (
    {"x": float("nan")}, {"x": float("inf")}, {"x": 10**30}, {"x": True}, {"x": "y"}, {1: 2.0}, {np.str_("x"): 2.0},
    {b"x": 2.0}, OrderedDict(x=2.0), {"user": 1.0, "item": 2.0}, None, ["x"], [("x", 0.5)], [np.str_("x"), "x"], [3], {"x"}, "x", {}, np.array(["x"]), np.array([3, 4]),
    np.array(["x", "y"]), np.array([], str), pd.Series(["x", "y"]), pd.DataFrame({"item": ["x"], "score": [1.0]}), pl.Series(["x", "y"]),
)  # fmt: skip
UNUSUAL_GRADES: tuple[Any, ...] = (
    {"x": float("nan")}, {"x": -1}, {"x": "y"}, {1: 1}, {np.str_("x"): 1}, {b"x"}, ["x", "x"], ["x"], frozenset("xy"),
    {}, None, "x", [("x", 2)], np.array(["x", "y"]),
)  # fmt: skip
UNUSUAL_ITEMS = (" ", "é", "日本", "a\ud800", "\U0001d538", "x" * 20)
UNUSUAL_USERS: tuple[Any, ...] = ("user", 3, np.str_("u1"), b"u1", None, ("u", 1), Caseless("U1"))


def draw_mapping(draw: random.Random, value_of: Any, unusual: tuple[Any, ...]) -> Any:
    """Return up to 30 users with up to 40 items, any of which may be unusual; items repeat from user to user."""
    items = [*(f"i{number}" for number in range(draw.choice([3, 50]))), *UNUSUAL_ITEMS]
    users = [f"u{number}" for number in range(draw.choice([1, 5, 30]))]
    mapping: dict[Any, Any] = {
        user: {item: value_of(draw) for item in draw.sample(items, draw.randrange(min(len(items), 40)))}
        for user in draw.sample(users, len(users))
        if draw.random() < 0.95
    }
    if draw.random() < 0.2:
        mapping[draw.choice([*users, *UNUSUAL_USERS])] = draw.choice(unusual)
    return draw.choice([mapping, mapping, mapping, OrderedDict(mapping), defaultdict(dict, mapping)])


def without_values(draw: random.Random, mapping: Any, types: tuple[Any, ...]) -> Any:
    """Return the items alone, in rows of one of these types, where lists and tuples may repeat an item."""
    to_row = draw.choice(types)
    rows = {user: to_row(row) if isinstance(row, dict) else row for user, row in mapping.items()}
    user = draw.choice([*rows, None])
    if to_row in {list, tuple} and isinstance(rows.get(user), to_row) and rows[user] and draw.random() < 0.3:
        rows[user] = to_row([*rows[user], draw.choice([*rows[user]])])
    return rows


def draw_judged(draw: random.Random) -> Any:
    """Return grades, or items alone."""
    truth = draw_mapping(draw, lambda draw: draw.choice([0, 1, 2, 3]), UNUSUAL_GRADES)
    return truth if draw.random() < 0.6 else without_values(draw, truth, (set, frozenset, list, tuple))


def draw_ranked(draw: random.Random) -> Any:
    """Return scores, or lists of items."""
    scores = draw_mapping(draw, SCORES[draw.choice(list(SCORES))], UNUSUAL_SCORES)
    return scores if draw.random() < 0.6 else without_values(draw, scores, (list, list, tuple))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(max(4, round(12 * SHARE))))
def test_mappings_of_strings_give_the_same(seed: int, evaluations: list[None]) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secrets
    short = 0
    for _ in range(100):
        truth, predictions = draw_judged(draw), draw_ranked(draw)
        metrics = draw.choice(METRICS[:4]) if draw.random() < 0.7 else draw.choice([*METRICS, "mrr(ties=expected)"])
        ties = {"ties": draw.choice(["highest_id", "optimistic", "shared", "expected"])}
        repeats = {"duplicate_truth": "count", "duplicate_items": draw.choice(["count", "first"])}
        nan = {"nan": "last", "ties": draw.choice(["lowest_id", "highest_id"])}
        conventions: list[Any] = [*CONVENTIONS, ties, repeats, nan, nan, {"score_dtype": "float32"}]
        convention = draw.choice(conventions) if draw.random() < 0.5 else "standard"
        expected = outcome_of_both(truth, predictions, metrics, convention=convention)
        evaluations.clear()
        is_short = evaluate_shortly(truth, predictions, metrics, convention, None) is not None
        has_failed = not isinstance(expected[0][0], bytes)
        assert is_short or has_failed or not evaluations  # nothing is evaluated and then thrown away
        short += is_short
    assert short > 15


NAN = float("nan")
TIED = {"ann": {"d": 1.0, "b": 1.0, "c": 1}, "bob": {"e": 1.0, "f": 1.0}}
TIED_NAN = {"ann": {"c": NAN, "b": -NAN}, "bob": {"e": 1.0}}  # tied whatever their bits


@pytest.mark.parametrize(
    ("predictions", "ties", "expected"),
    [(TIED, "lowest_id", 1.0), (TIED, "highest_id", 0.0), (TIED_NAN, "lowest_id", 1.0), (TIED_NAN, "highest_id", 0.5)],
)
def test_tied_strings_are_in_their_order(predictions: Any, ties: str, expected: float) -> None:
    truth, convention = {"ann": {"b": 1}, "bob": {"e": 1}}, {"ties": ties, "nan": "last"}
    assert evaluate_shortly(truth, predictions, "recall@1", convention, 1) is not None
    assert dict(exactk.evaluate(truth, predictions, "recall@1", convention=convention)) == {"recall@1": expected}


SAMPLED = {f"u{user}": {f"i{(user + 7 * n) % 300}": -float(n) for n in range(40)} for user in range(30)}
ITEM_OF_EACH = {f"u{user}": [f"i{user}"] for user in range(30)}


@pytest.mark.parametrize(
    ("truth", "predictions", "warning"),
    [
        (ITEM_OF_EACH, SAMPLED, "every user has 40 candidates, which look like sampled negatives"),
        (ITEM_OF_EACH, {user: {f"j{item}": 1.0 for item in SAMPLED[user]} for user in SAMPLED}, "no item of the truth"),
        ({"u": [], **ITEM_OF_EACH}, {"u": [], "v": None, **dict.fromkeys(ITEM_OF_EACH, ("j",))}, "(such as 'i0')"),
        (ITEM_OF_EACH, {user: [f"i{(int(user[1:]) + 1) % 30}"] for user in ITEM_OF_EACH}, ""),
        (ITEM_OF_EACH, dict.fromkeys(ITEM_OF_EACH, ()), ""),
        (ITEM_OF_EACH, {user: dict.fromkeys(map(str, range(40)), 1.0) for user in ITEM_OF_EACH}, "no item"),
        ({"u": {np.str_("x"): 1}}, {"u": ["i"]}, "(such as 'x')"),
        ({user: {item: 1} for user, (item,) in ITEM_OF_EACH.items()}, {"eve": ["i0"]}, "no user of the truth"),
    ],
)
def test_mappings_are_evaluated_once_whatever_is_warned_of(
    truth: Any, predictions: Any, warning: str, evaluations: list[None]
) -> None:
    expected = outcome_of(evaluate_long, truth, predictions, "recall@2")
    evaluations.clear()
    assert outcome_of(exactk.evaluate, truth, predictions, "recall@2") == expected
    assert len(evaluations) == 1
    assert warning in "".join(expected[1])


TRUTH = [[1, 4], [2], [0, 3, 5]]
LISTS = [[4, 1, 9], [7, 2, 0], [5, 8, 3]]


def scores_of(lists: list[list[int]]) -> Any:
    """Return scores that rank these items first; no others are ranked in the first three places."""
    return np.array([[3.0 - row.index(item) if item in row else -item for item in range(10)] for row in lists])


def scores_object_of(lists: list[list[int]]) -> exactk.Scores:
    """Return the same with a least score, which drops all others."""
    return exactk.Scores(scores_of(lists).astype(np.float32), min_score=0.5)


@pytest.mark.parametrize("to_truth", [list, exactk.as_truth])
@pytest.mark.parametrize("to_rankings", [list, np.array, rankings_of, scores_of, scores_object_of])
def test_plain_calls_are_short(to_truth: Any, to_rankings: Any) -> None:
    report = evaluate_shortly(to_truth(TRUTH), to_rankings(LISTS), ["recall@3", "mrr"], "standard", 1)
    assert report is not None
    assert dict(report) == {"recall@3": pytest.approx((1 + 1 + 2 / 3) / 3), "mrr": pytest.approx((1 + 0.5 + 1) / 3)}


@pytest.mark.parametrize(
    ("truth", "predictions", "metrics"),
    [
        (TRUTH, LISTS, iter(["recall@3"])),
        (TRUTH, [row + list(range(10, 200_000)) for row in LISTS], ["catalogue", 3]),
        ([["a"], ["b"]], [["a"], ["c"]], "recall@1"),
        ([[1]] * 1001, [[1]] * 1001, "recall@1"),
        (TRUTH, [iter(row) for row in LISTS], "recall@3"),
        ([[1], ""], [[1], [2]], "mrr"),
        ([[1], [2]], ["", [1]], "mrr"),
        ([[1], [2]], np.array([[1], [2**64 - 1]], np.uint64), "mrr"),
        (exactk.Truth([0, 1], [3], users=["ann"]), [[3]], "recall@1"),
        (exactk.as_truth({"ann": [3]}), rankings_of({"ann": [3]}), "recall@1"),
        (TRUTH, exactk.Rankings([0, 1, 2, 3], [4, 2, 5], ranks=[1, 2, 3]), "recall@3"),
        ([[1, 0]], np.array([[0.5, 0.25]]), "mrr"),
        (np.array([[1]]), np.array([[0.5, 0.25]]), "mrr"),
        ([[1]], np.array([[0.5, np.nan]]), "mrr"),
        ([[1]], exactk.Scores(np.array([[0.5, 0.25]]), items=["a", "b"]), "mrr"),
        ([[1]] * 1001, np.zeros((1001, 2)), "mrr"),
        ({"u": ["a"]}, {"u": np.array(["a", "b"])}, "recall@1"),
        ({"u": ["a"]}, {"u": np.array([], str)}, "recall@1"),
        ({"u": ["a"]}, {"u": pd.Series(["a", "b"])}, "recall@1"),
        ({"u": ["a"]}, {"u": pl.Series(["a", "b"])}, "recall@1"),
        ({"u": ["a"]}, {"u": pd.DataFrame({"item": ["a"], "score": [1.0]})}, "recall@1"),
    ],
)
def test_other_calls_are_left_alone(truth: Any, predictions: Any, metrics: Any) -> None:
    assert evaluate_shortly(truth, predictions, metrics, "standard", None) is None


WARNED: dict[str, tuple[Any, Any, Any, Any]] = {
    "pairs": ([(1, 10), (1, 11), (2, 12), (2, 13)], [(1, 10), (1, 11), (2, 12), (2, 13)], "recall@1", "standard"),
    "other items": ([list(range(20))] * 5, [list(range(500, 520))] * 5, "mrr", "standard"),
    "no users": ([[], []], [[1], [2]], "recall@1", "standard"),
    "unused field": (TRUTH, LISTS, "ndcg@3", {"gain_table": (0.0, 1.0)}),
    "cutoff": (TRUTH, LISTS, "precision@10", "standard"),
    "ties": ([[1], [2]], np.array([[0.5, 0.5, 0], [0, 1, 1]]), ["mrr", "recall@1"], "standard"),
    "all tie": ([[1], [2]], np.zeros((2, 3), np.float32), ["mrr", "recall@1"], {"ties": "highest_id"}),
    "no column": ([[1], [7]], np.array([[0.25, 0.5, 0], [0, 0.5, 1]]), "mrr", "standard"),
    "dropped": ([[1], [2]], np.array([[0.25, -np.inf, 0], [0, 0.5, 1]]), "mrr", {"negative_infinity": "exclude"}),
    "ranks": ([[0, 2, 1], [0, 2]], np.array([[1.0, 2, 3], [1, 2, 3]]), "ndcg@3", "standard"),
    "other users": ({"ann": ["a"]}, {"bob": ["a"]}, "auc", {"undefined": "one"}),
    "samples": ([[0]] * 30, np.random.default_rng(1).random((30, 100)), "mrr", "standard"),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_is_warned_of(case: str) -> None:
    *given, convention = WARNED[case]
    assert len(outcome_of_both(*given, convention=convention)[1]) == 1


def test_an_iterator_of_metrics_is_read_once() -> None:
    assert dict(exactk.evaluate(TRUTH, LISTS, iter(["recall@3"]))) == dict(exactk.evaluate(TRUTH, LISTS, ["recall@3"]))


def test_users_that_compare_equal_are_different_users() -> None:
    given = {"ann": ["a"], "bob": ["b"]}, {Caseless("ANN"): ["a"], "bob": ["b"]}, "recall@1"
    assert evaluate_shortly(*given, "standard", None) is None
    report = exactk.evaluate(*given)
    assert dict(report) == {"recall@1": 0.5}
    assert report.state.totals[0].users == 2
