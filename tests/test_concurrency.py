"""Arrays that change or go away while they are evaluated, and calls from several threads at once."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import exactk
from children import call_after_signal, run_child
from core_results import plain_result
from core_rules import core_rules, gains_of
from exactk import _core
from exactk._plan.metrics import evaluation_metrics
from jobs import METRICS, growing_evaluations, uniform_lists
from strategies import Evaluation, examples, parameter_of

HOSTILE_IDS = [-(2**63), -1, 0, 1, 7, 2**31, 2**32 + 7, 2**62, 2**63 - 1]
HOSTILE_NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 5e-324, 1.0, 2.0, 300.0, 1e308]


class Writer:
    """Writes what is hostile into one of some arrays, and what was in it before."""

    def __init__(self, arrays: list[np.ndarray[Any, Any]]) -> None:
        self.arrays = arrays
        self.sound = [array.copy() for array in arrays]
        self.random = np.random.default_rng(7)

    def write(self) -> None:
        array = self.arrays[self.random.integers(len(self.arrays))]
        positions = self.random.integers(0, len(array), self.random.choice([1, 3, len(array)]))
        array[positions] = self.random.choice(self._hostile(array.dtype), len(positions))

    def restore(self) -> None:
        for array, sound in zip(self.arrays, self.sound, strict=True):
            array[:] = sound

    def tarry(self) -> None:
        """Do nothing, for some turns of a loop: the moment in the call is drawn, not timed."""
        for _ in range(int(10 ** self.random.uniform(0, 4.5))):
            pass

    @staticmethod
    def _hostile(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                return np.array(HOSTILE_NUMBERS).astype(dtype)
        limits = np.iinfo(dtype)
        return np.array([value for value in HOSTILE_IDS if limits.min <= value <= limits.max], dtype)


def outcomes_beside_a_writer(arrays: list[np.ndarray[Any, Any]], call: Callable[[], object]) -> set[str]:
    """Return what becomes of calls while another thread writes into their arrays.

    It writes before a call, over and over again during it, or never: so every outcome comes, however the threads run.
    """
    calls, writer, outcomes = examples(600), Writer(arrays), set()
    meeting, has_ended = threading.Barrier(2), threading.Event()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # the other thread gets its turn as often as can be

    def write_beside_calls() -> None:
        for number in range(calls):
            has_ended.clear()
            if number % 4 == 0:
                writer.write()
            meeting.wait()
            while number % 4 > 1 and not has_ended.is_set():
                writer.tarry()
                writer.write()
                writer.tarry()
                writer.restore()
            meeting.wait()
            writer.restore()

    with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        task = pool.submit(write_beside_calls)
        try:
            for _ in range(calls):
                meeting.wait()
                try:
                    call()
                    outcomes.add("result")
                except exactk.InputError:
                    outcomes.add("refused")
                has_ended.set()
                meeting.wait()
        except BaseException:
            has_ended.set()
            meeting.abort()
            raise
        finally:
            sys.setswitchinterval(interval)
        task.result()
    return outcomes


@pytest.mark.parametrize("policy", ["raise", "first", "count"])
def test_f20_another_thread_writes_into_the_arrays(policy: str) -> None:
    """Whatever is read, and read again, is checked before it counts or is used as an index."""
    users = 2000
    indptr = np.arange(users + 1) * 4
    truth, lists, exclude = (np.tile(np.arange(4, dtype=np.int64) + first, users) for first in (0, 2, 9))
    grades, weights = np.ones(4 * users), np.ones(users)
    groups, lengths = np.zeros(users, np.int64), np.full(users, 4)
    fields = {"duplicate_items": policy, "duplicate_truth": policy}
    rules = core_rules(**fields, gain="table", min_grade=0.5, gain_table=[0.0, 1.0, 3.0])
    exp2 = core_rules(**fields, gain="exp2", undefined="nan", average="micro", min_grade=0.5)
    listed = core_rules(**fields, gain="table", min_grade=0.5, gain_table=[0.0, 1.0, 3.0], foreign_items="count")
    popularity, prices = np.array([9, 0, 5, 1]), np.array([0.5, 2.0, 0.0, 3.0])
    valued = core_rules(**fields, weight="values", min_grade=0.5)
    tallies = [_core.ItemTallyRequest(listed, [1, None], True)]
    values = [
        _core.PlannedValue(
            name,
            None if info.pairwise else 3,
            parameter_of(name),
            core_rules(**fields, min_grade=0.5, **gains_of(info)) if info.gains_to_one else rules,
        )
        for name, info in evaluation_metrics.items()
        if not info.reads_list
    ]
    values += [_core.PlannedValue("recall", 3, 0, valued)]
    values += [_core.PlannedValue(name, 3, parameter_of(name), listed) for name in ("novelty", "epc", "unexpectedness")]
    for distance in ("cosine", "euclidean", "hamming"):
        by_distance = core_rules(**fields, foreign_items="count", missing_features="skip", distance=distance)
        values.append(_core.PlannedValue("ild", 3, 0, by_distance))
    vectors, columns = np.ones(8), np.array([0, 1, 0, 1])
    values += [_core.PlannedValue(name, None, 0.5, exp2) for name in ("ndcg", "recall")]
    values += [_core.PlannedValue("given", 3, 0, listed), _core.PlannedValue("given_of_lists", 3, 1, exp2)]
    given = np.ones(4 * users)
    histories = _core.Histories(np.array([0, 2, 2, 3]), np.array([1, 3, 0], np.uint32))
    shared = [_core.Lists(items, indptr, None, None, "sound") for items in (truth, lists, exclude)]

    def call() -> None:
        fresh = [_core.Lists(items, indptr, lengths, None, "anew") for items in (truth, lists, exclude)]
        are_missing, indptr_of_tags = np.zeros(4, np.bool_), np.array([0, 2, 3, 3, 4])
        dense = _core.ItemFeatures(width=2, is_missing=are_missing, vectors=vectors)
        tags = _core.ItemFeatures(width=2, is_missing=are_missing, indptr=indptr_of_tags, columns=columns)
        for triple, features in ((shared, dense), (fresh, tags)):
            counts: dict[str, Any] = {"users": popularity, "interactions": popularity, "train_users": 9}
            _core.evaluate(
                truth=triple[0],
                grades=grades,
                predictions=triple[1],
                exclude=triple[2],
                items=_core.Items(ids=np.arange(4), **counts, values=prices, features=features),
                histories=histories,
                history_rows=np.arange(users) % 4 - 1,
                base=triple[1],
                weights=weights,
                groups=groups,
                values=values,
                item_tallies=tallies,
                given=given,
                tally_rules=rules,
                per_user=True,
                threads=2,
            )

    written = [truth, lists, exclude, grades, weights, groups, lengths, indptr]
    written += [popularity, prices, given, vectors, columns]
    assert outcomes_beside_a_writer(written, call) == {"result", "refused"}


def test_f20_another_thread_writes_into_what_the_api_views() -> None:
    job = uniform_lists(2000, 20)
    items, weights = np.array(job.predictions.items), np.ones(2000)
    lists = exactk.Rankings(job.predictions.indptr, items)
    assert np.shares_memory(lists.items, items)

    def call() -> None:
        exactk.evaluate(job.truth, lists, METRICS, weights=weights, per_user=True, num_threads=2)

    assert outcomes_beside_a_writer([items, weights], call) == {"result", "refused"}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8"])
@pytest.mark.parametrize("nan", ["raise", "last"])
def test_f20_another_thread_writes_into_scores(nan: Any, dtype: str) -> None:
    """Every answer names columns only, whatever was compared with what."""
    users, items, k = 200, 700, 20
    matrix = np.random.default_rng(3).integers(0, 90, (users, items)).astype(dtype)
    scores = exactk.Scores(matrix, min_score=1)
    assert np.shares_memory(scores.values, matrix)
    truth = exactk.as_truth([range(user % 100) for user in range(users)])
    exclude = exactk.as_exclusions([range(0, user, 2) for user in range(users)])
    convention = exactk.conventions["standard"].replace(nan=nan)
    expected = {"result", "refused"} if nan == "raise" and dtype != "i8" else {"result"}

    def call() -> None:
        exactk.evaluate(truth, scores, METRICS, convention=convention, exclude=exclude, num_threads=2)
        ids = exactk.topk(scores, k, exclude, nan=nan, num_threads=2).items
        assert ids.min() >= -1
        assert ids.max() < items

    assert outcomes_beside_a_writer([matrix.reshape(-1)], call) == expected


@pytest.mark.parametrize(
    ("similarity", "restriction"),
    [("dot", "none"), ("dot", "for all"), ("cosine", "for all"), ("euclidean", "for each")],
)
def test_f20_another_thread_writes_into_vectors(similarity: str, restriction: str) -> None:
    """Every answer names items only, whatever was multiplied by what."""
    users, items, width, k = 40, 700, 9, 20
    rng = np.random.default_rng(3)
    user_vectors, item_vectors = rng.normal(size=(users, width)).astype("f4"), rng.normal(size=(items, width))
    bias = rng.normal(size=items) if similarity == "dot" else None
    rows = {"none": 0, "for all": 1, "for each": users}[restriction]
    ids = np.tile(np.arange(0, items, 2), rows)
    candidates = _core.Lists(ids, np.arange(rows + 1) * (items // 2), None, None, "x") if rows else None
    model = _core.Embeddings(
        users=user_vectors, items=item_vectors, item_bias=bias, similarity=similarity, candidates=candidates
    )
    truth = exactk.as_truth([range(user) for user in range(users)]).core
    excluded = exactk.as_exclusions([range(0, user, 2) for user in range(users)])
    exclude = None if excluded is None else excluded.core
    rules = core_rules(min_grade=0.5)
    values = [_core.PlannedValue("ndcg", cutoff, 0, rules) for cutoff in (5, None)]

    def call() -> None:
        for planned in (values[:1], values):  # screened, and not
            lists: dict[str, Any] = {"truth": truth, "predictions": model, "exclude": exclude}
            _core.evaluate(**lists, values=planned, tally_rules=rules, per_user=True, threads=2)
        for ties in ("lowest_id", "highest_id"):
            positions, _ = _core.topk(scores=model, k=k, exclude=exclude, ties=ties, threads=2)
            assert -1 <= positions.min() <= positions.max() < items

    arrays = [user_vectors.reshape(-1), item_vectors.reshape(-1), *([ids] if rows else [])]
    arrays += [] if bias is None else [bias]
    assert outcomes_beside_a_writer(arrays, call) == {"result", "refused"}


@pytest.mark.parametrize("resample", [_core.sign_flip_sums, _core.resample_sums])
def test_f20_another_thread_writes_into_what_is_resampled(resample: Callable[..., object]) -> None:
    """Units are an index. Numbers that change after they were checked may change the sums, and nothing else."""
    size = 2000
    columns = [np.random.default_rng(3).random(size) for _ in range(3)]
    keys, units = np.arange(size, dtype=np.uint64), np.arange(size)

    def call() -> None:
        resample(columns=columns, scales=[40] * 3, keys=keys, units=units, seed=7, count=1500, threads=2)

    assert outcomes_beside_a_writer([*columns, keys, units], call) == {"result", "refused"}


def test_f21_arrays_that_lose_every_other_reference_during_the_call() -> None:
    """The call holds what it reads. Under AddressSanitizer a use after the end would be seen."""
    for job in growing_evaluations():
        lists = exactk.Rankings(job.predictions.indptr.copy(), job.predictions.items.copy())
        truth = exactk.Truth(job.truth.indptr, job.truth.items.copy())
        held: dict[str, Any] = {"truth": truth, "predictions": lists, "metrics": METRICS}
        waste: list[Any] = []
        del truth, lists

        def drop(done: int, total: int | None, held: dict[str, Any] = held, waste: list[Any] = waste) -> None:
            if done != total:
                held.clear()
                gc.collect()
                waste.append(np.full(500_000, 3, np.int32))  # over what was freed, if it was

        report = exactk.evaluate(**held, num_threads=2, progress=drop)
        assert report == job.run(num_threads=2)
        if waste:
            return
    raise AssertionError("no call reported its progress")


def test_f21_the_core_itself_holds_the_items_of_its_lists() -> None:
    job, rules = uniform_lists(50_000, 50), core_rules(min_grade=0.5)
    values = [_core.PlannedValue("reciprocal_rank", None, 0, rules)]
    lists = _core.Lists(np.array(job.predictions.items), job.predictions.indptr, None, None, "x")
    waste = np.full(len(job.predictions.items), 3, np.int32)  # over what was freed, if it was
    found, expected = (
        plain_result(
            _core.evaluate(truth=job.truth.core, predictions=each, values=values, tally_rules=rules, threads=2)
        )
        for each in (lists, job.predictions.core)
    )
    assert found == expected
    assert waste[-1] == 3


def test_f21_the_core_itself_holds_its_scores_and_vectors() -> None:
    rng = np.random.default_rng(3)
    matrix, users, items, bias = (rng.random(shape) for shape in ((1000, 500), (300, 500), (900, 500), (900,)))
    chosen = np.arange(0, 900, 2)
    embeddings = exactk.Embeddings(users, items, candidates=chosen, item_bias=bias)
    expected = [exactk.topk(matrix, 5).items.tolist(), exactk.topk(embeddings, 5).items.tolist()]
    lists = _core.Lists(chosen.copy(), np.array([0, 450]), None, None, "x")
    vectors: dict[str, Any] = {"users": users.copy(), "items": items.copy(), "item_bias": bias.copy()}
    scores = _core.Scores(matrix.copy(), None, None, "x")
    model = _core.Embeddings(**vectors, candidates=lists)
    del vectors, lists
    waste = [np.full_like(array, 3) for array in (matrix, users, items, bias, chosen)]  # over what was freed, if it was
    found = [_core.topk(scores=one, k=5, threads=2)[0].tolist() for one in (scores, model)]
    assert found == expected
    assert len(waste) == 5


@pytest.mark.parametrize("kind", ["array", "buffer"])
def test_f21_arrays_cannot_be_resized_during_the_call(kind: str) -> None:
    """NumPy and Python refuse resizing, as the call holds a reference or a buffer."""
    outcomes: set[str] = set()
    for job in growing_evaluations():
        array = np.array(job.predictions.items)
        buffer = bytearray(array.tobytes())
        resize = partial(array.resize, 1) if kind == "array" else buffer.clear
        lists = exactk.Rankings(job.predictions.indptr, array if kind == "array" else np.frombuffer(buffer, np.int32))

        def attempt(done: int, total: int | None, resize: Callable[[], None] = resize) -> None:
            try:
                resize()
                outcomes.add("resized")
            except (ValueError, BufferError):
                outcomes.add("refused at the end" if done == total else "refused")

        assert Evaluation(job.truth, lists, METRICS).run(num_threads=2, progress=attempt) == job.run(num_threads=2)
        assert "resized" not in outcomes
        if "refused" in outcomes:
            return
    raise AssertionError("no call reported its progress")


def test_f22_calls_from_eight_python_threads() -> None:
    """The same evaluation and others at the same time: nothing is shared that is written to."""
    jobs = [uniform_lists(3000 + 500 * i, 20 + i) for i in range(4)]
    expected = [job.run(num_threads=1, per_user=True) for job in jobs]
    barrier = threading.Barrier(8)

    def call(index: int) -> bool:
        barrier.wait()
        return all(
            jobs[i % 4].run(num_threads=1 + index % 3, per_user=True) == expected[i % 4]
            for i in range(index, index + 4)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(8)))


def grow(vocabulary: _core.Vocabulary, turn: int) -> None:
    """Add some thousand keys, of which half are new."""
    numbers = np.arange(turn, turn + 4000, 2)
    if vocabulary.of_integers:
        vocabulary.encode_integers(numbers, 2, "keys")
    else:
        _core.encode_texts(vocabulary, [f"key {number}" for number in numbers], as_bytes=False, argument="keys")


def readings(vocabulary: _core.Vocabulary) -> list[Callable[[], object]]:
    integers = vocabulary.of_integers
    return [
        lambda: keys_of(vocabulary),
        lambda: vocabulary.positions_in_key_order(len(vocabulary)),
        lambda: _core.Vocabulary(integers).extend(vocabulary, len(vocabulary), "keys"),
        lambda: len(vocabulary),
        lambda: vocabulary.extend(vocabulary, len(vocabulary), "keys"),
        vocabulary.copy,
    ]


def keys_of(vocabulary: _core.Vocabulary) -> np.ndarray[Any, Any]:
    """Return the integers, or where the strings end."""
    size = len(vocabulary)
    return vocabulary.as_integers(size) if vocabulary.of_integers else vocabulary.as_packed(size)[0]


@pytest.mark.parametrize("of_integers", [True, False])
def test_f42_a_vocabulary_is_read_while_it_grows(of_integers: bool) -> None:
    """Each reading is of a vocabulary as it once was: a prefix of what it is in the end."""
    vocabulary = _core.Vocabulary(of_integers)
    seen: list[np.ndarray[Any, Any]] = []
    has_ended, readings_done = threading.Event(), threading.Semaphore(0)

    def read() -> None:
        while not has_ended.is_set():
            try:
                for call in readings(vocabulary):
                    call()
                seen.append(keys_of(vocabulary))
            finally:
                readings_done.release()

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for turn in range(0, 100_000, 3000):
            grow(vocabulary, turn)
            if turn % 9000 == 0 and not any(reader.done() for reader in readers):
                readings_done.acquire()  # the readers have got their turn too
        has_ended.set()
    assert [reader.result() for reader in readers] == [None] * 3
    last = keys_of(vocabulary)
    assert len({len(keys) for keys in seen}) > 1
    assert all(np.array_equal(keys, last[: len(keys)]) for keys in seen)
    positions = vocabulary.positions_in_key_order(len(vocabulary))
    assert sorted(positions.tolist()) == list(range(len(vocabulary)))


def test_f42_writers_wait_for_each_other() -> None:
    """Two threads add to a vocabulary, others extend two by each other, copies of a third grow: no key is lost or doubled."""
    one, other, original = (_core.Vocabulary(True) for _ in range(3))
    original.encode_integers(np.arange(1000), 1, "keys")
    numbers = np.arange(60_000)

    def add(start: int) -> None:
        for begin in range(start, 60_000, 2000):
            one.encode_integers(numbers[begin : begin + 2000] * 7919, 2, "keys")

    def extend(this: _core.Vocabulary, by: _core.Vocabulary) -> None:
        for _ in range(30):
            this.extend(by, len(by), "keys")

    def copy() -> None:
        for _ in range(30):
            copy = original.copy()
            assert copy.encode_integers(numbers[990:1010], 1, "keys").tolist() == list(range(990, 1010))

    with ThreadPoolExecutor(6) as pool:
        tasks = [pool.submit(add, 0), pool.submit(add, 1000), pool.submit(extend, one, other)]
        tasks += [pool.submit(extend, other, one), pool.submit(copy), pool.submit(copy)]
        assert [task.result() for task in tasks] == [None] * 6
    one.extend(other, len(other), "keys")
    assert sorted(keys_of(one).tolist()) == (numbers * 7919).tolist()
    assert keys_of(original).tolist() == numbers[:1000].tolist()


def touch_from_a_handler() -> None:
    vocabulary, outcomes = _core.Vocabulary(True), []

    def handle(*_: object) -> None:
        try:
            outcomes.append(f"{len(vocabulary)} keys, after the call")
        except exactk.InputError as error:
            outcomes.append(str(error))

    signal.signal(signal.SIGUSR1, handle)
    for doublings in range(16, 25):
        numbers = np.random.default_rng(1).integers(0, 2**62, 1 << doublings)
        call_after_signal(signal.SIGUSR1, partial(vocabulary.encode_integers, numbers, 1, "keys"))
        if "nested call" in outcomes[-1]:
            break
    assert "nested call" in outcomes[-1]
    before = len(vocabulary)
    assert vocabulary.encode_integers(np.array([-1]), 1, "keys").tolist() == [before]


def test_f42_a_signal_handler_cannot_touch_the_vocabulary_that_it_interrupts() -> None:
    """It would wait for itself: an error says so, and the next call works."""
    run_child(touch_from_a_handler)


def test_f42_two_threads_read_one_stream() -> None:
    """The first consumer gets all of it, the second an error; neither gets a part."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"item": list(range(1000))})
    for _ in range(50):
        capsule = table.to_reader(max_chunksize=10).__arrow_c_stream__()
        barrier = threading.Barrier(2)

        def read(capsule: object = capsule, barrier: threading.Barrier = barrier) -> int | str:
            barrier.wait()
            try:
                return len(_core.ArrowTable(capsule, "x").columns[0][1])  # type: ignore[arg-type]
            except exactk.InputTypeError as error:
                return str(error)

        with ThreadPoolExecutor(2) as pool:
            lengths = [task.result() for task in [pool.submit(read), pool.submit(read)]]
        assert 1000 in lengths
        assert any("a stream that was read before" in str(length) for length in lengths)
