"""Standard input, written -, as one of the files that a command reads."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import exactk
from commands import assert_refused, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commands import Run

FILES = {
    "qrels.txt": "q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\n",
    "one.run": "q1 Q0 d2 0 3 tag1\nq1 Q0 d1 0 2 tag1\nq2 Q0 d1 0 2 tag1\nq2 Q0 d3 0 1 tag1\n",
    "two.run": "q1 Q0 d1 0 3 tag2\nq2 Q0 d3 0 2 tag2\n",
    "train.txt": "q1 0 d2 1\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(FILES)
    exactk_report = exactk.evaluate("qrels.txt", "one.run", "mrr")
    Path("one.state").write_bytes(exactk_report.state.to_bytes())


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Let commands read these bytes from stdin."""
    return lambda data: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["evaluate", "qrels.txt", "one.run", "-m", "mrr"], "qrels.txt"),
        (["evaluate", "qrels.txt", "one.run", "-m", "mrr", "--per-user", "by_user.csv"], "one.run"),
        (["evaluate", "qrels.txt", "one.run", "-m", "mrr", "--exclude", "train.txt"], "train.txt"),
        (["compare", "qrels.txt", "a=one.run", "two.run", "-m", "mrr"], "one.run"),
        (["evaluate", "qrels.txt", "one.run", "--format", "trec", "-m", "runid", "-m", "map", "-q"], "one.run"),
        (["topk", "one.run", "-k", "1"], "one.run"),
        (["fuse", "one.run", "two.run"], "two.run"),
        (["conventions", "--matching", "mrr=0.75", "qrels.txt", "one.run"], "one.run"),
        (["conventions", "--matching", "mrr=0.75", "qrels.txt", "one.run"], "qrels.txt"),
        (["merge", "one.state", "--format", "csv"], "one.state"),
    ],
)
def test_stdin_is_read_as_the_file(
    arguments: Sequence[str], name: str, run: Run, feed: Callable[[bytes], None]
) -> None:
    expected = run(*arguments)
    assert (expected.code, "tag1" in expected.out) == (0, "runid" in arguments)
    feed(Path(name).read_bytes())
    assert run(*(word.replace(name, "-") if word.endswith(name) else word for word in arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        (["evaluate", "-", "-"], b"", "stdin: expected one input that is -, found 2: truth, predictions"),
        (["evaluate", "-", "one.run", "--exclude", "-"], b"", "stdin: expected one input that is -, found 2: truth, ex"),
        (["compare", "-", "one.run", "a=-"], b"", "stdin: expected one input that is -, found 2: truth, predictions"),
        (["compare", "qrels.txt", "-", "a=-"], b"", "predictions: expected each file once, found '-' twice"),
        (["evaluate", "-", "/dev/stdin"], b"", "stdin: expected one input that is -, found 2: truth, predictions"),
        (["merge", "-", "-"], b"", "stdin: expected one input that is -, found 2: states, states"),
        (["topk", "-", "-k", "1", "--exclude", "-"], b"", "stdin: expected one input that is -, found 2"),
        (["conventions", "--matching", "mrr=1", "-", "-"], b"", "stdin: expected one input that is -, found 2"),
        (["evaluate", "qrels.txt", "one.run", "--groups", "-"], b"", "groups: expected a file of columns, found stdin"),
        (["evaluate", "-", "one.run", "two.run"], b"", "expected the predictions of one system, found 2; exactk compare - one.run two.run"),
        (["evaluate", "qrels.txt", "-"], b"q1 Q0 d1 0 1 x\nq1 d1\n", "predictions: expected 6 fields (query Q0 document rank score tag), found 2 at line 2 of stdin: 'q1 d1'"),
        (["evaluate", "qrels.txt", "-"], b"q1 Q0 d1 0 1 x\nq1 Q0 d1 0 1 x\n", "predictions: expected "),
        (["evaluate", "-", "one.run"], b'{"q1": ["d1"]}', "truth: expected 4 fields (query iteration document grade), found 2 at line 1 of stdin: '{\"q1\": [\"d1\"]}'; it is JSON: --truth-form json"),
        (["evaluate", "-", "one.run"], b"a\t20\t4\t887431883\na\t33\t3\t878542699\n", "truth: expected qrels of TREC (query iteration document grade), found grades beyond -1000 to 1000000, as times are at line 2 of stdin: 'a\\t33\\t3\\t878542699'; if the fields are user, item, rating, time: --truth-columns user,item,rating,-; if "),
        (["merge", "-"], b"text", "states: expected a state file, found a file that begins with b'text' in stdin; exa"),
        (["merge", "-"], b"", "states: expected a state file, found an empty file in stdin; exactk evaluate --state"),
    ],
)  # fmt: skip
def test_wrong_stdin(
    arguments: Sequence[str], data: bytes, message: str, run: Run, feed: Callable[[bytes], None]
) -> None:
    feed(data)
    result = run(*arguments)
    assert_refused(result, f"error: {message}")
    assert "/dev/" not in result.err


@pytest.mark.parametrize(
    "command", [("evaluate", "qrels.txt", "one.run", "--state"), ("topk", "one.run", "-k", "1", "-o")]
)
def test_an_output_is_no_dash(command: Sequence[str], run: Run) -> None:
    message = "expected the path of a file, in a folder that exists, found '-'; /dev/stdout is stdout, and ./- a file"
    assert_refused(run(*command, "-"), message)
    assert not Path("-").exists()
    assert run(*command, "./-").code == 0
    assert Path("-").exists()


def test_a_closed_stdin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert_refused(run("evaluate", "qrels.txt", "-"), "stdin: expected an open stream, found a closed one")


def test_a_file_of_that_name(run: Run) -> None:
    Path("-").write_text(FILES["one.run"], encoding="utf-8")
    expected = run("evaluate", "qrels.txt", "one.run", "-m", "mrr")
    assert run("evaluate", "qrels.txt", "./-", "-m", "mrr") == expected
