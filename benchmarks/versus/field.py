"""The contestants: an environment and a process for each, and the rounds in which they take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.answers import FACTORS_AGREE, PEERS_AGREE, WrongAnswerError, compare, evaluate
from benchmarks.selections import best, compare_best, verify
from benchmarks.timing import ROUNDS, Sample, compete
from benchmarks.versus.peers import OURS, PEERS, PRODUCTS, READING, Peer
from benchmarks.workload import Data, Ids, Workload
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "bench"
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
THREADS = max(workload.threads for workload in WORKLOADS.values())  # of every contestant that has any


class PeerError(Exception):
    """A peer cannot be installed, does not start, or fails: words for the table, not the end of the run."""


@dataclass(frozen=True)
class Result:
    """The measurement of one call on one workload."""

    call: str
    sample: Sample | None = None
    prepare_seconds: float = 0  # seconds spent on what is built beforehand
    values: int = 0  # how many of the workload's values it computes
    error: str = ""


class Process:
    """A worker in its peer's environment, started at its first request."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        BUILT.mkdir(parents=True, exist_ok=True)
        self._log = BUILT / f"{peer.module}.log"
        self._pipe: subprocess.Popen[str] | None = None
        self._failed: PeerError | None = None  # to start: it is not tried again

    def ask(self, do: str, **arguments: object) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Have the worker do something and return its answer."""
        self._pipe = self._pipe or self._start()
        assert self._pipe.stdin
        assert self._pipe.stdout
        with suppress(BrokenPipeError):
            print(json.dumps({"do": do, **arguments}), file=self._pipe.stdin, flush=True)
        line = self._pipe.stdout.readline()
        if not line:
            self._pipe.wait()  # for its last words
            raise PeerError(_last_line(self._log.read_text(encoding="utf-8")))
        reply = json.loads(line)
        if "error" in reply:
            raise PeerError(reply["error"])
        return reply["value"]

    def _start(self) -> subprocess.Popen[str]:
        if self._failed:
            raise self._failed
        try:
            python = interpreter(self.peer)
        except PeerError as error:
            self._failed = error
            raise
        command = [str(python), "-m", "benchmarks.versus.worker", self.peer.module]
        environment = os.environ | dict.fromkeys(POOLS, str(THREADS))
        with self._log.open("w") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=environment,
            )

    def stop(self) -> None:
        """End the worker, as the end of its input does."""
        if self._pipe:
            self._pipe.communicate()


def interpreter(peer: Peer) -> Path:
    """Return the interpreter of the peer's environment, which is made if it is not there."""
    if not peer.requirements:
        return Path(sys.executable)
    folder = BUILT / peer.module
    python = folder / "bin" / "python"
    stamp, requirements = folder / "requirements.txt", "\n".join(peer.requirements)
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == requirements):
        venv.create(folder, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *peer.requirements]
        finished = subprocess.run(install, check=False, capture_output=True, text=True)
        if finished.returncode:
            raise PeerError(f"not installed: {_last_line(finished.stderr)}")
        stamp.write_text(requirements, encoding="utf-8")
    return python


def version(peer: Peer) -> str:
    """Return the version of the library that takes part."""
    code = f"import importlib.metadata as m; print(m.version({peer.distribution!r}))"
    try:
        command = [str(interpreter(peer)), "-c", code]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (PeerError, subprocess.CalledProcessError):
        return "of no known version"


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "it ended without a word"


class Field:
    """All contestants, alive from the first workload to the last."""

    def __init__(self, stack: ExitStack) -> None:
        self._processes = [Process(peer) for peer in (OURS, READING, PRODUCTS, *PEERS)]
        for process in self._processes:
            stack.callback(process.stop)

    def play(self, workload: Workload, data: Data, rounds: int = ROUNDS) -> dict[str, Result]:
        """Have those who take part in a workload build, answer rightly, and then take turns."""
        verify(workload, data)
        folder = BUILT / "data" / workload.name
        data.save(folder)
        selection = cache(partial(best, workload, data))  # computed once, if any peer selects
        entrants = [process for process in self._processes if workload.name in process.peer.workloads]
        results: dict[str, Result] = {}
        turns: dict[str, Callable[[], float]] = {}
        for process in entrants:
            for result in _admit(process, workload, data, folder, selection):
                results[result.call] = result
                if not result.error:
                    turns[result.call] = partial(process.ask, "turn", call=result.call)
        samples = compete(turns, rounds)
        for process in entrants:
            with suppress(PeerError):  # of one that failed before
                process.ask("forget")
        return {call: replace(result, sample=samples.get(call)) for call, result in results.items()}


def _admit(
    process: Process, workload: Workload, data: Data, folder: Path, selection: Callable[[], Ids]
) -> list[Result]:
    """Return a result for each of a peer's calls, with an error where its answer is not ours."""
    calls = process.peer.calls
    try:
        seconds = process.ask("prepare", workload=workload.name, folder=str(folder))
    except PeerError as error:
        return [Result(call, error=str(error)) for call in calls]
    return [_examine(process, Result(call, prepare_seconds=seconds), workload, data, selection) for call in calls]


def _examine(process: Process, result: Result, workload: Workload, data: Data, selection: Callable[[], Ids]) -> Result:
    """Return the result, with an error where the answer is wrong."""
    try:
        answer = process.ask("answer", call=result.call)
        if isinstance(answer, str):
            compare_best(result.call, np.load(answer), selection(), workload, data)
            return result
        expected = dict(evaluate(workload, data, convention=process.peer.convention)) if answer else {}
        compare(result.call, answer, expected, PEERS_AGREE if data.factors is None else FACTORS_AGREE)
    except (PeerError, WrongAnswerError) as error:
        return replace(result, error=str(error))
    return replace(result, values=len(answer))
