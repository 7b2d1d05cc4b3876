"""Hits, which are lists of objects with an item and perhaps a score, in files and frames."""

from __future__ import annotations

import json
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import exactk

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Run

TRUTH: dict[str, dict[str, float]] = {"q1": {"a": 1, "b": 2}, "q2": {"b": 1}, "q3": {"c": 1}}
METRICS = ["ndcg", "recall@1", "num_recommended", "map"]
SCORED: dict[str, dict[str, float]] = {"q1": {"b": 3.0, "x": 4.0, "a": 2.0}, "q2": {"y": 3.0, "b": 4.0}, "q3": {}}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Form(NamedTuple):
    """The names of a form, and its further fields."""

    user: str
    hits: str
    item: str
    score: str = ""
    rank: str = ""
    more: Any = None
    hit: Any = None

    def rows(self, predictions: dict[str, dict[str, float]] = SCORED) -> list[dict[str, Any]]:
        """Return one row per user."""
        return [
            {
                self.user: user,
                **(self.more or {}),
                self.hits: list(map(self._hit, items, self._ranks(items), items.values())),
            }
            for user, items in predictions.items()
        ]

    @staticmethod
    def _ranks(items: dict[str, float]) -> list[int]:
        return [sorted(items.values(), reverse=True).index(score) + 1 for score in items.values()]

    def _hit(self, item: str, rank: int, score: float) -> dict[str, Any]:
        values = {self.item: item, self.rank: rank, self.score: score, **(self.hit or {})}
        return {name: value for name, value in values.items() if name}


FORMS = {
    "sentence-transformers": Form("query_id", "results", "corpus_id", "score", more={"query": "what is it"}),
    "Anserini": Form("qid", "hits", "docid", "score", "rank"),
    "Elasticsearch": Form("id", "hits", "_id", "_score", hit={"_index": "news", "_source": {"title": "t"}}),
    "Qdrant": Form("query_id", "points", "id", "score", hit={"version": 3}),
    "ALS": Form("user", "recommendations", "movieId", "rating"),
    "ALS of another name": Form("user", "recommendations", "sku", "rating"),
    "similarity": Form("query", "docs", "doc_id", "similarity", hit={"text": "words"}),
    "ranks": Form("query_id", "results", "document_id", rank="rank"),
    "ids beside": Form("id", "hits", "id", "score"),
}


def lines(name: str, *rows: Any) -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


def arrow(rows: list[dict[str, Any]]) -> pa.Table:
    """Return the rows as a table, of which the first is sliced off and on again."""
    return pa.Table.from_pylist([*rows[:1], *rows]).slice(1)


def written(name: str, value: Any) -> str:
    Path(name).write_text(json.dumps(value))
    return name


def mapping(rows: list[dict[str, Any]]) -> dict[Any, Any]:
    """Return the hits of each user, who is in the first column."""
    return {row[next(iter(row))]: next(value for value in row.values() if isinstance(value, list)) for row in rows}


def parquet(name: str, rows: list[dict[str, Any]]) -> str:
    pa.parquet.write_table(arrow(rows), name)
    return name


def feather(name: str, rows: list[dict[str, Any]]) -> str:
    pa.feather.write_feather(arrow(rows), name)
    return name


CONTAINERS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "JSON lines": lambda rows: lines("a.jsonl", *rows),
    "JSON lines with the last row first": lambda rows: lines("a.jsonl", *reversed(rows)),
    "Parquet": lambda rows: parquet("a.parquet", rows),
    "Arrow": lambda rows: feather("a.feather", rows),
    "pyarrow": arrow,
    "Polars": lambda rows: pl.from_arrow(arrow(rows)),
    "records": list,
    "JSON": lambda rows: written("a.json", mapping(rows)),
    "mapping": mapping,
}


