"""Containers that may be read as something else: told with the line to write for each reading; quiet where one fits."""

from __future__ import annotations

import copy
import json
import pickle
import re
import shutil
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from commands import Run
from exactk._engine.update_digits import UpdateLayout
from exactk._engine.updates import Update
from exactk._sharded.reduction import report_of_buckets
from sharded_rows import plan_of_tables, results_of
from strategies import examples


def outcome_of(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return the result, and the warnings but those of short lists."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    texts = [str(one.message) for one in caught if issubclass(one.category, exactk.EvaluationWarning)]
    return result, [text for text in texts if "no list is longer" not in text]


def evaluated(metric: str, **arguments: Any) -> tuple[float, list[str]]:
    report, texts = outcome_of(partial(exactk.evaluate, metrics=metric, **arguments))
    return report[metric], texts


def pasted(line: str, **arguments: Any) -> dict[str, Any]:
    """Return the arguments after pasting a line into the call."""
    names = {"pd": pd, "np": np, "exactk": exactk, **arguments}
    changed: dict[str, Any] = eval(f"dict({line})", names)  # noqa: S307 - our own
    return arguments | changed


# --- tuples


class Page(NamedTuple):
    document: str
    page: int


def objects(rows: Iterable[Any]) -> Any:
    rows = list(rows)
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


TUPLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mapping": dict,
    "mapping of sets": lambda pages: {user: set(row) for user, row in pages.items()},
    "mapping of tuples": lambda pages: {user: tuple(row) for user, row in pages.items()},
    "mapping of arrays": lambda pages: {user: objects(row) for user, row in pages.items()},
    "named tuples": lambda pages: {user: [Page(*one) for one in row] for user, row in pages.items()},
    "NumPy integers": lambda pages: {user: [(one, np.int64(page)) for one, page in row] for user, row in pages.items()},
    "ordered": OrderedDict,
    "lists": lambda pages: list(pages.values()),
    "Series": pd.Series,
    "Series without users": lambda pages: pd.Series(list(pages.values())),
}
JUDGED = {"q1": [("report", 4), ("manual", 2)], "q2": [("guide", 7)]}
RANKED = {"q1": [("report", 5), ("manual", 2)], "q2": [("guide", 7), ("report", 9)]}
BOTH = re.compile(r"with scores; (.*) if they are items of two parts; (.*) if they are items with numbers$")


@pytest.mark.parametrize("container", TUPLES)
def test_f83_tuples_on_both_sides_may_be_items_or_have_numbers(container: str) -> None:
    make = TUPLES[container]
    truth = make(JUDGED)
    predictions = dict(RANKED) if "sets" in container else make(RANKED)  # items of two parts need an order
    value, texts = evaluated("recall@10", truth=truth, predictions=predictions)
    assert value == 1.0
    (match,) = [found for text in texts if (found := BOTH.search(text))]
    as_items, with_numbers = (pasted(line, truth=truth, predictions=predictions) for line in match.groups())
    assert evaluated("recall@10", **as_items) == (0.75, [])
    assert evaluated("recall@10", **with_numbers) == (1.0, [])


def test_f83_tuples_are_told_on_every_way() -> None:
    lists, ranked = list(JUDGED.values()), list(RANKED.values())
    evaluator = exactk.Evaluator("recall@10")
    evaluator.update(lists, ranked)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: exactk.evaluate(None, iter([(lists, ranked)]), "recall@10"),
        lambda: exactk.compare(JUDGED, {"a": {"q1": ["report"]}, "b": RANKED}, "recall@10"),
        evaluator.compute,
        lambda: exactk.recall_at_k(JUDGED, RANKED),
        lambda: exactk.reference.evaluate(JUDGED, RANKED, "recall@10"),
    )
    for call in calls:
        assert sum(bool(BOTH.search(text)) for text in outcome_of(call)[1]) == 1


@pytest.mark.parametrize(
    ("truth", "predictions"),
    [
        ({"a": ["x"], "b": ["y"]}, {"a": [("x", 0.53), ("y", 0.5)], "b": [("y", 1)]}),
        ({"a": [("x", 1)]}, {"a": [("x", 1.0), ("y", 0.5)]}),
        ({"a": [("x", 2)]}, {"a": ["x", "y"]}),
        ({"a": [("x", 2), ("y", 1)]}, {"a": [("x", 7), ("y", 3)]}),
        ({"a": [("x", 2)]}, {"b": [("x", 2)], "a": [("y", 2)]}),
        ({"a": [(f"d{i}", 20 - i) for i in range(20)]}, {"a": [(f"d{i}", 20 - i) for i in range(18)]}),
        ({"a": {"x": 2}}, {"a": {"x": 2, "y": 1}}),
    ],
)
def test_f83_items_with_numbers_are_quiet(truth: Any, predictions: Any) -> None:
    assert evaluated("mrr", truth=truth, predictions=predictions)[1] == []


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("truth", {"a": [("d", "p3")], "b": [("e", "p1")]}),
        ("truth", {"a": [("d", 3), ("d", 4)]}),
        ("truth", {"a": [("d", 3, 1)]}),
        ("truth", {"a": [["d", 3]]}),
        ("truth", [[("d", "p3")]]),
        ("predictions", {"a": [("d", "p3"), ("d", "p4")]}),
        ("predictions", {"a": [("d", 3), ("d", 4)]}),
        ("predictions", [[("d", 3), ("d", 4)]]),
        ("predictions", {"a": [["d", 3], ["d", 4]]}),
        ("predictions", {"a": {("d", 3): 0.5}}),
        ("exclude", {"a": [("d", 3)]}),
        ("candidates", {"a": [("d", 3)]}),
    ],
)
def test_f83_tuples_that_can_only_be_items_are_refused_with_the_line(argument: str, value: Any) -> None:
    plain: Any = {"a": ["x"]} if isinstance(value, dict) else [["x"]]
    arguments = {"truth": plain, "predictions": copy.deepcopy(plain), argument: value}
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.evaluate(metrics="mrr", **arguments)
    line = re.split(r"; |scores, |grades, ", str(caught.value))[-1].partition(" if ")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = exactk.evaluate(metrics="mrr", **pasted(line, **arguments))
    assert report.counts["users"] == max(1, len(value))


