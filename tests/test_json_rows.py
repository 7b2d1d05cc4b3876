"""Rows of JSON that hold more than one input, or that search engines write: RAG, judgments and responses."""

from __future__ import annotations

import copy
import json
import warnings
from contextlib import chdir
from functools import reduce
from itertools import pairwise
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from strategies import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commands import Run

EXPECTED = {"q1": ["a"], "q2": ["c", "b"], "q3": ["d"]}
RETRIEVED = {"q1": ["b", "a"], "q2": ["c"], "q3": []}
TEXTS = {"q1": "who was it", "q2": "when was it", "q3": "why"}
METRICS = ["mrr", "recall@1", "ndcg"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(rows: list[dict[str, Any]]) -> str:
    Path("rag.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "rag.jsonl"


def in_list(rows: Any) -> str:
    Path("rag.json").write_text(json.dumps(rows, indent=1))
    return "rag.json"


def parquet(rows: list[dict[str, Any]]) -> str:
    pa.parquet.write_table(pa.Table.from_pylist(rows), "rag.parquet")
    return "rag.parquet"


WRITERS: list[Callable[[list[dict[str, Any]]], str]] = [lines, in_list, parquet]


def rag(truth: str = "expected_ids", predictions: str = "retrieved_ids", **fields: Any) -> list[dict[str, Any]]:
    """Return one object per query."""
    return [
        {
            **{name: of_query[query] for name, of_query in fields.items()},
            truth: EXPECTED[query],
            predictions: RETRIEVED[query],
        }
        for query in EXPECTED
    ]


QUERIES = dict(zip(EXPECTED, EXPECTED, strict=True))
NAMES = [
    ("expected_ids", "retrieved_ids"),
    ("reference_context_ids", "retrieved_context_ids"),
    ("ground_truth", "contexts"),
    ("groundTruthIds", "contextIds"),
    ("relevant_docs", "predicted_docs"),
    ("gold", "retrieved"),
]


def quiet(truth: Any, predictions: Any, **options: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return dict(exactk.evaluate(truth, predictions, METRICS, **options))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("names", NAMES)
def test_one_file_has_both_sides(names: tuple[str, str], write: Any) -> None:
    path = write(rag(*names, query_id=QUERIES, query=TEXTS, answer=TEXTS))
    assert quiet(path, path) == dict(exactk.evaluate(EXPECTED, RETRIEVED, METRICS))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("user", ["id", "question", "user_input", "query"])
def test_the_query_is_what_is_beside_the_lists(user: str, write: Any) -> None:
    fields: dict[str, Any] = {user: TEXTS, "response": TEXTS}
    path = write(rag(**fields))
    assert quiet(path, path) == dict(exactk.evaluate(EXPECTED, RETRIEVED, METRICS))


@pytest.mark.parametrize("write", WRITERS)
def test_either_side_may_hold_hits(write: Any, run: Run) -> None:
    rows = rag(query_id=QUERIES)
    for row in rows:
        row["expected_ids"] = [{"id": item, "grade": grade} for grade, item in enumerate(row["expected_ids"], 1)]
        row["retrieved_ids"] = [{"id": item, "score": 1 / rank} for rank, item in enumerate(row["retrieved_ids"], 1)]
    path = write(rows)
    truth = {query: {item: grade for grade, item in enumerate(items, 1)} for query, items in EXPECTED.items()}
    assert quiet(path, path) == dict(exactk.evaluate(truth, RETRIEVED, METRICS))
    result = run("evaluate", path, path, "-m", "mrr", "--format", "csv")
    assert result.code == 0


@pytest.mark.parametrize("write", WRITERS)
def test_what_may_be_two_things_is_answered_with_lines_that_read_it(write: Any) -> None:
    path = write(rag(query_id=QUERIES, reference_contexts={query: ["text"] for query in QUERIES}))
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(path, path, METRICS)
    hint = str(caught.value).rpartition("name columns of both: ")[2]
    assert hint.count("item=") == 2
    hint = hint.replace("'reference_contexts'", "'expected_ids'")
    truth, predictions = (eval(line, {"exactk": exactk}) for line in hint.split(" and "))  # noqa: S307 - the hint is our own
    assert quiet(truth, predictions) == dict(exactk.evaluate(EXPECTED, RETRIEVED, METRICS))
    with pytest.raises(exactk.InputError, match="one column for the item, found reference_contexts and expected_ids"):
        exactk.read(path, "truth")


@pytest.mark.parametrize("item", ["expected_ids", "retrieved_ids"])
def test_one_column_is_not_both_sides(item: str) -> None:
    path = lines(rag(query_id=QUERIES))
    with pytest.raises(exactk.InputError, match="expected another input than the truth, found the same file"):
        exactk.evaluate(path, path, METRICS, item=item)


def test_scores_of_one_side_are_none_of_the_other() -> None:
    path = lines(
        rag(query_id=QUERIES, retrieved_scores={query: [0.5] * len(items) for query, items in RETRIEVED.items()})
    )
    with pytest.warns(exactk.EvaluationWarning, match="best first, and 'retrieved_scores' is not used") as caught:
        exactk.evaluate(path, path, "mrr")
    assert not any(str(one.message).startswith("truth") for one in caught)


@pytest.mark.parametrize("write", WRITERS)
def test_rows_without_a_query_are_refused(write: Any) -> None:
    with pytest.raises(exactk.InputError, match=r"each row of lists needs the id of its user"):
        exactk.read(write(rag()), "truth")


JUDGED = {"q1": {"a": 3, "b": 0}, "q2": {"c": 1}}


def rank_eval(index: str = "news", **more: Any) -> dict[str, Any]:
    ratings = {
        query: [{"_index": index, "_id": item, "rating": grade} for item, grade in items.items()]
        for query, items in JUDGED.items()
    }
    requests = [
        {"id": query, "request": {"query": {"match": {"text": query}}}, "ratings": ratings[query]} for query in JUDGED
    ]
    return {"requests": requests, "metric": {"precision": {"k": 20, "relevant_rating_threshold": 1}}, **more}


def opensearch() -> list[dict[str, Any]]:
    """Return judgments, whose ratings are text."""
    ratings = {
        query: [{"docId": item, "rating": f"{grade:.3f}"} for item, grade in items.items()]
        for query, items in JUDGED.items()
    }
    return [{"query": query, "ratings": ratings[query]} for query in JUDGED]


JUDGMENTS: dict[str, Callable[[], str]] = {
    "rank_eval": lambda: in_list(rank_eval()),
    "OpenSearch": lambda: in_list({"name": "j", "type": "IMPORT_JUDGMENT", "judgmentRatings": opensearch()}),
    "OpenSearch, a list": lambda: in_list(opensearch()),
    "OpenSearch, lines": lambda: lines(opensearch()),
}


@pytest.mark.parametrize("form", JUDGMENTS)
def test_judgments_are_a_truth(form: str) -> None:
    path = JUDGMENTS[form]()
    grades = exactk.read(path, "truth").grades
    assert grades is not None
    assert grades.tolist() == [3.0, 0.0, 1.0]
    predictions = {"q1": ["b", "a"], "q2": ["x"]}
    assert quiet(path, predictions) == dict(exactk.evaluate(JUDGED, predictions, METRICS))


@pytest.mark.parametrize(
    ("content", "role", "message"),
    [
        (rank_eval(), "predictions", "expected what a system recommends, found judgments of queries in rag.json"),
        (
            {"requests": rank_eval()["requests"] + rank_eval("web")["requests"]},
            "truth",
            "expected ratings of documents in one index, found news and web in rag.json",
        ),
        ({"requests": [{"id": "q1"}]}, "truth", "in rag.json"),
        ({"requests": [{"id": "q1", "ratings": [{"_id": "a"}]}]}, "truth", "in rag.json"),
        ({"data": [{"id": "a"}, {"id": "b"}]}, "predictions", "in rag.json"),
        ({"data": [{"user": "q1", "item": "a", "score": 1}]}, "predictions", "in rag.json"),
        ([{"id": "x", "data": [{"user": "q1", "item": "a", "score": 1}]}], "predictions", "a column for the user"),
        (
            {"took": 3, "hits": {"hits": []}},
            "predictions",
            "a response, which does not name its query in rag.json; write a",
        ),
        ({"took": 3, "responses": []}, "predictions", "a response, which does not name its query in rag.json; write a"),
    ],
)
def test_what_is_refused(content: Any, role: Any, message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        exactk.read(in_list(content), role)
    assert message in str(caught.value)


def test_responses_of_elasticsearch_with_their_queries_are_read() -> None:
    responses = {
        query: {
            "took": 3,
            "hits": {
                "total": {"value": len(items)},
                "hits": [{"_id": item, "_score": 1 / rank} for rank, item in enumerate(items, 1)],
            },
        }
        for query, items in RETRIEVED.items()
    }
    expected = dict(exactk.evaluate(EXPECTED, RETRIEVED, METRICS))
    assert quiet(EXPECTED, in_list(responses)) == expected
    assert (
        quiet(EXPECTED, lines([{"query_id": query, **response} for query, response in responses.items()])) == expected
    )
    assert (
        quiet(EXPECTED, lines([{"query_id": query, "hits": one["hits"]} for query, one in responses.items()]))
        == expected
    )


def test_rows_in_a_list_have_columns() -> None:
    rows = [
        {"who": query, "what": item, "score": -rank}
        for query, items in RETRIEVED.items()
        for rank, item in enumerate(items)
    ]
    path = in_list(rows)
    read = exactk.read(path, "predictions", user="who", item="what")
    expected = {query: items for query, items in RETRIEVED.items() if items}
    assert quiet(EXPECTED, read) == dict(exactk.evaluate(EXPECTED, expected, METRICS))
    lines([{"who": query, "what": item} for query, items in EXPECTED.items() for item in items])
    assert quiet("rag.jsonl", path, user="who", item="what") == quiet(EXPECTED, read)
    numbers = in_list([{"user": 1, "item": 7, "score": 0.5}])
    as_text = exactk.read(numbers, "predictions", text_ids=True)
    assert exactk.recall_at_k({"1": ["7"]}, as_text, 1) == exactk.recall_at_k({1: [7]}, numbers, 1) == 1


def hits_of(rows: Iterable[Any]) -> dict[str, Any]:
    return {query: [{"docid": item, "score": 9 - rank} for rank, item in enumerate(items)] for query, items in rows}


CORRUPTED: dict[str, tuple[str, list[Any]]] = {
    "hits": ("predictions", [{"qid": query, "hits": hits} for query, hits in hits_of(EXPECTED.items()).items()]),
    "lists": (
        "predictions",
        [{"user": query, "items": items, "scores": [9.0] * len(items)} for query, items in EXPECTED.items()],
    ),
    "RAG truth": ("truth", rag(query_id=QUERIES)),
    "RAG predictions": ("predictions", rag(query_id=QUERIES)),
    "OpenSearch": ("truth", opensearch()),
    "rank_eval": ("truth", rank_eval()["requests"]),
    "rows": ("predictions", [{"user": query, "item": items[0], "score": 1.5} for query, items in EXPECTED.items()]),
}
Steps = tuple[Any, ...]


def paths_in(value: Any, path: Steps = ()) -> Iterator[Steps]:
    """Yield the path of each key and element in a row."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths_in(one, (*path, key))


CHANGES: dict[str, Callable[[Any, Any], object]] = {
    "lost": lambda within, key: within.pop(key),
    "text": lambda within, key: within.__setitem__(key, f"{within[key]}x"),
    "null": lambda within, key: within.__setitem__(key, None),
    "in a list": lambda within, key: within.__setitem__(key, [within[key]]),
    "a number": lambda within, key: within.__setitem__(key, 7),
    "of another name": lambda within, key: within.__setitem__(
        "other" if isinstance(within, dict) else key, within.pop(key) if isinstance(within, dict) else {}
    ),
}


def items_by_user(name: str, role: str, rows: list[Any]) -> dict[str, Any] | None:
    """Return the items of each user, with their values; None if that is an error or warned of."""
    path = lines(rows) if name != "rank_eval" else in_list({"requests": rows})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            given: Any = exactk.read(path, role)  # type: ignore[call-overload]
        except (exactk.ExactkError, exactk.EvaluationWarning):
            return None
    items = given.item_vocabulary.array[given.items].tolist()
    values = getattr(given, "scores", None) if role == "predictions" else given.grades
    pairs = list(zip(items, items if values is None else values.tolist(), strict=True))
    users = given.user_vocabulary.array.tolist()
    return {user: pairs[begin:end] for user, (begin, end) in zip(users, pairwise(given.indptr.tolist()), strict=True)}


@settings(max_examples=examples(300))
@given(st.sampled_from([*CORRUPTED]), st.sampled_from([*CHANGES]), st.integers(0, 99), st.integers(0, 99))
def test_a_corrupted_object_never_changes_what_the_others_mean(name: str, change: str, row: int, at: int) -> None:
    role, given_rows = CORRUPTED[name]
    with TemporaryDirectory() as folder, chdir(folder):
        rows = copy.deepcopy(given_rows)
        whole = items_by_user(name, role, rows)
        assert whole is not None
        paths = list(paths_in(rows[row % len(rows)]))
        *steps, last = paths[at % len(paths)]
        CHANGES[change](reduce(getitem, steps, rows[row % len(rows)]), last)
        found = items_by_user(name, role, rows)
    if found is None:
        return
    others = [user for at, user in enumerate(whole) if at != row % len(rows)]
    assert {user: found.get(user) for user in others} == {user: whole[user] for user in others}


def test_a_null_list_is_told_where_it_is() -> None:
    path = lines([{"query_id": "q1", "results": None}, {"query_id": "q2", "results": [{"id": "a", "score": 1}]}])
    with pytest.raises(exactk.InputError, match=r"expected a field results\[\]\.id, found none"):
        exactk.read(path, "predictions")


def test_hits_of_one_side_are_preferred_to_others() -> None:
    path = lines([{"qid": "q1", "results": [{"id": "b"}, {"id": "a"}], "relevant": [{"id": "a", "grade": 2}]}])
    assert dict(exactk.evaluate(path, path, ["mrr", "P@1"])) == {"mrr": 0.5, "P@1": 0.0}


def test_sides_of_one_file_are_named_on_the_command_line(run: Run) -> None:
    path = lines([{"query": "q1", "expected": ["a"], "gold": ["b"], "retrieved": ["c", "b"], "contexts": ["a"]}])
    refused = run("evaluate", path, path, "-m", "mrr")
    *_, said = refused.err.strip().partition("columns of both: ")
    assert said == "--truth-columns item=expected and --predictions-columns item=retrieved"
    options = said.replace("expected", "gold").replace(" and ", " ").split()
    assert json.loads(run("evaluate", path, path, "-m", "mrr", *options, "--format", "json").out)["reports"][0][
        "values"
    ] == {"mrr": 0.5}
    both = ("--truth-columns", "item=gold", "--predictions-columns", "item=gold")
    for same in (("--item", "gold"), both):
        assert "another input than the truth" in run("evaluate", path, path, "-m", "mrr", *same).err


@pytest.mark.parametrize("count", [1, 600])
def test_columns_are_those_of_hits_wherever_the_first_are(count: int) -> None:
    hits = [{"id": "a", "score": 0.9, "other": 0.1}, {"id": "b", "score": 0.1, "other": 0.9}]
    path = in_list({**{f"empty {at}": [] for at in range(count)}, "q": hits})
    frame = {"first": lines([{"query": "q", "item": "b", "score": 1.0, "other": 1.0}]), "second": path}
    assert exactk.evaluate({"q": ["b"]}, path, "mrr", score="other")["mrr"] == 1.0
    assert exactk.compare({"q": ["b"]}, frame, "mrr", score="other")["mrr"]["second"] == 1.0
