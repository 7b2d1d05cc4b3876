"""How an interpreter ends while the core works, and the error in a second interpreter of the process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import exactk
import interpreter_exit
from children import HUNG
from strategies import at_night

HERE = Path(__file__).parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=HUNG, cwd=HERE)  # noqa: S603 - our own


@pytest.mark.native
@pytest.mark.parametrize("begins", [2, *(pytest.param(number, marks=at_night) for number in (1, 3, 5, 9))])
def test_f46_a_daemon_thread_does_not_outlive_the_interpreter(begins: int) -> None:
    """Python ends as if the thread were asleep, wherever in the call it is."""
    result = run("interpreter_exit.py", str(begins))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"{name}: 0" for name in interpreter_exit.CALLS]


def test_f46_nothing_takes_the_gil_as_pybind11_does() -> None:
    """Which ends the process where a daemon thread outlives the interpreter. So does NumPy where it copies an array's data."""
    copies = re.compile(r"gil_scoped|size\(\)\),\s*[\w.]+\.data\(\)\)")
    bindings = (HERE.parent / "cpp" / "bindings").glob("*.?pp")
    assert not [path for path in bindings if copies.search(path.read_text(encoding="utf-8"))]


def interpreters_module() -> str:
    """Return the module of the standard library that makes interpreters."""
    return "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"


@pytest.mark.parametrize("first", ["", "import exactk._core"])
@pytest.mark.parametrize("isolated", [False, True])
def test_f56_a_subinterpreter_cannot_import_the_core(first: str, isolated: bool) -> None:
    """An ImportError at once, whether or not the main interpreter has the core, and however isolated the other is."""
    pytest.importorskip(interpreters_module())
    library = exactk._core.__file__
    isolation = ("'isolated'" if isolated else "'legacy'") if sys.version_info >= (3, 13) else f"isolated={isolated}"
    code = f"""
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
loader = ExtensionFileLoader("exactk._core", {library!r})
try:
    loader.exec_module(module_from_spec(spec_from_file_location("exactk._core", {library!r}, loader=loader)))
except ImportError as error:
    print(error)
"""
    program = f"""
import {interpreters_module()} as interpreters
{first}
interpreters.run_string(interpreters.create({isolation}), {code!r})
"""
    result = run("-c", program)
    assert result.returncode == 0, result.stderr
    assert "subinterpreter" in result.stdout
