"""How a command is written, and how it ends: help, usage errors in one style, and exit codes."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path

import pytest

import exactk
from commands import Run, assert_refused
from exactk._cli import command_parser


def commands() -> dict[str, argparse.ArgumentParser]:
    parser = command_parser()
    return dict(next(action.choices for action in parser._actions if isinstance(action.choices, dict)))


def test_the_help_lists_the_commands(run: Run) -> None:
    assert list(commands()) == [
        "evaluate",
        "compare",
        "explain",
        "report",
        "merge",
        "topk",
        "fuse",
        "read",
        "metrics",
        "conventions",
        "doctor",
    ]
    result = run("--help")
    assert result == run()
    assert result.out.startswith("usage: exactk ")
    assert all(re.search(rf"^    {name}\b", result.out, re.MULTILINE) for name in commands())
    assert run("--version") == (0, f"exactk {exactk.__version__}\n", "")


@pytest.mark.parametrize("name", commands())
def test_each_help_has_an_example_that_parses(name: str, run: Run) -> None:
    result = run(name, "--help")
    assert result.code == 0
    words = shlex.split(result.out.partition("\nexample: ")[2].partition(">")[0])
    assert words[:2] == ["exactk", name]
    arguments = command_parser().parse_args(words[1:])
    assert arguments.command == name


NO_BOUNDS = ("ndcg@10", "ndcg@10=", "=0.3", "ndcg@10=high", "ndcg@10=nan", "fbeta(beta=2)")
USAGE_ERRORS = {
    "": {
        "nope": "command: expected one of evaluate, compare, explain, report, merge, topk, fuse, read, metrics, conventions, doctor, found 'nope'",
        "evalaute a b": "command: expected one of evaluate, compare, explain, report, merge, topk, fuse, read, metrics, conventions, doctor, found "
        "'evalaute'; did you mean 'evaluate'?",
        "--nope": "unrecognized arguments: --nope",
    },
    "evaluate": {
        "": "the following arguments are required: TRUTH, PREDICTIONS",
        "a": "the following arguments are required: PREDICTIONS",
        "a b --nope": "unrecognized arguments: --nope",
        "a b --metrics=mrr": "unrecognized arguments: --metrics=mrr; did you mean '--metric'?",
        "a b --format xml": "--format: expected one of table, json, csv, markdown, latex, trec, found 'xml'",
        "a b --threads x": "--threads: expected an integer such as 10, found 'x'",
        "a b -m": "-m/--metric: expected one argument",
        "a b -m ndgc": "--metric: expected the name of a metric, found 'ndgc'",
        "a b -m ndcg --min ndgc=1": "--min: expected the name of a metric, found 'ndgc'",
        "a b --max x": "--max: expected METRIC=VALUE such as ndcg@10=0.3, found 'x'",
        "a b --min b:mrr=1": "--min: expected METRIC=VALUE such as ndcg@10=0.3, found 'b:mrr=1'",
        **{f"a b --min {bound}": "--min: expected METRIC=VALUE such as ndcg@10=0.3" for bound in NO_BOUNDS},
        "a b --set x": "--set: expected FIELD=VALUE such as nan=last, found 'x'",
        "a b --set base=ranx": "--set: expected a field of the convention, found 'base=ranx'; --convention names",
        "a b --set gain=foo": "--set: expected gain to be one of 'linear', 'binary'",
        "a b --set nan=last --set nan=raise": "--set: expected one value of nan, found last and raise",
        "a b --convention trec_evl": "--convention: expected the name of a preset, found 'trec_evl'; did you mean 'trec_eval'?",
        "a b --state /no/x": "--state: expected the path of a file, in a folder that exists, found '/no/x'",
        "a b --per-user x.xls": "--per-user: expected a file that ends in .parquet, .csv, .json, .jsonl, .ndjson",
        "a b -q": "-q goes with --format trec; --per-user writes each user's values to a file",
        "a b --groups g --format trec": "--groups goes with any format but trec",
        "a b c": "expected the predictions of one system, found 2; exactk compare a b c",
        "a b --score s --rank r": "--rank: not allowed with argument --score",
        "a b --user u": "--user: expected a file with names of columns, found none in a and b",
    },
    "compare": {
        "a": "the following arguments are required: NAME=PATH",
        "a b c --min d:mrr=1": "--min: expected one of the systems b, c, found 'd'",
        "a bm25 dense --max dnese:mrr=1": "--max: expected one of the systems bm25, dense, found 'dnese'; did you mean 'dense'?",
        "a b c --min :mrr=1": "--min: expected METRIC=VALUE such as ndcg@10=0.3, perhaps after SYSTEM:",
        "a b c --min c:=1": "--min: expected METRIC=VALUE such as ndcg@10=0.3, perhaps after SYSTEM:",
        "a b c --min c:nddcg=1": "--min: expected ",
        "a b --state s": "unrecognized arguments: --state s",
    },
    "report": {
        "a": "the following arguments are required: [NAME=]PATH, -o/--output",
        "a b --baseline c -o p.html": "--baseline goes with several systems",
    },
    "merge": {
        "": "the following arguments are required: STATE",
        "a --set nan=last": "unrecognized arguments: --set nan=last; see",
        "a --max b:mrr=1": "--max: expected METRIC=VALUE such as ndcg@10=0.3, found 'b:mrr=1'",
    },
    "topk": {
        "a": "the following arguments are required: -k",
        "a -k x": "-k: expected an integer such as 10, found 'x'",
        "a -k 3 --set gain=exp2": "--set: expected ties, nan or score_dtype, found gain",
        "a -k 3 -o /no/x": "-o: expected the path of a file, in a folder that exists, found '/no/x'",
    },
    "fuse": {  # before files are read, as there are none
        "": "the following arguments are required: NAME=PATH",
        "a b --method rff": "--method: expected one of rrf, sum, mnz, anz, max, min, median, rbc, borda, found 'rff'; did you",
        "a b --norm z": "--norm: expected none with a method that reads ranks, found norm='z' and method='rrf'",
        "a b --weights a=1,c=2": "--weights: expected one of 'a', 'b', found 'c'",
        "a b --weights a=1": "--weights: expected a number for each system, found none for 'b'",
        "a b --weights a=1,a=2": "--weights: expected each system once, as in bm25=0.7,dense=0.3, found 'a=1,a=2'",
        "a b --weights 1": "--weights: expected each system once, as in bm25=0.7,dense=0.3, found '1'",
        "a b --weights a=x,b=1": "--weights: expected a number, found 'x'",
        "a b --weights a=-1,b=1": "--weights: expected weights from 0 to 2^256, found -1",
        "a b --rank-constant -1": "--rank-constant: expected a finite number, at least 0, found -1",
        "a b --method sum --persistence .5": "--persistence: expected a method that reads it: 'rbc', found method='sum'",
        "a b --method sum --low a=0": "--low: expected none with a norm other than 'theoretical_min_max', found ",
        "a b --method sum --norm theoretical_min_max --low a=0": "--low: expected a number for each system, found none",
        "a b -k 0": "-k: expected a cutoff in [1, 2^31), found 0",
        "a b --depth 0": "--depth: expected a cutoff in [1, 2^31), found 0",
        "a b --depth x": "--depth: expected an integer such as 10, found 'x'",
        "a b --score s --rank r": "--rank: not allowed with argument --score",
        "a b --user u": "--user: expected a file with names of columns, found none in a and b",
        "a b -o a": "-o: expected a file without another use, found 'a': 'a' is read",
    },
    "metrics": {
        "f2@10": "METRIC: expected the name of a metric, found 'f2@10'; did you mean 'fbeta'?",
        "nope": "METRIC: expected the name of a metric, found 'nope'",
        "-m x": "unrecognized arguments: -m",
    },
    "conventions": {
        "nope": "NAME: expected the name of a preset, found 'nope'",
        "a b": "unrecognized arguments: b",
        "--diff a": "--diff: expected 2 arguments",
        "--dif standard capped": "unrecognized arguments: --dif",
        "--diff ranx nope": "--diff: expected the name of a preset, found 'nope'",
        "--exclude x": "--exclude goes with --matching",
        "--matching x": "--matching: expected METRIC=VALUE such as map@10=0.0345, found 'x'",
        "--matching mrr=1 a": "--matching goes with two arguments, TRUTH and PREDICTIONS",
        "--matching mrr=1 --matching mrr=2 a b": "--matching: expected each metric once, found one twice",
        "--matching mrr=1 --diff a b": "--diff: not allowed with argument --matching",
    },
    "doctor": {"x": "unrecognized arguments: x"},
}


@pytest.mark.parametrize("command", USAGE_ERRORS)
def test_usage_errors_have_one_style(command: str, run: Run) -> None:
    for options, message in USAGE_ERRORS[command].items():
        result = run(*command.split(), *options.split())
        assert_refused(result, f"exactk: error: {message}")
        assert result.err.endswith(f"; see exactk {command} --help\n" if command else "; see exactk --help\n"), result


def test_messages_name_options(run: Run, tmp_path: Path) -> None:
    """And files."""
    files = [tmp_path / name for name in ("qrels.txt", "bm25.run")]
    for file in files:
        file.touch()
    cases: dict[str, list[object]] = {
        "--threads: expected an integer from 1 to": [*files, "--threads", 0],
        "exclude: expected a file, found the directory": [*files, "--exclude", tmp_path],
        "only predictions may be a directory": [tmp_path, files[1]],
    }
    for message, arguments in cases.items():
        assert_refused(run("evaluate", *arguments), message)


def test_what_cannot_be_written_is_said_before_anything_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "nowhere").symlink_to(tmp_path / "no" / "a.state")
    for option, name in (
        ("--per-user", "no/users.csv"),
        ("--state", ""),
        ("--state", "circle"),
        ("--state", "nowhere"),
    ):
        result = run("evaluate", "none", "none2", option, tmp_path / name)
        assert_refused(result, f"{option}: expected the path of a file, in a folder that exists, found")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_refused(run("evaluate", "none", "none2", "--per-user", "users.parquet"), "pip install 'exactk[arrow]'")


BUG = "exactk: error: this is a bug in exactk: please report it with the output of exactk doctor\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 2, "exactk: error: there is not enough memory\n"),
        (PermissionError(13, "Permission denied", "qrels"), 2, "exactk: error: qrels: Permission denied\n"),
        (OSError("disk\nfull"), 2, "exactk: error: disk\\nfull\n"),
        (ImportError("it needs pyarrow"), 2, "exactk: error: it needs pyarrow\n"),
        (exactk.InputError("line 3: \x1b[2J"), 2, "exactk: error: line 3: \\x1b[2J\n"),
        (ZeroDivisionError(), 70, BUG),  # and not the code of --min
    ],
)
def test_how_it_ends(error: BaseException, code: int, message: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(exactk, "read", fail, raising=False)
    result = run("evaluate", "a", "b")
    traceback = result.err.removesuffix(message)
    assert result == (code, "", traceback + message)
    assert ("ZeroDivisionError" in traceback) == bool(traceback) == (message == BUG)
