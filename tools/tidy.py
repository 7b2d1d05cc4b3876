"""Run clang-tidy over every C++ source that is shipped: the core and the bindings.

Files that have not changed since they were last clean, with all that they include of ours, are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
CLEAN = BUILD / "clean"  # the fingerprints of clean files
# The analyzer follows so many states of a function. At its own limit it takes half of the time, and most of that in
# the few functions whose paths it cannot exhaust anyhow.
LIMITS = [f"--extra-arg={one}" for one in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000")]
# That of the running environment, whose version pyproject.toml pins.
CLANG_TIDY = Path(sys.executable).parent / "clang-tidy"


def configure() -> None:
    """Have CMake write down how each file is compiled; nothing is built."""
    pybind11 = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    options = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_UNITY_BUILD": "OFF",
        "SKBUILD": "ON",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11,
    }
    command = ["cmake", "-S", str(ROOT), "-B", str(BUILD), *(f"-D{name}={value}" for name, value in options.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the command is our own


def sources() -> list[Path]:
    """Return the compiled files, the largest first, so that the last to finish is a small one."""
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = {Path(command["file"]) for command in commands}
    missing = {path for folder in ("src", "bindings") for path in (ROOT / "cpp" / folder).rglob("*.cpp")} - compiled
    if missing:
        names = ", ".join(str(path.relative_to(ROOT)) for path in sorted(missing))
        sys.exit(f"CMake does not compile {names}")
    return sorted(compiled, key=lambda path: path.stat().st_size, reverse=True)


def included(path: Path) -> set[Path]:
    """Return a file of ours and all that it includes of ours."""
    files, waiting = {path}, [path]
    while waiting:
        current = waiting.pop()
        names = re.findall(r'^#include "(.+)"', current.read_text(encoding="utf-8"), re.MULTILINE)
        folders = current.parent, ROOT / "cpp" / "include", ROOT / "cpp" / "src"
        found = {folder / name for name in names for folder in folders if (folder / name).exists()} - files
        files |= found
        waiting += found
    return files


def fingerprint(source: Path) -> str:
    """Return what the findings of a file depend on: its text and that of its headers, checks, flags and versions."""
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    flags = [command["command"] for command in commands if Path(command["file"]) == source]
    texts = [path.read_bytes() for path in [ROOT / ".clang-tidy", *sorted(included(source))]]
    versions = version("clang-tidy"), version("pybind11")
    return hashlib.sha256(b"\0".join([repr((flags, LIMITS, versions)).encode(), *texts])).hexdigest()


def findings(source: Path) -> str:
    """Return what clang-tidy says of a file; nothing if it is clean."""
    clean = CLEAN / fingerprint(source)
    if clean.exists():
        return ""
    command = [str(CLANG_TIDY), "-p", str(BUILD), "--quiet", *LIMITS, str(source)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - so is this one
    if result.returncode:
        return result.stdout + result.stderr
    clean.touch()
    return ""


def main() -> int:
    """Print the findings of all files."""
    configure()
    CLEAN.mkdir(exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        messages = [text for text in pool.map(findings, sources()) if text]
    sys.stdout.write("\n".join(messages))
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
