"""Every replacement against recorded calls of its library: ``tests/golden/compat`` holds the answers and how they were recorded."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from golden.compat_record import agree, load_calls, outcome, read_calls, replaced_libraries

LIBRARIES = replaced_libraries()
PLUG_INS = {"ir_measures", "torchmetrics"}
"""Libraries that a module plugs into; the others are replaced, and need not be installed."""

_REFUSED = {"InputError": "ValueError", "InputTypeError": "TypeError"}


def replacement(name: str) -> Any:
    return import_module(f"exactk.compat.{name}")


@pytest.mark.parametrize("name", LIBRARIES)
def test_recorded_calls_are_answered_alike(name: str, record_property: Any) -> None:
    data, calls = read_calls(name), load_calls(name)
    if name in PLUG_INS:
        pytest.importorskip(calls.MODULE, reason=f"install {calls.MODULE}, as `make engines` does")
    assert len(data["calls"]) >= 300
    different = []
    for recorded in data["calls"]:
        found = outcome(calls, replacement(name), recorded["call"])
        expected = {key: recorded[key] for key in recorded if key != "call"}
        if "error" in found:
            found["error"] = _REFUSED.get(found["error"], found["error"])
        if sys.version_info >= (3, 12) and found.get("error") == "KeyError" and expected.get("error") == "TypeError":
            found = expected  # a dict that is asked for a slice: slices are hashable now
        if expected.get("ended"):  # the library crashed or never ended
            assert "answer" in found or found["error"] in {"ValueError", "TypeError"}
        elif not agree(found, expected, data["tolerance"]):
            different.append((recorded["call"], expected, found))
    assert not different, f"{len(different)} of {len(data['calls'])} differ, such as {different[0]}"
    record_property("golden", f"{name}: {data['library']}, {len(data['calls'])} calls")


@pytest.mark.parametrize("name", LIBRARIES)
def test_differences_are_sentences(name: str) -> None:
    differences = replacement(name).differences()
    assert isinstance(differences, tuple)
    assert all(one.endswith(".") and len(one) > 20 for one in differences)


def test_no_library_is_imported() -> None:
    """In a process where none of them can be."""
    names = sorted(set(LIBRARIES) - PLUG_INS)
    missing = {load_calls(name).MODULE.partition(".")[0]: None for name in names}
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.modules.update({missing!r})\n"
        "from importlib import import_module\n"
        "from golden.compat_record import load_calls, read_calls\n"
        f"for name in {names!r}:\n"
        "    call = next(one['call'] for one in read_calls(name)['calls'] if 'answer' in one)\n"
        "    load_calls(name).answer(import_module(f'exactk.compat.{name}'), call)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603 - our own program