def test_f83_pairs_of_json_are_refused_with_both_lines(tmp_path: Path) -> None:
    rows = {"q": [["a", 1], ["b", 2]]}
    (tmp_path / "p.json").write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(exactk.InputTypeError) as caught:
        exactk.evaluate({"q": ["b"]}, rows, "mrr")
    line = str(caught.value).rpartition("; ")[2].partition(" if they are items with scores")[0]
    assert evaluated("mrr", **pasted(line, truth={"q": ["b"]}, predictions=rows))[0] == 1.0
    with pytest.raises(exactk.InputTypeError, match=r"items with values as an object, .* of several parts as strings$"):
        exactk.evaluate({"q": ["b"]}, tmp_path / "p.json", "mrr")


def test_f83_pairs_of_users_and_items_in_other_sequences() -> None:
    truth, predictions = [["ann", "x"], ["ann", "z"], ["bob", "y"]], [["ann", "x"], ["ann", "y"], ["bob", "z"]]
    for make in (list, pd.Series, lambda rows: pd.Series(list(map(tuple, rows)))):
        arguments = {"truth": make(truth), "predictions": make(predictions)}
        _, (text,) = evaluated("recall@2", **arguments)
        hinted = pasted(text.partition("users and items, write ")[2], **arguments)
        assert evaluated("recall@2", **hinted) == (0.25, [])
    assert evaluated("mrr", truth=[["x", "y"], ["y", "x"], ["x", "z"]], predictions=predictions)[1] == []


class Row(NamedTuple):
    u: int
    i: int


PAIRS_OF_BOTH = [(0, 15), (0, 16), (1, 17), (1, 18)], [(0, 25), (0, 16), (1, 27), (1, 28)]
PAIRS: dict[str, Callable[[list[tuple[int, int]]], Any]] = {
    "tuples": list,
    "named tuples": lambda rows: [Row(*row) for row in rows],
    "lists": lambda rows: [*map(list, rows)],
    "array": np.array,
    "Series of lists": lambda rows: pd.Series([*map(list, rows)]),
}


@pytest.mark.parametrize("container", PAIRS)
def test_pairs_of_integers_on_both_sides_are_told_of(container: str) -> None:
    truth, predictions = map(PAIRS[container], PAIRS_OF_BOTH)
    arguments = {"truth": truth, "predictions": predictions}
    value, (text,) = evaluated("mrr", **arguments)
    assert value == 1.0
    hinted = pasted(text.partition("users and items, write ")[2], **arguments)
    assert evaluated("mrr", **hinted) == (0.25, [])


@pytest.mark.parametrize("argument", ["exclude", "train"])
@pytest.mark.parametrize("container", PAIRS)
def test_pairs_of_integers_on_one_side_are_told_of_if_there_are_many(container: str, argument: str) -> None:
    """Few lists of two may be in order by chance; tuples mostly are no lists."""
    for users, is_told in ((2, container not in {"lists", "Series of lists"}), (5, True)):
        rows = PAIRS[container]([(user, 10 + 2 * user + n) for user in range(users) for n in range(2)])
        call = (
            partial(exactk.Items, train=rows)
            if argument == "train"
            else partial(exactk.evaluate, [[1]] * (2 * users), [[1]] * (2 * users), "mrr", exclude=rows)
        )
        assert any("pair of integers" in text for text in outcome_of(call)[1]) == is_told


def test_lists_that_are_no_pairs_are_quiet() -> None:
    draw = np.random.default_rng(0)
    unordered = [sorted(row) for row in draw.permutation(40).reshape(20, 2).tolist()]
    for lists in ([[0, 1], [0, 2], [0, -1], [3, 4]], unordered, [[0, 1]] * 12, [[user, 50] for user in range(12)]):
        padded = np.array(lists)
        assert outcome_of(lambda: exactk.Items(60, train=padded))[1] == []  # noqa: B023 - called at once
        if -1 not in padded:
            assert outcome_of(lambda: exactk.evaluate(lists, lists[:], "mrr"))[1] == []  # noqa: B023


