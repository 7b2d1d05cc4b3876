"""What tests must do in a process of its own. The first argument names the function, the rest are its arguments."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from loky import get_reusable_executor

import exactk
from benchmarks.memory import forget_peak, resident, status
from exactk._runtime.threads import default_threads
from jobs import uniform_lists

MEBIBYTE = 2**20


def evaluate_once(_: int = 0) -> float:
    """Return 0.5, by two threads."""
    return exactk.precision_at_k([[1], [2]] * 5000, [[1, 2], [3, 2]] * 5000, 2, num_threads=2)


def multiply_once(_: int = 0) -> float:
    """Return 0.5, by two threads and products of vectors."""
    users, items = np.ones((600, 1), np.float32), np.arange(-500.0, 500)[:, np.newaxis]
    return exactk.precision_at_k([[999]] * 600, exactk.Embeddings(users, items), 2, num_threads=2)


CALLS = {"lists": evaluate_once, "embeddings": multiply_once}


def workers(method: str, when: str, what: str) -> None:
    """Evaluate in child processes, before or after the parent has."""
    call = CALLS[what]
    if when == "after":
        assert call() == 0.5
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.map(call, range(4)) == [0.5] * 4
    with ProcessPoolExecutor(2, context) as executor:
        assert list(executor.map(call, range(4))) == [0.5] * 4
    assert call() == 0.5


def loky_workers() -> None:
    """Evaluate in the worker processes of joblib, which tell each how many threads it may use."""
    assert evaluate_once() == 0.5
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    with get_reusable_executor(max_workers=2) as executor:
        assert list(executor.map(evaluate_once, range(4))) == [0.5] * 4
        assert executor.submit(default_threads).result() == 1


def fork_during_a_call(what: str) -> None:
    """Fork while other threads evaluate: the child has none of those threads, and needs none."""
    evaluate = CALLS[what]
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            evaluate()

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            os._exit(0 if evaluate() == 0.5 else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
    stop.set()
    for caller in callers:
        caller.join()


def _virtual_memory() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def _limit_memory(more: int | None) -> None:
    """Allow so many bytes more than there are; None lifts the limit."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard if more is None else _virtual_memory() + more, hard))


