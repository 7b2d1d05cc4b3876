"""Whatever is written by path replaces the old file when it is whole, and otherwise leaves it as it was."""

from __future__ import annotations

import ast
import errno
import importlib
import inspect
import io
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactk
from children import run_child
from commands import QRELS, RUN
from exactk._cli import main
from exactk._runtime.written_files import write_file
from exactk.compat import ranx

ROOT = Path(__file__).parent.parent
TRUTH = {"q1": ["a"], "q2": ["b", "c"]}
SYSTEMS = {"one": {"q1": ["a", "b"], "q2": ["a", "b"]}, "other": {"q1": ["b"], "q2": ["c", "b"]}}

Write = Callable[[str], object]
FAILURES = (OSError, UnicodeEncodeError, KeyboardInterrupt)


def python_writers() -> dict[str, Write]:
    """Return a call for each public method that writes a file, by class and name, which formats follow."""
    report = exactk.evaluate(TRUTH, SYSTEMS["one"], ["mrr", "ndcg@2"])
    comparison = exactk.compare(TRUTH, SYSTEMS, ["mrr", "ndcg@2"])
    qrels, run = ranx.Qrels({"q1": {"a": 1}}), ranx.Run({"q1": {"a": 0.5, "b": 0.25}})
    of_ranx = ranx.compare(qrels, [run, ranx.Run({"q1": {"b": 0.5}}, name="other")], ["mrr"])
    judged, best = exactk.judge(TRUTH, SYSTEMS["one"], k=1), exactk.topk([[0.5, 0.25]], k=1)
    results: list[Any] = [report, comparison, comparison.differences, comparison.ranks("mrr"), judged, best]
    results += [
        exactk.fuse({"one": {"q": ["a"]}}),
        exactk.explain([[0]], [[0]], 0, "mrr"),
        exactk.evaluate([[0]], [[0]], "mrr", per_user=True).worst("mrr"),
        exactk.drift([[0]], [[1]], k=1),
    ]
    results += [exactk.choose(comparison, "mrr"), exactk.matching_conventions(TRUTH, SYSTEMS["one"], {"mrr": 0.75})]
    writers: dict[str, Write] = {}
    for one in results:
        names = [
            name
            for name in dir(one)
            if name.startswith("to_") and "path" in inspect.signature(getattr(one, name)).parameters
        ]
        writers |= {f"{type(one).__name__}.{name}": getattr(one, name) for name in names}
    for entries in (qrels, run):
        for kind in ("json", "trec", "parquet"):
            writers[f"{type(entries).__name__}.save {kind}"] = partial(entries.save, kind=kind)
    return writers | {"Report.save": of_ranx.save}


COMMANDS = {
    "evaluate --state": ["evaluate", "q.qrels", "r.run", "--state"],
    "evaluate --per-user csv": ["evaluate", "q.qrels", "r.run", "--per-user"],
    "evaluate --shard": ["evaluate", "q.qrels", "r.run", "--shard", "1/2", "--state"],
    "merge --state": ["merge", "s.state", "--state"],
    "compare --junit": ["compare", "q.qrels", "one=r.run", "other=s.run", "--baseline", "one", "--no-worse", "mrr=1%", "--junit"],
    "topk -o": ["topk", "r.run", "-k", "1", "-o"],
    "report -o": ["report", "q.qrels", "r.run", "-o"],
}  # fmt: skip


def command_writers() -> dict[str, Write]:
    return {name: partial(run_command, *arguments) for name, arguments in COMMANDS.items()}


def run_command(*arguments: str) -> None:
    """Run a command, and raise OSError if it says in one line that a file could not be written."""
    errors = io.StringIO()
    with redirect_stderr(errors), redirect_stdout(io.StringIO()):
        code = main([*arguments])
    if code == 2:
        raise OSError(0, errors.getvalue().splitlines()[-1])


def write_inputs() -> None:
    for name, text in {"q.qrels": QRELS, "r.run": RUN, "s.run": RUN}.items():
        Path(name).write_text(text, encoding="utf-8")
    run_command("evaluate", "q.qrels", "r.run", "--state", "s.state")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs()
    return tmp_path


def writers() -> dict[str, Write]:
    return python_writers() | command_writers()


def test_f93_the_table_has_every_writer() -> None:
    """Every public method with a path that it writes, and no other place of the package that writes."""
    modules = [
        exactk.results,
        *(importlib.import_module(f"exactk.compat.{name}") for name in ("ranx", "recmetrics", "sklearn", "implicit")),
    ]
    public = [getattr(exactk, name) for name in exactk.__all__]
    classes = {
        one
        for one in [*public, *(one for module in modules for one in vars(module).values())]
        if inspect.isclass(one) and one.__module__.startswith("exactk")
    }
    methods = {
        f"{one.__name__}.{name}"
        for one in classes
        for name, method in inspect.getmembers(one, inspect.isfunction)
        if "path" in inspect.signature(method).parameters and not name.startswith(("_", "from_"))
    }
    assert methods == {name.partition(" ")[0] for name in python_writers()}
    assert {path for path in (ROOT / "python").rglob("*.py") if writes_files(path)} == {
        ROOT / "python/exactk/_runtime/written_files.py"
    }