@pytest.mark.parametrize("rows", [list, dict])
def test_named_rows_of_users_and_items_are_no_lists(rows: Any) -> None:
    """They were read as a list of three items for each row."""
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [2, 3, 3], "grade": [5, 4, 1]})
    records = list(frame.itertuples(index=rows is dict))
    truth = exactk.as_truth(records)
    assert truth.grades is not None
    assert (truth.indptr.tolist(), truth.items.tolist(), truth.grades.tolist()) == ([0, 2, 3], [2, 3, 3], [5, 4, 1])
    with pytest.raises(exactk.InputTypeError, match="user keys, as in the truth"):
        exactk.evaluate(records, [[2], [3], [3]], "mrr")


# --- numbers of exclusions

SEEN = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "label": [1, 0]})
NEGATIVES: dict[str, Callable[[Path], Any]] = {
    "mapping": lambda _: {"a": {"x": 1, "y": 0}},
    "mapping of bools": lambda _: {"a": {"x": True, "y": False}},
    "pandas": lambda _: SEEN,
    "another name": lambda _: SEEN.rename(columns={"label": "is_clicked"}).astype({"is_clicked": bool}),
    "minus one": lambda _: SEEN.replace({"label": {0: -1}}),
    "Polars": lambda _: pl.DataFrame(SEEN.to_dict("list")),
    "Series": lambda _: SEEN.set_index(["user", "item"])["label"],
    "CSV": lambda path: (SEEN.to_csv(path / "e.csv", index=False), path / "e.csv")[1],
    "TSV": lambda path: (SEEN.to_csv(path / "e.tsv", index=False, sep="\t"), path / "e.tsv")[1],
    "Parquet": lambda path: (pq.write_table(pa.table(SEEN.to_dict("list")), path / "e.parquet"), path / "e.parquet")[1],
    "bools in Parquet": lambda path: (SEEN.astype({"label": bool}).to_parquet(path / "e.parquet"), path / "e.parquet")[
        1
    ],
}
OUT, KEPT = re.compile(r"others do; (.*) leaves them out, "), re.compile(r"leaves them out, (.*) keeps them$")


@pytest.mark.parametrize("container", NEGATIVES)
def test_exclusions_of_0_are_told_of(container: str, tmp_path: Path) -> None:
    """Sampled negatives were excluded, and so were better than relevant items."""
    given: dict[str, Any] = {"truth": {"a": ["z"]}, "predictions": {"a": ["x", "y", "z"]}}
    exclude = NEGATIVES[container](tmp_path)
    value, (text,) = evaluated("mrr", **given, exclude=exclude)
    assert (value, "is 0 or less count as the others do" in text) == (1.0, True)
    train = outcome_of(lambda: exactk.Items(train=exclude))[1]
    assert ["0 or less count" in text for text in train] == [True]
    if container not in {"CSV", "TSV", "Parquet", "bools in Parquet", "Polars"}:
        names = {"exclude": exclude}
        for line, expected in ((OUT, 0.5), (KEPT, 1.0)):
            (code,) = line.findall(text)
            changed = eval(code.removeprefix("exclude="), names)  # noqa: S307 - the hint
            assert evaluated("mrr", **given, exclude=changed) == (expected, [])


def test_exclusions_above_0_are_quiet(tmp_path: Path) -> None:
    rated = SEEN.assign(label=[5, 1])
    rated.to_csv(tmp_path / "e.csv", index=False)
    other = SEEN.rename(columns={"label": "discount"})
    texts = SEEN.assign(label=["yes", "no"])
    many: list[Any] = [rated, tmp_path / "e.csv", other, texts, {"a": {"x": 5, "y": 1}}, {"a": {"x": "no"}}]
    for exclude in many:
        given: dict[str, Any] = {"truth": {"a": ["z"]}, "predictions": {"a": ["x", "y", "z"]}}
        assert evaluated("mrr", **given, exclude=exclude)[1] == []


# --- ascending scores

NEAR = {f"u{user}": {f"i{user + n}": 0.125 * (n + 1) + user for n in range(4)} for user in range(12)}
ASCENDING: dict[str, Callable[[dict[str, dict[str, float]]], Any]] = {
    "mapping": dict,
    "pairs": lambda rows: {user: list(row.items()) for user, row in rows.items()},
    "Series of mappings": lambda rows: list(rows.values()),
    "ranks with gaps": lambda rows: {user: dict(zip(row, (1, 2, 2, 4), strict=True)) for user, row in rows.items()},
}


@pytest.mark.parametrize("container", ASCENDING)
def test_ascending_scores_are_told_of(container: str) -> None:
    predictions: Any = ASCENDING[container](NEAR)
    truth: Any = {user: [*row][:1] for user, row in NEAR.items()}
    truth = truth if isinstance(predictions, dict) else list(truth.values())
    value, (text,) = evaluated("mrr", truth=truth, predictions=predictions)
    assert value == 0.25
    (match,) = LINES.findall(text)
    for line, expected in zip(match, (1.0, value), strict=True):
        assert evaluated("mrr", **pasted(line, truth=truth, predictions=predictions)) == (expected, [])


