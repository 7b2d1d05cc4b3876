"""What a report of a bug needs to say, and that nothing is imported to say it."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest

import exactk
from exactk import _core
from exactk._runtime import optional, threads
from exactk._runtime.threads import MAX_THREADS, default_threads


def facts(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return what is printed, by the first word of the line."""
    exactk.show_versions()
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    return dict(lines)


def test_versions_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    shown = facts(capsys)
    assert shown["exactk"] == exactk.__version__
    assert shown["Python"].startswith(platform.python_version())
    assert shown["NumPy"] == np.__version__
    assert shown["platform"] == platform.platform()
    assert shown["pandas"] == version("pandas")


def test_the_compiler_and_the_flags_that_matter(capsys: pytest.CaptureFixture[str]) -> None:
    compiler, _, flags = facts(capsys)["compiler"].partition(" ")
    assert compiler in {"GNU", "Clang", "AppleClang"}
    assert flags[0].isdigit()
    assert "-ffp-contract=off" in flags
    assert "-W" not in flags


def test_which_instructions_and_why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    available = ", ".join(_core.isas())
    monkeypatch.delenv("EXACTK_ISA", raising=False)
    assert facts(capsys)["instructions"] == f"{_core.isas()[-1]}, the widest of {available}"
    monkeypatch.setenv("EXACTK_ISA", "scalar")
    assert facts(capsys)["instructions"] == f"scalar, from EXACTK_ISA, of {available}"


@pytest.mark.parametrize(
    ("environment", "affinity", "quota", "line"),
    [
        ({}, 3, MAX_THREADS, "3, from the CPU affinity"),
        ({}, 3, 3, "3, from the CPU affinity"),
        ({}, 3, 2, "2, from the CPU quota of the cgroup"),
        ({"PYTHON_CPU_COUNT": "2"}, 3, 3, "2, from PYTHON_CPU_COUNT"),
        ({"LOKY_MAX_CPU_COUNT": "1"}, 3, 2, "1, from LOKY_MAX_CPU_COUNT"),
        ({"EXACTK_NUM_THREADS": "5", "LOKY_MAX_CPU_COUNT": "1"}, 3, 2, "5, from EXACTK_NUM_THREADS"),
        ({}, 5000, MAX_THREADS, "1024, from the limit of the core"),
    ],
)
def test_how_many_threads_and_why(
    environment: dict[str, str],
    affinity: int,
    quota: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("EXACTK_NUM_THREADS", "PYTHON_CPU_COUNT", "LOKY_MAX_CPU_COUNT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(threads, "_last_quota", [])  # else that of the test before, a second long
    monkeypatch.setattr(threads, "_affinity_threads", lambda: affinity)
    monkeypatch.setattr(threads, "_cgroup_quota", lambda *_: quota)
    assert facts(capsys)["threads"] == line
    assert line.startswith(f"{default_threads()},")


def test_wrong_variables_are_said_to_be_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be what the report is about."""
    monkeypatch.setenv("EXACTK_NUM_THREADS", "two")
    monkeypatch.setenv("EXACTK_ISA", "mmx")
    shown = facts(capsys)
    assert shown["threads"] == "EXACTK_NUM_THREADS: expected an integer from 1 to 1024, found 'two'"
    assert shown["instructions"].startswith("EXACTK_ISA: expected an instruction set that this CPU supports: scalar")


def test_an_absent_library_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional, "OPTIONAL_LIBRARIES", {"no-such-distribution": "nothing"})
    assert facts(capsys)["no-such-distribution"] == "not installed"


def test_nothing_is_imported() -> None:
    libraries = {*optional.OPTIONAL_LIBRARIES}
    code = f"import exactk, sys; exactk.show_versions(); assert not {libraries} & {{*sys.modules}}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603 - our own code
