"""`make instructions` says what it compares and what it cannot, and fails where a workload needs more instructions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks import instructions
from benchmarks.instructions import IncomparableError

REPOSITORY = Path(__file__).parent.parent
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror"]
BEFORE = {"lists": 1_000_000, "scores": 2_000}
AS_ALLOWED = {"lists": 1_020_000, "scores": 1_000}
MORE = {"lists": 1_020_001, "scores": 2_000}


def run_git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, cwd=folder)  # noqa: S607 - the command is our own


def commit_core(folder: Path, text: str) -> None:
    (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
    for name in ("cpp/include", "cpp/src"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "a.hpp").write_text(text, encoding="utf-8")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--message", text)


def revision(name: str) -> str:
    found = instructions.git("rev-parse", "--short", name)
    assert found
    return found


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two commits on main."""
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git(folder, "init")
    commit_core(folder, "first")
    commit_core(folder, "second")
    monkeypatch.setattr(instructions, "ROOT", folder)
    monkeypatch.setattr(instructions, "BUILT", tmp_path / "built")
    return folder


@pytest.fixture
def with_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/valgrind")


def set_counts(monkeypatch: pytest.MonkeyPatch, after: dict[str, int]) -> None:
    """Have the programs need these instructions; nothing is built."""
    monkeypatch.setattr(instructions, "build", lambda sources, _: sources)
    monkeypatch.setattr(
        instructions, "count_workloads", lambda program: after if program == instructions.ROOT else BEFORE
    )


def test_the_workloads_compile() -> None:
    source = REPOSITORY / "benchmarks" / "cpp" / "instructions" / "workloads.cpp"
    subprocess.run(["c++", *FLAGS, f"-I{REPOSITORY / 'cpp' / 'include'}", source], check=True)  # noqa: S607 - likewise


def test_a_repeat_is_counted_without_what_is_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho lists\necho scores\n", encoding="utf-8")
    program.chmod(0o755)
    costs = {"lists": 30, "scores": 7}
    monkeypatch.setattr(instructions, "count_process", lambda _, name, repeats: 1_000 + repeats * costs[name])
    assert instructions.count_workloads(program) == costs


def test_without_valgrind_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert instructions.main([]) == 0
    assert capsys.readouterr().out == "not counted: valgrind is not installed (Debian: valgrind)\n"


@pytest.mark.usefixtures("root", "with_valgrind")
def test_more_than_a_fiftieth_more_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    set_counts(monkeypatch, AS_ALLOWED)
    assert instructions.main([]) == 0
    first = revision("HEAD~1")
    rows = "| lists | 1,000,000 | 1,020,000 | 1.0200 |\n| scores | 2,000 | 1,000 | 0.5000 |\n"
    printed = capsys.readouterr().out
    assert printed.startswith(f"Instructions, of {first} and of this tree:\n")
    assert printed.endswith(f"{rows}\n")
    set_counts(monkeypatch, MORE)
    assert instructions.main([]) == 1
    assert capsys.readouterr().out.endswith(f"more than 1.02 x the instructions of {first}: lists\n")


@pytest.mark.usefixtures("with_valgrind")
def test_what_cannot_be_compared_is_counted_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_counts(monkeypatch, MORE)
    run_git(root, "commit", "--allow-empty", "--message", "documentation")
    assert instructions.main([]) == 0
    printed = capsys.readouterr().out
    assert "| lists | 1,020,001 |\n" in printed
    assert printed.endswith(f"not compared: the core is that of {revision('HEAD~1')}\n")
    assert instructions.main(["nowhere"]) == 0
    assert capsys.readouterr().out.endswith("not compared: there is no revision nowhere\n")


def test_what_is_compared_with(root: Path) -> None:
    first, second = revision("HEAD~1"), revision("HEAD")
    assert instructions.base_revision() == first
    (root / "CMakeLists.txt").write_text("not committed", encoding="utf-8")
    assert instructions.base_revision() == second
    run_git(root, "checkout", "-b", "topic")
    commit_core(root, "third")
    commit_core(root, "fourth")
    assert instructions.base_revision() == second


def test_no_history_is_said(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shallow = tmp_path / "shallow"
    run_git(tmp_path, "clone", "--depth", "1", root.as_uri(), str(shallow))
    monkeypatch.setattr(instructions, "ROOT", shallow)
    with pytest.raises(IncomparableError, match="there is no commit before HEAD: a shallow clone has none"):
        instructions.base_revision()
    run_git(root, "checkout", "-b", "topic")
    run_git(root, "branch", "--delete", "--force", "main")
    monkeypatch.setattr(instructions, "ROOT", root)
    with pytest.raises(IncomparableError, match="there is no merge base with main: a shallow clone has none"):
        instructions.base_revision()
    monkeypatch.setattr(instructions, "ROOT", tmp_path)
    with pytest.raises(IncomparableError, match="there is no git history here"):
        instructions.base_revision()


def test_the_core_of_a_revision_is_built(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another revision left is deleted."""
    stale = instructions.BUILT / "before-0123456789ab"
    stale.mkdir(parents=True)
    built = []

    def build(sources: Path, folder: Path) -> Path:
        built.append(folder)
        return sources

    monkeypatch.setattr(instructions, "build", build)
    monkeypatch.setattr(instructions, "count_workloads", lambda sources: dict.fromkeys(texts(sources), 1))
    assert instructions.count_revision("HEAD~1") == {"first": 1}
    assert [path.name for path in instructions.BUILT.iterdir()] == [built[0].parent.name]
    assert built[0].parent.name.startswith(f"before-{revision('HEAD~1')}")
    assert texts(root) == {"second"}


def texts(folder: Path) -> set[str]:
    return {path.read_text(encoding="utf-8") for path in (folder / "cpp").rglob("*.hpp")}


@pytest.mark.usefixtures("root")
def test_a_core_without_what_the_workloads_need(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Path) -> Path:
        raise subprocess.CalledProcessError(2, "cmake")

    monkeypatch.setattr(instructions, "build", fail)
    with pytest.raises(IncomparableError, match="today's workloads do not compile or run with the core of HEAD~1"):
        instructions.count_revision("HEAD~1")
