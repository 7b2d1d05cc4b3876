"""Files on the command line: outputs never destroy what is there, and broken inputs end with one line."""

from __future__ import annotations

import gzip
import os
import shlex
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import exactk
from exactk._cli import main
from exactk._cli.output_files import write_file
from strategies import latin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commands import Run

QRELS = "q1 0 d1 1\nq1 0 d2 2\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 3 t\nq1 Q0 d9 2 2 t\nq2 Q0 d7 1 1 t\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with qrels and a run."""
    monkeypatch.chdir(tmp_path)
    Path("q.qrels").write_text(QRELS, encoding="utf-8")
    Path("r.run").write_text(RUN, encoding="utf-8")
    return tmp_path


def run_shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which ``exactk`` is this Python's."""
    line = f'set -o pipefail; exactk() {{ {shlex.quote(sys.executable)} -m exactk "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False)  # noqa: S603, S607 - our own


def exit_codes(commands: list[list[bytes]]) -> list[int]:
    """Run the commands in one process, whose start takes longer than they do, and return their exit codes."""
    joined = b"\0\0".join(b"\0".join(command) for command in commands)
    code = (
        "import os, sys; from exactk._cli import main\n"
        r"for command in os.fsdecode(sys.stdin.buffer.read()).split('\0\0'): "
        r"print('EXIT', main(command.split('\0')), file=sys.stderr, flush=True)"
    )
    result = subprocess.run([sys.executable, "-c", code], input=joined, capture_output=True, check=False)  # noqa: S603
    assert result.returncode == 0, result
    assert b"Traceback" not in result.stderr
    return [int(line.removeprefix(b"EXIT ")) for line in result.stderr.splitlines() if line.startswith(b"EXIT ")]


EVALUATE = ("evaluate", "q.qrels", "r.run")


