"""Memory: how much is used, and what becomes of a call when there is too little."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import exactk
from benchmarks.memory import forget_peak, resident, status
from children import assert_ratio, cpu_seconds, run_child
from exactk import _core
from exactk._engine import evaluation, problem
from jobs import uniform_lists
from strategies import at_night, latin

MEBIBYTE = 2**20
Words = NDArray[np.uint64]
COUNT = 2**16
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


def test_f19_hashes_are_inverted_rightly() -> None:
    for steps in MIXERS.values():
        hashes = np.array([0, 1, 2**63, 0x0123456789ABCDEF], np.uint64)
        keys = invert_hash(hashes, steps)
        for step in steps:
            keys = keys * np.uint64(step) if step > 64 else keys ^ (keys >> np.uint64(step))
        assert keys.tolist() == hashes.tolist()


def time_of_ids(items: Words) -> float:
    """Return the CPU time of an evaluation of one list of these ids."""
    truth, lists, reports = exactk.Truth([0, COUNT // 4], items[::4]), exactk.Rankings([0, COUNT], items), []
    seconds = cpu_seconds(lambda: reports.append(exactk.evaluate(truth, lists, "num_hits", num_threads=1)))
    assert dict(reports[0]) == {"num_hits": COUNT // 4}
    return seconds


def times_of_adversarial_ids() -> None:
    drawn = np.random.default_rng(7).permutation(COUNT).astype(np.uint64) * np.uint64(2**62 // COUNT)

    def ratio(items: Words) -> float:
        return time_of_ids(items) / min(time_of_ids(drawn) for _ in range(3))

    for name, items in ADVERSARIAL.items():
        assert_ratio(name, partial(ratio, items), 20)


@pytest.mark.native
@pytest.mark.deadline
def test_f19_adversarial_ids_take_as_long_as_any() -> None:
    """Were all to meet in one slot, their number would count squared: a thousand times as long."""
    run_child(times_of_adversarial_ids)


def _virtual_memory() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def _limit_memory(more: int | None) -> None:
    """Allow so many bytes more than there are; None lifts the limit."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard if more is None else _virtual_memory() + more, hard))


def scarce_memory(threads: int, arenas: str) -> None:
    """Evaluate with more and more memory: first there is too little, in the end there is enough."""
    m_mmap_threshold, m_arena_max = -3, -8
    if arenas == "one":  # what is given back leaves the process, and nothing is set aside: the limit is felt
        ctypes.CDLL(None).mallopt(m_mmap_threshold, 4096)
        ctypes.CDLL(None).mallopt(m_arena_max, 1)
    job = uniform_lists(50_000, 10, [f"{name}@[1,2,3,5,10]" for name in ("ndcg", "dcg", "precision", "recall")])
    options = {"groups": np.arange(50_000) % 500, "weights": np.linspace(1, 2, 50_000), "per_user": True}
    small = uniform_lists(10, 10)
    expected, expected_small = job.run(**options), small.run()
    outcomes: list[str] = []
    while outcomes[-3:] != ["a result"] * 3:
        try:
            _limit_memory(MEBIBYTE // 2 * len(outcomes))
            report = job.run(num_threads=threads, **options)
            outcomes.append("a result")
        except MemoryError:
            outcomes.append("MemoryError")
        finally:
            _limit_memory(None)
        assert outcomes[-1] == "MemoryError" or report == expected
        assert small.run() == expected_small
    assert arenas != "one" or outcomes.count("MemoryError") > 10


@pytest.mark.native
@pytest.mark.parametrize(("threads", "arenas"), latin([1, 2, 3], ["one", "as many as malloc likes"], 0))
def test_f24_a_limit_of_memory_means_memory_error_or_a_result(threads: int, arenas: str) -> None:
    run_child(scarce_memory, threads, arenas)


def little_address_space() -> None:
    """Ask for more memory than the process may have; a machine has as much."""
    _core.require_memory(5 * 10**8, 8, "groups")
    assert _core.memory_limit() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with pytest.raises(exactk.CapacityError, match=r"^groups: expected at most 3\.2 GB of memory, found a need for 4 "):
        _core.require_memory(5 * 10**8, 8, "groups")
    assert _core.memory_limit() == 3 << 30


@pytest.mark.native
def test_f24_the_limit_of_the_process_is_a_limit_of_memory() -> None:
    run_child(little_address_space)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("per_user", lambda truth, lists, metrics: exactk.evaluate(truth, lists, metrics, per_user=True)),
        ("groups", lambda truth, lists, metrics: exactk.evaluate(truth, lists, metrics, groups=np.arange(len(truth)))),
        ("metrics", lambda truth, lists, metrics: exactk.compare(truth, {"a": lists, "b": lists}, metrics)),
    ],
)
def test_f24_terabytes_are_refused_before_the_work(argument: str, call: Callable[..., object]) -> None:
    """As a CapacityError, which is a MemoryError."""
    indptr, items = np.zeros(2_000_001, np.int64), np.zeros(0, np.int64)
    with pytest.raises(exactk.CapacityError, match="GB") as caught:
        call(exactk.Truth(indptr, items), exactk.Rankings(indptr, items), f"dcg@{[*range(1, 5_001)]}".replace(" ", ""))
    assert isinstance(caught.value, MemoryError)
    assert caught.value.argument == argument


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

    solve = problem.solve
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