def test_scores_in_other_orders_are_quiet(tmp_path: Path) -> None:
    frame = pd.DataFrame([(user, *one) for user, row in NEAR.items() for one in row.items()])
    frame.columns = ["user", "item", "score"]
    frame.to_csv(tmp_path / "p.csv", index=False)  # sorted by user and score
    draw = np.random.default_rng(0)
    shuffled = {user: dict(draw.permutation([*row.items()]).tolist()) for user, row in NEAR.items()}
    numbers = {user: {item: float(score) for item, score in row.items()} for user, row in shuffled.items()}
    few, short = dict([*NEAR.items()][:9]), {user: dict([*row.items()][:1]) for user, row in NEAR.items()}
    same = {user: dict.fromkeys(row, 0.5) for user, row in NEAR.items()}
    for predictions in (frame, tmp_path / "p.csv", numbers, few, short, same):
        texts = evaluated("mrr", truth={user: ["i0"] for user in NEAR}, predictions=predictions)[1]
        assert not any("ascend" in text for text in texts)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(NEAR))
    assert "ascend" in evaluated("mrr", truth={user: ["i0"] for user in NEAR}, predictions=path)[1][0]


# --- items of several parts, or none

JOINED = {"u1": "i1 i2", "u2": "i4"}
IN_LISTS = {"u1": ["i1", "i2", "i3"], "u2": ["i4", "i5"]}


@pytest.mark.parametrize("mark", [" ", ",", ", ", "|", ";", "list"])
@pytest.mark.parametrize("container", ["mapping", "Series", "pandas", "CSV", "exclude"])
def test_several_items_in_a_text_are_told_of(mark: str, container: str, tmp_path: Path) -> None:
    joined = {user: str(text.split()) if mark == "list" else text.replace(" ", mark) for user, text in JOINED.items()}
    frame = pd.DataFrame({"user": list(joined), "item": list(joined.values())})
    frame.to_csv(tmp_path / "t.csv", index=False)
    makes: dict[str, Callable[[], Any]] = {
        "Series": lambda: pd.Series(joined),
        "pandas": lambda: frame,
        "CSV": lambda: tmp_path / "t.csv",
    }
    given: Any = makes[container]() if container in makes else joined
    argument = "exclude" if container == "exclude" else "truth"
    truth = {"u1": ["i3"], "u2": ["i5"]} if argument == "exclude" else given
    options = {"exclude": given} if argument == "exclude" else {}
    _, texts = evaluated("recall@2", truth=truth, predictions=IN_LISTS, **options)
    (text,) = [text for text in texts if "is one item, and its parts are items too; " in text]
    if container in {"mapping", "Series", "exclude"} and mark not in {", ", "list"}:
        line = text.partition("too; ")[2].partition(" has its parts")[0].partition("=")[2]
        fixed = {argument: eval(line, {argument: given})}  # noqa: S307 - the hint
        assert evaluated("recall@2", **{"truth": truth, "predictions": IN_LISTS, **options, **fixed}) == (1.0, [])


def test_titles_and_tags_are_quiet() -> None:
    titles = {"u1": "Wake Up", "u2": "Up", "u3": "The Good, the Bad"}
    ranked = {"u1": ["Up", "Heat"], "u2": ["Up", "Wake Up"], "u3": ["The Good, the Bad", "It"]}
    tags = {"u1": ["machine learning"], "u2": ["machine"], "u3": ["learning"]}
    listed = {"u1": ["machine", "learning"], "u2": ["machine learning"], "u3": ["learning"]}
    ids: Any = {"u1": "00-1", "u2": "00_2", "u3": "a.b"}
    for truth, predictions in ((titles, ranked), (tags, listed), (ids, {"u1": ["00-1"], "u2": ["00"], "u3": ["a"]})):
        frame = pd.DataFrame({"user": list(truth), "item": [*truth.values()]}).explode("item")
        for one in (truth, frame):
            assert evaluated("mrr", truth=one, predictions=predictions)[1] == []


@pytest.mark.parametrize("text", ["nan", "None", "", "<PAD>", "NULL"])
def test_items_that_mean_none_are_told_of(text: str) -> None:
    truth, predictions = {"a": ["x"], "b": [text]}, {"a": [text, "x"], "b": [text, "z"]}
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", text]})
    for one in (truth, frame, {"a": "x", "b": text}):
        value, texts = evaluated("mrr", truth=one, predictions=predictions)
        assert (value, [repr(text) in found for found in texts]) == (0.75, [True])
    assert evaluated("mrr", truth={"a": ["x"]}, predictions=predictions)[1] == []
    assert evaluated("mrr", truth=truth, predictions={"a": ["x"], "b": ["z"]})[1] == []


# --- candidates


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda flags: np.array(flags, bool), pd.Series])
def test_flags_are_no_candidates(make: Any) -> None:
    scores, candidates = np.array([[0.1, 0.2, 0.9, 0.8]]), make([0, 0, 1, 1])
    with pytest.raises(exactk.InputError, match="zeros and ones that repeat; candidates=") as caught:
        exactk.topk(scores, 2, candidates=candidates)
    line = str(caught.value).partition("candidates=")[2].partition(" has")[0]
    given = eval(line, {"np": np, "candidates": candidates})  # noqa: S307 - the hint
    assert exactk.topk(scores, 2, candidates=given).items.tolist() == [[2, 3]]
    assert exactk.topk(scores, 2, candidates=[0, 1]).items.tolist() == [[1, 0]]


