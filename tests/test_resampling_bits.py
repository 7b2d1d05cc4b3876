"""Permutation tests and bootstrap intervals are the same bits however they are asked for: one digest of the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import exactk
from exactk import _core
from strategies import latin

USERS = 600
ITEMS = 12
SYSTEMS = ("a", "b", "c")
METRICS = ("ndcg@5", "recall@5(average=micro)", "f1@5(average=of_means)", "dcg@5(average=geometric)", "P@5")

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

HOWS: dict[str, dict[str, Any]] = {
    "p": {"test": "permutation", "adjust": "none", "permutations": 1100},
    "max_t": {"test": "permutation", "adjust": "max_t", "permutations": 1100},
    "percentile": {"interval": "percentile", "resamples": 1100},
    "bca": {"test": "permutation", "interval": "bca", "resamples": 1100, "permutations": 1100, "adjust": "none"},
}
HAS: dict[str, frozenset[str]] = {
    "plain": frozenset(),
    "weights": frozenset({"weights"}),
    "groups of clusters": frozenset({"groups", "clusters"}),
}


@dataclass(frozen=True)
class Case:
    """Users by key, the lists of their systems, and what each has beside them."""

    truth: dict[str, dict[int, float]]
    systems: dict[str, dict[str, list[int]]]
    by_user: dict[str, dict[str, Any]]
    metrics: tuple[str, ...] = METRICS
    how: dict[str, Any] = field(default_factory=dict)

    def compare(self, **more: Any) -> exactk.Comparison:
        options: dict[str, Any] = {**self.how, **self.by_user, **more}
        return exactk.compare(self.truth, self.systems, list(self.metrics), **options)

    def of(self, users: list[str]) -> Case:
        return replace(
            self,
            truth={user: self.truth[user] for user in users},
            systems={
                name: {user: lists[user] for user in users if user in lists} for name, lists in self.systems.items()
            },
            by_user={name: {user: values[user] for user in users} for name, values in self.by_user.items()},
        )


@cache
def case(has: str, how: str) -> Case:
    """Return a case of users whom not every system has, of clusters and groups."""
    rng = np.random.default_rng(22)
    users = [f"user {number}" for number in range(USERS)]
    truth = {
        user: {int(item): float(rng.integers(1, 4)) for item in rng.permutation(ITEMS)[: rng.integers(1, 6)]}
        for user in users
    }
    systems = {
        name: {user: rng.permutation(ITEMS)[:5].tolist() for user in users if name == "a" or rng.random() < 0.97}
        for name in SYSTEMS
    }
    of_users: dict[str, dict[str, Any]] = {
        "weights": {user: float(rng.choice([0.5, 1.0, 2.7, 0.0])) for user in users},
        "groups": dict(zip(users, ["x", "y", "y"] * (USERS // 3), strict=True)),
        "clusters": {user: f"home {number // 3}" for number, user in enumerate(users)},
    }
    by_user = {name: values for name, values in of_users.items() if name in HAS[has]}
    return Case(truth, systems, by_user, METRICS, {"convention": {"missing_list": "skip"}, **HOWS[how]})


def digest(comparison: exactk.Comparison) -> str:
    """Return the SHA-256 of the rows that are asked in all cases."""
    differences = comparison.differences
    rows = [
        row
        for row in [*differences, *differences.by_group]
        if {row.system, row.baseline} <= set(SYSTEMS) and row.metric in METRICS
    ]
    text = "\n".join(sorted(repr(row) for row in rows))
    assert len(rows) == 3 * len(METRICS) * (1 + len(dict.fromkeys(row.group for row in differences.by_group)))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def expected(has: str, how: str) -> str:
    return digest(case(has, how).compare(num_threads=1))


def shuffled(one: Case) -> exactk.Comparison:
    groups = one.by_user.get("groups", {})
    users = np.random.default_rng(1).permutation(list(one.truth)).tolist()
    return one.of(sorted(users, key=lambda user: groups.get(user, ""))).compare()


def with_another_system(one: Case) -> exactk.Comparison:
    lists = {user: [3, 1, 4] for user in one.truth}
    return replace(one, systems={"z": lists, **one.systems}).compare()


def with_other_metrics(one: Case) -> exactk.Comparison:
    return replace(one, metrics=("num_hits@3", *METRICS[::-1], "map@4")).compare()


def parts(one: Case) -> list[Case]:
    users = list(one.truth)
    return [one.of(users[:150]), one.of(users[150:153]), one.of(users[153:])]


def merged(one: Case) -> exactk.Comparison:
    return exactk.merge([part.compare() for part in parts(one)])


def of_merged_reports(one: Case) -> exactk.Comparison:
    of_parts = [
        part.compare(
            per_user=True, test="t", interval="t", adjust="holm", permutations=9999, resamples=9999, clusters=None
        ).reports
        for part in parts(one)
    ]
    reports = {name: exactk.merge([of_part[name] for of_part in of_parts]) for name in SYSTEMS}
    clusters = one.by_user.get("clusters")
    return exactk.compare_reports(
        reports, clusters=clusters, **{name: value for name, value in one.how.items() if name != "convention"}
    )


def in_blocks(one: Case) -> exactk.Comparison:
    blocks = iter([(part.truth, part.systems) for part in parts(one)])
    options: dict[str, Any] = {**one.how, **one.by_user}
    return exactk.compare(None, blocks, list(one.metrics), **options)


def from_json(one: Case) -> exactk.Comparison:
    return exactk.Comparison.from_json(one.compare().to_json())


def of_frames(one: Case) -> exactk.Comparison:
    """Take the truth from pandas, and the lists from Polars; users without a list are not in it."""
    truth = pd.DataFrame(
        [(user, item, grade) for user, row in one.truth.items() for item, grade in row.items()],
        columns=["user", "item", "grade"],
    )
    systems = {
        name: pl.DataFrame(
            {
                "user": [user for user, items in lists.items() for _ in items],
                "item": [item for items in lists.values() for item in items],
                "rank": [rank for items in lists.values() for rank in range(len(items))],
            }
        )
        for name, lists in one.systems.items()
    }
    columns: Any = {"user": "user", "item": "item", "grade": "grade", "rank": "rank"}
    options: dict[str, Any] = {**one.how, **one.by_user, **columns}
    return exactk.compare(truth, systems, list(one.metrics), **options)


WAYS: list[Callable[[Case], exactk.Comparison]] = [
    shuffled,
    with_another_system,
    with_other_metrics,
    merged,
    of_merged_reports,
    in_blocks,
    from_json,
    of_frames,
]


@pytest.mark.parametrize(("has", "how"), latin([*HAS], [*HOWS], 0))
def test_threads_and_instruction_sets(how: str, has: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for isa, threads in latin(_core.isas(), (1, 2, 7, 64), 0):
        monkeypatch.setenv("EXACTK_ISA", isa)
        found.add(digest(case(has, how).compare(num_threads=threads)))
    assert found == {expected(has, how)}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_ways_to_ask(way: Callable[[Case], exactk.Comparison]) -> None:
    for how, has in latin([*HOWS], [*HAS], WAYS.index(way)):
        # With max-T, p-values are adjusted for another system too.
        asked = "p" if how == "max_t" and way is with_another_system else how
        assert digest(way(case(has, asked))) == expected(has, asked)


def test_the_rows_are_of_random_numbers() -> None:
    rows = case("plain", "bca").compare().differences
    assert not any(row.exact for row in rows)
    assert any(row.only_baseline for row in rows)
    other = digest(case("plain", "bca").compare(seed=1))
    assert other != expected("plain", "bca")


def test_keys_that_are_integers_are_the_same_in_any_container() -> None:
    rng = np.random.default_rng(3)
    truth, lists = rng.integers(0, 6, (90, 1)), {name: rng.integers(0, 6, (90, 1)) for name in "ab"}
    how: dict[str, Any] = {"test": "permutation", "permutations": 999, "interval": "percentile"}
    first, *others = (
        exactk.compare(convert(truth), {name: convert(rows) for name, rows in lists.items()}, "P@1", **how).differences
        for convert in (
            lambda rows: rows,
            lambda rows: rows.tolist(),
            lambda rows: dict(enumerate(rows.tolist())),
            lambda rows: pd.DataFrame({"user": np.arange(90), "item": rows[:, 0], "rank": np.zeros(90, int)}),
            lambda rows: pl.DataFrame({"user": np.arange(90), "item": rows[:, 0], "rank": np.zeros(90, int)}),
        )
    )
    assert first[0].p < 1
    assert all(list(other) == list(first) for other in others)
