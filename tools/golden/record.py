"""Record what a real library returns: ``python tools/golden/record.py ranx`` writes ``tests/golden/ranx.json``.

Each library has an adapter in ``libraries/`` and an environment of its own, which this builds in
``build/golden``. ``--check`` records again and compares with the files instead of writing them. A library that no
registry offers is read from a checkout: ``--source FOLDER``; ``all`` means the others.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from golden.cases import Case, Knobs, cases  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDINGS = HERE.parents[1] / "tests" / "golden"
ENVIRONMENTS = HERE.parents[1] / "build" / "golden"

# What the library returned: its own mean, and the values of the users (None for a user: it has none for this one). Either
# is None where the library does not say it. A text is the error with which it refused.
Output = tuple[float | None, list[float | None] | None] | str


class Distribution(Protocol):
    """A library with an environment of its own."""

    DISTRIBUTION: str
    REQUIREMENTS: tuple[str, ...]


class Adapter(Protocol):
    """A module of ``libraries/``, named as the preset."""

    DISTRIBUTION: str  # whose version is recorded; empty: it is in no registry
    MODULE: str  # what must be importable
    REQUIREMENTS: tuple[str, ...]
    SOURCE: str  # where the code is, if no registry has it; else empty
    INPUT: str  # what exactk is given: rankings, ranks, sparse scores or scores
    MIN_SCORE: float | None  # below which an item is not recommended
    KNOBS: Knobs
    CALLS: Mapping[str, str]  # by exactk's metric: what was called
    NOT_DRAWN: Mapping[str, str]  # by kind of input: why the library is given none of it
    DIFFERS: Mapping[str, str]  # by a metric's name, and where: why the library's number is no clean definition
    TOLERANCE: float  # absolute; how exactly the library says its numbers

    def evaluate(self, case: Case) -> dict[str, Output]:
        """Return what the library says, by exactk's metric with its cutoff, and " where ..." if it is to differ."""


def adapter_names() -> list[str]:
    """Return the names of the presets that a library is asked for."""
    return sorted(path.stem for path in (HERE / "libraries").glob("[!_]*.py"))


def load_adapter(name: str) -> Adapter:
    """Import the adapter of a preset. What it does not define is as in its ``BASE``, another module of ``libraries/``."""
    adapter: Any = import_module(f"golden.libraries.{name}")
    base = getattr(adapter, "BASE", None)
    return adapter if base is None else SimpleNamespace(**{**vars(load_adapter(base)), **vars(adapter)})


def recording_path(name: str) -> Path:
    """Return where the recorded answers are."""
    return RECORDINGS / f"{name}.json"


def read_recording(name: str) -> dict[str, Any]:
    """Return the recorded answers."""
    data: dict[str, Any] = json.loads(recording_path(name).read_text(encoding="utf-8"))
    return data


def library_version(data: dict[str, Any]) -> str:
    """Return which library, in which version, was asked."""
    return f"{data['library']} {data['version']}".strip()


def record(name: str) -> dict[str, Any]:
    """Ask the library, which must be importable here."""
    library = load_adapter(name)
    recorded_cases = cases(library.KNOBS)
    return {
        "preset": name,
        "library": library.DISTRIBUTION or library.SOURCE,
        "version": version(library.DISTRIBUTION) if library.DISTRIBUTION else "",
        "command": f"python tools/golden/record.py {name}",
        "input": library.INPUT,
        "min_score": library.MIN_SCORE,
        "tolerance": library.TOLERANCE,
        "calls": dict(library.CALLS),
        "not_drawn": dict(library.NOT_DRAWN),
        "differs": dict(library.DIFFERS),
        "cases": [case.to_dict() | {"outputs": plain_outputs(library.evaluate(case))} for case in recorded_cases],
    }


def plain_outputs(outputs: dict[str, Output]) -> dict[str, Any]:
    """Return the outputs for JSON, which has no NaN."""
    return {metric: output if isinstance(output, str) else _plain_output(*output) for metric, output in outputs.items()}


