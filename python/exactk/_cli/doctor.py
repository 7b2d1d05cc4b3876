from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

import exactk
from exactk._cli.arguments import add_command
from exactk._cli.output import say
from exactk._runtime.isa import isas, wanted_isa
from exactk._runtime.threads import default_threads
from exactk._runtime.versions import OPTIONAL, as_lines, facts, version_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from exactk._cli.arguments import Commands

_METRICS = ("ndcg@[5,20]", "recall@20", "average_precision", "reciprocal_rank", "auc", "num_hits@5")
_USERS, _ITEMS = 100, 300
_MOST_THREADS = 3


def add(commands: Commands) -> None:
    """Describe the command."""
    add_command(
        commands,
        "doctor",
        _run,
        "print what a report of a bug needs, and check the installation",
        "exactk doctor > report.txt",
        "Exit code: 0 if all is well, 2 if a check fails.",
    )


def _run(_: argparse.Namespace) -> int:
    libraries = {name: f"{version_of(name)}; for {purpose}" for name, purpose in OPTIONAL.items()}
    say(as_lines(facts() | libraries) + "\n")
    well = [_passes(name, check) for name, check in _CHECKS.items()]
    return 0 if all(well) else 2


def _passes(name: str, check: Callable[[], str]) -> bool:
    """Run a check, which returns what it looked at or raises what is wrong, and say so."""
    try:
        said, well = f"well    {name}: {check()}", True
    except Exception as error:  # noqa: BLE001 - whatever it is, the doctor was asked for it
        said, well = f"failed  {name}: {str(error) or type(error).__name__}", False
    say(said + "\n")
    return well


def _environment() -> str:
    return f"EXACTK_ISA {wanted_isa() or 'not set'}, {default_threads()} threads"  # each is checked where it is read


def _instruction_sets() -> str:
    _require_same({name: _report(name, 1) for name in isas()})
    return ", ".join(isas())


def _thread_counts() -> str:
    _require_same({f"{threads} threads": _report("", threads) for threads in range(1, _MOST_THREADS + 1)})
    return f"1 to {_MOST_THREADS}"


def _reference() -> str:
    expected, found = exactk.reference.evaluate(*_example(), _METRICS, num_threads=1), _report("", 1)
    for name, value in expected.values.items():
        if not np.isclose(found[name], value, rtol=1e-12, atol=0):
            raise ArithmeticError(f"{name} is {found[name]!r}, and {value!r} by the reference")
    return f"{len(expected)} values"


_CHECKS: Mapping[str, Callable[[], str]] = {
    "the environment says what can be done": _environment,
    "every instruction set gives the same bits": _instruction_sets,
    "every number of threads gives the same bits": _thread_counts,
    "the core and the reference in NumPy agree": _reference,
}


def _example() -> tuple[list[list[int]], NDArray[np.float32]]:
    random = np.random.default_rng(0)
    truth = [random.choice(_ITEMS, size, replace=False).tolist() for size in random.integers(1, 9, _USERS)]
    return truth, random.random((_USERS, _ITEMS), np.float32)


def _report(instructions: str, threads: int) -> exactk.Report:
    truth, scores = _example()
    with _forced(instructions):
        return exactk.evaluate(truth, scores, _METRICS, per_user=True, num_threads=threads)


@contextmanager
def _forced(instructions: str) -> Iterator[None]:
    """Have EXACTK_ISA name an instruction set, or nothing, and be afterwards what it was."""
    before = os.environ.get("EXACTK_ISA")
    os.environ["EXACTK_ISA"] = instructions
    try:
        yield
    finally:
        del os.environ["EXACTK_ISA"]
        if before is not None:
            os.environ["EXACTK_ISA"] = before


def _require_same(reports: Mapping[str, exactk.Report]) -> None:
    first, *others = reports
    for other in others:
        if reports[other] != reports[first]:
            raise ArithmeticError(f"{other} and {first} differ")
