"""Groups, weights and candidates on the command line: the report is that of Python, from any file that holds them."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import exactk
from commands import assert_refused, write_files, write_frame

if TYPE_CHECKING:
    from commands import CommandResult, Run

QRELS = "7 0 tea 2\n7 0 rice 1\n8 0 milk 1\n9 0 bread 1\n"
RUN = "7 Q0 rice 0 3 x\n7 Q0 tea 0 2 x\n8 Q0 milk 0 1 x\n8 Q0 tea 0 2 x\n9 Q0 tea 0 1 x\n"
OTHER = "7 Q0 tea 0 2 x\n8 Q0 milk 0 1 x\n9 Q0 bread 0 1 x\n"
METRICS = ("-m", "ndcg@2", "-m", "mrr")
GROUPS = {"7": "new", "8": "old", "9": "new"}
WEIGHTS = {"7": 1.0, "8": 2.5, "9": 0.0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files({"qrels.txt": QRELS, "one.run": RUN, "two.run": OTHER})
    return tmp_path


def report_in_python(**options: Any) -> exactk.Report:
    truth, predictions = exactk.read("qrels.txt", "truth"), exactk.read("one.run", "predictions")
    return exactk.evaluate(truth, predictions, ["ndcg@2", "mrr"], **options)


def report_of(result: CommandResult) -> exactk.Report:
    assert result.code == 0, result.err
    return exactk.Report.from_json(result.out)


def write(name: str, values: dict[str, Any], column: str) -> str:
    """Write the users and their values in the format that the name's ending selects."""
    if name.endswith(".json"):
        write_files({name: json.dumps(values)})
    else:
        write_frame(pd.DataFrame({"user": list(values), column: list(values.values())}), name)
    return name


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.csv.gz", "v.json", "v.jsonl", "v.parquet", "v.arrow"])
def test_groups_and_weights_give_the_report_of_python(run: Run, name: str) -> None:
    groups, weights = write(f"g{name}", GROUPS, "group"), write(f"w{name}", WEIGHTS, "weight")
    options = ("--groups", groups, "--weights", weights, "--text-ids", "--format", "json")
    result = run("evaluate", "qrels.txt", "one.run", *METRICS, *options)
    report = report_of(result)
    assert report.state == report_in_python(groups=GROUPS, weights=WEIGHTS).state
    assert report.state != report_in_python(groups=GROUPS).state
    assert list(report.by_group) == ["new", "old"]
    digests = {one["argument"]: one["sha256"] for one in json.loads(result.out)["inputs"][2:]}
    files = {"groups": groups, "weights": weights}
    assert digests == {argument: sha256(Path(file).read_bytes()).hexdigest() for argument, file in files.items()}


@pytest.mark.parametrize("stages", [[10, 2, 10], pd.Categorical(["new", "old", "new"], ["old", "new"], ordered=True)])
def test_integers_and_categories_are_groups_in_their_order(run: Run, stages: Any) -> None:
    pd.DataFrame({"user": ["7", "8", "9"], "stage": stages}).to_parquet("g.parquet")
    result = run("evaluate", "qrels.txt", "one.run", "--groups", "g.parquet", "--text-ids", "--format", "json")
    assert list(report_of(result).by_group) == [stages[1], stages[0]]


def test_users_of_several_columns(run: Run) -> None:
    rows = pd.DataFrame({"day": [1, 1, 2], "visitor": ["a", "b", "a"], "item": ["x", "y", "z"]})
    rows.to_csv("truth.csv", index=False)
    rows.assign(score=1.0).to_csv("run.csv", index=False)
    rows.drop(columns="item").assign(stage=["new", "old", "new"]).to_csv("groups.csv", index=False)
    options = ("--user", "day", "--user", "visitor", "--groups", "groups.csv", "-m", "mrr", "--format", "json")
    report = report_of(run("evaluate", "truth.csv", "run.csv", *options))
    assert {label: row["mrr"] for label, row in report.by_group.items()} == {"new": 1.0, "old": 1.0}
    assert report.state.groups is not None
    assert [sums[0].users for sums in report.state.groups.values()] == [2, 1]


