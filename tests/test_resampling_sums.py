"""Sums over units with random signs or counts, against their definition in Python's integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import exactk
import resampled_sums
from exactk import _core
from strategies import examples

KINDS: dict[str, tuple[Any, Any, int]] = {
    "sign flips": (_core.sign_flip_sums, resampled_sums.sign_flip_sums, 61),
    "resamples": (_core.resample_sums, resampled_sums.resample_sums, 58),
}
ISAS = _core.isas()
THREADS = (1, 2, 7)
MAX_RESAMPLES = 10_000_000

Sums = tuple[list[int], list[list[int]]]


@dataclass(frozen=True)
class Request:
    """The arguments of `_core.sign_flip_sums` and `_core.resample_sums`."""

    columns: list[NDArray[np.float64]]
    scales: list[int]
    keys: NDArray[np.uint64]
    units: NDArray[np.int64]
    seed: int = 0
    first: int = 0
    count: int = 10

    def run(self, kind: str, threads: int = 1, isa: str = "", progress: Any = None) -> Sums:
        totals, sums = KINDS[kind][0](**vars(self), threads=threads, isa=isa, progress=progress)
        assert totals.shape == (len(self.columns),)
        assert sums.shape == (len(self.columns), self.count)
        assert totals.dtype == sums.dtype == np.int64
        assert sums.flags.c_contiguous
        return totals.tolist(), sums.tolist()

    def expected(self, kind: str) -> Sums:
        sums: Sums = KINDS[kind][1](**vars(self))
        return sums


NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1.5, 2.5, -0.5, 1 / 3, math.nan, 5e-324, 1 - 2**-53]), st.floats(-1, 1)
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    size = draw(st.one_of(st.integers(0, 12), st.sampled_from([29, 30, 31, 60, 61])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    numbers = np.array(draw(st.lists(NUMBERS, min_size=1, max_size=20)))
    columns = [rng.choice(numbers, size) for _ in range(draw(st.sampled_from([0, 1, 2, 3, 8, 9, 17])))]
    if draw(st.booleans()):  # a scale for numbers of any size
        columns = [column * 2.0**500 for column in columns]
        scales = rng.integers(-560, -448, len(columns))
    else:
        scales = rng.integers(-5, 48, len(columns))
    keys = rng.integers(0, draw(st.sampled_from([3, 2**32 + 3, 2**64 - 1])), size, np.uint64)
    units = rng.permutation(size)[: draw(st.integers(0, size))] if draw(st.booleans()) else np.arange(size)
    first = 1024 * draw(st.one_of(st.integers(0, 3), st.integers(0, 9764)))
    count = draw(st.one_of(st.integers(0, 20), st.sampled_from([127, 128, 129, 1023, 1024, 1025, 2100])))
    seed = draw(st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 2**32 - 1, 2**32, 2**64 - 1])))
    return Request(columns, scales.tolist(), keys, units, seed, first, min(count, MAX_RESAMPLES - first))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(200))
@given(request=requests(), isa=st.sampled_from(ISAS), threads=st.sampled_from(THREADS))
def test_sums_are_as_defined(kind: str, request: Request, isa: str, threads: int) -> None:
    assert request.run(kind, threads, isa) == request.expected(kind)


def long_request(columns: int = 30, size: int = 500, count: int = 5000) -> Request:
    rng = np.random.default_rng(5)
    tables = [np.round(rng.random(size), 2) for _ in range(columns)]
    keys = rng.integers(0, 2**64 - 1, size, np.uint64)
    return Request(tables, [40] * columns, keys, np.arange(size), 7, 0, count)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_those_of_the_whole(kind: str) -> None:
    """Resamples, columns and units may each be asked for in parts."""
    request = long_request()
    totals, sums = request.run(kind, 2)
    for first in range(0, request.count, 2048):
        count = min(2048, request.count - first)
        part = replace(request, first=first, count=count).run(kind)
        assert part == (totals, [row[first : first + count] for row in sums])
    columns = slice(11, 20)
    fewer = replace(request, columns=request.columns[columns], scales=request.scales[columns])
    assert fewer.run(kind) == (totals[columns], sums[columns])
    parts = [replace(request, units=request.units[part]).run(kind) for part in (slice(0, 200), slice(200, None))]
    assert (np.array(parts[0][1]) + np.array(parts[1][1])).tolist() == sums


def test_signs_and_counts_are_random() -> None:
    """Means and variances of many sums, within five standard errors."""
    size, count = 300, 20_000
    ones = Request([np.ones(size)], [0], np.arange(size, dtype=np.uint64), np.arange(size), 3, 0, count)
    for kind, mean in {"sign flips": 0, "resamples": size}.items():
        sums = np.array(ones.run(kind)[1][0])
        assert abs(sums.mean() - mean) < 5 * math.sqrt(size / count)
        assert abs(sums.var() / size - 1) < 5 * math.sqrt(2.1 / count)


@pytest.mark.parametrize("kind", KINDS)
def test_progress_counts_every_resample(kind: str) -> None:
    calls: list[int] = []
    long_request(100, 3000, 20_000).run(kind, 2, progress=calls.append)
    assert calls == sorted(calls)
    assert calls
    assert calls[-1] <= 20_000

    def fail(_finished: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        long_request(100, 3000, 20_000).run(kind, 2, progress=fail)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_sums(kind: str) -> None:
    bits = KINDS[kind][2]
    size = 1023
    one = Request([np.full(size, 2.0**-10)], [bits], np.arange(size, dtype=np.uint64), np.arange(size), 1, 0, 20)
    for request in (one, replace(one, columns=[-one.columns[0]])):
        for isa in ISAS:
            assert request.run(kind, isa=isa) == request.expected(kind)
    with pytest.raises(exactk.InputError) as caught:
        replace(one, columns=[np.append(one.columns[0][1:], 2 * 2.0**-10)]).run(kind)
    assert (caught.value.argument, caught.value.row) == ("columns[0]", size - 1)


SOUND = Request(
    [np.array([0.5, math.nan, 1.0]), np.array([0.0, 1.0, 0.25])],
    [40, 3],
    np.array([7, 8, 9], np.uint64),
    np.array([2, 0, 1]),
)


@pytest.mark.parametrize(
    ("changes", "argument", "row", "position", "count"),
    [
        ({"columns": [np.zeros(3), np.zeros(2)]}, "columns[1]", None, None, 1),
        ({"columns": [np.zeros(3), np.zeros(4)]}, "columns[1]", None, None, 1),
        ({"columns": [np.zeros(3)]}, "scales", None, None, 1),
        ({"columns": [np.zeros(3), np.array([0, math.inf, 0])]}, "columns[1]", 1, None, 1),
        ({"columns": [np.array([0, 0, -(2.0**21)]), np.zeros(3)]}, "columns[0]", 2, None, 1),
        ({"columns": [np.array([0, 1e308, 0]), np.zeros(3)], "scales": [1000, 0]}, "columns[0]", 1, None, 1),
        ({"scales": [40]}, "scales", None, None, 1),
        ({"scales": [40, 1001]}, "scales[1]", None, None, 1),
        ({"scales": [-1001, 3]}, "scales[0]", None, None, 1),
        ({"keys": np.zeros(2, np.uint64)}, "columns[0]", None, None, 1),
        ({"units": np.array([0, 3, -1])}, "units", None, 1, 2),
        ({"units": np.array([-(2**63)])}, "units", None, 0, 1),
        ({"first": 1}, "first", None, None, 1),
        ({"first": -1024}, "first", None, None, 1),
        ({"first": 1024 * 9766}, "first", None, None, 1),
        ({"first": 1024 * 9765, "count": 641}, "count", None, None, 1),
        ({"count": -1}, "count", None, None, 1),
        ({"count": MAX_RESAMPLES + 1}, "count", None, None, 1),
        ({"count": 2**63 - 1}, "count", None, None, 1),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_faults(
    changes: dict[str, Any], argument: str, row: int | None, position: int | None, count: int, kind: str, threads: int
) -> None:
    with pytest.raises(exactk.InputError) as caught:
        replace(SOUND, **changes).run(kind, threads)
    error = caught.value
    assert (error.argument, error.row, error.position, error.count) == (argument, row, position, count)


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": [np.zeros(3, np.float32), np.zeros(3)]},
        {"columns": [np.zeros(3, np.int64), np.zeros(3)]},
        {"columns": [np.zeros((3, 1)), np.zeros(3)]},
        {"columns": [np.zeros(6)[::2], np.zeros(3)]},
        {"columns": [np.zeros(3, ">f8"), np.zeros(3)]},
        {"columns": [np.frombuffer(bytes(25), np.float64, 3, 1), np.zeros(3)]},
        {"keys": np.array([7, 8, 9])},
        {"keys": np.zeros((3, 1), np.uint64)},
        {"units": np.array([0, 1], np.int32)},
        {"units": np.array([0.0, 1.0])},
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_other_types(changes: dict[str, Any], kind: str) -> None:
    with pytest.raises(exactk.InputTypeError):
        replace(SOUND, **changes).run(kind)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "1", None])
@pytest.mark.parametrize("kind", KINDS)
def test_seeds_that_are_none(seed: Any, kind: str) -> None:
    with pytest.raises(TypeError):
        replace(SOUND, seed=seed).run(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_that_do_not_fit_into_memory_are_refused(kind: str) -> None:
    columns = [SOUND.columns[0]] * 100_000
    with pytest.raises(exactk.CapacityError, match="count"):
        replace(SOUND, columns=columns, scales=[40] * len(columns), count=MAX_RESAMPLES).run(kind)
