"""Run tests of Python with one mutant at a time switched on; ``mutants.py`` starts this.

Each run of some tests of one file is a fork of this process, which has imported the large libraries, but neither exactk
nor a test: it costs little more than its tests, and the mutant is there from the first import of exactk.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import random
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings as hypothesis_settings

FIRST_MARK = 8  # of the bytes that all processes share: the number of the active mutant is before the marks
SIZE = 4096
UNLIMITED = 1e9  # seconds
LONGEST = 120.0  # seconds of a test or a collection without a mutant
ENOUGH = 3  # killers of a mutant: more than one, for tests come and go
LIBRARIES = ("numpy", "scipy.stats", "pandas", "polars", "pyarrow.parquet", "matplotlib.figure", "jinja2")
OPTIONS = (
    "-q",
    "--tb=no",
    "--no-showlocals",
    "-p",
    "no:cacheprovider",
    "-m",
    "not deadline",
    "-W",
    "ignore:Module already imported",
)


class Marks:
    """The memory that all processes share: which mutant is active, and which have been reached."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), SIZE)

    def activate(self, number: int) -> None:
        """Switch on one mutant, or with 0 none."""
        self.shared[:2] = number.to_bytes(2, sys.byteorder)

    def clear(self) -> None:
        """Forget what was reached."""
        self.shared[FIRST_MARK:] = bytes(SIZE - FIRST_MARK)

    def reached(self) -> list[int]:
        """Return the numbers of the mutants that were reached."""
        return [number for number, mark in enumerate(self.shared[FIRST_MARK:]) if mark]


class Outcome(NamedTuple):
    """How a test ended, or with the name of its file, how its collection did."""

    test: str
    how: str  # started, passed, failed, timeout or crash
    seconds: float = 0.0
    reached: list[int] = []  # noqa: RUF012 - never changed