WITH_COLUMNS = [name for name in CONTAINERS if name not in {"JSON", "mapping"}]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("form", FORMS)
def test_hits_are_what_the_mapping_is(form: str, container: str) -> None:
    """Users without hits have empty lists, also where they come first."""
    expected = exactk.evaluate(TRUTH, SCORED, METRICS)
    predictions = CONTAINERS[container](FORMS[form].rows())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(exactk.evaluate(TRUTH, predictions, METRICS)) == dict(expected)
    assert expected.counts["empty_predictions"] == 1


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["rating", "grade", "relevance", "score"])
def test_hits_of_a_truth_have_grades(container: str, name: str) -> None:
    rows = Form("query", "ratings", "docId", name).rows(TRUTH)
    truth = exactk.as_truth(CONTAINERS[container](rows))
    is_rated = container == "JSON" and name == "rating"  # without the name of the list, which is that of judgments
    with pytest.warns(exactk.EvaluationWarning, match="every rating above 0") if is_rated else nullcontext():
        report = exactk.evaluate(truth, SCORED, METRICS)
    assert dict(report) == dict(exactk.evaluate(TRUTH, SCORED, METRICS))
    assert sorted(truth.grades.tolist()) == [1.0, 1.0, 1.0, 2.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("container", CONTAINERS)
def test_hits_of_exclusions_are_items(container: str) -> None:
    exclude = CONTAINERS[container](FORMS["Anserini"].rows({"q1": {"x": 1.0}, "q2": {"y": 1.0}}))
    expected = exactk.evaluate(TRUTH, SCORED, METRICS, exclude={"q1": ["x"], "q2": ["y"]})
    assert dict(exactk.evaluate(TRUTH, SCORED, METRICS, exclude=exclude)) == dict(expected)


@pytest.mark.parametrize("container", [name for name in WITH_COLUMNS if name != "records"])
def test_fields_are_named_alone_or_with_their_list(container: str, run: Run) -> None:
    rows = Form("member", "found", "sku", hit={"id": "z"}).rows()
    for row in rows:
        row["found"] = [hit | {"far": 5 - SCORED[row["member"]][hit["sku"]]} for hit in row["found"]]
    predictions = CONTAINERS[container](rows)
    expected = dict(exactk.evaluate(TRUTH, SCORED, METRICS))
    for item, rank in (("sku", "far"), ("found[].sku", "found[].far")):
        assert dict(exactk.evaluate(TRUTH, predictions, METRICS, user="member", item=item, rank=rank)) == expected
    if isinstance(predictions, str):
        Path("truth.json").write_text(json.dumps(TRUTH))
        names = ["--user", "member", "--item", "sku", "--rank", "far"]
        assert run("evaluate", "truth.json", predictions, "-m", "ndcg", *names).code == 0


HIT = {"id": "a", "score": 1.0}
REFUSED: dict[str, tuple[Any, str]] = {
    "two items": ([HIT | {"doc_id": "d"}], "one column for the item, found hits[].id and hits[].doc_id in "),
    "no score": ([HIT, {"id": "b"}], "a field hits[].score, found none at line 2 of"),
    "no item": ([HIT, {"score": 0.5}], "a field hits[].id, found none at line 2 of"),
    "null": ([HIT, None], "a field hits[].id, found none at line 2 of"),
    "text as score": ([HIT, {"id": "b", "score": "0.5"}], "in the field hits[].score, found '0.5' at line 2 of"),
    "number as item": ([HIT, {"id": 7, "score": 0.5}], "a string in the field hits[].id, found 7 at line 2 of"),
    "no list": ("a", "a field hits[].id, found none at line 2 of"),
    "an object": ({"a": 1.0}, "a field hits[].id, found none at line 2 of"),
    "no hits": (None, "a field hits[].id, found none at line 2 of"),
    "ranks against scores": ([HIT | {"rank": 2}, {"id": "b", "score": 2.0, "rank": 3}], "that give the same order"),
    "ranks twice": ([HIT | {"rank": 2}, {"id": "b", "score": 2.0, "rank": 2}], "distinct ranks, found 2 twice"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    hits, message = REFUSED[case]
    has_rank = case.startswith("ranks")
    first = [hits[0]] if case == "two items" else [HIT | ({"rank": 1} if has_rank else {})]
    path = lines("a.jsonl", {"qid": "q1", "hits": first}, {"qid": "q2", "hits": hits})
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        exactk.read(path, "predictions")
    assert message in str(caught.value)
    assert "a.jsonl" in str(caught.value)


@pytest.mark.parametrize("container", WITH_COLUMNS)
def test_fields_with_parts_are_no_columns(container: str) -> None:
    rows = [{"user": "q1", "hits": [{"item": {"id": "a"}, "parts": ["b"], "score": 0.5}]}]
    with pytest.raises(exactk.InputError, match=r"a column for the item.* found the columns user, hits\[\]\.score"):
        exactk.as_predictions(CONTAINERS[container](rows))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"user": "u", "query": "q", "item": "a", "score": 1.0}, "one column for the user, found user and query"),
        ({"id": 7, "item": "a", "tags": ["x"], "score": 1.0}, "a column for the user"),
        ({"id": "x", "data": [{"user": "u", "item": "a", "score": 1.0}]}, "a column for the user"),
        ({"id": 7, "tags": [{"name": "x", "count": 3}], "item": "a", "score": 1.0}, "a column for the user"),
    ],
)
def test_what_is_beside_items_is_no_user_unless_it_must_be(row: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.InputError, match=message):
        exactk.as_predictions(pa.Table.from_pylist([row]))
    with pytest.raises(exactk.InputError, match=message):
        exactk.read(lines("a.jsonl", row), "predictions")