def _plain_output(mean: float | None, users: list[float | None] | None) -> list[Any]:
    return [_plain_number(mean), None if users is None else [_plain_number(value) for value in users]]


def _plain_number(value: float | None) -> float | str | None:
    if value is None:
        return None
    value = float(value)
    return "nan" if math.isnan(value) else value


def recording_text(data: dict[str, Any]) -> str:
    """Return the text of a file of answers: a line a case."""
    head = {key: value for key, value in data.items() if key != "cases"}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in data["cases"])
    return json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n ]\n}\n"


def differences(name: str, recording: dict[str, Any]) -> list[str]:
    """Return where a second recording differs from the file."""
    previous = read_recording(name)
    changes = [
        f"{key}: {previous[key]!r}, now {recording[key]!r}"
        for key in previous
        if key != "cases" and previous[key] != recording.get(key)
    ]
    for old, new in zip(previous["cases"], json.loads(json.dumps(recording["cases"])), strict=True):
        changes += [
            f"{old['name']}: {key} differ: {old[key]!r}, now {new[key]!r}"
            for key in old
            if not _agree(old[key], new.get(key), previous["tolerance"] if key == "outputs" else 0.0)
        ]
    return changes


def _agree(old: Any, new: Any, tolerance: float) -> bool:
    """Return whether two recordings are equal but for rounding: a library that sums by BLAS rounds as the CPU does."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_agree(old[key], new[key], tolerance) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_agree(*pair, tolerance) for pair in zip(old, new, strict=True))
    if isinstance(old, float) and isinstance(new, float):
        return old == new or abs(old - new) <= tolerance
    return bool(old == new)


def environment(library: Distribution, name: str) -> Path:
    """Return the interpreter of the library's environment, built if need be."""
    folder = ENVIRONMENTS / (library.DISTRIBUTION or name)
    python = folder / "bin" / "python"
    stamp = folder / ".requirements"
    requirements = "\n".join(library.REQUIREMENTS)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != requirements:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603 - our own arguments
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *library.REQUIREMENTS]
        if library.REQUIREMENTS:
            subprocess.run(install, check=True)  # noqa: S603 - our own arguments
        stamp.write_text(requirements, encoding="utf-8")
    return python


def _record_in_environment(name: str, source: str | None) -> dict[str, Any]:
    """Record in the library's environment."""
    command = [str(environment(load_adapter(name), name)), __file__, "--inside", name]
    # Of TensorFlow and CUDA nothing but errors; no network.
    variables = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "EXACTK_SOURCE": source or ""}
    process = subprocess.run(command, check=False, capture_output=True, text=True, env=variables)  # noqa: S603
    if process.returncode:
        sys.exit(f"{name}: {process.stderr}")
    data: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return data


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "library",
        nargs="+",
        choices=["all", *adapter_names()],
        metavar="library",
        help=f"all, {', '.join(adapter_names())}",
    )
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--source", help="a checkout of a library that no registry offers")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # in the library's environment
    arguments = parser.parse_args()
    failed = False
    in_registries = [name for name in adapter_names() if load_adapter(name).DISTRIBUTION]
    for name in in_registries if "all" in arguments.library else arguments.library:
        if arguments.inside:
            sys.stdout.write(json.dumps(record(name)) + "\n")  # for the process that asked
            continue
        data = _record_in_environment(name, arguments.source)
        if not arguments.check:
            recording_path(name).write_text(recording_text(data), encoding="utf-8")
        changes = differences(name, data) if arguments.check else []
        failed = failed or bool(changes)
        summary = (
            f"{len(changes)} differences" if arguments.check else f"{recording_path(name).stat().st_size / 1e3:.0f} kB"
        )
        report = f"{name}: {library_version(data)}, {len(data['cases'])} cases, {summary}"
        sys.stdout.write("\n  ".join([report, *changes[:10]]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