@pytest.mark.parametrize(
    "arguments",
    [
        (*EVALUATE, "--by-user", "x.csv", "--state", "x.csv"),
        (*EVALUATE, "--by-user", "x.csv", "--state", "./x.csv"),
        (*EVALUATE, "--by-user", "new.csv", "--state", "link-to-new"),
        (*EVALUATE, "--state", "q.qrels"),
        (*EVALUATE, "--state", "r.run"),
        (*EVALUATE, "--exclude", "x.csv", "--by-user", "x.csv"),
        (*EVALUATE, "--state", "link-to-run"),
        ("merge", "x.csv", "--state", "x.csv"),
        ("topk", "r.run", "-k", "1", "-o", "r.run"),
        ("topk", "r.run", "-k", "1", "--exclude", "x.csv", "-o", "x.csv"),
    ],
    ids=" ".join,
)
def test_f49_an_output_is_no_other_file_of_the_command(arguments: Sequence[str], folder: Path, run: Run) -> None:
    Path("x.csv").write_text("user,item\nq1,d1\n", encoding="utf-8")
    Path("link-to-run").symlink_to("r.run")
    Path("link-to-new").symlink_to("new.csv")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.exists()}
    result = run(*arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "expected a file without another use" in result.err
    assert {path: path.read_bytes() for path in folder.iterdir() if path.exists()} == before


def test_f49_one_device_serves_several_outputs(run: Run) -> None:
    assert run("topk", "/dev/null", "-k", 1, "-o", "/dev/null").code == 0
    Path("null.csv").symlink_to("/dev/null")
    result = run(*EVALUATE, "--state", "/dev/null", "--by-user", "null.csv")
    assert (result.code, Path("/dev/null").is_char_device()) == (0, True)


@pytest.mark.native
def test_f49_stdout_is_appended_to() -> None:
    assert run_shell("echo before > log; exactk topk r.run -k 1 -o /dev/stdout >> log").returncode == 0
    assert Path("log").read_text(encoding="utf-8").splitlines() == [
        "before",
        "q1 Q0 d1 1 3.0 exactk",
        "q2 Q0 d7 1 1.0 exactk",
    ]
    assert run_shell("exactk topk r.run -k 1 -o /dev/fd/7 7>> log").returncode == 0
    assert len(Path("log").read_bytes().splitlines()) == 5
    piped = run_shell("exactk topk r.run -k 1 -o /dev/stdout | cat")
    assert piped.stdout.splitlines() == [b"q1 Q0 d1 1 3.0 exactk", b"q2 Q0 d7 1 1.0 exactk"]


@pytest.mark.native
@pytest.mark.parametrize(
    "command",
    [
        "exactk evaluate q.qrels r.run --state /dev/stdout >> log",
        "exactk evaluate q.qrels r.run --state log >> log",
        "exactk merge log --state other >> log",
        "exactk evaluate q.qrels r.run >> q.qrels",
    ],
)
def test_f49_where_stdout_goes_is_an_output_too(command: str) -> None:
    Path("log").write_text("before\n", encoding="utf-8")
    result = run_shell(command)
    assert (result.returncode, result.stderr.count(b"\n")) == (2, 1)
    assert Path("log").read_text(encoding="utf-8") == "before\n"
    assert Path("q.qrels").read_text(encoding="utf-8") == QRELS


def test_f49_the_mode_is_kept(run: Run) -> None:
    for mode in (0o600, 0o640, 0o666, 0o4755):
        Path("s").write_bytes(b"old")
        Path("s").chmod(mode)
        assert run(*EVALUATE, "--state", "s").code == 0
        assert stat.S_IMODE(Path("s").stat().st_mode) == mode
    previous = os.umask(0o027)
    try:
        write_file(Path("fresh"), b"")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(Path("fresh").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="run as root, who may give files away")
def test_f49_the_owner_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("s").write_bytes(b"old")
    os.chown("s", 12, 34)
    write_file(Path("s"), b"new")
    status = Path("s").stat()
    assert (status.st_uid, status.st_gid, Path("s").read_bytes()) == (12, 34, b"new")
    monkeypatch.setattr(os, "geteuid", lambda: 12)  # who cannot give a file to that group
    assert "expected a file of one of this user's groups" in run(*EVALUATE, "--state", "s").err
    monkeypatch.setattr(os, "getgroups", lambda: [34])
    assert run(*EVALUATE, "--state", "s").code == 0


def test_f49_what_cannot_be_replaced_without_loss_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("s").write_bytes(b"old")
    os.link("s", "second")
    assert "found 's', which has 2 hard links" in run(*EVALUATE, "--state", "s").err
    Path("second").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert "expected a file of this user" in run(*EVALUATE, "--state", "s").err
        patch.setattr(os, "access", lambda path, _: str(path) != str(Path("s").resolve()))
        assert "which is read-only" in run(*EVALUATE, "--state", "s").err
        patch.setattr(os, "access", lambda path, _: str(path) != str(Path.cwd()))
        assert "a folder that may be written" in run(*EVALUATE, "--state", "s").err
    assert Path("s").read_bytes() == b"old"


def test_f49_names_of_any_length(run: Run, folder: Path) -> None:
    assert run(*EVALUATE, "--state", "n" * 255).code == 0
    assert run(*EVALUATE, "--state", "n" * 256).code == 2
    assert [path.name for path in folder.iterdir() if len(path.name) > 9] == ["n" * 255]


def test_f49_a_kill_leaves_the_old_file(folder: Path) -> None:
    Path("s").write_bytes(b"old")
    code = (
        "import os, signal; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL);"
        "from pathlib import Path; from exactk._cli.output_files import write_file; write_file(Path('s'), b'new')"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own code
    assert killed.returncode == -9
    assert (folder / "s").read_bytes() == b"old"


def test_f49_several_writers_leave_the_file_of_one(folder: Path) -> None:
    """Their temporary files are exclusive, and cannot be guessed."""
    Path(f".s.{os.getpid()}.tmp").symlink_to("victim")
    contents = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_file(folder / "s", content), contents * 4))
    assert Path("s").read_bytes() in contents
    assert sorted(path.name for path in folder.iterdir()) == [f".s.{os.getpid()}.tmp", "q.qrels", "r.run", "s"]


