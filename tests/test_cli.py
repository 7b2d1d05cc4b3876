from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet
import pytest

import exactk
from commands import Run, assert_refused, write_files
from exactk._cli import other_commands
from exactk._cli.evaluated_systems import name_systems
from exactk._cli.result import json_object
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._runtime import optional
from exactk._runtime.written_files import write_file

Capture = pytest.CaptureFixture[str]

QUERIES = [f"q{number}" for number in range(1, 26)]
DOCUMENTS = range(100, 160)


def write_qrels(path: Path, draw: np.random.Generator, queries: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for query in queries:
            for document in draw.choice(DOCUMENTS, 12, replace=False):
                file.write(f"{query} 0 d{document} {draw.choice([0, 1, 1, 2])}\n")
    return path


def write_run(path: Path, draw: np.random.Generator, queries: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for query in queries:
            for document in draw.choice(DOCUMENTS, draw.integers(1, 40), replace=False):
                file.write(f"{query} Q0 d{document} 0 {draw.integers(30) / 4} tag\n")
    return path


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return write_qrels(tmp_path / "qrels.txt", np.random.default_rng(1), QUERIES)


@pytest.fixture
def bm25(tmp_path: Path) -> Path:
    """Return a run that lacks two of the queries, and has one that nobody judged."""
    return write_run(tmp_path / "bm25.run", np.random.default_rng(2), [*QUERIES[2:], "q99"])


@pytest.fixture
def dense(tmp_path: Path) -> Path:
    return write_run(tmp_path / "dense.run", np.random.default_rng(3), QUERIES)


def test_metrics_lists_all(run: Run) -> None:
    lines = run("metrics").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(exactk.metrics)


def test_metrics_describes_one_by_any_of_its_names(run: Run) -> None:
    text = run("metrics", "MAP", "fbeta").out
    assert text == run("metrics", "average_precision", "fbeta").out
    assert "beta, 0 to inf, default 1" in text


def test_metrics_describes_each(run: Run) -> None:
    for name, info in exactk.metrics.items():
        text = run("metrics", name).out
        assert all(part in text for part in (info.summary, info.formula, info.source))
        assert ("required" in text) == (info.parameter is not None and info.parameter.standard is None)


def test_conventions_lists_all_with_their_differences(run: Run) -> None:
    lines = run("conventions").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(exactk.conventions)
    assert lines[2].split(maxsplit=1) == ["capped", "recall_over='min_cutoff_relevant'"]


def test_conventions_says_what_one_sets(run: Run) -> None:
    header, *lines = run("conventions", "tensorflow").out.splitlines()
    assert header.split()[:2] == ["field", "tensorflow"]
    values_by_field = {line.split()[0]: line.split()[1] for line in lines}
    assert values_by_field["empty_truth"] == "compute"
    assert values_by_field["precision.average"] == "micro"


def test_conventions_says_in_what_two_differ(run: Run) -> None:
    header, line = run("conventions", "--diff", "capped", "standard").out.splitlines()
    assert header.split() == ["field", "capped", "standard"]
    assert line.split() == ["recall_over", "min_cutoff_relevant", "relevant"]


def expected_result(qrels: Path, *runs: Path, metrics: Sequence[str] = DEFAULT_METRICS, **options: Any) -> Any:
    """Return what the library says of the files."""
    truth = exactk.read(qrels, role="truth")
    systems = {path.stem: exactk.read(path, role="predictions") for path in runs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        if len(runs) > 1:
            return exactk.compare(truth, systems, metrics, **options)
        return exactk.evaluate(truth, systems[runs[0].stem], metrics, **options)


def test_evaluate_prints_what_the_library_says(run: Run, qrels: Path, bm25: Path, dense: Path) -> None:
    one, both = expected_result(qrels, bm25), expected_result(qrels, bm25, dense)
    assert run("evaluate", qrels, bm25).out == f"{one!r}\n"
    assert run("compare", qrels, bm25, dense).out == f"{both!r}\n"
    for form in ("markdown", "latex"):
        assert run("compare", qrels, bm25, dense, "--format", form).out == getattr(both, f"to_{form}")() + "\n"


def test_numbers_for_machines_are_in_full(run: Run, tmp_path: Path, qrels: Path, bm25: Path, dense: Path) -> None:
    file = tmp_path / "users.csv"
    one, both = expected_result(qrels, bm25), expected_result(qrels, bm25, dense)
    assert run("evaluate", qrels, bm25, "--format", "csv").out == one.to_csv()
    assert run("compare", qrels, bm25, dense, "--format", "csv").out == both.to_csv()
    read = exactk.Report.from_json(run("evaluate", qrels, bm25, "--format", "json", "--per-user", file).out)
    assert read.state == one.state
    assert not read.per_user  # which is in a file of its own
    assert exactk.Comparison.from_json(run("compare", qrels, bm25, dense, "--format", "json").out).state == both.state


def test_metrics_and_convention(run: Run, qrels: Path, bm25: Path) -> None:
    metrics = ["P@[1,5]", "fbeta@10(beta=2)"]
    result = run("evaluate", qrels, bm25, "-m", metrics[0], "--metric", metrics[1], "--convention", "ranx")
    assert result.out == f"{expected_result(qrels, bm25, metrics=metrics, convention='ranx')!r}\n"


def test_excluded_items(run: Run, tmp_path: Path, qrels: Path, bm25: Path) -> None:
    train = write_qrels(tmp_path / "train.txt", np.random.default_rng(4), QUERIES)
    result = run("evaluate", qrels, bm25, "--exclude", train, "--threads", 2)
    assert result.out == f"{expected_result(qrels, bm25, exclude=exactk.read(train, role='exclude'))!r}\n"
    assert "relevant documents are in exclude" in result.err


def test_which_columns_are_read(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    read = Mock(side_effect=lambda *_, **__: [[1]])
    monkeypatch.setattr(exactk, "read", read, raising=False)
    given = ["--user", "u", "--user", "day", "--item", "i", "--score", "s", "--grade", "g", "--exclude", "x.csv"]
    assert run("evaluate", "t.csv", "p.csv", *given).code == 0
    keys: dict[str, Any] = {"text_ids": False, "user": ["u", "day"], "item": "i"}
    assert read.call_args_list == [
        call(Path("t.csv"), role="truth", grade="g", **keys),
        call(Path("x.csv"), role="exclude", **keys),
        call(Path("p.csv"), role="predictions", score="s", **keys),
    ]
    read.reset_mock()
    assert run("evaluate", "t", "p.csv", "--user", "u", "--rank", "r", "--text-ids").code == 0
    assert read.call_args_list == [
        call(Path("t"), text_ids=True, role="truth"),  # qrels have no columns
        call(Path("p.csv"), text_ids=True, role="predictions", user="u", rank="r"),
    ]


@pytest.mark.parametrize(
    ("paths", "expected_names"),
    [
        (["runs/bm25.run", "dense.run.gz"], ["bm25", "dense"]),
        (["v1.2.run", "v1.3.run"], ["v1.2", "v1.3"]),
        (["a/run.txt", "b/run.txt", "b/other.txt"], ["a/run", "b/run", "other"]),
        (["a/x/run.txt", "b/x/run.txt"], ["a/x/run", "b/x/run"]),
        (["a/run.csv", "a/run.txt", "b/run.txt"], ["run.csv", "a/run.txt", "b/run"]),
        ([".hidden", "noending"], [".hidden", "noending"]),
    ],
)
def test_names_of_systems(paths: list[str], expected_names: list[str]) -> None:
    assert name_systems([Path(path) for path in paths]) == dict(zip(expected_names, map(Path, paths), strict=True))


def parse_lines(lines: str) -> dict[str, dict[str, str]]:
    """Return what each line says, by query and measure."""
    by_query: dict[str, dict[str, str]] = {}
    for line in lines.splitlines():
        measure, query, value = line.split("\t")
        assert len(measure) >= 22
        by_query.setdefault(query, {})[measure.strip()] = value
    return by_query


def test_trec_prints_trec_evals_own_measures_by_its_convention(run: Run, qrels: Path, bm25: Path) -> None:
    result = run("evaluate", qrels, bm25, "--format", "trec")
    assert (result.code, result.out) == (4, "")  # version 10 refuses a query of the qrels without results
    assert "--convention trec_eval_9 leaves them out" in result.err
    result = run("evaluate", qrels, bm25, "--format", "trec", "--convention", "trec_eval_9")
    by_query = parse_lines(result.out)
    assert "that exactk does not support" not in result.err
    assert list(by_query) == ["all"]
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    official = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank")
    recalls = [f"iprec_at_recall_{tenths / 10:.2f}" for tenths in range(11)]
    assert list(by_query["all"]) == [*official, *recalls, *(f"P_{cutoff}" for cutoff in cutoffs)]
    report = expected_result(qrels, bm25, metrics="map", convention="trec_eval_9")
    assert by_query["all"]["runid"] == "tag"
    assert by_query["all"]["map"] == f"{report['map']:.4f}"
    assert by_query["all"]["num_q"] == "23"


def test_what_trec_eval_does_not_have_keeps_its_name(run: Run, qrels: Path, dense: Path) -> None:
    metrics = ["dcg@5", "ndcg@5(gain=exp2)", "ndcg@5", "ndcg@5(average=micro)"]
    metric_options = [part for metric in metrics for part in ("-m", metric)]
    by_query = parse_lines(run("evaluate", qrels, dense, "--format", "trec", *metric_options).out)
    assert list(by_query["all"]) == ["ndcg_cut_5", "dcg@5", "ndcg@5(gain=exp2)", "ndcg@5(average=micro)"]


def test_trec_lines_of_several_systems_follow_their_names(run: Run, qrels: Path, bm25: Path, dense: Path) -> None:
    options = ("--format", "trec", "-m", "map", "--convention", "trec_eval_9")
    lines = run("compare", qrels, bm25, dense, *options).out.splitlines()
    assert [line.split()[0] for line in lines] == ["runid", "map"] * 2
    assert [line.split()[2] for line in lines[::2]] == ["bm25", "dense"]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".json", ".jsonl", ".ndjson", ".CSV"])
def test_values_of_each_user_as_a_file(
    ending: str, run: Run, tmp_path: Path, qrels: Path, bm25: Path, dense: Path
) -> None:
    file = tmp_path / f"users{ending}"
    readers: dict[str, Callable[[], pd.DataFrame]] = {
        ".parquet": lambda: pyarrow.parquet.read_table(file).to_pandas(),
        ".csv": lambda: pyarrow.csv.read_csv(file).to_pandas(),
        ".json": lambda: pd.DataFrame(json.loads(file.read_text(encoding="utf-8"))),
    }
    read_lines = lambda: pd.DataFrame(list(map(json.loads, file.read_text(encoding="utf-8").splitlines())))  # noqa: E731
    for command, runs in (("evaluate", [bm25]), ("compare", [bm25, dense])):
        expected_report = expected_result(qrels, *runs, per_user=True, metrics=["ndcg@10", "map(missing_list=skip)"])
        assert run(command, qrels, *runs, "-m", "ndcg@10", "-m", "map(missing_list=skip)", "--per-user", file).code == 0
        read = readers.get(ending.lower(), read_lines)()
        user = "user" if "json" in ending else "query"  # keys of JSON stay
        columns = ["system", user] if len(runs) > 1 else [user]
        assert list(read.columns) == [*columns, "ndcg@10", "map(missing_list=skip)"]
        assert read.iloc[:, -1].isna().any()
        expected = expected_report.to_pandas("per_user").rename(columns={"query": user})
        pd.testing.assert_frame_equal(read, expected, check_dtype=False, rtol=0, atol=0)


def test_users_of_several_columns(run: Run, tmp_path: Path) -> None:
    qrels, ranked, file = tmp_path / "truth.csv", tmp_path / "a.csv", tmp_path / "users.jsonl"
    qrels.write_text("shop,day,item\ns,2,tea\ns,1,tea\n", encoding="utf-8")
    ranked.write_text("day,shop,item,score\n1,s,tea,1\n2,s,milk,1\n2,s,tea,0.5\n", encoding="utf-8")
    given = ["-m", "mrr", "--user", "shop", "--user", "day", "--format", "trec", "-q", "--per-user", file]
    lines = run("evaluate", qrels, ranked, *given).out.splitlines()
    assert [line.split("\t")[1:] for line in lines[:2]] == [["s/1", "1.0000"], ["s/2", "0.5000"]]
    assert list(map(json.loads, file.read_text(encoding="utf-8").splitlines())) == [
        {"shop": "s", "day": 2, "mrr": 0.5},
        {"shop": "s", "day": 1, "mrr": 1.0},
    ]


def test_keys_that_are_bytes_are_text_in_json() -> None:
    assert json_object({"user": b"a\xff"}) == '{"user": "a\\\\xff"}'


def test_states_that_cannot_be_merged(run: Run, tmp_path: Path, qrels: Path, dense: Path) -> None:
    one, other, cut = tmp_path / "one.state", tmp_path / "other.state", tmp_path / "cut.state"
    run("evaluate", qrels, dense, "--state", one)
    run("evaluate", qrels, dense, "--state", other, "--convention", "ranx")
    cut.write_bytes(one.read_bytes()[:-5])
    (tmp_path / "link").symlink_to(one)
    cases: list[tuple[list[object], str]] = [
        ([one, other], "ap_over"),
        ([one, one], "each file once"),
        ([one, tmp_path / "link"], "each file once"),
        ([one, cut], f"truncated or corrupted state (checksum mismatch) in {cut}; evaluate these users again"),
        ([one, "--min", "map=0.1"], "--min: expected one of precision@10"),
        (
            [one, qrels],
            f"states: expected a state file, found a file that begins with b'{qrels.read_text()[:16]}"[:70],
        ),
        ([tmp_path / "none.state"], f"no file at '{tmp_path / 'none.state'}'"),
    ]
    for arguments, message in cases:
        result = run("merge", *arguments)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert message in result.err
    assert run("merge", one, "--min", "ndcg@10=0.99").code == 1


SCORES = "user,item,score\nann,tea,0.5\nbob,tea,1\nann,milk,0.75\nann,rice,0.5\nbob,rice,-2\n"
TRAIN = "user,item\nzoe,tea\nbob,tea\nann,milk\nann,beer\n"
CSV = "user,item,rank,score\n"
BEST = {
    "scores -k 2": "ann Q0 milk 1 0.75 exactk\nann Q0 rice 2 0.5 exactk\nbob Q0 tea 1 1.0 exactk\nbob Q0 rice 2 -2.0 exactk\n",
    "scores -k 1 --format csv": f"{CSV}ann,milk,1,0.75\nbob,tea,1,1.0\n",
    "scores -k 1 --format csv --exclude train.csv": f"{CSV}ann,rice,1,0.5\nbob,rice,1,-2.0\n",
    "scores -k 5 --format json": '{"user": "ann", "items": ["milk", "rice", "tea"], "scores": [0.75, 0.5, 0.5]}\n'
    '{"user": "bob", "items": ["tea", "rice"], "scores": [1.0, -2.0]}\n',
    "close -k 2 --format csv": f"{CSV}ann,tea,1,1.0000000001\nann,milk,2,1.0\n",
    "close -k 2 --format csv --set score_dtype=float32": f"{CSV}ann,milk,1,1.0\nann,tea,2,1.0\n",
    "integers -k 2 --format csv": f"{CSV}7,4,1,1.0\n7,30,2,1.0\n8,30,1,2.0\n",
    "blank -k 1 --format csv": f"{CSV}ann,green tea,1,1.0\n",
}


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files({"scores.csv": SCORES, "train.csv": TRAIN, "ranks.csv": "user,item,rank\nann,tea,1\n"})
    write_files({"integers.csv": "user,item,score\n7,30,1\n7,4,1\n8,30,2\n"})
    write_files({"blank.csv": "user,item,score\nann,green tea,1\n"})
    write_files({"close.csv": "user,item,score\nann,milk,1\nann,tea,1.0000000001\n"})


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize("call", BEST)
def test_the_best_of_each_user(run: Run, call: str) -> None:
    """In a tie, the key that comes first is ranked higher; exclusions are matched by key, whatever their order."""
    file, *options = call.split()
    assert run("topk", f"{file}.csv", *options) == (0, BEST[call], "")


@pytest.mark.usefixtures("scores")
def test_topk_needs_scores_and_a_number(run: Run) -> None:
    assert_refused(run("topk", "ranks.csv", "-k", 1), "scores: expected a score for each user and item, found Rankings")
    assert_refused(run("topk", "scores.csv", "-k", 0), "k: expected a cutoff")
    assert_refused(run("topk", "blank.csv", "-k", 1), "ids without blanks")


@pytest.mark.parametrize(("form", "ending"), [("trec", ".run"), ("csv", ".csv"), ("json", ".jsonl")])
def test_what_topk_writes_is_read_again(
    form: str, ending: str, run: Run, tmp_path: Path, qrels: Path, bm25: Path
) -> None:
    best = tmp_path / f"best{ending}"
    assert run("topk", bm25, "-k", 10, "--format", form, "-o", best) == (0, "", "")
    metrics = ["-m", "ndcg@10", "-m", "map@10", "-m", "num_ret@10"]
    whole, cut = (run("evaluate", qrels, file, *metrics, "--format", "csv") for file in (bm25, best))
    assert cut.out == whole.out
    assert cut.code == 0


def test_scores_that_json_lacks_are_written_as_they_are_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("user,item,score\n1,10,0.5\n1,20,inf\n")
    done = run("topk", tmp_path / "scores.csv", "-k", 2, "--format", "json", "-o", tmp_path / "best.jsonl")
    assert (done.code, done.err) == (0, "")
    assert exactk.topk(tmp_path / "best.jsonl", 2).scores.tolist() == [[float("inf"), 0.5]]


def test_values_are_kept_within_bounds(run: Run, qrels: Path, bm25: Path, dense: Path) -> None:
    """To the last bit."""
    values = expected_result(qrels, bm25, dense)["ndcg@10"]
    low, high = sorted(values, key=values.__getitem__)
    bound = values[high]
    command = ("compare", qrels, bm25, dense)
    below = f"exactk: below --min: nDCG@10 of {low} is {values[low]!r}, expected at least {bound!r}"
    above = f"exactk: above --max: ndcg@10 of {high} is {bound!r}, expected at most {values[low]!r}"
    for options, expected in (
        (["--min", f"nDCG@10={bound!r}", "--min", "recall@10=0"], [below]),
        (["--max", f"ndcg@10={values[low]!r}"], [above]),
        (["--max", f"ndcg@10={bound!r}", "--min", f"ndcg@10={values[low]!r}"], []),
        (["--min", f"{high}:ndcg@10={math.nextafter(bound, 1)!r}"], [f"exactk: below --min: ndcg@10 of {high}"]),
        (["--max", f"{high}:ndcg@10={math.nextafter(bound, 0)!r}"], [f"exactk: above --max: ndcg@10 of {high}"]),
    ):
        result = run(*command, *options)
        lines = [line for line in result.err.splitlines() if "warning" not in line]
        assert (result.code, len(lines)) == (bool(expected), len(expected))
        assert all(line.startswith(begin) for line, begin in zip(lines, expected, strict=True)), lines
        assert result.out.startswith("metric")


@pytest.mark.parametrize("option", ["--min", "--max"])
@pytest.mark.parametrize("name", ["dense", "v1:2", "a=b:c"])
def test_a_bound_of_one_system(
    monkeypatch: pytest.MonkeyPatch, run: Run, qrels: Path, bm25: Path, dense: Path, option: str, name: str
) -> None:
    """The name may have colons, as no metric has one."""
    monkeypatch.chdir(qrels.parent)
    dense.rename(name)
    systems = (f"bm25={bm25}", f"./{name}")
    bound = {"--min": 1.0, "--max": 0.0}[option]
    result = run("compare", qrels, *systems, "-m", "mrr", option, f"{name}:P@[1,5]={bound}")
    assert result.code == 1
    lines = [line for line in result.err.splitlines() if option in line]
    assert [line.split()[3:6] for line in lines] == [["P@1", "of", name], ["P@5", "of", name]]
    assert run("compare", qrels, *systems, "-m", "mrr", option, f"bm25:mrr={1 - bound}").code == 0


def test_what_must_be_reached_is_computed_unasked(run: Run, qrels: Path, bm25: Path) -> None:
    result = run("evaluate", qrels, bm25, "-m", "P@5", "--min", "fbeta@[5,10](beta=2)=2")
    assert result.code == 1
    bounded = ["fbeta@5(beta=2)", "fbeta@10(beta=2)"]
    assert [line.split()[0] for line in result.out.splitlines()[1:-1]] == ["P@5", *bounded]
    assert [line.split()[3] for line in result.err.splitlines() if "--min" in line] == bounded


def test_nan_is_warned_of_and_keeps_no_bound(run: Run, tmp_path: Path, bm25: Path, dense: Path) -> None:
    qrels = tmp_path / "irrelevant.txt"
    qrels.write_text("q3 0 d100 0\n", encoding="utf-8")
    warning = "no query was evaluated for mrr: NaN; 1 query without relevant documents\n"
    assert run("evaluate", qrels, bm25, "-m", "mrr").err == f"exactk: warning: {warning}"
    assert run("compare", qrels, bm25, dense, "-m", "mrr").err == f"exactk: warning: all systems: {warning}"
    for option, bound, found in (("--min", "-inf", "at least -inf"), ("--max", "inf", "at most inf")):
        result = run("evaluate", qrels, bm25, "-m", "mrr", option, f"mrr={bound}")
        assert (result.code, f"mrr is nan, expected {found}" in result.err) == (1, True)


def test_f34_names_in_a_terminal_are_no_commands(
    run: Run, tmp_path: Path, qrels: Path, dense: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in a table, not in formats that leave names as they are, not in what is said of an error."""
    odd = write_run(tmp_path / "\x1b[2J.run", np.random.default_rng(2), QUERIES)
    for form in ("table", "trec", "markdown", "latex"):
        assert "\x1b" not in run("compare", qrels, odd, dense, "--format", form).out
    arguments = ("compare", qrels, odd, dense, "--format", "csv")
    assert "\n\x1b[2J,ndcg,10," in run(*arguments).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\n\\x1b[2J,ndcg,10," in run(*arguments).out
    assert "\x1b" not in run(*arguments).err
    assert_refused(run("evaluate", qrels, tmp_path / "\x1b]0;none.run"), r"\x1b]0;none.run")


def test_f34_csv_of_users_is_no_formula(run: Run, tmp_path: Path) -> None:
    qrels, ranked, file = tmp_path / "qrels.txt", tmp_path / "a.run", tmp_path / "users.csv"
    qrels.write_text("=1+1 0 d100 1\n", encoding="utf-8")
    ranked.write_text("=1+1 Q0 d100 1 0.5 tag\n", encoding="utf-8")
    assert run("evaluate", qrels, ranked, "-m", "mrr", "--per-user", file).code == 0
    assert file.read_text(encoding="utf-8") == "query,mrr\n'=1+1,1.0\n"


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.state"
    write_file(file, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space"):
            write_file(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
    write_file(file, b"new")
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_written_file_has_reached_the_disk_before_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = []

    def recorded(function: Callable[..., object]) -> Callable[..., object]:
        def record(*arguments: Any) -> object:
            events.append(function.__name__)
            return function(*arguments)

        return record

    monkeypatch.setattr(os, "fsync", recorded(os.fsync))
    monkeypatch.setattr(Path, "replace", recorded(Path.replace))
    write_file(tmp_path / "a.state", b"data")
    assert events == ["fsync", "replace", "fsync"]


def test_a_link_stays_one_and_a_pipe_too(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_file(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, b"through")
    assert os.read(reader, 10) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_bar_is_drawn_on_a_terminal_where_it_can_be(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    progress_options: list[bool] = []

    def fake_evaluate(*_: object, progress: bool, **__: object) -> Any:
        progress_options.append(progress)
        return report

    report = exactk.evaluate([[1]], [[1]], "P@1")
    monkeypatch.setattr(exactk, "read", lambda *_, **__: None, raising=False)
    monkeypatch.setattr(exactk, "evaluate", fake_evaluate)
    run("evaluate", "a", "b", "-m", "P@1")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run("evaluate", "a", "b", "-m", "P@1")
    run("evaluate", "a", "b", "-m", "P@1", "--no-progress")
    monkeypatch.setitem(sys.modules, "rich", None)
    assert not optional.has("rich")
    run("evaluate", "a", "b", "-m", "P@1")
    assert progress_options == [False, True, False, False]


def test_the_doctor_finds_nothing(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("EXACTK_ISA", "scalar")
    exactk.show_versions()
    facts = capsys.readouterr().out.splitlines()
    result = run("doctor")
    lines = result.out.splitlines()
    assert (result.code, result.err) == (0, "")
    assert [line.partition(";")[0] for line in lines[: len(facts)]] == facts
    assert any(line.startswith("rich") and line.endswith("; for progress bars") for line in lines)
    checks = [line.split(": ")[0] for line in lines[lines.index("") + 1 :]]
    assert checks == [f"passed  {name}" for name in other_commands._CHECKS]
    assert os.environ["EXACTK_ISA"] == "scalar"


def test_the_doctor_finds_a_wrong_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_commands, "_USERS", 9)
    monkeypatch.setenv("EXACTK_NUM_THREADS", "two")
    result = run("doctor")
    assert result.code == 2
    failed = [line for line in result.out.splitlines() if line.startswith("failed")]
    assert len(failed) == 1
    assert "EXACTK_NUM_THREADS" in failed[0]


def test_the_doctor_finds_bits_that_differ(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate, calls = exactk.evaluate, []

    def evaluate_negated(truth: Any, scores: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return evaluate(truth, scores * (-1) ** len(calls), *arguments, **options)

    monkeypatch.setattr(other_commands, "_USERS", 9)
    monkeypatch.setattr(exactk, "evaluate", evaluate_negated)
    result = run("doctor")
    assert result.code == 2
    assert re.search(r"^failed  every number of threads .*: 2 threads and 1 threads differ$", result.out, re.MULTILINE)


def test_json_says_which_files_it_is_of(run: Run, tmp_path: Path, qrels: Path, bm25: Path, dense: Path) -> None:
    seen = tmp_path / "seen.csv"
    seen.write_text("query,document\nq1,d1\n", encoding="utf-8")
    words = ("compare", str(qrels), f"first={bm25}", str(dense), "-m", "map@10", "--exclude", str(seen))
    document = json.loads(run(*words, "--format", "json").out)
    assert document["command"] == ["exactk", *words, "--format", "json"]
    assert document["inputs"] == [
        {"argument": argument, "system": system, "path": str(path), "sha256": sha256(path.read_bytes()).hexdigest()}
        for argument, system, path in (
            ("truth", None, qrels),
            ("predictions", "first", bm25),
            ("predictions", "dense", dense),
            ("exclude", None, seen),
        )
    ]
    assert [list(report["values"]) for report in document["reports"]] == [["map@10"]] * 2
    assert [report["system"] for report in document["reports"]] == ["first", "dense"]
    state = tmp_path / "one.state"
    assert run("evaluate", qrels, bm25, "-m", "map@10", "--state", state).code == 0
    single = json.loads(run("evaluate", qrels, bm25, "--format", "json").out)["inputs"][1]
    assert (single["path"], single["system"]) == (str(bm25), None)
    document = json.loads(run("merge", state, "--format", "json").out)
    assert [one["argument"] for one in document["inputs"]] == ["states"]
    assert list(document["reports"][0]["values"]) == ["map@10"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="run on a system with named pipes")
def test_a_pipe_has_no_digest(run: Run, tmp_path: Path, qrels: Path, bm25: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(qrels.read_bytes()))
    writer.start()
    result = run("evaluate", pipe, bm25, "--format", "json")
    writer.join()
    assert [one["sha256"] is None for one in json.loads(result.out)["inputs"]] == [True, False]