class Reporter:
    """A plugin of pytest in a fork: chooses the tests, sends their outcomes, and stops after the first that fails."""

    def __init__(self, marks: Marks, pipe: Any, file: str, tests: list[str], share: float) -> None:
        self.marks, self.pipe, self.file, self.tests = marks, pipe, file, tests
        self.begin, self.left = time.monotonic(), share
        self.failed = False
        self.prepared: set[int] = set()  # what fixtures reached, which are there for other tests of the file as well

    def send(self, *outcome: Any) -> None:
        """Send an outcome to the process that waits for it."""
        self.pipe.write(pickle.dumps(Outcome(*outcome)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Have Hypothesis stop at the first failure: nobody reads the smallest."""
        phases = (Phase.explicit, Phase.generate)
        chosen = hypothesis_settings.get_current_profile_name()
        hypothesis_settings.register_profile(
            "mutants",
            hypothesis_settings.get_profile(chosen),
            phases=phases,
            database=None,
            report_multiple_bugs=False,
        )
        hypothesis_settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Choose the tests; without a choice those that fit into the share of the file."""
        how = "failed" if session.testsfailed else "passed"
        self.send(self.file, how, time.monotonic() - self.begin, self.marks.reached())
        if self.tests:
            by_name = {item.nodeid: item for item in items}
            items[:] = [by_name[test] for test in self.tests if test in by_name]
        elif self.left < UNLIMITED:
            random.Random(0).shuffle(items)  # noqa: S311 - no secret

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Send what a test reaches and how it ends."""
        self.failed = False
        self.marks.clear()
        self.send(item.nodeid, "started")
        begin = time.monotonic()
        result = yield
        seconds = time.monotonic() - begin
        reached = sorted(self.prepared.union(self.marks.reached()))
        self.send(item.nodeid, "failed" if self.failed else "passed", seconds, reached)
        self.left -= seconds
        if self.left < 0 or (self.failed and self.tests):
            item.session.shouldstop = "enough"
        return result

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See whether a step failed, and what the fixtures reached."""
        self.failed |= report.failed
        if report.when == "setup":
            self.prepared.update(self.marks.reached())


@dataclass
class Measured:
    """What a file of tests reaches and costs."""

    seconds: float = 0.0  # to collect it
    reached: list[int] = field(default_factory=list)  # while it is collected
    tests: dict[str, tuple[float, list[int]]] = field(default_factory=dict)  # those that pass: seconds, reached


class Runner:
    """Runs tests in forks, and keeps what they reach."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.marks = Marks(Path(settings["marks"]))
        self.files: dict[str, Measured] = {}

    def outcomes(self, file: str, tests: list[str], active: int, seconds: float) -> Iterator[Outcome]:
        """Yield the outcomes of tests of a file with a mutant, until one of them fails; no tests are all tests."""
        reading, writing = os.pipe()
        self.marks.clear()
        self.marks.activate(active)
        child = os.fork()
        if child == 0:
            os.setsid()
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                self.run_pytest(Reporter(self.marks, pipe, file, tests, seconds))
        os.close(writing)
        current, how = file, ""
        try:
            with os.fdopen(reading, "rb", buffering=0) as pipe:
                while True:
                    limit = self.limit(file, current) if active else LONGEST
                    if not select.select([pipe], [], [], limit)[0]:
                        how = "timeout"
                        break
                    outcome = pickle.load(pipe)  # noqa: S301 - of our own process
                    if outcome is None:
                        break
                    current = outcome.test
                    if outcome.how != "started":
                        yield outcome
        except EOFError:
            how = "crash"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.marks.activate(0)
        if how:
            yield Outcome(current, how)

    def limit(self, file: str, test: str) -> float:
        """Return how long a test may take with a mutant."""
        measured = self.files.get(file, Measured())
        return 30 + 10 * measured.tests.get(test, (measured.seconds, []))[0]

    def run_pytest(self, reporter: Reporter) -> None:
        """Run pytest in this fork, and end it."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        basetemp = f"--basetemp={self.settings['temporary']}"
        status = pytest.main([*OPTIONS, basetemp, reporter.file], plugins=[reporter])
        if status not in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
            reporter.pipe.write(pickle.dumps(None))
        os._exit(0)

    def measure(self) -> None:
        """Run every test without a mutant: what it reaches, and how long it takes."""
        cache = Path(self.settings["reach"])
        kept = json.loads(cache.read_text()) if cache.exists() else {}
        for file in self.settings["files"]:
            measured = Measured(**kept[file]) if file in kept else Measured()
            self.files[file] = measured
            if file in kept:
                continue
            for outcome in self.outcomes(file, [], 0, self.settings["share"]):
                if outcome.how != "passed":
                    print(f"without a mutant {outcome.how}: {outcome.test}", flush=True)
                elif outcome.test == file:
                    measured.seconds, measured.reached = outcome.seconds, outcome.reached
                else:
                    measured.tests[outcome.test] = (outcome.seconds, outcome.reached)
            cache.write_text(json.dumps({name: vars(one) for name, one in self.files.items()}))

    def reaching(self, number: int) -> dict[str, list[str]]:
        """Return the tests that reach a mutant by file, the cheapest first."""
        found = {}
        for file, measured in self.files.items():
            everywhere = number in measured.reached
            tests = [test for test, (_, reached) in measured.tests.items() if everywhere or number in reached]
            if tests:
                found[file] = sorted(tests, key=lambda test: measured.tests[test][0])
        return found

    def batches(self, number: int) -> Iterator[tuple[str, list[str]]]:
        """Yield the tests for a mutant in the order in which they are tried, until the budget is spent."""
        left = self.reaching(number)
        budget, allowed = self.settings["budget"], 1.0
        while any(left.values()):
            batches = []
            for file, tests in left.items():
                batch, cost = [], 0.0
                while tests and (cost := cost + self.files[file].tests[tests[0]][0]) <= allowed:
                    batch.append(tests.pop(0))
                if batch:
                    spent = self.files[file].seconds + sum(self.files[file].tests[test][0] for test in batch)
                    batches.append((spent, file, batch))
            for cost, file, batch in sorted(batches):
                budget -= cost
                if budget < 0:
                    return
                yield file, batch
            allowed *= 4

    def first_failure(self, file: str, tests: list[str], active: int) -> tuple[Outcome | None, int]:
        """Return the first test of a file that does not pass, and how many were run."""
        ran = 0
        for outcome in self.outcomes(file, tests, active, UNLIMITED):
            ran += outcome.test != file
            if outcome.how != "passed":
                return outcome, ran
        return None, ran

    def killer(self, number: int, file: str, tests: list[str]) -> tuple[list[Any] | None, int]:
        """Return a test that kills a mutant: that fails with it, alone as well, and passes without it."""
        failure, ran = self.first_failure(file, tests, number)
        if failure is None:
            return None, ran
        alone = [failure.test] if failure.test in tests else tests[:1]
        if self.first_failure(file, alone, 0)[0] is None:
            again = failure if tests == alone else self.first_failure(file, alone, number)[0]
            if again is not None:
                return [alone[0], round(failure.seconds, 3), failure.how], ran
        return None, ran

    def try_mutant(self, number: int) -> dict[str, Any]:
        """Return which tests kill a mutant: of those that did before, else of those that reach it."""
        begin, tried = time.monotonic(), 0
        killers: list[list[Any]] = []
        before = defaultdict(list)
        for test in self.settings["killers"].get(str(number), []):
            before[test.partition("::")[0]].append(test)
        for file, tests in before.items():
            if file in self.settings["files"] and not killers:
                killer, ran = self.killer(number, file, tests)
                tried += ran
                killers += [killer] if killer else []
        reached = 0
        if not killers and not self.settings["recorded"]:
            if not self.files:
                self.measure()
            reached = sum(map(len, self.reaching(number).values()))
            since: float | None = None
            for file, tests in self.batches(number):
                killer, ran = self.killer(number, file, tests)
                tried += ran
                killers += [killer] if killer else []
                since = since or (time.monotonic() if killer else None)
                if len(killers) == ENOUGH or (since and time.monotonic() > since + 2):
                    break
        seconds = round(time.monotonic() - begin, 1)
        return {"id": number, "killers": killers, "reached": reached, "tried": tried, "seconds": seconds}


def main() -> None:
    """Try each mutant that is not done yet, and write a line for it."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    for library in LIBRARIES:
        with suppress(ImportError):
            import_module(library)
    runner = Runner(settings)
    results = Path(settings["results"])
    done = {json.loads(line)["id"] for line in results.read_text().splitlines()} if results.exists() else set()
    for number in settings["mutants"]:
        if number not in done:
            row = runner.try_mutant(number)
            with results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(number, row["killers"][:1] or "NOT KILLED", row["tried"], row["seconds"], flush=True)


if __name__ == "__main__":
    main()
