"""How many threads this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

from metrik import _core

MAX_THREADS = _core.MAX_THREADS


def default_threads() -> int:
    """Return the smaller of the CPU affinity and the cgroup's quota, at least 1."""
    try:
        affinity = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        affinity = os.cpu_count() or 1
    return max(1, min(affinity, _quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))))


def _quota(own_cgroup: Path, root: Path) -> int:
    """Return the lowest CPU quota of the process's cgroup (v2) and its ancestors, rounded up."""
    try:
        lines = own_cgroup.read_text(encoding="utf-8").splitlines()
    except OSError:
        return MAX_THREADS
    unified = [line.removeprefix("0::") for line in lines if line.startswith("0::")]
    quotas = [MAX_THREADS]
    for path in unified:
        folder = root / path.lstrip("/")
        quotas += [_read_quota(each / "cpu.max") for each in (folder, *folder.parents) if each.is_relative_to(root)]
    return min(quotas)


def _read_quota(file: Path) -> int:
    try:
        quota, period = file.read_text(encoding="utf-8").split()
        return MAX_THREADS if quota == "max" else max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # not limited here, or not in this form
        return MAX_THREADS
