"""A contestant's process: it obeys lines of JSON on its standard input, and answers in kind.

It stays alive from round to round, so that everything is warm and built, and waits on a pipe in between,
which costs the others nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import seconds, turn
from benchmarks.workload import Data
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from benchmarks.versus.peers import Call


class Worker:
    """What the lines can ask for: a method each."""

    def __init__(self, peer: str) -> None:
        self._peer = import_module(f"benchmarks.versus.peers.{peer}")
        self._calls: dict[str, Call] = {}
        self._folder = Path()

    def prepare(self, workload: str, folder: str) -> float:
        """Build what can be built beforehand; return how long that took."""
        self._folder = Path(folder)
        data = Data.load(self._folder)

        def build() -> None:
            self._calls = self._peer.prepare(data, WORKLOADS[workload])

        return seconds(build)

    def answer(self, call: str) -> dict[str, float] | str:
        """Return what a call computes, of a selection the file that has it. It is the first, in which a compiler may run."""
        result = self._calls[call]()
        if isinstance(result, Mapping):
            return dict(result)
        file = self._folder / "answer.npy"
        np.save(file, np.asarray(result))
        return str(file)

    def turn(self, call: str) -> float:
        """Return the seconds that a call takes."""
        return turn(self._calls[call])

    def forget(self) -> None:
        """Free the memory of the workload."""
        self._calls = {}


def main() -> None:
    """Serve until the input ends. Whatever a library prints goes where it does no harm."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        worker = Worker(sys.argv[1])
        for line in sys.stdin:
            request: dict[str, Any] = json.loads(line)
            try:
                reply: dict[str, Any] = {"value": getattr(worker, request.pop("do"))(**request)}
            except Exception as error:  # noqa: BLE001 - of any kind: it goes into the table
                reply = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