def test_every_format_shows_the_groups(run: Run) -> None:
    groups = write("g.csv", GROUPS, "group")
    call = ("compare", "qrels.txt", "one.run", "two.run", *METRICS, "--groups", groups, "--text-ids")
    printed = {name: run(*call, "--format", name).out for name in ("table", "csv", "markdown", "latex")}
    comparison = exactk.compare(
        exactk.read("qrels.txt", "truth"),
        {name: exactk.read(f"{name}.run", "predictions") for name in ("one", "two")},
        ["ndcg@2", "mrr"],
        groups=GROUPS,
    )
    assert printed["table"] == f"{comparison!r}\n"
    for name in ("markdown", "latex"):
        write_table = getattr(comparison, f"to_{name}")
        assert printed[name] == f"{write_table()}\n\n{write_table(table='by_group')}\n"
    rows = pd.read_csv(io.StringIO(printed["csv"]))
    all_users, of_groups = rows[rows["group"].isna()], rows[rows["group"].notna()]
    assert list(rows.columns)[:4] == ["system", "group", "metric", "k"]
    assert all_users["value"].tolist() == comparison.to_pandas()["value"].tolist()
    assert all_users["skipped"].tolist() == [0] * 4
    assert of_groups["value"].tolist() == comparison.to_pandas("by_group")["value"].tolist()
    assert of_groups["group"].tolist() == comparison.to_pandas("by_group")["group"].tolist()


def test_column_options_apply_to_files_with_columns(run: Run) -> None:
    Path("g.csv").write_text("who,stage\n7,new\n8,old\n9,new\n", encoding="utf-8")
    call = ("evaluate", "qrels.txt", "one.run", "--text-ids", "--user", "who", "--format", "json")
    assert list(report_of(run(*call, "--groups", "g.csv")).by_group) == ["new", "old"]
    for option in (("--user", "who"), ("--item", "who"), ("--score", "who"), ("--grade", "who")):
        message = f"error: {option[0]}: expected a file with names of columns, found none in "
        assert_refused(run("evaluate", "qrels.txt", "one.run", *option), message)
    assert "found none in qrels.txt; " in run("evaluate", "qrels.txt", "one.run", "--grade", "who").err
    topk = ("topk", "one.run", "-k", "1", "--user", "who")
    assert run(*topk).err.endswith("found none in one.run; see exactk topk --help\n")
    matching = ("conventions", "qrels.txt", "one.run", "--matching", "mrr=0.5", "--user", "who")
    assert "found none in qrels.txt and one.run; see exactk conventions --help\n" in run(*matching).err


def test_mappings_beside_columns(run: Run) -> None:
    """JSON has no columns, so the option is for the truth alone."""
    write_files({"truth.csv": "who,item\n7,tea\n8,milk\n9,bread\n", "g.json": json.dumps(GROUPS)})
    write_files({"g.csv": "who,group\n7,new\n8,old\n9,new\n"})
    call = ("evaluate", "truth.csv", "one.run", "--user", "who", "--text-ids", "--format", "json")
    states = [report_of(run(*call, "--groups", name)).state for name in ("g.json", "g.csv")]
    assert states[0] == states[1]
    assert states[0].groups is not None
    assert list(states[0].groups) == ["new", "old"]


