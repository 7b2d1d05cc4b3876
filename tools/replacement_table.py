"""The tables of docs/replace: what each module of exactk.compat replaces, how that was checked, and how fast it is."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from golden.compat_record import load_calls, read_calls, replaced_libraries  # noqa: E402 - found by the line above

RATIOS = HERE.parent / "docs" / "benchmarks" / "replacements.json"


def _shown(number: float) -> str:
    """Return a number with one decimal, and with two below 1."""
    return f"{number:,.1f}" if number >= 1 else f"{number:.2f}"


def _ratios(name: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(RATIOS.read_text(encoding="utf-8")).get(name, {})
    return figures.get("workloads", {}) if figures else {}


def index() -> str:
    """Return a row for each library."""
    lines = ["| library | before | after | calls answered alike | times as fast |", "| --- | --- | --- | --- | --- |"]
    for name in replaced_libraries():
        data, (before, after) = read_calls(name), load_calls(name).IMPORTS
        ratios = [numbers["ratio"] for numbers in _ratios(name).values()]
        span = f"{_shown(min(ratios))} to {_shown(max(ratios))}" if len(ratios) > 1 else "".join(map(_shown, ratios))
        cells = (f"[{data['library']}]({name}.md)", f"`{before}`", f"`{after}`", f"{len(data['calls'])}", span)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def times(name: str) -> str:
    """Return the times of a library and of its replacement."""
    lines = ["| input | library, ms | exactk.compat, ms | times as fast |", "| --- | ---: | ---: | ---: |"]
    for workload, numbers in _ratios(name).items():
        cells = (workload, *(_shown(numbers[name]) for name in ("theirs_ms", "ours_ms", "ratio")))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def differences(name: str) -> str:
    """Return what is not equal, as a list."""
    return "\n".join(f"- {sentence}" for sentence in import_module(f"exactk.compat.{name}").differences())
