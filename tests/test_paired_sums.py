"""The sums over the users of two systems, against their definition in fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import exactk
from exactk import _core
from strategies import at_night, examples

UNIT_SCALE, FULL_SCALE = 80, 1074
ISAS = _core.isas()
THREADS = (1, 2, 7)


@dataclass(frozen=True)
class Value:
    """The arguments of a `_core.PairedValue`."""

    rows: list[int]
    shown: int = -1
    is_geometric: bool = False
    is_unit: bool = False
    is_ratio: bool = False


@dataclass(frozen=True)
class Request:
    """The arguments of `_core.paired_sums`."""

    tables: list[NDArray[np.float64]]
    values: list[Value]
    pairs: list[tuple[int, int]]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    group_count: int = 1
    clusters: NDArray[np.int64] | None = None
    cluster_count: int = 1

    @property
    def users(self) -> int:
        return int(self.tables[0].shape[1])

    def run(self, threads: int = 1, isa: str = "", progress: Any = None) -> _core.PairedSums:
        values = [
            _core.PairedValue(one.rows, one.shown, one.is_geometric, one.is_unit, one.is_ratio) for one in self.values
        ]
        return _core.paired_sums(**vars(self) | {"values": values}, threads=threads, isa=isa, progress=progress)


COUNTS = ("users", "only_system", "only_baseline", "wins", "losses", "units")


def plain(sums: _core.PairedSums) -> dict[str, Any]:
    """Return all that the sums hold."""
    counts = {name: getattr(sums, name).tolist() for name in COUNTS}
    integers = {name: getattr(sums, name) for name in ("sums", "sums_scale", "products", "products_scale")}
    return counts | integers


def term(number: float, weight: float, value: Value) -> float:
    """Return what a user adds to a column."""
    if value.is_geometric:
        number = float(Decimal(max(number, 1e-5)).ln(Context(prec=60)))
    return weight * number


def expected_record(request: Request, group: int, pair: tuple[int, int], value: Value) -> dict[str, Any]:
    """Return the sums of a group, pair and value by their definition."""
    system, baseline = (request.tables[index] for index in pair)
    is_unit = value.is_unit and not value.is_geometric and request.weights is None and request.clusters is None
    counts: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    units: dict[int, list[list[float]]] = {}
    for user in range(request.users):
        if request.groups is not None and request.groups[user] != group:
            continue
        weight = 1.0 if request.weights is None else float(request.weights[user])
        if weight == 0:
            continue
        rows = [[float(table[row, user]) for row in value.rows] for table in (system, baseline)]
        has_rows = [not any(map(math.isnan, one)) for one in rows]
        counts["only_system"] += has_rows == [True, False]
        counts["only_baseline"] += has_rows == [False, True]
        if not all(has_rows) or (value.is_ratio and rows == [[0, 0], [0, 0]]):
            continue
        counts["users"] += 1
        if value.shown >= 0:
            counts["wins"] += bool(system[value.shown, user] > baseline[value.shown, user])
            counts["losses"] += bool(system[value.shown, user] < baseline[value.shown, user])
        unit = user if request.clusters is None else int(request.clusters[user])
        terms = [term(number, weight, value) for one in rows for number in one]
        units.setdefault(unit, []).append([*terms, weight])
    counts["units"] = len(units)
    scale = UNIT_SCALE if is_unit else FULL_SCALE
    # math.fsum rounds an exact sum once; round() of a fraction rounds half to even.
    columns = [
        [round(Fraction(math.fsum(one)) * (1 << scale)) for one in zip(*users, strict=True)] for users in units.values()
    ]
    size = 2 * len(value.rows) + 1
    return counts | {
        "scale": scale,
        "sums": tuple(sum(row[i] for row in columns) for i in range(size)),
        "products": tuple(
            sum(row[i] * row[j] for row in columns) for i, j in combinations_with_replacement(range(size), 2)
        ),
    }


def records(request: Request) -> Iterator[tuple[int, tuple[int, int], int]]:
    for group in range(request.group_count):
        for pair in request.pairs:
            for value in range(len(request.values)):
                yield group, pair, value


def assert_as_defined(request: Request, sums: _core.PairedSums) -> None:
    shape = (request.group_count, len(request.pairs), len(request.values))
    assert all(getattr(sums, name).shape == shape for name in COUNTS)
    assert all(getattr(sums, name).dtype == np.int64 for name in COUNTS)
    assert len(sums.sums) == len(sums.products) == math.prod(shape)
    for number, (group, pair, value) in enumerate(records(request)):
        found: dict[str, Any] = {name: int(getattr(sums, name).ravel()[number]) for name in COUNTS}
        found |= {"scale": sums.sums_scale[value], "sums": sums.sums[number], "products": sums.products[number]}
        expected = expected_record(request, group, pair, request.values[value])
        assert 2 * sums.sums_scale[value] == sums.products_scale[value]
        assert found == expected, (group, pair, request.values[value])


NUMBERS = {
    "few": st.sampled_from([0.0, 0.5, 1.0, 1 / 3]),
    "unit": st.floats(0, 1),
    "some": st.floats(-100, 100),
    "any": st.one_of(
        st.floats(-(2.0**640), 2.0**640),
        st.sampled_from([0.0, -0.0, 5e-324, -(2.0**-1074), 2.0**640, 2.0**-500, 1 - 2**-53, 1e308 / 1e160]),
    ),
}
WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 0.1, 2.5, 1e10, 2.0**256, 2.0**-256, 3 * 2.0**-255])


@st.composite
def values(draw: st.DrawFn, rows: int, *, is_unit: bool) -> Value:
    count = draw(st.integers(1, 2))
    return Value(
        draw(st.lists(st.integers(0, rows - 1), min_size=count, max_size=count)),
        draw(st.integers(-1, rows - 1)),
        count == 1 and draw(st.integers(0, 3)) == 0,
        is_unit and draw(st.booleans()),
        count == 2 and draw(st.booleans()),
    )


@st.composite
def tables(draw: st.DrawFn, rows: int, users: int, kind: str) -> NDArray[np.float64]:
    """Draw numbers, each half from the draws and half from a generator, as drawing one by one is slow."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = np.array(draw(st.lists(NUMBERS[kind], min_size=1, max_size=20)))
    table = rng.choice(drawn, (rows, users))
    if kind in {"unit", "some"}:
        table = np.where(rng.random(table.shape) < 0.5, rng.random(table.shape), table)
    missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.5]))
    table[rng.random(table.shape) < missing] = math.nan
    return table