def test_a_series_of_candidates_by_user() -> None:
    """It was read as candidates of all users, and as exclusions by user."""
    truth = {"a": ["x"], "b": ["y"]}
    scores = {"a": {"x": 0.5, "y": 0.9}, "b": {"x": 0.9, "y": 0.1}}
    for index in (["a", "b"], [7, 7], pd.Index([4, 5], name="user_id")):
        candidates = pd.Series(["x", "y"], index)
        with pytest.raises(exactk.InputError, match="items of all users, or lists by user, found an item") as caught:
            exactk.evaluate(truth, scores, "mrr", candidates=candidates)
    lines = re.findall(r"(candidates\.(?:tolist|groupby).*?) (?:has the same|each)", str(caught.value))
    of_all, of_each = (eval(line, {"candidates": pd.Series(["x", "y"], ["a", "b"])}) for line in lines)  # noqa: S307
    assert exactk.evaluate(truth, scores, "mrr", candidates=of_all)["mrr"] == 0.5
    assert exactk.evaluate(truth, scores, "mrr", candidates=of_each)["mrr"] == 1.0
    left = pd.Series(["w", "x", "y"])[1:]  # the index of a selection
    assert exactk.evaluate(truth, scores, "mrr", candidates=left)["mrr"] == 0.5


# --- ranks

RANKS: dict[str, dict[str, float]] = {"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"c": 1, "a": 2, "b": 3, "d": 4}}
TRUTH = {"q1": ["a"], "q2": ["a"]}
FRAME = pd.DataFrame(
    [(user, item, score) for user, row in RANKS.items() for item, score in row.items()],
    columns=["user", "item", "score"],
)


def matrix_of(ranks: Any = RANKS) -> Any:
    rows = [(user, "abcd".index(item), rank) for user, row in enumerate(ranks.values()) for item, rank in row.items()]
    users, items, values = zip(*rows, strict=True)
    once = scipy.sparse.coo_array((np.array(values, np.uint8), (users, items)), (2, 4)).tocsr()
    return scipy.sparse.vstack([once] * 2).tocsr()


RANK_CONTAINERS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "mapping": (TRUTH, lambda: RANKS),
    "mapping of Series": (TRUTH, lambda: OrderedDict((user, dict(row)) for user, row in RANKS.items())),
    "mapping of pairs": (TRUTH, lambda: {user: list(row.items()) for user, row in RANKS.items()}),
    "lists of mappings": ([["a"], ["a"]], lambda: list(RANKS.values())),
    "lists of pairs": ([["a"], ["a"]], lambda: [list(row.items()) for row in RANKS.values()]),
    "floats from 0": (TRUTH, lambda: {u: {i: rank - 1.0 for i, rank in row.items()} for u, row in RANKS.items()}),
    "Series of mappings": (TRUTH, lambda: pd.Series(RANKS)),
    "Series by user and item": (TRUTH, lambda: FRAME.set_index(["user", "item"])["score"]),
    "pandas": (TRUTH, lambda: FRAME),
    "another name": (TRUTH, lambda: FRAME.rename(columns={"score": "prediction"})),
    "Polars": (TRUTH, lambda: pl.DataFrame(FRAME.to_dict("list"))),
    "Arrow": (TRUTH, lambda: pa.table(FRAME.to_dict("list"))),
    "DuckDB": (TRUTH, lambda: duckdb.from_arrow(pa.table(FRAME.to_dict("list")))),
    "sparse": ([[0]] * 4, matrix_of),
}
LINES = re.compile(r" the highest counts as the best; (.*) if they are ranks, (.*) if they are scores$")
AS_RANKS, AS_SCORES = 0.75, (1 / 3 + 1 / 3) / 2


@pytest.mark.parametrize("container", RANK_CONTAINERS)
def test_f83_ranks_in_place_of_scores(container: str) -> None:
    truth, make = RANK_CONTAINERS[container]
    value, texts = evaluated("mrr", truth=truth, predictions=make())
    assert value == AS_SCORES
    (match,) = [found for text in texts if (found := LINES.search(text))]
    for line, result in zip(match.groups(), (AS_RANKS, AS_SCORES), strict=True):
        if line not in {"the negative of each", "scores / 2"}:
            assert evaluated("mrr", **pasted(line, truth=truth, predictions=make())) == (result, [])
    assert ("the negative" in match[1]) == (container in {"Series of mappings", "Series by user and item", "sparse"})


WITHOUT_LINE: dict[str, Callable[[Path], Any]] = {
    "CSV": lambda path: (FRAME.to_csv(path / "p.csv", index=False), path / "p.csv")[1],
    "Parquet": lambda path: (pq.write_table(pa.table(FRAME.to_dict("list")), path / "p.parquet"), path / "p.parquet")[
        1
    ],
    "JSON": lambda path: ((path / "p.json").write_text(json.dumps(RANKS)), path / "p.json")[1],
    "SparseScores": lambda _: exactk.as_predictions(FRAME),
    "batches": lambda _: exactk.Batches(lambda: [FRAME]),
    "many batches": lambda _: exactk.Batches(lambda: [FRAME[:2], FRAME[2:5], FRAME[5:]]),
    "ungrouped batches": lambda _: exactk.Batches(lambda: [FRAME[:2], FRAME[3:], FRAME[2:3]]),
}


@pytest.mark.parametrize("container", WITHOUT_LINE)
def test_f83_ranks_in_files_and_batches(container: str, tmp_path: Path) -> None:
    _, texts = evaluated("mrr", truth=TRUTH, predictions=WITHOUT_LINE[container](tmp_path))
    assert [text for text in texts if "; the negative of each if they are ranks, scores / 2 if" in text] == texts != []
    frame = pd.DataFrame({"user": ["q"], "items": [list("abc")], "scores": [[1, 2, 3]]})
    assert evaluated("mrr", truth={"q": ["a"]}, predictions=frame)[1][0].endswith("scores / 2 if they are scores")