def scarce_memory(threads: str, arenas: str) -> None:
    """Evaluate with more and more memory: first there is too little, in the end there is enough."""
    m_mmap_threshold, m_arena_max = -3, -8
    if arenas == "one":  # what is given back leaves the process, and nothing is set aside: the limit is felt
        ctypes.CDLL(None).mallopt(m_mmap_threshold, 4096)
        ctypes.CDLL(None).mallopt(m_arena_max, 1)
    job = uniform_lists(50_000, 10, [f"{name}@[1,2,3,5,10]" for name in ("ndcg", "dcg", "precision", "recall")])
    options = {"groups": np.arange(50_000) % 500, "weights": np.linspace(1, 2, 50_000), "per_user": True}
    expected = job.run(**options)
    small = uniform_lists(10, 10)
    expected_small = small.run()
    outcomes: list[str] = []
    while outcomes[-3:] != ["a result"] * 3:
        outcome = "a result"
        try:
            _limit_memory(MEBIBYTE // 4 * len(outcomes))
            report = job.run(num_threads=int(threads), **options)
        except MemoryError:
            outcome = "MemoryError"
        finally:
            _limit_memory(None)
        if outcome == "a result":
            assert report == expected
        assert small.run() == expected_small
        outcomes.append(outcome)
    assert arenas != "one" or outcomes.count("MemoryError") > 10
    sys.stdout.write(f"{outcomes.count('MemoryError')} of {len(outcomes)}\n")


def no_room_for_threads() -> None:
    """Evaluate where no thread can be started, for there is no memory for its stack."""
    job = uniform_lists(20_000, 10, ["ndcg@10", "recall@5"])
    expected = job.run(num_threads=1)
    _limit_memory(7 * MEBIBYTE)
    try:
        threading.Thread(target=time.sleep, args=(0,)).start()
    except RuntimeError:
        report = job.run(num_threads=8)
    _limit_memory(None)
    assert report == expected


def memory_of_long_rows(threads: str) -> None:
    """Evaluate and rank rows of ten million equal scores, each call in a process that has done nothing else.

    All are tied, so all reach whatever bound is set: the most that a ranking could want to hold.
    """
    count = int(threads)
    items = 10_000_000
    scores = np.broadcast_to(np.full(items, 0.5, np.float32), (count, items))  # every thread has a row
    truth = exactk.Truth(np.arange(count + 1) * 2, np.tile([7, items - 1], count))
    exclude = exactk.Exclusions(np.arange(count + 1) * 200, np.tile(np.arange(1000, 1200), count))
    uncut = ["recall", "ndcg", "average_precision", "reciprocal_rank"]
    for excluded in (None, exclude):
        calls = {
            f"topk of {k}, ties {ties}": partial(exactk.topk, scores, k, excluded, ties=ties, num_threads=count)
            for k in (20, 100)
            for ties in ("lowest_id", "highest_id")
        } | {
            f"evaluate {metrics}": partial(exactk.evaluate, truth, scores, metrics, exclude=excluded, num_threads=count)
            for metrics in (["ndcg@20"], ["ndcg@100", "recall@20"], uncut, [*uncut, "ndcg@20"])
        }
        for name, call in calls.items():
            added = _added_memory(call)
            sys.stdout.write(f"{name}, {'some' if excluded else 'none'} excluded: {added / 1e6:.1f} MB\n")
            assert added < 16_000_000 * count, name


def factors_in_little_memory(threads: str) -> None:
    """Evaluate factors where there is no room for the scores: 410 MB."""
    rng = np.random.default_rng(6)
    users, items = (rng.integers(-9, 10, size=(truth_rows, 32)).astype(np.float32) for truth_rows in (1024, 100_000))
    truth = exactk.as_truth(exactk.topk(exactk.Embeddings(users, items), 300).ids[:, [0, 7, 19, 280]])
    metrics = ["ndcg@20", "recall@[1,200]"]
    blocks = [slice(begin, begin + 256) for begin in range(0, 1024, 256)]
    truth_rows = [[truth.row(user) for user in range(block.start, block.stop)] for block in blocks]
    pairs = (
        (rows_of_block, users[block] @ items.T) for rows_of_block, block in zip(truth_rows, blocks, strict=True)
    )  # exact, being whole
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)  # of ties, which are many
        expected = exactk.evaluate(None, pairs, metrics)
        _limit_memory(300 * MEBIBYTE)
        try:
            np.empty((1024, 100_000), np.float32)
        except MemoryError:
            report = exactk.evaluate(truth, exactk.Embeddings(users, items), metrics, num_threads=int(threads))
        _limit_memory(None)
    assert dict(report) == dict(expected)
    sys.stdout.write(report.to_json())


def memory_of_factors(threads: str) -> None:
    """Rank by vectors of many shapes: none needs more than a little beside them."""
    count = int(threads)
    for users, items, width, k in (
        (600, 100_000, 8, 20),
        (64, 100_000, 8, 16_000),
        (40, 2_000, 20_000, 20),
        (4, 10**6, 4, 9),
    ):
        vectors = np.random.default_rng(0).standard_normal((items, width), np.float32)
        for similarity in ("dot", "cosine", "euclidean"):
            model = exactk.Embeddings(vectors[:users], vectors, similarity)
            truth = np.zeros((users, 1), int)
            added = _added_memory(partial(exactk.evaluate, truth, model, [f"recall@{k}"], num_threads=count))
            sys.stdout.write(f"{users} x {items} x {width}, {similarity} at {k}: {added / 1e6:.1f} MB\n")
            assert added < 64_000_000 * count, similarity


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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