@st.composite
def requests(draw: st.DrawFn) -> Request:
    users = draw(st.one_of(st.integers(0, 12), st.sampled_from([63, 64, 65, 130, 511, 512, 513, 700])))
    systems, rows = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    kind = draw(st.sampled_from(sorted(NUMBERS)))
    systems_tables = [draw(tables(rows, users, kind)) for _ in range(systems)]
    if draw(st.booleans()):  # all systems lack the same users
        for table in systems_tables:
            table[np.isnan(systems_tables[0])] = math.nan
            table[np.isnan(table) & ~np.isnan(systems_tables[0])] = 0.25
    index = st.integers(0, systems - 1)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    group_count, cluster_count = draw(st.integers(1, 4)), draw(st.integers(1, max(users, 1)))
    has_groups = draw(st.booleans()) and group_count <= users
    return Request(
        systems_tables,
        draw(st.lists(values(rows, is_unit=kind in {"few", "unit"}), max_size=3)),
        draw(st.lists(st.tuples(index, index), max_size=3)),
        rng.choice(draw(st.lists(WEIGHTS, min_size=1, max_size=9)), users) if draw(st.booleans()) else None,
        rng.integers(0, group_count, users) if has_groups else None,
        group_count if has_groups else 1,
        rng.integers(0, cluster_count, users) if draw(st.booleans()) else None,
        cluster_count,
    )


@settings(max_examples=examples(600))
@given(requests(), st.sampled_from(ISAS), st.sampled_from(THREADS))
def test_sums_are_as_defined(request: Request, isa: str, threads: int) -> None:
    assert_as_defined(request, request.run(threads, isa))


