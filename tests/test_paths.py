"""Paths wherever containers are: each is what `exactk.read` returns for its argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk
from commands import write_files
from rankings import rankings_of

FILES = {
    "test.qrels": "q1 0 d1 1\nq1 0 d7 2\nq2 0 d1 1\n",
    "bm25.run": "q1 Q0 d7 1 9.5 t\nq1 Q0 d2 2 8.5 t\nq2 Q0 d2 1 8 t\nq2 Q0 d1 2 7 t\n",
    "als.csv": "query,document,score\nq1,d1,3\nq1,d7,1\nq2,d1,2\n",
    "members.csv": "member,sku,grade,score\n1,a,1,0.5\n1,b,0,0.75\n2,b,1,1\n",
    "train.tsv": "query\tdocument\nq1\td2\nq2\td7\n",
    "items.csv": "document\nd7\nd1\n",
    "weights.csv": "query,weight\nq1,1\nq2,3\n",
    "groups.csv": "query,segment\nq1,new\nq2,old\n",
    "weights.json": '{"q1": 1, "q2": 3}',
    "groups.json": '{"q1": "new", "q2": "old"}',
    "items.json": '["d7", "d1"]',
    "lists.json": '{"q1": ["d2"], "q2": ["d1", "d7"]}',
    "years.csv": "query,year\nq1,2020\nq2,2021\n",
    "wide.csv": "query,segment,year\nq1,new,2020\n",
}
METRICS = ["ndcg@1", "recall@2", "num_recommended"]
SCORES = exactk.Scores(np.array([[1.0, 2, 3], [4, 5, 6]]), users=["q1", "q2"], items=["d1", "d2", "d7"])
pytestmark = pytest.mark.filterwarnings("ignore:.*(in exclude|ha(s|ve) no column in the scores)")


class Named:
    """A path of some library."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(FILES)


@pytest.mark.parametrize("as_path", [str, Path, lambda name: Named(Path(name))], ids=["str", "Path", "PathLike"])
def test_a_path_is_what_read_returns(as_path: Callable[[str], Any]) -> None:
    truth, train = exactk.read("test.qrels", "truth"), exactk.read("train.tsv", "exclude")
    for name in ("bm25.run", "als.csv"):
        expected = exactk.evaluate(truth, exactk.read(name, "predictions"), METRICS, exclude=train)
        assert exactk.evaluate(as_path("test.qrels"), as_path(name), METRICS, exclude=as_path("train.tsv")) == expected
        by_definition = exactk.reference.evaluate(as_path("test.qrels"), as_path(name), METRICS, exclude=train)
        assert dict(by_definition) == dict(expected)
        assert exactk.recall_at_k(as_path("test.qrels"), as_path(name), 2, exclude=train) == expected["recall@2"]


def test_systems_and_blocks_are_paths_too() -> None:
    systems: dict[str, Any] = {"bm25": "bm25.run", "als": Path("als.csv")}
    contents = {name: exactk.read(path, "predictions") for name, path in systems.items()}
    truth, train = exactk.read("test.qrels", "truth"), exactk.read("train.tsv", "exclude")
    expected = exactk.compare(truth, contents, METRICS, exclude=train)
    assert exactk.compare("test.qrels", systems, METRICS, exclude="train.tsv").reports == expected.reports
    blocks = iter([("test.qrels", systems, "train.tsv")])
    assert exactk.compare(None, blocks, METRICS).reports == expected.reports
    one_system = iter([("test.qrels", "als.csv", "train.tsv")])
    assert exactk.evaluate(None, one_system, METRICS) == expected.reports["als"]
    matches = exactk.matching_conventions("test.qrels", "als.csv", {"recall@2": 1.0})
    assert "standard" in matches.names


def test_conversions_and_topk() -> None:
    assert exactk.as_truth("test.qrels").row(0).tolist() == exactk.read("test.qrels", "truth").row(0).tolist()
    assert isinstance(exactk.as_predictions("als.csv"), exactk.SparseScores)
    assert len(exactk.as_exclusions("train.tsv") or ()) == 2
    np.savez("lists.npz", indptr=[0, 2], items=[4, 2])
    assert rankings_of("lists.npz").row(0).tolist() == [4, 2]
    for name in ("als.csv", "bm25.run"):
        scores: Any = exactk.read(name, "predictions")
        expected = exactk.topk(scores, 1, exclude=exactk.read("train.tsv", "exclude"))
        best = exactk.topk(name, 1, exclude="train.tsv")
        assert best.items.tolist() == expected.items.tolist()
        assert best.scores.tolist() == expected.scores.tolist()
    with pytest.raises(exactk.InputError, match=r"^scores: expected a score column, .*, found none in train.tsv"):
        exactk.topk("train.tsv", 1)


