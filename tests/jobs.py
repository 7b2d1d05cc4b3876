"""Evaluations whose size is chosen: by the number of users, or until an event comes during the call."""

from __future__ import annotations

from collections.abc import Iterator

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


def growing_evaluations() -> Iterator[Evaluation]:
    """Yield evaluations, each twice as long as the last: until one is long enough for an event during the call."""
    for doublings in range(12):
        yield uniform_lists(1000 << doublings, 50)