def ways(truth: dict[str, Any], predictions: dict[str, Any]) -> Iterable[Callable[[], Any]]:
    """Yield calls that evaluate mappings on other ways than a whole mapping."""
    keyed = {user: {str(item): score for item, score in row.items()} for user, row in predictions.items()}
    blocks = [({user: truth[user]}, {user: predictions[user]}) for user in truth]
    rows = [(user, item, score) for user, row in keyed.items() for item, score in row.items()]
    long = pa.table(dict(zip(["user", "item", "score"], map(list, zip(*rows, strict=True)), strict=True)))
    judged = pa.table({"user": [u for u in truth for _ in truth[u]], "item": [i for u in truth for i in truth[u]]})
    halves = [exactk.Evaluator("mrr"), exactk.Evaluator("mrr")]

    def update() -> Any:
        for index, block in enumerate(blocks):
            halves[index % 2].update(*block)
        halves[0].merge(pickle.loads(pickle.dumps(halves[1])))  # noqa: S301 - our own
        return halves[0].compute()

    def vectors() -> Any:
        evaluation = exactk.Evaluator("mrr")._request
        layout = UpdateLayout(evaluation)
        total = layout.empty
        for one, other in blocks:
            part = layout.update(total, Update(list(one.values()), list(other.values())))
            sums = (total.digits + part.digits, total.counts + part.counts, np.maximum(total.largest, part.largest))
            total = type(total)(*sums)
        return layout.report(total)

    yield lambda: exactk.evaluate(None, iter(blocks), "mrr")
    unkeyed: list[Any] = [tuple(list(one.values()) for one in block) for block in blocks]
    yield lambda: exactk.evaluate(None, iter(unkeyed), "mrr")
    yield update
    yield vectors
    yield lambda: report_of_buckets(results_of(plan_of_tables(judged, long, "mrr"), [judged, long]))
    yield lambda: exactk.judge(truth, predictions, 3)
    yield lambda: exactk.reference.evaluate(truth, predictions, "mrr")
    yield lambda: exactk.compare(truth, {"a": predictions, "b": {**predictions}}, "mrr")
    yield lambda: exactk.compare(truth, {"a": {user: ["none"] for user in truth}, "b": predictions}, "mrr")


def test_f83_ranks_are_told_once_on_every_way() -> None:
    many = {f"{user}{copy}": row for user, row in RANKS.items() for copy in "xy"}  # in buckets, rows have no order
    for call in ways({key: ["a"] for key in many}, many):
        assert sum("as ranks would be" in text for text in outcome_of(call)[1]) == 1


QUIET_SCORES: dict[str, dict[str, dict[str, float]]] = {
    "best first": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"c": 2, "a": 1}},
    "two by chance": {"q1": {"a": 1, "b": 2}, "q2": {"c": 0.5}},
    "few in any order": {"q1": {"a": 1, "b": 3, "c": 2}},
    "fractions": {"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"a": 0.5, "b": 2}},
    "votes": {
        "q1": {"a": 1, "b": 2, "c": 40, "d": 55},
        "q2": dict(zip("abcdefghijkl", range(3, 1000, 80), strict=False)),
    },
    "ties": {"q1": {"a": 1, "b": 1, "c": 2}},
    "probabilities": {"q1": {"a": 0.0, "b": 0.0, "c": 1.0}},
    "infinite": {"q1": {"a": 0.0, "b": float("inf"), "c": 1.0}},
}


@pytest.mark.parametrize("case", QUIET_SCORES)
def test_f83_scores_are_quiet(case: str) -> None:
    assert not any("as ranks" in text for text in evaluated("recall@9", truth=TRUTH, predictions=QUIET_SCORES[case])[1])


@settings(max_examples=examples(200))
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(0, 1), st.randoms(), st.booleans())
def test_f83_no_drawn_ranks_are_silent(sizes: list[int], first: int, random: Any, shuffled: bool) -> None:
    ranks: dict[str, Any] = {}
    for user, size in enumerate(sizes):
        numbers = list(range(first, first + size))
        if shuffled:
            random.shuffle(numbers)
        ranks[f"u{user}"] = {f"i{item}": number for item, number in enumerate(numbers)}
    changes = [
        other - one for row in ranks.values() for one, other in zip([*row.values()], [*row.values()][1:], strict=False)
    ]
    certain = max(sizes) > 2 and changes and min(changes) > 0
    texts = evaluated("recall@9", truth={"u0": ["i0"]}, predictions=ranks)[1]
    is_told = any("as ranks would be" in text for text in texts)
    assert is_told == bool(certain or (len(changes) >= 10 and max(changes) > 0))


@pytest.mark.parametrize("reverse", [False, True])
def test_f83_many_and_long_lists(reverse: bool) -> None:
    sizes = [0, 0, 1500, 3, *[2] * 3000]
    rows = [list(range(1, size + 1))[:: -1 if reverse else 1] for size in sizes]
    scores = exactk.SparseScores(
        np.cumsum([0, *sizes]), np.concatenate([np.arange(size) for size in sizes]), np.concatenate(rows)
    )
    texts = evaluated("mrr", truth=[[0]] * len(sizes), predictions=scores)[1]
    assert any("as ranks would be" in text for text in texts) != reverse