def writes_files(path: Path) -> bool:
    """Return whether a module calls something that writes a file by its path."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        strings = [
            one.value for one in [*node.args, *(word.value for word in node.keywords)] if isinstance(one, ast.Constant)
        ]
        modes = [
            one for one in strings if isinstance(one, str) and set(one) & set("wax") and set(one) <= set("rwaxbt+")
        ]
        if name in {"write_text", "write_bytes", "savefig", "to_file", "savez", "tofile"} or (
            name in {"open", "fdopen"} and modes
        ):
            return True
        if name == "to_parquet" and (node.args or any(word.arg == "path" for word in node.keywords)):
            return True
    return False


def test_f93_a_written_file_is_whole(folder: Path) -> None:
    """The file has the mode that it had, and a link still names it."""
    for name, write in writers().items():
        Path("old.csv").write_bytes(b"old")
        Path("old.csv").chmod(0o640)
        Path("link.csv").symlink_to("old.csv")
        write("link.csv")
        assert (Path("link.csv").is_symlink(), stat.S_IMODE(Path("old.csv").stat().st_mode)) == (True, 0o640), name
        content = Path("old.csv").read_bytes()
        write("new.csv")
        assert len(Path("new.csv").read_bytes()) == len(content) > 3 or name == "report -o", name
        for path in ("old.csv", "link.csv", "new.csv"):
            Path(path).unlink()
        assert not [path for path in folder.iterdir() if path.name.startswith(".")], name


def fails_without_loss(name: str, write: Write, path: Path) -> str:
    """Write over an old file and to a new one, and return the message."""
    path.write_bytes(b"old")
    with pytest.raises(FAILURES) as caught:
        write(str(path))
    assert path.read_bytes() == b"old", name
    with pytest.raises(FAILURES):
        write(str(path.with_name("new.csv")))
    names = [one.name for one in path.parent.iterdir()]
    assert "new.csv" not in names, name
    assert not [one for one in names if one.endswith(".tmp")], name
    return str(caught.value)


def write_beyond_a_limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**30, resource.RLIM_INFINITY))
    all_writers = writers()
    Path("out").mkdir()
    for name, write in all_writers.items():
        Path("out/file.csv").write_bytes(b"old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (3, resource.RLIM_INFINITY))
        message = fails_without_loss(name, write, Path("out/file.csv"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**30, resource.RLIM_INFINITY))
        assert "out/file.csv" in message, (name, message)
        assert "File too large" in message, (name, message)


def test_f93_a_file_that_grows_too_large_loses_nothing() -> None:
    run_child(write_beyond_a_limit)


def is_mounted(folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    return bool(shutil.which("mount")) and subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - our own


@pytest.fixture
def full_disk(folder: Path) -> Iterator[Path]:
    """Yield a folder of a disk that has room for a file of 3 bytes alone; skip the test where none may be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    if not is_mounted(disk):
        pytest.skip("run as root, who may mount a small disk")
    try:
        (disk / "file.csv").write_bytes(b"old")
        with suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"x" * 512):
                pass
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)  # noqa: S603, S607 - our own


def test_f93_a_full_disk_loses_nothing(full_disk: Path) -> None:
    for name, write in writers().items():
        message = fails_without_loss(name, write, full_disk / "file.csv")
        assert str(full_disk / "file.csv") in message, (name, message)
        assert "No space left on device" in message, (name, message)


ERRORS = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO]
STEPS = {"open": (os, "open"), "fsync": (os, "fsync"), "replace": (Path, "replace")}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "error", [*(OSError(number, os.strerror(number)) for number in ERRORS), KeyboardInterrupt()], ids=repr
)
def test_f93_an_error_at_any_step_loses_nothing(
    step: str, error: BaseException, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(*STEPS[step], fail)
    message = fails_without_loss(step, lambda path: write_file(path, b"new"), folder / "file")
    if isinstance(error, OSError):
        assert message == f"[Errno {error.errno}] {error.strerror}: {str(folder / 'file')!r}"


def test_f93_what_cannot_be_replaced_without_loss_is_refused(folder: Path) -> None:
    report = exactk.evaluate(TRUTH, SYSTEMS["one"], "mrr")
    Path("file").write_bytes(b"old")
    os.link("file", "second")
    with pytest.raises(
        exactk.InputError, match=r"path: expected a file with one name, .* found 'file', which has 2 hard links"
    ):
        report.to_json("file")
    assert Path("second").read_bytes() == b"old"
    with pytest.raises(FileNotFoundError, match="'none/file'"):
        report.to_json("none/file")
    with pytest.raises(IsADirectoryError, match=str(folder)):
        report.to_json(folder)


def test_f93_devices_pipes_and_descriptors_are_written_through(capfd: pytest.CaptureFixture[str]) -> None:
    report = exactk.evaluate(TRUTH, SYSTEMS["one"], "mrr")
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    report.to_csv("pipe")
    assert os.read(reader, 1 << 16).decode() == report.to_csv()
    os.close(reader)
    report.to_csv("/dev/stdout")
    assert capfd.readouterr().out == report.to_csv()
    with Path("appended").open("w+b") as file:
        file.write(b"before\n")
        file.flush()
        report.to_csv(f"/proc/self/fd/{file.fileno()}")
    assert Path("appended").read_text() == f"before\n{report.to_csv()}"
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        report.to_csv("/dev/full")


def test_f93_the_descriptor_of_another_process_is_not_ours(folder: Path) -> None:
    """The file that it has open is named by a link, and replaced as one."""
    Path("file").write_bytes(b"old")
    code = "import sys; file = open('file'); print(file.fileno(), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603
        assert other.stdout
        number = int(other.stdout.readline())
        write_file(f"/proc/{other.pid}/fd/{number}", b"new")
    assert (folder / "file").read_bytes() == b"new"


def test_f93_several_threads_leave_the_file_of_one() -> None:
    report = exactk.evaluate(TRUTH, SYSTEMS["one"], "mrr")
    threads = [threading.Thread(target=report.to_json, args=["file"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert exactk.Report.from_json(Path("file")) == report


def test_f93_text_that_cannot_be_encoded_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: "ascii")
    entries = ranx.Run({"q1": {"a\u2603": float(np.float32(0.5))}})
    fails_without_loss("trec", lambda path: entries.save(path, "trec"), folder / "file.trec")
