from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

import exactk
from exactk._cli.arguments import add_command
from exactk._cli.output import print_text
from exactk._runtime.threads import available_isas, default_threads, requested_isa
from exactk._runtime.versions import OPTIONAL_LIBRARIES, format_facts, installation_facts, version_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from exactk._cli.arguments import Commands

_METRICS = ("ndcg@[5,20]", "recall@20", "average_precision", "reciprocal_rank", "auc", "num_hits@5")
_USERS, _ITEMS = 100, 300
_MOST_THREADS = 3


def add_doctor(commands: Commands) -> None:
    """Add the command's parser."""
    add_command(
        commands,
        "doctor",
        run_doctor,
        "print what a bug report needs, and check the installation",
        "exactk doctor > report.txt",
        "Exit code: 0 if all checks pass, 2 if one fails.",
    )


def run_doctor(_: argparse.Namespace) -> int:
    libraries = {name: f"{version_of(name)}; for {purpose}" for name, purpose in OPTIONAL_LIBRARIES.items()}
    print_text(format_facts(installation_facts() | libraries) + "\n")
    passed = [_run_check(name, check) for name, check in _CHECKS.items()]
    return 0 if all(passed) else 2


def _run_check(name: str, check: Callable[[], str]) -> bool:
    """Run a check, which returns what it covered or raises, and print the outcome."""
    try:
        line, passed = f"passed  {name}: {check()}", True
    except Exception as error:  # noqa: BLE001 - any error is a result of the check
        line, passed = f"failed  {name}: {str(error) or type(error).__name__}", False
    print_text(line + "\n")
    return passed


def _check_environment() -> str:
    return f"EXACTK_ISA {requested_isa() or 'not set'}, {default_threads()} threads"  # both are validated when they are read


def _check_isas() -> str:
    _require_equal({name: _example_report(name, 1) for name in available_isas()})
    return ", ".join(available_isas())


def _check_thread_counts() -> str:
    _require_equal({f"{threads} threads": _example_report("", threads) for threads in range(1, _MOST_THREADS + 1)})
    return f"1 to {_MOST_THREADS}"


def _check_reference() -> str:
    expected, report = exactk.reference.evaluate(*_example_inputs(), _METRICS, num_threads=1), _example_report("", 1)
    for name, value in expected.items():
        if not np.isclose(report[name], value, rtol=1e-12, atol=0):
            raise ArithmeticError(f"{name} is {report[name]!r}, and {value!r} in the reference")
    return f"{len(expected)} values"


_CHECKS: Mapping[str, Callable[[], str]] = {
    "environment variables are valid": _check_environment,
    "every instruction set gives the same bits": _check_isas,
    "every number of threads gives the same bits": _check_thread_counts,
    "the core and the reference in NumPy agree": _check_reference,
}


def _example_inputs() -> tuple[list[list[int]], NDArray[np.float32]]:
    random = np.random.default_rng(0)
    truth = [random.choice(_ITEMS, size, replace=False).tolist() for size in random.integers(1, 9, _USERS)]
    return truth, random.random((_USERS, _ITEMS), np.float32)


def _example_report(instructions: str, threads: int) -> exactk.Report:
    truth, scores = _example_inputs()
    with _forced_isa(instructions):
        return exactk.evaluate(truth, scores, _METRICS, per_user=True, num_threads=threads)


@contextmanager
def _forced_isa(instructions: str) -> Iterator[None]:
    """Set EXACTK_ISA temporarily; an empty name selects the default."""
    previous = os.environ.get("EXACTK_ISA")
    os.environ["EXACTK_ISA"] = instructions
    try:
        yield
    finally:
        del os.environ["EXACTK_ISA"]
        if previous is not None:
            os.environ["EXACTK_ISA"] = previous


def _require_equal(reports: Mapping[str, exactk.Report]) -> None:
    first, *others = reports
    for other in others:
        if reports[other] != reports[first]:
            raise ArithmeticError(f"{other} and {first} differ")