def long_request(users: int, **changes: Any) -> Request:
    """Return a request of many blocks, a part of whose users are absent."""
    rng = np.random.default_rng(5)
    systems_tables = [np.round(rng.random((3, users)), 2) for _ in range(3)]
    systems_tables[1][0, ::7] = math.nan
    plan = [Value([0], 0, is_unit=True), Value([1, 2]), Value([2], 2)]
    return Request(systems_tables, plan, [(1, 0), (2, 0), (2, 1)], **changes)


@pytest.mark.parametrize(
    "changes",
    [
        "all",
        "one cluster",
        *(pytest.param(one, marks=at_night) for one in ("none", "weights", "groups", "clusters", "one each")),
    ],
)
def test_long_requests(changes: str) -> None:
    users = 9_000  # more than a block
    rng = np.random.default_rng(6)
    options: dict[str, dict[str, Any]] = {
        "none": {},
        "weights": {"weights": rng.random(users) + 0.5},
        "groups": {"groups": rng.integers(0, 5, users), "group_count": 6},
        "clusters": {"clusters": rng.integers(0, 5_000, users), "cluster_count": 5_000},
        "one cluster": {"clusters": np.zeros(users, np.int64)},
        "one each": {"clusters": rng.permutation(users), "cluster_count": users},
    }
    options["all"] = options["weights"] | options["groups"] | options["clusters"]
    request = long_request(users, **options[changes])
    expected = request.run()
    assert_as_defined(request, expected)
    for isa in ISAS:
        for threads in THREADS:
            assert plain(request.run(threads, isa)) == plain(expected)


SOUND = Request(
    [np.array([[0.5, math.nan], [0.0, 1.0]]), np.array([[1.0, 0.25], [0.5, 0.5]])],
    [Value([0], 0, is_unit=True), Value([0, 1], 1)],
    [(1, 0)],
    np.array([1.0, 2.0]),
    np.array([0, 1]),
    2,
    np.array([1, 0]),
    2,
)


