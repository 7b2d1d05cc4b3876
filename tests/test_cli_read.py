"""What ``exactk read`` shows of a file: its form, its columns, its first rows and counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from commands import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Run

RATINGS = "1\t20\t4\t881250949\n1\t31\t3\t881250954\n1\t7\t3\t881250954\n2\t20\t5\t881250949\n"
AS_ML = "ml-100k\ncolumn  read as\nuser    user\nitem    item\nrating  grade\ntime    -\n\n"
ROWS = "user  item  grades\n1     20    4.0\n1     31    3.0\n1     7     3.0\n2 users, 3 items, 4 rows\n"
PAIRS = "user  item\na     x\na     y\n1 user, 2 items, 2 rows\n"
SCORED = "user  item  scores\na     x     2.0\na     y     1.0\n1 user, 2 items, 2 rows\n"
SHOWN: list[tuple[str, str, list[str], str]] = [
    ("u.data", RATINGS, [], f"u.data, as truth: {AS_ML}{ROWS}"),
    ("u.csv", RATINGS, ["--truth-form", "ml-100k"], f"u.csv, as truth: {AS_ML}{ROWS}"),
    (
        "u.data",
        RATINGS,
        ["--truth-columns", "user,-,item,-"],
        (
            "u.data, as truth: text with separators\ncolumn  read as\nuser    user\nc2      -\nitem    item\nc4      -\n\n"
            "user  item\n1     4\n1     3\n1     3\n2 users, 3 items, 4 rows\n"
        ),
    ),
    ("a.qrels", "a 0 x 2\na 0 y 1\n", ["--role", "exclude"], f"a.qrels, as exclude: TREC text\n\n{PAIRS}"),
    (
        "a.run",
        "a Q0 x 1 2 t\na Q0 y 2 1 t\n",
        ["--role", "predictions"],
        f"a.run, as predictions: TREC text\n\n{SCORED}",
    ),
    (
        "a.csv",
        "who,where,item,score\na,z,x,2\na,z,y,1\n",
        ["--role", "predictions", "--user", "who"],
        f"a.csv, as predictions: CSV\ncolumn  read as\nwho     user\nwhere   -\nitem    item\nscore   score\n\n{SCORED}",
    ),
    (
        "a.csv",
        "who,where,item\na,z,x\na,z,y\n",
        ["--user", "who", "--user", "where"],
        (
            "a.csv, as truth: CSV\ncolumn  read as\nwho     user\nwhere   user\nitem    item\n\n"
            "user        item\n('a', 'z')  x\n('a', 'z')  y\n1 user, 2 items, 2 rows\n"
        ),
    ),
    ("a.json", '{"a": ["x", "y"]}', [], f"a.json, as truth: JSON\n\n{PAIRS}"),
    (
        "a.jsonl",
        '{"user": "a", "items": ["x", "y"], "price": 3}\n',
        [],
        f"a.jsonl, as truth: JSON lines\ncolumn  read as\nuser    user\nitems   item\nprice   -\n\n{PAIRS}",
    ),
    (
        "none.csv",
        "user,item\n",
        [],
        "none.csv, as truth: CSV\ncolumn  read as\nuser    user\nitem    item\n\nuser  item\n",
    ),
]


@pytest.mark.parametrize("at", range(len(SHOWN)))
def test_a_file_is_shown_as_it_is_read(at: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, text, options, shown = SHOWN[at]
    (tmp_path / name).write_text(text)
    result = run("read", name, *options)
    assert result.code == 0
    assert result.out.startswith(shown)


def test_arrays_and_parts_are_shown(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", indptr=[0, 0, 2], items=[7, 5])
    assert run("read", tmp_path / "a.npz").out.endswith("user  item\n1     7\n1     5\n2 users, 2 items, 2 rows\n")
    (tmp_path / "parts").mkdir()
    for at in range(2):
        (tmp_path / "parts" / f"{at}.csv").write_text(f"user,item,score\na,{at},{at}\n")
    for large in (1 << 28, 0):
        monkeypatch.setattr("exactk._files.source._LARGE", large)
        result = run("read", tmp_path / "parts", "--role", "predictions")
        assert result.out.endswith("user  item  scores\na     0     0.0\na     1     1.0\n1 user, 2 items, 2 rows\n")


def test_what_is_not_read_is_refused_as_elsewhere(tmp_path: Path, run: Run) -> None:
    (tmp_path / "u.data").write_text(RATINGS)
    assert_refused(run("read", tmp_path / "u.data", "--role", "predictions"), "expected 6 fields")
    assert_refused(run("read", tmp_path / "none"), "truth: expected a readable file")
    assert_refused(run("read", tmp_path / "u.data", "--exclude-form", "qrels"), "--exclude-form: expected a file")


def test_options_of_files_are_those_of_one_system_or_all(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "truth.csv": "who,what,price,stars\nann,x,9,1\n",
        "als.txt": "ann;x;1\nann;y;2\n",
        "knn.csv": "q,d,sim,loss\nann,x,2,1\nann,y,1,2\n",
        "bm25.csv": "ann Q0 y 1 2 t\nann Q0 x 2 1 t\n",
        "among.txt": "ann|z|x\nann|z|w\n",
    }.items():
        (tmp_path / name).write_text(text)
    truth = ["truth.csv", "--truth-columns", "user=who,item=what,grade=stars"]
    of_systems = ["als:user,item,score", "knn:user=q,item=d,rank=loss"]
    options = [word for text in of_systems for word in ("--predictions-columns", text)]
    options += ["--predictions-form", "bm25:run", "--predictions-separator", "als:semicolon"]
    values = ("-m", "mrr", "--format", "json")
    result = run("compare", *truth, "als.txt", "knn.csv", "bm25.csv", *options, *values)
    reports = {one["system"]: one["values"]["mrr"] for one in json.loads(result.out)["reports"]}
    assert reports == {"als": 0.5, "knn": 1.0, "bm25": 0.5}
    every = ["--predictions-columns", "user,item,rank", "--predictions-columns", "knn:user=q,item=d,score=loss"]
    result = run("compare", *truth, "als.txt", "knn.csv", *every, *values)
    reports = {one["system"]: one["values"]["mrr"] for one in json.loads(result.out)["reports"]}
    assert reports == {"als": 1.0, "knn": 0.5}
    among = [
        "--candidates",
        "among.txt",
        "--candidates-columns",
        "user,-,item",
        "--predictions-columns",
        "user,item,score",
    ]
    result = run("evaluate", *truth, "als.txt", *among, *values)
    assert json.loads(result.out)["reports"][0]["values"] == {"mrr": 1.0}
    for words, message in (
        (["--predictions-columns", "nope:user,item"], "--predictions-columns: expected the name of a system: als, knn"),
        (["--candidates-form", "qrels"], "--candidates-form: expected a file that it is for"),
        (["--predictions-form", "als:trec"], "expected one of run, msmarco-run"),
        (["--truth-form", "als:qrels"], "expected one of qrels, "),
        (["--truth-columns", "user=a,grade"], "each role once with a column such as user=u,item=i"),
        (["--truth-columns", "item=a,item=b"], "each role once"),
        (
            ["--truth-columns", "user=who", "--truth-form", "qrels"],
            "user: expected None for a file without column names",
        ),
        (["--truth-columns", "user,item", "--truth-form", "qrels"], "form: expected None beside columns"),
        (["--truth-columns", "user=a,score=b"], "score: expected None for the role truth"),
    ):
        assert_refused(run("compare", *truth, "als.txt", "knn.csv", *words), message)
    (tmp_path / "a.csv").write_text("who,day,what\nann,1,x\n")
    shown = run("read", "a.csv", "--truth-columns", "user=who,user=day,item=what").out
    assert "who     user\nday     user\nwhat    item\n" in shown
