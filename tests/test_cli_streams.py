"""The streams of a process: closed, full, appended to, of any encoding, or read as a file."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import exactk
from commands import QRELS, RUN, Run, run_forks, write_files
from exactk._cli import main

pytestmark = pytest.mark.native
BEST = "q1 Q0 d1 1 3.0 exactk\nq2 Q0 d7 1 1.0 exactk\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files({"q.qrels": QRELS, "r.run": RUN, "empty.run": ""})
    return tmp_path


def test_the_module_is_the_command_and_reads_a_pipe() -> None:
    command = [sys.executable, "-m", "exactk", "evaluate", "q.qrels", "-", "-m", "mrr", "--format", "json"]
    lines = "".join(f"q{number} Q0 d1 0 1 x\n" for number in range(20_000)).encode()  # more than a pipe holds
    process = subprocess.run(command, input=lines, capture_output=True, check=True)  # noqa: S603 - our own
    document = json.loads(process.stdout)
    assert document["reports"][0]["counts"]["users"] == 20_000
    truth, predictions = document["inputs"]
    assert (predictions["argument"], predictions["path"]) == ("predictions", "-")
    assert predictions["sha256"] == sha256(lines).hexdigest()
    assert truth["sha256"] == sha256(Path("q.qrels").read_bytes()).hexdigest()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_f55_a_full_stdout_is_one_line(unbuffered: str) -> None:
    commands = ("--help", "--version", "metrics", "evaluate q.qrels r.run")
    result = run_forks(*commands, streams="> /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert result.codes == [2] * len(commands)
    lines = [line for line in result.err.splitlines() if b"warning" not in line]
    assert lines == [b"exactk: error: stdout: No space left on device"] * len(commands)


@pytest.mark.parametrize("streams", ["2> /dev/full", "2>&-", "> /dev/full 2> /dev/full"])
def test_f55_a_full_or_closed_stderr(streams: str) -> None:
    commands = ("evaluate q.qrels absent", "no-such-command", "evaluate q.qrels empty.run")
    warned = 0 if streams == "2>&-" else 2  # a warning that cannot be written is an error
    result = run_forks(*commands, streams=streams)
    assert (result.codes, result.err) == ([2, 2, warned], b"")
    assert result.out.startswith(b"metric") == (streams == "2>&-")


@pytest.mark.parametrize(
    "streams", [">&3", ">&- <&-", ">&- <&- 2>&-"], ids=["a reader that has ended", "stdout and stdin", "all"]
)
def test_f55_closed_streams_are_no_errors(streams: str) -> None:
    commands = ("metrics", "conventions --help", "topk r.run -k 1 -o best.run")
    result = run_forks(*commands, streams=streams, before="exec 3> >(:); wait $!;")
    assert result == ([0] * len(commands), b"", b"")
    assert Path("best.run").read_text(encoding="utf-8") == BEST


def test_f55_names_that_are_no_text(run: Run) -> None:
    os.rename("r.run", b"a\xff.run")  # noqa: PTH104 - the name is no text
    write_files({"b.run": RUN, "c.csv": "user,item,score\nq1,d1,0.5\n"})
    write_files({"c.jsonl": '{"user": "q1", "item": "d1", "score": 0.5}\n'})
    table = pa.table({"user": ["q1"], "item": ["d1"], "score": [0.5]})
    pa.parquet.write_table(table, "c.parquet")
    pa.feather.write_feather(table, "c.feather")
    for ending in ("parquet", "feather", "csv", "jsonl"):
        name = f"c\udcff.{ending}"
        Path(f"c.{ending}").rename(name)
        assert len(exactk.read(name, "truth")) == 1
    for form in ("table", "json", "csv", "markdown", "latex", "trec"):
        compare = f"compare q.qrels a\udcff.run b.run -m map --per-user u.parquet --format {form}"
        assert run(*compare.split()).code == 0, form
    for options in ("-m ndcg\udcff", "--convention \udcff", "--user \udcff", "\udcff", "--state no\udcff/s"):
        assert run("evaluate", "q.qrels", "b.run", *options.split()).code == 2, options
    assert run_forks("compare q.qrels 'a\udcff.run'", "evaluate q.qrels b.run -m ndcg\udcff").codes == [0, 2]


def test_names_that_an_encoding_lacks_are_printed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.run").rename("é中.run")
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="latin-1"))
    assert main(["compare", "q.qrels", "é中.run"]) == 0
    assert b" \xe9\\u4e2d\n" in stream.getvalue()


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}], ids=str
)
def test_f71_ids_go_out_as_they_came_in(variables: dict[str, str]) -> None:
    query, document = "q\u00a01\u2028\x01", "d\u00a0\u4e2d"
    write_files({"q.qrels": f"{query} 0 {document} 1\n", "r.run": f"{query} Q0 {document} 1 1 \u00e9\n"})
    commands = ("topk r.run -k 1", "evaluate q.qrels r.run --format trec -q -m P.1 -m runid")
    result = run_forks(*commands, **variables)
    assert result.codes == [0, 0], result
    first, *lines = result.out.split(b"\n")
    assert first.decode() == f"{query} Q0 {document} 1 1.0 exactk"
    assert f"P_1                   \t{query}\t1.0000".encode() in lines
    assert b"runid                 \tall\t\xc3\xa9" in lines


def test_f49_stdout_is_appended_to() -> None:
    """And is no output beside another, or a file that is read."""
    write_files({"log": "before\n"})
    commands = {
        "topk r.run -k 1 -o /dev/stdout": 0,
        "topk r.run -k 1 -o /dev/fd/7": 0,
        "evaluate q.qrels r.run --state /dev/stdout": 2,
        "evaluate q.qrels r.run --state log": 2,
        "merge log --state other": 2,
    }
    result = run_forks(*commands, streams=">> log 7>> log")
    assert (result.codes, result.err.count(b"\n")) == ([*commands.values()], 3)
    assert Path("log").read_text(encoding="utf-8") == f"before\n{BEST}{BEST}"
    result = run_forks("evaluate q.qrels r.run", streams=">> q.qrels")
    assert (result.codes, result.err.count(b"\n")) == ([2], 1)
    assert Path("q.qrels").read_text(encoding="utf-8") == QRELS
    assert run_forks("topk r.run -k 1 -o /dev/stdout").out.decode() == BEST  # a pipe
