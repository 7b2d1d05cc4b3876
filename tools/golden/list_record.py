"""Record what libraries say of lists and the catalogue: ``python tools/golden/list_record.py rectools``.

Each library has an adapter in ``list_libraries/``, and the environment that ``record.py`` builds for it. ``--check``
records again and compares with the files ``tests/golden/lists_*.json`` instead of writing them.
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

from golden.list_cases import ListCase, ListKnobs, list_cases  # noqa: E402 - found by the line above
from golden.record import RECORDINGS, environment, load_adapter  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What the library returned: its own mean, and the values of the users it has a value for. Either is None where the
# library does not say it. A text is the error with which it refused.
ListOutput = tuple[float | None, dict[int, float] | None] | str


class ListAdapter(Protocol):
    """A module of ``list_libraries/``. What it does not define is as in the module of its name in ``libraries/``."""

    DISTRIBUTION: str
    MODULE: str
    REQUIREMENTS: tuple[str, ...]
    KNOBS: ListKnobs
    CATALOGUE: str  # of what the catalogue is for it: train or given; or padded: as given, and one item more
    CALLS: Mapping[str, str]  # by exactk's metric: what was called
    DIFFERS: Mapping[str, str]  # by a metric's name, and where: why the library's number is no clean definition
    TOLERANCE: float  # absolute; how exactly the library says its numbers
    TOLERANCES: Mapping[str, float]  # by the name of a metric that is said less exactly

    def evaluate(self, case: ListCase) -> dict[str, ListOutput]:
        """Return what the library says, by exactk's metric with its cutoff, and " where ..." if it is to differ."""


def list_adapter_names() -> list[str]:
    """Return the names of the libraries that are asked."""
    return sorted(path.stem for path in (HERE / "list_libraries").glob("[!_]*.py"))


def load_list_adapter(name: str) -> ListAdapter:
    """Import the adapter of a library."""
    adapter: Any = import_module(f"golden.list_libraries.{name}")
    merged: Any = SimpleNamespace(**{"TOLERANCES": {}, **vars(load_adapter(name)), **vars(adapter)})
    return merged  # type: ignore[no-any-return] # it is checked by its use


def list_recording_path(name: str) -> Path:
    """Return where the recorded answers are."""
    return RECORDINGS / f"lists_{name}.json"


def read_list_recording(name: str) -> dict[str, Any]:
    """Return the recorded answers."""
    data: dict[str, Any] = json.loads(list_recording_path(name).read_text(encoding="utf-8"))
    return data


def record_lists(name: str) -> dict[str, Any]:
    """Ask the library, which must be importable here."""
    library = load_list_adapter(name)
    return {
        "library": library.DISTRIBUTION,
        "version": version(library.DISTRIBUTION),
        "command": f"python tools/golden/list_record.py {name}",
        "catalogue": library.CATALOGUE,
        "tolerance": library.TOLERANCE,
        "tolerances": dict(library.TOLERANCES),
        "calls": dict(library.CALLS),
        "differs": dict(library.DIFFERS),
        "cases": [case.to_dict() | {"outputs": _plain(library.evaluate(case))} for case in list_cases(library.KNOBS)],
    }


def _plain(outputs: dict[str, ListOutput]) -> dict[str, Any]:
    """Return the outputs for JSON, which has no NaN."""

    def number(value: float | None) -> float | str | None:
        return None if value is None else "nan" if math.isnan(value) else float(value)

    return {
        metric: output
        if isinstance(output, str)
        else [number(output[0]), output[1] and {str(user): number(value) for user, value in output[1].items()}]
        for metric, output in outputs.items()
    }


def asked(call: Callable[[], ListOutput]) -> ListOutput:
    """Return what the library says, or the error with which it refuses."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - whatever the library raises is what is recorded
        return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"


def list_recording_text(data: dict[str, Any]) -> str:
    """Return the text of a file of answers: a line for each part of a case, and for each output."""
    head = json.dumps({key: value for key, value in data.items() if key != "cases"}, indent=1)[:-2]
    cases = []
    for case in data["cases"]:
        parts = [
            f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in case.items() if key != "outputs"
        ]
        outputs = ",\n".join(
            f"{json.dumps(metric)}: {json.dumps(output, separators=(',', ':'))}"
            for metric, output in case["outputs"].items()
        )
        cases.append("{" + ",\n".join(parts) + ',\n"outputs": {\n' + outputs + "\n}}")
    return head + ',\n "cases": [\n' + ",\n".join(cases) + "\n ]\n}\n"


def list_differences(name: str, recording: dict[str, Any]) -> list[str]:
    """Return where a second recording differs from the file."""
    previous, now = read_list_recording(name), json.loads(json.dumps(recording))
    changes = [key for key in previous if key != "cases" and previous[key] != now.get(key)]
    for old, new in zip(previous["cases"], now["cases"], strict=True):
        changes += [f"{old['name']}: {key}" for key in old if key != "outputs" and old[key] != new[key]]
        changes += [
            f"{old['name']}: {metric} was {old['outputs'].get(metric)}, is {new['outputs'].get(metric)}"
            for metric in sorted({*old["outputs"], *new["outputs"]})
            if not _are_close(old["outputs"].get(metric), new["outputs"].get(metric), previous["tolerance"])
        ]
    return changes


def _are_close(old: Any, new: Any, tolerance: float) -> bool:
    """Return whether two outputs are equal but for rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_are_close(old[key], new[key], tolerance) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_are_close(*pair, tolerance) for pair in zip(old, new, strict=True))
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= tolerance
    return bool(old == new)


def _record_lists_in_environment(name: str) -> dict[str, Any]:
    """Record in the library's environment."""
    library: Any = load_list_adapter(name)
    command = [str(environment(library, name)), __file__, "--inside", name]
    process = subprocess.run(  # noqa: S603 - our own arguments
        command, check=False, capture_output=True, text=True, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    )
    if process.returncode:
        sys.exit(f"{name}: {process.stderr}")
    data: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return data


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="+", choices=["all", *list_adapter_names()], metavar="library")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # in the library's environment
    arguments = parser.parse_args()
    failed = False
    for name in list_adapter_names() if "all" in arguments.library else arguments.library:
        if arguments.inside:
            sys.stdout.write(json.dumps(record_lists(name)) + "\n")  # for the process that asked
            continue
        data = _record_lists_in_environment(name)
        if not arguments.check:
            list_recording_path(name).write_text(list_recording_text(data), encoding="utf-8")
        changes = list_differences(name, data) if arguments.check else []
        failed = failed or bool(changes)
        outputs = sum(len(case["outputs"]) for case in data["cases"])
        report = f"{name}: {data['library']} {data['version']}, {outputs} outputs, {len(changes)} differences"
        sys.stdout.write("\n  ".join([report, *changes[:10]]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
