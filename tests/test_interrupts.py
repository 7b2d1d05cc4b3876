"""Signals during a call: Ctrl-C ends it soon, whatever its size; other handlers run, and may end it too."""

from __future__ import annotations

import gc
import itertools
import math
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import exactk
from children import assert_ratio, raising, run_child
from exactk import _core
from jobs import growing_evaluations, uniform_lists
from strategies import Evaluation, latin

FEW = ["precision@10", "ndcg@10"]
Call = Callable[[int], object]  # takes the number of threads


def random_numbers(*shape: int, dtype: type = np.float32) -> Any:
    return np.random.default_rng(7).random(shape, dtype)


def shuffled_ids(count: int) -> Any:
    """Return ids that no table of a range can hold."""
    return np.random.default_rng(7).permutation(count) * (2**62 // count)


def call_of(evaluation: Evaluation) -> Call:
    return lambda threads: evaluation.run(num_threads=threads)


def one_long_list(ids: int) -> Call:
    """Return a list of which a tenth is relevant."""
    items = shuffled_ids(ids)
    truth = exactk.Truth([0, ids // 8], items[::8].copy())
    return call_of(Evaluation(truth, exactk.Rankings([0, ids], items), FEW))


def one_long_truth(ids: int) -> Call:
    """Return a graded truth, whose grades are sorted for the ideal ranking, and a short list."""
    truth = exactk.Truth([0, ids], np.arange(ids), random_numbers(ids))
    return call_of(Evaluation(truth, exactk.Rankings([0, 3], [1, 2, 3]), FEW))


def one_long_sparse_row(ids: int) -> Call:
    """Return sparse scores whose ids break many ties, and of which an eighth is excluded."""
    items = shuffled_ids(ids)
    truth, exclude = (exactk.Truth([0, ids // 8], items[begin::8].copy()) for begin in (0, 1))
    scores = exactk.SparseScores([0, ids], items, np.arange(ids) % 7)
    return call_of(Evaluation(truth, scores, [*FEW, "average_precision"], {"exclude": exclude}))


def many_groups(users: int) -> Call:
    """Return as many groups as there are users, with sums of their own."""
    job = uniform_lists(users, 5, FEW)
    options = {"groups": np.arange(users), "weights": np.ones(users)}
    return call_of(Evaluation(job.truth, job.predictions, FEW, options))


def late_fault(users: int) -> Call:
    """Return lists of which the last repeats an item: all are read a second time to say which."""
    job = uniform_lists(users, 20)
    items = np.array(job.predictions.items)
    items[-1] = items[-2]
    return call_of(Evaluation(job.truth, exactk.Rankings(job.predictions.indptr, items), job.metrics))


LISTS: dict[str, Callable[[], Call]] = {
    "many lists": lambda: call_of(uniform_lists(300_000, 20)),
    "a long list": lambda: one_long_list(2**21),
    "a long truth": lambda: one_long_truth(2**22),
    "a long row of sparse scores": lambda: one_long_sparse_row(2**20),
    "many groups": lambda: many_groups(60_000),
    "a fault at the end": lambda: late_fault(100_000),
}


def topk_of_row(row: Any, k: int) -> Call:
    """Return a call on the row once for each thread."""
    return lambda threads: exactk.topk(np.broadcast_to(row, (threads, row.size)), k, num_threads=threads)


# All that is touched is what a call allocates.
SCORES_WITHOUT_MEMORY = np.broadcast_to(np.float32(0.5), 2**29)


def all_ranks_of_one_score(threads: int) -> object:
    scores = np.broadcast_to(SCORES_WITHOUT_MEMORY, (threads, 2**29))
    return exactk.evaluate([[7, 2**29 - 1]] * threads, scores, "recall", num_threads=threads)


ROWS: dict[str, Callable[[], Call]] = {
    "topk of one score": lambda: topk_of_row(SCORES_WITHOUT_MEMORY, 20),
    "all ranks of one score": lambda: all_ranks_of_one_score,
    "topk of millions": lambda: topk_of_row(random_numbers(2**24), 2**22),
}


def constant_vectors(rows: int, width: int) -> Any:
    """Return vectors that are hard to tell apart, and take no memory but for a row."""
    return np.broadcast_to(random_numbers(width), (rows, width))


def vectors_with_a_late_fault() -> Call:
    """Return vectors whose last number is NaN: all are read a second time to say which."""
    vectors = np.ones((2**22, 32), np.float16)
    vectors[-1, -1] = np.nan
    return topk_of_vectors(1, vectors, vectors[-2:])


def evaluation_of_vectors(metric: str, relevant: int, *arguments: Any) -> Call:
    model = exactk.Embeddings(*arguments)
    items, users = len(model.item_vectors), len(model)
    truth = exactk.Truth(np.arange(users + 1) * relevant, np.tile(np.arange(items)[-relevant:], users))
    return lambda threads: exactk.evaluate(truth, model, metric, num_threads=threads)


def topk_of_vectors(k: int, *arguments: Any) -> Call:
    return lambda threads: exactk.topk(exactk.Embeddings(*arguments), k, num_threads=threads)


def neighbors_of_vectors() -> Call:
    vectors = random_numbers(20_000, 32)
    return lambda threads: exactk.neighbors(vectors, 30, num_threads=threads)


WIDEST = (constant_vectors(2, 65_536), constant_vectors(6000, 65_536))
VECTORS: dict[str, Callable[[], Call]] = {
    "many users": lambda: evaluation_of_vectors("ndcg@20", 2, random_numbers(10_000, 64), random_numbers(20_000, 64)),
    "wide": lambda: evaluation_of_vectors("ndcg@20", 2, *map(random_numbers, (40, 2000), (20_000, 20_000)), "cosine"),
    "the widest": lambda: topk_of_vectors(2000, *WIDEST, "euclidean"),
    "all ranks of the widest": lambda: evaluation_of_vectors("recall", 6000, *WIDEST),
    "all ranks": lambda: evaluation_of_vectors("auc", 1000, random_numbers(20, 64), random_numbers(200_000, 64)),
    "to be checked": lambda: topk_of_vectors(1, constant_vectors(2, 8), constant_vectors(50_000_000, 8)),
    "a fault at the end": vectors_with_a_late_fault,
    "neighbours": neighbors_of_vectors,
}


def paired_sums(tables: int = 4, users: int = 500_000, **options: Any) -> Call:
    """Return a call that sums over every pair of systems, with weights."""
    values = [_core.PairedValue([0, 1], -1, False, False, True), _core.PairedValue([0], 0, True, True, False)]
    numbers, weights = random_numbers(2, users, dtype=np.float64), random_numbers(users, dtype=np.float64)
    pairs = list(itertools.combinations(range(tables), 2))
    return lambda threads: _core.paired_sums(
        tables=[numbers] * tables, values=values, pairs=pairs, weights=weights, **options, threads=threads
    )


def drawn_codes(count: int, size: int) -> Any:
    return np.random.default_rng(7).integers(0, count, size)


PAIRS: dict[str, Callable[[], Call]] = {
    "many users": paired_sums,
    "many systems": lambda: paired_sums(30, 30_000),
    "clusters": lambda: paired_sums(clusters=drawn_codes(100_000, 500_000), cluster_count=100_000),
    "many groups": lambda: paired_sums(users=50_000, groups=drawn_codes(5000, 50_000), group_count=5000),
}


def resampled_sums(resample: Callable[..., object], columns: int, units: int) -> Call:
    numbers = [random_numbers(units, dtype=np.float64)] * columns
    given = {"columns": numbers, "scales": [38] * columns, "seed": 7, "count": 9_999}
    given |= {"keys": np.arange(units, dtype=np.uint64), "units": np.arange(units)}
    return lambda threads: resample(**given, threads=threads)


def resampled_reports(users: int, clusters: Any, **how: Any) -> Call:
    """Return the comparison of two systems, with a hit at a random rank of each list."""
    truth, generator = uniform_lists(users, 20).truth, np.random.default_rng(7)
    reports = {
        name: exactk.evaluate(truth, np.arange(20) + generator.integers(0, 10, (users, 1)), FEW, per_user=True)
        for name in ("one", "other")
    }
    return lambda threads: exactk.compare_reports(reports, clusters=clusters, num_threads=threads, **how).differences


FLIPS: dict[str, Any] = {"test": "permutation", "adjust": "max_t", "permutations": 99_999}
BOOTSTRAP: dict[str, Any] = {"interval": "bca", "resamples": 99_999}
RESAMPLES: dict[str, Callable[[], Call]] = {
    **{
        f"{resample.__name__} of {columns} columns": partial(resampled_sums, resample, columns, units)
        for resample in (_core.sign_flip_sums, _core.resample_sums)
        for columns, units in ((1, 1_000_000), (100, 100_000), (10_000, 100))
    },
    "flips": lambda: resampled_reports(200_000, None, **FLIPS),
    "flips of clusters": lambda: resampled_reports(200_000, np.arange(200_000) // 2, **FLIPS),
    "bootstrap": lambda: resampled_reports(200_000, None, **BOOTSTRAP),
    "bootstrap of clusters": lambda: resampled_reports(200_000, np.arange(200_000) // 2, **BOOTSTRAP),
}


def distinct_ids(users: int, length: int) -> Any:
    """Return lists of distinct items in an order of memory that the core does not read."""
    return np.asfortranarray(np.arange(length) * 1000 + np.arange(users)[:, None] % 1000)


def copied_lists(call: Callable[..., object]) -> Call:
    truth, lists = distinct_ids(1_000_000, 5), distinct_ids(1_000_000, 40)
    return lambda threads: call(truth, lists, threads)


def copied_scores(call: Callable[..., object], users: int = 6000) -> Call:
    """Return a call with scores of another byte order, which take no memory but for a row."""
    truth = exactk.Truth(np.arange(users + 1), np.arange(users))
    scores = np.broadcast_to(random_numbers(20_000).astype(">f4"), (users, 20_000))
    return lambda threads: call(truth, scores, threads)


def copied_vectors(call: Callable[..., object]) -> Call:
    vectors = np.asfortranarray(random_numbers(1_000_000, 64))
    return lambda threads: call(vectors, threads)


def copied_sparse(form: str) -> Call:
    matrix = sparse.random(100_000, 1000, 0.1, form, np.float32, np.random.default_rng(7))
    return lambda _: exactk.as_predictions(matrix)


def update(truth: Any, predictions: Any, threads: int) -> None:
    exactk.Evaluator(FEW, num_threads=threads).update(truth, predictions)


def compare(truth: Any, predictions: Any, threads: int) -> object:
    return exactk.compare(truth, {"one": predictions, "other": predictions[::-1]}, FEW, num_threads=threads)


def evaluate(truth: Any, predictions: Any, threads: int) -> object:
    return exactk.evaluate(truth, predictions, FEW, num_threads=threads)


# Inputs that are copied in Python: strided, of another byte order, of another type, or grouped anew.
COPIES: dict[str, Callable[[], Call]] = {
    "evaluate lists": lambda: copied_lists(evaluate),
    "compare lists": lambda: copied_lists(compare),
    "judge lists": lambda: copied_lists(
        lambda truth, lists, threads: exactk.judge(truth, lists, 10, num_threads=threads)
    ),
    "update by lists": lambda: copied_lists(update),
    "agreement": lambda: copied_lists(
        lambda _, lists, threads: exactk.agreement(lists[:, :20], lists[:, 20:], "overlap@10", num_threads=threads)
    ),
    "lists of int16": lambda: partial(
        evaluate, *(distinct_ids(n, k).astype(np.int16) for n, k in ((1_000_000, 5), (1_000_000, 30)))
    ),
    "evaluate scores": lambda: copied_scores(evaluate),
    "topk": lambda: copied_scores(lambda _, scores, threads: exactk.topk(scores, 10, num_threads=threads)),
    "mask of exclusions": lambda: copied_scores(
        lambda truth, scores, threads: exactk.evaluate(truth, scores, FEW, exclude=scores < 0.01, num_threads=threads)
    ),
    "dense grades": lambda: copied_scores(lambda _, grades, __: exactk.Truth.from_dense(grades), 2000),
    "topk of vectors": lambda: copied_vectors(
        lambda vectors, threads: exactk.topk(exactk.Embeddings(vectors[:9], vectors), 10, num_threads=threads)
    ),
    "evaluate vectors": lambda: copied_vectors(
        lambda vectors, threads: evaluate([[5]] * 9, exactk.Embeddings(vectors[:9], vectors), threads)
    ),
    "neighbors": lambda: copied_vectors(
        lambda vectors, threads: exactk.neighbors(vectors[:20_000], 10, num_threads=threads)
    ),
    "CSC": lambda: copied_sparse("csc"),
    "COO": lambda: copied_sparse("coo"),
}
FAMILIES = {"lists": LISTS, "rows": ROWS, "vectors": VECTORS, "pairs": PAIRS, "resamples": RESAMPLES, "copies": COPIES}
MOST_SECONDS = 0.5  # of CPU time that are looked at of a call, which may take hours


def seconds() -> float:
    """Return this process's CPU time outside the kernel, which may take ten times as long for memory that is touched first."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def deadline() -> float:
    """Return the time of Python's work for about a tenth of a second, on this machine and now."""
    begin = seconds()
    sum(map(abs, range(6_000_000)))
    return seconds() - begin


def handler_times(call: Callable[[], object], interrupt_after: float) -> tuple[list[float], bool]:
    """Call, with a signal after every 2 ms; return the times of begin, handlers, and end, and whether an interrupt ended it.

    The first handler after so much time raises KeyboardInterrupt.
    """
    times, is_interrupted = [seconds()], False
    interrupts = [KeyboardInterrupt]

    def handle(*_: object) -> None:
        times.append(seconds())
        if interrupts and times[-1] - times[0] > interrupt_after:
            raise interrupts.pop()

    signal.signal(signal.SIGPROF, handle)
    signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
    try:
        with suppress(exactk.InputError):
            call()
        interrupts.clear()  # the call has ended
    except KeyboardInterrupt:
        is_interrupted = True
    signal.setitimer(signal.ITIMER_PROF, 0)
    return [*times, seconds()], is_interrupted


def longest_wait(call: Callable[[], object], threads: int) -> float:
    """Return how long a signal waits for its handler at most, and an interrupt for the end, as a part of the deadline.

    Infinite if the interrupt does not end the call.
    """
    whole, _ = handler_times(call, MOST_SECONDS)
    early, is_interrupted = handler_times(call, (whole[-1] - whole[0]) / 3)
    assert len(whole) > 4, "the call is too short to say anything"
    if not is_interrupted:
        return math.inf
    return max(float(np.diff(times).max()) for times in (whole, early)) / threads / deadline()


def interrupt_calls(family: str) -> None:
    gc.disable()  # what a handler raises within the callback of a collection is lost
    for threads, (name, make) in latin([1, 2], list(FAMILIES[family].items()), 0):
        call = partial(make(), threads)
        assert_ratio(f"{name}, {threads} threads", partial(longest_wait, call, threads), 1.0)


@pytest.mark.native
@pytest.mark.deadline
@pytest.mark.parametrize("family", FAMILIES)
def test_f25_an_interrupt_ends_a_call_within_its_deadline(family: str) -> None:
    """Wherever in the call the signal comes."""
    run_child(interrupt_calls, family)


def ctrl_c_before_the_end(threads: int) -> None:
    """Interrupt an evaluation that reports that it is not at its end; those that end before they report are whole."""

    def interrupt(done: int, total: int | None) -> None:
        if done != total:
            signal.raise_signal(signal.SIGINT)

    for evaluation in growing_evaluations():
        expected, reports = evaluation.run(per_user=True), []
        with suppress(KeyboardInterrupt):
            reports.append(evaluation.run(num_threads=threads, per_user=True, progress=interrupt))
        assert evaluation.run(num_threads=threads, per_user=True) == expected
        if not reports:
            return
        assert reports == [expected]
    raise AssertionError("no call was interrupted")


@pytest.mark.parametrize("threads", [1, 2])
def test_f25_ctrl_c_leaves_no_partial_result_and_the_next_call_works(threads: int) -> None:
    run_child(ctrl_c_before_the_end, threads)


class OutOfTime(Exception):  # noqa: N818 - as a user may call it
    pass


def topk_of_core(users: int, threads: int, progress: Callable[..., object] | None = None) -> Any:
    """Call the core, which reports to nobody in Python."""
    scores = _core.Scores(np.broadcast_to(random_numbers(4000), (users, 4000)), None, None, "x")
    return _core.topk(scores=scores, k=3, threads=threads, progress=progress)[0]


def signals_of_a_call(threads: int) -> None:
    """Let each report of progress send a signal that only the core can handle: of those that wait, one is kept."""
    send, runs, users = raising(signal.SIGUSR1), [], 10_000
    signal.signal(signal.SIGUSR1, lambda *_: runs.append(users))
    while runs.count(users) < 3:
        users *= 2
        assert users < 2**26, "handlers run after the call, or not at all"
        result = topk_of_core(users, threads, send)
    assert np.array_equal(result, topk_of_core(users, threads))

    def fail(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGUSR1, fail)
    results: list[Any] = []
    with pytest.raises(OutOfTime):
        results.append(topk_of_core(2 * users, threads, send))
    assert not results
    assert np.array_equal(result, topk_of_core(users, threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_f26_handlers_run_during_the_call_and_what_they_raise_ends_it(threads: int) -> None:
    run_child(signals_of_a_call, threads)
