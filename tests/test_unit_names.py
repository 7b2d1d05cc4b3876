"""What users and items are called: in which calls which words, and that no output of such a call has others."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import exactk
from commands import QRELS, RUN, assert_refused, write_files
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames, plural_of
from exactk._sharded.reduction import report_of_buckets
from sharded_rows import plan_of_tables, results_of
from warned import result_and_warnings, warnings_of

if TYPE_CHECKING:
    from commands import Run

USERS, QUERIES, QUESTIONS = ("user", "item"), ("query", "document"), ("question", "chunk")
quiet = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
pytestmark = quiet


def frame(user: str, item: str, *, scored: bool = False) -> pd.DataFrame:
    columns: dict[str, Any] = {user: ["a", "a", "b"], item: ["x", "y", "z"]}
    return pd.DataFrame(columns | ({"score": [3.0, 2.0, 1.0]} if scored else {}))


def both(user: str, item: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    return frame(user, item), frame(user, item, scored=True)


MAPPINGS = ({"a": ["x"], "b": ["z"]}, {"a": ["x", "q"], "b": ["q"]})
NO_COLUMN = {"user": "key", "item": "thing"}
CASES: dict[str, tuple[tuple[Any, Any], dict[str, Any], tuple[str, str]]] = {
    "lists": (([[1], [2]], [[1, 3], [2]]), {}, USERS),
    "mappings": (MAPPINGS, {}, USERS),
    "user_id, item_id": (both("user_id", "item_id"), {}, USERS),
    "query_id, doc_id": (both("query_id", "doc_id"), {}, QUERIES),
    "qid, docno": (both("qid", "docno"), {}, QUERIES),
    "Query, Document": (both("Query", "Document"), {}, QUERIES),
    "topic, docid": (both("topic", "docid"), {}, QUERIES),
    "BEIR": (both("query-id", "corpus-id"), {"item": "corpus-id"}, QUERIES),
    "corpus_id": (both("query_id", "corpus_id"), {"item": "corpus_id"}, QUERIES),
    "queries of products": (both("query_id", "product_id"), {}, ("query", "item")),
    "users of documents": (both("user_id", "doc_id"), {}, ("user", "document")),
    "a name that says nothing, beside a query": (both("qid", "thing"), {"item": "thing"}, QUERIES),
    "a name that says nothing, beside a document": (both("key", "docno"), {"user": "key"}, QUERIES),
    "names that say nothing": (both("key", "thing"), NO_COLUMN, USERS),
    "one input names queries": ((frame("query_id", "doc_id"), MAPPINGS[1]), {}, QUERIES),
    "queries and users": (
        (frame("query_id", "doc_id"), frame("user_id", "doc_id", scored=True)),
        {},
        ("user", "document"),
    ),
    "a preset of search": (MAPPINGS, {"convention": "ranx"}, QUERIES),
    "one that was changed": (MAPPINGS, {"convention": {"base": "trec_eval", "ties": "input_order"}}, QUERIES),
    "a preset of recommenders": (MAPPINGS, {"convention": "recbole"}, USERS),
    "a preset of search, and users": (both("user_id", "item_id"), {"convention": "trec_eval"}, USERS),
    "names beside columns": (both("query_id", "doc_id"), {"unit_names": QUESTIONS}, QUESTIONS),
    "names beside a preset": (MAPPINGS, {"convention": "ranx", "unit_names": USERS}, USERS),
    "names beside lists": (([[1], [2]], [[1, 3], [2]]), {"unit_names": ["question", "chunk"]}, QUESTIONS),
}


@pytest.mark.parametrize("case", CASES)
def test_inputs_name_their_units(case: str) -> None:
    (truth, predictions), options, names = CASES[case]
    report = exactk.evaluate(truth, predictions, "recall@1", **options)
    assert report.unit_names == names
    assert f"2 {plural_of(names[0])}" in repr(report)


@pytest.mark.parametrize("case", CASES)
def test_words_change_no_number(case: str) -> None:
    (truth, predictions), options, _ = CASES[case]
    report = exactk.evaluate(truth, predictions, "recall@1", **options)
    other = exactk.evaluate(truth, predictions, "recall@1", **{**options, "unit_names": ("dog", "bone")})
    assert (report.state, dict(report)) == (other.state, dict(other))


def test_containers_keep_the_words_of_their_columns() -> None:
    truth, predictions = both("qid", "docno")
    converted = exactk.as_truth(truth), exactk.as_predictions(predictions)
    assert exactk.evaluate(*converted, "recall@1").unit_names == QUERIES
    assert exactk.evaluate(MAPPINGS[0], converted[1], "recall@1").unit_names == QUERIES


def test_trec_files_are_of_queries_and_documents(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    assert exactk.evaluate(tmp_path / "qrels", tmp_path / "run", "recall@1").unit_names == QUERIES
    read = exactk.read(tmp_path / "qrels", "truth"), exactk.read(tmp_path / "run", "predictions")
    assert exactk.evaluate(*read, "recall@1").unit_names == QUERIES


def report_of_queries(**options: Any) -> exactk.Report:
    truth = {"q1": ["d1", "d2"], "q2": ["d3"], "q3": ["d4"]}
    predictions = {"q1": {"d1": 2.0, "d9": 1.0}, "q2": {"d8": 2.0}}
    return exactk.evaluate(truth, predictions, ["recall@2", "ndcg@2"], unit_names=QUERIES, **options)


def comparison_of_queries(**options: Any) -> exactk.Comparison:
    truth = {f"q{i}": [1] for i in range(30)}
    one = {f"q{i}": [1] if i % 3 else [2] for i in range(29)}
    other = {f"q{i}": [1] if i % 2 else [2] for i in range(30)}
    return exactk.compare(
        truth, {"one": one, "other": other}, ["recall@1", "P@1"], unit_names=QUERIES, per_user=True, **options
    )


def assert_no_users(text: str) -> None:
    """Assert that prose has no word of recommenders; names of code and JSON stay."""
    prose = re.sub(
        r"<script.*?</script>|<style.*?</style>|(users|items)=|id=\"users\"|#users|users-title",
        "",
        text,
        flags=re.DOTALL,
    )
    prose = re.sub(r"exactk\.Items|items=exactk", "", prose)
    found = re.search(r".{0,40}\b(users?|items?)\b.{0,40}", prose, re.IGNORECASE)
    assert found is None, found


OUTPUTS: dict[str, Any] = {
    "a report": lambda: repr(report_of_queries()),
    "its state": lambda: repr(report_of_queries().state),
    "its page": lambda: report_of_queries(per_user=True).to_html(),
    "its table of queries": lambda: report_of_queries(per_user=True).to_csv(table="per_user"),
    "its diagnostics": lambda: report_of_queries().to_markdown(diagnostics=True),
    "its groups": lambda: repr(report_of_queries(groups={"q1": "a", "q2": "b", "q3": "b"})),
    "a comparison": lambda: repr(comparison_of_queries()),
    "its diagnostics too": lambda: comparison_of_queries().to_markdown(diagnostics=True),
    "its table in LaTeX": lambda: comparison_of_queries().to_latex(),
    "its differences": lambda: repr(comparison_of_queries().differences),
    "those of a baseline": lambda: repr(comparison_of_queries(baseline="one").differences),
    "those of groups": lambda: repr(
        comparison_of_queries(groups={f"q{i}": i % 2 for i in range(30)}).differences.by_group
    ),
    "a gate": lambda: repr(comparison_of_queries(baseline="one").check(better="P@1", equivalent={"P@1": "10%"})),
    "its page of two": lambda: comparison_of_queries().to_html(),
    "judged lists": lambda: repr(exactk.judge({"q1": ["d1"]}, {"q1": ["d1"]}, 1, unit_names=QUERIES)),
    "their table": lambda: exactk.judge({"q1": ["d1"]}, {"q1": ["d1"]}, 1, unit_names=QUERIES).to_csv(),
    "the worst": lambda: repr(report_of_queries(per_user=True).worst("ndcg@2")),
    "the largest losses": lambda: repr(comparison_of_queries(baseline="one").worst("P@1")),
    "an explanation": lambda: repr(exactk.explain({"q1": ["d1"]}, {"q1": ["d1"]}, "q1", "P@1", unit_names=QUERIES)),
    "a pickle": lambda: repr(pickle.loads(pickle.dumps(comparison_of_queries())).differences),  # noqa: S301 - our own
    "agreement": lambda: repr(exactk.agreement({"q1": [1]}, {"q1": [1], "q2": [2]}, unit_names=QUERIES)),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_has_the_words(output: str) -> None:
    text = OUTPUTS[output]()
    assert re.search(r"\b(quer(y|ies)|documents?)\b", text)
    assert_no_users(text)


def test_counts_are_of_queries_and_documents() -> None:
    text = repr(report_of_queries())
    assert "3 queries" in text
    assert "1 query without predictions" in text
    assert "2 relevant documents not rankable" in text


def test_frames_have_columns_of_these_names() -> None:
    assert list(report_of_queries(per_user=True).to_pandas("per_user")) == ["query", "recall@2", "ndcg@2"]
    judged = exactk.judge({"q1": ["d1"]}, {"q1": ["d1"]}, 1, unit_names=QUERIES)
    assert list(judged.to_pandas()) == ["query", "rank", "document", "grade", "hit"]


def test_keys_of_json_stay() -> None:
    ours, usual = (
        json.loads(exactk.evaluate(*MAPPINGS, "recall@1", unit_names=one).to_json()) for one in (QUERIES, None)
    )
    assert ours["reports"][0]["state"].pop("unit_names") == list(QUERIES)
    assert ours == usual


def refused(call: Any) -> exactk.ExactkError:
    with pytest.raises(exactk.ExactkError) as caught:
        call()
    return caught.value


QUERY_FRAMES = both("query_id", "doc_id")
ERRORS: dict[str, tuple[Any, str]] = {
    "a repeated document": (
        lambda: exactk.evaluate({"a": ["x"]}, {"a": ["x", "x"]}, unit_names=QUERIES),
        "predictions: expected each document once in a list, found document 'x' again",
    ),
    "no column": (
        lambda: exactk.evaluate(QUERY_FRAMES[0], QUERY_FRAMES[1].rename(columns={"doc_id": "foo"})),
        "predictions: expected a column for the document, such as item, item_id, iid, found the columns query_id, foo, score",
    ),
    "columns that have our words": (
        lambda: exactk.evaluate(both("user", "items2")[0], MAPPINGS[1], unit_names=QUESTIONS),
        (
            "a column for the chunk, such as item, item_id, iid, found the columns user, items2; "
            "name it, for example with item='items2'"
        ),
    ),
    "no weight": (
        lambda: exactk.evaluate(*QUERY_FRAMES, weights={"a": 1.0}),
        "a weight for every query in the mean of precision@10 (users='truth'), found none (query 'b')",
    ),
    "a score of NaN": (
        lambda: exactk.evaluate(QUERY_FRAMES[0], QUERY_FRAMES[1].assign(score=float("nan"))),
        "(query 'a')",
    ),
    "no values of queries": (
        lambda: report_of_queries().to_pandas("per_user"),
        "table: expected per-query values, found none; per_user=True keeps them",
    ),
    "reports without values": (
        lambda: exactk.compare_reports({"a": report_of_queries(), "b": report_of_queries()}).differences,
        "reports: expected reports with the queries' values",
    ),
    "a query in two parts": (
        lambda: exactk.merge([report_of_queries(), report_of_queries()]),
        "parts: expected each query in one part, found 'q1' in several; queries of the predictions count too",
    ),
    "judged": (
        lambda: exactk.judge({"a": ["x"]}, {"a": ["x", "x"]}, 2, unit_names=QUERIES),
        "expected each document once in a list",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_have_the_words_and_keep_names(case: str) -> None:
    call, expected = ERRORS[case]
    assert expected in str(refused(call))


def test_names_of_columns_are_no_units() -> None:
    explanation = exactk.explain({"u": ["x"]}, {"u": {"x": 1.0}}, "u", "mrr")
    comparison = exactk.compare(MAPPINGS[0], {"one": MAPPINGS[1], "two": {"a": ["x"]}}, "mrr", per_user=True)
    tables = explanation, exactk.judge(*MAPPINGS, 1), comparison.worst("mrr", "one", baseline="two")
    columns = {name for table in tables for name in map(str, table.to_pandas()) if name.isalpha()}
    for name in columns - {*USERS, "one", "two"}:
        with pytest.raises(exactk.InputError, match=f"found '{name}', which names another column of tables"):
            exactk.evaluate(*MAPPINGS, "mrr", unit_names=("query", name))


def test_names_of_variables_in_hints_stay() -> None:
    with pytest.raises(
        exactk.InputTypeError, match=r"zip\(users, groups\)\), where users are the questions of the entries"
    ):
        exactk.evaluate(*MAPPINGS, "mrr", groups=["a", "b"], unit_names=QUESTIONS)
    with pytest.raises(exactk.InputTypeError, match=r"for user in users\], where users are the questions of the rows"):
        exactk.evaluate([[1]], [[1]], "mrr", groups={"a": "b"}, unit_names=QUESTIONS)


def test_code_in_hints_stays() -> None:
    truth, predictions = {"user": ["item"]}, {"user": ["item", "item"]}
    error = refused(lambda: exactk.evaluate([truth["user"]], predictions, unit_names=QUESTIONS))
    usual = refused(lambda: exactk.evaluate([truth["user"]], predictions))
    assert "dict(zip(users, truth))" in str(error)
    assert str(error) == UnitNames(*QUESTIONS).text(str(usual))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an item of users whom a lacks", "a chunk of questions that a lacks"),
        ("Users who lose, and a user's whole list", "Questions that lose, and a question's whole list"),
        ("rows of by-user/user-2, per-user items", "rows of by-user/user-2, per-question chunks"),
        ("items in user-2.csv, by-user.runs.gz", "chunks in user-2.csv, by-user.runs.gz"),
    ],
)
def test_pronouns_follow_and_paths_stay(text: str, expected: str) -> None:
    assert UnitNames(*QUESTIONS).text(text) == expected
    assert USERS_AND_ITEMS.text(text) == text


def test_keys_and_paths_in_warnings_stay(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("user-1 0 d1 1\nuser-1 0 d2 1\n")
    (tmp_path / "user-2.run").write_text("user-1 Q0 d1 1 0.5 t\nuser-1 Q0 d2 2 0.9 t\n")
    (text,) = warnings_of(lambda: exactk.evaluate(tmp_path / "qrels", tmp_path / "user-2.run", "mrr"))
    assert f"contradict their scores in {tmp_path / 'user-2.run'}, first user-1; scores decide" in text


def test_fields_in_errors_stay(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    path.write_text('{"user": "a", "item": ["x"]}\n{"user": "b"}\n')
    error = refused(lambda: exactk.evaluate({"a": ["x"]}, path, "recall@1", unit_names=QUERIES))
    assert "predictions: expected a field item, found none at line 2" in str(error)


def test_warnings_have_the_words() -> None:
    truth, predictions = QUERY_FRAMES[0], QUERY_FRAMES[1].assign(doc_id=["n", "m", "o"])
    assert any(
        text.startswith("no document of the truth (such as 'x') is in the predictions") and "document ids" in text
        for text in warnings_of(lambda: exactk.evaluate(truth, predictions, "recall@1"))
    )
    assert "items has no effect on the requested metrics: leave it out" in warnings_of(
        lambda: exactk.evaluate(truth, predictions, "recall@1", items=exactk.Items(["x"]))
    )


def test_updates_of_an_evaluator_are_of_its_units() -> None:
    named, detected = exactk.Evaluator("recall@1", unit_names=QUESTIONS), exactk.Evaluator("recall@1")
    assert repr(named) == "<Evaluator of 0 questions: recall@1; convention standard>"
    assert repr(exactk.Evaluator("mrr", convention="ranx")).startswith("<Evaluator of 0 queries: ")
    named.update(*MAPPINGS)
    detected.update(*QUERY_FRAMES)
    assert (named.compute().unit_names, named.state.unit_names) == (QUESTIONS, QUESTIONS)
    assert detected.compute().unit_names == QUERIES
    copied = pickle.loads(pickle.dumps(named))  # noqa: S301 - our own
    copied.update({"c": ["x"]}, {"c": ["x"]})
    assert repr(copied) == "<Evaluator of 3 questions: recall@1; convention standard>"


def test_blocks_are_of_the_units_of_their_columns() -> None:
    truth, predictions = (one.assign(query_id=["c", "c", "d"]) for one in QUERY_FRAMES)
    blocks = iter([QUERY_FRAMES, (truth, predictions)])
    assert exactk.evaluate(None, blocks, "recall@1").unit_names == QUERIES


def state_of(key: str, names: tuple[str, str] | None) -> exactk.State:
    return exactk.evaluate({key: ["x"]}, {key: ["x"]}, "recall@1", unit_names=names).state


def test_merged_states_of_two_kinds_are_of_users_and_items() -> None:
    assert exactk.merge([state_of("a", QUERIES), state_of("b", QUERIES)]).unit_names == QUERIES
    assert exactk.merge([state_of("a", QUERIES), state_of("b", QUESTIONS)]).unit_names == USERS
    assert exactk.merge([state_of("a", QUERIES), state_of("b", None)]).unit_names == USERS
    nobody = exactk.evaluate([], [], "recall@1").state
    assert exactk.merge([nobody, state_of("a", QUERIES)]).unit_names == QUERIES


def test_comparisons_of_two_kinds_are_of_users_and_items() -> None:
    reports = {"a": report_of_queries(per_user=True), "b": report_of_queries(per_user=True)}
    assert exactk.compare_reports(reports).unit_names == QUERIES
    other = exactk.Report(state_of("q1", QUESTIONS))
    assert exactk.compare_reports({"a": other, "b": exactk.Report(state_of("q1", None))}).unit_names == USERS


def test_documents_of_users_and_items_are_as_before() -> None:
    ours, usual = state_of("a", QUERIES), state_of("a", None)
    assert "unit_names" not in usual.to_dict()
    assert usual.to_bytes() == state_of("a", USERS).to_bytes()
    for state in (ours, usual):
        assert exactk.State.from_bytes(state.to_bytes()).unit_names == state.unit_names
        assert exactk.State.from_dict(state.to_dict()).unit_names == state.unit_names
    assert ours == usual


@pytest.mark.parametrize("names", [None, "ab", ["query"], ["query", "query"], ["a b", 3], ["@x", "y"], [["a"], "b"]])
def test_states_with_other_names_are_refused(names: Any) -> None:
    data = state_of("a", QUERIES).to_dict() | {"unit_names": names}
    assert "unit_names" in str(refused(lambda: exactk.State.from_dict(data)))


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ("question", exactk.InputTypeError),
        (3, exactk.InputTypeError),
        (("question",), exactk.InputError),
        (("question", "question"), exactk.InputError),
        (("question", ""), exactk.InputError),
        (("q1", "chunk"), exactk.InputError),
        (("question", None), exactk.InputError),
        (("metric", "chunk"), exactk.InputError),
    ],
)
def test_names_are_two_nouns(names: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="unit_names: expected two singular nouns, of a row and of a column"):
        exactk.evaluate([[1]], [[1]], unit_names=names)


@pytest.mark.parametrize(
    ("noun", "many"),
    [("query", "queries"), ("day", "days"), ("match", "matches"), ("box", "boxes"), ("news item", "news items")],
)
def test_plurals_are_those_of_english(noun: str, many: str) -> None:
    assert plural_of(noun) == many


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an item of a user, 2 items of users", "a document of a query, 2 documents of queries"),
        ("Users' values per user-item pair", "Queries' values per query-document pair"),
        ("'user' is no \"item\" of `users`", "'user' is no \"item\" of `users`"),
        (
            "users=users gives items=, --user, user_id and report.users",
            "users=users gives items=, --user, user_id and report.users",
        ),
        (
            "{user: [item] for user, items in x.items()} of users",
            "{user: [item] for user, items in x.items()} of queries",
        ),
        ("dict(zip(users, x)) (the first of 3 users)", "dict(zip(users, x)) (the first of 3 queries)"),
        ("items: the users", "items: the queries"),
    ],
)
def test_names_of_code_stay(text: str, expected: str) -> None:
    assert UnitNames(*QUERIES).text(text) == expected
    assert USERS_AND_ITEMS.text(text) == text


def test_an_article_is_that_of_its_noun() -> None:
    assert UnitNames("episode", "animal").text("a user has an item") == "an episode has an animal"


def test_engines_have_the_words_of_their_columns() -> None:
    truth, predictions = (pa.Table.from_pandas(one, preserve_index=False) for one in QUERY_FRAMES)
    plan = plan_of_tables(truth, predictions, "recall@1")
    assert report_of_buckets(results_of(plan, [truth, predictions])).unit_names == QUERIES
    odd = pa.Table.from_pandas(QUERY_FRAMES[1].assign(doc_id=["n", "m", "o"]), preserve_index=False)
    results = results_of(plan_of_tables(truth, odd, "recall@1"), [truth, odd])
    report, found = result_and_warnings(lambda: report_of_buckets(results))
    assert report.unit_names == QUERIES
    assert any(text.startswith("no document of the truth") for text in found)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files({"qrels": QRELS, "one.run": RUN, "other.run": RUN.replace("d9", "d2")})


@pytest.mark.usefixtures("files")
def test_the_command_line_has_the_words(run: Run) -> None:
    assert "2 queries" in run("evaluate", "qrels", "one.run").out
    assert "2 questions" in run("evaluate", "qrels", "one.run", "--unit-names", "question,chunk").out
    assert "2 questions" in run("compare", "qrels", "one.run", "other.run", "--unit-names", "question,chunk").out
    assert run("report", "qrels", "one.run", "-o", "page.html", "--unit-names", "question,chunk").code == 0
    assert "2 questions" in Path("page.html").read_text(encoding="utf-8")
    assert_refused(
        run("evaluate", "qrels", "one.run", "--unit-names", "question"), "--unit-names: expected two singular"
    )


@pytest.mark.usefixtures("files")
def test_files_of_values_have_the_words_but_for_json(run: Run) -> None:
    for name in ("values.csv", "values.json"):
        assert run("evaluate", "qrels", "one.run", "-m", "recall@1", "--per-user", name).code == 0
    assert Path("values.csv").read_text().startswith("query,recall@1\n")
    assert list(json.loads(Path("values.json").read_text())[0]) == ["user", "recall@1"]