CONTENTS = {
    "empty": b"",
    "blank": b"\n",
    "mark": b"\xef\xbb\xbf",
    "noise": bytes(range(256)) * 20,
    "zeros": bytes(100),
    "utf-16": "user,item,score\n".encode("utf-16"),
}
ENDINGS = (".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".ipc", ".npz")
COMPRESSED = (".txt.gz", ".csv.gz", ".jsonl.gz", ".npz.gz", ".parquet.gz")
COLUMNS = {"user": pa.string(), "item": pa.string(), "score": pa.float64()}


def broken_files() -> Iterator[tuple[str, bool]]:
    """Make files and yield their paths, and whether they are no fault but empty."""
    for kind, content in CONTENTS.items():
        Path(kind).mkdir()
        for ending in (*ENDINGS, *COMPRESSED):
            path = Path(kind, f"x{ending}")
            path.write_bytes(gzip.compress(content, mtime=0) if ending in COMPRESSED else content)
            is_trec = ending in {".txt", ".txt.gz"}
            yield str(path), is_trec and kind in {"empty", "blank", "mark"}
    for ending in (*ENDINGS, *COMPRESSED):
        Path(f"folder{ending}").mkdir()
        yield f"folder{ending}", False
        Path(f"circle{ending}").symlink_to(f"circle{ending}")
        yield f"circle{ending}", False
        yield from ((f"{name}{ending}", False) for name in ("absent/x", "q.qrels/x", "n" * 300, "byte\udcff"))
    for ending in COMPRESSED:
        Path(f"cut{ending}").write_bytes(gzip.compress(b"a b c d\n" * 100, mtime=0)[:-9])
        yield f"cut{ending}", False
        Path(f"plain{ending}").write_bytes(b"")
        yield f"plain{ending}", False
    yield from empty_tables()


def empty_tables() -> Iterator[tuple[str, bool]]:
    """Make files without rows, or without columns, and yield their paths and whether they are no fault."""
    table = pa.schema(COLUMNS).empty_table()
    Path("rows.csv").write_text("user,item,score\n", encoding="utf-8")
    Path("rows.tsv").write_text("user\titem\tscore\n", encoding="utf-8")
    pa.parquet.write_table(table, "rows.parquet")
    pa.feather.write_feather(table, "rows.feather")
    Path("rows.jsonl").write_text('{"user": "q1", "items": [], "scores": []}\n', encoding="utf-8")
    yield from ((f"rows{ending}", True) for ending in (".csv", ".tsv", ".parquet", ".feather", ".jsonl"))
    Path("columns.csv").write_text("a,b\n", encoding="utf-8")
    pa.parquet.write_table(pa.table({}), "columns.parquet")
    Path("columns.jsonl").write_text("{}\n", encoding="utf-8")
    np.savez("columns.npz")
    yield from ((f"columns{ending}", False) for ending in (".csv", ".parquet", ".jsonl", ".npz"))
    np.savez("offsets.npz", indptr=np.zeros(0, np.int64), items=np.zeros(0, np.int64))
    yield "offsets.npz", False
    yield "/dev/null", True


COMMANDS: dict[str, tuple[str, ...]] = {
    "truth": ("evaluate", "FILE", "r.run"),
    "predictions": ("evaluate", "q.qrels", "FILE"),
    "system": ("compare", "q.qrels", "r.run", "FILE"),
    "excluded": (*EVALUATE, "--exclude", "FILE"),
    "trec": ("evaluate", "q.qrels", "FILE", "--format", "trec", "-q"),
    "json": ("evaluate", "FILE", "r.run", "--format", "json", "--by-user", "users.json"),
    "csv": ("evaluate", "FILE", "r.run", "--format", "csv", "--by-user", "users.csv"),
    "markdown": ("evaluate", "FILE", "r.run", "--format", "markdown", "--by-user", "users.parquet"),
    "latex": ("evaluate", "FILE", "r.run", "--format", "latex", "--state", "s"),
    "topk": ("topk", "FILE", "-k", "3"),
    "topk csv": ("topk", "FILE", "-k", "3", "--format", "csv"),
    "topk json": ("topk", "FILE", "-k", "3", "--format", "json"),
    "topk excluded": ("topk", "r.run", "-k", "3", "--exclude", "FILE"),
    "merge": ("merge", "FILE"),
    "merge second": ("merge", "a.state", "FILE"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_f50_empty_and_broken_files(name: str, run: Run) -> None:
    """They end with a line and exit code 2, or are empty and give an empty result: never with the code of --min."""
    Path("a.state").write_bytes(exactk.evaluate([[1]], [[1]], "map").state.to_bytes())
    for path, is_empty in broken_files():
        result = run(*(path if argument == "FILE" else argument for argument in COMMANDS[name]))
        if is_empty and "merge" not in name and name != "trec":
            assert result.code == 0, (path, result)
        else:
            assert (result.code, result.out) == (2, ""), (path, result)
            last = result.err.splitlines()[-1]
            assert last.startswith("exactk: error: "), (path, result)


@pytest.mark.skipif(os.geteuid() == 0, reason="run as another user than root, who reads everything")
@pytest.mark.parametrize("name", COMMANDS)
def test_f50_files_that_may_not_be_read(name: str, run: Run) -> None:
    Path("a.state").write_bytes(exactk.evaluate([[1]], [[1]], "map").state.to_bytes())
    Path("secret").touch(0)
    result = run(*("secret" if argument == "FILE" else argument for argument in COMMANDS[name]))
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "Permission denied in secret" in result.err


def test_f50_an_empty_table_has_its_header(run: Run) -> None:
    Path("empty.csv").write_text("user,item,score\n", encoding="utf-8")
    assert run("topk", "empty.csv", "-k", 3, "--format", "csv") == (0, "user,item,rank,score\n", "")


PRINTING = ["--help", "--version", "metrics", "evaluate q.qrels r.run", "evaluate --help", ""]


@pytest.mark.native
@pytest.mark.parametrize(("unbuffered", "command"), latin(["", "1"], PRINTING, 0))
def test_f55_a_full_stdout_is_one_line(unbuffered: str, command: str) -> None:
    result = run_shell(f"export PYTHONUNBUFFERED={unbuffered}; exactk {command} > /dev/full")
    lines = [line for line in result.stderr.splitlines() if b"warning" not in line]
    assert (result.returncode, lines) == (2, [b"exactk: error: stdout: No space left on device"])


@pytest.mark.native
@pytest.mark.parametrize(
    "command",
    [
        "evaluate q.qrels absent 2> /dev/full",
        "no-such-command 2> /dev/full",
        "evaluate q.qrels empty.run 2> /dev/full",
        "evaluate q.qrels absent 2>&-",
        "evaluate q.qrels absent > /dev/full 2> /dev/full",
    ],
)
def test_f55_a_full_or_closed_stderr(command: str) -> None:
    Path("empty.run").touch()
    result = run_shell(f"exactk {command}")
    assert (result.returncode, result.stderr) == (2, b"")


@pytest.mark.native
def test_f55_closed_streams_are_no_errors() -> None:
    result = run_shell("exactk evaluate q.qrels r.run <&- | head -n 1")
    assert (result.returncode, result.stdout.split()[0]) == (0, b"metric")
    result = run_shell("exactk evaluate q.qrels r.run 2>&-")
    assert (result.returncode, result.stdout.split()[0]) == (0, b"metric")
    result = run_shell("exactk topk r.run -k 1 -o best.run >&- <&- 2>&-")
    assert (result.returncode, Path("best.run").stat().st_size > 0) == (0, True)


@pytest.mark.native
def test_f55_names_that_are_no_text() -> None:
    os.rename("r.run", b"a\xff.run")  # noqa: PTH104 - the name is no text
    Path("b.run").write_text(RUN, encoding="utf-8")
    table = pa.table({"user": ["q1"], "item": ["d1"], "score": [0.5]})
    pa.parquet.write_table(table, "c.parquet")
    pa.feather.write_feather(table, "c.feather")
    Path("c.csv").write_text("user,item,score\nq1,d1,0.5\n", encoding="utf-8")
    Path("c.jsonl").write_text('{"user": "q1", "item": "d1", "score": 0.5}\n', encoding="utf-8")
    for ending in ("parquet", "feather", "csv", "jsonl"):
        name = f"c\udcff.{ending}"
        Path(f"c.{ending}").rename(name)
        assert len(exactk.read(name, "truth")) == 1
    compare = [b"compare", b"q.qrels", b"a\xff.run", b"b.run", b"-m", b"map", b"--by-user", b"u.parquet", b"--format"]
    result = run_shell(r"exactk compare q.qrels $'a\xff.run' b.run -m map --by-user u.parquet")
    assert (result.returncode, b"Traceback" in result.stderr) == (0, False), result
    forms = (b"json", b"csv", b"markdown", b"latex", b"trec")
    options = (
        [b"-m", b"ndcg\xff"],
        [b"--convention", b"\xff"],
        [b"--user", b"\xff"],
        [b"\xff"],
        [b"--state", b"no\xff/s"],
    )
    commands = [[*compare, form] for form in forms] + [[b"evaluate", b"q.qrels", b"b.run", *more] for more in options]
    assert exit_codes(commands) == [0] * len(forms) + [2] * len(options)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--min", "ndcg@10=1_0"),
        ("--min", "ndcg@10=\u0661"),
        ("--min", "ndcg@10=0x1"),
        ("--min", "ndcg@10=1e400"),
        ("--threads", "1_0"),
        ("--threads", "\u0661"),
        ("--set", "min_grade=1_0"),
        ("--set", "decimals=1_0"),
    ],
    ids=" ".join,
)
def test_f55_numbers_have_one_syntax(arguments: Sequence[str], run: Run) -> None:
    result = run(*EVALUATE, *arguments)
    assert (result.code, result.out) == (2, "")
    assert "expected" in result.err
    assert run("topk", "r.run", "-k", "1_0").code == 2


def trec_lines(run: Run, *arguments: str, convention: str = "trec_eval_9") -> list[list[str]]:
    result = run("evaluate", "q.qrels", "r.run", "--format", "trec", "--convention", convention, *arguments)
    assert result.code == 0, result
    return [[field.strip() for field in line.split("\t")] for line in result.out.splitlines()]


CUTOFFS = "5 10 15 20 30 100 200 500 1000"


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        ("P", [f"P_{cutoff}" for cutoff in CUTOFFS.split()]),
        ("recall", [f"recall_{cutoff}" for cutoff in CUTOFFS.split()]),
        ("ndcg_cut", [f"ndcg_cut_{cutoff}" for cutoff in CUTOFFS.split()]),
        ("map_cut", [f"map_cut_{cutoff}" for cutoff in CUTOFFS.split()]),
        ("success", ["success_1", "success_5", "success_10"]),
        ("P.10,5", ["P_5", "P_10"]),
        ("ndcg_cut.3 ndcg num_rel", ["num_rel", "ndcg", "ndcg_cut_3"]),
        ("runid num_q", ["runid", "num_q", "num_ret"]),
        ("rank_biased_precision", ["exactk.rbp"]),
        (
            "set",
            [
                "runid",
                "num_q",
                "num_ret",
                "num_rel",
                "num_rel_ret",
                "set_P",
                "set_relative_P",
                "set_recall",
                "set_map",
                "set_F",
            ],
        ),
    ],
)
def test_f71_measures_are_those_of_trec_eval(measures: str, names: list[str], run: Run) -> None:
    options = [part for measure in measures.split() for part in ("-m", measure)]
    assert [line[0] for line in trec_lines(run, *options)] == names