@pytest.mark.parametrize("name", ["relevant", "expected", "gold", "predicted_rating"])
def test_numbers_of_any_name_beside_items_are_warned_of(name: str) -> None:
    rows = [{"user": "q1", "item": "a", name: 0}, {"user": "q1", "item": "b", name: 1}]
    for truth in (pa.Table.from_pylist(rows), lines("a.jsonl", *rows)):
        with pytest.warns(exactk.EvaluationWarning, match=f"'{name}' is not used"):
            exactk.evaluate(truth, SCORED, "recall@1")


@pytest.mark.parametrize("field", [{"score": 1.0}, {"item_id": "b"}])
def test_fields_that_only_later_hits_have_are_refused_in_containers(field: dict[str, Any]) -> None:
    hits: list[list[Any]] = [[{"sku": "a", "rank": 1}], [{"sku": "b", "rank": 1} | field]]
    if "score" in field:
        hits = [[{"id": "a", "parts": [{}]}], [{"id": "b", "doc": {"x": 1}}, {"id": "c"} | field]]
    for rows in ([{"query_id": str(at), "hits": one} for at, one in enumerate(hits)], dict(enumerate(hits)), hits):
        with pytest.raises((exactk.InputTypeError, exactk.InputError), match="found one without"):
            exactk.as_predictions(rows)


def test_frames_of_pandas_have_the_line_that_reads_hits() -> None:
    frame = pd.DataFrame(FORMS["sentence-transformers"].rows())
    with pytest.raises(exactk.InputError, match="a column for the item") as caught:
        exactk.as_predictions(frame)
    line = (
        str(caught.value).rpartition("; predictions=")[2].removesuffix(" has the fields of records in lists as columns")
    )
    predictions = eval(line, {"predictions": frame})  # noqa: S307 - the hint is our own
    assert dict(exactk.evaluate(TRUTH, predictions, METRICS)) == dict(exactk.evaluate(TRUTH, SCORED, METRICS))


def test_ids_in_hits_of_json_are_text_on_demand() -> None:
    path = written("a.json", {"1": [{"docid": 7, "score": 0.5}], "2": None})
    predictions = exactk.read(path, "predictions", text_ids=True)
    assert exactk.recall_at_k({"1": ["7"]}, predictions, 1) == 1
    assert exactk.recall_at_k({"1": [7]}, exactk.read(path, "predictions", item="docid"), 1) == 1


def test_scores_that_only_later_hits_have_are_refused() -> None:
    """Else they would be left out, and lists would be in another order."""
    path = lines("a.jsonl", {"qid": "q1", "hits": [{"id": "a"}]}, {"qid": "q2", "hits": [{"id": "a"}, HIT]})
    message = r"expected no field hits\[\]\.score, as in the first line, found one at line 2 of a\.jsonl"
    with pytest.raises(exactk.InputError, match=message):
        exactk.read(path, "predictions")


@pytest.mark.parametrize("container", WITH_COLUMNS)
def test_what_does_not_order_the_hits_is_warned_of(container: str) -> None:
    """A distance is no score: the lowest is best."""
    rows = Form("query_id", "hits", "id", hit={"distance": 0.5}).rows({"q1": {"a": 0.5}})
    message = r"the items are best first, and 'hits\[\]\.distance' is not used; rank='hits\[\]\.distance' orders by it"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate(TRUTH, CONTAINERS[container](rows), "recall@1")


def test_events_of_otto_all_count_and_are_warned_of() -> None:
    events = [{"aid": 5, "ts": 1661724000278, "type": "clicks"}, {"aid": 6, "ts": 1661724000279, "type": "carts"}]
    path = lines("otto.jsonl", {"session": 1, "events": events})
    message = r"every item counts as relevant.*'events\[\]\.type' is not used; pass the rows of one value"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        assert exactk.evaluate(path, {1: [5, 7]}, "recall@2")["recall@2"] == 0.5


def test_rows_of_beir_and_mteb_have_grades_as_a_truth_and_scores_as_predictions() -> None:
    rows = [
        {"query-id": user, "corpus-id": item, "score": score}
        for user, items in TRUTH.items()
        for item, score in items.items()
    ]
    path = lines("test.jsonl", *rows)
    Path("test.tsv").write_text(
        "".join("\t".join(map(str, row)) + "\n" for row in (rows[0], *(row.values() for row in rows)))
    )
    expected = dict(exactk.evaluate(TRUTH, SCORED, METRICS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for truth in (path, "test.tsv", pa.Table.from_pylist(rows)):
            assert dict(exactk.evaluate(truth, SCORED, METRICS)) == expected
    read = exactk.read(path, "predictions")
    assert isinstance(read, exactk.SparseScores)
    assert read.scores.tolist() == [1.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("role", ["truth", "predictions", "exclude"])
def test_a_corpus_is_refused_for_what_it_is(role: Any) -> None:
    path = lines("corpus.jsonl", {"_id": "d1", "title": "", "text": "words", "metadata": {}})
    with pytest.raises(
        exactk.InputError, match="; _id and text are those of a corpus or of queries, and judgments are in"
    ):
        exactk.read(path, role)