@pytest.mark.parametrize(
    ("changes", "argument", "row", "position", "count"),
    [
        ({"tables": [], "weights": None, "groups": None, "clusters": None}, "tables", None, None, 1),
        ({"tables": [np.zeros((2, 2)), np.zeros((2, 3))]}, "tables[1]", None, None, 1),
        ({"tables": [np.zeros((2, 2)), np.zeros((3, 2))]}, "tables[1]", None, None, 1),
        ({"tables": [np.zeros((2, 2)), np.array([[0, 1], [math.inf, 1]])]}, "tables[1]", 1, 0, 1),
        ({"tables": [np.array([[0, 1], [-math.inf, 1e200]]), np.zeros((2, 2))]}, "tables[0]", 1, 0, 2),
        ({"tables": [np.array([[0, 1.5], [0, 1]]), np.zeros((2, 2))]}, "tables[0]", 0, 1, 1),
        ({"tables": [np.array([[0, -5e-324], [0, 1]]), np.zeros((2, 2))]}, "tables[0]", 0, 1, 1),
        ({"values": [Value([])]}, "values[0]", None, None, 1),
        ({"values": [Value([0]), Value([0, 1, 0])]}, "values[1]", None, None, 1),
        ({"values": [Value([0, 1], is_geometric=True)]}, "values[0]", None, None, 1),
        ({"values": [Value([0], is_ratio=True)]}, "values[0]", None, None, 1),
        ({"values": [Value([2])]}, "values[0]", None, None, 1),
        ({"values": [Value([0, -1])]}, "values[0]", None, None, 1),
        ({"values": [Value([0], 2)]}, "values[0]", None, None, 1),
        ({"values": [Value([0], -2)]}, "values[0]", None, None, 1),
        ({"values": [Value([2**62])]}, "values[0]", None, None, 1),
        ({"pairs": [(0, 1), (2, 0)]}, "pairs[1]", None, None, 1),
        ({"pairs": [(0, -1)]}, "pairs[0]", None, None, 1),
        ({"pairs": [(2**62, 0)]}, "pairs[0]", None, None, 1),
        ({"weights": np.array([1.0])}, "weights", None, None, 1),
        ({"weights": np.array([1.0, -1.0])}, "weights", 1, None, 1),
        ({"weights": np.array([math.nan, math.inf])}, "weights", 0, None, 2),
        ({"weights": np.array([1.0, 2.0**257])}, "weights", 1, None, 1),
        ({"groups": np.array([0])}, "groups", None, None, 1),
        ({"groups": np.array([0, 2])}, "groups", 1, None, 1),
        ({"groups": np.array([-1, 0])}, "groups", 0, None, 1),
        ({"group_count": 0}, "groups", None, None, 1),
        ({"group_count": 3}, "groups", None, None, 1),
        ({"group_count": 2**62}, "groups", None, None, 1),
        ({"clusters": np.array([0])}, "clusters", None, None, 1),
        ({"clusters": np.zeros(0, np.int64)}, "clusters", None, None, 1),
        ({"clusters": np.array([0, 2])}, "clusters", 1, None, 1),
        ({"cluster_count": -1}, "clusters", None, None, 1),
        ({"cluster_count": 2**62}, "clusters", None, None, 1),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_faults(
    changes: dict[str, Any], argument: str, row: int | None, position: int | None, count: int, threads: int
) -> None:
    with pytest.raises(exactk.InputError) as caught:
        replace(SOUND, **changes).run(threads)
    error = caught.value
    assert (error.argument, error.row, error.position, error.count) == (argument, row, position, count)


@pytest.mark.parametrize(
    "changes",
    [
        {"tables": [np.zeros((2, 2), np.float32), np.zeros((2, 2))]},
        {"tables": [np.zeros((2, 2), np.int64), np.zeros((2, 2))]},
        {"tables": [np.zeros(4), np.zeros(4)]},
        {"tables": [np.zeros((2, 2, 1)), np.zeros((2, 2))]},
        {"tables": [np.zeros((2, 4))[:, ::2], np.zeros((2, 2))]},
        {"tables": [np.asfortranarray(np.zeros((2, 2)) + np.arange(2)), np.zeros((2, 2))]},
        {"tables": [np.zeros((2, 2), ">f8"), np.zeros((2, 2))]},
        {"tables": [np.frombuffer(bytes(33), np.float64, 4, 1).reshape(2, 2), np.zeros((2, 2))]},
        {"weights": np.array([1, 2])},
        {"weights": np.array([[1.0, 2.0]])},
        {"groups": np.array([0, 1], np.int32)},
        {"groups": np.array([0.0, 1.0])},
        {"clusters": np.array([0, 1], np.uint64)},
    ],
)
def test_arrays_of_other_types(changes: dict[str, Any]) -> None:
    with pytest.raises(exactk.InputTypeError):
        replace(SOUND, **changes).run()


def test_rows_that_no_value_uses_may_hold_anything() -> None:
    systems_tables = [np.array([[0.5, 1.0], [math.inf, -7.0]])] * 2
    request = Request(systems_tables, [Value([0], is_unit=True)], [(0, 1)])
    assert_as_defined(request, request.run())


def test_what_cannot_fit_is_refused_before_the_work() -> None:
    users = 2_000_000
    table = np.broadcast_to(np.zeros(1), (1, users)).copy()
    request = Request([table, table], [Value([0])] * 1000, [(0, 1)] * 1000, groups=np.arange(users), group_count=users)
    with pytest.raises(exactk.CapacityError, match="GB") as caught:
        request.run()
    assert caught.value.argument == "groups"


def test_progress_counts_users() -> None:
    reported: list[int] = []
    long_request(3_000_000).run(2, progress=reported.append)
    assert reported == sorted(reported)
    assert reported
    assert all(0 <= count <= 3_000_000 for count in reported)


def test_an_error_of_progress_ends_the_call() -> None:
    def refuse(_done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        long_request(3_000_000).run(2, progress=refuse)


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_group_without_users_has_the_sums_of_nobody(empty: int) -> None:
    groups = np.array([group for group in (0, 1, 2) if group != empty] * 5)
    request = long_request(10, groups=groups, group_count=3)
    assert_as_defined(request, request.run())