@pytest.mark.parametrize("measure", ["infAP", "rbp", "iprec_at_recall", "iprec_at_recall.0.1", "utility", "P.x", "Q.5"])
def test_f71_measures_that_there_are_not(measure: str, run: Run) -> None:
    result = run("evaluate", "q.qrels", "r.run", "--format", "trec", "-m", measure)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


def test_f71_sums_stay_sums(run: Run) -> None:
    assert trec_lines(run, "-m", "num_relevant(min_grade=2)", "-q") == [
        ["num_relevant(min_grade=2)", "q1", "1"],
        ["num_relevant(min_grade=2)", "q2", "0"],
        ["num_relevant(min_grade=2)", "all", "1"],
    ]
    assert trec_lines(run, "-m", "num_hits@1") == [["num_hits@1", "all", "1"]]
    # A mean that is rounded to decimals is not what is summed up.
    qrels = [f"q{query} 0 d1 1" for query in range(30_000)] + [f"q{query} 0 d2 1" for query in range(10_001)]
    Path("q.qrels").write_text("\n".join(qrels), encoding="utf-8")
    Path("r.run").write_text("".join(f"q{query} Q0 d1 1 1 t\n" for query in range(30_000)), encoding="utf-8")
    assert trec_lines(run, "-m", "num_rel", "--set", "decimals=0") == [["num_rel", "all", "40001"]]


