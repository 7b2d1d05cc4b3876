"""The command line, run within this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class CommandResult(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., CommandResult]
"""The fixture ``run``: from a command's arguments to its result."""