def test_f83_ranks_on_the_command_line(run: Run, tmp_path: Path) -> None:
    truth, predictions = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text("user,item\nq1,a\nq2,a\n", encoding="utf-8")
    FRAME.to_csv(predictions, index=False)
    result = run("evaluate", str(truth), str(predictions), "-m", "mrr")
    assert (result.code, result.err.count("as ranks would be")) == (0, 1)


# --- one input twice

SAME: dict[str, Callable[[], Any]] = {
    "mapping": lambda: {"a": ["x"], "b": ["y"]},
    "scored mapping": lambda: {"a": {"x": 2.0}},
    "lists": lambda: [[1, 2], [3]],
    "ids": lambda: np.array([[1, 2], [3, 4]]),
    "floats": lambda: np.array([[0.5, 0.0], [0.25, 1.0]]),
    "Series": lambda: pd.Series({"a": ["x"]}),
    "frame": lambda: FRAME,
    "Polars": lambda: pl.DataFrame(FRAME.to_dict("list")),
    "lists in a frame": lambda: pd.DataFrame({"user": ["a"], "items": [["x"]]}),
    "sparse": lambda: scipy.sparse.csr_array(np.eye(2)),
}


@pytest.mark.parametrize("container", SAME)
def test_f85_one_object_is_no_truth_and_predictions(container: str) -> None:
    both = SAME[container]()
    message = "predictions: expected another input than the truth, found the same object"
    calls: tuple[Callable[[], Any], ...] = (
        lambda: exactk.evaluate(both, both, "mrr"),
        lambda: exactk.reference.evaluate(both, both, "mrr"),
        lambda: exactk.compare(both, {"a": copy.copy(both), "b": both}, "mrr"),
        lambda: exactk.evaluate(None, iter([(both, both)]), "mrr"),
        lambda: exactk.Evaluator("mrr").update(both, both),
        lambda: exactk.judge(both, both, 1),
    )
    for call in calls:
        with pytest.raises(exactk.InputError, match=message):
            outcome_of(call)


def test_f85_the_truth_is_neither_excluded_nor_the_base() -> None:
    truth, lists = {"a": ["x"]}, {"a": ["x", "y"]}
    for options in ({"exclude": truth}, {"base_predictions": truth}):
        (argument,) = options
        with pytest.raises(exactk.InputError, match=f"^{argument}: expected another input than the truth"):
            exactk.evaluate(truth, lists, "unexpectedness@1", **{"base_predictions": lists, **options})  # type: ignore[arg-type]


def test_f85_a_frame_with_grades_and_scores_is_both() -> None:
    frame = FRAME.assign(grade=[1.0, 0, 0, 0, 1, 0, 0], score=[0.9, 0.5, 0.1, 0.8, 0.7, 0.3, 0.2])
    assert evaluated("mrr", truth=frame, predictions=frame) == (0.75, [])
    others = frame.rename(columns={"score": "s", "grade": "g"})
    assert evaluated("mrr", truth=others, predictions=others, grade="g", score="s") == (0.75, [])
    with pytest.raises(exactk.InputError, match="; pass what the system recommends, or name columns of both: grade="):
        exactk.evaluate(others, others, "mrr", grade="g", score="g")
    assert outcome_of(lambda: exactk.evaluate([], [], "mrr", convention={"undefined": "zero"}))[0].counts["users"] == 0


COPIES: dict[str, Callable[[Path, Path], Any]] = {
    "a link": lambda path, other: other.symlink_to(path),
    "a hard link": lambda path, other: other.hardlink_to(path),
    "a copy": shutil.copy,
}


