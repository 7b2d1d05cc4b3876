"""Evaluations whose size is chosen: by the number of users, or by how long a call takes."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

import exactk
from strategies import WITHOUT_ITEMS, Evaluation, spellings

METRICS = [text for name in WITHOUT_ITEMS for text in spellings(name, [1, 5, 10, 20, 50, 100], whole=False)]


def uniform_lists(users: int, length: int, metrics: list[str] | None = None) -> Evaluation:
    """Return an evaluation of as many lists of one length, each with a hit in its middle."""
    items = np.tile(np.arange(length, dtype=np.int32), users)
    truth = exactk.Truth(np.arange(users + 1), np.full(users, length // 2))
    lists = exactk.Rankings(np.arange(users + 1) * length, items)
    return Evaluation(truth, lists, METRICS if metrics is None else metrics)


@cache
def long_evaluation(seconds: float) -> Evaluation:
    """Return an evaluation that one thread takes so long for, whatever the build and the machine."""
    users = 1000
    while True:
        evaluation = uniform_lists(users, 50)
        begin = time.monotonic()
        evaluation.run(num_threads=1)
        if time.monotonic() - begin > seconds or users > 4_000_000:
            return evaluation
        users *= 2