def test_candidates_are_of_all_users_or_by_user() -> None:
    """A file with one column has the candidates of all users."""
    for path, candidates in {
        "items.csv": ["d7", "d1"],
        "als.csv": {"q1": ["d1", "d7"], "q2": ["d1"]},
        "bm25.run": {"q1": ["d7", "d2"], "q2": ["d2", "d1"]},
        "items.json": ["d7", "d1"],
        "lists.json": {"q1": ["d2"], "q2": ["d1", "d7"]},
    }.items():
        expected = exactk.evaluate("test.qrels", SCORES, METRICS, candidates=candidates)
        assert exactk.evaluate("test.qrels", SCORES, METRICS, candidates=path) == expected
        ids = exactk.topk(SCORES, 2, candidates=candidates).items
        assert exactk.topk(SCORES, 2, candidates=path).items.tolist() == ids.tolist()
    vectors = np.eye(3)
    keyed: dict[str, Any] = {"users": ["q1", "q2"], "items": ["d1", "d2", "d7"]}
    model = exactk.Embeddings(vectors[:2], vectors, candidates="items.csv", **keyed)
    expected_model = exactk.Embeddings(vectors[:2], vectors, candidates=["d7", "d1"], **keyed)
    assert exactk.topk(model, 3).items.tolist() == exactk.topk(expected_model, 3).items.tolist()


def test_integer_candidates_of_all_users() -> None:
    Path("numbers.csv").write_text("item\n2\n0\n")
    scores = np.array([[0.5, 1.0, 0.25]])
    assert exactk.topk(scores, 2, candidates="numbers.csv").items.tolist() == [[0, 2]]


def test_weights_and_groups() -> None:
    given: dict[str, Any] = {"weights": {"q1": 1, "q2": 3}, "groups": {"q1": "new", "q2": "old"}}
    expected = exactk.evaluate("test.qrels", "bm25.run", METRICS, **given)
    for ending in ("csv", "json"):
        files: dict[str, Any] = {name: f"{name}.{ending}" for name in given}
        assert exactk.evaluate("test.qrels", "bm25.run", METRICS, **files) == expected
    by_year = exactk.evaluate("test.qrels", "bm25.run", METRICS, groups=Path("years.csv")).by_group
    assert list(by_year) == [2020, 2021]


def test_column_names_are_for_files_as_for_frames() -> None:
    columns: dict[str, Any] = {"user": "member", "item": "sku"}
    frame = pd.read_csv("members.csv")
    expected = exactk.evaluate(frame, frame, METRICS, **columns, grade="grade", score="score")
    assert exactk.evaluate("members.csv", "members.csv", METRICS, **columns, grade="grade", score="score") == expected
    scores = np.array([[0.5, 1.0], [0.25, 0.75]])
    keyed = exactk.Scores(scores, users=[1, 2], items=["a", "b"])
    for candidates in (frame, "members.csv"):
        restricted = exactk.evaluate({1: ["a"], 2: ["a"]}, keyed, METRICS, candidates=candidates, **columns)
        assert restricted["num_recommended"] == 1.5


def test_column_names_are_not_for_files_without_columns() -> None:
    """As for lists beside frames, others are read as they are; if there are no others, the name would be ignored."""
    Path("two.csv").write_text("member,document,score\nq1,d1,1\nq2,d7,1\n")
    assert exactk.evaluate("test.qrels", "two.csv", "hit_rate", user="member")["hit_rate"] == 0.5
    with pytest.raises(exactk.InputError, match="user: expected a data frame or file with columns as truth or pred"):
        exactk.evaluate("test.qrels", "bm25.run", "hit_rate", user="member")


@pytest.mark.parametrize("argument", ["truth", "predictions", "exclude", "candidates"])
def test_a_missing_file_is_named_with_its_argument(argument: str) -> None:
    arguments: dict[str, Any] = {"truth": "test.qrels", "predictions": "bm25.run"}
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(**arguments | {argument: Path("other.run")}, metrics="mrr")
    assert str(caught.value) == f"{argument}: expected a readable file, found no file at 'other.run'"
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(**arguments | {argument: "q1"}, metrics="mrr")
    assert str(caught.value).endswith("no file at 'q1'; a string is the path of a file")
    with pytest.raises(exactk.InputError, match=f"^{argument}: expected a path, found"):
        exactk.evaluate(**arguments | {argument: "a\0b"}, metrics="mrr")


def test_faults_of_files_name_them() -> None:
    with pytest.raises(exactk.InputError, match=r"predictions: .*found no file at 'other\.run' in system 'other'; "):
        exactk.compare("test.qrels", {"als": "als.csv", "other": "other.run"}, "mrr")
    for name, message in {
        "wide.csv": "groups: expected one column besides query, found segment and year in wide.csv",
        "items.csv": "groups: expected a column for the query, such as .* in items.csv",
        "test.qrels": "groups: expected a file of columns: .*, found TREC text in test.qrels",
        "segment": "groups: expected .* the path of a file, .* found 'segment'",
    }.items():
        with pytest.raises(exactk.ExactkError, match=message):
            exactk.evaluate("test.qrels", "bm25.run", "mrr", groups=name)
    message = r"weights: expected a number in the column segment .* line 2 of groups"
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate("test.qrels", "bm25.run", "mrr", weights="groups.csv")


def test_a_string_in_a_mapping_from_user_is_an_item() -> None:
    assert exactk.evaluate({"q1": "test.qrels"}, {"q1": ["test.qrels"]}, "recall@1")["recall@1"] == 1
    with pytest.raises(exactk.InputTypeError, match=r"found a single item instead of a list; predictions={user:"):
        exactk.evaluate({"q1": "a"}, {"q1": "test.qrels"}, "recall@1")
    message = r"exactk.compare\(truth, predictions, 'mrr'\) takes a mapping from"
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.evaluate("test.qrels", {"bm25": Path("bm25.run")}, "mrr")
