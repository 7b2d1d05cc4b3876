"""Memory: how much is used, and what becomes of a call when there is too little."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import exactk
from exactk import _core
from exactk._engine import evaluation, rankings

ROOT = Path(__file__).parent.parent
Words = NDArray[np.uint64]


def run_child(*arguments: str) -> str:
    """Run a function of `children.py` in a process of its own, and return what it prints."""
    command = [sys.executable, str(Path(__file__).with_name("children.py")), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}  # for benchmarks/
    result = subprocess.run(  # noqa: S603 - our own
        command, check=False, capture_output=True, text=True, timeout=120, env=environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


COUNT = 2**18
# What well-known hashes of 64-bit keys do, ours among them: multiply by a number, fold by a shift.
MIXERS: dict[str, list[int]] = {
    "Fibonacci": [0x9E3779B97F4A7C15],
    "MurmurHash3": [33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33],
    "SplitMix64": [30, 0xBF58476D1CE4E5B9, 27, 0x94D049BB133111EB, 31],
    "two rounds": [0x9E3779B97F4A7C15, 32, 0xD6E8FEB86659FD93, 32],
}


def invert_hash(hashes: Words, steps: list[int]) -> Words:
    """Return the keys that have these hashes."""
    keys = hashes.copy()
    for step in reversed(steps):
        if step > 64:
            keys *= np.uint64(pow(step, -1, 2**64))
            continue
        folded = keys.copy()
        for _ in range(64 // step):
            folded = keys ^ (folded >> np.uint64(step))
        keys = folded
    return keys


def craft_ids(steps: list[int], shift: int) -> Words:
    """Return ids below 2^63 whose hashes have all their low bits, or all their high bits, in common."""
    keys = invert_hash(np.arange(1, 4 * COUNT, dtype=np.uint64) << np.uint64(shift), steps)
    return keys[keys < 2**63][:COUNT]


ADVERSARIAL: dict[str, Words] = {
    "near 2^63": np.uint64(2**63 - 1) - np.arange(COUNT, dtype=np.uint64),
    **{f"multiples of 2^{shift}": np.arange(COUNT, dtype=np.uint64) << np.uint64(shift) for shift in (1, 16, 32, 44)},
    **{f"low bits of {name}": craft_ids(steps, 44) for name, steps in MIXERS.items()},
    **{f"high bits of {name}": craft_ids(steps, 0) for name, steps in MIXERS.items()},
}


@pytest.fixture
def patience() -> Iterator[None]:
    """Fail a test that takes a thousand times what it should, rather than hang."""

    def give_up(*_: object) -> None:
        pytest.fail("the ids meet in one slot: their number counts squared")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_f19_hashes_are_inverted_rightly() -> None:
    for steps in MIXERS.values():
        hashes = np.array([0, 1, 2**63, 0x0123456789ABCDEF], np.uint64)
        keys = invert_hash(hashes, steps)
        for step in steps:
            keys = keys * np.uint64(step) if step > 64 else keys ^ (keys >> np.uint64(step))
        assert keys.tolist() == hashes.tolist()


@pytest.mark.parametrize("ids", ADVERSARIAL)
@pytest.mark.usefixtures("patience")
def test_f19_adversarial_ids(ids: str) -> None:
    """One long list of ids that were chosen to meet in one slot of a hash: right, and in linear time."""
    items = ADVERSARIAL[ids]
    assert len(np.unique(items)) == COUNT
    truth = exactk.Truth([0, COUNT // 4], items[::4])
    report = exactk.evaluate(truth, exactk.Rankings([0, COUNT], items), ["num_hits", "reciprocal_rank", "recall@9"])
    assert list(report.values()) == [COUNT // 4, 1, 3 / (COUNT // 4)]
    repeated = exactk.Rankings([0, COUNT + 1], np.append(items, items[7]))
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(truth, repeated, "num_hits")
    assert (caught.value.position, caught.value.count) == (COUNT, 1)


@pytest.mark.native
@pytest.mark.parametrize("arenas", ["one", "as many as malloc likes"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_f24_a_limit_of_memory_means_memory_error_or_a_result(threads: int, arenas: str) -> None:
    assert run_child("scarce_memory", str(threads), arenas)


@pytest.mark.native
def test_f30_without_room_for_threads_the_caller_does_it_all() -> None:
    run_child("no_room_for_threads")


def test_f24_what_cannot_fit_is_refused_before_the_work() -> None:
    """Terabytes, that no machine has: refused as a CapacityError, which is a MemoryError."""
    users = 2_000_000
    truth = exactk.Truth(np.zeros(users + 1, np.int64), np.zeros(0, np.int64))
    rankings = exactk.Rankings(np.zeros(users + 1, np.int64), np.zeros(0, np.int64))
    metrics = f"dcg@[{','.join(map(str, range(1, 5_001)))}]"
    for options in ({"per_user": True}, {"groups": np.arange(users)}):
        with pytest.raises(exactk.CapacityError, match="GB") as caught:
            exactk.evaluate(truth, rankings, metrics, **options)
        assert isinstance(caught.value, MemoryError)
        assert caught.value.argument in options


RUNS = {"r": ["a", "b"], "s": ["c", "d"]}
KEEPS_LESS = "per_user: expected less, found more; per_user=False keeps less"
NEEDS_TWO = "baseline: expected less, found more; baseline={!r} needs the values of two systems at a time"
NEEDS_LESS = "metrics: expected less, found more; fewer metrics, or blocks of users, need less"


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({}, 5 * 12 + 1, NEEDS_TWO.format("a")),
        ({"baseline": "c"}, 2 * 12 + 1, NEEDS_LESS),
        ({"per_user": True}, 5 * 12 + 1, NEEDS_TWO.format("a")),
        ({"baseline": "c", "per_user": True}, 5 * 12 + 1, KEEPS_LESS),
        ({"groups": np.arange(20) % 2}, 5 * 12 + 1 + 3, NEEDS_TWO.format("a")),
        ({"clusters": np.arange(20) // 2}, 5 * 12 + 1 + 4, NEEDS_TWO.format("a")),
        ({"runs": RUNS}, 5 * 22 + 1, NEEDS_TWO.format("r")),
        ({"runs": RUNS, "per_user": True}, 7 * 22 + 1, KEEPS_LESS),
    ],
)
def test_f24_values_of_systems_that_cannot_fit_are_refused_before_the_work(
    options: dict[str, Any], rows: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five systems with ten values, of which one has a numerator and a denominator; only the limit of memory is not real.

    Means of runs have the values twice.
    """
    users, evaluated = 20, []
    metrics = ["precision@[1,2,3,4,5,6,7,8,9]", "precision@10(average=micro)"]
    systems = {name: [[1, 2]] * users for name in "abcde"}

    def set_limit(limit: int) -> None:
        def require_memory(cells: int, bytes_per_cell: int, argument: str) -> None:
            if cells * bytes_per_cell > limit:
                raise exactk.CapacityError.of_argument(argument, "less", "more")

        monkeypatch.setattr(_core, "require_memory", require_memory)

    def count(engine: Any, problem: Any) -> Any:
        evaluated.append(problem)
        return solve(engine, problem)

    solve = rankings.solve
    monkeypatch.setattr(evaluation, "solve", count)
    for limit, expected in ((rows * users * 8 - 1, message), (users * 8, NEEDS_LESS)):
        set_limit(limit)
        with pytest.raises(exactk.CapacityError) as caught:
            exactk.compare([[1]] * users, systems, metrics, **options)
        assert str(caught.value) == expected
        with pytest.raises(exactk.CapacityError) as caught:
            exactk.compare(None, iter([([[1]] * users, systems)]), metrics, **options)
        of_block = " in block 0 of the iterator, whose first user is number 0"
        assert str(caught.value) == expected.replace("found more", f"found more{of_block}")
    assert not evaluated
    set_limit(rows * users * 8)
    exactk.compare([[1]] * users, systems, metrics, **options)
    assert evaluated


def test_f24_terabytes_of_values_are_refused_before_the_work() -> None:
    users = 2_000_000
    truth = exactk.Truth(np.zeros(users + 1, np.int64), np.zeros(0, np.int64))
    rankings = exactk.Rankings(np.zeros(users + 1, np.int64), np.zeros(0, np.int64))
    metrics = f"dcg@[{','.join(map(str, range(1, 5_001)))}]"
    with pytest.raises(exactk.CapacityError, match="GB") as caught:
        exactk.compare(truth, {"a": rankings, "b": rankings}, metrics)
    assert caught.value.argument == "metrics"


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_long_rows_of_scores_need_little_memory_beside_them(threads: int) -> None:
    """At most 16 MB a thread for ten million items, whatever is asked of them."""
    printed = run_child("memory_of_long_rows", str(threads))
    assert len(printed.splitlines()) == 16


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_factors_need_no_room_for_their_scores(threads: int) -> None:
    assert run_child("factors_in_little_memory", str(threads))


@pytest.mark.native
def test_factors_need_little_memory_beside_them() -> None:
    """At most 64 MB a thread, whatever the shape."""
    assert len(run_child("memory_of_factors", "2").splitlines()) == 12
