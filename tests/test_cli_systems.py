"""Systems on the command line: several files are one where a directory or a pattern names them."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from commands import assert_refused, write_files, write_frame
from exactk._cli.evaluated_systems import find_systems
from exactk._files import source
from strategies import in_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commands import CommandResult, Run

METRICS = ("-m", "ndcg@5", "-m", "recall@[1,10]", "-m", "average_precision")


def report_of(result: CommandResult) -> dict[str, Any]:
    """Return the only report, without the command and the files that it is of."""
    report: dict[str, Any]
    (report,) = json.loads(result.out)["reports"]
    return report


def values_of(result: CommandResult) -> dict[str, float]:
    values: dict[str, float] = report_of(result)["values"]
    return values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has one for runs."""
    work = tmp_path / "work"
    (work / "runs").mkdir(parents=True)
    monkeypatch.chdir(work)
    return work


def draw_frames(seed: int, order: str, *, text: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a truth and predictions, whose rows are shuffled, so that each user stands in several shards."""
    draw = np.random.default_rng(seed)
    pairs = [(user, item) for user in range(20) for item in draw.choice(30, draw.integers(1, 12), replace=False)]
    frame = pd.DataFrame(pairs, columns=["user", "item"])
    frame["score"] = draw.integers(8, size=len(frame)) / 4
    frame["rank"] = frame.groupby("user").cumcount() + 1
    truth = pd.DataFrame([(user, item) for user in range(18) for item in draw.choice(30, 5)], columns=["user", "item"])
    truth = truth.drop_duplicates()
    if text:
        for one in (truth, frame):
            one["user"], one["item"] = "u" + one["user"].astype(str), "i" + one["item"].astype(str)
    return truth, frame[["user", "item", order]].sample(frac=1, random_state=seed)


def write_shards(frame: pd.DataFrame, ending: str, begin: str = "runs/als-") -> None:
    cuts = [0, 11, 11, 60, len(frame)]  # one of them has no rows, which JSON lines cannot say
    for index, (start, end) in enumerate(pairwise(cuts)):
        if start < end or not ending.endswith("jsonl"):
            write_frame(frame[start:end], f"{begin}{index}{ending}")


def _without_rows_in_memory(text: str) -> list[str]:
    """Return the lines but those that name the file up to which users are not sorted."""
    return [line for line in text.splitlines() if "all rows are copied to a temporary file" not in line]


SHARDED = in_pairs(
    (".csv", ".csv.gz", ".tsv", ".parquet", ".arrow", ".jsonl"),
    ("score", "rank"),
    (False, True),
    ("runs", "runs/als-*", "runs/als-?.*"),
)


@pytest.mark.parametrize(
    ("ending", "order", "large", "system"),
    [*SHARDED, (".run", "score", False, "runs"), (".run", "score", True, "runs/als-*")],
)
def test_f65_shards_equal_the_whole(
    ending: str, order: str, large: bool, system: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_LARGE", 0 if large else 1 << 28)
    truth, frame = draw_frames(5, order, text=ending == ".run")
    write_frame(truth, "truth.csv")
    write_frame(frame, f"whole{ending}")
    write_shards(frame, ending)
    options = (*METRICS, "--format", "json", "--per-user")
    whole = run("evaluate", "truth.csv", f"whole{ending}", *options, "whole.json")
    shards = run("evaluate", "truth.csv", system, *options, "shards.json")
    assert whole.code == 0
    assert shards.code == whole.code
    is_in_parts = large and ending not in {".run", ".jsonl"}  # whose users are not sorted
    for result in (shards, whole):
        assert ("all rows are copied to a temporary file" in result.err) == is_in_parts
    assert _without_rows_in_memory(shards.err) == _without_rows_in_memory(whole.err)
    assert report_of(shards) == report_of(whole)
    assert Path("shards.json").read_bytes() == Path("whole.json").read_bytes()


@pytest.mark.parametrize("large", [False, True])
def test_f65_ids_are_integers_if_those_of_all_files_are(large: bool, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_LARGE", 0 if large else 1 << 28)
    write_files({"truth.csv": "user,item\n1,7\nann,08\n"})
    write_files({"runs/0.csv": "user,item,score\n1,7,2\n", "runs/1.csv": "user,item,score\nann,08,2\n1,8,1\n"})
    result = run("evaluate", "truth.csv", "runs", "-m", "P@1", "--format", "json")
    assert values_of(result) == {"P@1": 1.0}
    write_files({"truth.csv": "user,item\n1,7\n2,8\n", "runs/1.csv": "user,item,score\n2,8,2\n1,9,3\n"})
    write_frame(pd.DataFrame({"user": [1, 2], "item": [7, 8]}), "truth.parquet")
    result = run("evaluate", "truth.parquet", "runs", "-m", "P@1", "--format", "json")
    assert values_of(result) == {"P@1": 0.5}


def test_f65_shards_with_a_list_for_each_user(run: Run) -> None:
    write_files({"truth.csv": "user,item\nann,1\nbob,2\n"})
    write_files({"runs/0.jsonl": '{"user": "ann", "items": [1, 2]}\n'})
    write_files({"runs/1.jsonl": '{"user": "bob", "items": [3, 2]}\n'})
    result = run("evaluate", "truth.csv", "runs", "-m", "mrr", "--format", "json")
    assert values_of(result) == {"mrr": 0.75}
    write_files({"runs/1.jsonl": '{"user": "ann", "items": [3, 2]}\n'})
    message = "predictions: expected each user once, found 'ann' again at row 1 of the data of all files\n"
    assert_refused(run("evaluate", "truth.csv", "runs", "-m", "mrr"), message)
    write_files({"runs/1.jsonl": '{"user": "bob", "items": ["3"]}\n'})
    result = run("evaluate", "truth.csv", "runs", "-m", "mrr")
    assert_refused(result, "expected one type in all files, found list")
    assert re.search(r"in runs/0\.jsonl and .* in runs/1\.jsonl\n$", result.err)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["runs"], {"runs": ["runs/a-0.run", "runs/a-1.run", "runs/a-10.run"]}),
        (["runs/"], {"runs": ["runs/a-0.run", "runs/a-1.run", "runs/a-10.run"]}),
        (["runs/a-[01].run"], {"a-[01]": ["runs/a-0.run", "runs/a-1.run"]}),
        (["als=runs/a-?.run", "x.run"], {"als": ["runs/a-0.run", "runs/a-1.run"], "x": ["x.run"]}),
        (["x=y.run", "runs/../x.run"], {"x": ["y.run"], "work/x": ["runs/../x.run"]}),
        (["runs/a-0.run", "runs/a-1.run"], {"a-0": ["runs/a-0.run"], "a-1": ["runs/a-1.run"]}),
        (["k=5.run", "./k=6.run"], {"k=5": ["k=5.run"], "k=6": ["k=6.run"]}),
        (["./k=?.run"], {"k=?": ["k=5.run", "k=6.run"]}),
        (["k=[56].run"], {"k=[56]": ["k=5.run", "k=6.run"]}),
        (["b[1].run"], {"b[1]": ["b[1].run"]}),
        (["**/*-10.run"], {"*-10": ["runs/a-10.run"]}),
        (["best=x.run", "worst=y.run"], {"best": ["x.run"], "worst": ["y.run"]}),
        (["new=absent.run"], {"new": ["absent.run"]}),
    ],
)
def test_f65_names_and_files_of_systems(arguments: Sequence[str], expected: dict[str, list[str]]) -> None:
    names = ("runs/a-10.run", "runs/a-1.run", "runs/a-0.run", "runs/.a-2.run")
    for name in (*names, "x.run", "y.run", "k=5.run", "k=6.run", "b[1].run"):
        Path(name).write_text("q1 Q0 d1 1 1 x\n")
    for name in ("_SUCCESS", "a-5.run"):
        Path("runs", name).touch()
    assert find_systems(arguments) == {name: [Path(path) for path in paths] for name, paths in expected.items()}


SCORES = "user,item,score\nann,1,0.5\n"
RANKS = "user,item,rank\nann,1,1\n"
TREC = "ann Q0 1 1 0.5 t\n"


@pytest.mark.parametrize(
    ("arguments", "files", "message"),
    [
        ("runs", {}, "expected a directory with files that have rows, found 'runs', which has none"),
        ("runs", {"runs/.x": TREC}, "expected a directory with files that have rows, found 'runs', which has none"),
        ("runs/*.run", {}, "expected a pattern that matches files, found 'runs/*.run', which matches none"),
        ("als=runs/*.run", {}, "expected a pattern that matches files, found 'runs/*.run', which matches none"),
        ("runs", {"runs/a/x.run": TREC}, "expected files, found the directory 'runs/a'; a quoted pattern such as"),
        ("runs/*", {"runs/a/x.run": TREC}, "expected files, found the directory 'runs/a'; a quoted pattern such as"),
        ("runs", {"runs/0.csv": SCORES, "runs/1.run": TREC}, "expected files of one format, found CSV in runs/0.csv and TREC text in runs/1.run; a quoted pattern"),
        ("runs", {"runs/0.csv": SCORES, "runs/1.csv": RANKS}, "found user, item, score in runs/0.csv and user, item, rank in runs/1.csv"),
        ("runs", {"runs/0.csv": SCORES, "runs/1.csv": "a,b\n1,2\n"}, "in runs/1.csv"),
        ("runs", {"runs/0.csv": RANKS, "runs/1.csv": RANKS.replace(",1,", ",2,")}, "found 1 twice at row 0 of the data in runs/"),
        ("runs", {"runs/0.run": TREC, "runs/1.run": TREC}, "found document '1' again at row 0 of the data in runs/1.run"),
        ("runs", {"runs/0.run": TREC, "runs/1.run": TREC + "ann Q0 2\n"}, "found 3 at line 2 of runs/1.run"),
        ("runs --user q", {"runs/0.run": TREC, "runs/1.run": TREC}, "--user: expected a file with names of"),
        ("x.run also=x.run", {"x.run": TREC}, "expected each file once, found 'x.run' twice"),
        ("x.* ./x.run", {"x.run": TREC}, "expected each file once, found 'x.run' twice"),
        ("a=x.run a=y.run", {"x.run": TREC, "y.run": TREC}, "a distinct name for each system, found 'a' twice"),
        ("a=x.run", {"a=x.run": TREC, "x.run": TREC}, "'a=x.run' and 'x.run'; ./a=x.run selects the path, a=./x.run names the system"),
        ("a=?.run", {"a=1.run": TREC, "x.run": TREC}, "'a=?.run' and '?.run'; './a=?.run' selects the path, 'a=./?.run' names the system"),
        ("b[1].run", {"b[1].run": TREC, "b1.run": TREC}, "found 'b[1].run', which is a path and a pattern; 'b[[]1].run' selects only the path"),
        ("[xy].run --state y.run", {"x.run": TREC, "y.run": TREC}, "'y.run' is read"),
        ("runs --per-user ./runs/1.csv", {"runs/0.csv": SCORES, "runs/1.csv": SCORES}, "'runs/1.csv' is read"),
    ],
)  # fmt: skip
def test_f65_errors_of_systems(arguments: str, files: dict[str, str], message: str, run: Run) -> None:
    write_files({**files, "truth.txt": "ann 0 1 1\n"})
    assert_refused(run("evaluate" if "--state" in arguments else "compare", "truth.txt", *arguments.split()), message)
    assert all(Path(name).read_text(encoding="utf-8") == text for name, text in files.items())


@pytest.mark.parametrize("large", [False, True])
def test_f65_files_whose_ids_differ_in_kind_are_named(large: bool, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_LARGE", 0 if large else 1 << 28)
    write_files({"truth.csv": "user,item\nann,1\n"})
    write_frame(pd.DataFrame({"user": ["ann"], "item": [1], "score": [1.0]}), "runs/0.parquet")
    write_frame(pd.DataFrame({"user": ["bob"], "item": ["x"], "score": [1.0]}), "runs/1.parquet")
    kinds = "integer item ids with scores in runs/0.parquet and text item ids with scores in runs/1.parquet"
    assert_refused(run("evaluate", "truth.csv", "runs"), f"found {kinds}")
    write_frame(pd.DataFrame({"user": [3], "item": [1], "score": [1.0]}), "runs/1.parquet")
    assert_refused(run("evaluate", "truth.csv", "runs"), "found int in runs/1.parquet; ")


def test_f65_archives_are_systems_of_one_file(run: Run) -> None:
    write_files({"truth.csv": "user,item\n0,1\n"})
    for name in ("runs/0.npz", "runs/1.npz"):
        np.savez(name, indptr=[0, 1], items=[1], users=[0])
    message = "expected one archive of arrays per system, found runs/0.npz and runs/1.npz"
    assert_refused(run("evaluate", "truth.csv", "runs"), message)


def test_f65_text_ids_and_columns_of_all_files(run: Run) -> None:
    write_files({"truth.csv": "who,what\n1,7\n2,8\n"})
    for index, row in enumerate(["1,7,2", "2,8,1"]):
        with gzip.open(f"runs/{index}.csv.gz", "wt") as file:
            file.write(f"who,what,value\n{row}\n")
    names = ("--user", "who", "--item", "what", "--score", "value", "--text-ids")
    result = run("evaluate", "truth.csv", "runs", *names, "-m", "P@1", "--format", "json")
    assert values_of(result) == {"P@1": 1.0}


@pytest.mark.parametrize("names", [["runs/als-0.csv", "runs/als-1.csv"], ["0/als x.csv", "1/als x.csv"]])
@pytest.mark.parametrize("given", ["", "{}="])
def test_f65_plain_paths_of_shards_are_told_what_to_write(names: list[str], given: str, run: Run) -> None:
    write_files({"truth.csv": "user,item\nann,1\nbob,2\ncy,3\n"})
    write_files({names[0]: "user,item,score\nann,1,1\n", names[1]: "user,item,score\nbob,2,1\ncy,4,2\n"})
    systems = [given.format(f"s{index}") + name for index, name in enumerate(names)]
    result = run("compare", "truth.csv", *systems, "-m", "P@1")
    line = next(line for line in result.err.splitlines() if "different users" in line)
    reason = "has none for 1; no user has predictions in two systems: if they are parts of one system, write "
    _, found, advice = line.rpartition(reason)
    assert found
    result = run("evaluate", "truth.csv", *shlex.split(advice), "-m", "P@1", "--format", "json")
    assert result.err == ""
    assert values_of(result) == {"P@1": 2 / 3}


def test_f65_no_pattern_is_advised_that_matches_other_files(run: Run) -> None:
    write_files({"truth.csv": "user,item\nann,1\nbob,2\n"})
    for name, user in (("als-0", "ann"), ("als-1", "bob"), ("als-2", "bob")):
        write_files({f"{name}.csv": f"user,item,score\n{user},1,1\n"})
    result = run("compare", "truth.csv", "als-0.csv", "als-1.csv", "-m", "P@1")
    assert "if they are parts of one system, write a quoted pattern, or NAME=PATTERN\n" in result.err
    result = run("compare", "truth.csv", "als-0.csv", "als-1.csv", "als-2.csv", "-m", "P@1")
    assert "if they are parts of one" not in result.err
    assert "different users" in result.err


def test_f65_a_system_of_shards_beside_others(run: Run) -> None:
    truth, frame = draw_frames(7, "score", text=False)
    write_frame(truth, "truth.csv")
    write_frame(frame, "whole.csv")
    write_shards(frame, ".parquet")
    result = run("compare", "truth.csv", "als=runs/*.parquet", "whole.csv", *METRICS, "--format", "json")
    comparison = exactk.Comparison.from_json(result.out)
    assert list(comparison.state) == ["als", "whole"]
    assert comparison.state["als"] == comparison.state["whole"]


def test_evaluate_is_of_one_system(run: Run) -> None:
    write_files({"truth.csv": "user,item\nann,1\n", **dict.fromkeys(("a.csv", "b c.csv", "a=b.csv"), SCORES)})
    _, command, _ = run("evaluate", "truth.csv", "a.csv", "b c.csv", "-m", "P@1").err.split("; ")
    program, *arguments = shlex.split(command)
    assert (program, arguments) == ("exactk", ["compare", "truth.csv", "a.csv", "b c.csv"])
    assert run(*arguments, "-m", "P@1").out.splitlines()[0].split() == ["metric", "a", "b", "c"]
    assert run("evaluate", "truth.csv", "a=b.csv", "-m", "P@1").code == 0  # a path, and no name


def test_compare_takes_one_system_too(run: Run) -> None:
    write_files({"truth.csv": "user,item\nann,1\n", "a.csv": SCORES})
    assert run("compare", "truth.csv", "als=a.csv", "-m", "P@1").out.splitlines()[0].split()[1] == "als"