@pytest.mark.native
@pytest.mark.parametrize("environment", ["LC_ALL=C.UTF-8", "LC_ALL=C", "PYTHONIOENCODING=latin-1"])
def test_f71_ids_go_out_as_they_came_in(environment: str) -> None:
    query, document = "q\u00a01\u2028\x01", "d\u00a0\u4e2d"
    Path("q.qrels").write_text(f"{query} 0 {document} 1\n", encoding="utf-8")
    Path("r.run").write_text(f"{query} Q0 {document} 1 1 \u00e9\n", encoding="utf-8")
    result = run_shell(f"export {environment}; exactk evaluate q.qrels r.run --format trec -q -m P.1 -m runid")
    assert query.encode() in result.stdout, result
    assert b"runid                 \tall\t\xc3\xa9" in result.stdout.splitlines(), result
    result = run_shell(f"export {environment}; exactk topk r.run -k 1")
    assert f"{query} Q0 {document} 1 1.0 exactk\n".encode() == result.stdout


def test_f71_a_key_breaks_no_line(run: Run) -> None:
    Path("t.csv").write_text('user,item\n"a\tb\nc",x\n', encoding="utf-8")
    Path("p.csv").write_text('user,item,score\n"a\tb\nc",x,1\n', encoding="utf-8")
    result = run("evaluate", "t.csv", "p.csv", "--format", "trec", "-q", "-m", "P.1")
    assert [line.split("\t")[1] for line in result.out.splitlines()] == ["a\\tb\\nc", "all"]