CANDIDATES: dict[str, tuple[str, Any]] = {
    "c.csv": ("user,item\n7,tea\n8,milk\n8,tea\n9,bread\n", {"7": ["tea"], "8": ["milk", "tea"], "9": ["bread"]}),
    "c.txt": ("7 0 tea 1\n8 0 milk 0\n9 0 bread 1\n", {"7": ["tea"], "8": ["milk"], "9": ["bread"]}),
    "c.jsonl": (
        '{"user": 7, "items": ["tea"]}\n{"user": 8, "items": ["milk"]}\n{"user": 9, "items": ["tea"]}\n',
        {"7": ["tea"], "8": ["milk"], "9": ["tea"]},
    ),
    "c.json": ('{"7": ["tea"], "8": ["tea"], "9": ["tea"]}', {"7": ["tea"], "8": ["tea"], "9": ["tea"]}),
    "all.json": ('["tea", "milk"]', ["tea", "milk"]),
    "all.csv": ("item\ntea\nmilk\n", ["tea", "milk"]),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_candidates_give_the_report_of_python(run: Run, name: str) -> None:
    text, candidates = CANDIDATES[name]
    Path(name).write_text(text, encoding="utf-8")
    options = ("--candidates", name, "--text-ids", "--format", "json")
    result = run("evaluate", "qrels.txt", "one.run", *METRICS, *options)
    assert report_of(result).state == report_in_python(candidates=candidates).state
    assert report_of(result).state != report_in_python().state
    (provenance,) = (one for one in json.loads(result.out)["inputs"] if one["argument"] == "candidates")
    assert provenance["sha256"] == sha256(Path(name).read_bytes()).hexdigest()
    result = run("compare", "qrels.txt", "one.run", "two.run", *METRICS, *options)
    values = {one["system"]: one["values"] for one in json.loads(result.out)["reports"]}
    assert values["one"] == dict(report_in_python(candidates=candidates))


@pytest.mark.parametrize(
    ("option", "text", "more", "message"),
    [
        ("--groups", "user,age,group\n7,1,a\n", "", "expected one column besides user, found age and group in f.csv"),
        ("--groups", "user\n7\n", "", "expected one column besides user, found none in f.csv"),
        ("--groups", "who,group\n7,a\n", "", "expected a column for the query, such as user, userid, uid, found the columns"),
        ("--groups", "user,group\n7,a\n8,b\n9,a\n", "", "expected queries of type str, as in the truth, found int"),
        ("--groups", "user,group\n7,a\n8,\n9,a\n", "--text-ids", "expected an id in the column group, found an empty"),
        ("--groups", "user,group\n7,a\n8,b\n", "--text-ids", "expected a group for every query in the mean of mrr"),
        ("--groups", "user,group\n7,a\n7,b\n", "--text-ids", "expected each query once, found '7' again"),
        ("--weights", "user,w\na,x\n", "--text-ids", "expected a number in the column w that float64 holds, found 'x' at line 2"),
        ("--weights", "user,w\n7,-1\n8,1\n9,1\n", "--text-ids", "expected "),
        ("--weights", None, "", "expected a readable file, found no file at 'f.csv'"),
        ("--candidates", "user,weight\n7,1\n", "", "expected a column for the document, such as item, item_id, iid, found the col"),
        ("--candidates", "user,item\n7,tea\n", "", "expected queries of type str, as in the predictions, found int; "),
        ("--candidates", "user,item\n7,tea\n", "--text-ids", "expected candidates of every query with predictions, found no"),
        ("--candidates", "user,item\n7,1\n8,1\n9,1\n", "--user user", "expected queries of type str, as in the predictions"),
        ("--candidates", "item\n7\n", "", "expected documents of type str, as in the predictions, found int; "),
        ("--candidates", None, "", "expected a readable file, found no file at 'f.csv'"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(run: Run, option: str, text: str | None, more: str, message: str) -> None:
    write_files({} if text is None else {"f.csv": text})
    result = run("evaluate", "qrels.txt", "one.run", "-m", "mrr", option, "f.csv", *more.split())
    assert_refused(result, f"error: {option[2:]}: {message}")


def test_weights_have_columns(run: Run) -> None:
    found = "expected a file of columns: CSV, TSV, JSON lines, Parquet, Arrow IPC, or JSON, found TREC"
    assert_refused(run("evaluate", "qrels.txt", "one.run", "--weights", "qrels.txt"), f"error: weights: {found}")
