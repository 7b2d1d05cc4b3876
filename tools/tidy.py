"""Run clang-tidy over every C++ source that is shipped: the core and the bindings.

Files that have not changed since they were last clean, with all that they include of ours, are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
CLEAN = BUILD / "clean"  # the fingerprints of clean files
# The analyzer follows so many states of a function. At its own limit it takes half of the time, and most of that in
# the few functions whose paths it cannot exhaust anyhow.
LIMITS = [f"--extra-arg={one}" for one in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000")]
LANES = {"avx2", "avx512", "neon"}  # compiled where CPUs have them
LARGEST = 8  # files of a batch: as many as CMake joins, which the C++ tests show to be possible
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


def flags_of_sources() -> dict[Path, tuple[str, ...]]:
    """Return the compiled files in the order of CMake, with their flags."""
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    # The last four name the object and the source, the first the compiler.
    compiled = {Path(command["file"]): (*shlex.split(command["command"])[1:-4],) for command in commands}
    missing = {path for folder in ("src", "bindings") for path in (ROOT / "cpp" / folder).rglob("*.cpp")} - {*compiled}
    missing = {path for path in missing if path.stem not in LANES}
    if missing:
        names = ", ".join(str(path.relative_to(ROOT)) for path in sorted(missing))
        sys.exit(f"CMake does not compile {names}")
    return compiled


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


def fingerprint(source: Path, flags: tuple[str, ...]) -> str:
    """Return what the findings of a file depend on: its text and that of its headers, checks, flags and versions."""
    texts = [path.read_bytes() for path in [ROOT / ".clang-tidy", *sorted(included(source))]]
    versions = version("clang-tidy"), version("pybind11")
    return hashlib.sha256(b"\0".join([repr((flags, LIMITS, versions)).encode(), *texts])).hexdigest()


@dataclass(frozen=True)
class Batch:
    """Files that one process examines, for it then reads the headers once: they take most of the time."""

    sources: list[Path]
    flags: tuple[str, ...]

    def findings(self) -> str:
        """Return what clang-tidy says of the files; nothing if they are clean."""
        if len(self.sources) == 1:
            text = self.findings_of(self.sources[0])
        elif text := self.findings_of(self.joined()):  # in lines of the joined file
            alone = [Batch([source], self.flags).findings() for source in self.sources]
            text = "".join(alone) or text
        if not text:
            for source in self.sources:
                (CLEAN / fingerprint(source, self.flags)).touch()
        return text

    def findings_of(self, path: Path) -> str:
        """Return what clang-tidy says of one file."""
        folders = sorted({f"-I{source.parent}" for source in self.sources})
        command = [str(CLANG_TIDY), "--quiet", *LIMITS, str(path), "--", *self.flags, *folders]
        result = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - so is this one
        return result.stdout + result.stderr if result.returncode else ""

    def joined(self) -> Path:
        """Write the files one after another, for of those that a file includes clang-tidy does not examine all."""
        seen: set[str] = set()
        lines: list[str] = []
        for source in self.sources:
            text = source.read_text(encoding="utf-8").splitlines()
            lines += [line for line in text if line not in seen]
            seen |= {line for line in text if line.startswith("#include")}
        path = BUILD / f"{fingerprint(self.sources[0], self.flags)}.cpp"
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return path


def batches() -> list[Batch]:
    """Return the files that have changed, those of the same flags together, the longest first."""
    files: dict[tuple[str, ...], list[Path]] = {}
    for source, flags in flags_of_sources().items():
        if not (CLEAN / fingerprint(source, flags)).exists():
            files.setdefault(flags, []).append(source)
    parts = [
        Batch(of_flags[i : i + LARGEST], flags)
        for flags, of_flags in files.items()
        for i in range(0, len(of_flags), LARGEST)
    ]
    return sorted(parts, key=lambda batch: sum(source.stat().st_size for source in batch.sources), reverse=True)


def main() -> int:
    """Print the findings of all files."""
    configure()
    CLEAN.mkdir(exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        messages = [text for text in pool.map(Batch.findings, batches()) if text]
    sys.stdout.write("\n".join(messages))
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
