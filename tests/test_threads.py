"""The default number of threads, and calls that are interrupted or forked."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import metrik
from metrik._threads import _quota, default_threads


def test_default_is_at_most_the_affinity() -> None:
    assert 1 <= default_threads() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("limits", "quota"),
    [
        ({}, 1024),
        ({"a/b": "max 100000"}, 1024),
        ({"a/b": "150000 100000"}, 2),
        ({"a/b": "max 100000", "a": "300000 100000", "": "800000 100000"}, 3),
        ({"a/b": "10000 100000"}, 1),
        ({"a/b": "rubbish"}, 1024),
    ],
)
def test_quota_of_a_cgroup_and_its_ancestors(tmp_path: Path, limits: dict[str, str], quota: int) -> None:
    own = tmp_path / "cgroup"
    own.write_text("0::/a/b\n", encoding="utf-8")
    root = tmp_path / "root"
    for folder, limit in limits.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "cpu.max").write_text(limit + "\n", encoding="utf-8")
    assert _quota(own, root) == quota


def test_no_cgroup_is_no_quota(tmp_path: Path) -> None:
    assert _quota(tmp_path / "none", tmp_path) == 1024


def evaluate_once(_: int = 0) -> float:
    return metrik.precision_at_k([[1], [2]] * 500, [[1, 2], [3, 2]] * 500, 2, num_threads=2)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_child_works_after_use_in_the_parent(method: str) -> None:
    assert evaluate_once() == 0.5
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(evaluate_once).get(timeout=60) == 0.5


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt, though it is ignored in a process that runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.native
@pytest.mark.usefixtures("interruptible")
def test_interrupt_ends_a_long_call_and_the_next_one_works() -> None:
    users = 300_000
    lists = np.tile(np.arange(200, dtype=np.int32), (users, 1))
    truth = metrik.Truth(np.arange(users + 1), np.zeros(users, np.int64))
    metrics = [f"{name}@[1,5,10,20,50,100]" for name in ("precision", "ndcg", "average_precision")]
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        metrik.evaluate(truth, lists, metrics, num_threads=2)
    timer.join()
    assert evaluate_once() == 0.5
