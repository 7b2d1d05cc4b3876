"""Lists of chunks as lists of their documents: as if these had been written by hand."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from commands import Run, assert_refused, write_files
from strategies import examples

ENGINES: dict[str, Any] = {"core": exactk.evaluate, "reference": exactk.reference.evaluate}
SCORES = {"a1": 0.9, "a2": 0.8, "b1": 0.7, "c1": 0.65, "b2": 0.6, "d1": 0.1}
PARENTS = {chunk: chunk[0].upper() for chunk in ("a1", "a2", "b2", "b1", "c1", "d1", "e1")}
TRUTH = {"q": ["B", "D"]}

evaluated = pytest.mark.parametrize("evaluate", ENGINES.values(), ids=ENGINES)


def ranked(chunk_score: str) -> list[str]:
    convention: Any = {"chunk_score": chunk_score}
    return [*exactk.judge(TRUTH, {"q": SCORES}, 4, parents=PARENTS, convention=convention).items[0]]


def test_golden_orders_of_documents() -> None:
    assert ranked("max") == ranked("sum") == list("ABCD")
    assert ranked("mean") == list("ACBD")  # (0.7 + 0.6) / 2 is below 0.65 in double precision
    assert ranked("first") == list("ACBD")  # b2 is listed before b1


@evaluated
def test_golden_values(evaluate: Any) -> None:
    metrics = ["P@3", "recall@3", "ndcg@3", "average_precision@3", "mrr"]
    expected = [1 / 3, 0.5, 0.3868528072, 0.25, 0.5]
    for predictions in ({"q": SCORES}, {"q": list(SCORES)}):
        report = evaluate(TRUTH, predictions, metrics, parents=PARENTS)
        assert list(report.values()) == pytest.approx(expected, abs=1e-10)
    by_mean = evaluate(TRUTH, {"q": SCORES}, "mrr(chunk_score=mean)", parents=PARENTS)
    assert list(by_mean.values()) == [1 / 3]


@evaluated
def test_a_truth_of_chunks_has_the_highest_grade_of_each_document(evaluate: Any) -> None:
    of_chunks = {"q": {"b1": 1.0, "b2": 3.0, "d1": 2.0}}
    of_documents = {"q": {"B": 3.0, "D": 2.0}}
    reports = [evaluate(truth, {"q": SCORES}, "ndcg", parents=PARENTS) for truth in (of_chunks, of_documents)]
    assert reports[0] == reports[1]
    ranked_documents = evaluate(of_documents, {"q": ["A", "B", "D"]}, "ndcg")
    assert evaluate(of_chunks, {"q": ["A", "B", "D"]}, "ndcg", parents=PARENTS)["ndcg"] == ranked_documents["ndcg"]


def containers(folder: Path) -> dict[str, Any]:
    pl = pytest.importorskip("polars", reason="install polars")
    (folder / "p.json").write_text(json.dumps(PARENTS))
    (folder / "p.csv").write_text("chunk,document\n" + "".join(f"{chunk},{one}\n" for chunk, one in PARENTS.items()))
    pairs = {"chunk": list(PARENTS), "document": list(PARENTS.values())}
    pd.DataFrame(pairs).to_parquet(folder / "p.parquet")
    return {
        "mapping": PARENTS,
        "series": pd.Series(PARENTS),
        "frame": pd.DataFrame(pairs),
        "polars": pl.DataFrame(pairs),
        **{f"file {name}": folder / name for name in ("p.json", "p.csv", "p.parquet")},
    }


def test_parents_come_in_any_container(tmp_path: Path) -> None:
    expected = exactk.evaluate(TRUTH, {"q": SCORES}, ["ndcg", "mrr"], parents=PARENTS)
    for name, parents in containers(tmp_path).items():
        assert exactk.evaluate(TRUTH, {"q": SCORES}, ["ndcg", "mrr"], parents=parents) == expected, name


def test_integers_and_ids_that_contain_those_of_documents() -> None:
    assert exactk.evaluate([[7]], [[10, 11, 20]], "mrr", parents={10: 8, 11: 8, 20: 7})["mrr"] == 0.5
    assert exactk.evaluate({"q": ["7"]}, {"q": ["1", "2"]}, "mrr", parents={"1": "8", "2": "7"})["mrr"] == 0.5
    assert exactk.evaluate({"q": ["x"]}, {"q": [10, 20]}, "mrr", parents={10: "y", 20: "x"})["mrr"] == 0.5
    split = exactk.Parents(split="#")
    chunks = {"q": ["a#b#1", "a#b#2", "c", "a#1"]}
    assert exactk.judge({"q": ["a"]}, chunks, 4, parents=split).items.tolist() == [["a#b", "c", "a", None]]
    assert repr(split) == "Parents(split='#')"


def test_a_comparison_and_base_predictions_take_parents() -> None:
    systems: Any = {"chunks": {"q": SCORES}, "documents": {"q": ["A", "B", "C", "D"]}}
    comparison = exactk.compare(TRUTH, systems, "ndcg", parents=PARENTS)
    assert len(set(comparison["ndcg"].values())) == 1
    base: Any = {"q": ["a2", "a1", "e1"]}
    metric = "unexpectedness@2"
    assert exactk.evaluate(TRUTH, {"q": SCORES}, metric, base_predictions=base, parents=PARENTS)[metric] == 0.5


EXACT: Any = {"chunk_score": "sum"}


def test_sums_are_rounded_once() -> None:
    parents = dict.fromkeys("abc", "A") | {"d": "D", "e": "E"}
    scores = {"a": 2.0**60, "d": 0.5, "b": 1.0, "c": -(2.0**60), "e": 1.5}
    with pytest.warns(exactk.EvaluationWarning, match="chunk_score='sum' adds negative scores"):
        judged = exactk.judge({"q": ["A"]}, {"q": scores}, 3, parents=parents, convention=EXACT)
    assert judged.items.tolist() == [["E", "A", "D"]]
    many = exactk.SparseScores([0, 3], [0, 1, 2], np.array([2**62, 1, 2**62 + 1], np.int64))
    judged = exactk.judge([[8]], many, 2, parents={0: 8, 1: 8, 2: 9}, convention=EXACT)
    assert judged.items.tolist() == [[8, 9]]  # a tie once it is rounded
    for pair, order in (((math.inf, 1.0), ["A", "D"]), ((math.inf, -math.inf), ["D", "A"])):
        of_chunks = dict(zip("ab", pair, strict=True)) | {"d": 5.0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            convention: Any = {**EXACT, "nan": "last"}
            judged = exactk.judge({"q": ["A"]}, {"q": of_chunks}, 2, parents=parents, convention=convention)
        assert judged.items.tolist() == [order]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"predictions": {"q": ["a1", "zz"]}}, r"^predictions: .* found 'zz' at row 0, position 1"),
    ({"truth": {"q": ["zz"]}}, r"^truth: expected ids that parents has, .* found 'zz' at row 0, position 0; .* \(user 'q'\)"),
    ({"predictions": {"q": ["A"]}}, "^parents: none of the ids of the truth and the predictions is a chunk, as 'a1' would be$"),
    ({"parents": exactk.Parents(split="#")}, "^parents: none of the ids .* is a chunk, as an id with '#' would be$"),
    ({"truth": {"q": ["B", "E2"]}}, r"parents={\.\.\., 'E2': 'E2'}, or in a file a line E2,E2, lists it if it is a document without"),
    ({"parents": {"A": ["a1", "a2"]}}, "^parents: expected the document of each chunk, found list for 'A'; parents={chunk: document for document, chunks in parents.items"),
    ({"parents": "#"}, r"^parents: .* found no file at '#'; parents=exactk\.Parents\(split='#'\) if it separates"),
    ({"parents": "none.csv"}, "^parents: .* a string is the path of a file$"),
    ({"predictions": {"q": ["a1", "b1", "a1"]}}, "^predictions: expected each chunk once in a list, found item 'a1' again"),
    ({"predictions": {"q": {"a1": math.nan}}}, "^predictions: expected scores without NaN"),
    ({"exclude": {"q": ["a1"]}}, "^exclude: expected documents beside parents, found 'a1', a chunk of 'A'"),
    ({"candidates": ["a1"]}, "^candidates: expected documents beside parents"),
    ({"convention": {"chunk_score": "sum"}}, "^predictions: expected scores of chunks, as chunk_score='sum' needs"),
    ({"metrics": ["mrr(chunk_score=sum)", "mrr"]}, "^metrics: expected one chunk_score for all values"),
    ({"parents": {"a1": "A", "A": "B"}}, "^parents: expected documents that are no chunks of others, found 'A'"),
    ({"parents": pd.DataFrame({"chunk": ["a1"]})}, "^parents: expected two columns: of chunks, and of their documents"),
    ({"parents": pd.DataFrame({"c": ["a", "a"], "d": ["A", "B"]})}, "^parents: expected one document for each chunk, found 'a'.*the first column has the chunks, the second their documents: are they"),
    ({"parents": 3}, "^parents: expected a mapping from chunk to document"),
    ({"parents": {1: 2}}, "integer, string and bytes ids never match"),
    (
        {"parents": exactk.Parents(split="1"), "predictions": {"q": SCORES}, "convention": {"chunk_score": "first"}},
        "^parents: expected parents that lists the chunks in order",
    ),
    ({"predictions": pd.DataFrame({"user": ["q"] * 2, "item": ["a1", "b1"], "rank": [1, 3]}), "convention": {"rank_gaps": "keep"}}, "^predictions: expected ranks without gaps"),
]  # fmt: skip


@evaluated
@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_has_no_meaning_is_refused(evaluate: Any, changes: dict[str, Any], message: str) -> None:
    arguments = {"truth": TRUTH, "predictions": {"q": list(SCORES)}, "metrics": "mrr", "parents": PARENTS, **changes}
    with pytest.raises(exactk.ExactkError, match=message):
        evaluate(**arguments)


def test_what_has_no_lists_of_chunks_is_refused() -> None:
    with pytest.raises(exactk.InputTypeError, match=r"^predictions: .*exactk.topk\(predictions, k\)"):
        exactk.evaluate([[1]], np.array([[0.5, 0.25]]), "mrr", parents={0: 8, 1: 9})
    with pytest.raises(exactk.InputTypeError, match=r"^parents: expected predictions in a container"):
        exactk.evaluate(None, iter([([[1]], [[1]])]), "mrr", parents={1: 2})
    for split in ("", 3):
        with pytest.raises(exactk.ExactkError, match=r"^split: expected"):
            exactk.Parents(split)  # type: ignore[arg-type]
    with pytest.raises(exactk.InputTypeError, match=r"^parents: expected ids that are strings"):
        exactk.evaluate([[1]], [[1]], "mrr", parents=exactk.Parents("#"))


def test_a_repeated_chunk_counts_once_where_repeats_are_collapsed() -> None:
    convention: Any = {"duplicate_items": "collapse", "chunk_score": "sum"}
    scores = exactk.SparseScores([0, 4], [0, 0, 1, 2], [0.5, 0.4, 0.1, 0.7])
    judged = exactk.judge([[8]], scores, 2, parents={0: 8, 1: 8, 2: 9}, convention=convention)
    assert judged.items.tolist() == [[9, 8]]


def test_scores_below_the_least_are_no_chunks() -> None:
    scores = exactk.SparseScores([0, 3], [0, 1, 2], [0.5, 0.4, 0.6], min_score=0.45)
    assert exactk.judge([[8]], scores, 2, parents={0: 8, 1: 8, 2: 9}, convention=EXACT).items.tolist() == [[9, 8]]


CHUNKS = [f"{document}{number}" for document in "abcde" for number in range(3)]


def documents_by_hand(row: dict[str, float] | list[str], chunk_score: str) -> Any:
    if isinstance(row, list):
        return list(dict.fromkeys(chunk[0] for chunk in row))
    of_documents: dict[str, dict[str, float]] = {}
    for chunk, score in row.items():
        of_documents.setdefault(chunk[0], {})[chunk] = score
    how: dict[str, Any] = {
        "max": lambda scores: max(scores.values()),
        "sum": lambda scores: float(sum(map(Fraction, scores.values()))),
        "mean": lambda scores: float(sum(map(Fraction, scores.values()))) / len(scores),
        "first": lambda scores: scores[min(scores, key=CHUNKS.index)],
    }
    return {document: how[chunk_score](scores) for document, scores in of_documents.items()}


@settings(max_examples=examples(200))
@given(data=st.data())
def test_documents_are_those_written_by_hand(data: st.DataObject) -> None:
    chunks = st.sampled_from(CHUNKS)
    numbers = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1e16, 1.0])
    row: Any = st.dictionaries(chunks, numbers, max_size=9)
    chunk_score = data.draw(st.sampled_from(["max", "sum", "mean", "first"]))
    if chunk_score == "max" and data.draw(st.booleans()):
        row = st.lists(chunks, unique=True, max_size=9)
    users = data.draw(st.integers(1, 3))
    rows = {user: data.draw(row) for user in range(users)}
    truth = {
        user: data.draw(st.dictionaries(chunks, st.sampled_from([0.0, 1.0, 2.0]), max_size=4)) for user in range(users)
    }
    of_documents = {
        user: {
            one: max(grade for chunk, grade in grades.items() if chunk[0] == one)
            for one in {chunk[0] for chunk in grades}
        }
        for user, grades in truth.items()
    }
    if data.draw(st.booleans()):
        truth = of_documents
    options: dict[str, Any] = {"per_user": True}
    if data.draw(st.booleans()):
        options["exclude"] = {user: data.draw(st.sets(st.sampled_from("abcde"), max_size=2)) for user in range(users)}
    if data.draw(st.booleans()):
        options["candidates"] = ["a", "b", "d"]
    ties = data.draw(st.sampled_from(["lowest_id", "highest_id", "expected", "shared"]))
    parents = {chunk: chunk[0] for chunk in CHUNKS} | {one: one for one in "abcde"}
    metrics = ["ndcg@2", "recall@3", "mrr", "average_precision"]
    evaluate = data.draw(st.sampled_from([*ENGINES.values()]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        by_hand = {user: documents_by_hand(one, chunk_score) for user, one in rows.items()}
        expected = evaluate(of_documents, by_hand, metrics, convention={"ties": ties}, **options)
        if not any(chunk in one for one in [*rows.values(), *truth.values()] for chunk in CHUNKS):
            return
        convention = {"ties": ties, "chunk_score": chunk_score}
        report = evaluate(truth, rows, metrics, convention=convention, parents=parents, **options)
    assert repr([row.tolist() for row in report.per_user.values()]) == repr(
        [row.tolist() for row in expected.per_user.values()]
    )
    assert report.counts == expected.counts


def test_on_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(
        {
            "a.qrels": "q 0 B 1\nq 0 D 1\n",
            "b.run": "".join(f"q Q0 {chunk} 1 {score} x\n" for chunk, score in SCORES.items()),
            "p.csv": "chunk,document\n" + "".join(f"{chunk},{one}\n" for chunk, one in PARENTS.items()),
            "c.run": "".join(f"q Q0 {PARENTS[chunk]}#{chunk} 1 {score} x\n" for chunk, score in SCORES.items()),
        }
    )
    for arguments in (["b.run", "--parents", "p.csv"], ["c.run", "--parents-split", "#"]):
        result = run("evaluate", "a.qrels", *arguments, "-m", "mrr", "--format", "csv")
        assert (result.code, "0.5" in result.out) == (0, True), result
    assert_refused(run("evaluate", "a.qrels", "b.run", "--parents", "p.csv", "--parents-split", "#"), "--parents-split")


def test_the_command_line_names_its_own_options(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(
        {
            "a.qrels": "q 0 A 1\nq 0 E 1\n",
            "b.run": "q Q0 a1 1 0.9 x\nq Q0 a1 2 0.8 x\n",
            "c.run": "q Q0 a1 1 0.9 x\n",
            "p.csv": "chunk,document\na1,A\n",
            "l.json": '{"A": ["a1"]}',
        }
    )
    for arguments, hint in (
        (["b.run"], "--parents judges chunks as documents"),
        (["c.run", "--parents", "p.csv"], "a line E,E of --parents FILE lists it if it is a document without chunks"),
        (["c.run", "--parents", "#"], "--parents-split '#' if it separates documents from chunks in ids"),
        (["c.run", "--parents", "l.json"], "a JSON object from each chunk to its document"),
    ):
        result = run("evaluate", "a.qrels", *arguments, "-m", "mrr")
        assert_refused(result, hint)
        assert "parents=" not in result.err


@pytest.mark.filterwarnings("ignore:.*negative scores")
def test_sums_are_exact_in_any_order_of_the_chunks() -> None:
    parents = {f"a{number}": "A" for number in range(5)} | {"b": "B"}
    for order in itertools.permutations([1e308, 1e308, -1e308, -1e308, 0.25]):
        scores = {"q": {f"a{number}": score for number, score in enumerate(order)} | {"b": 0.5}}
        report = exactk.evaluate({"q": ["B"]}, scores, "mrr", parents=parents, convention={"chunk_score": "sum"})
        assert report["mrr"] == 1


def test_a_sum_beyond_the_largest_number_is_infinite() -> None:
    parents = {"a1": "A", "a2": "A", "b": "B"}
    scores = {"q": {"a1": 1e308, "a2": 1e308, "b": 1.7e308}}
    report = exactk.evaluate({"q": ["A"]}, scores, "mrr", parents=parents, convention={"chunk_score": "sum"})
    assert report["mrr"] == 1


@pytest.mark.parametrize("metric", ["mrr", "mrr(chunk_score=sum)"])
def test_chunk_score_without_parents_has_no_effect(metric: str) -> None:
    convention = {"chunk_score": "sum"} if metric == "mrr" else {}
    message = "chunk_score has no effect without parents: leave it out"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate([[1]], [[1, 2]], metric, convention=convention)
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.Evaluator(metric, convention=convention)
