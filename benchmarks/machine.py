"""Where and of what a measurement was taken: without it no figure means anything."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import exactk

ROOT = Path(__file__).parents[1]


def machine() -> dict[str, Any]:
    """Return what the machine is."""
    return {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "system": system()}


def run_description(load: float) -> dict[str, Any]:
    """Return date, versions, commit, its date, and the load average when the run began."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "exactk": exactk.__version__,
        "commit": commit(),
        "committed": _git("show", "--no-patch", "--format=%cs", "HEAD"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load": round(load, 1),
    }


def processor() -> str:
    """Return the name of the processor, with family and model where the name is short of them."""
    facts: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    widest = next((name for name in ("avx512f", "avx2") if name in facts.get("flags", "").split()), "neither")
    family = f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"
    return f"{facts.get('model name', platform.machine())} ({family}, {widest})"


def system() -> str:
    """Return the name of the operating system."""
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())


def commit() -> str:
    """Return the commit, with a + where what is measured is not all committed."""
    revision = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "cpp", "python", "benchmarks", "CMakeLists.txt", "pyproject.toml")
    return revision + ("+" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()  # noqa: S607 - as git is found
