"""Signals during a call: Ctrl-C ends it soon, whatever its size; other handlers run, and may end it too."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import exactk
from exactk import _core
from jobs import long_evaluation, uniform_lists
from strategies import Evaluation

DEADLINE_SECONDS = 0.1
FEW = ["precision@10", "ndcg@10"]


def one_long_list(ids: int) -> Evaluation:
    """Return a list of ids that no table of a range can hold, and a truth of a tenth of them."""
    items = np.random.default_rng(7).permutation(ids) * (2**62 // ids)
    return Evaluation(exactk.Truth([0, ids // 8], items[::8].copy()), exactk.Rankings([0, ids], items), FEW)


def one_long_truth(ids: int) -> Evaluation:
    """Return a graded truth, whose grades are sorted for the ideal ranking, and a short list."""
    grades = np.random.default_rng(7).random(ids)
    return Evaluation(exactk.Truth([0, ids], np.arange(ids), grades), exactk.Rankings([0, 3], [1, 2, 3]), FEW)


def one_long_row(ids: int) -> Evaluation:
    """Return sparse scores whose ids break many ties, and of which an eighth is excluded."""
    items = np.random.default_rng(7).permutation(ids) * (2**62 // ids)
    predictions = exactk.SparseScores([0, ids], items, np.arange(ids) % 7)
    truth, exclude = (exactk.Truth([0, ids // 8], items[begin::8].copy()) for begin in (0, 1))
    return Evaluation(truth, predictions, [*FEW, "average_precision"], {"exclude": exclude})


def many_groups(users: int) -> Evaluation:
    """Return as many groups as there are users, with sums of their own."""
    job = uniform_lists(users, 5, FEW)
    return Evaluation(job.truth, job.predictions, FEW, {"groups": np.arange(users), "weights": np.ones(users)})


def late_fault(users: int) -> Evaluation:
    """Return lists of which the last repeats an item: all are read a second time to say which."""
    job = uniform_lists(users, 20)
    items = np.array(job.predictions.items)
    items[-1] = items[-2]
    return Evaluation(job.truth, exactk.Rankings(job.predictions.indptr, items), job.metrics)


JOBS: dict[str, Callable[[], Evaluation]] = {
    "few lists": lambda: uniform_lists(1000, 20),
    "many lists": lambda: uniform_lists(100_000, 20),
    "very many lists": lambda: uniform_lists(1_000_000, 20),
    "a long list": lambda: one_long_list(2**16),
    "a very long list": lambda: one_long_list(2**22),
    "a long truth": lambda: one_long_truth(2**16),
    "a very long truth": lambda: one_long_truth(2**22),
    "a very long row of sparse scores": lambda: one_long_row(2**21),
    "many groups": lambda: many_groups(20_000),
    "a fault at the end": lambda: late_fault(300_000),
}


@cache
def job(name: str) -> Evaluation:
    return JOBS[name]()


@pytest.fixture
def alarm_handler() -> Iterator[Callable[[Any], None]]:
    """Set what SIGALRM does; afterwards, what it did before."""
    before = signal.getsignal(signal.SIGALRM)

    def set_handler(handler: Any) -> None:
        signal.signal(signal.SIGALRM, handler)

    yield set_handler
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def seconds_to_interrupt(call: Callable[[], object], delay: float) -> float:
    """Call until a signal interrupts; return how long after the signal.

    The kernel sends it, after `delay`, so that nothing that holds the interpreter can hold it back.
    """
    signal.setitimer(signal.ITIMER_REAL, delay)
    sent = time.monotonic() + delay
    try:
        while time.monotonic() < sent + 60:
            with suppress(exactk.InputError):
                call()
    except KeyboardInterrupt:
        return time.monotonic() - sent
    pytest.fail("no call was interrupted")


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep its callbacks from running: what a signal's handler raises within one of Hypothesis's is lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", JOBS)
def test_f25_an_interrupt_ends_a_call_within_its_deadline(
    name: str, threads: int, alarm_handler: Callable[[Any], None]
) -> None:
    """The median of several tries, for a machine that is busy with something else now and then."""
    alarm_handler(signal.default_int_handler)
    evaluation = job(name)
    delays = (0.03, 0.06, 0.1, 0.15, 0.22)
    with no_garbage_collection():
        waits = [seconds_to_interrupt(partial(evaluation.run, num_threads=threads), delay) for delay in delays]
    assert statistics.median(waits) < DEADLINE_SECONDS, waits
    assert uniform_lists(10, 4).run() == uniform_lists(10, 4).run(num_threads=threads)


def topk_call(row: Any, k: int, threads: int) -> Callable[[], object]:
    """Return a call that ranks the row for as many users as there are threads."""
    scores = np.broadcast_to(row, (threads, row.size))
    return partial(exactk.topk, scores, k, num_threads=threads)


def evaluation_call(row: Any, metric: str, threads: int) -> Callable[[], object]:
    scores = np.broadcast_to(row, (threads, row.size))
    truth = exactk.Truth(np.arange(threads + 1) * 2, np.tile([7, row.size - 1], threads))
    return partial(exactk.evaluate, truth, scores, metric, num_threads=threads)


def constant_row() -> Any:
    """Return a row that takes a quarter of a second and no memory: all that is touched is what a call allocates."""
    return np.broadcast_to(np.float32(0.5), 2**28)


def random_row(items: int) -> Any:
    return np.random.default_rng(7).random(items, np.float32)


LONG_ROWS: dict[str, Callable[[int], Callable[[], object]]] = {
    "topk of one score": partial(topk_call, constant_row(), 20),
    "all ranks of one score": partial(evaluation_call, constant_row(), "recall"),
    "ndcg@20 of random scores": lambda threads: evaluation_call(random_row(2**24), "ndcg@20", threads),
    "topk of millions": lambda threads: topk_call(random_row(2**24), 2**22, threads),
}


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LONG_ROWS)
def test_f25_an_interrupt_ends_a_call_within_a_long_row(
    name: str, threads: int, alarm_handler: Callable[[Any], None]
) -> None:
    """Wherever in the call: of several tries at one point the best, for a machine that is busy with something else."""
    alarm_handler(signal.default_int_handler)
    call = LONG_ROWS[name](threads)
    begin = time.monotonic()
    call()
    duration = time.monotonic() - begin
    with no_garbage_collection():
        for share in (0.1, 0.4, 0.65, 0.9):
            waits = (seconds_to_interrupt(call, share * duration) for _ in range(4))
            assert any(wait < DEADLINE_SECONDS for wait in waits), f"after {share} of the call"


def constant_vectors(rows: int, width: int) -> Any:
    """Return vectors that are hard to tell apart, and take no memory but for a row."""
    return np.broadcast_to(np.random.default_rng(7).random(width, np.float32), (rows, width))


def random_vectors(rows: int, width: int) -> Any:
    return np.random.default_rng(7).random((rows, width), np.float32)


def evaluation_call_of_embeddings(model: exactk.Embeddings, metric: str, relevant: int = 2) -> Callable[[int], object]:
    items, users = len(model.item_vectors), len(model)
    truth = exactk.Truth(np.arange(users + 1) * relevant, np.tile(np.arange(items)[-relevant:], users))
    return lambda threads: exactk.evaluate(truth, model, metric, num_threads=threads)


def vectors_with_nan_at_the_end(rows: int, width: int) -> Any:
    """Return vectors whose last number is NaN: all are read a second time to say which."""
    drawn = np.ones((rows, width), np.float16)
    drawn[-1, -1] = np.nan
    return drawn


EMBEDDINGS: dict[str, Callable[[], Callable[[int], object]]] = {
    "many users": lambda: evaluation_call_of_embeddings(
        exactk.Embeddings(random_vectors(3000, 64), random_vectors(20_000, 64)), "ndcg@20"
    ),
    "wide vectors": lambda: evaluation_call_of_embeddings(
        exactk.Embeddings(random_vectors(8, 20_000), random_vectors(3000, 20_000), "cosine"), "ndcg@20"
    ),
    "the widest, all equal": lambda: partial(
        _topk, exactk.Embeddings(constant_vectors(2, 65_536), constant_vectors(10_000, 65_536), "euclidean"), 2000
    ),
    "the widest, without a cutoff": lambda: evaluation_call_of_embeddings(
        exactk.Embeddings(constant_vectors(2, 65_536), constant_vectors(6000, 65_536)), "recall", 6000
    ),
    "all ranks": lambda: evaluation_call_of_embeddings(
        exactk.Embeddings(random_vectors(30, 64), random_vectors(200_000, 64)), "auc", 1000
    ),
    "vectors to be checked": lambda: partial(
        _topk, exactk.Embeddings(constant_vectors(2, 8), constant_vectors(50_000_000, 8)), 1
    ),
    "a fault at the end": lambda: partial(
        _topk, exactk.Embeddings(vectors_with_nan_at_the_end(2**21, 32), vectors_with_nan_at_the_end(2, 32)), 1
    ),
    "neighbours": lambda: lambda threads: exactk.neighbors(random_vectors(20_000, 32), 30, num_threads=threads),
}


def _topk(model: exactk.Embeddings, k: int, threads: int) -> object:
    return exactk.topk(model, k, num_threads=threads)


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_f25_an_interrupt_ends_a_call_of_embeddings(name: str, alarm_handler: Callable[[Any], None]) -> None:
    """Of several tries the best, for a machine that is busy with something else."""
    alarm_handler(signal.default_int_handler)
    call = EMBEDDINGS[name]()
    with no_garbage_collection():
        for delay, threads in ((0.05, 1), (0.25, 2)):
            waits = (seconds_to_interrupt(partial(call, threads), delay) for _ in range(4))
            assert any(wait < DEADLINE_SECONDS for wait in waits), f"{delay} s after the begin"


def paired_call(tables: int = 4, users: int = 1_000_000, **options: Any) -> Callable[[int], object]:
    """Return a call that sums over every pair of systems, with weights."""
    generator = np.random.default_rng(7)
    arguments: dict[str, Any] = {
        "tables": [generator.random((2, users)) for _ in range(tables)],
        "values": [_core.PairedValue([0, 1], -1, False, False, True), _core.PairedValue([0], 0, True, True, False)],
        "pairs": list(itertools.combinations(range(tables), 2)),
        "weights": generator.random(users),
        "groups": None,
        "group_count": 1,
        "clusters": None,
        "cluster_count": 1,
    } | options
    return lambda threads: _core.paired_sums(**arguments, num_threads=threads, isa="", progress=None)


PAIRED: dict[str, Callable[[], Callable[[int], object]]] = {
    "many users": paired_call,
    "many systems": lambda: paired_call(30, 30_000),
    "clusters": lambda: paired_call(
        clusters=np.random.default_rng(7).integers(0, 300_000, 1_000_000), cluster_count=300_000
    ),
    "many groups": lambda: paired_call(
        users=100_000, groups=np.random.default_rng(7).integers(0, 20_000, 100_000), group_count=20_000
    ),
}


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize("name", PAIRED)
def test_f25_an_interrupt_ends_the_summing_of_pairs(name: str, alarm_handler: Callable[[Any], None]) -> None:
    """Of several tries the best, for a machine that is busy with something else."""
    alarm_handler(signal.default_int_handler)
    call = PAIRED[name]()
    with no_garbage_collection():
        for delay, threads in ((0.02, 1), (0.15, 1), (0.1, 2)):
            waits = (seconds_to_interrupt(partial(call, threads), delay) for _ in range(4))
            assert any(wait < DEADLINE_SECONDS for wait in waits), f"{delay} s after the begin"


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize(("columns", "units"), [(1, 1_000_000), (100, 100_000), (10_000, 100)])
@pytest.mark.parametrize("resample", [_core.sign_flip_sums, _core.resample_sums])
def test_f25_an_interrupt_ends_the_summing_of_resamples(
    columns: int, units: int, resample: Callable[..., object], alarm_handler: Callable[[Any], None]
) -> None:
    """Of several tries the best, for a machine that is busy with something else."""
    alarm_handler(signal.default_int_handler)
    numbers = [np.random.default_rng(7).random(units)] * columns
    arguments = (numbers, [40] * columns, np.arange(units, dtype=np.uint64), np.arange(units), 7, 0, 9_999)
    with no_garbage_collection():
        for delay, threads in ((0.02, 1), (0.15, 1), (0.1, 2)):
            call = partial(resample, *arguments, threads, "", None)
            waits = (seconds_to_interrupt(call, delay) for _ in range(4))
            assert any(wait < DEADLINE_SECONDS for wait in waits), f"{delay} s after the begin"


@cache
def reports_of_two(users: int) -> dict[str, exactk.Report]:
    """Return the reports of two systems, with a hit at a random rank of each list."""
    truth, generator = uniform_lists(users, 20).truth, np.random.default_rng(7)
    return {
        name: exactk.evaluate(truth, np.arange(20) + generator.integers(0, 10, (users, 1)), FEW, per_user=True)
        for name in ("one", "other")
    }


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize(
    "how",
    [{"test": "permutation", "adjust": "max_t", "permutations": 99_999}, {"interval": "bca", "resamples": 99_999}],
    ids=["flips", "bootstrap"],
)
@pytest.mark.parametrize("clustered", [False, True], ids=["users", "clusters"])
def test_f25_an_interrupt_ends_the_resampling_of_reports(
    how: dict[str, Any], clustered: bool, alarm_handler: Callable[[Any], None]
) -> None:
    """Of several tries the best, for a machine that is busy with something else."""
    alarm_handler(signal.default_int_handler)
    reports = reports_of_two(200_000)
    clusters = np.arange(200_000) // 2 if clustered else None

    def call() -> exactk.Differences:
        return exactk.compare_reports(reports, clusters=clusters, num_threads=1, **how).differences

    assert exactk.compare_reports(reports_of_two(100), **how).differences  # imports SciPy
    with no_garbage_collection():
        for delay in (0.02, 0.1, 0.3):
            waits = (seconds_to_interrupt(call, delay) for _ in range(4))
            assert any(wait < DEADLINE_SECONDS for wait in waits), f"{delay} s after the begin"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt, though it is ignored in a process that runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_f25_ctrl_c_leaves_no_partial_result_and_the_next_call_works() -> None:
    evaluation = long_evaluation(0.5)
    expected = evaluation.run()
    reports = []

    def evaluate_until_interrupted() -> None:
        while True:  # on a busy machine the timer may be later than the first call's end
            reports.append(evaluation.run(num_threads=2, per_user=True))

    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        evaluate_until_interrupted()
    timer.join()
    assert all(report.state == expected.state for report in reports)  # those before it
    assert evaluation.run(num_threads=2) == expected


def test_f26_a_handler_runs_during_the_call(alarm_handler: Callable[[Any], None]) -> None:
    """Signals that come while no handler runs are one: several runs in one call mean that it let them run."""
    evaluation = long_evaluation(0.5)
    expected = evaluation.run()
    runs: list[float] = []
    alarm_handler(lambda *_: runs.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    report = evaluation.run(num_threads=1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(runs) >= 3
    assert report == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_f26_what_a_handler_raises_ends_the_call(threads: int, alarm_handler: Callable[[Any], None]) -> None:
    class OutOfTime(Exception):  # noqa: N818 - as a user may call it
        pass

    def handler(*_: object) -> None:
        raise OutOfTime

    evaluation = long_evaluation(0.5)
    expected = evaluation.run()
    alarm_handler(handler)
    reports = []
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    with pytest.raises(OutOfTime):
        reports.append(evaluation.run(num_threads=threads))
    assert not reports
    assert evaluation.run() == expected
