"""Whether the Python of an engine's workers has this version of exactk."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class WorkerPython(NamedTuple):
    """What a worker tells of its Python."""

    found: str  # the version of exactk; empty if it is missing
    python: str
    host: str


def describe_worker() -> Callable[[], tuple[str, str, str]]:
    """Return a function that tells a `WorkerPython`, which is pickled by value: it must run without exactk."""

    def describe() -> tuple[str, str, str]:
        import importlib.metadata
        import socket
        import sys

        try:
            found = importlib.metadata.version("exactk")
        except ImportError:
            found = ""
        return found, sys.executable, socket.gethostname()

    return describe


def check_worker(worker: WorkerPython, hint: str) -> None:
    """Raise ImportError, with what to do, unless the worker has the version of exactk of this process."""
    expected = version("exactk")
    if worker.found != expected:
        found = f"has exactk {worker.found}" if worker.found else "has no exactk"
        message = f"the workers' Python {found}, and the driver has exactk {expected}: {worker.python} on {worker.host}"
        raise ImportError(f"{message}; {hint}")