def test_f71_keys_that_are_bytes_go_out_as_they_are(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    column = pa.array([b"a\xff"], pa.binary())
    table = pa.table({"user": column, "item": [1], "score": [0.5]})
    pa.parquet.write_table(table, "b.parquet")
    assert main(["evaluate", "b.parquet", "b.parquet", "--format", "trec", "-q", "-m", "P.1"]) == 0
    assert capfdbinary.readouterr().out.splitlines()[0] == b"P_1                   \ta\xff\t1.0000"


@pytest.mark.parametrize("bound", [("--min", "ndcg@10=0.1"), ("--max", "ndcg@10=0.1")])
@pytest.mark.parametrize(
    ("files", "argument"),
    [
        (("q.qrels", "empty.run"), "predictions"),
        (("q.qrels", "empty.csv"), "predictions"),
        (("empty.run", "r.run"), "truth"),
    ],
)
def test_an_empty_file_does_not_pass_for_a_bad_model(
    files: tuple[str, str], argument: str, bound: tuple[str, str], run: Run
) -> None:
    Path("empty.run").touch()
    Path("empty.csv").write_text("user,item,score\n", encoding="utf-8")
    assert run("evaluate", *files, "-m", "ndcg@10").code == 0
    result = run("evaluate", *files, "-m", "ndcg@10", *bound, "--state", "s")
    assert (result.code, result.out, Path("s").exists()) == (2, "", False)
    expected = f"{argument}: expected users, as --min and --max bound their values, found no users"
    assert result.err.endswith(f"exactk: error: {expected}\n")
    if argument == "predictions":
        assert "exactk: warning: the predictions have no users\n" in result.err
        systems = ("compare", "q.qrels", "a=r.run", f"b={files[1]}", "-m", "ndcg@10", bound[0])
        assert run(*systems, bound[1]).err.endswith(f"{expected} in 'b'\n")
        assert run(*systems, f"a:{bound[1]}").code in {0, 1}


@pytest.mark.parametrize("files", [("q.qrels", "empty"), ("empty", "r.run"), ("q.qrels", "other.run")])
def test_f71_no_evaluated_user_is_an_error(files: tuple[str, str], run: Run) -> None:
    Path("empty").touch()
    Path("other.run").write_text("q9 Q0 d1 1 1 t\n", encoding="utf-8")
    result = run("evaluate", *files, "--format", "trec", "--convention", "trec_eval_9", "--state", "s")
    assert (result.code, result.out, Path("s").exists()) == (2, "", False)
    assert result.err.endswith("exactk: error: predictions: expected a user to evaluate, found none\n")