@pytest.mark.parametrize("kind", ["the path", "another spelling", *COPIES])
@pytest.mark.parametrize("name", ["t.csv", "t.json"])
def test_f85_one_file_is_no_truth_and_predictions(kind: str, name: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / name
    text = "user,item,score\na,x,0.5\nb,y,0.25\n" if name.endswith("csv") else json.dumps({"a": {"x": 1.0}})
    path.write_text(text, encoding="utf-8")
    other = path if kind == "the path" else path.parent / ".." / path.parent.name / name
    if kind in COPIES:
        other = path.with_stem("other")
        COPIES[kind](path, other)
    message = "expected another input than the truth, found the same file"
    with pytest.raises(exactk.InputError, match=f"^predictions: {message}"):
        exactk.evaluate(path, str(other), "mrr")
    with pytest.raises(exactk.InputError, match=f"^exclude: {message}"):
        exactk.evaluate(path, {"a": ["z"]}, "mrr", exclude=other)
    matching = ["conventions", "--matching", "mrr=1", path, other]
    for command in (["evaluate", path, other, "-m", "mrr"], ["compare", path, f"a={other}", "-m", "mrr"], matching):
        result = run(*map(str, command))
        assert (result.code, message in result.err) == (2, True)


def test_f85_a_file_with_grades_and_scores_is_both(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "both.csv"
    path.write_text("user,item,grade,score\na,x,0,0.5\na,y,1,0.25\n", encoding="utf-8")
    assert evaluated("mrr", truth=path, predictions=path) == (0.5, [])
    assert run("evaluate", str(path), str(path), "-m", "mrr").code == 0
    result = run("evaluate", str(path), str(path), "-m", "mrr", "--exclude", str(path))
    assert (result.code, "exclude: expected another input than the truth" in result.err) == (2, True)


# --- the test pairs alone


def pairs_alone(users: int = 12) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a truth, and a score for each of its pairs."""
    random = np.random.default_rng(3)
    truth = {f"u{user}": [f"i{item}" for item in range(user, user + 1 + user % 4)] for user in range(users)}
    return truth, {user: {item: random.random() for item in row} for user, row in truth.items()}


ALONE = "are relevant, as if the test items alone were scored: rank all items for each user"


def test_f85_predictions_of_the_test_pairs_alone() -> None:
    truth, scores = pairs_alone()
    lists = {user: sorted(row, key=row.get) for user, row in scores.items()}
    for predictions in (scores, lists, list(lists.values())):
        one: Any = truth if isinstance(predictions, dict) else list(truth.values())
        value, texts = evaluated("precision(precision_over=list)", truth=one, predictions=predictions)
        assert (value, sum(ALONE in text for text in texts)) == (1.0, 1)
    for call in ways(truth, scores):
        assert sum(ALONE in text for text in outcome_of(call)[1]) == 1
    single = {f"u{user}": {f"i{user}": 0.5} for user in range(20)}
    assert ALONE in evaluated("mrr", truth={u: list(row) for u, row in single.items()}, predictions=single)[1][-1]


def test_f85_other_predictions_are_quiet() -> None:
    truth, scores = pairs_alone()
    few = list(truth)[:9]
    more = {user: row | {"other": 0.1} if user == "u5" else row for user, row in scores.items()}
    graded = {user: {item: 1.0 + 4 * (n > 0) for n, item in enumerate(row)} for user, row in truth.items()}
    zero = {user: dict.fromkeys(row, 1.0) | ({"i11": 0.0} if user == "u11" else {}) for user, row in truth.items()}
    cases: list[tuple[Any, Any, str, dict[str, Any]]] = [
        ({user: truth[user] for user in few}, {user: scores[user] for user in few}, "mrr", {}),
        (truth, more, "mrr", {}),
        (truth | {"u3": ["i3"]}, scores, "mrr", {}),
        (graded, scores, "mrr", {"convention": {"min_grade": 4}}),
        (graded, scores, "mrr(min_grade=4)", {}),
        (zero, scores, "mrr", {}),
        (truth, scores, "auc", {}),
        (list(truth.values()), [[row[0]] for row in truth.values()], "precision@1", {}),
        ([[1, 2]] * 40, [[2, 1]] * 40, "recall@2", {}),
    ]
    for one, predictions, metric, options in cases:
        assert not any(ALONE in text for text in evaluated(metric, truth=one, predictions=predictions, **options)[1])


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array, exactk.Truth.from_dense])
def test_a_truth_in_which_all_is_relevant_is_told_of(make: Any) -> None:
    """Scores and flags in the other order, as some libraries have them, or a matrix of ratings."""
    draw = np.random.default_rng(0)
    scores, flags = draw.random((50, 40)) + 0.1, (draw.random((50, 40)) < 0.1).astype(float)
    value, texts = evaluated("mrr", truth=make(scores), predictions=flags)
    assert value == 1.0
    assert any(ALONE in text and text.endswith("; the truth comes first") for text in texts)
    for truth in (np.where(draw.random((50, 40)) < 0.5, scores, 0), flags):
        assert not any(ALONE in text for text in evaluated("mrr", truth=make(truth), predictions=scores)[1])
    given: dict[str, Any] = {"truth": make(np.ceil(5 * scores)), "predictions": scores}
    assert not any(ALONE in text for text in evaluated("mrr", **given, convention={"min_grade": 4})[1])


def test_padded_lists_of_nobody_are_no_sign() -> None:
    report = exactk.evaluate([{1: 0.0}], np.full((1, 3), -1), "hit_rate@1(empty_truth=zero)")
    assert report.counts["empty_predictions"] == 1


@pytest.mark.parametrize("first", [0, 1])
def test_f83_a_matrix_of_ranks_is_told_of(first: int) -> None:
    """The worst item of each user would be the best."""
    draw = np.random.default_rng(first)
    scores = draw.random((12, 8))
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + float(first)
    truth = [[int(one)] for one in draw.integers(8, size=12)]
    for predictions in (exactk.Scores(ranks.astype(int)), ranks.astype("f4"), ranks):
        with pytest.warns(exactk.EvaluationWarning, match="as ranks would be"):
            exactk.evaluate(truth, predictions, "mrr")
    with pytest.warns(exactk.EvaluationWarning, match="as ranks would be") as caught:
        exactk.evaluate(truth, ranks, "mrr", exclude=[[]] * 12)
    lines = re.findall(r"predictions=(\S+(?: / 2)?) if they", str(caught[0].message))
    for line, order in zip(lines, (scores, -scores), strict=True):
        given = eval(line, {"predictions": ranks})  # noqa: S307 - the hint
        assert exactk.evaluate(truth, given, "mrr")["mrr"] == exactk.evaluate(truth, order, "mrr")["mrr"]
    exactk.evaluate([[0], [1]], np.array([[3.0, 1, 2], [1, 2, 3]]), "mrr")  # too few to tell
