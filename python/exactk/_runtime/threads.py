"""The number of threads, the instruction sets, and iterators that work in a thread ahead of their user."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from numbers import Integral
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from exactk import _core
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


MAX_THREADS = _core.MAX_THREADS

# Python 3.13 reads the first; joblib sets the second for its workers.
_LIMIT_VARIABLES = ("PYTHON_CPU_COUNT", "LOKY_MAX_CPU_COUNT")


def resolve_threads(num_threads: object) -> int:
    """Return the number of threads for this `num_threads` argument."""
    if num_threads is None:
        return default_threads()
    if isinstance(num_threads, bool) or not isinstance(num_threads, Integral):
        raise type_error("num_threads", "an integer or None", repr(num_threads))
    if not 1 <= int(num_threads) <= MAX_THREADS:
        raise input_error("num_threads", f"an integer from 1 to {MAX_THREADS}", repr(num_threads))
    return int(num_threads)


def default_threads() -> int:
    """Return EXACTK_NUM_THREADS if it is set, or else the number of threads that the process can keep busy.

    That is the minimum of the CPU affinity, the cgroup quotas of the process and its ancestors, PYTHON_CPU_COUNT and
    LOKY_MAX_CPU_COUNT, and at least 1.
    """
    return effective_limit().threads


class ThreadLimit(NamedTuple):
    """A number of threads, and the setting that it comes from."""

    threads: int
    source: str


def effective_limit() -> ThreadLimit:
    """Return the limit behind `default_threads`; among equal limits, the first one checked."""
    if requested := _core.environment_variable("EXACTK_NUM_THREADS"):
        return ThreadLimit(_requested_threads(requested), "EXACTK_NUM_THREADS")
    lowest = _lowest_limit(_affinity_threads(), tuple(map(_core.environment_variable, _LIMIT_VARIABLES)))
    if lowest.threads == 1 or lowest.threads <= (quota := _current_quota()):
        return lowest
    return ThreadLimit(quota, "the CPU quota of the cgroup")


@lru_cache(maxsize=16)
def _lowest_limit(affinity: int, others: tuple[str, ...]) -> ThreadLimit:
    """Return the limit without quotas; the others are the values of the variables of other libraries."""
    limits = [ThreadLimit(affinity, "the CPU affinity"), ThreadLimit(MAX_THREADS, "the limit of the core")]
    limits += [ThreadLimit(_limit_of_variable(text), name) for name, text in zip(_LIMIT_VARIABLES, others, strict=True)]
    return min(limits, key=attrgetter("threads"))


class _ReadQuota(NamedTuple):
    """A quota, and when it was read and by which process: a copy of a process may be in another cgroup."""

    time: float
    process: int
    threads: int


_QUOTA_SECONDS = 1.0  # until it is read again, which takes longer than a small evaluation
_CGROUP_FILE, _CGROUP_ROOT = "/proc/self/cgroup", "/sys/fs/cgroup"
_last_quota: list[_ReadQuota] = []


def _current_quota() -> int:
    """Return the quota of the cgroup, at most a second old."""
    now, process = time.monotonic(), os.getpid()
    for last in _last_quota:
        if last.process == process and now - last.time < _QUOTA_SECONDS:
            return last.threads
    quota = _cgroup_quota(_CGROUP_FILE, _CGROUP_ROOT)
    _last_quota[:] = [_ReadQuota(now, process, quota)]
    return quota


def _parse_number(text: str) -> int:
    """Return the value of ASCII digits, or 0 for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0


def _requested_threads(text: str) -> int:
    threads = _parse_number(text.strip())
    if not 1 <= threads <= MAX_THREADS:
        raise input_error("EXACTK_NUM_THREADS", f"an integer from 1 to {MAX_THREADS}", repr(text))
    return threads


def _limit_of_variable(text: str) -> int:
    """Return the limit that another library's variable sets; invalid values, and none, are ignored."""
    return _parse_number(text.strip()) or MAX_THREADS


def _affinity_threads() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on Linux
        return os.cpu_count() or 1


def _cgroup_quota(cgroup_file: str, root: str) -> int:
    """Return the lowest CPU quota, in whole CPUs, of the process's cgroup and its ancestors.

    A controller belongs to one hierarchy: if version 1 has "cpu", version 2 does not.
    """
    version_2 = None
    for line in _read_text(cgroup_file).splitlines():
        hierarchy, _, fields = line.partition(":")
        controllers, _, path = fields.partition(":")
        if "cpu" in controllers.split(","):
            return min(map(_quota_of_version_1, _cgroup_folders(_controller_mount(root, controllers), path)))
        if hierarchy == "0" and not controllers:
            version_2 = path
    if version_2 is None:
        return MAX_THREADS
    return min(map(_quota_of_version_2, _cgroup_folders(root, version_2)))


def _controller_mount(root: str, controllers: str) -> str:
    by_name = f"{root}/cpu"
    return by_name if os.path.isdir(by_name) else f"{root}/{controllers}"  # noqa: PTH112 - pathlib is a tenth of a first call


def _cgroup_folders(mount: str, path: str) -> list[str]:
    """Return the folders of a cgroup and of its ancestors, up to the mount.

    A container may know its cgroup's path on the host but see only the mount: the folders in between do not exist, and
    set no limit.
    """
    parts = [part for part in path.split("/") if part]
    if ".." in parts:  # outside of this namespace
        parts = []
    return ["/".join([mount, *parts[:depth]]) for depth in range(len(parts), -1, -1)]


def _quota_of_version_1(folder: str) -> int:
    quota = _read_text(f"{folder}/cpu.cfs_quota_us").strip()
    if not _parse_number(quota):  # -1: no quota
        return MAX_THREADS
    return _whole_cpus(quota, _read_text(f"{folder}/cpu.cfs_period_us").strip())


def _quota_of_version_2(folder: str) -> int:
    quota, _, period = _read_text(f"{folder}/cpu.max").strip().partition(" ")
    return _whole_cpus(quota, period)


def _whole_cpus(quota: str, period: str) -> int:
    """Return the quota as CPUs, rounded up: half a CPU allows one thread that sleeps half of the time."""
    quota_time, period_time = _parse_number(quota), _parse_number(period)
    if not (quota_time and period_time):  # "max", or an unknown form
        return MAX_THREADS
    return min(MAX_THREADS, -(-quota_time // period_time))


def _read_text(file: str) -> str:
    """Return the file's content; an empty string if it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123 - likewise
            return opened.read()
    except OSError:
        return ""


def available_isas() -> list[str]:
    """Return the CPU's instruction sets, the widest last."""
    return _core.isas()


def requested_isa() -> str:
    """Return the value of EXACTK_ISA, or an empty string if it is not set."""
    name = _core.environment_variable("EXACTK_ISA")
    if name and name not in available_isas():
        raise input_error(
            "EXACTK_ISA", f"an instruction set that this CPU supports: {', '.join(available_isas())}", repr(name)
        )
    return name


T = TypeVar("T")


def read_ahead(parts: Iterator[T]) -> Generator[T]:
    """Yield the parts, none of which is None, reading each while the previous one is in use. Closing it waits for that one."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part