def _added_memory(call: Callable[[], object]) -> int:
    """Return how many bytes more a process holds at most while it makes its first call."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before = resident()
        forget_peak()
        call()
        os.write(writing, str(status("VmHWM") - before).encode())
        os._exit(0)
    _, exit_status = os.waitpid(child, 0)
    assert exit_status == 0
    os.close(writing)
    with os.fdopen(reading) as answer:
        return int(answer.read())


def memory_of_long_rows(threads: int) -> None:
    """Evaluate and rank rows of ten million equal scores, each call in a process that has done nothing else.

    All are tied, so all reach whatever bound is set: the most that a ranking could want to hold.
    """
    items = 10_000_000
    scores = np.broadcast_to(np.full(items, 0.5, np.float32), (threads, items))  # every thread has a row
    truth = exactk.Truth(np.arange(threads + 1) * 2, np.tile([7, items - 1], threads))
    exclude = exactk.Exclusions(np.arange(threads + 1) * 200, np.tile(np.arange(1000, 1200), threads))
    uncut = ["recall", "ndcg", "average_precision", "reciprocal_rank"]
    calls: list[Callable[..., object]] = [
        *(partial(exactk.topk, scores, k, ties=ties) for k in (20, 100) for ties in ("lowest_id", "highest_id")),
        partial(exactk.evaluate, truth, scores, "ndcg@20"),
        partial(exactk.evaluate, truth, scores, ["ndcg@100", "recall@20"]),
        partial(exactk.evaluate, truth, scores, uncut),
        partial(exactk.evaluate, truth, scores, [*uncut, "ndcg@20"]),
    ]
    for excluded, call in latin([exclude, None], calls, 0):
        added = _added_memory(partial(call, exclude=excluded, num_threads=threads))
        assert added < 16_000_000 * threads, (call, excluded)


@pytest.mark.native
@pytest.mark.parametrize("threads", [pytest.param(1, marks=at_night), 2])
def test_long_rows_of_scores_need_little_memory_beside_them(threads: int) -> None:
    """At most 16 MB a thread for ten million items, whatever is asked of them."""
    run_child(memory_of_long_rows, threads)


def factors_in_little_memory(threads: int) -> None:
    """Evaluate factors where there is no room for the scores: 410 MB."""
    rng = np.random.default_rng(6)
    users, items = (rng.integers(-9, 10, size=(rows, 32)).astype(np.float32) for rows in (1024, 100_000))
    truth = exactk.as_truth(exactk.topk(exactk.Embeddings(users, items), 300).items[:, [0, 7, 19, 280]])
    metrics = ["ndcg@20", "recall@[1,200]"]
    blocks = [range(begin, begin + 256) for begin in range(0, 1024, 256)]
    pairs = (([truth.row(user) for user in block], users[block] @ items.T) for block in blocks)  # exact, being whole
    expected = exactk.evaluate(None, pairs, metrics)
    _limit_memory(300 * MEBIBYTE)
    with pytest.raises(MemoryError):
        np.empty((1024, 100_000), np.float32)
    report = exactk.evaluate(truth, exactk.Embeddings(users, items), metrics, num_threads=threads)
    _limit_memory(None)
    assert dict(report) == dict(expected)


@pytest.mark.native
@pytest.mark.parametrize("threads", [pytest.param(1, marks=at_night), 2])
def test_factors_need_no_room_for_their_scores(threads: int) -> None:
    run_child(factors_in_little_memory, threads)


def memory_of_factors() -> None:
    """Rank by vectors of many shapes: none needs more than a little beside them."""
    shapes = [(600, 100_000, 8, 20), (64, 100_000, 8, 16_000), (40, 2_000, 20_000, 20), (4, 10**6, 4, 9)]
    for similarity, (users, items, width, k) in latin(["cosine", "dot", "euclidean"], shapes, 0):
        vectors = np.random.default_rng(0).standard_normal((items, width), np.float32)
        model = exactk.Embeddings(vectors[:users], vectors, similarity)
        call = partial(exactk.evaluate, np.zeros((users, 1), int), model, f"recall@{k}", num_threads=2)
        assert _added_memory(call) < 128_000_000, (users, items, width, similarity, k)


@pytest.mark.native
def test_factors_need_little_memory_beside_them() -> None:
    """At most 64 MB a thread, whatever the shape."""
    run_child(memory_of_factors)
