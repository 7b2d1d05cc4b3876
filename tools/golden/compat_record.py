"""Record calls of a real library: ``python tools/golden/compat_record.py pytrec_eval`` writes ``tests/golden/compat/pytrec_eval.json``.

A module of ``compat_calls/`` draws the calls and makes them, of the library here and of its replacement in
``exactk.compat`` in the tests. ``--check`` records again and compares with the files instead of writing them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from golden.record import environment  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

RECORDINGS = HERE.parents[1] / "tests" / "golden" / "compat"
_SECONDS = 60  # after which a call of the library never ends


class Calls(Protocol):
    """A module of ``compat_calls/``, named as that of ``exactk.compat``."""

    DISTRIBUTION: str
    MODULE: str  # what is imported
    REQUIREMENTS: tuple[str, ...]
    TOLERANCE: float  # absolute
    IMPORTS: tuple[str, str]  # the line of a program that uses the library, and that which replaces it
    TYPICAL: Mapping[str, Callable[[Any], Callable[[], object]]]  # what is timed: a call, made ready with the module

    def draw(self) -> list[dict[str, Any]]:
        """Return calls, as JSON."""

    def answer(self, module: Any, call: dict[str, Any]) -> Any:
        """Make a call, and return what JSON can hold of its result."""


def replaced_libraries() -> list[str]:
    """Return the modules of ``exactk.compat`` that calls are recorded for."""
    return sorted(path.stem for path in (HERE / "compat_calls").glob("[!_]*.py"))


def load_calls(name: str) -> Calls:
    """Import the calls of a library."""
    module: Any = import_module(f"golden.compat_calls.{name}")
    calls: Calls = module
    return calls


def recorded_path(name: str) -> Path:
    """Return where the answers are."""
    return RECORDINGS / f"{name}.json"


def outcome(calls: Calls, module: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a call, or its error, and the types of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = {"answer": plain(calls.answer(module, call))}
        except Exception as error:  # noqa: BLE001 - recorded
            found = {"error": type(error).__name__}
    names = sorted({one.category.__name__ for one in caught})
    return {**found, "warnings": names} if names else found


def plain(value: Any) -> Any:
    """Return JSON, which has no NaN and no infinity, with floats as floats."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def agree(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether answers are equal but for rounding; dicts in the same order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(agree(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(agree(*pair, tolerance) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= tolerance
    return type(one) is type(other) and bool(one == other)


def _recorded(calls: Calls, call: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of the library in a process of its own, for it may end that, or never end."""
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        os.close(receiver)
        signal.alarm(_SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        text = json.dumps(outcome(calls, import_module(calls.MODULE), call))
        with os.fdopen(sender, "w", encoding="utf-8") as stream:
            stream.write(text)
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(text) if text else {"ended": True}
    return found


def record(name: str) -> dict[str, Any]:
    """Ask the library, which must be importable here."""
    calls = load_calls(name)
    import_module(calls.MODULE)  # once, before the processes fork
    return {
        "library": f"{calls.DISTRIBUTION} {version(calls.DISTRIBUTION)}",
        "command": f"python tools/golden/compat_record.py {name}",
        "tolerance": calls.TOLERANCE,
        "calls": [{"call": call} | _recorded(calls, call) for call in calls.draw()],
    }


def read_calls(name: str) -> dict[str, Any]:
    """Return the recorded calls."""
    data: dict[str, Any] = json.loads(recorded_path(name).read_text(encoding="utf-8"))
    return data


def _text(data: dict[str, Any]) -> str:
    head = {key: value for key, value in data.items() if key != "calls"}
    lines = ",\n".join(json.dumps(call, separators=(",", ":")) for call in data["calls"])
    return json.dumps(head, indent=1)[:-2] + ',\n "calls": [\n' + lines + "\n ]\n}\n"


def _differences(previous: Sequence[Any], now: Sequence[Any], tolerance: float) -> list[str]:
    return [
        json.dumps(old)[:500]
        for old, new in zip(previous, now, strict=True)
        if not agree({**old, "call": None}, {**new, "call": None}, tolerance)
    ]


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="+", choices=["all", *replaced_libraries()])
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # in the library's environment
    arguments = parser.parse_args()
    failed = False
    for name in replaced_libraries() if "all" in arguments.library else arguments.library:
        if arguments.inside:
            sys.stdout.write(json.dumps(record(name)) + "\n")
            continue
        calls = load_calls(name)
        command = [str(environment(calls, name)), __file__, "--inside", name]
        process = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own arguments
        if process.returncode:
            sys.exit(f"{name}: {process.stderr}")
        data = json.loads(process.stdout.splitlines()[-1])
        changes = _differences(read_calls(name)["calls"], data["calls"], data["tolerance"]) if arguments.check else []
        failed = failed or bool(changes)
        if not arguments.check:
            recorded_path(name).parent.mkdir(exist_ok=True)
            recorded_path(name).write_text(_text(data), encoding="utf-8")
        summary = f"{len(data['calls'])} calls, {len(changes)} differences"
        sys.stdout.write("\n  ".join([f"{name}: {data['library']}, {summary}", *changes[:10]]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
