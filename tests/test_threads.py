"""How many threads a call uses, by default and on request; and child processes, before and after use."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loky import get_reusable_executor

import exactk
from children import call_after_signal, run_child
from exactk import _core
from exactk._engine.updates import UpdateSums
from exactk._runtime import threads as threads_module
from exactk._runtime.threads import MAX_THREADS, _cgroup_quota, default_threads
from jobs import growing_evaluations
from strategies import at_night


@pytest.fixture(autouse=True)
def _no_limits_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the environment may say of threads, and a quota that was read before."""
    for name in ("EXACTK_NUM_THREADS", "PYTHON_CPU_COUNT", "LOKY_MAX_CPU_COUNT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads_module, "_last_quota", [])


def evaluate_once(_: int = 0) -> float:
    """Return 0.5, by two threads."""
    return exactk.precision_at_k([[1], [2]] * 5000, [[1, 2], [3, 2]] * 5000, 2, num_threads=2)


def multiply_once(_: int = 0) -> float:
    """Return 0.5, by two threads and products of vectors."""
    users, items = np.ones((600, 1), np.float32), np.arange(-500.0, 500)[:, np.newaxis]
    return exactk.precision_at_k([[999]] * 600, exactk.Embeddings(users, items), 2, num_threads=2)


CALLS = {"lists": evaluate_once, "embeddings": multiply_once}
USES = [("before", "lists"), ("after", "lists"), ("after", "embeddings")]
BY_DAY = [("fork", "after", "lists"), ("spawn", "before", "lists"), ("forkserver", "after", "embeddings")]


def evaluate_in_workers(method: str, when: str, what: str) -> None:
    """Evaluate in worker processes, before or after their parent has."""
    call = CALLS[what]
    if when == "after":
        assert call() == 0.5
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        assert pool.map(call, range(2)) == [0.5] * 2
    with ProcessPoolExecutor(1, context) as executor:
        assert list(executor.map(call, range(2))) == [0.5] * 2
    assert call() == 0.5


CHILDREN = [(method, *use) for method in ("fork", "spawn", "forkserver") for use in USES]


@pytest.mark.parametrize(
    ("method", "when", "what"), [pytest.param(*one, marks=() if one in BY_DAY else at_night) for one in CHILDREN]
)
def test_f27_a_child_works_before_and_after_use_in_the_parent(method: str, when: str, what: str) -> None:
    run_child(evaluate_in_workers, method, when, what)


def returns_a_half(call: Callable[[], float]) -> bool:
    return call() == 0.5


def fork_during_calls() -> None:
    """Fork while other threads evaluate: the child has none of those threads, and needs none."""
    stop = threading.Event()
    for evaluate in CALLS.values():
        under_way = threading.Barrier(3)

        def call(evaluate: Callable[[], float] = evaluate, under_way: threading.Barrier = under_way) -> None:
            under_way.wait()
            while not stop.is_set():
                evaluate()

        callers = [threading.Thread(target=call, daemon=True) for _ in range(2)]
        for caller in callers:
            caller.start()
        under_way.wait()
        for _ in range(20):
            assert exit_code_of_child(partial(returns_a_half, evaluate)) == 0
        stop.set()
        for caller in callers:
            caller.join()
        stop.clear()


@pytest.mark.native  # what watches the process from inside may not survive this
def test_f27_a_child_works_that_is_forked_during_a_call() -> None:
    run_child(fork_during_calls)


def waiting(call: Callable[..., Any], begun: threading.Event, may_end: threading.Event) -> Callable[..., Any]:
    def wait(*arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            may_end.wait()
        return call(*arguments)

    return wait


def exit_code_of_child(call: Callable[[], bool]) -> int:
    """Fork, and return 0 if the call is true in the child, another code if it is false, raises or never ends."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        with suppress(BaseException):
            os._exit(0 if call() else 1)
        os._exit(2)
    return os.waitpid(child, 0)[1]


def fork_during(owner: Any, name: str, call: Callable[[], Any], in_child: Callable[[], bool]) -> None:
    """Fork while another thread is in a function that the call reaches; the child has no such thread."""
    begun, may_end, original = threading.Event(), threading.Event(), getattr(owner, name)
    setattr(owner, name, waiting(original, begun, may_end))
    caller = threading.Thread(target=call)
    caller.start()
    begun.wait()
    code = exit_code_of_child(in_child)
    may_end.set()
    caller.join()
    setattr(owner, name, original)
    assert code == 0


def fork_during_an_import(name: str) -> None:
    """Fork while another thread, in its first call, has the locks of modules, in the midst of one of them."""
    begun, may_end = threading.Event(), threading.Event()

    def find_spec(module: str, *arguments: Any) -> Any:
        if module != name or threading.current_thread() is threading.main_thread():
            return None
        spec: Any = next(filter(None, (finder.find_spec(module, *arguments) for finder in sys.meta_path[1:])))
        load = spec.loader.exec_module

        def wait_and_load(*loaded: Any) -> None:  # a finder could not wait: a fork waits for finders
            begun.set()
            may_end.wait()
            load(*loaded)

        spec.loader.exec_module = wait_and_load
        return spec

    sys.meta_path.insert(0, SimpleNamespace(find_spec=find_spec))
    call: Callable[[], object] = lambda: exactk.compare  # noqa: E731
    if not name.startswith("exactk."):
        call = exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "P@1").to_html
    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    begun.wait()
    assert exit_code_of_child(lambda: bool(call())) == 0
    may_end.set()
    caller.join()


@pytest.mark.native
@pytest.mark.parametrize("name", ["exactk._compare", "exactk._report.comparison_table", "jinja2", "markupsafe"])
def test_f94_a_child_forked_during_the_first_call_of_another_thread_never_hangs(name: str) -> None:
    run_child(fork_during_an_import, name)


def use_an_evaluator_after_a_fork() -> None:
    evaluator = exactk.Evaluator("mrr")
    evaluator.update({"u": [1]}, {"u": [1, 2]})

    def update() -> None:
        evaluator.update({"v": [2]}, {"v": [1, 2]})

    def reset() -> bool:
        evaluator.reset()
        return True

    def use() -> bool:
        other = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - our own
        update()
        evaluator.merge(exactk.Evaluator("mrr"))
        values = evaluator.compute()["mrr"], other.compute()["mrr"]
        evaluator.reset()
        return values == (0.75, 1.0)

    fork_during(UpdateSums, "plus", update, use)
    assert evaluator.compute()["mrr"] == 0.75
    fork_during(UpdateSums, "merged", partial(evaluator.merge, exactk.Evaluator("mrr")), reset)
    report = evaluator.compute()
    counts = vars(exactk.Report)["counts"]
    fork_during(counts, "func", lambda: report.counts, lambda: evaluator.compute().counts["users"] == 2)


def use_keys_after_a_fork() -> None:
    """Fork in another thread, while this one is in a call that adds keys; with ever more keys, until there is time for it."""
    vocabulary, outcomes = _core.Vocabulary(True), []

    def is_refused() -> bool:
        with pytest.raises(
            exactk.InputError, match=r"keys: expected keys that no thread was reading .* make the object"
        ):
            len(vocabulary)
        return True

    def handle(*_: object) -> None:
        try:
            len(vocabulary)
        except exactk.InputError:  # of a nested call
            with ThreadPoolExecutor(1) as pool:
                outcomes.append(pool.submit(exit_code_of_child, is_refused).result())

    signal.signal(signal.SIGUSR1, handle)
    for doublings in range(16, 25):
        numbers = np.random.default_rng(1).integers(0, 2**62, 1 << doublings)
        call_after_signal(signal.SIGUSR1, partial(vocabulary.encode_integers, numbers, 1, "keys"))
        if outcomes:
            break
    assert outcomes == [0]


@pytest.mark.native
@pytest.mark.parametrize("use", [use_an_evaluator_after_a_fork, use_keys_after_a_fork])
def test_f94_a_child_forked_during_a_call_of_another_thread_never_hangs(use: Callable[[], None]) -> None:
    run_child(use)


def evaluate_in_workers_of_joblib() -> None:
    """Evaluate in the worker processes of joblib, which tell each how many threads it may use."""
    assert evaluate_once() == 0.5
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    with get_reusable_executor(max_workers=1) as executor:
        assert list(executor.map(evaluate_once, range(2))) == [0.5] * 2
        assert executor.submit(default_threads).result() == 1


def test_f27_f28_workers_of_joblib_evaluate_with_the_threads_that_they_are_given() -> None:
    run_child(evaluate_in_workers_of_joblib)


def count_tasks() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def tasks_of_calls() -> None:
    """Count the threads of this process when an evaluation reports its progress, and after its end."""
    before = count_tasks()
    for threads in (1, 2, 5):
        seen: list[int] = []
        for evaluation in growing_evaluations():
            evaluation.run(num_threads=threads, progress=lambda *_, seen=seen: seen.append(count_tasks()))
            wait_for_tasks(before)
            if max(seen[:-1], default=0) >= before + threads - 1:  # the caller's is one of them
                break  # else those that ended before the caller got its turn were not seen
        assert max(seen) == before + threads - 1


def wait_for_tasks(count: int) -> None:
    """Wait until the system has cleared those away that have ended, for which it needs its turn."""
    for _ in range(10**6):
        if count_tasks() == count:
            return
        os.sched_yield()
    raise AssertionError("a thread outlives its call")


def test_f28_no_more_threads_than_requested() -> None:
    run_child(tasks_of_calls)


@pytest.mark.parametrize(("text", "threads"), [("1", 1), ("3", 3), (" 7 ", 7), ("1024", 1024), ("", None)])
def test_f28_the_environment_says_how_many(text: str, threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = default_threads() if threads is None else threads
    monkeypatch.setenv("EXACTK_NUM_THREADS", text)
    assert default_threads() == expected
    assert evaluate_once() == 0.5


@pytest.mark.parametrize("text", ["0", "-1", "1025", "2.0", "1_0", "two", "max", "9" * 5000, "\uff12", "\u00b2"])
def test_f28_rubbish_in_the_environment_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXACTK_NUM_THREADS", text)
    with pytest.raises(exactk.InputError, match="from 1 to 1024") as caught:
        exactk.precision_at_k([[1]], [[1]], 1)
    assert caught.value.argument == "EXACTK_NUM_THREADS"
    assert exactk.precision_at_k([[1]], [[1]], 1, num_threads=2) == 1  # it is not asked


@pytest.mark.parametrize("name", ["LOKY_MAX_CPU_COUNT", "PYTHON_CPU_COUNT"])
def test_f28_f29_limits_that_others_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = default_threads()
    for text, threads in (("1", 1), ("4096", usual), ("rubbish", usual), ("0", usual), ("default", usual)):
        monkeypatch.setenv(name, text)
        assert default_threads() == threads


def test_f29_affinity() -> None:
    allowed = os.sched_getaffinity(0)
    assert 1 <= default_threads() <= len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert default_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_f29_never_more_than_the_core_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "_affinity_threads", lambda: 5000)
    monkeypatch.setattr(threads_module, "_cgroup_quota", lambda *_: MAX_THREADS)
    assert default_threads() == MAX_THREADS == 1024


def fake_cgroup(folder: Path, cgroup: str, limits: dict[str, str]) -> tuple[Path, Path]:
    """Return the file that says where the process is, and the root of what it sees."""
    cgroup_file, root = folder / "cgroup", folder / "root"
    cgroup_file.write_text(cgroup, encoding="utf-8")
    root.mkdir()
    for name, text in limits.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")
    return cgroup_file, root


@pytest.mark.parametrize(
    ("limits", "quota"),
    [
        ({}, 1024), ({"a/b/cpu.max": "max 100000"}, 1024), ({"a/b/cpu.max": "150000 100000"}, 2),
        ({"a/b/cpu.max": "200000 100000"}, 2), ({"a/b/cpu.max": "200001 100000"}, 3),
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "cpu.max": "800000 100000"}, 3),
        ({"a/b/cpu.max": "800000 100000", "cpu.max": "150000 100000"}, 2),
        ({"a/b/cpu.max": "10000 100000"}, 1), ({"a/b/cpu.max": "99999999999 1000"}, 1024),
        ({"a/b/c/cpu.max": "100000 100000"}, 1024), ({"a/b/cpu.max": "rubbish"}, 1024), ({"a/b/cpu.max": ""}, 1024),
        ({"a/b/cpu.max": "100000 0"}, 1024), ({"a/b/cpu.max": "-100000 100000"}, 1024),
    ],
)  # fmt: skip
def test_f29_quota_of_a_cgroup_and_its_ancestors(tmp_path: Path, limits: dict[str, str], quota: int) -> None:
    assert _cgroup_quota(*map(str, fake_cgroup(tmp_path, "0::/a/b\n", limits))) == quota


VERSION_1 = "12:pids:/a\n4:cpu,cpuacct:/a/b\n2:cpuset:/elsewhere\n0::/c\n"


@pytest.mark.parametrize("mount", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize(
    ("limits", "quota"),
    [
        ({}, 1024),
        ({"a/b": ("-1", "100000")}, 1024),
        ({"a/b": ("150000", "100000")}, 2),
        ({"a/b": ("-1", "100000"), "a": ("250000", "100000"), "": ("900000", "100000")}, 3),
        ({"": ("150000", "50000")}, 3),  # a container that sees its path on the host
        ({"a/b": ("150000", "rubbish")}, 1024),
    ],
)
def test_f29_quota_of_version_1(tmp_path: Path, mount: str, limits: dict[str, tuple[str, str]], quota: int) -> None:
    files = {"cpu.max": "100000 100000"}  # version 2 does not have the controller, whatever lies there
    for folder, (share, period) in limits.items():
        files |= {f"{mount}/{folder}/cpu.cfs_quota_us": share, f"{mount}/{folder}/cpu.cfs_period_us": period}
    assert _cgroup_quota(*map(str, fake_cgroup(tmp_path, VERSION_1, files))) == quota


@pytest.mark.parametrize("cgroup", ["", "rubbish", "0::/../x\n", "\n::\n", "4:cpuacct:/\n"])
def test_f29_cgroups_that_say_nothing(tmp_path: Path, cgroup: str) -> None:
    assert _cgroup_quota(str(tmp_path / "none"), str(tmp_path)) == 1024
    assert _cgroup_quota(*map(str, fake_cgroup(tmp_path, cgroup, {"../x/cpu.max": "100000 100000"}))) == 1024


@pytest.mark.parametrize(
    ("environment", "affinity", "reads"),
    [({"EXACTK_NUM_THREADS": "3"}, 8, 0), ({"LOKY_MAX_CPU_COUNT": "1"}, 8, 0), ({}, 1, 0), ({}, 8, 4)],
)
def test_f29_no_more_files_are_read_than_needed(
    environment: dict[str, str], affinity: int, reads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the process's cgroup and one for each folder; none where nothing could lower the number."""
    cgroup_file, root = fake_cgroup(tmp_path, "0::/a/b\n", {"a/b/cpu.max": "max 100000"})
    read: list[str] = []

    def text(file: str) -> str:
        read.append(file)
        return Path(file).read_text(encoding="utf-8") if Path(file).exists() else ""

    monkeypatch.setattr(threads_module, "_read_text", text)
    monkeypatch.setattr(threads_module, "_affinity_threads", lambda: affinity)
    monkeypatch.setattr(threads_module, "_CGROUP_FILE", str(cgroup_file))
    monkeypatch.setattr(threads_module, "_CGROUP_ROOT", str(root))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    default_threads()
    assert len(read) == reads


def test_f29_a_quota_is_read_again_after_a_second_and_in_a_copy_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    now, process, quotas = 100.0, 7, iter([3, 5, 2])
    monkeypatch.setattr(threads_module, "_affinity_threads", lambda: 8)
    monkeypatch.setattr(threads_module, "_cgroup_quota", lambda *_: next(quotas))
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(os, "getpid", lambda: process)
    assert [default_threads(), default_threads()] == [3, 3]
    now += 0.99
    assert default_threads() == 3
    now += 0.01
    assert default_threads() == 5
    process = 8
    assert [default_threads(), default_threads()] == [2, 2]
