"""Files on the command line: outputs never destroy what is there, and broken inputs end with one line."""

from __future__ import annotations

import gzip
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import exactk
from commands import QRELS, RUN, assert_refused, write_files
from exactk._cli import main
from exactk._runtime.written_files import write_file
from strategies import latin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commands import Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with qrels and a run."""
    monkeypatch.chdir(tmp_path)
    write_files({"q.qrels": QRELS, "r.run": RUN})
    return tmp_path


EVALUATE = ("evaluate", "q.qrels", "r.run")


@pytest.mark.parametrize(
    "arguments",
    [
        (*EVALUATE, "--per-user", "x.csv", "--state", "x.csv"),
        (*EVALUATE, "--per-user", "x.csv", "--state", "./x.csv"),
        (*EVALUATE, "--per-user", "new.csv", "--state", "link-to-new"),
        (*EVALUATE, "--state", "q.qrels"),
        (*EVALUATE, "--state", "r.run"),
        (*EVALUATE, "--exclude", "x.csv", "--per-user", "x.csv"),
        (*EVALUATE, "--groups", "x.csv", "--per-user", "x.csv"),
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
    assert_refused(run(*arguments), "expected a file without another use")
    assert {path: path.read_bytes() for path in folder.iterdir() if path.exists()} == before


def test_f49_one_device_serves_several_outputs(run: Run) -> None:
    assert run("topk", "/dev/null", "-k", 1, "-o", "/dev/null").code == 0
    Path("null.csv").symlink_to("/dev/null")
    result = run(*EVALUATE, "--state", "/dev/null", "--per-user", "null.csv")
    assert (result.code, Path("/dev/null").is_char_device()) == (0, True)


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
    write_files({"rows.csv": "user,item,score\n", "rows.tsv": "user\titem\tscore\n"})
    write_files({"rows.jsonl": '{"user": "q1", "items": [], "scores": []}\n'})
    pa.parquet.write_table(table, "rows.parquet")
    pa.feather.write_feather(table, "rows.feather")
    yield from ((f"rows{ending}", True) for ending in (".csv", ".tsv", ".parquet", ".feather", ".jsonl"))
    write_files({"columns.csv": "a,b\n", "columns.jsonl": "{}\n"})
    pa.parquet.write_table(pa.table({}), "columns.parquet")
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
    "json": ("evaluate", "FILE", "r.run", "--format", "json", "--per-user", "users.json"),
    "csv": ("evaluate", "FILE", "r.run", "--format", "csv", "--per-user", "users.csv"),
    "markdown": ("evaluate", "FILE", "r.run", "--format", "markdown", "--per-user", "users.parquet"),
    "latex": ("evaluate", "FILE", "r.run", "--format", "latex", "--state", "s"),
    "topk": ("topk", "FILE", "-k", "3"),
    "topk csv": ("topk", "FILE", "-k", "3", "--format", "csv"),
    "topk json": ("topk", "FILE", "-k", "3", "--format", "json"),
    "fuse": ("fuse", "r.run", "FILE"),
    "topk excluded": ("topk", "r.run", "-k", "3", "--exclude", "FILE"),
    "merge": ("merge", "FILE"),
    "merge second": ("merge", "a.state", "FILE"),
}


def fill(name: str, path: str) -> list[str]:
    return [path if argument == "FILE" else argument for argument in COMMANDS[name]]


def test_f50_empty_and_broken_files(run: Run) -> None:
    """They end with a line and exit code 2, or are empty and give an empty result: never with the code of --min."""
    Path("a.state").write_bytes(exactk.evaluate([[1]], [[1]], "map").state.to_bytes())
    for name, (path, is_empty) in latin([*COMMANDS], [*broken_files()], 0):
        result = run(*fill(name, path))
        if is_empty and "merge" not in name and name != "trec":
            assert result.code == 0, (name, path, result)
        else:
            code = 4 if is_empty and name == "trec" else 2  # as of trec_eval, of a run without a query of the qrels
            assert (result.code, result.out) == (code, ""), (name, path, result)
            assert result.err.splitlines()[-1].startswith("exactk: error: "), (name, path, result)


@pytest.mark.skipif(os.geteuid() == 0, reason="run as another user than root, who reads everything")
def test_f50_files_that_may_not_be_read(run: Run) -> None:
    Path("a.state").write_bytes(exactk.evaluate([[1]], [[1]], "map").state.to_bytes())
    Path("secret").touch(0)
    for name in COMMANDS:
        assert_refused(run(*fill(name, "secret")), "Permission denied in secret")


def test_f50_an_empty_table_has_its_header(run: Run) -> None:
    write_files({"empty.csv": "user,item,score\n"})
    assert run("topk", "empty.csv", "-k", 3, "--format", "csv") == (0, "user,item,rank,score\n", "")


def test_f55_numbers_have_one_syntax(run: Run) -> None:
    for option, name in (("--min", "ndcg@10="), ("--threads", ""), ("--set", "min_grade="), ("--set", "decimals=")):
        for number in ("1_0", "\u0661", "0x1", "1e400", "1e-400", "9007199254740993"):
            assert_refused(run(*EVALUATE, option, f"{name}{number}"), f"{option}: expected ")
    assert_refused(run("topk", "r.run", "-k", "1_0"), "-k: expected ")


def trec_lines(run: Run, *arguments: str, convention: str = "trec_eval_9") -> list[list[str]]:
    result = run("evaluate", "q.qrels", "r.run", "--format", "trec", "--convention", convention, *arguments)
    assert result.code == 0, result
    return [[field.strip() for field in line.split("\t")] for line in result.out.splitlines()]


OF_SETS = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map set_F"
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
        ("num_q runid", ["runid", "num_q"]),
        ("rank_biased_precision", ["exactk.rbp"]),
        ("set", OF_SETS.split()),
    ],
)
def test_f71_measures_are_those_of_trec_eval(measures: str, names: list[str], run: Run) -> None:
    options = [part for measure in measures.split() for part in ("-m", measure)]
    assert [line[0] for line in trec_lines(run, *options)] == names


@pytest.mark.parametrize(
    "measure", ["binG.1", "rbp.1", "iprec_at_recall.x", "iprec_at_recall.0.1,", "utility.1", "P.x", "Q.5"]
)
def test_f71_measures_that_there_are_not(measure: str, run: Run) -> None:
    assert_refused(run(*EVALUATE, "--format", "trec", "-m", measure), measure.partition(".")[0])


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


def test_f71_a_key_breaks_no_line(run: Run) -> None:
    write_files({"t.csv": 'user,item\n"a\tb\nc",x\n', "p.csv": 'user,item,score\n"a\tb\nc",x,1\n'})
    result = run("evaluate", "t.csv", "p.csv", "--format", "trec", "-q", "-m", "P.1")
    assert [line.split("\t")[1] for line in result.out.splitlines()] == ["a\\tb\\nc", "all"]


def test_f71_keys_that_are_bytes_go_out_as_they_are(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    column = pa.array([b"a\xff"], pa.binary())
    table = pa.table({"user": column, "item": [1], "score": [0.5]})
    pa.parquet.write_table(table, "b.parquet")
    pa.parquet.write_table(table.drop_columns("score"), "t.parquet")
    assert main(["evaluate", "t.parquet", "b.parquet", "--format", "trec", "-q", "-m", "P.1"]) == 0
    assert capfdbinary.readouterr().out.splitlines()[0] == b"P_1                   \ta\xff\t1.0000"


@pytest.mark.parametrize("bound", [("--min", "ndcg@10=0.1"), ("--max", "ndcg@10=0.1")])
@pytest.mark.parametrize("files", [("q.qrels", "empty.run"), ("q.qrels", "empty.csv"), ("empty.run", "r.run")])
def test_an_empty_file_does_not_pass_for_a_bad_model(files: tuple[str, str], bound: tuple[str, str], run: Run) -> None:
    argument = "predictions" if files[0] == "q.qrels" else "truth"
    write_files({"empty.run": "", "empty.csv": "user,item,score\n"})
    assert run("evaluate", *files, "-m", "ndcg@10").code == 0
    result = run("evaluate", *files, "-m", "ndcg@10", *bound, "--state", "s")
    assert (result.code, result.out, Path("s").exists()) == (2, "", False)
    expected = f"{argument}: expected queries, as --min and --max bound their values, found no queries"
    assert result.err.endswith(f"exactk: error: {expected}\n")
    if argument == "predictions":
        assert "exactk: warning: the predictions have no queries\n" in result.err
        systems = ("compare", "q.qrels", "a=r.run", f"b={files[1]}", "-m", "ndcg@10", bound[0])
        assert run(*systems, bound[1]).err.endswith(f"{expected} in 'b'\n")
        assert run(*systems, f"a:{bound[1]}").code in {0, 1}


@pytest.mark.parametrize("files", [("q.qrels", "empty"), ("empty", "r.run"), ("q.qrels", "other.run")])
def test_f71_no_evaluated_user_is_an_error(files: tuple[str, str], run: Run) -> None:
    write_files({"empty": "", "other.run": "q9 Q0 d1 1 1 t\n"})
    result = run("evaluate", *files, "--format", "trec", "--convention", "trec_eval_9", "--state", "s")
    assert (result.code, result.out, Path("s").exists()) == (2, "", False)
    assert result.err.endswith("exactk: error: predictions: expected a query to evaluate, found none\n")
