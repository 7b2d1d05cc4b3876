"""Interpreters that end while a daemon thread repeats a call of the core: a fork for each call."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable
from functools import partial

import numpy as np

import exactk
from exactk import _core
from rankings import rankings_of

USERS = 3000
LISTS = [[user % 50] for user in range(USERS)]
TRUTH = exactk.as_truth(LISTS)
RANKINGS = rankings_of(LISTS)
SCORES = np.random.default_rng(1).random((USERS, 200))
CODES = np.random.default_rng(1).integers(0, USERS, 200_000).astype(np.uint32)
RUN = b"".join(b"q%d Q0 d%d 1 %d t\n" % (query, rank, 99 - rank) for query in range(9) for rank in range(99))


def encode(integers: bool) -> None:
    vocabulary = _core.Vocabulary(integers)
    if integers:
        vocabulary.encode_integers(CODES.astype(np.int64) * 7919, 2, "keys")
    else:
        vocabulary.encode_packed(np.arange(0, 4 * len(CODES) + 1, 4), CODES.view(np.uint8), 2, "keys")
    vocabulary.positions_in_key_order(len(vocabulary))


def read_trec() -> None:
    parts = iter([*(RUN[begin : begin + 50] for begin in range(0, len(RUN), 50)), b""])
    _core.read_trec("run", lambda: next(parts))


def refuse() -> None:
    with contextlib.suppress(exactk.InputError):
        exactk.evaluate(TRUTH, [[-1]] * USERS, "ndcg")


def refuse_objects() -> None:
    class Item:
        def __repr__(self) -> str:
            return "".join(map(str, range(50)))

    with contextlib.suppress(exactk.InputTypeError):
        exactk.evaluate([[1]], [[1, Item()]], "ndcg")


def refuse_slowly() -> None:
    """Make the exception in Python code that is still running when Python ends."""

    def initialize(*_: object, **__: object) -> None:
        sum(range(10_000_000))

    exactk.InputTypeError.__init__ = initialize  # type: ignore[method-assign]
    with contextlib.suppress(exactk.InputTypeError):
        _core.integer_rows([[object()]], None, "truth", "grades")


def show_progress(*_: object) -> None:
    sum(itertools.repeat(1, 1000))


class Chunks(list[int]):
    """Rows that Python code iterates over."""

    def __iter__(self):  # type: ignore[no-untyped-def]  # noqa: ANN204 - of integers
        yield from map(int, range(9))


CALLS: dict[str, Callable[[], object]] = {
    "evaluate_scores": lambda: exactk.evaluate(TRUTH, SCORES, ["ndcg@10"], num_threads=2),
    "evaluate_lists": lambda: exactk.evaluate(TRUTH, RANKINGS, ["ndcg", "mrr"], num_threads=2),
    "evaluate_embeddings": lambda: exactk.evaluate(TRUTH, exactk.Embeddings(SCORES, SCORES), "mrr", num_threads=2),
    "fuse": lambda: exactk.fuse({"a": SCORES, "b": SCORES}, depth=10, num_threads=2),
    "topk": lambda: exactk.topk(SCORES, 10, num_threads=2),
    "neighbors": lambda: exactk.neighbors(SCORES[:500], 10, num_threads=2),
    "progress": lambda: exactk.evaluate(TRUTH, SCORES, "mrr", progress=show_progress),
    "group_by_user": lambda: _core.group_by_user(CODES, USERS, [CODES], 2, "users"),
    "encode_integers": partial(encode, True),
    "encode_strings": partial(encode, False),
    "lists_of_objects": lambda: exactk.as_truth([[f"item {user}", "x"] for user in range(2000)]),
    "iterators": lambda: _core.integer_rows([Chunks()] * 200, None, "truth", "grades"),
    "read_trec": read_trec,
    "refuse": refuse,
    "refuse_objects": refuse_objects,
    "refuse_slowly": refuse_slowly,
}


def end_during(call: Callable[[], object], number: int) -> None:
    """Start a daemon thread that repeats the call, and return when it has begun it so many times."""
    begins = threading.Semaphore(0)

    def repeat() -> None:
        while True:
            begins.release()
            call()

    threading.Thread(target=repeat, daemon=True).start()
    for _ in range(number):
        begins.acquire()


def main(number: int) -> None:
    """Print how the interpreter of each fork has ended."""
    for name, call in CALLS.items():
        child = os.fork()
        if child == 0:
            end_during(call, number)
            return
        sys.stdout.write(f"{name}: {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
